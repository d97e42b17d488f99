#pragma once
// Bessel and Airy functions and orthogonal polynomials: see special_gamma.h.

#include <aten/native/special_gamma.h>

#include <cstdint>

namespace at::native::special {

// ---------------------------------------------------------------------------------------------- Bessel functions

// Sum over k of (x / 2)^(2k) / (k! (k + order)!), order 0 or 1.
C10_HOST_DEVICE inline double bessel_i_series(int order, double x) {
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
C10_HOST_DEVICE inline double bessel_i_asymptotic(int order, double x) {
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

// exp(x) K(order, x): the integral of exp(-x (cosh t - 1)) cosh(order t) over t > 0. The trapezoidal rule has an error
// of about exp(-pi^2 / step), or of what a bell curve of the integrand's width gives.
C10_HOST_DEVICE inline double bessel_k_scaled(double order, double x) {
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

// Times exp(-|x|).
C10_HOST_DEVICE inline double i0e(double x) {
  x = std::fabs(x);
  return x < kFarBessel ? std::exp(-x) * bessel_i_series(0, x) : bessel_i_asymptotic(0, x);
}
// 16 ulp.
C10_HOST_DEVICE inline double i0(double x) {
  x = std::fabs(x);
  if (x < kFarBessel) return bessel_i_series(0, x);
  // In two factors: the function is finite a little longer than exp(x).
  const double half = std::exp(x / 2);
  return half * bessel_i_asymptotic(0, x) * half;
}
C10_HOST_DEVICE inline double i1e(double x) {
  const double size = std::fabs(x);
  const double result =
      size < kFarBessel ? std::exp(-size) * size / 2 * bessel_i_series(1, size) : bessel_i_asymptotic(1, size);
  return std::copysign(result, x);
}
// 16 ulp.
C10_HOST_DEVICE inline double i1(double x) {
  const double size = std::fabs(x);
  if (size < kFarBessel) return x / 2 * bessel_i_series(1, size);
  const double half = std::exp(size / 2);
  return std::copysign(half * bessel_i_asymptotic(1, size) * half, x);
}

// Times exp(x); 32 ulp: the trapezoidal rule on the integral of exp(-x cosh t).
C10_HOST_DEVICE inline double scaled_modified_bessel_k0(double x) {
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNaN;
  if (std::isinf(x)) return 0;
  if (x < kNearBessel) return std::exp(x) * ((-std::log(x / 2) - kEulerGamma) * (1 + x * x / 4) + x * x / 4);
  return bessel_k_scaled(0, x);
}
C10_HOST_DEVICE inline double scaled_modified_bessel_k1(double x) {
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNaN;
  if (std::isinf(x)) return 0;
  if (x < kNearBessel) return std::exp(x) * (1 / x + x / 2 * (std::log(x / 2) + kEulerGamma - 0.5));
  return bessel_k_scaled(1, x);
}
C10_HOST_DEVICE inline double modified_bessel_k0(double x) { return std::exp(-x) * scaled_modified_bessel_k0(x); }
C10_HOST_DEVICE inline double modified_bessel_k1(double x) { return std::exp(-x) * scaled_modified_bessel_k1(x); }

// 2 ulp.
C10_HOST_DEVICE inline double spherical_bessel_j0(double x) {
  if (std::isinf(x)) return 0;
  if (std::fabs(x) < 1e-4) return 1 - x * x / 6;
  return std::sin(x) / x;
}

constexpr int kAirySteps = 24;  // of Taylor's series, up to 1/2 from a whole number

// Airy's function and its derivative at -9, ..., 2.
C10_HOST_DEVICE inline const double* airy_values() {
  static constexpr double kValues[] = {
      -0.022133721547341403674, -0.97566398092633159471,
      -0.052705050356386202622, 0.93556093819830655103,
      0.18428083525050563728, -0.77100816841012654773,
      -0.32914517362982310523, 0.34593548728134289493,
      0.35076100902411431979, 0.32719281855444313679,
      -0.070265532949289515099, -0.7906285753685813803,
      -0.37881429367765807435, 0.31458376921659881365,
      0.22740742820168557599, 0.61825902074169104141,
      0.5355608832923521188, -0.010160567116645209395,
      0.35502805388781723926, -0.25881940379280679841,
      0.13529241631288141552, -0.15914744129679321279,
      0.034924130423274379135, -0.053090384433653631704};
  return kValues;
}

// 16 ulp of the values around: Taylor's series from known values; far off asymptotic.
C10_HOST_DEVICE inline double airy_ai(double x) {
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
  // Between whole numbers its equation y'' = x y gives Taylor's series.
  const int node = std::clamp(static_cast<int>(std::nearbyint(x)), -9, 2);
  const double h = x - node;
  double before = 0;
  double current = airy_values()[2 * (node + 9)];
  double after = airy_values()[2 * (node + 9) + 1];
  double power = 1;
  double sum = 0;
  for (int n = 0; n < kAirySteps; ++n, power *= h) {
    sum += current * power;
    const double next = (node * current + before) / ((n + 1.0) * (n + 2.0));
    before = current;
    current = after;
    after = next;
  }
  return sum;
}

// ---------------------------------------------------------------------------------------------- orthogonal polynomials
// Of degree n (a whole number; 0 below 0), by their recurrences.

constexpr double kManySteps = 30;  // beyond it, inside (-1, 1), cosines are nearer and faster

// p(0) = 1, p(1) = first, p(k + 1) = next(k, p(k), p(k - 1)).
template <typename Next>
C10_HOST_DEVICE double recurrence(double degree, double first, Next&& next) {
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

C10_HOST_DEVICE inline double chebyshev(double x, double n, double first) {
  return recurrence(n, first, [x](double, double p, double q) { return 2 * x * p - q; });
}

C10_HOST_DEVICE inline bool is_trigonometric(double x, double n) { return n > kManySteps && std::fabs(x) < 1; }

C10_HOST_DEVICE inline double chebyshev_polynomial_t(double x, double n) {
  return is_trigonometric(x, n) ? std::cos(std::trunc(n) * std::acos(x)) : chebyshev(x, n, x);
}
C10_HOST_DEVICE inline double chebyshev_polynomial_u(double x, double n) {
  if (!is_trigonometric(x, n)) return chebyshev(x, n, 2 * x);
  const double angle = std::acos(x);
  return std::sin((std::trunc(n) + 1) * angle) / std::sin(angle);
}
C10_HOST_DEVICE inline double chebyshev_polynomial_v(double x, double n) {
  if (!is_trigonometric(x, n)) return chebyshev(x, n, 2 * x - 1);
  const double angle = std::acos(x);
  return std::cos((std::trunc(n) + 0.5) * angle) / std::cos(angle / 2);
}
C10_HOST_DEVICE inline double chebyshev_polynomial_w(double x, double n) {
  if (!is_trigonometric(x, n)) return chebyshev(x, n, 2 * x + 1);
  const double angle = std::acos(x);
  return std::sin((std::trunc(n) + 0.5) * angle) / std::sin(angle / 2);
}
C10_HOST_DEVICE inline double hermite_polynomial_h(double x, double n) {
  return recurrence(n, 2 * x, [x](double k, double p, double q) { return 2 * (x * p - k * q); });
}
C10_HOST_DEVICE inline double hermite_polynomial_he(double x, double n) {
  return recurrence(n, x, [x](double k, double p, double q) { return x * p - k * q; });
}
C10_HOST_DEVICE inline double laguerre_polynomial_l(double x, double n) {
  return recurrence(n, 1 - x, [x](double k, double p, double q) { return ((2 * k + 1 - x) * p - k * q) / (k + 1); });
}
C10_HOST_DEVICE inline double legendre_polynomial_p(double x, double n) {
  return recurrence(n, x, [x](double k, double p, double q) { return ((2 * k + 1) * x * p - k * q) / (k + 1); });
}

}  // namespace at::native::special
