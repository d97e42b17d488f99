#pragma once
// What the functions of ScalarFunctions.h compute, each as NAME_of: for the CPU's kernels and for CUDA's. (fmod is
// theirs: of integers, the CPU refuses a zero.)

#include <aten/native/DistributionFormulas.h>
#include <aten/native/special_bessel.h>

#include <cmath>
#include <type_traits>

namespace at::native {

// ---- Of one number. Those that <cmath> has are computed in their own type (a complex one, too, of any library that
// has functions for it), the others in double.

#define TORCH_STANDARD(name) \
  template <typename T>      \
  C10_HOST_DEVICE T name##_of(T x) { \
    using std::name;         \
    return name(x);          \
  }
TORCH_STANDARD(acos)
TORCH_STANDARD(acosh)
TORCH_STANDARD(asin)
TORCH_STANDARD(asinh)
TORCH_STANDARD(atan)
TORCH_STANDARD(atanh)
TORCH_STANDARD(cosh)
TORCH_STANDARD(sinh)
TORCH_STANDARD(tan)
TORCH_STANDARD(erfc)
TORCH_STANDARD(lgamma)
#undef TORCH_STANDARD

#define TORCH_IN_DOUBLE(name, expression) \
  template <typename T>                   \
  C10_HOST_DEVICE T name##_of(T value) {                  \
    const double x = value;               \
    return static_cast<T>(expression);    \
  }
TORCH_IN_DOUBLE(airy_ai, special::airy_ai(x))
TORCH_IN_DOUBLE(bessel_j0, ::j0(x))
TORCH_IN_DOUBLE(bessel_j1, ::j1(x))
TORCH_IN_DOUBLE(bessel_y0, x < 0 ? special::kNaN : ::y0(x))
TORCH_IN_DOUBLE(bessel_y1, x < 0 ? special::kNaN : ::y1(x))
TORCH_IN_DOUBLE(digamma, special::digamma(x))
TORCH_IN_DOUBLE(entr, x > 0 ? -x * std::log(x) : x == 0 ? 0 : x < 0 ? -special::kInfinity : x)
TORCH_IN_DOUBLE(erfcx, special::erfcx(x))
TORCH_IN_DOUBLE(erfinv, special::erfinv(x))
TORCH_IN_DOUBLE(i0, special::i0(x))
TORCH_IN_DOUBLE(i0e, special::i0e(x))
TORCH_IN_DOUBLE(i1, special::i1(x))
TORCH_IN_DOUBLE(i1e, special::i1e(x))
TORCH_IN_DOUBLE(log_ndtr, special::log_ndtr(x))
TORCH_IN_DOUBLE(modified_bessel_k0, special::modified_bessel_k0(x))
TORCH_IN_DOUBLE(modified_bessel_k1, special::modified_bessel_k1(x))
TORCH_IN_DOUBLE(ndtri, special::ndtri(x))
TORCH_IN_DOUBLE(scaled_modified_bessel_k0, special::scaled_modified_bessel_k0(x))
TORCH_IN_DOUBLE(scaled_modified_bessel_k1, special::scaled_modified_bessel_k1(x))
TORCH_IN_DOUBLE(spherical_bessel_j0, special::spherical_bessel_j0(x))
TORCH_IN_DOUBLE(trigamma, special::trigamma(x))
#undef TORCH_IN_DOUBLE

template <typename T>
C10_HOST_DEVICE T exp2_of(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::exp2(x);
  else return exp(x * typename T::value_type(0.69314718055994530942));
}
template <typename T>
C10_HOST_DEVICE T frac_of(T x) {
  return x - std::trunc(x);
}
template <typename T>
C10_HOST_DEVICE T sinc_of(T x) {
  if (x == T(0)) return T(1);
  if constexpr (std::is_floating_point_v<T>) {
    const double angle = special::kPi * static_cast<double>(x);
    return static_cast<T>(std::sin(angle) / angle);
  } else {
    const T angle = x * typename T::value_type(special::kPi);
    return sin(angle) / angle;
  }
}

// ---- of two numbers

template <typename T>
C10_HOST_DEVICE T logaddexp_of(T a, T b) {
  if (std::isinf(a) && a == b) return a;
  return std::fmax(a, b) + std::log1p(std::exp(-std::fabs(a - b))) +
         (std::isnan(a) || std::isnan(b) ? static_cast<T>(special::kNaN) : T(0));
}
template <typename T>
C10_HOST_DEVICE T logaddexp2_of(T a, T b) {
  if (std::isinf(a) && a == b) return a;
  const T sum = std::log1p(std::exp2(-std::fabs(a - b))) * T(1.44269504088896340736);
  return std::fmax(a, b) + sum + (std::isnan(a) || std::isnan(b) ? static_cast<T>(special::kNaN) : T(0));
}
template <typename T>
C10_HOST_DEVICE T xlogy_of(T a, T b) {
  if (std::isnan(b)) return b;
  return a == T(0) ? T(0) : a * std::log(b);
}
template <typename T>
C10_HOST_DEVICE T xlog1py_of(T a, T b) {
  if (std::isnan(b)) return b;
  return a == T(0) ? T(0) : a * std::log1p(b);
}
#define TORCH_STANDARD(name)   \
  template <typename T>        \
  C10_HOST_DEVICE T name##_of(T a, T b) {      \
    return std::name(a, b);    \
  }
TORCH_STANDARD(atan2)
TORCH_STANDARD(copysign)
TORCH_STANDARD(hypot)
TORCH_STANDARD(nextafter)
#undef TORCH_STANDARD
#define TORCH_IN_DOUBLE(name)                         \
  template <typename T>                               \
  C10_HOST_DEVICE T name##_of(T a, T b) {                             \
    return static_cast<T>(special::name(a, b));       \
  }
TORCH_IN_DOUBLE(igamma)
TORCH_IN_DOUBLE(igammac)
TORCH_IN_DOUBLE(standard_gamma_grad)
TORCH_IN_DOUBLE(zeta)
TORCH_IN_DOUBLE(hermite_polynomial_h)
TORCH_IN_DOUBLE(hermite_polynomial_he)
TORCH_IN_DOUBLE(laguerre_polynomial_l)
TORCH_IN_DOUBLE(legendre_polynomial_p)
#define TORCH_CHEBYSHEV(kind)                                                                    \
  TORCH_IN_DOUBLE(chebyshev_polynomial_##kind)                                                   \
  template <typename T>                                                                          \
  C10_HOST_DEVICE T shifted_chebyshev_polynomial_##kind##_of(T x, T n) {                                         \
    return static_cast<T>(special::chebyshev_polynomial_##kind(2.0 * x - 1.0, n));               \
  }
TORCH_CHEBYSHEV(t)
TORCH_CHEBYSHEV(u)
TORCH_CHEBYSHEV(v)
TORCH_CHEBYSHEV(w)
#undef TORCH_CHEBYSHEV
#undef TORCH_IN_DOUBLE

template <typename T>
C10_HOST_DEVICE T fmax_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmax(a, b);
  else return std::max(a, b);
}
template <typename T>
C10_HOST_DEVICE T fmin_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmin(a, b);
  else return std::min(a, b);
}
template <typename T>
C10_HOST_DEVICE T heaviside_of(T a, T b) {
  return a == T(0) ? b : static_cast<T>(a > T(0));
}
// Shifts by a negative number or by all bits leave nothing (or the sign). Without branches, so that they have vectors;
// few processors have those for bytes that are not shifted alike: in steps by numbers that compilers see.
C10_HOST_DEVICE inline uint8_t shift_byte_left(uint8_t byte, uint8_t places) {
  byte = (places & 4) != 0 ? static_cast<uint8_t>(byte << 4) : byte;
  byte = (places & 2) != 0 ? static_cast<uint8_t>(byte << 2) : byte;
  byte = (places & 1) != 0 ? static_cast<uint8_t>(byte << 1) : byte;
  return places < 8 ? byte : uint8_t{0};
}
C10_HOST_DEVICE inline uint8_t shift_byte_right(uint8_t byte, uint8_t places) {
  byte = (places & 4) != 0 ? static_cast<uint8_t>(byte >> 4) : byte;
  byte = (places & 2) != 0 ? static_cast<uint8_t>(byte >> 2) : byte;
  byte = (places & 1) != 0 ? static_cast<uint8_t>(byte >> 1) : byte;
  return places < 8 ? byte : uint8_t{0};
}
template <typename T>
C10_HOST_DEVICE T bitwise_left_shift_of(T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  constexpr Bits bits = 8 * sizeof(T);
  const auto places = static_cast<Bits>(b);  // a negative number is a great one
  if constexpr (sizeof(T) == 1) return static_cast<T>(shift_byte_left(static_cast<Bits>(a), places));
  const auto shifted = static_cast<Bits>(static_cast<Bits>(a) << (places & (bits - 1)));
  return places < bits ? static_cast<T>(shifted) : T(0);
}
template <typename T>
C10_HOST_DEVICE T bitwise_right_shift_of(T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  constexpr Bits bits = 8 * sizeof(T);
  const auto places = static_cast<Bits>(b);
  if constexpr (sizeof(T) == 1) {
    const auto signs = static_cast<Bits>(a < T(0) ? 0xff : 0);  // a negative number by way of one that is not
    return static_cast<T>(shift_byte_right(static_cast<Bits>(static_cast<Bits>(a) ^ signs), places) ^ signs);
  }
  const T rest = std::is_signed_v<T> ? static_cast<T>(a >> (bits - 1)) : T(0);
  return places < bits ? static_cast<T>(a >> (places & (bits - 1))) : rest;
}
template <typename T>
C10_HOST_DEVICE std::make_unsigned_t<T> magnitude_of(T x) {
  using Bits = std::make_unsigned_t<T>;
  const auto bits = static_cast<Bits>(x);
  if constexpr (std::is_signed_v<T>) return static_cast<Bits>(x < 0 ? Bits(0) - bits : bits);
  else return bits;
}
// std::gcd counts zeros by a builtin that a device answers wrongly.
template <typename T>
C10_HOST_DEVICE T gcd_of(T a, T b) {
  std::make_unsigned_t<T> larger = magnitude_of(a), smaller = magnitude_of(b);
  while (smaller != 0) {
    const std::make_unsigned_t<T> rest = larger % smaller;
    larger = smaller;
    smaller = rest;
  }
  return static_cast<T>(larger);
}
template <typename T>
C10_HOST_DEVICE T lcm_of(T a, T b) {
  const T divisor = gcd_of(a, b);
  if (divisor == 0) return 0;
  const T product = static_cast<T>(a / divisor * b);
  if constexpr (std::is_signed_v<T>) return product < 0 ? static_cast<T>(-product) : product;
  else return product;
}

}  // namespace at::native
