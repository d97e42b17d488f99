// Averages and maxima over windows, a line of windows at a time: of each place in the kernel, what neighbouring windows
// read there. Neighbours are the windows of a line, or, with the channels last, those of all channels.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/ConvolutionGeometry.h>
#include <aten/native/cpu/DispatchInt64.h>
#include <aten/native/cpu/FusedForward.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/pooling_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/ReduceOps-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// Windows [first, first + count) of a line read the elements at, at + step, ... of a line of the image, and if it is
// one window of one channel, `reads` elements from there on.
struct PoolTap {
  int64_t first, count, at, step, reads;
};

// What lines of windows read, in the order in which each window reads it.
class PoolLines {
 public:
  // Images and results are contiguous, or all dense with their channels last: then a sample is one plane.
  PoolLines(const PoolGeometry& geometry, const Tensor& image, const Tensor& result)
      : g(geometry),
        channels(image.is_contiguous() && result.is_contiguous() ? 1 : image.sizes()[1]),
        planes(g.planes / channels),
        inside_end(g.adaptive || channels > 1 ? 0 : g.windows[2]) {
    for (int64_t window = 0; window < g.windows[2]; ++window) across.push_back(g.span(2, window));
    if (g.adaptive || channels > 1) {
      for (int64_t window = 0; window < g.windows[2]; ++window) {
        const PoolSpan& x = across[static_cast<size_t>(window)];
        if (channels == 1) taps.push_back({window, 1, x.begin, 0, x.end - x.begin});  // adaptive: no dilation
        else for (int64_t at = x.begin; at < x.end; at += x.step) taps.push_back({window, 1, at, 0, 1});
      }
      return;
    }
    for (int64_t k = 0; k < g.kernel[2]; ++k) {
      const int64_t reach = k * g.dilation[2] - g.padding[2];
      const auto [begin, end] = part_inside(reach, g.stride[2], g.windows[2], g.image[2]);
      if (begin < end) taps.push_back({begin, end - begin, reach + begin * g.stride[2], g.stride[2], 1});
      inside_begin = std::max(inside_begin, begin);
      inside_end = std::min(inside_end, end);
    }
  }

  int64_t per_plane() const { return g.windows[0] * g.windows[1]; }
  int64_t length() const { return g.windows[2] * channels; }
  PoolSpan depth(int64_t line) const { return g.span(0, line / g.windows[1] % g.windows[0]); }
  PoolSpan height(int64_t line) const { return g.span(1, line % g.windows[1]); }
  // Where the elements lie that the first window inside reads, if its line's are not the ones of the line before.
  void find_places(int64_t line, std::vector<int64_t>& places) const {
    if (!places.empty() && per_plane() == 1) return;
    places.clear();
    const PoolSpan z = depth(line);
    const PoolSpan y = height(line);
    for (int64_t k = z.begin; k < z.end; k += z.step) {
      for (int64_t j = y.begin; j < y.end; j += y.step) {
        for (const PoolTap& tap : taps)
          places.push_back((k * g.image[1] + j) * g.image[2] + tap.at + (inside_begin - tap.first) * g.stride[2]);
      }
    }
  }
  // Lines that are worth a thread.
  int64_t grain() const {
    const int64_t read = g.image_elements() * channels / std::max<int64_t>(1, per_plane());
    return std::max<int64_t>(1, kGrainSize / std::max({read, length(), int64_t(1)}));
  }

  const PoolGeometry& g;
  int64_t channels, planes;
  int64_t inside_begin = 0, inside_end;  // the windows of a line that read all along it, where neighbours are windows
  std::vector<PoolTap> taps;
  std::vector<PoolSpan> across;
};

// Calls body(i, i * step) for i in [0, count),
// with the step as a constant where the compiler makes vectors of such a loop.
template <typename Body>
TORCH_SIMD inline void for_each_neighbour(int64_t count, int64_t step, Body&& body) {
  if (step == 1) {
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) body(i, i);
  } else if (step == 2) {
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) body(i, 2 * i);
  } else {
    for (int64_t i = 0; i < count; ++i) body(i, i * step);
  }
}

// NaN wins.
template <typename T, typename Place>
TORCH_SIMD void keep_greater(T* best, Place* places, const T* values, int64_t count, int64_t step, Place place,
                             Place place_step, int64_t reads) {
  if (count == 1) {
    T greatest = *best;
    Place where = *places;
    for (int64_t i = 0; i < reads;) {
      int64_t end = reads;
#if HWY_TARGET != HWY_SCALAR
      if constexpr (std::is_floating_point_v<T>) {  // vectors in which nothing wins are passed over
        const hn::CappedTag<T, 32 / sizeof(T)> d;
        const auto lanes = static_cast<int64_t>(hn::Lanes(d));
        if (i + lanes <= reads) {
          const auto some = hn::LoadU(d, values + i);
          end = i + lanes;
          if (hn::AllFalse(d, hn::Or(hn::Gt(some, hn::Set(d, greatest)), hn::IsNaN(some)))) i = end;
        }
      }
#endif
      for (; i < end; ++i) {
        const T value = values[i];
        if ((value > greatest) | (value != value)) {
          greatest = value;
          where = static_cast<Place>(place + static_cast<Place>(i));
        }
      }
    }
    *best = greatest;
    *places = where;
    return;
  }
  for_each_neighbour(count, step, [=](int64_t i, int64_t at) TORCH_SIMD {
    const T value = values[at];
    const bool wins = (value > best[i]) | (value != value);
    best[i] = wins ? value : best[i];
    places[i] = wins ? static_cast<Place>(place + static_cast<Place>(i) * place_step) : places[i];
  });
}

template <typename Op, typename T>
TORCH_SIMD void combine_neighbours(T* results, const T* values, int64_t count, int64_t step, int64_t reads) {
  if (count == 1) {
    T result = *results;
    for (int64_t i = 0; i < reads; ++i) result = Op::combine(result, values[i]);
    *results = result;
    return;
  }
  for_each_neighbour(count, step,
                     [=](int64_t i, int64_t at) TORCH_SIMD { results[i] = Op::combine(results[i], values[at]); });
}

template <typename T>
TORCH_SIMD void add_shares(T* image, const T* shares, int64_t count, int64_t step, int64_t reads) {
  if (count == 1) {
    for (int64_t i = 0; i < reads; ++i) image[i] = static_cast<T>(image[i] + *shares);
    return;
  }
  for_each_neighbour(count, step,
                     [=](int64_t i, int64_t at) TORCH_SIMD { image[at] = static_cast<T>(image[at] + shares[i]); });
}

template <typename T>
TORCH_SIMD void divide_line(T* out, const T* values, T divisor, int64_t count) {
  TORCH_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(values[i] / divisor);
}

// out = values over how many elements each window of a line averages.
template <typename T>
void divide_windows(const PoolLines& lines, int64_t line, T* out, const T* values) {
  const int64_t windows = lines.g.windows[2];
  const PoolSpan z = lines.depth(line);
  const PoolSpan y = lines.height(line);
  for (int64_t first = 0, last = 0; first < windows; first = last) {  // windows that average as many
    const int64_t divisor = lines.g.divisor_of(z, y, lines.across[static_cast<size_t>(first)]);
    while (last < windows && lines.g.divisor_of(z, y, lines.across[static_cast<size_t>(last)]) == divisor) ++last;
    const int64_t start = first * lines.channels;
    divide_line(out + start, values + start, static_cast<T>(divisor), (last - first) * lines.channels);
  }
}

// Calls body(tap, where it starts in the image, how many neighbours, their distance) for what a line of windows reads.
template <typename Body>
TORCH_SIMD inline void for_each_tap(const PoolLines& lines, int64_t line, Body&& body) {
  const PoolGeometry& g = lines.g;
  const PoolSpan z = lines.depth(line);
  const PoolSpan y = lines.height(line);
  for (int64_t k = z.begin; k < z.end; k += z.step) {
    for (int64_t j = y.begin; j < y.end; j += y.step) {
      for (const PoolTap& tap : lines.taps) {
        const int64_t place = (k * g.image[1] + j) * g.image[2] + tap.at;
        if (lines.channels > 1) body(tap, place, lines.channels, int64_t(1));
        else body(tap, place, tap.count, tap.step);
      }
    }
  }
}

// Windows of a line, [begin, end).
struct PoolRange {
  int64_t begin, end;
};

// The same for the windows of a line outside of `done`: body(tap, first window, where that starts, how many, distance).
template <typename Body>
TORCH_SIMD inline void for_each_tap_outside(const PoolLines& lines, int64_t line, PoolRange done, Body&& body) {
  if (done.end - done.begin == lines.length()) return;
  if (done.begin == done.end) {
    return for_each_tap(lines, line, [&](const PoolTap& tap, int64_t place, int64_t count, int64_t step) TORCH_SIMD {
      body(tap, tap.first, place, count, step);
    });
  }
  for_each_tap(lines, line, [&](const PoolTap& tap, int64_t place, int64_t count, int64_t step) TORCH_SIMD {
    const auto run = [&](int64_t first, int64_t last) TORCH_SIMD {
      if (first < last) body(tap, first, place + (first - tap.first) * step, last - first, step);
    };
    run(tap.first, std::min(done.begin, tap.first + count));
    run(std::max(done.end, tap.first), tap.first + count);
  });
}

// Where, in an image with its channels last, the elements of a line's windows begin.
class WindowElements {
 public:
  explicit WindowElements(const PoolLines& lines) : lines_(lines) {}

  void start_line(int64_t line) {
    const PoolGeometry& g = lines_.g;
    const PoolSpan z = lines_.depth(line);
    const PoolSpan y = lines_.height(line);
    rows_.clear();
    for (int64_t k = z.begin; k < z.end; k += z.step) {
      for (int64_t j = y.begin; j < y.end; j += y.step) rows_.push_back((k * g.image[1] + j) * g.image[2]);
    }
  }
  const std::vector<int64_t>& of_window(int64_t window) {
    const PoolSpan& x = lines_.across[static_cast<size_t>(window)];
    const auto width = x.end > x.begin ? static_cast<size_t>((x.end - x.begin + x.step - 1) / x.step) : 0;
    places_.resize(rows_.size() * width);
    int64_t* place = places_.data();
    for (const int64_t row : rows_) {
      for (int64_t i = x.begin; i < x.end; i += x.step) *place++ = row + i;
    }
    return places_;
  }

 private:
  const PoolLines& lines_;
  std::vector<int64_t> rows_, places_;
};

// find(step) with the step as a constant.
template <typename Find>
HWY_ATTR int64_t for_distance(int64_t step, const Find& find) {
  if (step == 1) return find(std::integral_constant<int, 1>());
  if (step == 2) return find(std::integral_constant<int, 2>());
  return step == 3 ? find(std::integral_constant<int, 3>()) : find(std::integral_constant<int, 4>());
}

// What an operation of ReduceOps-inl.h makes of the elements of a window, in all channels.
template <typename Op, typename T>
HWY_ATTR void combine_channels(T* results, const T* image, const std::vector<int64_t>& places, int64_t channels) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) {
    hn::Vec<decltype(d)> sums[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sums[v] = hn::Set(d, Op::identity());
    for (const int64_t place : places) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        sums[v] = Op::step(d, sums[v], hn::LoadU(d, image + place * channels + c + v * lanes));
    }
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) hn::StoreU(sums[v], d, results + c + v * lanes);
  }
  for (; c + lanes <= channels; c += lanes) {
    auto sum = hn::Set(d, Op::identity());
    for (const int64_t place : places) sum = Op::step(d, sum, hn::LoadU(d, image + place * channels + c));
    hn::StoreU(sum, d, results + c);
  }
  for (; c < channels; ++c) {
    T sum = Op::identity();
    for (const int64_t place : places) sum = Op::combine(sum, image[place * channels + c]);
    results[c] = sum;
  }
}

// The first of `Step` interleaved elements, for each lane: those of neighbouring windows.
template <int Step, typename D, typename T>
HWY_INLINE hn::Vec<D> load_apart(D d, const T* from) {
  hn::Vec<D> first, other[3];
  if constexpr (Step == 1) first = hn::LoadU(d, from);
  else if constexpr (Step == 2) hn::LoadInterleaved2(d, from, first, other[0]);
  else if constexpr (Step == 3) hn::LoadInterleaved3(d, from, first, other[0], other[1]);
  else hn::LoadInterleaved4(d, from, first, other[0], other[1], other[2]);
  return first;
}

// What windows that lie side by side, `Step` elements apart, make of the elements at `places` and from there on. How
// many are done: all that whole vectors hold, and that are not the last.
template <typename Op, int Step, typename D, typename T>
HWY_ATTR int64_t combine_vectors(D d, T* results, const T* image, const std::vector<int64_t>& places, int64_t first,
                                 int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // What is loaded between the last window's elements and the next one's must lie in the image.
  for (; first + lanes + (Step > 1 ? 1 : 0) <= count; first += lanes) {
    auto sum = hn::Set(d, Op::identity());
    for (const int64_t place : places) sum = Op::step(d, sum, load_apart<Step>(d, image + place + first * Step));
    hn::StoreU(sum, d, results + first);
  }
  return first;
}

#if HWY_TARGET != HWY_SCALAR
// From how many neighbours on vectors compute windows that slide by `step` elements. Of windows that are further apart,
// short vectors would leave out more than they keep of what they load.
template <typename T>
HWY_ATTR int64_t least_for_vectors(int64_t step) {
  constexpr int64_t kMostApart = 4;
  if (step > kMostApart) return std::numeric_limits<int64_t>::max();
  if (step > 2) return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())) + 1;
  return static_cast<int64_t>(hn::Lanes(hn::Full128<T>())) + (step > 1 ? 1 : 0);
}

// A line of windows that slide: those whose elements all lie in the image, in one pass, but for a few at the end. Which
// ones: none if they lie too far from each other. `places` are those of the line before.
template <typename Op, typename T>
HWY_ATTR PoolRange combine_inside(const PoolLines& lines, int64_t line, T* results, const T* image,
                                  std::vector<int64_t>& places) {
  const int64_t step = lines.g.stride[2];
  const int64_t begin = lines.inside_begin;
  const int64_t count = lines.inside_end - begin;
  if (count < least_for_vectors<T>(step)) return {0, 0};
  lines.find_places(line, places);
  T* const out = results + begin;
  const int64_t done = for_distance(step, [&](auto distance) HWY_ATTR {
    constexpr int kStep = decltype(distance)::value;
    const int64_t some = combine_vectors<Op, kStep>(hn::ScalableTag<T>(), out, image, places, 0, count);
    if constexpr (kStep > 2) return some;
    else return combine_vectors<Op, kStep>(hn::Full128<T>(), out, image, places, some, count);
  });
  return {begin, begin + done};
}

// Neighbouring windows of a line, one for each lane, wherever they begin and however wide they are.
template <typename T>
class WindowLanes {
 public:
  using D = hn::CappedTag<T, 4>;
  using Integers = hn::RebindToSigned<D>;
  using Number = hn::TFromD<Integers>;
  static constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));

  WindowLanes(const PoolLines& lines, int64_t first_window) : first(first_window) {
    for (int64_t i = 0; i < kLanes; ++i) {
      const PoolSpan& x = lines.across[static_cast<size_t>(first + i)];
      const int64_t width = std::max<int64_t>(0, x.end - x.begin);
      const int64_t count = x.step == 1 ? width : (width + x.step - 1) / x.step;
      step_ = x.step;
      begins_[i] = static_cast<Number>(x.begin);
      counts_[i] = static_cast<Number>(count);
      least_ = std::min(least_, count);
      most_ = std::max(most_, count);
    }
  }
  // Those of a line that are not `done`; the last ones together with some before them.
  static std::vector<WindowLanes> outside(const PoolLines& lines, PoolRange done) {
    std::vector<WindowLanes> result;
    const int64_t windows = lines.g.windows[2];
    for (const auto& [begin, end] : {PoolRange{0, done.begin}, PoolRange{done.end, windows}}) {
      for (int64_t i = begin; i < end; i += kLanes) result.emplace_back(lines, std::min(i, windows - kLanes));
    }
    return result;
  }

  HWY_INLINE HWY_ATTR hn::Vec<Integers> begins() const { return hn::LoadU(Integers(), begins_); }

  // body(values, how far behind the windows' first elements) for what they read of a row; `missing` where a window has
  // less than others.
  template <typename Body>
  HWY_INLINE HWY_ATTR void read_row(const T* row, T missing, const Body& body) const {
    const D d;
    const T* from[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) from[i] = row + begins_[i];
    for (int64_t k = 0; k < least_; ++k) body(collect(from, k * step_), k * step_);
    for (int64_t k = least_; k < most_; ++k) {
      for (int64_t i = 0; i < kLanes; ++i) {
        const int64_t last = int64_t{counts_[i]} - 1;
        from[i] = last < 0 ? row : row + begins_[i] + std::min(k, last) * step_;
      }
      const Integers integers;
      const auto has = hn::Gt(hn::LoadU(integers, counts_), hn::Set(integers, static_cast<Number>(k)));
      body(hn::IfThenElse(hn::RebindMask(d, has), collect(from, 0), hn::Set(d, missing)), k * step_);
    }
  }

  HWY_INLINE HWY_ATTR static hn::Vec<D> collect(const T* const* from, int64_t at) {
    const D d;
    const hn::Full128<T> part;
    const auto load = [&](int i) HWY_ATTR { return hn::Set(part, from[i][at]); };
    if constexpr (kLanes == 2) {
      return hn::InterleaveLower(d, load(0), load(1));
    } else if constexpr (sizeof(T) == 8) {
      return hn::Combine(d, hn::InterleaveLower(part, load(2), load(3)), hn::InterleaveLower(part, load(0), load(1)));
    } else {
      return hn::InterleaveLower(d, hn::InterleaveLower(d, load(0), load(2)), hn::InterleaveLower(d, load(1), load(3)));
    }
  }

  int64_t first;

 private:
  Number begins_[kLanes], counts_[kLanes];
  int64_t least_ = std::numeric_limits<int64_t>::max(), most_ = 0, step_ = 1;
};

// The same of windows by lanes.
template <typename Op, typename T>
HWY_NOINLINE HWY_ATTR void combine_lanes(const PoolLines& lines, int64_t line, T* results, const T* image,
                                         const std::vector<WindowLanes<T>>& groups) {
  const typename WindowLanes<T>::D d;
  const PoolGeometry& g = lines.g;
  const PoolSpan z = lines.depth(line);
  const PoolSpan y = lines.height(line);
  for (const WindowLanes<T>& windows : groups) {
    auto sum = hn::Set(d, Op::identity());
    for (int64_t k = z.begin; k < z.end; k += z.step) {
      for (int64_t j = y.begin; j < y.end; j += y.step) {
        windows.read_row(image + (k * g.image[1] + j) * g.image[2], Op::identity(),
                         [&](auto values, int64_t) HWY_ATTR { sum = Op::step(d, sum, values); });
      }
    }
    hn::StoreU(sum, d, results + windows.first);
  }
}
#endif

// The same of each window; finish(line, results) completes a line.
template <typename Op, typename T, typename Finish>
void combine_windows(const PoolLines& lines, T* out, const T* images, Finish&& finish) {
  const int64_t length = lines.length();
  parallel_for(0, lines.planes * lines.per_plane(), lines.grain(), [&](int64_t begin, int64_t end) {
    WindowElements elements(lines);
    [[maybe_unused]] std::vector<int64_t> places;
#if HWY_TARGET != HWY_SCALAR
    std::vector<WindowLanes<T>> outside;
#endif
    for (int64_t line = begin; line < end; ++line) {
      const T* image = images + line / lines.per_plane() * lines.g.image_elements() * lines.channels;
      T* results = out + line * length;
      if (lines.channels > 1) {
        elements.start_line(line);
        for (int64_t window = 0; window < lines.g.windows[2]; ++window) {
          combine_channels<Op>(results + window * lines.channels, image, elements.of_window(window), lines.channels);
        }
      } else {
        PoolRange done{0, 0};
#if HWY_TARGET != HWY_SCALAR
        done = combine_inside<Op>(lines, line, results, image, places);
        if (length >= WindowLanes<T>::kLanes) {
          if (line == begin) outside = WindowLanes<T>::outside(lines, done);
          combine_lanes<Op>(lines, line, results, image, outside);
          finish(line, results);
          continue;
        }
#endif
        std::fill(results, results + done.begin, Op::identity());
        std::fill(results + done.end, results + length, Op::identity());
        for_each_tap_outside(lines, line, done, [&](const PoolTap& tap, int64_t first, int64_t place, int64_t count,
                                                    int64_t step) TORCH_SIMD {
          combine_neighbours<Op>(results + first, image + place, count, step, tap.reads);
        });
      }
      finish(line, results);
    }
  });
}

// Greatest elements of a window in all channels, and where they are: at `corner`, if nothing is greater. NaN wins.
template <typename T>
HWY_ATTR void find_in_channels(T* best, int64_t* indices, const T* image, const std::vector<int64_t>& places,
                               int64_t corner, int64_t channels) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> whole;
  using Place = hn::TFromD<decltype(whole)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN Place found[HWY_MAX_BYTES / sizeof(Place)];
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto greatest = hn::Set(d, Maximum<T>::identity());
    auto where = hn::Set(whole, static_cast<Place>(corner));
    for (const int64_t place : places) {
      const auto values = hn::LoadU(d, image + place * channels + c);
      const auto wins = hn::Or(hn::Gt(values, greatest), hn::IsNaN(values));
      greatest = hn::IfThenElse(wins, values, greatest);
      where = hn::IfThenElse(hn::RebindMask(whole, wins), hn::Set(whole, static_cast<Place>(place)), where);
    }
    hn::StoreU(greatest, d, best + c);
    hn::Store(where, whole, found);
    for (int64_t i = 0; i < lanes; ++i) indices[c + i] = found[i];
  }
  for (; c < channels; ++c) {
    best[c] = Maximum<T>::identity();
    indices[c] = corner;
    for (const int64_t place : places) {
      const T value = image[place * channels + c];
      if (!((value > best[c]) | (value != value))) continue;
      best[c] = value;
      indices[c] = place;
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
// Where values are greater, or NaN, they and their places stay.
template <typename D, typename P>
HWY_INLINE HWY_ATTR void keep_vector(D, hn::Vec<D> values, P places, hn::Vec<D>& greatest, P& where) {
  const auto wins = hn::Or(hn::Gt(values, greatest), hn::IsNaN(values));
  greatest = hn::IfThenElse(wins, values, greatest);
  where = hn::IfThenElse(hn::RebindMask(hn::RebindToSigned<D>(), wins), places, where);
}

// The same of windows that lie side by side, as combine_vectors.
template <int Step, typename D, typename T, typename Place>
HWY_ATTR int64_t find_in_vectors(D d, T* best, Place* places, const T* image, const std::vector<int64_t>& sources,
                                 Place corner, int64_t first, int64_t count) {
  const hn::RebindToSigned<D> whole;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto steps = hn::Mul(hn::Iota(whole, 0), hn::Set(whole, Place{Step}));
  for (; first + lanes + (Step > 1 ? 1 : 0) <= count; first += lanes) {
    const auto begin = static_cast<Place>(first * Step);
    auto greatest = hn::Set(d, Maximum<T>::identity());
    auto where = hn::Set(whole, static_cast<Place>(corner + begin));
    for (const int64_t source : sources) {
      const int64_t place = source + begin;
      keep_vector(d, load_apart<Step>(d, image + place), hn::Set(whole, static_cast<Place>(place)), greatest, where);
    }
    hn::StoreU(greatest, d, best + first);
    hn::StoreU(hn::Add(where, steps), whole, places + first);
  }
  return first;
}

// The same of a line's windows whose elements all lie in the image, but for a few at the end; which ones.
template <typename T, typename Place>
HWY_ATTR PoolRange find_inside(const PoolLines& lines, int64_t line, T* best, Place* places, const T* image,
                               int64_t corner, std::vector<int64_t>& sources) {
  const int64_t step = lines.g.stride[2];
  const int64_t begin = lines.inside_begin;
  const int64_t count = lines.inside_end - begin;
  if (count < least_for_vectors<T>(step)) return {0, 0};
  lines.find_places(line, sources);
  const auto start = static_cast<Place>(corner + lines.across[static_cast<size_t>(begin)].begin);
  const int64_t done = for_distance(step, [&](auto distance) HWY_ATTR {
    constexpr int kStep = decltype(distance)::value;
    const auto find = [&](auto tag, int64_t first) HWY_ATTR {
      return find_in_vectors<kStep>(tag, best + begin, places + begin, image, sources, start, first, count);
    };
    const int64_t some = find(hn::ScalableTag<T>(), 0);
    if constexpr (kStep > 2) return some;
    else return find(hn::Full128<T>(), some);
  });
  return {begin, begin + done};
}

// The same as combine_lanes.
template <typename T, typename Place>
HWY_NOINLINE HWY_ATTR void find_lanes(const PoolLines& lines, int64_t line, T* best, Place* places, const T* image,
                                      int64_t corner, const std::vector<WindowLanes<T>>& groups) {
  const typename WindowLanes<T>::D d;
  const hn::RebindToSigned<decltype(d)> whole;
  const PoolGeometry& g = lines.g;
  const PoolSpan z = lines.depth(line);
  const PoolSpan y = lines.height(line);
  for (const WindowLanes<T>& windows : groups) {
    const auto begins = windows.begins();
    auto greatest = hn::Set(d, Maximum<T>::identity());
    auto where = hn::Add(begins, hn::Set(whole, static_cast<Place>(corner)));
    for (int64_t k = z.begin; k < z.end; k += z.step) {
      for (int64_t j = y.begin; j < y.end; j += y.step) {
        const int64_t row = (k * g.image[1] + j) * g.image[2];
        windows.read_row(image + row, Maximum<T>::identity(), [&](auto values, int64_t behind) HWY_ATTR {
          const auto here = hn::Add(begins, hn::Set(whole, static_cast<Place>(row + behind)));
          keep_vector(d, values, here, greatest, where);
        });
      }
    }
    hn::StoreU(greatest, d, best + windows.first);
    hn::StoreU(where, whole, places + windows.first);
  }
}
#endif

template <typename T, typename Place>
void find_maxima(const PoolLines& lines, T* values, int64_t* indices, const T* images) {
  // Where places are as wide as values, vectors hold both.
  constexpr bool kHasVectors = std::is_floating_point_v<T> && sizeof(T) == sizeof(Place);
  const PoolGeometry& g = lines.g;
  const int64_t length = lines.length();
  parallel_for(0, lines.planes * lines.per_plane(), lines.grain(), [&](int64_t begin, int64_t end) {
    std::vector<Place> places(static_cast<size_t>(length));
    WindowElements elements(lines);
    [[maybe_unused]] std::vector<int64_t> sources;
#if HWY_TARGET != HWY_SCALAR
    [[maybe_unused]] std::vector<std::conditional_t<kHasVectors, WindowLanes<T>, int>> outside;
#endif
    for (int64_t line = begin; line < end; ++line) {
      const T* image = images + line / lines.per_plane() * g.image_elements() * lines.channels;
      T* best = values + line * length;
      const int64_t corner = (lines.depth(line).begin * g.image[1] + lines.height(line).begin) * g.image[2];
      if constexpr (kHasVectors) {
        if (lines.channels > 1) elements.start_line(line);
        for (int64_t window = 0; lines.channels > 1 && window < g.windows[2]; ++window) {
          const int64_t start = window * lines.channels;
          find_in_channels(best + start, indices + line * length + start, image, elements.of_window(window),
                           corner + lines.across[static_cast<size_t>(window)].begin, lines.channels);
        }
        if (lines.channels > 1) continue;
      }
      PoolRange done{0, 0};
#if HWY_TARGET != HWY_SCALAR
      if constexpr (kHasVectors) {
        done = find_inside(lines, line, best, places.data(), image, corner, sources);
        if (length >= WindowLanes<T>::kLanes) {
          if (line == begin) outside = WindowLanes<T>::outside(lines, done);
          find_lanes(lines, line, best, places.data(), image, corner, outside);
          done = {0, length};
        }
      }
#endif
      for (int64_t window = 0; window < g.windows[2]; ++window) {
        if (window >= done.begin && window < done.end) continue;
        std::fill_n(best + window * lines.channels, lines.channels, Maximum<T>::identity());
        std::fill_n(places.data() + window * lines.channels, lines.channels,
                    static_cast<Place>(corner + lines.across[static_cast<size_t>(window)].begin));
      }
      for_each_tap_outside(lines, line, done, [&](const PoolTap& tap, int64_t first, int64_t place, int64_t count,
                                                  int64_t step) TORCH_SIMD {
        const int64_t start = first * lines.channels;
        keep_greater(best + start, places.data() + start, image + place * lines.channels, count, step,
                     static_cast<Place>(place), static_cast<Place>(tap.step), tap.reads);
      });
      std::copy(places.begin(), places.end(), indices + line * length);
    }
  });
}

void MaxPoolImpl(const Tensor& out, const Tensor& indices, const Tensor& self, const PoolGeometry& g) {
  const PoolLines lines(g, self, out);
  const bool is_small = g.image_elements() <= std::numeric_limits<int32_t>::max();
  dispatch_numeric_types(self.dtype(), "max_pool", [&](auto type) {
    using T = typename decltype(type)::type;
    using Narrow = std::conditional_t<std::is_same_v<T, float>, int32_t, int64_t>;  // as wide as the values
    const auto find = is_small ? find_maxima<T, Narrow> : find_maxima<T, int64_t>;
    find(lines, out.data_ptr<T>(), indices.data_ptr<int64_t>(), self.data_ptr<T>());
  });
}

void MaxPoolValuesImpl(const Tensor& out, const Tensor& self, const PoolGeometry& g) {
  const PoolLines lines(g, self, out);
  dispatch_floating_types(self.dtype(), "max_pool", [&](auto type) {
    using T = typename decltype(type)::type;
    combine_windows<Maximum<T>>(lines, out.data_ptr<T>(), self.data_ptr<T>(), [](int64_t, T*) {});
  });
}

void AveragePoolImpl(const Tensor& out, const Tensor& self, const PoolGeometry& g) {
  const PoolLines lines(g, self, out);
  dispatch_floating_types_and_int64(self.dtype(), "avg_pool", [&](auto type) {
    using T = typename decltype(type)::type;
    combine_windows<Sum<T>>(lines, out.data_ptr<T>(), self.data_ptr<T>(),
                            [&](int64_t line, T* sums) { divide_windows(lines, line, sums, sums); });
  });
}

// Windows that share elements of an image are one thread's: all of a plane, of some of its channels.
void AveragePoolBackwardImpl(const Tensor& grad_input, const Tensor& grad_output, const PoolGeometry& g) {
  const PoolLines lines(g, grad_input, grad_output);
  const int64_t length = lines.length();
  constexpr int64_t kChannels = 32;  // that a thread is started for
  const int64_t threads = get_num_threads();
  const int64_t parts = std::clamp<int64_t>((threads + lines.planes - 1) / std::max<int64_t>(1, lines.planes), 1,
                                            (lines.channels + kChannels - 1) / kChannels);
  const int64_t grain = std::max<int64_t>(1, lines.grain() * parts / std::max<int64_t>(1, lines.per_plane()));
  dispatch_floating_types_and_int64(grad_input.dtype(), "avg_pool_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* gradients = grad_output.data_ptr<T>();
    T* images = grad_input.data_ptr<T>();
    std::fill_n(images, grad_input.numel(), T(0));
    parallel_for(0, lines.planes * parts, grain, [&](int64_t begin, int64_t end) {
      std::vector<T> shares(static_cast<size_t>(length));
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % parts * lines.channels / parts;
        const int64_t some = (task % parts + 1) * lines.channels / parts - first;
        T* image = images + task / parts * g.image_elements() * lines.channels + first;
        for (int64_t line = task / parts * lines.per_plane(), last = line + lines.per_plane(); line < last; ++line) {
          divide_windows(lines, line, shares.data(), gradients + line * length);
          for_each_tap(lines, line, [&](const PoolTap& tap, int64_t place, int64_t count, int64_t step) TORCH_SIMD {
            add_shares(image + place * lines.channels, shares.data() + tap.first * lines.channels + first,
                       lines.channels > 1 ? some : count, step, tap.reads);
          });
        }
      }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(MaxPoolImpl);
void max_pool_kernel(const Tensor& out, const Tensor& indices, const Tensor& self, const PoolGeometry& g) {
  HWY_DYNAMIC_DISPATCH(MaxPoolImpl)(out, indices, self, g);
}
HWY_EXPORT(MaxPoolValuesImpl);
void max_pool_values(c10::DeviceType, const Tensor& out, const Tensor& self, const PoolGeometry& g) {
  HWY_DYNAMIC_DISPATCH(MaxPoolValuesImpl)(out, self, g);
}
HWY_EXPORT(AveragePoolImpl);
void average_pool_kernel(const Tensor& out, const Tensor& self, const PoolGeometry& g) {
  HWY_DYNAMIC_DISPATCH(AveragePoolImpl)(out, self, g);
}
HWY_EXPORT(AveragePoolBackwardImpl);
void average_pool_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const PoolGeometry& g) {
  HWY_DYNAMIC_DISPATCH(AveragePoolBackwardImpl)(grad_input, grad_output, g);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
