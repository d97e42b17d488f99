#pragma once
// Streams of the current device. Work is queued on the calling thread's current stream, the legacy default stream
// unless a StreamGuard says otherwise; memory is reused in stream order (CUDACachingAllocator.h).

#include <c10/core/Device.h>
#include <c10/cuda/CUDAException.h>

namespace c10::cuda {

C10_CUDA_API DeviceIndex current_device();
C10_CUDA_API void set_device(DeviceIndex index);
C10_CUDA_API int device_count() noexcept;

// The stream that the calling thread queues work on, for `device` (-1: the current one).
C10_CUDA_API cudaStream_t current_stream(DeviceIndex device = -1);
C10_CUDA_API void set_current_stream(cudaStream_t stream, DeviceIndex device = -1);
// A stream from a pool of 32 per device and priority (0, or below for more urgent work), made on first use and kept for
// the process, so handing one out is cheap.
C10_CUDA_API cudaStream_t stream_from_pool(DeviceIndex device = -1, int priority = 0);
// Whether all work of a stream is done.
C10_CUDA_API bool has_finished(cudaStream_t stream);
C10_CUDA_API void synchronize(DeviceIndex device = -1);

// Makes `stream` current in this scope.
class StreamGuard {
 public:
  explicit StreamGuard(cudaStream_t stream) : previous_(current_stream()) { set_current_stream(stream); }
  ~StreamGuard() { set_current_stream(previous_); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  cudaStream_t previous_;
};

// A point in a stream's work that the host or another stream can wait for.
class C10_CUDA_API Event {
 public:
  explicit Event(bool timing = false);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream);
  void wait(cudaStream_t stream) const;
  bool query() const;
  void synchronize() const;
  // Milliseconds from `start` to this event; both made with timing.
  float elapsed_since(const Event& start) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace c10::cuda
