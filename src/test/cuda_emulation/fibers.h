#pragma once
// Stacks of their own on one host thread: a fiber runs until it leaves, and goes on there when it is entered again.
// AddressSanitizer is told of each change of stack.

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#include <atomic>
#include <cstddef>

namespace cuda_emulation {

class Fiber {
 public:
  // One whose work is `run`, which never returns.
  explicit Fiber(void (*run)());

  // By the host thread: lets the fiber run until it leaves.
  void enter();
  // By the fiber.
  void leave();
  // Around a long jump of the host thread's out of a fiber, which can never go on: before it, and where it arrives.
  static void announce_escape();
  static void arrive_after_escape();

  // Whether `address` is on the stack of the fiber that was entered last and has not left.
  static bool entered_owns(const void* address) {
    const char* stack = entered_.load(std::memory_order_relaxed);
    return static_cast<size_t>(static_cast<const char*>(address) - stack) < kStackBytes;
  }
  // Whether the calling thread is within it.
  static bool runs_caller() { return entered_owns(__builtin_frame_address(0)); }

 private:
  static constexpr size_t kStackBytes = 128 * 1024;
#if defined(__x86_64__)
  using Context = void*;  // a stack that ends with what its next call needs
#else
  using Context = ucontext_t;
#endif

  static std::atomic<const char*> entered_;
  char* stack_;
  Context own_{};
  Context outside_{};
};

}  // namespace cuda_emulation
