// Operators of one tensor, element by element.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>

namespace at::native {

// Computed in the default dtype for integers and bool.
#define AT_DEFINE_UNARY_FLOAT(name) \
  void name(const Tensor& self, Tensor& out) { TensorIterator::unary_float_op(out, self).run(name##_kernels); }
AT_DEFINE_UNARY_FLOAT(reciprocal)
AT_DEFINE_UNARY_FLOAT(exp)
AT_DEFINE_UNARY_FLOAT(expm1)
AT_DEFINE_UNARY_FLOAT(log)
AT_DEFINE_UNARY_FLOAT(log2)
AT_DEFINE_UNARY_FLOAT(log10)
AT_DEFINE_UNARY_FLOAT(log1p)
AT_DEFINE_UNARY_FLOAT(sqrt)
AT_DEFINE_UNARY_FLOAT(sin)
AT_DEFINE_UNARY_FLOAT(cos)
AT_DEFINE_UNARY_FLOAT(tanh)
AT_DEFINE_UNARY_FLOAT(erf)
#undef AT_DEFINE_UNARY_FLOAT

// The last step of complex128 on the CPU is a loop of its own: the reciprocal has vectors, which the function has not.
void rsqrt(const Tensor& self, Tensor& out) {
  if (!self.is_cpu() || self.dtype() != kComplexDouble) {
    return TensorIterator::unary_float_op(out, self).run(rsqrt_kernels);
  }
  native::sqrt(self, out);
  native::reciprocal(out, out);
}

void sigmoid(const Tensor& self, Tensor& out) {
  if (!self.is_cpu() || self.dtype() != kComplexDouble) {
    return TensorIterator::unary_float_op(out, self).run(sigmoid_kernels);
  }
  native::neg(self, out);
  native::exp(out, out);
  out.add_(Scalar(1));
  native::reciprocal(out, out);
}

// Integers are already whole.
#define AT_DEFINE_ROUNDING(name)                                                  \
  void name(const Tensor& self, Tensor& out) {                                    \
    TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), #name " is not supported for complex inputs"); \
    if (self.dtype() == kBool) detail::throw_dtype_not_implemented(#name, kBool); \
    auto iter = TensorIterator::unary_op(out, self);                              \
    if (c10::is_integral_type(self.dtype(), false)) return iter.run(copy_kernels, false); \
    iter.run(name##_kernels);                                                     \
  }
AT_DEFINE_ROUNDING(floor)
AT_DEFINE_ROUNDING(ceil)
AT_DEFINE_ROUNDING(round)
AT_DEFINE_ROUNDING(trunc)
#undef AT_DEFINE_ROUNDING

void sign(const Tensor& self, Tensor& out) {
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(),
                              "Unlike NumPy, torch.sign is not intended to support complex numbers. "
                              "Please use torch.sgn instead.");
  TensorIterator::unary_op(out, self).run(sign_kernels);
}

void bitwise_not(const Tensor& self, Tensor& out) {
  if (c10::is_floating_or_complex_type(self.dtype())) detail::throw_dtype_not_implemented("bitwise_not", self.dtype());
  TensorIterator::unary_op(out, self).run(bitwise_not_kernels);
}

namespace {

// The CPU need not convert halves to change their sign, which is a bit. False: it is not that simple.
bool change_signs_of_halves(const Tensor& self, Tensor& out, bool drops) {
  constexpr int64_t kMany = 512;  // elements; fewer take less time than two tensors
  if (!self.is_cpu() || !c10::is_reduced_floating_type(self.dtype()) || self.numel() < kMany) return false;
  if (out.defined() && (out.dtype() != self.dtype() || out.sizes() != self.sizes())) return false;
  if (!out.defined()) out = at::empty_like(self);
  const auto bits_of = [](const Tensor& tensor) {
    return alias_as(tensor, kShort, tensor.sizes(), tensor.strides(), tensor.storage_offset());
  };
  Tensor bits = bits_of(out);
  TensorIterator::unary_op(bits, bits_of(self)).run(cpu::change_signs_of_halves, drops);
  return true;
}

}  // namespace

void neg(const Tensor& self, Tensor& out) {
  TORCH_CHECK(
      self.dtype() != kBool,
      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
      "`~` or `logical_not()` operator instead.");
  if (change_signs_of_halves(self, out, /*drops=*/false)) return;
  TensorIterator::unary_op(out, self).run(neg_kernels);
}

void abs(const Tensor& self, Tensor& out) {
  if (self.dtype() == kBool) detail::throw_dtype_not_implemented("abs", kBool);
  if (change_signs_of_halves(self, out, /*drops=*/true)) return;
  if (c10::is_float8_type(self.dtype())) {
    Tensor wide;
    native::abs(detail::to_dtype(self, kFloat), wide);
    if (out.defined()) out.copy_(wide);
    else out = detail::to_dtype(wide, self.dtype());
    return;
  }
  if (!self.is_complex()) return TensorIterator::unary_op(out, self).run(abs_kernels);
  TORCH_CHECK(!out.is_same(self), "In-place abs is not supported for complex tensors.");
  if (!out.defined()) return native::hypot(at::real(self), at::imag(self), out);  // which has vectors
  const ScalarType dtype = c10::real_type(self.dtype());
  TensorIterator(TensorIteratorConfig().output(out, dtype).input(self)).run(abs_kernels);
}

void relu(const Tensor& self, Tensor& out) {
  TORCH_CHECK(self.dtype() != kBool, "Boolean inputs not supported for relu");
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "clamp is not supported for complex types");
  TensorIterator::unary_op(out, self).run(relu_kernels);
}

}  // namespace at::native
