#pragma once
// Kernels that know one integer type only, int64, as in PyTorch: averages and transposed convolutions.

#include <aten/Dispatch.h>

namespace at::native::cpu {

// body(TypeTag<T>()) with T float, double or int64_t.
template <typename Body>
void dispatch_floating_types_and_int64(ScalarType dtype, const char* name, Body&& body) {
  if (dtype == kLong) return body(TypeTag<int64_t>());
  dispatch_floating_types(dtype, name, body);
}

}  // namespace at::native::cpu
