// Functions of vectors of float64, within about 0.6 units of the last place: what rounding takes is carried along where
// it counts. They need fused products; without (TORCH_FUSED_PRODUCTS), callers take the C library's. Included once per
// instruction set, as VectorMath-inl.h is, and fitted as its polynomials are.

#if defined(TORCH_DOUBLE_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_DOUBLE_MATH_INL_H_
#undef TORCH_DOUBLE_MATH_INL_H_
#else
#define TORCH_DOUBLE_MATH_INL_H_
#endif

#include <aten/native/cpu/MathLoops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// A polynomial of the sum of two numbers: what the second one changes is by the slope.
template <typename D, typename V, size_t N>
HWY_INLINE HWY_ATTR V polynomial(D d, Pair<V> x, const double (&terms)[N]) {
  V result = hn::Set(d, terms[0]);
  V slope = hn::Zero(d);
  for (size_t i = 1; i < N; ++i) {
    slope = hn::MulAdd(slope, x.high, result);
    result = hn::MulAdd(result, x.high, hn::Set(d, terms[i]));
  }
  return hn::MulAdd(slope, x.low, result);
}
// A polynomial in two halves, of even and of odd powers, which do not wait for each other; highest power first.
template <typename D, typename V, size_t N>
HWY_INLINE HWY_ATTR V polynomial_in_halves(D d, V x, const double (&terms)[N]) {
  const V square = hn::Mul(x, x);
  V first = hn::Set(d, terms[0]);
  V second = hn::Set(d, terms[1]);
  for (size_t i = 2; i < N; i += 2) first = hn::MulAdd(first, square, hn::Set(d, terms[i]));
  for (size_t i = 3; i < N; i += 2) second = hn::MulAdd(second, square, hn::Set(d, terms[i]));
  return N % 2 == 1 ? hn::MulAdd(second, x, first) : hn::MulAdd(first, x, second);
}

#if TORCH_FUSED_PRODUCTS
constexpr double kLargestAngle64 = 500000;  // up to which multiples of three parts of pi / 2 leave all digits

// x = n pi / 2 + r + low for every finite x; n modulo 4.
template <typename D, typename V>
HWY_INLINE HWY_ATTR AngleRest<D> rest_of_angle(D d, V x) {
  const auto quarter = PowerOfTwo<D>::rounded(d, x, 0.63661977236758134308);
  // The first two parts times n are exact.
  const V first = hn::NegMulAdd(quarter.n, hn::Set(d, 1.5707963267341256), x);
  const V product = hn::Mul(quarter.n, hn::Set(d, 6.077100506303966e-11));
  const V high = hn::Sub(first, product);
  const V lost = hn::Sub(hn::Sub(first, high), product);
  const Pair<V> r = add_smaller(high, hn::NegMulAdd(quarter.n, hn::Set(d, 2.0222662487959506e-21), lost));
  const hn::RebindToSigned<D> bits;
  AngleRest<D> rest{r.high, r.low, hn::BitCast(bits, quarter.whole)};
  const V magnitude = hn::Abs(x);
  const V largest = hn::Set(d, kLargestAngle64);
  const auto is_large =
      hn::And(hn::Gt(magnitude, largest), hn::Le(magnitude, hn::Set(d, std::numeric_limits<double>::max())));
  if (HWY_UNLIKELY(!hn::AllFalse(d, is_large))) {
    const auto far = rest_of_double_angle(d, hn::IfThenElse(is_large, x, largest));
    rest = {hn::IfThenElse(is_large, far.r, rest.r), hn::IfThenElse(is_large, far.low, rest.low),
            hn::IfThenElse(hn::RebindMask(bits, is_large), far.n, rest.n)};
  }
  return rest;
}
#endif

// The sine and the cosine of every number, and what rounding took from the sine.
template <typename D>
struct SineAndCosine {
  hn::Vec<D> sine;
  hn::Vec<D> cosine;
  hn::Vec<D> sine_low;
};
template <typename D, typename V>
HWY_INLINE HWY_ATTR SineAndCosine<D> sine_and_cosine(D d, V x) {
#if TORCH_FUSED_PRODUCTS
  constexpr double sines[] = {1.58967957134895630e-10, -2.50507581156981884e-08, 2.75573136919155513e-06,
                              -1.98412698298077779e-04, 8.33333333332241313e-03};
  constexpr double sixth = -1.66666666666666324e-01;
  constexpr double cosines[] = {-1.13596480422715987e-11, 2.08757232781322345e-09, -2.75573143523721733e-07,
                                2.48015872894823402e-05, -1.38888888888741248e-03, 4.16666666666666019e-02};
  const auto [r, low, n] = rest_of_angle(d, x);
  const V one = hn::Set(d, 1.0);
  const Pair<V> r_square = multiply(r, r);
  const V square = r_square.high;
  const V half = hn::Mul(square, hn::Set(d, 0.5));
  const Pair<V> cube = multiply(r_square, r);
  const Pair<V> third = multiply(cube, hn::Set(d, sixth));
  const Pair<V> two_terms = add_smaller(r, third.high);
  V sine = hn::MulAdd(hn::Mul(cube.high, square), polynomial(d, square, sines), hn::NegMulAdd(low, half, low));
  const Pair<V> sum = add_smaller(two_terms.high, hn::Add(hn::Add(two_terms.low, third.low), sine));
  sine = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, sum.high);
  const V most = hn::Sub(one, half);
  const V lost = hn::NegMulAdd(r, low, hn::NegMulAdd(r_square.low, hn::Set(d, 0.5), hn::Sub(hn::Sub(one, most), half)));
  const Pair<V> other = add_smaller(most, hn::MulAdd(hn::Mul(square, square), polynomial(d, square, cosines), lost));
  const V cosine = other.high;
  const hn::RebindToSigned<D> bits;
  const auto is_odd = hn::MaskFromVec(hn::BitCast(d, hn::BroadcastSignBit(hn::ShiftLeft<63>(n))));
  const auto turned = [&](hn::Vec<hn::RebindToSigned<D>> quarters, V of) HWY_ATTR {
    const auto sign = hn::And(hn::ShiftLeft<62>(quarters), hn::SignBit(bits));
    return hn::BitCast(d, hn::Xor(hn::BitCast(bits, of), sign));
  };
  return {turned(n, hn::IfThenElse(is_odd, cosine, sine)),
          turned(hn::Add(n, hn::Set(bits, 1)), hn::IfThenElse(is_odd, sine, cosine)),
          turned(n, hn::IfThenElse(is_odd, other.low, sum.low))};
#else
  constexpr double kMost = 39000;  // up to which Highway's have their digits
  double (*sine_of)(double) = [](double value) -> double { return std::sin(value); };
  double (*cosine_of)(double) = [](double value) -> double { return std::cos(value); };
  return {patch_outside(d, x, hn::Sin(d, x), -kMost, kMost, sine_of),
          patch_outside(d, x, hn::Cos(d, x), -kMost, kMost, cosine_of), hn::Zero(d)};
#endif
}

// (...(start x + terms[0]) x + ...) + the last term, each greater than what is added to it.
template <typename D, typename V, typename X, size_t N>
HWY_INLINE HWY_ATTR Pair<V> add_terms(D d, V start, X x, const SplitConstant<double> (&terms)[N]) {
  Pair<V> sum{start, hn::Zero(d)};
  for (const auto& term : terms) {
    const Pair<V> rest = multiply(sum, x);
    sum = add_smaller(hn::Set(d, term.high), rest.high);
    sum.low = hn::Add(sum.low, hn::Add(rest.low, hn::Set(d, term.low)));
  }
  return sum;
}

// log of positive numbers, with ten digits more than float64 has.
template <typename D, typename V>
HWY_INLINE HWY_ATTR Pair<V> log_pair(D d, V x) {
  const auto is_small = hn::Lt(x, hn::Set(d, std::numeric_limits<double>::min()));
  const V scaled = hn::IfThenElse(is_small, hn::Mul(x, hn::Set(d, 0x1p54)), x);
  V mantissa;
  const V exponent = hn::Sub(split_exponent(d, scaled, mantissa), hn::IfThenElseZero(is_small, hn::Set(d, 54.0)));
  // With s = (m - 1) / (m + 1): log(m) = 2 s + s^3 (2/3 + ...).
  const V one = hn::Set(d, 1.0);
  const Pair<V> s = divide({hn::Sub(mantissa, one), hn::Zero(d)}, add_smaller(one, mantissa));
  const Pair<V> square = multiply(s, s);
  Pair<V> factor = add_smaller(hn::Set(d, 2.0 / 3), hn::Mul(square.high, polynomial(d, square.high, kAtanhTerms)));
  factor.low = hn::Add(factor.low, hn::Set(d, 3.700743415417188e-17));
  const Pair<V> rest = multiply(s, multiply(square, factor));
  const V whole = hn::Mul(exponent, hn::Set(d, kLogOf2<double>.high));  // exact
  const Pair<V> most = add_smaller(whole, hn::Add(s.high, s.high));
  const Pair<V> sum = add_smaller(most.high, rest.high);
  const V low = hn::MulAdd(exponent, hn::Set(d, kLogOf2<double>.low), hn::Add(hn::Add(s.low, s.low), rest.low));
  return add_smaller(sum.high, hn::Add(hn::Add(most.low, sum.low), low));
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR Pair<V> log_pair(D d, Pair<V> x) {
  Pair<V> log = log_pair(d, x.high);
  log.low = hn::Add(log.low, hn::Div(x.low, x.high));
  return log;
}

// base^exponent for positive finite bases and finite exponents.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V positive_power(D d, V base, V exponent) {
  const Pair<V> log = log_pair(d, base);
  const Pair<V> product = multiply(Pair<V>{exponent, hn::Zero(d)}, log);
  const V bounded = hn::Min(hn::Max(product.high, hn::Set(d, -746.0)), hn::Set(d, 710.0));  // 0 there, and infinity
  auto power = exp_parts(d, bounded);
  const V low = hn::IfThenElseZero(hn::Eq(bounded, product.high), product.low);
  power.tail = hn::MulAdd(low, power.one_and_rest(d), power.tail);
  return power.scale(d, power.one_and_rest(d));
}

// base^exponent for every pair.
struct PowerOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V base, V exponent) const {
    const V magnitude = hn::Abs(base);
    const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    const auto plain = hn::And(hn::And(hn::Gt(magnitude, hn::Zero(d)), hn::Lt(magnitude, infinity)),
                               hn::Lt(hn::Abs(exponent), infinity));
    const V power =
        positive_power(d, hn::IfThenElse(plain, magnitude, hn::Set(d, 1.0)), hn::IfThenElseZero(plain, exponent));
    return signed_power(d, base, exponent, power, plain);
  }
};

// The angle of (x, y) for every pair; `low` is what is beyond the digits of
// that one of |x| and |y| that is a root of 1 - x^2.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V angle_of(D d, V y, V y_low, V x, V x_low) {
  constexpr double terms[] = {1.62857568552210279e-02,  -3.45705619814277443e-02, 4.55159322062654928e-02,
                              -5.23045427065024424e-02, 5.87892899783477516e-02,  -6.66642488573825492e-02,
                              7.69229637503214270e-02,  -9.09090875350087729e-02, 1.11111111051554468e-01,
                              -1.42857142856598285e-01, 1.99999999999998040e-01,  -3.33333333333333315e-01};
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1.0);
  const V width = hn::Abs(x);
  const V height = hn::Abs(y);
  const auto is_steep = hn::Gt(height, width);
  Pair<V> larger{hn::IfThenElse(is_steep, height, width), hn::IfThenElse(is_steep, y_low, x_low)};
  Pair<V> smaller{hn::IfThenElse(is_steep, width, height), hn::IfThenElse(is_steep, x_low, y_low)};
  // So that sums stay finite, quotients are of normal numbers,
  // and infinities and zeros have the angles that are agreed on.
  const auto is_endless = hn::Eq(larger.high, hn::Set(d, std::numeric_limits<double>::infinity()));
  smaller.high = hn::IfThenElse(is_endless, hn::IfThenElseZero(hn::Eq(smaller.high, larger.high), one), smaller.high);
  larger.high = hn::IfThenElse(hn::Or(is_endless, hn::Eq(larger.high, zero)), one, larger.high);
  const V scale = hn::IfThenElse(hn::Gt(larger.high, hn::Set(d, 0x1p1000)), hn::Set(d, 0x1p-4),
                                 hn::IfThenElse(hn::Lt(larger.high, hn::Set(d, 0x1p-900)), hn::Set(d, 0x1p100), one));
  larger.high = hn::Mul(larger.high, scale);
  smaller.high = hn::Mul(smaller.high, scale);
  // Above an eighth of a turn's half: what is beside a quarter of pi.
  const auto is_near = hn::Gt(smaller.high, hn::Mul(larger.high, hn::Set(d, 0.41421356237309503)));
  const Pair<V> difference = add_smaller(larger.high, hn::Neg(smaller.high));
  const Pair<V> sum = add_smaller(larger.high, smaller.high);
  const Pair<V> top{hn::IfThenElse(is_near, hn::Neg(difference.high), smaller.high),
                    hn::IfThenElse(is_near, hn::Sub(hn::Sub(smaller.low, larger.low), difference.low), smaller.low)};
  const Pair<V> bottom{hn::IfThenElse(is_near, sum.high, larger.high),
                       hn::IfThenElse(is_near, hn::Add(hn::Add(smaller.low, larger.low), sum.low), larger.low)};
  const Pair<V> t = divide(top, bottom);
  const V square = hn::Mul(t.high, t.high);
  const V tail = hn::MulAdd(hn::Mul(polynomial(d, square, terms), square), t.high, hn::NegMulAdd(square, t.low, t.low));
  // The quarters of pi that it stands beside, and on which side.
  V quarters = hn::IfThenElseZero(is_near, one);
  quarters = hn::IfThenElse(is_steep, hn::Sub(hn::Set(d, 2.0), quarters), quarters);
  const V side = hn::CopySign(one, x);
  const auto is_left = hn::Lt(side, zero);
  quarters = hn::IfThenElse(is_left, hn::Sub(hn::Set(d, 4.0), quarters), quarters);
  const V sign = hn::IfThenElse(is_steep, hn::Neg(side), side);
  const Pair<V> angle = add_smaller(hn::Mul(quarters, hn::Set(d, 0.7853981633974483)), hn::Mul(sign, t.high));
  const V low = hn::MulAdd(quarters, hn::Set(d, 3.061616997868383e-17), hn::MulAdd(sign, tail, angle.low));
  const V result = hn::CopySign(hn::Add(angle.high, low), y);
  return hn::IfThenElse(hn::And(hn::Eq(x, x), hn::Eq(y, y)), result, hn::Add(x, y));
}

// The other leg of a right triangle with hypotenuse 1; NaN where there is none.
template <typename D, typename V>
HWY_INLINE HWY_ATTR Pair<V> other_leg_pair(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const Pair<V> square = multiply(x, x);
  const Pair<V> rest = add_smaller(one, hn::Neg(square.high));
  const V root = hn::Sqrt(rest.high);
  const V off = hn::Add(hn::NegMulAdd(root, root, rest.high), hn::Sub(rest.low, square.low));
  return {root, hn::IfThenElseZero(hn::Gt(root, hn::Zero(d)), hn::Div(off, hn::Add(root, root)))};
}

struct Atan2OfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V y, V x) const {
    return angle_of(d, y, hn::Zero(d), x, hn::Zero(d));
  }
};
struct AtanOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return angle_of(d, x, hn::Zero(d), hn::Set(d, 1.0), hn::Zero(d));
  }
};
struct AsinOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const Pair<V> leg = other_leg_pair(d, x);
    return angle_of(d, x, hn::Zero(d), leg.high, leg.low);
  }
};
struct AcosOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const Pair<V> leg = other_leg_pair(d, x);
    return angle_of(d, leg.high, leg.low, x, hn::Zero(d));
  }
};

struct AtanhOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const V half = hn::Set(d, 0.5);
    const V magnitude = hn::Abs(x);
    const V square = hn::Mul(x, x);
    const V slope = hn::MulAdd(hn::Mul(square, half), polynomial(d, square, kAtanhTerms), hn::Set(d, 1.0 / 3));
    const V small = hn::MulAdd(hn::Mul(magnitude, square), slope, magnitude);
    // Elsewhere half of log((1 + x) / (1 - x)).
    const auto is_inside = hn::Lt(magnitude, one);
    const V bounded = hn::IfThenElseZero(is_inside, magnitude);
    const Pair<V> ratio = divide(add_smaller(one, bounded), add_smaller(one, hn::Neg(bounded)));
    const Pair<V> log = log_pair(d, ratio.high);
    const V large = hn::Mul(hn::Add(log.high, hn::Add(log.low, hn::Div(ratio.low, ratio.high))), half);
    const V inside = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.17)), small, large);
    const V end = hn::IfThenElse(hn::Eq(magnitude, one), hn::Set(d, std::numeric_limits<double>::infinity()),
                                 hn::Set(d, std::numeric_limits<double>::quiet_NaN()));
    return hn::CopySign(hn::IfThenElse(is_inside, inside, end), x);
  }
};

// (exp(x) - exp(-x)) / 2 if kOdd, else their sum's half.
template <bool kOdd>
struct HyperbolicOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double odd_terms[] = {8.22063524662433e-18,    2.81145725434552e-15,    7.64716373181982e-13,
                                    1.60590438368216e-10,    2.50521083854417e-08,    2.75573192239858589e-06,
                                    1.98412698412698413e-04, 8.33333333333333333e-03, 1.66666666666666667e-01};
    const V magnitude = hn::Abs(x);
    const V half = hn::Set(d, 0.5);
    const auto power = exp_parts(d, hn::Min(magnitude, hn::Set(d, 711.0)));
    const Pair<V> whole = power.mantissa(d);
    const V high = power.scale(d, hn::Mul(whole.high, half));
    const V low = power.scale(d, hn::Mul(whole.low, half));
    const Pair<V> other = divide(Pair<V>{hn::Set(d, 0.25), hn::Zero(d)}, Pair<V>{high, low});
    const Pair<V> both = add_smaller(high, kOdd ? hn::Neg(other.high) : other.high);
    V result = hn::Add(both.high, hn::Add(both.low, kOdd ? hn::Sub(low, other.low) : hn::Add(low, other.low)));
    result = hn::IfThenElse(hn::Eq(high, hn::Set(d, std::numeric_limits<double>::infinity())), high, result);
    if constexpr (kOdd) {
      const V square = hn::Mul(x, x);
      const V small = hn::MulAdd(hn::Mul(magnitude, square), polynomial(d, square, odd_terms), magnitude);
      result = hn::CopySign(hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 1.0)), small, result), x);
    }
    return hn::IfThenElse(hn::Eq(x, x), result, x);
  }
};

// sqrt(a^2 + b^2), of scaled numbers where squares would overflow or vanish. Infinity wins over NaN.
struct HypotOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    const V one = hn::Set(d, 1.0);
    const V x = hn::Abs(a);
    const V y = hn::Abs(b);
    const auto is_first = hn::Gt(x, y);
    const V larger = hn::IfThenElse(is_first, x, y);
    const V smaller = hn::IfThenElse(is_first, y, x);
    const auto is_huge = hn::Gt(larger, hn::Set(d, 0x1p500));
    const auto is_tiny = hn::Lt(larger, hn::Set(d, 0x1p-400));
    const V scale = hn::IfThenElse(is_huge, hn::Set(d, 0x1p-600), hn::IfThenElse(is_tiny, hn::Set(d, 0x1p600), one));
    const V back = hn::IfThenElse(is_huge, hn::Set(d, 0x1p600), hn::IfThenElse(is_tiny, hn::Set(d, 0x1p-600), one));
    const V m = hn::Mul(larger, scale);
    const V n = hn::Mul(smaller, scale);
    const Pair<V> first = multiply(m, m);
    const Pair<V> second = multiply(n, n);
    const Pair<V> sum = add_smaller(first.high, second.high);
    const V root = hn::Sqrt(sum.high);
    const V off = hn::Add(hn::NegMulAdd(root, root, sum.high), hn::Add(sum.low, hn::Add(first.low, second.low)));
    const V more = hn::IfThenElseZero(hn::Gt(root, hn::Zero(d)), hn::Div(off, hn::Add(root, root)));
    V result = hn::Mul(hn::Add(root, more), back);
    result = hn::IfThenElse(hn::And(hn::Eq(a, a), hn::Eq(b, b)), result, hn::Add(a, b));
    const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    return hn::IfThenElse(hn::Or(hn::Eq(x, infinity), hn::Eq(y, infinity)), infinity, result);
  }
};

// log(e^a + e^b), or of powers of 2.
template <bool kBase2>
struct LogAddExpOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    const V apart = hn::Neg(hn::IfThenElseZero(hn::Ne(a, b), hn::Abs(hn::Sub(a, b))));  // two equal infinities are not
    V exponent;
    const Pair<V> log = log1p_parts(d, kBase2 ? exp2_vector(d, apart) : exp_vector(d, apart), exponent);
    const V more = kBase2 ? log2_of_parts(d, exponent, log) : add_exponent(d, exponent, kLogOf2<double>, log);
    const V result = hn::Add(hn::IfThenElse(hn::Gt(a, b), a, b), more);
    return hn::IfThenElse(hn::Eq(a, a), result, a);
  }
};

struct TanOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double terms[] = {1.33476799719549826e-04, 2.26421801774206441e-04, 5.92400136581862336e-04,
                                1.45556985412165696e-03, 3.59214617909397972e-03, 8.86323477514643250e-03,
                                2.18694885541466724e-02, 5.39682539680365614e-02, 1.33333333333334358e-01,
                                3.33333333333333315e-01};
    const auto [high, low, n] = rest_of_angle(d, x);
    const Pair<V> r{high, low};
    const V half = hn::Set(d, 0.5);
    const V h = hn::Mul(r.high, half);
    const V square = hn::Mul(h, h);
    const V tail = hn::MulAdd(hn::Mul(polynomial(d, square, terms), square), h,
                              hn::MulAdd(hn::Mul(r.low, half), square, hn::Mul(r.low, half)));
    const Pair<V> t = add_smaller(h, tail);
    // tan of twice the angle: 2 t / (1 - t^2), or what stands at a right angle to it.
    const Pair<V> t_square = multiply(t, t);
    Pair<V> rest = add_smaller(hn::Set(d, 1.0), hn::Neg(t_square.high));
    rest.low = hn::Sub(rest.low, t_square.low);
    const Pair<V> twice{hn::Add(t.high, t.high), hn::Add(t.low, t.low)};
    const auto odd = hn::MaskFromVec(hn::BitCast(d, hn::BroadcastSignBit(hn::ShiftLeft<63>(n))));
    const Pair<V> top{hn::IfThenElse(odd, hn::Neg(rest.high), twice.high),
                      hn::IfThenElse(odd, hn::Neg(rest.low), twice.low)};
    const Pair<V> bottom{hn::IfThenElse(odd, twice.high, rest.high), hn::IfThenElse(odd, twice.low, rest.low)};
    const Pair<V> result = divide(top, bottom);
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-30)), x, hn::Add(result.high, result.low));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
