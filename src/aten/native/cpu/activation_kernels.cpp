// gelu and its derivative.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/activation_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/MathLoops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr double kInverseSquareRootOf2 = 0.70710678118654752440;
constexpr double kSquareRootOf2OverPi = 0.79788456080286535588;  // sqrt(2 / pi)
constexpr double kInverseSquareRootOf2Pi = 0.39894228040143267794;
constexpr double kCubic = 0.044715;

// The normal distribution's cumulative function: (1 + erf(x / sqrt(2))) / 2.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V normal_cumulative(D d, V x) {
  using T = hn::TFromD<D>;
  const V erf = erf_vector(d, hn::Mul(x, hn::Set(d, T(kInverseSquareRootOf2))));
  return hn::Mul(hn::Set(d, T(0.5)), hn::Add(hn::Set(d, T(1)), erf));
}

// tanh(sqrt(2 / pi) * (x + 0.044715 x^3))
template <typename D, typename V>
HWY_INLINE HWY_ATTR V gelu_tanh(D d, V x) {
  using T = hn::TFromD<D>;
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V inner = hn::MulAdd(hn::Set(d, T(kCubic)), cube, x);
  return hn::Tanh(d, hn::Mul(hn::Set(d, T(kSquareRootOf2OverPi)), inner));
}

struct Gelu {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return hn::Mul(x, normal_cumulative(d, x));
  }
};
struct GeluTanh {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    return hn::Mul(hn::Mul(hn::Set(d, T(0.5)), x), hn::Add(hn::Set(d, T(1)), gelu_tanh(d, x)));
  }
};
struct GeluBackward {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V grad, V x) const {
    using T = hn::TFromD<D>;
    const V exponent = hn::Mul(hn::Mul(x, x), hn::Set(d, T(-0.5)));
    const V density = hn::Mul(hn::Exp(d, exponent), hn::Set(d, T(kInverseSquareRootOf2Pi)));
    return hn::Mul(grad, hn::MulAdd(x, density, normal_cumulative(d, x)));
  }
};
struct GeluTanhBackward {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V grad, V x) const {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, T(1));
    const V half = hn::Set(d, T(0.5));
    const V tanh = gelu_tanh(d, x);
    const V inner_slope =
        hn::Mul(hn::Set(d, T(kSquareRootOf2OverPi)), hn::MulAdd(hn::Set(d, T(3 * kCubic)), hn::Mul(x, x), one));
    const V tanh_slope = hn::Mul(hn::NegMulAdd(tanh, tanh, one), inner_slope);
    return hn::Mul(grad, hn::Mul(half, hn::MulAdd(x, tanh_slope, hn::Add(one, tanh))));
  }
};

void GeluImpl(TensorIterator& iter, bool tanh_approximation) {
  dispatch_floating_types(iter.common_dtype(), "gelu", [&](auto type) {
    using T = typename decltype(type)::type;
    if (tanh_approximation) return iter.for_each(UnaryVectorLoop<T, GeluTanh>{{}}, kMathGrain);
    iter.for_each(UnaryVectorLoop<T, Gelu>{{}}, kMathGrain);
  });
}

void GeluBackwardImpl(TensorIterator& iter, bool tanh_approximation) {
  dispatch_floating_types(iter.common_dtype(), "gelu_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    if (tanh_approximation) return iter.for_each(BinaryVectorLoop<T, GeluTanhBackward>{{}}, kMathGrain);
    iter.for_each(BinaryVectorLoop<T, GeluBackward>{{}}, kMathGrain);
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
