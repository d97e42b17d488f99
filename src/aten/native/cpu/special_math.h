#pragma once
// Special functions of one and two numbers, in double: float32 is computed in it, too. Each says how far it may be off,
// in units of the last place of double (tests/torch/test_accuracy.py measures it); near a zero that is no exact number,
// the error is so many units of the largest value around it.

#include <cstdint>

namespace at::native::cpu::special {

// Gamma function and its kin. Poles are NaN (of digamma(0): infinite, with the sign of the other side).
double digamma(double x);                // 16 ulp: recurrence up to 10, then the asymptotic series
double trigamma(double x);               // 8 ulp: the same
double zeta(double s, double q);         // Hurwitz's; 16 ulp: Euler and Maclaurin's sum
double igamma(double a, double x);       // regularised, lower; relative 1e-13
double igammac(double a, double x);      // regularised, upper; relative 1e-13
// Errors and normal distribution.
double erfcx(double x);                  // 16 ulp: exp(x * x) * erfc(x); from 3 on a continued fraction
double erfinv(double x);                 // 8 ulp: Wichura's rational functions (AS 241)
double ndtri(double p);                  // the same
double log_ndtr(double x);               // 32 ulp up to 5, x * x times that above
// Bessel functions: power series below 18, above it the asymptotic one.
double i0(double x);                     // 16 ulp
double i0e(double x);                    // times exp(-|x|)
double i1(double x);                     // 16 ulp
double i1e(double x);
double scaled_modified_bessel_k0(double x);  // times exp(x); 32 ulp: the trapezoidal rule on the integral of exp(-x cosh t)
double scaled_modified_bessel_k1(double x);
double modified_bessel_k0(double x);
double modified_bessel_k1(double x);
double spherical_bessel_j0(double x);    // 2 ulp
double airy_ai(double x);                // 16 ulp of the values around: Taylor's series from known values; far off asymptotic
// Orthogonal polynomials of degree n (a whole number; 0 below 0), by their recurrences.
double chebyshev_polynomial_t(double x, double n);
double chebyshev_polynomial_u(double x, double n);
double chebyshev_polynomial_v(double x, double n);
double chebyshev_polynomial_w(double x, double n);
double hermite_polynomial_h(double x, double n);
double hermite_polynomial_he(double x, double n);
double laguerre_polynomial_l(double x, double n);
double legendre_polynomial_p(double x, double n);

}  // namespace at::native::cpu::special
