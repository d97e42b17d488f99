// Unary operations that are a few instructions: signs, rounding, roots.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ElementBits.h>
#include <aten/native/cpu/ExportKernel.h>

#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/unary_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

#define TORCH_UNARY_KERNEL(Name, name, dispatch, ...)                  \
  template <typename T>                                                \
  struct Name {                                                        \
    TORCH_SIMD T operator()(T x) const { __VA_ARGS__ }                 \
  };                                                                   \
  void Name##Impl(TensorIterator& iter) {                              \
    dispatch(iter.common_dtype(), name, [&](auto type) {               \
      using T = typename decltype(type)::type;                         \
      run_unary<T, T>(iter, Name<T>());                                \
    });                                                                \
  }

// Through unsigned types: the lowest integer is its own negative.
TORCH_UNARY_KERNEL(Neg, "neg", dispatch_numeric_types, {
  if constexpr (std::is_floating_point_v<T>) {
    return -x;
  } else {
    return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(x));
  }
})
TORCH_UNARY_KERNEL(Abs, "abs", dispatch_numeric_types, {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else {
    return x < 0 ? static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(x)) : x;
  }
})
TORCH_UNARY_KERNEL(Sign, "sign", dispatch_numbers_and_bool, {
  if constexpr (std::is_unsigned_v<T>) {
    return x != 0;
  } else if constexpr (std::is_floating_point_v<T>) {  // by masks alone, and without a branch for what is left of a row
    return static_cast<T>(static_cast<int32_t>(x > T(0)) - static_cast<int32_t>(x < T(0)));
  } else {
    return static_cast<T>((x > T(0)) - (x < T(0)));
  }
})
TORCH_UNARY_KERNEL(Floor, "floor", dispatch_floating_types, return std::floor(x);)
TORCH_UNARY_KERNEL(Ceil, "ceil", dispatch_floating_types, return std::ceil(x);)
// Halves go to the even neighbour.
TORCH_UNARY_KERNEL(Round, "round", dispatch_floating_types, return std::nearbyint(x);)
TORCH_UNARY_KERNEL(Trunc, "trunc", dispatch_floating_types, return std::trunc(x);)
// Written so that NaN stays.
TORCH_UNARY_KERNEL(Relu, "relu", dispatch_numeric_types, return x < T(0) ? T(0) : x;)
TORCH_UNARY_KERNEL(Reciprocal, "reciprocal", dispatch_floating_types, return T(1) / x;)
TORCH_UNARY_KERNEL(Sqrt, "sqrt", dispatch_floating_types, return std::sqrt(x);)
TORCH_UNARY_KERNEL(Rsqrt, "rsqrt", dispatch_floating_types, return T(1) / std::sqrt(x);)
// 0 or pi, and NaN of NaN.
TORCH_UNARY_KERNEL(Angle, "angle", dispatch_floating_types,
                   return x != x ? x : x < T(0) ? T(3.14159265358979323846) : T(0);)
TORCH_UNARY_KERNEL(BitwiseNotOfIntegers, "bitwise_not", dispatch_integral_types, return static_cast<T>(~x);)
#undef TORCH_UNARY_KERNEL

void BitwiseNotImpl(TensorIterator& iter) {
  struct Other {
    TORCH_SIMD uint8_t operator()(uint8_t x) const { return x == 0; }
  };
  if (iter.common_dtype() == kBool) return run_unary<uint8_t, uint8_t>(iter, Other());
  BitwiseNotOfIntegersImpl(iter);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

TORCH_EXPORT_KERNEL_AND_COMPLEX(Neg, neg)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Abs, abs)
TORCH_EXPORT_KERNEL(Sign, sign)
TORCH_EXPORT_KERNEL(Floor, floor)
TORCH_EXPORT_KERNEL(Ceil, ceil)
TORCH_EXPORT_KERNEL(Round, round)
TORCH_EXPORT_KERNEL(Trunc, trunc)
TORCH_EXPORT_KERNEL(Relu, relu)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Reciprocal, reciprocal)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Sqrt, sqrt)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Rsqrt, rsqrt)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Angle, angle)
TORCH_EXPORT_KERNEL(BitwiseNot, bitwise_not)

}  // namespace at::native::cpu
#endif  // HWY_ONCE
