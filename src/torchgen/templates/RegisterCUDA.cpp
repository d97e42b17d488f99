// Written by torchgen from native_functions.yaml, kernels.yaml and derivatives.yaml: change those instead.
// Fills the CUDA column of every kernel table; the plug-in calls it once, while it is loaded.

#include <aten/Kernels.h>
#include <c10/cuda/CUDAException.h>

namespace at::native {

namespace {

template <const auto& table, auto kernel, typename... Arguments>
void run(Arguments... arguments) {
  const c10::cuda::OperatorScope scope(table.name());
  kernel(static_cast<Arguments>(arguments)...);
}

}  // namespace

void register_cuda_kernels() {
${registrations}
}

}  // namespace at::native
