// Arithmetic of two and three inputs, and the element-wise backward kernels.

#include <aten/Kernels.h>
#include <aten/native/cuda/ComplexKernels.h>
#include <aten/native/cuda/Loops.cuh>

#include <cmath>
#include <type_traits>

namespace at::native::cuda {

#define DEFINE_BINARY_FUNCTOR(name, expression)                                                                       \
  namespace {                                                                                                         \
  template <typename T>                                                                                               \
  struct name##_functor {                                                                                             \
    __device__ T operator()(T a, T b) const { return static_cast<T>(expression); }                                    \
  };                                                                                                                  \
  }
#define RUN_BINARY(name, loop, dispatch)                                                                              \
  dispatch(iter.common_dtype(), #name, [&](auto tag) { loop(iter, name##_functor<typename decltype(tag)::type>()); });
#define DEFINE_BINARY(name, loop, dispatch, expression)                                                               \
  DEFINE_BINARY_FUNCTOR(name, expression)                                                                             \
  void name##_kernel(TensorIterator& iter) { RUN_BINARY(name, loop, dispatch) }
// The same for an operator that takes complex numbers, too.
#define DEFINE_BINARY_AND_COMPLEX(name, loop, dispatch, expression)                                                   \
  DEFINE_BINARY_FUNCTOR(name, expression)                                                                             \
  void name##_kernel(TensorIterator& iter) {                                                                          \
    if (c10::is_complex_type(iter.common_dtype())) return complex_##name(iter);                                       \
    RUN_BINARY(name, loop, dispatch)                                                                                  \
  }

namespace {

// Unsigned numbers that are only kept are multiplied as signed ones.
template <typename Body>
void dispatch_all_types_as_bits(c10::ScalarType dtype, const char* name, Body&& body) {
  dispatch_all_types(c10::same_bits_type(dtype), name, body);
}

// Rounds towards minus infinity, and like Python gives inf or nan for a zero float divisor. Integers divide by zero
// without a trap on the device; the result is unspecified.
template <typename T>
__device__ T floor_division(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == T{0}) return a / b;
    const T remainder = ::fmod(a, b);
    T quotient = (a - remainder) / b;
    if (remainder != T{0} && (b < T{0}) != (remainder < T{0})) quotient -= T{1};
    if (quotient == T{0}) return ::copysign(T{0}, a / b);
    const T floored = ::floor(quotient);
    return quotient - floored > T(0.5) ? floored + T{1} : floored;
  } else {
    if (b == 0) return 0;
    const T quotient = a / b;
    return a % b != 0 && is_negative(a) != is_negative(b) ? quotient - 1 : quotient;
  }
}

template <typename T>
__device__ T python_remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T remainder = ::fmod(a, b);
    return remainder != T{0} && (b < T{0}) != (remainder < T{0}) ? remainder + b : remainder;
  } else {
    if (b == 0) return 0;
    const T remainder = a % b;
    return remainder != 0 && is_negative(b) != is_negative(remainder) ? remainder + b : remainder;
  }
}

template <typename T>
__device__ T truncated_division(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return ::trunc(a / b);
  else return b == 0 ? 0 : a / b;
}

template <typename T>
__device__ T power(T base, T exponent) {
  if constexpr (std::is_floating_point_v<T>) {
    return ::pow(base, exponent);
  } else {
    if (is_negative(exponent)) return base == 1 ? 1 : base == T(-1) ? (exponent % 2 ? -1 : 1) : 0;
    T result = 1;
    for (; exponent; exponent /= 2, base *= base) {
      if (exponent % 2) result *= base;
    }
    return result;
  }
}

template <typename T>
__device__ T multiply(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a && b;
  else return a * b;
}

template <typename T>
struct add_functor {
  T alpha;
  __device__ T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) return a || (alpha && b);
    else return a + alpha * b;
  }
};

template <typename T>
struct pow_scalar_functor {
  T exponent;
  __device__ T operator()(T x) const {
    if (exponent == T{2}) return x * x;
    return power(x, exponent);
  }
};

template <typename T>
struct addcmul_functor {
  T value;
  __device__ T operator()(T self, T a, T b) const { return self + value * a * b; }
};
template <typename T>
struct addcdiv_functor {
  T value;
  __device__ T operator()(T self, T a, T b) const { return self + value * (a / b); }
};
template <typename T>
struct lerp_functor {
  T weight;
  // The form for large weights is exact at weight 1.
  __device__ T operator()(T self, T end) const {
    return ::fabs(weight) < T(0.5) ? self + weight * (end - self) : end - (end - self) * (T{1} - weight);
  }
};
template <typename W>
struct where_functor {
  using Word = W;  // or float, which halves may have to become
  __device__ W operator()(bool condition, W a, W b) const { return condition ? a : b; }
};
template <typename T>
struct threshold_backward_functor {
  T threshold;
  __device__ T operator()(T grad, T self) const { return self <= threshold ? T{0} : grad; }
};
template <typename T>
struct gelu_backward_functor {
  bool tanh_approximation;
  __device__ T operator()(T grad, T x) const {
    if (tanh_approximation) {
      const T beta = T(M_2_SQRTPI * M_SQRT1_2);
      const T inner = beta * (x + T(0.044715) * x * x * x);
      const T t = ::tanh(inner);
      const T derivative = T(0.5) * x * (T{1} - t * t) * beta * (T{1} + T(3 * 0.044715) * x * x);
      return grad * (T(0.5) * (T{1} + t) + derivative);
    }
    const T cdf = T(0.5) * (T{1} + ::erf(x * T(M_SQRT1_2)));
    const T density = ::exp(T(-0.5) * x * x) * T(M_2_SQRTPI * M_SQRT1_2 * 0.5);
    return grad * (cdf + x * density);
  }
};

}  // namespace

DEFINE_BINARY_AND_COMPLEX(mul, gpu_kernel, dispatch_all_types_as_bits, multiply(a, b))
DEFINE_BINARY_AND_COMPLEX(div, gpu_kernel, dispatch_floating_types, a / b)
DEFINE_BINARY(div_trunc, gpu_kernel_by_strides, dispatch_numeric_types, truncated_division(a, b))
DEFINE_BINARY(div_floor, gpu_kernel_by_strides, dispatch_numeric_types, floor_division(a, b))
DEFINE_BINARY(remainder, gpu_kernel_by_strides, dispatch_numeric_types, python_remainder(a, b))
DEFINE_BINARY_AND_COMPLEX(pow, gpu_kernel_by_strides, dispatch_numeric_types, power(a, b))
DEFINE_BINARY(maximum, gpu_kernel, dispatch_all_types, a != a ? a : (b != b || a < b) ? b : a)
DEFINE_BINARY(minimum, gpu_kernel, dispatch_all_types, a != a ? a : (b != b || b < a) ? b : a)
DEFINE_BINARY(bitwise_and, gpu_kernel, dispatch_integral_types_and_bool, a & b)
DEFINE_BINARY(bitwise_or, gpu_kernel, dispatch_integral_types_and_bool, a | b)
DEFINE_BINARY(bitwise_xor, gpu_kernel, dispatch_integral_types_and_bool, a ^ b)
// a: the incoming gradient, b: the forward's result
DEFINE_BINARY_AND_COMPLEX(sigmoid_backward, gpu_kernel, dispatch_floating_types, a * (T{1} - b) * b)
DEFINE_BINARY_AND_COMPLEX(tanh_backward, gpu_kernel, dispatch_floating_types, a * (T{1} - b * b))

// A kernel whose functor holds one number taken from a Scalar.
#define RUN_WITH_NUMBER(name, dispatch)                      \
  dispatch(iter.common_dtype(), #name, [&](auto tag) {       \
    using T = typename decltype(tag)::type;                  \
    gpu_kernel(iter, name##_functor<T>{number.to<T>()});     \
  });
#define DEFINE_WITH_NUMBER(name, dispatch)                                                    \
  void name##_kernel(TensorIterator& iter, const Scalar& number) {                            \
    if (c10::is_complex_type(iter.common_dtype())) return complex_##name(iter, number);       \
    RUN_WITH_NUMBER(name, dispatch)                                                           \
  }
DEFINE_WITH_NUMBER(add, dispatch_all_types)
DEFINE_WITH_NUMBER(pow_scalar, dispatch_numeric_types)
DEFINE_WITH_NUMBER(addcmul, dispatch_numeric_types)
DEFINE_WITH_NUMBER(addcdiv, dispatch_floating_types)
DEFINE_WITH_NUMBER(lerp, dispatch_floating_types)

void threshold_backward_kernel(TensorIterator& iter, const Scalar& number) {
  RUN_WITH_NUMBER(threshold_backward, dispatch_numeric_types)
}

void where_kernel(TensorIterator& iter) {
  if (iter.common_dtype() == kFloat) return gpu_kernel(iter, where_functor<float>());
  dispatch_word(c10::element_size(iter.common_dtype()),
                [&](auto word) { gpu_kernel(iter, where_functor<decltype(word)>()); });
}

void gelu_backward_kernel(TensorIterator& iter, bool tanh_approximation) {
  dispatch_floating_types(iter.common_dtype(), "gelu_backward", [&](auto tag) {
    gpu_kernel(iter, gelu_backward_functor<typename decltype(tag)::type>{tanh_approximation});
  });
}

}  // namespace at::native::cuda
