#pragma once
// Written by torchgen from native_functions.yaml, kernels.yaml and derivatives.yaml: change those instead.
// Every operator as a function of namespace at, and the definitions of class Tensor's methods.

#include <aten/Tensor.h>

namespace at {

${declarations}

${overloads}

${methods}

}  // namespace at
