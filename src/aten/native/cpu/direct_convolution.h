#pragma once
// The innermost loops of convolutions.

#include <cstdint>
#include <vector>

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

// out[o * step + p] = start[o] + sum over c of weights[o * sources + c] * image[c * step + p], for o in [0, outs) and p
// in [0, count): some sources at a time, whose planes pass one place after the other.
void multiply_planes(const float* image, int64_t step, int64_t sources, const float* weights, const float* start,
                     int64_t outs, int64_t count, float* out);

// The places of a kernel, given by what they read, as columns: `count` of them (1, 2, 3, 5 or 7), taps tap, tap + step,
// ..., each of which reads a line below the one before.
struct KernelColumns {
  struct Part {
    int64_t offset, tap, count;
  };
  int64_t step = 1;
  std::vector<Part> parts;

  KernelColumns(const std::vector<int64_t>& offsets, int64_t line);
};

// out[y * width + x] = start + sum over t of weights[t] * data[offsets[t] + y * line + x], for y in [0, lines) and x in
// [0, width): one output, where `columns` are made of the offsets and the line. `data` must be readable up to
// kDirectBlock elements behind what is needed.
void direct_plane(const float* data, const KernelColumns& columns, const float* weights, float start, int64_t lines,
                  int64_t line, int64_t width, float* out);
void direct_plane(const double* data, const KernelColumns& columns, const double* weights, double start, int64_t lines,
                  int64_t line, int64_t width, double* out);

// to[y * to_step + x] = from[y * from_step + 2 * x], for y in [0, lines) and x in [0, count).
void take_every_second(const float* from, int64_t from_step, int64_t lines, int64_t count, float* to, int64_t to_step);
void take_every_second(const double* from, int64_t from_step, int64_t lines, int64_t count, double* to,
                       int64_t to_step);

// sums[o * sums_step + t] += sum over i in [0, length) of slopes[o * slopes_step + i] * data[offsets[t] + i], for o in
// [0, outs) and t in [0, taps). Slopes must be 0 and readable up to the next multiple of kDirectBlock; data readable.
void direct_weight_gradient(const float* data, const int64_t* offsets, int64_t taps, const float* slopes,
                            int64_t slopes_step, int64_t outs, int64_t length, float* sums, int64_t sums_step);
void direct_weight_gradient(const double* data, const int64_t* offsets, int64_t taps, const double* slopes,
                            int64_t slopes_step, int64_t outs, int64_t length, double* sums, int64_t sums_step);

}  // namespace at::native::cpu
