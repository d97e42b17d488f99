#pragma once
// The part of cuBLAS that the plug-in uses, answered by plain loops.

#include <cuda_runtime_api.h>

#include <complex>

typedef std::complex<float> cuComplex;
typedef std::complex<double> cuDoubleComplex;

extern "C" {

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_EXECUTION_FAILED = 13 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
typedef struct cublasContext* cublasHandle_t;

enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_16BF = 14
};
typedef cudaDataType_t cudaDataType;
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transpose_a,
                                          cublasOperation_t transpose_b, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType_t a_type, int a_leading, long long a_stride,
                                          const void* b, cudaDataType_t b_type, int b_leading, long long b_stride,
                                          const void* beta, void* c, cudaDataType_t c_type, int c_leading,
                                          long long c_stride, int batches, cublasComputeType_t sums,
                                          cublasGemmAlgo_t algorithm);
#define DECLARE_SOLVERS(p, T)                                                                                         \
  cublasStatus_t cublas##p##getrfBatched(cublasHandle_t handle, int n, T* const a[], int leading, int* pivots,        \
                                         int* info, int batches);                                                     \
  cublasStatus_t cublas##p##getrsBatched(cublasHandle_t handle, cublasOperation_t operation, int n, int columns,      \
                                         const T* const a[], int leading, const int* pivots, T* const b[],            \
                                         int b_leading, int* info, int batches);                                      \
  cublasStatus_t cublas##p##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,          \
                                        cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,         \
                                        const T* alpha, const T* const a[], int leading, T* const b[], int b_leading, \
                                        int batches);
DECLARE_SOLVERS(S, float)
DECLARE_SOLVERS(D, double)
DECLARE_SOLVERS(C, cuComplex)
DECLARE_SOLVERS(Z, cuDoubleComplex)
#undef DECLARE_SOLVERS
}
