#pragma once
// OpenMP loops over ranges.

#include <c10/macros/Export.h>

#include <algorithm>
#include <cstdint>
#include <exception>

namespace at {

// Threads that a loop of this thread may use; set_num_threads changes it here and for threads that have not asked yet.
TORCH_API int get_num_threads();
TORCH_API void set_num_threads(int threads);
TORCH_API bool in_parallel_region();
// As many elements of cheap work as it takes to pay for waking threads.
constexpr int64_t kGrainSize = 32768;

namespace detail {
TORCH_API void parallel_run(int64_t begin, int64_t end, int64_t grain_size,
                            void (*body)(void* context, int64_t, int64_t), void* context);
}

// body(first, last) over disjoint parts of [begin, end), in parallel when there are more than `grain_size`. An
// exception from any part is thrown again here.
template <typename Body>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, Body&& body) {
  if (begin >= end) return;
  if (end - begin <= grain_size || get_num_threads() == 1 || in_parallel_region()) {
    body(begin, end);
    return;
  }
  detail::parallel_run(
      begin, end, grain_size,
      [](void* context, int64_t first, int64_t last) {
        (*static_cast<std::remove_reference_t<Body>*>(context))(first, last);
      },
      &body);
}

}  // namespace at
