#pragma once
// One-dimensional Fourier transforms of many lines. Two files implement this, and CMake takes one: fft_mkl.cpp (MKL's
// DFTI) and fft_eigen.cpp (Eigen's kissfft, for every other BLAS). Nothing else knows the engine.

#include <c10/util/complex.h>

#include <cstdint>

namespace at::native::cpu {

// `blocks` behind each other of `count` lines of `n` > 0 numbers that are `stride` apart, in place: behind each other
// where `stride` is 1, otherwise beginning one element apart. Results are multiplied by `scale`; "forward" has
// e^(-2 pi i jk / n).
void fft_lines(c10::complex<float>* lines, int64_t n, int64_t count, int64_t stride, int64_t blocks, bool forward,
               float scale);
void fft_lines(c10::complex<double>* lines, int64_t n, int64_t count, int64_t stride, int64_t blocks, bool forward,
               double scale);
// Forward, of real numbers: lines of n, behind each other, become lines of n / 2 + 1, the first half.
void fft_real_lines(const float* input, c10::complex<float>* output, int64_t n, int64_t count, float scale);
void fft_real_lines(const double* input, c10::complex<double>* output, int64_t n, int64_t count, double scale);
// Backward, from n / 2 + 1 numbers each, of which the others are the mirrored conjugates, to n real ones. Imaginary
// parts of the first number, and for an even n of the last one, do not count.
void fft_to_real_lines(const c10::complex<float>* input, float* output, int64_t n, int64_t count, float scale);
void fft_to_real_lines(const c10::complex<double>* input, double* output, int64_t n, int64_t count, double scale);

}  // namespace at::native::cpu
