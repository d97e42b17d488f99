#pragma once
// What takes the CPU one pass, and other devices several functions:
// TensorIterator::run takes these in place of a table.

#include <aten/TensorIterator.h>

namespace at::native::cpu {

// What a sum takes of each element: it, its square, its magnitude, or it if it is a number and else 0.
enum class ElementMap { none, square, magnitude, numbers };

// A sum, of floating types, of what `map` makes of the elements.
void sum_mapped(c10::DeviceType, TensorIterator& iter, ElementMap map);
void nan_to_num(c10::DeviceType, TensorIterator& iter, double nan, double above, double below);
// c (d - c / 2) with d = |a - b| and c = min(d, bound).
void half_square_up_to(c10::DeviceType, TensorIterator& iter, double bound);
// grad * (a - b), with a - b held in [-bound, bound].
void half_square_slope(c10::DeviceType, TensorIterator& iter, double bound);

// What would stand at `place` along `dim` if that were sorted, of equal elements the first one, and where it stands.
void select_in_order(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, int64_t place);

}  // namespace at::native::cpu
