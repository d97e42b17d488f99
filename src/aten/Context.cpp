#include <aten/BuildConfig.h>
#include <aten/Context.h>
#include <aten/Parallel.h>
#include <c10/util/Exception.h>

#include <hwy/targets.h>

namespace at {

std::string_view version() { return TORCH_VERSION_TEXT; }

const char* cpu_capability() {
  const int64_t supported = hwy::SupportedTargets() & static_cast<int64_t>(HWY_TARGETS);
  // The best target has the lowest bit.
  return hwy::TargetName(supported & -supported);
}

bool has_mkl() { return std::string_view(TORCH_BUILD_BLAS) == "MKL"; }
bool has_openmp() { return true; }
bool has_lapack() { return true; }

std::string show_config() {
  return c10::detail::concatenate(
      "torch ", TORCH_VERSION_TEXT, " built with:\n  - ", TORCH_BUILD_COMPILER, "\n  - C++ version: ", __cplusplus,
      "\n  - OpenMP ", TORCH_BUILD_OPENMP, "\n  - BLAS: ", TORCH_BUILD_BLAS, "\n  - CPU kernels for ", TORCH_BUILD_ISA,
      "; here ", cpu_capability(), "\n  - Build type: ", TORCH_BUILD_TYPE, "\n  - Threads: ", get_num_threads(), "\n");
}

}  // namespace at
