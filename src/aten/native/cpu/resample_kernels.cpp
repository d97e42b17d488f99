// Images in another size, plane by plane and axis by axis: the last axis first, so that all others add up whole rows.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/MixedPixels.h>
#include <aten/native/cpu/PlanesAside.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/resample_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/StoredVectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// uint8 is added up in float, and rounded after each axis.
template <typename T>
using Sum = std::conditional_t<std::is_same_v<T, uint8_t>, float, T>;

template <typename T>
TORCH_SIMD T rounded(Sum<T> sum) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return static_cast<uint8_t>(std::min(255.0F, std::max(0.0F, sum + 0.5F)));
  } else {
    return sum;
  }
}

template <typename T>
struct Axis {
  int64_t old_size, new_size;
  bool identity;
  bool pairs = true;  // each new element has two places
  bool rises = true;  // which never go back from one element to the next
  const int32_t* offsets = nullptr;
  const int32_t* places = nullptr;
  const Sum<T>* weights = nullptr;

  // Whether two vectors of an image's channels make one of the new image, along this axis.
  bool mixes() const { return !identity && pairs; }

  explicit Axis(const ResampleAxis& axis)
      : old_size(axis.old_size), new_size(axis.new_size), identity(axis.is_identity()) {
    if (identity) return;
    offsets = axis.offsets.template data_ptr<int32_t>();
    places = axis.places.template data_ptr<int32_t>();
    weights = axis.weights.template data_ptr<Sum<T>>();
    for (int64_t n = 0; n <= new_size; ++n) pairs = pairs && offsets[n] == 2 * n;
    for (int64_t n = 1; pairs && n < new_size; ++n) {
      rises = rises && places[2 * n] >= places[2 * n - 2] && places[2 * n + 1] >= places[2 * n - 1];
    }
    if (pairs && new_size > 0) rises = rises && places[1] >= places[0];
  }

  // The old elements from the first to the last one that new elements begin .. end - 1 are made of.
  void find_range(int64_t begin, int64_t end, int64_t& first, int64_t& last) const {
    first = identity ? begin : old_size;
    last = identity ? end : 0;
    if (identity) return;
    for (int32_t k = offsets[begin]; k < offsets[end]; ++k) {
      first = std::min<int64_t>(first, places[k]);
      last = std::max<int64_t>(last, places[k] + 1);
    }
    first = std::min(first, last);
  }
};

namespace hn = hwy::HWY_NAMESPACE;

// What vectors of bytes add up to, one accumulator for each vector.
template <int kVectors, typename D, typename RowOf>
HWY_INLINE HWY_ATTR void add_up_bytes(D d, uint8_t* out, const RowOf& row_of, const float* weights, int64_t count) {
  const hn::Rebind<uint8_t, D> bytes;
  const hn::RebindToSigned<D> integers;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Set(d, 0.5F);
  for (int64_t k = 0; k < count; ++k) {
    const uint8_t* const row = row_of(k);
    const auto weight = hn::Set(d, weights[k]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const auto numbers = hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, row + v * lanes)));
      sums[v] = hn::MulAdd(weight, numbers, sums[v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v)
    hn::StoreU(hn::DemoteTo(bytes, hn::ConvertTo(integers, sums[v])), bytes, out + v * lanes);
}

// 16 rows of 16 bytes become columns.
HWY_ATTR inline void turn_bytes(uint8_t* to, int64_t to_step, const uint8_t* const* from, int64_t column) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) to[j * to_step + i] = from[i][column + j];
  }
#else
  const hn::Full128<uint8_t> d;
  hn::Vec<decltype(d)> now[16], next[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) now[i] = hn::LoadU(d, from[i] + column);
  // Each step mixes row i with row i + 8: after four of them the numbers of row and column have changed places.
#pragma GCC unroll 4
  for (int step = 0; step < 4; ++step) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = hn::InterleaveLower(d, now[i], now[i + 8]);
      next[2 * i + 1] = hn::InterleaveUpper(d, now[i], now[i + 8]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) now[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) hn::StoreU(now[i], d, to + i * to_step);
#endif
}

// Sixteen rows at a time, turned so that a vector has the same byte of each of them.
struct TurnedRows {
  static constexpr int64_t kRows = 16;

  explicit TurnedRows(const Axis<uint8_t>& axis, int64_t inner)
      : axis(axis), inner(inner), old_row(axis.old_size * inner), new_row(axis.new_size * inner) {
    before.resize(static_cast<size_t>((old_row + kRows) * kRows));
    after.resize(static_cast<size_t>((new_row + kRows) * kRows));
    line.resize(static_cast<size_t>(kRows * kRows));
  }

  HWY_ATTR void resample(uint8_t* out, const uint8_t* rows, int64_t count) {
    for (int64_t first = 0; first < count; first += kRows) {
      const int64_t part = std::min(kRows, count - first);
      const uint8_t* lines[kRows];
      for (int64_t i = 0; i < kRows; ++i) lines[i] = rows + (first + std::min(i, part - 1)) * old_row;
      int64_t column = 0;
      for (; column + kRows <= old_row; column += kRows)
        turn_bytes(before.data() + column * kRows, kRows, lines, column);
      for (; column < old_row; ++column) {
        for (int64_t i = 0; i < kRows; ++i) before[static_cast<size_t>(column * kRows + i)] = lines[i][column];
      }
      compute();
      write(out + first * new_row, part);
    }
  }

 private:
  HWY_ATTR void compute() {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t n = 0; n < axis.new_size; ++n) {
      const int32_t begin = axis.offsets[n];
      const int64_t taps = axis.offsets[n + 1] - begin;
      for (int64_t c = 0; c < inner; ++c) {
        uint8_t* const target = after.data() + (n * inner + c) * kRows;
        for (int64_t i = 0; i < kRows; i += lanes) {
          const uint8_t* const source = before.data() + c * kRows + i;
          const auto row_of = [&](int64_t k) { return source + axis.places[begin + k] * inner * kRows; };
          add_up_bytes<1>(d, target + i, row_of, axis.weights + begin, taps);
        }
      }
    }
  }
  HWY_ATTR void write(uint8_t* out, int64_t part) {
    for (int64_t column = 0; column < new_row; column += kRows) {
      const uint8_t* columns[kRows];
      for (int64_t i = 0; i < kRows; ++i) columns[i] = after.data() + (column + i) * kRows;
      if (part == kRows && column + kRows <= new_row) {
        turn_bytes(out + column, new_row, columns, 0);
        continue;
      }
      turn_bytes(line.data(), kRows, columns, 0);
      const auto length = static_cast<size_t>(std::min(kRows, new_row - column));
      for (int64_t i = 0; i < part; ++i) std::memcpy(out + i * new_row + column, line.data() + i * kRows, length);
    }
  }

  const Axis<uint8_t>& axis;
  int64_t inner, old_row, new_row;
  std::vector<uint8_t> before, after, line;
};

// The same of vectors of floating numbers.
template <int kVectors, typename D, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR void add_up(D d, T* out, const T* rows, int64_t first, int64_t stride, const int32_t* places,
                                const T* weights, int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  for (int64_t k = 0; k < count; ++k) {
    const T* const row = rows + (places[k] - first) * stride;
    const auto weight = hn::Set(d, weights[k]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const auto share = hn::Mul(weight, hn::LoadU(d, row + v * lanes));
      sums[v] = k == 0 ? share : hn::Add(sums[v], share);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, out + v * lanes);
}

// out[i] = sum of weights[k] * (rows + (places[k] - first) * stride)[i]; `rows` begin with number `first`.
template <typename T>
TORCH_SIMD void add_up_rows(T* __restrict out, const T* rows, int64_t first, int64_t stride, const int32_t* places,
                            const Sum<T>* weights, int64_t count, int64_t length) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    if (length >= lanes) {
      int64_t i = 0;
      const auto row_of = [&](int64_t k) { return rows + (places[k] - first) * stride + i; };
      for (; i + 4 * lanes <= length; i += 4 * lanes) add_up_bytes<4>(d, out + i, row_of, weights, count);
      for (; i < length; i += lanes) {
        i = std::min(i, length - lanes);  // the last one begins earlier
        add_up_bytes<1>(d, out + i, row_of, weights, count);
      }
      return;
    }
  } else {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + 4 * lanes <= length; i += 4 * lanes) {
      add_up<4>(d, out + i, rows + i, first, stride, places, weights, count);
    }
    // By single vectors, the last of which begins earlier; by short ones where the row is shorter than one.
    const auto finish = [&](auto tag) HWY_ATTR {
      const auto width = static_cast<int64_t>(hn::Lanes(tag));
      for (; i < length; i += width) {
        i = std::min(i, length - width);
        add_up<1>(tag, out + i, rows + i, first, stride, places, weights, count);
      }
    };
    if (length >= lanes) finish(d);
    else if (length >= static_cast<int64_t>(16 / sizeof(T))) finish(hn::CappedTag<T, 16 / sizeof(T)>());
    else finish(hn::CappedTag<T, 1>());
    return;
  }
  // Few bytes.
  for (int64_t i = 0; i < length; ++i) {
    Sum<T> sum = 0;
    for (int64_t k = 0; k < count; ++k) sum += weights[k] * static_cast<Sum<T>>(rows[(places[k] - first) * stride + i]);
    out[i] = rounded<T>(sum);
  }
}

#if HWY_TARGET != HWY_SCALAR
// The elements at `places`, which lie in the vector that begins at `start`.
template <typename D, typename P>
HWY_INLINE hn::Vec<D> pick_near(D d, const hn::TFromD<D>* row, int32_t start, P places) {
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<int32_t, D> numbers;
  const auto steps = hn::Sub(places, hn::Set(numbers, start));
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::TableLookupLanes(hn::LoadU(d, row + start), hn::IndicesFromVec(d, hn::BitCast(bits, steps)));
  } else {
    const hn::RebindToSigned<D> wide;
    return hn::TableLookupLanes(hn::LoadU(d, row + start),
                                hn::IndicesFromVec(d, hn::BitCast(bits, hn::PromoteTo(wide, steps))));
  }
}
#endif

// One row of pixels with few channels.
template <int kChannels, typename T>
TORCH_SIMD void resample_pixels(T* __restrict out, const T* row, const Axis<T>& axis) {
  for (int64_t n = 0; n < axis.new_size; ++n, out += kChannels) {
    Sum<T> sums[kChannels] = {};
    const int32_t begin = axis.offsets[n];
    for (int32_t k = begin; k < axis.offsets[n + 1]; ++k) {
      const Sum<T> weight = axis.weights[k];
      const T* pixel = row + int64_t{axis.places[k]} * kChannels;
      for (int c = 0; c < kChannels; ++c) {
        const Sum<T> share = weight * static_cast<Sum<T>>(pixel[c]);
        sums[c] = k == begin ? share : sums[c] + share;  // -0 stays
      }
    }
    for (int c = 0; c < kChannels; ++c) out[c] = rounded<T>(sums[c]);
  }
}

// One row of pixels with many channels, each made of two.
template <typename D, typename T = hn::TFromD<D>>
HWY_ATTR void mix_pixels(D d, T* out, const T* row, const Axis<T>& axis, int64_t inner) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t n = 0; n < axis.new_size; ++n, out += inner) {
    const T* const first = row + axis.places[2 * n] * inner;
    const T* const second = row + axis.places[2 * n + 1] * inner;
    const auto weight = hn::Set(d, axis.weights[2 * n]);
    const auto rest = hn::Set(d, axis.weights[2 * n + 1]);
    for (int64_t i = 0; i < inner; i += lanes) {
      i = std::min(i, inner - lanes);  // the last vector begins earlier
      const auto share = hn::Mul(weight, hn::LoadU(d, first + i));
      hn::StoreU(hn::Add(share, hn::Mul(rest, hn::LoadU(d, second + i))), d, out + i);
    }
  }
}

// One row of elements, `inner` numbers each.
template <typename T>
TORCH_SIMD void resample_row(T* __restrict out, const T* row, const Axis<T>& axis, int64_t inner) {
  if (inner == 2) return resample_pixels<2>(out, row, axis);
  if (inner == 3) return resample_pixels<3>(out, row, axis);
  if (inner == 4) return resample_pixels<4>(out, row, axis);
  if (inner > 1) {
    if constexpr (std::is_floating_point_v<T>) {
      const hn::ScalableTag<T> d;
      if (axis.pairs && inner >= static_cast<int64_t>(hn::Lanes(d))) return mix_pixels(d, out, row, axis, inner);
    }
    for (int64_t n = 0; n < axis.new_size; ++n) {
      const int32_t begin = axis.offsets[n];
      add_up_rows(out + n * inner, row, 0, inner, axis.places + begin, axis.weights + begin,
                  axis.offsets[n + 1] - begin, inner);
    }
  } else if (axis.pairs) {
    int64_t n = 0;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (std::is_floating_point_v<T>) {
      const hn::ScalableTag<T> d;
      const hn::Rebind<int32_t, decltype(d)> numbers;
      const auto lanes = static_cast<int64_t>(hn::Lanes(d));
      for (; axis.rises && n + lanes <= axis.new_size; n += lanes) {
        const int32_t* const places = axis.places + 2 * n;
        if (axis.old_size < lanes) break;
        const auto start = static_cast<int32_t>(std::min<int64_t>(places[0], axis.old_size - lanes));
        if (std::max(places[2 * lanes - 1], places[2 * lanes - 2]) - start >= lanes) break;
        hn::Vec<decltype(numbers)> left, right;
        hn::LoadInterleaved2(numbers, places, left, right);
        hn::Vec<decltype(d)> first, second;
        hn::LoadInterleaved2(d, axis.weights + 2 * n, first, second);
        hn::StoreU(hn::Add(hn::Mul(first, pick_near(d, row, start, left)),
                           hn::Mul(second, pick_near(d, row, start, right))),
                   d, out + n);
      }
    }
#endif
    for (; n < axis.new_size; ++n) {
      out[n] = rounded<T>(axis.weights[2 * n] * static_cast<Sum<T>>(row[one_index(axis.places[2 * n])]) +
                          axis.weights[2 * n + 1] * static_cast<Sum<T>>(row[one_index(axis.places[2 * n + 1])]));
    }
  } else {
    for (int64_t n = 0; n < axis.new_size; ++n) {
      Sum<T> sum = 0;
      const int32_t begin = axis.offsets[n];
      for (int32_t k = begin; k < axis.offsets[n + 1]; ++k) {
        const Sum<T> share = axis.weights[k] * static_cast<Sum<T>>(row[one_index(axis.places[k])]);
        sum = k == begin ? share : sum + share;
      }
      out[n] = rounded<T>(sum);
    }
  }
}

// Rows of all slices of a volume (or of the one slice of an image):
// slice k begins `depth` elements after the one before.
template <typename T>
struct Slices {
  T* rows;
  int64_t depth;
};

// Rows begin .. end - 1 of one new plane: a row of the last axis is made when a new row first asks for it, and kept
// while others do.
template <typename T>
void resample_plane(T* out, const T* plane, const Axis<T>& y, const Axis<T>& x, int64_t inner, int64_t begin,
                    int64_t end, std::vector<T>& narrow) {
  const int64_t old_row = x.old_size * inner;
  const int64_t length = x.new_size * inner;
  int64_t most = 1;  // rows between the first and the last one of a new row
  for (int64_t j = begin; j < end; ++j) {
    int64_t first, last;
    y.find_range(j, j + 1, first, last);
    most = std::max(most, last - first);
  }
  narrow.resize(static_cast<size_t>(most * length));
  std::vector<int32_t> kept(static_cast<size_t>(most), -1);
  std::vector<int32_t> slots;
  for (int64_t j = begin; j < end; ++j) {
    slots.clear();
    for (int32_t k = y.offsets[j]; k < y.offsets[j + 1]; ++k) {
      const int32_t row = y.places[k];
      const auto slot = static_cast<int32_t>(row % most);
      slots.push_back(slot);
      if (std::exchange(kept[static_cast<size_t>(slot)], row) == row) continue;
      resample_row(narrow.data() + slot * length, plane + row * old_row, x, inner);
    }
    add_up_rows(out + j * length, narrow.data(), 0, length, slots.data(), y.weights + y.offsets[j],
                static_cast<int64_t>(slots.size()), length);
  }
}

// Rows begin .. end - 1 of one new plane or volume; `narrow` and `low` are memory for what lies between two axes.
template <typename T>
HWY_NOINLINE void resample_rows(T* out, const T* plane, const Axis<T>& z, const Axis<T>& y, const Axis<T>& x,
                                int64_t inner, int64_t begin, int64_t end, std::vector<T>& narrow,
                                std::vector<T>& low) {
  constexpr int64_t kFewChannels = 4;
  const bool turns = std::is_same_v<T, uint8_t> && z.identity && z.old_size == 1 && inner <= kFewChannels;
  if (z.identity && z.old_size == 1 && !y.identity && !x.identity && !turns) {
    return resample_plane(out, plane, y, x, inner, begin, end, narrow);
  }
  const int64_t old_row = x.old_size * inner;
  const int64_t length = x.new_size * inner;
  const Slices<T> results{out + begin * length, y.new_size * length};
  int64_t first, last;
  y.find_range(begin, end, first, last);
  const int64_t rows = last - first;
  Slices<const T> source{plane + first * old_row, y.old_size * old_row};
  // Memory for an axis' results; the last axis that changes writes where they belong.
  const auto target = [&](std::vector<T>& memory, int64_t count, bool is_last) {
    if (is_last) return results;
    memory.resize(static_cast<size_t>(z.old_size * count * length));
    return Slices<T>{memory.data(), count * length};
  };
  if (!x.identity) {
    const Slices<T> lines = target(narrow, rows, y.identity && z.identity);
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (turns) TurnedRows(x, inner).resample(lines.rows, source.rows, rows);
    }
    for (int64_t k = 0; k < z.old_size && !turns; ++k) {
      for (int64_t j = 0; j < rows; ++j) {
        resample_row(lines.rows + k * lines.depth + j * length, source.rows + k * source.depth + j * old_row, x, inner);
      }
    }
    source = {lines.rows, lines.depth};
  }
  if (!y.identity) {
    const Slices<T> lines = target(low, end - begin, z.identity);
    for (int64_t k = 0; k < z.old_size; ++k) {
      for (int64_t j = begin; j < end; ++j) {
        const int32_t start = y.offsets[j];
        add_up_rows(lines.rows + k * lines.depth + (j - begin) * length, source.rows + k * source.depth, first, length,
                    y.places + start, y.weights + start, y.offsets[j + 1] - start, length);
      }
    }
    source = {lines.rows, lines.depth};
  }
  if (z.identity) return;
  for (int64_t k = 0; k < z.new_size; ++k) {
    const int32_t start = z.offsets[k];
    add_up_rows(results.rows + k * results.depth, source.rows, 0, source.depth, z.places + start, z.weights + start,
                z.offsets[k + 1] - start, (end - begin) * length);
  }
}

// One row of pixels of a new image, each made of two by two of the old rows `top` and `bottom`, which count as much as
// `weights` say.
template <typename D, typename Element, typename T = hn::TFromD<D>>
HWY_ATTR void mix_row(D d, Element* out, const Element* top, const Element* bottom, const T* weights, const Axis<T>& x,
                      int64_t inner) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto upper = hn::Set(d, weights[0]);
  const auto lower = hn::Set(d, weights[1]);
  for (int64_t n = 0; n < x.new_size; ++n, out += inner) {
    const int64_t left = x.places[2 * n] * inner;
    const int64_t right = x.places[2 * n + 1] * inner;
    const auto weight = hn::Set(d, x.weights[2 * n]);
    const auto rest = hn::Set(d, x.weights[2 * n + 1]);
    const auto mix = [&](const Element* row, int64_t i) HWY_ATTR {
      const auto share = hn::Mul(weight, load_stored(d, row + left + i));
      return hn::Add(share, hn::Mul(rest, load_stored(d, row + right + i)));
    };
    for (int64_t i = 0; i < inner; i += lanes) {
      i = std::min(i, inner - lanes);  // the last vector begins earlier
      store_stored(d, hn::Add(hn::Mul(upper, mix(top, i)), hn::Mul(lower, mix(bottom, i))), out + i);
    }
  }
}

// All images, with their channels last.
template <typename Element, typename T = Computed<Element>>
void mix_images(Element* out, const Element* images, const Axis<T>& y, const Axis<T>& x, int64_t count, int64_t inner) {
  const int64_t old_row = x.old_size * inner;
  const int64_t new_row = x.new_size * inner;
  parallel_for(0, count * y.new_size, std::max<int64_t>(1, kGrainSize / new_row), [&](int64_t first, int64_t last) {
    with_vectors_for<T>(inner, [&](auto d) HWY_ATTR {
      for (int64_t row = first; row < last; ++row) {
        const int64_t n = 2 * (row % y.new_size);
        const Element* const image = images + row / y.new_size * y.old_size * old_row;
        mix_row(d, out + row * new_row, image + y.places[n] * old_row, image + y.places[n + 1] * old_row, y.weights + n,
                x, inner);
      }
    });
  });
}

// Whether planes of floating numbers lie side by side while they are read: few of them would waste vectors, large ones
// the caches.
template <typename T>
bool lie_aside(const ResampleGeometry& g, int64_t elements) {
  constexpr int64_t kCached = 256 * 1024;  // bytes
  return std::is_floating_point_v<T> && g.inner == 1 && g.planes >= kPlanesAside / 2 &&
         elements * kPlanesAside * static_cast<int64_t>(sizeof(T)) <= kCached;
}

void ResampleImpl(const Tensor& out, const Tensor& self, const ResampleGeometry& g) {
  const auto resample = [&](auto type) {
    using T = typename decltype(type)::type;
    const Axis<T> z(g.axes[0]);
    const Axis<T> y(g.axes[1]);
    const Axis<T> x(g.axes[2]);
    if constexpr (std::is_floating_point_v<T>) {
      const bool mixes = z.identity && z.old_size == 1 && y.mixes() && x.mixes() && g.inner >= kLeastMixed;
      if (mixes) return mix_images(out.data_ptr<T>(), self.data_ptr<T>(), y, x, g.planes, g.inner);
    }
    const T* planes = self.data_ptr<T>();
    T* results = out.data_ptr<T>();
    const int64_t old_plane = z.old_size * y.old_size * x.old_size * g.inner;
    const int64_t new_row = x.new_size * g.inner;
    const int64_t new_plane = z.new_size * y.new_size * new_row;
    const int64_t elements = std::max(old_plane, new_plane);
    const bool is_line = z.new_size == 1 && y.new_size == 1;
    const bool is_read_in_part = is_line && !x.identity && x.pairs && 2 * x.new_size < x.old_size;
    if (!is_read_in_part && lie_aside<T>(g, elements)) {
      return for_planes_aside(g.planes, elements, [&](int64_t together, int64_t begin, int64_t end) {
        PlanesAside<T> from(old_plane, together);
        PlanesAside<T> to(new_plane, together);
        std::vector<T> narrow;
        std::vector<T> low;
        for (int64_t first = begin; first < end; first += together) {
          const int64_t count = std::min(together, end - first);
          const T* const source = from.read(planes + first * old_plane, old_plane, old_plane, count);
          resample_rows(to.data(), source, z, y, x, together, 0, y.new_size, narrow, low);
          to.write(results + first * new_plane, new_plane, new_plane, count);
        }
      });
    }
    // Few planes are cut into parts of their rows; a part computes the rows of the last axis that it needs itself.
    const int64_t parts =
        g.planes >= 4 * get_num_threads() ? 1 : std::max<int64_t>(1, std::min<int64_t>(y.new_size / 16, 16));
    const int64_t rows = (y.new_size + parts - 1) / parts;
    const int64_t work = std::max<int64_t>(1, elements / parts);
    parallel_for(0, g.planes * parts, std::max<int64_t>(1, kGrainSize / work), [&](int64_t first, int64_t last) {
      std::vector<T> narrow;
      std::vector<T> low;
      for (int64_t task = first; task < last; ++task) {
        const int64_t plane = task / parts;
        const int64_t begin = task % parts * rows;
        const int64_t end = std::min(y.new_size, begin + rows);
        if (begin < end) {
          resample_rows(results + plane * new_plane, planes + plane * old_plane, z, y, x, g.inner, begin, end, narrow,
                        low);
        }
      }
    });
  };
  if (self.dtype() == kByte) return resample(TypeTag<uint8_t>());
  if (c10::is_reduced_floating_type(self.dtype())) {
    const Axis<float> y(g.axes[1]);
    const Axis<float> x(g.axes[2]);
    if (self.dtype() == kHalf)
      return mix_images(out.data_ptr<c10::Half>(), self.data_ptr<c10::Half>(), y, x, g.planes, g.inner);
    return mix_images(out.data_ptr<c10::BFloat16>(), self.data_ptr<c10::BFloat16>(), y, x, g.planes, g.inner);
  }
  dispatch_floating_types(self.dtype(), "interpolate", resample);
}

template <typename Word>
TORCH_SIMD void pick(Word* __restrict out, const Word* row, [[maybe_unused]] int64_t length, const int32_t* places,
                     int64_t count) {
  int64_t n = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(Word) == 4 || sizeof(Word) == 8) {
    const hn::ScalableTag<Word> d;
    const hn::Rebind<int32_t, decltype(d)> numbers;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; n + lanes <= count; n += lanes) {  // places rise
      if (length < lanes) break;
      const auto start = static_cast<int32_t>(std::min<int64_t>(places[n], length - lanes));
      if (places[n + lanes - 1] - start >= lanes) break;
      hn::StoreU(pick_near(d, row, start, hn::LoadU(numbers, places + n)), d, out + n);
    }
  }
#endif
  for (; n < count; ++n) out[n] = row[one_index(places[n])];
}

// New elements that are old ones: rows that come twice in a row are copied.
void ResampleNearestImpl(const Tensor& out, const Tensor& self, const ResampleGeometry& g) {
  dispatch_word(self.element_size(), [&](auto tag) {
    using Word = decltype(tag);
    const auto* planes = static_cast<const Word*>(self.data_ptr());
    auto* results = static_cast<Word*>(out.data_ptr());
    const int64_t old_row = g.axes[2].old_size * g.inner;
    const int64_t new_row = g.axes[2].new_size * g.inner;
    const int64_t rows = g.axes[1].new_size;
    const int64_t lines = g.planes * g.axes[0].new_size * rows;
    const auto place = [&](int dim, int64_t n) {
      return g.axes[dim].is_identity() ? n : int64_t{g.axes[dim].places.template data_ptr<int32_t>()[n]};
    };
    parallel_for(
        0, lines, std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, new_row)), [&](int64_t begin, int64_t end) {
          int64_t before = -1;
          for (int64_t line = begin; line < end; ++line) {
            const int64_t plane = line / rows / g.axes[0].new_size;
            const int64_t depth = place(0, line / rows % g.axes[0].new_size);
            const int64_t source = (plane * g.axes[0].old_size + depth) * g.axes[1].old_size + place(1, line % rows);
            const Word* row = planes + source * old_row;
            Word* result = results + line * new_row;
            if (source == before || g.axes[2].is_identity()) {
              std::memcpy(result, source == before ? result - new_row : row,
                          static_cast<size_t>(new_row) * sizeof(Word));
            } else if (g.inner == 1) {
              pick(result, row, old_row, g.axes[2].places.template data_ptr<int32_t>(), new_row);
            } else {
              for (int64_t n = 0; n < g.axes[2].new_size; ++n)
                std::copy_n(row + place(2, n) * g.inner, g.inner, result + n * g.inner);
            }
            before = source;
          }
        });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(ResampleImpl);
void resample_kernel(const Tensor& out, const Tensor& self, const ResampleGeometry& geometry) {
  HWY_DYNAMIC_DISPATCH(ResampleImpl)(out, self, geometry);
}
HWY_EXPORT(ResampleNearestImpl);
void resample_nearest_kernel(const Tensor& out, const Tensor& self, const ResampleGeometry& geometry) {
  HWY_DYNAMIC_DISPATCH(ResampleNearestImpl)(out, self, geometry);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
