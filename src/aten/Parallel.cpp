#include <aten/Parallel.h>
#include <c10/util/Exception.h>

#include <omp.h>

#ifndef _WIN32
#include <pthread.h>
#endif

#include <atomic>

namespace at {

namespace {
std::atomic<int> chosen_threads{0};  // 0: what OpenMP was told by the environment

#ifndef _WIN32
// A forked child has only the thread that called fork. libgomp does not know: the first parallel region there would
// wait forever for the other threads of the pool. So the forking thread gives its pool back first; parent and child
// (and a BLAS on the same runtime) start a new one when they next need it.
[[maybe_unused]] const int fork_handler =
    pthread_atfork([] { omp_pause_resource_all(omp_pause_hard); }, /*parent=*/nullptr, /*child=*/nullptr);
#endif
}

int get_num_threads() {
  const int chosen = chosen_threads.load(std::memory_order_relaxed);
  return chosen > 0 ? chosen : omp_get_max_threads();
}

void set_num_threads(int threads) {
  TORCH_CHECK(threads > 0, "set_num_threads expects a positive integer, got ", threads);
  chosen_threads.store(threads, std::memory_order_relaxed);
  omp_set_num_threads(threads);  // BLAS on the same runtime follows
}

bool in_parallel_region() { return omp_in_parallel() != 0; }

namespace detail {

void parallel_run(int64_t begin, int64_t end, int64_t grain_size, void (*body)(void*, int64_t, int64_t),
                  void* context) {
  const int64_t total = end - begin;
  const int64_t parts =
      std::min<int64_t>(get_num_threads(), (total + grain_size - 1) / std::max<int64_t>(grain_size, 1));
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(static_cast<int>(parts))
  {
    // The runtime may give fewer threads than asked for.
    const int64_t threads = omp_get_num_threads();
    const int64_t share = (total + threads - 1) / threads;
    const int64_t first = begin + omp_get_thread_num() * share;
    if (first < end) {
      try {
        body(context, first, std::min(end, first + share));
      } catch (...) {
        if (!failed.test_and_set()) failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace detail
}  // namespace at
