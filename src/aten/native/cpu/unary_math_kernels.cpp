// Transcendental functions in vectors: those of VectorMath-inl.h for every argument; others inside the range that they
// are made for, and the C library's outside (infinities, NaN, huge arguments of sin), so that the edges are exact.
// float32 by FloatMath-inl.h, float64 by Highway.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ExportKernel.h>

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/unary_math_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/DoubleMath-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// The sine, or the cosine.
template <bool kCosine>
struct SineFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
      const auto both = sine_and_cosine(d, x);
      return kCosine ? both.cosine : both.sine;
    } else {
#if TORCH_FUSED_PRODUCTS
      return kCosine ? float_cos(d, x) : float_sin(d, x);
#else
      float (*scalar)(float) = [](float value) -> float { return kCosine ? std::cos(value) : std::sin(value); };
      const V result = TORCH_IN_DOUBLE(SineInDouble<kCosine>, kCosine ? hn::Cos(d, x) : hn::Sin(d, x));
      return patch_outside(d, x, result, -20000.0f, 20000.0f, scalar);
#endif
    }
  }
};

#if TORCH_FUSED_PRODUCTS
// The same for halves, to 22 binary digits: by what x, and for the cosine a quarter of a turn, is beside multiples of pi.
template <bool kCosine>
struct SineOfHalves {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr float terms[] = {2.605750751172309e-06f, -1.980959059437737e-04f, 8.33306647837162e-03f,
                               -1.6666659712791443e-01f, 1.0f};
    const hn::RebindToSigned<D> bits;
    const V turns = hn::MulAdd(x, hn::Set(d, 0.318309886183790672f), hn::Set(d, kCosine ? 0.5f : 0.0f));
    const WholePart<D> whole(d, turns, 1);
    const V n = kCosine ? hn::Sub(whole.n, hn::Set(d, 0.5f)) : whole.n;
    // Exact up to 10^5, as is what float16 has; -0 stays.
    V r = hn::NegMulAdd(n, hn::Set(d, 3.141592502593994140625f), x);
    r = hn::NegMulAdd(n, hn::Set(d, 1.50995799097837787e-07f), r);
    const V sine = hn::Mul(r, polynomial(d, hn::Mul(r, r), terms));
    const V result = hn::BitCast(d, hn::Xor(hn::BitCast(bits, sine), hn::ShiftLeft<31>(whole.bits)));
    const auto is_large = hn::Gt(hn::Abs(x), hn::Set(d, 1e5f));
    if (HWY_LIKELY(hn::AllFalse(d, is_large))) return result;
    return hn::IfThenElse(is_large, large(d, x), result);
  }

 private:
  template <typename D, typename V>
  HWY_NOINLINE HWY_ATTR static V large(D d, V x) {
    return SineFunction<kCosine>()(d, x);
  }
};
#else
template <bool kCosine>
using SineOfHalves = SineFunction<kCosine>;
#endif

struct Log1pFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    constexpr T low = T(sizeof(T) == 4 ? -0.9999999 : -1 + 0x1p-53);
    constexpr T high = sizeof(T) == 4 ? T(0x1p126) : std::numeric_limits<T>::max();
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const V result = TORCH_OF_FLOATS((float_log<BaseE, true>(d, x)), Log1pInDouble, log1p_in_double(d, x));
    const auto is_plain = hn::And(hn::Ge(x, hn::Set(d, low)), hn::Le(x, hn::Set(d, high)));
    if (HWY_LIKELY(hn::AllTrue(d, is_plain))) return result;
    const V least = hn::Set(d, T(-1));
    const V below = hn::IfThenElse(hn::Lt(x, least), hn::Set(d, std::numeric_limits<T>::quiet_NaN()), x);
    const V edge = hn::IfThenElse(hn::Eq(x, least), hn::Set(d, -infinity), below);
    // A few beside -1, and from float32's last power of 2 on.
    const V rest = hn::IfThenElseZero(hn::And(hn::Gt(x, least), hn::Lt(x, hn::Set(d, infinity))), x);
    T (*scalar)(T) = [](T argument) -> T { return std::log1p(argument); };
    return patch_outside(d, rest, hn::IfThenElse(is_plain, result, edge), low, high, scalar);
  }
};

// `result` for positive normal x; -infinity of 0, NaN of negative numbers. Subnormal ones are made larger, or are left
// to the C library.
template <typename Base, typename D, typename V, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR V log_with_edges(D d, V x, V result, T (*scalar)(T)) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const V least = hn::Set(d, std::numeric_limits<T>::min());
  const V zero = hn::Zero(d);
  const auto plain = hn::And(hn::Ge(x, least), hn::Lt(x, hn::Set(d, infinity)));
  if (HWY_LIKELY(hn::AllTrue(d, plain))) return result;
  const V beyond = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<T>::quiet_NaN()), x);
  const V edge = hn::IfThenElse(hn::Eq(x, zero), hn::Set(d, -infinity), beyond);
  result = hn::IfThenElse(plain, result, edge);
  const auto is_subnormal = hn::And(hn::Gt(x, zero), hn::Lt(x, least));
#if TORCH_FUSED_PRODUCTS
  if constexpr (sizeof(T) == 4) {
    if (HWY_LIKELY(hn::AllFalse(d, is_subnormal))) return result;
    const V larger = hn::Mul(x, hn::Set(d, 0x1p24f));
    const V* none = nullptr;
    return hn::IfThenElse(is_subnormal, float_log<Base, false>(d, larger, none, -24), result);
  }
#endif
  return patch_outside(d, hn::IfThenElseZero(is_subnormal, x), result, T(0), T(0), scalar);
}
#define TORCH_LOGARITHM(Name, name, Base, value)                            \
  struct Name##Function {                                                   \
    template <typename D, typename V>                                       \
    HWY_INLINE HWY_ATTR V operator()(D d, V x) const {                      \
      using T = hn::TFromD<D>;                                              \
      T (*scalar)(T) = [](T argument) -> T { return std::name(argument); }; \
      return log_with_edges<Base>(d, x, value, scalar);                     \
    }                                                                       \
  };
#if !TORCH_FUSED_PRODUCTS
struct BaseE {};
struct Base2 {};
struct Base10 {};
#endif
TORCH_LOGARITHM(Log, log, BaseE,
                TORCH_OF_FLOATS((float_log<BaseE, false>(d, x)), LogInDouble<UnitE>, precise_log(d, x)))
TORCH_LOGARITHM(Log2, log2, Base2, TORCH_OF_FLOATS((float_log<Base2, false>(d, x)), Log2InDouble, log2_vector(d, x)))
TORCH_LOGARITHM(Log10, log10, Base10,
                TORCH_OF_FLOATS((float_log<Base10, false>(d, x)), Log10InDouble, log10_vector(d, x)))
#undef TORCH_LOGARITHM

#define TORCH_VECTOR_FUNCTION(Name, value)             \
  struct Name##Function {                              \
    template <typename D, typename V>                  \
    HWY_INLINE HWY_ATTR V operator()(D d, V x) const { \
      return value;                                    \
    }                                                  \
  };
TORCH_VECTOR_FUNCTION(Exp, TORCH_OF_FLOATS(float_exp(d, x), ExpInDouble, exp_vector(d, x)))
TORCH_VECTOR_FUNCTION(Expm1, TORCH_OF_FLOATS(float_expm1(d, x), Expm1InDouble, expm1_vector(d, x)))
TORCH_VECTOR_FUNCTION(Tanh, TORCH_OF_FLOATS(float_tanh(d, x), TanhInDouble, tanh_vector(d, x)))
TORCH_VECTOR_FUNCTION(Erf, TORCH_OF_FLOATS(float_erf(d, x), ErfInDouble, erf_vector(d, x)))
TORCH_VECTOR_FUNCTION(Sigmoid, sigmoid_vector(d, x))
#undef TORCH_VECTOR_FUNCTION

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
TORCH_MATH_KERNEL(Tanh, "tanh")
TORCH_MATH_KERNEL(Erf, "erf")
TORCH_MATH_KERNEL(Sigmoid, "sigmoid")
#undef TORCH_MATH_KERNEL

template <bool kCosine>
void run_sine(TensorIterator& iter) {
  if (run_halves<1>(iter, SineOfHalves<kCosine>(), kMathGrain)) return;
  dispatch_floating_types(iter.common_dtype(), kCosine ? "cos" : "sin", [&](auto type) {
    using T = typename decltype(type)::type;
    iter.for_each(UnaryVectorLoop<T, SineFunction<kCosine>>{{}}, kMathGrain);
  });
}
void SinImpl(TensorIterator& iter) { run_sine<false>(iter); }
void CosImpl(TensorIterator& iter) { run_sine<true>(iter); }

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

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

}  // namespace at::native::cpu
#endif  // HWY_ONCE
