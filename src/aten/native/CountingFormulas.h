#pragma once
// How Poisson and binomial numbers are drawn from uniform ones, uniform() in (0, 1) or [0, 1):
// for the CPU's kernels and CUDA's.

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

}  // namespace at::native
