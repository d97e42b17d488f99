#include <c10/cuda/AllocatorSettings.h>
#include <c10/cuda/CUDAGraph.h>
#include <c10/cuda/DeviceAllocator.h>

#include <algorithm>
#include <cstdlib>

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

}  // namespace

Block* DeviceAllocator::take(size_t requested, DeviceIndex device, cudaStream_t stream) {
  const size_t bytes = keeps_memory() ? allocator_settings().round_up(requested, kGranularity) : requested;
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

void DeviceAllocator::give_back(Block* block) {
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

void DeviceAllocator::record_use(void* data, cudaStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = used_.find(data);
  if (found == used_.end() || found->second->stream == stream) return;
  auto& streams = found->second->other_streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
}

void DeviceAllocator::empty() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (captures()) return;
  collect_pending(/*wait=*/true);
  release_free_segments();
}

void DeviceAllocator::redirect(const Redirection& redirection) {
  const std::lock_guard<std::mutex> lock(mutex_);
  redirections_.push_back(redirection);
}

void DeviceAllocator::end_redirect(unsigned long long capture) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto own = std::find_if(redirections_.rbegin(), redirections_.rend(), [&](const Redirection& one) {
    return one.capture == capture && (capture != 0 || one.thread == std::this_thread::get_id());
  });
  if (own != redirections_.rend()) redirections_.erase(std::next(own).base());
}

MemoryNumbers DeviceAllocator::numbers() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return statistics_.numbers();
}

void DeviceAllocator::reset_numbers(bool totals) {
  const std::lock_guard<std::mutex> lock(mutex_);
  statistics_.reset(totals);
}

void DeviceAllocator::limit(double fraction) {
  const std::lock_guard<std::mutex> lock(mutex_);
  fraction_ = fraction;
}

double DeviceAllocator::limit() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return fraction_;
}

void DeviceAllocator::list_segments(std::vector<MemorySegment>& segments) {
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
      const char* state = block->in_use           ? "active_allocated"
                          : block->awaits_streams ? "active_awaiting_free"
                                                  : "inactive";
      segment.blocks.push_back({static_cast<int64_t>(block->bytes), static_cast<int64_t>(block->requested), state});
      segment.bytes += static_cast<int64_t>(block->bytes);
    }
    segments.push_back(std::move(segment));
  }
}

bool DeviceAllocator::captures() const {
  return std::any_of(redirections_.begin(), redirections_.end(),
                     [](const Redirection& one) { return one.capture != 0; });
}

Pool& DeviceAllocator::pool_for(cudaStream_t stream) {
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

void DeviceAllocator::count_handed_out(const Block& block, int sign) {
  statistics_.allocation.add(block.small, sign);
  statistics_.allocated_bytes.add(block.small, sign * static_cast<int64_t>(block.bytes));
  statistics_.requested_bytes.add(block.small, sign * static_cast<int64_t>(block.requested));
}

void DeviceAllocator::count_active(const Block& block, int sign) {
  statistics_.active.add(block.small, sign);
  statistics_.active_bytes.add(block.small, sign * static_cast<int64_t>(block.bytes));
}

void DeviceAllocator::count_split(const Block& block, int sign) {
  if (!block.previous && !block.next) return;
  statistics_.inactive_split.add(block.small, sign);
  statistics_.inactive_split_bytes.add(block.small, sign * static_cast<int64_t>(block.bytes));
}

Block* DeviceAllocator::find_free(Pool& pool, size_t bytes, cudaStream_t stream) {
  FreeBlocks& blocks = pool.free_blocks(bytes <= kSmallRequest);
  Block wanted;
  wanted.bytes = bytes;
  wanted.stream = stream;
  const auto found = blocks.lower_bound(&wanted);
  if (found == blocks.end() || (*found)->stream != stream) return nullptr;
  Block* block = *found;
  // What a graph freed while it was recorded; cut into sizes that nobody rounded, it would begin anywhere.
  if (!keeps_memory() && block->bytes != bytes) return nullptr;
  // A big block is not broken up for a much smaller request that would get a segment of its own.
  if (bytes >= kMediumRequest && block->bytes > 2 * bytes) return nullptr;
  const AllocatorSettings& settings = allocator_settings();
  if (bytes < settings.max_split_size ? block->bytes >= settings.max_split_size
                                      : block->bytes - bytes >= settings.max_non_split_rounding)
    return nullptr;
  blocks.erase(found);
  count_split(*block, -1);
  return block;
}

Block* DeviceAllocator::new_segment(Pool& pool, size_t bytes, DeviceIndex device, cudaStream_t stream) {
  const size_t size = segment_size(bytes);
  if (fraction_ < 1) {
    size_t free_bytes = 0, total_bytes = 0;
    C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    const double most = fraction_ * static_cast<double>(total_bytes);
    collect_garbage(size, most);
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

void DeviceAllocator::split(Block* block, size_t bytes) {
  const size_t rest = block->bytes - bytes;
  if (rest < (block->small ? kGranularity : kSmallRequest)) return;
  if (!block->small && bytes >= allocator_settings().max_split_size) return;
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

void DeviceAllocator::make_free(Block* block) {
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
  block->freed_as = ++freed_;
  blocks.insert(block);
  count_split(*block, 1);
}

void DeviceAllocator::record_events(Pending& entry) {
  for (cudaStream_t stream : entry.block->other_streams) {
    entry.events.push_back(std::make_unique<Event>());
    entry.events.back()->record(stream);
  }
  entry.block->other_streams.clear();
}

void DeviceAllocator::collect_pending(bool wait) {
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    record_events(*entry);  // of what was freed while a graph was recorded
    if (wait) {
      for (const auto& event : entry->events) event->synchronize();
    } else if (!std::all_of(entry->events.begin(), entry->events.end(),
                            [](const auto& event) { return event->query(); })) {
      ++entry;
      continue;
    }
    Block* block = entry->block;
    entry = pending_.erase(entry);
    block->awaits_streams = false;
    make_free(block);
  }
  if (!keeps_memory()) release_free_segments();
}

void DeviceAllocator::release_free_segments() {
  for_each_pool([&](Pool& pool) {
    if (pool.number != 0 && is_held(pool.number)) return;
    for (FreeBlocks* blocks : {&pool.small_blocks, &pool.large_blocks}) {
      for (auto position = blocks->begin(); position != blocks->end();) {
        Block* block = *position;
        if (block->previous || block->next) {
          ++position;
          continue;
        }
        release(*blocks, position);
      }
    }
  });
}

void DeviceAllocator::release(FreeBlocks& blocks, FreeBlocks::iterator& position) {
  Block* block = *position;
  // A device that a kernel has broken frees nothing, and every later call says so: tensors die without a word.
  if (cudaFree(block->data) != cudaSuccess) cudaGetLastError();
  statistics_.segment.add(block->small, -1);
  statistics_.reserved_bytes.add(block->small, -static_cast<int64_t>(block->bytes));
  ++statistics_.device_frees;
  position = blocks.erase(position);
  delete block;
}

void DeviceAllocator::collect_garbage(size_t bytes, double most) {
  const double threshold = allocator_settings().garbage_collection_threshold * most;
  const auto is_beyond = [&] {
    return static_cast<double>(statistics_.reserved_bytes.current()) + static_cast<double>(bytes) > threshold;
  };
  if (threshold == 0 || captures()) return;
  while (is_beyond()) {
    FreeBlocks& blocks = shared_.large_blocks;
    auto oldest = blocks.end();
    for (auto position = blocks.begin(); position != blocks.end(); ++position) {
      const bool is_whole = !(*position)->previous && !(*position)->next;
      if (is_whole && (oldest == blocks.end() || (*position)->freed_as < (*oldest)->freed_as)) oldest = position;
    }
    if (oldest == blocks.end()) return;
    release(blocks, oldest);
  }
}

void DeviceAllocator::throw_out_of_memory(size_t bytes, DeviceIndex device) {
  ++statistics_.out_of_memory;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  cudaMemGetInfo(&free_bytes, &total_bytes);
  constexpr double mib = 1024.0 * 1024.0;
  throw OutOfMemoryError(detail::concatenate(
      "CUDA out of memory. Tried to allocate ", static_cast<double>(bytes) / mib, " MiB. GPU ", int{device}, " has ",
      static_cast<double>(total_bytes) / mib, " MiB in all, ", static_cast<double>(free_bytes) / mib,
      " MiB free; torch has reserved ", static_cast<double>(statistics_.reserved_bytes.current()) / mib,
      " MiB, of which tensors use ", static_cast<double>(statistics_.allocated_bytes.current()) / mib, " MiB.",
      fraction_ < 1 ? detail::concatenate(" It may take ", fraction_, " of the device.") : std::string()));
}

}  // namespace c10::cuda
