#pragma once
// A number as the bytes of one element, for kernels that write it whatever the bits mean.

#include <aten/Dispatch.h>
#include <c10/core/Scalar.h>

#include <cstring>

namespace at::native::cpu {

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
