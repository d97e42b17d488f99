// One input, one output.

#include <aten/Kernels.h>
#include <aten/native/cuda/ComplexKernels.h>
#include <aten/native/cuda/Loops.cuh>

#include <cmath>
#include <type_traits>

namespace at::native::cuda {

// A kernel NAME_kernel for the types of `dispatch`, from an expression over `x` of type T.
#define DEFINE_UNARY_FUNCTOR(name, expression)                                                                        \
  namespace {                                                                                                         \
  template <typename T>                                                                                               \
  struct name##_functor {                                                                                             \
    __device__ T operator()(T x) const { return expression; }                                                         \
  };                                                                                                                  \
  }
#define RUN_UNARY(name, dispatch)      \
  dispatch(iter.common_dtype(), #name, \
           [&](auto tag) { gpu_kernel(iter, name##_functor<typename decltype(tag)::type>()); });
#define DEFINE_UNARY(name, dispatch, expression)                                                                      \
  DEFINE_UNARY_FUNCTOR(name, expression)                                                                              \
  void name##_kernel(TensorIterator& iter) { RUN_UNARY(name, dispatch) }
// The same for an operator that takes complex numbers, too.
#define DEFINE_UNARY_AND_COMPLEX(name, dispatch, expression)                                                          \
  DEFINE_UNARY_FUNCTOR(name, expression)                                                                              \
  void name##_kernel(TensorIterator& iter) {                                                                          \
    if (c10::is_complex_type(iter.common_dtype())) return complex_##name(iter);                                       \
    RUN_UNARY(name, dispatch)                                                                                         \
  }

DEFINE_UNARY_AND_COMPLEX(neg, dispatch_numeric_types, static_cast<T>(-x))
DEFINE_UNARY_AND_COMPLEX(exp, dispatch_floating_types, ::exp(x))
DEFINE_UNARY_AND_COMPLEX(expm1, dispatch_floating_types, ::expm1(x))
DEFINE_UNARY_AND_COMPLEX(log, dispatch_floating_types, ::log(x))
DEFINE_UNARY_AND_COMPLEX(log2, dispatch_floating_types, ::log2(x))
DEFINE_UNARY_AND_COMPLEX(log10, dispatch_floating_types, ::log10(x))
DEFINE_UNARY_AND_COMPLEX(log1p, dispatch_floating_types, ::log1p(x))
DEFINE_UNARY_AND_COMPLEX(sqrt, dispatch_floating_types, ::sqrt(x))
DEFINE_UNARY_AND_COMPLEX(rsqrt, dispatch_floating_types, ::rsqrt(x))
DEFINE_UNARY_AND_COMPLEX(sin, dispatch_floating_types, ::sin(x))
DEFINE_UNARY_AND_COMPLEX(cos, dispatch_floating_types, ::cos(x))
DEFINE_UNARY_AND_COMPLEX(tanh, dispatch_floating_types, ::tanh(x))
DEFINE_UNARY(erf, dispatch_floating_types, ::erf(x))
DEFINE_UNARY_AND_COMPLEX(reciprocal, dispatch_floating_types, T{1} / x)
DEFINE_UNARY_AND_COMPLEX(sigmoid, dispatch_floating_types, T{1} / (T{1} + ::exp(-x)))

// Rounding leaves integers as they are, and NaN passes through relu.
#define DEFINE_ROUNDING(name, function)                     \
  DEFINE_UNARY(name, dispatch_numeric_types, ([](T v) {     \
                 if constexpr (std::is_floating_point_v<T>) \
                   return function(v);                      \
                 else                                       \
                   return v;                                \
               }(x)))
DEFINE_ROUNDING(floor, ::floor)
DEFINE_ROUNDING(ceil, ::ceil)
DEFINE_ROUNDING(trunc, ::trunc)
DEFINE_ROUNDING(round, ::rint)
DEFINE_UNARY(relu, dispatch_numeric_types, x <= T{0} ? T{0} : x)

namespace {

template <typename T>
__device__ T absolute(T x) {
  if constexpr (std::is_floating_point_v<T>) return ::fabs(x);
  else if constexpr (std::is_signed_v<T>) return x < 0 ? -x : x;
  else return x;
}

template <typename T>
struct bitwise_not_functor {
  __device__ T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>) return !x;
    else return static_cast<T>(~x);
  }
};

template <typename T>
struct logical_not_functor {
  __device__ bool operator()(T x) const { return !x; }
};

template <typename T>
struct clamp_functor {
  T low, high;
  bool has_low, has_high;
  __device__ T operator()(T x) const {
    if (x != x) return x;
    if (has_low && x < low) x = low;
    if (has_high && x > high) x = high;
    return x;
  }
};

template <typename T>
struct gelu_functor {
  bool tanh_approximation;
  __device__ T operator()(T x) const {
    if (tanh_approximation) {
      return T(0.5) * x * (T{1} + ::tanh(T(M_2_SQRTPI * M_SQRT1_2) * (x + T(0.044715) * x * x * x)));
    }
    return T(0.5) * x * (T{1} + ::erf(x * T(M_SQRT1_2)));
  }
};

}  // namespace

DEFINE_UNARY_AND_COMPLEX(abs, dispatch_all_types, absolute(x))
DEFINE_UNARY(sign, dispatch_all_types, static_cast<T>((x > T{0}) - is_negative(x)))

void bitwise_not_kernel(TensorIterator& iter) {
  dispatch_integral_types_and_bool(iter.common_dtype(), "bitwise_not", [&](auto tag) {
    gpu_kernel(iter, bitwise_not_functor<typename decltype(tag)::type>());
  });
}

void logical_not_kernel(TensorIterator& iter) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_logical_not(iter);
  dispatch_all_types(iter.common_dtype(), "logical_not", [&](auto tag) {
    gpu_kernel(iter, logical_not_functor<typename decltype(tag)::type>());
  });
}

void clamp_kernel(TensorIterator& iter, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  dispatch_numeric_types(iter.common_dtype(), "clamp", [&](auto tag) {
    using T = typename decltype(tag)::type;
    gpu_kernel(iter,
               clamp_functor<T>{min ? min->to<T>() : T{}, max ? max->to<T>() : T{}, min.has_value(), max.has_value()});
  });
}

void gelu_kernel(TensorIterator& iter, bool tanh_approximation) {
  dispatch_floating_types(iter.common_dtype(), "gelu", [&](auto tag) {
    gpu_kernel(iter, gelu_functor<typename decltype(tag)::type>{tanh_approximation});
  });
}

}  // namespace at::native::cuda
