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

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
const char* cublasGetStatusString(cublasStatus_t status);
#define DECLARE_GEMM(name, T)                                                                                                       \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transpose_a, cublasOperation_t transpose_b, int m, int n, int k,    \
                      const T* alpha, const T* a, int a_leading, long long a_stride, const T* b, int b_leading, long long b_stride, \
                      const T* beta, T* c, int c_leading, long long c_stride, int batches);
DECLARE_GEMM(cublasSgemmStridedBatched, float)
DECLARE_GEMM(cublasDgemmStridedBatched, double)
DECLARE_GEMM(cublasCgemmStridedBatched, cuComplex)
DECLARE_GEMM(cublasZgemmStridedBatched, cuDoubleComplex)
#undef DECLARE_GEMM
#define DECLARE_SOLVERS(p, T)                                                                                                        \
  cublasStatus_t cublas##p##getrfBatched(cublasHandle_t handle, int n, T* const a[], int leading, int* pivots, int* info, int batches); \
  cublasStatus_t cublas##p##getrsBatched(cublasHandle_t handle, cublasOperation_t operation, int n, int columns, const T* const a[],  \
                                         int leading, const int* pivots, T* const b[], int b_leading, int* info, int batches);       \
  cublasStatus_t cublas##p##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,                         \
                                        cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n, const T* alpha,        \
                                        const T* const a[], int leading, T* const b[], int b_leading, int batches);
DECLARE_SOLVERS(S, float)
DECLARE_SOLVERS(D, double)
DECLARE_SOLVERS(C, cuComplex)
DECLARE_SOLVERS(Z, cuDoubleComplex)
#undef DECLARE_SOLVERS
}
