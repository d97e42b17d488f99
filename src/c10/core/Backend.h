#pragma once
// What a device backend gives to the rest of torch. CPU and Meta are built in; the CUDA plug-in registers itself when it
// is loaded (aten/Plugin.h).

#include <c10/core/Allocator.h>
#include <c10/core/GeneratorImpl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace c10 {

// What a device is.
struct DeviceFacts {
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  int64_t total_memory = 0;  // bytes
};
// Bytes of one device: in use by tensors, taken from the device, and the most of both since the last reset.
struct DeviceMemory {
  int64_t allocated = 0;
  int64_t reserved = 0;
  int64_t max_allocated = 0;
  int64_t max_reserved = 0;
};

// A queue of work on a device; what it is, only its backend knows. Null is the default stream.
using StreamHandle = void*;

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
  virtual DeviceMemory device_memory(DeviceIndex index);
  virtual void reset_peak_memory(DeviceIndex index);
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
