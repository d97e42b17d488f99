// Functions of the gamma function's kin, of vectors of float64: see special_gamma.h, whose functions are asked for what
// is rare here. Included once per instruction set, as VectorMath-inl.h is, and fitted as its polynomials are.

#if defined(TORCH_SPECIAL_GAMMA_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_SPECIAL_GAMMA_INL_H_
#undef TORCH_SPECIAL_GAMMA_INL_H_
#else
#define TORCH_SPECIAL_GAMMA_INL_H_
#endif

#include <aten/native/cpu/SpecialMath-inl.h>
#include <aten/native/cpu/VectorFunctions.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// The sum over the five numbers from x on of 1 / n^power, as a fraction; and over ten of them.
template <int kPower, typename D, typename V>
HWY_INLINE HWY_ATTR V sum_of_five_inverses(D d, V x) {
  V top = hn::Zero(d);
  V bottom = hn::Set(d, 1.0);
  for (int k = 0; k < 5; ++k) {
    const V n = hn::Add(x, hn::Set(d, static_cast<double>(k)));
    const V power = kPower == 1 ? n : hn::Mul(n, n);
    top = hn::MulAdd(top, power, bottom);
    bottom = hn::Mul(bottom, power);
  }
  return hn::Div(top, bottom);
}
template <int kPower, typename D, typename V>
HWY_INLINE HWY_ATTR V sum_of_ten_inverses(D d, V x) {
  return hn::Add(sum_of_five_inverses<kPower>(d, x), sum_of_five_inverses<kPower>(d, hn::Add(x, hn::Set(d, 5.0))));
}

// digamma, with the digits of float32: from 10 on the asymptotic series; below, of a number that is 10 larger. Negative
// numbers by that of 1 - x.
struct DigammaOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double series[] = {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12};
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0);
    const V ten = hn::Set(d, 10.0);
    const V pole = hn::CopySign(hn::Set(d, kEndless), hn::Neg(x));  // of 0
    if (HWY_UNLIKELY(hn::AllTrue(d, hn::Eq(x, zero)))) return pole;
    const auto is_negative = hn::Lt(x, zero);
    const V start = hn::IfThenElse(is_negative, hn::Sub(one, x), x);
    const auto is_small = hn::Lt(start, ten);
    const V far = hn::IfThenElse(is_small, hn::Add(start, ten), start);
    const V inverse = hn::Div(one, far);
    const V square = hn::Mul(inverse, inverse);
    V result = hn::NegMulAdd(hn::Set(d, 0.5), inverse, log_of_any(d, far));
    result = hn::NegMulAdd(square, polynomial(d, square, series), result);
    result = hn::Sub(result, hn::IfThenElseZero(is_small, sum_of_ten_inverses<1>(d, start)));
    if (HWY_LIKELY(hn::AllTrue(d, hn::Gt(x, zero)))) return result;
    const WholeTurns<D> turns(d, x);
    const V cotangent = hn::Div(turns.cosine, turns.sine_over_pi);  // pi times it
    const V left = hn::IfThenElse(hn::Eq(turns.rest, zero), hn::Set(d, special::kNaN), hn::Sub(result, cotangent));
    result = hn::IfThenElse(is_negative, left, result);
    return hn::IfThenElse(hn::Eq(x, zero), pole, result);
  }
};
// sin(pi x) / pi, for x up to 1/2.
template <typename D, typename V>
HWY_INLINE HWY_ATTR Pair<V> sine_over_pi(D d, V x) {
  constexpr double terms[] = {1.67517996311119702e-10,  -7.30252335069372366e-09, 2.53121098021977956e-07,
                              -6.97587354761719168e-06, 1.48428793018536644e-04,  -2.34608103545498473e-03,
                              2.61478478176547686e-02,  -1.90751824122084218e-01};
  constexpr SplitConstant<double> last_terms[] = {
      {8.11742425283353608e-01, 3.56090711972300080e-17},
      {-1.64493406684822641e+00, -3.04067175438693223e-17},
      {1, 0}};
  const Pair<V> square = multiply(x, x);
  return multiply(add_terms(d, polynomial(d, square.high, terms), square, last_terms), x);
}

// With the digits of float64: from 2 on log(u) and a polynomial of 1 / u^2, where u = x - 1/2; below, of a number that
// is 1 or 2 larger. Negative numbers by that of 1 + |x|. What cancels is summed in pairs.
struct DigammaOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double terms[] = {-5.27744955856591405e+04, 1.46545772892478453e+04, 1.08287424407038816e+04,
                                -2.77413441625487712e+03, -1.13106417060454646e+03, 2.78526449564606651e+02,
                                6.01674101413045079e+01, -1.28667748535796633e+01, -3.13664409255158860e+00,
                                8.11455909421780142e-01, -7.42372363349154268e-02, 4.94262796018989023e-02,
                                -2.97886484573603415e-02, 1.45086023509557703e-02, -7.54863147473101848e-03,
                                4.26171077497152287e-03, -2.60991380596295236e-03, 1.76774451404034926e-03,
                                -1.36102118766140922e-03, 1.23921811845906964e-03, -1.41841122607170829e-03,
                                2.25721674654875536e-03, -5.99767889839487173e-03, 4.02027305386304934e-02};
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0);
    const V half = hn::Set(d, 0.5);
    const V size = hn::Abs(x);
    if (HWY_UNLIKELY(hn::AllTrue(d, hn::Eq(x, zero)))) return hn::CopySign(hn::Set(d, kEndless), hn::Neg(x));
    const auto is_negative = hn::Lt(x, zero);
    const auto is_below_one = hn::Lt(size, one);
    // What is added to |x|: 1 if x is negative, and 1 for each inverse in the sum that is subtracted.
    const auto is_right_below_two = hn::AndNot(is_negative, hn::Lt(size, hn::Set(d, 2.0)));
    V more = hn::IfThenElse(hn::Or(is_negative, is_right_below_two), half, hn::Neg(half));
    more = hn::IfThenElse(is_below_one, hn::Set(d, 1.5), more);
    const Pair<V> u = add(size, more);
    const V inverse = hn::Div(one, u.high);
    const V square = hn::Mul(inverse, inverse);
    const V curve = hn::Mul(square, polynomial_in_halves(d, hn::Sub(square, hn::Set(d, 2.0 / 9)), terms));
    const Pair<V> log = log_pair(d, u);
    Pair<V> sum{log.high, hn::Add(curve, log.low)};
    const auto has_inverse = hn::Or(is_below_one, is_right_below_two);
    if (!hn::AllFalse(d, has_inverse)) {
      // 1 / |x|, if x is negative 1 / (1 + |x|), or of a positive x below 1 both.
      const auto has_both = hn::AndNot(is_negative, is_below_one);
      const Pair<V> next = add_smaller(one, hn::IfThenElseZero(is_below_one, size));
      const Pair<V> both = multiply(next, size);
      const Pair<V> twice = add_smaller(one, hn::Add(size, size));
      const Pair<V> top{hn::IfThenElse(has_both, twice.high, one), hn::IfThenElseZero(has_both, twice.low)};
      const Pair<V> bottom{hn::IfThenElse(is_negative, next.high, both.high),
                           hn::IfThenElse(is_negative, next.low, both.low)};
      const Pair<V> quotient = divide(top, bottom);
      const Pair<V> rest = add(sum.high, hn::IfThenElseZero(has_inverse, hn::Neg(quotient.high)));
      sum = {rest.high, hn::Add(hn::Sub(sum.low, hn::IfThenElseZero(has_inverse, quotient.low)), rest.low)};
    }
    if (!hn::AllFalse(d, is_negative)) {
      // pi / tan(pi |x|), whose cosine is the sine of what is left of a half.
      const V rest = hn::Sub(size, hn::Round(size));
      const V angle = hn::Abs(rest);
      const Pair<V> other = add_smaller(half, hn::Neg(angle));
      const Pair<V> sine = sine_over_pi(d, angle);
      Pair<V> cosine = sine_over_pi(d, other.high);
      const V pi = hn::Set(d, special::kPi);
      cosine.low = hn::MulAdd(other.low, hn::Mul(sine.high, pi), cosine.low);
      const Pair<V> cotangent = divide(multiply(cosine, Pair<V>{pi, hn::Set(d, 1.2246467991473532e-16)}), sine);
      const auto is_pole = hn::Eq(rest, zero);
      const V high = hn::IfThenElse(is_pole, hn::Set(d, special::kNaN), hn::CopySign(cotangent.high, rest));
      const V low = hn::IfThenElse(hn::Lt(rest, zero), hn::Neg(cotangent.low), cotangent.low);
      const Pair<V> both = add(sum.high, hn::IfThenElseZero(is_negative, high));
      sum = {both.high, hn::Add(hn::Add(sum.low, hn::IfThenElseZero(is_negative, low)), both.low)};
    }
    V result = hn::Add(sum.high, sum.low);
    result = hn::IfThenElse(hn::Lt(size, hn::Set(d, 0x1p-60)), hn::Neg(hn::Div(one, x)), result);
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, kEndless)), result, x);
  }
};
struct TrigammaOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double series[] = {7.0 / 6, -691.0 / 2730, 5.0 / 66, -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6};
    const V one = hn::Set(d, 1.0);
    const V ten = hn::Set(d, 10.0);
    const auto is_left = hn::Lt(x, hn::Set(d, 0.5));
    const V start = hn::IfThenElse(is_left, hn::Sub(one, x), x);
    const auto is_small = hn::Lt(start, ten);
    const V inverse = hn::Div(one, hn::IfThenElse(is_small, hn::Add(start, ten), start));
    const V square = hn::Mul(inverse, inverse);
    const V curve = hn::MulAdd(square, polynomial(d, square, series), hn::MulAdd(hn::Set(d, 0.5), inverse, one));
    const V sum = hn::IfThenElseZero(is_small, sum_of_ten_inverses<2>(d, start));
    const V result = hn::MulAdd(curve, inverse, sum);
    if (HWY_LIKELY(hn::AllFalse(d, is_left))) return result;
    const V cosecant = hn::Div(one, WholeTurns<D>(d, x).sine_over_pi);
    return hn::IfThenElse(is_left, hn::MulSub(cosecant, cosecant, result), result);
  }
};

// lgamma: up to 8, of a number r from 1 to 3 it is (r - 1) (r - 2) times a polynomial of r - 2, and what lies between x
// and r is a logarithm; from there on the asymptotic series. Negative numbers by that of |x|.
// The polynomial's last three terms have more digits than float64 has.
constexpr double kLgammaTerms[] = {
    1.14430967350054081e-10, -2.20298175085981978e-10, -4.33695519359474358e-10, 7.78157991018253719e-10,
    1.50658934442383370e-09, -2.72135198712569946e-09, -8.83068874937703048e-10, 1.03023822187385617e-09,
    6.95036423540858909e-09, -1.34136347078165073e-08, 1.91225923472081167e-08,  -4.09895501230560009e-08,
    9.21600289264852284e-08, -1.92977229281310870e-07, 4.03329915343135279e-07,  -8.52458942285470563e-07,
    1.80822099608477131e-06, -3.84745885310934913e-06, 8.22216423001627306e-06,  -1.76616508087392930e-05,
    3.81688930573229824e-05, -8.30951295694370377e-05, 1.82552638721167505e-04,  -4.05707397245783357e-04,
    9.15376922271708736e-04, -2.10813083396774008e-03, 4.99864116469671532e-03,  -1.23841921933710245e-02};
constexpr SplitConstant<double> kLgammaLastTerms[] = {{3.29650006211558363e-02, -3.46642249561515758e-18},
                                                      {-1.00317301674353918e-01, -5.21948003850352615e-18},
                                                      {4.22784335098467134e-01, 4.92941391045018660e-18}};
constexpr double kLgammaSeries[] = {43867.0 / 244188, -3617.0 / 122400, 1.0 / 156,  -691.0 / 360360, 1.0 / 1188,
                                    -1.0 / 1680,      1.0 / 1260,       -1.0 / 360, 1.0 / 12};
// log(2 pi) / 2 - 1 / 2
constexpr SplitConstant<double> kLgammaShift{4.18938533204672725e-01, 1.67282096505854125e-17};

// With the digits of float32.
struct LgammaOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const auto is_negative = hn::Lt(x, hn::Zero(d));
    if (HWY_LIKELY(hn::AllFalse(d, is_negative))) return of_product(d, x, one);
    const V sine_over_pi = hn::Abs(WholeTurns<D>(d, x).sine_over_pi);
    const V product = of_product(d, hn::IfThenElse(is_negative, hn::Sub(one, x), x),
                                 hn::IfThenElse(is_negative, sine_over_pi, one));
    const V left = hn::IfThenElse(hn::Eq(x, hn::Set(d, -kEndless)), hn::Neg(x), hn::Neg(product));
    return hn::IfThenElse(is_negative, left, product);
  }

 private:
  // log(gamma(x) factor) for positive x; the factor is 1 where x is less.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V of_product(D d, V x, V factor) {
    const V one = hn::Set(d, 1.0);
    const auto is_large = hn::Ge(x, hn::Set(d, 8.0));
    const auto is_below_one = hn::Lt(x, one);
    V r = x;
    V product = one;
    for (int step = 0; step < 5; ++step) {
      const auto is_above = hn::Ge(r, hn::Set(d, 3.0));
      r = hn::IfThenElse(is_above, hn::Sub(r, one), r);
      product = hn::IfThenElse(is_above, hn::Mul(product, r), product);
    }
    r = hn::IfThenElse(is_below_one, hn::Add(x, one), r);
    const V log = log_of_any(d, hn::IfThenElse(hn::Or(is_large, is_below_one), x, hn::Mul(product, factor)));
    // Beside 2, and beside 1: of a small x itself, which the sum would round.
    const V t = hn::IfThenElse(is_below_one, hn::Sub(x, one), hn::Sub(r, hn::Set(d, 2.0)));
    const V above_one = hn::IfThenElse(is_below_one, x, hn::Sub(r, one));
    V curve = polynomial(d, t, kLgammaTerms);
    for (const auto& term : kLgammaLastTerms) curve = hn::MulAdd(curve, t, hn::Set(d, term.high));
    const V small = hn::MulAdd(hn::Mul(t, above_one), curve, hn::IfThenElse(is_below_one, hn::Neg(log), log));
    if (HWY_LIKELY(hn::AllFalse(d, is_large))) return hn::IfThenElse(hn::Eq(x, x), small, x);
    const V inverse = hn::Div(one, x);
    const V rest = hn::MulAdd(inverse, polynomial(d, hn::Mul(inverse, inverse), kLgammaSeries),
                              hn::Set(d, kLgammaShift.high));
    const V large = hn::MulAdd(hn::Sub(x, hn::Set(d, 0.5)), hn::Sub(log, one), rest);
    return hn::IfThenElse(is_large, hn::Add(large, log_of_any(d, factor)), hn::IfThenElse(hn::Eq(x, x), small, x));
  }
};

// With the digits of float64: sums and products in pairs. Near zeros on the left all cancels, and the C library is
// asked.
struct LgammaOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0);
    const V size = hn::Abs(x);
    const auto is_negative = hn::Lt(x, zero);
    const auto is_below_one = hn::Lt(size, one);
    const bool is_right = hn::AllFalse(d, is_negative);
    // lgamma(x) = -(lgamma(|x|) + log(|x| |sin(pi x)| / pi)), in which below 1 log |x| cancels.
    Pair<V> factor{one, zero};
    if (!is_right) {
      const Pair<V> left = multiply(sine_over_pi(d, hn::Abs(hn::Sub(size, hn::Round(size)))),
                                    {hn::IfThenElse(is_below_one, one, size), zero});
      factor = {hn::IfThenElse(is_negative, left.high, one), hn::IfThenElseZero(is_negative, left.low)};
    }

    const auto is_large = hn::Ge(size, hn::Set(d, 8.0));
    V r = size;
    Pair<V> product = factor;
    for (int step = 0; step < 5; ++step) {
      const auto is_above = hn::Ge(r, hn::Set(d, 3.0));
      r = hn::IfThenElse(is_above, hn::Sub(r, one), r);
      product = multiply(product, {hn::IfThenElse(is_above, r, one), zero});
    }
    const auto is_inverse = hn::AndNot(is_negative, is_below_one);
    const auto is_plain = hn::Or(is_large, is_inverse);
    const Pair<V> log = log_pair(
        d, Pair<V>{hn::IfThenElse(is_plain, size, product.high), hn::IfThenElse(is_plain, zero, product.low)});
    // Beside 2, and beside 1: of a small x itself, which the sum would round.
    const Pair<V> from_one = add_smaller(hn::Set(d, -1.0), size);
    const Pair<V> t{hn::IfThenElse(is_below_one, from_one.high, hn::Sub(r, hn::Set(d, 2.0))),
                    hn::IfThenElseZero(is_below_one, from_one.low)};
    const V above_one = hn::IfThenElse(is_below_one, size, hn::Sub(r, one));
    const Pair<V> curve = add_terms(d, polynomial(d, t.high, kLgammaTerms), t, kLgammaLastTerms);
    const Pair<V> near = multiply(multiply(t, {above_one, zero}), curve);
    const Pair<V> sum = add(near.high, hn::IfThenElse(is_inverse, hn::Neg(log.high), log.high));
    V result = hn::Add(sum.high, hn::Add(hn::Add(sum.low, near.low),
                                         hn::IfThenElse(is_inverse, hn::Neg(log.low), log.low)));

    if (!hn::AllFalse(d, is_large)) result = hn::IfThenElse(is_large, of_large(d, size, log, factor, is_right), result);
    const auto is_pole = hn::And(hn::Le(x, zero), hn::Eq(x, hn::Round(x)));
    result = hn::IfThenElse(is_pole, hn::Set(d, kEndless), hn::IfThenElse(is_negative, hn::Neg(result), result));
    result = hn::IfThenElse(hn::Eq(x, x), result, x);
    if (is_right) return result;
    const auto cancels = hn::And(is_negative, hn::Lt(hn::Abs(result), hn::Set(d, TORCH_FUSED_PRODUCTS ? 0x1p-7 : 1.0)));
    double (*scalar)(double) = [](double value) -> double { return std::lgamma(value); };
    return patch_outside(d, hn::IfThenElseZero(cancels, x), result, 0.0, 0.0, scalar);
  }

 private:
  // log(gamma(x) factor) from 8 on; `log` is that of x, and the factor 1 if `is_right`.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V of_large(D d, V x, Pair<V> log, Pair<V> factor, bool is_right) {
    Pair<V> less = add_smaller(log.high, hn::Set(d, -1.0));
    less.low = hn::Add(less.low, log.low);
    const Pair<V> product = multiply(add_smaller(x, hn::Set(d, -0.5)), less);
    const V inverse = hn::Div(hn::Set(d, 1.0), x);
    const V series = hn::Mul(inverse, polynomial(d, hn::Mul(inverse, inverse), kLgammaSeries));
    const Pair<V> rest = add_smaller(hn::Set(d, kLgammaShift.high), series);
    Pair<V> sum = add_smaller(product.high, rest.high);
    sum.low = hn::Add(sum.low, hn::Add(product.low, hn::Add(rest.low, hn::Set(d, kLgammaShift.low))));
    if (!is_right) {
      const Pair<V> more = log_pair(d, factor);
      const Pair<V> whole = add(sum.high, more.high);
      sum = {whole.high, hn::Add(whole.low, hn::Add(sum.low, more.low))};
    }
    const V endless = hn::Set(d, kEndless);
    return hn::IfThenElse(hn::Lt(product.high, endless), hn::Add(sum.high, sum.low), endless);
  }
};

// The regularised incomplete gamma function, the upper one if `is_upper`. The scalar function is asked for what is
// large or rare.
struct IgammaOfVectors {
  static constexpr int kMostTerms = 3000;
  static constexpr double kMostPoint = 700;
  static constexpr double kNear = 0.3;

  bool is_upper;
  double smallest;  // part of a sum that still counts
  double most_order;
  double least_power;  // the exponential of less is 0
  double near_order;   // from which on the functions are those of normal errors, near x = a

  static IgammaOfVectors of_floats(bool is_upper) { return {is_upper, 1e-9, 20, -160, 20}; }
  static IgammaOfVectors of_doubles(bool is_upper) { return {is_upper, special::kEpsilon / 4, 15, -800, 200}; }

  template <typename D, typename V>
  HWY_INLINE HWY_ATTR hn::Mask<D> is_plain(D d, V a, V x) const {
    const V zero = hn::Zero(d);
    const auto is_moderate = hn::And(hn::Lt(a, hn::Set(d, most_order)), hn::Lt(x, hn::Set(d, kMostPoint)));
    return hn::And(hn::And(hn::Gt(a, zero), hn::Gt(x, zero)), is_moderate);
  }
  // Numbers of one kind take about as many steps: 0 to 15 the series, to 30 the fraction, 31 what takes none.
  int kind_of(double a, double x) const {
    if (!(a > 0 && x > 0) || (a >= near_order && std::abs(x - a) < kNear * a)) return 31;
    return special::is_upper_fraction(a, x) ? 16 + static_cast<int>(std::min(x - a, 14.0))
                                            : static_cast<int>(std::min(2 * x, 15.0));
  }

  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V given_a, V given_x) const {
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0);
    const auto plain = is_plain(d, given_a, given_x);
    V result = zero;
    auto is_known = plain;
    if (HWY_UNLIKELY(!hn::AllTrue(d, plain))) {
      const auto is_positive = hn::And(hn::Gt(given_a, zero), hn::Gt(given_x, zero));
      const auto is_end = hn::Ne(given_a, given_x);  // of 0 and infinities, which have NaN of two that are the same
      const auto is_number = hn::And(hn::Ge(given_a, zero), hn::Ge(given_x, zero));
      const auto is_one = is_upper ? hn::Gt(given_a, given_x) : hn::Gt(given_x, given_a);
      result = hn::IfThenElse(hn::And(is_number, is_end), hn::IfThenElseZero(is_one, one), hn::Set(d, special::kNaN));
      if (hn::AllFalse(d, is_positive)) return result;
      // exp(a bend) is about the smaller one of both functions, where they are those of x / a: 0, and 1.
      const V ratio = hn::Div(given_x, given_a);
      const V bend = hn::Sub(hn::Add(one, log_of_any(d, ratio)), ratio);
      const auto is_clear = hn::And(hn::Lt(bend, hn::Set(d, -1e-9)),
                                    hn::Lt(hn::Mul(given_a, bend), hn::Set(d, least_power)));
      const auto is_finite = hn::Lt(hn::Max(given_a, given_x), hn::Set(d, kEndless));
      is_known = hn::Or(hn::Not(hn::AndNot(is_clear, hn::And(is_positive, is_finite))), plain);
      const auto is_large = hn::AndNot(is_known, hn::Ge(given_a, hn::Set(d, most_order)));
      if (!hn::AllFalse(d, is_large)) {
        const V a = hn::IfThenElse(is_large, given_a, hn::Set(d, 1e3));
        result = hn::IfThenElse(is_large, of_large(d, a, hn::IfThenElse(is_large, given_x, a), bend), result);
        is_known = hn::Or(is_known, is_large);
      }
    }
    if (HWY_LIKELY(!hn::AllFalse(d, plain))) {
      const V a = hn::IfThenElse(plain, given_a, one);
      const V x = hn::IfThenElse(plain, given_x, one);
      result = hn::IfThenElse(plain, of_plain(d, a, x), result);
    }
    if (HWY_LIKELY(hn::AllTrue(d, is_known))) return result;
    HWY_ALIGN double orders[hn::MaxLanes(d)];
    HWY_ALIGN double points[hn::MaxLanes(d)];
    HWY_ALIGN double results[hn::MaxLanes(d)];
    hn::Store(hn::IfThenZeroElse(is_known, given_a), d, orders);
    hn::Store(given_x, d, points);
    hn::Store(result, d, results);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      if (orders[i] == 0) continue;
      results[i] = scalar_igamma(orders[i], points[i], is_upper);
    }
    return hn::Load(d, results);
  }

 private:
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V of_plain(D d, V a, V x) const {
    const V one = hn::Set(d, 1.0);
    // 1 / gamma(a + 1): that of what is beside a whole number, over those from there to a.
    const V whole = hn::Round(a);
    const V rest = hn::Sub(a, whole);
    V product = one;
    for (double k = 1; k <= most_order; ++k) {
      const V step = hn::Set(d, k);
      product = hn::IfThenElse(hn::Le(step, whole), hn::Mul(product, hn::Add(rest, step)), product);
    }
    constexpr special::InverseFactorial kBesideZero = special::inverse_factorial_beside_zero();
    V less_one = hn::Zero(d);
    for (size_t i = std::size(kBesideZero.terms) - 1; i > 0; --i) {
      less_one = hn::Mul(hn::Add(less_one, hn::Set(d, kBesideZero.terms[i])), rest);
    }
    const V inverse = hn::Div(hn::Add(one, less_one), product);
    const V power = positive_power(d, x, a);
    const V density = hn::Mul(hn::Mul(power, exp_vector(d, hn::Neg(x))), inverse);

    const V border = hn::Set(d, 1.1);
    const auto is_right = hn::And(hn::Gt(x, border), hn::Gt(x, a));
    V lower = one;
    V upper = one;
    if (!hn::AllTrue(d, is_right)) {
      lower = hn::Mul(density, sum_series(d, a, x, is_right));
      upper = hn::Sub(one, lower);
      const auto is_small = hn::And(hn::Lt(a, one), hn::Le(x, border));  // where the rest of 1 would be lost
      if (is_upper && !hn::AllFalse(d, is_small)) {
        // The logarithm of x^a / gamma(a + 1), of which `product` is 1 or a.
        const V log = hn::MulAdd(a, log_of_positive(d, x), hn::Sub(log1p_of_any(d, less_one), log_of_any(d, product)));
        const V more = hn::Mul(hn::Mul(hn::Mul(power, inverse), a), sum_alternating(d, a, x));
        upper = hn::IfThenElse(is_small, hn::Neg(hn::Add(expm1_vector(d, log), more)), upper);
      }
    }
    if (!hn::AllFalse(d, is_right)) {
      const V right = hn::Mul(hn::Mul(density, a), evaluate_fraction(d, a, x, is_right));
      upper = hn::IfThenElse(is_right, right, upper);
      lower = hn::IfThenElse(is_right, hn::Sub(one, right), lower);
    }
    return is_upper ? upper : lower;
  }
  // Of large a, where powers and factorials would cancel; bend = log(x / a) + 1 - x / a.
  template <typename D, typename V>
  HWY_NOINLINE HWY_ATTR V of_large(D d, V a, V x, V bend) const {
    const V one = hn::Set(d, 1.0);
    const V t = hn::Div(hn::Sub(x, a), a);
    // log1p(t) - t near 0, by the series of atanh(r).
    const V r = hn::Div(t, hn::Add(t, hn::Set(d, 2.0)));
    const V square = hn::Mul(r, r);
    V series = hn::Zero(d);
    for (double k = 29; k >= 3; k -= 2) series = hn::MulAdd(series, square, hn::Set(d, 1 / k));
    const V bent = hn::Mul(r, hn::MulSub(hn::Add(square, square), series, t));
    bend = hn::IfThenElse(hn::Lt(hn::Abs(t), hn::Set(d, 0.4)), bent, bend);
    const V density = hn::Div(exp_vector(d, hn::Mul(a, bend)), hn::Sqrt(hn::Mul(a, hn::Set(d, 2 * special::kPi))));
    const V inverse = hn::Div(one, a);
    const auto is_right = hn::Gt(x, a);
    const auto is_near = hn::And(hn::Ge(a, hn::Set(d, near_order)), hn::Lt(hn::Abs(t), hn::Set(d, kNear)));
    V less = one;  // the function of the side where x lies
    if (!hn::AllFalse(d, is_near)) {
      const V size = hn::Sqrt(hn::Mul(hn::Set(d, -2.0), bend));
      const V eta = hn::CopySign(size, t);
      V sum = hn::Zero(d);
      const double* term = std::end(kNormalTerms);
      for (size_t k = std::size(kNormalCounts); k-- > 0;) {
        V part = hn::Zero(d);
        for (int i = 0; i < kNormalCounts[k]; ++i) part = hn::MulAdd(part, eta, hn::Set(d, *--term));
        sum = hn::MulAdd(sum, inverse, part);
      }
      const V scale = hn::Mul(hn::Sqrt(a), hn::Set(d, 1.2533141373155003));  // half of sqrt(2 pi a)
      const V errors = hn::Mul(scale, erfcx_of_positive(d, hn::Mul(size, hn::Sqrt(hn::Mul(a, hn::Set(d, 0.5))))));
      less = hn::Mul(density, hn::Add(errors, hn::IfThenElse(is_right, sum, hn::Neg(sum))));
    }
    if (!hn::AllTrue(d, is_near)) {
      constexpr double kStirling[] = {1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
      V correction = hn::Zero(d);
      for (const double part : kStirling)
        correction = hn::MulAdd(correction, hn::Mul(inverse, inverse), hn::Set(d, part));
      const V exact = hn::Mul(density, exp_vector(d, hn::Neg(hn::Mul(correction, inverse))));
      const auto by_fraction = hn::AndNot(is_near, is_right);
      const auto by_series = hn::Not(hn::Or(is_near, is_right));
      if (!hn::AllFalse(d, by_series))
        less = hn::IfThenElse(by_series, hn::Mul(exact, sum_series(d, a, x, hn::Not(by_series))), less);
      if (!hn::AllFalse(d, by_fraction)) {
        const V right = hn::Mul(hn::Mul(exact, a), evaluate_fraction(d, a, x, by_fraction));
        less = hn::IfThenElse(by_fraction, right, less);
      }
    }
    const V other = hn::Sub(one, less);
    return is_upper ? hn::IfThenElse(is_right, less, other) : hn::IfThenElse(is_right, other, less);
  }
  // Temme's expansion in powers of 1 / a: of each, the coefficients of powers of eta, where eta^2 / 2 = -bend.
  static constexpr int kNormalCounts[] = {16, 13, 11, 9, 7, 5, 2};
  static constexpr double kNormalTerms[] = {
      -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073, 0.0003527336860670194,
      -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06, -1.85406221071516e-06,
      8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09, 1.0261809784240309e-08,
      -4.382036018453353e-09, 9.14769958223679e-10, -2.5514193994946248e-11, -0.001851851851851852,
      -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596, 0.00020576131687242798,
      -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06, -1.6120900894563446e-06,
      4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08, 1.1951628599778148e-08,
      0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06,
      -0.0001073665322636516, 5.2923448829120125e-05, -1.2760635188618728e-05, 3.423578734096138e-08,
      1.3721957309062934e-06, -6.298992138380055e-07, 1.4280614206064242e-07, 0.0006494341563786008,
      0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885, -7.561801671883977e-05,
      -2.396505113867297e-07, 1.1082654115347302e-05, -5.6749528269915965e-06, 1.4230900732435883e-06,
      -0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902, -1.4638452578843418e-06,
      6.641498215465122e-05, -3.968365047179435e-05, 1.1375726970678419e-05, -0.00033679855336635813,
      -6.972813758365857e-05, 0.0002772753244959392, -0.00019932570516188847, 6.797780477937208e-05,
      0.0005313079364639922, -0.0005921664373536939};

  // 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..., but where `is_left_out`. Each number stops where it would alone.
  template <typename D, typename V, typename M>
  HWY_INLINE HWY_ATTR V sum_series(D d, V a, V x, M is_left_out) const {
    V term = hn::Set(d, 1.0);
    V sum = term;
    for (int k = 1; k < kMostTerms; ++k) {
      term = hn::Mul(term, hn::Div(x, hn::Add(a, hn::Set(d, static_cast<double>(k)))));
      sum = hn::Add(sum, term);
      const auto is_done = hn::Or(is_left_out, hn::Lt(term, hn::Mul(sum, hn::Set(d, smallest))));
      if (hn::AllTrue(d, is_done)) break;
      term = hn::IfThenZeroElse(is_done, term);
    }
    return sum;
  }
  // The sum of (-x)^k / (k! (a + k)) from k = 1 on, for x up to 1.1.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V sum_alternating(D d, V a, V x) {
    V power = hn::Set(d, 1.0);
    V sum = hn::Zero(d);
    for (int k = 1; k < 24; ++k) {
      power = hn::Mul(hn::Mul(power, x), hn::Set(d, -1.0 / k));
      sum = hn::Add(sum, hn::Div(power, hn::Add(a, hn::Set(d, static_cast<double>(k)))));
    }
    return sum;
  }
  // Lentz's method, where `counts`; each number stops where it would alone.
  template <typename D, typename V, typename M>
  HWY_INLINE HWY_ATTR V evaluate_fraction(D d, V a, V x, M counts) const {
    const V one = hn::Set(d, 1.0);
    V b = hn::Sub(hn::Add(x, one), a);
    V c = hn::Set(d, 1e300);
    V inverse = hn::Div(one, b);
    V result = inverse;
    for (int k = 1; k < kMostTerms; ++k) {
      const V n = hn::Set(d, static_cast<double>(k));
      const V numerator = hn::Mul(n, hn::Sub(a, n));
      b = hn::Add(b, hn::Set(d, 2.0));
      inverse = hn::Div(one, hn::MulAdd(numerator, inverse, b));
      c = hn::Add(b, hn::Div(numerator, c));
      const V step = hn::Mul(inverse, c);
      result = hn::IfThenElse(counts, hn::Mul(result, step), result);
      const V change = hn::Abs(hn::Sub(step, one));
      counts = hn::And(counts, hn::Gt(change, hn::Set(d, 4 * smallest)));
      if (hn::AllFalse(d, counts)) break;
    }
    return result;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
