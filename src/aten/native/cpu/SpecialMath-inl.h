// Functions of the gamma and the normal distribution's kin and Bessel's, of vectors of float64: see special_gamma.h and
// special_bessel.h, whose functions are asked for what is rare here. Included once per instruction set, as
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

// log of every number.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V log_of_any(D d, V x) {
  const V result = hn::Log(d, x);
  const V zero = hn::Zero(d);
  const auto plain = hn::And(hn::Gt(x, zero), hn::Lt(x, hn::Set(d, kEndless)));
  if (HWY_LIKELY(hn::AllTrue(d, plain))) return result;
  const V beyond = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, special::kNaN), x);
  return hn::IfThenElse(plain, result, hn::IfThenElse(hn::Eq(x, zero), hn::Set(d, -kEndless), beyond));
}
// log(1 + x) of every number.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V log1p_of_any(D d, V x) {
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

// From 10 on the asymptotic series; below, of a number that is 10 larger. Negative numbers by that of 1 - x.
struct DigammaOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double series[] = {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12};
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0);
    const V ten = hn::Set(d, 10.0);
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
    return hn::IfThenElse(hn::Eq(x, zero), hn::CopySign(hn::Set(d, kEndless), hn::Neg(x)), result);
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
      const Pair<V> left = multiply(sine_over_pi(d, size), {hn::IfThenElse(is_below_one, one, size), zero});
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
  // |sin(pi x)| / pi for positive x.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static Pair<V> sine_over_pi(D d, V x) {
    constexpr double terms[] = {1.67517996311119702e-10, -7.30252335069372366e-09, 2.53121098021977956e-07,
                                -6.97587354761719168e-06, 1.48428793018536644e-04, -2.34608103545498473e-03,
                                2.61478478176547686e-02, -1.90751824122084218e-01};
    constexpr SplitConstant<double> last_terms[] = {
        {8.11742425283353608e-01, 3.56090711972300080e-17},
        {-1.64493406684822641e+00, -3.04067175438693223e-17},
        {1, 0}};
    const V rest = hn::Abs(hn::Sub(x, hn::Round(x)));
    const Pair<V> square = multiply(rest, rest);
    const V start = polynomial(d, square.high, terms);
    return multiply(add_terms(d, start, square, last_terms), {rest, hn::Zero(d)});
  }
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

struct EntrOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V zero = hn::Zero(d);
    const V result = hn::Mul(hn::Neg(x), log_of_any(d, x));
    if (HWY_LIKELY(hn::AllTrue(d, hn::Gt(x, zero)))) return result;
    const V edge = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, -kEndless), result);
    return hn::IfThenElse(hn::Eq(x, zero), zero, edge);
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

// The regularised incomplete gamma function, the upper one if kUpper, with the digits of float32. The scalar function
// is asked for what is large or rare.
template <bool kUpper>
struct IgammaOfVectors {
  static constexpr double kSmallest = 1e-9;  // part of a sum that still counts
  static constexpr int kMostTerms = 300;

  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V given_a, V given_x) const {
    const V one = hn::Set(d, 1.0);
    const V least = hn::Set(d, 1e-30);
    const auto has_a = hn::And(hn::Gt(given_a, least), hn::Lt(given_a, hn::Set(d, 20.0)));
    const auto plain = hn::And(has_a, hn::And(hn::Gt(given_x, least), hn::Lt(given_x, hn::Set(d, 300.0))));
    const V a = hn::IfThenElse(plain, given_a, one);
    const V x = hn::IfThenElse(plain, given_x, one);
    // log(x^a / gamma(a + 1))
    const V power = hn::MulSub(a, hn::Log(d, x), LgammaOfVectors()(d, hn::Add(a, one)));
    const V density = exp_vector(d, hn::Sub(power, x));
    const V border = hn::Set(d, 1.1);
    const auto is_right = hn::And(hn::Gt(x, border), hn::Gt(x, a));
    const auto is_small = hn::And(hn::Lt(a, one), hn::Le(x, border));  // where the rest of 1 would be lost
    V lower = one;
    V upper = one;
    if (!hn::AllTrue(d, is_right)) {
      lower = hn::Mul(density, sum_series(d, a, x, is_right));
      upper = hn::Sub(one, lower);
      if (kUpper && !hn::AllFalse(d, is_small)) {
        const V rest = hn::Mul(hn::Mul(exp_vector(d, power), a), sum_alternating(d, a, x));
        upper = hn::IfThenElse(is_small, hn::Neg(hn::Add(expm1_vector(d, power), rest)), upper);
      }
    }
    if (!hn::AllFalse(d, is_right)) {
      const V right = hn::Mul(hn::Mul(density, a), evaluate_fraction(d, a, x, is_right));
      upper = hn::IfThenElse(is_right, right, upper);
      lower = hn::IfThenElse(is_right, hn::Sub(one, right), lower);
    }
    const V result = kUpper ? upper : lower;
    if (HWY_LIKELY(hn::AllTrue(d, plain))) return result;
    HWY_ALIGN double orders[hn::MaxLanes(d)];
    HWY_ALIGN double points[hn::MaxLanes(d)];
    HWY_ALIGN double results[hn::MaxLanes(d)];
    hn::Store(given_a, d, orders);
    hn::Store(given_x, d, points);
    hn::Store(result, d, results);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      if (orders[i] > 1e-30 && orders[i] < 20 && points[i] > 1e-30 && points[i] < 300) continue;
      results[i] = kUpper ? special::igammac(orders[i], points[i]) : special::igamma(orders[i], points[i]);
    }
    return hn::Load(d, results);
  }

 private:
  // 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..., but where `is_left_out`.
  template <typename D, typename V, typename M>
  HWY_INLINE HWY_ATTR static V sum_series(D d, V a, V x, M is_left_out) {
    V term = hn::Set(d, 1.0);
    V sum = term;
    for (int k = 1; k < kMostTerms; ++k) {
      term = hn::Mul(term, hn::Div(x, hn::Add(a, hn::Set(d, static_cast<double>(k)))));
      sum = hn::Add(sum, term);
      if (hn::AllTrue(d, hn::Or(is_left_out, hn::Lt(term, hn::Mul(sum, hn::Set(d, kSmallest)))))) break;
    }
    return sum;
  }
  // The sum of (-x)^k / (k! (a + k)) from k = 1 on, for x up to 1.1.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V sum_alternating(D d, V a, V x) {
    V power = hn::Set(d, 1.0);
    V sum = hn::Zero(d);
    for (int k = 1; k < 14; ++k) {
      power = hn::Mul(hn::Mul(power, x), hn::Set(d, -1.0 / k));
      sum = hn::Add(sum, hn::Div(power, hn::Add(a, hn::Set(d, static_cast<double>(k)))));
    }
    return sum;
  }
  // Lentz's method, where `counts`.
  template <typename D, typename V, typename M>
  HWY_INLINE HWY_ATTR static V evaluate_fraction(D d, V a, V x, M counts) {
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
      result = hn::Mul(result, step);
      const V change = hn::IfThenElseZero(counts, hn::Abs(hn::Sub(step, one)));
      if (hn::AllTrue(d, hn::Lt(change, hn::Set(d, kSmallest)))) break;
    }
    return result;
  }
};

// exp(x^2) erfc(x) for x >= 0.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V erfcx_of_positive(D d, V x) {
  constexpr double series[] = {-135135.0, 10395.0, -945.0, 105.0, -15.0, 3.0, -1.0, 1.0};
  const V most = hn::Set(d, 26.0);
  const V near = erfcx_vector<53>(d, hn::Min(x, most));
  const auto is_near = hn::Le(x, most);
  if (HWY_LIKELY(hn::AllTrue(d, is_near))) return near;
  const V s = hn::Div(hn::Set(d, 0.5), hn::Mul(x, x));
  const V far = hn::Div(polynomial(d, s, series), hn::Mul(x, hn::Set(d, special::kSqrtPi)));
  return hn::IfThenElse(is_near, near, far);
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
  const V r = hn::Sqrt(hn::Neg(hn::Log(d, tail)));
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
    const V result = normal_quantile(d, center, hn::Min(p, hn::Sub(one, p)));
    const auto is_inside = hn::And(hn::Gt(p, zero), hn::Lt(p, one));
    if (HWY_LIKELY(hn::AllTrue(d, is_inside))) return result;
    const auto is_end = hn::Or(hn::Eq(p, zero), hn::Eq(p, one));
    const V end = hn::IfThenElse(is_end, hn::CopySign(hn::Set(d, kEndless), center), hn::Set(d, special::kNaN));
    return hn::IfThenElse(is_inside, result, end);
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
// float64's digits.
struct ErfinvOfDoubles {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V given) const {
    constexpr double guesses[] = {-5.43062558555134894e-09,
                                  -4.23488771265511905e-09, 4.47567189705404166e-07, -1.88713385850738957e-06,
                                  -1.27031858899873310e-05, 1.95486459857328816e-04, -8.36206385804445177e-04,
                                  -5.73859886089788263e-03, 2.41630416189485275e-01, 1.62354208818725465e+00};
    constexpr double far_guesses[] = {-3.96502054761783371e-06,
                                      2.40449653829509022e-05, -5.22550476025618733e-05, 5.60863340774963640e-05,
                                      -9.06012210540718525e-05, 3.14329490057190972e-04, -8.83814259345389801e-04,
                                      1.26320697615290504e-03, 1.00949554159247556e+00, 3.83978358782358731e+00};
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0);
    // So that what rounding takes from products is a number.
    const auto is_tiny = hn::Lt(hn::Abs(given), hn::Set(d, 0x1p-800));
    const V x = hn::Abs(hn::IfThenElse(is_tiny, hn::Mul(given, hn::Set(d, 0x1p200)), given));
    const V tail = hn::Sub(one, x);  // exact from 1/2 on
    const V width = short_log(d, hn::Mul(tail, hn::Add(one, x)));
    const auto is_far = hn::Gt(width, hn::Set(d, 5.83));
    const bool has_far = !hn::AllFalse(d, is_far);
    V ratio = polynomial_in_halves(d, hn::Sub(width, hn::Set(d, 3.0)), guesses);
    if (HWY_UNLIKELY(has_far)) {
      const V far = polynomial(d, hn::Sub(hn::Sqrt(width), hn::Set(d, 4.0)), far_guesses);
      ratio = hn::IfThenElse(is_far, far, ratio);
    }
    const V y = hn::Mul(x, ratio);

    // What erf(y) - x is of erf's slope: in the middle by a series, beside it by 1 - erf(y) = exp(-y^2) erfcx(y).
    const Pair<V> square = multiply(y, y);
    auto power = exp_parts(d, square.high);
    const Pair<V> sum = add_smaller(one, power.rest);
    const Pair<V> inverse_slope =
        add_smaller(sum.high, hn::Add(sum.low, hn::MulAdd(square.low, sum.high, power.tail)));
    const auto is_middle = hn::Lt(y, hn::Set(d, 0.875));
    V off = zero;
    if (!hn::AllFalse(d, is_middle)) {
      const Pair<V> value = multiply(erf_ratio(d, square), {y, zero});
      const V difference = hn::Add(hn::Sub(value.high, x), value.low);
      off = hn::Mul(difference, power.scale_normal(d, inverse_slope.high));
    }
    if (!hn::AllTrue(d, is_middle)) {
      Pair<V> scaled = erfcx_pair(d, y);
      if (HWY_UNLIKELY(has_far)) {
        scaled = {hn::IfThenElse(is_far, erfcx_vector<53>(d, y), scaled.high),
                  hn::IfThenElse(is_far, zero, scaled.low)};
      }
      const Pair<V> wanted = multiply(inverse_slope, {power.scale_normal(d, tail), zero});
      const V difference = hn::Add(hn::Sub(wanted.high, scaled.high), hn::Sub(wanted.low, scaled.low));
      off = hn::IfThenElse(is_middle, off, difference);
    }
    const V step = hn::Mul(off, hn::Set(d, special::kSqrtPi / 2));
    V result = hn::Sub(y, hn::NegMulAdd(hn::Mul(step, step), y, step));
    result = hn::IfThenElse(is_tiny, hn::Mul(result, hn::Set(d, 0x1p-200)), result);
    result = hn::CopySign(result, given);
    const auto is_inside = hn::Lt(x, one);
    if (HWY_LIKELY(hn::AllTrue(d, is_inside))) return result;
    const V end = hn::IfThenElse(hn::Eq(x, one), hn::CopySign(hn::Set(d, kEndless), given), hn::Set(d, special::kNaN));
    return hn::IfThenElse(is_inside, result, end);
  }

 private:
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
  // exp(y^2) erfc(y), for y from 0.875 to 2.25.
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static Pair<V> erfcx_pair(D d, V y) {
    constexpr double terms[] = {
        -1.78125644059890980e-10, 7.13041542004068771e-10,  -2.39849334569251144e-09, 9.24099984326011644e-09,
        -3.52226845599871157e-08, 1.29787795508080717e-07,  -4.66750459081322460e-07, 1.63741139880728385e-06,
        -5.59240243953650652e-06, 1.85627125253782779e-05,  -5.97624378709835053e-05, 1.86192351835903574e-04,
        -5.59856521853797006e-04, 1.61954522475971996e-03,  -4.49003724005712403e-03, 1.18743188617584372e-02,
        -2.97787163216445584e-02};
    constexpr SplitConstant<double> last_terms[] = {{7.02778819760891960e-02, 4.59114248572607367e-18},
                                                    {-1.54477265070106146e-01, -1.23380921600816283e-17},
                                                    {3.11648608648130043e-01, 9.75769086091460246e-18}};
    const V t = hn::Sub(y, hn::Set(d, 1.5625));
    return add_terms(d, polynomial_in_halves(d, t, terms), t, last_terms);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
