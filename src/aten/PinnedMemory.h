#pragma once
// Tensors in memory of the host that CUDA devices read and write by themselves, so that copies run beside other work.

#include <aten/EmptyTensor.h>

namespace at {

// `self` if it is pinned already, else a copy with the same strides where they are dense. Throws Error without a CUDA
// device, and for tensors that are not on the CPU.
TORCH_API Tensor pin_memory(const Tensor& self);
// Whether a CPU tensor's memory is pinned. Loads nothing: without a device used by this process, none is.
TORCH_API bool is_pinned(const Tensor& self);

namespace detail {

TORCH_API Tensor empty_pinned(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device);

// As factories are asked for it: options may want pinned memory.
inline Tensor empty_as_asked(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, const TensorOptions& options) {
  if (options.pinned_memory()) return empty_pinned(sizes, strides, dtype, options.device());
  return empty_strided(sizes, strides, dtype, options.device());
}
inline Tensor empty_as_asked(IntArrayRef sizes, ScalarType dtype, const TensorOptions& options) {
  if (options.pinned_memory())
    return empty_pinned(sizes, c10::strides_in(MemoryFormat::Contiguous, sizes), dtype, options.device());
  return empty(sizes, dtype, options.device());
}
inline Tensor empty_as_asked(IntArrayRef sizes, const TensorOptions& options) {
  return empty_as_asked(sizes, options.dtype(), options);
}

}  // namespace detail
}  // namespace at
