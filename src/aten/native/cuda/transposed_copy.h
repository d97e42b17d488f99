#pragma once
// Copies whose neighbours are neighbours on one side only.

#include <aten/TensorIterator.h>

namespace at::native::cuda {

// out[...] = in[...] for two operands of one dtype, through tiles of shared memory. False: not of that kind, or too
// narrow to gain by it; nothing was done.
bool copy_transposed(const TensorIterator& iter);

}  // namespace at::native::cuda
