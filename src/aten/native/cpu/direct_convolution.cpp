// Compiled once per instruction set. Four outputs by two or four vectors are kept in registers: every vector that is
// loaded serves four outputs, and every weight all vectors.

#include <algorithm>
#include <cstring>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/direct_convolution.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/direct_convolution.h>

#include <aten/native/cpu/Highway-inl.h>

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

// Adds products with some planes to `start` or, if it is null, to what is there: whole vectors of places.
template <int Outs, int Sources>
HWY_NOINLINE HWY_ATTR void add_planes(const float* image, int64_t step, const float* weights, int64_t weights_step,
                                      const float* start, int64_t count, float* out) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  V factors[Outs][Sources];
  for (int o = 0; o < Outs; ++o) {
    for (int c = 0; c < Sources; ++c) factors[o][c] = hn::Set(d, weights[o * weights_step + c]);
  }
  for (int64_t p = 0; p < count; p += static_cast<int64_t>(hn::Lanes(d))) {
    V sums[Outs];
    for (int o = 0; o < Outs; ++o) sums[o] = start ? hn::Set(d, start[o]) : hn::LoadU(d, out + o * step + p);
    for (int c = 0; c < Sources; ++c) {
      const V values = hn::LoadU(d, image + c * step + p);
      for (int o = 0; o < Outs; ++o) sums[o] = hn::MulAdd(values, factors[o][c], sums[o]);
    }
    for (int o = 0; o < Outs; ++o) hn::StoreU(sums[o], d, out + o * step + p);
  }
}

HWY_ATTR void planes_float(const float* image, int64_t step, int64_t sources, const float* weights, const float* start,
                           int64_t outs, int64_t count, float* out) {
  constexpr int64_t kOuts = 4;
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  const int64_t rest = count % lanes;
  const int64_t whole = count - rest;
  std::vector<float> room(static_cast<size_t>(rest > 0 ? (sources + kOuts) * lanes : 0));  // planes of the last places
  float* const sums = room.data() + (rest > 0 ? sources * lanes : 0);
  for (int64_t c = 0; rest > 0 && c < sources; ++c)
    std::copy_n(image + c * step + whole, rest, room.data() + c * lanes);
  for (int64_t o = 0; o < outs;) {
    const int64_t some = outs - o >= kOuts ? kOuts : outs - o >= 2 ? 2 : 1;
    const auto add_all = [&](const float* planes, int64_t planes_step, int64_t places, float* to) {
      for (int64_t c = 0; places > 0 && c < sources;) {
        const bool four = sources - c >= 4;
        const auto add = some == kOuts ? (four ? add_planes<4, 4> : add_planes<4, 1>)
                         : some == 2   ? (four ? add_planes<2, 4> : add_planes<2, 1>)
                                       : (four ? add_planes<1, 4> : add_planes<1, 1>);
        add(planes + c * planes_step, planes_step, weights + o * sources + c, sources, c == 0 ? start + o : nullptr,
            places, to);
        c += four ? 4 : 1;
      }
    };
    add_all(image, step, whole, out + o * step);
    if (rest > 0) add_all(room.data(), lanes, lanes, sums);
    for (int64_t i = 0; rest > 0 && i < some; ++i) std::copy_n(sums + i * lanes, rest, out + (o + i) * step + whole);
    o += some;
  }
}

// Lines of results that are in registers together: fewer would wait for each other's sums.
constexpr int kPlaneLines = 8;

// Adds `Taps` places of the kernel, each a line below the one before: every line that is loaded serves all of them.
template <int Lines, int Taps, typename D, typename T, typename V>
HWY_INLINE HWY_ATTR void add_below(D d, const T* place, int64_t line, const T* weights, int64_t step,
                                   V (&sums)[Lines]) {
  V factors[Taps];
#pragma GCC unroll 7
  for (int tap = 0; tap < Taps; ++tap) factors[tap] = hn::Set(d, weights[tap * step]);
#pragma GCC unroll 14
  for (int row = 0; row < Lines + Taps - 1; ++row) {
    const V values = hn::LoadU(d, place + row * line);
#pragma GCC unroll 7
    for (int tap = 0; tap < Taps; ++tap) {
      if (row >= tap && row - tap < Lines) sums[row - tap] = hn::MulAdd(values, factors[tap], sums[row - tap]);
    }
  }
}

// The first `count` numbers of a vector, which are not all.
template <typename D, typename T>
HWY_INLINE HWY_ATTR void store_first(D d, hn::Vec<D> values, int64_t count, T* to) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2  // what a mask leaves out is not touched
  hn::BlendedStore(values, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#else
  HWY_ALIGN T all[hn::MaxLanes(d)];
  hn::Store(values, d, all);
  std::memcpy(to, all, static_cast<size_t>(count) * sizeof(T));
#endif
}

// A vector of places in some lines at a time.
template <typename T, int Lines>
HWY_ATTR void plane_lines(const T* data, const KernelColumns& columns, const T* weights, T start, int64_t line,
                          int64_t width, T* out) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t step = columns.step;
  for (int64_t next = 0; next < width; next += lanes) {
    // The last vector ends with the line, over what the one before wrote.
    const int64_t x = width >= lanes && next + lanes > width ? width - lanes : next;
    V sums[Lines];
#pragma GCC unroll 8
    for (int i = 0; i < Lines; ++i) sums[i] = hn::Set(d, start);
    for (const KernelColumns::Part& part : columns.parts) {
      const T* place = data + part.offset + x;
      const T* weight = weights + part.tap;
      switch (part.count) {
        case 7: add_below<Lines, 7>(d, place, line, weight, step, sums); break;
        case 5: add_below<Lines, 5>(d, place, line, weight, step, sums); break;
        case 3: add_below<Lines, 3>(d, place, line, weight, step, sums); break;
        case 2: add_below<Lines, 2>(d, place, line, weight, step, sums); break;
        default: add_below<Lines, 1>(d, place, line, weight, step, sums); break;
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < Lines; ++i) {
      if (HWY_LIKELY(width >= lanes)) {
        hn::StoreU(sums[i], d, out + i * width + x);
      } else {
        store_first(d, sums[i], width, out + i * width);
      }
    }
  }
}

// All lines, some of them once more where they are no multiple of what is in registers together.
template <int Lines, typename T>
HWY_ATTR void plane_by(const T* data, const KernelColumns& columns, const T* weights, T start, int64_t lines,
                       int64_t line, int64_t width, T* out) {
  for (int64_t next = 0; next < lines; next += Lines) {
    const int64_t y = next + Lines > lines ? lines - Lines : next;
    plane_lines<T, Lines>(data + y * line, columns, weights, start, line, width, out + y * width);
  }
}

template <typename T>
HWY_ATTR void plane(const T* data, const KernelColumns& columns, const T* weights, T start, int64_t lines, int64_t line,
                    int64_t width, T* out) {
  if (lines >= kPlaneLines) plane_by<kPlaneLines>(data, columns, weights, start, lines, line, width, out);
  else if (lines >= 4) plane_by<4>(data, columns, weights, start, lines, line, width, out);
  else plane_by<1>(data, columns, weights, start, lines, line, width, out);
}
void direct_plane_float(const float* data, const KernelColumns& columns, const float* weights, float start,
                        int64_t lines, int64_t line, int64_t width, float* out) {
  plane(data, columns, weights, start, lines, line, width, out);
}
void direct_plane_double(const double* data, const KernelColumns& columns, const double* weights, double start,
                        int64_t lines, int64_t line, int64_t width, double* out) {
  plane(data, columns, weights, start, lines, line, width, out);
}

void direct_convolution_float(const float* data, const int64_t* offsets, int64_t taps, const float* weights,
                              const float* start, int64_t outs, float* result) {
  all_outputs(data, offsets, taps, weights, start, outs, result);
}
void direct_convolution_double(const double* data, const int64_t* offsets, int64_t taps, const double* weights,
                               const double* start, int64_t outs, double* result) {
  all_outputs(data, offsets, taps, weights, start, outs, result);
}

template <typename T>
HWY_ATTR void every_second(const T* from, int64_t from_step, int64_t lines, int64_t count, T* to, int64_t to_step) {
  const hn::CappedTag<T, 8> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t y = 0; y < lines; ++y, from += from_step, to += to_step) {
    hn::Vec<decltype(d)> even, odd;
    int64_t x = 0;
    for (; x + lanes < count; x += lanes) {  // the last element that is read lies before one that is wanted
      hn::LoadInterleaved2(d, from + 2 * x, even, odd);
      hn::StoreU(even, d, to + x);
    }
    if (x >= lanes) {  // the last ones end with the line, over what was written before
      hn::LoadInterleaved2(d, from + 2 * (count - lanes) - 1, odd, even);
      hn::StoreU(even, d, to + count - lanes);
    } else {
      for (; x < count; ++x) to[x] = from[2 * x];
    }
  }
}
void every_second_float(const float* from, int64_t from_step, int64_t lines, int64_t count, float* to,
                        int64_t to_step) {
  every_second(from, from_step, lines, count, to, to_step);
}
void every_second_double(const double* from, int64_t from_step, int64_t lines, int64_t count, double* to,
                         int64_t to_step) {
  every_second(from, from_step, lines, count, to, to_step);
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

KernelColumns::KernelColumns(const std::vector<int64_t>& offsets, int64_t line) {
  const auto taps = static_cast<int64_t>(offsets.size());
  const auto lies_below = [&](int64_t tap) {  // the place `step` taps before
    return tap >= step && offsets[static_cast<size_t>(tap)] - offsets[static_cast<size_t>(tap - step)] == line;
  };
  while (step < taps && !lies_below(step)) ++step;
  for (int64_t first = 0; first < taps; ++first) {
    if (lies_below(first)) continue;
    int64_t left = 1;
    while (first + left * step < taps && lies_below(first + left * step)) ++left;
    for (int64_t tap = first; left > 0;) {
      const int64_t count = left >= 7 ? 7 : left >= 5 ? 5 : left >= 3 ? 3 : left;
      parts.push_back({offsets[static_cast<size_t>(tap)], tap, count});
      tap += count * step;
      left -= count;
    }
  }
}

HWY_EXPORT(planes_float);

void multiply_planes(const float* image, int64_t step, int64_t sources, const float* weights, const float* start,
                     int64_t outs, int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(planes_float)(image, step, sources, weights, start, outs, count, out);
}

HWY_EXPORT(direct_plane_float);
HWY_EXPORT(direct_plane_double);

void direct_plane(const float* data, const KernelColumns& columns, const float* weights, float start, int64_t lines,
                  int64_t line, int64_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(direct_plane_float)(data, columns, weights, start, lines, line, width, out);
}
void direct_plane(const double* data, const KernelColumns& columns, const double* weights, double start, int64_t lines,
                  int64_t line, int64_t width, double* out) {
  HWY_DYNAMIC_DISPATCH(direct_plane_double)(data, columns, weights, start, lines, line, width, out);
}

HWY_EXPORT(every_second_float);
HWY_EXPORT(every_second_double);

void take_every_second(const float* from, int64_t from_step, int64_t lines, int64_t count, float* to, int64_t to_step) {
  HWY_DYNAMIC_DISPATCH(every_second_float)(from, from_step, lines, count, to, to_step);
}
void take_every_second(const double* from, int64_t from_step, int64_t lines, int64_t count, double* to,
                       int64_t to_step) {
  HWY_DYNAMIC_DISPATCH(every_second_double)(from, from_step, lines, count, to, to_step);
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
