#pragma once
// The innermost loops of convolutions.

#include <cstdint>

namespace at::native::cpu {

// Neighbouring positions that one call computes.
template <typename T>
constexpr int64_t kDirectBlock = 256 / static_cast<int64_t>(sizeof(T));

// result[o * kDirectBlock + i] = start[o] + sum over t of weights[o * taps + t] * data[offsets[t] + i], for o in [0,
// outs). `start` may be null: 0. All of `data` up to the largest offset plus kDirectBlock must be readable.
void direct_convolution(const float* data, const int64_t* offsets, int64_t taps, const float* weights,
                        const float* start, int64_t outs, float* result);
void direct_convolution(const double* data, const int64_t* offsets, int64_t taps, const double* weights,
                        const double* start, int64_t outs, double* result);

// out[y * width + x] = start + sum over t of weights[t] * data[offsets[t] + y * line + x], for y in [0, lines) and x in
// [0, width): one output. `data` must be readable up to kDirectBlock elements behind what is needed.
void direct_plane(const float* data, const int64_t* offsets, int64_t taps, const float* weights, float start,
                  int64_t lines, int64_t line, int64_t width, float* out);
void direct_plane(const double* data, const int64_t* offsets, int64_t taps, const double* weights, double start,
                  int64_t lines, int64_t line, int64_t width, double* out);

// sums[o * sums_step + t] += sum over i in [0, length) of slopes[o * slopes_step + i] * data[offsets[t] + i], for o in
// [0, outs) and t in [0, taps). Slopes must be 0 and readable up to the next multiple of kDirectBlock; data readable.
void direct_weight_gradient(const float* data, const int64_t* offsets, int64_t taps, const float* slopes,
                            int64_t slopes_step, int64_t outs, int64_t length, float* sums, int64_t sums_step);
void direct_weight_gradient(const double* data, const int64_t* offsets, int64_t taps, const double* slopes,
                            int64_t slopes_step, int64_t outs, int64_t length, double* sums, int64_t sums_step);

}  // namespace at::native::cpu
