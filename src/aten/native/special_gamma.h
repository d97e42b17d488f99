#pragma once
// Functions of the gamma and the normal distribution's kin, in double: float32 is computed in it, too. Each says how
// far it may be off, in units of the last place of double (tests/torch/test_accuracy.py measures it); near a zero that
// is no exact number, the error is so many units of the largest value around it. For the CPU's kernels and for CUDA's.

#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

namespace at::native::special {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kEulerGamma = 0.57721566490153286061;
constexpr double kSqrt2 = 1.41421356237309504880;
constexpr double kSqrtPi = 1.77245385090551602730;

// coefficients[0] + coefficients[1] * x + ...
template <size_t N>
C10_HOST_DEVICE double polynomial(const double (&coefficients)[N], double x) {
  double result = coefficients[N - 1];
  for (size_t i = N - 1; i-- > 0;) result = result * x + coefficients[i];
  return result;
}

C10_HOST_DEVICE inline bool is_whole(double x) { return x == std::floor(x); }

// -------------------------------------------------------------------------------------------- the gamma function's kin

// 16 ulp: recurrence up to 10, then the asymptotic series.
C10_HOST_DEVICE inline double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  double result = 0;
  if (x < 0) {
    if (is_whole(x)) return kNaN;
    // The distance to the nearest whole number is exact, a tangent of pi * x would not be.
    const double fraction = x - std::nearbyint(x);
    result = -kPi / std::tan(kPi * fraction);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  if (std::isinf(x)) return x;
  const double inverse = 1 / (x * x);
  // B(2j) / (2j)
  static constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                       1.0 / 132, -691.0 / 32760, 1.0 / 12};
  return result + std::log(x) - 0.5 / x - inverse * polynomial(kSeries, inverse);
}

// 8 ulp: the same.
C10_HOST_DEVICE inline double trigamma(double x) {
  double sign = 1;
  double result = 0;
  if (x < 0.5) {
    if (x <= 0 && is_whole(x)) return kInfinity;
    sign = -1;
    const double sine = std::sin(kPi * (x - std::nearbyint(x)));
    result = -kPi * kPi / (sine * sine);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result += 1 / (x * x);
  const double inverse = 1 / (x * x);
  static constexpr double kSeries[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};
  result += (1 + 0.5 / x + inverse * polynomial(kSeries, inverse)) / x;
  return sign * result;
}

// Hurwitz's; 16 ulp: Euler and Maclaurin's sum.
C10_HOST_DEVICE inline double zeta(double s, double q) {
  if (std::isnan(s) || std::isnan(q)) return kNaN;
  if (s == 1) return kInfinity;
  if (s < 1) return kNaN;
  if (q <= 0) {
    if (is_whole(q)) return kInfinity;
    if (!is_whole(s)) return kNaN;  // a root of a negative number
  }
  if (q > 1e8) return (1 / (s - 1) + 1 / (2 * q)) * std::pow(q, 1 - s);
  double result = 0;
  double term = 0;
  int count = 0;
  for (; count < 9 || q <= 9; ++count, q += 1) {
    term = std::pow(q, -s);
    result += term;
    if (std::fabs(term) < kEpsilon / 4 * std::fabs(result)) return result;
  }
  // B(2j) / (2j)!, from j = 1 on (B: Bernoulli's numbers).
  static constexpr double kBernoulliOverFactorial[] = {
      1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0, 1.0 / 74724249600.0,
      -3617.0 / 10670622842880000.0, 43867.0 / 5109094217170944000.0, -174611.0 / 802857662698291200000.0};
  // The rest: an integral, half a term, and derivatives.
  term = std::pow(q, -s);
  result += term * q / (s - 1) + term / 2;
  double factor = s / q;
  for (size_t j = 0; j < std::size(kBernoulliOverFactorial); ++j) {
    const double part = kBernoulliOverFactorial[j] * term * factor;
    result += part;
    if (std::fabs(part) < kEpsilon / 4 * std::fabs(result)) break;
    const double next = s + 2.0 * static_cast<double>(j) + 1;
    factor *= next * (next + 1) / (q * q);
  }
  return result;
}

// log1p(t) - t, exact where both are alike.
C10_HOST_DEVICE inline double log1p_minus(double t) {
  if (std::fabs(t) > 0.4) return std::log1p(t) - t;
  double power = t * t;
  double result = 0;
  for (int k = 2; k < 60; ++k, power *= t) {
    const double part = power / k;
    result += k % 2 == 0 ? -part : part;
    if (std::fabs(part) < kEpsilon / 8 * std::fabs(result)) break;
  }
  return result;
}

// Of 1 / gamma(x + 1) for x from -1/2 to 1/2.
struct InverseFactorial {
  double terms[15];
};
C10_HOST_DEVICE constexpr InverseFactorial inverse_factorial_beside_zero() {
  return {{1.00000000000000000e+00,  5.77215664901533199e-01,  -6.55878071520252792e-01, -4.20026350341383067e-02,
           1.66538611382199525e-01,  -4.21977345536901430e-02, -9.62197152485436830e-03, 7.21894321131036441e-03,
           -1.16516764037103630e-03, -2.15241326118102976e-04, 1.28050703387467597e-04,  -2.01367067420622577e-05,
           -1.25250990791894913e-06, 1.13815319107102085e-06,  -2.00626347350703008e-07}};
}
// 1 / gamma(a + 1) for a from 0 to 15, 8 ulp: that of what is beside a whole number, over those from there to a.
C10_HOST_DEVICE inline double inverse_factorial(double a) {
  static constexpr InverseFactorial kBesideZero = inverse_factorial_beside_zero();
  const double whole = std::nearbyint(a);
  const double rest = a - whole;
  double product = 1;
  for (double k = 1; k <= whole; ++k) product *= rest + k;
  return polynomial(kBesideZero.terms, rest) / product;
}

// x^a exp(-x) / gamma(a + 1); for large a by Stirling's series, where powers and factorial would cancel.
C10_HOST_DEVICE inline double gamma_density(double a, double x) {
  if (a < 20) {
    if (x > 1000) return 0;  // exp(-x) is less than any power of x makes up for
    if (x < 700 && a < 15) return std::pow(x, a) * std::exp(-x) * inverse_factorial(a);
    return std::exp(a * std::log(x) - x - std::lgamma(a + 1));
  }
  const double inverse = 1 / (a * a);
  static constexpr double kSeries[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188};
  return std::exp(a * log1p_minus((x - a) / a) - polynomial(kSeries, inverse) / a) / std::sqrt(2 * kPi * a);
}

constexpr int kMostSteps = 100000;

C10_HOST_DEVICE inline double igamma_by_series(double a, double x) {
  const double density = gamma_density(a, x);
  if (density == 0) return 0;
  double term = 1;
  double sum = 1;
  for (int k = 1; k < kMostSteps; ++k) {
    term *= x / (a + k);
    sum += term;
    if (term < kEpsilon / 4 * sum) break;
  }
  return density * sum;
}

// Legendre's continued fraction, evaluated forwards (Lentz).
C10_HOST_DEVICE inline double igammac_by_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  const double density = gamma_density(a, x);
  if (density == 0) return 0;
  double b = x + 1 - a;
  double c = 1 / kTiny;
  double d = 1 / b;
  double result = d;
  for (int k = 1; k < kMostSteps; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + numerator / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double step = d * c;
    result *= step;
    if (std::fabs(step - 1) <= kEpsilon) break;
  }
  return density * a * result;
}

// 1 - x^a / gamma(a + 1) * ..., for small a and x, where the rest of 1 would be lost.
C10_HOST_DEVICE inline double igammac_by_series(double a, double x) {
  double power = 1;
  double sum = 0;
  for (int k = 1; k < 200; ++k) {
    power *= -x / k;
    const double part = power / (a + k);
    sum += part;
    if (std::fabs(part) <= kEpsilon / 4 * std::fabs(sum)) break;
  }
  const double logarithm = a * std::log(x);
  return -std::expm1(logarithm - std::lgamma(a + 1)) - std::exp(logarithm - std::lgamma(a)) * sum;
}

C10_HOST_DEVICE inline bool is_upper_fraction(double a, double x) { return x > 1.1 && x > a; }

// Regularised, lower; relative 1e-13.
C10_HOST_DEVICE inline double igamma(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNaN;
  if (a == 0) return x > 0 ? 1 : kNaN;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : 0;
  if (std::isinf(x)) return 1;
  return is_upper_fraction(a, x) ? 1 - igammac_by_fraction(a, x) : igamma_by_series(a, x);
}

// Regularised, upper; relative 1e-13.
C10_HOST_DEVICE inline double igammac(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNaN;
  if (a == 0) return x > 0 ? 0 : kNaN;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : 1;
  if (std::isinf(x)) return 0;
  if (is_upper_fraction(a, x)) return igammac_by_fraction(a, x);
  return a < 1 && x <= 1.1 ? igammac_by_series(a, x) : 1 - igamma_by_series(a, x);
}

// ----------------------------------------------------------------------------------------- errors, normal distribution

// 16 ulp: exp(x * x) * erfc(x); from 3 on a continued fraction.
C10_HOST_DEVICE inline double erfcx(double x) {
  if (x < 0) return x < -26.7 ? kInfinity : 2 * std::exp(x * x) - erfcx(-x);
  if (x < 3) {
    // The square in two parts: a rounding of it would be multiplied by itself.
    const double square = x * x;
    return std::exp(square) * (1 + std::fma(x, x, -square)) * std::erfc(x);
  }
  if (x > 1e8) return 1 / (kSqrtPi * x);
  double tail = x;
  for (int k = std::max(8, static_cast<int>(400 / (x * x) + 10)); k > 0; --k) tail = x + k / 2.0 / tail;
  return 1 / (kSqrtPi * tail);
}

// A quotient of two polynomials.
struct Quotient {
  double top[8];
  double bottom[8];
};
// Wichura's (AS 241) for the normal distribution's quantile: in the middle, beside it, and far off.
C10_HOST_DEVICE constexpr Quotient quantile_in_the_middle() {
  return {{3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
           4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
          {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
           3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
}
C10_HOST_DEVICE constexpr Quotient quantile_beside_it() {
  return {{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
           1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
          {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
           1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
}
C10_HOST_DEVICE constexpr Quotient quantile_far_off() {
  return {{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
           2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
          {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
           7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
           2.04426310338993978564e-15}};
}
C10_HOST_DEVICE inline double evaluate(const Quotient& quotient, double x) {
  return polynomial(quotient.top, x) / polynomial(quotient.bottom, x);
}

// The normal distribution's quantile; `center` is p - 1/2 and `tail` min(p, 1 - p), each as exact as the caller has it.
C10_HOST_DEVICE inline double normal_quantile(double center, double tail) {
  if (std::fabs(center) <= 0.425) return center * evaluate(quantile_in_the_middle(), 0.180625 - center * center);
  const double r = std::sqrt(-std::log(tail));
  const double size = r <= 5 ? evaluate(quantile_beside_it(), r - 1.6) : evaluate(quantile_far_off(), r - 5);
  return std::copysign(size, center);
}

// The same.
C10_HOST_DEVICE inline double ndtri(double p) {
  if (p == 0) return -kInfinity;
  if (p == 1) return kInfinity;
  if (!(p > 0 && p < 1)) return kNaN;
  return normal_quantile(p - 0.5, std::min(p, 1 - p));
}

// 8 ulp: Wichura's rational functions (AS 241).
C10_HOST_DEVICE inline double erfinv(double x) {
  if (std::fabs(x) == 1) return std::copysign(kInfinity, x);
  if (!(std::fabs(x) < 1)) return kNaN;
  return normal_quantile(x / 2, (1 - std::fabs(x)) / 2) / kSqrt2;
}

// 32 ulp up to 5, x * x times that above.
C10_HOST_DEVICE inline double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x / kSqrt2) / 2) - x * x / 2;
  return std::log1p(-std::erfc(x / kSqrt2) / 2);
}

}  // namespace at::native::special
