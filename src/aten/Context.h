#pragma once
// How this library was built and what it runs on, in words.

#include <c10/macros/Export.h>

#include <string>
#include <string_view>

namespace at {

TORCH_API std::string_view version();
// Compiler, BLAS, OpenMP, instruction sets: several lines for people.
TORCH_API std::string show_config();
// The instruction set that kernels use on this machine: "AVX512", "AVX2", "DEFAULT", or Highway's name elsewhere than
// on x86. ATEN_CPU_CAPABILITY ("avx2", "default") has them use a lesser one.
TORCH_API const char* cpu_capability();
TORCH_API bool has_mkl();
TORCH_API bool has_openmp();
TORCH_API bool has_lapack();

}  // namespace at
