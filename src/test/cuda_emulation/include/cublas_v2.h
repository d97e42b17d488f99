#pragma once
// The part of cuBLAS that the plug-in uses, answered by plain loops.

#include <cuda_runtime_api.h>

extern "C" {

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_EXECUTION_FAILED = 13 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
typedef struct cublasContext* cublasHandle_t;

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transpose_a, cublasOperation_t transpose_b, int m,
                                         int n, int k, const float* alpha, const float* a, int a_leading, long long a_stride,
                                         const float* b, int b_leading, long long b_stride, const float* beta, float* c,
                                         int c_leading, long long c_stride, int batches);
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transpose_a, cublasOperation_t transpose_b, int m,
                                         int n, int k, const double* alpha, const double* a, int a_leading, long long a_stride,
                                         const double* b, int b_leading, long long b_stride, const double* beta, double* c,
                                         int c_leading, long long c_stride, int batches);
}
