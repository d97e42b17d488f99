// Loops of explicit vectors, for functions that the compiler cannot vectorise by itself; and functions that Highway's
// math library lacks. Included once per instruction set, as Loops-inl.h is.

#if defined(TORCH_MATH_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_MATH_LOOPS_INL_H_
#undef TORCH_MATH_LOOPS_INL_H_
#else
#define TORCH_MATH_LOOPS_INL_H_
#endif

#include <aten/TensorIterator.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <hwy/highway.h>
// After highway.h:
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kMathGrain = 8192;  // elements; these functions cost several times a sum

// Up to a vector of elements, from memory with any step; the rest of the vector is 0.
template <typename T, typename D>
HWY_INLINE HWY_ATTR hn::Vec<D> load_part(D d, const char* data, int64_t step, int64_t count) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (step == sizeof(T) && count == lanes) return hn::LoadU(d, reinterpret_cast<const T*>(data));
  HWY_ALIGN T buffer[hn::MaxLanes(d)] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = *reinterpret_cast<const T*>(data + i * step);
  return hn::Load(d, buffer);
}

template <typename T, typename D>
HWY_INLINE HWY_ATTR void store_part(D d, hn::Vec<D> value, char* data, int64_t step, int64_t count) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (step == sizeof(T) && count == lanes) return hn::StoreU(value, d, reinterpret_cast<T*>(data));
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  hn::Store(value, d, buffer);
  for (int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(data + i * step) = buffer[i];
}

// Function: V operator()(D, V) const for any vector of T. The same bits come out whatever the strides are.
template <typename T, typename Function>
struct UnaryVectorLoop {
  Function function;
  HWY_ATTR void operator()(char** data, const int64_t* strides, int64_t count) const {
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; i += lanes) {
      const int64_t part = std::min(lanes, count - i);
      const auto x = load_part<T>(d, data[1] + i * strides[1], strides[1], part);
      store_part<T>(d, function(d, x), data[0] + i * strides[0], strides[0], part);
    }
  }
};
template <typename T, typename Function>
struct BinaryVectorLoop {
  Function function;
  HWY_ATTR void operator()(char** data, const int64_t* strides, int64_t count) const {
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; i += lanes) {
      const int64_t part = std::min(lanes, count - i);
      const auto a = load_part<T>(d, data[1] + i * strides[1], strides[1], part);
      const auto b = load_part<T>(d, data[2] + i * strides[2], strides[2], part);
      store_part<T>(d, function(d, a, b), data[0] + i * strides[0], strides[0], part);
    }
  }
};

// `result`, but in lanes where `x` is outside [low, high] (NaN is) what `scalar` says.
template <typename D, typename V, typename T = hn::TFromD<D>, typename Scalar>
HWY_INLINE HWY_ATTR V patch_outside(D d, V x, V result, T low, T high, Scalar scalar) {
  const auto inside = hn::And(hn::Ge(x, hn::Set(d, low)), hn::Le(x, hn::Set(d, high)));
  if (HWY_LIKELY(hn::AllTrue(d, inside))) return result;
  HWY_ALIGN T inputs[hn::MaxLanes(d)];
  HWY_ALIGN T results[hn::MaxLanes(d)];
  hn::Store(x, d, inputs);
  hn::Store(result, d, results);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!(inputs[i] >= low && inputs[i] <= high)) results[i] = scalar(inputs[i]);
  }
  return hn::Load(d, results);
}

// A polynomial by Horner's rule, highest power first.
template <typename D, typename V, size_t N>
HWY_INLINE HWY_ATTR V polynomial(D d, V x, const hn::TFromD<D> (&coefficients)[N]) {
  V result = hn::Set(d, coefficients[0]);
  for (size_t i = 1; i < N; ++i) result = hn::MulAdd(result, x, hn::Set(d, coefficients[i]));
  return result;
}

// x = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), for positive normal x; the exponent as a number of T.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V split_exponent(D d, V x, V& mantissa) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> bits;
  using Bits = hn::TFromD<decltype(bits)>;
  constexpr int kMantissaBits = sizeof(T) == 4 ? 23 : 52;
  constexpr auto kRootOfHalf = static_cast<Bits>(sizeof(T) == 4 ? 0x3f3504f3 : 0x3fe6a09e667f3bcd);
  const auto raw = hn::BitCast(bits, x);
  const auto exponent = hn::ShiftRight<kMantissaBits>(hn::Sub(raw, hn::Set(bits, kRootOfHalf)));
  mantissa = hn::BitCast(d, hn::Sub(raw, hn::ShiftLeft<kMantissaBits>(exponent)));
  return hn::ConvertTo(d, exponent);
}

// A constant that T cannot hold, as the sum of two that it can.
template <typename T>
struct SplitConstant {
  T high;
  T low;
};
template <typename T>
constexpr SplitConstant<T> kLog2OfE{T(1.4426950408889634074), sizeof(T) == 4 ? T(1.9259629911266175e-08)
                                                                             : T(2.0355273740931033e-17)};
template <typename T>
constexpr SplitConstant<T> kLog10OfE{T(0.43429448190325182765), sizeof(T) == 4 ? T(-1.0103050052231683e-08)
                                                                                : T(1.0983196502167651e-17)};
// The first has so few digits that its product with any exponent is exact.
template <typename T>
constexpr SplitConstant<T> kLog10Of2{T(0.301025390625), T(4.605038981195214e-06)};

// The exponent is added last, so that powers of two come out whole. For positive normal x.
template <typename D, typename V, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR V log2_vector(D d, V x) {
  V mantissa;
  const V exponent = split_exponent(d, x, mantissa);
  const V log = hn::Log(d, mantissa);
  const V low = hn::MulAdd(log, hn::Set(d, kLog2OfE<T>.low), exponent);
  return hn::MulAdd(log, hn::Set(d, kLog2OfE<T>.high), low);
}

// What is added last is exact and the rest small: powers of ten come out whole. For positive normal x.
template <typename D, typename V, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR V log10_vector(D d, V x) {
  V mantissa;
  const V exponent = split_exponent(d, x, mantissa);
  const V log = hn::Log(d, mantissa);
  const V low = hn::MulAdd(log, hn::Set(d, kLog10OfE<T>.low), hn::Mul(exponent, hn::Set(d, kLog10Of2<T>.low)));
  const V rest = hn::MulAdd(log, hn::Set(d, kLog10OfE<T>.high), low);
  return hn::MulAdd(exponent, hn::Set(d, kLog10Of2<T>.high), rest);
}

#if HWY_TARGET == HWY_SCALAR

// Without vectors, the C library's.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V pow_vector(D d, V base, V exponent) {
  return hn::Set(d, std::pow(hn::GetLane(base), hn::GetLane(exponent)));
}

#else

// exp(exponent * log(base)) for half a vector of float32, computed in float64; `base` positive and finite.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V wide_power(D d, V base, V exponent) {
  const hn::Rebind<double, D> wide;
  const auto log = hn::Log(wide, hn::PromoteTo(wide, base));
  const auto product = hn::Mul(log, hn::PromoteTo(wide, exponent));
  // Far outside of float32 on both sides, well inside of what Exp takes.
  const auto bounded = hn::Min(hn::Max(product, hn::Set(wide, -300.0)), hn::Set(wide, 300.0));
  return hn::DemoteTo(d, hn::Exp(wide, bounded));
}

// base^exponent for float32, at most 1 ulp off; zeros, infinities and NaN as the C library has them.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V pow_vector(D d, V base, V exponent) {
  const hn::Half<D> half;
  const V magnitude = hn::Abs(base);
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto plain = hn::And(hn::And(hn::Gt(magnitude, hn::Zero(d)), hn::Lt(magnitude, infinity)),
                             hn::Lt(hn::Abs(exponent), infinity));
  const V safe = hn::IfThenElse(plain, magnitude, hn::Set(d, 1.0f));
  const V power = hn::IfThenElseZero(plain, exponent);
  const auto low = wide_power(half, hn::LowerHalf(half, safe), hn::LowerHalf(half, power));
  const auto high = wide_power(half, hn::UpperHalf(half, safe), hn::UpperHalf(half, power));
  V result = hn::Combine(d, high, low);
  // A negative base has powers for whole exponents only, negative ones for odd exponents.
  const auto negative = hn::Lt(base, hn::Zero(d));
  const V halved = hn::Mul(exponent, hn::Set(d, 0.5f));
  const auto whole = hn::Eq(hn::Round(exponent), exponent);
  const auto even = hn::Eq(hn::Round(halved), halved);
  result = hn::IfThenElse(hn::AndNot(even, hn::And(negative, whole)), hn::Neg(result), result);
  result = hn::IfThenElse(hn::AndNot(whole, negative), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), result);
  if (HWY_LIKELY(hn::AllTrue(d, plain))) return result;
  HWY_ALIGN float bases[hn::MaxLanes(d)];
  HWY_ALIGN float exponents[hn::MaxLanes(d)];
  HWY_ALIGN float results[hn::MaxLanes(d)];
  hn::Store(base, d, bases);
  hn::Store(exponent, d, exponents);
  hn::Store(result, d, results);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    const float size = std::abs(bases[i]);
    const bool computed = size > 0 && size <= std::numeric_limits<float>::max() && std::isfinite(exponents[i]);
    if (!computed) results[i] = std::pow(bases[i], exponents[i]);
  }
  return hn::Load(d, results);
}

#endif  // HWY_SCALAR

// erf. float32: minimax polynomials fitted for this file, of erf(x)/x - 1 in x^2 below 0.92 and of -log(1 - erf(x))
// above; at most 1.5 ulps. float64: the C library's.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V erf_vector(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 4) {
    constexpr T near_zero[] = {8.377591245e-05f, -8.145078072e-04f, 5.201304797e-03f, -2.685953911e-02f,
                               1.128369873e-01f, -3.761263400e-01f, 1.283791671e-01f};
    constexpr T tail[] = {4.561424368e-07f, 1.521687287e-05f, -4.020367760e-04f, 4.071010548e-03f, -2.493044823e-02f,
                          1.080562001e-01f, 6.335095005e-01f, 1.129448700e+00f,  -1.630896363e-04f};
    const V magnitude = hn::Abs(x);
    const V small = hn::MulAdd(polynomial(d, hn::Mul(x, x), near_zero), x, x);
    const V bounded = hn::Min(magnitude, hn::Set(d, T(4)));  // erf(4) rounds to 1
    const V large = hn::Sub(hn::Set(d, T(1)), hn::Exp(d, hn::Neg(polynomial(d, bounded, tail))));
    const V result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, T(0.92))), small, hn::CopySign(large, x));
    return hn::IfThenElse(hn::Eq(x, x), result, x);
  } else {
    HWY_ALIGN T values[hn::MaxLanes(d)];
    hn::Store(x, d, values);
    for (size_t i = 0; i < hn::Lanes(d); ++i) values[i] = std::erf(values[i]);
    return hn::Load(d, values);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
