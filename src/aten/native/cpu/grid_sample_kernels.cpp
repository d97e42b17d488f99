// Images sampled at the places of a grid. The elements that a place needs are found once for all channels, for some
// dozens of places at a time, so that planes are read one after the other, and a loop goes over places.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/grid_sample_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr int64_t kPoints = 64;

// Taps of neighbouring places, place by place within a tap.
template <typename T, int Each, int Dims>
struct Part {
  using Taps = GridTaps<T, Each, Dims>;
  int64_t sample, point, count;  // `count` places of a sample, from number `point` on
  bool inside = true;            // all elements are
  int32_t element[Taps::kCount][kPoints];
  T weight[Taps::kCount][kPoints];
  T slope[Dims][Taps::kCount][kPoints];

  TORCH_SIMD void find(const T* grid, const T* tangents, const GridGeometry& g) {
    inside = true;
    for (int64_t p = 0; p < count; ++p) {
      Taps taps;
      const int64_t place = (sample * g.points + point + p) * Dims;
      find_grid_taps(taps, grid + place, g);
      if (tangents) move_along(taps, tangents + place);
      for (int tap = 0; tap < Taps::kCount; ++tap) {
        inside &= taps.element[tap] >= 0;
        element[tap][p] = taps.element[tap];
        weight[tap][p] = taps.weight[tap];
        for (int dim = 0; dim < Dims; ++dim) slope[dim][tap][p] = taps.slope[dim][tap];
      }
    }
  }

  // sums[p] = the value at each place; what lies outside is 0, times a weight that may be NaN.
  TORCH_SIMD void weigh(T* __restrict sums, const T* plane, const T (*weights)[kPoints]) const {
    for (int64_t p = 0; p < count; ++p) sums[p] = 0;
    for (int tap = 0; tap < Taps::kCount; ++tap) {
      const int32_t* elements = element[tap];
      const T* factors = weights[tap];
      if (inside) {
        for (int64_t p = 0; p < count; ++p) sums[p] += factors[p] * plane[elements[p]];
      } else {
        for (int64_t p = 0; p < count; ++p) {
          const T value = plane[std::max(elements[p], 0)];  // read in any case: without a branch, many at once
          sums[p] += factors[p] * (elements[p] >= 0 ? value : T(0));
        }
      }
    }
  }

  TORCH_SIMD void spread(T* plane, const T* gradients) const {
    for (int tap = 0; tap < Taps::kCount; ++tap) {
      for (int64_t p = 0; p < count; ++p) {
        if (element[tap][p] >= 0) plane[element[tap][p]] += weight[tap][p] * gradients[p];
      }
    }
  }
};

int64_t parts_of(const GridGeometry& g) { return (g.points + kPoints - 1) / kPoints; }

// body(part) for those of one sample
template <typename T, int Each, int Dims, typename Body>
void for_each_part(const T* grid, const T* tangents, const GridGeometry& g, int64_t sample, int64_t first, int64_t last,
                   Body&& body) {
  Part<T, Each, Dims> part;
  part.sample = sample;
  for (int64_t number = first; number < last; ++number) {
    part.point = number * kPoints;
    part.count = std::min(kPoints, g.points - part.point);
    part.find(grid, tangents, g);
    body(part);
  }
}

// Of all samples, over all threads.
template <typename T, int Each, int Dims, typename Body>
void for_each_part(const T* grid, const T* tangents, const GridGeometry& g, Body&& body) {
  const int64_t parts = parts_of(g);
  const int64_t grain = std::max<int64_t>(1, kGrainSize / (4 * kPoints * std::max<int64_t>(1, g.channels)));
  parallel_for(0, g.batch * parts, grain, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last;) {
      const int64_t sample = task / parts;
      const int64_t end = std::min(last, (sample + 1) * parts);
      for_each_part<T, Each, Dims>(grid, tangents, g, sample, task - sample * parts, end - sample * parts, body);
      task = end;
    }
  });
}

void GridSampleImpl(const Tensor& out, const Tensor& input, const Tensor& grid, const Tensor& tangent,
                    const GridGeometry& g) {
  dispatch_floating_types(input.dtype(), "grid_sampler", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* images = input.data_ptr<T>();
    T* values = out.data_ptr<T>();
    const T* tangents = tangent.defined() ? tangent.data_ptr<T>() : nullptr;
    dispatch_grid(g, [&](auto each, auto dims) {
      for_each_part<T, each(), dims()>(grid.data_ptr<T>(), tangents, g, [&](const auto& part) {
        for (int64_t plane = part.sample * g.channels; plane < (part.sample + 1) * g.channels; ++plane) {
          part.weigh(values + plane * g.points + part.point, images + plane * g.image_elements(), part.weight);
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
          for_each_part<T, each(), dims()>(
              grid.data_ptr<T>(), nullptr, g, sample, 0, parts_of(g), [&](const auto& part) {
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
    const T* images = input.data_ptr<T>();
    const T* gradients = grad_output.data_ptr<T>();
    T* results = grad_grid.data_ptr<T>();
    dispatch_grid(g, [&](auto each, auto dims) {
      for_each_part<T, each(), dims()>(grid.data_ptr<T>(), nullptr, g, [&](const auto& part) {
        T sums[dims()][kPoints] = {};
        T slopes[kPoints];
        for (int64_t plane = part.sample * g.channels; plane < (part.sample + 1) * g.channels; ++plane) {
          const T* grads = gradients + plane * g.points + part.point;
          for (int dim = 0; dim < dims(); ++dim) {
            part.weigh(slopes, images + plane * g.image_elements(), part.slope[dim]);
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
