// Compiled once per instruction set. A tile of rows by two vectors is kept in registers: each vector of the panel that
// is loaded serves all rows, and each element of the gathered matrix two vectors.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/gathered_products.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/gathered_products.h>

#include <aten/native/cpu/Highway-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
// Half vectors only where they are long.
template <typename T>
constexpr int64_t kStep = kLanes<T> == 16 ? 8 : kLanes<T>;
// Two sums a row, two vectors of the panel and one element: 19 registers of 32, or 15 of 16. Sums of more rows would
// have room, but not the rows' own places: these are numbers, of which the processor keeps no more than 15.
constexpr int kRows = kLanes<float> == 16 ? 8 : 6;

// As many columns as `Halves` halves of a vector have: whole vectors, then half a one.
template <int Rows, int Halves, typename T>
HWY_ATTR void add_tile(const T* data, const int64_t* rows, const int64_t* depths, int64_t depth, Lines<const T> panel,
                       Lines<const T> start, Lines<T> sums) {
  constexpr int kVectors = Halves / 2;
  constexpr bool kHalf = Halves % 2 != 0;
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, (kLanes<T> + 1) / 2> half;
  using V = hn::Vec<decltype(d)>;
  using H = hn::Vec<decltype(half)>;
  V totals[Rows][kVectors + 1];
  H half_totals[Rows];
  const T* starts[Rows];
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    starts[row] = data + rows[row];
    const T* from = start.data + row * start.step;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) totals[row][v] = hn::LoadU(d, from + v * kLanes<T>);
    if constexpr (kHalf) half_totals[row] = hn::LoadU(half, from + kVectors * kLanes<T>);
  }
  const T* from = panel.data;
  for (int64_t k = 0; k < depth; ++k, from += panel.step) {
    const int64_t place = depths[k];
    V line[kVectors + 1];
    H half_line;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) line[v] = hn::LoadU(d, from + v * kLanes<T>);
    if constexpr (kHalf) half_line = hn::LoadU(half, from + kVectors * kLanes<T>);
#pragma GCC unroll 8
    for (int row = 0; row < Rows; ++row) {
      if constexpr (kVectors == 0) {
        half_totals[row] = hn::MulAdd(hn::Set(half, starts[row][place]), half_line, half_totals[row]);
        continue;
      }
      const V element = hn::Set(d, starts[row][place]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) totals[row][v] = hn::MulAdd(element, line[v], totals[row][v]);
      if constexpr (kHalf) half_totals[row] = hn::MulAdd(hn::LowerHalf(element), half_line, half_totals[row]);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    T* to = sums.data + row * sums.step;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) hn::StoreU(totals[row][v], d, to + v * kLanes<T>);
    if constexpr (kHalf) hn::StoreU(half_totals[row], half, to + kVectors * kLanes<T>);
  }
}

// The rows that are left, fewer than kRows, in one go: every line of the panel is loaded once.
template <int Rows, int Halves, typename T>
HWY_ATTR void add_rest(const T* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                       Lines<const T> panel, Lines<const T> start, Lines<T> sums) {
  if constexpr (Rows > 1) {
    if (count < Rows) return add_rest<Rows - 1, Halves>(data, rows, count, depths, depth, panel, start, sums);
  }
  add_tile<Rows, Halves>(data, rows, depths, depth, panel, start, sums);
}

template <int Halves, typename T>
HWY_ATTR void add_tiles(const T* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                        Lines<const T> panel, Lines<const T> start, Lines<T> sums) {
  for (; count >= kRows; rows += kRows, count -= kRows) {
    add_tile<kRows, Halves>(data, rows, depths, depth, panel, start, sums);
    start.data += kRows * start.step;
    sums.data += kRows * sums.step;
  }
  if (count > 0) add_rest<kRows - 1, Halves>(data, rows, count, depths, depth, panel, start, sums);
}

template <typename T>
HWY_ATTR void add_product(const T* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                          Lines<const T> panel, int64_t columns, Lines<const T> start, Lines<T> sums) {
  auto add = columns <= kLanes<T> ? add_tiles<2, T> : add_tiles<4, T>;
  if constexpr (kStep<T> < kLanes<T>) {
    if (columns <= kStep<T>) add = add_tiles<1, T>;
    else if (columns > kLanes<T> && columns <= 3 * kStep<T>) add = add_tiles<3, T>;
  }
  add(data, rows, count, depths, depth, panel, start, sums);
}

// Only where vectors hold several groups of usual sizes, and lanes are rearranged at once.
#if !HWY_ARCH_X86 || HWY_TARGET > HWY_AVX3
void multiply_groups_float(const float*, const int64_t*, int64_t, const int64_t*, int64_t, const int32_t*, int64_t,
                           Lines<const float>, const float*, Lines<float>) {}
int64_t group_columns_float() { return 0; }
#else
// Each of a group's channels is spread over the lanes of that group.
template <int Rows>
HWY_ATTR void multiply_group_tile(const float* data, const int64_t* rows, const int64_t* taps, int64_t tap_count,
                                  const int32_t* lanes, int64_t channels, Lines<const float> panel,
                                  const float* start, Lines<float> sums) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> totals[Rows];
  const float* starts[Rows];
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    totals[row] = hn::LoadU(d, start);
    starts[row] = data + rows[row];
  }
  const float* line = panel.data;
  for (int64_t tap = 0; tap < tap_count; ++tap) {
    const int64_t place = taps[tap];
    for (int64_t channel = 0; channel < channels; ++channel, line += panel.step) {
      const auto factors = hn::LoadU(d, line);
      const auto order = hn::SetTableIndices(d, lanes + channel * kLanes<float>);
#pragma GCC unroll 8
      for (int row = 0; row < Rows; ++row)
        totals[row] =
            hn::MulAdd(hn::TableLookupLanes(hn::LoadU(d, starts[row] + place), order), factors, totals[row]);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) hn::StoreU(totals[row], d, sums.data + row * sums.step);
}
// The same of two groups, which are half a vector each: what is read once for each half takes no rearranging.
template <int Rows>
HWY_ATTR void multiply_halves_tile(const float* data, const int64_t* rows, const int64_t* taps, int64_t tap_count,
                                   Lines<const float> panel, const float* start, Lines<float> sums) {
  constexpr int64_t kHalf = kLanes<float> / 2;
  const hn::CappedTag<float, kHalf> d;
  hn::Vec<decltype(d)> lower[Rows], upper[Rows];
  const float* starts[Rows];
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    lower[row] = hn::LoadU(d, start);
    upper[row] = hn::LoadU(d, start + kHalf);
    starts[row] = data + rows[row];
  }
  const float* line = panel.data;
  for (int64_t tap = 0; tap < tap_count; ++tap) {
    for (int64_t place = taps[tap]; place < taps[tap] + kHalf; ++place, line += panel.step) {
      const auto factors = hn::LoadU(d, line);
      const auto upper_factors = hn::LoadU(d, line + kHalf);
#pragma GCC unroll 8
      for (int row = 0; row < Rows; ++row) {
        lower[row] = hn::MulAdd(hn::Set(d, starts[row][place]), factors, lower[row]);
        upper[row] = hn::MulAdd(hn::Set(d, starts[row][place + kHalf]), upper_factors, upper[row]);
      }
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    hn::StoreU(lower[row], d, sums.data + row * sums.step);
    hn::StoreU(upper[row], d, sums.data + row * sums.step + kHalf);
  }
}
HWY_ATTR void multiply_groups_float(const float* data, const int64_t* rows, int64_t count, const int64_t* taps,
                                    int64_t tap_count, const int32_t* lanes, int64_t channels,
                                    Lines<const float> panel, const float* start, Lines<float> sums) {
  if (2 * channels == kLanes<float>) {
    for (; count >= kRows; rows += kRows, count -= kRows, sums.data += kRows * sums.step)
      multiply_halves_tile<kRows>(data, rows, taps, tap_count, panel, start, sums);
  }
  for (; count >= kRows; rows += kRows, count -= kRows, sums.data += kRows * sums.step)
    multiply_group_tile<kRows>(data, rows, taps, tap_count, lanes, channels, panel, start, sums);
  for (; count > 0; ++rows, --count, sums.data += sums.step)
    multiply_group_tile<1>(data, rows, taps, tap_count, lanes, channels, panel, start, sums);
}
int64_t group_columns_float() { return kLanes<float>; }
#endif

void add_product_float(const float* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                       Lines<const float> panel, int64_t columns, Lines<const float> start, Lines<float> sums) {
  add_product(data, rows, count, depths, depth, panel, columns, start, sums);
}
void add_product_double(const double* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                        Lines<const double> panel, int64_t columns, Lines<const double> start, Lines<double> sums) {
  add_product(data, rows, count, depths, depth, panel, columns, start, sums);
}

template <typename T>
HWY_ATTR void transpose_some(const T* from, int64_t from_step, int64_t rows, int64_t columns, T* to, int64_t to_step) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j * to_step + i] = from[i * from_step + j];
  }
}

#if HWY_TARGET == HWY_SCALAR
void transpose_floats(const float* from, int64_t from_step, int64_t rows, int64_t columns, float* to, int64_t to_step) {
  transpose_some(from, from_step, rows, columns, to, to_step);
}
void transpose_doubles(const double* from, int64_t from_step, int64_t rows, int64_t columns, double* to,
                       int64_t to_step) {
  transpose_some(from, from_step, rows, columns, to, to_step);
}
#else
// Squares of four, two at a time where vectors have room, along the lines that are farther apart: lines at distances of
// a power of two share places in the cache, so that few of them can be used at a time. What was not transposed: the
// last rows, fewer than `Rows`.
template <int64_t Rows>
HWY_ATTR int64_t transpose_squares(const float* from, int64_t from_step, int64_t rows, int64_t whole, float* to,
                                   int64_t to_step) {
  const hn::CappedTag<float, Rows> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const int64_t whole_rows = rows / Rows * Rows;
  const auto load = [&](const float* line) HWY_ATTR {
    const hn::CappedTag<float, 4> four;
    if constexpr (Rows == 8) return hn::Combine(d, hn::LoadU(four, line + 4 * from_step), hn::LoadU(four, line));
    else return hn::LoadU(four, line);
  };
  const auto transpose_square = [&](int64_t i, int64_t j) HWY_ATTR {
    const float* line = from + i * from_step + j;
    const auto a = load(line);
    const auto b = load(line + from_step);
    const auto c = load(line + 2 * from_step);
    const auto e = load(line + 3 * from_step);
    const auto ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
    const auto ab_upper = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
    const auto ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
    const auto ce_upper = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
    float* target = to + j * to_step + i;
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab, ce)), d, target);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab, ce)), d, target + to_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_upper, ce_upper)), d, target + 2 * to_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_upper, ce_upper)), d, target + 3 * to_step);
  };
  if (to_step > from_step) {
    for (int64_t j = 0; j < whole; j += 4) {
      for (int64_t i = 0; i < whole_rows; i += Rows) transpose_square(i, j);
    }
  } else {
    for (int64_t i = 0; i < whole_rows; i += Rows) {
      for (int64_t j = 0; j < whole; j += 4) transpose_square(i, j);
    }
  }
  return whole_rows;
}
HWY_ATTR void transpose_floats(const float* from, int64_t from_step, int64_t rows, int64_t columns, float* to,
                               int64_t to_step) {
  const int64_t whole = columns / 4 * 4;
  int64_t whole_rows = 0;
  if constexpr (kLanes<float> >= 8) whole_rows = transpose_squares<8>(from, from_step, rows, whole, to, to_step);
  whole_rows += transpose_squares<4>(from + whole_rows * from_step, from_step, rows - whole_rows, whole,
                                     to + whole_rows, to_step);
  transpose_some(from + whole, from_step, whole_rows, columns - whole, to + whole * to_step, to_step);
  transpose_some(from + whole_rows * from_step, from_step, rows - whole_rows, columns, to + whole_rows, to_step);
}
// Squares of two.
HWY_ATTR void transpose_doubles(const double* from, int64_t from_step, int64_t rows, int64_t columns, double* to,
                                int64_t to_step) {
  const hn::CappedTag<double, 2> d;
  const int64_t whole_rows = rows / 2 * 2;
  const int64_t whole = columns / 2 * 2;
  for (int64_t i = 0; i < whole_rows; i += 2) {
    const double* line = from + i * from_step;
    for (int64_t j = 0; j < whole; j += 2) {
      const auto a = hn::LoadU(d, line + j);
      const auto b = hn::LoadU(d, line + from_step + j);
      hn::StoreU(hn::InterleaveLower(d, a, b), d, to + j * to_step + i);
      hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + (j + 1) * to_step + i);
    }
  }
  transpose_some(from + whole, from_step, whole_rows, columns - whole, to + whole * to_step, to_step);
  transpose_some(from + whole_rows * from_step, from_step, rows - whole_rows, columns, to + whole_rows, to_step);
}
#endif

int64_t tile_rows() { return kRows; }
int64_t step_float() { return kStep<float>; }
int64_t step_double() { return kStep<double>; }
int64_t lanes_float() { return kLanes<float>; }

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(add_product_float);
HWY_EXPORT(add_product_double);
HWY_EXPORT(multiply_groups_float);
HWY_EXPORT(group_columns_float);
HWY_EXPORT(transpose_floats);
HWY_EXPORT(transpose_doubles);
HWY_EXPORT(tile_rows);
HWY_EXPORT(step_float);
HWY_EXPORT(step_double);
HWY_EXPORT(lanes_float);

template <>
int64_t panel_columns<float>() {
  return 2 * HWY_DYNAMIC_DISPATCH(lanes_float)();
}
template <>
int64_t panel_columns<double>() {
  return HWY_DYNAMIC_DISPATCH(lanes_float)();
}
template <>
int64_t panel_step<float>() {
  return HWY_DYNAMIC_DISPATCH(step_float)();
}
template <>
int64_t panel_step<double>() {
  return HWY_DYNAMIC_DISPATCH(step_double)();
}
template <>
int64_t panel_rows<float>() {
  return HWY_DYNAMIC_DISPATCH(tile_rows)();
}
template <>
int64_t panel_rows<double>() {
  return HWY_DYNAMIC_DISPATCH(tile_rows)();
}

template <>
void add_gathered_product(const float* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                          Lines<const float> panel, int64_t columns, Lines<const float> start, Lines<float> sums) {
  HWY_DYNAMIC_DISPATCH(add_product_float)(data, rows, count, depths, depth, panel, columns, start, sums);
}
template <>
void add_gathered_product(const double* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                          Lines<const double> panel, int64_t columns, Lines<const double> start, Lines<double> sums) {
  HWY_DYNAMIC_DISPATCH(add_product_double)(data, rows, count, depths, depth, panel, columns, start, sums);
}

template <>
void multiply_groups(const float* data, const int64_t* rows, int64_t count, const int64_t* taps, int64_t tap_count,
                     const int32_t* lanes, int64_t channels, Lines<const float> panel, const float* start,
                     Lines<float> sums) {
  HWY_DYNAMIC_DISPATCH(multiply_groups_float)(data, rows, count, taps, tap_count, lanes, channels, panel, start, sums);
}
template <>
int64_t group_columns<float>() {
  return HWY_DYNAMIC_DISPATCH(group_columns_float)();
}

template <>
void transpose_matrix(const float* from, int64_t from_step, int64_t rows, int64_t columns, float* to, int64_t to_step) {
  HWY_DYNAMIC_DISPATCH(transpose_floats)(from, from_step, rows, columns, to, to_step);
}
template <>
void transpose_matrix(const double* from, int64_t from_step, int64_t rows, int64_t columns, double* to,
                      int64_t to_step) {
  HWY_DYNAMIC_DISPATCH(transpose_doubles)(from, from_step, rows, columns, to, to_step);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
