#pragma once
// How numbers are drawn whose distribution has a parameter per element, from uniform ones, uniform() in (0, 1) or
// [0, 1), and normal ones; and what the slopes of such numbers are. For the CPU's kernels and CUDA's.

#include <aten/native/special_gamma.h>
#include <c10/util/Half.h>

#include <cmath>
#include <cstddef>

namespace at::native {

// Hörmann's transformed rejection with squeeze (1993) for means from 10 on, products of uniform numbers below.
template <typename Uniform>
C10_HOST_DEVICE double draw_poisson(double mean, Uniform&& uniform) {
  if (mean == 0) return 0;
  if (mean < 10) {
    const double limit = std::exp(-mean);
    double product = 1;
    for (double count = 0;; ++count) {
      product *= uniform();
      if (!(product > limit)) return count;
    }
  }
  const double root = std::sqrt(mean);
  const double b = 0.931 + 2.53 * root;
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = uniform() - 0.5;
    const double v = uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -mean + k * std::log(mean) - std::lgamma(k + 1)) {
      return k;
    }
  }
}

C10_HOST_DEVICE inline double stirling_tail(double k) {
  static constexpr double kTails[] = {0.0810614667953272,  0.0413406959554092,  0.0276779256849983, 0.02079067210376509,
                                      0.0166446911898211,  0.0138761288230707,  0.0118967099458917, 0.0104112652619720,
                                      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kTails[static_cast<size_t>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// The same for binomial numbers, with `p` up to one half: sums of geometric ones where few are expected.
template <typename Uniform>
C10_HOST_DEVICE double draw_binomial_below_half(double count, double p, Uniform&& uniform) {
  if (count * p < 10) {
    const double logarithm = std::log1p(-p);
    double sum = 0;
    for (double successes = 0;; ++successes) {
      sum += std::ceil(std::log(uniform()) / logarithm);
      if (sum > count) return successes;
    }
  }
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double r = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((count + 1) * p);
  while (true) {
    const double u = uniform() - 0.5;
    double v = uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + stirling_tail(m) +
                         stirling_tail(count - m) - stirling_tail(k) - stirling_tail(count - k);
    if (v <= bound) return k;
  }
}

template <typename Uniform>
C10_HOST_DEVICE double draw_binomial(double count, double p, Uniform&& uniform) {
  if (!(count > 0) || !(p > 0)) return std::isnan(p) ? p : 0;
  if (p >= 1) return count;
  if (p <= 0.5) return draw_binomial_below_half(count, p, uniform);
  return count - draw_binomial_below_half(count, 1 - p, uniform);
}

// Marsaglia and Tsang's rejection (2000); below a shape of 1, one of shape + 1 times a power of a uniform number.
// The constants that are rounded to float are so in PyTorch, and show in its numbers.
template <typename T, typename Uniform, typename Normal>
C10_HOST_DEVICE double draw_gamma(T shape, Uniform&& uniform, Normal&& normal) {
  double scale = 1;
  if (shape < T(1)) {
    if (shape == T(0)) return 0;
    scale = std::pow(1 - uniform(), static_cast<double>(T(1) / shape));
    shape += T(1);
  }
  const double d = shape - T(1.0f / 3.0f);
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double y = 1 + c * x;
    if (y <= 0) continue;
    const double v = y * y * y;
    const double u = 1 - uniform();
    const double square = x * x;
    if (u < 1 - 0.0331f * square * square || std::log(u) < 0.5 * square + d * (1 - v + std::log(v))) {
      return scale * d * v;
    }
  }
}

// ---- The slopes of numbers by the parameter that they were drawn with, -(dF/da) / f: approximations as PyTorch's.

namespace special {

C10_HOST_DEVICE inline double stirling_series(double x) { return 1 + (1 + 1 / (24 * x)) / (12 * x); }

// Of a gamma number x by its shape a; 5e-4 of the value.
C10_HOST_DEVICE inline double standard_gamma_grad(double a, double x) {
  if (x < 0.8) {  // Taylor's series of F in x, and its derivative by a
    double power = 1, sum = 1 / a, slope = 1 / (a * a);
    for (int i = 1; i <= 5; ++i) {
      power *= -x / i;
      sum += power / (a + i);
      slope += power / ((a + i) * (a + i));
    }
    const double result = -x * std::exp(x) * ((std::log(x) - digamma(a)) * sum - slope);
    return std::isnan(result) ? 0 : result;
  }
  const double logarithm = std::log(x / a);
  if (a > 8) {  // Rice's saddle point
    if (0.9 * a <= x && x <= 1.1 * a) {  // where the other form has a pole
      const double polynomial = 1440 * a * a + 6 * x * (53 - 120 * x) - 65 * x * x / a + a * (107 + 3600 * x);
      return (1 + 24 * a * (1 + 12 * a)) * polynomial / (1244160 * a * a * a * a);
    }
    const double root = std::sqrt(8 * a);
    const double distance = a - x;
    const double power = std::pow(x - a - a * logarithm, -1.5);
    const double saddle = root / distance + (x < a ? -power : power);
    return -stirling_series(a) * x / root *
           (logarithm * saddle - std::sqrt(2 / a) * (a + x) / (distance * distance));
  }
  // A quotient of polynomials in log(a), whose coefficients are polynomials in log(x / a).
  static constexpr double kNumerator[4][3] = {{0.16009398, 0.53487893, 0.040121004},
                                              {-0.094634809, 0.1298071, -0.0065914022},
                                              {0.025146376, 0.065735949, -0.0026286047},
                                              {-0.0030648343, -0.0015649758, -0.0013441777}};
  static constexpr double kDenominator[4][3] = {{1, 0.16639465, 0.017050642},
                                                {0.32668115, 0.020070113, -0.0021309326},
                                                {0.10406089, -0.0035938915, 0.00085092367},
                                                {0.0014179084, -0.00058392623, -1.5247877e-07}};
  const double scale = std::log(a);
  double numerator = 0, denominator = 0;
  for (int i = 3; i >= 0; --i) {
    numerator = numerator * scale + polynomial(kNumerator[i], logarithm);
    denominator = denominator * scale + polynomial(kDenominator[i], logarithm);
  }
  return std::exp(numerator / denominator);
}

// What follows is of a beta number x by its first parameter, a, and divided by 1 - x.

// For x near 0: Taylor's series.
C10_HOST_DEVICE inline double beta_slope_near_0(double x, double a, double b) {
  const double factor = digamma(a) - digamma(a + b) - std::log(x);
  double power = 1, sum = (factor + 1 / a) / a;
  for (int i = 1; i <= 10; ++i) {
    power *= (i - b) * x / i;
    sum += power / (a + i) * (factor + 1 / (a + i));
  }
  const double result = x * std::pow(1 - x, -b) * sum;
  return std::isnan(result) ? 0 : result;
}

// The same for x near 1, in y = 1 - x.
C10_HOST_DEVICE inline double beta_slope_near_1(double y, double a, double b) {
  const double factor = digamma(a + b) - digamma(a);
  double power = 1, product = 1, slope = 0, sum = factor / b;
  for (int i = 1; i <= 8; ++i) {
    power *= -y / i;
    slope = slope * (a - i) + product;
    product *= a - i;
    sum += power / (b + i) * (slope + factor * product);
  }
  const double result = std::pow(1 - y, 1 - a) * sum;
  return std::isnan(result) ? 0 : result;
}

// For large a and b: Rice's saddle point.
C10_HOST_DEVICE inline double beta_slope_of_large(double x, double a, double b) {
  const double total = a + b;
  const double mean = a / total;
  const double deviation = std::sqrt(a * b / (total + 1)) / total;
  if (std::fabs(x - mean) <= 0.1 * deviation) {  // where the other form has a pole
    const double terms[] = {47 * x * b * b * b * b, (43 + 20 * (16 + 27 * b) * x) * b * b * b,
                            3 * (59 + 180 * b - 90 * x) * b * b, (453 + 1620 * b * (1 - x) - 455 * x) * b,
                            8 * (1 - x) * (135 * b - 11)};
    return (1 + 12 * a) * (1 + 12 * b) * polynomial(terms, a) /
           (total * total * (1 - x) * 12960 * a * a * a * b * b * (1 + 12 * total));
  }
  const double stirling = stirling_series(a) * stirling_series(b) / stirling_series(total);
  const double distance = b * x - a * (1 - x);
  const double first = (-2 * a * a * (1 - x) - a * b * (1 - x) - x * b * b) /
                       (std::sqrt(2 * a / b) * total * std::sqrt(total) * distance * distance);
  const double logarithm = std::log(mean / x);
  const double power = std::pow(b * std::log(b / (total * (1 - x))) + a * logarithm, -1.5);
  const double saddle = std::sqrt(8 * a * b / total) / distance + (x < mean ? power : -power);
  return -stirling * x / std::sqrt(2 * a * b / total) * (first + 0.5 * logarithm * saddle);
}

C10_HOST_DEVICE inline double dirichlet_grad(double x, double a, double total) {
  const double b = total - a;
  const double boundary = total * x * (1 - x);
  if (x <= 0.5 && boundary < 2.5) return beta_slope_near_0(x, a, b);
  if (x >= 0.5 && boundary < 0.75) return beta_slope_near_1(1 - x, a, b);
  if (a > 6 && b > 6) return beta_slope_of_large(x, a, b);
  // A slope of logarithms, times a quotient of polynomials: in log(x), log(a / x) and what is left of log(total).
  static constexpr double kNumerator[3][3][4] = {
      {{1.003668233, -0.01061107488, -0.0657888334, 0.01201642863},
       {0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033},
       {-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013}},
      {{0.221950385, -0.3187676331, 0.01799915743, 0.01074823814},
       {-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057},
       {0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05}},
      {{-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565},
       {0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181},
       {0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05}}};
  static constexpr double kDenominator[3][3][4] = {
      {{1, -0.02924021934, -0.04438342661, 0.007285809825},
       {0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521},
       {-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149}},
      {{0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273},
       {0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956},
       {-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05}},
      {{0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05},
       {0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05},
       {-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06}}};
  const double first = std::log(x);
  const double second = std::log(a) - first;
  const double third = std::log(total) - second;
  double numerator = 0, denominator = 0;
  for (int i = 2; i >= 0; --i) {
    double above = 0, below = 0;
    for (int j = 2; j >= 0; --j) {
      above = above * second + polynomial(kNumerator[i][j], third);
      below = below * second + polynomial(kDenominator[i][j], third);
    }
    numerator = numerator * first + above;
    denominator = denominator * first + below;
  }
  return numerator / denominator * x * (digamma(total) - digamma(a)) / b;
}

}  // namespace special

}  // namespace at::native
