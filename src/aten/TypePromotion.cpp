// Which dtype an operation on several tensors computes in, and which shape it has.

#include <aten/TensorIterator.h>

namespace at {

namespace {

// Tensors with dimensions decide; 0-dim tensors, then written numbers, only raise the kind (bool < integer < float <
// complex).
ScalarType combine(ScalarType higher, ScalarType lower) {
  if (higher == ScalarType::Undefined) return lower;
  if (lower == ScalarType::Undefined || c10::is_complex_type(higher)) return higher;
  // A complex number keeps the precision of the tensors it meets.
  if (c10::is_floating_type(higher)) return c10::is_complex_type(lower) ? c10::complex_type(higher) : higher;
  if (higher == kBool || c10::is_floating_or_complex_type(lower)) return c10::promote_types(higher, lower);
  return higher;
}

// A Python float or complex number is as precise as the default dtype asks for.
ScalarType number_type(ScalarType dtype) {
  if (c10::is_complex_type(dtype)) return c10::complex_type(c10::get_default_dtype());
  return c10::is_floating_type(dtype) ? c10::get_default_dtype() : dtype;
}

}  // namespace

namespace detail {

void PromotionState::add(const Tensor& tensor) {
  ScalarType dtype = tensor.dtype();
  if (tensor.is_wrapped_number()) {
    dtype = number_type(dtype);
    wrapped = c10::promote_types(wrapped, dtype);
  } else if (tensor.dim() == 0) {
    zero_dim = c10::promote_types(zero_dim, dtype);
  } else {
    dimensioned = c10::promote_types(dimensioned, dtype);
  }
}

ScalarType PromotionState::result() const { return combine(dimensioned, combine(zero_dim, wrapped)); }

}  // namespace detail

ScalarType result_type(TensorList tensors) {
  detail::PromotionState state;
  for (const Tensor& tensor : tensors) state.add(tensor);
  return state.result();
}

ScalarType result_type(const Tensor& tensor, const Scalar& number) {
  detail::PromotionState state;
  state.add(tensor);
  state.wrapped = c10::promote_types(state.wrapped, number_type(number.type()));
  return state.result();
}

DimVector broadcast_shapes(IntArrayRef left, IntArrayRef right) {
  const size_t ndim = std::max(left.size(), right.size());
  DimVector result(ndim);
  for (size_t i = 0; i < ndim; ++i) {  // from the last dimension
    const int64_t a = i < left.size() ? left[left.size() - 1 - i] : 1;
    const int64_t b = i < right.size() ? right[right.size() - 1 - i] : 1;
    TORCH_CHECK(a == b || a == 1 || b == 1, "The size of tensor a (", a, ") must match the size of tensor b (", b,
                ") at non-singleton dimension ", ndim - 1 - i);
    result[ndim - 1 - i] = a == 1 ? b : a;
  }
  return result;
}

}  // namespace at
