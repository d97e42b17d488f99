#pragma once
// How C++ calls element types, for the messages in which PyTorch says it that way.

#include <c10/core/ScalarType.h>

namespace at::native {

inline const char* cpp_type_name(c10::ScalarType type) { return c10::type_facts(type).cpp_name; }

}  // namespace at::native
