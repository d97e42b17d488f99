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

#include <hwy/highway.h>
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

// A number's logarithm of 2, and x - n * log(2) for whole n with more digits than T has: the first part of log(2) has
// so few that its product with n is exact.
template <typename T>
constexpr SplitConstant<T> kLogOf2{sizeof(T) == 4 ? T(0.693145751953125) : T(0.69314718055966295),
                                   sizeof(T) == 4 ? T(1.4286067653e-06) : T(2.8235290563031577e-13)};

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
  if constexpr (sizeof(T) == 4) {
    constexpr T terms[] = {1.395069986e-03f, 8.369024782e-03f, 4.166620263e-02f, 1.666651771e-01f, 5.000000096e-01f};
    power.tail = hn::Mul(square, polynomial(d, r, terms));
  } else {
    constexpr T terms[] = {2.51181118110534718e-08, 2.76315615424099077e-07, 2.75572155160024362e-06,
                           2.48014892009863896e-05, 1.98412699182533319e-04, 1.38888889476806087e-03,
                           8.33333333330680756e-03, 4.16666666665131066e-02, 1.66666666666666990e-01,
                           5.00000000000001332e-01};
    power.tail = hn::Mul(square, polynomial(d, r, terms));
  }
  if constexpr (kMoreDigits) {
    const V lost = hn::NegMulAdd(power.n, hn::Set(d, kLogOf2<T>.low), hn::Sub(high, r));
    power.tail = hn::Add(power.tail, lost);
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
  return hn::IfThenElse(hn::And(hn::Eq(x, x), hn::Ne(x, hn::Zero(d))), result, x);  // -0 stays
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

// log(1 + x) for x in [0, 1], as of exp(-|y|).
template <typename D, typename V>
HWY_INLINE HWY_ATTR V log1p_of_fraction(D d, V x) {
  using T = hn::TFromD<D>;
  // With s = x / (2 + x): 2 atanh(s) = 2 s + s^3 (2/3 + ...), and 2 s = x - s x.
  const V s = hn::Div(x, hn::Add(x, hn::Set(d, T(2))));
  const V square = hn::Mul(s, s);
  V terms_of_square;
  if constexpr (sizeof(T) == 4) {
    constexpr T terms[] = {2.430168210e-01f, 2.142747754e-01f, 2.861689948e-01f, 3.999887729e-01f, 6.666667563e-01f};
    terms_of_square = polynomial(d, square, terms);
  } else {
    constexpr T terms[] = {1.60570509766450931e-01, 5.79691157139685942e-02, 1.00944314118017783e-01,
                           1.04556567677519155e-01, 1.17705327557940248e-01, 1.33330064607470017e-01,
                           1.53846278406881920e-01, 1.81818178662201263e-01, 2.22222222273032122e-01,
                           2.85714285713806970e-01, 4.00000000000002243e-01, 6.66666666666666630e-01};
    terms_of_square = polynomial(d, square, terms);
  }
  return hn::NegMulAdd(s, hn::NegMulAdd(square, terms_of_square, x), x);
}

// log(1 + x) in float64 for finite x above -1: the logarithm of the sum, and what the sum lost.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V log1p_in_double(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V sum = hn::Add(one, x);
  const V result = hn::Add(hn::Log(d, sum), hn::Div(hn::Sub(x, hn::Sub(sum, one)), sum));
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, result);  // -0 stays
}

// log of positive normal numbers.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V log_vector(D d, V x) {
#if TORCH_FUSED_PRODUCTS
  if constexpr (sizeof(hn::TFromD<D>) == 4) return float_log<BaseE, false>(d, x);
#endif
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 8) {
    return hn::Log(d, x);
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

// A polynomial near 0, 1 - 2 / (exp(2 |x|) + 1) elsewhere.
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
  const auto power = exp_parts(d, hn::Min(hn::Add(magnitude, magnitude), hn::Set(d, T(sizeof(T) == 4 ? 40 : 80))));
  const V exponential = power.scale_normal(d, power.one_and_rest(d));
  const V large = hn::Sub(one, hn::Div(hn::Set(d, T(2)), hn::Add(exponential, one)));
  const V result = hn::CopySign(hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, T(0.625))), small, large), x);
  return hn::IfThenElse(hn::Eq(x, x), result, x);
}

// exp(x^2) erfc(x) for x >= 0, in float64: a polynomial in (x - k) / (x + k). `Digits` is 24 or 53.
template <int Digits, typename D, typename V>
HWY_INLINE HWY_ATTR V erfcx_vector(D d, V x) {
  if constexpr (Digits == 24) {
    constexpr double terms[] = {4.55102695548271113e-06,  -3.10208984780627198e-05, -1.14476801440721072e-04,
                                2.29459860233245612e-04,  8.69807633491015831e-04,  -2.64312754961391633e-03,
                                -3.99247253756286700e-03, 3.99226529766277607e-02,  -1.25033159521708376e-01,
                                2.51713189273071736e-01,  -3.71736731269338871e-01, 2.10806364059754364e-01};
    const V k = hn::Set(d, 2.5);
    return polynomial(d, hn::Div(hn::Sub(x, k), hn::Add(x, k)), terms);
  } else {
    constexpr double terms[] = {
        4.35644202995565934e-10,  1.57620014943556549e-09,  -3.11086725659652383e-09, -1.49327435657970211e-08,
        2.64844108545944095e-08,  9.59968570138514173e-08,  -2.85046821511932351e-07, -4.08632791745703441e-07,
        2.94505785027944355e-06,  -1.90325582198131943e-06, -2.25562164509762041e-05, 7.89831969152024997e-05,
        -2.17616795612774831e-05, -7.99126816899088459e-04, 4.06026361792874782e-03,  -1.28439460309414336e-02,
        3.12990565191839654e-02,  -6.31078156397669732e-02, 1.08963177398884226e-01,  -1.64257816697308046e-01,
        2.18719678918265215e-01,  -2.59068048760171643e-01, 1.36999457625061383e-01};
    const V k = hn::Set(d, 4.0);
    return polynomial(d, hn::Div(hn::Sub(x, k), hn::Add(x, k)), terms);
  }
}

// 1 - erf(x) in float64, with the relative accuracy of `Digits` bits where it is small, too.
template <int Digits, typename D, typename V>
HWY_INLINE HWY_ATTR V erfc_in_double(D d, V x) {
  const V magnitude = hn::Min(hn::Abs(x), hn::Set(d, Digits == 24 ? 10.5 : 28.0));  // 0 from here on
  const V square = hn::Mul(magnitude, magnitude);
  V exponential = exp_vector(d, hn::Neg(square));
  if constexpr (Digits == 53) {  // what the square lost
    exponential = hn::NegMulAdd(exponential, hn::MulSub(magnitude, magnitude, square), exponential);
  }
  const V right = hn::Mul(exponential, erfcx_vector<Digits>(d, magnitude));
  const V result = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2.0), right), right);
  return hn::IfThenElse(hn::Eq(x, x), result, x);
}

// erf. float32: polynomials of erf(x)/x - 1 in x^2 below 0.92 and of -log(1 - erf(x)) above. float64: by erfc.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V erf_vector(D d, V x) {
#if TORCH_FUSED_PRODUCTS
  if constexpr (sizeof(hn::TFromD<D>) == 4) return float_erf(d, x);
#endif
  using T = hn::TFromD<D>;
  const V magnitude = hn::Abs(x);
  V small;
  V large;
  if constexpr (sizeof(T) == 4) {
    constexpr T near_zero[] = {8.377591245e-05f, -8.145078072e-04f, 5.201304797e-03f, -2.685953911e-02f,
                               1.128369873e-01f, -3.761263400e-01f, 1.283791671e-01f};
    constexpr T tail[] = {4.561424368e-07f, 1.521687287e-05f, -4.020367760e-04f, 4.071010548e-03f, -2.493044823e-02f,
                          1.080562001e-01f, 6.335095005e-01f, 1.129448700e+00f,  -1.630896363e-04f};
    small = hn::MulAdd(polynomial(d, hn::Mul(x, x), near_zero), x, x);
    const V bounded = hn::Min(magnitude, hn::Set(d, T(4)));  // erf(4) rounds to 1
    const auto power = exp_parts(d, hn::Neg(polynomial(d, bounded, tail)));
    large =
        hn::Sub(hn::Set(d, T(1)), power.scale_normal(d, hn::Add(hn::Add(hn::Set(d, T(1)), power.rest), power.tail)));
  } else {
    constexpr T near_zero[] = {-8.84034149827389302e-10, 1.41908299912543252e-08,  -1.63007098022439924e-07,
                               1.64576972336942680e-06,  -1.49254513398608543e-05, 1.20553269803747929e-04,
                               -8.54832690408706040e-04, 5.22397762393538717e-03,  -2.68661706450189428e-02,
                               1.12837916709546932e-01,  -3.76126389031837483e-01, 1.28379167095512586e-01};
    small = hn::MulAdd(polynomial(d, hn::Mul(x, x), near_zero), x, x);
    const V bounded = hn::Min(magnitude, hn::Set(d, 6.0));
    const V square = hn::Mul(bounded, bounded);
    const auto power = exp_parts(d, hn::Neg(square));
    large = hn::NegMulAdd(power.scale_normal(d, power.one_and_rest(d)), erfcx_vector<53>(d, bounded), hn::Set(d, 1.0));
  }
  const V result =
      hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, T(sizeof(T) == 4 ? 0.92 : 0.85))), small, hn::CopySign(large, x));
  return hn::IfThenElse(hn::Eq(x, x), result, x);
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
  large = rest_of_quotient(d, large, divisor, hn::Trunc(hn::Div(large, divisor)));
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
