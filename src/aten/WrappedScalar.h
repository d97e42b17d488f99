#pragma once
// Numbers as tensors, so that `t + 2` and `t + u` are one operator.

#include <aten/Tensor.h>

namespace at {

// A 0-dim CPU tensor that holds `value` (float64, int64 or bool) and promotes as a number does. It stays on the CPU:
// kernels of other devices read it from there. On Meta (and only there) it has no data.
TORCH_API Tensor wrapped_scalar_tensor(const Scalar& value, Device like = kCPU);

}  // namespace at
