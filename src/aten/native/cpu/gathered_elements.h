#pragma once
// What gathered convolutions multiply: numbers, or pairs of bfloat16 numbers (bfloat16_products.h), whose sums are
// floats.

#include <aten/Parallel.h>
#include <aten/native/cpu/ConvolutionTasks.h>
#include <aten/native/cpu/bfloat16_products.h>
#include <aten/native/cpu/gathered_products.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace at::native::cpu {

constexpr int64_t kBlockDepth = 384;        // lines of a panel that stay in the first cache
constexpr int64_t kTransposedColumns = 64;  // that are written at a time, so that they stay in the first cache
constexpr int64_t kSerialWork = 1 << 17;    // multiplications that waking threads does not pay for

template <typename Element>
using SumOf = std::conditional_t<std::is_same_v<Element, uint32_t>, float, Element>;

template <typename T, typename Sum>
void add_product(const T* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                 Lines<const T> panel, int64_t columns, Lines<const SumOf<T>> start, Lines<Sum> sums) {
  if constexpr (std::is_same_v<T, uint32_t>) {
    add_gathered_pairs(data, rows, count, depths, depth, panel, columns, start, sums);
  } else {
    add_gathered_product(data, rows, count, depths, depth, panel, columns, start, sums);
  }
}

// Columns of groups that are multiplied together, which each have `channels` channels of both kinds; 0: they are not.
template <typename T>
int64_t columns_of_groups(int64_t channels) {
  int64_t columns = 0;
  if constexpr (std::is_same_v<T, uint32_t>) columns = kGroupPairs;
  if constexpr (std::is_same_v<T, float>) columns = group_columns<float>();
  const bool is_part = channels > 1 && channels < columns && columns % channels == 0;
  return is_part && (channels % 2 == 0 || std::is_same_v<T, float>) ? columns : 0;
}
template <typename T, typename Result>
void multiply_some_groups(const T* data, const int64_t* rows, int64_t count, const int64_t* taps, int64_t tap_count,
                          const int32_t* lanes, int64_t channels, Lines<const T> panel, const SumOf<T>* start,
                          Lines<Result> results) {
  if constexpr (std::is_same_v<T, uint32_t>) {
    multiply_groups_of_pairs(data, rows, count, taps, tap_count, lanes, channels, panel, start, results);
  } else if constexpr (std::is_same_v<T, float>) {
    multiply_groups(data, rows, count, taps, tap_count, lanes, channels, panel, start, results);
  }
}

// Whether add_product writes so many columns of sums and no more.
template <typename T>
bool is_whole(int64_t columns) {
  return columns % panel_step<SumOf<T>>() == 0;
}

inline void transpose_matrix(const uint32_t* from, int64_t from_step, int64_t rows, int64_t columns, uint32_t* to,
                             int64_t to_step) {
  transpose_matrix(reinterpret_cast<const float*>(from), from_step, rows, columns, reinterpret_cast<float*>(to),
                   to_step);
}
// The channels of groups or images that lie last, two as a pair: of `count` places. The last of an odd number is a pair
// with 0.
inline Scratch<uint32_t> pairs_of_last(const uint16_t* from, int64_t count, int64_t channels) {
  const int64_t pairs = (channels + 1) / 2;
  auto result = scratch<uint32_t>(count * pairs);
  uint32_t* const to = result.get();
  parallel_for(0, count, std::max<int64_t>(1, (1 << 16) / channels), [&](int64_t begin, int64_t end) {
    if (channels == 3) return pair_colours(from + begin * channels, end - begin, to + begin * pairs);
    for (int64_t i = begin; i < end; ++i) {
      const uint16_t* place = from + i * channels;
      for (int64_t pair = 0; pair < channels / 2; ++pair)
        std::memcpy(to + i * pairs + pair, place + 2 * pair, sizeof *to);
      if (channels % 2 != 0) to[(i + 1) * pairs - 1] = place[channels - 1];
    }
  });
  return result;
}

// The same of channels with `inner` elements each: from [outer, channels, inner] to [outer, channels / 2 rounded up,
// inner].
inline Scratch<uint32_t> pairs_of(const uint16_t* from, int64_t outer, int64_t channels, int64_t inner) {
  if (inner == 1) return pairs_of_last(from, outer, channels);
  const int64_t pairs = (channels + 1) / 2;
  auto result = scratch<uint32_t>(outer * pairs * inner);
  uint32_t* const to = result.get();
  const int64_t grain = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(inner, 1));
  parallel_for(0, outer * pairs, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      const int64_t last = std::min(end, (i / pairs + 1) * pairs);
      const int64_t channel = i % pairs * 2;
      pair_lines(from + (i / pairs * channels + channel) * inner, std::min(channels - channel, 2 * (last - i)), inner,
                 to + i * inner);
      i = last;
    }
  });
  return result;
}

}  // namespace at::native::cpu
