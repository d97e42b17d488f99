// Highway, for files that are compiled once per instruction set and for what they include; instead of <hwy/highway.h>.
// No include guard: Highway names its macros anew for each instruction set.

#include <hwy/highway.h>

// x86 without AVX2, which few machines are: what these take is compiled without the copies of loops' bodies that -O3
// makes. With "O2" a hundred kernels took half as long again, some of them ten times as long.
#if HWY_TARGET == HWY_SCALAR && HWY_ARCH_X86 && HWY_COMPILER_GCC && !HWY_COMPILER_CLANG
#undef HWY_BEFORE_NAMESPACE
#define HWY_BEFORE_NAMESPACE() \
  HWY_PRAGMA(GCC push_options) HWY_PRAGMA(GCC optimize("O2")) static_assert(true, "a semicolon follows")
#undef HWY_AFTER_NAMESPACE
#define HWY_AFTER_NAMESPACE() HWY_PRAGMA(GCC pop_options) static_assert(true, "a semicolon follows")
#undef HWY_ATTR  // lambdas do not see the pragma
#define HWY_ATTR __attribute__((optimize("O2")))
#endif
