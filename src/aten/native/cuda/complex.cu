// Arithmetic and functions of complex numbers, and what makes them of real ones.

#include <aten/Kernels.h>
#include <aten/native/cuda/ComplexKernels.h>
#include <aten/native/cuda/Loops.cuh>

namespace at::native::cuda {

namespace {

template <typename Body>
void dispatch_complex(const TensorIterator& iter, const char* name, Body&& body) {
  dispatch_complex_types(iter.common_dtype(), name, [&](auto type) { body(typename decltype(type)::type()); });
}

}  // namespace

#define DEFINE_COMPLEX_BINARY(name, Result, ...)                            \
  namespace {                                                               \
  template <typename T>                                                     \
  struct name##_functor {                                                   \
    __device__ Result operator()(T a, T b) const { return __VA_ARGS__; }    \
  };                                                                        \
  }                                                                         \
  void complex_##name(TensorIterator& iter) {                               \
    dispatch_complex(iter, #name, [&](auto zero) {                          \
      gpu_kernel_by_strides(iter, name##_functor<decltype(zero)>());        \
    });                                                                     \
  }
AT_FORALL_COMPLEX_BINARY(DEFINE_COMPLEX_BINARY)
#undef DEFINE_COMPLEX_BINARY

#define DEFINE_COMPLEX_UNARY(name, Result, ...)                         \
  namespace {                                                           \
  template <typename T>                                                 \
  struct name##_functor {                                               \
    using P = typename T::value_type;                                   \
    __device__ Result operator()(T z) const { return __VA_ARGS__; }     \
  };                                                                    \
  }                                                                     \
  void complex_##name(TensorIterator& iter) {                           \
    dispatch_complex(iter, #name, [&](auto zero) {                      \
      gpu_kernel_by_strides(iter, name##_functor<decltype(zero)>());    \
    });                                                                 \
  }
AT_FORALL_COMPLEX_UNARY(DEFINE_COMPLEX_UNARY)
#undef DEFINE_COMPLEX_UNARY

namespace {

template <typename T>
struct add_scaled_functor {
  T alpha;
  __device__ T operator()(T a, T b) const { return a + alpha * b; }
};
// Small whole powers by products, as on the CPU.
template <typename T>
struct power_functor {
  T exponent;
  int whole;
  __device__ T operator()(T z) const {
    switch (whole) {
      case 0: return T(1);
      case 1: return z;
      case 2: return z * z;
      case 3: return z * z * z;
      case -1: return T(1) / z;
      case -2: return T(1) / (z * z);
      default: return pow_of(z, exponent);
    }
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
  __device__ T operator()(T self, T a, T b) const { return self + value * a / b; }
};
template <typename T>
struct lerp_functor {
  T weight;
  bool is_small;
  __device__ T operator()(T start, T end) const {
    return is_small ? start + weight * (end - start) : end - (end - start) * (T(1) - weight);
  }
};
template <typename T>
struct conjugate_functor {
  __device__ T operator()(T z) const { return c10::conj(z); }
};
template <typename T>
struct sign_functor {
  __device__ T operator()(T z) const { return sign_of(z); }
};
template <typename T>
struct angle_functor {
  using P = c10::real_type_t<T>;
  __device__ P operator()(T z) const {
    if constexpr (c10::is_complex_v<T>) return std::atan2(z.imag(), z.real());
    else return z != z ? z : z < 0 ? P(3.14159265358979323846) : P(0);
  }
};
template <typename P>
struct complex_functor {
  __device__ c10::complex<P> operator()(P real, P imag) const { return {real, imag}; }
};
template <typename P>
struct polar_functor {
  __device__ c10::complex<P> operator()(P size, P angle) const {
    return {size * std::cos(angle), size * std::sin(angle)};
  }
};

}  // namespace

void complex_add(TensorIterator& iter, const Scalar& alpha) {
  dispatch_complex(iter, "add", [&](auto zero) {
    using T = decltype(zero);
    gpu_kernel_by_strides(iter, add_scaled_functor<T>{alpha.to<T>()});
  });
}

void complex_pow_scalar(TensorIterator& iter, const Scalar& exponent) {
  int whole = 4;  // none of those with a product
  for (int i = -2; i <= 3; ++i) {
    if (exponent.equal(i)) whole = i;
  }
  if (exponent.equal(0.5)) return complex_sqrt(iter);
  dispatch_complex(iter, "pow", [&](auto zero) {
    using T = decltype(zero);
    gpu_kernel_by_strides(iter, power_functor<T>{exponent.to<T>(), whole});
  });
}

void complex_addcmul(TensorIterator& iter, const Scalar& value) {
  dispatch_complex(iter, "addcmul", [&](auto zero) {
    using T = decltype(zero);
    gpu_kernel_by_strides(iter, addcmul_functor<T>{value.to<T>()});
  });
}

void complex_addcdiv(TensorIterator& iter, const Scalar& value) {
  dispatch_complex(iter, "addcdiv", [&](auto zero) {
    using T = decltype(zero);
    gpu_kernel_by_strides(iter, addcdiv_functor<T>{value.to<T>()});
  });
}

void complex_lerp(TensorIterator& iter, const Scalar& weight) {
  const bool is_small = std::abs(std::complex<double>(weight.to<c10::complex<double>>())) < 0.5;
  dispatch_complex(iter, "lerp", [&](auto zero) {
    using T = decltype(zero);
    gpu_kernel_by_strides(iter, lerp_functor<T>{weight.to<T>(), is_small});
  });
}

// ---------------------------------------------------------------- parts

void conj_physical_kernel(TensorIterator& iter) {
  dispatch_complex(iter, "conj", [&](auto zero) { gpu_kernel(iter, conjugate_functor<decltype(zero)>()); });
}

void sgn_kernel(TensorIterator& iter) {
  dispatch_complex(iter, "sgn", [&](auto zero) { gpu_kernel_by_strides(iter, sign_functor<decltype(zero)>()); });
}

// Of real numbers 0 or pi, and NaN of NaN.
void angle_kernel(TensorIterator& iter) {
  dispatch_floating_and_complex_types(iter.common_dtype(), "angle", [&](auto type) {
    gpu_kernel_by_strides(iter, angle_functor<typename decltype(type)::type>());
  });
}

void complex_kernel(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "complex", [&](auto type) {
    gpu_kernel_by_strides(iter, complex_functor<typename decltype(type)::type>());
  });
}

void polar_kernel(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "polar", [&](auto type) {
    gpu_kernel_by_strides(iter, polar_functor<typename decltype(type)::type>());
  });
}

}  // namespace at::native::cuda
