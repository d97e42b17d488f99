// Averages and maxima over windows, a line of windows at a time. A vector has what neighbouring windows read at a place
// of the kernel. Neighbours are windows of all channels, where these are last, or of planes that are laid so
// (PlanesAside.h); of a few large planes those of a line.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/ConvolutionGeometry.h>
#include <aten/native/cpu/DispatchInt64.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/PlanesAside.h>
#include <aten/native/cpu/PoolLines.h>

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
#include <aten/native/cpu/StoredVectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr int64_t kMostApart = 4;  // windows of a line whose elements vectors load

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

// The greatest of `count` neighbours, the first one being at `place`, or what was greater before. NaN wins.
template <typename T>
TORCH_SIMD void keep_greater(T& best, int64_t& where, const T* values, int64_t count, int64_t place) {
  for (int64_t i = 0; i < count;) {
    int64_t end = count;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (std::is_floating_point_v<T>) {  // vectors in which nothing wins are passed over
      const hn::CappedTag<T, 32 / sizeof(T)> d;
      const auto lanes = static_cast<int64_t>(hn::Lanes(d));
      if (i + lanes <= count) {
        const auto some = hn::LoadU(d, values + i);
        end = i + lanes;
        if (hn::AllFalse(d, hn::Or(hn::Gt(some, hn::Set(d, best)), hn::IsNaN(some)))) i = end;
      }
    }
#endif
    for (; i < end; ++i) {
      if (!((values[i] > best) | (values[i] != values[i]))) continue;
      best = values[i];
      where = place + i;
    }
  }
}

// body(place of the first, how many, distance) for what one window of a line reads of each row.
template <typename Body>
TORCH_SIMD inline void for_each_row(const PoolLines& lines, int64_t line, int64_t window, Body&& body) {
  const PoolSpan z = lines.depth(line);
  const PoolSpan y = lines.height(line);
  const PoolSpan& x = lines.across[static_cast<size_t>(window)];
  for (int64_t k = z.begin; k < z.end; k += z.step) {
    for (int64_t j = y.begin; j < y.end; j += y.step) {
      body((k * lines.g.image[1] + j) * lines.g.image[2] + x.begin, (x.end - x.begin + x.step - 1) / x.step, x.step);
    }
  }
}

// Whether windows are so wide that lines of them are read in vectors, and planes never side by side: sums are made in
// one order, however many planes there are.
bool has_wide_windows(const PoolGeometry& g) {
  constexpr int64_t kWide = 32;
  return g.adaptive && g.image[2] >= kWide * g.windows[2];
}

template <typename Op, typename T>
TORCH_SIMD T combine_window(const PoolLines& lines, int64_t line, int64_t window, const T* image) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T result = Op::identity();
  T sides[hn::MaxLanes(d)];
  auto side = hn::Set(d, result);
  const bool is_wide = has_wide_windows(lines.g);
  for_each_row(lines, line, window, [&](int64_t place, int64_t count, int64_t step) TORCH_SIMD {
    int64_t i = 0;
    if constexpr (std::is_floating_point_v<T> && HWY_TARGET != HWY_SCALAR) {
      for (; is_wide && i + lanes <= count; i += lanes) side = Op::step(d, side, hn::LoadU(d, image + place + i));
    }
    for (; i < count; ++i) result = Op::combine(result, image[place + i * step]);
  });
  if (is_wide) {
    hn::StoreU(side, d, sides);
    for (int64_t i = 0; i < lanes; ++i) result = Op::combine(result, sides[i]);
  }
  return result;
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

// What an operation of ReduceOps-inl.h makes of the elements of a window, in all channels; of halves over `divisor`,
// since they are rounded here.
template <typename Op, typename Element>
HWY_ATTR void combine_channels(Element* results, const Element* image, const std::vector<int64_t>& places,
                               int64_t channels, [[maybe_unused]] Computed<Element> divisor) {
  const hn::ScalableTag<Computed<Element>> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto finished = [&](auto sum) HWY_ATTR {
    if constexpr (c10::is_reduced_floating_v<Element>) sum = hn::Div(sum, hn::Set(d, divisor));
    return sum;
  };
  int64_t c = 0;
  for (; HWY_TARGET != HWY_SCALAR && c + 4 * lanes <= channels; c += 4 * lanes) {
    hn::Vec<decltype(d)> sums[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sums[v] = hn::Set(d, Op::identity());
    for (const int64_t place : places) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        sums[v] = Op::step(d, sums[v], load_stored(d, image + place * channels + c + v * lanes));
    }
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) store_stored(d, finished(sums[v]), results + c + v * lanes);
  }
  for (; c < channels; c += lanes) {  // the last vector begins earlier
    c = std::max<int64_t>(0, std::min(c, channels - lanes));
    auto sum = hn::Set(d, Op::identity());
    for (const int64_t place : places) sum = Op::step(d, sum, load_some(d, image + place * channels + c, channels));
    store_some(d, finished(sum), results + c, channels);
  }
}

// `Step` elements that lie side by side, for each lane: those of windows that lie `Step` elements apart.
template <int Step, typename D, typename T>
HWY_INLINE void load_neighbours(D d, const T* from, hn::Vec<D> (&all)[4]) {
  if constexpr (Step == 1) all[0] = hn::LoadU(d, from);
  else if constexpr (Step == 2) hn::LoadInterleaved2(d, from, all[0], all[1]);
  else if constexpr (Step == 3) hn::LoadInterleaved3(d, from, all[0], all[1], all[2]);
  else hn::LoadInterleaved4(d, from, all[0], all[1], all[2], all[3]);
}
template <int Step, typename D, typename T>
HWY_INLINE hn::Vec<D> load_apart(D d, const T* from) {
  hn::Vec<D> all[4];
  load_neighbours<Step>(d, from, all);
  return all[0];
}

// What windows that lie side by side, `Step` elements apart, make of the elements at `places` and from there on. The
// last vector begins earlier. `Step` places that lie side by side are loaded together.
template <typename Op, int Step, typename D, typename T>
HWY_NOINLINE HWY_ATTR void combine_vectors(D d, T* results, const T* image, const std::vector<int64_t>& all_places,
                                           int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t* const places = all_places.data();
  const int64_t* const end = places + all_places.size();
  for (int64_t first = 0; first < count; first += lanes) {
    first = std::min(first, count - lanes);
    const int64_t* place = places;
    auto sum = hn::Set(d, Op::identity());
    // Nothing is compared with the first of neighbours; sums begin with 0, which makes 0 of -0.
    if (Step == 1 && !Op::kIsSum && place != end) sum = hn::LoadU(d, image + *place++ + first);
    for (; place != end; ++place) {
      hn::Vec<D> all[4];
      load_neighbours<Step>(d, image + *place + first * Step, all);
      sum = Op::step(d, sum, all[0]);
      if (Step == 1 || end - place < Step || place[Step - 1] - *place != Step - 1) continue;
      for (int i = 1; i < Step; ++i) sum = Op::step(d, sum, all[i]);
      place += Step - 1;
    }
    hn::StoreU(sum, d, results + first);
  }
}

#if HWY_TARGET != HWY_SCALAR
// Calls run(vector tag, step as a constant, first window, how many) for the windows of a line that slide and whose
// elements all lie in the image. Which ones: none if they are too few or lie too far from each other, since vectors
// then leave out more than they keep of what they load. Of windows that are apart the last one is left out, because
// what is loaded between its elements and the next one's must lie in the image.
template <typename T, typename Run>
HWY_ATTR PoolRange run_inside(const PoolLines& lines, const Run& run) {
  const int64_t step = lines.g.stride[2];
  const int64_t begin = lines.inside_begin;
  const int64_t count = lines.inside_end - begin - (step > 1 ? 1 : 0);
  const hn::ScalableTag<T> d;
  const hn::Full128<T> small;
  const auto run_with = [&](auto distance) HWY_ATTR {
    if (count >= static_cast<int64_t>(hn::Lanes(d))) run(d, distance, begin, count);
    else run(small, distance, begin, count);
  };
  const auto least = static_cast<int64_t>(step > 2 ? hn::Lanes(d) : hn::Lanes(small));
  if (step > kMostApart || count < least) return {0, 0};
  if (step == 1) run_with(std::integral_constant<int, 1>());
  else if (step == 2) run_with(std::integral_constant<int, 2>());
  else if (step == 3) run(d, std::integral_constant<int, 3>(), begin, count);
  else run(d, std::integral_constant<int, 4>(), begin, count);
  return {begin, begin + count};
}
#endif

// body(window) for the windows of a line that are not `done`.
template <typename Body>
TORCH_SIMD inline void for_each_outside(const PoolLines& lines, PoolRange done, Body&& body) {
  for (int64_t window = 0; window < done.begin; ++window) body(window);
  for (int64_t window = done.end; window < lines.g.windows[2]; ++window) body(window);
}

// What an operation of ReduceOps-inl.h makes of each window of some lines; finish(line, results) completes a line.
// Halves have their channels last, and divisor_of(line, window).
template <typename Op, typename Element, typename Finish, typename DivisorOf>
HWY_NOINLINE void combine_windows(const PoolLines& lines, PoolRange range, Element* out, const Element* images,
                                  const Finish& finish, const DivisorOf& divisor_of) {
  WindowElements elements(lines);
  [[maybe_unused]] std::vector<int64_t> places;
  for (int64_t line = range.begin; line < range.end; ++line) {
    const Element* image = images + line / lines.per_plane() * lines.g.image_elements() * lines.channels;
    Element* results = out + line * lines.length();
    if (lines.channels > 1) {
      elements.start_line(line);
      for (int64_t window = 0; window < lines.g.windows[2]; ++window) {
        combine_channels<Op>(results + window * lines.channels, image, elements.of_window(window), lines.channels,
                             static_cast<Computed<Element>>(divisor_of(line, window)));
      }
    }
    if constexpr (!c10::is_reduced_floating_v<Element>) {
      if (lines.channels == 1) {
        PoolRange done{0, 0};
#if HWY_TARGET != HWY_SCALAR
        lines.find_places(line, places);
        done = run_inside<Element>(lines, [&](auto tag, auto step, int64_t first, int64_t count) HWY_ATTR {
          combine_vectors<Op, decltype(step)::value>(tag, results + first, image, places, count);
        });
#endif
        for_each_outside(lines, done, [&](int64_t window) TORCH_SIMD {
          results[window] = combine_window<Op>(lines, line, window, image);
        });
      }
      finish(line, results);
    }
  }
}

// Places in vectors beside values.
template <typename T>
using PlaceBeside = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

// Where values are greater, or NaN, they and their places stay.
template <typename D, typename P>
HWY_INLINE HWY_ATTR void keep_vector(D, hn::Vec<D> values, P places, hn::Vec<D>& greatest, P& where) {
  const auto wins = hn::Or(hn::Gt(values, greatest), hn::IsNaN(values));
  greatest = hn::IfThenElse(wins, values, greatest);
  where = hn::IfThenElse(hn::RebindMask(hn::RebindToSigned<D>(), wins), places, where);
}

// Greatest elements of a window in all channels, and where they are: at `corner`, if nothing is greater. NaN wins.
template <typename Element>
HWY_ATTR void find_in_channels(Element* best, int64_t* indices, const Element* image,
                               const std::vector<int64_t>& places, int64_t corner, int64_t channels) {
  const hn::ScalableTag<Computed<Element>> d;
  const hn::RebindToSigned<decltype(d)> whole;
  using Place = hn::TFromD<decltype(whole)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN Place found[HWY_MAX_BYTES / sizeof(Place)];
  for (int64_t c = 0; c < channels; c += lanes) {  // the last vector begins earlier
    c = std::max<int64_t>(0, std::min(c, channels - lanes));
    auto greatest = hn::Set(d, Maximum<Computed<Element>>::identity());
    auto where = hn::Set(whole, static_cast<Place>(corner));
    for (const int64_t place : places) {
      keep_vector(d, load_some(d, image + place * channels + c, channels), hn::Set(whole, static_cast<Place>(place)),
                  greatest, where);
    }
    store_some(d, greatest, best + c, channels);
    hn::Store(where, whole, found);
    for (int64_t i = 0; i < std::min(lanes, channels); ++i) indices[c + i] = found[i];
  }
}
// The same of integers, and where places are too large for vectors.
template <typename Element>
HWY_NOINLINE void find_in_numbers(Element* best, int64_t* indices, const Element* image,
                                  const std::vector<int64_t>& places, int64_t corner, int64_t channels) {
  using T = Computed<Element>;
  for (int64_t c = 0; c < channels; ++c) {
    T greatest = Maximum<T>::identity();
    indices[c] = corner;
    for (const int64_t place : places) {
      const auto value = static_cast<T>(image[place * channels + c]);
      if (!((value > greatest) | (value != value))) continue;
      greatest = value;
      indices[c] = place;
    }
    best[c] = static_cast<Element>(greatest);
  }
}

#if HWY_TARGET != HWY_SCALAR
// The same of windows that lie side by side, as combine_vectors.
template <int Step, typename D, typename T, typename Place>
HWY_ATTR void find_in_vectors(D d, T* best, Place* found, const T* image, const std::vector<int64_t>& places,
                              Place corner, int64_t count) {
  const hn::RebindToSigned<D> whole;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto steps = hn::Mul(hn::Iota(whole, 0), hn::Set(whole, Place{Step}));
  for (int64_t first = 0; first < count; first += lanes) {
    first = std::min(first, count - lanes);
    const int64_t begin = first * Step;
    auto greatest = hn::Set(d, Maximum<T>::identity());
    auto where = hn::Set(whole, static_cast<Place>(corner + begin));
    for (const int64_t place : places) {
      keep_vector(d, load_apart<Step>(d, image + place + begin), hn::Set(whole, static_cast<Place>(place + begin)),
                  greatest, where);
    }
    hn::StoreU(greatest, d, best + first);
    hn::StoreU(hn::Add(where, steps), whole, found + first);
  }
}
#endif

// Of halves, channels are last.
template <typename Element>
HWY_NOINLINE void find_maxima(const PoolLines& lines, PoolRange range, Element* values, int64_t* indices,
                              const Element* images) {
  const PoolGeometry& g = lines.g;
  // Places in vectors may be of 32 bits.
  const bool in_vectors = g.image_elements() <= std::numeric_limits<int32_t>::max();
  using Place = PlaceBeside<Element>;
  [[maybe_unused]] std::vector<Place> found(static_cast<size_t>(lines.channels > 1 ? 0 : g.windows[2]));
  WindowElements elements(lines);
  [[maybe_unused]] std::vector<int64_t> places;
  for (int64_t line = range.begin; line < range.end; ++line) {
    const Element* image = images + line / lines.per_plane() * g.image_elements() * lines.channels;
    Element* best = values + line * lines.length();
    int64_t* where = indices + line * lines.length();
    const int64_t corner = (lines.depth(line).begin * g.image[1] + lines.height(line).begin) * g.image[2];
    const auto corner_of = [&](int64_t window) { return corner + lines.across[static_cast<size_t>(window)].begin; };
    if (lines.channels > 1) {
      elements.start_line(line);
      for (int64_t window = 0; window < g.windows[2]; ++window) {
        const auto find = [&](auto search) HWY_ATTR {
          search(best + window * lines.channels, where + window * lines.channels, image, elements.of_window(window),
                 corner_of(window), lines.channels);
        };
        if constexpr (std::is_floating_point_v<Computed<Element>>) {
          if (in_vectors) find(find_in_channels<Element>);
          else find(find_in_numbers<Element>);
        } else {
          find(find_in_numbers<Element>);
        }
      }
      continue;
    }
    if constexpr (!c10::is_reduced_floating_v<Element>) {
      PoolRange done{0, 0};
#if HWY_TARGET != HWY_SCALAR
      if constexpr (std::is_floating_point_v<Element>) {
        if (in_vectors) {
          lines.find_places(line, places);
          done = run_inside<Element>(lines, [&](auto tag, auto step, int64_t first, int64_t count) HWY_ATTR {
            find_in_vectors<decltype(step)::value>(tag, best + first, found.data() + first, image, places,
                                                   static_cast<Place>(corner_of(first)), count);
          });
          std::copy(found.begin() + done.begin, found.begin() + done.end, where + done.begin);
        }
      }
#endif
      for_each_outside(lines, done, [&](int64_t window) TORCH_SIMD {
        best[window] = Maximum<Element>::identity();
        where[window] = corner_of(window);
        for_each_row(lines, line, window, [&](int64_t place, int64_t count, int64_t step) TORCH_SIMD {
          const int64_t some = step == 1 ? count : 1;
          for (int64_t i = 0; i < count; i += some)
            keep_greater(best[window], where[window], image + place + i * step, some, place + i * step);
        });
      });
    }
  }
}

// Images that windows share are one thread's: all of a plane, of some of its channels.
template <typename T>
HWY_NOINLINE void spread_averages(const PoolLines& lines, T* images, const T* gradients) {
  const PoolGeometry& g = lines.g;
  const int64_t length = lines.length();
  constexpr int64_t kChannels = 32;  // that a thread is started for
  const int64_t threads = in_parallel_region() ? 1 : get_num_threads();
  const int64_t parts = std::clamp<int64_t>((threads + lines.planes - 1) / std::max<int64_t>(1, lines.planes), 1,
                                            (lines.channels + kChannels - 1) / kChannels);
  const int64_t grain = std::max<int64_t>(1, lines.grain() * parts / std::max<int64_t>(1, lines.per_plane()));
  std::fill_n(images, lines.planes * lines.channels * g.image_elements(), T(0));
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
}

// Elements of a plane that lie in 64 KB beside those of as few others as possible.
template <typename T>
constexpr int64_t kAside = 64 * 1024 / (kPlanesAside * static_cast<int64_t>(sizeof(T)));

// Whether planes lie side by side while they are read: few of them would waste vectors, and lines that fill vectors
// themselves need no turning.
template <typename T>
bool lie_aside(const PoolGeometry& g, const Tensor& image, const Tensor& result) {
  constexpr int64_t kWide = 40;
  const bool is_wide = has_wide_windows(g) || (!g.adaptive && g.stride[2] <= kMostApart && g.windows[2] >= kWide);
  return std::is_floating_point_v<T> && g.planes >= kPlanesAside / 2 && !is_wide && image.is_contiguous() &&
         result.is_contiguous();
}

// run(lines, which ones, results, indices, images) for all lines, a result for each window. `indices` have no part in
// it if they are null.
template <typename T, typename Run>
void run_windows(const Tensor& out, int64_t* indices, const Tensor& self, const PoolGeometry& g, const Run& run) {
  T* const results = out.data_ptr<T>();
  const T* const images = self.data_ptr<T>();
  if constexpr (std::is_floating_point_v<T>) {
    const PoolBands bands(g, kAside<T>);
    const int64_t most = bands.most_read(g);
    // The greatest element of a whole plane is found where it lies: most vectors are passed over.
    constexpr int64_t kWide = 16;
    const bool is_whole = indices && g.window_count() == 1 && g.image[2] >= kWide;
    if (lie_aside<T>(g, self, out) && most <= 16 * kAside<T> && !is_whole) {
      const int64_t windows = g.window_count();
      return for_planes_aside(g.planes, most, [&](int64_t together, int64_t begin, int64_t end) {
        const PoolLines lines(g, together, together);
        const int64_t band = bands.count * bands.lines * g.windows[2];
        PlanesAside<T> sources(most, together);
        PlanesAside<T> values(band, together);
        PlanesAside<int64_t> places(indices ? band : 0, together);
        for (int64_t plane = begin; plane < end; plane += together) {
          const int64_t count = std::min(together, end - plane);
          for (int64_t window = 0; window < g.windows[bands.dim]; window += bands.count) {
            const PoolRange read = bands.read(g, window);
            const PoolRange some{window * bands.lines,
                                 std::min(window + bands.count, g.windows[bands.dim]) * bands.lines};
            const int64_t first = some.begin * g.windows[2];
            const int64_t written = (some.end - some.begin) * g.windows[2];
            const T* const from = sources.read(images + plane * g.image_elements() + read.begin, g.image_elements(),
                                               read.end - read.begin, count);
            run(lines, some, values.data() - first * together, places.data() - first * together,
                from - read.begin * together);
            values.write(results + plane * windows + first, windows, written, count);
            if (indices) places.write(indices + plane * windows + first, windows, written, count);
          }
        }
      });
    }
  }
  const PoolLines lines(g, self, out);
  parallel_for(0, lines.planes * lines.per_plane(), lines.grain(),
               [&](int64_t begin, int64_t end) { run(lines, PoolRange{begin, end}, results, indices, images); });
}

void MaxPoolImpl(const Tensor& out, const Tensor& indices, const Tensor& self, const PoolGeometry& g) {
  const auto find = [&](auto type) {
    using Element = typename decltype(type)::type;
    run_windows<Element>(out, indices.data_ptr<int64_t>(), self, g, find_maxima<Element>);
  };
  if (c10::is_reduced_floating_type(self.dtype())) dispatch_stored_floating_types(self.dtype(), "max_pool", find);
  else dispatch_numeric_types(self.dtype(), "max_pool", find);
}

void MaxPoolValuesImpl(const Tensor& out, const Tensor& self, const PoolGeometry& g) {
  dispatch_stored_floating_types(self.dtype(), "max_pool", [&](auto type) {
    using Element = typename decltype(type)::type;
    run_windows<Element>(out, nullptr, self, g, [](const PoolLines& lines, PoolRange range, Element* results, int64_t*,
                                                   const Element* images) {
      combine_windows<Maximum<Computed<Element>>>(
          lines, range, results, images, [](int64_t, Element*) {}, [](int64_t, int64_t) { return 1; });
    });
  });
}

void AveragePoolImpl(const Tensor& out, const Tensor& self, const PoolGeometry& g) {
  const auto average = [&](auto type) {
    using Element = typename decltype(type)::type;
    run_windows<Element>(out, nullptr, self, g, [](const PoolLines& lines, PoolRange range, Element* results, int64_t*,
                                                   const Element* images) {
      combine_windows<Sum<Computed<Element>>>(
          lines, range, results, images,
          [&](int64_t line, auto* sums) { divide_windows(lines, line, sums, sums); },
          [&](int64_t line, int64_t window) {
            return lines.g.divisor_of(lines.depth(line), lines.height(line), lines.across[static_cast<size_t>(window)]);
          });
    });
  };
  if (self.dtype() == kLong) average(TypeTag<int64_t>());
  else dispatch_stored_floating_types(self.dtype(), "avg_pool", average);
}

void AveragePoolBackwardImpl(const Tensor& grad_input, const Tensor& grad_output, const PoolGeometry& g) {
  dispatch_floating_types_and_int64(grad_input.dtype(), "avg_pool_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    T* const images = grad_input.data_ptr<T>();
    const T* const gradients = grad_output.data_ptr<T>();
    const int64_t elements = g.image_elements();
    const int64_t windows = g.window_count();
    if (!lie_aside<T>(g, grad_input, grad_output) || elements > 4 * kAside<T>)
      return spread_averages(PoolLines(g, grad_input, grad_output), images, gradients);
    for_planes_aside(g.planes, elements, [&](int64_t together, int64_t begin, int64_t end) {
      const PoolLines lines(g, together, together);
      PlanesAside<T> results(elements, together);
      PlanesAside<T> shares(windows, together);
      for (int64_t plane = begin; plane < end; plane += together) {
        const int64_t count = std::min(together, end - plane);
        spread_averages(lines, results.data(), shares.read(gradients + plane * windows, windows, windows, count));
        results.write(images + plane * elements, elements, elements, count);
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
