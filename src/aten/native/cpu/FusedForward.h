#pragma once
// Functions that the CPU computes in one pass where no gradient is asked for; with one, and on other devices, they are
// made of others. TensorIterator::run and run_kernel take these in place of a table.

#include <aten/TensorIterator.h>
#include <aten/native/PoolGeometry.h>

namespace at::native::cpu {

// The signs of float16 or bfloat16, given as int16: dropped, else changed.
void change_signs_of_halves(c10::DeviceType, TensorIterator& iter, bool drops);
// The first number's size with the second's sign, of float16 or bfloat16, given as int16.
void take_signs_of_halves(c10::DeviceType, TensorIterator& iter);
// `value` in place of what lies in [low, high]; other numbers, and NaN, stay.
void replace_within(c10::DeviceType, TensorIterator& iter, double low, double high, double value);
// The first number where the second lies in [low, high], in (low, high) if `open`; else 0.
void zero_outside(c10::DeviceType, TensorIterator& iter, double low, double high, bool open);
// a + weight * (b - a), from the nearer end.
void lerp_by_weights(c10::DeviceType, TensorIterator& iter);
// x where it is positive, x * slope elsewhere.
void slope_below_zero(c10::DeviceType, TensorIterator& iter);
// Maxima of windows, of floating types, without their places; the operands lie as max_pool_kernel's do.
void max_pool_values(c10::DeviceType, const Tensor& out, const Tensor& self, const PoolGeometry& g);

}  // namespace at::native::cpu
