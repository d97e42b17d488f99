#pragma once
// Finding, checking and loading the CUDA plug-in (libtorch_cuda.so).

#include <c10/macros/Export.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace at {

// What a plug-in exports, as `extern "C" const at::PluginInfo* torch_plugin_info()`. Plain C, so that it can be read
// before anything of it is believed.
struct PluginInfo {
  const char* abi_tag;       // must equal abi_tag() of libtorch
  const char* version;       // torch's version it was built for
  const char* cuda_version;  // "13.0"
  const char* arch_list;     // "sm_80 sm_90 compute_90"
  bool has_magma;
  // Of the cuDNN that is there, as cuDNN numbers it; throws Error where it cannot be loaded. Null: the plug-in is built
  // without.
  int64_t (*cudnn_version)();
  // Registers the backend and fills the CUDA columns. Returns null, or why the devices cannot be used (static text).
  const char* (*initialize)();
};

// Changes whenever a plug-in built before could not work any more: version, and a hash over the headers and the YAML.
TORCH_API std::string_view abi_tag();
// Loads the plug-in on first call: beside libtorch_cpu, then each folder of TORCH_BACKEND_PATH. Never throws.
TORCH_API bool cuda_available();
// Why cuda_available() is false; empty when it is true.
TORCH_API std::string cuda_unavailable_reason();
// The loaded plug-in's facts, or null. Also set when the plug-in is there but no device is.
TORCH_API const PluginInfo* cuda_plugin_info();

// Who factorises matrices on CUDA devices: `Default` chooses by routine and size. Numbered as in PyTorch.
enum class LinalgLibrary { Default, Cusolver, Magma };
TORCH_API LinalgLibrary preferred_linalg_library();
// Throws Error where the plug-in is not there, or is built without that library.
TORCH_API void prefer_linalg_library(LinalgLibrary library);

// How CUDA devices compute products and convolutions.
enum ProductSwitch : unsigned {
  // What may save exactness.
  kProductTF32 = 1,
  kProductReducedHalf = 2,
  kProductReducedBFloat16 = 4,
  kConvolutionTF32 = 8,
  // torch.backends.cudnn: whether cuDNN convolves, tries its algorithms first, takes deterministic ones only.
  kCudnn = 16,
  kCudnnBenchmark = 32,
  kCudnnDeterministic = 64,
  // With filters of one channel each: always, or never; else several for a channel, where channels are last.
  kCudnnDepthwise = 128,
  kNativeDepthwise = 256,
  kDeterministicAlgorithms = 512,  // torch.use_deterministic_algorithms
};
// At first the second to the fifth, as in PyTorch.
TORCH_API unsigned product_switches();
TORCH_API void set_product_switches(unsigned switches);
// How many algorithms cuDNN tries, 10 at first; 0: all.
TORCH_API int cudnn_benchmark_limit();
TORCH_API void set_cudnn_benchmark_limit(int limit);

}  // namespace at
