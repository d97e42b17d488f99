#pragma once
// Runs the threads of a grid: blocks one after another in an order that chance decides, a block's threads as fibers.

#include <cuda_emulation.h>

namespace cuda_emulation {

cudaError_t run_grid(const Launch& launch, int device);
// A kernel reads or writes memory: may fail, and may let another thread go first.
void check_access(const void* address, size_t bytes, bool writes);

}  // namespace cuda_emulation
