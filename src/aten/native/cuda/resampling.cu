// Images in another size and at the places of a grid: one thread per element of the result, which adds up what it is
// made of in a steady order; gradients of images that grids sample are added up by atomics.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Atomic.cuh>
#include <aten/native/cuda/Launch.cuh>

namespace at::native::cuda {

namespace {

template <typename T>
struct Axis {
  int64_t old_size, new_size;
  const int32_t* offsets = nullptr;
  const int32_t* places = nullptr;
  const T* weights = nullptr;

  explicit Axis(const ResampleAxis& axis) : old_size(axis.old_size), new_size(axis.new_size) {
    if (axis.is_identity()) return;
    offsets = axis.offsets.template data_ptr<int32_t>();
    places = axis.places.template data_ptr<int32_t>();
    if (axis.weights.defined()) weights = axis.weights.template data_ptr<T>();
  }

  __device__ int32_t begin(int64_t n) const { return offsets ? offsets[n] : static_cast<int32_t>(n); }
  __device__ int32_t end(int64_t n) const { return offsets ? offsets[n + 1] : static_cast<int32_t>(n) + 1; }
  __device__ int64_t place(int32_t k) const { return places ? places[k] : k; }
  __device__ T weight(int32_t k) const { return weights ? weights[k] : T(1); }
};

// Where element `index` of a result lies.
template <typename T>
struct NewElement {
  int64_t plane, z, y, x, inner;

  __device__ NewElement(int64_t index, const Axis<T>& z_axis, const Axis<T>& y_axis, const Axis<T>& x_axis,
                        int64_t count) {
    inner = index % count;
    index /= count;
    x = index % x_axis.new_size;
    index /= x_axis.new_size;
    y = index % y_axis.new_size;
    index /= y_axis.new_size;
    z = index % z_axis.new_size;
    plane = index / z_axis.new_size;
  }
};

template <typename T>
void resample(const Tensor& out, const Tensor& self, const ResampleGeometry& g) {
  const Axis<T> z(g.axes[0]);
  const Axis<T> y(g.axes[1]);
  const Axis<T> x(g.axes[2]);
  const int64_t inner = g.inner;
  const T* values = self.data_ptr<T>();
  T* results = out.data_ptr<T>();
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const NewElement<T> at(index, z, y, x, inner);
    T sum = 0;
    for (int32_t k = z.begin(at.z); k < z.end(at.z); ++k) {
      T slice = 0;
      for (int32_t j = y.begin(at.y); j < y.end(at.y); ++j) {
        const T* row =
            values + ((at.plane * z.old_size + z.place(k)) * y.old_size + y.place(j)) * x.old_size * inner + at.inner;
        T line = 0;
        for (int32_t i = x.begin(at.x); i < x.end(at.x); ++i) line += x.weight(i) * row[x.place(i) * inner];
        slice += y.weight(j) * line;
      }
      sum += z.weight(k) * slice;
    }
    results[index] = sum;
  });
}

template <typename Word>
void pick_nearest(const Tensor& out, const Tensor& self, const ResampleGeometry& g) {
  const Axis<float> z(g.axes[0]);
  const Axis<float> y(g.axes[1]);
  const Axis<float> x(g.axes[2]);
  const int64_t inner = g.inner;
  const auto* values = static_cast<const Word*>(self.data_ptr());
  auto* results = static_cast<Word*>(out.data_ptr());
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const NewElement<float> at(index, z, y, x, inner);
    const int64_t slice = at.plane * z.old_size + z.place(z.begin(at.z));
    const int64_t row = slice * y.old_size + y.place(y.begin(at.y));
    results[index] = values[(row * x.old_size + x.place(x.begin(at.x))) * inner + at.inner];
  });
}

}  // namespace

void resample_kernel(const Tensor& out, const Tensor& self, const ResampleGeometry& geometry) {
  dispatch_floating_types(self.dtype(), "interpolate", [&](auto tag) {
    resample<typename decltype(tag)::type>(out, self, geometry);
  });
}

void resample_nearest_kernel(const Tensor& out, const Tensor& self, const ResampleGeometry& geometry) {
  dispatch_word(self.element_size(), [&](auto tag) { pick_nearest<decltype(tag)>(out, self, geometry); });
}

namespace {

// The value of a plane at one place; what lies outside is 0, times a weight that may be NaN.
template <typename T, typename Taps>
__device__ T weigh(const T* plane, const Taps& taps, const T* weights) {
  T sum = 0;
  for (int tap = 0; tap < Taps::kCount; ++tap) {
    const int32_t element = taps.element[tap];
    sum += weights[tap] * (element >= 0 ? plane[element] : T(0));
  }
  return sum;
}

template <typename T, int Each, int Dims>
void sample_grid(T* results, const T* images, const T* points, const T* tangents, const GridGeometry& geometry) {
  const GridGeometry g = geometry;
  const int64_t elements = g.image_elements();
  for_each_index(g.batch * g.points, [=] __device__(int64_t index) {
    GridTaps<T, Each, Dims> taps;
    find_grid_taps(taps, points + index * Dims, g);
    if (tangents) move_along(taps, tangents + index * Dims);
    const int64_t first = index / g.points * g.channels;
    for (int64_t channel = 0; channel < g.channels; ++channel) {
      results[(first + channel) * g.points + index % g.points] =
          weigh(images + (first + channel) * elements, taps, taps.weight);
    }
  });
}

template <typename T, int Each, int Dims>
void spread_gradients(T* images, const T* gradients, const T* points, const GridGeometry& geometry) {
  const GridGeometry g = geometry;
  const int64_t elements = g.image_elements();
  for_each_index(g.batch * g.channels * elements, [=] __device__(int64_t index) { images[index] = 0; });
  for_each_index(g.batch * g.points, [=] __device__(int64_t index) {
    GridTaps<T, Each, Dims> taps;
    find_grid_taps(taps, points + index * Dims, g);
    const int64_t first = index / g.points * g.channels;
    for (int64_t channel = 0; channel < g.channels; ++channel) {
      const T gradient = gradients[(first + channel) * g.points + index % g.points];
      T* image = images + (first + channel) * elements;
      for (int tap = 0; tap < taps.kCount; ++tap) {
        if (taps.element[tap] >= 0) atomic_add(image + taps.element[tap], taps.weight[tap] * gradient);
      }
    }
  });
}

template <typename T, int Each, int Dims>
void find_slopes(T* results, const T* gradients, const T* images, const T* points, const GridGeometry& geometry) {
  const GridGeometry g = geometry;
  const int64_t elements = g.image_elements();
  for_each_index(g.batch * g.points, [=] __device__(int64_t index) {
    GridTaps<T, Each, Dims> taps;
    find_grid_taps(taps, points + index * Dims, g);
    const int64_t first = index / g.points * g.channels;
    T sums[Dims] = {};
    for (int64_t channel = 0; channel < g.channels; ++channel) {
      const T gradient = gradients[(first + channel) * g.points + index % g.points];
      const T* image = images + (first + channel) * elements;
      for (int dim = 0; dim < Dims; ++dim) sums[dim] += gradient * weigh(image, taps, taps.slope[dim]);
    }
    for (int dim = 0; dim < Dims; ++dim) results[index * Dims + dim] = sums[dim];
  });
}

}  // namespace

void grid_sample_kernel(const Tensor& out, const Tensor& input, const Tensor& grid, const Tensor& tangent,
                        const GridGeometry& geometry) {
  const Tensor images = input.contiguous();
  dispatch_floating_types(input.dtype(), "grid_sampler", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* tangents = tangent.defined() ? tangent.data_ptr<T>() : nullptr;
    dispatch_grid(geometry, [&](auto each, auto dims) {
      sample_grid<T, each(), dims()>(out.data_ptr<T>(), images.data_ptr<T>(), grid.data_ptr<T>(), tangents, geometry);
    });
  });
}

void grid_sample_input_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& grid,
                                       const GridGeometry& geometry) {
  dispatch_floating_types(grad_input.dtype(), "grid_sampler_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    dispatch_grid(geometry, [&](auto each, auto dims) {
      spread_gradients<T, each(), dims()>(grad_input.data_ptr<T>(), grad_output.data_ptr<T>(), grid.data_ptr<T>(),
                                          geometry);
    });
  });
}

void grid_sample_grid_backward_kernel(const Tensor& grad_grid, const Tensor& grad_output, const Tensor& input,
                                      const Tensor& grid, const GridGeometry& geometry) {
  const Tensor images = input.contiguous();
  dispatch_floating_types(input.dtype(), "grid_sampler_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    dispatch_grid(geometry, [&](auto each, auto dims) {
      find_slopes<T, each(), dims()>(grad_grid.data_ptr<T>(), grad_output.data_ptr<T>(), images.data_ptr<T>(),
                                     grid.data_ptr<T>(), geometry);
    });
  });
}

}  // namespace at::native::cuda
