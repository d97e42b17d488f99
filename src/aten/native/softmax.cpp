// softmax and log_softmax along one dimension.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/CachedParts.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>

#include <limits>

namespace at::native {

namespace {

// Few columns side by side fill no vectors: they are brought into rows.
bool has_few_columns(const Tensor& self, int64_t dim) {
  constexpr int64_t kFewColumns = 8;
  constexpr int64_t kMany = 1024;  // elements
  int64_t inner = 1;
  for (int64_t i = dim + 1; i < self.dim(); ++i) inner *= self.sizes()[i];
  return self.is_cpu() && inner > 1 && inner < kFewColumns && self.sizes()[dim] >= inner && self.numel() >= kMany;
}
Tensor to_rows(const Tensor& self, int64_t dim) { return at::detail::to_contiguous(native::movedim(self, dim, -1)); }
Tensor from_rows(const Tensor& rows, int64_t dim) { return at::detail::to_contiguous(native::movedim(rows, -1, dim)); }

}  // namespace

Tensor _softmax(const Tensor& self, int64_t dim, bool log) {
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), '"', log ? "log_softmax" : "softmax",
                              dim + 1 >= self.dim() ? "_lastdim" : "", "_kernel_impl\" not implemented for '",
                              self.dtype(), "'");
  if (has_few_columns(self, dim)) return from_rows(native::_softmax(to_rows(self, dim), -1, log), dim);
  const Tensor out = at::detail::empty(self.sizes(), self.dtype(), self.device());
  if (out.numel() == 0) return out;
  run_kernel(softmax_kernels, self.device(), around_dimension(out, dim),
             around_dimension(at::detail::to_contiguous(self), dim), 1, log);
  return out;
}

Tensor _softmax_backward(const Tensor& grad_output, const Tensor& output, int64_t dim, bool log) {
  dim = wrap_dim(dim, output.dim());
  TORCH_CHECK(grad_output.sizes() == output.sizes(), "_softmax_backward: grad_output has shape ",
              grad_output.sizes(), ", but output has ", output.sizes());
  if (has_few_columns(output, dim)) {
    const Tensor rows = native::_softmax_backward(to_rows(grad_output, dim), to_rows(output, dim), -1, log);
    return from_rows(rows, dim);
  }
  const Tensor grad_input = at::detail::empty(output.sizes(), output.dtype(), output.device());
  if (grad_input.numel() == 0) return grad_input;
  const Tensor grads = around_dimension(at::detail::to_contiguous(grad_output), dim);
  const Tensor results = around_dimension(at::detail::to_contiguous(output), dim);
  run_kernel(softmax_backward_kernels, output.device(), around_dimension(grad_input, dim), grads, results, 1, log);
  return grad_input;
}

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_softmax(dtype ? at::detail::to_dtype(self, *dtype) : self, dim, /*log=*/false);
}

// What is masked entirely (all elements -inf) gets no share of anything, instead of NaN.
Tensor _safe_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  if (self.numel() == 0) return at::softmax(self, dim, dtype);
  const Tensor masked = at::all(at::eq(self, Scalar(-std::numeric_limits<double>::infinity())), dim, /*keepdim=*/true);
  // of numbers, for the gradient
  const Tensor shares = at::softmax(at::masked_fill(self, masked, Scalar(0)), dim, dtype);
  return at::masked_fill(shares, masked, Scalar(0));
}

Tensor _softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  TORCH_CHECK(grad_output.dtype() == output.dtype() && (input_dtype == output.dtype() || output.dtype() == kFloat),
              "expected grad_output and output to have one dtype, but got ", grad_output.dtype(), " and ",
              output.dtype());
  return at::detail::to_dtype(at::_softmax_backward(grad_output, output, dim, /*log=*/false), input_dtype);
}

Tensor _log_softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim,
                                  ScalarType input_dtype) {
  TORCH_CHECK(grad_output.dtype() == output.dtype() && (input_dtype == output.dtype() || output.dtype() == kFloat),
              "expected grad_output and output to have one dtype, but got ", grad_output.dtype(), " and ",
              output.dtype());
  return at::detail::to_dtype(at::_softmax_backward(grad_output, output, dim, /*log=*/true), input_dtype);
}

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_softmax(dtype ? at::detail::to_dtype(self, *dtype) : self, dim, /*log=*/true);
}

}  // namespace at::native
