// Running sums, products and extremes along one dimension. Contracts are in kernels.yaml.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/AroundDimension.h>
#include <aten/native/cpu/ConvertedElements.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace at::native::cpu {

namespace {

constexpr int64_t kAtOnce = 4096;   // elements of rows that are read together, about
constexpr int64_t kColumns = 2048;  // columns that are walked through side by side
constexpr int64_t kFewColumns = 8;    // fewer fill no vectors
constexpr int64_t kRowsTogether = 4;  // rows, no step of which waits for another row's

// float16 and bfloat16 are computed in float32.
ScalarType computed_type(const Tensor& tensor) {
  return c10::is_reduced_floating_type(tensor.dtype()) ? kFloat : tensor.dtype();
}

// rows(to, from, first row, how many) for all rows of a dense tensor, some at a time.
template <typename T, typename Rows>
void for_each_tile_of_rows(const Tensor& out, const Tensor& self, const Extents& extents, const Rows& rows) {
  const int64_t size = extents.size;
  const int64_t together = std::max(kRowsTogether, kAtOnce / size);
  parallel_for(0, extents.outer, std::max<int64_t>(1, kGrainSize / 8 / size), [&](int64_t first, int64_t last) {
    const int64_t most = std::min(together, last - first) * size;
    ConvertedElements<T> values(self, most);
    ConvertedElements<T> results(out, most);
    for (int64_t row = first; row < last; row += together) {
      const int64_t count = std::min(together, last - row);
      rows(results.start(row * size), values.read(row * size, count * size), row, count);
      results.finish(row * size, count * size);
    }
  });
}

// What make_state() gives is asked to walk(to, from, place, row, rows, width) through rows of some columns, the first
// of which are from row 0 on; `place` is the first element's.
template <typename T, typename MakeState>
void for_each_strip_of_columns(const Tensor& out, const Tensor& self, const Extents& extents,
                               const MakeState& make_state) {
  const int64_t blocks = (extents.inner + kColumns - 1) / kColumns;
  const int64_t work = extents.size * std::min(extents.inner, kColumns);
  // Rows that lie in one piece are read together, planes of a few elements as well.
  const int64_t planes = blocks == 1 && 2 * work <= kAtOnce ? std::min(kAtOnce / work, extents.outer) : 1;
  const int64_t together = blocks == 1 ? std::max<int64_t>(1, kAtOnce / extents.inner) : 1;
  const int64_t most = planes > 1 ? planes * work : together * std::min(extents.inner, kColumns);
  parallel_for(0, extents.outer * blocks, std::max<int64_t>(1, kGrainSize / 8 / work),
               [&](int64_t first, int64_t last) {
                 ConvertedElements<T> values(self, most);
                 ConvertedElements<T> results(out, most);
                 auto state = make_state();
                 for (int64_t unit = first; unit < last; unit += planes) {
                   const int64_t start = unit % blocks * kColumns;
                   const int64_t width = std::min(kColumns, extents.inner - start);
                   const int64_t all = std::min(planes, last - unit) * extents.size;
                   const int64_t at_once = planes > 1 ? all : together;
                   for (int64_t row = 0; row < all; row += at_once) {
                     const int64_t rows = std::min(at_once, all - row);
                     const int64_t place = (unit / blocks * extents.size + row) * extents.inner + start;
                     const T* const from = values.read(place, rows * width);
                     T* const to = results.start(place);
                     const int64_t part = planes > 1 ? extents.size : rows;
                     for (int64_t done = 0; done < rows * width; done += part * width)
                       state.walk(to + done, from + done, place + done, row, part, width);
                     results.finish(place, rows * width);
                   }
                 }
               });
}

// Totals of `Rows` rows, which do not wait for each other: `apart` from each other, as their elements are by `step`.
template <int Rows, typename Total, typename T, typename Combine>
C10_NOINLINE void accumulate_rows(T* to, const T* from, int64_t size, int64_t apart, int64_t step, Total* totals,
                     const Combine& combine) {
  Total own[Rows];
  for (int row = 0; row < Rows; ++row) own[row] = totals[row];
#pragma GCC unroll 2
  for (int64_t j = 0; j < size; ++j) {
    T values[Rows];  // all read before one is written
    for (int row = 0; row < Rows; ++row) values[row] = from[row * apart + j * step];
    for (int row = 0; row < Rows; ++row) {
      own[row] = combine(own[row], static_cast<Total>(values[row]));
      to[row * apart + j * step] = static_cast<T>(own[row]);
    }
  }
  for (int row = 0; row < Rows; ++row) totals[row] = own[row];
}

template <typename T, typename Total, typename Combine>
struct ColumnTotals {
  Total first;
  Combine combine;
  Total totals[kColumns];

  C10_NOINLINE void walk(T* __restrict to, const T* __restrict from, int64_t /*place*/, int64_t row, int64_t rows,
                         int64_t width) {
    if (row == 0) std::fill_n(totals, width, first);
    int64_t done = 0;
    if (std::is_integral_v<T> && width < kFewColumns) {  // each by itself; sums of floats would wait for each other
      for (; done < width; ++done)
        accumulate_rows<1>(to + done, from + done, rows, 1, width, totals + done, combine);
      return;
    }
    for (int64_t i = 0; i < rows; ++i, to += width, from += width) {
      for (int64_t j = 0; j < width; ++j) {
        totals[j] = combine(totals[j], static_cast<Total>(from[j]));
        to[j] = static_cast<T>(totals[j]);
      }
    }
  }
};

// Floats are computed in double, so that long sums stay accurate.
template <typename T>
using TotalOf = std::conditional_t<std::is_floating_point_v<T>, double, T>;

template <typename T, typename Combine>
void accumulate(const Tensor& out, const Tensor& self, int64_t dim, TotalOf<T> initial, const Combine& combine) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  const int64_t size = extents.size;
  if (extents.inner == 1) {
    for_each_tile_of_rows<T>(out, dense, extents, [&](T* to, const T* from, int64_t /*row*/, int64_t count) {
      int64_t i = 0;
      // Sums of whole numbers wait for one cycle each, less than rows cost that lie in the same places of a cache.
      constexpr bool kWaits = !std::is_integral_v<T>;
      for (; kWaits && i + kRowsTogether <= count; i += kRowsTogether) {
        TotalOf<T> totals[kRowsTogether];
        std::fill_n(totals, kRowsTogether, initial);
        accumulate_rows<kRowsTogether>(to + i * size, from + i * size, size, size, 1, totals, combine);
      }
      for (; i < count; ++i) {
        TotalOf<T> total = initial;
        accumulate_rows<1>(to + i * size, from + i * size, size, size, 1, &total, combine);
      }
    });
  } else {
    for_each_strip_of_columns<T>(out, dense, extents,
                                 [&] { return ColumnTotals<T, TotalOf<T>, Combine>{initial, combine, {}}; });
  }
}

}  // namespace

void cumsum_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  dispatch_numeric_and_complex_types(computed_type(out), "cumsum_out_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    accumulate<T>(out, self, dim, TotalOf<T>(0),
                  [](auto total, auto value) { return static_cast<decltype(total)>(total + value); });
  });
}

void cumprod_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  dispatch_numeric_and_complex_types(computed_type(out), "cumprod_out_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    accumulate<T>(out, self, dim, TotalOf<T>(1),
                  [](auto total, auto value) { return static_cast<decltype(total)>(total * value); });
  });
}

namespace {

// Whether a value takes the place of the best one before: the last one of equals does, and every NaN.
struct Greatest {
  template <typename T>
  bool operator()(T value, T best) const { return bool(value >= best) | bool(value != value); }
};
struct Least {
  template <typename T>
  bool operator()(T value, T best) const { return bool(value <= best) | bool(value != value); }
};

template <typename T, typename Beats>
void find_extremes_of_row(T* to, int64_t* places, const T* from, int64_t size, const Beats& beats) {
  T best = from[0];
  int64_t place = 0;
  for (int64_t i = 0; i < size; ++i) {
    const T value = from[i];
    if (beats(value, best)) {
      best = value;
      place = i;
    }
    to[i] = best;
    places[i] = place;
  }
}

// The same without a branch, for integers, which are often equal: of rows that do not wait for each other.
template <int Rows, typename T, typename Beats>
void find_extremes_of_rows(T* to, int64_t* places, const T* from, int64_t size, const Beats& beats) {
  T best[Rows];
  int64_t place[Rows] = {};
  for (int row = 0; row < Rows; ++row) best[row] = from[row * size];
  for (int64_t i = 0; i < size; ++i) {
    T values[Rows];  // all read before one is written
    for (int row = 0; row < Rows; ++row) values[row] = from[row * size + i];
    for (int row = 0; row < Rows; ++row) {
      const bool is_better = beats(values[row], best[row]);
      best[row] = is_better ? values[row] : best[row];
      place[row] = is_better ? i : place[row];
      to[row * size + i] = best[row];
      places[row * size + i] = place[row];
    }
  }
}

template <typename T, typename Beats>
struct ColumnExtremes {
  int64_t* places;
  Beats beats;
  T best[kColumns];
  int64_t place_of[kColumns];

  C10_NOINLINE void walk(T* __restrict to, const T* __restrict from, int64_t place, int64_t row, int64_t rows,
                         int64_t width) {
    if (row == 0) {
      std::copy_n(from, width, best);
      std::fill_n(place_of, width, int64_t{0});
    }
    int64_t* __restrict found = places + place;
    for (const int64_t end = row + rows; row < end; ++row, to += width, from += width, found += width) {
      for (int64_t j = 0; j < width; ++j) {
        const T value = from[j];
        const bool is_better = beats(value, best[j]);
        best[j] = is_better ? value : best[j];
        place_of[j] = is_better ? row : place_of[j];
        to[j] = best[j];
        found[j] = place_of[j];
      }
    }
  }
};

}  // namespace

void cumulative_extreme_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim,
                               bool greatest) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  int64_t* const places = indices.data_ptr<int64_t>();
  const ScalarType dtype = self.dtype() == kBool ? kByte : computed_type(self);
  const auto run = [&](auto zero, const auto& beats) {
    using T = decltype(zero);
    if (extents.inner == 1) {
      for_each_tile_of_rows<T>(values, dense, extents, [&](T* to, const T* from, int64_t row, int64_t count) {
        const int64_t size = extents.size;
        int64_t* const found = places + row * size;
        int64_t i = 0;
        if constexpr (std::is_integral_v<T>) {
          for (; i + 2 <= count; i += 2)
            find_extremes_of_rows<2>(to + i * size, found + i * size, from + i * size, size, beats);
          for (; i < count; ++i)
            find_extremes_of_rows<1>(to + i * size, found + i * size, from + i * size, size, beats);
        } else {
          for (; i < count; ++i) find_extremes_of_row(to + i * size, found + i * size, from + i * size, size, beats);
        }
      });
    } else {
      using Beats = std::decay_t<decltype(beats)>;
      for_each_strip_of_columns<T>(values, dense, extents,
                                   [&] { return ColumnExtremes<T, Beats>{places, beats, {}, {}}; });
    }
  };
  dispatch_numeric_types(dtype, greatest ? "cummax_cpu" : "cummin_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    if (greatest) run(T(), Greatest());
    else run(T(), Least());
  });
}

namespace {

template <typename T>
double in_double(T value) {
  return value;
}
template <typename T>
std::complex<double> in_double(c10::complex<T> value) {
  return {value.real(), value.imag()};
}
template <typename T>
void store(T& to, double value) {
  to = static_cast<T>(value);
}
template <typename T>
void store(c10::complex<T>& to, std::complex<double> value) {
  to = c10::complex<T>(static_cast<T>(value.real()), static_cast<T>(value.imag()));
}

double add_exponents(double total, double value) {
  const double greater = std::max(total, value);
  if (std::isnan(value) || std::isnan(total)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(greater)) return greater;
  return greater + std::log1p(std::exp(std::min(total, value) - greater));
}

// From the one with the greater real part, so that nothing overflows.
std::complex<double> add_exponents(std::complex<double> total, std::complex<double> value) {
  const bool is_less = total.real() < value.real();
  const std::complex<double> greater = is_less ? value : total;
  if (std::isinf(greater.real())) return is_less || total.real() != value.real() ? greater : value;
  return greater + std::log(1.0 + std::exp((is_less ? total : value) - greater));
}

}  // namespace

void logcumsumexp_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  dispatch_floating_and_complex_types(self.dtype(), "logcumsumexp_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    parallel_for_lines(extents, [&](int64_t first, int64_t last) {
      for (int64_t line = first; line < last; ++line) {
        int64_t place = extents.first_of_line(line);
        auto total = in_double(static_cast<scalar_t>(-std::numeric_limits<double>::infinity()));
        for (int64_t i = 0; i < extents.size; ++i, place += extents.inner) {
          total = add_exponents(total, in_double(from[place]));
          store(to[place], total);
        }
      }
    });
  });
}

}  // namespace at::native::cpu
