#pragma once
// What kernels call when an iterator's common dtype is complex.

#include <aten/TensorIterator.h>
#include <aten/native/ComplexFormulas.h>

namespace at::native::cuda {

#define AT_DECLARE(name, ...) void complex_##name(TensorIterator& iter);
AT_FORALL_COMPLEX_BINARY(AT_DECLARE)
AT_FORALL_COMPLEX_UNARY(AT_DECLARE)
#undef AT_DECLARE
void complex_add(TensorIterator& iter, const Scalar& alpha);
void complex_pow_scalar(TensorIterator& iter, const Scalar& exponent);
void complex_addcmul(TensorIterator& iter, const Scalar& value);
void complex_addcdiv(TensorIterator& iter, const Scalar& value);
void complex_lerp(TensorIterator& iter, const Scalar& weight);

}  // namespace at::native::cuda
