#include <c10/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAPinnedMemory.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/MemoryStatistics.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace c10::cuda {

namespace {

struct PinnedBlock {
  char* data = nullptr;
  size_t bytes = 0;
  // Where it is used: the device and its stream.
  std::vector<std::pair<DeviceIndex, cudaStream_t>> uses;
};

struct PendingPinnedBlock {
  PinnedBlock* block;
  std::vector<std::unique_ptr<Event>> events;
};

// Sizes are powers of two, so that what is freed fits again.
size_t rounded(size_t bytes) {
  size_t size = 512;
  while (size < bytes) size *= 2;
  return size;
}

class PinnedAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, Device(kCPU));
    const size_t size = rounded(bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!graphs_are_recorded()) collect();
    PinnedBlock* block = nullptr;
    auto& free = free_[size];
    if (!free.empty()) {
      block = free.back();
      free.pop_back();
    } else {
      void* data = nullptr;
      {
        const RelaxedCapture relaxed;
        C10_CUDA_CHECK(cudaHostAlloc(&data, size, 0));
      }
      block = new PinnedBlock{static_cast<char*>(data), size, {}};
      segments_.add(1);
      reserved_.add(static_cast<int64_t>(size));
    }
    used_.emplace(block->data, block);
    allocations_.add(1);
    allocated_.add(static_cast<int64_t>(size));
    return DataPtr(block->data, block, &release, Device(kCPU));
  }

  void record_use(const void* data, DeviceIndex device, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto* address = static_cast<const char*>(data);
    auto next = used_.upper_bound(address);
    if (next == used_.begin()) return;
    PinnedBlock* block = std::prev(next)->second;
    if (address >= block->data + block->bytes) return;
    const std::pair<DeviceIndex, cudaStream_t> use(device, stream);
    if (std::find(block->uses.begin(), block->uses.end(), use) == block->uses.end()) block->uses.push_back(use);
  }

  MemoryNumbers numbers() {
    const std::lock_guard<std::mutex> lock(mutex_);
    MemoryNumbers found;
    allocations_.write(found, "active_requests");
    allocated_.write(found, "active_bytes");
    segments_.write(found, "segments");
    reserved_.write(found, "allocated_bytes");
    return found;
  }

  void reset_numbers(bool totals) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Counter* counter : {&allocations_, &allocated_, &segments_, &reserved_})
      totals ? counter->reset_totals() : counter->reset_peak();
  }

 private:
  std::mutex mutex_;
  std::map<const char*, PinnedBlock*> used_;
  std::map<size_t, std::vector<PinnedBlock*>> free_;
  std::list<PendingPinnedBlock> pending_;
  Counter allocations_, allocated_, segments_, reserved_;

  static void release(void* context) {
    auto& allocator = *static_cast<PinnedAllocator*>(pinned_allocator());
    allocator.give_back(static_cast<PinnedBlock*>(context));
  }

  void give_back(PinnedBlock* block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    used_.erase(block->data);
    allocations_.add(-1);
    allocated_.add(-static_cast<int64_t>(block->bytes));
    if (block->uses.empty()) {
      free_[block->bytes].push_back(block);
      return;
    }
    pending_.push_back({block, {}});
    if (!graphs_are_recorded()) record_events(pending_.back());
  }

  static void record_events(PendingPinnedBlock& entry) {
    const DeviceIndex previous = current_device();
    for (const auto& [device, stream] : entry.block->uses) {
      set_device(device);
      entry.events.push_back(std::make_unique<Event>());
      entry.events.back()->record(stream);
    }
    set_device(previous);
    entry.block->uses.clear();
  }

  void collect() {
    for (auto entry = pending_.begin(); entry != pending_.end();) {
      record_events(*entry);
      if (!std::all_of(entry->events.begin(), entry->events.end(), [](const auto& event) { return event->query(); })) {
        ++entry;
        continue;
      }
      free_[entry->block->bytes].push_back(entry->block);
      entry = pending_.erase(entry);
    }
  }
};

PinnedAllocator& the_allocator() {
  // Never destroyed: tensors may die after static destructors have run.
  static auto* allocator = new PinnedAllocator();
  return *allocator;
}

}  // namespace

Allocator* pinned_allocator() { return &the_allocator(); }

bool is_pinned(const void* data) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

void record_pinned_use(const void* data, cudaStream_t stream) {
  the_allocator().record_use(data, current_device(), stream);
}
MemoryNumbers pinned_memory_numbers() { return the_allocator().numbers(); }
void reset_pinned_memory_numbers(bool totals) { the_allocator().reset_numbers(totals); }

}  // namespace c10::cuda
