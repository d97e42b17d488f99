// add, mul, div and their integer forms, powers, extremes, bits.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/AddHalves.h>
#include <aten/native/cpu/ElementBits.h>
#include <aten/native/cpu/ExportKernel.h>

#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/arithmetic_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/DoubleMath-inl.h>
#include <aten/native/cpu/MultiplyAdd-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

template <typename T>
struct Add {
  TORCH_SIMD T operator()(T a, T b) const {
    return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
  }
};
template <typename T>
struct Subtract {
  TORCH_SIMD T operator()(T a, T b) const {
    return static_cast<T>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
  }
};
template <typename T>
struct AddScaled {
  T alpha;
  TORCH_SIMD T operator()(T a, T b) const {
    return multiply_add(alpha, b, a);
  }
};
template <typename T>
struct Multiply {
  TORCH_SIMD T operator()(T a, T b) const {
    return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
  }
};
template <typename T>
struct Divide {
  TORCH_SIMD T operator()(T a, T b) const { return a / b; }
};

[[noreturn]] inline void throw_zero_division() { throw c10::Error("ZeroDivisionError"); }

template <typename T>
struct DivideTruncating {
  TORCH_SIMD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::trunc(a / b);
    } else {
      if (HWY_UNLIKELY(b == 0)) throw_zero_division();
      if constexpr (std::is_signed_v<T>) {
        if (b == -1)
          return static_cast<T>(wrapping_t<T>{0} - static_cast<wrapping_t<T>>(a));  // the lowest number traps
      }
      return static_cast<T>(a / b);
    }
  }
};

template <typename T>
struct DivideFlooring {
  TORCH_SIMD T operator()(T a, T b) const {
    const T quotient = DivideTruncating<T>()(a, b);
    if constexpr (std::is_signed_v<T>) {
      if (b != -1 && (a < 0) != (b < 0) && a % b != 0) return quotient - 1;
    }
    return quotient;
  }
};

// As Python's float_floor_div: the quotient from the remainder, exact for large operands too.
struct DivideFlooringFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    using T = hn::TFromD<D>;
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, T(1));
    const V plain = hn::Div(a, b);
    const V rest = fmod_vector(d, a, b);
    V quotient = hn::Div(hn::Sub(a, rest), b);
    quotient = hn::IfThenElse(other_side(d, rest, b), hn::Sub(quotient, one), quotient);
    V floor = hn::Floor(quotient);
    floor = hn::IfThenElse(hn::Gt(hn::Sub(quotient, floor), hn::Set(d, T(0.5))), hn::Add(floor, one), floor);
    floor = hn::IfThenElse(hn::Eq(quotient, zero), hn::CopySign(zero, plain), floor);
    return hn::IfThenElse(hn::Eq(b, zero), plain, floor);
  }
  // Where a remainder is not 0 and has another sign than the divisor.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static auto other_side(D d, V rest, V divisor) {
    const V zero = hn::Zero(d);
    return hn::And(hn::Ne(rest, zero), hn::Xor(hn::Lt(divisor, zero), hn::Lt(rest, zero)));
  }
};
struct RemainderFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    const V rest = fmod_vector(d, a, b);
    return hn::IfThenElse(DivideFlooringFunction::other_side(d, rest, b), hn::Add(rest, b), rest);
  }
};

// The sign of the divisor, as in Python.
template <typename T>
struct Remainder {
  TORCH_SIMD T operator()(T a, T b) const {
    if (HWY_UNLIKELY(b == 0)) throw_zero_division();
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      const T remainder = a % b;
      return remainder != 0 && (b < 0) != (remainder < 0) ? remainder + b : remainder;
    } else {
      return static_cast<T>(a % b);
    }
  }
};

template <typename T>
struct Power {
  TORCH_SIMD T operator()(T base, T exponent) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::pow(base, exponent);
    } else {
      if constexpr (std::is_signed_v<T>) {
        // What is left of 1 / base^n in integers.
        if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
      }
      wrapping_t<T> result = 1;
      wrapping_t<T> factor = static_cast<wrapping_t<T>>(base);
      for (auto rest = static_cast<std::make_unsigned_t<T>>(exponent); rest != 0; rest >>= 1) {
        if (rest & 1) result *= factor;
        factor *= factor;
      }
      return static_cast<T>(result);
    }
  }
};
template <typename T>
struct PowerOf {
  T exponent;
  TORCH_SIMD T operator()(T base) const { return Power<T>()(base, exponent); }
};
template <typename T>
struct Square {
  TORCH_SIMD T operator()(T a) const { return Multiply<T>()(a, a); }
};
template <typename T>
struct Cube {
  TORCH_SIMD T operator()(T a) const { return Multiply<T>()(Multiply<T>()(a, a), a); }
};
template <typename T>
struct SquareRoot {
  TORCH_SIMD T operator()(T a) const { return std::sqrt(a); }
};
template <typename T>
struct InverseSquareRoot {
  TORCH_SIMD T operator()(T a) const { return T(1) / std::sqrt(a); }
};
template <typename T>
struct Inverse {
  TORCH_SIMD T operator()(T a) const { return T(1) / a; }
};
template <typename T>
struct InverseSquare {
  TORCH_SIMD T operator()(T a) const { return T(1) / (a * a); }
};

// NaN wins over every number.
template <typename T>
struct Maximum {
  TORCH_SIMD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T larger = a > b ? a : b;  // b when either is NaN
      return a != a ? a : larger;
    } else {
      return a > b ? a : b;
    }
  }
};
template <typename T>
struct Minimum {
  TORCH_SIMD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T smaller = a < b ? a : b;
      return a != a ? a : smaller;
    } else {
      return a < b ? a : b;
    }
  }
};

template <typename T>
struct BitAnd {
  TORCH_SIMD T operator()(T a, T b) const { return a & b; }
};
template <typename T>
struct BitOr {
  TORCH_SIMD T operator()(T a, T b) const { return a | b; }
};
template <typename T>
struct BitXor {
  TORCH_SIMD T operator()(T a, T b) const { return a ^ b; }
};

void AddImpl(TensorIterator& iter, const Scalar& alpha) {
  if (iter.common_dtype() == kBool) {
    struct First {
      TORCH_SIMD uint8_t operator()(uint8_t a, uint8_t) const { return a; }
    };
    if (alpha.toBool()) return run_binary<uint8_t, uint8_t>(iter, BitOr<uint8_t>());
    return run_binary<uint8_t, uint8_t>(iter, First());
  }
  dispatch_numeric_types(iter.common_dtype(), "add", [&](auto type) {
    using T = SameBits<typename decltype(type)::type>;
    if (alpha.equal(1)) return run_binary<T, T>(iter, Add<T>());
    if (alpha.equal(-1)) return run_binary<T, T>(iter, Subtract<T>());
    run_binary<T, T>(iter, AddScaled<T>{static_cast<T>(alpha.to<typename decltype(type)::type>())});
  });
}

void AddHalvesImpl(ScalarType dtype, void* to, const void* from, int64_t count) {
  const OfVectors<Add<float>> add{};
  char* const data[] = {static_cast<char*>(to), static_cast<char*>(to), static_cast<char*>(const_cast<void*>(from))};
  constexpr int64_t steps[] = {2, 2, 2};
  rows_of_halves(dtype, add, std::make_index_sequence<2>())(data, steps, count);
}

void MulImpl(TensorIterator& iter) {
  if (iter.common_dtype() == kBool) return run_binary<uint8_t, uint8_t>(iter, BitAnd<uint8_t>());
  dispatch_numeric_types(c10::same_bits_type(iter.common_dtype()), "mul", [&](auto type) {
    using T = SameBits<typename decltype(type)::type>;
    run_binary<T, T>(iter, Multiply<T>());
  });
}

void DivImpl(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "div", [&](auto type) {
    using T = typename decltype(type)::type;
    run_binary<T, T>(iter, Divide<T>());
  });
}

#define TORCH_BINARY_KERNEL(Name, name, dispatch, Op)    \
  void Name##Impl(TensorIterator& iter) {                \
    dispatch(iter.common_dtype(), name, [&](auto type) { \
      using T = typename decltype(type)::type;           \
      run_binary<T, T>(iter, Op<T>());                   \
    });                                                  \
  }
#define TORCH_INTEGERS_AND_VECTORS(Name, name, Op)                                \
  void Name##Impl(TensorIterator& iter) {                                         \
    dispatch_numeric_types(iter.common_dtype(), name, [&](auto type) {            \
      using T = typename decltype(type)::type;                                    \
      if constexpr (std::is_floating_point_v<T>) {                                \
        iter.for_each(BinaryVectorLoop<T, Op##Function>{{}}, kMathGrain);         \
      } else {                                                                    \
        run_binary<T, T>(iter, Op<T>());                                          \
      }                                                                           \
    });                                                                           \
  }
#define TORCH_BITWISE_KERNEL(Name, name, Op)                                                               \
  void Name##Impl(TensorIterator& iter) {                                                                  \
    dispatch_integral_types(bool_as_byte(c10::same_bits_type(iter.common_dtype())), name, [&](auto type) { \
      using T = SameBits<typename decltype(type)::type>;                                                   \
      run_binary<T, T>(iter, Op<T>());                                                                     \
    });                                                                                                    \
  }
TORCH_BINARY_KERNEL(DivTrunc, "div_trunc", dispatch_numeric_types, DivideTruncating)
TORCH_INTEGERS_AND_VECTORS(DivFloor, "div_floor", DivideFlooring)
TORCH_INTEGERS_AND_VECTORS(Remainder, "remainder", Remainder)
TORCH_BINARY_KERNEL(Maximum, "maximum", dispatch_numbers_and_bool, Maximum)
TORCH_BINARY_KERNEL(Minimum, "minimum", dispatch_numbers_and_bool, Minimum)
TORCH_BITWISE_KERNEL(BitwiseAnd, "bitwise_and", BitAnd)
TORCH_BITWISE_KERNEL(BitwiseOr, "bitwise_or", BitOr)
TORCH_BITWISE_KERNEL(BitwiseXor, "bitwise_xor", BitXor)
#undef TORCH_BITWISE_KERNEL
#undef TORCH_INTEGERS_AND_VECTORS
#undef TORCH_BINARY_KERNEL

// float64 by the C library where vectors lack what its last digits take.
struct PowerFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V base, V exponent) const {
    return pow_vector(d, base, exponent);
  }
};
struct PowerOfFunction {
  float exponent;
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V base) const {
    return pow_vector(d, base, hn::Set(d, exponent));
  }
};

#if TORCH_FUSED_PRODUCTS
struct PowerOfDoublesFunction {
  double exponent;
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V base) const {
    return PowerOfDoubles()(d, base, hn::Set(d, exponent));
  }
};
#endif

void PowImpl(TensorIterator& iter) {
  dispatch_numeric_types(iter.common_dtype(), "pow", [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_same_v<T, float>) {
      iter.for_each(BinaryVectorLoop<T, PowerFunction>{{}}, kMathGrain);
#if TORCH_FUSED_PRODUCTS
    } else if constexpr (std::is_same_v<T, double>) {
      iter.for_each(BinaryVectorLoop<double, PowerOfDoubles>{{}}, kMathGrain);
#endif
    } else {
      run_binary<T, T>(iter, Power<T>());
    }
  });
}

template <typename T>
struct One {
  TORCH_SIMD T operator()(T) const { return T(1); }
};
template <typename T>
struct Same {
  TORCH_SIMD T operator()(T a) const { return a; }
};

void PowScalarImpl(TensorIterator& iter, const Scalar& exponent) {
  if (iter.common_dtype() == kBool) {  // only these two come here
    if (exponent.equal(0)) return run_unary<uint8_t, uint8_t>(iter, One<uint8_t>());
    return run_unary<uint8_t, uint8_t>(iter, Same<uint8_t>());
  }
  dispatch_numeric_types(iter.common_dtype(), "pow", [&](auto type) {
    using T = typename decltype(type)::type;
    if (exponent.equal(0)) return run_unary<T, T>(iter, One<T>());
    if (exponent.equal(1)) return run_unary<T, T>(iter, Same<T>());
    if (exponent.equal(2)) return run_unary<T, T>(iter, Square<T>());
    if (exponent.equal(3)) return run_unary<T, T>(iter, Cube<T>());
    if constexpr (std::is_floating_point_v<T>) {
      if (exponent.equal(0.5)) return run_unary<T, T>(iter, SquareRoot<T>());
      if (exponent.equal(-0.5)) return run_unary<T, T>(iter, InverseSquareRoot<T>());
      if (exponent.equal(-1)) return run_unary<T, T>(iter, Inverse<T>());
      if (exponent.equal(-2)) return run_unary<T, T>(iter, InverseSquare<T>());
    }
    if constexpr (std::is_same_v<T, float>) {
      iter.for_each(UnaryVectorLoop<T, PowerOfFunction>{{exponent.to<T>()}}, kMathGrain);
#if TORCH_FUSED_PRODUCTS
    } else if constexpr (std::is_same_v<T, double>) {
      iter.for_each(UnaryVectorLoop<double, PowerOfDoublesFunction>{{exponent.to<T>()}}, kMathGrain);
#endif
    } else {
      run_unary<T, T>(iter, PowerOf<T>{exponent.to<T>()});
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

TORCH_EXPORT_KERNEL_AND_COMPLEX(Mul, mul)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Div, div)
TORCH_EXPORT_KERNEL(DivTrunc, div_trunc)
TORCH_EXPORT_KERNEL(DivFloor, div_floor)
TORCH_EXPORT_KERNEL(Remainder, remainder)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Pow, pow)
TORCH_EXPORT_KERNEL(Maximum, maximum)
TORCH_EXPORT_KERNEL(Minimum, minimum)
TORCH_EXPORT_KERNEL(BitwiseAnd, bitwise_and)
TORCH_EXPORT_KERNEL(BitwiseOr, bitwise_or)
TORCH_EXPORT_KERNEL(BitwiseXor, bitwise_xor)

HWY_EXPORT(AddImpl);
void add_kernel(TensorIterator& iter, const Scalar& alpha) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_add(iter, alpha);
  HWY_DYNAMIC_DISPATCH(AddImpl)(iter, alpha);
}
HWY_EXPORT(AddHalvesImpl);
void add_halves(ScalarType dtype, void* to, const void* from, int64_t count) {
  HWY_DYNAMIC_DISPATCH(AddHalvesImpl)(dtype, to, from, count);
}
HWY_EXPORT(PowScalarImpl);
void pow_scalar_kernel(TensorIterator& iter, const Scalar& exponent) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_pow_scalar(iter, exponent);
  HWY_DYNAMIC_DISPATCH(PowScalarImpl)(iter, exponent);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
