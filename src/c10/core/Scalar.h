#pragma once
// One number as the user wrote it: complex, a float, an integer or a bool.
// Its type takes part in promotion by category only.

#include <c10/core/ScalarType.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <type_traits>

namespace c10 {

class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  template <typename T,
            typename = std::enable_if_t<std::is_arithmetic_v<T> || is_floating_v<T> || is_complex_v<T>>>
  Scalar(T value) {  // NOLINT: implicit, a number is a Scalar
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::Bool;
      value_.integer = value;
    } else if constexpr (is_complex_v<T>) {
      kind_ = Kind::Complex;
      value_.floating = static_cast<double>(value.real());
      imag_ = static_cast<double>(value.imag());
    } else if constexpr (is_floating_v<T>) {
      kind_ = Kind::Float;
      value_.floating = static_cast<double>(value);
    } else {
      kind_ = Kind::Integer;
      value_.integer = static_cast<int64_t>(value);
      if constexpr (std::is_same_v<T, uint64_t>) {
        if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) kind_ = Kind::Unsigned;
      }
    }
  }

  bool is_complex() const { return kind_ == Kind::Complex; }
  bool is_floating_point() const { return kind_ == Kind::Float; }
  bool is_integral(bool include_bool) const {
    return kind_ == Kind::Integer || kind_ == Kind::Unsigned || (include_bool && kind_ == Kind::Bool);
  }
  bool is_boolean() const { return kind_ == Kind::Bool; }
  // An integer from 2^63 on: to<uint64_t>() gives it.
  bool is_large_unsigned() const { return kind_ == Kind::Unsigned; }
  // ComplexDouble, Double, Long, Bool, or UInt64 for an integer that int64 cannot hold.
  ScalarType type() const {
    switch (kind_) {
      case Kind::Complex: return ScalarType::ComplexDouble;
      case Kind::Float: return ScalarType::Double;
      case Kind::Integer: return ScalarType::Long;
      case Kind::Unsigned: return ScalarType::UInt64;
      case Kind::Bool: return ScalarType::Bool;
    }
    return ScalarType::Undefined;
  }

  // Converts as C++ does; a type that cannot hold the value, or its imaginary part, throws Error.
  template <typename T>
  T to() const {
    if constexpr (is_complex_v<T>) {
      using Part = typename T::value_type;
      return kind_ == Kind::Complex ? T(static_cast<Part>(value_.floating), static_cast<Part>(imag_)) : T(to<Part>());
    } else if constexpr (std::is_same_v<T, bool>) {
      if (kind_ == Kind::Complex) return value_.floating != 0 || imag_ != 0;
      return kind_ == Kind::Float ? value_.floating != 0 : value_.integer != 0;
    } else {
      TORCH_CHECK(kind_ != Kind::Complex || imag_ == 0, "value cannot be converted to type ", type_name<T>(),
                  " without overflow");
      if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(floating());
      } else if constexpr (is_floating_v<T>) {
        const double value = floating();
        constexpr T lowest = std::numeric_limits<T>::lowest();
        constexpr T highest = std::numeric_limits<T>::max();
        const bool is_beyond = value < static_cast<double>(lowest) || value > static_cast<double>(highest);
        TORCH_CHECK(!is_beyond || (std::isinf(value) && std::numeric_limits<T>::has_infinity),
                    "value cannot be converted to type ", type_name<T>(), " without overflow");
        return static_cast<T>(static_cast<float>(value));
      } else {
        return to_integer<T>();
      }
    }
  }
  double toDouble() const { return to<double>(); }
  int64_t toLong() const { return to<int64_t>(); }
  bool toBool() const { return to<bool>(); }

  bool equal(double number) const {
    if (kind_ == Kind::Complex) return value_.floating == number && imag_ == 0;
    return floating() == number;
  }
  Scalar operator-() const {
    TORCH_CHECK(kind_ != Kind::Bool, "cannot negate a bool Scalar");
    if (kind_ == Kind::Complex) return Scalar(-to<complex<double>>());
    return kind_ == Kind::Float ? Scalar(-value_.floating) : Scalar(-value_.integer);
  }
  // Of a complex number the one with the opposite imaginary part; others are their own.
  Scalar conj() const { return kind_ == Kind::Complex ? Scalar(c10::conj(to<complex<double>>())) : *this; }

  friend std::ostream& operator<<(std::ostream& stream, const Scalar& scalar) {
    switch (scalar.kind_) {
      case Kind::Complex: return stream << scalar.to<complex<double>>();
      case Kind::Float: return stream << scalar.value_.floating;
      case Kind::Integer: return stream << scalar.value_.integer;
      case Kind::Unsigned: return stream << static_cast<uint64_t>(scalar.value_.integer);
      case Kind::Bool: return stream << (scalar.value_.integer ? "True" : "False");
    }
    return stream;
  }

 private:
  // As C++ writes it, which is how PyTorch's messages do.
  template <typename T>
  static const char* type_name() {
    if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(int64_t)) return "int64_t";  // unsigned counts, too
    else return type_facts(CppTypeToScalarType<T>::value).cpp_type;
  }

  double floating() const {
    if (kind_ == Kind::Float || kind_ == Kind::Complex) return value_.floating;
    if (kind_ == Kind::Unsigned) return static_cast<double>(static_cast<uint64_t>(value_.integer));
    return static_cast<double>(value_.integer);
  }

  template <typename T>
  T to_integer() const {
    bool fits;
    if (kind_ == Kind::Float || kind_ == Kind::Complex) {
      const double value = value_.floating;
      // The upper bound is not exact for int64 in double; >= on the next power of two is.
      fits = value >= static_cast<double>(std::numeric_limits<T>::min()) &&
             value < static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2.0;
      if (fits) return static_cast<T>(value);
    } else if (kind_ == Kind::Unsigned) {
      fits = std::is_same_v<T, uint64_t>;
    } else if constexpr (sizeof(T) == sizeof(int64_t)) {
      fits = true;
    } else {
      // As PyTorch: unsigned types also take negative numbers that wrap within their width.
      constexpr int64_t lowest = std::is_signed_v<T> ? static_cast<int64_t>(std::numeric_limits<T>::min())
                                                     : -static_cast<int64_t>(std::numeric_limits<T>::max());
      fits = value_.integer >= lowest && value_.integer <= static_cast<int64_t>(std::numeric_limits<T>::max());
    }
    TORCH_CHECK(fits, "value cannot be converted to type ", type_name<T>(), " without overflow");
    return static_cast<T>(value_.integer);
  }

  enum class Kind : int8_t { Complex, Float, Integer, Unsigned, Bool };
  union {
    double floating;  // of a complex number, the real part
    int64_t integer;  // of an unsigned one, its bits
  } value_;
  double imag_ = 0;
  Kind kind_;
};

}  // namespace c10
