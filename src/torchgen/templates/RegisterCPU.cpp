// Written by torchgen from native_functions.yaml, kernels.yaml and derivatives.yaml: change those instead.
// Defines every kernel table with its CPU column. Constant initialised: ready before any constructor runs.

#include <aten/Kernels.h>

namespace at::native {

${tables}

}  // namespace at::native
