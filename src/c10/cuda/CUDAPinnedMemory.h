#pragma once
// Memory of the host that devices read and write by themselves, while the host goes on. cudaHostAlloc is slow and waits
// for the devices, so that what was freed is kept;
// a copy that still uses it is waited for before it is handed out again.

#include <c10/core/Allocator.h>
#include <c10/core/Backend.h>
#include <c10/cuda/CUDAException.h>

namespace c10::cuda {

C10_CUDA_API Allocator* pinned_allocator();
// Whether the driver knows the address as pinned, whoever has made it so.
C10_CUDA_API bool is_pinned(const void* data);
// Says that work on `stream` uses this memory of the allocator; of other memory nothing happens.
C10_CUDA_API void record_pinned_use(const void* data, cudaStream_t stream);
C10_CUDA_API MemoryNumbers pinned_memory_numbers();
C10_CUDA_API void reset_pinned_memory_numbers(bool totals);

}  // namespace c10::cuda
