// Functions of complex64 in vectors of float64: both parts come out within 0.51 units of their last place, but where
// they cancel. What is not finite, or too large an angle, is left to the scalar function.

#include <aten/Dispatch.h>
#include <aten/native/cpu/ComplexKernels.h>

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/complex_function_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/DoubleMath-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

HWY_INLINE HWY_ATTR int64_t whole_vectors(int64_t count) {
  return static_cast<int64_t>(hwy::RoundUpTo(static_cast<size_t>(count), hn::Lanes(hn::ScalableTag<double>())));
}
// The sines of `count` angles, whole vectors of them, in their place, and the cosines.
HWY_NOINLINE HWY_ATTR void turn(double* angles, double* cosines, int64_t count) {
  const hn::ScalableTag<double> d;
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto both = sine_and_cosine(d, hn::Load(d, angles + i));
    hn::Store(both.sine, d, angles + i);
    hn::Store(both.cosine, d, cosines + i);
  }
}
// A vector's worth of elements from `from` on, of which `left` are there; and the other way, parts of complex numbers.
template <typename D, typename T>
HWY_INLINE HWY_ATTR hn::Vec<D> load_wide(D d, const T* from, int64_t left) {
  const hn::Rebind<T, D> narrow;
  HWY_ALIGN T rest[hn::MaxLanes(d)] = {};
  if (HWY_UNLIKELY(left < static_cast<int64_t>(hn::Lanes(d)))) from = std::copy_n(from, left, rest) - left;
  const auto loaded = hn::LoadU(narrow, from);
  if constexpr (sizeof(T) == 8) return loaded;
  else return hn::PromoteTo(d, loaded);
}
template <typename D, typename T>
HWY_INLINE HWY_ATTR void store_parts(D d, hn::Vec<D> real, hn::Vec<D> imag, c10::complex<T>* out, int64_t left) {
  const hn::Rebind<T, D> narrow;
  const auto of = [&](hn::Vec<D> part) HWY_ATTR {
    if constexpr (sizeof(T) == 8) return part;
    else return hn::DemoteTo(narrow, part);
  };
  auto* const to = reinterpret_cast<T*>(out);
  HWY_ALIGN T rest[2 * hn::MaxLanes(d)];
  const bool is_whole = left >= static_cast<int64_t>(hn::Lanes(d));
  hn::StoreInterleaved2(of(real), of(imag), narrow, is_whole ? to : rest);
  if (HWY_UNLIKELY(!is_whole)) std::copy_n(rest, 2 * left, to);
}
// size * (cos(angle) + i sin(angle)), for every pair of real numbers.
template <typename T>
struct PolarRow {
  HWY_ATTR void operator()(int64_t count, c10::complex<T>* out, const T* sizes, const T* angles) const {
    const hn::ScalableTag<double> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    HWY_ALIGN double sines[kStagedRow];
    HWY_ALIGN double cosines[kStagedRow];
    for (int64_t done = 0; done < count; done += kStagedRow) {
      const int64_t part = std::min(kStagedRow, count - done);
      for (int64_t i = 0; i < part; i += lanes) {
        hn::Store(load_wide(d, angles + done + i, part - i), d, sines + i);
      }
      turn(sines, cosines, whole_vectors(part));
      for (int64_t i = 0; i < part; i += lanes) {
        const auto size = load_wide(d, sizes + done + i, part - i);
        store_parts(d, hn::Mul(size, hn::Load(d, cosines + i)), hn::Mul(size, hn::Load(d, sines + i)), out + done + i,
                    part - i);
      }
    }
  }
};
void RunPolar(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "polar", [&](auto type) {
    using T = typename decltype(type)::type;
    iter.for_each([](char** data, const int64_t* strides, int64_t count)
                      HWY_ATTR { run_rows<c10::complex<T>, T, T>(data, strides, count, PolarRow<T>()); },
                  kMathGrain);
  });
}

#if HWY_TARGET == HWY_SCALAR
bool RunComplex(TensorIterator&, ComplexFunction, ScalarOfComplex) { return false; }
#else

// The parts of the functions below stand in the library once.

template <typename V>
struct Parts {
  V real;
  V imag;
};

template <typename D>
struct Turned {
  hn::Vec<D> sine;
  hn::Vec<D> cosine;
  HWY_NOINLINE HWY_ATTR static Turned of(D d, hn::Vec<D> angle) {
    const auto quadrant = Quadrant<D>::of(d, angle);
    const auto is_odd = quadrant.template bit<0>(d);
    const auto sine = hn::IfThenElse(is_odd, quadrant.cosine, quadrant.sine);
    const auto cosine = hn::IfThenElse(is_odd, quadrant.sine, quadrant.cosine);
    return {hn::IfThenElse(quadrant.template bit<1>(d), hn::Neg(sine), sine),
            hn::IfThenElse(quadrant.template bit<1>(d, 1), hn::Neg(cosine), cosine)};
  }
};
// exp(x), exp(x) - 1 exact near 0, and the hyperbolic functions.
template <typename D>
struct Powers {
  using V = hn::Vec<D>;
  V exp;
  V expm1;
  HWY_NOINLINE HWY_ATTR static Powers of(D d, V x) {
    const auto power = short_exp_parts(d, bounded_exponent(d, x));
    const V one = hn::Set(d, 1.0);
    const V scale = power.scale_normal(d, one);
    const V rest = hn::Add(power.rest, power.tail);
    return {hn::MulAdd(scale, rest, scale), hn::MulAdd(scale, rest, hn::Sub(scale, one))};
  }
};
template <typename D>
struct Hyperbolic {
  using V = hn::Vec<D>;
  V sine;
  V cosine;
  HWY_NOINLINE HWY_ATTR static Hyperbolic of(D d, V x) {
    const auto powers = Powers<D>::of(d, hn::Abs(x));
    const V half = hn::Set(d, 0.5);
    const V inverse = hn::Div(hn::Set(d, 1.0), powers.exp);
    const V sine = hn::Mul(half, hn::MulAdd(powers.expm1, inverse, powers.expm1));
    return {hn::CopySign(sine, x), hn::Mul(half, hn::Add(powers.exp, inverse))};
  }
};
// log |z| of the parts' magnitudes: of the sum of their squares, and of what it lost.
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V log_of_size(D d, V x, V y) {
  const V larger = hn::Max(hn::Abs(x), hn::Abs(y));
  const V smaller = hn::Min(hn::Abs(x), hn::Abs(y));
  const V square = hn::Mul(larger, larger);
  const V more = hn::Mul(smaller, smaller);
  const V sum = hn::Add(square, more);
  const V lost = hn::Sub(more, hn::Sub(sum, square));
  const V log = hn::Mul(hn::Add(LogInDouble<UnitE>()(d, sum), hn::Div(lost, sum)), hn::Set(d, 0.5));
  return hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), hn::Set(d, -std::numeric_limits<double>::infinity()), log);
}

template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V angle_of(D d, V x, V y) {
  return Atan2InDouble()(d, y, x);
}

struct ComplexExp {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const V exp = Powers<D>::of(d, x).exp;
    const auto turned = Turned<D>::of(d, y);
    return {hn::Mul(exp, turned.cosine), hn::Mul(exp, turned.sine)};
  }
};
struct ComplexExp2 {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const V unit = hn::Set(d, 0.69314718055994530942);
    return ComplexExp()(d, hn::Mul(x, unit), hn::Mul(y, unit));
  }
};
struct ComplexExpm1 {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const auto powers = Powers<D>::of(d, x);
    const auto turned = Turned<D>::of(d, y);
    // 1 - cos(y), exact near 0.
    const V one = hn::Set(d, 1.0);
    const V near_zero = hn::Div(hn::Mul(turned.sine, turned.sine), hn::Add(one, turned.cosine));
    const V less = hn::IfThenElse(hn::Gt(turned.cosine, hn::Zero(d)), near_zero, hn::Sub(one, turned.cosine));
    return {hn::MulSub(hn::CopySign(powers.expm1, x), turned.cosine, less), hn::Mul(powers.exp, turned.sine)};
  }
};
template <typename Unit>
struct ComplexLog {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const V unit = hn::Set(d, Unit::kOfE);
    return {hn::Mul(log_of_size(d, x, y), unit), hn::Mul(angle_of(d, x, y), unit)};
  }
};
struct ComplexLog1p {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const V one = hn::Set(d, 1.0);
    const V moved = hn::Add(x, one);
    const V near_zero = hn::Mul(
        Log1pInDouble()(d, hn::MulAdd(y, y, hn::Mul(x, hn::Add(x, hn::Set(d, 2.0))))), hn::Set(d, 0.5));
    const auto is_near = hn::Lt(hn::Add(hn::Abs(x), hn::Abs(y)), hn::Set(d, 0.5));
    return {hn::IfThenElse(is_near, near_zero, log_of_size(d, moved, y)), angle_of(d, moved, y)};
  }
};
struct ComplexSqrt {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const V size = hn::Sqrt(hn::MulAdd(x, x, hn::Mul(y, y)));
    const V longer = hn::Sqrt(hn::Mul(hn::Set(d, 0.5), hn::Add(hn::Abs(x), size)));
    const auto is_zero = hn::Eq(longer, hn::Zero(d));
    const V shorter = hn::IfThenZeroElse(is_zero, hn::Div(hn::Abs(y), hn::Add(longer, longer)));
    const auto is_left = hn::Lt(x, hn::Zero(d));
    return {hn::IfThenElse(is_left, shorter, longer), hn::CopySign(hn::IfThenElse(is_left, longer, shorter), y)};
  }
};
// conj(sqrt(z)) / |z|.
struct ComplexRsqrt {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const Parts<V> root = ComplexSqrt()(d, x, y);
    const V inverse = hn::Div(hn::Set(d, 1.0), hn::Sqrt(hn::MulAdd(x, x, hn::Mul(y, y))));
    const V real = hn::Mul(root.real, inverse);  // NaN of 0, as the other part, which has PyTorch's infinity
    return {hn::IfThenElse(hn::Eq(real, real), real, inverse), hn::Neg(hn::Mul(root.imag, inverse))};
  }
};
struct ComplexSinh {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const auto hyperbolic = Hyperbolic<D>::of(d, x);
    const auto turned = Turned<D>::of(d, y);
    return {hn::Mul(hyperbolic.sine, turned.cosine), hn::Mul(hyperbolic.cosine, turned.sine)};
  }
};
struct ComplexCosh {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const auto hyperbolic = Hyperbolic<D>::of(d, x);
    const auto turned = Turned<D>::of(d, y);
    return {hn::Mul(hyperbolic.cosine, turned.cosine), hn::Mul(hyperbolic.sine, turned.sine)};
  }
};
struct ComplexTanh {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const auto hyperbolic = Hyperbolic<D>::of(d, x);
    const auto turned = Turned<D>::of(d, y);
    const V square = hn::Mul(turned.cosine, turned.cosine);
    const V inverse = hn::Div(hn::Set(d, 1.0), hn::MulAdd(hyperbolic.sine, hyperbolic.sine, square));
    return {hn::Mul(hn::Mul(hyperbolic.sine, hyperbolic.cosine), inverse),
            hn::Mul(hn::Mul(turned.sine, turned.cosine), inverse)};
  }
};
// f(x + i y) by a g with f(z) = -i g(i z): sines and tangents by hyperbolic ones.
template <typename Function>
struct Rotated {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const Parts<V> result = Function()(d, hn::Neg(y), x);
    return {result.imag, hn::Neg(result.real)};
  }
};
struct ComplexCos {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    return ComplexCosh()(d, hn::Neg(y), x);
  }
};
// 1 / (1 + exp(-z)), times z if kTimes.
template <bool kTimes>
struct ComplexSigmoid {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const Parts<V> exp = ComplexExp()(d, hn::Neg(x), y);  // conjugated
    const V real = hn::Add(hn::Set(d, 1.0), exp.real);
    const V inverse = hn::Div(hn::Set(d, 1.0), hn::MulAdd(real, real, hn::Mul(exp.imag, exp.imag)));
    const Parts<V> result{hn::Mul(real, inverse), hn::Mul(exp.imag, inverse)};
    if (!kTimes) return result;
    return {hn::MulSub(x, result.real, hn::Mul(y, result.imag)), hn::MulAdd(x, result.imag, hn::Mul(y, result.real))};
  }
};
struct ComplexSinc {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR Parts<V> operator()(D d, V x, V y) const {
    const V zero = hn::Zero(d);
    if (HWY_UNLIKELY(hn::AllTrue(d, hn::And(hn::Eq(x, zero), hn::Eq(y, zero))))) return {hn::Set(d, 1.0), zero};
    const V pi = hn::Set(d, 3.14159265358979323846);
    const V u = hn::Mul(x, pi);
    const V v = hn::Mul(y, pi);
    const Parts<V> sine = Rotated<ComplexSinh>()(d, u, v);
    const V size = hn::MulAdd(u, u, hn::Mul(v, v));
    const auto is_zero = hn::Eq(size, zero);
    const V inverse = hn::Div(hn::Set(d, 1.0), size);
    return {hn::IfThenElse(is_zero, hn::Set(d, 1.0),
                           hn::Mul(hn::MulAdd(sine.real, u, hn::Mul(sine.imag, v)), inverse)),
            hn::IfThenZeroElse(is_zero, hn::Mul(hn::MulSub(sine.imag, u, hn::Mul(sine.real, v)), inverse))};
  }
};

using ComputeComplex = void (*)(double* x, double* y, int64_t count);

// `count` results, whole vectors of them, in the place of the operands.
template <typename Function>
HWY_NOINLINE HWY_ATTR void compute_complex(double* x, double* y, int64_t count) {
  const hn::ScalableTag<double> d;
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto result = Function()(d, hn::Load(d, x + i), hn::Load(d, y + i));
    hn::Store(result.real, d, x + i);
    hn::Store(result.imag, d, y + i);
  }
}

struct ComplexRow {
  using T = c10::complex<float>;
  ComputeComplex compute;
  ScalarOfComplex scalar;
  float real_limit;  // what is larger, or NaN, is rare
  float imag_limit;

  HWY_ATTR void operator()(int64_t count, T* out, const T* in) const {
    const hn::ScalableTag<double> d;
    const hn::Rebind<float, decltype(d)> narrow;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    HWY_ALIGN double x[kStagedRow];
    HWY_ALIGN double y[kStagedRow];
    for (int64_t done = 0; done < count; done += kStagedRow) {
      const int64_t part = std::min(kStagedRow, count - done);
      const int64_t whole = whole_vectors(part);
      int64_t plain = 0;  // how many
      for (int64_t i = 0; i < part; i += lanes) {
        const auto* from = reinterpret_cast<const float*>(in + done + i);
        HWY_ALIGN float rest[2 * hn::MaxLanes(d)] = {};
        if (HWY_UNLIKELY(part - i < lanes)) from = std::copy_n(from, 2 * (part - i), rest) - 2 * (part - i);
        hn::Vec<decltype(narrow)> real;
        hn::Vec<decltype(narrow)> imag;
        hn::LoadInterleaved2(narrow, from, real, imag);
        const auto is_plain = hn::And(hn::Le(hn::Abs(real), hn::Set(narrow, real_limit)),
                                      hn::Le(hn::Abs(imag), hn::Set(narrow, imag_limit)));
        plain += static_cast<int64_t>(hn::CountTrue(narrow, is_plain));
        hn::Store(hn::PromoteTo(d, real), d, x + i);
        hn::Store(hn::PromoteTo(d, imag), d, y + i);
      }
      if (plain != 0) compute(x, y, whole);
      for (int64_t i = 0; plain != whole && i < part; ++i) {
        const T z = in[done + i];
        if (std::fabs(z.real()) <= real_limit && std::fabs(z.imag()) <= imag_limit) continue;
        const bool is_nan = z.real() != z.real() && z.imag() != z.imag();
        const T result = is_nan ? z : scalar(z);
        x[i] = result.real();
        y[i] = result.imag();
      }
      for (int64_t i = 0; i < part; i += lanes) {
        store_parts(d, hn::Load(d, x + i), hn::Load(d, y + i), out + done + i, part - i);
      }
    }
  }
};

constexpr float kLargestComplexAngle = 20000;
constexpr float kLargest = std::numeric_limits<float>::max();

bool RunComplex(TensorIterator& iter, ComplexFunction function, ScalarOfComplex scalar) {
  const auto run = [&](ComputeComplex compute, float real_limit = kLargest, float imag_limit = kLargestComplexAngle) {
    const ComplexRow row{compute, scalar, real_limit, imag_limit};
    iter.for_each([row](char** data, const int64_t* strides, int64_t count)
                      HWY_ATTR { run_rows<ComplexRow::T, ComplexRow::T>(data, strides, count, row); },
                  kMathGrain);
    return true;
  };
  const auto run_without_angle = [&](ComputeComplex compute) { return run(compute, kLargest, kLargest); };
  const auto run_rotated = [&](ComputeComplex compute) { return run(compute, kLargestComplexAngle, kLargest); };
  switch (function) {
    case ComplexFunction::exp: return run(&compute_complex<ComplexExp>);
    case ComplexFunction::exp2: return run(&compute_complex<ComplexExp2>);
    case ComplexFunction::expm1: return run(&compute_complex<ComplexExpm1>);
    case ComplexFunction::log: return run_without_angle(&compute_complex<ComplexLog<UnitE>>);
    case ComplexFunction::log2: return run_without_angle(&compute_complex<ComplexLog<Unit2>>);
    case ComplexFunction::log10: return run_without_angle(&compute_complex<ComplexLog<Unit10>>);
    case ComplexFunction::log1p: return run_without_angle(&compute_complex<ComplexLog1p>);
    case ComplexFunction::sqrt: return run_without_angle(&compute_complex<ComplexSqrt>);
    case ComplexFunction::rsqrt: return run_without_angle(&compute_complex<ComplexRsqrt>);
    case ComplexFunction::sin: return run_rotated(&compute_complex<Rotated<ComplexSinh>>);
    case ComplexFunction::cos: return run_rotated(&compute_complex<ComplexCos>);
    case ComplexFunction::tan: return run_rotated(&compute_complex<Rotated<ComplexTanh>>);
    case ComplexFunction::sinh: return run(&compute_complex<ComplexSinh>);
    case ComplexFunction::cosh: return run(&compute_complex<ComplexCosh>);
    case ComplexFunction::tanh: return run(&compute_complex<ComplexTanh>);
    case ComplexFunction::sigmoid: return run(&compute_complex<ComplexSigmoid<false>>);
    case ComplexFunction::silu: return run(&compute_complex<ComplexSigmoid<true>>);
    case ComplexFunction::sinc:
      return run(&compute_complex<ComplexSinc>, kLargestComplexAngle / 4, kLargestComplexAngle);
    default: return false;
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(RunComplex);
bool run_in_vectors(TensorIterator& iter, ComplexFunction function, ScalarOfComplex scalar) {
  return HWY_DYNAMIC_DISPATCH(RunComplex)(iter, function, scalar);
}
HWY_EXPORT(RunPolar);
void polar_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(RunPolar)(iter); }

}  // namespace at::native::cpu
#endif  // HWY_ONCE
