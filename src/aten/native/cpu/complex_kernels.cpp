// Arithmetic, comparison, functions and sums of complex numbers; and what makes them of real ones.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ComplexKernels.h>
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/Reduce-inl.h>

#include <cmath>
#include <complex>

namespace at::native::cpu {

using namespace HWY_NAMESPACE;

namespace {

constexpr int64_t kComplexGrain = 8192;  // elements; a function of them costs many times a sum

template <typename Body>
void dispatch_complex(const TensorIterator& iter, const char* name, Body&& body) {
  dispatch_complex_types(iter.common_dtype(), name, [&](auto type) { body(typename decltype(type)::type()); });
}

template <typename T>
T reciprocal_of(T z) {
  return T(1) / z;
}

// Near 0 by its parts, where 1 + z would lose them.
template <typename P>
c10::complex<P> log1p_of(c10::complex<P> z) {
  const P x = z.real();
  const P y = z.imag();
  if (std::fabs(x) > P(0.5) || std::fabs(y) > P(0.5)) return std::log(std::complex<P>(P(1) + x, y));
  return {std::log1p(x * (P(2) + x) + y * y) / P(2), std::atan2(y, P(1) + x)};
}

template <typename T>
T sigmoid_of(T z) {
  return reciprocal_of(T(1) + T(std::exp(std::complex<typename T::value_type>(-z))));
}

template <typename P>
c10::complex<P> expm1_of(c10::complex<P> z) {
  const P half = std::sin(z.imag() / P(2));
  return {std::expm1(z.real()) * std::cos(z.imag()) - P(2) * half * half, std::exp(z.real()) * std::sin(z.imag())};
}

}  // namespace

// Elements are `a`, `b` or `z`, T their type, P its parts', C the standard library's complex<P>.
#define TORCH_COMPLEX_BINARY(name, Result, ...)                                                   \
  void complex_##name(TensorIterator& iter) {                                                     \
    dispatch_complex(iter, #name, [&](auto zero) {                                                \
      using T = decltype(zero);                                                                   \
      run_binary<Result, T>(iter, [](T a, T b) -> Result { return __VA_ARGS__; }, kComplexGrain); \
    });                                                                                           \
  }
TORCH_COMPLEX_BINARY(mul, T, a * b)
TORCH_COMPLEX_BINARY(div, T, a / b)
TORCH_COMPLEX_BINARY(pow, T, T(std::pow(std::complex<typename T::value_type>(a), std::complex<typename T::value_type>(b))))
TORCH_COMPLEX_BINARY(eq, bool, a == b)
TORCH_COMPLEX_BINARY(ne, bool, a != b)
TORCH_COMPLEX_BINARY(logical_and, bool, (a != T()) && (b != T()))
TORCH_COMPLEX_BINARY(logical_or, bool, (a != T()) || (b != T()))
TORCH_COMPLEX_BINARY(logical_xor, bool, (a != T()) != (b != T()))
// Gradients of functions with the conjugated derivative, as autograd has it.
TORCH_COMPLEX_BINARY(sigmoid_backward, T, a * c10::conj((T(1) - b) * b))
TORCH_COMPLEX_BINARY(silu_backward, T, a * c10::conj(sigmoid_of(b) * (T(1) + b * (T(1) - sigmoid_of(b)))))
TORCH_COMPLEX_BINARY(tanh_backward, T, a * c10::conj(T(1) - b * b))
#undef TORCH_COMPLEX_BINARY

#define TORCH_COMPLEX_UNARY(name, Result, ...)                                                    \
  void complex_##name(TensorIterator& iter) {                                                     \
    dispatch_complex(iter, #name, [&](auto zero) {                                                \
      using T = decltype(zero);                                                                   \
      using P = typename T::value_type;                                                           \
      using C [[maybe_unused]] = std::complex<P>;                                                 \
      run_unary<Result, T>(iter, [](T z) -> Result { return __VA_ARGS__; }, kComplexGrain);       \
    });                                                                                           \
  }
TORCH_COMPLEX_UNARY(neg, T, -z)
TORCH_COMPLEX_UNARY(abs, P, std::hypot(z.real(), z.imag()))
TORCH_COMPLEX_UNARY(reciprocal, T, reciprocal_of(z))
TORCH_COMPLEX_UNARY(exp, T, std::exp(C(z)))
TORCH_COMPLEX_UNARY(expm1, T, expm1_of(z))
TORCH_COMPLEX_UNARY(log, T, std::log(C(z)))
TORCH_COMPLEX_UNARY(log2, T, std::log(C(z)) / P(0.69314718055994530942))
TORCH_COMPLEX_UNARY(log10, T, std::log10(C(z)))
TORCH_COMPLEX_UNARY(log1p, T, log1p_of(z))
TORCH_COMPLEX_UNARY(sqrt, T, std::sqrt(C(z)))
TORCH_COMPLEX_UNARY(rsqrt, T, reciprocal_of(T(std::sqrt(C(z)))))
TORCH_COMPLEX_UNARY(sin, T, std::sin(C(z)))
TORCH_COMPLEX_UNARY(cos, T, std::cos(C(z)))
TORCH_COMPLEX_UNARY(tanh, T, std::tanh(C(z)))
TORCH_COMPLEX_UNARY(sigmoid, T, sigmoid_of(z))
TORCH_COMPLEX_UNARY(silu, T, z * sigmoid_of(z))
TORCH_COMPLEX_UNARY(logical_not, bool, z == T())
#undef TORCH_COMPLEX_UNARY

void complex_add(TensorIterator& iter, const Scalar& alpha) {
  dispatch_complex(iter, "add", [&](auto zero) {
    using T = decltype(zero);
    const T factor = alpha.to<T>();
    if (alpha.equal(1)) return run_binary<T, T>(iter, [](T a, T b) { return a + b; });
    if (alpha.equal(-1)) return run_binary<T, T>(iter, [](T a, T b) { return a - b; });
    run_binary<T, T>(iter, [factor](T a, T b) { return a + factor * b; });
  });
}

void complex_pow_scalar(TensorIterator& iter, const Scalar& exponent) {
  dispatch_complex(iter, "pow", [&](auto zero) {
    using T = decltype(zero);
    using C = std::complex<typename T::value_type>;
    if (exponent.equal(0)) return run_unary<T, T>(iter, [](T) { return T(1); });
    if (exponent.equal(1)) return run_unary<T, T>(iter, [](T z) { return z; });
    if (exponent.equal(2)) return run_unary<T, T>(iter, [](T z) { return z * z; });
    if (exponent.equal(3)) return run_unary<T, T>(iter, [](T z) { return z * z * z; });
    if (exponent.equal(-1)) return run_unary<T, T>(iter, [](T z) { return reciprocal_of(z); });
    if (exponent.equal(-2)) return run_unary<T, T>(iter, [](T z) { return reciprocal_of(z * z); });
    if (exponent.equal(0.5)) return run_unary<T, T>(iter, [](T z) { return T(std::sqrt(C(z))); }, kComplexGrain);
    const C power = exponent.to<T>();
    run_unary<T, T>(iter, [power](T z) { return T(std::pow(C(z), power)); }, kComplexGrain);
  });
}

void complex_addcmul(TensorIterator& iter, const Scalar& value) {
  dispatch_complex(iter, "addcmul", [&](auto zero) {
    using T = decltype(zero);
    const T factor = value.to<T>();
    run_ternary<T, T, T>(iter, [factor](T a, T b, T c) { return a + factor * b * c; });
  });
}

void complex_addcdiv(TensorIterator& iter, const Scalar& value) {
  dispatch_complex(iter, "addcdiv", [&](auto zero) {
    using T = decltype(zero);
    const T factor = value.to<T>();
    run_ternary<T, T, T>(iter, [factor](T a, T b, T c) { return a + factor * b / c; });
  });
}

void complex_lerp(TensorIterator& iter, const Scalar& weight) {
  dispatch_complex(iter, "lerp", [&](auto zero) {
    using T = decltype(zero);
    const T amount = weight.to<T>();
    if (std::abs(std::complex<double>(weight.to<c10::complex<double>>())) < 0.5) {
      return run_binary<T, T>(iter, [amount](T start, T end) { return start + amount * (end - start); });
    }
    run_binary<T, T>(iter, [amount](T start, T end) { return end - (end - start) * (T(1) - amount); });
  });
}

// ---------------------------------------------------------------- sums

namespace {

template <typename T>
struct ComplexSum {
  static constexpr bool kVectorised = false;
  static constexpr T identity() { return T(); }
  static T combine(T a, T b) { return a + b; }
};
template <typename T>
struct ComplexProduct {
  static constexpr bool kVectorised = false;
  static constexpr T identity() { return T(1); }
  static T combine(T a, T b) { return a * b; }
};

}  // namespace

void complex_sum(TensorIterator& iter) {
  dispatch_complex(iter, "sum_cpu", [&](auto zero) {
    using T = decltype(zero);
    reduce<ComplexSum<T>, T>(ReducePlan(iter));
  });
}

void complex_mean(TensorIterator& iter) {
  dispatch_complex(iter, "mean_cpu", [&](auto zero) {
    using T = decltype(zero);
    ReducePlan plan(iter);
    plan.mean = true;
    reduce<ComplexSum<T>, T>(plan);
  });
}

void complex_prod(TensorIterator& iter) {
  dispatch_complex(iter, "prod_cpu", [&](auto zero) {
    using T = decltype(zero);
    reduce<ComplexProduct<T>, T>(ReducePlan(iter));
  });
}

// ---------------------------------------------------------------- parts

void conj_physical_kernel(TensorIterator& iter) {
  dispatch_complex(iter, "conj", [&](auto zero) {
    using T = decltype(zero);
    run_unary<T, T>(iter, [](T z) { return c10::conj(z); });
  });
}

void sgn_kernel(TensorIterator& iter) {
  dispatch_complex(iter, "sgn", [&](auto zero) {
    using T = decltype(zero);
    run_unary<T, T>(iter, [](T z) {
      const auto size = std::hypot(z.real(), z.imag());
      return size == 0 ? T() : T(z.real() / size, z.imag() / size);
    });
  });
}

// Of real numbers 0 or pi, and NaN of NaN.
void angle_kernel(TensorIterator& iter) {
  dispatch_floating_and_complex_types(iter.common_dtype(), "angle", [&](auto type) {
    using T = typename decltype(type)::type;
    using P = c10::real_type_t<T>;
    if constexpr (c10::is_complex_v<T>) {
      run_unary<P, T>(iter, [](T z) { return std::atan2(z.imag(), z.real()); }, kComplexGrain);
    } else {
      run_unary<T, T>(iter, [](T x) { return x != x ? x : x < 0 ? T(3.14159265358979323846) : T(0); });
    }
  });
}

void complex_kernel(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "complex", [&](auto type) {
    using P = typename decltype(type)::type;
    run_binary<c10::complex<P>, P>(iter, [](P real, P imag) { return c10::complex<P>(real, imag); });
  });
}

void polar_kernel(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "polar", [&](auto type) {
    using P = typename decltype(type)::type;
    run_binary<c10::complex<P>, P>(
        iter, [](P size, P angle) { return c10::complex<P>(size * std::cos(angle), size * std::sin(angle)); },
        kComplexGrain);
  });
}

}  // namespace at::native::cpu
