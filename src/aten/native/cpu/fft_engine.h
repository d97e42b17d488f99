#pragma once
// One-dimensional Fourier transforms of many lines. Two files implement this, and CMake takes one: fft_mkl.cpp (MKL's DFTI)
// and fft_eigen.cpp (Eigen's kissfft, for every other BLAS). Nothing else knows the engine.

#include <c10/util/complex.h>

#include <cstdint>

namespace at::native::cpu {

// `count` lines of `n` > 0 numbers behind each other. Results are multiplied by `scale`; "forward" has e^(-2 pi i jk / n).
// In place.
void fft_lines(c10::complex<float>* lines, int64_t n, int64_t count, bool forward, float scale);
void fft_lines(c10::complex<double>* lines, int64_t n, int64_t count, bool forward, double scale);
// Forward, of real numbers: lines of n become lines of n / 2 + 1, the first half.
void fft_real_lines(float* input, c10::complex<float>* output, int64_t n, int64_t count, float scale);
void fft_real_lines(double* input, c10::complex<double>* output, int64_t n, int64_t count, double scale);
// Backward, from n / 2 + 1 numbers each, of which the others are the mirrored conjugates, to n real ones. Imaginary parts of
// the first number, and for an even n of the last one, do not count. `input` may be overwritten.
void fft_to_real_lines(c10::complex<float>* input, float* output, int64_t n, int64_t count, float scale);
void fft_to_real_lines(c10::complex<double>* input, double* output, int64_t n, int64_t count, double scale);

}  // namespace at::native::cpu
