#pragma once
// What kernels call when an iterator's common dtype is complex. Functions of complex128 are compiled once, not per
// instruction set: their loops are calls of the standard library's.

#include <aten/TensorIterator.h>
#include <aten/native/ComplexFormulas.h>
#include <aten/native/ScalarFunctions.h>

namespace at::native::cpu {

#define TORCH_DECLARE(name, ...) void complex_##name(TensorIterator& iter);
AT_FORALL_COMPLEX_BINARY(TORCH_DECLARE)
AT_FORALL_COMPLEX_UNARY(TORCH_DECLARE)
TORCH_DECLARE(angle)
TORCH_DECLARE(sigmoid_backward)
TORCH_DECLARE(silu_backward)
TORCH_DECLARE(tanh_backward)
#undef TORCH_DECLARE

#define TORCH_ENUMERATOR(name, ...) name,
enum class ComplexFunction {
  AT_FORALL_COMPLEX_UNARY_FUNCTIONS(TORCH_ENUMERATOR) AT_FORALL_COMPLEX_FUNCTIONS(TORCH_ENUMERATOR)
};
#undef TORCH_ENUMERATOR
using ScalarOfComplex = c10::complex<float> (*)(c10::complex<float>);

// Whether there are vectors for the function of complex64; if so, it has been computed, what is rare by `scalar`.
bool run_in_vectors(TensorIterator& iter, ComplexFunction function, ScalarOfComplex scalar);

void complex_add(TensorIterator& iter, const Scalar& alpha);
void complex_pow_scalar(TensorIterator& iter, const Scalar& exponent);
void complex_addcmul(TensorIterator& iter, const Scalar& value);
void complex_addcdiv(TensorIterator& iter, const Scalar& value);
void complex_lerp(TensorIterator& iter, const Scalar& weight);
void complex_lerp_by_weights(TensorIterator& iter);

}  // namespace at::native::cpu
