// gelu and its derivative.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/activation_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr int64_t kActivationGrain = 8192;
constexpr double kInverseSquareRootOf2 = 0.70710678118654752440;
constexpr double kSquareRootOf2OverPi = 0.79788456080286535588;  // sqrt(2 / pi)
constexpr double kInverseSquareRootOf2Pi = 0.39894228040143267794;
constexpr double kCubic = 0.044715;

template <typename T>
struct Gelu {
  TORCH_SIMD T operator()(T x) const { return x * T(0.5) * (T(1) + std::erf(x * T(kInverseSquareRootOf2))); }
};
template <typename T>
struct GeluTanh {
  TORCH_SIMD T operator()(T x) const {
    const T inner = T(kSquareRootOf2OverPi) * (x + T(kCubic) * x * x * x);
    return T(0.5) * x * (T(1) + std::tanh(inner));
  }
};
template <typename T>
struct GeluBackward {
  TORCH_SIMD T operator()(T grad, T x) const {
    const T cumulative = T(0.5) * (T(1) + std::erf(x * T(kInverseSquareRootOf2)));
    const T density = std::exp(x * x * T(-0.5)) * T(kInverseSquareRootOf2Pi);
    return grad * (cumulative + x * density);
  }
};
template <typename T>
struct GeluTanhBackward {
  TORCH_SIMD T operator()(T grad, T x) const {
    const T inner = T(kSquareRootOf2OverPi) * (x + T(kCubic) * x * x * x);
    const T tanh = std::tanh(inner);
    const T inner_slope = T(kSquareRootOf2OverPi) * (T(1) + T(3 * kCubic) * x * x);
    return grad * (T(0.5) * (T(1) + tanh) + T(0.5) * x * (T(1) - tanh * tanh) * inner_slope);
  }
};

void GeluImpl(TensorIterator& iter, bool tanh_approximation) {
  dispatch_floating_types(iter.common_dtype(), "gelu", [&](auto type) {
    using T = typename decltype(type)::type;
    if (tanh_approximation) return run_unary<T, T>(iter, GeluTanh<T>(), kActivationGrain);
    run_unary<T, T>(iter, Gelu<T>(), kActivationGrain);
  });
}

void GeluBackwardImpl(TensorIterator& iter, bool tanh_approximation) {
  dispatch_floating_types(iter.common_dtype(), "gelu_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    if (tanh_approximation) return run_binary<T, T>(iter, GeluTanhBackward<T>(), kActivationGrain);
    run_binary<T, T>(iter, GeluBackward<T>(), kActivationGrain);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(GeluImpl);
void gelu_kernel(TensorIterator& iter, bool tanh_approximation) {
  HWY_DYNAMIC_DISPATCH(GeluImpl)(iter, tanh_approximation);
}
HWY_EXPORT(GeluBackwardImpl);
void gelu_backward_kernel(TensorIterator& iter, bool tanh_approximation) {
  HWY_DYNAMIC_DISPATCH(GeluBackwardImpl)(iter, tanh_approximation);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
