#pragma once
// Stacks of their own on one host thread: a fiber runs until it leaves, and goes on there when it is entered again.
// AddressSanitizer is told of each change of stack.

#include <ucontext.h>

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

  bool owns(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - stack_) < kStackBytes;
  }

 private:
  static constexpr size_t kStackBytes = 128 * 1024;
  char* stack_;
  ucontext_t own_{};
  ucontext_t outside_{};
};

}  // namespace cuda_emulation
