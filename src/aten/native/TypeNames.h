#pragma once
// How C++ calls element types, for the messages in which PyTorch says it that way.

#include <c10/core/ScalarType.h>

namespace at::native {

inline const char* cpp_type_name(c10::ScalarType type) {
  switch (type) {
    case c10::kByte: return "unsigned char";
    case c10::kInt: return "int";
    case c10::kLong: return "long int";
    case c10::kFloat: return "float";
    case c10::kDouble: return "double";
    case c10::kBool: return "bool";
    default: return "undefined";
  }
}

}  // namespace at::native
