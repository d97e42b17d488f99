// Functions of complex numbers, and what makes them of real ones; arithmetic has a file of its own.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/ComplexFormulas.h>
#include <aten/native/cpu/ComplexKernels.h>
#include <aten/native/cpu/Loops-inl.h>

#include <cmath>
#include <complex>
#include <type_traits>

namespace at::native::cpu {

using namespace HWY_NAMESPACE;

namespace {

constexpr int64_t kComplexGrain = 8192;  // elements; a function of them costs many times a sum

template <typename Body>
void dispatch_complex(const TensorIterator& iter, const char* name, Body&& body) {
  dispatch_complex_types(iter.common_dtype(), name, [&](auto type) { body(typename decltype(type)::type()); });
}

}  // namespace

#define TORCH_COMPLEX_BINARY(name, Result, ...)                                                   \
  void complex_##name(TensorIterator& iter) {                                                     \
    dispatch_complex(iter, #name, [&](auto zero) {                                                \
      using T = decltype(zero);                                                                   \
      run_binary<Result, T>(iter, [](T a, T b) -> Result { return __VA_ARGS__; }, kComplexGrain); \
    });                                                                                           \
  }
AT_FORALL_COMPLEX_BINARY_FUNCTIONS(TORCH_COMPLEX_BINARY)
#undef TORCH_COMPLEX_BINARY

#define TORCH_COMPLEX_UNARY(name, Result, ...)                                     \
  void complex_##name(TensorIterator& iter) {                                      \
    dispatch_complex(iter, #name, [&](auto zero) {                                 \
      using T = decltype(zero);                                                    \
      using P [[maybe_unused]] = typename T::value_type;                           \
      const auto function = [](T z) -> Result { return __VA_ARGS__; };             \
      if constexpr (std::is_same_v<Result, c10::complex<float>>) {                 \
        if (run_in_vectors(iter, ComplexFunction::name, function)) return;         \
      }                                                                            \
      run_unary<Result, T>(iter, function, kComplexGrain);                         \
    });                                                                            \
  }
AT_FORALL_COMPLEX_UNARY_FUNCTIONS(TORCH_COMPLEX_UNARY)
#undef TORCH_COMPLEX_UNARY

void complex_angle(TensorIterator& iter) {
  dispatch_complex(iter, "angle", [&](auto zero) {
    using T = decltype(zero);
    using P = typename T::value_type;
    run_unary<P, T>(iter, [](T z) -> P { return std::atan2(z.imag(), z.real()); }, kComplexGrain);
  });
}

void complex_pow_scalar(TensorIterator& iter, const Scalar& exponent) {
  if (exponent.equal(-1)) return complex_reciprocal(iter);
  if (exponent.equal(0.5)) return complex_sqrt(iter);
  if (exponent.equal(-0.5)) return complex_rsqrt(iter);
  dispatch_complex(iter, "pow", [&](auto zero) {
    using T = decltype(zero);
    if (exponent.equal(0)) return run_unary<T, T>(iter, [](T) { return T(1); });
    if (exponent.equal(1)) return run_unary<T, T>(iter, [](T z) { return z; });
    if (exponent.equal(2)) return run_unary<T, T>(iter, [](T z) { return z * z; });
    if (exponent.equal(3)) return run_unary<T, T>(iter, [](T z) { return z * z * z; });
    if (exponent.equal(-2)) return run_unary<T, T>(iter, [](T z) { return T(1) / (z * z); });
    const T power = exponent.to<T>();
    run_unary<T, T>(iter, [power](T z) { return pow_of(z, power); }, kComplexGrain);
  });
}

}  // namespace at::native::cpu
