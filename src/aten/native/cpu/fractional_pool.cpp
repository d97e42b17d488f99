#include <aten/native/cpu/fractional_pool.h>

#include <aten/Dispatch.h>
#include <aten/Parallel.h>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace at::native::cpu {

void fractional_max_pool(const Tensor& out, const Tensor& indices, const Tensor& self, const Tensor& starts,
                         const PoolGeometry& g) {
  const int64_t elements = g.image_elements();
  const int64_t windows = g.window_count();
  const int64_t work = windows * g.kernel[0] * g.kernel[1] * g.kernel[2];
  dispatch_stored_floating_types(self.dtype(), "fractional_max_pool", [&](auto type) {
    using Element = typename decltype(type)::type;
    using Number = std::conditional_t<c10::is_reduced_floating_v<Element>, float, Element>;
    const auto* const images = self.data_ptr<Element>();
    parallel_for(0, g.planes, std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, work)),
                 [&](int64_t first, int64_t last) {
      for (int64_t plane = first; plane < last; ++plane) {
        const Element* const image = images + plane * elements;
        Element* value = out.data_ptr<Element>() + plane * windows;
        int64_t* index = indices.data_ptr<int64_t>() + plane * windows;
        const int64_t* const depths = starts.data_ptr<int64_t>() + plane * starts.sizes()[1];
        const int64_t* const heights = depths + g.windows[0];
        const int64_t* const widths = heights + g.windows[1];
        for (int64_t window = 0; window < windows; ++window) {
          const int64_t x = widths[window % g.windows[2]];
          const int64_t y = heights[window / g.windows[2] % g.windows[1]];
          const int64_t z = depths[window / (g.windows[2] * g.windows[1])];
          Number best = -std::numeric_limits<Number>::infinity();
          int64_t where = (z * g.image[1] + y) * g.image[2] + x;
          for (int64_t k = z; k < z + g.kernel[0]; ++k) {
            for (int64_t j = y; j < y + g.kernel[1]; ++j) {
              const int64_t line = (k * g.image[1] + j) * g.image[2];
              for (int64_t i = line + x; i < line + x + g.kernel[2]; ++i) {
                const auto element = static_cast<Number>(image[i]);
                const bool wins = (element > best) | (element != element);  // NaN wins
                best = wins ? element : best;
                where = wins ? i : where;
              }
            }
          }
          *value++ = static_cast<Element>(best);
          *index++ = where;
        }
      }
    });
  });
}

}  // namespace at::native::cpu
