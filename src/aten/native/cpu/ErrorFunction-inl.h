// The error function and its kin, of vectors. Included once per instruction set, as VectorMath-inl.h is, and fitted as
// its polynomials are.

#if defined(TORCH_ERROR_FUNCTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_ERROR_FUNCTION_INL_H_
#undef TORCH_ERROR_FUNCTION_INL_H_
#else
#define TORCH_ERROR_FUNCTION_INL_H_
#endif

#include <aten/native/cpu/VectorMath-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

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
// The same with some digits more, for x up to 28: a polynomial in (x - 3.5) / (x + 3.5) over 1 + 2 x. The quotient, as
// it is rounded, belongs to a number beside x, from which y' = 2 x y - 2 / sqrt(pi) leads to x.
template <typename D, typename V>
HWY_INLINE HWY_ATTR Pair<V> erfcx_pair(D d, V x) {
  constexpr double terms[] = {
      2.67544987998901606e-09, 1.10558443439999717e-08, -8.35757314655777876e-09, -9.52712302713676317e-08,
      4.97415692985151559e-09, 6.03460732331689936e-07, -5.48072651974558050e-08, -3.81709471383256143e-06,
      2.33370717453670524e-06, 2.42622928920019582e-05, -4.27840134104559892e-05, -1.21512850956373466e-04,
      5.64384799267813740e-04, -3.02267793043990880e-04, -4.21501995943104890e-03, 1.90993309325547013e-02,
      -4.88233258237527612e-02, 8.79831538254887829e-02, -1.15089598160366305e-01, 9.75190951532408229e-02,
      -1.05555963322153737e-02, -1.40009180137619260e-01};
  const V k = hn::Set(d, 3.5);
  const Pair<V> top = add(x, hn::Neg(k));
  const Pair<V> bottom = add(x, k);
  const V t = hn::Div(top.high, bottom.high);
  const V t_lost = hn::Add(hn::NegMulAdd(t, bottom.high, top.high), hn::NegMulAdd(t, bottom.low, top.low));
  const V x_lost = hn::Mul(hn::Mul(t_lost, bottom.high), hn::Set(d, 1 / 7.0));
  const Pair<V> product = multiply(t, polynomial(d, t, terms));
  Pair<V> sum = add_smaller(hn::Set(d, 1.24234924487115439), product.high);
  sum.low = hn::Add(sum.low, hn::Add(product.low, hn::Set(d, -1.87809752962097329e-17)));
  const V twice = hn::Add(x, x);
  Pair<V> divisor = add(hn::Set(d, 1.0), twice);
  divisor.low = hn::NegMulAdd(x_lost, hn::Set(d, 2.0), divisor.low);
  Pair<V> result = divide(sum, divisor);
  result.low = hn::MulAdd(x_lost, hn::MulSub(twice, result.high, hn::Set(d, 1.1283791670955126)), result.low);
  return result;
}
// erf(x) / x - 1 for |x| up to 1, in float64.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V erf_slope_less_one(D d, V x) {
  constexpr double terms[] = {-7.77946297176159706e-10, 1.37109887041905227e-08,  -1.62063187529692083e-07,
                              1.64471326997866215e-06,  -1.49247124395348144e-05, 1.20552935869369502e-04,
                              -8.54832592976624431e-04, 5.22397760613084201e-03,  -2.68661706431134149e-02,
                              1.12837916709442002e-01,  -3.76126389031835207e-01, 1.28379167095512559e-01};
  const Pair<V> square = multiply(x, x);
  return hn::MulAdd(square.low, hn::Set(d, -0.25), polynomial(d, square.high, terms));  // about its slope near 1
}

// 1 - erf(x) in float64, with its relative accuracy where it is small, too.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V erfc_in_double(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V zero = hn::Zero(d);
  const V magnitude = hn::Min(hn::Abs(x), hn::Set(d, 28.0));  // 0 from here on
  const Pair<V> square = multiply(magnitude, magnitude);
  auto power = exp_parts(d, hn::Neg(square.high));
  power.tail = hn::Add(power.tail, hn::NegMulAdd(square.low, power.rest, hn::Neg(square.low)));
  const Pair<V> right = multiply(power.mantissa(d), erfcx_pair(d, magnitude));
  const V high = power.scale(d, hn::Add(right.high, right.low));
  const Pair<V> left = add_smaller(hn::Set(d, 2.0), hn::Neg(power.scale(d, right.high)));
  const V outside =
      hn::IfThenElse(hn::Lt(x, zero), hn::Add(left.high, hn::Sub(left.low, power.scale(d, right.low))), high);
  // Beside 0 what erf is less than 1.
  const Pair<V> most = add_smaller(one, hn::Neg(x));
  const V inside = hn::Add(most.high, hn::NegMulAdd(erf_slope_less_one(d, x), x, most.low));
  const V result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.5)), inside, outside);
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
    small = hn::MulAdd(erf_slope_less_one(d, x), x, x);
    const V bounded = hn::Min(magnitude, hn::Set(d, 6.0));
    const Pair<V> square = multiply(bounded, bounded);
    auto power = exp_parts(d, hn::Neg(square.high));
    power.tail = hn::Sub(power.tail, square.low);
    large = hn::NegMulAdd(power.scale_normal(d, power.one_and_rest(d)), erfcx_vector<53>(d, bounded), hn::Set(d, 1.0));
  }
  const V result =
      hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, T(sizeof(T) == 4 ? 0.92 : 0.95))), small, hn::CopySign(large, x));
  return hn::IfThenElse(hn::Eq(x, x), result, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
