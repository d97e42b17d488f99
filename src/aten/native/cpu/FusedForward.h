#pragma once
// Functions that the CPU computes in one pass where no gradient is asked for; with one, and on other devices, they are
// made of others. TensorIterator::run and run_kernel take these in place of a table.

#include <aten/TensorIterator.h>
#include <aten/native/PoolGeometry.h>
#include <aten/native/ScalarFunctions.h>

namespace at::native {

// Whether a mode or a class may ask to see each operator, which composite functions then call (`__torch_dispatch__`;
// defined with autograd).
bool is_dispatched();

}  // namespace at::native

namespace at::native::cpu {

// The signs of float16 or bfloat16, given as int16: dropped, else changed.
void change_signs_of_halves(c10::DeviceType, TensorIterator& iter, bool drops);
// The first number's size with the second's sign, of float16 or bfloat16, given as int16.
void take_signs_of_halves(c10::DeviceType, TensorIterator& iter);
// `value` in place of what lies in [low, high]; other numbers, and NaN, stay.
void replace_within(c10::DeviceType, TensorIterator& iter, double low, double high, double value);
// x less what it is when held in [low, high]; NaN stays.
void less_held(c10::DeviceType, TensorIterator& iter, double low, double high);
// 0 where the second number lies in [low, high], else the first.
void zero_within(c10::DeviceType, TensorIterator& iter, double low, double high);
// The first number where the second lies in [low, high], in (low, high) if `open`; else 0.
void zero_outside(c10::DeviceType, TensorIterator& iter, double low, double high, bool open);
// x / (|x| + 1), of float32 and float64.
void softsign(c10::DeviceType, TensorIterator& iter);
// The normal distribution's cumulative function.
void normal_cumulative(c10::DeviceType, TensorIterator& iter);
// a + weight * (b - a), from the nearer end.
void lerp_by_weights(c10::DeviceType, TensorIterator& iter);
// x where it is positive, x * slope elsewhere.
void slope_below_zero(c10::DeviceType, TensorIterator& iter);
// Maxima of windows, of floating types, without their places; the operands lie as max_pool_kernel's do.
void max_pool_values(c10::DeviceType, const Tensor& out, const Tensor& self, const PoolGeometry& g);
// The distances of the order p of each row of a (..., n, columns) from each of
// b (..., m, columns), out (..., n, m); and of each row of a (n, columns) from each later one. All are dense, of
// float32 or float64.
void distances_of_pairs(const Tensor& out, const Tensor& a, const Tensor& b, double p);
void distances_within(const Tensor& out, const Tensor& a, double p);
// Their gradients for a, of a p that is not 0, from those of the distances; all are dense.
void slopes_of_pairs(const Tensor& out, const Tensor& grad, const Tensor& a, const Tensor& b, double p,
                     const Tensor& distances);
void slopes_within(const Tensor& out, const Tensor& grad, const Tensor& a, double p, const Tensor& distances);
// beta * self + alpha * column row, of float32 or float64: vectors and `out` are dense, and so are the rows of self.
void add_outer(const Tensor& out, const Tensor& self, const Tensor& column, const Tensor& row, double beta,
               double alpha);
// grad / (a - a^2), `outside` where a is not within [low, high]. All are dense, of float32 or float64.
void logit_slopes(const Tensor& out, const Tensor& grad, const Tensor& self, double low, double high, double outside);
// The sum of the products of dense vectors of float16 or bfloat16, rounded once.
void dot_of_halves(const Tensor& out, const Tensor& self, const Tensor& other);
// The sum of the products of dense complex vectors, the first one's conjugates.
void conjugate_dot(const Tensor& out, const Tensor& self, const Tensor& other);
// The Kronecker product of dense matrices of float32 or float64.
void kron(const Tensor& out, const Tensor& self, const Tensor& other);
// Numbers of float32 or float64 as mantissas in [0.5, 1) and int32 powers of two; 0, infinities and NaN have the power
// 0. All are dense.
void split_exponents(const Tensor& mantissa, const Tensor& exponent, const Tensor& self);
// Each segment of a dense (rows, size, inner) of float or double, put together with `first`: out (rows, segments,
// inner). Segment s of a row is what lies from bounds[s] on, up to bounds[s + 1]; `mean` divides by how many that are,
// by no less than `least` of them.
struct Segments {
  Reduction how;
  double first;
  bool mean;
  int64_t least;
};
void reduce_segments(const Tensor& out, const Tensor& data, const Tensor& bounds, const Segments& segments);

}  // namespace at::native::cpu
