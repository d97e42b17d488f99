// Images sampled at the places of a grid. The elements that a place needs are found once for all channels, for some
// dozens of places at a time, so that planes are read one after the other, and a loop goes over places.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/Conversion.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/grid_sample_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kPoints = 64;

// Images as they lie in memory, channels first or last; or turned, so that they are last.
template <typename T>
struct Images {
  Images(const Tensor& input, const GridGeometry& g, bool turns)
      : tensor(input), pixel_step(1), channel_step(g.image_elements()) {
    MemoryFormat format = input.suggest_memory_format();
    if (turns) format = g.dims == 2 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
    // Numbers of elements are 32 bits.
    if (format != MemoryFormat::Contiguous && g.image_elements() * g.channels <= std::numeric_limits<int32_t>::max()) {
      tensor = at::detail::to_contiguous(input, format);
      pixel_step = static_cast<int32_t>(g.channels);
      channel_step = 1;
    } else {
      tensor = at::detail::to_contiguous(input);
    }
    sample_step = g.channels * g.image_elements();
  }
  const T* plane(int64_t sample, int64_t channel) const {
    return tensor.data_ptr<T>() + sample * sample_step + channel * channel_step;
  }

  Tensor tensor;
  int32_t pixel_step;
  int64_t channel_step, sample_step;
};

// find_grid_taps for a vector of places of an image.
template <typename T, int Each>
struct PlaneTaps {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using Integers = hn::Rebind<int32_t, D>;
  using Numbers = hn::Vec<Integers>;
  struct Place {
    V at, slope;
  };

  HWY_INLINE TORCH_SIMD explicit PlaneTaps(const GridGeometry& geometry) : g(geometry) {}

  HWY_INLINE TORCH_SIMD static Place reflect(Place place, T low, T high) {
    const D d;
    if (low == high) return {hn::Zero(d), hn::Zero(d)};
    const V span = hn::Set(d, high - low);
    const V from_low = hn::Sub(place.at, hn::Set(d, low));
    const V distance = hn::Abs(from_low);
    const V flips = hn::Floor(hn::Div(distance, span));
    const V rest = hn::Sub(distance, hn::Mul(flips, span));
    const V half = hn::Floor(hn::Mul(flips, hn::Set(d, T(0.5))));
    const auto even = hn::Eq(hn::Sub(flips, hn::Add(half, half)), hn::Zero(d));
    const auto rises = hn::Eq(hn::IfThenElse(even, hn::Zero(d), hn::Set(d, T(1))),
                              hn::IfThenElse(hn::Lt(from_low, hn::Zero(d)), hn::Set(d, T(1)), hn::Zero(d)));
    return {hn::Add(hn::IfThenElse(even, rest, hn::Sub(span, rest)), hn::Set(d, low)),
            hn::IfThenElse(rises, place.slope, hn::Neg(place.slope))};
  }
  HWY_INLINE TORCH_SIMD Place pad(Place place, int64_t size) const {
    const D d;
    if (g.padding == GridPadding::Zeros) return place;
    if (g.padding == GridPadding::Reflection) {
      const T length = static_cast<T>(size);
      place = g.align_corners ? reflect(place, T(0), length - 1) : reflect(place, T(-0.5), length - T(0.5));
    }
    const V last = hn::Set(d, static_cast<T>(size - 1));
    const auto is_positive = hn::Gt(place.at, hn::Zero(d));
    return {hn::IfThenElseZero(is_positive, hn::Min(place.at, last)),
            hn::IfThenElseZero(hn::And(is_positive, hn::Lt(place.at, last)), place.slope)};
  }
  HWY_INLINE TORCH_SIMD static Numbers element_at(V place, int64_t size) {
    const D d;
    const auto inside = hn::And(hn::Ge(place, hn::Zero(d)), hn::Le(place, hn::Set(d, static_cast<T>(size - 1))));
    const V number = hn::IfThenElse(inside, place, hn::Set(d, T(-1)));
    if constexpr (sizeof(T) == 4) return hn::ConvertTo(Integers(), number);
    else return hn::DemoteTo(Integers(), number);
  }
  HWY_INLINE TORCH_SIMD static V cubic_weight(V share, int tap) {
    const D d;
    constexpr T a = T(-0.75);
    const V x = hn::Abs(hn::Sub(hn::Add(share, hn::Set(d, T(1))), hn::Set(d, static_cast<T>(tap))));
    if (tap == 1 || tap == 2) {
      const V inner = hn::Sub(hn::Mul(hn::Set(d, a + 2), x), hn::Set(d, a + 3));
      return hn::Add(hn::Mul(hn::Mul(inner, x), x), hn::Set(d, T(1)));
    }
    const V inner = hn::Add(hn::Mul(hn::Sub(hn::Mul(hn::Set(d, a), x), hn::Set(d, 5 * a)), x), hn::Set(d, 8 * a));
    return hn::Sub(hn::Mul(inner, x), hn::Set(d, 4 * a));
  }
  HWY_INLINE TORCH_SIMD static V cubic_slope(V share, int tap) {
    const D d;
    constexpr T a = T(-0.75);
    const V x = hn::Abs(hn::Sub(hn::Add(share, hn::Set(d, T(1))), hn::Set(d, static_cast<T>(tap))));
    const bool near = tap == 1 || tap == 2;
    const V bent = hn::Sub(hn::Mul(hn::Set(d, near ? 3 * (a + 2) : 3 * a), x), hn::Set(d, near ? 2 * (a + 3) : 10 * a));
    const V slope = near ? hn::Mul(bent, x) : hn::Add(hn::Mul(bent, x), hn::Set(d, 8 * a));
    return tap < 2 ? slope : hn::Neg(slope);
  }
  // Along one axis.
  HWY_INLINE TORCH_SIMD void find(V number, int64_t size, Numbers* elements, V* weights, V* slopes) const {
    const D d;
    const V one = hn::Set(d, T(1));
    const V half = hn::Set(d, T(0.5));
    const V length = hn::Set(d, static_cast<T>(size));
    const V next = hn::Add(number, one);
    const Place given{g.align_corners ? hn::Mul(hn::Mul(next, half), hn::Sub(length, one))
                                      : hn::Mul(hn::Sub(hn::Mul(next, length), one), half),
                      hn::Mul(g.align_corners ? hn::Sub(length, one) : length, half)};
    if constexpr (Each == 4) {
      const V lower = hn::Floor(given.at);
      for (int tap = 0; tap < 4; ++tap) {
        weights[tap] = cubic_weight(hn::Sub(given.at, lower), tap);
        slopes[tap] = hn::Mul(cubic_slope(hn::Sub(given.at, lower), tap), given.slope);
        const Place place = pad({hn::Add(lower, hn::Set(d, static_cast<T>(tap - 1))), one}, size);
        elements[tap] = element_at(hn::Trunc(place.at), size);
      }
    } else if constexpr (Each == 2) {
      const Place place = pad(given, size);
      const V lower = hn::Floor(place.at);
      const V upper = hn::Add(lower, one);
      elements[0] = element_at(lower, size);
      elements[1] = element_at(upper, size);
      weights[0] = hn::Sub(upper, place.at);
      weights[1] = hn::Sub(place.at, lower);
      slopes[0] = hn::Neg(place.slope);
      slopes[1] = place.slope;
    } else {
      elements[0] = element_at(hn::Round(pad(given, size).at), size);
      weights[0] = one;
      slopes[0] = hn::Zero(d);
    }
  }

  const GridGeometry& g;
};

// Taps of neighbouring places, place by place within a tap; those of what vectors have behind the last one are of some
// element.
template <typename T, int Each, int Dims>
struct Part {
  using Taps = GridTaps<T, Each, Dims>;
  using Weights = T[Taps::kCount][kPoints];
  int64_t sample = 0, point = 0, count = 0;  // `count` places of a sample, from number `point` on
  int32_t pixel_step = 1;
  bool with_slopes = false;
  bool inside = true;  // all elements are
  int32_t element[Taps::kCount][kPoints] = {};
  Weights weight = {};
  Weights slope[Dims] = {};

  // Flat, so that all of it is compiled for this instruction set; and long, so that it and weigh() stand here once.
  HWY_NOINLINE HWY_FLATTEN TORCH_SIMD void find(const T* grid, const T* tangents, const GridGeometry& g) {
    inside = true;
    if constexpr (Dims == 2) {
      if (!tangents) return find_in_vectors(grid + (sample * g.points + point) * Dims, g);
    }
    for (int64_t p = 0; p < count; ++p) {
      Taps taps;
      const int64_t place = (sample * g.points + point + p) * Dims;
      find_grid_taps(taps, grid + place, g);
      if (tangents) move_along(taps, tangents + place);
      for (int tap = 0; tap < Taps::kCount; ++tap) {
        inside &= taps.element[tap] >= 0;
        element[tap][p] = taps.element[tap] * pixel_step;
        weight[tap][p] = taps.weight[tap];
        for (int dim = 0; dim < Dims; ++dim) slope[dim][tap][p] = taps.slope[dim][tap];
      }
    }
    for (int64_t p = count; p < kPoints; ++p) {
      for (int tap = 0; tap < Taps::kCount; ++tap) {
        element[tap][p] = 0;
        weight[tap][p] = 0;
        for (int dim = 0; dim < Dims; ++dim) slope[dim][tap][p] = 0;
      }
    }
  }

  HWY_NOINLINE TORCH_SIMD void find_in_vectors(const T* points, const GridGeometry& g) {
    using Plane = PlaneTaps<T, Each>;
    const typename Plane::D d;
    const typename Plane::Integers integers;
    const Plane plane(g);
    const auto width = hn::Set(integers, static_cast<int32_t>(g.image[2]));
    const auto step = hn::Set(integers, pixel_step);
    auto signs = hn::Zero(integers);  // below 0 where an element is outside
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t p = 0; p < count; p += lanes) {  // behind the last place the vector has that of coordinates 0
      typename Plane::V x, y;
      if (HWY_LIKELY(p + lanes <= count)) {
        hn::LoadInterleaved2(d, points + 2 * p, x, y);
      } else {
        T rest[2 * hn::MaxLanes(d)] = {};
        std::copy_n(points + 2 * p, 2 * (count - p), rest);
        hn::LoadInterleaved2(d, rest, x, y);
      }
      typename Plane::Numbers columns[Each], rows[Each];
      typename Plane::V across[Each], down[Each], slopes_across[Each], slopes_down[Each];
      plane.find(x, g.image[2], columns, across, slopes_across);
      plane.find(y, g.image[1], rows, down, slopes_down);
      for (int tap = 0; tap < Taps::kCount; ++tap) {
        const auto column = columns[tap % Each];
        const auto row = rows[tap / Each];
        const auto sign = hn::Or(row, column);
        const auto outside = hn::Lt(sign, hn::Zero(integers));
        signs = hn::Or(signs, sign);
        const auto number = hn::Add(hn::Mul(row, width), column);
        hn::StoreU(hn::Mul(hn::IfThenElse(outside, hn::Set(integers, -1), number), step), integers, element[tap] + p);
        hn::StoreU(hn::Mul(down[tap / Each], across[tap % Each]), d, weight[tap] + p);
        if (!with_slopes) continue;
        hn::StoreU(hn::Mul(down[tap / Each], slopes_across[tap % Each]), d, slope[0][tap] + p);
        hn::StoreU(hn::Mul(slopes_down[tap / Each], across[tap % Each]), d, slope[1][tap] + p);
      }
    }
    inside = hn::AllFalse(integers, hn::Lt(signs, hn::Zero(integers)));
  }

  // The elements of one tap from place p on; what lies outside is 0, times a weight that may be NaN.
  template <typename D>
  HWY_INLINE TORCH_SIMD hn::Vec<D> collect(D d, const T* plane, int tap, int64_t p) const {
    const hn::Rebind<int32_t, D> integers;
    const hn::RebindToSigned<D> wide;
    const auto numbers = hn::LoadU(integers, element[tap] + p);
    const auto places = [&]() TORCH_SIMD {
      if constexpr (sizeof(T) == 4) return numbers;
      else return hn::PromoteTo(wide, numbers);
    }();
    if (inside) return hn::GatherIndex(d, plane, places);
    const auto is_outside = hn::RebindMask(d, hn::Lt(places, hn::Zero(wide)));
    return hn::IfThenZeroElse(is_outside, hn::GatherIndex(d, plane, hn::Max(places, hn::Zero(wide))));
  }
  // sums[p] = the value at each place, by the weights; the elements themselves of those that have one each.
  HWY_NOINLINE TORCH_SIMD void weigh(T* sums, const T* plane, bool are_elements) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t p = 0; p < count; p += lanes) {
      auto sum = hn::Zero(d);
      for (int tap = 0; tap < Taps::kCount; ++tap) {
        const auto values = collect(d, plane, tap, p);
        sum = are_elements ? values : hn::Add(sum, hn::Mul(hn::LoadU(d, weight[tap] + p), values));
      }
      if (HWY_LIKELY(p + lanes <= count)) {
        hn::StoreU(sum, d, sums + p);
      } else {
        T rest[hn::MaxLanes(d)];
        hn::StoreU(sum, d, rest);
        std::copy_n(rest, count - p, sums + p);
      }
    }
  }
  // sums[dim][p] += gradient * what the value grows by along the dimension
  HWY_NOINLINE TORCH_SIMD void add_slopes(T (*sums)[kPoints], const T* gradients, const T* plane) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t p = 0; p < count; p += lanes) {
      hn::Vec<decltype(d)> slopes[Dims];
      for (auto& sum : slopes) sum = hn::Zero(d);
      for (int tap = 0; tap < Taps::kCount; ++tap) {
        const auto values = collect(d, plane, tap, p);
        for (int dim = 0; dim < Dims; ++dim)
          slopes[dim] = hn::Add(slopes[dim], hn::Mul(hn::LoadU(d, slope[dim][tap] + p), values));
      }
      T rest[hn::MaxLanes(d)] = {};
      if (HWY_UNLIKELY(p + lanes > count)) std::copy_n(gradients + p, count - p, rest);
      const auto gradient = hn::LoadU(d, p + lanes > count ? rest : gradients + p);
      for (int dim = 0; dim < Dims; ++dim)
        hn::StoreU(hn::Add(hn::LoadU(d, sums[dim] + p), hn::Mul(gradient, slopes[dim])), d, sums[dim] + p);
    }
  }

  // The same of some channels, at most kChannels, that lie side by side: sums[p * kChannels + c].
  static constexpr int64_t kChannels = 64;
  HWY_NOINLINE TORCH_SIMD void weigh_channels(T* sums, const T* pixels, int64_t channels) const {
    static constexpr T kOutside[kChannels] = {};
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t p = 0; p < count; ++p, sums += kChannels) {
      const T* from[Taps::kCount];
      for (int tap = 0; tap < Taps::kCount; ++tap)
        from[tap] = element[tap][p] < 0 ? kOutside : pixels + element[tap][p];
      int64_t c = 0;
      for (; c + lanes <= channels; c += lanes) {
        auto sum = hn::Zero(d);
        for (int tap = 0; tap < Taps::kCount; ++tap)
          sum = hn::Add(sum, hn::Mul(hn::Set(d, weight[tap][p]), hn::LoadU(d, from[tap] + c)));
        hn::StoreU(sum, d, sums + c);
      }
      for (; c < channels; ++c) {
        T sum = 0;
        for (int tap = 0; tap < Taps::kCount; ++tap) sum += weight[tap][p] * from[tap][c];
        sums[c] = sum;
      }
    }
  }

  TORCH_SIMD void spread(T* plane, const T* gradients) const {
    for (int tap = 0; tap < Taps::kCount; ++tap) {
      for (int64_t p = 0; p < count; ++p) {
        if (inside || element[tap][p] >= 0) plane[element[tap][p]] += weight[tap][p] * gradients[p];
      }
    }
  }
};

int64_t parts_of(const GridGeometry& g) { return (g.points + kPoints - 1) / kPoints; }

// body(part) for those of one sample
template <typename T, int Each, int Dims, typename Body>
void for_each_part(const T* grid, const T* tangents, const GridGeometry& g, int32_t pixel_step, int64_t sample,
                   int64_t first, int64_t last, bool with_slopes, Body&& body) {
  Part<T, Each, Dims> part;
  part.with_slopes = with_slopes;
  part.sample = sample;
  part.pixel_step = pixel_step;
  for (int64_t number = first; number < last; ++number) {
    part.point = number * kPoints;
    part.count = std::min(kPoints, g.points - part.point);
    part.find(grid, tangents, g);
    body(part);
  }
}

// Of all samples, over all threads.
template <typename T, int Each, int Dims, typename Body>
void for_each_part(const T* grid, const T* tangents, const GridGeometry& g, int32_t pixel_step, bool with_slopes,
                   Body&& body) {
  const int64_t parts = parts_of(g);
  const int64_t grain = std::max<int64_t>(1, kGrainSize / (4 * kPoints * std::max<int64_t>(1, g.channels)));
  parallel_for(0, g.batch * parts, grain, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last;) {
      const int64_t sample = task / parts;
      const int64_t end = std::min(last, (sample + 1) * parts);
      for_each_part<T, Each, Dims>(grid, tangents, g, pixel_step, sample, task - sample * parts, end - sample * parts,
                                   with_slopes, body);
      task = end;
    }
  });
}

void GridSampleImpl(const Tensor& out, const Tensor& input, const Tensor& grid, const Tensor& tangent,
                    const GridGeometry& g) {
  dispatch_floating_types(input.dtype(), "grid_sampler", [&](auto type) {
    using T = typename decltype(type)::type;
    // Vectors of channels take less than gathered elements; images are turned for them if enough of them is read.
    constexpr int64_t kManyChannels = 8;
    const bool turns = g.channels >= kManyChannels && 4 * g.points >= g.image_elements();
    const Images<T> images(input, g, turns && g.interpolation != GridInterpolation::Nearest);
    T* values = out.data_ptr<T>();
    const T* tangents = tangent.defined() ? tangent.data_ptr<T>() : nullptr;
    dispatch_grid(g, [&](auto each, auto dims) {
      constexpr bool kSlopes = false;
      for_each_part<T, each(), dims()>(grid.data_ptr<T>(), tangents, g, images.pixel_step, kSlopes,
                                       [&](const auto& part) {
        using Part = std::decay_t<decltype(part)>;
        T* target = values + part.sample * g.channels * g.points + part.point;
        if (images.pixel_step == 1) {
          const bool are_elements = g.interpolation == GridInterpolation::Nearest && !tangents;
          for (int64_t channel = 0; channel < g.channels; ++channel, target += g.points)
            part.weigh(target, images.plane(part.sample, channel), are_elements);
          return;
        }
        constexpr int64_t size = sizeof(T);
        T sums[kPoints * Part::kChannels];
        for (int64_t channel = 0; channel < g.channels; channel += Part::kChannels) {
          const int64_t channels = std::min(Part::kChannels, g.channels - channel);
          part.weigh_channels(sums, images.plane(part.sample, channel), channels);
          transpose_tile(reinterpret_cast<char*>(target + channel * g.points), g.points * size,
                         reinterpret_cast<const char*>(sums), Part::kChannels * size, channels, part.count, size);
        }
      });
    });
  });
}

// Places of one sample may share elements: a thread takes all places of its channels.
void GridSampleInputBackwardImpl(const Tensor& grad_input, const Tensor& grad_output, const Tensor& grid,
                                 const GridGeometry& g) {
  dispatch_floating_types(grad_input.dtype(), "grid_sampler_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* gradients = grad_output.data_ptr<T>();
    T* images = grad_input.data_ptr<T>();
    std::fill_n(images, grad_input.numel(), T(0));
    constexpr int64_t kChannels = 16;
    const int64_t groups = (g.channels + kChannels - 1) / kChannels;
    parallel_for(0, g.batch * groups, 1, [&](int64_t first, int64_t last) {
      for (int64_t task = first; task < last; ++task) {
        const int64_t sample = task / groups;
        const int64_t begin = sample * g.channels + task % groups * kChannels;
        const int64_t end = std::min((sample + 1) * g.channels, begin + kChannels);
        dispatch_grid(g, [&](auto each, auto dims) {
          for_each_part<T, each(), dims()>(grid.data_ptr<T>(), nullptr, g, 1, sample, 0, parts_of(g), false,
                                           [&](const auto& part) {
            for (int64_t plane = begin; plane < end; ++plane) {
              part.spread(images + plane * g.image_elements(), gradients + plane * g.points + part.point);
            }
          });
        });
      }
    });
  });
}

void GridSampleGridBackwardImpl(const Tensor& grad_grid, const Tensor& grad_output, const Tensor& input,
                                const Tensor& grid, const GridGeometry& g) {
  dispatch_floating_types(input.dtype(), "grid_sampler_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    const Images<T> images(input, g, /*turns=*/false);
    const T* gradients = grad_output.data_ptr<T>();
    T* results = grad_grid.data_ptr<T>();
    if (g.interpolation == GridInterpolation::Nearest) {
      std::fill_n(results, grad_grid.numel(), T(0));
      return;
    }
    dispatch_grid(g, [&](auto each, auto dims) {
      for_each_part<T, each(), dims()>(grid.data_ptr<T>(), nullptr, g, images.pixel_step, true, [&](const auto& part) {
        T sums[dims()][kPoints] = {};
        for (int64_t channel = 0; channel < g.channels; ++channel) {
          const T* grads = gradients + (part.sample * g.channels + channel) * g.points + part.point;
          part.add_slopes(sums, grads, images.plane(part.sample, channel));
        }
        T* result = results + (part.sample * g.points + part.point) * dims();
        for (int64_t p = 0; p < part.count; ++p) {
          for (int dim = 0; dim < dims(); ++dim) result[p * dims() + dim] = sums[dim][p];
        }
      });
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(GridSampleImpl);
void grid_sample_kernel(const Tensor& out, const Tensor& input, const Tensor& grid, const Tensor& tangent,
                        const GridGeometry& geometry) {
  HWY_DYNAMIC_DISPATCH(GridSampleImpl)(out, input, grid, tangent, geometry);
}
HWY_EXPORT(GridSampleInputBackwardImpl);
void grid_sample_input_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& grid,
                                       const GridGeometry& geometry) {
  HWY_DYNAMIC_DISPATCH(GridSampleInputBackwardImpl)(grad_input, grad_output, grid, geometry);
}
HWY_EXPORT(GridSampleGridBackwardImpl);
void grid_sample_grid_backward_kernel(const Tensor& grad_grid, const Tensor& grad_output, const Tensor& input,
                                      const Tensor& grid, const GridGeometry& geometry) {
  HWY_DYNAMIC_DISPATCH(GridSampleGridBackwardImpl)(grad_grid, grad_output, input, grid, geometry);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
