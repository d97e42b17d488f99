#pragma once
// What takes the CPU one pass, and other devices several functions:
// TensorIterator::run takes these in place of a table.

#include <aten/TensorIterator.h>

namespace at::native::cpu {

void nan_to_num(c10::DeviceType, TensorIterator& iter, double nan, double above, double below);
// c (d - c / 2) with d = |a - b| and c = min(d, bound).
void half_square_up_to(c10::DeviceType, TensorIterator& iter, double bound);
// grad * (a - b), with a - b held in [-bound, bound].
void half_square_slope(c10::DeviceType, TensorIterator& iter, double bound);

// (a - b)^2, and grad * (factor * (a - b)), of float32 and float64.
void square_of_difference(c10::DeviceType, TensorIterator& iter);
void times_difference(c10::DeviceType, TensorIterator& iter, double factor);

// What would stand at `place` along `dim` if that were sorted, of equal elements the first one, and where it stands.
void select_in_order(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, int64_t place);
// The lower one of the two in the middle of what is not NaN; of nothing else, the first NaN.
void find_nanmedian(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim);

// What randomized ReLU multiplies a dense tensor of float or double by: 1, or where it is not positive a number between
// both, drawn in order.
void draw_slopes(const Tensor& slopes, const Tensor& self, double low, double high, const Generator& generator);

// Of factors in column-major order, the inverses of what they are factors of, in their place; `info` as LAPACK gives it.
void invert_cholesky(const Tensor& factors, const Tensor& info, bool upper);

// The least and the greatest of all elements of a dense tensor of numbers that have an order, or of truth values.
void find_both_extremes(const Tensor& least, const Tensor& greatest, const Tensor& self);

}  // namespace at::native::cpu
