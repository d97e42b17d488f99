// What libtorch sees of this plug-in before it believes anything of it (aten/Plugin.h).

#include <aten/AbiTag.h>
#include <aten/Kernels.h>
#include <aten/Plugin.h>
#include <aten/native/cuda/cudnn.h>
#include <c10/cuda/CUDABackend.h>

namespace at::native {
void register_cuda_kernels();  // generated: RegisterCUDA.cpp
}

namespace {

// The kernels' columns are filled even without a device, so that only a missing device is reported,
// not missing kernels.
const char* initialize() {
  at::native::register_cuda_kernels();
  return c10::cuda::register_cuda_backend();
}

constexpr at::PluginInfo kInfo{
    TORCH_ABI_TAG,        TORCH_VERSION_STRING, TORCH_CUDA_VERSION,
    TORCH_CUDA_ARCH_LIST, TORCH_CUDA_MAGMA,     TORCH_CUDA_CUDNN ? &at::native::cuda::cudnn_version : nullptr,
    &initialize};

}  // namespace

extern "C" C10_EXPORT const at::PluginInfo* torch_plugin_info() { return &kInfo; }
