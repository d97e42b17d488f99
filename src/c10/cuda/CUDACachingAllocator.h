#pragma once
// Device memory, kept instead of given back. cudaMalloc and cudaFree wait for the device; a freed block that is handed
// out again on the same stream needs no waiting, because work on a stream runs in order.
//
// Blocks belong to one device and one stream. Requests are rounded to 512 bytes; those up to 1 MiB are carved out of
// 2 MiB segments, those up to 10 MiB out of 20 MiB segments, larger ones get their own segment in multiples of 2 MiB. A
// free block is split when the rest is worth keeping, and merged with its free neighbours when it comes back. When the
// device is full, all free segments are given back and the request is tried once more.
//
// While a graph is recorded, memory of its streams comes from the graph's pool: its addresses are in the graph, so that
// it is kept as long as the graph is.
//
// PYTORCH_NO_CUDA_MEMORY_CACHING=1: each tensor gets memory of its own from the driver, so that tools that watch memory
// (compute-sanitizer) see where it begins and ends.

#include <c10/core/Allocator.h>
#include <c10/core/Backend.h>
#include <c10/cuda/CUDAException.h>

#include <cstdint>
#include <vector>

namespace c10::cuda {

C10_CUDA_API Allocator* caching_allocator();
// Gives every free segment back to the device.
C10_CUDA_API void empty_cache();
C10_CUDA_API MemoryNumbers memory_numbers(DeviceIndex device);
C10_CUDA_API void reset_memory_numbers(DeviceIndex device, bool totals);
C10_CUDA_API std::vector<MemorySegment> memory_segments();
// No more than `fraction` of the device's memory is taken.
C10_CUDA_API void limit_memory(DeviceIndex device, double fraction);
C10_CUDA_API double memory_limit(DeviceIndex device);
// Says that `data`, allocated on another stream, is also used on `stream`: it is reused only after that use.
C10_CUDA_API void record_stream(void* data, cudaStream_t stream);

// Pools: memory of one is never handed out of another, and stays as long as somebody holds it. One begins with `hold`,
// and what asks for memory on a device gets it from the pool between `redirect` and `end_redirect`: the calling thread,
// or (`capture` is not 0) whoever works on a stream that this graph records.
C10_CUDA_API MemoryPool new_pool();
C10_CUDA_API void hold_pool(MemoryPool pool);
C10_CUDA_API void release_pool(MemoryPool pool);
C10_CUDA_API void redirect(DeviceIndex device, MemoryPool pool, unsigned long long capture = 0);
C10_CUDA_API void end_redirect(DeviceIndex device, unsigned long long capture = 0);

}  // namespace c10::cuda
