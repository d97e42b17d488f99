// Arithmetic and comparison of complex numbers, whose loops compilers make vectors of, and what makes them of real
// ones.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ComplexKernels.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/complex_arithmetic_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/DoubleMath-inl.h>
#include <aten/native/cpu/MultiplyAdd-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// Quotients of double are scaled by a power of two, which takes no digits, and corrected by what rounding takes.
using at::native::quotient_of;
using at::native::reciprocal_of;
struct ScaledDivisor {
  double real;
  double imag;
  double scale;
  double size;
  double low;  // of the size
  double inverse;

  TORCH_SIMD explicit ScaledDivisor(c10::complex<double> z) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double x = std::fabs(z.real());
    const double y = std::fabs(z.imag());
    const double larger = x > y ? x : y;
    const double smaller = x > y ? y : x;
    double bounded = larger < 0x1p-1016 ? 0x1p-1016 : larger;
    bounded = bounded > 0x1p1022 ? 0x1p1022 : bounded;
    uint64_t bits;
    std::memcpy(&bits, &bounded, sizeof(bits));
    bits = (uint64_t{2046} << 52) - (bits & (uint64_t{2047} << 52));
    std::memcpy(&scale, &bits, sizeof(bits));
    // A number over an infinite one is 0.
    const bool is_endless = bool(larger == infinity) & bool(smaller < infinity);
    real = is_endless ? std::copysign(bool(x == infinity) ? 1.0 : 0.0, z.real()) : z.real() * scale;
    imag = is_endless ? std::copysign(bool(y == infinity) ? 1.0 : 0.0, z.imag()) : z.imag() * scale;
    const double first = real * real;
    const double second = imag * imag;
    const double sum = first + second;
    const double part = sum - first;
    const double lost = (first - (sum - part)) + (second - part);
    low = lost + (multiply_add(real, real, -first) + multiply_add(imag, imag, -second));
    size = is_endless ? infinity : sum;
    inverse = 1 / size;
  }
  TORCH_SIMD double divide(double value) const {
    const double quotient = value * inverse;
    const double rest = multiply_add(-quotient, size, value) - quotient * low;
    const double better = multiply_add(rest, inverse, quotient);
    return better == better ? better : quotient;  // 0, or endless
  }
};
// a * b + c * d with what rounding takes from the second product, unless that is infinite.
TORCH_SIMD inline double sum_of_products(double a, double b, double c, double d) {
  const double product = c * d;
  const double lost = multiply_add(c, d, -product);
  return multiply_add(a, b, product) + (lost == lost ? lost : 0.0);
}
TORCH_SIMD inline c10::complex<double> reciprocal_of(c10::complex<double> z) {
  const ScaledDivisor divisor(z);
  const bool is_zero = divisor.size == 0;
  return {divisor.divide(is_zero ? 1.0 : divisor.real * divisor.scale),
          divisor.divide(is_zero ? 0.0 : -divisor.imag * divisor.scale)};
}
TORCH_SIMD inline c10::complex<double> quotient_of(c10::complex<double> a, c10::complex<double> b) {
  const ScaledDivisor divisor(b);
  const bool is_zero = divisor.size == 0;
  // Of a sixteenth where products might not be numbers.
  const bool is_large = bool(std::fabs(a.real()) > 0x1p1000) | bool(std::fabs(a.imag()) > 0x1p1000);
  const double p = a.real() * (is_large ? 0.0625 : 1.0);
  const double q = a.imag() * (is_large ? 0.0625 : 1.0);
  const double scale = divisor.scale * (is_large ? 16.0 : 1.0);
  const double real = sum_of_products(p, divisor.real, q, divisor.imag);
  const double imag = sum_of_products(q, divisor.real, -p, divisor.imag);
  return {divisor.divide(is_zero ? a.real() : real * scale), divisor.divide(is_zero ? a.imag() : imag * scale)};
}

template <typename Body>
void dispatch_complex(const TensorIterator& iter, const char* name, Body&& body) {
  dispatch_complex_types(iter.common_dtype(), name, [&](auto type) { body(typename decltype(type)::type()); });
}

#define TORCH_COMPLEX_BINARY(name, Result, ...)                                                          \
  void Complex_##name(TensorIterator& iter) {                                                            \
    dispatch_complex(iter, #name, [&](auto zero) {                                                       \
      using T = decltype(zero);                                                                          \
      run_binary<Result, T>(iter, [](T a, T b) HWY_ATTR -> Result { return __VA_ARGS__; });              \
    });                                                                                                  \
  }
AT_FORALL_COMPLEX_BINARY_ARITHMETIC(TORCH_COMPLEX_BINARY)
#undef TORCH_COMPLEX_BINARY

#define TORCH_COMPLEX_UNARY(name, Result, ...)                                              \
  void Complex_##name(TensorIterator& iter) {                                               \
    dispatch_complex(iter, #name, [&](auto zero) {                                          \
      using T = decltype(zero);                                                             \
      run_unary<Result, T>(iter, [](T z) HWY_ATTR -> Result { return __VA_ARGS__; });       \
    });                                                                                     \
  }
AT_FORALL_COMPLEX_UNARY_ARITHMETIC(TORCH_COMPLEX_UNARY)
#undef TORCH_COMPLEX_UNARY

// By the sign's bit: compilers make plain vectors of it.
void Complex_conj(TensorIterator& iter) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  if (iter.common_dtype() == c10::ScalarType::ComplexFloat) {
    return run_unary<uint64_t, uint64_t>(iter, [](uint64_t z) HWY_ATTR { return z ^ kSign; });
  }
  run_unary<WideWord, WideWord>(iter, [](WideWord z) HWY_ATTR { return WideWord{z.low, z.high ^ kSign}; });
}

void Complex_add(TensorIterator& iter, const Scalar& alpha) {
  dispatch_complex(iter, "add", [&](auto zero) {
    using T = decltype(zero);
    const T factor = alpha.to<T>();
    if (alpha.equal(1)) return run_binary<T, T>(iter, [](T a, T b) HWY_ATTR { return a + b; });
    if (alpha.equal(-1)) return run_binary<T, T>(iter, [](T a, T b) HWY_ATTR { return a - b; });
    run_binary<T, T>(iter, [factor](T a, T b) HWY_ATTR { return a + factor * b; });
  });
}

void Complex_addcmul(TensorIterator& iter, const Scalar& value) {
  dispatch_complex(iter, "addcmul", [&](auto zero) {
    using T = decltype(zero);
    const T factor = value.to<T>();
    run_ternary<T, T, T>(iter, [factor](T a, T b, T c) HWY_ATTR { return a + factor * b * c; });
  });
}

void Complex_addcdiv(TensorIterator& iter, const Scalar& value) {
  dispatch_complex(iter, "addcdiv", [&](auto zero) {
    using T = decltype(zero);
    const T factor = value.to<T>();
    run_ternary<T, T, T>(iter, [factor](T a, T b, T c) HWY_ATTR { return a + quotient_of(factor * b, c); });
  });
}

void Complex_lerp(TensorIterator& iter, const Scalar& weight) {
  dispatch_complex(iter, "lerp", [&](auto zero) {
    using T = decltype(zero);
    const T amount = weight.to<T>();
    if (std::abs(std::complex<double>(weight.to<c10::complex<double>>())) < 0.5) {
      return run_binary<T, T>(iter, [amount](T start, T end) HWY_ATTR { return start + amount * (end - start); });
    }
    const T rest = T(1) - amount;
    run_binary<T, T>(iter, [rest](T start, T end) HWY_ATTR { return end - (end - start) * rest; });
  });
}

// From the nearer end, as with one weight.
void Complex_lerp_by_weights(TensorIterator& iter) {
  dispatch_complex(iter, "lerp", [&](auto zero) {
    using T = decltype(zero);
    using P = typename T::value_type;
    run_ternary<T, T, T>(iter, [](T start, T end, T weight) HWY_ATTR {
      const bool is_near = weight.real() * weight.real() + weight.imag() * weight.imag() < P(0.25);
      const T difference = end - start;
      const T from_start = start + weight * difference;
      const T from_end = end - difference * (T(1) - weight);
      return T(is_near ? from_start.real() : from_end.real(), is_near ? from_start.imag() : from_end.imag());
    });
  });
}

// Of float by way of double, where squares neither overflow nor vanish.
struct SignOfFloats {
  TORCH_SIMD c10::complex<float> operator()(c10::complex<float> z) const {
    const double x = z.real();
    const double y = z.imag();
    const double size = std::sqrt(x * x + y * y);
    const bool is_zero = size == 0;
    const double divisor = is_zero ? 1 : size;
    return {static_cast<float>(is_zero ? 0 : x / divisor), static_cast<float>(is_zero ? 0 : y / divisor)};
  }
};

#if TORCH_FUSED_PRODUCTS
// The same bits wherever a number stands in a row: what is left over is a vector, too.
struct SignsOfDoubles {
  using T = c10::complex<double>;
  HWY_ATTR void operator()(int64_t count, T* out, const T* in) const {
    const hn::ScalableTag<double> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      compute(d, reinterpret_cast<const double*>(in + i), reinterpret_cast<double*>(out + i));
    if (i == count) return;
    HWY_ALIGN double rest[2 * hn::MaxLanes(d)] = {};
    std::memcpy(rest, in + i, static_cast<size_t>(count - i) * sizeof(T));
    compute(d, rest, rest);
    std::memcpy(static_cast<void*>(out + i), rest, static_cast<size_t>(count - i) * sizeof(T));
  }
  template <typename D>
  HWY_INLINE HWY_ATTR static void compute(D d, const double* from, double* to) {
    hn::Vec<D> real, imag;
    hn::LoadInterleaved2(d, from, real, imag);
    const auto size = HypotOfDoubles()(d, real, imag);
    const auto is_zero = hn::Eq(size, hn::Zero(d));
    const auto divisor = hn::IfThenElse(is_zero, hn::Set(d, 1.0), size);
    hn::StoreInterleaved2(hn::IfThenZeroElse(is_zero, hn::Div(real, divisor)),
                          hn::IfThenZeroElse(is_zero, hn::Div(imag, divisor)), d, to);
  }
};
#endif

void Complex_sgn(TensorIterator& iter) {
  if (iter.common_dtype() == ScalarType::ComplexFloat) {
    return run_unary<c10::complex<float>, c10::complex<float>>(iter, SignOfFloats());
  }
  using T = c10::complex<double>;
#if TORCH_FUSED_PRODUCTS
  iter.for_each([](char** data, const int64_t* strides, int64_t count)
                    HWY_ATTR { run_rows<T, T>(data, strides, count, SignsOfDoubles()); });
#else
  run_unary<T, T>(iter, [](T z) HWY_ATTR { return sign_of(z); });
#endif
}

void Complex_from_parts(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "complex", [&](auto type) {
    using P = typename decltype(type)::type;
    using T = c10::complex<P>;
    run_binary<T, P>(iter, [](P real, P imag) HWY_ATTR { return T(real, imag); });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

#define TORCH_EXPORT_AS(kernel, name) \
  HWY_EXPORT(Complex_##name);         \
  void kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(Complex_##name)(iter); }
#define TORCH_EXPORT(name, ...) TORCH_EXPORT_AS(complex_##name, name)
#define TORCH_EXPORT_WITH_NUMBER(name) \
  HWY_EXPORT(Complex_##name);          \
  void complex_##name(TensorIterator& iter, const Scalar& number) { \
    HWY_DYNAMIC_DISPATCH(Complex_##name)(iter, number);             \
  }
AT_FORALL_COMPLEX_BINARY_ARITHMETIC(TORCH_EXPORT)
AT_FORALL_COMPLEX_UNARY_ARITHMETIC(TORCH_EXPORT)
TORCH_EXPORT(lerp_by_weights)
TORCH_EXPORT_WITH_NUMBER(add)
TORCH_EXPORT_WITH_NUMBER(addcmul)
TORCH_EXPORT_WITH_NUMBER(addcdiv)
TORCH_EXPORT_WITH_NUMBER(lerp)
TORCH_EXPORT_AS(conj_physical_kernel, conj)
TORCH_EXPORT_AS(sgn_kernel, sgn)
TORCH_EXPORT_AS(complex_kernel, from_parts)
#undef TORCH_EXPORT_WITH_NUMBER
#undef TORCH_EXPORT
#undef TORCH_EXPORT_AS

}  // namespace at::native::cpu
#endif  // HWY_ONCE
