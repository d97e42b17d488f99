// Images sampled at the places of a grid. The elements that a place needs are found once for all channels, for some
// dozens of places at a time, so that planes are read one after the other, and a loop goes over places.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>

#include <algorithm>
#include <limits>

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

// Images as they lie in memory: channels first or last.
template <typename T>
struct Images {
  Images(const Tensor& input, const GridGeometry& g) : tensor(input), pixel_step(1), channel_step(g.image_elements()) {
    const MemoryFormat format = input.suggest_memory_format();
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

// Taps of neighbouring places, place by place within a tap; those behind the last one are of element 0, with weight 0.
template <typename T, int Each, int Dims>
struct Part {
  using Taps = GridTaps<T, Each, Dims>;
  using Weights = T[Taps::kCount][kPoints];
  int64_t sample = 0, point = 0, count = 0;  // `count` places of a sample, from number `point` on
  int32_t pixel_step = 1;
  bool inside = true;  // all elements are
  int32_t element[Taps::kCount][kPoints] = {};
  Weights weight = {};
  Weights slope[Dims] = {};

  // Flat, so that all of it is compiled for this instruction set; and long, so that it and weigh() stand here once.
  HWY_NOINLINE HWY_FLATTEN TORCH_SIMD void find(const T* grid, const T* tangents, const GridGeometry& g) {
    inside = true;
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

  // The elements of one tap, of a vector of places; what lies outside is 0, times a weight that may be NaN.
  template <typename D>
  HWY_INLINE TORCH_SIMD hn::Vec<D> gather(D d, const T* plane, int tap, int64_t p) const {
    const hn::RebindToSigned<D> integers;
    hn::Vec<decltype(integers)> number;
    if constexpr (sizeof(T) == 4) {
      number = hn::LoadU(integers, element[tap] + p);
    } else {
      number = hn::PromoteTo(integers, hn::LoadU(hn::Rebind<int32_t, D>(), element[tap] + p));
    }
    if (HWY_LIKELY(inside)) return hn::GatherIndex(d, plane, number);
    const auto is_outside = hn::Lt(number, hn::Zero(integers));
    const auto values = hn::GatherIndex(d, plane, hn::IfThenZeroElse(is_outside, number));
    return hn::IfThenZeroElse(hn::RebindMask(d, is_outside), values);
  }

  // sums[p] = the value at each place, by `weights`
  HWY_NOINLINE TORCH_SIMD void weigh(T* sums, const T* plane, const Weights& weights) const {
    const hn::ScalableTag<T> d;
    for (int64_t p = 0; p < count; p += static_cast<int64_t>(hn::Lanes(d))) {
      auto sum = hn::Zero(d);
      for (int tap = 0; tap < Taps::kCount; ++tap) {
        sum = hn::Add(sum, hn::Mul(hn::LoadU(d, weights[tap] + p), gather(d, plane, tap, p)));
      }
      hn::StoreU(sum, d, sums + p);
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
                   int64_t first, int64_t last, Body&& body) {
  Part<T, Each, Dims> part;
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
void for_each_part(const T* grid, const T* tangents, const GridGeometry& g, int32_t pixel_step, Body&& body) {
  const int64_t parts = parts_of(g);
  const int64_t grain = std::max<int64_t>(1, kGrainSize / (4 * kPoints * std::max<int64_t>(1, g.channels)));
  parallel_for(0, g.batch * parts, grain, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last;) {
      const int64_t sample = task / parts;
      const int64_t end = std::min(last, (sample + 1) * parts);
      for_each_part<T, Each, Dims>(grid, tangents, g, pixel_step, sample, task - sample * parts, end - sample * parts,
                                   body);
      task = end;
    }
  });
}

void GridSampleImpl(const Tensor& out, const Tensor& input, const Tensor& grid, const Tensor& tangent,
                    const GridGeometry& g) {
  dispatch_floating_types(input.dtype(), "grid_sampler", [&](auto type) {
    using T = typename decltype(type)::type;
    const Images<T> images(input, g);
    T* values = out.data_ptr<T>();
    const T* tangents = tangent.defined() ? tangent.data_ptr<T>() : nullptr;
    dispatch_grid(g, [&](auto each, auto dims) {
      for_each_part<T, each(), dims()>(grid.data_ptr<T>(), tangents, g, images.pixel_step, [&](const auto& part) {
        T sums[kPoints];
        for (int64_t channel = 0; channel < g.channels; ++channel) {
          part.weigh(sums, images.plane(part.sample, channel), part.weight);
          std::copy_n(sums, part.count, values + (part.sample * g.channels + channel) * g.points + part.point);
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
          for_each_part<T, each(), dims()>(grid.data_ptr<T>(), nullptr, g, 1, sample, 0, parts_of(g),
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
    const Images<T> images(input, g);
    const T* gradients = grad_output.data_ptr<T>();
    T* results = grad_grid.data_ptr<T>();
    dispatch_grid(g, [&](auto each, auto dims) {
      for_each_part<T, each(), dims()>(grid.data_ptr<T>(), nullptr, g, images.pixel_step, [&](const auto& part) {
        T sums[dims()][kPoints] = {};
        T slopes[kPoints];
        for (int64_t channel = 0; channel < g.channels; ++channel) {
          const T* grads = gradients + (part.sample * g.channels + channel) * g.points + part.point;
          for (int dim = 0; dim < dims(); ++dim) {
            part.weigh(slopes, images.plane(part.sample, channel), part.slope[dim]);
            for (int64_t p = 0; p < part.count; ++p) sums[dim][p] += grads[p] * slopes[p];
          }
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
