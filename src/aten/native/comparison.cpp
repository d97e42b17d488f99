// Operators with a truth value for every element.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>

namespace at::native {

namespace {

// Types of float8 are compared in float, which holds all their numbers.
bool are_float8(const Tensor& self, const Tensor& other) {
  return c10::is_float8_type(self.dtype()) && (other.dtype() == self.dtype() || other.is_wrapped_number());
}
Tensor as_float(const Tensor& tensor, ScalarType dtype) {
  return detail::to_dtype(detail::to_dtype(tensor, dtype), kFloat);
}

}  // namespace

#define AT_DEFINE_COMPARISON(name)                                                                             \
  void name(const Tensor& self, const Tensor& other, Tensor& out) {                                            \
    if (are_float8(self, other)) return name(as_float(self, self.dtype()), as_float(other, self.dtype()), out); \
    TensorIterator::comparison_op(out, self, other).run(name##_kernels);                                       \
  }
AT_DEFINE_COMPARISON(eq)
AT_DEFINE_COMPARISON(ne)
AT_DEFINE_COMPARISON(lt)
AT_DEFINE_COMPARISON(le)
AT_DEFINE_COMPARISON(gt)
AT_DEFINE_COMPARISON(ge)
AT_DEFINE_COMPARISON(logical_and)
AT_DEFINE_COMPARISON(logical_or)
AT_DEFINE_COMPARISON(logical_xor)
#undef AT_DEFINE_COMPARISON

void logical_not(const Tensor& self, Tensor& out) {
  TensorIterator::unary_predicate_op(out, self).run(logical_not_kernels);
}

namespace {

// An integer that the result's type cannot hold is an error, not what is left of its bits.
void check_number_fits(const Tensor& number, ScalarType dtype) {
  if (!number.is_wrapped_number() || !number.is_cpu() || !c10::is_integral_type(dtype, /*include_bool=*/false)) return;
  const Scalar value = detail::load_scalar(number.data_ptr(), number.dtype());
  dispatch_stored_types(dtype, "where", [&](auto type) { (void)value.to<typename decltype(type)::type>(); });
}

}  // namespace

void where(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  TORCH_CHECK(condition.dtype() == kBool || condition.dtype() == kByte,
              "where expected condition to be a boolean tensor, but got a tensor with dtype ", condition.dtype());
  const Tensor mask = detail::to_dtype(condition, kBool);
  auto iter = TensorIterator::where_op(out, mask, self, other);
  for (const Tensor* number : {&self, &other}) check_number_fits(*number, iter.common_dtype());
  iter.run(where_kernels);
}

}  // namespace at::native
