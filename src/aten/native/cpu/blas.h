#pragma once
// Matrix products on raw memory.

#include <cstdint>

namespace at::native::cpu {

// A matrix as BLAS reads it: rows next to each other (`transposed` false) or columns next to each other
// (true), with `leading` elements from one to the next.
template <typename T>
struct MatrixOperand {
  const T* data;
  int64_t leading;
  bool transposed;
};

// out[m, n] = beta * out + alpha * a[m, k] @ b[k, n]; `out` has its rows next to each other, `out_leading`
// elements apart. With beta == 0 what was in `out` is not read.
void gemm(int64_t m, int64_t n, int64_t k, float alpha, MatrixOperand<float> a, MatrixOperand<float> b,
          float beta, float* out, int64_t out_leading);
void gemm(int64_t m, int64_t n, int64_t k, double alpha, MatrixOperand<double> a, MatrixOperand<double> b,
          double beta, double* out, int64_t out_leading);
void gemm(int64_t m, int64_t n, int64_t k, uint8_t alpha, MatrixOperand<uint8_t> a, MatrixOperand<uint8_t> b,
          uint8_t beta, uint8_t* out, int64_t out_leading);
void gemm(int64_t m, int64_t n, int64_t k, int32_t alpha, MatrixOperand<int32_t> a, MatrixOperand<int32_t> b,
          int32_t beta, int32_t* out, int64_t out_leading);
void gemm(int64_t m, int64_t n, int64_t k, int64_t alpha, MatrixOperand<int64_t> a, MatrixOperand<int64_t> b,
          int64_t beta, int64_t* out, int64_t out_leading);

// While it lives, products run on the thread that asks for them (if `active`), for loops that are themselves parallel.
// MKL and an OpenBLAS on OpenMP do so by themselves; an OpenBLAS with threads of its own has to be told.
class SerialBlas {
 public:
  explicit SerialBlas(bool active);
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 private:
  int threads_;  // to return to; 0: nothing was changed
};

}  // namespace at::native::cpu
