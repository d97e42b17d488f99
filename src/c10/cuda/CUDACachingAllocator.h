#pragma once
// Device memory, kept instead of given back. cudaMalloc and cudaFree wait for the device; a freed block that is handed
// out again on the same stream needs no waiting, because work on a stream runs in order.
//
// Blocks belong to one device and one stream. Requests are rounded to 512 bytes; those up to 1 MiB are carved out of
// 2 MiB segments, those up to 10 MiB out of 20 MiB segments, larger ones get their own segment in multiples of 2 MiB. A
// free block is split when the rest is worth keeping, and merged with its free neighbours when it comes back. When the
// device is full, all free segments are given back and the request is tried once more.
//
// PYTORCH_NO_CUDA_MEMORY_CACHING=1: each tensor gets memory of its own from the driver, so that tools that watch memory
// (compute-sanitizer) see where it begins and ends.

#include <c10/core/Allocator.h>
#include <c10/cuda/CUDAException.h>

#include <cstdint>

namespace c10::cuda {

// Bytes on one device.
struct MemoryStatistics {
  int64_t allocated = 0;       // in use by tensors
  int64_t peak_allocated = 0;  // the most that was ever in use, since reset_peak_statistics()
  int64_t reserved = 0;        // taken from the device, in use or kept
  int64_t peak_reserved = 0;
  int64_t device_allocations = 0;  // calls of cudaMalloc
};

C10_CUDA_API Allocator* caching_allocator();
// Gives every free segment back to the device.
C10_CUDA_API void empty_cache();
C10_CUDA_API MemoryStatistics memory_statistics(DeviceIndex device);
C10_CUDA_API void reset_peak_statistics(DeviceIndex device);
// Says that `data`, allocated on another stream, is also used on `stream`: it is reused only after that use.
C10_CUDA_API void record_stream(void* data, cudaStream_t stream);

}  // namespace c10::cuda
