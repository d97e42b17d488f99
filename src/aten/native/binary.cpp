// Operators of two tensors: checks and promotion, then a kernel.

#include <aten/Dispatch.h>
#include <aten/Functions.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/WrappedScalar.h>

namespace at::native {

namespace {

void check_alpha(const TensorIterator& iter, const Scalar& alpha) {
  const ScalarType dtype = iter.common_dtype();
  TORCH_CHECK(!alpha.is_boolean() || dtype == kBool, "Boolean alpha only supported for Boolean results.");
  TORCH_CHECK(c10::is_floating_or_complex_type(dtype) || alpha.is_integral(/*include_bool=*/true),
              "For integral input tensors, argument alpha must not be a floating point number.");
  TORCH_CHECK(c10::is_complex_type(dtype) || !alpha.is_complex(),
              "For non-complex input tensors, argument alpha must not be a complex number.");
}

// Here and not in the kernel: empty and meta tensors are refused, too.
void check_bits(const TensorIterator& iter, const char* name) {
  if (c10::is_floating_or_complex_type(iter.common_dtype()))
    detail::throw_dtype_not_implemented(name, iter.common_dtype());
}

}  // namespace

void add(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, other);
  check_alpha(iter, alpha);
  iter.run(add_kernels, alpha);
}

void sub(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  TORCH_CHECK(self.dtype() != kBool || other.dtype() != kBool,
              "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
              "operator instead.");
  TORCH_CHECK(
      self.dtype() != kBool && other.dtype() != kBool,
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
      "the `~` or `logical_not()` operator instead.");
  auto iter = TensorIterator::binary_op(out, self, other);
  check_alpha(iter, alpha);
  iter.run(add_kernels, -alpha);
}

Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) { return at::sub(other, self, alpha); }

void mul(const Tensor& self, const Tensor& other, Tensor& out) {
  TensorIterator::binary_op(out, self, other).run(mul_kernels);
}

void div(const Tensor& self, const Tensor& other, Tensor& out) {
  TensorIterator::binary_float_op(out, self, other).run(div_kernels);
}

void div_mode(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode, Tensor& out) {
  if (!rounding_mode) return div(self, other, out);
  if (*rounding_mode == "floor") return floor_divide(self, other, out);
  TORCH_CHECK(*rounding_mode == "trunc",
              "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *rounding_mode, "'");
  TensorIterator::binary_op(out, self, other).run(div_trunc_kernels);
}

void floor_divide(const Tensor& self, const Tensor& other, Tensor& out) {
  TensorIterator::binary_op(out, self, other).run(div_floor_kernels);
}

void remainder(const Tensor& self, const Tensor& other, Tensor& out) {
  TensorIterator::binary_op(out, self, other).run(remainder_kernels);
}

void pow(const Tensor& self, const Tensor& exponent, Tensor& out) {
  TensorIterator::binary_op(out, self, exponent).run(pow_kernels);
}

void pow_scalar(const Tensor& self, const Scalar& exponent, Tensor& out) {
  const ScalarType dtype = result_type(self, exponent);
  TORCH_CHECK_NOT_IMPLEMENTED(dtype != kBool || exponent.equal(0) || exponent.equal(1),
                              "\"pow\" not implemented for 'Bool'");
  TORCH_CHECK(c10::is_floating_or_complex_type(dtype) || exponent.toLong() >= 0,
              "Integers to negative integer powers are not allowed.");
  TensorIterator(TensorIteratorConfig().output(out).input(self).compute_in(dtype)).run(pow_scalar_kernels, exponent);
}

Tensor pow_base_scalar(const Scalar& self, const Tensor& exponent) {
  if (exponent.is_floating_point() && !self.is_complex() && self.equal(2)) return at::exp2(exponent);
  return at::pow(wrapped_scalar_tensor(self, exponent.device()), exponent);
}

void maximum(const Tensor& self, const Tensor& other, Tensor& out) {
  TORCH_CHECK(!self.is_complex() && !other.is_complex(), "maximum not implemented for complex tensors.");
  TensorIterator::binary_op(out, self, other).run(maximum_kernels);
}

void minimum(const Tensor& self, const Tensor& other, Tensor& out) {
  TORCH_CHECK(!self.is_complex() && !other.is_complex(), "minimum not implemented for complex tensors.");
  TensorIterator::binary_op(out, self, other).run(minimum_kernels);
}

void bitwise_and(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, other);
  check_bits(iter, "bitwise_and");
  iter.run(bitwise_and_kernels);
}

void bitwise_or(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, other);
  check_bits(iter, "bitwise_or");
  iter.run(bitwise_or_kernels);
}

void bitwise_xor(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, other);
  check_bits(iter, "bitwise_xor");
  iter.run(bitwise_xor_kernels);
}

}  // namespace at::native
