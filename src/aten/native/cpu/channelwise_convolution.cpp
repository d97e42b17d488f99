// Compiled once per instruction set. Some neighbouring results share what is loaded of the weights and, where they read
// next to each other, of the image. The gradient of the weight keeps its sums in registers for as long as a line is.
// bfloat16 (its bits) is widened where it is loaded, and rounded where it is stored.

#include <aten/Parallel.h>

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/channelwise_convolution.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/ChannelwisePlan.h>
#include <aten/native/cpu/ConvolutionTasks.h>
#include <aten/native/cpu/channelwise_convolution.h>
#include <aten/native/cpu/gathered_products.h>

#include <aten/native/cpu/Highway-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

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

constexpr int kResults = 7;             // neighbours whose sums are kept in registers
constexpr int kFewResults = 4;          // the same, where no more are left
constexpr int64_t kFarBytes = 1 << 22;  // of images that do not stay in the second cache

// Vectors of channels that are computed together, at most.
template <bool kSlides, typename Element>
constexpr int kMostVectors = kReadsTwice<Element> || !(kSlides || std::is_same_v<Element, double>) ? 2 : 1;

// Calls body(first channel, channels to the next, place) for each vector.
template <typename Element, typename Body>
void for_each_vector(const std::vector<Block>& blocks, int64_t lanes, Body&& body) {
  for (const Block& block : blocks) {
    const bool every_second = kReadsTwice<Element> && block.vectors == 2;
    for (int64_t v = 0; v < block.vectors; ++v)
      body(block.channel + v * (every_second ? 1 : lanes), every_second ? 2 : 1, block.place + v * lanes);
  }
}

// How images, and weights of a place of the kernel, lie; and how many lines are fetched before they are read.
struct Rows {
  int64_t width, channels, weights, fetched;
};

// Neighbours from number `first` of a line on, in a vector of channels, or two. With kClipped, some of what they read
// lies beside the image, and is 0. Here each one reads next to its neighbour.
template <int Results, bool kClipped, typename D, typename Element, typename Load, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR void slide_tile(D d, const std::vector<Reading<Element>>& lines, const LineTaps& taps,
                                    int64_t first, int64_t channel, const Rows& rows, const T* weights,
                                    hn::Vec<D>* sums, Load&& load_some) {
  using V = hn::Vec<D>;
  const auto width = static_cast<uint64_t>(rows.width);
  const int64_t channels = rows.channels;
  const auto tap_count = static_cast<int64_t>(taps.sources.size());
  for (const Reading<Element>& line : lines) {
    const T* factors = weights + (line.place + taps.weights[0]) * rows.weights;
    const int64_t step = (taps.weights[1] - taps.weights[0]) * rows.weights;
    auto x = static_cast<uint64_t>(first + taps.sources[0]);  // beside the image: `width` or more
    const Element* next = line.source + channel + static_cast<int64_t>(x) * channels;
    const auto read_next = [&]() HWY_ATTR {
      const Element* const at = next;
      next += channels;
      if (kClipped && x++ >= width) return hn::Zero(d);
      return load_some(at);
    };
    V window[Results];
#pragma GCC unroll 7
    for (int i = 0; i + 1 < Results; ++i) window[i] = read_next();
    for (int64_t tap = 0; tap < tap_count; ++tap, factors += step) {
      const V factor = hn::LoadU(d, factors);
      window[Results - 1] = read_next();
#pragma GCC unroll 7
      for (int i = 0; i < Results; ++i) sums[i] = hn::MulAdd(window[i], factor, sums[i]);
#pragma GCC unroll 7
      for (int i = 0; i + 1 < Results; ++i) window[i] = window[i + 1];
    }
  }
}
// Here they read places of their own.
template <int Results, bool kClipped, int Vectors, typename D, typename Element, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR void step_tile(D d, const std::vector<Reading<Element>>& lines, const LineTaps& taps, int64_t first,
                                   int64_t channel, const Rows& rows, const T* weights,
                                   hn::Vec<D> (*sums)[Results]) {
  using V = hn::Vec<D>;
  const auto width = static_cast<uint64_t>(rows.width);
  const int64_t step = taps.step;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto tap_count = static_cast<int64_t>(taps.sources.size());
  for (const Reading<Element>& line : lines) {
    for (int64_t tap = 0; tap < tap_count; ++tap) {
      const T* factors = weights + (line.place + taps.weights.data()[tap]) * rows.weights;
      V factor[Vectors];
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) factor[v] = hn::LoadU(d, factors + v * lanes);
      auto x = static_cast<uint64_t>(first * step + taps.sources.data()[tap]);  // as above
      const Element* place = line.source + channel + static_cast<int64_t>(x) * rows.channels;
#pragma GCC unroll 7
      for (int i = 0; i < Results; ++i, x += step, place += step * rows.channels) {
        if (kClipped && x >= width) continue;
        if constexpr (kReadsTwice<Element> && Vectors == 2) {
          const auto both = load_twice(d, place);
          sums[0][i] = hn::MulAdd(widen_every_second<false>(d, both), factor[0], sums[0][i]);
          sums[1][i] = hn::MulAdd(widen_every_second<true>(d, both), factor[1], sums[1][i]);
        } else {
#pragma GCC unroll 2
          for (int v = 0; v < Vectors; ++v) sums[v][i] = hn::MulAdd(load(d, place + v * lanes), factor[v], sums[v][i]);
        }
      }
    }
  }
}

// As many of them as the line has left.
template <int Results, bool kSlides, bool kClipped, int Vectors, typename Element, typename T = Wide<Element>>
HWY_ATTR void compute_tile(const std::vector<Reading<Element>>& lines, const LineTaps& taps, int64_t first,
                           const Block& block, const Rows& rows, const T* weights, const T* start, Element* out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t count = taps.count - first;
  const int64_t step = taps.write_step * rows.channels;
  out += first * step + block.channel;
  weights += block.place;
  hn::Vec<decltype(d)> sums[Vectors][Results];
#pragma GCC unroll 2
  for (int v = 0; v < Vectors; ++v) {
#pragma GCC unroll 7
    for (int i = 0; i < Results; ++i) sums[v][i] = start ? hn::LoadU(d, start + block.place + v * lanes) : hn::Zero(d);
  }
  if constexpr (!kSlides) {
    step_tile<Results, kClipped, Vectors>(d, lines, taps, first, block.channel, rows, weights, sums);
  } else if constexpr (kReadsTwice<Element> && Vectors == 2) {
    slide_tile<Results, kClipped>(
        d, lines, taps, first, block.channel, rows, weights, sums[0],
        [&](const Element* from) HWY_ATTR { return widen_every_second<false>(d, load_twice(d, from)); });
    slide_tile<Results, kClipped>(
        d, lines, taps, first, block.channel, rows, weights + lanes, sums[1],
        [&](const Element* from) HWY_ATTR { return widen_every_second<true>(d, load_twice(d, from)); });
  } else {
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      slide_tile<Results, kClipped>(d, lines, taps, first, block.channel + v * lanes, rows, weights + v * lanes,
                                    sums[v], [&](const Element* from) HWY_ATTR { return load(d, from); });
  }
#pragma GCC unroll 7
  for (int i = 0; i < Results; ++i) {
    if (kClipped && i >= count) break;
    if constexpr (kReadsTwice<Element> && Vectors == 2) {
      store_twice(d, sums[0][i], sums[1][i], out + i * step);
    } else {
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) store(d, sums[v][i], out + i * step + v * lanes);
    }
  }
}

template <bool kSlides, typename Element, typename T = Wide<Element>>
HWY_ATTR void compute_line(const std::vector<Reading<Element>>& lines, const LineTaps& taps,
                           const std::vector<Block>& blocks, const Rows& rows, const T* weights, const T* start,
                           Element* out) {
  constexpr int kVectors = kMostVectors<kSlides, Element>;
  const auto compute_last = &compute_tile<kResults, kSlides, true, 1, Element>;
  // What the next line of results reads besides, and the processor does not see coming.
  const int64_t line_elements = rows.width * rows.channels;
  const int64_t share = kResults * taps.step * rows.channels / static_cast<int64_t>(blocks.size());
  const Element* next = lines.empty() ? nullptr : lines.back().source + line_elements;
  for (int64_t i = 0; i < taps.count; i += kResults) {
    auto compute = compute_last;
    if constexpr (!std::is_same_v<Element, double>) {  // which is not worth more kernels
      compute = &compute_tile<kResults, kSlides, true, kVectors, Element>;
      if (taps.count - i <= kFewResults) {
        compute = &compute_tile<kFewResults, kSlides, true, kVectors, Element>;
      } else if (i + kResults <= taps.count && !taps.sources.empty() && i * taps.step + taps.sources[0] >= 0 &&
                 (i + kResults - 1) * taps.step + taps.sources.back() < rows.width) {
        compute = &compute_tile<kResults, kSlides, false, kVectors, Element>;
      }
    }
    for (const Block& block : blocks) {
      for (int64_t line = 0; line < rows.fetched; ++line) {
        for (int64_t k = 0; k < share; k += 64 / sizeof(Element)) __builtin_prefetch(next + line * line_elements + k);
      }
      next += rows.fetched > 0 ? share : 0;
      (block.vectors == kVectors ? compute : compute_last)(lines, taps, i, block, rows, weights, start, out);
    }
  }
}

template <typename Element, typename T = Wide<Element>>
void convolve(const ConvolutionGeometry& g, bool transposed, Element* out, const Element* input, const T* weight,
              const T* bias) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t channels = g.groups;
  const int64_t kernel = g.kernel_elements();
  const ChannelwisePlan plan(g, transposed);
  // Of doubles it is not worth a kernel.
  const bool slides = !std::is_same_v<Element, double> && plan.phases.size() == 1 && plan.phases[0].slides;
  const auto blocks =
      divide_channels(channels, lanes, slides ? kMostVectors<true, Element> : kMostVectors<false, Element>);
  const int64_t elements = g.batch * plan.from[0] * plan.from[1] * plan.from[2] * channels;
  const bool is_far = elements * int64_t{sizeof(Element)} > kFarBytes;
  const Rows rows{plan.from[2], channels, row_of(blocks, lanes), !is_far ? 0 : transposed ? 1 : g.stride[1]};
  std::vector<T> weights(static_cast<size_t>(kernel * rows.weights));  // by places, then channels
  std::vector<T> start(static_cast<size_t>(bias ? rows.weights : 0));
  for_each_vector<Element>(blocks, lanes, [&](int64_t channel, int64_t step, int64_t place) {
    transpose_matrix(weight + channel * kernel, step * kernel, lanes, kernel, weights.data() + place, rows.weights);
    for (int64_t i = 0; bias && i < lanes; ++i) start[static_cast<size_t>(place + i)] = bias[channel + i * step];
  });
  if (bias) bias = start.data();
  const int64_t work = plan.line_count() * plan.to[2] * channels * kernel;
  parallel_for(0, plan.line_count(), grain_for(work, plan.line_count()), [&](int64_t begin, int64_t end) {
    std::vector<Reading<Element>> readings;
    for (int64_t line = begin; line < end; ++line) {
      plan.list(line, input, readings);
      for (const LineTaps& taps : plan.phases) {
        Element* const to = out + (line * plan.to[2] + taps.start) * channels;
        if constexpr (!std::is_same_v<Element, double>) {
          if (slides) {
            compute_line<true>(readings, taps, blocks, rows, weights.data(), bias, to);
            continue;
          }
        }
        compute_line<false>(readings, taps, blocks, rows, weights.data(), bias, to);
      }
    }
  });
}

// sums[place] += sum over some results of slopes[i] * what they read there, for some places.
template <int Places, typename T>
HWY_ATTR void add_slopes(const Reading<T>* readings, int64_t count, int64_t step, const std::vector<Block>& blocks,
                         const Rows& rows, const T* slopes, T* sums) {
  const hn::ScalableTag<T> d;
  for (const Block& block : blocks) {
    hn::Vec<decltype(d)> totals[Places];
#pragma GCC unroll 9
    for (int i = 0; i < Places; ++i) totals[i] = hn::Zero(d);
    for (int64_t result = 0; result < count; ++result) {
      const auto slope = hn::LoadU(d, slopes + result * rows.channels + block.channel);
#pragma GCC unroll 9
      for (int i = 0; i < Places; ++i)
        totals[i] = hn::MulAdd(hn::LoadU(d, readings[i].source + result * step + block.channel), slope, totals[i]);
    }
#pragma GCC unroll 9
    for (int i = 0; i < Places; ++i) {
      T* sum = sums + readings[i].place * rows.weights + block.place;
      hn::StoreU(hn::Add(hn::LoadU(d, sum), totals[i]), d, sum);
    }
  }
}

template <typename T>
void weight_gradient(const ConvolutionGeometry& g, T* out, const T* grad, const T* input) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t channels = g.groups;
  const int64_t kernel = g.kernel_elements();
  const ChannelwisePlan plan(g, false);
  const LineTaps& taps = plan.phases[0];
  const auto runs = divide_line(taps, plan.from[2]);
  const auto blocks = divide_channels(channels, lanes, 1);
  const Rows rows{plan.from[2], channels, row_of(blocks, lanes), 0};
  const int64_t size = kernel * rows.weights;
  const int64_t lines = plan.line_count();
  const int64_t work = lines * plan.to[2] * channels * kernel;
  const int64_t chunks = std::clamp<int64_t>(lines / grain_for(work, lines), 1, get_num_threads());
  std::vector<T> sums(static_cast<size_t>(chunks * size));  // by chunks, places, then channels
  parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) {
    std::vector<Reading<T>> readings, places;
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      T* to = sums.data() + chunk * size;
      for (int64_t line = chunk * lines / chunks; line < (chunk + 1) * lines / chunks; ++line) {
        plan.list(line, input, readings);
        for (const Run& run : runs) {
          places.clear();
          for (const Reading<T>& reading : readings) {
            for (size_t tap = run.first_tap; tap < run.last_tap; ++tap)
              places.push_back({reading.source + (run.first * taps.step + taps.sources[tap]) * channels,
                                reading.place + taps.weights[tap]});
          }
          const T* slopes = grad + (line * plan.to[2] + run.first) * channels;
          const Reading<T>* next = places.data();
          const int64_t step = taps.step * channels;
          auto left = static_cast<int64_t>(places.size());
          for (; left >= 9; left -= 9, next += 9) add_slopes<9>(next, run.count, step, blocks, rows, slopes, to);
          for (; left >= 3; left -= 3, next += 3) add_slopes<3>(next, run.count, step, blocks, rows, slopes, to);
          for (; left > 0; --left, ++next) add_slopes<1>(next, run.count, step, blocks, rows, slopes, to);
        }
      }
    }
  });
  add_partial_sums(sums.data(), sums.data() + size, chunks, size);
  for (const Block& block : blocks)
    transpose_matrix(sums.data() + block.place, rows.weights, kernel, lanes, out + block.channel * kernel, kernel);
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
