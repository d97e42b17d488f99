#pragma once
// a + b and friends for tensors and numbers.

#include <aten/Functions.h>
#include <aten/WrappedScalar.h>

namespace at {

#define AT_FORALL_BINARY_OPERATORS(macro) \
  macro(+, add)                           \
  macro(-, sub)                           \
  macro(*, mul)                           \
  macro(/, div)                           \
  macro(==, eq)                           \
  macro(!=, ne)                           \
  macro(<, lt)                            \
  macro(<=, le)                           \
  macro(>, gt)                            \
  macro(>=, ge)

#define AT_DEFINE_BINARY_OPERATOR(symbol, name)                                                     \
  inline Tensor operator symbol(const Tensor& left, const Tensor& right) { return at::name(left, right); } \
  inline Tensor operator symbol(const Tensor& left, const Scalar& right) { return at::name(left, right); } \
  inline Tensor operator symbol(const Scalar& left, const Tensor& right) {                          \
    return at::name(wrapped_scalar_tensor(left, right.device()), right);                            \
  }
AT_FORALL_BINARY_OPERATORS(AT_DEFINE_BINARY_OPERATOR)
#undef AT_DEFINE_BINARY_OPERATOR
#undef AT_FORALL_BINARY_OPERATORS

}  // namespace at
