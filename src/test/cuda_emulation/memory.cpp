#include "memory.h"

#include "random.h"
#include "report.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace cuda_emulation {

namespace {

constexpr size_t kAlignment = 16;      // what the widest loads of kernels need
constexpr size_t kRemembered = 2048;   // freed mappings that stay closed, so that a late use is seen
constexpr unsigned char kFresh = 0xff;   // never written: NaN in every floating type, -1 in every integer
constexpr unsigned char kBorder = 0xa5;  // before and after the allocation, in its own pages

struct Allocation {
  char* mapping;
  size_t mapped;
  char* first_page;  // behind the closed page in front
  size_t pages;      // bytes
  char* data;
  size_t bytes;
  int device;
};

struct Memory {
  std::recursive_mutex mutex;
  std::map<const char*, Allocation> allocations;  // by begin
  std::map<int, size_t> used;
  std::map<const char*, size_t> pinned;
  std::deque<Allocation> freed;
  bool open = false;
  std::atomic<uint64_t> changes{1};
};

Memory& memory() {
  static auto* memory = new Memory();  // outlives static destructors that free tensors
  return *memory;
}

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void protect(const Allocation& allocation, bool open) {
  mprotect(allocation.first_page, allocation.pages, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

const Allocation* find(const void* data) {
  auto& allocations = memory().allocations;
  auto next = allocations.upper_bound(static_cast<const char*>(data));
  if (next == allocations.begin()) return nullptr;
  const Allocation& before = std::prev(next)->second;
  return static_cast<const char*>(data) < before.data + before.bytes ? &before : nullptr;
}

template <typename Span>
bool is_within(const Span& span, const void* data, size_t bytes) {
  const auto offset = static_cast<size_t>(static_cast<const char*>(data) - span.data);
  return offset < span.bytes && bytes <= span.bytes - offset;
}

// Makes all bytes of pages kFresh. What is large costs memory only where it is written:
// its pages are those of one file.
bool freshen(char* pages, size_t bytes) {
  constexpr size_t kLarge = size_t{64} << 20;
  if (bytes < kLarge) {
    std::memset(pages, kFresh, bytes);
    return true;
  }
  static const int file = [] {
    const int made = memfd_create("fresh device memory", 0);
    const std::vector<unsigned char> content(kLarge, kFresh);
    return made >= 0 && write(made, content.data(), kLarge) == static_cast<ssize_t>(kLarge) ? made : -1;
  }();
  for (size_t done = 0; done < bytes; done += kLarge) {
    const int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    if (mmap(pages + done, std::min(kLarge, bytes - done), PROT_READ | PROT_WRITE, flags, file, 0) == MAP_FAILED)
      return false;
  }
  return true;
}

// Where something was written that is not the allocation's; null: nowhere.
const char* find_damage(const Allocation& allocation) {
  const auto damaged = [](const char* begin, const char* end) {
    for (; begin < end; ++begin) {
      if (static_cast<unsigned char>(*begin) != kBorder) return true;
    }
    return false;
  };
  if (damaged(allocation.first_page, allocation.data)) return "in front of";
  if (damaged(allocation.data + allocation.bytes, allocation.first_page + allocation.pages)) return "behind";
  return nullptr;
}

}  // namespace

size_t device_bytes() {
  static const size_t bytes = [] {
    const char* given = std::getenv("CUDA_EMULATION_MEMORY");
    return given ? std::strtoull(given, nullptr, 10) : size_t{8} << 30;
  }();
  return bytes;
}

size_t device_bytes_used(int device) {
  const std::lock_guard<std::recursive_mutex> lock(memory().mutex);
  return memory().used[device];
}

void* allocate_device_memory(int device, size_t bytes) {
  Memory& all = memory();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  if (bytes > device_bytes() - all.used[device]) return nullptr;
  const size_t page = page_bytes();
  Allocation made{};
  made.pages = (bytes + page - 1) / page * page;
  made.mapped = made.pages + 2 * page;
  void* mapping = mmap(nullptr, made.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  made.mapping = static_cast<char*>(mapping);
  made.first_page = made.mapping + page;
  // At the end of its pages: the first byte behind cannot even be read.
  made.data = made.first_page + made.pages - (bytes + kAlignment - 1) / kAlignment * kAlignment;
  made.bytes = bytes;
  made.device = device;
  protect(made, true);
  if (!freshen(made.first_page, made.pages)) {
    munmap(mapping, made.mapped);
    return nullptr;
  }
  std::memset(made.first_page, kBorder, static_cast<size_t>(made.data - made.first_page));
  std::memset(made.data + bytes, kBorder, static_cast<size_t>(made.first_page + made.pages - made.data) - bytes);
  if (!all.open) protect(made, false);
  all.used[device] += bytes;
  all.allocations.emplace(made.data, made);
  ++all.changes;
  return made.data;
}

bool free_device_memory(void* data) {
  Memory& all = memory();
  std::unique_lock<std::recursive_mutex> lock(all.mutex);
  const auto found = all.allocations.find(static_cast<const char*>(data));
  if (found == all.allocations.end()) return false;
  const Allocation allocation = found->second;
  all.allocations.erase(found);
  ++all.changes;
  all.used[allocation.device] -= allocation.bytes;
  protect(allocation, true);
  const char* damage = find_damage(allocation);
  madvise(allocation.first_page, allocation.pages, MADV_DONTNEED);
  protect(allocation, false);
  all.freed.push_back(allocation);
  if (all.freed.size() > kRemembered) {
    munmap(all.freed.front().mapping, all.freed.front().mapped);
    all.freed.pop_front();
  }
  lock.unlock();
  if (damage)
    report_fault(allocation.device, "something was written %s %zu bytes of device memory", damage, allocation.bytes);
  return true;
}

bool is_device_memory(const void* data, size_t bytes, int device) {
  const std::lock_guard<std::recursive_mutex> lock(memory().mutex);
  const Allocation* found = find(data);
  return found != nullptr && (device < 0 || found->device == device) && is_within(*found, data, bytes);
}

bool DeviceMemoryFinder::holds(const void* data, size_t bytes, int device) {
  if (changes_ == memory().changes && device_ == device) {
    for (const Found& known : found_) {
      if (is_within(known, data, bytes)) return true;
    }
  }
  const std::lock_guard<std::recursive_mutex> lock(memory().mutex);
  if (changes_ != memory().changes || device_ != device) {
    *this = {};
    changes_ = memory().changes;
    device_ = device;
  }
  const Allocation* found = find(data);
  if (found == nullptr || found->device != device) return false;
  found_[next_++ % kRemembered] = {found->data, found->bytes};
  return is_within(*found, data, bytes);
}

void open_device_memory(bool open) {
  Memory& all = memory();
  const std::lock_guard<std::recursive_mutex> lock(all.mutex);
  if (all.open == open) return;
  all.open = open;
  for (const auto& [begin, allocation] : all.allocations) protect(allocation, open);
}

void* allocate_pinned_memory(size_t bytes) {
  void* data = std::malloc(bytes ? bytes : 1);
  const std::lock_guard<std::recursive_mutex> lock(memory().mutex);
  if (data) memory().pinned[static_cast<const char*>(data)] = bytes;
  return data;
}

bool free_pinned_memory(void* data) {
  const std::lock_guard<std::recursive_mutex> lock(memory().mutex);
  if (memory().pinned.erase(static_cast<const char*>(data)) == 0) return false;
  std::free(data);
  return true;
}

bool is_pinned_memory(const void* data) {
  const std::lock_guard<std::recursive_mutex> lock(memory().mutex);
  const auto next = memory().pinned.upper_bound(static_cast<const char*>(data));
  if (next == memory().pinned.begin()) return false;
  const auto& [begin, bytes] = *std::prev(next);
  return static_cast<const char*>(data) < begin + bytes;
}

}  // namespace cuda_emulation
