#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/DeviceAllocator.h>

#include <array>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace c10::cuda {

namespace {

// How many hold each pool; pools that nobody holds give their memory back.
struct Holders {
  std::mutex mutex;
  std::map<MemoryPool, int> count;
  MemoryPool last = 0;
};

Holders& holders() {
  static auto* holders = new Holders();
  return *holders;
}

constexpr size_t kMaximumDevices = 64;

DeviceAllocator& allocator_of(DeviceIndex device) {
  // Never destroyed: tensors may die after static destructors have run.
  static auto* allocators = new std::array<DeviceAllocator, kMaximumDevices>();
  return (*allocators)[static_cast<size_t>(device)];
}

class CachingAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    const DeviceIndex device = current_device();
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, Device(kCUDA, device));
    Block* block = allocator_of(device).take(bytes, device, current_stream(device));
    return DataPtr(block->data, block, &release, Device(kCUDA, device));
  }

 private:
  static void release(void* context) {
    auto* block = static_cast<Block*>(context);
    allocator_of(block->device).give_back(block);
  }
};

}  // namespace

bool is_held(MemoryPool pool) {
  const std::lock_guard<std::mutex> lock(holders().mutex);
  const auto found = holders().count.find(pool);
  return found != holders().count.end() && found->second > 0;
}

Allocator* caching_allocator() {
  static auto* allocator = new CachingAllocator();
  return allocator;
}

void empty_cache() {
  const DeviceIndex previous = current_device();
  for (int device = 0; device < device_count(); ++device) {
    set_device(static_cast<DeviceIndex>(device));
    allocator_of(static_cast<DeviceIndex>(device)).empty();
  }
  set_device(previous);
}

MemoryNumbers memory_numbers(DeviceIndex device) { return allocator_of(device).numbers(); }
void reset_memory_numbers(DeviceIndex device, bool totals) { allocator_of(device).reset_numbers(totals); }
void limit_memory(DeviceIndex device, double fraction) { allocator_of(device).limit(fraction); }
double memory_limit(DeviceIndex device) { return allocator_of(device).limit(); }

std::vector<MemorySegment> memory_segments() {
  std::vector<MemorySegment> segments;
  for (int device = 0; device < device_count(); ++device)
    allocator_of(static_cast<DeviceIndex>(device)).list_segments(segments);
  return segments;
}

void record_stream(void* data, cudaStream_t stream) { allocator_of(current_device()).record_use(data, stream); }

MemoryPool new_pool() {
  const std::lock_guard<std::mutex> lock(holders().mutex);
  return ++holders().last;
}

void hold_pool(MemoryPool pool) {
  const std::lock_guard<std::mutex> lock(holders().mutex);
  ++holders().count[pool];
}

void release_pool(MemoryPool pool) {
  const std::lock_guard<std::mutex> lock(holders().mutex);
  --holders().count[pool];
}

void redirect(DeviceIndex device, MemoryPool pool, unsigned long long capture) {
  allocator_of(device).redirect({pool, std::this_thread::get_id(), capture});
}
void end_redirect(DeviceIndex device, unsigned long long capture) { allocator_of(device).end_redirect(capture); }

}  // namespace c10::cuda
