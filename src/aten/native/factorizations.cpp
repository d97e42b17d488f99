// Factorisations: Cholesky, LU, QR, LDL and what is made of their factors; and what LAPACK's codes mean.

#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/LinearAlgebra.h>
#include <aten/native/RunKernel.h>
#include <aten/native/cpu/FusedKernels.h>

namespace at::native {

namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// What a code other than 0 of LAPACK means for this function, in PyTorch's words.
[[noreturn]] void throw_linalg_error(std::string_view function, int64_t code, std::string_view element) {
  const auto fail = [&](const auto&... parts) {
    throw c10::LinAlgError(c10::detail::concatenate(function, ": ", element, parts...));
  };
  TORCH_CHECK(code > 0 || contains(function, "svd"), function, ": ", element, "Argument ", -code,
              " has illegal value. Most certainly there is a bug in the implementation calling the backend library.");
  if (code < 0) fail("The algorithm failed to converge because the input matrix contained non-finite values.");
  if (contains(function, "inv")) {
    fail("The diagonal element ", code,
         " is zero, the inversion could not be completed because the input matrix is singular.");
  }
  if (contains(function, "solve")) fail("The solver failed because the input matrix is singular.");
  if (contains(function, "cholesky")) {
    fail(
        "The factorization could not be completed because the input is not positive-definite "
        "(the leading minor of order ",
        code, " is not positive-definite).");
  }
  if (contains(function, "svd")) {
    fail(
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
        "repeated singular values (error code: ", code, ").");
  }
  if (contains(function, "eig") || contains(function, "syevd")) {
    fail(
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
        "repeated eigenvalues (error code: ", code, ").");
  }
  if (contains(function, "lstsq")) {
    fail(
        "The least squares solution could not be computed because the input matrix does not have full rank "
        "(error code: ",
        code, ").");
  }
  TORCH_CHECK(
      !contains(function, "lu_factor"), function, ": ", element, "U[", code, ",", code,
      "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the ",
      "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
  fail("The factorization could not be completed (error code: ", code, ").");
  std::abort();  // fail() throws
}

void check_lu_input(const Tensor& A, const char* function) {
  TORCH_CHECK(A.dim() >= 2, function, ": Expected tensor with 2 or more dimensions. Got size: ", A.sizes(), " instead");
}

void check_pivot(bool pivot, const char* function) {
  TORCH_CHECK(pivot, function, ": LU without pivoting is not implemented on the CPU");
}

}  // namespace

void check_info(const Tensor& info, std::string_view function) {
  if (info.device().is_meta() || info.numel() == 0) return;
  const Tensor codes = at::detail::to_contiguous(info.cpu());
  const int* code = codes.data_ptr<int>();
  for (int64_t i = 0; i < codes.numel(); ++i) {
    if (code[i] == 0) continue;
    const std::string element = info.dim() == 0 ? "" : c10::detail::concatenate("(Batch element ", i, "): ");
    throw_linalg_error(function, code[i], element);
  }
}

LU factor_lu(const Tensor& matrices) {
  const int64_t rank = std::min(rows_of(matrices), columns_of(matrices));
  LU lu{column_major_copy(matrices),
        at::zeros(with_vector(batch_sizes(matrices), rank), matrices.options().dtype(kInt)), empty_info(matrices)};
  run_kernel(lu_factor_kernels, matrices.device(), lu.factors, lu.pivots, lu.info);
  return lu;
}

Tensor permutation_of(const Tensor& pivots, int64_t rows) {
  const Tensor permutation = at::zeros(with_vector(pivots.sizes().slice(0, pivots.dim() - 1), rows),
                                       pivots.options().dtype(kLong));
  run_kernel(pivots_to_permutation_kernels, pivots.device(), permutation, at::detail::to_contiguous(pivots));
  return permutation;
}

// ---------------------------------------------------------------------------------------------- Cholesky

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  check_square(self, "linalg.cholesky");
  check_floating_or_complex(self, "linalg.cholesky", /*low_precision=*/true);
  Tensor factor = column_major_copy(self);
  Tensor info = empty_info(self);
  run_kernel(cholesky_kernels, self.device(), factor, info, upper);
  if (check_errors) check_info(info, "linalg.cholesky_ex");
  return {std::move(factor), std::move(info)};
}

Tensor linalg_cholesky(const Tensor& self, bool upper) {
  auto [factor, info] = at::linalg_cholesky_ex(self, upper, /*check_errors=*/false);
  check_info(info, "linalg.cholesky");
  return factor;
}

Tensor cholesky(const Tensor& self, bool upper) {
  check_square(self, "cholesky");
  TORCH_CHECK_NOT_IMPLEMENTED(c10::is_floating_or_complex_type(self.dtype()), "\"cholesky_cpu\" not implemented for '",
                              self.dtype(), "'");
  auto [factor, info] = at::linalg_cholesky_ex(self, upper, /*check_errors=*/false);
  check_info(info, "cholesky");
  return factor;
}

Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) {
  TORCH_CHECK(self.dim() >= 2, "b should have at least 2 dimensions, but has ", self.dim(), " dimensions instead");
  TORCH_CHECK(input2.dim() >= 2, "u should have at least 2 dimensions, but has ", input2.dim(), " dimensions instead");
  check_square(input2, "cholesky_solve");
  TORCH_CHECK(rows_of(self) == rows_of(input2), "Incompatible matrix sizes for cholesky_solve: each A matrix is ",
              rows_of(input2), " by ", rows_of(input2), " but each b matrix is ", rows_of(self), " by ",
              columns_of(self));
  TORCH_CHECK(self.dtype() == input2.dtype(), "Expected b and A to have the same dtype, but found b of type ",
              self.dtype(), " and A of type ", input2.dtype(), " instead.");
  const Tensor adjoint = at::adjoint(input2);
  const Tensor& lower = upper ? adjoint : input2;
  const Tensor half = at::linalg_solve_triangular(lower, self, /*upper=*/false);
  return at::linalg_solve_triangular(upper ? input2 : adjoint, half, /*upper=*/true);
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  check_square(self, "cholesky_inverse");
  TORCH_CHECK_NOT_IMPLEMENTED(
      c10::is_floating_or_complex_type(self.dtype()) && !c10::is_reduced_floating_type(self.dtype()),
      "\"cholesky_inverse_out_cpu\" not implemented for '", self.dtype(), "'");
  constexpr const char* kFlat = "cholesky_inverse: the inversion could not be completed because a diagonal element is "
                                "zero";
  if (self.is_cpu()) {
    const Tensor inverse = column_major_copy(self);
    const Tensor info = empty_info(self);
    cpu::invert_cholesky(inverse, info, upper);
    TORCH_CHECK_LINALG(!at::any(info).item<bool>(), kFlat);
    return inverse;
  }
  const Tensor flat = at::any(at::eq(at::diagonal(self, 0, -2, -1), Scalar(0)), -1);
  TORCH_CHECK_LINALG(flat.device().is_meta() || !at::any(flat).item<bool>(), kFlat);
  return at::cholesky_solve(at::expand(at::eye(rows_of(self), self.options()), self.sizes()), self, upper);
}

// ---------------------------------------------------------------------------------------------- LU

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors) {
  check_lu_input(A, "torch.lu_factor");
  check_pivot(pivot, "linalg.lu_factor");
  LU lu = factor_lu(A);
  if (check_errors) check_info(lu.info, "torch.linalg.lu_factor_ex");
  return {std::move(lu.factors), std::move(lu.pivots), std::move(lu.info)};
}

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  auto [factors, pivots, info] = at::linalg_lu_factor_ex(A, pivot, /*check_errors=*/false);
  check_info(info, "torch.linalg.lu_factor");
  return {std::move(factors), std::move(pivots)};
}

std::tuple<Tensor, Tensor, Tensor> _lu_with_info(const Tensor& self, bool pivot, bool check_errors) {
  return at::linalg_lu_factor_ex(self, pivot, check_errors);
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot) {
  check_lu_input(A, "linalg.lu");
  check_pivot(pivot, "linalg.lu_factor");
  auto [factors, pivots, info] = at::linalg_lu_factor_ex(A, pivot, /*check_errors=*/false);
  return at::lu_unpack(factors, pivots);
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data,
                                             bool unpack_pivots) {
  check_matrices(LU_data, "torch.lu_unpack", "LU_data");
  const int64_t rows = rows_of(LU_data);
  const int64_t rank = std::min(rows, columns_of(LU_data));
  Tensor permutation = at::empty({0}, LU_data.options());
  Tensor lower = permutation;
  Tensor upper = permutation;
  if (unpack_pivots) {
    TORCH_CHECK(
        LU_pivots.dtype() == kInt, "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 ",
        "dtype.\nNote: this function is intended to be used with the output produced by torch.linalg.lu_factor");
    TORCH_CHECK(LU_pivots.dim() == LU_data.dim() - 1 &&
                    LU_pivots.sizes() == IntArrayRef(with_vector(batch_sizes(LU_data), rank)),
                "torch.lu_unpack: LU_pivots must have the shape of the pivots of LU_data, ",
                IntArrayRef(with_vector(batch_sizes(LU_data), rank)), ", but has ", LU_pivots.sizes());
    const Tensor order = permutation_of(LU_pivots, rows);
    permutation = at::zeros(with_matrix(batch_sizes(LU_data), rows, rows), LU_data.options());
    if (permutation.numel() > 0) permutation.scatter_(-2, at::unsqueeze(order, -2), Scalar(1));
  }
  if (unpack_data) {
    const Tensor columns = at::narrow(LU_data, -1, 0, rank);
    lower = at::add(at::tril(columns, -1), at::eye(rows, rank, LU_data.options()));
    upper = at::triu(at::narrow(LU_data, -2, 0, rank));
  }
  return {std::move(permutation), std::move(lower), std::move(upper)};
}

Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  check_square(LU, "torch.linalg.lu_solve", "LU");
  check_matrices(B, "torch.linalg.lu_solve", "B");
  check_floating_or_complex(LU, "torch.linalg.lu_solve");
  check_same_dtype(LU, B, "linalg.lu_solve", "LU", "B");
  TORCH_CHECK(pivots.dtype() == kInt, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  TORCH_CHECK(pivots.sizes() == LU.sizes().slice(0, LU.dim() - 1),
              "linalg.lu_solve: Number of pivots per batch should be same as the ", "dimension of the matrix");
  const int64_t size = rows_of(LU);
  TORCH_CHECK((left ? rows_of(B) : columns_of(B)) == size,
              "linalg.lu_solve: Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (",
              size, "x", size, " and ", rows_of(B), "x", columns_of(B), ")");
  if (!left) {  // X A = B is A^H X^H = B^H
    return at::adjoint(at::linalg_lu_solve(LU, pivots, at::adjoint(B), /*left=*/true, !adjoint));
  }
  if (!is_differentiated(LU) && !is_differentiated(B)) {
    const DimVector batch = broadcast_batches(LU, B);
    const Tensor solutions = column_major_copy(B, batch);
    const Tensor swaps = at::detail::to_contiguous(at::expand(pivots, with_vector(batch, size)));
    run_kernel(lu_solve_kernels, LU.device(), solutions, column_major(LU, batch), swaps, adjoint);
    return solutions;
  }
  // In terms of what autograd knows.
  const Tensor order = permutation_of(pivots, size);
  const DimVector shape = with_matrix(broadcast_batches(LU, B), size, columns_of(B));
  const auto permuted = [&](const Tensor& matrices, const Tensor& rows) {
    if (matrices.numel() == 0) return at::expand(matrices, shape);
    return at::gather(at::expand(matrices, shape), -2, at::expand(at::unsqueeze(rows, -1), shape));
  };
  if (!adjoint) {  // A = P L U
    const Tensor half =
        at::linalg_solve_triangular(LU, permuted(B, order), /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
    return at::linalg_solve_triangular(LU, half, /*upper=*/true);
  }
  const Tensor transposed = at::adjoint(LU);
  const Tensor half = at::linalg_solve_triangular(transposed, B, /*upper=*/false);
  const Tensor rest =
      at::linalg_solve_triangular(transposed, half, /*upper=*/true, /*left=*/true, /*unitriangular=*/true);
  return permuted(rest, at::argsort(order, int64_t{-1}));
}

Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  return at::linalg_lu_solve(LU_data, LU_pivots, self);
}

// ---------------------------------------------------------------------------------------------- QR

namespace {

// R of what geqrf left.
Tensor upper_part(const Tensor& factored, int64_t rows) {
  return column_major_copy(at::triu(at::narrow(factored, -2, 0, rows)));
}

// c becomes H_1 ... H_k c, with H_i = I - tau_i v_i v_i^H and v_i below the diagonal of column i; or, with `reversed`,
// its conjugate's. Made of operators that autograd knows.
Tensor reflect(Tensor c, const Tensor& reflectors, const Tensor& tau, bool adjoint) {
  const int64_t rows = rows_of(reflectors);
  const int64_t count = tau.sizes().back();
  const Tensor vectors =
      at::add(at::tril(at::narrow(reflectors, -1, 0, count), -1), at::eye(rows, count, reflectors.options()));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = adjoint ? i : count - 1 - i;
    const Tensor vector = at::narrow(vectors, -1, index, 1);
    const Tensor factor = at::unsqueeze(at::narrow(tau, -1, index, 1), -1);
    const Tensor scaled = at::mul(adjoint ? at::conj(factor) : factor, vector);
    c = at::sub(c, at::matmul(scaled, at::matmul(at::adjoint(vector), c)));
  }
  return c;
}

void check_reflectors(const Tensor& input, const Tensor& tau, const char* function) {
  TORCH_CHECK(input.dim() >= 2, function, ": input must have at least 2 dimensions.");
  TORCH_CHECK(tau.dim() == input.dim() - 1, function,
              ": Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(),
              " and input.ndim is equal to ", input.dim());
  TORCH_CHECK(tau.sizes().slice(0, tau.dim() - 1) == batch_sizes(input), function,
              ": Expected batch dimensions of tau to be equal to ", "input.shape[:-2], but got ",
              tau.sizes().slice(0, tau.dim() - 1));
  TORCH_CHECK(input.dtype() == tau.dtype(), function, ": Expected input and tau to have the same dtype, but input has ",
              input.dtype(), " and tau has ", tau.dtype());
  check_same_device(input, tau, "tau", function);
}

}  // namespace

std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "torch.geqrf: input must have at least 2 dimensions.");
  Tensor factored = column_major_copy(self);
  Tensor tau = at::zeros(with_vector(batch_sizes(self), std::min(rows_of(self), columns_of(self))), self.options());
  run_kernel(geqrf_kernels, self.device(), factored, tau);
  return {std::move(factored), std::move(tau)};
}

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode) {
  check_matrices(A, "linalg.qr");
  check_floating_or_complex(A, "linalg.qr", /*low_precision=*/true);
  TORCH_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '", mode,
              "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t rows = rows_of(A);
  const int64_t columns = columns_of(A);
  const int64_t rank = std::min(rows, columns);
  const int64_t width = mode == "complete" ? rows : rank;
  auto [factored, tau] = native::geqrf(A);
  Tensor r = upper_part(factored, rank);
  if (width > rank) {
    Tensor padded = empty_column_major(with_matrix(batch_sizes(A), width, columns), A.dtype(), A.device());
    padded.zero_();
    at::narrow(padded, -2, 0, rank).copy_(r);
    r = padded;
  }
  if (mode == "r") return {at::empty({0}, A.options()), std::move(r)};
  // orgqr wants as many columns as it is to make.
  Tensor q = empty_column_major(with_matrix(batch_sizes(A), rows, width), A.dtype(), A.device());
  if (width > columns) q.zero_();
  const int64_t shared = std::min(width, columns);
  at::narrow(q, -1, 0, shared).copy_(at::narrow(factored, -1, 0, shared));
  run_kernel(householder_product_kernels, A.device(), q, tau);
  return {std::move(q), std::move(r)};
}

std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) {
  return at::linalg_qr(self, some ? "reduced" : "complete");
}

Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) {
  check_reflectors(input, tau, "torch.linalg.householder_product");
  TORCH_CHECK(rows_of(input) >= columns_of(input),
              "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]");
  TORCH_CHECK(columns_of(input) >= tau.sizes().back(),
              "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]");
  check_floating_or_complex(input, "torch.linalg.householder_product");
  if (input.numel() == 0) return at::clone(input);
  if (is_differentiated(input) || is_differentiated(tau)) {
    const Tensor identity = at::expand(at::eye(rows_of(input), columns_of(input), input.options()), input.sizes());
    return in_column_major(reflect(identity, input, tau, false));
  }
  const Tensor product = column_major_copy(input);
  run_kernel(householder_product_kernels, input.device(), product, at::detail::to_contiguous(tau));
  return product;
}

Tensor orgqr(const Tensor& self, const Tensor& input2) { return at::linalg_householder_product(self, input2); }

Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool transpose) {
  TORCH_CHECK(self.dim() >= 2, "torch.ormqr: input must have at least 2 dimensions.");
  TORCH_CHECK(input3.dim() >= 2, "torch.ormqr: other must have at least 2 dimensions.");
  const int64_t size = left ? rows_of(input3) : columns_of(input3);
  const char* dimension = left ? "-2" : "-1";
  TORCH_CHECK(size >= input2.sizes().back(), "torch.ormqr: other.shape[", dimension,
              "] must be greater than or equal to tau.shape[-1]");
  TORCH_CHECK(size == rows_of(self), "torch.ormqr: other.shape[", dimension, "] must be equal to input.shape[-2]");
  TORCH_CHECK(input2.sizes().back() <= columns_of(self),
              "torch.ormqr: tau.shape[-1] must be less than or equal to input.shape[-1]");
  check_reflectors(self, input2, "torch.ormqr");
  TORCH_CHECK(batch_sizes(input3) == batch_sizes(self),
              "torch.ormqr: Expected batch dimensions of other to be equal to input.shape[:-2], but got ",
              batch_sizes(input3));
  TORCH_CHECK(self.dtype() == input3.dtype(),
              "torch.ormqr: Expected input and other to have the same dtype, but input has ", self.dtype(),
              " and other has ", input3.dtype());
  check_floating_or_complex(self, "torch.ormqr");
  if (is_differentiated(self) || is_differentiated(input2) || is_differentiated(input3)) {
    if (left) return in_column_major(reflect(input3, self, input2, transpose));
    // C Q = (Q^H C^H)^H
    return in_column_major(at::adjoint(reflect(at::adjoint(input3), self, input2, !transpose)));
  }
  const Tensor product = column_major_copy(input3);
  run_kernel(ormqr_kernels, self.device(), product, column_major_copy(self), at::detail::to_contiguous(input2), left,
             transpose);
  return product;
}

// ---------------------------------------------------------------------------------------------- LDL

std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self, bool hermitian, bool check_errors) {
  check_square(self, "torch.linalg.ldl_factor_ex");
  check_floating_or_complex(self, "torch.linalg.ldl_factor_ex", /*low_precision=*/true);
  Tensor factors = column_major_copy(self);
  Tensor pivots = at::zeros(self.sizes().slice(0, self.dim() - 1), self.options().dtype(kInt));
  Tensor info = empty_info(self);
  run_kernel(ldl_factor_kernels, self.device(), factors, pivots, info, hermitian);
  factors = column_major_copy(at::tril(factors));
  if (check_errors) check_info(info, "torch.linalg.ldl_factor_ex");
  return {std::move(factors), std::move(pivots), std::move(info)};
}

std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian) {
  auto [factors, pivots, info] = at::linalg_ldl_factor_ex(self, hermitian, /*check_errors=*/false);
  check_info(info, "torch.linalg.ldl_factor");
  return {std::move(factors), std::move(pivots)};
}

namespace {

// Libraries follow the pivots without looking: positive ones name a row, negative ones stand in pairs.
void check_ldl_pivots(const Tensor& pivots) {
  if (pivots.device().is_meta()) return;
  const Tensor on_host = at::detail::to_contiguous(pivots.cpu());
  const int* all = on_host.data_ptr<int>();
  const int64_t rows = pivots.sizes().back();
  for (const int* begin = all; begin < all + on_host.numel(); begin += rows) {
    for (int64_t row = 0; row < rows; ++row) {
      const bool single = begin[row] > 0;
      const int64_t named = single ? begin[row] : -static_cast<int64_t>(begin[row]);
      TORCH_CHECK(named >= 1 && named <= rows && (single || (row + 1 < rows && begin[row + 1] == begin[row])),
                  "torch.linalg.ldl_solve: pivots must be those that torch.linalg.ldl_factor returns");
      if (!single) ++row;
    }
  }
}

}  // namespace

Tensor linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian) {
  check_square(LD, "torch.linalg.ldl_solve", "LD");
  TORCH_CHECK(B.dim() >= 2, "torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has ", B.dim(),
              " dimensions instead");
  TORCH_CHECK(rows_of(LD) == rows_of(B), "Incompatible matrix sizes for torch.linalg.ldl_solve: each LD matrix is ",
              rows_of(LD), " by ", rows_of(LD), " but each B matrix is ", rows_of(B), " by ", columns_of(B));
  TORCH_CHECK(
      pivots.sizes() == LD.sizes().slice(0, LD.dim() - 1),
      "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ",
      pivots.sizes(), " instead");
  TORCH_CHECK(c10::is_integral_type(pivots.dtype(), /*include_bool=*/false),
              "torch.linalg.ldl_solve: Expected pivots to be integers. Got ", pivots.dtype());
  TORCH_CHECK(LD.dtype() == B.dtype(), "torch.linalg.ldl_solve: LD dtype ", LD.dtype(), " does not match b dtype ",
              B.dtype());
  check_floating_or_complex(LD, "torch.linalg.ldl_solve");
  const DimVector batch = broadcast_batches(LD, B);
  const Tensor solutions = column_major_copy(B, batch);
  const Tensor swaps =
      at::detail::to_contiguous(at::expand(at::detail::to_dtype(pivots, kInt), with_vector(batch, rows_of(LD))));
  if (solutions.numel() > 0) check_ldl_pivots(swaps);
  run_kernel(ldl_solve_kernels, LD.device(), solutions, column_major_copy(LD, batch), swaps, hermitian);
  return solutions;
}

}  // namespace at::native
