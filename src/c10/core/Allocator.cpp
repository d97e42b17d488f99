#include <c10/core/Allocator.h>

#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace c10 {

Allocator::~Allocator() = default;

namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector

class CPUAllocator final : public Allocator {
 public:
#if defined(__GLIBC__)
  // Memory of tensors that come and go stays with the process: given back, it costs a fault per page when the next batch or
  // activation takes it again, which is more than most kernels cost. Larger blocks than the first number go back at once.
  CPUAllocator() {
    if (std::getenv("MALLOC_MMAP_THRESHOLD_") == nullptr) mallopt(M_MMAP_THRESHOLD, 32 << 20);
    if (std::getenv("MALLOC_TRIM_THRESHOLD_") == nullptr) mallopt(M_TRIM_THRESHOLD, 256 << 20);
  }
#endif
  DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, kCPU);
    void* data = nullptr;
    // Sizes beyond half the address space come from overflowed or negative products: refuse before malloc aborts.
    const bool sane = bytes <= (~size_t{0} >> 1);
#if defined(_WIN32)
    data = sane ? _aligned_malloc(bytes, kAlignment) : nullptr;
#else
    if (!sane || posix_memalign(&data, kAlignment, bytes) != 0) data = nullptr;
#endif
    TORCH_CHECK_AS(OutOfMemoryError, data != nullptr, "not enough memory: you tried to allocate ", bytes, " bytes on the CPU");
    return DataPtr(data, data, &release, kCPU);
  }

 private:
  static void release(void* data) {
#if defined(_WIN32)
    _aligned_free(data);
#else
    std::free(data);
#endif
  }
};

}  // namespace

Allocator* cpu_allocator() {
  static CPUAllocator allocator;
  return &allocator;
}

}  // namespace c10
