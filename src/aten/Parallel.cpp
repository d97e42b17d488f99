#include <aten/Parallel.h>
#include <c10/util/Exception.h>

#include <omp.h>

#ifndef _WIN32
#include <pthread.h>
#endif

#include <atomic>

namespace at {

namespace {
std::atomic<int> chosen_threads{0};  // by any thread, the last; 0: what OpenMP was told by the environment
thread_local bool has_begun = false;  // whether this thread's OpenMP, which keeps a number for each, knows of it

// libgomp is not compiled with ThreadSanitizer, which therefore cannot see that a region's threads begin after what
// comes before the region, and end before what comes after it: it is told.
#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
void happens_before(void* event) { __tsan_release(event); }
void happens_after(void* event) { __tsan_acquire(event); }
#define AT_NOT_SANITIZED __attribute__((no_sanitize("thread")))
#else
void happens_before(void*) {}
void happens_after(void*) {}
#define AT_NOT_SANITIZED
#endif

#ifndef _WIN32
// A forked child has only the thread that called fork. libgomp does not know: the first parallel region there would
// wait forever for the other threads of the pool. So the forking thread gives its pool back first; parent and child
// (and a BLAS on the same runtime) start a new one when they next need it.
[[maybe_unused]] const int fork_handler =
    pthread_atfork([] { omp_pause_resource_all(omp_pause_hard); }, /*parent=*/nullptr, /*child=*/nullptr);
#endif
}

int get_num_threads() {
  if (!has_begun) {
    has_begun = true;
    const int chosen = chosen_threads.load(std::memory_order_relaxed);
    if (chosen > 0) omp_set_num_threads(chosen);
  }
  return omp_get_max_threads();
}

void set_num_threads(int threads) {
  TORCH_CHECK(threads > 0, "set_num_threads expects a positive integer, got ", threads);
  chosen_threads.store(threads, std::memory_order_relaxed);
  has_begun = true;
  omp_set_num_threads(threads);  // BLAS on the same runtime follows
}

bool in_parallel_region() { return omp_in_parallel() != 0; }

namespace detail {

namespace {
struct Region {
  const int64_t begin, end;
  void (*const body)(void*, int64_t, int64_t);
  void* const context;
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
};

void run_share(Region& region, int64_t thread, int64_t threads) {
  happens_after(&region);
  const int64_t share = (region.end - region.begin + threads - 1) / threads;
  const int64_t first = region.begin + thread * share;
  if (first < region.end) {
    try {
      region.body(region.context, first, std::min(region.end, first + share));
    } catch (...) {
      if (!region.failed.test_and_set()) region.failure = std::current_exception();
    }
  }
  happens_before(&region);
}

// Nothing but OpenMP's own variables are read here.
AT_NOT_SANITIZED void run_in_threads(Region& region, int threads) {
#pragma omp parallel num_threads(threads)
  run_share(region, omp_get_thread_num(), omp_get_num_threads());  // the runtime may give fewer than asked for
}
}  // namespace

void parallel_run(int64_t begin, int64_t end, int64_t grain_size, void (*body)(void*, int64_t, int64_t),
                  void* context) {
  const int64_t total = end - begin;
  const int64_t parts =
      std::min<int64_t>(get_num_threads(), (total + grain_size - 1) / std::max<int64_t>(grain_size, 1));
  Region region{begin, end, body, context, nullptr};
  happens_before(&region);
  run_in_threads(region, static_cast<int>(parts));
  happens_after(&region);
  if (region.failure) std::rethrow_exception(region.failure);
}

}  // namespace detail
}  // namespace at
