#pragma once
// From a dtype known at run time to a type known at compile time:
//
//   dispatch_all_types(iter.common_dtype(), "add", [&](auto type) {
//     using scalar_t = typename decltype(type)::type;
//     ...
//   });

#include <c10/core/ScalarType.h>

#include <utility>

namespace at {

template <typename T>
struct TypeTag {
  using type = T;
};

namespace detail {
[[noreturn]] inline void throw_dtype_not_implemented(const char* name, c10::ScalarType dtype) {
  throw c10::NotImplementedError(c10::detail::concatenate('"', name, "\" not implemented for '", dtype, "'"));
}
}  // namespace detail

#define AT_DISPATCH_CASE(cpp_type, name) \
  case c10::ScalarType::name: return body(TypeTag<cpp_type>());
#define AT_DEFINE_DISPATCH(function, CASES)                                                     \
  template <typename Body>                                                                      \
  decltype(auto) function(c10::ScalarType dtype, [[maybe_unused]] const char* name, Body&& body) { \
    switch (dtype) {                                                                            \
      CASES                                                                                     \
      default: detail::throw_dtype_not_implemented(name, dtype);                                \
    }                                                                                           \
  }

#define AT_FLOATING_CASES AT_DISPATCH_CASE(float, Float) AT_DISPATCH_CASE(double, Double)
#define AT_INTEGRAL_CASES AT_DISPATCH_CASE(uint8_t, Byte) AT_DISPATCH_CASE(int32_t, Int) AT_DISPATCH_CASE(int64_t, Long)
#define AT_BOOL_CASE AT_DISPATCH_CASE(bool, Bool)

AT_DEFINE_DISPATCH(dispatch_floating_types, AT_FLOATING_CASES)
AT_DEFINE_DISPATCH(dispatch_integral_types, AT_INTEGRAL_CASES)
AT_DEFINE_DISPATCH(dispatch_integral_types_and_bool, AT_INTEGRAL_CASES AT_BOOL_CASE)
AT_DEFINE_DISPATCH(dispatch_numeric_types, AT_FLOATING_CASES AT_INTEGRAL_CASES)
AT_DEFINE_DISPATCH(dispatch_all_types, AT_FLOATING_CASES AT_INTEGRAL_CASES AT_BOOL_CASE)

#undef AT_BOOL_CASE
#undef AT_INTEGRAL_CASES
#undef AT_FLOATING_CASES
#undef AT_DEFINE_DISPATCH
#undef AT_DISPATCH_CASE

}  // namespace at
