// Functions of float32 by way of float64, which rounds them right but for a few arguments in a thousand million.
// Included once per instruction set, as VectorMath-inl.h is.

#if defined(TORCH_FLOAT_IN_DOUBLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_FLOAT_IN_DOUBLE_INL_H_
#undef TORCH_FLOAT_IN_DOUBLE_INL_H_
#else
#define TORCH_FLOAT_IN_DOUBLE_INL_H_
#endif

#include <aten/native/cpu/ErrorFunction-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
template <typename D, typename V, typename Function, typename... Vectors>
HWY_INLINE HWY_ATTR V in_double(D d, Function function, V x, Vectors... others) {
  const hn::Half<D> half;
  const hn::Rebind<double, decltype(half)> wide;
  const auto low =
      function(wide, hn::PromoteTo(wide, hn::LowerHalf(half, x)), hn::PromoteTo(wide, hn::LowerHalf(half, others))...);
  const auto high =
      function(wide, hn::PromoteTo(wide, hn::UpperHalf(half, x)), hn::PromoteTo(wide, hn::UpperHalf(half, others))...);
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

// exp(x) = 2^n (1 + rest + tail) to 32 bits, and so exp(x) - 1; for |x| up to 700.
template <typename D, typename V>
HWY_INLINE HWY_ATTR PowerOfTwo<D> short_exp_parts(D d, V x) {
  constexpr double terms[] = {1.99139784905101992e-04, 1.39406739955237483e-03, 8.33327347578403065e-03,
                              4.16663603506220795e-02, 1.66666668147713665e-01, 5.00000004429627332e-01};
  auto power = PowerOfTwo<D>::rounded(d, x, 1.4426950408889634);
  power.rest = hn::NegMulAdd(power.n, hn::Set(d, 0.69314718055994530942), x);
  power.tail = hn::Mul(hn::Mul(power.rest, power.rest), polynomial(d, power.rest, terms));
  return power;
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V short_exp(D d, V x) {
  const auto power = short_exp_parts(d, x);
  const V scale = power.scale_normal(d, hn::Set(d, 1.0));
  return hn::MulAdd(scale, hn::Add(power.rest, power.tail), scale);
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V short_expm1(D d, V x) {
  const auto power = short_exp_parts(d, x);
  const V one = hn::Set(d, 1.0);
  const V scale = power.scale_normal(d, one);
  return hn::MulAdd(scale, hn::Add(power.rest, power.tail), hn::Sub(scale, one));
}
// Far outside of what float32 can tell from 0 and infinity, and well inside of what short_exp takes; NaN stays.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V bounded_exponent(D d, V x) {
  return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Set(d, 300.0)), hn::CopySign(hn::Set(d, 300.0), x), x);
}
struct ExpInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return short_exp(d, bounded_exponent(d, x));
  }
};
struct Expm1InDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return hn::CopySign(short_expm1(d, bounded_exponent(d, x)), x);
  }
};
struct TanhInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V power = short_expm1(d, bounded_exponent(d, hn::Abs(hn::Add(x, x))));
    return hn::CopySign(hn::Div(power, hn::Add(power, hn::Set(d, 2.0))), x);
  }
};
struct SinhInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V power = short_expm1(d, bounded_exponent(d, hn::Abs(x)));
    const V twice = hn::Add(power, hn::Div(power, hn::Add(power, hn::Set(d, 1.0))));
    return hn::CopySign(hn::Mul(twice, hn::Set(d, 0.5)), x);
  }
};
struct CoshInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V power = short_exp(d, bounded_exponent(d, hn::Abs(x)));
    return hn::Mul(hn::Add(power, hn::Div(hn::Set(d, 1.0), power)), hn::Set(d, 0.5));
  }
};
struct ErfcInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V magnitude = hn::Min(hn::Set(d, 10.5), hn::Abs(x));  // 0 from here on; NaN stays
    const V right = hn::Mul(short_exp(d, hn::Neg(hn::Mul(magnitude, magnitude))), erfcx_vector<24>(d, magnitude));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2.0), right), right);
  }
};
struct ErfInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double near_zero[] = {8.57459907568298486e-05, -8.18982669763234456e-04, 5.20508471406920352e-03,
                                    -2.68609957391279727e-02, 1.12837237813387295e-01, -3.76126355542359958e-01,
                                    1.28379166825660446e-01};
    const V magnitude = hn::Abs(x);
    const V bounded = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 6.0)), hn::Set(d, 6.0), magnitude);
    const V square = hn::Mul(bounded, bounded);
    const V small = hn::MulAdd(polynomial(d, square, near_zero), magnitude, magnitude);
    const V large = hn::NegMulAdd(short_exp(d, hn::Neg(square)), erfcx_vector<24>(d, bounded), hn::Set(d, 1.0));
    return hn::CopySign(hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0.85)), large, small), x);
  }
};
// log(1 + x) for x in [0, 1].
template <typename D, typename V>
HWY_INLINE HWY_ATTR V short_log1p_of_fraction(D d, V x) {
  constexpr double terms[] = {-1.28049145241970167e-03, 9.08033495495034690e-03,  -3.01709510580628650e-02,
                              6.40055851207879667e-02,  -1.01241720561680792e-01, 1.34264290734750436e-01,
                              -1.64528311629510010e-01, 1.99652926902394501e-01,  -2.49966118726200420e-01,
                              3.33331601287373880e-01,  -4.99999964976259925e-01, 9.99999999882099311e-01};
  return hn::Mul(x, polynomial(d, x, terms));
}
// The sine and the cosine of what is left of x beside multiples of pi / 2; for |x| up to 40000 or so.
template <typename D>
struct Quadrant {
  using Bits = hn::RebindToUnsigned<D>;
  using V = hn::Vec<D>;
  V sine;
  V cosine;
  hn::Vec<Bits> number;

  HWY_INLINE HWY_ATTR static Quadrant of(D d, V x) {
    constexpr double sines[] = {2.71823727193729391e-06, -1.98393271395563598e-04, 8.33332936231203150e-03,
                                -1.66666666414272663e-01};
    constexpr double cosines[] = {2.43896342279570278e-05, -1.38867553280395376e-03, 4.16666230650008518e-02,
                                  -4.99999997229167381e-01};
    const auto quarter = PowerOfTwo<D>::rounded(d, x, 0.63661977236758134308);
    V r = hn::NegMulAdd(quarter.n, hn::Set(d, 1.57079632673412561417), x);
    r = hn::NegMulAdd(quarter.n, hn::Set(d, 6.07710050650619224932e-11), r);
    const V square = hn::Mul(r, r);
    return {hn::CopySign(hn::MulAdd(hn::Mul(polynomial(d, square, sines), square), r, r), r),
            hn::MulAdd(polynomial(d, square, cosines), square, hn::Set(d, 1.0)), quarter.whole};
  }
  // Where bit `which` of the quadrant's number plus `turns` is set.
  template <int which>
  HWY_INLINE HWY_ATTR hn::Mask<D> bit(D d, uint64_t turns = 0) const {
    const Bits bits;
    const auto shifted = hn::ShiftLeft<63 - which>(hn::Add(number, hn::Set(bits, turns)));
    return hn::MaskFromVec(hn::BitCast(d, hn::Sub(hn::Zero(bits), hn::ShiftRight<63>(shifted))));
  }
};
template <int kTurns>  // 0: the sine, 1: the cosine
struct SineInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const auto quadrant = Quadrant<D>::of(d, x);
    const V value = hn::IfThenElse(quadrant.template bit<0>(d, kTurns), quadrant.cosine, quadrant.sine);
    return hn::IfThenElse(quadrant.template bit<1>(d, kTurns), hn::Neg(value), value);
  }
};
struct TanInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const auto quadrant = Quadrant<D>::of(d, x);
    const auto odd = quadrant.template bit<0>(d);
    return hn::Div(hn::IfThenElse(odd, hn::Neg(quadrant.cosine), quadrant.sine),
                   hn::IfThenElse(odd, quadrant.sine, quadrant.cosine));
  }
};
// log(1 + x) if kFromOne, else log(x), in units; for what is positive and normal.
template <typename Unit, bool kFromOne = false>
struct LogInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double terms[] = {5.36289977833766598e-02, -9.90088132131934223e-02, 1.00332131500397603e-01,
                                -9.92284961683681799e-02, 1.10050808336007028e-01, -1.24974849662975895e-01,
                                1.42909871612469208e-01, -1.66669434148725010e-01, 1.99998811373155450e-01,
                                -2.49999940798918491e-01, 3.33333343338201527e-01, -5.00000000294139602e-01,
                                9.99999999985955568e-01};
    const V one = hn::Set(d, 1.0);
    const V argument = kFromOne ? hn::Add(one, x) : x;
    V mantissa;
    const V exponent = split_exponent(d, argument, mantissa);
    const V f = hn::Sub(mantissa, one);
    const V log = hn::Mul(f, polynomial(d, f, terms));
    const V whole = hn::MulAdd(log, hn::Set(d, Unit::kOfE), hn::Mul(exponent, hn::Set(d, Unit::kOf2)));
    if (!kFromOne) return whole;
    return hn::CopySign(hn::Add(whole, hn::Sub(x, hn::Sub(argument, one))), x);  // with what 1 + x lost of a small x
  }
};
struct UnitE {
  static constexpr double kOfE = 1, kOf2 = 0.69314718055994530942;
};
struct Unit2 {
  static constexpr double kOfE = 1.4426950408889634074, kOf2 = 1;
};
struct Unit10 {
  static constexpr double kOfE = 0.43429448190325182765, kOf2 = 0.30102999566398119521;
};
using Log1pInDouble = LogInDouble<UnitE, true>;
using Log2InDouble = LogInDouble<Unit2>;
using Log10InDouble = LogInDouble<Unit10>;
// The angle of (x, y), for every pair.
struct Atan2InDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V y, V x) const {
    constexpr double terms[] = {4.49193269743401464e-04,  -3.37721772480996125e-03, 1.19109817937911883e-02,
                                -2.67458569568248435e-02, 4.43668052483706457e-02,  -6.06867776746952761e-02,
                                7.51537805124246894e-02,  -9.05495301923723989e-02, 1.11063696548006866e-01,
                                -1.42853433447546446e-01, 1.99999853332443300e-01,  -3.33333331302163693e-01};
    const V width = hn::Abs(x);
    const V height = hn::Abs(y);
    const V larger = hn::Max(width, height);
    const V smaller = hn::Min(width, height);
    V t = hn::IfThenElseZero(hn::Gt(smaller, hn::Zero(d)), hn::Div(smaller, larger));
    t = hn::IfThenElse(hn::Gt(smaller, hn::Set(d, std::numeric_limits<double>::max())), hn::Set(d, 1.0), t);
    const V square = hn::Mul(t, t);
    V angle = hn::MulAdd(hn::Mul(polynomial(d, square, terms), square), t, t);
    angle = hn::IfThenElse(hn::Gt(height, width), hn::Sub(hn::Set(d, 1.5707963267948966), angle), angle);
    const auto left = hn::Lt(hn::CopySign(hn::Set(d, 1.0), x), hn::Zero(d));
    angle = hn::CopySign(hn::IfThenElse(left, hn::Sub(hn::Set(d, 3.141592653589793), angle), angle), y);
    return hn::IfThenElse(hn::And(hn::Eq(x, x), hn::Eq(y, y)), angle, hn::Add(x, y));
  }
};
struct AtanInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return Atan2InDouble()(d, x, hn::Set(d, 1.0));
  }
};
// The other leg of a right triangle with hypotenuse 1; NaN where there is none.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V other_leg(D d, V x) {
  const V one = hn::Set(d, 1.0);
  return hn::Sqrt(hn::Mul(hn::Sub(one, x), hn::Add(one, x)));
}
struct AsinInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return Atan2InDouble()(d, x, other_leg(d, x));
  }
};
struct AcosInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return Atan2InDouble()(d, other_leg(d, x), x);
  }
};
#endif  // HWY_SCALAR

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
  const auto log = LogInDouble<UnitE>()(wide, hn::PromoteTo(wide, base));
  const auto product = hn::Mul(log, hn::PromoteTo(wide, exponent));
  return hn::DemoteTo(d, short_exp(wide, bounded_exponent(wide, product)));
}

// base^exponent for float32, at most 1 ulp off.
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
  return signed_power(d, base, exponent, hn::Combine(d, high, low), plain);
}

#endif  // HWY_SCALAR

// Of float32 `in_float` where there are fused products, else `Function` in float64; of float64 `otherwise`.
#undef TORCH_OF_FLOATS
#if TORCH_FUSED_PRODUCTS
#define TORCH_OF_FLOATS(in_float, Function, otherwise) \
  float_or_double(d, x, [](auto d, auto x) HWY_ATTR { return in_float; }, \
                  [](auto d, auto x) HWY_ATTR { return otherwise; })
template <typename D, typename V, typename InFloat, typename Otherwise>
HWY_INLINE HWY_ATTR V float_or_double(D d, V x, const InFloat& in_float, const Otherwise& otherwise) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) return in_float(d, x);
  else return otherwise(d, x);
}
#else
#define TORCH_OF_FLOATS(in_float, Function, otherwise) TORCH_IN_DOUBLE(Function, otherwise)
#endif

// `Function` in float64 for float32, `otherwise` for float64 and without vectors.
#undef TORCH_IN_DOUBLE
#if HWY_TARGET == HWY_SCALAR
#define TORCH_IN_DOUBLE(Function, otherwise) (otherwise)
#else
#define TORCH_IN_DOUBLE(Function, otherwise) in_float_or_double(d, Function(), x, [&]() HWY_ATTR { return otherwise; })
template <typename Function, typename D, typename V, typename Otherwise>
HWY_INLINE HWY_ATTR V in_float_or_double(D d, Function function, V x, const Otherwise& otherwise) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) return in_double(d, function, x);
  else return otherwise();
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
