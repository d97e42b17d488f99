#include "fibers.h"

#include <sys/mman.h>

#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#else
// Without AddressSanitizer nobody asks where the stack is.
inline void __sanitizer_start_switch_fiber(void**, const void*, size_t) {}
inline void __sanitizer_finish_switch_fiber(void*, const void**, size_t*) {}
#endif

namespace cuda_emulation {

namespace {

// The host thread's own stack.
const void* outside_bottom = nullptr;
size_t outside_bytes = 0;

void arrive_in_fiber(void* saved) { __sanitizer_finish_switch_fiber(saved, &outside_bottom, &outside_bytes); }

void (*begin)() = nullptr;

void start() {
  arrive_in_fiber(nullptr);
  begin();
  std::abort();
}

}  // namespace

Fiber::Fiber(void (*run)()) {
  begin = run;
  // The lowest page stays closed: a stack that is too small ends in a fault, not in its neighbour.
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) std::abort();
  mprotect(stack, 4096, PROT_NONE);
  stack_ = static_cast<char*>(stack);
  getcontext(&own_);
  own_.uc_stack.ss_sp = stack_;
  own_.uc_stack.ss_size = kStackBytes;
  own_.uc_link = nullptr;
  makecontext(&own_, start, 0);
}

void Fiber::enter() {
  void* saved = nullptr;
  __sanitizer_start_switch_fiber(&saved, stack_, kStackBytes);
  swapcontext(&outside_, &own_);
  __sanitizer_finish_switch_fiber(saved, nullptr, nullptr);
}

void Fiber::leave() {
  void* saved = nullptr;
  __sanitizer_start_switch_fiber(&saved, outside_bottom, outside_bytes);
  swapcontext(&own_, &outside_);
  arrive_in_fiber(saved);
}

void Fiber::announce_escape() { __sanitizer_start_switch_fiber(nullptr, outside_bottom, outside_bytes); }

void Fiber::arrive_after_escape() { __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr); }

}  // namespace cuda_emulation
