// Averages and maxima over windows, one plane after the other.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/DispatchInt64.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace at::native::cpu {

namespace {

using Spans = std::array<std::vector<PoolSpan>, 3>;

Spans spans_of(const PoolGeometry& g) {
  Spans result;
  for (int dim = 0; dim < 3; ++dim) {
    for (int64_t window = 0; window < g.windows[dim]; ++window) result[dim].push_back(g.span(dim, window));
  }
  return result;
}

// body(plane, window, z, y, x) for every window of every plane: `window` counts through the plane, the rest are its spans.
template <typename Body>
void for_each_window(const PoolGeometry& g, Body&& body) {
  const Spans spans = spans_of(g);
  const int64_t work = std::max<int64_t>(1, std::max(g.window_count(), g.image_elements()));
  parallel_for(0, g.planes, std::max<int64_t>(1, kGrainSize / work), [&](int64_t first, int64_t last) {
    for (int64_t plane = first; plane < last; ++plane) {
      int64_t window = 0;
      for (const PoolSpan& z : spans[0]) {
        for (const PoolSpan& y : spans[1]) {
          for (const PoolSpan& x : spans[2]) body(plane, window++, z, y, x);
        }
      }
    }
  });
}

}  // namespace

void max_pool_kernel(const Tensor& out, const Tensor& indices, const Tensor& self, const PoolGeometry& g) {
  dispatch_numeric_types(self.dtype(), "max_pool", [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr T least = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                             : std::numeric_limits<T>::lowest();
    const T* images = self.data_ptr<T>();
    T* values = out.data_ptr<T>();
    int64_t* places = indices.data_ptr<int64_t>();
    for_each_window(g, [&](int64_t plane, int64_t window, const PoolSpan& z, const PoolSpan& y, const PoolSpan& x) {
      const T* image = images + plane * g.image_elements();
      T best = least;
      int64_t place = (z.begin * g.image[1] + y.begin) * g.image[2] + x.begin;
      for (int64_t k = z.begin; k < z.end; k += z.step) {
        for (int64_t j = y.begin; j < y.end; j += y.step) {
          const int64_t line = (k * g.image[1] + j) * g.image[2];
          for (int64_t i = x.begin; i < x.end; i += x.step) {
            const T value = image[line + i];
            if (value > best || value != value) {  // NaN wins
              best = value;
              place = line + i;
            }
          }
        }
      }
      values[plane * g.window_count() + window] = best;
      places[plane * g.window_count() + window] = place;
    });
  });
}

void average_pool_kernel(const Tensor& out, const Tensor& self, const PoolGeometry& g) {
  dispatch_floating_types_and_int64(self.dtype(), "avg_pool", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* images = self.data_ptr<T>();
    T* values = out.data_ptr<T>();
    for_each_window(g, [&](int64_t plane, int64_t window, const PoolSpan& z, const PoolSpan& y, const PoolSpan& x) {
      const T* image = images + plane * g.image_elements();
      T sum = 0;
      for (int64_t k = z.begin; k < z.end; ++k) {
        for (int64_t j = y.begin; j < y.end; ++j) {
          const T* line = image + (k * g.image[1] + j) * g.image[2];
          for (int64_t i = x.begin; i < x.end; ++i) sum = static_cast<T>(sum + line[i]);
        }
      }
      values[plane * g.window_count() + window] = static_cast<T>(sum / static_cast<T>(g.divisor_of(z, y, x)));
    });
  });
}

void average_pool_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const PoolGeometry& g) {
  dispatch_floating_types_and_int64(grad_input.dtype(), "avg_pool_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* gradients = grad_output.data_ptr<T>();
    T* images = grad_input.data_ptr<T>();
    std::fill_n(images, grad_input.numel(), T(0));
    for_each_window(g, [&](int64_t plane, int64_t window, const PoolSpan& z, const PoolSpan& y, const PoolSpan& x) {
      T* image = images + plane * g.image_elements();
      const T share = static_cast<T>(gradients[plane * g.window_count() + window] / static_cast<T>(g.divisor_of(z, y, x)));
      for (int64_t k = z.begin; k < z.end; ++k) {
        for (int64_t j = y.begin; j < y.end; ++j) {
          T* line = image + (k * g.image[1] + j) * g.image[2];
          for (int64_t i = x.begin; i < x.end; ++i) line[i] = static_cast<T>(line[i] + share);
        }
      }
    });
  });
}

}  // namespace at::native::cpu
