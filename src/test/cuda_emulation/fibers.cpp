#include "fibers.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#else
// Without AddressSanitizer nobody asks where the stack is.
inline void __sanitizer_start_switch_fiber(void**, const void*, size_t) {}
inline void __sanitizer_finish_switch_fiber(void*, const void**, size_t*) {}
#endif

#if defined(__x86_64__)
// Leaves a stack, with the registers that a call keeps on it, for another. swapcontext, which all other processors use,
// asks the kernel each time, and AddressSanitizer then cleans the whole stack: that was most of a kernel's time.
extern "C" void cuda_emulation_switch(void** left, void* entered);
asm(R"(
.text
.type cuda_emulation_switch, @function
cuda_emulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cuda_emulation_switch, .-cuda_emulation_switch
)");
#endif

namespace cuda_emulation {

std::atomic<const char*> Fiber::entered_{nullptr};

namespace {

// The host thread's own stack.
const void* outside_bottom = nullptr;
size_t outside_bytes = 0;

void arrive_in_fiber(void* saved) { __sanitizer_finish_switch_fiber(saved, &outside_bottom, &outside_bytes); }

void (*begin)() = nullptr;

#if defined(__x86_64__)
void switch_context(void*& left, void*& entered) { cuda_emulation_switch(&left, entered); }

// A stack as a switch leaves it: `run` is where that returns to, for which there is no caller.
void prepare(void*& context, char* stack, size_t bytes, void (*run)()) {
  auto* end = reinterpret_cast<uintptr_t*>(stack + bytes);
  *--end = 0;
  *--end = reinterpret_cast<uintptr_t>(run);
  for (int saved = 0; saved < 6; ++saved) *--end = 0;
  context = end;
}
#else
void switch_context(ucontext_t& left, ucontext_t& entered) { swapcontext(&left, &entered); }

void prepare(ucontext_t& context, char* stack, size_t bytes, void (*run)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  makecontext(&context, run, 0);
}
#endif

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
  prepare(own_, stack_, kStackBytes, start);
}

void Fiber::enter() {
  void* saved = nullptr;
  __sanitizer_start_switch_fiber(&saved, stack_, kStackBytes);
  entered_ = stack_;
  switch_context(outside_, own_);
  entered_ = nullptr;
  __sanitizer_finish_switch_fiber(saved, nullptr, nullptr);
}

void Fiber::leave() {
  void* saved = nullptr;
  __sanitizer_start_switch_fiber(&saved, outside_bottom, outside_bytes);
  switch_context(own_, outside_);
  arrive_in_fiber(saved);
}

void Fiber::announce_escape() { __sanitizer_start_switch_fiber(nullptr, outside_bottom, outside_bytes); }

void Fiber::arrive_after_escape() {
  entered_ = nullptr;
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
}

}  // namespace cuda_emulation
