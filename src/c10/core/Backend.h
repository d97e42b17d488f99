#pragma once
// What a device backend gives to the rest of torch. CPU and Meta are built in; the CUDA plug-in registers itself when
// it is loaded (aten/Plugin.h).

#include <c10/core/Allocator.h>
#include <c10/core/GeneratorImpl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

// What a device is.
struct DeviceFacts {
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  int64_t total_memory = 0;  // bytes
};
// Numbers about memory, by PyTorch's names for them: ("allocated_bytes.all.current", 512).
using MemoryNumbers = std::vector<std::pair<std::string, int64_t>>;

// A queue of work on a device; what it is, only its backend knows. Null is the default stream.
using StreamHandle = void*;

// Memory of graphs and of programs is kept in pools of its own, each with a number; 0 is everybody's.
using MemoryPool = uint64_t;

// What the allocator holds of a device, and its parts.
struct MemorySegment {
  struct Block {
    int64_t bytes = 0;
    int64_t requested = 0;
    const char* state = "";  // active_allocated, active_awaiting_free, inactive
  };
  DeviceIndex device = 0;
  intptr_t address = 0;
  int64_t bytes = 0;
  StreamHandle stream = nullptr;
  MemoryPool pool = 0;
  bool is_small = false;
  std::vector<Block> blocks;
};

// A point in a stream's work that the host or another stream can wait for.
class C10_API DeviceEvent {
 public:
  virtual ~DeviceEvent();
  virtual void record(StreamHandle stream) = 0;
  virtual void wait(StreamHandle stream) const = 0;
  virtual bool query() const = 0;
  virtual void synchronize() const = 0;
  // Milliseconds from `start`, an event of the same backend.
  virtual float elapsed_since(const DeviceEvent& start) const = 0;
};

// Work on a device that is recorded instead of done, and then done as often as one likes.
class C10_API DeviceGraph {
 public:
  virtual ~DeviceGraph();
  // Records what goes to the current stream of the calling thread; memory comes from `pool`.
  // Modes are CUDA's: "global", ...
  virtual void begin(MemoryPool pool, const std::string& mode) = 0;
  virtual void end() = 0;
  virtual void instantiate() = 0;
  // On the current stream.
  virtual void replay() = 0;
  // Forgets the record, and its hold on memory.
  virtual void reset() = 0;
};

class C10_API Backend {
 public:
  virtual ~Backend();
  virtual Allocator* allocator() = 0;
  virtual int device_count() = 0;
  virtual DeviceIndex current_device() = 0;
  virtual void set_device(DeviceIndex index) = 0;
  // Waits for all work on the device.
  virtual void synchronize(DeviceIndex index) = 0;
  virtual intrusive_ptr<GeneratorImpl> default_generator(DeviceIndex index) = 0;
  virtual intrusive_ptr<GeneratorImpl> new_generator(DeviceIndex index) = 0;
  // Devices with memory of their own tell about it; the others have nothing to tell.
  virtual DeviceFacts device_facts(DeviceIndex index);
  virtual MemoryNumbers memory_numbers(DeviceIndex index);
  // The most that there was, or (`totals`) sums over time, begin anew.
  virtual void reset_memory_numbers(DeviceIndex index, bool totals);
  virtual std::vector<MemorySegment> memory_segments();
  // No more than this share of a device's memory is taken.
  virtual void limit_memory(DeviceIndex index, double fraction);
  virtual double memory_limit(DeviceIndex index);
  // Gives memory that is kept for reuse back to the devices.
  virtual void empty_cache();
  // Bytes of a device that nobody uses, and all of them.
  virtual std::pair<int64_t, int64_t> free_and_total_memory(DeviceIndex index);

  // Streams: of the calling thread; the device of a stream must be current. Devices without streams refuse.
  virtual StreamHandle current_stream(DeviceIndex index);
  virtual void set_current_stream(StreamHandle stream, DeviceIndex index);
  virtual StreamHandle new_stream(DeviceIndex index, int priority);
  virtual void synchronize_stream(StreamHandle stream);
  virtual bool query_stream(StreamHandle stream);
  virtual std::unique_ptr<DeviceEvent> new_event(bool timing);
  // Says that memory of the backend, made on another stream, is used on `stream`, too.
  virtual void record_stream(void* data, StreamHandle stream);

  // Memory of the host that the devices read and write by themselves.
  virtual Allocator* pinned_allocator();
  virtual bool is_pinned(const void* data);

  // The number of a new pool; memory that the calling thread asks for comes
  // from `pool` between the two calls, which nest.
  virtual MemoryPool new_memory_pool();
  virtual void enter_memory_pool(DeviceIndex index, MemoryPool pool);
  virtual void leave_memory_pool(DeviceIndex index);
  virtual void release_memory_pool(MemoryPool pool);
  virtual std::unique_ptr<DeviceGraph> new_graph();
  // Whether work on the current stream is recorded.
  virtual bool is_capturing();
  virtual bool can_access_peer(DeviceIndex index, DeviceIndex peer);
};

// The backend of `type`. For CUDA, loads the plug-in first; throws Error with the reason when that fails.
C10_API Backend& get_backend(DeviceType type);
// Null when it is not there (yet); never loads anything.
C10_API Backend* find_backend(DeviceType type);
// Called by backends once; `backend` lives as long as the process.
C10_API void register_backend(DeviceType type, Backend* backend);
// Called when a backend is asked for that is not there; it registers one or throws.
C10_API void set_backend_loader(void (*loader)(DeviceType type));

// The seed for default generators of devices whose backend is not loaded yet; none: their own default.
C10_API void remember_seed(uint64_t seed);
C10_API std::optional<uint64_t> remembered_seed();

// Makes `device` current and restores what was before. Does nothing for CPU and Meta.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) {
    if (C10_LIKELY(!device.is_cuda()) || !device.has_index()) return;
    backend_ = &get_backend(device.type());
    previous_ = backend_->current_device();
    if (previous_ != device.index()) backend_->set_device(device.index());
  }
  ~DeviceGuard() {
    if (backend_) backend_->set_device(previous_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  Backend* backend_ = nullptr;
  DeviceIndex previous_ = -1;
};

}  // namespace c10
