#include <aten/BuildConfig.h>
#include <aten/Context.h>
#include <aten/Parallel.h>
#include <c10/util/Exception.h>
#include <c10/util/Warning.h>

#include <hwy/targets.h>

#include <cstdlib>

namespace at {

std::string_view version() { return TORCH_VERSION_TEXT; }

namespace {

// Highway's targets are bits, the best one the lowest.
constexpr int64_t kCompiled = HWY_TARGETS;

// ATEN_CPU_CAPABILITY has kernels take a lesser instruction set than the machine has. Done when the library is loaded,
// since each kernel chooses when it is first called.
[[maybe_unused]] const bool limited_by_environment = [] {
  const char* const value = std::getenv("ATEN_CPU_CAPABILITY");
  if (!value || !*value) return false;
  const std::string_view wanted = value;
  int64_t better = 0;
  if (wanted == "default") {
    for (int64_t rest = kCompiled; (rest & (rest - 1)) != 0; rest &= rest - 1) better |= rest & -rest;
#if HWY_ARCH_X86
  } else if (wanted == "avx2") {
    better = HWY_AVX2 - 1;
  } else if (wanted == "avx512") {
#endif
  } else {
    TORCH_WARN("ignoring invalid value for ATEN_CPU_CAPABILITY: ", wanted);
  }
  if (better != 0) hwy::DisableTargets(better);
  return true;
}();

}  // namespace

const char* cpu_capability() {
  const int64_t supported = hwy::SupportedTargets() & kCompiled;
  const int64_t best = supported & -supported;
#if HWY_ARCH_X86
  if (best < HWY_AVX2) return "AVX512";
  return best == HWY_AVX2 ? "AVX2" : "DEFAULT";
#else
  return hwy::TargetName(best);
#endif
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
