#pragma once
// Calling a kernel that takes tensors (kernels that take a TensorIterator are called by its run()).

#include <c10/core/Backend.h>

#include <utility>

namespace at::native {

// Calls the kernel of `device`'s backend with `device` as the current one.
template <typename Table, typename... Args>
void run_kernel(const Table& kernels, c10::Device device, Args&&... args) {
  const c10::DeviceGuard guard(device);
  kernels(device.type(), std::forward<Args>(args)...);
}

}  // namespace at::native
