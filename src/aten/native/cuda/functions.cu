// The functions of aten/native/ScalarFunctions.h. Their own work outweighs the arithmetic of indices: one loop each.

#include <aten/Kernels.h>
#include <aten/native/ComplexFormulas.h>
#include <aten/native/ScalarFormulas.h>
#include <aten/native/cuda/Loops.cuh>

namespace at::native::cuda {

namespace {

// An integer divided by zero is left as PyTorch leaves it on a device: unspecified.
template <typename T>
__device__ T fmod_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmod(a, b);
  else if constexpr (std::is_signed_v<T>) return b == T(0) || b == T(-1) ? T(0) : static_cast<T>(a % b);
  else return b == T(0) ? T(0) : static_cast<T>(a % b);
}

#define DEFINE_UNARY_FUNCTOR(name)                                                                             \
  template <typename T>                                                                                        \
  struct name##_functor {                                                                                      \
    __device__ T operator()(T x) const {                                                                       \
      if constexpr (c10::is_complex_v<T>) return from_library<typename T::value_type>(name##_of(as_library(x))); \
      else return name##_of(x);                                                                                \
    }                                                                                                          \
  };
AT_FORALL_COMPLEX_FUNCTIONS(DEFINE_UNARY_FUNCTOR)
AT_FORALL_REAL_FUNCTIONS(DEFINE_UNARY_FUNCTOR)
#undef DEFINE_UNARY_FUNCTOR

#define DEFINE_BINARY_FUNCTOR(name)                                             \
  template <typename T>                                                         \
  struct name##_functor {                                                       \
    __device__ T operator()(T a, T b) const { return name##_of(a, b); }         \
  };
AT_FORALL_FLOATING_PAIR_FUNCTIONS(DEFINE_BINARY_FUNCTOR)
AT_FORALL_NUMERIC_PAIR_FUNCTIONS(DEFINE_BINARY_FUNCTOR)
AT_FORALL_INTEGRAL_PAIR_FUNCTIONS(DEFINE_BINARY_FUNCTOR)
#undef DEFINE_BINARY_FUNCTOR

template <typename T>
struct dirichlet_grad_functor {
  __device__ T operator()(T x, T a, T total) const { return static_cast<T>(special::dirichlet_grad(x, a, total)); }
};

}  // namespace

#define CASE(name) \
  case UnaryFunction::name: return gpu_kernel_by_strides(iter, name##_functor<T>());
#define NO_CASE(name) \
  case UnaryFunction::name: at::detail::throw_dtype_not_implemented(#name, iter.common_dtype());

void unary_function_kernel(TensorIterator& iter, UnaryFunction function) {
  if (!c10::is_complex_type(iter.common_dtype())) {
    return dispatch_floating_types(iter.common_dtype(), "unary_function", [&](auto type) {
      using T = typename decltype(type)::type;
      switch (function) { AT_FORALL_COMPLEX_FUNCTIONS(CASE) AT_FORALL_REAL_FUNCTIONS(CASE) }
    });
  }
  dispatch_complex_types(iter.common_dtype(), "unary_function", [&](auto type) {
    using T = typename decltype(type)::type;
    switch (function) { AT_FORALL_COMPLEX_FUNCTIONS(CASE) AT_FORALL_REAL_FUNCTIONS(NO_CASE) }
  });
}
#undef CASE
#undef NO_CASE

#define CASE(name) \
  case BinaryFunction::name: return gpu_kernel_by_strides(iter, name##_functor<T>());
#define GROUP(name) case BinaryFunction::name:

void binary_function_kernel(TensorIterator& iter, BinaryFunction function) {
  switch (function) {
    AT_FORALL_FLOATING_PAIR_FUNCTIONS(GROUP)
    return dispatch_floating_types(iter.common_dtype(), "binary_function", [&](auto type) {
      using T = typename decltype(type)::type;
      switch (function) {
        AT_FORALL_FLOATING_PAIR_FUNCTIONS(CASE)
        default: return;
      }
    });
    AT_FORALL_NUMERIC_PAIR_FUNCTIONS(GROUP)
    return dispatch_all_types(iter.common_dtype(), "binary_function", [&](auto type) {
      using T = typename decltype(type)::type;
      switch (function) {
        AT_FORALL_NUMERIC_PAIR_FUNCTIONS(CASE)
        default: return;
      }
    });
    AT_FORALL_INTEGRAL_PAIR_FUNCTIONS(GROUP)
    return dispatch_integral_types(iter.common_dtype(), "binary_function", [&](auto type) {
      using T = typename decltype(type)::type;
      switch (function) {
        AT_FORALL_INTEGRAL_PAIR_FUNCTIONS(CASE)
        default: return;
      }
    });
  }
}
#undef GROUP
#undef CASE

void dirichlet_grad_kernel(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "_dirichlet_grad", [&](auto type) {
    gpu_kernel_by_strides(iter, dirichlet_grad_functor<typename decltype(type)::type>());
  });
}

}  // namespace at::native::cuda
