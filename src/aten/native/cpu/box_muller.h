#pragma once
// Uniform numbers into normal ones, in blocks, and into logarithms.

#include <cstdint>

namespace at::native::cpu {

// Box and Muller on `blocks` times 16 uniform numbers in [0, 1), in place: in each block the first 8 give
// radii and the last 8 angles; the results are radius * cos and radius * sin, scaled by `std` and moved by
// `mean`.
void box_muller(float* data, int64_t blocks, float mean, float std);
void box_muller(double* data, int64_t blocks, double mean, double std);

// log(1 - u) of `count` numbers u in [0, 1), in place; within a unit of the last place, where the C library's log1p may
// have another last bit.
void log_of_complements(double* data, int64_t count);

}  // namespace at::native::cpu
