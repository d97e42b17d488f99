// Matrix products by plain loops, in the stream's order.

#include "queue.h"

#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <type_traits>

namespace {

cublasHandle_t as_handle(cudaStream_t* stream) { return reinterpret_cast<cublasHandle_t>(stream); }
cudaStream_t& stream_of(cublasHandle_t handle) { return *reinterpret_cast<cudaStream_t*>(handle); }

template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>, std::complex<double>, double>;

// Columns first, as BLAS has it. Sums are taken in double.
template <typename T>
cublasStatus_t multiply(cublasHandle_t handle, bool transpose_a, bool transpose_b, int m, int n, int k, T alpha, const T* a,
                        int a_leading, long long a_stride, const T* b, int b_leading, long long b_stride, T beta, T* c,
                        int c_leading, long long c_stride, int batches) {
  const int a_rows = transpose_a ? k : m, b_rows = transpose_b ? n : k;
  if (m < 0 || n < 0 || k < 0 || batches < 0 || a_leading < std::max(1, a_rows) || b_leading < std::max(1, b_rows) ||
      c_leading < std::max(1, m)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const cudaError_t error = cuda_emulation::enqueue(stream_of(handle), [=] {
    for (int batch = 0; batch < batches; ++batch) {
      for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row) {
          Wide<T> sum = 0;
          for (int i = 0; i < k; ++i) {
            const T left = a[batch * a_stride + (transpose_a ? i + int64_t{row} * a_leading : row + int64_t{i} * a_leading)];
            const T right = b[batch * b_stride + (transpose_b ? column + int64_t{i} * b_leading : i + int64_t{column} * b_leading)];
            sum += Wide<T>(left) * Wide<T>(right);
          }
          T& place = c[batch * c_stride + row + int64_t{column} * c_leading];
          place = T(Wide<T>(alpha) * sum + (beta == T{0} ? Wide<T>(0) : Wide<T>(beta) * Wide<T>(place)));
        }
      }
    }
    return cudaSuccess;
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = as_handle(new cudaStream_t(nullptr));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  stream_of(handle) = stream;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "the operation completed successfully";
    case CUBLAS_STATUS_INVALID_VALUE: return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "the GPU program failed to execute";
  }
  return "unknown status";
}

#define DEFINE_GEMM(name, T)                                                                                                        \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transpose_a, cublasOperation_t transpose_b, int m, int n, int k,    \
                      const T* alpha, const T* a, int a_leading, long long a_stride, const T* b, int b_leading, long long b_stride, \
                      const T* beta, T* c, int c_leading, long long c_stride, int batches) {                                       \
    return multiply(handle, transpose_a == CUBLAS_OP_T, transpose_b == CUBLAS_OP_T, m, n, k, *alpha, a, a_leading, a_stride, b,    \
                    b_leading, b_stride, *beta, c, c_leading, c_stride, batches);                                                  \
  }
DEFINE_GEMM(cublasSgemmStridedBatched, float)
DEFINE_GEMM(cublasDgemmStridedBatched, double)
DEFINE_GEMM(cublasCgemmStridedBatched, cuComplex)
DEFINE_GEMM(cublasZgemmStridedBatched, cuDoubleComplex)
