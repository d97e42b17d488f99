#pragma once
// What element-wise operators compute of complex numbers: for the CPU's kernels and for CUDA's. Functions beyond
// arithmetic are those of the standard library, or of Thrust where nvcc compiles.

#include <c10/util/complex.h>

#include <limits>

#if defined(__CUDACC__)
#include <thrust/complex.h>
#endif

namespace at::native {

#if defined(__CUDACC__)
template <typename P>
using LibraryComplex = thrust::complex<P>;
#else
template <typename P>
using LibraryComplex = std::complex<P>;
#endif

template <typename P>
C10_HOST_DEVICE LibraryComplex<P> as_library(c10::complex<P> z) {
  return LibraryComplex<P>(z.real(), z.imag());
}
template <typename P>
C10_HOST_DEVICE c10::complex<P> from_library(LibraryComplex<P> z) {
  return {z.real(), z.imag()};
}

// NAME_of(z), by the library's function.
#define AT_LIBRARY_FUNCTION(name)                                     \
  template <typename P>                                               \
  C10_HOST_DEVICE c10::complex<P> name##_of(c10::complex<P> z) { \
    return from_library<P>(name(as_library(z)));                      \
  }
AT_LIBRARY_FUNCTION(exp)
AT_LIBRARY_FUNCTION(log)
AT_LIBRARY_FUNCTION(log10)
AT_LIBRARY_FUNCTION(sqrt)
AT_LIBRARY_FUNCTION(sin)
AT_LIBRARY_FUNCTION(cos)
AT_LIBRARY_FUNCTION(tanh)
#undef AT_LIBRARY_FUNCTION

template <typename P>
C10_HOST_DEVICE c10::complex<P> pow_of(c10::complex<P> base, c10::complex<P> exponent) {
  return from_library<P>(pow(as_library(base), as_library(exponent)));
}

// Near 0 by its parts, where 1 + z would lose them.
template <typename P>
C10_HOST_DEVICE c10::complex<P> log1p_of(c10::complex<P> z) {
  const P x = z.real();
  const P y = z.imag();
  if (std::fabs(x) > P(0.5) || std::fabs(y) > P(0.5)) return log_of(c10::complex<P>(P(1) + x, y));
  // |1 + z|^2 - 1 is 2 x + x^2 + y^2, each part rounded once.
  return {std::log1p(std::fma(x, P(2), std::fma(x, x, y * y))) / P(2), std::atan2(y, P(1) + x)};
}

template <typename P>
C10_HOST_DEVICE c10::complex<P> expm1_of(c10::complex<P> z) {
  const P half = std::sin(z.imag() / P(2));
  return {std::expm1(z.real()) * std::cos(z.imag()) - P(2) * half * half, std::exp(z.real()) * std::sin(z.imag())};
}

// 1 / z, with choices for the branch of the division: a loop over this is one of vectors.
template <typename P>
C10_HOST_DEVICE c10::complex<P> reciprocal_of(c10::complex<P> z) {
  const P x = std::fabs(z.real());
  const P y = std::fabs(z.imag());
  const P scale = x > y ? x : y;
  const bool is_zero = scale == P(0);
  const P divisor = is_zero ? P(1) : scale;
  const P c = x > y ? std::copysign(P(1), z.real()) : z.real() / divisor;
  const P d = y > x ? std::copysign(P(1), z.imag()) : z.imag() / divisor;
  const P size = is_zero ? scale : (c * c + d * d) * scale;
  return {(is_zero ? P(1) : c) / size, (is_zero ? P(0) : -d) / size};
}

#if !defined(__CUDACC__)
// Of float by way of double, where squares neither overflow nor vanish, with one division. 1 / 0 is infinity and NaN,
// and one over an infinite number 0.
inline c10::complex<float> reciprocal_of(c10::complex<float> z) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double x = z.real();
  const double y = z.imag();
  const double size = x * x + y * y;
  const double unit = 1 / size;
  const bool is_endless = bool(size == infinity) & bool(std::fabs(x) != std::fabs(y));
  const double real = is_endless ? std::copysign(0.0, x) : x * unit;
  const double imag = is_endless ? std::copysign(0.0, -y) : -y * unit;
  return {static_cast<float>(size == 0 ? infinity : real), static_cast<float>(imag)};
}
#endif

// a / b, with choices for the branches of the operator.
template <typename P>
C10_HOST_DEVICE c10::complex<P> quotient_of(c10::complex<P> a, c10::complex<P> b) {
  const P x = std::fabs(b.real());
  const P y = std::fabs(b.imag());
  const P scale = x > y ? x : y;
  const bool is_zero = scale == P(0);
  const P divisor = is_zero ? P(1) : scale;
  const P c = x > y ? std::copysign(P(1), b.real()) : b.real() / divisor;  // of an infinite part, too
  const P d = y > x ? std::copysign(P(1), b.imag()) : b.imag() / divisor;
  const P size = is_zero ? scale : (c * c + d * d) * scale;
  const P real = a.real() * c + a.imag() * d;
  const P imag = a.imag() * c - a.real() * d;
  return {(is_zero ? a.real() : real) / size, (is_zero ? a.imag() : imag) / size};
}

#if !defined(__CUDACC__)
// Of float by way of double, as the reciprocal.
inline c10::complex<float> quotient_of(c10::complex<float> a, c10::complex<float> b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double x = b.real();
  const double y = b.imag();
  const double size = x * x + y * y;
  const double unit = 1 / size;
  // A number over an infinite one is 0; over 0, each part is divided by it.
  const bool is_endless = bool(size == infinity) & bool(std::fabs(x) != std::fabs(y));
  const bool is_zero = size == 0;
  const double c = is_endless ? std::copysign(bool(std::fabs(x) == infinity) ? 1.0 : 0.0, x) : x;
  const double d = is_endless ? std::copysign(bool(std::fabs(y) == infinity) ? 1.0 : 0.0, y) : y;
  const double p = a.real();
  const double q = a.imag();
  const double real = is_zero ? p : p * c + q * d;
  const double imag = is_zero ? q : q * c - p * d;
  return {static_cast<float>(real * unit), static_cast<float>(imag * unit)};
}
#endif

// Without a branch, as loops want them.
template <typename P>
C10_HOST_DEVICE bool are_equal(c10::complex<P> a, c10::complex<P> b) {
  return bool(a.real() == b.real()) & bool(a.imag() == b.imag());
}
template <typename P>
C10_HOST_DEVICE bool is_true(c10::complex<P> z) {
  return bool(z.real() != P(0)) | bool(z.imag() != P(0));
}

template <typename T>
C10_HOST_DEVICE T sigmoid_of(T z) {
  return reciprocal_of(T(1) + exp_of(-z));
}

template <typename P>
C10_HOST_DEVICE c10::complex<P> sign_of(c10::complex<P> z) {
  const P size = std::hypot(z.real(), z.imag());
  return size == P(0) ? c10::complex<P>() : c10::complex<P>(z.real() / size, z.imag() / size);
}

// row(name, result, expression): of `z`, or of `a` and `b`; T is their type and P that of their parts. What compilers
// make vectors of stands apart from functions.
#define AT_FORALL_COMPLEX_UNARY_ARITHMETIC(row) \
  row(neg, T, -z)                               \
  row(reciprocal, T, reciprocal_of(z))          \
  row(logical_not, bool, !is_true(z))
#define AT_FORALL_COMPLEX_UNARY_FUNCTIONS(row)           \
  row(abs, P, std::hypot(z.real(), z.imag()))            \
  row(exp, T, exp_of(z))                                 \
  row(expm1, T, expm1_of(z))                             \
  row(log, T, log_of(z))                                 \
  row(log2, T, log_of(z) / T(P(0.69314718055994530942))) \
  row(log10, T, log10_of(z))                             \
  row(log1p, T, log1p_of(z))                             \
  row(sqrt, T, sqrt_of(z))                               \
  row(rsqrt, T, reciprocal_of(sqrt_of(z)))               \
  row(sin, T, sin_of(z))                                 \
  row(cos, T, cos_of(z))                                 \
  row(tanh, T, tanh_of(z))                               \
  row(sigmoid, T, sigmoid_of(z))                         \
  row(silu, T, quotient_of(z, T(1) + exp_of(-z)))
#define AT_FORALL_COMPLEX_UNARY(row) AT_FORALL_COMPLEX_UNARY_ARITHMETIC(row) AT_FORALL_COMPLEX_UNARY_FUNCTIONS(row)
// The gradients are of functions with the conjugated derivative, as autograd has it.
#define AT_FORALL_COMPLEX_BINARY_ARITHMETIC(row)  \
  row(mul, T, a * b)                              \
  row(div, T, quotient_of(a, b))                  \
  row(eq, bool, are_equal(a, b))                  \
  row(ne, bool, !are_equal(a, b))                 \
  row(logical_and, bool, is_true(a) & is_true(b)) \
  row(logical_or, bool, is_true(a) | is_true(b))  \
  row(logical_xor, bool, is_true(a) != is_true(b))
#define AT_FORALL_COMPLEX_BINARY_FUNCTIONS(row)                                             \
  row(pow, T, pow_of(a, b))                                                                 \
  row(sigmoid_backward, T, a * c10::conj((T(1) - b) * b))                                   \
  row(silu_backward, T, a * c10::conj(sigmoid_of(b) * (T(1) + b * (T(1) - sigmoid_of(b))))) \
  row(tanh_backward, T, a * c10::conj(T(1) - b * b))
#define AT_FORALL_COMPLEX_BINARY(row) AT_FORALL_COMPLEX_BINARY_ARITHMETIC(row) AT_FORALL_COMPLEX_BINARY_FUNCTIONS(row)

}  // namespace at::native
