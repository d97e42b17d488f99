// Products of matrices and vectors, all in terms of gemm and bmm.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/TypeNames.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>

#include <cstring>

namespace at::native {

namespace {

void check_matrices(const Tensor& first, const Tensor& second, const char* function) {
  TORCH_CHECK(first.dim() == 2 && second.dim() == 2, "mat1 and mat2 must be matrices, got ", first.dim(),
              "-D and ", second.dim(), "-D tensors (", function, ")");
  check_same_device(first, second, "mat2", function);
  TORCH_CHECK(first.sizes()[1] == second.sizes()[0], "mat1 and mat2 shapes cannot be multiplied (",
              first.sizes()[0], "x", first.sizes()[1], " and ", second.sizes()[0], "x", second.sizes()[1],
              ")");
  TORCH_CHECK(first.dtype() == second.dtype(),
              "expected m1 and m2 to have the same dtype, but got: ", cpp_type_name(first.dtype()),
              " != ", cpp_type_name(second.dtype()));
}

// CUDA devices multiply halves, and the CPU's kernels bfloat16; they read float16 where one matrix is a vector, and
// else float32.
template <typename Table, typename... Args>
void run_product(const Table& kernels, const Tensor& out, bool is_read, const Tensor& first, const Tensor& second,
                 const Args&... args) {
  if (!first.is_cpu()) return run_kernel(kernels, first.device(), out, first, second, args...);
  if (first.dtype() == kBFloat16) return run_kernel(kernels, first.device(), out, first, second, args...);
  const bool is_vector =
      first.dtype() == kHalf && first.dim() == 2 && (first.sizes()[0] == 1 || second.sizes()[1] == 1);
  if (!is_vector) return run_kernel_in_float32(kernels, first.device(), out, first, second, args...);
  const Tensor sums =
      is_read ? at::detail::to_dtype(out, kFloat) : at::detail::empty(out.sizes(), kFloat, out.device());
  run_kernel(kernels, first.device(), sums, first, second, args...);
  at::detail::copy_into(out, sums);
}

// Writes a layer's bias into the few rows of a small result: an iterator would cost more than that. Whether it did.
bool copy_to_rows(const Tensor& bias, const Tensor& out) {
  constexpr int64_t kFewRows = 64;
  const int64_t rows = out.sizes()[0];
  const int64_t columns = out.sizes()[1];
  if (!out.is_cpu() || bias.dim() != 1 || bias.sizes()[0] != columns || !bias.is_contiguous()) return false;
  if (rows > kFewRows || out.numel() > kGrainSize || out.numel() == 0) return false;
  const auto bytes = static_cast<size_t>(columns) * out.element_size();
  auto* row = static_cast<char*>(out.data_ptr());
  for (int64_t i = 0; i < rows; ++i, row += bytes) std::memcpy(row, bias.data_ptr(), bytes);
  return true;
}

// Whether an expanded matrix's rows (dim 0) or columns (dim 1) are all the same one, as derivatives of several kinds
// have them: then so are those of its product.
bool repeats(const Tensor& matrix, int64_t dim) { return matrix.sizes()[dim] > 1 && matrix.strides()[dim] == 0; }

Tensor first_of(const Tensor& matrix, int64_t dim) {
  DimVector sizes(matrix.sizes());
  sizes[dim] = 1;
  return alias_with_sizes_and_strides(matrix, sizes, matrix.strides());
}

const Tensor& repeat_into(const Tensor& out, const Tensor& product) {
  at::detail::copy_into(out, native::expand(product, out.sizes(), /*implicit=*/true));
  return out;
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(self.dim() == 2, "self must be a matrix");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix");
  check_matrices(self, mat2, "mm");
  if (c10::is_float8_type(self.dtype())) {
    return at::detail::to_dtype(native::mm(at::detail::to_dtype(self, kFloat), at::detail::to_dtype(mat2, kFloat)),
                                self.dtype());
  }
  Tensor out = at::detail::empty({self.sizes()[0], mat2.sizes()[1]}, self.dtype(), self.device());
  if (repeats(self, 0)) return repeat_into(out, native::mm(first_of(self, 0), mat2));
  if (repeats(mat2, 1)) return repeat_into(out, native::mm(self, first_of(mat2, 1)));
  const bool is_real = self.is_floating_point() || c10::is_integral_type(self.dtype(), /*include_bool=*/false);
  const bool adds = !self.is_cpu() || self.sizes()[1] != 1 || !is_real;
  if (!adds) at::mul_out(out, self.contiguous(), mat2.contiguous());
  else if (out.numel() > 0) run_product(gemm_kernels, out, false, self, mat2, Scalar(0), Scalar(1));
  return out;
}

Tensor _int_mm(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(self.dim() == 2, "self must be a matrix");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix");
  TORCH_CHECK(self.sizes()[1] == mat2.sizes()[0], "_int_mm: a matrix of ", self.sizes()[1],
              " columns cannot be multiplied by one of ", mat2.sizes()[0], " rows");
  TORCH_CHECK((self.dtype() == kChar || self.dtype() == kByte) && mat2.dtype() == kChar,
              "_int_mm: expected matrices of int8, the first one perhaps of uint8, but got ", self.dtype(), " and ",
              mat2.dtype());
  check_same_device(self, mat2, "mat2", "_int_mm");
  Tensor out = at::detail::empty({self.sizes()[0], mat2.sizes()[1]}, kInt, self.device());
  if (out.numel() > 0) run_kernel(gemm_kernels, self.device(), out, self, mat2, Scalar(0), Scalar(1));
  return out;
}

// In float, which holds all numbers of float8. `scale_result` and `use_fast_accum` are for other devices, as in
// PyTorch.
Tensor _scaled_mm(const Tensor& self, const Tensor& mat2, const Tensor& scale_a, const Tensor& scale_b,
                  const Tensor& bias, const Tensor&, std::optional<ScalarType> out_dtype, bool) {
  TORCH_CHECK(self.dim() == 2, "mat1 must be a matrix");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix");
  const int64_t rows = self.sizes()[0], columns = mat2.sizes()[1];
  TORCH_CHECK(self.sizes()[1] == mat2.sizes()[0], "mat_a and mat_b shapes cannot be multiplied (", rows, "x",
              self.sizes()[1], " and ", mat2.sizes()[0], "x", columns, ")");
  const bool are_numbers = scale_a.numel() == 1 && scale_b.numel() == 1;
  const bool are_lines = scale_a.sizes() == IntArrayRef({rows, 1}) && scale_b.sizes() == IntArrayRef({1, columns});
  const bool are_float8 = c10::is_float8_type(self.dtype()) && c10::is_float8_type(mat2.dtype());
  TORCH_CHECK_VALUE(
      are_float8 && (are_numbers || are_lines) && scale_a.dtype() == kFloat && scale_b.dtype() == kFloat,
      "Invalid scaling configuration: matrices should be float8, scales float32, one number each or (", rows,
      ", 1) and (1, ", columns, "), but got ", self.dtype(), " and ", mat2.dtype(), " with ", scale_a.dtype(), " of ",
      scale_a.sizes(), " and ", scale_b.dtype(), " of ", scale_b.sizes());
  const auto scaled = [&](const Tensor& matrix, const Tensor& scale) {
    return at::mul(matrix.to(kFloat), are_numbers ? at::reshape(scale, {}) : scale);
  };
  Tensor product = at::mm(scaled(self, scale_a), scaled(mat2, scale_b));
  if (bias.defined()) product = at::add(product, bias.to(kFloat));
  return product.to(out_dtype.value_or(self.dtype()));
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  check_matrices(mat1, mat2, "addmm");
  check_same_device(mat1, self, "self", "addmm");
  TORCH_CHECK(self.dtype() == mat2.dtype(), "self and mat2 must have the same dtype, but got ", self.dtype(),
              " and ", mat2.dtype());
  const DimVector shape{mat1.sizes()[0], mat2.sizes()[1]};
  Tensor out = at::detail::empty(shape, self.dtype(), self.device());
  constexpr int64_t kFewResults = 256;  // which cost less than an iterator
  if (out.is_cpu() && mat1.sizes()[1] == 1 && self.is_floating_point() && beta.equal(1) && out.numel() > kFewResults) {
    native::addcmul(native::expand(self, shape, /*implicit=*/true), mat1.contiguous(), mat2.contiguous(), alpha, out);
    return out;
  }
  if (self.dim() == 1 && repeats(mat1, 0)) {
    return repeat_into(out, native::addmm(self, first_of(mat1, 0), mat2, beta, alpha));
  }
  const bool is_read = !beta.equal(0);
  if (!is_read || !copy_to_rows(self, out)) {
    const Tensor bias = native::expand(self, shape, /*implicit=*/true);
    if (is_read) at::detail::copy_into(out, bias);
  }
  if (out.numel() > 0) run_product(gemm_kernels, out, is_read, mat1, mat2, beta, alpha);
  return out;
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(self.dim() == 3, "batch1 must be a 3D tensor");
  TORCH_CHECK(mat2.dim() == 3, "batch2 must be a 3D tensor");
  check_same_device(self, mat2, "mat2", "bmm");
  const IntArrayRef a = self.sizes();
  const IntArrayRef b = mat2.sizes();
  TORCH_CHECK(b[0] == a[0] && b[1] == a[2],
              "Expected size for first two dimensions of batch2 tensor to be: [", a[0], ", ", a[2],
              "] but got: [", b[0], ", ", b[1], "].");
  TORCH_CHECK(self.dtype() == mat2.dtype(), "expected scalar type ", self.dtype(), " but found ",
              mat2.dtype());
  const Tensor out = at::detail::empty({a[0], a[1], b[2]}, self.dtype(), self.device());
  if (out.numel() == 0) return out;
  if (out.is_cpu() && out.dtype() == kBFloat16) run_kernel(bmm_kernels, out.device(), out, self, mat2);
  else run_product(bmm_kernels, out, false, self, mat2);
  return out;
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  TORCH_CHECK(self.dim() == 2 && vec.dim() == 1, "vector + matrix @ vector expected, got 1, ", self.dim(),
              ", ", vec.dim());
  TORCH_CHECK(self.sizes()[1] == vec.sizes()[0], "size mismatch, got input (", self.sizes()[0], "), mat (",
              self.sizes()[0], "x", self.sizes()[1], "), vec (", vec.sizes()[0], ")");
  TORCH_CHECK(self.dtype() == vec.dtype(), "addmv input tensors must have the same dtype, but got ",
              vec.dtype(), ", ", self.dtype(), ", and ", vec.dtype());
  return at::squeeze(at::mm(self, at::unsqueeze(vec, 1)), 1);
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  TORCH_CHECK(self.dim() == 1 && tensor.dim() == 1, "1D tensors expected, but got ", self.dim(), "D and ",
              tensor.dim(), "D tensors");
  TORCH_CHECK(self.dtype() == tensor.dtype(), "dot : expected both vectors to have same dtype, but found ",
              self.dtype(), " and ", tensor.dtype());
  TORCH_CHECK(self.numel() == tensor.numel(), "inconsistent tensor size, expected tensor ", self.sizes(),
              " and src ", tensor.sizes(), " to have the same number of elements, but got ", self.numel(),
              " and ", tensor.numel(), " elements respectively");
  const bool is_of_halves = c10::is_reduced_floating_type(self.dtype()) && self.is_cpu() && tensor.is_cpu();
  if (is_of_halves && !is_dispatched() && !is_differentiated(self) && !is_differentiated(tensor)) {
    const Tensor out = at::detail::empty({}, self.dtype(), self.device());
    cpu::dot_of_halves(out, at::detail::to_contiguous(self), at::detail::to_contiguous(tensor));
    return out;
  }
  return at::squeeze(at::mm(at::unsqueeze(self, 0), at::unsqueeze(tensor, 1)));
}

namespace {

// A factor as a number of this type: of integers, 0.5 is 0.
Scalar factor_of(const Scalar& factor, ScalarType dtype) {
  if (dtype == kBool) return Scalar(factor.toDouble() != 0);
  return c10::is_integral_type(dtype, /*include_bool=*/false) ? Scalar(factor.toLong()) : factor;
}

// beta * self + alpha * product; with beta 0 not even NaN of self counts. Halves are rounded once.
Tensor add_product(const Tensor& self, const Tensor& product, const Scalar& beta, const Scalar& alpha,
                   ScalarType dtype) {
  const Scalar keep = factor_of(beta, dtype);
  const Scalar factor = factor_of(alpha, dtype);
  const Tensor scaled = factor.equal(1) ? product : at::mul(product, factor);
  if (keep.equal(0)) return scaled.to(dtype);
  const Tensor addend = at::expand(self, product.sizes());
  return at::add(keep.equal(1) ? addend : at::mul(addend, keep), scaled).to(dtype);
}

// float16 and bfloat16 as float32, so that sums of products are not rounded before they are added to.
Tensor widened(const Tensor& tensor) {
  return c10::is_reduced_floating_type(tensor.dtype()) ? tensor.to(kFloat) : tensor;
}

// The products of halves in float32; of bfloat16 the CPU's kernel reads the matrices themselves.
Tensor unrounded_bmm(const Tensor& batch1, const Tensor& batch2) {
  const bool is_read = batch1.is_cpu() && batch1.dtype() == kBFloat16 && batch2.dtype() == kBFloat16 &&
                       batch1.sizes()[0] == batch2.sizes()[0] && batch1.sizes()[2] == batch2.sizes()[1] &&
                       !is_differentiated(batch1) && !is_differentiated(batch2);
  if (!is_read) return at::bmm(widened(batch1), widened(batch2));
  const DimVector sizes{batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]};
  const Tensor sums = at::detail::empty(sizes, kFloat, batch1.device());
  if (sums.numel() > 0) run_kernel(bmm_kernels, batch1.device(), sums, batch1, batch2);
  return sums;
}

void check_batches(const Tensor& batch1, const Tensor& batch2) {
  TORCH_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
  TORCH_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
}

}  // namespace

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  TORCH_CHECK(mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1, "vector + matrix @ vector expected, got ",
              self.dim(), ", ", mat.dim(), ", ", vec.dim());
  TORCH_CHECK(mat.sizes()[1] == vec.sizes()[0] && (self.numel() == mat.sizes()[0] || self.numel() == 1),
              "size mismatch, got input (", self.numel(), "), mat (", mat.sizes()[0], "x", mat.sizes()[1], "), vec (",
              vec.sizes()[0], ")");
  TORCH_CHECK(self.dtype() == mat.dtype() && mat.dtype() == vec.dtype(),
              "addmv input tensors must have the same dtype, but got ", self.dtype(), ", ", mat.dtype(), ", and ",
              vec.dtype());
  const Tensor addend = at::unsqueeze(at::expand(self, {mat.sizes()[0]}), 1);
  return at::squeeze(at::addmm(addend, mat, at::unsqueeze(vec, 1), beta, alpha), 1);
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  TORCH_CHECK(vec1.dim() == 1 && vec2.dim() == 1, "addr: Expected 1-D argument ", vec1.dim() == 1 ? "vec2" : "vec1",
              ", but got ", vec1.dim() == 1 ? vec2.dim() : vec1.dim(), "-D");
  const ScalarType dtype = c10::promote_types(self.dtype(), c10::promote_types(vec1.dtype(), vec2.dtype()));
  const auto is_plain = [&](const Tensor& x) { return x.is_cpu() && x.dtype() == dtype && !is_differentiated(x); };
  const bool is_plain_float = dtype == kFloat || dtype == kDouble;
  if (is_plain_float && !beta.equal(0) && is_plain(self) && is_plain(vec1) && is_plain(vec2)) {  // in one pass
    const Tensor addend = at::expand(self, {vec1.numel(), vec2.numel()});
    const Tensor out = at::detail::empty(addend.sizes(), self.options());
    cpu::add_outer(out, addend.strides()[1] == 1 ? addend : at::detail::to_contiguous(addend),
                   at::detail::to_contiguous(vec1), at::detail::to_contiguous(vec2), beta.toDouble(), alpha.toDouble());
    return out;
  }
  const bool is_one_pass = c10::is_reduced_floating_type(dtype) && beta.equal(1) && vec1.dtype() == vec2.dtype();
  if (is_one_pass && is_plain(self) && is_plain(vec1) && is_plain(vec2))
    return at::addcmul(self, at::unsqueeze(vec1, 1), at::unsqueeze(vec2, 0), alpha);
  // A product of matrices, whose gradients are such, too.
  const Tensor column = at::unsqueeze(widened(vec1), 1);
  const Tensor row = at::unsqueeze(widened(vec2), 0);
  const bool are_alike = c10::is_floating_or_complex_type(column.dtype()) && column.dtype() == row.dtype();
  return add_product(widened(self), are_alike ? at::mm(column, row) : at::mul(column, row), beta, alpha, dtype);
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  check_batches(batch1, batch2);
  TORCH_CHECK(self.dtype() == batch1.dtype(), "Input dtypes must be the same, got: input ", self.dtype(),
              ", batch1: ", batch1.dtype(), ", batch2: ", batch2.dtype());
  return add_product(widened(self), unrounded_bmm(batch1, batch2), beta, alpha, self.dtype());
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  check_batches(batch1, batch2);
  const IntArrayRef a = batch1.sizes();
  const IntArrayRef b = batch2.sizes();
  TORCH_CHECK(a[0] == b[0], "batch1 and batch2 must have same number of batches, got ", a[0], " and ", b[0]);
  TORCH_CHECK(a[2] == b[1], "Incompatible matrix sizes for bmm (", a[1], "x", a[2], " and ", b[1], "x", b[2], ")");
  // The sum over batches of products is one product of the batches side by side.
  const Tensor left = at::reshape(at::permute(batch1, {1, 0, 2}), {a[1], a[0] * a[2]});
  const Tensor right = at::reshape(batch2, {b[0] * b[1], b[2]});
  return at::addmm(self, left, right, beta, alpha);
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  TORCH_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  TORCH_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return at::mul(at::unsqueeze(self, 1), vec2);
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t dims1 = self.dim();
  const int64_t dims2 = other.dim();
  TORCH_CHECK(dims1 > 0 && dims2 > 0, "both arguments to matmul need to be at least 1D, but they are ", dims1,
              "D and ", dims2, "D");
  if (dims1 == 1 && dims2 == 1) return at::dot(self, other);
  if (dims1 == 2 && dims2 == 1) return at::mv(self, other);
  if (dims1 == 1 && dims2 == 2) return at::squeeze(at::mm(at::unsqueeze(self, 0), other), 0);
  if (dims1 == 2 && dims2 == 2) return at::mm(self, other);
  if (dims2 <= 2) {  // a stack of matrices times one: fold the stack into rows
    const int64_t inner = self.sizes()[dims1 - 1];
    const Tensor matrix = dims2 == 1 ? at::unsqueeze(other, 1) : other;
    DimVector shape(self.sizes().slice(0, dims1 - 1));
    const Tensor product = at::mm(at::reshape(self, {native::product(shape), inner}), matrix);
    if (dims2 == 2) shape.push_back(matrix.sizes()[1]);
    return product.view(shape);
  }
  // Both are stacks, or the second one is: broadcast over all but the last two dimensions.
  const Tensor left = dims1 == 1 ? at::unsqueeze(self, 0) : self;
  const Tensor right = other;
  const int64_t left_dims = left.dim();
  const int64_t rows = left.sizes()[left_dims - 2];
  const int64_t inner = left.sizes()[left_dims - 1];
  const int64_t right_inner = right.sizes()[dims2 - 2];
  const int64_t columns = right.sizes()[dims2 - 1];
  const DimVector batch =
      broadcast_shapes(left.sizes().slice(0, left_dims - 2), right.sizes().slice(0, dims2 - 2));
  const int64_t batches = native::product(batch);
  DimVector left_shape(batch);
  left_shape.push_back(rows);
  left_shape.push_back(inner);
  DimVector right_shape(batch);
  right_shape.push_back(right_inner);
  right_shape.push_back(columns);
  DimVector shape(batch);
  if (dims1 > 1) shape.push_back(rows);
  shape.push_back(columns);
  return at::bmm(at::reshape(left.expand(left_shape), {batches, rows, inner}),
                 at::reshape(right.expand(right_shape), {batches, right_inner, columns}))
      .view(shape);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  TORCH_CHECK(input1.dim() == input2.dim(), "bilinear(): input dimensions do not match: got ", input1.dim(), " and ",
              input2.dim());
  for (int64_t dim = 0; dim < input1.dim() - 1; ++dim) {
    TORCH_CHECK(input1.sizes()[dim] == input2.sizes()[dim], "bilinear(): input batch dimensions do not match at dim ",
                dim, ": got ", input1.sizes()[dim], " and ", input2.sizes()[dim]);
  }
  TORCH_CHECK(input1.dim() > 0 && weight.dim() == 3,
              "bilinear(): expected inputs of at least one dimension and a weight of three, but got ", input1.sizes(),
              " and ", weight.sizes());
  const int64_t outputs = weight.sizes()[0], first = weight.sizes()[1], second = weight.sizes()[2];
  TORCH_CHECK(input1.sizes().back() == first, "bilinear(): input1 size does not match weight size: got ",
              input1.sizes().back(), " but expected ", first);
  TORCH_CHECK(input2.sizes().back() == second, "bilinear(): input2 size does not match weight size: got ",
              input2.sizes().back(), " but expected ", second);
  TORCH_CHECK(!bias.defined() || (bias.dim() == 1 && bias.numel() == outputs),
              "bilinear(): bias size does not match weight size: got ", bias.defined() ? bias.numel() : 0,
              " but expected ", outputs);
  DimVector shape(input1.sizes().slice(0, input1.dim() - 1));
  const int64_t rows = product(shape);
  // (rows, outputs * second), then each row's products with its second input.
  const Tensor half =
      at::mm(at::reshape(input1, {rows, first}), at::reshape(weight.permute({1, 0, 2}), {first, outputs * second}));
  Tensor result =
      at::bmm(half.view({rows, outputs, second}), at::reshape(input2, {rows, second, 1})).view({rows, outputs});
  if (bias.defined()) result = at::add(result, bias);
  shape.push_back(outputs);
  return at::reshape(result, shape);
}

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const int64_t dims = input.dim();
  TORCH_CHECK(dims > 0 && weight.dim() > 0, "both arguments to linear need to be at least 1D, but they are ",
              dims, "D and ", weight.dim(), "D");
  const Tensor transposed = at::t(weight);
  if (bias.defined() && weight.dim() == 2) {
    if (dims == 2) return at::addmm(bias, input, transposed);
    if (dims > 2 && input.is_contiguous() && bias.dim() == 1) {
      DimVector shape(input.sizes());
      const int64_t inner = shape.back();
      shape.pop_back();
      const Tensor folded = at::reshape(input, {native::product(shape), inner});
      shape.push_back(weight.sizes()[0]);
      return at::addmm(bias, folded, transposed).view(shape);
    }
  }
  const Tensor product = at::matmul(input, transposed);
  return bias.defined() ? at::add(product, bias) : product;
}

}  // namespace at::native
