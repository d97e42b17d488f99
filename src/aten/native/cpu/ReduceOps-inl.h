// The operations that reductions are made of, included once per instruction set.

#if defined(TORCH_REDUCE_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_REDUCE_OPS_INL_H_
#undef TORCH_REDUCE_OPS_INL_H_
#else
#define TORCH_REDUCE_OPS_INL_H_
#endif

#include <c10/util/complex.h>
#include <aten/native/cpu/Highway-inl.h>

#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of complex numbers hold their two parts side by side.
template <typename T>
constexpr bool kHasVectors = !c10::is_complex_v<T> || HWY_TARGET != HWY_SCALAR;

template <typename T>
struct Sum {
  static constexpr bool kIsSum = true;
  static constexpr bool kVectorised = kHasVectors<T>;
  static constexpr T identity() { return T(0); }
  static T combine(T a, T b) { return static_cast<T>(a + b); }
  template <typename D, typename V>
  static HWY_ATTR V step(D, V accumulator, V values) {
    return hn::Add(accumulator, values);
  }
};

template <typename T>
struct Product {
  static constexpr bool kIsSum = false;
  static constexpr bool kVectorised = !std::is_integral_v<T> && kHasVectors<T>;
  static constexpr T identity() { return T(1); }
  static T combine(T a, T b) { return static_cast<T>(a * b); }
  template <typename D, typename V>
  static HWY_ATTR V step([[maybe_unused]] D d, V accumulator, V values) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (c10::is_complex_v<T>) {
      const auto by_real = hn::Mul(hn::DupEven(accumulator), values);
      const auto by_imaginary = hn::Mul(hn::DupOdd(accumulator), hn::Reverse2(d, values));
      return hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary));
    }
#endif
    return hn::Mul(accumulator, values);
  }
};

// A NaN, once met, is the result. x86's instructions give the second of two operands if one is a NaN:
// that takes a step less.
template <typename T>
struct Maximum {
  static constexpr bool kIsSum = false;
  static constexpr bool kVectorised = true;
  static constexpr T identity() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  static T combine(T a, T b) { return a >= b || a != a ? a : b; }
  // Whether `value` takes the place of `best`: the first of equals stays, and so does a NaN.
  static bool beats(T value, T best) {
    return bool(value > best) | (bool(value != value) & bool(best == best));
  }
  template <typename D, typename V>
  static HWY_ATTR V step(D, V accumulator, V values) {
    if constexpr (std::is_floating_point_v<T>) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
      return hn::IfThenElse(hn::IsNaN(values), values, hn::Max(values, accumulator));
#else
      return hn::IfThenElse(hn::Or(hn::Ge(accumulator, values), hn::IsNaN(accumulator)), accumulator, values);
#endif
    } else {
      return hn::Max(accumulator, values);
    }
  }
};

template <typename T>
struct Minimum {
  static constexpr bool kIsSum = false;
  static constexpr bool kVectorised = true;
  static constexpr T identity() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  static T combine(T a, T b) { return a <= b || a != a ? a : b; }
  static bool beats(T value, T best) {
    return bool(value < best) | (bool(value != value) & bool(best == best));
  }
  template <typename D, typename V>
  static HWY_ATTR V step(D, V accumulator, V values) {
    if constexpr (std::is_floating_point_v<T>) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
      return hn::IfThenElse(hn::IsNaN(values), values, hn::Min(values, accumulator));
#else
      return hn::IfThenElse(hn::Or(hn::Le(accumulator, values), hn::IsNaN(accumulator)), accumulator, values);
#endif
    } else {
      return hn::Min(accumulator, values);
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // TORCH_REDUCE_OPS_INL_H_
