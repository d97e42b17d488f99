#pragma once
// Functions of one or two numbers that are not worth loops of their own for every instruction set: one kernel table has
// all of those of one number, another all of those of two.

namespace at::native {

// Of real and complex numbers; then of real ones only.
#define AT_FORALL_COMPLEX_FUNCTIONS(row) \
  row(acos) row(acosh) row(asin) row(asinh) row(atan) row(atanh) row(cosh) row(exp2) row(sinc) row(sinh) row(tan)
#define AT_FORALL_REAL_FUNCTIONS(row)                                                                               \
  row(airy_ai) row(bessel_j0) row(bessel_j1) row(bessel_y0) row(bessel_y1) row(digamma) row(entr) row(erfc)         \
  row(erfcx) row(erfinv) row(frac) row(i0) row(i0e) row(i1) row(i1e) row(lgamma) row(log_ndtr) row(modified_bessel_k0) \
  row(modified_bessel_k1) row(ndtri) row(scaled_modified_bessel_k0) row(scaled_modified_bessel_k1)                  \
  row(spherical_bessel_j0) row(trigamma)

// Of floating numbers; of all numbers; of integers.
#define AT_FORALL_FLOATING_PAIR_FUNCTIONS(row)                                                                     \
  row(atan2) row(chebyshev_polynomial_t) row(chebyshev_polynomial_u) row(chebyshev_polynomial_v)                   \
  row(chebyshev_polynomial_w) row(copysign) row(hermite_polynomial_h) row(hermite_polynomial_he) row(hypot)        \
  row(igamma) row(igammac) row(laguerre_polynomial_l) row(legendre_polynomial_p) row(logaddexp) row(logaddexp2)    \
  row(nextafter) row(shifted_chebyshev_polynomial_t) row(shifted_chebyshev_polynomial_u)                           \
  row(shifted_chebyshev_polynomial_v) row(shifted_chebyshev_polynomial_w) row(standard_gamma_grad) \
  row(xlog1py) row(xlogy) row(zeta)
#define AT_FORALL_NUMERIC_PAIR_FUNCTIONS(row) row(fmax) row(fmin) row(fmod) row(heaviside)
#define AT_FORALL_INTEGRAL_PAIR_FUNCTIONS(row) row(bitwise_left_shift) row(bitwise_right_shift) row(gcd) row(lcm)

#define AT_ENUMERATOR(name) name,
enum class UnaryFunction { AT_FORALL_COMPLEX_FUNCTIONS(AT_ENUMERATOR) AT_FORALL_REAL_FUNCTIONS(AT_ENUMERATOR) };
enum class BinaryFunction {
  AT_FORALL_FLOATING_PAIR_FUNCTIONS(AT_ENUMERATOR) AT_FORALL_NUMERIC_PAIR_FUNCTIONS(AT_ENUMERATOR)
      AT_FORALL_INTEGRAL_PAIR_FUNCTIONS(AT_ENUMERATOR)
};
#undef AT_ENUMERATOR

// How scatter and its kin put a new value together with what is there.
enum class Reduction { sum, product, greatest, least };

}  // namespace at::native
