#pragma once
// What kernels call when an iterator's common dtype is complex. Functions are compiled once, not per instruction set:
// their loops are calls of the standard library's.

#include <aten/TensorIterator.h>
#include <aten/native/ComplexFormulas.h>

namespace at::native::cpu {

#define TORCH_DECLARE(name, ...) void complex_##name(TensorIterator& iter);
AT_FORALL_COMPLEX_BINARY(TORCH_DECLARE)
AT_FORALL_COMPLEX_UNARY(TORCH_DECLARE)
TORCH_DECLARE(angle)
TORCH_DECLARE(sigmoid_backward)
TORCH_DECLARE(silu_backward)
TORCH_DECLARE(tanh_backward)
#undef TORCH_DECLARE
void complex_add(TensorIterator& iter, const Scalar& alpha);
void complex_pow_scalar(TensorIterator& iter, const Scalar& exponent);
void complex_addcmul(TensorIterator& iter, const Scalar& value);
void complex_addcdiv(TensorIterator& iter, const Scalar& value);
void complex_lerp(TensorIterator& iter, const Scalar& weight);
void complex_lerp_by_weights(TensorIterator& iter);

}  // namespace at::native::cpu
