#pragma once
// Runs the threads of a grid: blocks one after another in an order that chance decides, a block's threads as fibers.

#include <cuda_emulation.h>

namespace cuda_emulation {

cudaError_t run_grid(const Launch& launch, int device);
// A kernel reads or writes memory: may fail, and may let another thread go first.
// `aligned`: all `bytes` at once, which a device does only at their multiples.
void check_access(const void* address, size_t bytes, bool writes, bool aligned);

}  // namespace cuda_emulation
