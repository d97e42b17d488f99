// LU factorisations and systems of equations by plain loops, in the stream's order.

#include "queue.h"

#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

namespace {

cudaStream_t stream_of(cublasHandle_t handle) { return *reinterpret_cast<cudaStream_t*>(handle); }

cublasStatus_t queue(cublasHandle_t handle, cuda_emulation::Work work) {
  return cuda_emulation::enqueue(stream_of(handle), std::move(work)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                                     : CUBLAS_STATUS_EXECUTION_FAILED;
}

template <typename T>
T conjugate(T value) {
  if constexpr (std::is_floating_point_v<T>) return value;
  else return std::conj(value);
}

// As BLAS compares numbers.
template <typename T>
auto size_of(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::fabs(value);
  else return std::fabs(value.real()) + std::fabs(value.imag());
}

// Columns first.
template <typename T>
struct Matrix {
  T* data;
  int leading;
  T& operator()(int row, int column) const { return data[row + int64_t{column} * leading]; }
};

template <typename T>
int factor(Matrix<T> a, int n, int* pivots) {
  int info = 0;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int row = k + 1; row < n; ++row) {
      if (size_of(a(row, k)) > size_of(a(best, k))) best = row;
    }
    pivots[k] = best + 1;
    if (a(best, k) == T(0)) {
      if (info == 0) info = k + 1;
      continue;
    }
    for (int column = 0; column < n; ++column) std::swap(a(k, column), a(best, column));
    for (int row = k + 1; row < n; ++row) {
      a(row, k) /= a(k, k);
      for (int column = k + 1; column < n; ++column) a(row, column) -= a(row, k) * a(k, column);
    }
  }
  return info;
}

// op(A) x = x for one column, `step` elements apart.
template <typename T>
void solve_triangle(Matrix<const T> a, int n, bool upper, bool adjoint, bool transposed, bool unit, T* x,
                    int64_t step) {
  const bool from_below = upper != (adjoint || transposed);
  for (int i = 0; i < n; ++i) {
    const int row = from_below ? n - 1 - i : i;
    T sum = x[row * step];
    for (int j = 0; j < i; ++j) {
      const int column = from_below ? n - 1 - j : j;
      const T element = adjoint ? conjugate(a(column, row)) : transposed ? a(column, row) : a(row, column);
      sum -= element * x[column * step];
    }
    if (!unit) sum /= adjoint ? conjugate(a(row, row)) : a(row, row);
    x[row * step] = sum;
  }
}

template <typename T>
void solve(Matrix<const T> a, int n, bool adjoint, const int* pivots, T* x) {
  if (!adjoint) {
    for (int k = 0; k < n; ++k) std::swap(x[k], x[pivots[k] - 1]);
    solve_triangle(a, n, false, false, false, true, x, 1);
    solve_triangle(a, n, true, false, false, false, x, 1);
    return;
  }
  solve_triangle(a, n, true, true, false, false, x, 1);
  solve_triangle(a, n, false, true, false, true, x, 1);
  for (int k = n - 1; k >= 0; --k) std::swap(x[k], x[pivots[k] - 1]);
}

}  // namespace

#define DEFINE_SOLVERS(p, T)                                                                                          \
  cublasStatus_t cublas##p##getrfBatched(cublasHandle_t handle, int n, T* const a[], int leading, int* pivots,        \
                                         int* info, int batches) {                                                    \
    if (n < 0 || batches < 0 || leading < n) return CUBLAS_STATUS_INVALID_VALUE;                                      \
    return queue(handle, [=] {                                                                                        \
      for (int i = 0; i < batches; ++i) info[i] = factor<T>({a[i], leading}, n, pivots + int64_t{i} * n);             \
      return cudaSuccess;                                                                                             \
    });                                                                                                               \
  }                                                                                                                   \
  cublasStatus_t cublas##p##getrsBatched(cublasHandle_t handle, cublasOperation_t operation, int n, int columns,      \
                                         const T* const a[], int leading, const int* pivots, T* const b[],            \
                                         int b_leading, int* info, int batches) {                                     \
    *info = 0;                                                                                                        \
    if (n < 0 || columns < 0 || batches < 0 || leading < n || b_leading < n || operation == CUBLAS_OP_T) {            \
      return CUBLAS_STATUS_INVALID_VALUE;                                                                             \
    }                                                                                                                 \
    return queue(handle, [=] {                                                                                        \
      for (int i = 0; i < batches; ++i) {                                                                             \
        for (int column = 0; column < columns; ++column) {                                                            \
          solve<T>({a[i], leading}, n, operation == CUBLAS_OP_C, pivots + int64_t{i} * n,                             \
                   b[i] + int64_t{column} * b_leading);                                                               \
        }                                                                                                             \
      }                                                                                                               \
      return cudaSuccess;                                                                                             \
    });                                                                                                               \
  }                                                                                                                   \
  cublasStatus_t cublas##p##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,          \
                                        cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,         \
                                        const T* alpha, const T* const a[], int leading, T* const b[], int b_leading, \
                                        int batches) {                                                                \
    const bool left = side == CUBLAS_SIDE_LEFT;                                                                       \
    if (m < 0 || n < 0 || batches < 0 || leading < (left ? m : n) || b_leading < m || operation != CUBLAS_OP_N ||     \
        *alpha != T(1)) {                                                                                             \
      return CUBLAS_STATUS_INVALID_VALUE;                                                                             \
    }                                                                                                                 \
    return queue(handle, [=] {                                                                                        \
      const bool upper = fill == CUBLAS_FILL_MODE_UPPER;                                                              \
      const bool unit = diagonal == CUBLAS_DIAG_UNIT;                                                                 \
      for (int i = 0; i < batches; ++i) {                                                                             \
        for (int line = 0; line < (left ? n : m); ++line) {                                                           \
          T* x = b[i] + (left ? int64_t{line} * b_leading : line);                                                    \
          solve_triangle<T>({a[i], leading}, left ? m : n, upper, false, !left, unit, x, left ? 1 : b_leading);       \
        }                                                                                                             \
      }                                                                                                               \
      return cudaSuccess;                                                                                             \
    });                                                                                                               \
  }
DEFINE_SOLVERS(S, float)
DEFINE_SOLVERS(D, double)
DEFINE_SOLVERS(C, cuComplex)
DEFINE_SOLVERS(Z, cuDoubleComplex)
