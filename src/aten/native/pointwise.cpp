// Operators of one to three tensors and some numbers.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>

#include <cmath>

namespace at::native {

void addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value, Tensor& out) {
  TensorIterator::ternary_op(out, self, tensor1, tensor2).run(addcmul_kernels, value);
}

void addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value, Tensor& out) {
  TORCH_CHECK(
      !c10::is_integral_type(tensor1.dtype(), true) || !c10::is_integral_type(tensor2.dtype(), true),
      "Integer division with addcdiv is no longer supported. Use (input + value * torch.trunc(tensor1 / tensor2))"
      ".to(input.dtype) for integer inputs, or make tensor1 or tensor2 a float tensor.");
  TensorIterator::ternary_op(out, self, tensor1, tensor2).run(addcdiv_kernels, value);
}

void lerp(const Tensor& self, const Tensor& end, const Scalar& weight, Tensor& out) {
  TORCH_CHECK(self.dtype() == end.dtype(), "expected dtype ", self.dtype(), " for `end` but got dtype ", end.dtype());
  TensorIterator::binary_op(out, self, end).run(lerp_kernels, weight);
}

void clamp(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max, Tensor& out) {
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "clamp is not supported for complex types");
  TORCH_CHECK(min || max, "torch.clamp: At least one of 'min' or 'max' must not be None");
  ScalarType dtype = self.dtype();
  if (min) dtype = c10::promote_types(dtype, result_type(self, *min));
  if (max) dtype = c10::promote_types(dtype, result_type(self, *max));
  TensorIterator(TensorIteratorConfig().output(out).input(self).compute_in(dtype)).run(clamp_kernels, min, max);
  // Nothing lies within a bound that is no number.
  for (const std::optional<Scalar>& bound : {min, max}) {
    if (bound && bound->is_floating_point() && std::isnan(bound->toDouble())) native::fill_(out, *bound);
  }
}

void clamp_tensor(const Tensor& self, const Tensor& min, const Tensor& max, Tensor& out) {
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "clamp is not supported for complex types");
  TORCH_CHECK(min.defined() || max.defined(), "torch.clamp: At least one of 'min' or 'max' must not be None");
  if (!max.defined()) return native::maximum(self, min, out);
  if (!min.defined()) return native::minimum(self, max, out);
  Tensor raised;
  native::maximum(self, min, raised);
  const bool holds_result = max.dtype() == raised.dtype() && max.sizes() == raised.sizes();
  if (!out.defined() && holds_result) out = raised;
  native::minimum(raised, max, out);
}

Tensor clamp_min_tensor(const Tensor& self, const Tensor& min) { return at::clamp(self, min, Tensor()); }
Tensor clamp_max_tensor(const Tensor& self, const Tensor& max) { return at::clamp(self, Tensor(), max); }

void threshold_backward(const Tensor& grad_output, const Tensor& self, const Scalar& threshold, Tensor& out) {
  TensorIterator::binary_op(out, grad_output, self).run(threshold_backward_kernels, threshold);
}

void sigmoid_backward(const Tensor& grad_output, const Tensor& output, Tensor& out) {
  TensorIterator::binary_op(out, grad_output, output).run(sigmoid_backward_kernels);
}

void tanh_backward(const Tensor& grad_output, const Tensor& output, Tensor& out) {
  TensorIterator::binary_op(out, grad_output, output).run(tanh_backward_kernels);
}

}  // namespace at::native
