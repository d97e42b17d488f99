#pragma once
// Those functions of aten/native/ScalarFunctions.h that programs call often enough to have vectors of their own.

#include <aten/TensorIterator.h>
#include <aten/native/ScalarFunctions.h>

namespace at::native::cpu {

// Whether there are vectors for the function and the iterator's common dtype; if so, it has been computed.
bool run_in_vectors(TensorIterator& iter, UnaryFunction function);
bool run_in_vectors(TensorIterator& iter, BinaryFunction function);
// The same of those in special_function_kernels.cpp.
bool run_special(TensorIterator& iter, UnaryFunction function);
bool run_special(TensorIterator& iter, BinaryFunction function);

// What vectors of incomplete gamma functions ask for what is rare: this, once for all instruction sets.
double scalar_igamma(double a, double x, bool is_upper);

}  // namespace at::native::cpu
