#pragma once
// One number as the user wrote it: a float, an integer or a bool. Its type takes part in promotion by category only.

#include <c10/core/ScalarType.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <type_traits>

namespace c10 {

class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> || is_reduced_floating_v<T>>>
  Scalar(T value) {  // NOLINT: implicit, a number is a Scalar
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::Bool;
      value_.integer = value;
    } else if constexpr (is_floating_v<T>) {
      kind_ = Kind::Float;
      value_.floating = static_cast<double>(value);
    } else {
      kind_ = Kind::Integer;
      value_.integer = static_cast<int64_t>(value);
    }
  }

  bool is_floating_point() const { return kind_ == Kind::Float; }
  bool is_integral(bool include_bool) const {
    return kind_ == Kind::Integer || (include_bool && kind_ == Kind::Bool);
  }
  bool is_boolean() const { return kind_ == Kind::Bool; }
  // Double, Long or Bool.
  ScalarType type() const {
    return kind_ == Kind::Float ? ScalarType::Double : kind_ == Kind::Integer ? ScalarType::Long : ScalarType::Bool;
  }

  // Converts as C++ does; an integer or reduced floating type that cannot hold the value throws Error.
  template <typename T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return kind_ == Kind::Float ? value_.floating != 0 : value_.integer != 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      return kind_ == Kind::Float ? static_cast<T>(value_.floating) : static_cast<T>(value_.integer);
    } else if constexpr (is_reduced_floating_v<T>) {
      const double value = to<double>();
      constexpr T highest = std::numeric_limits<T>::max();
      TORCH_CHECK(!(std::fabs(value) > static_cast<double>(highest)) || std::isinf(value),
                  "value cannot be converted to type ", type_name<T>(), " without overflow");
      return static_cast<T>(static_cast<float>(value));
    } else {
      if (kind_ == Kind::Float) {
        const double value = value_.floating;
        // The upper bound is not exact for int64 in double; >= on the next power of two is.
        TORCH_CHECK(value >= static_cast<double>(std::numeric_limits<T>::min()) &&
                        value < static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2.0,
                    "value cannot be converted to type ", type_name<T>(), " without overflow");
        return static_cast<T>(value);
      }
      const int64_t value = value_.integer;
      // As PyTorch: unsigned types also take negative numbers that wrap within their width.
      constexpr int64_t lowest = std::is_signed_v<T> ? static_cast<int64_t>(std::numeric_limits<T>::min())
                                                     : -static_cast<int64_t>(std::numeric_limits<T>::max());
      TORCH_CHECK(value >= lowest && value <= static_cast<int64_t>(std::numeric_limits<T>::max()),
                  "value cannot be converted to type ", type_name<T>(), " without overflow");
      return static_cast<T>(value);
    }
  }
  double toDouble() const { return to<double>(); }
  int64_t toLong() const { return to<int64_t>(); }
  bool toBool() const { return to<bool>(); }

  bool equal(double number) const {
    return kind_ == Kind::Float ? value_.floating == number : static_cast<double>(value_.integer) == number;
  }
  Scalar operator-() const {
    TORCH_CHECK(kind_ != Kind::Bool, "cannot negate a bool Scalar");
    return kind_ == Kind::Float ? Scalar(-value_.floating) : Scalar(-value_.integer);
  }

  friend std::ostream& operator<<(std::ostream& stream, const Scalar& scalar) {
    switch (scalar.kind_) {
      case Kind::Float: return stream << scalar.value_.floating;
      case Kind::Integer: return stream << scalar.value_.integer;
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

  enum class Kind : int8_t { Float, Integer, Bool };
  union {
    double floating;
    int64_t integer;
  } value_;
  Kind kind_;
};

}  // namespace c10
