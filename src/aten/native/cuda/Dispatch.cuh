#pragma once
// From a runtime dtype to a C++ type: dispatch_all(dtype, "name", [&](auto zero) { using scalar_t = decltype(zero); ... }).

#include <c10/core/ScalarType.h>

namespace at::native::cuda {

template <typename Body>
void dispatch_floating(c10::ScalarType dtype, const char* name, Body&& body) {
  switch (dtype) {
    case c10::ScalarType::Float: return body(float{});
    case c10::ScalarType::Double: return body(double{});
    default: throw c10::NotImplementedError(c10::detail::concatenate("\"", name, "_cuda\" not implemented for '", dtype, "'"));
  }
}

template <typename Body>
void dispatch_integral(c10::ScalarType dtype, const char* name, Body&& body) {
  switch (dtype) {
    case c10::ScalarType::Byte: return body(uint8_t{});
    case c10::ScalarType::Int: return body(int32_t{});
    case c10::ScalarType::Long: return body(int64_t{});
    default: throw c10::NotImplementedError(c10::detail::concatenate("\"", name, "_cuda\" not implemented for '", dtype, "'"));
  }
}

// Every type but bool.
template <typename Body>
void dispatch_numbers(c10::ScalarType dtype, const char* name, Body&& body) {
  if (c10::is_floating_type(dtype)) return dispatch_floating(dtype, name, body);
  dispatch_integral(dtype, name, body);
}

template <typename Body>
void dispatch_all(c10::ScalarType dtype, const char* name, Body&& body) {
  if (dtype == c10::ScalarType::Bool) return body(bool{});
  dispatch_numbers(dtype, name, body);
}

}  // namespace at::native::cuda
