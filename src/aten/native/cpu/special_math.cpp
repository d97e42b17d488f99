#include <aten/native/cpu/special_math.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace at::native::cpu::special {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kEulerGamma = 0.57721566490153286061;
constexpr double kSqrt2 = 1.41421356237309504880;
constexpr double kSqrtPi = 1.77245385090551602730;

// coefficients[0] + coefficients[1] * x + ...
template <size_t N>
double polynomial(const double (&coefficients)[N], double x) {
  double result = coefficients[N - 1];
  for (size_t i = N - 1; i-- > 0;) result = result * x + coefficients[i];
  return result;
}

// B(2j) / (2j)!, from j = 1 on (B: Bernoulli's numbers).
constexpr double kBernoulliOverFactorial[] = {
    1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0, 1.0 / 74724249600.0,
    -3617.0 / 10670622842880000.0, 43867.0 / 5109094217170944000.0, -174611.0 / 802857662698291200000.0};

bool is_whole(double x) { return x == std::floor(x); }

}  // namespace

// ---------------------------------------------------------------------------------------------- the gamma function's kin

double digamma(double x) {
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
  static constexpr double kSeries[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  return result + std::log(x) - 0.5 / x - inverse * polynomial(kSeries, inverse);
}

double trigamma(double x) {
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

double zeta(double s, double q) {
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

namespace {

// log1p(t) - t, exact where both are alike.
double log1p_minus(double t) {
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

// x^a exp(-x) / gamma(a + 1); for large a by Stirling's series, where powers and factorial would cancel.
double gamma_density(double a, double x) {
  if (a < 20) {
    if (x < 700 && a < 15) return std::pow(x, a) * std::exp(-x) / std::tgamma(a + 1);
    return std::exp(a * std::log(x) - x - std::lgamma(a + 1));
  }
  const double inverse = 1 / (a * a);
  static constexpr double kSeries[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188};
  return std::exp(a * log1p_minus((x - a) / a) - polynomial(kSeries, inverse) / a) / std::sqrt(2 * kPi * a);
}

constexpr int kMostSteps = 100000;

double igamma_by_series(double a, double x) {
  double term = 1;
  double sum = 1;
  for (int k = 1; k < kMostSteps; ++k) {
    term *= x / (a + k);
    sum += term;
    if (term < kEpsilon / 4 * sum) break;
  }
  return gamma_density(a, x) * sum;
}

// Legendre's continued fraction, evaluated forwards (Lentz).
double igammac_by_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
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
    if (std::fabs(step - 1) < kEpsilon / 2) break;
  }
  return gamma_density(a, x) * a * result;
}

// 1 - x^a / gamma(a + 1) * ..., for small a and x, where the rest of 1 would be lost.
double igammac_by_series(double a, double x) {
  double power = 1;
  double sum = 0;
  for (int k = 1; k < 200; ++k) {
    power *= -x / k;
    const double part = power / (a + k);
    sum += part;
    if (std::fabs(part) < kEpsilon / 4 * std::fabs(sum)) break;
  }
  const double logarithm = a * std::log(x);
  return -std::expm1(logarithm - std::lgamma(a + 1)) - std::exp(logarithm - std::lgamma(a)) * sum;
}

bool is_upper_fraction(double a, double x) { return x > 1.1 && x > a; }

}  // namespace

double igamma(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNaN;
  if (a == 0) return x > 0 ? 1 : kNaN;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : 0;
  if (std::isinf(x)) return 1;
  return is_upper_fraction(a, x) ? 1 - igammac_by_fraction(a, x) : igamma_by_series(a, x);
}

double igammac(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0) return kNaN;
  if (a == 0) return x > 0 ? 0 : kNaN;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : 1;
  if (std::isinf(x)) return 0;
  if (is_upper_fraction(a, x)) return igammac_by_fraction(a, x);
  return a < 1 && x <= 1.1 ? igammac_by_series(a, x) : 1 - igamma_by_series(a, x);
}

// ---------------------------------------------------------------------------------------------- errors, normal distribution

double erfcx(double x) {
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

namespace {

// The normal distribution's quantile; `center` is p - 1/2 and `tail` min(p, 1 - p), each as exact as the caller has it.
double normal_quantile(double center, double tail) {
  static constexpr double kA[] = {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                  1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                  3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double kB[] = {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                                  2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
                                  5.2264952788528545610e+3};
  static constexpr double kC[] = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                                  3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kD[] = {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                                  1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  static constexpr double kE[] = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                                  2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kF[] = {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                                  7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  if (std::fabs(center) <= 0.425) {
    const double r = 0.180625 - center * center;
    return center * polynomial(kA, r) / polynomial(kB, r);
  }
  const double r = std::sqrt(-std::log(tail));
  const double size = r <= 5 ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6)
                             : polynomial(kE, r - 5) / polynomial(kF, r - 5);
  return std::copysign(size, center);
}

}  // namespace

double ndtri(double p) {
  if (p == 0) return -kInfinity;
  if (p == 1) return kInfinity;
  if (!(p > 0 && p < 1)) return kNaN;
  return normal_quantile(p - 0.5, std::min(p, 1 - p));
}

double erfinv(double x) {
  if (std::fabs(x) == 1) return std::copysign(kInfinity, x);
  if (!(std::fabs(x) < 1)) return kNaN;
  return normal_quantile(x / 2, (1 - std::fabs(x)) / 2) / kSqrt2;
}

double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x / kSqrt2) / 2) - x * x / 2;
  return std::log1p(-std::erfc(x / kSqrt2) / 2);
}

// ---------------------------------------------------------------------------------------------- Bessel functions

namespace {

// Sum over k of (x / 2)^(2k) / (k! (k + order)!), order 0 or 1.
double bessel_i_series(int order, double x) {
  const double square = x * x / 4;
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 200; ++k) {
    term *= square / (static_cast<double>(k) * (k + order));
    sum += term;
    if (term < kEpsilon / 4 * sum) break;
  }
  return sum;
}

// exp(-x) times the function, for large x.
double bessel_i_asymptotic(int order, double x) {
  if (std::isinf(x)) return 0;
  const double mu = 4.0 * order * order;
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 60; ++k) {
    const double odd = 2.0 * k - 1;
    term *= -(mu - odd * odd) / (8.0 * k * x);
    sum += term;
    if (std::fabs(term) < kEpsilon / 4) break;
  }
  return sum / std::sqrt(2 * kPi * x);
}

constexpr double kFarBessel = 18;

// exp(x) K(order, x): the integral of exp(-x (cosh t - 1)) cosh(order t) over t > 0. The trapezoidal rule has an error of
// about exp(-pi^2 / step), or of what a bell curve of the integrand's width gives.
double bessel_k_scaled(double order, double x) {
  const double step = std::min(0.25, 0.5 / std::sqrt(x));
  double sum = 0.5;
  for (int j = 1; j < 100000; ++j) {
    const double t = j * step;
    const double half = std::sinh(t / 2);
    const double part = std::exp(-2 * x * half * half) * std::cosh(order * t);
    sum += part;
    if (part < kEpsilon / 16 * sum) break;
  }
  return sum * step;
}

constexpr double kNearBessel = 1e-4;  // below, the first terms of the series at 0

}  // namespace

double i0e(double x) {
  x = std::fabs(x);
  return x < kFarBessel ? std::exp(-x) * bessel_i_series(0, x) : bessel_i_asymptotic(0, x);
}
double i0(double x) {
  x = std::fabs(x);
  if (x < kFarBessel) return bessel_i_series(0, x);
  // In two factors: the function is finite a little longer than exp(x).
  const double half = std::exp(x / 2);
  return half * bessel_i_asymptotic(0, x) * half;
}
double i1e(double x) {
  const double size = std::fabs(x);
  const double result = size < kFarBessel ? std::exp(-size) * size / 2 * bessel_i_series(1, size) : bessel_i_asymptotic(1, size);
  return std::copysign(result, x);
}
double i1(double x) {
  const double size = std::fabs(x);
  if (size < kFarBessel) return x / 2 * bessel_i_series(1, size);
  const double half = std::exp(size / 2);
  return std::copysign(half * bessel_i_asymptotic(1, size) * half, x);
}

double scaled_modified_bessel_k0(double x) {
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNaN;
  if (std::isinf(x)) return 0;
  if (x < kNearBessel) return std::exp(x) * ((-std::log(x / 2) - kEulerGamma) * (1 + x * x / 4) + x * x / 4);
  return bessel_k_scaled(0, x);
}
double scaled_modified_bessel_k1(double x) {
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNaN;
  if (std::isinf(x)) return 0;
  if (x < kNearBessel) return std::exp(x) * (1 / x + x / 2 * (std::log(x / 2) + kEulerGamma - 0.5));
  return bessel_k_scaled(1, x);
}
double modified_bessel_k0(double x) { return std::exp(-x) * scaled_modified_bessel_k0(x); }
double modified_bessel_k1(double x) { return std::exp(-x) * scaled_modified_bessel_k1(x); }

double spherical_bessel_j0(double x) {
  if (std::isinf(x)) return 0;
  if (std::fabs(x) < 1e-4) return 1 - x * x / 6;
  return std::sin(x) / x;
}

double airy_ai(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return 0;
  if (x >= 2.5) {
    if (x > 110) return 0;
    const double zeta = 2 * x * std::sqrt(x) / 3;
    return std::sqrt(x / 3) * std::exp(-zeta) * bessel_k_scaled(1.0 / 3, zeta) / kPi;
  }
  if (x < -9.5) {
    const double size = -x;
    const double zeta = 2 * size * std::sqrt(size) / 3;
    double parts[2] = {1, 0};
    double term = 1;
    for (int k = 1; k < 40; ++k) {
      const double next = term * (6.0 * k - 5) * (6.0 * k - 1) / (72.0 * k * zeta);
      if (next > term) break;
      term = next;
      parts[k % 2] += k % 4 < 2 ? term : -term;
      if (term < kEpsilon / 4) break;
    }
    const double angle = zeta + kPi / 4;
    return (std::sin(angle) * parts[0] - std::cos(angle) * parts[1]) / (kSqrtPi * std::sqrt(std::sqrt(size)));
  }
  // The function and its derivative at -9 ... 2; between them its equation y'' = x y gives Taylor's series.
  static constexpr double kValues[][2] = {{-0.022133721547341403674, -0.97566398092633159471},
                                          {-0.052705050356386202622, 0.93556093819830655103},
                                          {0.18428083525050563728, -0.77100816841012654773},
                                          {-0.32914517362982310523, 0.34593548728134289493},
                                          {0.35076100902411431979, 0.32719281855444313679},
                                          {-0.070265532949289515099, -0.7906285753685813803},
                                          {-0.37881429367765807435, 0.31458376921659881365},
                                          {0.22740742820168557599, 0.61825902074169104141},
                                          {0.5355608832923521188, -0.010160567116645209395},
                                          {0.35502805388781723926, -0.25881940379280679841},
                                          {0.13529241631288141552, -0.15914744129679321279},
                                          {0.034924130423274379135, -0.053090384433653631704}};
  const int node = std::clamp(static_cast<int>(std::nearbyint(x)), -9, 2);
  const double h = x - node;
  double before = 0;
  double current = kValues[node + 9][0];
  double after = kValues[node + 9][1];
  double power = 1;
  double sum = 0;
  for (int n = 0; n < 40; ++n, power *= h) {
    sum += current * power;
    const double next = (node * current + before) / ((n + 1.0) * (n + 2.0));
    before = current;
    current = after;
    after = next;
  }
  return sum;
}

// ---------------------------------------------------------------------------------------------- orthogonal polynomials

namespace {

constexpr double kManySteps = 30;  // beyond it, inside (-1, 1), cosines are nearer and faster

// p(0) = 1, p(1) = first, p(k + 1) = next(k, p(k), p(k - 1)).
template <typename Next>
double recurrence(double degree, double first, Next&& next) {
  const auto n = static_cast<int64_t>(degree);
  if (n < 0) return 0;
  if (n == 0) return 1;
  double before = 1;
  double current = first;
  for (int64_t k = 1; k < n && !std::isnan(current); ++k) {
    const double after = next(static_cast<double>(k), current, before);
    before = current;
    current = after;
  }
  return current;
}

double chebyshev(double x, double n, double first) {
  return recurrence(n, first, [x](double, double p, double q) { return 2 * x * p - q; });
}

bool is_trigonometric(double x, double n) { return n > kManySteps && std::fabs(x) < 1; }

}  // namespace

double chebyshev_polynomial_t(double x, double n) {
  return is_trigonometric(x, n) ? std::cos(std::trunc(n) * std::acos(x)) : chebyshev(x, n, x);
}
double chebyshev_polynomial_u(double x, double n) {
  if (!is_trigonometric(x, n)) return chebyshev(x, n, 2 * x);
  const double angle = std::acos(x);
  return std::sin((std::trunc(n) + 1) * angle) / std::sin(angle);
}
double chebyshev_polynomial_v(double x, double n) {
  if (!is_trigonometric(x, n)) return chebyshev(x, n, 2 * x - 1);
  const double angle = std::acos(x);
  return std::cos((std::trunc(n) + 0.5) * angle) / std::cos(angle / 2);
}
double chebyshev_polynomial_w(double x, double n) {
  if (!is_trigonometric(x, n)) return chebyshev(x, n, 2 * x + 1);
  const double angle = std::acos(x);
  return std::sin((std::trunc(n) + 0.5) * angle) / std::sin(angle / 2);
}
double hermite_polynomial_h(double x, double n) {
  return recurrence(n, 2 * x, [x](double k, double p, double q) { return 2 * (x * p - k * q); });
}
double hermite_polynomial_he(double x, double n) {
  return recurrence(n, x, [x](double k, double p, double q) { return x * p - k * q; });
}
double laguerre_polynomial_l(double x, double n) {
  return recurrence(n, 1 - x, [x](double k, double p, double q) { return ((2 * k + 1 - x) * p - k * q) / (k + 1); });
}
double legendre_polynomial_p(double x, double n) {
  return recurrence(n, x, [x](double k, double p, double q) { return ((2 * k + 1) * x * p - k * q) / (k + 1); });
}

}  // namespace at::native::cpu::special
