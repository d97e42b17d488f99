#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/MemoryStatistics.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
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

struct Pool;

// A stretch of a segment. Neighbours within the segment are linked, so that free ones can be merged.
struct Block {
  char* data = nullptr;
  size_t bytes = 0;
  size_t requested = 0;
  Pool* pool = nullptr;
  DeviceIndex device = 0;
  cudaStream_t stream = nullptr;
  bool small = false;
  bool in_use = false;
  bool awaits_streams = false;  // freed, and other streams may still read it
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

// Free memory: everybody's, or that of graphs and programs which hold it.
struct Pool {
  MemoryPool number = 0;
  FreeBlocks small_blocks;
  FreeBlocks large_blocks;

  FreeBlocks& free_blocks(bool small) { return small ? small_blocks : large_blocks; }
};

// Who gets memory from a pool: a thread, or the streams that a graph records.
struct Redirection {
  MemoryPool pool;
  std::thread::id thread;
  unsigned long long capture;
};

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

bool is_held(MemoryPool pool) {
  const std::lock_guard<std::mutex> lock(holders().mutex);
  const auto found = holders().count.find(pool);
  return found != holders().count.end() && found->second > 0;
}

// The graph that records a stream; 0: none.
unsigned long long capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  if (stream == nullptr || cudaStreamGetCaptureInfo(stream, &status, &number) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return status == cudaStreamCaptureStatusActive ? number : 0;
}

// A freed block that other streams may still read, and the events that tell when they are done; none as long as graphs are recorded.
struct Pending {
  Block* block;
  std::vector<std::unique_ptr<Event>> events;
};

class DeviceAllocator {
 public:
  Block* take(size_t requested, DeviceIndex device, cudaStream_t stream) {
    const size_t bytes = keeps_memory() ? round_up(requested, kGranularity) : requested;
    const std::lock_guard<std::mutex> lock(mutex_);
    Pool& pool = pool_for(stream);
    if (!captures()) collect_pending(/*wait=*/false);
    Block* block = find_free(pool, bytes, stream);
    if (block == nullptr) block = new_segment(pool, bytes, device, stream);
    if (block == nullptr && !captures()) {
      ++statistics_.retries;
      collect_pending(/*wait=*/true);
      release_free_segments();
      block = find_free(pool, bytes, stream);
      if (block == nullptr) block = new_segment(pool, bytes, device, stream);
    }
    if (block == nullptr) throw_out_of_memory(bytes, device);
    split(block, bytes);
    block->in_use = true;
    block->requested = requested;
    used_.emplace(block->data, block);
    count_handed_out(*block, 1);
    count_active(*block, 1);
    return block;
  }

  void give_back(Block* block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    used_.erase(block->data);
    block->in_use = false;
    count_handed_out(*block, -1);
    if (block->other_streams.empty()) {
      make_free(block);
      if (!keeps_memory() && !captures()) release_free_segments();
      return;
    }
    block->awaits_streams = true;
    pending_.push_back({block, {}});
    if (!captures()) record_events(pending_.back());
  }

  void record_use(void* data, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = used_.find(data);
    if (found == used_.end() || found->second->stream == stream) return;
    auto& streams = found->second->other_streams;
    if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  }

  void empty() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (captures()) return;
    collect_pending(/*wait=*/true);
    release_free_segments();
  }

  void redirect(const Redirection& redirection) {
    const std::lock_guard<std::mutex> lock(mutex_);
    redirections_.push_back(redirection);
  }

  void end_redirect(unsigned long long capture) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto own = std::find_if(redirections_.rbegin(), redirections_.rend(), [&](const Redirection& one) {
      return one.capture == capture && (capture != 0 || one.thread == std::this_thread::get_id());
    });
    if (own != redirections_.rend()) redirections_.erase(std::next(own).base());
  }

  MemoryNumbers numbers() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return statistics_.numbers();
  }
  void reset_numbers(bool totals) {
    const std::lock_guard<std::mutex> lock(mutex_);
    statistics_.reset(totals);
  }

  void limit(double fraction) {
    const std::lock_guard<std::mutex> lock(mutex_);
    fraction_ = fraction;
  }
  double limit() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return fraction_;
  }

  void list_segments(std::vector<MemorySegment>& segments) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::map<char*, const Block*> begins;
    const auto add = [&](const Block* block) {
      while (block->previous) block = block->previous;
      begins.emplace(block->data, block);
    };
    for (const auto& [data, block] : used_) add(block);
    for (const Pending& entry : pending_) add(entry.block);
    for_each_pool([&](Pool& pool) {
      for (const Block* block : pool.small_blocks) add(block);
      for (const Block* block : pool.large_blocks) add(block);
    });
    for (const auto& [data, first] : begins) {
      MemorySegment segment;
      segment.device = first->device;
      segment.address = reinterpret_cast<intptr_t>(data);
      segment.stream = first->stream;
      segment.pool = first->pool->number;
      segment.is_small = first->small;
      for (const Block* block = first; block; block = block->next) {
        const char* state = block->in_use ? "active_allocated" : block->awaits_streams ? "active_awaiting_free" : "inactive";
        segment.blocks.push_back({static_cast<int64_t>(block->bytes), static_cast<int64_t>(block->requested), state});
        segment.bytes += static_cast<int64_t>(block->bytes);
      }
      segments.push_back(std::move(segment));
    }
  }

 private:
  std::mutex mutex_;
  Pool shared_;
  std::map<MemoryPool, Pool> pools_;
  std::unordered_map<void*, Block*> used_;
  std::list<Pending> pending_;
  std::vector<Redirection> redirections_;
  MemoryStatistics statistics_;
  double fraction_ = 1;

  template <typename Body>
  void for_each_pool(const Body& body) {
    body(shared_);
    for (auto& [number, pool] : pools_) body(pool);
  }

  // Whether a graph is recorded: then no event may be asked, and nothing waited for.
  bool captures() const {
    return std::any_of(redirections_.begin(), redirections_.end(), [](const Redirection& one) { return one.capture != 0; });
  }

  Pool& pool_for(cudaStream_t stream) {
    if (redirections_.empty()) return shared_;
    const unsigned long long capture = capture_of(stream);
    for (auto one = redirections_.rbegin(); one != redirections_.rend(); ++one) {
      if (one->capture != 0 ? one->capture != capture : one->thread != std::this_thread::get_id()) continue;
      Pool& pool = pools_[one->pool];
      pool.number = one->pool;
      return pool;
    }
    return shared_;
  }

  void count_handed_out(const Block& block, int sign) {
    statistics_.allocation.add(block.small, sign);
    statistics_.allocated_bytes.add(block.small, sign * static_cast<int64_t>(block.bytes));
    statistics_.requested_bytes.add(block.small, sign * static_cast<int64_t>(block.requested));
  }
  void count_active(const Block& block, int sign) {
    statistics_.active.add(block.small, sign);
    statistics_.active_bytes.add(block.small, sign * static_cast<int64_t>(block.bytes));
  }
  // A free block in a segment of which something else is used.
  void count_split(const Block& block, int sign) {
    if (!block.previous && !block.next) return;
    statistics_.inactive_split.add(block.small, sign);
    statistics_.inactive_split_bytes.add(block.small, sign * static_cast<int64_t>(block.bytes));
  }

  Block* find_free(Pool& pool, size_t bytes, cudaStream_t stream) {
    FreeBlocks& blocks = pool.free_blocks(bytes <= kSmallRequest);
    Block wanted;
    wanted.bytes = bytes;
    wanted.stream = stream;
    const auto found = blocks.lower_bound(&wanted);
    if (found == blocks.end() || (*found)->stream != stream) return nullptr;
    Block* block = *found;
    // A big block is not broken up for a much smaller request that would get a segment of its own.
    if (bytes >= kMediumRequest && block->bytes > 2 * bytes) return nullptr;
    blocks.erase(found);
    count_split(*block, -1);
    return block;
  }

  Block* new_segment(Pool& pool, size_t bytes, DeviceIndex device, cudaStream_t stream) {
    const size_t size = segment_size(bytes);
    if (fraction_ < 1) {
      size_t free_bytes = 0, total_bytes = 0;
      C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
      const double most = fraction_ * static_cast<double>(total_bytes);
      if (static_cast<double>(statistics_.reserved_bytes.current()) + static_cast<double>(size) > most) return nullptr;
    }
    void* data = nullptr;
    const cudaError_t error = [&] {
      const RelaxedCapture relaxed;
      return cudaMalloc(&data, size);
    }();
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      return nullptr;
    }
    C10_CUDA_CHECK(error);
    auto* block = new Block();
    block->data = static_cast<char*>(data);
    block->bytes = size;
    block->pool = &pool;
    block->device = device;
    block->stream = stream;
    block->small = bytes <= kSmallRequest;
    statistics_.segment.add(block->small, 1);
    statistics_.reserved_bytes.add(block->small, static_cast<int64_t>(size));
    ++statistics_.device_allocations;
    return block;
  }

  void split(Block* block, size_t bytes) {
    const size_t rest = block->bytes - bytes;
    if (rest < (block->small ? kGranularity : kSmallRequest)) return;
    auto* remainder = new Block(*block);
    remainder->data = block->data + bytes;
    remainder->bytes = rest;
    remainder->requested = 0;
    remainder->previous = block;
    if (block->next) block->next->previous = remainder;
    block->next = remainder;
    block->bytes = bytes;
    block->pool->free_blocks(block->small).insert(remainder);
    count_split(*remainder, 1);
  }

  void make_free(Block* block) {
    count_active(*block, -1);
    block->requested = 0;
    FreeBlocks& blocks = block->pool->free_blocks(block->small);
    if (Block* left = block->previous; left && is_idle(left)) {
      count_split(*left, -1);
      blocks.erase(left);
      left->bytes += block->bytes;
      left->next = block->next;
      if (left->next) left->next->previous = left;
      delete block;
      block = left;
    }
    if (Block* right = block->next; right && is_idle(right)) {
      count_split(*right, -1);
      blocks.erase(right);
      block->bytes += right->bytes;
      block->next = right->next;
      if (block->next) block->next->previous = block;
      delete right;
    }
    blocks.insert(block);
    count_split(*block, 1);
  }

  static bool is_idle(const Block* block) { return !block->in_use && !block->awaits_streams; }

  static void record_events(Pending& entry) {
    for (cudaStream_t stream : entry.block->other_streams) {
      entry.events.push_back(std::make_unique<Event>());
      entry.events.back()->record(stream);
    }
    entry.block->other_streams.clear();
  }

  void collect_pending(bool wait) {
    for (auto entry = pending_.begin(); entry != pending_.end();) {
      record_events(*entry);  // of what was freed while a graph was recorded
      if (wait) {
        for (const auto& event : entry->events) event->synchronize();
      } else if (!std::all_of(entry->events.begin(), entry->events.end(), [](const auto& event) { return event->query(); })) {
        ++entry;
        continue;
      }
      Block* block = entry->block;
      entry = pending_.erase(entry);
      block->awaits_streams = false;
      make_free(block);
    }
  }

  void release_free_segments() {
    for_each_pool([&](Pool& pool) {
      if (pool.number != 0 && is_held(pool.number)) return;
      for (FreeBlocks* blocks : {&pool.small_blocks, &pool.large_blocks}) {
        for (auto position = blocks->begin(); position != blocks->end();) {
          Block* block = *position;
          if (block->previous || block->next) {
            ++position;
            continue;
          }
          // A device that a kernel has broken frees nothing, and every later call says so: tensors die without a word.
          if (cudaFree(block->data) != cudaSuccess) cudaGetLastError();
          statistics_.segment.add(block->small, -1);
          statistics_.reserved_bytes.add(block->small, -static_cast<int64_t>(block->bytes));
          ++statistics_.device_frees;
          position = blocks->erase(position);
          delete block;
        }
      }
    });
  }

  [[noreturn]] void throw_out_of_memory(size_t bytes, DeviceIndex device) {
    ++statistics_.out_of_memory;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    constexpr double mib = 1024.0 * 1024.0;
    throw OutOfMemoryError(detail::concatenate(
        "CUDA out of memory. Tried to allocate ", static_cast<double>(bytes) / mib, " MiB. GPU ", int{device}, " has ",
        static_cast<double>(total_bytes) / mib, " MiB in all, ", static_cast<double>(free_bytes) / mib, " MiB free; torch has reserved ",
        static_cast<double>(statistics_.reserved_bytes.current()) / mib, " MiB, of which tensors use ",
        static_cast<double>(statistics_.allocated_bytes.current()) / mib, " MiB.",
        fraction_ < 1 ? detail::concatenate(" It may take ", fraction_, " of the device.") : std::string()));
  }
};

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
  for (int device = 0; device < device_count(); ++device) allocator_of(static_cast<DeviceIndex>(device)).list_segments(segments);
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
