// Operators of one to three tensors and some numbers.

#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>

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
  TORCH_CHECK(min || max, "torch.clamp: At least one of 'min' or 'max' must not be None");
  ScalarType dtype = self.dtype();
  if (min) dtype = c10::promote_types(dtype, result_type(self, *min));
  if (max) dtype = c10::promote_types(dtype, result_type(self, *max));
  TensorIterator(TensorIteratorConfig().output(out).input(self).compute_in(dtype)).run(clamp_kernels, min, max);
}

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
