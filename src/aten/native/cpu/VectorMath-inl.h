// Functions of vectors that Highway's math library lacks, or has with less accuracy or speed: of float32 those of
// FloatMath-inl.h, where an instruction set has fused products. Included once per
// instruction set, as Loops-inl.h is. The coefficients are minimax polynomials fitted for this file,
// to a fraction of the last digit.

#if defined(TORCH_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_VECTOR_MATH_INL_H_
#undef TORCH_VECTOR_MATH_INL_H_
#else
#define TORCH_VECTOR_MATH_INL_H_
#endif

#include <cmath>
#include <cstring>
#include <limits>

#include <aten/native/cpu/Highway-inl.h>
// After highway.h:
#include <aten/native/cpu/FloatMath-inl.h>
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// `result`, but in lanes where `x` is outside [low, high] what `scalar` says; NaN stays.
template <typename D, typename V, typename T = hn::TFromD<D>, typename Scalar>
HWY_INLINE HWY_ATTR V patch_outside(D d, V x, V result, T low, T high, Scalar scalar) {
  const auto is_inside = hn::And(hn::Ge(x, hn::Set(d, low)), hn::Le(x, hn::Set(d, high)));
  if (HWY_LIKELY(hn::AllTrue(d, is_inside))) return result;
  const auto is_number = hn::Eq(x, x);
  result = hn::IfThenElse(is_number, result, x);
  if (hn::AllTrue(d, hn::Or(is_inside, hn::Not(is_number)))) return result;
  HWY_ALIGN T inputs[hn::MaxLanes(d)];
  HWY_ALIGN T results[hn::MaxLanes(d)];
  hn::Store(x, d, inputs);
  hn::Store(result, d, results);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (inputs[i] < low || inputs[i] > high) results[i] = scalar(inputs[i]);
  }
  return hn::Load(d, results);
}

// A number as the sum of two, the second at most half a unit of the first's last place.
template <typename V>
struct Pair {
  V high;
  V low;
};
// a + b where |a| >= |b|, or a is 0.
template <typename V>
HWY_INLINE HWY_ATTR Pair<V> add_smaller(V a, V b) {
  const V sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}
// a + b for any two.
template <typename V>
HWY_INLINE HWY_ATTR Pair<V> add(V a, V b) {
  const V sum = hn::Add(a, b);
  const V part = hn::Sub(sum, a);
  return {sum, hn::Add(hn::Sub(a, hn::Sub(sum, part)), hn::Sub(b, part))};
}
template <typename V>
HWY_INLINE HWY_ATTR Pair<V> multiply(V a, V b) {
  const V product = hn::Mul(a, b);
  return {product, hn::MulSub(a, b, product)};
}
template <typename V>
HWY_INLINE HWY_ATTR Pair<V> multiply(Pair<V> a, Pair<V> b) {
  const Pair<V> product = multiply(a.high, b.high);
  return {product.high, hn::MulAdd(a.high, b.low, hn::MulAdd(a.low, b.high, product.low))};
}
template <typename V>
HWY_INLINE HWY_ATTR Pair<V> multiply(Pair<V> a, V b) {
  const V product = hn::Mul(a.high, b);
  return {product, hn::MulAdd(a.low, b, hn::MulSub(a.high, b, product))};
}
// By the divisor's inverse; what that is off goes to the second number.
template <typename V>
HWY_INLINE HWY_ATTR Pair<V> divide(Pair<V> a, Pair<V> b) {
  const V inverse = hn::Div(hn::Set(hn::DFromV<V>(), hn::TFromV<V>(1)), b.high);
  const V quotient = hn::Mul(a.high, inverse);
  const V rest = hn::NegMulAdd(quotient, b.low, hn::Add(hn::NegMulAdd(quotient, b.high, a.high), a.low));
  return {quotient, hn::Mul(rest, inverse)};
}

// x = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), for positive normal x;
// the exponent as a number of T.
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

// A number's logarithm of 2, and x - n * log(2) for whole n with more digits than T has: the first part of log(2) has
// so few that its product with n is exact.
template <typename T>
constexpr SplitConstant<T> kLogOf2{sizeof(T) == 4 ? T(0.693145751953125) : T(0.69314718055966295),
                                   sizeof(T) == 4 ? T(1.4286067653e-06) : T(2.8235290563031577e-13)};

// 2 atanh(s) = 2 s + s^3 (2/3 + s^2 polynomial(s^2)), for |s| up to that of sqrt(2).
constexpr double kAtanhTerms[] = {1.17230510280977529e-01, 1.17062485409223857e-01, 1.33348042382253451e-01,
                                  1.53845949708954571e-01, 1.81818183353144036e-01, 2.22222222216562321e-01,
                                  2.85714285714293637e-01, 4.00000000000000022e-01};

// log(x) = exponent * log(2) + high + low, with some digits more than T has, for positive x.
template <typename D, typename V>
HWY_INLINE HWY_ATTR Pair<V> log_parts(D d, V x, V& exponent) {
  using T = hn::TFromD<D>;
  const auto is_small = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  constexpr T digits = sizeof(T) == 4 ? 24 : 53;
  V mantissa;
  exponent = split_exponent(d, hn::IfThenElse(is_small, hn::Mul(x, hn::Set(d, T(sizeof(T) == 4 ? 0x1p24 : 0x1p53))), x),
                            mantissa);
  exponent = hn::Sub(exponent, hn::IfThenElseZero(is_small, hn::Set(d, digits)));
  if constexpr (sizeof(T) == 4) {  // without vectors only
    return {hn::Log(d, mantissa), hn::Zero(d)};
  } else {
    // With f = m - 1 and s = f / (2 + f): log(m) = f - f^2 / 2 + s (f^2 / 2 + s^2 (2/3 + ...)).
    const V f = hn::Sub(mantissa, hn::Set(d, 1.0));
    const V s = hn::Div(f, hn::Add(f, hn::Set(d, 2.0)));
    const Pair<V> square = multiply(f, f);
    const V half = hn::Set(d, 0.5);
    const V half_square = hn::Mul(square.high, half);
    const V s_square = hn::Mul(s, s);
    const V curve = hn::MulAdd(s_square, polynomial(d, s_square, kAtanhTerms), hn::Set(d, 2.0 / 3));
    const V tail = hn::Mul(s, hn::MulAdd(s_square, curve, half_square));
    const Pair<V> most = add_smaller(f, hn::Neg(half_square));
    return {most.high, hn::Add(tail, hn::NegMulAdd(square.low, half, most.low))};
  }
}
// exponent * unit + log; products of the unit's first part are exact.
template <typename D, typename V, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR V add_exponent(D d, V exponent, SplitConstant<T> unit, Pair<V> log) {
  const Pair<V> most = add_smaller(hn::Mul(exponent, hn::Set(d, unit.high)), log.high);
  return hn::Add(most.high, hn::MulAdd(exponent, hn::Set(d, unit.low), hn::Add(most.low, log.low)));
}

// log of positive numbers, to other bases, too: powers of two and of ten come out whole.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V precise_log(D d, V x) {
  V exponent;
  const Pair<V> log = log_parts(d, x, exponent);
  return add_exponent(d, exponent, kLogOf2<hn::TFromD<D>>, log);
}
// The same in other units, of what log_parts gives.
template <typename D, typename V, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR V log2_of_parts(D d, V exponent, Pair<V> log) {
  const Pair<V> unit{hn::Set(d, kLog2OfE<T>.high), hn::Set(d, kLog2OfE<T>.low)};
  return add_exponent(d, exponent, {1, 0}, multiply(log, unit));
}
template <typename D, typename V, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR V log2_vector(D d, V x) {
  V exponent;
  const Pair<V> log = log_parts(d, x, exponent);
  return log2_of_parts(d, exponent, log);
}
template <typename D, typename V, typename T = hn::TFromD<D>>
HWY_INLINE HWY_ATTR V log10_vector(D d, V x) {
  V exponent;
  const Pair<V> log = log_parts(d, x, exponent);
  const Pair<V> unit{hn::Set(d, kLog10OfE<T>.high), hn::Set(d, kLog10OfE<T>.low)};
  return add_exponent(d, exponent, kLog10Of2<T>, multiply(log, unit));
}

// 2^n * (1 + rest + tail) with n whole, rest small and the tail smaller, for what exp and its kin make of x.
template <typename D>
struct PowerOfTwo {
  using T = hn::TFromD<D>;
  using Bits = hn::RebindToUnsigned<D>;
  static constexpr int kMantissaBits = sizeof(T) == 4 ? 23 : 52;
  static constexpr int kBias = sizeof(T) == 4 ? 127 : 1023;
  hn::Vec<D> n;
  hn::Vec<Bits> whole;  // n as an integer
  hn::Vec<D> rest;
  hn::Vec<D> tail;

  // `x` in units of log2(e) is rounded to n by adding a number so large that no fraction has a place beside it.
  HWY_INLINE HWY_ATTR static PowerOfTwo rounded(D d, hn::Vec<D> x, T unit) {
    const Bits bits;
    // 1.5 * 2^mantissa
    const auto large = hn::Set(d, static_cast<T>(sizeof(T) == 4 ? 12582912.0 : 6755399441055744.0));
    const auto shifted = hn::MulAdd(x, hn::Set(d, unit), large);
    return {hn::Sub(shifted, large), hn::Sub(hn::BitCast(bits, shifted), hn::BitCast(bits, large)), x, hn::Zero(d)};
  }
  // 1 + rest + tail, rounded once.
  HWY_INLINE HWY_ATTR hn::Vec<D> one_and_rest(D d) const {
    const auto one = hn::Set(d, T(1));
    const auto sum = hn::Add(one, rest);
    return hn::Add(sum, hn::Add(hn::Add(hn::Sub(one, sum), rest), tail));
  }
  // 1 + rest + tail
  HWY_INLINE HWY_ATTR Pair<hn::Vec<D>> mantissa(D d) const {
    const auto sum = add_smaller(hn::Set(d, T(1)), rest);
    return add_smaller(sum.high, hn::Add(sum.low, tail));
  }
  // value * 2^n where the result is a normal number: n goes to its exponent.
  HWY_INLINE HWY_ATTR hn::Vec<D> scale_normal(D d, hn::Vec<D> value) const {
    const Bits bits;
    return hn::BitCast(d, hn::Add(hn::BitCast(bits, value), hn::ShiftLeft<kMantissaBits>(whole)));
  }
  // value * 2^n for any n between two infinities of T, in two factors: one alone would be beyond T's range.
  HWY_INLINE HWY_ATTR hn::Vec<D> scale(D d, hn::Vec<D> value) const {
#if HWY_TARGET <= HWY_AVX3
    if constexpr (sizeof(T) == 8 && hn::MaxLanes(D()) == 8) return {_mm512_scalef_pd(value.raw, n.raw)};
#endif
    const Bits bits;
    const auto biased = hn::Add(whole, hn::Set(bits, static_cast<hn::TFromD<Bits>>(2 * kBias)));
    const auto half = hn::ShiftRight<1>(biased);
    const auto first = hn::BitCast(d, hn::ShiftLeft<kMantissaBits>(half));
    const auto second = hn::BitCast(d, hn::ShiftLeft<kMantissaBits>(hn::Sub(biased, half)));
    return hn::Mul(hn::Mul(value, first), second);
  }
};

// exp(x) = 2^n (1 + rest + tail), for x within a little of the range where exp(x) is a number; to more digits than T
// has, unless what rounding takes from the rest is let go.
template <bool kMoreDigits = true, typename D, typename V>
HWY_INLINE HWY_ATTR PowerOfTwo<D> exp_parts(D d, V x) {
  using T = hn::TFromD<D>;
  auto power = PowerOfTwo<D>::rounded(d, x, T(1.4426950408889634));
  const V high = hn::NegMulAdd(power.n, hn::Set(d, kLogOf2<T>.high), x);  // exact
  const V r = hn::NegMulAdd(power.n, hn::Set(d, kLogOf2<T>.low), high);
  const V square = hn::Mul(r, r);
  power.rest = r;
  V lost;  // of r
  if constexpr (kMoreDigits) lost = hn::NegMulAdd(power.n, hn::Set(d, kLogOf2<T>.low), hn::Sub(high, r));
  if constexpr (sizeof(T) == 4) {
    constexpr T terms[] = {1.395069986e-03f, 8.369024782e-03f, 4.166620263e-02f, 1.666651771e-01f, 5.000000096e-01f};
    power.tail = hn::Mul(square, polynomial(d, r, terms));
    if constexpr (kMoreDigits) power.tail = hn::Add(power.tail, lost);
  } else {
    constexpr T terms[] = {2.09237306561596851e-09, 2.51092909926634838e-08, 2.75572457484911160e-07,
                           2.75572435594387939e-06, 2.48015873558157942e-05, 1.98412698866811505e-04,
                           1.38888888888703431e-03, 8.33333333332145557e-03, 4.16666666666666921e-02,
                           1.66666666666666768e-01};
    const V half = hn::Set(d, 0.5);
    const V curve = polynomial(d, r, terms);
    if constexpr (kMoreDigits) {
      // r + r^2 / 2 is the rest, and what rounding takes from it belongs to the tail.
      const Pair<V> most = add_smaller(r, hn::Mul(square, half));
      power.rest = most.high;
      lost = hn::MulAdd(lost, r, hn::Add(lost, hn::MulAdd(hn::MulSub(r, r, square), half, most.low)));
      power.tail = hn::MulAdd(hn::Mul(square, r), curve, lost);
    } else {
      power.tail = hn::Mul(square, hn::MulAdd(r, curve, half));
    }
  }
  return power;
}

// exp, for every x.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V exp_vector(D d, V x) {
#if TORCH_FUSED_PRODUCTS
  if constexpr (sizeof(hn::TFromD<D>) == 4) return float_exp(d, x);
#endif
  using T = hn::TFromD<D>;
  const V low = hn::Set(d, T(sizeof(T) == 4 ? -104 : -746));  // 0 from here on, infinity from there
  const V high = hn::Set(d, T(sizeof(T) == 4 ? 89 : 710));
  const auto power = exp_parts(d, hn::Min(hn::Max(x, low), high));
  const V result = power.scale(d, power.one_and_rest(d));
  return hn::IfThenElse(hn::Eq(x, x), result, x);
}

// exp(x) for x <= 0, at most an ulp off, and 0 where it is below the normal numbers; NaN stays.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V exp_of_negative(D d, V x) {
  using T = hn::TFromD<D>;
  const auto power = exp_parts<false>(d, x);
  const V scale = power.scale_normal(d, hn::Set(d, T(1)));
  const V result = hn::MulAdd(scale, hn::Add(power.rest, power.tail), scale);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, T(sizeof(T) == 4 ? -87.33654 : -708.39641))), hn::Zero(d), result);
}

// exp(x) - 1, for every x.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V expm1_vector(D d, V x) {
#if TORCH_FUSED_PRODUCTS
  if constexpr (sizeof(hn::TFromD<D>) == 4) return float_expm1(d, x);
#endif
  using T = hn::TFromD<D>;
  using Power = PowerOfTwo<D>;
  const typename Power::Bits bits;
  const V low = hn::Set(d, T(sizeof(T) == 4 ? -20 : -40));  // -1 from here on
  const V high = hn::Set(d, T(sizeof(T) == 4 ? 89 : 710));
  const auto power = exp_parts(d, hn::Min(hn::Max(x, low), high));
  // 2^(n - 1), which is a number where 2^n no longer is.
  const auto exponent = hn::Add(power.whole, hn::Set(bits, static_cast<hn::TFromD<decltype(bits)>>(Power::kBias - 1)));
  const V half_scale = hn::BitCast(d, hn::ShiftLeft<Power::kMantissaBits>(exponent));
  const V whole = hn::Sub(half_scale, hn::Set(d, T(0.5)));
  const V most = hn::MulAdd(half_scale, power.rest, whole);
  V lost = hn::MulAdd(half_scale, power.rest, hn::Sub(whole, most));  // what rounding took from it
  lost = hn::Add(lost, hn::Sub(hn::Sub(half_scale, whole), hn::Set(d, T(0.5))));
  const V half = hn::Add(most, hn::MulAdd(half_scale, power.tail, lost));
  const V result = hn::Add(half, half);
  // -0, NaN, and subnormal numbers, of which half would be less, stay.
  return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Set(d, T(0x1p-60))), result, x);
}

// 2^x, for every x.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V exp2_vector(D d, V x) {
#if TORCH_FUSED_PRODUCTS
  if constexpr (sizeof(hn::TFromD<D>) == 4) return float_exp2(d, x);
#endif
  using T = hn::TFromD<D>;
  const V bounded =
      hn::Min(hn::Max(x, hn::Set(d, T(sizeof(T) == 4 ? -151 : -1076))), hn::Set(d, T(sizeof(T) == 4 ? 128 : 1024)));
  auto power = PowerOfTwo<D>::rounded(d, bounded, T(1));
  const V r = hn::Sub(bounded, power.n);
  V curve;
  if constexpr (sizeof(T) == 4) {
    constexpr T terms[] = {1.547644393e-04f, 1.340040401e-03f, 9.618003416e-03f, 5.550327456e-02f, 2.402265135e-01f};
    curve = polynomial(d, r, terms);
  } else {
    constexpr T terms[] = {2.57419313008473430e-11, 4.45669288524832424e-10, 7.05488816223221378e-09,
                           1.01780510890572663e-07, 1.32154868332936840e-06, 1.52527338565080771e-05,
                           1.54035303933408157e-04, 1.33335581463901753e-03, 9.61812910762849596e-03,
                           5.55041086648217011e-02, 2.40226506959100722e-01};
    curve = polynomial(d, r, terms);
  }
  // r * log(2) with more digits than T has; where there are no fused products, with as many.
  const V log = hn::Set(d, T(0.69314718055994530942));
  power.rest = hn::Mul(r, log);
  const V low = hn::MulAdd(r, hn::Set(d, T(sizeof(T) == 4 ? -1.904654299957768e-9 : 2.3190468138462996e-17)),
                           hn::MulSub(r, log, power.rest));
  power.tail = hn::MulAdd(hn::Mul(r, r), curve, low);
  return hn::IfThenElse(hn::Eq(x, x), power.scale(d, power.one_and_rest(d)), x);
}

// log(1 + x) of finite x above -1, in float64, by log_parts of the sum and what the sum lost.
template <typename D, typename V>
HWY_INLINE HWY_ATTR Pair<V> log1p_parts(D d, V x, V& exponent) {
  const V one = hn::Set(d, 1.0);
  const V sum = hn::Add(one, x);
  Pair<V> log = log_parts(d, sum, exponent);
  log.low = hn::Add(log.low, hn::Div(hn::Sub(x, hn::Sub(sum, one)), sum));
  return log;
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V log1p_in_double(D d, V x) {
  V exponent;
  const Pair<V> log = log1p_parts(d, x, exponent);
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, add_exponent(d, exponent, kLogOf2<double>, log));  // -0 stays
}

// log(1 + x) for x in [0, 1], as of exp(-|y|).
template <typename D, typename V>
HWY_INLINE HWY_ATTR V log1p_of_fraction(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 8) {
    return log1p_in_double(d, x);
  } else {
    // With s = x / (2 + x): 2 atanh(s) = 2 s + s^3 (2/3 + ...), and 2 s = x - s x.
    constexpr T terms[] = {2.430168210e-01f, 2.142747754e-01f, 2.861689948e-01f, 3.999887729e-01f, 6.666667563e-01f};
    const V s = hn::Div(x, hn::Add(x, hn::Set(d, T(2))));
    const V square = hn::Mul(s, s);
    return hn::NegMulAdd(s, hn::NegMulAdd(square, polynomial(d, square, terms), x), x);
  }
}

// log of positive normal numbers.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V log_vector(D d, V x) {
#if TORCH_FUSED_PRODUCTS
  if constexpr (sizeof(hn::TFromD<D>) == 4) return float_log<BaseE, false>(d, x);
#endif
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 8) {
    return precise_log(d, x);
  } else {
    constexpr T terms[] = {6.916765041e-02f, -1.179170355e-01f, 1.187335361e-01f, -1.238407100e-01f, 1.421857842e-01f,
                           -1.666926333e-01f, 2.000223049e-01f, -2.499998642e-01f, 3.333331039e-01f};
    V mantissa;
    const V exponent = split_exponent(d, x, mantissa);
    const V f = hn::Sub(mantissa, hn::Set(d, T(1)));
    const V square = hn::Mul(f, f);
    V tail = hn::MulAdd(f, polynomial(d, f, terms), hn::Set(d, T(-0.5)));
    tail = hn::MulAdd(exponent, hn::Set(d, kLogOf2<T>.low), hn::Mul(square, tail));
    return hn::MulAdd(exponent, hn::Set(d, kLogOf2<T>.high), hn::Add(f, tail));
  }
}

// 1 / (1 + exp(-x)), from exp(-|x|), which cannot overflow. `numerator` times it, with one rounding less.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V sigmoid_times(D d, V x, V numerator) {
  const V small = exp_vector(d, hn::Neg(hn::Abs(x)));
  const V top = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(numerator, small), numerator);
  return hn::Div(top, hn::Add(hn::Set(d, hn::TFromD<D>(1)), small));
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V sigmoid_vector(D d, V x) {
  return sigmoid_times(d, x, hn::Set(d, hn::TFromD<D>(1)));
}

// A polynomial near 0, (1 - e) / (1 + e) with e = exp(-2 |x|) elsewhere.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V tanh_vector(D d, V x) {
#if TORCH_FUSED_PRODUCTS
  if constexpr (sizeof(hn::TFromD<D>) == 4) return float_tanh(d, x);
#endif
  using T = hn::TFromD<D>;
  const V square = hn::Mul(x, x);
  V near_zero;
  if constexpr (sizeof(T) == 4) {
    constexpr T terms[] = {-5.717178945e-03f, 2.065070042e-02f, -5.374353045e-02f, 1.333149164e-01f, -3.333328394e-01f};
    near_zero = polynomial(d, square, terms);
  } else {
    constexpr T terms[] = {6.05599126525378048e-06, -3.02187622396217639e-05, 9.15905740479172289e-05,
                           -2.37030550209146011e-04, 5.89458772919377000e-04, -1.45572765156284879e-03,
                           3.59211427663077816e-03, -8.86323434203872135e-03, 2.18694884706877243e-02,
                           -5.39682539661356445e-02, 1.33333333333298915e-01, -3.33333333333333148e-01};
    near_zero = polynomial(d, square, terms);
  }
  const V small = hn::MulAdd(hn::Mul(near_zero, square), x, x);
  const V magnitude = hn::Abs(x);
  const V one = hn::Set(d, T(1));
  const V least = hn::Set(d, T(sizeof(T) == 4 ? -40 : -80));
  const auto power = exp_parts(d, hn::Max(hn::Mul(magnitude, hn::Set(d, T(-2))), least));
  const V scale = power.scale_normal(d, one);
  Pair<V> e = power.mantissa(d);
  e = {hn::Mul(e.high, scale), hn::Mul(e.low, scale)};
  Pair<V> top = add_smaller(one, hn::Neg(e.high));
  Pair<V> bottom = add_smaller(one, e.high);
  top.low = hn::Sub(top.low, e.low);
  bottom.low = hn::Add(bottom.low, e.low);
  const Pair<V> large = divide(top, bottom);
  const V result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, T(0.625))), small, hn::Add(large.high, large.low));
  return hn::IfThenElse(hn::Eq(x, x), hn::CopySign(result, x), x);
}

// base^exponent from |base|^exponent, which is known where `is_plain`, where both numbers are finite and base is not 0.
template <typename D, typename V, typename M>
HWY_INLINE HWY_ATTR V signed_power(D d, V base, V exponent, V power, M is_plain) {
  using T = hn::TFromD<D>;
  // A negative base has powers for whole exponents only, negative ones for odd exponents.
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const V zero = hn::Zero(d);
  const V half = hn::Mul(exponent, hn::Set(d, T(0.5)));
  const auto is_whole = hn::Eq(hn::Round(exponent), exponent);
  const auto is_odd = hn::AndNot(hn::Eq(hn::Round(half), half), is_whole);
  const auto sign = [&](V of) HWY_ATTR { return hn::IfThenElse(is_odd, hn::CopySign(of, base), of); };
  const V result = hn::IfThenElse(hn::AndNot(is_whole, hn::Lt(base, zero)), nan, sign(power));
  if (HWY_LIKELY(hn::AllTrue(d, is_plain))) return result;
  const V one = hn::Set(d, T(1));
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const V magnitude = hn::Abs(base);
  const auto grows = hn::Xor(hn::Gt(magnitude, one), hn::Lt(exponent, zero));
  V edge = sign(hn::IfThenElseZero(grows, infinity));
  edge = hn::IfThenElse(hn::And(hn::Eq(base, base), hn::Eq(exponent, exponent)), edge, nan);
  const auto stays = hn::And(hn::Eq(magnitude, one), hn::Eq(hn::Abs(exponent), infinity));
  const auto is_one = hn::Or(hn::Or(hn::Eq(base, one), hn::Eq(exponent, zero)), stays);
  return hn::IfThenElse(is_plain, result, hn::IfThenElse(is_one, one, edge));
}

// a less the largest multiple of b in it, exactly; for a >= 0 and b > 0 with a quotient of no more digits than T has.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V rest_of_quotient(D d, V a, V b, V quotient) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  // The quotient may be rounded to the next whole number; products are exact, so that the remainder's sign tells.
  const V rest = hn::NegMulAdd(quotient, b, a);
  quotient = hn::IfThenElse(hn::Lt(rest, hn::Zero(d)), hn::Sub(quotient, one), quotient);
  quotient = hn::IfThenElse(hn::Ge(rest, b), hn::Add(quotient, one), quotient);
  return hn::NegMulAdd(quotient, b, a);
}
// Any x >= 0 less the largest multiple of y in it, for normal y, exactly: multiples of y by powers of 2 are taken off
// first, so that each quotient has few digits.
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V rest_of_large(D d, V x, V y) {
  const hn::RebindToSigned<D> bits;
  constexpr int kMantissaBits = sizeof(hn::TFromD<D>) == 4 ? 23 : 52;
  const auto exponent = [&](V of) HWY_ATTR { return hn::ShiftRight<kMantissaBits>(hn::BitCast(bits, of)); };
  for (;;) {
    const auto digits = hn::Sub(exponent(x), exponent(y));
    const auto beyond = hn::Max(hn::Sub(digits, hn::Set(bits, kMantissaBits - 1)), hn::Zero(bits));
    const V multiple = hn::BitCast(d, hn::Add(hn::BitCast(bits, y), hn::ShiftLeft<kMantissaBits>(beyond)));
    x = rest_of_quotient(d, x, multiple, hn::Trunc(hn::Div(x, multiple)));
    if (hn::AllTrue(bits, hn::Eq(beyond, hn::Zero(bits)))) return x;
  }
}

// What fmod gives in the C library, exactly.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V fmod_vector(D d, V a, V b) {
  using T = hn::TFromD<D>;
#if TORCH_FUSED_PRODUCTS
  const V x = hn::Abs(a);
  const V y = hn::Abs(b);
  const V zero = hn::Zero(d);
  const V digits = hn::Set(d, T(sizeof(T) == 4 ? 0x1p23 : 0x1p52));
  const V largest = hn::Set(d, std::numeric_limits<T>::max());
  const V quotient = hn::Trunc(hn::Div(x, y));
  const auto is_divisor = hn::Gt(y, zero);
  const auto is_plain = hn::And(hn::And(is_divisor, hn::Le(y, largest)), hn::Lt(quotient, digits));
  const V rest = hn::CopySign(rest_of_quotient(d, x, y, quotient), a);
  if (HWY_LIKELY(hn::AllTrue(d, is_plain))) return rest;
  // An infinite divisor leaves what there is; infinite numbers have no rest, and nothing has one of 0 or NaN.
  const auto has_rest = hn::And(hn::Le(x, largest), is_divisor);
  const auto is_large = hn::AndNot(is_plain, hn::And(has_rest, hn::Le(y, largest)));
  const V divisor = hn::IfThenElse(is_large, y, largest);
  const auto is_small = hn::Lt(divisor, hn::Set(d, std::numeric_limits<T>::min()));
  V large = rest_of_large(d, hn::IfThenElseZero(is_large, x),
                          hn::IfThenElse(is_small, hn::Mul(divisor, digits), divisor));
  if (HWY_UNLIKELY(!hn::AllFalse(d, is_small))) {
    large = rest_of_quotient(d, large, divisor, hn::Trunc(hn::Div(large, divisor)));
  }
  const V result = hn::IfThenElse(is_plain, rest, hn::IfThenElse(is_large, hn::CopySign(large, a), a));
  return hn::IfThenElse(has_rest, result, hn::Set(d, std::numeric_limits<T>::quiet_NaN()));
#else
  HWY_ALIGN T dividends[hn::MaxLanes(d)];
  HWY_ALIGN T divisors[hn::MaxLanes(d)];
  hn::Store(a, d, dividends);
  hn::Store(b, d, divisors);
  for (size_t i = 0; i < hn::Lanes(d); ++i) dividends[i] = std::fmod(dividends[i], divisors[i]);
  return hn::Load(d, dividends);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
