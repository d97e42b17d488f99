#include <c10/core/Allocator.h>

#include <cstdint>
#include <cstdlib>
#include <utility>
#if defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <string_view>
#endif

namespace c10 {

Allocator::~Allocator() = default;

namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector

// Neighbours of sizes that are powers of two would begin a cache line or two behind a multiple of 64 KB from each
// other. There processors take the stores of a result for what the next loads of an operand wait for, and exp takes up
// to three times as long.
constexpr size_t kSpaced = 64 << 10;  // from this size on blocks keep a distance
// A little over 1 KB with what malloc adds: three neighbours are out of reach modulo 4 KB, too.
constexpr size_t kSpace = 16 * kAlignment;

// Null where the system has none left.
void* allocate_aligned(size_t bytes) {
  void* data = nullptr;
#if defined(_WIN32)
  data = _aligned_malloc(bytes, kAlignment);
#else
  if (posix_memalign(&data, kAlignment, bytes) != 0) data = nullptr;
#endif
  return data;
}

void free_aligned(void* data) {
#if defined(_WIN32)
  _aligned_free(data);
#else
  std::free(data);
#endif
}

// Small blocks that were given up stay with their thread: malloc's own lists per thread serve no aligned memory, and
// without them a call on a small tensor spends more time in malloc than on its elements. Sizes are multiples of the
// alignment, a list for each, linked through the blocks themselves.
class SmallBlocks {
 public:
  static constexpr size_t kLists = kAlignment;  // a list's number fits into the low bits of an address
  static constexpr size_t kLargest = kLists * kAlignment;
  static constexpr uint32_t kMostPerList = 16;  // 2 MB in all lists of a thread

  ~SmallBlocks() {
    current_ = nullptr;
    has_ended_ = true;
    for (void* block : first_) {
      while (block != nullptr) free_aligned(std::exchange(block, *static_cast<void**>(block)));
    }
  }

  // Null if the list is empty.
  void* take(size_t list) {
    void* block = first_[list];
    if (block != nullptr) {
      first_[list] = *static_cast<void**>(block);
      --count_[list];
    }
    return block;
  }

  void keep(void* block, size_t list) {
    if (count_[list] == kMostPerList) return free_aligned(block);
    *static_cast<void**>(block) = std::exchange(first_[list], block);
    ++count_[list];
  }

  // This thread's; null while the thread ends.
  static SmallBlocks* of_thread() { return current_ != nullptr ? current_ : start(); }

 private:
  static SmallBlocks* start() {
    if (has_ended_) return nullptr;
    static thread_local SmallBlocks blocks;
    return current_ = &blocks;
  }

  static inline thread_local SmallBlocks* current_ = nullptr;
  static inline thread_local bool has_ended_ = false;

  void* first_[kLists] = {};
  uint32_t count_[kLists] = {};
};

// AddressSanitizer sees what becomes of a block only if that is freed.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

#if defined(__GLIBC__)
// Asks the system for pages of 2 MB below large blocks. Loops over large tensors otherwise wait for the addresses of
// pages of 4 KB more than for memory, and new memory costs a fault for each of those.
class LargePages {
 public:
  static constexpr size_t kSize = 2 << 20;

  LargePages() {
    const char* wanted = std::getenv("THP_MEM_ALLOC_ENABLE");
    if (wanted != nullptr && std::string_view(wanted) == "0") heap_ = kNoAddress;
  }

  // Once for each length that malloc's heap has, whole: blocks of all sizes come from it. Alone what malloc maps by
  // itself.
  void ask_for(void* data, size_t bytes) {
    if (heap_ == kNoAddress) return;
    const uintptr_t block = reinterpret_cast<uintptr_t>(data);
    const uintptr_t heap_end = reinterpret_cast<uintptr_t>(sbrk(0));
    if (block < heap_ || block >= heap_end) return ask_within(block, block + bytes);
    if (heap_end_.exchange(heap_end, std::memory_order_relaxed) != heap_end) ask_within(heap_, heap_end);
  }

 private:
  static constexpr uintptr_t kNoAddress = ~uintptr_t{0};

  // A system without such pages refuses, and everything works as before.
  static void ask_within(uintptr_t first, uintptr_t end) {
    first = (first + kSize - 1) / kSize * kSize;
    end = end / kSize * kSize;
    if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  }

  // Where malloc's heap ended when the first tensor was made: what lies above is mostly tensors.
  uintptr_t heap_ = reinterpret_cast<uintptr_t>(sbrk(0));
  std::atomic<uintptr_t> heap_end_{0};
};
#endif

class CPUAllocator final : public Allocator {
 public:
#if defined(__GLIBC__)
  // Memory of tensors that come and go stays with the process: given back, it costs a fault per page when the next
  // batch or activation takes it again, which is more than most kernels cost.
  // Larger blocks than the first number go back at once.
  CPUAllocator() {
    if (std::getenv("MALLOC_MMAP_THRESHOLD_") == nullptr) mallopt(M_MMAP_THRESHOLD, 32 << 20);
    if (std::getenv("MALLOC_TRIM_THRESHOLD_") == nullptr) mallopt(M_TRIM_THRESHOLD, 256 << 20);
    // The heap grows in few steps, so that large pages fit into them.
    if (std::getenv("MALLOC_TOP_PAD_") == nullptr) mallopt(M_TOP_PAD, 32 << 20);
  }
#endif
  DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, kCPU);
    if (kKeepsBlocks && bytes <= SmallBlocks::kLargest) return allocate_small((bytes - 1) / kAlignment);
    // Sizes beyond half the address space come from overflowed or negative products: refuse before malloc aborts.
    const bool sane = bytes <= (~size_t{0} >> 1);
    // Aligned here: functions that align cut their result out of a longer block, and what is given up is too short for
    // the next request of the same size, which takes new memory.
    void* block = sane ? std::malloc(bytes + (bytes < kSpaced ? kAlignment : kSpace)) : nullptr;
    const uintptr_t beyond = reinterpret_cast<uintptr_t>(block) % kAlignment;
    void* data = static_cast<char*>(block) + (kAlignment - beyond) % kAlignment;
#if defined(__GLIBC__)
    if (data != nullptr && bytes >= LargePages::kSize) large_pages_.ask_for(data, bytes);
#endif
    return checked(data, bytes, block, &std::free);
  }

 private:
#if defined(__GLIBC__)
  LargePages large_pages_;
#endif

  static DataPtr allocate_small(size_t list) {
    SmallBlocks* blocks = SmallBlocks::of_thread();
    void* data = blocks != nullptr ? blocks->take(list) : nullptr;
    const size_t bytes = (list + 1) * kAlignment;
    if (data == nullptr) data = allocate_aligned(bytes);
    return checked(data, bytes, static_cast<char*>(data) + list, &release_small);
  }

  static DataPtr checked(void* data, size_t bytes, void* context, DataPtr::Deleter release) {
    TORCH_CHECK_AS(OutOfMemoryError, data != nullptr, "not enough memory: you tried to allocate ", bytes,
                   " bytes on the CPU");
    return DataPtr(data, context, release, kCPU);
  }

  // The low bits of the address are the number of the block's list.
  static void release_small(void* context) {
    const size_t list = reinterpret_cast<uintptr_t>(context) % kAlignment;
    void* block = static_cast<char*>(context) - list;
    SmallBlocks* blocks = SmallBlocks::of_thread();
    if (blocks == nullptr) return free_aligned(block);
    blocks->keep(block, list);
  }
};

}  // namespace

Allocator* cpu_allocator() {
  static CPUAllocator allocator;
  return &allocator;
}

}  // namespace c10
