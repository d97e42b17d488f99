// The functions of aten/native/ScalarFunctions.h: plain loops around one call, compiled once, but for those in vectors.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ComplexKernels.h>
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/ScalarFormulas.h>
#include <aten/native/cpu/VectorFunctions.h>

#include <cmath>
#include <complex>
#include <type_traits>

namespace at::native::cpu {

using namespace HWY_NAMESPACE;

namespace {

constexpr int64_t kFunctionGrain = 4096;  // elements; each costs many times a sum

template <typename T>
T fmod_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    TORCH_CHECK(b != 0, "ZeroDivisionError");
    if constexpr (std::is_signed_v<T>) return b == T(-1) ? T(0) : static_cast<T>(a % b);
    else return static_cast<T>(a % b);
  }
}
// One loop for all functions of a type: it calls what it is given.
template <typename T>
void run_each(TensorIterator& iter, T (*function)(T)) {
  const auto call = [function](T x) { return function(x); };
  iter.for_each(UnaryLoop<T, T, decltype(call)>{call}, kFunctionGrain);
}
template <typename T>
void run_each(TensorIterator& iter, T (*function)(T, T)) {
  const auto call = [function](T a, T b) { return function(a, b); };
  iter.for_each(BinaryLoop<T, T, decltype(call)>{call}, kFunctionGrain);
}

}  // namespace

#define TORCH_CASE_IN_STANDARD(name)                                       \
  case UnaryFunction::name: {                                              \
    const auto call = [](T z) { return T(name##_of(S(z))); };              \
    if constexpr (std::is_same_v<T, c10::complex<float>>) {                \
      if (run_in_vectors(iter, ComplexFunction::name, call)) return;       \
    }                                                                      \
    return run_each<T>(iter, call);                                        \
  }
#define TORCH_CASE(name) \
  case UnaryFunction::name: return run_each<T>(iter, &name##_of<T>);
#define TORCH_NO_CASE(name) \
  case UnaryFunction::name: detail::throw_dtype_not_implemented(#name, iter.common_dtype());

void unary_function_kernel(TensorIterator& iter, UnaryFunction function) {
  if (run_in_vectors(iter, function) || run_special(iter, function)) return;
  if (!c10::is_complex_type(iter.common_dtype())) {
    return dispatch_floating_types(iter.common_dtype(), "unary_function", [&](auto type) {
      using T = typename decltype(type)::type;
      switch (function) { AT_FORALL_COMPLEX_FUNCTIONS(TORCH_CASE) AT_FORALL_REAL_FUNCTIONS(TORCH_CASE) }
    });
  }
  dispatch_complex_types(iter.common_dtype(), "unary_function", [&](auto type) {
    using T = typename decltype(type)::type;
    using S = std::complex<typename T::value_type>;
    switch (function) { AT_FORALL_COMPLEX_FUNCTIONS(TORCH_CASE_IN_STANDARD) AT_FORALL_REAL_FUNCTIONS(TORCH_NO_CASE) }
  });
}
#undef TORCH_CASE
#undef TORCH_NO_CASE
#undef TORCH_CASE_IN_STANDARD

#define TORCH_CASE(name) \
  case BinaryFunction::name: return run_each<T>(iter, &name##_of<T>);

double scalar_igamma(double a, double x, bool is_upper) {
  static double (*const functions[])(double, double) = {&igamma_of<double>, &igammac_of<double>};  // as below
  return functions[is_upper](a, x);
}

void dirichlet_grad_kernel(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "_dirichlet_grad", [&](auto type) {
    using T = typename decltype(type)::type;
    const auto call = [](T x, T a, T total) { return static_cast<T>(special::dirichlet_grad(x, a, total)); };
    iter.for_each(TernaryLoop<T, T, T, decltype(call)>{call}, kFunctionGrain);
  });
}

void binary_function_kernel(TensorIterator& iter, BinaryFunction function) {
  if (run_in_vectors(iter, function) || run_special(iter, function)) return;
  switch (function) {
#define TORCH_GROUP(name) case BinaryFunction::name:
    AT_FORALL_FLOATING_PAIR_FUNCTIONS(TORCH_GROUP)
    return dispatch_floating_types(iter.common_dtype(), "binary_function", [&](auto type) {
      using T = typename decltype(type)::type;
      switch (function) {
        AT_FORALL_FLOATING_PAIR_FUNCTIONS(TORCH_CASE)
        default: return;
      }
    });
    AT_FORALL_NUMERIC_PAIR_FUNCTIONS(TORCH_GROUP)
    return dispatch_all_types(iter.common_dtype(), "binary_function", [&](auto type) {
      using T = typename decltype(type)::type;
      switch (function) {
        AT_FORALL_NUMERIC_PAIR_FUNCTIONS(TORCH_CASE)
        default: return;
      }
    });
    AT_FORALL_INTEGRAL_PAIR_FUNCTIONS(TORCH_GROUP)
    return dispatch_integral_types(iter.common_dtype(), "binary_function", [&](auto type) {
      using T = typename decltype(type)::type;
      switch (function) {
        AT_FORALL_INTEGRAL_PAIR_FUNCTIONS(TORCH_CASE)
        default: return;
      }
    });
#undef TORCH_GROUP
  }
}
#undef TORCH_CASE

}  // namespace at::native::cpu
