// Written by torchgen from native_functions.yaml, kernels.yaml and derivatives.yaml: change those instead.
// Fills the CUDA column of every kernel table; the plug-in calls it once, while it is loaded.

#include <aten/Kernels.h>

namespace at::native {

void register_cuda_kernels() {
${registrations}
}

}  // namespace at::native
