// a * b + c for the operations of Loops-inl.h, compiled for each target.
//
// PyTorch rounds once where the processor can, in sums with a factor and in weighted means. Optimizers are made of
// these, so whoever compares a training with PyTorch's sees it in the digits.

// The usual guard would let in only the first of the targets that foreach_target.h goes through.
#if defined(TORCH_MULTIPLY_ADD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_MULTIPLY_ADD_INL_H
#undef TORCH_MULTIPLY_ADD_INL_H
#else
#define TORCH_MULTIPLY_ADD_INL_H
#endif

#include <aten/native/cpu/Loops-inl.h>

#include <cmath>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// Integer overflow wraps, as in PyTorch; unsigned arithmetic says so to the compiler.
// (Products of uint16_t would be computed in int, and not fit: so 16 bits are computed in 32.)
template <typename T>
using wrapping_t = std::conditional_t<
    !std::is_integral_v<T> || std::is_same_v<T, bool>, T,
    std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 1, uint8_t, uint32_t>>>;

// Rounded once if the target has an instruction for it; a call of a function for each element costs too much.
template <typename T>
TORCH_SIMD inline T multiply_add(T a, T b, T c) {
#if HWY_NATIVE_FMA
  if constexpr (std::is_floating_point_v<T>) return std::fma(a, b, c);
#endif
  using W = wrapping_t<T>;
  return static_cast<T>(static_cast<W>(a) * static_cast<W>(b) + static_cast<W>(c));
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif
