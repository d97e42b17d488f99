// Systems of linear equations, inverses, determinants and least squares.

#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/LinearAlgebra.h>
#include <aten/native/RunKernel.h>

#include <cmath>

namespace at::native {

namespace {

// Whether the right sides are one vector per matrix: a vector, or a batch of them with A's batch sizes.
bool is_vector_case(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (A.dim() - 1 == B.dim() && B.sizes() == A.sizes().slice(0, A.dim() - 1));
}

double default_rcond(const Tensor& matrices) {
  const double epsilon = c10::real_type(matrices.dtype()) == kFloat ? std::numeric_limits<float>::epsilon()
                                                                    : std::numeric_limits<double>::epsilon();
  return epsilon * static_cast<double>(std::max(rows_of(matrices), columns_of(matrices)));
}

}  // namespace

// ---------------------------------------------------------------------------------------------- triangular

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular) {
  check_square(self, "linalg.solve_triangular");
  check_matrices(B, "linalg.solve_triangular", "B");
  check_same_dtype(self, B, "linalg.solve_triangular", "A", "B");
  check_same_device(self, B, "B", "linalg.solve_triangular");
  TORCH_CHECK((left ? rows_of(B) : columns_of(B)) == rows_of(self),
              "linalg.solve_triangular: Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
              " (", rows_of(self), "x", columns_of(self), " and ", rows_of(B), "x", columns_of(B), ")");
  const DimVector batch = broadcast_batches(self, B);
  const Tensor solutions = column_major_copy(B, batch);
  if (solutions.numel() > 0) {
    const DimVector matrices = with_matrix(batch, rows_of(self), columns_of(self));
    const bool is_read = self.is_cpu() && self.is_contiguous() && self.sizes() == IntArrayRef(matrices);
    run_kernel(solve_triangular_kernels, self.device(), is_read ? self : column_major(self, batch), solutions, left,
               upper, unitriangular);
  }
  return solutions;
}

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper, bool transpose,
                                            bool unitriangular) {
  TORCH_CHECK(self.dim() >= 2, "torch.triangular_solve: Expected b to have at least 2 dimensions, but it has ",
              self.dim(), " dimensions instead");
  TORCH_CHECK(A.dim() >= 2, "torch.triangular_solve: Expected A to have at least 2 dimensions, but it has ", A.dim(),
              " dimensions instead");
  TORCH_CHECK(self.dtype() == A.dtype(), "Expected b and A to have the same dtype, but found b of type ", self.dtype(),
              " and A of type ", A.dtype(), " instead.");
  TORCH_CHECK(rows_of(A) == columns_of(A), "A must be batches of square matrices, but they are ", rows_of(A), " by ",
              columns_of(A), " matrices");
  TORCH_CHECK(rows_of(A) == rows_of(self), "Incompatible matrix sizes for triangular_solve: each A matrix is ",
              rows_of(A), " by ", rows_of(A), " but each b matrix is ", rows_of(self), " by ", columns_of(self));
  const DimVector batch = broadcast_batches(self, A);
  const Tensor coefficients = at::expand(A, with_matrix(batch, rows_of(A), columns_of(A)));
  return {at::linalg_solve_triangular(transpose ? at::transpose(A, -2, -1) : A, self, upper != transpose, /*left=*/true,
                                      unitriangular),
          at::clone(coefficients)};
}

// ---------------------------------------------------------------------------------------------- general

std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                                            bool check_errors) {
  check_square(A, "linalg.solve");
  check_floating_or_complex(A, "linalg.solve", /*low_precision=*/true);
  check_same_dtype(A, B, "linalg.solve", "A", "B");
  check_same_device(A, B, "B", "linalg.solve");
  TORCH_CHECK(B.dim() >= 1, "linalg.solve: The input tensor B must have at least 2 dimensions.");
  const bool is_vector = is_vector_case(A, B);
  TORCH_CHECK(left || !is_vector,
              "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this ",
              "case linalg.solve is equivalent to B / A.squeeze(-1)");
  const Tensor right_sides = is_vector ? at::unsqueeze(B, -1) : B;
  check_matrices(right_sides, "linalg.solve", "B");
  TORCH_CHECK((left ? rows_of(right_sides) : columns_of(right_sides)) == rows_of(A),
              "linalg.solve: Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (",
              rows_of(A), "x", columns_of(A), " and ", rows_of(right_sides), "x", columns_of(right_sides), ")");
  const DimVector batch = broadcast_batches(A, right_sides);
  LU lu = factor_lu(A);
  if (check_errors) check_info(lu.info, "linalg.solve");
  const DimVector shape = with_matrix(batch, rows_of(right_sides), columns_of(right_sides));
  Tensor result = at::linalg_lu_solve(lu.factors, lu.pivots, at::expand(right_sides, shape), left);
  if (is_vector) result = at::squeeze(result, -1);
  return {std::move(result), std::move(lu.factors), std::move(lu.pivots), std::move(lu.info)};
}

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  auto [result, factors, pivots, info] = at::_linalg_solve_ex(A, B, left, check_errors);
  return {std::move(result), std::move(info)};
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  auto [result, info] = at::linalg_solve_ex(A, B, left, /*check_errors=*/false);
  check_info(info, "torch.linalg.solve");
  return result;
}

std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors) {
  check_square(A, "linalg.inv");
  check_floating_or_complex(A, "linalg.inv");
  LU lu = factor_lu(A);
  if (check_errors) check_info(lu.info, "linalg.inv");
  const Tensor identity = at::expand(at::eye(rows_of(A), A.options()), A.sizes());
  return {at::linalg_lu_solve(lu.factors, lu.pivots, identity), std::move(lu.info)};
}

Tensor linalg_inv(const Tensor& A) {
  auto [inverse, info] = at::linalg_inv_ex(A, /*check_errors=*/false);
  check_info(info, "linalg.inv");
  return inverse;
}

Tensor inverse(const Tensor& self) { return at::linalg_inv(self); }

// ---------------------------------------------------------------------------------------------- determinants

namespace {

// 1 or -1: whether pivots make an even or odd number of swaps.
Tensor pivot_sign(const Tensor& pivots, const Tensor& like) {
  const int64_t size = pivots.sizes().back();
  const Tensor rows = at::add(at::arange(size, pivots.options()), Scalar(1));
  const Tensor swaps = at::sum(at::ne(pivots, rows), IntArrayRef{-1});
  return at::add(at::mul(at::remainder(swaps, Scalar(2)), Scalar(-2)), Scalar(1)).to(like.dtype());
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> _linalg_det(const Tensor& A) {
  check_square(A, "linalg.det");
  check_floating_or_complex(A, "linalg.det", /*low_precision=*/true);
  LU lu = factor_lu(A);
  const Tensor diagonal = at::diagonal(lu.factors, 0, -2, -1);
  Tensor result = at::mul(at::prod(diagonal, -1), pivot_sign(lu.pivots, A));
  return {std::move(result), std::move(lu.factors), std::move(lu.pivots)};
}

Tensor linalg_det(const Tensor& A) { return std::get<0>(at::_linalg_det(A)); }
Tensor det(const Tensor& self) { return at::linalg_det(self); }

std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_slogdet(const Tensor& A) {
  check_square(A, "linalg.slogdet");
  check_floating_or_complex(A, "linalg.slogdet");
  LU lu = factor_lu(A);
  const Tensor diagonal = at::diagonal(lu.factors, 0, -2, -1);
  Tensor sign = at::mul(at::prod(at::sgn(diagonal), -1), pivot_sign(lu.pivots, A));
  Tensor logarithm = at::sum(at::log(at::abs(diagonal)), IntArrayRef{-1});
  return {std::move(sign), std::move(logarithm), std::move(lu.factors), std::move(lu.pivots)};
}

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  auto [sign, logarithm, factors, pivots] = at::_linalg_slogdet(A);
  return {std::move(sign), std::move(logarithm)};
}

std::tuple<Tensor, Tensor> slogdet(const Tensor& self) { return at::linalg_slogdet(self); }

Tensor logdet(const Tensor& self) {
  check_square(self, "logdet");
  check_floating_or_complex(self, "logdet");
  auto [sign, logarithm] = at::linalg_slogdet(self);
  if (self.is_complex()) return at::add(at::log(sign), logarithm);
  return at::where(at::eq(sign, Scalar(-1)), Scalar(std::nan("")), logarithm);
}

// ---------------------------------------------------------------------------------------------- least squares

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  TORCH_CHECK(self.dim() >= 2, "torch.linalg.lstsq: input must have at least 2 dimensions.");
  check_floating_or_complex(self, "torch.linalg.lstsq");
  TORCH_CHECK(b.dim() >= 1, "torch.linalg.lstsq: other must have at least 1 dimension.");
  TORCH_CHECK(self.dtype() == b.dtype(),
              "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype ",
              self.dtype(), " and other's dtype ", b.dtype());
  check_same_device(self, b, "other", "torch.linalg.lstsq");
  const int64_t difference = self.dim() - b.dim();
  TORCH_CHECK(
      difference >= 0,
      "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1");
  const bool is_vector = is_vector_case(self, b);
  const Tensor right = is_vector ? at::unsqueeze(b, -1) : b;
  TORCH_CHECK(rows_of(self) == rows_of(right), is_vector
                                                   ? "torch.linalg.lstsq: input.size(-2) should match other.size(-1)"
                                                   : "torch.linalg.lstsq: input.size(-2) should match other.size(-2)");
  TORCH_CHECK_LINALG(is_finite(self),
                     "torch.linalg.lstsq: The least squares solution could not be computed because the input ",
                     "contains non-finite values.");
  static constexpr std::string_view kDrivers[] = {"gels", "gelsy", "gelsd", "gelss"};
  TORCH_CHECK(!self.is_cuda() || driver.value_or("gels") == "gels",
              "torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA");
  const std::string_view name = driver.value_or(self.is_cuda() ? "gels" : "gelsy");
  const int64_t choice = std::find(std::begin(kDrivers), std::end(kDrivers), name) - std::begin(kDrivers);
  TORCH_CHECK(choice < 4, "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
  const int64_t rows = rows_of(self);
  const int64_t columns = columns_of(self);
  const DimVector batch = broadcast_batches(self, right);
  // LAPACK's right sides have as many rows as the longer of the two; solutions stand in the first ones.
  const Tensor right_sides =
      empty_column_major(with_matrix(batch, std::max(rows, columns), columns_of(right)), self.dtype(), self.device());
  if (columns > rows || right_sides.numel() > 0) right_sides.zero_();
  at::narrow(right_sides, -2, 0, rows).copy_(right);
  Tensor rank = at::empty({0}, self.options().dtype(kLong));
  Tensor values = at::empty({0}, self.options().dtype(c10::real_type(self.dtype())));
  const bool gives_rank = choice != 0;
  const bool gives_values = choice >= 2;
  if (gives_rank) rank = at::zeros(batch, rank.options());
  if (gives_values) values = at::zeros(with_vector(batch, std::min(rows, columns)), values.options());
  const Tensor copy = column_major_copy(self, batch);
  const Tensor info = empty_info(copy);
  run_kernel(lstsq_kernels, self.device(), right_sides, copy, gives_rank ? rank : Tensor(),
             gives_values ? values : Tensor(), info, rcond.value_or(default_rcond(self)), choice);
  check_info(info, "torch.linalg.lstsq");
  Tensor solution = at::narrow(right_sides, -2, 0, columns);
  Tensor residuals = at::empty({0}, values.options());
  bool full_rank = true;
  if (gives_rank && !rank.device().is_meta()) full_rank = at::all(at::eq(rank, Scalar(columns))).item<bool>();
  const bool leaves_residuals = choice != 1;  // gelsy has something else there
  if (rows > columns && full_rank && leaves_residuals) {
    const Tensor rest = at::abs(at::narrow(right_sides, -2, columns, rows - columns));
    residuals = at::sum(at::mul(rest, rest), IntArrayRef{-2});
  }
  if (is_vector) solution = at::squeeze(solution, -1);
  return {std::move(solution), std::move(residuals), std::move(rank), std::move(values)};
}

// ---------------------------------------------------------------------------------------------- tensors as matrices

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  check_floating_or_complex(self, "tensorinv");
  TORCH_CHECK(ind > 0, "Expected a strictly positive integer for 'ind', but got ", ind);
  const IntArrayRef sizes = self.sizes();
  const int64_t split = std::min<int64_t>(ind, self.dim());
  DimVector shape(sizes.slice(split, self.dim() - split));
  const int64_t last = product(shape);
  const int64_t first = product(sizes.slice(0, split));
  for (int64_t i = 0; i < split; ++i) shape.push_back(sizes[i]);
  TORCH_CHECK(first == last,
              "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ",
              last, " != ", first);
  auto [inverse, info] = at::linalg_inv_ex(at::reshape(self, {first, first}));
  if (info.numel() > 0 && !info.device().is_meta() && info.item<int64_t>() != 0) {
    throw c10::Error("Failed to invert the input tensor, because it is singular.");
  }
  return at::reshape(inverse, shape);
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, std::optional<IntArrayRef> dims) {
  Tensor moved = self;
  if (dims) {
    DimVector last(*dims);
    DimVector to(last);
    for (size_t i = 0; i < to.size(); ++i) to[i] = self.dim() - static_cast<int64_t>(to.size() - i);
    moved = at::movedim(self, last, to);
  }
  const int64_t rest = moved.dim() - other.dim();
  DimVector shape(rest > 0 ? moved.sizes().slice(moved.dim() - rest, rest) : IntArrayRef());
  const int64_t unknowns = product(shape);
  const int64_t equations = other.numel();
  TORCH_CHECK(unknowns * equations == moved.numel() && unknowns == equations,
              "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
              "prod(self.shape[:other.ndim]), but got ",
              unknowns, " != ", product(moved.sizes().slice(0, std::min(other.dim(), moved.dim()))));
  const Tensor result = at::linalg_solve(at::reshape(moved, {equations, unknowns}), at::reshape(other, {equations}));
  return at::reshape(result, shape);
}

}  // namespace at::native
