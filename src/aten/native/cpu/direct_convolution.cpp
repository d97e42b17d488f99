// Compiled once per instruction set. Four outputs by two or four vectors are kept in registers: every vector that is
// loaded serves four outputs, and every weight all vectors.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/direct_convolution.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/direct_convolution.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of a block that are in registers together; with four outputs 21 registers of 32, or 13 of 16.
template <typename T>
constexpr int kVectors = hn::MaxLanes(hn::ScalableTag<float>()) == 16 ? 4 : 2;

template <int Outs, int Vectors, typename T>
HWY_ATTR void some_outputs(const T* data, const int64_t* offsets, int64_t taps, const T* weights, const T* start,
                           T* result) {
  const hn::CappedTag<T, kDirectBlock<T> / Vectors> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < kDirectBlock<T>; i += Vectors * lanes, data += Vectors * lanes, result += Vectors * lanes) {
    V sums[Outs][Vectors];
#pragma GCC unroll 4
    for (int out = 0; out < Outs; ++out) {
      const V first = hn::Set(d, start ? start[out] : T(0));
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sums[out][v] = first;
    }
    for (int64_t tap = 0; tap < taps; ++tap) {
      const T* place = data + offsets[tap];
      V values[Vectors];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) values[v] = hn::LoadU(d, place + v * lanes);
#pragma GCC unroll 4
      for (int out = 0; out < Outs; ++out) {
        const V weight = hn::Set(d, weights[out * taps + tap]);
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) sums[out][v] = hn::MulAdd(values[v], weight, sums[out][v]);
      }
    }
#pragma GCC unroll 4
    for (int out = 0; out < Outs; ++out) {
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) hn::StoreU(sums[out][v], d, result + out * kDirectBlock<T> + v * lanes);
    }
  }
}

template <typename T>
HWY_ATTR void all_outputs(const T* data, const int64_t* offsets, int64_t taps, const T* weights, const T* start,
                          int64_t outs, T* result) {
  int64_t out = 0;
  for (; out + 4 <= outs; out += 4) {
    some_outputs<4, kVectors<T>>(data, offsets, taps, weights + out * taps, start ? start + out : nullptr,
                                 result + out * kDirectBlock<T>);
  }
  for (; out < outs; ++out) {
    some_outputs<1, 4>(data, offsets, taps, weights + out * taps, start ? start + out : nullptr,
                       result + out * kDirectBlock<T>);
  }
}

// A vector of places in four lines at a time.
template <typename T, int Lines>
HWY_ATTR void plane_lines(const T* data, const int64_t* offsets, int64_t taps, const T* weights, T start, int64_t line,
                          int64_t width, T* out) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t next = 0; next < width; next += lanes) {
    // The last vector ends with the line, over what the one before wrote.
    const int64_t x = width >= lanes && next + lanes > width ? width - lanes : next;
    V sums[Lines];
#pragma GCC unroll 4
    for (int i = 0; i < Lines; ++i) sums[i] = hn::Set(d, start);
    for (int64_t tap = 0; tap < taps; ++tap) {
      const T* place = data + offsets[tap] + x;
      const V weight = hn::Set(d, weights[tap]);
#pragma GCC unroll 4
      for (int i = 0; i < Lines; ++i) sums[i] = hn::MulAdd(hn::LoadU(d, place + i * line), weight, sums[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < Lines; ++i) {
      if (HWY_LIKELY(width >= lanes)) {
        hn::StoreU(sums[i], d, out + i * width + x);
      } else {
        HWY_ALIGN T some[hn::MaxLanes(d)];
        hn::Store(sums[i], d, some);
        for (int64_t j = 0; j < width; ++j) out[i * width + j] = some[j];
      }
    }
  }
}

template <typename T>
HWY_ATTR void plane(const T* data, const int64_t* offsets, int64_t taps, const T* weights, T start, int64_t lines,
                    int64_t line, int64_t width, T* out) {
  int64_t y = 0;
  for (; y + 4 <= lines; y += 4)
    plane_lines<T, 4>(data + y * line, offsets, taps, weights, start, line, width, out + y * width);
  for (; y < lines; ++y)
    plane_lines<T, 1>(data + y * line, offsets, taps, weights, start, line, width, out + y * width);
}
void direct_plane_float(const float* data, const int64_t* offsets, int64_t taps, const float* weights, float start,
                        int64_t lines, int64_t line, int64_t width, float* out) {
  plane(data, offsets, taps, weights, start, lines, line, width, out);
}
void direct_plane_double(const double* data, const int64_t* offsets, int64_t taps, const double* weights, double start,
                         int64_t lines, int64_t line, int64_t width, double* out) {
  plane(data, offsets, taps, weights, start, lines, line, width, out);
}

void direct_convolution_float(const float* data, const int64_t* offsets, int64_t taps, const float* weights,
                              const float* start, int64_t outs, float* result) {
  all_outputs(data, offsets, taps, weights, start, outs, result);
}
void direct_convolution_double(const double* data, const int64_t* offsets, int64_t taps, const double* weights,
                               const double* start, int64_t outs, double* result) {
  all_outputs(data, offsets, taps, weights, start, outs, result);
}

// Four outputs and three places in the kernel: twelve sums in registers.
template <typename T>
HWY_ATTR void four_by_three(const T* a, const T* b, const T* c, const T* slopes, int64_t step, int64_t length, T* sums,
                            int64_t sums_step, int64_t taps) {
  const hn::CappedTag<T, kDirectBlock<T> / 2> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a0 = hn::Zero(d), b0 = hn::Zero(d), c0 = hn::Zero(d);
  auto a1 = hn::Zero(d), b1 = hn::Zero(d), c1 = hn::Zero(d);
  auto a2 = hn::Zero(d), b2 = hn::Zero(d), c2 = hn::Zero(d);
  auto a3 = hn::Zero(d), b3 = hn::Zero(d), c3 = hn::Zero(d);
  for (int64_t i = 0; i < length; i += lanes) {
    const auto data_a = hn::LoadU(d, a + i);
    const auto data_b = hn::LoadU(d, b + i);
    const auto data_c = hn::LoadU(d, c + i);
    auto slope = hn::LoadU(d, slopes + i);
    a0 = hn::MulAdd(data_a, slope, a0);
    b0 = hn::MulAdd(data_b, slope, b0);
    c0 = hn::MulAdd(data_c, slope, c0);
    slope = hn::LoadU(d, slopes + step + i);
    a1 = hn::MulAdd(data_a, slope, a1);
    b1 = hn::MulAdd(data_b, slope, b1);
    c1 = hn::MulAdd(data_c, slope, c1);
    slope = hn::LoadU(d, slopes + 2 * step + i);
    a2 = hn::MulAdd(data_a, slope, a2);
    b2 = hn::MulAdd(data_b, slope, b2);
    c2 = hn::MulAdd(data_c, slope, c2);
    slope = hn::LoadU(d, slopes + 3 * step + i);
    a3 = hn::MulAdd(data_a, slope, a3);
    b3 = hn::MulAdd(data_b, slope, b3);
    c3 = hn::MulAdd(data_c, slope, c3);
  }
  const auto total = [&](auto sum) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(d, sum)); };
  T results[4][3] = {{total(a0), total(b0), total(c0)},
                     {total(a1), total(b1), total(c1)},
                     {total(a2), total(b2), total(c2)},
                     {total(a3), total(b3), total(c3)}};
  for (int64_t o = 0; o < 4; ++o) {
    for (int64_t tap = 0; tap < taps; ++tap) sums[o * sums_step + tap] += results[o][tap];
  }
}

template <typename T>
HWY_ATTR void one_by_three(const T* a, const T* b, const T* c, const T* slopes, int64_t length, T* sums, int64_t taps) {
  const hn::CappedTag<T, kDirectBlock<T> / 2> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a0 = hn::Zero(d), b0 = hn::Zero(d), c0 = hn::Zero(d);
  auto a1 = hn::Zero(d), b1 = hn::Zero(d), c1 = hn::Zero(d);
  for (int64_t i = 0; i < length; i += 2 * lanes) {
    const auto slope0 = hn::LoadU(d, slopes + i);
    const auto slope1 = hn::LoadU(d, slopes + i + lanes);
    a0 = hn::MulAdd(hn::LoadU(d, a + i), slope0, a0);
    a1 = hn::MulAdd(hn::LoadU(d, a + i + lanes), slope1, a1);
    b0 = hn::MulAdd(hn::LoadU(d, b + i), slope0, b0);
    b1 = hn::MulAdd(hn::LoadU(d, b + i + lanes), slope1, b1);
    c0 = hn::MulAdd(hn::LoadU(d, c + i), slope0, c0);
    c1 = hn::MulAdd(hn::LoadU(d, c + i + lanes), slope1, c1);
  }
  T results[3] = {hn::GetLane(hn::SumOfLanes(d, hn::Add(a0, a1))), hn::GetLane(hn::SumOfLanes(d, hn::Add(b0, b1))),
                  hn::GetLane(hn::SumOfLanes(d, hn::Add(c0, c1)))};
  for (int64_t tap = 0; tap < taps; ++tap) sums[tap] += results[tap];
}

template <typename T>
HWY_ATTR void all_weights(const T* data, const int64_t* offsets, int64_t taps, const T* slopes, int64_t slopes_step,
                          int64_t outs, int64_t length, T* sums, int64_t sums_step) {
  for (int64_t out = 0; out < outs;) {
    const bool four = out + 4 <= outs;
    const T* slope = slopes + out * slopes_step;
    for (int64_t tap = 0; tap < taps; tap += 3) {
      const int64_t count = taps - tap < 3 ? taps - tap : 3;
      const T* a = data + offsets[tap];
      const T* b = data + offsets[tap + (count > 1 ? 1 : 0)];
      const T* c = data + offsets[tap + (count > 2 ? 2 : 0)];
      T* to = sums + out * sums_step + tap;
      if (four) {
        four_by_three(a, b, c, slope, slopes_step, length, to, sums_step, count);
      } else {
        one_by_three(a, b, c, slope, length, to, count);
      }
    }
    out += four ? 4 : 1;
  }
}

void direct_weight_gradient_float(const float* data, const int64_t* offsets, int64_t taps, const float* slopes,
                                  int64_t slopes_step, int64_t outs, int64_t length, float* sums, int64_t sums_step) {
  all_weights(data, offsets, taps, slopes, slopes_step, outs, length, sums, sums_step);
}
void direct_weight_gradient_double(const double* data, const int64_t* offsets, int64_t taps, const double* slopes,
                                   int64_t slopes_step, int64_t outs, int64_t length, double* sums, int64_t sums_step) {
  all_weights(data, offsets, taps, slopes, slopes_step, outs, length, sums, sums_step);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(direct_convolution_float);
HWY_EXPORT(direct_convolution_double);

void direct_convolution(const float* data, const int64_t* offsets, int64_t taps, const float* weights,
                        const float* start, int64_t outs, float* result) {
  HWY_DYNAMIC_DISPATCH(direct_convolution_float)(data, offsets, taps, weights, start, outs, result);
}
void direct_convolution(const double* data, const int64_t* offsets, int64_t taps, const double* weights,
                        const double* start, int64_t outs, double* result) {
  HWY_DYNAMIC_DISPATCH(direct_convolution_double)(data, offsets, taps, weights, start, outs, result);
}

HWY_EXPORT(direct_plane_float);
HWY_EXPORT(direct_plane_double);

void direct_plane(const float* data, const int64_t* offsets, int64_t taps, const float* weights, float start,
                  int64_t lines, int64_t line, int64_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(direct_plane_float)(data, offsets, taps, weights, start, lines, line, width, out);
}
void direct_plane(const double* data, const int64_t* offsets, int64_t taps, const double* weights, double start,
                  int64_t lines, int64_t line, int64_t width, double* out) {
  HWY_DYNAMIC_DISPATCH(direct_plane_double)(data, offsets, taps, weights, start, lines, line, width, out);
}

HWY_EXPORT(direct_weight_gradient_float);
HWY_EXPORT(direct_weight_gradient_double);

void direct_weight_gradient(const float* data, const int64_t* offsets, int64_t taps, const float* slopes,
                            int64_t slopes_step, int64_t outs, int64_t length, float* sums, int64_t sums_step) {
  HWY_DYNAMIC_DISPATCH(direct_weight_gradient_float)
  (data, offsets, taps, slopes, slopes_step, outs, length, sums, sums_step);
}
void direct_weight_gradient(const double* data, const int64_t* offsets, int64_t taps, const double* slopes,
                            int64_t slopes_step, int64_t outs, int64_t length, double* sums, int64_t sums_step) {
  HWY_DYNAMIC_DISPATCH(direct_weight_gradient_double)
  (data, offsets, taps, slopes, slopes_step, outs, length, sums, sums_step);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
