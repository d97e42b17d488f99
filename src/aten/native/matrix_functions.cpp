// Functions of matrices that are made of other operators: norms, powers, exponentials, chains of products.

#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/LinearAlgebra.h>

#include <cmath>

namespace at::native {

// ---------------------------------------------------------------------------------------------- norms

namespace {

Tensor in_dtype(const Tensor& self, std::optional<ScalarType> dtype, const char* function) {
  if (!dtype) return self;
  TORCH_CHECK(c10::is_floating_or_complex_type(*dtype), function, ": dtype should be floating point or complex. Got ",
              *dtype);
  TORCH_CHECK(c10::is_complex_type(*dtype) == self.is_complex(), function, ": dtype should be ",
              self.is_complex() ? "complex" : "real", " for ", self.is_complex() ? "complex" : "real",
              " inputs, but got ", *dtype);
  TORCH_CHECK(c10::promote_types(self.dtype(), *dtype) == *dtype, function, ": the dtype of the input (", self.dtype(),
              ") should be convertible without narrowing to the specified dtype (", *dtype, ")");
  return self.to(*dtype);
}

struct MatrixDims {
  int64_t rows;
  int64_t columns;
};

MatrixDims check_matrix_dims(const Tensor& self, IntArrayRef dim) {
  check_matrices(self, "linalg.matrix_norm");
  TORCH_CHECK(dim.size() == 2, "linalg.matrix_norm: dim must be a 2-tuple. Got ", dim);
  const MatrixDims dims{wrap_dim(dim[0], self.dim()), wrap_dim(dim[1], self.dim())};
  TORCH_CHECK(dims.rows != dims.columns, "linalg.matrix_norm: dims must be different. Got (", dim[0], ", ", dim[1],
              ")");
  return dims;
}

// The matrices in the last two dimensions, for functions of their singular values.
Tensor singular_values(const Tensor& self, MatrixDims dims) {
  return at::linalg_svdvals(at::movedim(self, {dims.rows, dims.columns}, {-2, -1}));
}

Tensor restore_matrix_dims(Tensor reduced, MatrixDims dims, bool keepdim) {
  if (!keepdim) return reduced;
  const auto [first, second] = std::minmax(dims.rows, dims.columns);
  return at::unsqueeze(at::unsqueeze(reduced, first), second);
}

}  // namespace

Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, std::optional<IntArrayRef> dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  TORCH_CHECK(!ord.is_complex(), "linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  check_floating_or_complex(self, "linalg.vector_norm", /*low_precision=*/true);
  const IntArrayRef dims = dim ? *dim : IntArrayRef();
  return at::norm(in_dtype(self, dtype, "linalg.vector_norm"), std::optional<Scalar>(ord), dims, keepdim);
}

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  const MatrixDims dims = check_matrix_dims(self, dim);
  check_floating_or_complex(self, "linalg.matrix_norm", /*low_precision=*/true);
  const double order = ord.toDouble();
  const double size = std::abs(order);
  TORCH_CHECK(size == 1 || size == 2 || std::isinf(size), "linalg.matrix_norm: Order ", order, " not supported.");
  const Tensor matrices = in_dtype(self, dtype, "linalg.matrix_norm");
  if (size == 2) {
    check_floating_or_complex(matrices, "linalg.matrix_norm");
    const Tensor values = singular_values(matrices, dims);
    const Tensor result = order > 0 ? at::amax(values, IntArrayRef{-1}) : at::amin(values, IntArrayRef{-1});
    return restore_matrix_dims(result, dims, keepdim);
  }
  // Sums of one dimension, the extreme of the other.
  int64_t summed = std::isinf(size) ? dims.columns : dims.rows;
  int64_t compared = std::isinf(size) ? dims.rows : dims.columns;
  if (!keepdim && summed < compared) --compared;
  const Tensor sums = at::linalg_vector_norm(matrices, Scalar(1), IntArrayRef{summed}, keepdim);
  return order > 0 ? at::amax(sums, IntArrayRef{compared}, keepdim) : at::amin(sums, IntArrayRef{compared}, keepdim);
}

Tensor linalg_matrix_norm_str(const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                              std::optional<ScalarType> dtype) {
  const MatrixDims dims = check_matrix_dims(self, dim);
  check_floating_or_complex(self, "linalg.matrix_norm", /*low_precision=*/true);
  TORCH_CHECK(ord == "fro" || ord == "nuc", "linalg.matrix_norm: Order ", ord, " not supported.");
  if (ord == "fro")
    return at::linalg_vector_norm(self, Scalar(2), IntArrayRef{dims.rows, dims.columns}, keepdim, dtype);
  const Tensor matrices = in_dtype(self, dtype, "linalg.matrix_norm");
  check_floating_or_complex(matrices, "linalg.matrix_norm");
  return restore_matrix_dims(at::sum(singular_values(matrices, dims), IntArrayRef{-1}), dims, keepdim);
}

namespace {

// Whether these dimensions ask for a vector's norm; otherwise it is a matrix's, of `dims`, which is filled in.
bool wants_vector_norm(const Tensor& self, std::optional<IntArrayRef> dim, DimVector& dims) {
  if (dim) {
    TORCH_CHECK(dim->size() == 1 || dim->size() == 2,
                "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
    dims = DimVector(*dim);
    return dim->size() == 1;
  }
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2,
              "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", self.dim(), "D.");
  dims = self.dim() == 1 ? DimVector{0} : DimVector{0, 1};
  return self.dim() == 1;
}

}  // namespace

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, std::optional<IntArrayRef> dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  check_floating_or_complex(self, "linalg.norm", /*low_precision=*/true);
  if (!ord) return at::linalg_vector_norm(self, Scalar(2), dim, keepdim, dtype);
  DimVector dims;
  if (wants_vector_norm(self, dim, dims)) return at::linalg_vector_norm(self, *ord, IntArrayRef(dims), keepdim, dtype);
  return at::linalg_matrix_norm(self, *ord, dims, keepdim, dtype);
}

Tensor linalg_norm_str(const Tensor& self, std::string_view ord, std::optional<IntArrayRef> dim, bool keepdim,
                       std::optional<ScalarType> dtype) {
  check_floating_or_complex(self, "linalg.norm", /*low_precision=*/true);
  DimVector dims;
  TORCH_CHECK(!wants_vector_norm(self, dim, dims),
              "linalg.norm: If ord is a str, it is the norm of a matrix: the input or dim must have 2 ",
              "dimensions, but got ", ord, " for ", self.dim(), "D");
  return at::linalg_matrix_norm(self, ord, dims, keepdim, dtype);
}

Tensor frobenius_norm(const Tensor& self, IntArrayRef dim, bool keepdim) {
  TORCH_CHECK(dim.size() <= 2, "Expected at most 2 dimensions, but got ", dim.size(), " dimensions instead.");
  if (dim.empty()) return at::linalg_vector_norm(self, Scalar(2), std::nullopt, keepdim);
  return at::linalg_vector_norm(self, Scalar(2), dim, keepdim);
}

Tensor nuclear_norm(const Tensor& self, bool keepdim) { return at::linalg_matrix_norm(self, "nuc", {-2, -1}, keepdim); }
Tensor nuclear_norm_dim(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return at::linalg_matrix_norm(self, "nuc", dim, keepdim);
}

namespace {

void check_cond_input(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "linalg.cond: The input tensor A must have at least 2 dimensions.");
  check_floating_or_complex(self, "linalg.cond", /*low_precision=*/true);
}

// norm(A) norm(A^-1), infinite for singular matrices.
template <typename Norm>
Tensor condition(const Tensor& self, const Norm& norm) {
  check_square(self, "linalg.cond");
  if (self.numel() == 0) return at::zeros(batch_sizes(self), self.options().dtype(c10::real_type(self.dtype())));
  auto [inverse, info] = at::linalg_inv_ex(self);
  const Tensor result = at::mul(norm(self), norm(inverse));
  return at::where(at::eq(info, Scalar(0)), result, Scalar(std::numeric_limits<double>::infinity()));
}

}  // namespace

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  check_cond_input(self);
  const double order = p ? p->toDouble() : 2;
  const double size = std::abs(order);
  TORCH_CHECK(size == 1 || size == 2 || std::isinf(size), "linalg.cond got an invalid norm type: ", order);
  if (size != 2) {
    return condition(self, [&](const Tensor& matrices) { return at::linalg_matrix_norm(matrices, Scalar(order)); });
  }
  if (self.numel() == 0) return at::zeros(batch_sizes(self), self.options().dtype(c10::real_type(self.dtype())));
  const Tensor values = at::linalg_svdvals(self);
  const Tensor largest = at::select(values, -1, 0);
  const Tensor smallest = at::select(values, -1, -1);
  return order > 0 ? at::div(largest, smallest) : at::div(smallest, largest);
}

Tensor linalg_cond_str(const Tensor& self, std::string_view p) {
  check_cond_input(self);
  TORCH_CHECK(p == "fro" || p == "nuc", "linalg.cond got an invalid norm type: ", p);
  if (p == "nuc") {
    check_square(self, "linalg.cond");
    if (self.numel() == 0) return at::zeros(batch_sizes(self), self.options().dtype(c10::real_type(self.dtype())));
    const Tensor values = at::linalg_svdvals(self);
    return at::mul(at::sum(values, IntArrayRef{-1}), at::sum(at::reciprocal(values), IntArrayRef{-1}));
  }
  return condition(self, [&](const Tensor& matrices) { return at::linalg_matrix_norm(matrices, p); });
}

// ---------------------------------------------------------------------------------------------- powers, exponentials

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  check_square(self, "linalg.matrix_power");
  if (n == 0) {  // which does not depend on the matrix: its gradient is 0
    const Tensor nothing = at::masked_fill(self, at::ones(self.sizes(), self.options().dtype(kBool)), Scalar(0));
    return at::add(nothing, at::eye(rows_of(self), self.options()));
  }
  Tensor base = self;
  if (n < 0) {
    check_floating_or_complex(self, "linalg.matrix_power");
    base = at::linalg_inv(self);
  }
  Tensor result;
  for (uint64_t left = n < 0 ? uint64_t{0} - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;) {
    if (left & 1) result = result.defined() ? at::matmul(result, base) : base;
    left >>= 1;
    if (left == 0) break;
    base = at::matmul(base, base);
  }
  return result.is_same(self) ? at::clone(result) : result;
}

Tensor matrix_power(const Tensor& self, int64_t n) { return at::linalg_matrix_power(self, n); }

namespace {

// The Taylor polynomial of degree 18, in powers of A^6 (Paterson and Stockmeyer): 8 products.
Tensor exponential_polynomial(const Tensor& matrices) {
  constexpr int kBlock = 6;
  constexpr int kDegree = 18;
  std::vector<Tensor> powers{at::expand(at::eye(rows_of(matrices), matrices.options()), matrices.sizes()), matrices};
  for (int i = 2; i <= kBlock; ++i) powers.push_back(at::matmul(powers[i / 2], powers[i - i / 2]));
  double factorials[kDegree + 1] = {1};
  for (int i = 1; i <= kDegree; ++i) factorials[i] = factorials[i - 1] * i;
  Tensor sum = at::div(powers[0], Scalar(factorials[kDegree]));
  for (int first = kDegree - kBlock; first >= 0; first -= kBlock) {
    sum = at::matmul(sum, powers[kBlock]);
    for (int i = kBlock - 1; i >= 0; --i) sum = at::add(sum, powers[i], Scalar(1 / factorials[first + i]));
  }
  return sum;
}

}  // namespace

Tensor linalg_matrix_exp(const Tensor& self) {
  check_square(self, "linalg.matrix_exp");
  check_floating_or_complex(self, "matrix_exp", /*low_precision=*/true);
  if (c10::is_reduced_floating_type(self.dtype())) return native::linalg_matrix_exp(self.to(kFloat)).to(self.dtype());
  if (self.numel() == 0 || self.device().is_meta()) return at::empty_like(self);
  // Matrices are halved until the polynomial is as good as the dtype, then squared as often: each its own times.
  // Up to this norm, 19 terms of the series are exact to the dtype's last place.
  const double largest_norm = c10::real_type(self.dtype()) == kFloat ? 3.01 : 1.09;
  constexpr double kMostHalvings = 1100;
  const Tensor norms = at::linalg_matrix_norm(self, Scalar(1)).to(kDouble);
  const Tensor halvings =
      at::ceil(at::clamp(at::log2(at::div(norms, Scalar(largest_norm))), Scalar(0), Scalar(kMostHalvings)));
  const Tensor times = at::unsqueeze(at::unsqueeze(at::where(at::isfinite(norms), halvings, Scalar(0)), -1), -1);
  Tensor result = exponential_polynomial(at::mul(self, at::pow(Scalar(2), at::neg(times)).to(self.dtype())));
  const int64_t most = static_cast<int64_t>(at::amax(times, IntArrayRef{}).item<double>());
  for (int64_t i = 0; i < most; ++i) {
    result = at::where(at::gt(times, Scalar(i)), at::matmul(result, result), result);
  }
  return result;
}

Tensor matrix_exp(const Tensor& self) { return at::linalg_matrix_exp(self); }

// ---------------------------------------------------------------------------------------------- products

Tensor linalg_matmul(const Tensor& self, const Tensor& other) { return at::matmul(self, other); }

namespace {

// The cheapest order of a chain of products: for each part [i, j] where it is split last.
std::vector<std::vector<int64_t>> chain_order(const std::vector<Tensor>& matrices) {
  const size_t count = matrices.size();
  std::vector<int64_t> sizes;
  for (const Tensor& matrix : matrices) sizes.push_back(matrix.sizes()[0]);
  sizes.push_back(matrices.back().sizes()[1]);
  std::vector<std::vector<double>> cost(count, std::vector<double>(count, 0));
  std::vector<std::vector<int64_t>> split(count, std::vector<int64_t>(count, 0));
  for (size_t length = 1; length < count; ++length) {
    for (size_t i = 0; i + length < count; ++i) {
      const size_t j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        const double total = cost[i][k] + cost[k + 1][j] + static_cast<double>(sizes[i]) * sizes[k + 1] * sizes[j + 1];
        if (total < cost[i][j]) {
          cost[i][j] = total;
          split[i][j] = static_cast<int64_t>(k);
        }
      }
    }
  }
  return split;
}

Tensor multiply_chain(const std::vector<Tensor>& matrices, const std::vector<std::vector<int64_t>>& split, size_t i,
                      size_t j) {
  if (i == j) return matrices[i];
  const size_t k = static_cast<size_t>(split[i][j]);
  return at::mm(multiply_chain(matrices, split, i, k), multiply_chain(matrices, split, k + 1, j));
}

}  // namespace

Tensor linalg_multi_dot(TensorList tensors) {
  const size_t count = tensors.size();
  TORCH_CHECK(count >= 2, "multi_dot(): expected at least 2 tensors but got ", count);
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  DimVector shape;
  for (const size_t end : {size_t{0}, count - 1}) {
    const char* name = end == 0 ? "first" : "last";
    TORCH_CHECK(matrices[end].dim() == 1 || matrices[end].dim() == 2, "multi_dot(): the ", name,
                " tensor must be 1D or 2D but got ", matrices[end].dim(), "D");
    if (matrices[end].dim() == 1) matrices[end] = at::unsqueeze(matrices[end], end == 0 ? 0 : 1);
    else shape.push_back(matrices[end].sizes()[end == 0 ? 0 : 1]);
  }
  for (size_t i = 0; i < count; ++i) {
    TORCH_CHECK(matrices[i].dim() == 2, "multi_dot(): tensor ", i, " must be 2D but got ", matrices[i].dim(), "D");
    TORCH_CHECK(matrices[i].dtype() == matrices[0].dtype(),
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is ", matrices[0].dtype(),
                " and tensor ", i, " ", matrices[i].dtype());
    TORCH_CHECK(i == 0 || matrices[i - 1].sizes()[1] == matrices[i].sizes()[0], "multi_dot(): tensors ", i - 1, " and ",
                i, " with shapes ", matrices[i == 0 ? 0 : i - 1].sizes(), " and ", matrices[i].sizes(),
                " cannot be multiplied");
  }
  return at::reshape(multiply_chain(matrices, chain_order(matrices), 0, count - 1), shape);
}

Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return at::diagonal(A, offset, dim1, dim2);
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  check_floating_or_complex(x, "linalg.vecdot", /*low_precision=*/true);
  TORCH_CHECK(x.dtype() == y.dtype(), "linalg.vecdot: Expected x and y to have the same dtype, but found x of type ",
              x.dtype(), " and y of type ", y.dtype(), " instead");
  return at::sum(at::mul(at::conj(x), y), IntArrayRef{dim});
}

Tensor powers_up_to(const Tensor& base, int64_t count) {
  const Tensor column = at::unsqueeze(base, -1);
  DimVector sizes(base.sizes());
  sizes.push_back(count - 1);
  return at::cat({at::ones_like(column), at::cumprod(at::expand(column, sizes), -1)}, -1);
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  TORCH_CHECK(x.dtype() != kBool && !c10::is_reduced_floating_type(x.dtype()),
              "linalg.vander supports floating point, complex, and integer tensors, but got ", x.dtype());
  Tensor base = x.dim() == 0 ? at::unsqueeze(x, -1) : x;
  if (!c10::is_floating_or_complex_type(base.dtype())) base = base.to(kLong);
  const int64_t count = N.value_or(base.sizes().back());
  TORCH_CHECK(count > 1, "N must be greater than 1.");
  return powers_up_to(base, count);
}

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  TORCH_CHECK(self.dim() == other.dim(), "linalg.cross: inputs must have the same number of dimensions.");
  TORCH_CHECK(self.dtype() == other.dtype(), "expected scalar type ", self.dtype(), " but found ", other.dtype());
  const int64_t along = wrap_dim(dim, self.dim());
  TORCH_CHECK(self.size(along) == 3 && other.size(along) == 3, "linalg.cross: inputs dimension ", dim,
              " must have length 3. Got ", self.size(along), " and ", other.size(along));
  const auto part = [&](const Tensor& tensor, int64_t index) { return at::narrow(tensor, along, index % 3, 1); };
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < 3; ++i) {
    parts.push_back(
        at::sub(at::mul(part(self, i + 1), part(other, i + 2)), at::mul(part(self, i + 2), part(other, i + 1))));
  }
  return at::cat(parts, along);
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim) return at::linalg_cross(self, other, *dim);
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (self.sizes()[i] == 3) return at::linalg_cross(self, other, i);
  }
  throw c10::Error("no dimension of size 3 in input");
}

}  // namespace at::native
