// Functions of complex numbers, and what makes them of real ones; arithmetic has a file of its own.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/ComplexFormulas.h>
#include <aten/native/cpu/ComplexKernels.h>
#include <aten/native/cpu/Loops-inl.h>

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

#define TORCH_COMPLEX_UNARY(name, Result, ...)                                              \
  void complex_##name(TensorIterator& iter) {                                               \
    dispatch_complex(iter, #name, [&](auto zero) {                                          \
      using T = decltype(zero);                                                             \
      using P [[maybe_unused]] = typename T::value_type;                                    \
      run_unary<Result, T>(iter, [](T z) -> Result { return __VA_ARGS__; }, kComplexGrain); \
    });                                                                                     \
  }
AT_FORALL_COMPLEX_UNARY_FUNCTIONS(TORCH_COMPLEX_UNARY)
TORCH_COMPLEX_UNARY(angle, P, std::atan2(z.imag(), z.real()))
#undef TORCH_COMPLEX_UNARY

void complex_pow_scalar(TensorIterator& iter, const Scalar& exponent) {
  if (exponent.equal(-1)) return complex_reciprocal(iter);
  dispatch_complex(iter, "pow", [&](auto zero) {
    using T = decltype(zero);
    if (exponent.equal(0)) return run_unary<T, T>(iter, [](T) { return T(1); });
    if (exponent.equal(1)) return run_unary<T, T>(iter, [](T z) { return z; });
    if (exponent.equal(2)) return run_unary<T, T>(iter, [](T z) { return z * z; });
    if (exponent.equal(3)) return run_unary<T, T>(iter, [](T z) { return z * z * z; });
    if (exponent.equal(-2)) return run_unary<T, T>(iter, [](T z) { return T(1) / (z * z); });
    if (exponent.equal(0.5)) return run_unary<T, T>(iter, [](T z) { return sqrt_of(z); }, kComplexGrain);
    const T power = exponent.to<T>();
    run_unary<T, T>(iter, [power](T z) { return pow_of(z, power); }, kComplexGrain);
  });
}

// ---------------------------------------------------------------- parts

void polar_kernel(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "polar", [&](auto type) {
    using P = typename decltype(type)::type;
    run_binary<c10::complex<P>, P>(
        iter, [](P size, P angle) { return c10::complex<P>(size * std::cos(angle), size * std::sin(angle)); },
        kComplexGrain);
  });
}

}  // namespace at::native::cpu
