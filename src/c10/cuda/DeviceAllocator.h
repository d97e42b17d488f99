#pragma once
// The memory of one device: segments from cudaMalloc, cut into blocks, kept for reuse by the stream they were made for.

#include <c10/core/Backend.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/MemoryStatistics.h>

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
  uint64_t freed_as = 0;        // how many blocks had been freed by then
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

// A freed block that other streams may still read, and the events that tell when they are done;
// none as long as graphs are recorded.
struct Pending {
  Block* block;
  std::vector<std::unique_ptr<Event>> events;
};

class DeviceAllocator {
 public:
  // It begins at a multiple of 256 bytes: kernels that read 16 at once look no further than at where a view begins.
  Block* take(size_t requested, DeviceIndex device, cudaStream_t stream);
  void give_back(Block* block);
  void record_use(void* data, cudaStream_t stream);
  void empty();
  void redirect(const Redirection& redirection);
  void end_redirect(unsigned long long capture);
  MemoryNumbers numbers();
  void reset_numbers(bool totals);
  void limit(double fraction);
  double limit();
  void list_segments(std::vector<MemorySegment>& segments);

 private:
  std::mutex mutex_;
  Pool shared_;
  std::map<MemoryPool, Pool> pools_;
  std::unordered_map<void*, Block*> used_;
  std::list<Pending> pending_;
  std::vector<Redirection> redirections_;
  MemoryStatistics statistics_;
  double fraction_ = 1;
  uint64_t freed_ = 0;  // blocks, ever

  template <typename Body>
  void for_each_pool(const Body& body) {
    body(shared_);
    for (auto& [number, pool] : pools_) body(pool);
  }

  // Whether a graph is recorded: then no event may be asked, and nothing waited for.
  bool captures() const;
  Pool& pool_for(cudaStream_t stream);
  void count_handed_out(const Block& block, int sign);
  void count_active(const Block& block, int sign);
  // A free block in a segment of which something else is used.
  void count_split(const Block& block, int sign);
  Block* find_free(Pool& pool, size_t bytes, cudaStream_t stream);
  Block* new_segment(Pool& pool, size_t bytes, DeviceIndex device, cudaStream_t stream);
  void split(Block* block, size_t bytes);
  void make_free(Block* block);
  static bool is_idle(const Block* block) { return !block->in_use && !block->awaits_streams; }
  static void record_events(Pending& entry);
  void collect_pending(bool wait);
  void release_free_segments();
  // Gives free segments back, those first that were not used for longest, until the threshold has room for `bytes`.
  void collect_garbage(size_t bytes, double most);
  void release(FreeBlocks& blocks, FreeBlocks::iterator& position);
  [[noreturn]] void throw_out_of_memory(size_t bytes, DeviceIndex device);
};

// Whether somebody holds a pool; pools that nobody holds give their memory back. (CUDACachingAllocator.cpp)
bool is_held(MemoryPool pool);

}  // namespace c10::cuda
