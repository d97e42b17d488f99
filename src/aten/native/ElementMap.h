#pragma once
// What the kernels of sum_mapped_kernels make of each element before it is added.

namespace at::native {

// The element, its square, its magnitude, or it if it is a number and else 0.
enum class ElementMap { none, square, magnitude, numbers };

}  // namespace at::native
