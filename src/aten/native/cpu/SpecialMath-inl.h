// Functions of the normal distribution's kin, and logarithms of every number, of vectors of float64; of the gamma
// function's and Bessel's kin see SpecialGamma-inl.h and SpecialBessel-inl.h. Included once per instruction set, as
// VectorMath-inl.h is, and fitted as its polynomials are.

#if defined(TORCH_SPECIAL_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_SPECIAL_MATH_INL_H_
#undef TORCH_SPECIAL_MATH_INL_H_
#else
#define TORCH_SPECIAL_MATH_INL_H_
#endif

#include <aten/native/ScalarFormulas.h>
#include <aten/native/cpu/DoubleMath-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr double kEndless = special::kInfinity;

// Logarithms stand in the library once, not in each function.
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V log_of_positive(D d, V x) {
  return precise_log(d, x);
}
// log of every number.
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V log_of_any(D d, V x) {
  const V result = log_of_positive(d, x);
  const V zero = hn::Zero(d);
  const auto plain = hn::And(hn::Gt(x, zero), hn::Lt(x, hn::Set(d, kEndless)));
  if (HWY_LIKELY(hn::AllTrue(d, plain))) return result;
  const V beyond = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, special::kNaN), x);
  return hn::IfThenElse(plain, result, hn::IfThenElse(hn::Eq(x, zero), hn::Set(d, -kEndless), beyond));
}
// log(1 + x) of every number.
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V log1p_of_any(D d, V x) {
  const V result = log1p_in_double(d, x);
  const V sum = hn::Add(hn::Set(d, 1.0), x);
  const auto plain = hn::And(hn::Gt(sum, hn::Zero(d)), hn::Lt(sum, hn::Set(d, kEndless)));
  if (HWY_LIKELY(hn::AllTrue(d, plain))) return result;
  return hn::IfThenElse(plain, result, log_of_any(d, sum));
}

// What is between x and the nearest whole number, and of pi times that the sine, over pi, and the cosine.
template <typename D>
struct WholeTurns {
  using V = hn::Vec<D>;
  V rest;
  V sine_over_pi;
  V cosine;

  HWY_INLINE HWY_ATTR WholeTurns(D d, V x) {
    constexpr double sines[] = {2.45029436245597928e-07, -6.97209966085119924e-06, 1.48427841418910289e-04,
                                -2.34608089546396075e-03, 2.61478478055509611e-02, -1.90751824121496161e-01,
                                8.11742425283339286e-01, -1.64493406684822641e+00, 1.0};
    constexpr double cosines[] = {4.14956435394258569e-06, -1.04566553387487379e-04, 1.92955627248171321e-03,
                                  -2.58068887370022024e-02, 2.35330630129532842e-01, -1.33526276884344708e+00,
                                  4.05871212641649670e+00, -4.93480220054467633e+00, 1.0};
    rest = hn::Sub(x, hn::Round(x));
    const V square = hn::Mul(rest, rest);
    sine_over_pi = hn::Mul(rest, polynomial(d, square, sines));
    cosine = polynomial(d, square, cosines);
  }
};

struct SincOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V result = hn::Div(WholeTurns<D>(d, x).sine_over_pi, x);
    const V half = hn::Mul(hn::Round(x), hn::Set(d, 0.5));
    const auto is_odd = hn::Ne(hn::Round(half), half);
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, 1.0), hn::IfThenElse(is_odd, hn::Neg(result), result));
  }
};

struct EntrOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V zero = hn::Zero(d);
    const V edge = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, -kEndless), hn::Add(x, zero));  // of -0 it is 0
    const auto is_right = hn::Gt(x, zero);
    if (HWY_UNLIKELY(hn::AllFalse(d, is_right))) return edge;
    return hn::IfThenElse(is_right, hn::Mul(hn::Neg(x), log_of_any(d, x)), edge);
  }
};
// a log(b), or a log(1 + b): 0 where a is, unless b is NaN.
template <bool kFromOne>
struct XlogyOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    const V product = hn::Mul(a, kFromOne ? log1p_of_any(d, b) : log_of_any(d, b));
    const V result = hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::Zero(d), product);
    return hn::IfThenElse(hn::Eq(b, b), result, b);
  }
};

// exp(x^2) erfc(x) for x >= 0.
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V erfcx_of_positive(D d, V x) {
  constexpr double series[] = {-135135.0, 10395.0, -945.0, 105.0, -15.0, 3.0, -1.0, 1.0};
  const V most = hn::Set(d, 26.0);
  const auto is_near = hn::Le(x, most);
  V far = x;
  if (HWY_UNLIKELY(!hn::AllTrue(d, is_near))) {
    const V s = hn::Div(hn::Set(d, 0.5), hn::Mul(x, x));
    far = hn::Div(polynomial(d, s, series), hn::Mul(x, hn::Set(d, special::kSqrtPi)));
    if (hn::AllFalse(d, is_near)) return far;
  }
  const Pair<V> near = erfcx_pair(d, hn::Min(x, most));
  return hn::IfThenElse(is_near, hn::Add(near.high, near.low), far);
}
// exp(scale x^2), with what the square loses; scale is a power of two, or less than 0 one.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V exp_of_square(D d, V x, double scale) {
  const V factor = hn::Set(d, scale);
  const V square = hn::Mul(x, x);
  const V lost = hn::Mul(factor, hn::MulSub(x, x, square));
  const V result = exp_vector(d, hn::Mul(factor, square));
  return hn::IfThenElse(hn::Lt(result, hn::Set(d, kEndless)), hn::MulAdd(result, lost, result), result);
}
struct ErfcxOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V right = erfcx_of_positive(d, hn::Abs(x));
    const auto is_left = hn::Lt(x, hn::Zero(d));
    if (HWY_LIKELY(hn::AllFalse(d, is_left))) return right;
    const V power = exp_of_square(d, hn::Min(hn::Abs(x), hn::Set(d, 30.0)), 1);
    return hn::IfThenElse(is_left, hn::Sub(hn::Add(power, power), right), right);
  }
};
// With the digits of float32.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V exp_of_floats(D d, V x) {
#if HWY_TARGET == HWY_SCALAR
  return exp_vector(d, x);
#else
  return short_exp(d, bounded_exponent(d, x));
#endif
}
struct ErfcxOfFloats {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V magnitude = hn::Abs(x);
    const V most = hn::Set(d, 10.5);
    V right = erfcx_vector<24>(d, hn::Min(most, magnitude));  // NaN stays
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Gt(x, most)))) {
      right = hn::IfThenElse(hn::Gt(x, most), erfcx_of_positive(d, magnitude), right);
    }
    const auto is_left = hn::Lt(x, hn::Zero(d));
    if (hn::AllFalse(d, is_left)) return right;
    const V power = exp_of_floats(d, hn::Mul(x, x));
    return hn::IfThenElse(is_left, hn::Sub(hn::Add(power, power), right), right);
  }
};
struct LogNdtrOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V half = hn::Set(d, 0.5);
    const V size = hn::Mul(hn::Abs(x), hn::Set(d, 1 / special::kSqrt2));
    const V tail = hn::Mul(half, erfcx_of_positive(d, size));
    const auto is_left = hn::Lt(x, hn::Zero(d));
    const V left = hn::NegMulAdd(hn::Mul(x, half), x, log_of_any(d, tail));
    const V power = exp_of_square(d, hn::Min(hn::Abs(x), hn::Set(d, 50.0)), -0.5);
    const V right = log1p_of_any(d, hn::Neg(hn::Mul(power, tail)));
    return hn::IfThenElse(hn::Eq(x, x), hn::IfThenElse(is_left, left, right), x);
  }
};

// special::normal_quantile in vectors.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V evaluate(D d, const special::Quotient& quotient, V x) {
  const auto sum = [&](const double (&terms)[8]) HWY_ATTR {
    V result = hn::Set(d, terms[7]);
    for (int i = 6; i >= 0; --i) result = hn::MulAdd(result, x, hn::Set(d, terms[i]));
    return result;
  };
  return hn::Div(sum(quotient.top), sum(quotient.bottom));
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V normal_quantile(D d, V center, V tail) {
  const V square = hn::NegMulAdd(center, center, hn::Set(d, 0.180625));
  const V middle = hn::Mul(center, evaluate(d, special::quantile_in_the_middle(), square));
  const auto is_middle = hn::Le(hn::Abs(center), hn::Set(d, 0.425));
  if (hn::AllTrue(d, is_middle)) return middle;
  const V r = hn::Sqrt(hn::Neg(log_of_positive(d, tail)));
  V side = evaluate(d, special::quantile_beside_it(), hn::Sub(r, hn::Set(d, 1.6)));
  const V five = hn::Set(d, 5.0);
  const auto is_far = hn::Gt(r, five);
  if (HWY_UNLIKELY(!hn::AllFalse(d, is_far))) {
    side = hn::IfThenElse(is_far, evaluate(d, special::quantile_far_off(), hn::Sub(r, five)), side);
  }
  return hn::IfThenElse(is_middle, middle, hn::CopySign(side, center));
}
struct NdtriOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V p) const {
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0);
    const V center = hn::Sub(p, hn::Set(d, 0.5));
    const auto is_inside = hn::And(hn::Gt(p, zero), hn::Lt(p, one));
    const auto is_end = hn::Or(hn::Eq(p, zero), hn::Eq(p, one));
    const V end = hn::IfThenElse(is_end, hn::CopySign(hn::Set(d, kEndless), center), hn::Set(d, special::kNaN));
    if (HWY_UNLIKELY(hn::AllFalse(d, is_inside))) return end;
    return hn::IfThenElse(is_inside, normal_quantile(d, center, hn::Min(p, hn::Sub(one, p))), end);
  }
};
// With the digits of float32.
struct ErfinvOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const V half = hn::Set(d, 0.5);
    const V magnitude = hn::Abs(x);
    const V quantile = normal_quantile(d, hn::Mul(half, x), hn::Mul(half, hn::Sub(one, magnitude)));
    const V result = hn::Mul(quantile, hn::Set(d, 1 / special::kSqrt2));
    const auto is_inside = hn::Lt(magnitude, one);
    if (HWY_LIKELY(hn::AllTrue(d, is_inside))) return result;
    const V end = hn::IfThenElse(hn::Eq(magnitude, one), hn::CopySign(hn::Set(d, kEndless), x),
                                 hn::Set(d, special::kNaN));
    return hn::IfThenElse(is_inside, result, end);
  }
};

// With the digits of float64: a guess of six digits, and a step of the third order, for which erf(guess) - x has twice
// float64's digits. Two functions: in a loop of their own guesses, and then steps, wait less for each other.
struct ErfinvOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V guess(D d, V given) {
    constexpr double guesses[] = {-5.43062558555134894e-09,
                                  -4.23488771265511905e-09, 4.47567189705404166e-07, -1.88713385850738957e-06,
                                  -1.27031858899873310e-05, 1.95486459857328816e-04, -8.36206385804445177e-04,
                                  -5.73859886089788263e-03, 2.41630416189485275e-01, 1.62354208818725465e+00};
    constexpr double far_guesses[] = {-3.96502054761783371e-06,
                                      2.40449653829509022e-05, -5.22550476025618733e-05, 5.60863340774963640e-05,
                                      -9.06012210540718525e-05, 3.14329490057190972e-04, -8.83814259345389801e-04,
                                      1.26320697615290504e-03, 1.00949554159247556e+00, 3.83978358782358731e+00};
    const V one = hn::Set(d, 1.0);
    const V x = inside(d, given).x;
    const V tail = hn::Sub(one, x);  // exact from 1/2 on
    const V width = short_log(d, hn::Mul(tail, hn::Add(one, x)));
    const auto is_far = hn::Gt(width, hn::Set(d, 5.83));
    const bool has_far = !hn::AllFalse(d, is_far);
    V ratio = polynomial_in_halves(d, hn::Sub(width, hn::Set(d, 3.0)), guesses);
    if (HWY_UNLIKELY(has_far)) {
      const V far = polynomial(d, hn::Sub(hn::Sqrt(width), hn::Set(d, 4.0)), far_guesses);
      ratio = hn::IfThenElse(is_far, far, ratio);
    }
    return hn::Mul(x, ratio);
  }

  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V improve(D d, V given, V y) {
    const V one = hn::Set(d, 1.0);
    const auto [x, scaled, is_tiny] = inside(d, given);
    V result = hn::Sub(y, excess(d, y, {x, hn::Zero(d)}, hn::Sub(one, x)));
    result = hn::IfThenElse(is_tiny, hn::Mul(result, hn::Set(d, 0x1p-200)), result);
    result = hn::CopySign(result, given);
    const V end =
        hn::IfThenElse(hn::Eq(scaled, one), hn::CopySign(hn::Set(d, kEndless), given), hn::Set(d, special::kNaN));
    return hn::IfThenElse(hn::Lt(scaled, one), result, end);
  }

  // How much y, up to 26, is above the number with erf x, 1 - x being `tail`.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V excess(D d, V y, Pair<V> x, V tail) {
    const V zero = hn::Zero(d);
    // What erf(y) - x is of erf's slope: in the middle by a series, beside it by 1 - erf(y) = exp(-y^2) erfcx(y).
    const Pair<V> square = multiply(y, y);
    auto power = exp_parts(d, square.high);
    power.tail = hn::Add(power.tail, hn::MulAdd(square.low, power.rest, square.low));
    const Pair<V> inverse_slope = power.mantissa(d);
    const auto is_middle = hn::Lt(y, hn::Set(d, 0.875));
    V off = zero;
    if (!hn::AllFalse(d, is_middle)) {
      const Pair<V> value = multiply(erf_ratio(d, square), {y, zero});
      const V difference = hn::Add(hn::Sub(value.high, x.high), hn::Sub(value.low, x.low));
      off = hn::Mul(difference, power.scale_normal(d, inverse_slope.high));
    }
    if (!hn::AllTrue(d, is_middle)) {
      const Pair<V> beside = erfcx_pair(d, y);
      const Pair<V> wanted = multiply(inverse_slope, {power.scale_normal(d, tail), zero});
      const V difference = hn::Add(hn::Sub(wanted.high, beside.high), hn::Sub(wanted.low, beside.low));
      off = hn::IfThenElse(is_middle, off, difference);
    }
    const V step = hn::Mul(off, hn::Set(d, special::kSqrtPi / 2));
    return hn::NegMulAdd(hn::Mul(step, step), y, step);
  }

 private:
  template <typename D>
  struct Inside {
    hn::Vec<D> x;       // what has no result is as 0 until the end: it asks for nothing rare
    hn::Vec<D> scaled;  // so that what rounding takes from products is a number
    hn::Mask<D> is_tiny;
  };
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static Inside<D> inside(D d, V given) {
    const auto is_tiny = hn::Lt(hn::Abs(given), hn::Set(d, 0x1p-800));
    const V scaled = hn::Abs(hn::IfThenElse(is_tiny, hn::Mul(given, hn::Set(d, 0x1p200)), given));
    return {hn::IfThenElseZero(hn::Lt(scaled, hn::Set(d, 1.0)), scaled), scaled, is_tiny};
  }
  // -log(x) to nine digits, for normal x up to 1.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V short_log(D d, V x) {
    constexpr double terms[] = {2.95814479332153768e-01, 3.99887398101136882e-01, 6.66666851768314195e-01};
    const V one = hn::Set(d, 1.0);
    V mantissa;
    const V exponent = split_exponent(d, x, mantissa);
    const V s = hn::Div(hn::Sub(mantissa, one), hn::Add(mantissa, one));
    const V square = hn::Mul(s, s);
    const V log = hn::MulAdd(hn::Mul(square, s), polynomial(d, square, terms), hn::Add(s, s));
    return hn::NegMulSub(exponent, hn::Set(d, 0.69314718055994531), log);
  }
  // erf(y) / y of y^2, for y up to 0.875.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static Pair<V> erf_ratio(D d, Pair<V> square) {
    constexpr double terms[] = {
        3.12729393256445224e-13, -6.38736429323837406e-12, 9.37455903249306453e-11, -1.22857515394165005e-09,
        1.48068572850093290e-08, -1.63658278967521238e-07, 1.64621137590556873e-06, -1.49256503426505803e-05,
        1.20553329815004784e-04, -8.54832702344721258e-04, 5.22397762544215757e-03, -2.68661706451312488e-02};
    constexpr SplitConstant<double> last_terms[] = {{1.12837916709551261e-01, -4.05597793529515468e-18},
                                                    {-3.76126389031837538e-01, 1.33922903429593164e-17},
                                                    {1.12837916709551256e+00, 1.53354589453307219e-17}};
    return add_terms(d, polynomial_in_halves(d, square.high, terms), square, last_terms);
  }
};

// With the digits of float64: as the inverse of erf, times the root of 2, in two loops as well.
struct NdtriOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V guess(D d, V p) {
    return NdtriOfVectors()(d, p);
  }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V improve(D d, V p, V guess) {
    const V one = hn::Set(d, 1.0);
    const V y = hn::Mul(hn::Abs(guess), hn::Set(d, 1 / special::kSqrt2));
    const auto is_improved = hn::Lt(y, hn::Set(d, 26.0));  // also no end, and a number
    if (HWY_UNLIKELY(hn::AllFalse(d, is_improved))) return guess;
    const V inside = hn::IfThenElse(is_improved, p, hn::Set(d, 0.5));
    const V tail = hn::Mul(hn::Min(inside, hn::Sub(one, inside)), hn::Set(d, 2.0));
    const V x = hn::Sub(one, tail);
    const V start = hn::IfThenElseZero(is_improved, y);
    const V off = ErfinvOfDoubles::excess(d, start, {x, hn::Sub(hn::Sub(one, x), tail)}, tail);
    const Pair<V> root{hn::Set(d, 1.4142135623730951), hn::Set(d, -9.667293313452913e-17)};
    const Pair<V> result = multiply(add_smaller(start, hn::Neg(off)), root);
    return hn::IfThenElse(is_improved, hn::CopySign(hn::Add(result.high, result.low), guess), guess);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
