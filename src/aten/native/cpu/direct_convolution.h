#pragma once
// The innermost loops of a convolution whose stride is 1.

#include <cstdint>

namespace at::native::cpu {

// Neighbouring positions that one call computes.
template <typename T>
constexpr int64_t kDirectBlock = 256 / static_cast<int64_t>(sizeof(T));

// result[o * kDirectBlock + i] = start[o] + sum over t of weights[o * taps + t] * data[offsets[t] + i], for o in [0, outs).
// `start` may be null: 0. All of `data` up to the largest offset plus kDirectBlock must be readable.
void direct_convolution(const float* data, const int64_t* offsets, int64_t taps, const float* weights,
                        const float* start, int64_t outs, float* result);
void direct_convolution(const double* data, const int64_t* offsets, int64_t taps, const double* weights,
                        const double* start, int64_t outs, double* result);

}  // namespace at::native::cpu
