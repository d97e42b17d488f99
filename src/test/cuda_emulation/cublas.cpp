// Matrix products by plain loops, in the stream's order.

#include "queue.h"
#include "tf32.h"

#include <c10/util/Half.h>
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

namespace {

using cuda_emulation::in_tf32;

cublasHandle_t as_handle(cudaStream_t* stream) { return reinterpret_cast<cublasHandle_t>(stream); }
cudaStream_t& stream_of(cublasHandle_t handle) { return *reinterpret_cast<cudaStream_t*>(handle); }

template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>,
                                std::complex<double>, double>;

template <typename T>
Wide<T> widen(T x, bool tf32) {
  if constexpr (std::is_same_v<T, cuComplex>) {
    return tf32 ? Wide<T>(in_tf32(x.real()), in_tf32(x.imag())) : Wide<T>(x);
  } else if constexpr (std::is_same_v<T, float>) {
    return tf32 ? in_tf32(x) : x;
  } else if constexpr (std::is_same_v<T, cuDoubleComplex> || std::is_same_v<T, double>) {
    return x;
  } else {
    return static_cast<float>(x);
  }
}

template <typename T>
T narrow(Wide<T> x) {
  if constexpr (std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>) return T(static_cast<float>(x));
  else return T(x);
}

struct Product {
  bool transpose_a, transpose_b, tf32;
  int m, n, k;
  const void *a, *b;
  void* c;
  int a_leading, b_leading, c_leading;
  long long a_stride, b_stride, c_stride;
  int batches;
};

// Columns first, as BLAS has it. Sums are taken in double. alpha and beta are of type S, the result is of type C.
template <typename T, typename S, typename C = T>
cublasStatus_t multiply(cublasHandle_t handle, const Product& p, const void* alpha_place, const void* beta_place) {
  const int a_rows = p.transpose_a ? p.k : p.m, b_rows = p.transpose_b ? p.n : p.k;
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.batches < 0 || p.a_leading < std::max(1, a_rows) ||
      p.b_leading < std::max(1, b_rows) || p.c_leading < std::max(1, p.m)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Wide<T> alpha(*static_cast<const S*>(alpha_place)), beta(*static_cast<const S*>(beta_place));
  const cudaError_t error = cuda_emulation::enqueue(stream_of(handle), [=] {
    const auto* a = static_cast<const T*>(p.a);
    const auto* b = static_cast<const T*>(p.b);
    auto* c = static_cast<C*>(p.c);
    for (int batch = 0; batch < p.batches; ++batch) {
      for (int column = 0; column < p.n; ++column) {
        for (int row = 0; row < p.m; ++row) {
          Wide<T> sum = 0;
          for (int i = 0; i < p.k; ++i) {
            const T left = a[batch * p.a_stride +
                             (p.transpose_a ? i + int64_t{row} * p.a_leading : row + int64_t{i} * p.a_leading)];
            const T right = b[batch * p.b_stride +
                              (p.transpose_b ? column + int64_t{i} * p.b_leading : i + int64_t{column} * p.b_leading)];
            sum += widen(left, p.tf32) * widen(right, p.tf32);
          }
          C& place = c[batch * p.c_stride + row + int64_t{column} * p.c_leading];
          place = narrow<C>(alpha * sum + (beta == Wide<T>(0) ? Wide<T>(0) : beta * widen(place, false)));
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

cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transpose_a,
                                          cublasOperation_t transpose_b, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType_t a_type, int a_leading, long long a_stride,
                                          const void* b, cudaDataType_t b_type, int b_leading, long long b_stride,
                                          const void* beta, void* c, cudaDataType_t c_type, int c_leading,
                                          long long c_stride, int batches, cublasComputeType_t sums, cublasGemmAlgo_t) {
  const Product product{transpose_a == CUBLAS_OP_T, transpose_b == CUBLAS_OP_T, sums == CUBLAS_COMPUTE_32F_FAST_TF32,
                        m, n, k, a, b, c, a_leading, b_leading, c_leading, a_stride, b_stride, c_stride, batches};
  const bool is_wide = c_type == CUDA_R_64F || c_type == CUDA_C_64F;
  if (a_type == b_type && c_type == CUDA_R_32F && sums == CUBLAS_COMPUTE_32F) {
    if (a_type == CUDA_R_16F) return multiply<c10::Half, float, float>(handle, product, alpha, beta);
    if (a_type == CUDA_R_16BF) return multiply<c10::BFloat16, float, float>(handle, product, alpha, beta);
  }
  if (a_type != c_type || b_type != c_type || is_wide != (sums == CUBLAS_COMPUTE_64F))
    return CUBLAS_STATUS_INVALID_VALUE;
  switch (c_type) {
    case CUDA_R_16F: return multiply<c10::Half, float>(handle, product, alpha, beta);
    case CUDA_R_16BF: return multiply<c10::BFloat16, float>(handle, product, alpha, beta);
    case CUDA_R_32F: return multiply<float, float>(handle, product, alpha, beta);
    case CUDA_R_64F: return multiply<double, double>(handle, product, alpha, beta);
    case CUDA_C_32F: return multiply<cuComplex, cuComplex>(handle, product, alpha, beta);
    case CUDA_C_64F: return multiply<cuDoubleComplex, cuDoubleComplex>(handle, product, alpha, beta);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
