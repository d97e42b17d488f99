// Averages and maxima over windows: one thread per window,
// and in the gradient of averages one per element of the image.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Launch.cuh>

#include <cuda/std/limits>

namespace at::native::cuda {

namespace {

// Where window number `index` of all planes lies.
struct PoolWindow {
  int64_t plane;
  PoolSpan z, y, x;

  __device__ PoolWindow(const PoolGeometry& g, int64_t index) {
    x = g.span(2, index % g.windows[2]);
    index /= g.windows[2];
    y = g.span(1, index % g.windows[1]);
    index /= g.windows[1];
    z = g.span(0, index % g.windows[0]);
    plane = index / g.windows[0];
  }
};

template <typename T>
__device__ T least() {
  using limits = ::cuda::std::numeric_limits<T>;
  if constexpr (limits::has_infinity) return -limits::infinity();
  else return limits::lowest();
}

template <typename T>
void find_maxima(const Tensor& out, const Tensor& indices, const Tensor& self, const PoolGeometry& geometry) {
  const T* images = self.data_ptr<T>();
  T* values = out.data_ptr<T>();
  int64_t* places = indices.data_ptr<int64_t>();
  const PoolGeometry g = geometry;
  const int64_t elements = g.image_elements();
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const PoolWindow w(g, index);
    const T* image = images + w.plane * elements;
    T best = least<T>();
    int64_t place = (w.z.begin * g.image[1] + w.y.begin) * g.image[2] + w.x.begin;
    for (int64_t k = w.z.begin; k < w.z.end; k += w.z.step) {
      for (int64_t j = w.y.begin; j < w.y.end; j += w.y.step) {
        const int64_t line = (k * g.image[1] + j) * g.image[2];
        for (int64_t i = w.x.begin; i < w.x.end; i += w.x.step) {
          const T value = image[line + i];
          if (value > best || value != value) {  // NaN wins
            best = value;
            place = line + i;
          }
        }
      }
    }
    values[index] = best;
    places[index] = place;
  });
}

template <typename T>
void compute_averages(const Tensor& out, const Tensor& self, const PoolGeometry& geometry) {
  const T* images = self.data_ptr<T>();
  T* values = out.data_ptr<T>();
  const PoolGeometry g = geometry;
  const int64_t elements = g.image_elements();
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const PoolWindow w(g, index);
    const T* image = images + w.plane * elements;
    T sum = 0;
    for (int64_t k = w.z.begin; k < w.z.end; ++k) {
      for (int64_t j = w.y.begin; j < w.y.end; ++j) {
        const T* line = image + (k * g.image[1] + j) * g.image[2];
        for (int64_t i = w.x.begin; i < w.x.end; ++i) sum = static_cast<T>(sum + line[i]);
      }
    }
    values[index] = static_cast<T>(sum / static_cast<T>(g.divisor_of(w.z, w.y, w.x)));
  });
}

// Each element of the image adds up what the windows over it hand out, in a steady order.
template <typename T>
void spread_averages(const Tensor& grad_input, const Tensor& grad_output, const PoolGeometry& geometry) {
  const T* gradients = grad_output.data_ptr<T>();
  T* images = grad_input.data_ptr<T>();
  const PoolGeometry g = geometry;
  for_each_index(grad_input.numel(), [=] __device__(int64_t index) {
    int64_t rest = index;
    int64_t place[3];
    for (int dim = 2; dim >= 0; --dim) {
      place[dim] = rest % g.image[dim];
      rest /= g.image[dim];
    }
    T sum = 0;
    for (int64_t k = g.first_covering(0, place[0]); k <= g.last_covering(0, place[0]); ++k) {
      const PoolSpan z = g.span(0, k);
      for (int64_t j = g.first_covering(1, place[1]); j <= g.last_covering(1, place[1]); ++j) {
        const PoolSpan y = g.span(1, j);
        for (int64_t i = g.first_covering(2, place[2]); i <= g.last_covering(2, place[2]); ++i) {
          const PoolSpan x = g.span(2, i);
          const int64_t window = ((rest * g.windows[0] + k) * g.windows[1] + j) * g.windows[2] + i;
          sum = static_cast<T>(sum + static_cast<T>(gradients[window] / static_cast<T>(g.divisor_of(z, y, x))));
        }
      }
    }
    images[index] = sum;
  });
}

}  // namespace

void max_pool_kernel(const Tensor& out, const Tensor& indices, const Tensor& self, const PoolGeometry& geometry) {
  dispatch_numeric_types(self.dtype(), "max_pool", [&](auto tag) {
    find_maxima<typename decltype(tag)::type>(out, indices, self, geometry);
  });
}

void average_pool_kernel(const Tensor& out, const Tensor& self, const PoolGeometry& geometry) {
  dispatch_numeric_types(self.dtype(), "avg_pool", [&](auto tag) {
    compute_averages<typename decltype(tag)::type>(out, self, geometry);
  });
}

void average_pool_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const PoolGeometry& geometry) {
  dispatch_numeric_types(grad_input.dtype(), "avg_pool_backward", [&](auto tag) {
    spread_averages<typename decltype(tag)::type>(grad_input, grad_output, geometry);
  });
}

}  // namespace at::native::cuda
