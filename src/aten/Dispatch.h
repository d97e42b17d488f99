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

#define AT_DISPATCH_CASE(cpp_type, name, ...) \
  case c10::ScalarType::name: return body(TypeTag<cpp_type>());
#define AT_DEFINE_DISPATCH(function, ...)                                                       \
  template <typename Body>                                                                      \
  decltype(auto) function(c10::ScalarType dtype, [[maybe_unused]] const char* name, Body&& body) { \
    switch (dtype) {                                                                            \
      __VA_ARGS__                                                                               \
      default: detail::throw_dtype_not_implemented(name, dtype);                                \
    }                                                                                           \
  }

#define AT_FLOATING_CASES C10_FORALL_COMPUTING_FLOATING_TYPES(AT_DISPATCH_CASE)
#define AT_REDUCED_CASES C10_FORALL_REDUCED_FLOATING_TYPES(AT_DISPATCH_CASE)
#define AT_INTEGRAL_CASES C10_FORALL_INTEGRAL_TYPES(AT_DISPATCH_CASE)
#define AT_COMPLEX_CASES C10_FORALL_COMPLEX_TYPES(AT_DISPATCH_CASE)
#define AT_BAREBONES_CASES C10_FORALL_BAREBONES_TYPES(AT_DISPATCH_CASE)
#define AT_FLOAT8_CASES C10_FORALL_FLOAT8_TYPES(AT_DISPATCH_CASE)
#define AT_BOOL_CASE C10_FORALL_BOOL_TYPE(AT_DISPATCH_CASE)

// The types that kernels compute in; an iterator's common dtype is one of them (float stands for float16 and bfloat16).
AT_DEFINE_DISPATCH(dispatch_floating_types, AT_FLOATING_CASES)
AT_DEFINE_DISPATCH(dispatch_integral_types, AT_INTEGRAL_CASES)
AT_DEFINE_DISPATCH(dispatch_integral_types_and_bool, AT_INTEGRAL_CASES AT_BOOL_CASE)
AT_DEFINE_DISPATCH(dispatch_numeric_types, AT_FLOATING_CASES AT_INTEGRAL_CASES)
AT_DEFINE_DISPATCH(dispatch_all_types, AT_FLOATING_CASES AT_INTEGRAL_CASES AT_BOOL_CASE)
AT_DEFINE_DISPATCH(dispatch_complex_types, AT_COMPLEX_CASES)
AT_DEFINE_DISPATCH(dispatch_floating_and_complex_types, AT_FLOATING_CASES AT_COMPLEX_CASES)
AT_DEFINE_DISPATCH(dispatch_numeric_and_complex_types, AT_FLOATING_CASES AT_COMPLEX_CASES AT_INTEGRAL_CASES)
// For kernels that widen and round elements themselves.
AT_DEFINE_DISPATCH(dispatch_stored_floating_types, AT_FLOATING_CASES AT_REDUCED_CASES)
// For kernels that move, convert, compare or add elements: real ones of the types above and the reduced ones, every
// type that has an order, every type with sums, and every type that a tensor can hold.
AT_DEFINE_DISPATCH(dispatch_real_types, AT_FLOATING_CASES AT_REDUCED_CASES AT_INTEGRAL_CASES AT_BOOL_CASE)
AT_DEFINE_DISPATCH(dispatch_ordered_types,
                   AT_FLOATING_CASES AT_REDUCED_CASES AT_INTEGRAL_CASES AT_BOOL_CASE AT_BAREBONES_CASES)
AT_DEFINE_DISPATCH(dispatch_added_types, AT_FLOATING_CASES AT_REDUCED_CASES AT_INTEGRAL_CASES AT_BOOL_CASE
                                             AT_COMPLEX_CASES AT_BAREBONES_CASES)
AT_DEFINE_DISPATCH(dispatch_stored_types, AT_FLOATING_CASES AT_REDUCED_CASES AT_INTEGRAL_CASES AT_BOOL_CASE
                                              AT_COMPLEX_CASES AT_BAREBONES_CASES AT_FLOAT8_CASES)

#undef AT_BOOL_CASE
#undef AT_FLOAT8_CASES
#undef AT_BAREBONES_CASES
#undef AT_COMPLEX_CASES
#undef AT_INTEGRAL_CASES
#undef AT_REDUCED_CASES
#undef AT_FLOATING_CASES
#undef AT_DEFINE_DISPATCH
#undef AT_DISPATCH_CASE

// Sixteen bytes that are moved as one.
struct alignas(16) WideWord {
  uint64_t low = 0;
  uint64_t high = 0;
};

// An unsigned integer (or WideWord) of the elements' size, for kernels that move bits whatever they mean: body(word).
template <typename Body>
decltype(auto) dispatch_word(size_t element_size, Body&& body) {
  switch (element_size) {
    case 1: return body(uint8_t());
    case 2: return body(uint16_t());
    case 4: return body(uint32_t());
    case 8: return body(uint64_t());
    case 16: return body(WideWord());
    default: TORCH_INTERNAL_ASSERT(false, "no word of ", element_size, " bytes");
  }
}

}  // namespace at
