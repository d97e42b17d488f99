// Kernels are compiled with -fsanitize=thread, and this stands in for its library: the compiler calls one of these
// functions before each access to memory. So every access of a kernel is looked at, and any of them may let another
// thread go first. Code of the same files that runs on the host goes through here, too; where the emulation is built
// for AddressSanitizer, that looks at it.

#include "fibers.h"
#include "grid.h"

#include <cstddef>
#include <cstdint>

namespace {

inline void access(const void* address, size_t bytes, bool writes, bool aligned = false) {
  if (cuda_emulation::Fiber::runs_caller()) {
    cuda_emulation::check_access(address, bytes, writes, aligned);
    return;
  }
#if defined(__SANITIZE_ADDRESS__)
  const auto* first = static_cast<const volatile char*>(address);
  static_cast<void>(first[0]);
  static_cast<void>(first[bytes - 1]);
#endif
}

}  // namespace

extern "C" {

#define ACCESSES(bytes)                                                                                 \
  void __tsan_read##bytes(void* address) { access(address, bytes, false, true); }                       \
  void __tsan_write##bytes(void* address) { access(address, bytes, true, true); }                       \
  void __tsan_unaligned_read##bytes(void* address) { access(address, bytes, false); }                   \
  void __tsan_unaligned_write##bytes(void* address) { access(address, bytes, true); }                   \
  void __tsan_volatile_read##bytes(void* address) { access(address, bytes, false, true); }              \
  void __tsan_volatile_write##bytes(void* address) { access(address, bytes, true, true); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
#undef ACCESSES

void __tsan_read_range(void* address, size_t bytes) { access(address, bytes, false); }
void __tsan_write_range(void* address, size_t bytes) { access(address, bytes, true); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// std::atomic of the host's code. The strongest order serves for every one.
#define ATOMICS(bits)                                                                                                 \
  uint##bits##_t __tsan_atomic##bits##_load(const volatile void* place, int) {                                        \
    return __atomic_load_n(static_cast<const volatile uint##bits##_t*>(place), __ATOMIC_SEQ_CST);                     \
  }                                                                                                                   \
  void __tsan_atomic##bits##_store(volatile void* place, uint##bits##_t value, int) {                                 \
    __atomic_store_n(static_cast<volatile uint##bits##_t*>(place), value, __ATOMIC_SEQ_CST);                          \
  }                                                                                                                   \
  uint##bits##_t __tsan_atomic##bits##_exchange(volatile void* place, uint##bits##_t value, int) {                    \
    return __atomic_exchange_n(static_cast<volatile uint##bits##_t*>(place), value, __ATOMIC_SEQ_CST);                \
  }                                                                                                                   \
  uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile void* place, uint##bits##_t value, int) {                   \
    return __atomic_fetch_add(static_cast<volatile uint##bits##_t*>(place), value, __ATOMIC_SEQ_CST);                 \
  }                                                                                                                   \
  uint##bits##_t __tsan_atomic##bits##_fetch_sub(volatile void* place, uint##bits##_t value, int) {                   \
    return __atomic_fetch_sub(static_cast<volatile uint##bits##_t*>(place), value, __ATOMIC_SEQ_CST);                 \
  }                                                                                                                   \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile void* place, void* expected, uint##bits##_t value, int, \
                                                     int) {                                                           \
    return __atomic_compare_exchange_n(static_cast<volatile uint##bits##_t*>(place),                                  \
                                       static_cast<uint##bits##_t*>(expected), value, false, __ATOMIC_SEQ_CST,        \
                                       __ATOMIC_SEQ_CST);                                                             \
  }                                                                                                                   \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile void* place, void* expected, uint##bits##_t value,        \
                                                   int first, int second) {                                           \
    return __tsan_atomic##bits##_compare_exchange_strong(place, expected, value, first, second);                      \
  }
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)
#undef ATOMICS
}
