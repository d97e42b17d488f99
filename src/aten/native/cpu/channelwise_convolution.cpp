// Compiled once per instruction set. Some neighbouring results share what is loaded of the weights and, with stride 1,
// of the image. Else those that read the same places of the kernel are a run; the gradient of the weight keeps its sums
// in registers for as long as a run is. bfloat16 (its bits) is widened where it is loaded, and rounded where it is
// stored.

#include <aten/Parallel.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/channelwise_convolution.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/channelwise_convolution.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kWorthThread = 1 << 15;  // multiplications

// What elements are multiplied and added as.
template <typename Element>
using Wide = std::conditional_t<std::is_same_v<Element, uint16_t>, float, Element>;

template <typename D, typename Element>
HWY_ATTR hn::Vec<D> load(D d, const Element* from) {
  if constexpr (std::is_same_v<Element, uint16_t>) {
    const hn::Rebind<uint32_t, D> bits;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(hn::Rebind<uint16_t, D>(), from))));
  } else {
    return hn::LoadU(d, from);
  }
}
// bfloat16 in the upper halves: the nearest, even ones between two. Lower halves are what is left.
template <typename D>
HWY_ATTR hn::Vec<hn::Rebind<uint32_t, D>> round_upper(D d, hn::Vec<D> values) {
  const hn::Rebind<uint32_t, decltype(d)> bits;
  const auto exact = hn::BitCast(bits, values);
  const auto odd = hn::And(hn::ShiftRight<16>(exact), hn::Set(bits, 1));
  const auto nearest = hn::Add(exact, hn::Add(odd, hn::Set(bits, 0x7FFF)));
  return hn::IfThenElse(hn::RebindMask(bits, hn::IsNaN(values)), hn::Set(bits, 0x7FC00000), nearest);
}
template <typename D, typename Element>
HWY_ATTR void store(D d, hn::Vec<D> values, Element* to) {
  if constexpr (std::is_same_v<Element, uint16_t>) {
    const hn::Rebind<uint16_t, D> halves;
    hn::StoreU(hn::TruncateTo(halves, hn::ShiftRight<16>(round_upper(d, values))), halves, to);
  } else {
    hn::StoreU(values, d, to);
  }
}

// Twice as many bfloat16 numbers as a vector has lanes are quickest widened as those with even numbers and those with
// odd ones: each lane holds both, one in either half.
template <typename Element>
constexpr bool kReadsTwice = std::is_same_v<Element, uint16_t> && HWY_MAX_BYTES >= 64;
template <typename D>
HWY_ATTR hn::Vec<hn::Rebind<uint32_t, D>> load_twice(D d, const uint16_t* from) {
  const hn::Repartition<uint16_t, D> halves;
  return hn::BitCast(hn::Rebind<uint32_t, decltype(d)>(), hn::LoadU(halves, from));
}
template <bool kOdd, typename D>
HWY_ATTR hn::Vec<D> widen_every_second(D d, hn::Vec<hn::Rebind<uint32_t, D>> both) {
  const hn::Rebind<uint32_t, D> bits;
  return hn::BitCast(d, kOdd ? hn::And(both, hn::Set(bits, 0xFFFF0000)) : hn::ShiftLeft<16>(both));
}
template <typename D>
HWY_ATTR void store_twice(D d, hn::Vec<D> even, hn::Vec<D> odd, uint16_t* to) {
  const hn::Rebind<uint32_t, D> bits;
  const auto both = hn::Or(hn::ShiftRight<16>(round_upper(d, even)),
                           hn::And(round_upper(d, odd), hn::Set(bits, 0xFFFF0000)));
  const hn::Repartition<uint16_t, D> halves;
  hn::StoreU(hn::BitCast(halves, both), halves, to);
}
template <typename Element>
Wide<Element> widen(Element value) {
  if constexpr (std::is_same_v<Element, uint16_t>) return c10::detail::float_of_bfloat16(value);
  else return value;
}
template <typename Element>
Element narrow(Wide<Element> value) {
  if constexpr (std::is_same_v<Element, uint16_t>) return c10::detail::bfloat16_of_float(value);
  else return value;
}

// A place in the kernel along an axis, and what the first result of a run reads there.
struct AxisRead {
  int64_t place, at;
};
// Results first, first + period, ... of a line, which read the same places.
struct Run {
  int64_t first, count;
  std::vector<AxisRead> reads;
};
// The same of the whole kernel: where the first result of a run reads, and where the weights of that place begin.
template <typename T>
struct Reading {
  const T* source;
  int64_t weights;
};

// Results of a line that read along it: the first one from `begin` on, at as many places, each the next one.
struct Slide {
  int64_t begin, places, width;  // of what is read
  int64_t first_place, step;     // of the weights, from left to right

  Slide(const ConvolutionGeometry& g, bool transposed)
      : begin(transposed ? g.padding[2] - g.kernel[2] + 1 : -g.padding[2]), places(g.kernel[2]),
        width(transposed ? g.windows[2] : g.image[2]), first_place(transposed ? g.kernel[2] - 1 : 0),
        step(transposed ? -g.groups : g.groups) {}
};

// What results read, axis by axis. Those of a transposed convolution are elements of the image, which read windows.
class Plan {
 public:
  Plan(const ConvolutionGeometry& geometry, bool transposed)
      : from(transposed ? geometry.windows : geometry.image), to(transposed ? geometry.image : geometry.windows),
        period(transposed ? geometry.stride[2] : 1), advance(transposed ? 1 : geometry.stride[2]), g_(geometry) {
    for (int dim = 0; dim < 2; ++dim) {
      for (int64_t i = 0; i < to[dim]; ++i) reads_[dim].push_back(reads_of(dim, i, transposed));
    }
    for (int64_t phase = 0; phase < std::min(period, to[2]); ++phase) {
      const size_t start = runs.size();
      for (int64_t i = phase; i < to[2]; i += period) {
        auto reads = reads_of(2, i, transposed);
        const auto reads_alike = [](const AxisRead& a, const AxisRead& b) { return a.place == b.place; };
        if (runs.size() > start &&
            std::equal(reads.begin(), reads.end(), runs.back().reads.begin(), runs.back().reads.end(), reads_alike)) {
          ++runs.back().count;
        } else {
          runs.push_back({i, 1, std::move(reads)});
        }
      }
    }
  }

  int64_t line_count() const { return g_.batch * to[0] * to[1]; }

  // What a run of a line, counted through all images, reads.
  template <typename T>
  void list(int64_t line, const Run& run, const T* images, std::vector<Reading<T>>& readings) const {
    const T* image = images + line / (to[0] * to[1]) * from[0] * from[1] * from[2] * g_.groups;
    readings.clear();
    for (const AxisRead& z : reads_[0][static_cast<size_t>(line / to[1] % to[0])]) {
      for (const AxisRead& y : reads_[1][static_cast<size_t>(line % to[1])]) {
        for (const AxisRead& x : run.reads) {
          readings.push_back({image + ((z.at * from[1] + y.at) * from[2] + x.at) * g_.groups,
                              ((z.place * g_.kernel[1] + y.place) * g_.kernel[2] + x.place) * g_.groups});
        }
      }
    }
  }

  // The same of all results of a line that slide(): what the line's first place of the image is, for each line of the
  // kernel that reads of it, and the weights of the place that reads from the left.
  template <typename T>
  void list_lines(int64_t line, const Slide& slide, const T* images, std::vector<Reading<T>>& readings) const {
    const T* image = images + line / (to[0] * to[1]) * from[0] * from[1] * from[2] * g_.groups;
    readings.clear();
    for (const AxisRead& z : reads_[0][static_cast<size_t>(line / to[1] % to[0])]) {
      for (const AxisRead& y : reads_[1][static_cast<size_t>(line % to[1])]) {
        readings.push_back({image + (z.at * from[1] + y.at) * from[2] * g_.groups,
                            ((z.place * g_.kernel[1] + y.place) * g_.kernel[2] + slide.first_place) * g_.groups});
      }
    }
  }

  // Whether results read at a place what their neighbours read at the place before.
  bool slides() const { return g_.stride[2] == 1 && g_.dilation[2] == 1 && g_.kernel[2] > 1; }

  ConvolutionGeometry::Triple from, to;
  int64_t period, advance;  // from a result of a run to the next one: in the results, in what is read
  std::vector<Run> runs;

 private:
  std::vector<AxisRead> reads_of(int dim, int64_t i, bool transposed) const {
    std::vector<AxisRead> reads;
    for (int64_t place = 0; place < g_.kernel[dim]; ++place) {
      const int64_t reach = place * g_.dilation[dim] - g_.padding[dim];
      const int64_t at = transposed ? i - reach : i * g_.stride[dim] + reach;
      const int64_t step = transposed ? g_.stride[dim] : 1;
      if (at >= 0 && at % step == 0 && at / step < from[dim]) reads.push_back({place, at / step});
    }
    return reads;
  }

  const ConvolutionGeometry& g_;
  std::array<std::vector<std::vector<AxisRead>>, 2> reads_;
};

// How results of a run follow each other, in what they read and in memory.
struct Steps {
  int64_t source, out;
};

// Numbers of channels in the order in which tiles read them: of two vectors of bfloat16, the even ones first.
template <typename Element, typename T>
void order_for_tiles(T* values, int64_t channels) {
  if constexpr (kReadsTwice<Element>) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
    std::vector<T> twice(static_cast<size_t>(2 * lanes));
    for (; channels >= 2 * lanes; channels -= 2 * lanes, values += 2 * lanes) {
      std::copy_n(values, 2 * lanes, twice.begin());
      for (int64_t i = 0; i < 2 * lanes; ++i) values[i % 2 * lanes + i / 2] = twice[static_cast<size_t>(i)];
    }
  }
}

// `Results` neighbours from number `first` of a run on, in some vectors of channels.
template <int Results, int Vectors, typename Element, typename T = Wide<Element>>
HWY_ATTR void compute_tile(const std::vector<Reading<Element>>& readings, int64_t first, int64_t channel, Steps steps,
                           const T* weights, const T* start, Element* out) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sums[Results][Vectors];
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) {
    const V begin = start ? hn::LoadU(d, start + channel + v * lanes) : hn::Zero(d);
#pragma GCC unroll 4
    for (int i = 0; i < Results; ++i) sums[i][v] = begin;
  }
  for (const Reading<Element>& reading : readings) {
    const Element* source = reading.source + first * steps.source + channel;
    const T* weight = weights + reading.weights + channel;
    if constexpr (kReadsTwice<Element> && Vectors == 2) {
      const V even = hn::LoadU(d, weight);
      const V odd = hn::LoadU(d, weight + lanes);
#pragma GCC unroll 4
      for (int i = 0; i < Results; ++i) {
        const auto both = load_twice(d, source + i * steps.source);
        sums[i][0] = hn::MulAdd(widen_every_second<false>(d, both), even, sums[i][0]);
        sums[i][1] = hn::MulAdd(widen_every_second<true>(d, both), odd, sums[i][1]);
      }
    } else {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        const V factor = hn::LoadU(d, weight + v * lanes);
#pragma GCC unroll 4
        for (int i = 0; i < Results; ++i)
          sums[i][v] = hn::MulAdd(load(d, source + i * steps.source + v * lanes), factor, sums[i][v]);
      }
    }
  }
  out += first * steps.out + channel;
#pragma GCC unroll 4
  for (int i = 0; i < Results; ++i) {
    if constexpr (kReadsTwice<Element> && Vectors == 2) {
      store_twice(d, sums[i][0], sums[i][1], out + i * steps.out);
    } else {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) store(d, sums[i][v], out + i * steps.out + v * lanes);
    }
  }
}

// The same in all channels: `Vectors` at a time, then one, then the rest.
template <int Results, int Vectors, typename Element, typename T = Wide<Element>>
HWY_ATTR void compute_results(const std::vector<Reading<Element>>& readings, int64_t first, int64_t channels,
                              Steps steps, const T* weights, const T* start, Element* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  int64_t channel = 0;
  for (; channel + Vectors * lanes <= channels; channel += Vectors * lanes)
    compute_tile<Results, Vectors>(readings, first, channel, steps, weights, start, out);
  for (; channel + lanes <= channels; channel += lanes)
    compute_tile<Results, 1>(readings, first, channel, steps, weights, start, out);
  for (; channel < channels; ++channel) {
    for (int64_t i = first; i < first + Results; ++i) {
      T sum = start ? start[channel] : T(0);
      for (const Reading<Element>& reading : readings)
        sum += widen(reading.source[i * steps.source + channel]) * weights[reading.weights + channel];
      out[i * steps.out + channel] = narrow<Element>(sum);
    }
  }
}

template <typename Element, typename T = Wide<Element>>
HWY_ATTR void compute_run(const std::vector<Reading<Element>>& readings, int64_t count, int64_t channels, Steps steps,
                          const T* weights, const T* start, Element* out) {
  if (count < 4) {
    for (int64_t i = 0; i < count; ++i)
      compute_results<1, kReadsTwice<Element> ? 2 : 4>(readings, i, channels, steps, weights, start, out);
    return;
  }
  for (int64_t i = 0; i < count; i += 4)  // the last ones end with the run, some of them once more
    compute_results<4, 2>(readings, std::min(i, count - 4), channels, steps, weights, start, out);
}

// `Results` neighbours from number `first` of a line on that slide(), in a vector of channels: what one reads at a
// place stays in registers for the next one. With kClipped, some of it lies beside the image, and is 0.
template <int Results, bool kClipped, typename T, typename Element, typename Load>
HWY_ATTR void slide_sums(const std::vector<Reading<Element>>& lines, const Slide& slide, int64_t first,
                         int64_t channel, int64_t channels, const T* weights, const T* start,
                         hn::Vec<hn::ScalableTag<T>>* sums, Load&& load_some) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
#pragma GCC unroll 7
  for (int i = 0; i < Results; ++i) sums[i] = start ? hn::LoadU(d, start) : hn::Zero(d);
  for (const Reading<Element>& line : lines) {
    int64_t x = slide.begin + first;
    const auto read_next = [&]() HWY_ATTR {
      const int64_t at = x++;
      if (kClipped && (at < 0 || at >= slide.width)) return hn::Zero(d);
      return load_some(line.source + at * channels + channel);
    };
    V window[Results];
#pragma GCC unroll 7
    for (int i = 0; i + 1 < Results; ++i) window[i] = read_next();
    const T* weight = weights + line.weights;
    for (int64_t place = 0; place < slide.places; ++place, weight += slide.step) {
      const V factor = hn::LoadU(d, weight);
      window[Results - 1] = read_next();
#pragma GCC unroll 7
      for (int i = 0; i < Results; ++i) sums[i] = hn::MulAdd(window[i], factor, sums[i]);
#pragma GCC unroll 7
      for (int i = 0; i + 1 < Results; ++i) window[i] = window[i + 1];
    }
  }
}
template <int Results, bool kClipped, typename Element, typename T = Wide<Element>>
HWY_ATTR void slide_tile(const std::vector<Reading<Element>>& lines, const Slide& slide, int64_t first,
                         int64_t channel, int64_t channels, const T* weights, const T* start, Element* out) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> sums[Results];
  slide_sums<Results, kClipped, T>(lines, slide, first, channel, channels, weights + channel,
                                   start ? start + channel : nullptr, sums,
                                   [&](const Element* from) HWY_ATTR { return load(d, from); });
  out += first * channels + channel;
#pragma GCC unroll 7
  for (int i = 0; i < Results; ++i) store(d, sums[i], out + i * channels);
}
// The same in two vectors of channels of bfloat16.
template <int Results, bool kClipped>
HWY_ATTR void slide_twice(const std::vector<Reading<uint16_t>>& lines, const Slide& slide, int64_t first,
                          int64_t channel, int64_t channels, const float* weights, const float* start, uint16_t* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> even[Results], odd[Results];
  weights += channel;
  if (start) start += channel;
  slide_sums<Results, kClipped, float>(
      lines, slide, first, channel, channels, weights, start, even,
      [&](const uint16_t* from) HWY_ATTR { return widen_every_second<false>(d, load_twice(d, from)); });
  slide_sums<Results, kClipped, float>(
      lines, slide, first, channel, channels, weights + lanes, start ? start + lanes : nullptr, odd,
      [&](const uint16_t* from) HWY_ATTR { return widen_every_second<true>(d, load_twice(d, from)); });
  out += first * channels + channel;
#pragma GCC unroll 7
  for (int i = 0; i < Results; ++i) store_twice(d, even[i], odd[i], out + i * channels);
}

// The same in all channels.
template <int Results, bool kClipped, typename Element, typename T = Wide<Element>>
HWY_ATTR void slide_results(const std::vector<Reading<Element>>& lines, const Slide& slide, int64_t first,
                            int64_t channels, const T* weights, const T* start, Element* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  int64_t channel = 0;
  if constexpr (kReadsTwice<Element>) {
    for (; channel + 2 * lanes <= channels; channel += 2 * lanes)
      slide_twice<Results, kClipped>(lines, slide, first, channel, channels, weights, start, out);
  }
  for (; channel + lanes <= channels; channel += lanes)
    slide_tile<Results, kClipped>(lines, slide, first, channel, channels, weights, start, out);
  for (; channel < channels; ++channel) {
    for (int64_t i = first; i < first + Results; ++i) {
      T sum = start ? start[channel] : T(0);
      for (const Reading<Element>& line : lines) {
        for (int64_t place = 0; place < slide.places; ++place) {
          const int64_t x = slide.begin + i + place;
          if (x < 0 || x >= slide.width) continue;
          sum += widen(line.source[x * channels + channel]) * weights[line.weights + place * slide.step + channel];
        }
      }
      out[i * channels + channel] = narrow<Element>(sum);
    }
  }
}

template <typename Element, typename T = Wide<Element>>
HWY_ATTR void slide_line(const std::vector<Reading<Element>>& lines, const Slide& slide, int64_t count,
                         int64_t channels, const T* weights, const T* start, Element* out) {
  const auto compute = [&](auto results, int64_t first) HWY_ATTR {
    constexpr int kResults = decltype(results)::value;
    const int64_t left = slide.begin + first;
    if (kResults > 1 && left >= 0 && left + kResults - 1 + slide.places <= slide.width) {
      slide_results<kResults, false>(lines, slide, first, channels, weights, start, out);
    } else {
      slide_results<kResults, true>(lines, slide, first, channels, weights, start, out);
    }
  };
  int64_t i = 0;
  for (; i + 7 <= count; i += 7) compute(std::integral_constant<int, 7>(), i);
  if (count >= 4) {  // the last ones end with the line, some of them once more
    for (; i < count; i += 4) compute(std::integral_constant<int, 4>(), std::min(i, count - 4));
  } else {
    for (; i < count; ++i) compute(std::integral_constant<int, 1>(), i);
  }
}

// Lines that are worth a thread.
int64_t grain_of(const ConvolutionGeometry& g, const Plan& plan) {
  return std::max<int64_t>(1, kWorthThread / std::max<int64_t>(1, plan.to[2] * g.groups * g.kernel_elements()));
}

template <typename Element, typename T = Wide<Element>>
void convolve(const ConvolutionGeometry& g, bool transposed, Element* out, const Element* input, const T* weight,
              const T* bias) {
  const int64_t channels = g.groups;
  const int64_t kernel = g.kernel_elements();
  std::vector<T> weights(static_cast<size_t>(kernel * channels));  // by places, then channels
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t place = 0; place < kernel; ++place)
      weights[static_cast<size_t>(place * channels + c)] = weight[c * kernel + place];
  }
  for (int64_t place = 0; place < kernel; ++place)
    order_for_tiles<Element>(weights.data() + place * channels, channels);
  std::vector<T> start(static_cast<size_t>(bias ? channels : 0));
  std::copy_n(bias, start.size(), start.begin());
  order_for_tiles<Element>(start.data(), static_cast<int64_t>(start.size()));
  if (bias) bias = start.data();
  const Plan plan(g, transposed);
  [[maybe_unused]] const Slide slide(g, transposed);
  parallel_for(0, plan.line_count(), grain_of(g, plan), [&](int64_t begin, int64_t end) {
    std::vector<Reading<Element>> readings;
    const Steps steps{plan.advance * channels, plan.period * channels};
    for (int64_t line = begin; line < end; ++line) {
      Element* to = out + line * plan.to[2] * channels;
      if constexpr (!std::is_same_v<Element, double>) {  // which is not worth a kernel
        if (plan.slides()) {
          plan.list_lines(line, slide, input, readings);
          slide_line(readings, slide, plan.to[2], channels, weights.data(), bias, to);
          continue;
        }
      }
      for (const Run& run : plan.runs) {
        plan.list(line, run, input, readings);
        compute_run(readings, run.count, channels, steps, weights.data(), bias, to + run.first * channels);
      }
    }
  });
}

// sums[place, c] += sum over the results of a run of slopes[i, c] * what they read there, for some places.
template <int Places, typename T>
HWY_ATTR void add_slopes(const Reading<T>* readings, int64_t count, int64_t channels, int64_t step, const T* slopes,
                         T* sums) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t channel = 0;
  for (; channel + lanes <= channels; channel += lanes) {
    hn::Vec<decltype(d)> totals[Places];
#pragma GCC unroll 9
    for (int i = 0; i < Places; ++i) totals[i] = hn::Zero(d);
    for (int64_t result = 0; result < count; ++result) {
      const auto slope = hn::LoadU(d, slopes + result * channels + channel);
#pragma GCC unroll 9
      for (int i = 0; i < Places; ++i)
        totals[i] = hn::MulAdd(hn::LoadU(d, readings[i].source + result * step + channel), slope, totals[i]);
    }
#pragma GCC unroll 9
    for (int i = 0; i < Places; ++i) {
      T* sum = sums + readings[i].weights + channel;
      hn::StoreU(hn::Add(hn::LoadU(d, sum), totals[i]), d, sum);
    }
  }
  for (; channel < channels; ++channel) {
    for (int i = 0; i < Places; ++i) {
      T total = 0;
      for (int64_t result = 0; result < count; ++result)
        total += readings[i].source[result * step + channel] * slopes[result * channels + channel];
      sums[readings[i].weights + channel] += total;
    }
  }
}

template <typename T>
void weight_gradient(const ConvolutionGeometry& g, T* out, const T* grad, const T* input) {
  const int64_t channels = g.groups;
  const int64_t kernel = g.kernel_elements();
  const Plan plan(g, false);
  const int64_t lines = plan.line_count();
  const int64_t chunks = std::clamp<int64_t>(lines / grain_of(g, plan), 1, get_num_threads());
  std::vector<T> sums(static_cast<size_t>(chunks * kernel * channels));  // by chunks, places, then channels
  parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) {
    std::vector<Reading<T>> readings;
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      T* to = sums.data() + chunk * kernel * channels;
      for (int64_t line = chunk * lines / chunks; line < (chunk + 1) * lines / chunks; ++line) {
        for (const Run& run : plan.runs) {
          plan.list(line, run, input, readings);
          const T* slopes = grad + (line * plan.to[2] + run.first) * channels;
          const Reading<T>* next = readings.data();
          auto left = static_cast<int64_t>(readings.size());
          for (; left >= 9; left -= 9, next += 9)
            add_slopes<9>(next, run.count, channels, plan.advance * channels, slopes, to);
          for (; left >= 3; left -= 3, next += 3)
            add_slopes<3>(next, run.count, channels, plan.advance * channels, slopes, to);
          for (; left > 0; --left, ++next)
            add_slopes<1>(next, run.count, channels, plan.advance * channels, slopes, to);
        }
      }
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t place = 0; place < kernel; ++place) {
      T sum = 0;
      for (int64_t chunk = 0; chunk < chunks; ++chunk)
        sum += sums[static_cast<size_t>((chunk * kernel + place) * channels + c)];
      out[c * kernel + place] = sum;
    }
  }
}

void convolve_float(const ConvolutionGeometry& g, bool transposed, float* out, const float* input, const float* weight,
                    const float* bias) {
  convolve(g, transposed, out, input, weight, bias);
}
void convolve_double(const ConvolutionGeometry& g, bool transposed, double* out, const double* input,
                     const double* weight, const double* bias) {
  convolve(g, transposed, out, input, weight, bias);
}
void convolve_bfloat16(const ConvolutionGeometry& g, bool transposed, uint16_t* out, const uint16_t* input,
                       const float* weight, const float* bias) {
  convolve(g, transposed, out, input, weight, bias);
}
void weight_gradient_float(const ConvolutionGeometry& g, float* out, const float* grad, const float* input) {
  weight_gradient(g, out, grad, input);
}
void weight_gradient_double(const ConvolutionGeometry& g, double* out, const double* grad, const double* input) {
  weight_gradient(g, out, grad, input);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(convolve_float);
HWY_EXPORT(convolve_double);
HWY_EXPORT(convolve_bfloat16);
HWY_EXPORT(weight_gradient_float);
HWY_EXPORT(weight_gradient_double);

void convolve_channelwise(const ConvolutionGeometry& g, bool transposed, float* out, const float* input,
                          const float* weight, const float* bias) {
  HWY_DYNAMIC_DISPATCH(convolve_float)(g, transposed, out, input, weight, bias);
}
void convolve_channelwise(const ConvolutionGeometry& g, bool transposed, double* out, const double* input,
                          const double* weight, const double* bias) {
  HWY_DYNAMIC_DISPATCH(convolve_double)(g, transposed, out, input, weight, bias);
}
void convolve_channelwise(const ConvolutionGeometry& g, bool transposed, uint16_t* out, const uint16_t* input,
                          const float* weight, const float* bias) {
  HWY_DYNAMIC_DISPATCH(convolve_bfloat16)(g, transposed, out, input, weight, bias);
}
void weight_gradient_channelwise(const ConvolutionGeometry& g, float* out, const float* grad, const float* input) {
  HWY_DYNAMIC_DISPATCH(weight_gradient_float)(g, out, grad, input);
}
void weight_gradient_channelwise(const ConvolutionGeometry& g, double* out, const double* grad, const double* input) {
  HWY_DYNAMIC_DISPATCH(weight_gradient_double)(g, out, grad, input);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
