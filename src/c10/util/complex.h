#pragma once
// Complex numbers of two floats or two doubles, real part first. Products and quotients are the textbook's, as loops
// want them: a product with an infinity may have NaN in a part, where std::complex would look again. Functions beyond
// arithmetic are the standard library's.

#include <c10/util/Half.h>

#include <cmath>
#include <complex>
#include <limits>
#include <ostream>
#include <type_traits>

namespace c10 {

template <typename T>
struct alignas(2 * sizeof(T)) complex {
  using value_type = T;
  T real_ = T(0);
  T imag_ = T(0);

  constexpr complex() = default;
  // Implicit, as a real number is a complex one.
  template <typename R, typename = std::enable_if_t<std::is_arithmetic_v<R> || std::is_convertible_v<R, float>>>
  constexpr C10_HOST_DEVICE complex(R real) : real_(static_cast<T>(real)) {}  // NOLINT
  constexpr C10_HOST_DEVICE complex(T real, T imag) : real_(real), imag_(imag) {}
  template <typename U, typename = std::enable_if_t<!std::is_same_v<U, T>>>
  explicit constexpr C10_HOST_DEVICE complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  complex(const std::complex<T>& other) : real_(other.real()), imag_(other.imag()) {}  // NOLINT
  operator std::complex<T>() const { return {real_, imag_}; }                           // NOLINT

  constexpr C10_HOST_DEVICE T real() const { return real_; }
  constexpr C10_HOST_DEVICE T imag() const { return imag_; }

  constexpr C10_HOST_DEVICE complex& operator+=(const complex& other) { return *this = *this + other; }
  constexpr C10_HOST_DEVICE complex& operator-=(const complex& other) { return *this = *this - other; }
  constexpr C10_HOST_DEVICE complex& operator*=(const complex& other) { return *this = *this * other; }
  constexpr C10_HOST_DEVICE complex& operator/=(const complex& other) { return *this = *this / other; }

  friend constexpr C10_HOST_DEVICE complex operator+(const complex& a, const complex& b) {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  friend constexpr C10_HOST_DEVICE complex operator-(const complex& a, const complex& b) {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  friend constexpr C10_HOST_DEVICE complex operator*(const complex& a, const complex& b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  // Scaled by the divisor's larger part, so that its square neither overflows nor vanishes. A number over an infinite
  // one is 0.
  friend constexpr C10_HOST_DEVICE complex operator/(const complex& a, const complex& b) {
    const T real = b.real_ < 0 ? -b.real_ : b.real_;
    const T imag = b.imag_ < 0 ? -b.imag_ : b.imag_;
    const T scale = real > imag ? real : imag;
    if (scale == T(0)) return {a.real_ / scale, a.imag_ / scale};
    const T c = real > imag ? (b.real_ < 0 ? T(-1) : T(1)) : b.real_ / scale;  // of an infinite part, too
    const T d = imag > real ? (b.imag_ < 0 ? T(-1) : T(1)) : b.imag_ / scale;
    const T size = (c * c + d * d) * scale;
    return {(a.real_ * c + a.imag_ * d) / size, (a.imag_ * c - a.real_ * d) / size};
  }
  friend constexpr C10_HOST_DEVICE complex operator-(const complex& a) { return {-a.real_, -a.imag_}; }
  friend constexpr C10_HOST_DEVICE bool operator==(const complex& a, const complex& b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }
  friend constexpr C10_HOST_DEVICE bool operator!=(const complex& a, const complex& b) { return !(a == b); }

  friend std::ostream& operator<<(std::ostream& stream, const complex& value) {
    return stream << '(' << value.real_ << ',' << value.imag_ << ')';
  }
};

template <typename T>
inline constexpr bool is_complex_v = false;
template <typename T>
inline constexpr bool is_complex_v<complex<T>> = true;

// float of complex<float>; other types are their own.
template <typename T>
struct parts_type {
  using type = T;
};
template <typename T>
struct parts_type<complex<T>> {
  using type = T;
};
template <typename T>
using real_type_t = typename parts_type<T>::type;

template <typename T>
constexpr complex<T> conj(const complex<T>& value) {
  return {value.real(), -value.imag()};
}

}  // namespace c10

// What C++ asks of numbers: of its parts.
template <typename T>
class std::numeric_limits<c10::complex<T>> : public std::numeric_limits<T> {};
