#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace c10::cuda {

namespace {

constexpr size_t kGranularity = 512;
constexpr size_t kSmallRequest = size_t{1} << 20;
constexpr size_t kSmallSegment = size_t{2} << 20;
constexpr size_t kMediumRequest = size_t{10} << 20;
constexpr size_t kMediumSegment = size_t{20} << 20;
constexpr size_t kLargeGranularity = size_t{2} << 20;

bool keeps_memory() {
  static const bool keeps = std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") == nullptr;
  return keeps;
}

size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

size_t segment_size(size_t bytes) {
  if (!keeps_memory()) return bytes;
  if (bytes <= kSmallRequest) return kSmallSegment;
  if (bytes < kMediumRequest) return kMediumSegment;
  return round_up(bytes, kLargeGranularity);
}

// A stretch of a segment. Neighbours within the segment are linked, so that free ones can be merged.
struct Block {
  char* data = nullptr;
  size_t bytes = 0;
  DeviceIndex device = 0;
  cudaStream_t stream = nullptr;
  bool small = false;
  bool in_use = false;
  Block* previous = nullptr;
  Block* next = nullptr;
  std::vector<cudaStream_t> other_streams;  // see record_stream
};

struct BySizeThenAddress {
  bool operator()(const Block* left, const Block* right) const {
    if (left->stream != right->stream) return std::less<>()(left->stream, right->stream);
    if (left->bytes != right->bytes) return left->bytes < right->bytes;
    return std::less<>()(left->data, right->data);
  }
};

using FreeBlocks = std::set<Block*, BySizeThenAddress>;

// A freed block that other streams may still read, and the events that tell when they are done.
struct Pending {
  Block* block;
  std::vector<std::unique_ptr<Event>> events;
};

struct DevicePool {
  std::mutex mutex;
  FreeBlocks small_blocks;
  FreeBlocks large_blocks;
  std::unordered_map<void*, Block*> used;
  std::list<Pending> pending;
  MemoryStatistics statistics;

  FreeBlocks& free_blocks(bool small) { return small ? small_blocks : large_blocks; }

  Block* take(size_t bytes, DeviceIndex device, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex);
    collect_pending(/*wait=*/false);
    Block* block = find_free(bytes, stream);
    if (block == nullptr) block = new_segment(bytes, device, stream);
    if (block == nullptr) {
      collect_pending(/*wait=*/true);
      release_free_segments();
      block = find_free(bytes, stream);
      if (block == nullptr) block = new_segment(bytes, device, stream);
    }
    if (block == nullptr) throw_out_of_memory(bytes, device);
    split(block, bytes);
    block->in_use = true;
    used.emplace(block->data, block);
    statistics.allocated += static_cast<int64_t>(block->bytes);
    statistics.peak_allocated = std::max(statistics.peak_allocated, statistics.allocated);
    return block;
  }

  void give_back(Block* block) {
    const std::lock_guard<std::mutex> lock(mutex);
    used.erase(block->data);
    statistics.allocated -= static_cast<int64_t>(block->bytes);
    if (block->other_streams.empty()) {
      make_free(block);
      if (!keeps_memory()) release_free_segments();
      return;
    }
    Pending entry{block, {}};
    for (cudaStream_t stream : block->other_streams) {
      entry.events.push_back(std::make_unique<Event>());
      entry.events.back()->record(stream);
    }
    block->other_streams.clear();
    pending.push_back(std::move(entry));
  }

  void record_use(void* data, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = used.find(data);
    if (found == used.end() || found->second->stream == stream) return;
    auto& streams = found->second->other_streams;
    if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  }

  void empty() {
    const std::lock_guard<std::mutex> lock(mutex);
    collect_pending(/*wait=*/true);
    release_free_segments();
  }

 private:
  Block* find_free(size_t bytes, cudaStream_t stream) {
    FreeBlocks& blocks = free_blocks(bytes <= kSmallRequest);
    Block wanted;
    wanted.bytes = bytes;
    wanted.stream = stream;
    const auto found = blocks.lower_bound(&wanted);
    if (found == blocks.end() || (*found)->stream != stream) return nullptr;
    Block* block = *found;
    // A big block is not broken up for a much smaller request that would get a segment of its own.
    if (bytes >= kMediumRequest && block->bytes > 2 * bytes) return nullptr;
    blocks.erase(found);
    return block;
  }

  Block* new_segment(size_t bytes, DeviceIndex device, cudaStream_t stream) {
    const size_t size = segment_size(bytes);
    void* data = nullptr;
    const cudaError_t error = cudaMalloc(&data, size);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      return nullptr;
    }
    C10_CUDA_CHECK(error);
    auto* block = new Block();
    block->data = static_cast<char*>(data);
    block->bytes = size;
    block->device = device;
    block->stream = stream;
    block->small = bytes <= kSmallRequest;
    statistics.reserved += static_cast<int64_t>(size);
    statistics.peak_reserved = std::max(statistics.peak_reserved, statistics.reserved);
    ++statistics.device_allocations;
    return block;
  }

  void split(Block* block, size_t bytes) {
    const size_t rest = block->bytes - bytes;
    if (rest < (block->small ? kGranularity : kSmallRequest)) return;
    auto* remainder = new Block(*block);
    remainder->data = block->data + bytes;
    remainder->bytes = rest;
    remainder->previous = block;
    if (block->next) block->next->previous = remainder;
    block->next = remainder;
    block->bytes = bytes;
    free_blocks(block->small).insert(remainder);
  }

  void make_free(Block* block) {
    block->in_use = false;
    FreeBlocks& blocks = free_blocks(block->small);
    if (Block* left = block->previous; left && is_idle(left)) {
      blocks.erase(left);
      left->bytes += block->bytes;
      left->next = block->next;
      if (left->next) left->next->previous = left;
      delete block;
      block = left;
    }
    if (Block* right = block->next; right && is_idle(right)) {
      blocks.erase(right);
      block->bytes += right->bytes;
      block->next = right->next;
      if (block->next) block->next->previous = block;
      delete right;
    }
    blocks.insert(block);
  }

  // Neither handed out nor waiting for other streams.
  bool is_idle(Block* block) const {
    if (block->in_use) return false;
    return std::none_of(pending.begin(), pending.end(), [&](const Pending& entry) { return entry.block == block; });
  }

  void collect_pending(bool wait) {
    for (auto entry = pending.begin(); entry != pending.end();) {
      if (wait) {
        for (const auto& event : entry->events) event->synchronize();
      } else if (!std::all_of(entry->events.begin(), entry->events.end(), [](const auto& event) { return event->query(); })) {
        ++entry;
        continue;
      }
      Block* block = entry->block;
      entry = pending.erase(entry);
      make_free(block);
    }
  }

  void release_free_segments() {
    for (FreeBlocks* blocks : {&small_blocks, &large_blocks}) {
      for (auto position = blocks->begin(); position != blocks->end();) {
        Block* block = *position;
        if (block->previous || block->next) {
          ++position;
          continue;
        }
        // A device that a kernel has broken frees nothing, and every later call says so: tensors die without a word.
        if (cudaFree(block->data) != cudaSuccess) cudaGetLastError();
        statistics.reserved -= static_cast<int64_t>(block->bytes);
        position = blocks->erase(position);
        delete block;
      }
    }
  }

  [[noreturn]] void throw_out_of_memory(size_t bytes, DeviceIndex device) const {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    constexpr double mib = 1024.0 * 1024.0;
    throw OutOfMemoryError(detail::concatenate(
        "CUDA out of memory. Tried to allocate ", static_cast<double>(bytes) / mib, " MiB. GPU ", int{device}, " has ",
        static_cast<double>(total_bytes) / mib, " MiB in all, ", static_cast<double>(free_bytes) / mib, " MiB free; torch has reserved ",
        static_cast<double>(statistics.reserved) / mib, " MiB, of which tensors use ",
        static_cast<double>(statistics.allocated) / mib, " MiB."));
  }
};

DevicePool& pool(DeviceIndex device) {
  // Never destroyed: tensors may die after static destructors have run.
  static auto* pools = new std::array<DevicePool, 64>();
  return (*pools)[static_cast<size_t>(device)];
}

class CachingAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    const DeviceIndex device = current_device();
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, Device(kCUDA, device));
    Block* block = pool(device).take(keeps_memory() ? round_up(bytes, kGranularity) : bytes, device, current_stream(device));
    return DataPtr(block->data, block, &release, Device(kCUDA, device));
  }

 private:
  static void release(void* context) {
    auto* block = static_cast<Block*>(context);
    pool(block->device).give_back(block);
  }
};

}  // namespace

Allocator* caching_allocator() {
  static auto* allocator = new CachingAllocator();
  return allocator;
}

void empty_cache() {
  const DeviceIndex previous = current_device();
  for (int device = 0; device < device_count(); ++device) {
    set_device(static_cast<DeviceIndex>(device));
    pool(static_cast<DeviceIndex>(device)).empty();
  }
  set_device(previous);
}

MemoryStatistics memory_statistics(DeviceIndex device) {
  DevicePool& device_pool = pool(device);
  const std::lock_guard<std::mutex> lock(device_pool.mutex);
  return device_pool.statistics;
}

void reset_peak_statistics(DeviceIndex device) {
  DevicePool& device_pool = pool(device);
  const std::lock_guard<std::mutex> lock(device_pool.mutex);
  device_pool.statistics.peak_allocated = device_pool.statistics.allocated;
  device_pool.statistics.peak_reserved = device_pool.statistics.reserved;
}

void record_stream(void* data, cudaStream_t stream) { pool(current_device()).record_use(data, stream); }

}  // namespace c10::cuda
