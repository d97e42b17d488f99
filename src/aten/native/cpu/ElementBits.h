#pragma once
// Elements as bits: what types stand for others, and a number as the bytes of one element.

#include <aten/Dispatch.h>
#include <c10/core/Scalar.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace at::native::cpu {

// uint8 in place of bool: 0 and 1 are the same bits, and compilers make vectors of them.
constexpr c10::ScalarType bool_as_byte(c10::ScalarType type) { return type == kBool ? kByte : type; }

// Of bytes with and without a sign, uint8: sums, products and bits are the same, and need to be compiled once.
template <typename T>
using SameBits = std::conditional_t<std::is_same_v<T, int8_t>, uint8_t, T>;

// For every type that kernels compute real numbers in, and bool.
template <typename Body>
void dispatch_numbers_and_bool(c10::ScalarType dtype, const char* name, Body&& body) {
  dispatch_numeric_types(bool_as_byte(dtype), name, body);
}

// Rounded as `dtype` does; throws Error when it cannot hold the value.
template <typename Word>
Word element_bits(const c10::Scalar& value, c10::ScalarType dtype) {
  Word word{};
  dispatch_stored_types(dtype, "fill", [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (sizeof(T) == sizeof(Word)) {
      const T element = value.to<T>();
      std::memcpy(static_cast<void*>(&word), &element, sizeof word);
    }
  });
  return word;
}

}  // namespace at::native::cpu
