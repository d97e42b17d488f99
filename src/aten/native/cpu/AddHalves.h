#pragma once
// Sums of float16 or bfloat16 where they lie.

#include <c10/core/ScalarType.h>

namespace at::native::cpu {

// to[i] += from[i], added in float and rounded once each; both are dense and of `dtype`, float16 or bfloat16.
void add_halves(c10::ScalarType dtype, void* to, const void* from, int64_t count);

}  // namespace at::native::cpu
