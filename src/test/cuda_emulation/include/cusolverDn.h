#pragma once
// The part of cuSOLVER that the plug-in uses, answered by LAPACK. Numbers are cuSOLVER's own.

#include <cublas_v2.h>

extern "C" {

// Of CUDA 13.0.
#define CUSOLVER_VERSION 12004

enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_ARCH_MISMATCH = 4,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_INTERNAL_ERROR = 7,
  CUSOLVER_STATUS_NOT_SUPPORTED = 9,
};
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 };
typedef struct cusolverDnContext* cusolverDnHandle_t;
typedef struct cusolverDnParams* cusolverDnParams_t;
typedef struct gesvdjInfo* gesvdjInfo_t;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters);
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* settings);

// NAME_bufferSize(arguments, sizes) and NAME(arguments, memory of these sizes, info and what comes after it).
#define DECLARE_64(name, arguments, ...)                                                             \
  cusolverStatus_t name##_bufferSize(arguments, size_t* device_bytes, size_t* host_bytes);           \
  cusolverStatus_t name(arguments, void* device, size_t device_bytes, void* host, size_t host_bytes, int* info);
#define ARGUMENTS(...) __VA_ARGS__
DECLARE_64(cusolverDnXpotrf, ARGUMENTS(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                                       cudaDataType type, void* a, int64_t leading, cudaDataType compute))
DECLARE_64(cusolverDnXgeqrf,
           ARGUMENTS(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, void* a,
                     int64_t leading, cudaDataType tau_type, void* tau, cudaDataType compute))
DECLARE_64(cusolverDnXsytrs, ARGUMENTS(cusolverDnHandle_t handle, cublasFillMode_t fill, int64_t n, int64_t columns,
                                       cudaDataType type, const void* a, int64_t leading, const int64_t* pivots,
                                       cudaDataType b_type, void* b, int64_t b_leading))
DECLARE_64(cusolverDnXsyevd, ARGUMENTS(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                       cublasFillMode_t fill, int64_t n, cudaDataType type, void* a, int64_t leading,
                                       cudaDataType w_type, void* w, cudaDataType compute))
DECLARE_64(cusolverDnXgeev, ARGUMENTS(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t left,
                                      cusolverEigMode_t right, int64_t n, cudaDataType type, void* a, int64_t leading,
                                      cudaDataType w_type, void* w, cudaDataType vl_type, void* vl, int64_t vl_leading,
                                      cudaDataType vr_type, void* vr, int64_t vr_leading, cudaDataType compute))
DECLARE_64(cusolverDnXgesvd,
           ARGUMENTS(cusolverDnHandle_t handle, cusolverDnParams_t, signed char job_u, signed char job_vt, int64_t m,
                     int64_t n, cudaDataType type, void* a, int64_t leading, cudaDataType s_type, void* s,
                     cudaDataType u_type, void* u, int64_t u_leading, cudaDataType vt_type, void* vt,
                     int64_t vt_leading, cudaDataType compute))
#undef DECLARE_64
#undef ARGUMENTS
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                   cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n,
                                                   cudaDataType type, const void* a, int64_t leading,
                                                   cudaDataType w_type, const void* w, cudaDataType compute,
                                                   size_t* device_bytes, size_t* host_bytes, int64_t batches);
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                        cublasFillMode_t fill, int64_t n, cudaDataType type, void* a, int64_t leading,
                                        cudaDataType w_type, void* w, cudaDataType compute, void* device,
                                        size_t device_bytes, void* host, size_t host_bytes, int* info, int64_t batches);

#define DECLARE_SOLVERS(p, T, R, orthogonal)                                                                           \
  cusolverStatus_t cusolverDn##p##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a[],        \
                                               int leading, int* info, int batches);                                   \
  cusolverStatus_t cusolverDn##p##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T* a, int leading,         \
                                                   int* size);                                                         \
  cusolverStatus_t cusolverDn##p##getrf(cusolverDnHandle_t handle, int m, int n, T* a, int leading, T* work,           \
                                        int* pivots, int* info);                                                       \
  cusolverStatus_t cusolverDn##p##orthogonal##gqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,           \
                                                             const T* a, int leading, const T* tau, int* size);        \
  cusolverStatus_t cusolverDn##p##orthogonal##gqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int leading,   \
                                                  const T* tau, T* work, int size, int* info);                         \
  cusolverStatus_t cusolverDn##p##orthogonal##mqr_bufferSize(                                                          \
      cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t operation, int m, int n, int k, const T* a,  \
      int leading, const T* tau, const T* c, int c_leading, int* size);                                                \
  cusolverStatus_t cusolverDn##p##orthogonal##mqr(                                                                     \
      cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t operation, int m, int n, int k, const T* a,  \
      int leading, const T* tau, T* c, int c_leading, T* work, int size, int* info);                                   \
  cusolverStatus_t cusolverDn##p##sytrf_bufferSize(cusolverDnHandle_t handle, int n, T* a, int leading, int* size);    \
  cusolverStatus_t cusolverDn##p##sytrf(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a, int leading,    \
                                        int* pivots, T* work, int size, int* info);                                    \
  cusolverStatus_t cusolverDn##p##gesvdj_bufferSize(                                                                   \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int thin, int m, int n, const T* a, int leading, const R* s,  \
      const T* u, int u_leading, const T* v, int v_leading, int* size, gesvdjInfo_t settings);                         \
  cusolverStatus_t cusolverDn##p##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t mode, int thin, int m, int n,    \
                                         T* a, int leading, R* s, T* u, int u_leading, T* v, int v_leading, T* work,   \
                                         int size, int* info, gesvdjInfo_t settings);                                  \
  cusolverStatus_t cusolverDn##p##gesvdjBatched_bufferSize(                                                            \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, const T* a, int leading, const R* s,            \
      const T* u, int u_leading, const T* v, int v_leading, int* size, gesvdjInfo_t settings, int batches);            \
  cusolverStatus_t cusolverDn##p##gesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, T* a, \
                                                int leading, R* s, T* u, int u_leading, T* v, int v_leading, T* work,  \
                                                int size, int* info, gesvdjInfo_t settings, int batches);              \
  cusolverStatus_t cusolverDn##p##gesvdaStridedBatched_bufferSize(                                                     \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int rank, int m, int n, const T* a, int leading,              \
      long long a_stride, const R* s, long long s_stride, const T* u, int u_leading, long long u_stride, const T* v,   \
      int v_leading, long long v_stride, int* size, int batches);                                                      \
  cusolverStatus_t cusolverDn##p##gesvdaStridedBatched(                                                                \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int rank, int m, int n, const T* a, int leading,              \
      long long a_stride, R* s, long long s_stride, T* u, int u_leading, long long u_stride, T* v, int v_leading,      \
      long long v_stride, T* work, int size, int* info, double* residuals, int batches);
DECLARE_SOLVERS(S, float, float, or)
DECLARE_SOLVERS(D, double, double, or)
DECLARE_SOLVERS(C, cuComplex, float, un)
DECLARE_SOLVERS(Z, cuDoubleComplex, double, un)
#undef DECLARE_SOLVERS
}
