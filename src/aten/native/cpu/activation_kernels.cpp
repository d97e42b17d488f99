// Activations that are more than one arithmetic step, and their derivatives.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ExportKernel.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/activation_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/MathLoops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr double kInverseSquareRootOf2 = 0.70710678118654752440;
constexpr double kSquareRootOf2OverPi = 0.79788456080286535588;  // sqrt(2 / pi)
constexpr double kInverseSquareRootOf2Pi = 0.39894228040143267794;
constexpr double kCubic = 0.044715;

// The normal distribution's cumulative function of -|x|, 0 from -6 on: by a polynomial of its logarithm.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V left_of_six(D d, V magnitude) {
  constexpr float terms[] = {-1.222479423e-08f, 3.935854846e-07f,  -5.408874250e-06f, 4.004545775e-05f,
                             -1.487037817e-04f, -9.462951527e-05f, 4.931795149e-03f,  -3.642862228e-02f,
                             -3.182816588e-01f, -7.978877457e-01f, 5.627368562e-08f};
  const V six = hn::Set(d, 6.0f);
  const auto power = exp_parts<false>(d, polynomial(d, hn::Min(six, magnitude), terms));
  const V scale = power.scale_normal(d, hn::Set(d, 0.5f));
  const V result = hn::MulAdd(scale, hn::Add(power.rest, power.tail), scale);
  return hn::IfThenElse(hn::Gt(magnitude, six), hn::Zero(d), result);
}

// The same for halves, to 17 binary digits: their logarithm of base 2 goes to the exponent, but for its fraction.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V short_left_of_six(D d, V magnitude) {
  constexpr float logs[] = {-1.899852387e-06f, 6.288442532e-05f,  -9.404288694e-04f, 8.545267646e-03f,
                            -5.403124182e-02f, -4.584017434e-01f, -1.151270292e+00f, -9.999947299e-01f};
  constexpr float powers[] = {9.666368644e-03f, 5.592197593e-02f, 2.402234904e-01f, 6.931210452e-01f};
  const V six = hn::Set(d, 6.0f);
  const V log = polynomial(d, hn::Min(six, magnitude), logs);
  const auto power = PowerOfTwo<D>::rounded(d, log, 1);
  const V rest = hn::Sub(log, power.n);
  const V scale = power.scale_normal(d, hn::Set(d, 1.0f));
  const V result = hn::MulAdd(scale, hn::Mul(rest, polynomial(d, rest, powers)), scale);
  return hn::IfThenElse(hn::Gt(magnitude, six), hn::Zero(d), result);
}

// Of the normal distribution in float64 what is further out than |x|, over exp(-x^2 / 2): exp(z^2) erfc(z) / 2 with
// z = |x| / sqrt(2). It stands in the library once.
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V normal_tail(D d, V x) {
  const V z = hn::Min(hn::Mul(hn::Abs(x), hn::Set(d, kInverseSquareRootOf2)), hn::Set(d, 28.0));
  const Pair<V> twice = erfcx_pair(d, z);
  return hn::Mul(hn::Add(twice.high, twice.low), hn::Set(d, 0.5));
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V exp_of_half_square(D d, V x) {
  return exp_of_negative(d, hn::Mul(hn::Mul(x, x), hn::Set(d, hn::TFromD<D>(-0.5))));
}
// What is left of x: of float32 0 from -6 on.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V normal_cumulative(D d, V x) {
  using T = hn::TFromD<D>;
  V left;
  if constexpr (sizeof(T) == 4) left = left_of_six(d, hn::Abs(x));
  else left = hn::Mul(exp_of_half_square(d, x), normal_tail(d, x));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), left, hn::Sub(hn::Set(d, T(1)), left));
}

// tanh(sqrt(2 / pi) * (x + 0.044715 x^3))
template <typename D, typename V>
HWY_INLINE HWY_ATTR V gelu_tanh(D d, V x) {
  using T = hn::TFromD<D>;
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V inner = hn::MulAdd(hn::Set(d, T(kCubic)), cube, x);
  return tanh_vector(d, hn::Mul(hn::Set(d, T(kSquareRootOf2OverPi)), inner));
}

template <bool kOfHalves>
struct Gelu {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
      return hn::Mul(x, normal_cumulative(d, x));
    } else {  // x on the right side, nothing on the left (but NaN for -infinity), less what is the same on both
      const V magnitude = hn::Abs(x);
      const V right = hn::Mul(x, hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f)));
      const V left = kOfHalves ? short_left_of_six(d, magnitude) : left_of_six(d, magnitude);
      return hn::NegMulAdd(hn::Min(hn::Set(d, 6.0f), magnitude), left, right);
    }
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
    const V exponential = exp_of_half_square(d, x);
    const V unit = hn::Set(d, T(kInverseSquareRootOf2Pi));
    if constexpr (sizeof(T) == 4) {
      return hn::Mul(grad, hn::MulAdd(x, hn::Mul(exponential, unit), normal_cumulative(d, x)));
    } else {  // one factor for what has the exponential in common: left of 0 little remains of it
      const auto is_left = hn::Lt(x, hn::Zero(d));
      const V tail = normal_tail(d, x);
      const V factor = hn::MulAdd(x, unit, hn::IfThenElse(is_left, tail, hn::Neg(tail)));
      return hn::Mul(grad, hn::MulAdd(exponential, factor, hn::IfThenZeroElse(is_left, hn::Set(d, 1.0))));
    }
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
    if (c10::is_reduced_floating_type(iter.memory_dtype(0))) {
      return iter.for_each(UnaryVectorLoop<T, Gelu<true>>{{}}, kMathGrain);
    }
    iter.for_each(UnaryVectorLoop<T, Gelu<false>>{{}}, kMathGrain);
  });
}

void GeluBackwardImpl(TensorIterator& iter, bool tanh_approximation) {
  dispatch_floating_types(iter.common_dtype(), "gelu_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    if (tanh_approximation) return iter.for_each(BinaryVectorLoop<T, GeluTanhBackward>{{}}, kMathGrain);
    iter.for_each(BinaryVectorLoop<T, GeluBackward>{{}}, kMathGrain);
  });
}

// tanh(log(1 + e^x)) = n / (n + 2) with n = e^x * (e^x + 2); from 20 on it is 1.
template <typename D, typename V, typename Exp>
HWY_INLINE HWY_ATTR V tanh_of_softplus(D d, V x, Exp exp) {
  const V power = exp(hn::Min(x, hn::Set(d, hn::TFromD<D>(20))));
  const V two = hn::Set(d, hn::TFromD<D>(2));
  const V n = hn::MulAdd(power, power, hn::Add(power, power));
  return hn::IfThenElse(hn::Eq(x, x), hn::Div(n, hn::Add(n, two)), x);
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V tanh_of_softplus(D d, V x) {
  return tanh_of_softplus(d, x, [&](V bounded) HWY_ATTR { return exp_vector(d, bounded); });
}

#if HWY_TARGET != HWY_SCALAR
// `result` for finite x: what goes to 0 with e^x is 0 times infinity in PyTorch, and NaN.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V above_minus_infinity(D d, V x, V result) {
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, -std::numeric_limits<double>::infinity())), result, hn::Sub(x, x));
}
struct MishInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V tanh =
        tanh_of_softplus(d, x, [&](V bounded) HWY_ATTR { return short_exp(d, bounded_exponent(d, bounded)); });
    return above_minus_infinity(d, x, hn::Mul(x, tanh));
  }
};
// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which stays finite for every finite x.
struct SoftplusInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V power = short_exp(d, hn::Neg(hn::Abs(bounded_exponent(d, x))));
    return hn::Add(hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x), short_log1p_of_fraction(d, power));
  }
};
#endif

struct Silu {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return hn::Div(x, hn::Add(hn::Set(d, hn::TFromD<D>(1)), exp_vector(d, hn::Neg(x))));
  }
};
struct SiluBackward {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V grad, V x) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V sigmoid = sigmoid_vector(d, x);
    return hn::Mul(hn::Mul(grad, sigmoid), hn::MulAdd(x, hn::Sub(one, sigmoid), one));
  }
};
struct Mish {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return TORCH_IN_DOUBLE(MishInDouble, hn::Mul(x, tanh_of_softplus(d, x)));
  }
};
// With n and e as above the slope is e (4 (1 + x) + e (6 + 4 x + e (e + 4))) / (n + 2)^2; of infinite x it is NaN, as
// in PyTorch.
struct MishBackward {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V grad, V x) const {
    using T = hn::TFromD<D>;
    const V two = hn::Set(d, T(2));
    const V bounded = hn::Min(hn::Max(x, hn::Set(d, T(-800))), hn::Set(d, T(20)));  // beyond, the slope is 0, or 1
    const V power = exp_vector(d, bounded);
    const V below = hn::MulAdd(power, hn::Add(power, two), two);
    const V four = hn::Set(d, T(4));
    const V more = hn::MulAdd(power, hn::Add(power, four), hn::MulAdd(bounded, four, hn::Set(d, T(6))));
    const V top = hn::Mul(power, hn::MulAdd(power, more, hn::MulAdd(bounded, four, four)));
    return hn::Mul(grad, hn::Add(hn::Div(top, hn::Mul(below, below)), hn::Sub(x, x)));
  }
};
// log(1 + e^x)
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V softplus_vector(D d, V x) {
  return hn::Add(hn::Max(x, hn::Zero(d)), log1p_of_fraction(d, exp_vector(d, hn::Neg(hn::Abs(x)))));
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V softplus(D d, V x) {
  return TORCH_OF_FLOATS(float_softplus(d, x), SoftplusInDouble, softplus_vector(d, x));
}
struct LogSigmoid {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return hn::Sub(hn::Zero(d), softplus(d, hn::Neg(x)));
  }
};
struct LogSigmoidBackward {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V grad, V x) const {
    return sigmoid_times(d, hn::Neg(x), grad);
  }
};
struct Softplus {
  double beta;
  double threshold;
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const V scale = hn::Set(d, static_cast<T>(beta));
    const V scaled = hn::Mul(x, scale);
    const V smooth = softplus(d, scaled);
    const V result = beta == 1 ? smooth : hn::Div(smooth, scale);
    return hn::IfThenElse(hn::Gt(scaled, hn::Set(d, static_cast<T>(threshold))), x, result);
  }
};
struct SoftplusBackward {
  double beta;
  double threshold;
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V grad, V x) const {
    using T = hn::TFromD<D>;
    const V scaled = hn::Mul(x, hn::Set(d, static_cast<T>(beta)));
    const auto above = hn::Gt(scaled, hn::Set(d, static_cast<T>(threshold)));
    return hn::IfThenElse(above, grad, sigmoid_times(d, scaled, grad));
  }
};
// grad * a * the slope of the sigmoid, which is the same on both sides of 0 and does not cancel there.
struct GluGateBackward {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V grad, V a, V b) const {
    const V small = exp_vector(d, hn::Neg(hn::Abs(b)));
    const V below = hn::Add(hn::Set(d, hn::TFromD<D>(1)), small);
    return hn::Mul(hn::Mul(grad, a), hn::Div(small, hn::Mul(below, below)));
  }
};
// scale * x above 0, scale * alpha * (exp(input_scale * x) - 1) below.
struct Elu {
  double alpha;
  double scale;
  double input_scale;
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const V straight = hn::Mul(x, hn::Set(d, static_cast<T>(scale)));
    const auto bent = hn::Lt(x, hn::Zero(d));
    if (HWY_LIKELY(hn::AllFalse(d, bent))) return straight;
    const V below = expm1_vector(d, hn::Mul(hn::Min(hn::Zero(d), x), hn::Set(d, static_cast<T>(input_scale))));
    return hn::IfThenElse(bent, hn::Mul(below, hn::Set(d, static_cast<T>(alpha * scale))), straight);
  }
};
struct EluBackward {
  double alpha;
  double scale;
  double input_scale;
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V grad, V x) const {
    using T = hn::TFromD<D>;
    const V power = exp_vector(d, hn::Mul(hn::Min(x, hn::Zero(d)), hn::Set(d, static_cast<T>(input_scale))));
    const V slope = hn::Mul(power, hn::Set(d, static_cast<T>(alpha * scale * input_scale)));
    return hn::Mul(grad, hn::IfThenElse(hn::Le(x, hn::Zero(d)), slope, hn::Set(d, static_cast<T>(scale))));
  }
};

template <typename T>
struct LeakyRelu {
  T slope;
  TORCH_SIMD T operator()(T x) const { return x > T(0) ? x : x * slope; }
};
template <typename T>
struct LeakyReluBackward {
  T slope;
  TORCH_SIMD T operator()(T grad, T x) const { return x > T(0) ? grad : grad * slope; }
};
// x held in [low, high]; NaN stays.
template <typename T>
TORCH_SIMD T held(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return high < raised ? high : raised;
}
template <typename T>
struct Hardsigmoid {
  TORCH_SIMD T operator()(T x) const { return held(x + T(3), T(0), T(6)) / T(6); }
};
template <typename T>
struct HardsigmoidBackward {
  TORCH_SIMD T operator()(T grad, T x) const { return x > T(-3) && x < T(3) ? grad / T(6) : T(0); }
};
template <typename T>
struct Hardswish {
  TORCH_SIMD T operator()(T x) const { return x * held(x + T(3), T(0), T(6)) / T(6); }
};
template <typename T>
struct HardswishBackward {
  TORCH_SIMD T operator()(T grad, T x) const {
    return x <= T(-3) ? T(0) : x < T(3) ? grad * (x / T(3) + T(0.5)) : grad;
  }
};

#define TORCH_VECTOR_KERNEL(Name, Loop, name)                                                                 \
  template <typename... Numbers>                                                                              \
  void run##Name(TensorIterator& iter, Numbers... numbers) {                                                  \
    dispatch_floating_types(iter.common_dtype(), name, [&](auto type) {                                       \
      using T = typename decltype(type)::type;                                                                \
      iter.for_each(Loop<T, Name>{Name{numbers...}}, kMathGrain);                                             \
    });                                                                                                       \
  }
TORCH_VECTOR_KERNEL(Silu, UnaryVectorLoop, "silu")
TORCH_VECTOR_KERNEL(SiluBackward, BinaryVectorLoop, "silu_backward")
TORCH_VECTOR_KERNEL(Mish, UnaryVectorLoop, "mish")
TORCH_VECTOR_KERNEL(MishBackward, BinaryVectorLoop, "mish_backward")
TORCH_VECTOR_KERNEL(LogSigmoid, UnaryVectorLoop, "log_sigmoid")
TORCH_VECTOR_KERNEL(LogSigmoidBackward, BinaryVectorLoop, "log_sigmoid_backward")
TORCH_VECTOR_KERNEL(Softplus, UnaryVectorLoop, "softplus")
TORCH_VECTOR_KERNEL(SoftplusBackward, BinaryVectorLoop, "softplus_backward")
TORCH_VECTOR_KERNEL(GluGateBackward, TernaryVectorLoop, "glu_backward")
TORCH_VECTOR_KERNEL(Elu, UnaryVectorLoop, "elu")
TORCH_VECTOR_KERNEL(EluBackward, BinaryVectorLoop, "elu_backward")
#undef TORCH_VECTOR_KERNEL

void SiluImpl(TensorIterator& iter) { runSilu(iter); }
void SiluBackwardImpl(TensorIterator& iter) { runSiluBackward(iter); }
void MishImpl(TensorIterator& iter) { runMish(iter); }
void MishBackwardImpl(TensorIterator& iter) { runMishBackward(iter); }
void LogSigmoidImpl(TensorIterator& iter) { runLogSigmoid(iter); }
void LogSigmoidBackwardImpl(TensorIterator& iter) { runLogSigmoidBackward(iter); }
void GluGateBackwardImpl(TensorIterator& iter) { runGluGateBackward(iter); }
void SoftplusImpl(TensorIterator& iter, double beta, double threshold) { runSoftplus(iter, beta, threshold); }
void SoftplusBackwardImpl(TensorIterator& iter, double beta, double threshold) {
  runSoftplusBackward(iter, beta, threshold);
}
// Whether an input of halves begins with positive numbers: the others, too, are likely to be, as behind a ReLU.
bool begins_positive(const TensorIterator& iter) {
  constexpr int64_t kFirst = 64;
  if (!c10::is_reduced_floating_type(iter.memory_dtype(1)) || iter.numel() == 0) return false;
  const int64_t count = iter.ndim() == 0 ? 1 : std::min(kFirst, iter.shape()[0]);
  const int64_t step = iter.ndim() == 0 ? 0 : iter.strides(1)[0];
  uint16_t signs = 0;
  for (int64_t i = 0; i < count; ++i) signs |= *reinterpret_cast<const uint16_t*>(iter.data(1) + i * step);
  return (signs >> 15) == 0;
}
void EluImpl(TensorIterator& iter, double alpha, double scale, double input_scale) {
  // Shorter vectors, without a detour by rows of float: quicker where no exponential is asked for.
  if (begins_positive(iter) && run_halves<1>(iter, Elu{alpha, scale, input_scale}, kMathGrain)) return;
  runElu(iter, alpha, scale, input_scale);
}
void EluBackwardImpl(TensorIterator& iter, double alpha, double scale, double input_scale) {
  runEluBackward(iter, alpha, scale, input_scale);
}

void LeakyReluImpl(TensorIterator& iter, double slope) {
  dispatch_floating_types(iter.common_dtype(), "leaky_relu", [&](auto type) {
    using T = typename decltype(type)::type;
    run_unary<T, T>(iter, LeakyRelu<T>{static_cast<T>(slope)});
  });
}
void LeakyReluBackwardImpl(TensorIterator& iter, double slope) {
  dispatch_floating_types(iter.common_dtype(), "leaky_relu_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    run_binary<T, T>(iter, LeakyReluBackward<T>{static_cast<T>(slope)});
  });
}
#define TORCH_LOOP_KERNEL(Name, run, name)                              \
  void Name##Impl(TensorIterator& iter) {                               \
    dispatch_floating_types(iter.common_dtype(), name, [&](auto type) { \
      using T = typename decltype(type)::type;                          \
      run<T, T>(iter, Name<T>{});                                       \
    });                                                                 \
  }
TORCH_LOOP_KERNEL(Hardsigmoid, run_unary, "hardsigmoid")
TORCH_LOOP_KERNEL(HardsigmoidBackward, run_binary, "hardsigmoid_backward")
TORCH_LOOP_KERNEL(Hardswish, run_unary, "hardswish")
TORCH_LOOP_KERNEL(HardswishBackward, run_binary, "hardswish_backward")
#undef TORCH_LOOP_KERNEL

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

TORCH_EXPORT_KERNEL(Mish, mish)
TORCH_EXPORT_KERNEL(MishBackward, mish_backward)
TORCH_EXPORT_KERNEL(LogSigmoid, log_sigmoid)
TORCH_EXPORT_KERNEL(LogSigmoidBackward, log_sigmoid_backward)
TORCH_EXPORT_KERNEL(GluGateBackward, glu_gate_backward)
TORCH_EXPORT_KERNEL(Hardsigmoid, hardsigmoid)
TORCH_EXPORT_KERNEL(HardsigmoidBackward, hardsigmoid_backward)
TORCH_EXPORT_KERNEL(Hardswish, hardswish)
TORCH_EXPORT_KERNEL(HardswishBackward, hardswish_backward)
TORCH_EXPORT_KERNEL_AND_COMPLEX(Silu, silu)
TORCH_EXPORT_KERNEL_AND_COMPLEX(SiluBackward, silu_backward)

HWY_EXPORT(LeakyReluImpl);
void leaky_relu_kernel(TensorIterator& iter, double slope) { HWY_DYNAMIC_DISPATCH(LeakyReluImpl)(iter, slope); }
HWY_EXPORT(LeakyReluBackwardImpl);
void leaky_relu_backward_kernel(TensorIterator& iter, double slope) {
  HWY_DYNAMIC_DISPATCH(LeakyReluBackwardImpl)(iter, slope);
}
HWY_EXPORT(SoftplusImpl);
void softplus_kernel(TensorIterator& iter, double beta, double threshold) {
  HWY_DYNAMIC_DISPATCH(SoftplusImpl)(iter, beta, threshold);
}
HWY_EXPORT(SoftplusBackwardImpl);
void softplus_backward_kernel(TensorIterator& iter, double beta, double threshold) {
  HWY_DYNAMIC_DISPATCH(SoftplusBackwardImpl)(iter, beta, threshold);
}
HWY_EXPORT(EluImpl);
void elu_kernel(TensorIterator& iter, double alpha, double scale, double input_scale) {
  HWY_DYNAMIC_DISPATCH(EluImpl)(iter, alpha, scale, input_scale);
}
HWY_EXPORT(EluBackwardImpl);
void elu_backward_kernel(TensorIterator& iter, double alpha, double scale, double input_scale) {
  HWY_DYNAMIC_DISPATCH(EluBackwardImpl)(iter, alpha, scale, input_scale);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
