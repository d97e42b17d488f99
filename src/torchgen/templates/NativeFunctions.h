#pragma once
// Written by torchgen from native_functions.yaml, kernels.yaml and derivatives.yaml: change those instead.
// The functions that aten/native defines. A structured one allocates `out` when it is undefined.

#include <aten/Tensor.h>

namespace at::native {

${declarations}

}  // namespace at::native
