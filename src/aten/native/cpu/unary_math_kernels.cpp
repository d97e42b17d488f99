// Transcendental functions: Highway's vector versions inside the range that they are made for, the C library's outside
// (infinities, NaN, huge arguments of sin), so that the edges are exact.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ComplexKernels.h>

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/unary_math_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/MathLoops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

template <typename T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <typename T>
constexpr T kLargest = std::numeric_limits<T>::max();

// Highway's `Name` in [low, high], the C library's `name` elsewhere.
#define TORCH_MATH_FUNCTION(Name, name, low, high)                         \
  struct Name##Function {                                                  \
    template <typename D, typename V>                                      \
    HWY_INLINE HWY_ATTR V operator()(D d, V x) const {                     \
      using T = hn::TFromD<D>;                                             \
      T (*scalar)(T) = [](T value) -> T { return std::name(value); };      \
      return patch_outside(d, x, hn::Name(d, x), T(low), T(high), scalar); \
    }                                                                      \
  };
TORCH_MATH_FUNCTION(Exp, exp, -kInfinity<T>, sizeof(T) == 4 ? 88 : 706)
TORCH_MATH_FUNCTION(Expm1, expm1, -kInfinity<T>, sizeof(T) == 4 ? 88 : 706)
TORCH_MATH_FUNCTION(Log, log, std::numeric_limits<T>::min(), kLargest<T>)
TORCH_MATH_FUNCTION(Log1p, log1p, 0, kLargest<T>)
TORCH_MATH_FUNCTION(Sin, sin, -39000, 39000)
TORCH_MATH_FUNCTION(Cos, cos, -39000, 39000)
#undef TORCH_MATH_FUNCTION

#define TORCH_LOGARITHM(Name, name)                                                                   \
  struct Name##Function {                                                                             \
    template <typename D, typename V>                                                                 \
    HWY_INLINE HWY_ATTR V operator()(D d, V x) const {                                                \
      using T = hn::TFromD<D>;                                                                        \
      T (*scalar)(T) = [](T value) -> T { return std::name(value); };                                 \
      return patch_outside(d, x, name##_vector(d, x), std::numeric_limits<T>::min(), kLargest<T>, scalar); \
    }                                                                                                 \
  };
TORCH_LOGARITHM(Log2, log2)
TORCH_LOGARITHM(Log10, log10)
#undef TORCH_LOGARITHM

struct TanhFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return hn::Tanh(d, x);
  }
};

struct ErfFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return erf_vector(d, x);
  }
};

struct SigmoidFunction {
  // From exp(-|x|), which cannot overflow.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V small = hn::Exp(d, hn::Neg(hn::Abs(x)));
    const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), small, one);
    const V result = hn::Div(numerator, hn::Add(one, small));
    return hn::IfThenElse(hn::Eq(x, x), result, x);
  }
};

#define TORCH_MATH_KERNEL(Name, name)                                    \
  void Name##Impl(TensorIterator& iter) {                                \
    dispatch_floating_types(iter.common_dtype(), name, [&](auto type) {  \
      using T = typename decltype(type)::type;                           \
      iter.for_each(UnaryVectorLoop<T, Name##Function>{{}}, kMathGrain); \
    });                                                                  \
  }
TORCH_MATH_KERNEL(Exp, "exp")
TORCH_MATH_KERNEL(Expm1, "expm1")
TORCH_MATH_KERNEL(Log, "log")
TORCH_MATH_KERNEL(Log1p, "log1p")
TORCH_MATH_KERNEL(Log2, "log2")
TORCH_MATH_KERNEL(Log10, "log10")
TORCH_MATH_KERNEL(Sin, "sin")
TORCH_MATH_KERNEL(Cos, "cos")
TORCH_MATH_KERNEL(Tanh, "tanh")
TORCH_MATH_KERNEL(Erf, "erf")
TORCH_MATH_KERNEL(Sigmoid, "sigmoid")
#undef TORCH_MATH_KERNEL

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

#define TORCH_EXPORT_KERNEL(Name, name) \
  HWY_EXPORT(Name##Impl);               \
  void name##_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(Name##Impl)(iter); }
#define TORCH_EXPORT_KERNEL_AND_COMPLEX(Name, name)                                \
  HWY_EXPORT(Name##Impl);                                                          \
  void name##_kernel(TensorIterator& iter) {                                       \
    if (c10::is_complex_type(iter.common_dtype())) return complex_##name(iter);    \
    HWY_DYNAMIC_DISPATCH(Name##Impl)(iter);                                        \
  }
TORCH_EXPORT_KERNEL_AND_COMPLEX(Exp, exp)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Expm1, expm1)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Log, log)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Log1p, log1p)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Log2, log2)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Log10, log10)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Sin, sin)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Cos, cos)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Tanh, tanh)
TORCH_EXPORT_KERNEL(Erf, erf)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Sigmoid, sigmoid)
#undef TORCH_EXPORT_KERNEL
#undef TORCH_EXPORT_KERNEL_AND_COMPLEX

}  // namespace at::native::cpu
#endif  // HWY_ONCE
