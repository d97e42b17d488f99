#pragma once
// Updates of one element by many threads at once, for every type that a tensor can hold.

#include <c10/util/complex.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace at::native::cuda {

// *target = combine(*target, value), as one step. `Bits` is an unsigned word of the element's size; a byte is a part of
// the aligned word around it, which an allocation, of multiples of 256 bytes to the device, always has.
template <typename T, typename Combine>
__device__ void atomic_update(T* target, T value, Combine combine) {
  static_assert(sizeof(T) <= 8);
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long,
                                  std::conditional_t<sizeof(T) == 2, unsigned short, unsigned>>;
  using Bits = std::conditional_t<sizeof(T) == 1, uint8_t, std::conditional_t<sizeof(T) == 2, uint16_t, Word>>;
  auto address = reinterpret_cast<uintptr_t>(target);
  auto* word = reinterpret_cast<Word*>(address & ~uintptr_t{sizeof(Word) - 1});
  const unsigned shift = static_cast<unsigned>(address & (sizeof(Word) - 1)) * 8;
  const auto mask = static_cast<Word>(Word{static_cast<Bits>(~Bits{0})} << shift);
  Word seen = 0;  // a guess: the first exchange tells what is there
  Word expected;
  do {
    expected = seen;
    auto bits = static_cast<Bits>(expected >> shift);
    T old;
    memcpy(&old, &bits, sizeof bits);
    const T combined = combine(old, value);
    memcpy(&bits, &combined, sizeof bits);
    seen = atomicCAS(word, expected, static_cast<Word>((expected & ~mask) | (Word{bits} << shift)));
  } while (seen != expected);
}

template <typename T>
__device__ void atomic_add(T* target, T value) {
  if constexpr (c10::is_complex_v<T>) {
    atomicAdd(&target->real_, value.real_);
    atomicAdd(&target->imag_, value.imag_);
  } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>) {
    atomicAdd(reinterpret_cast<unsigned long long*>(target), static_cast<unsigned long long>(value));
  } else if constexpr (sizeof(T) < sizeof(unsigned)) {
    atomic_update(target, value,
                  [](T a, T b) { return std::is_same_v<T, bool> ? static_cast<T>(a || b) : static_cast<T>(a + b); });
  } else {
    atomicAdd(target, value);
  }
}

}  // namespace at::native::cuda
