// Factorisations in the stream's order, by the CPU's kernels, which call LAPACK. What cuSOLVER does not take is
// refused: padding between columns, wide matrices of singular values, memory to work in that is not the device's.

#include "lapack.h"
#include "memory.h"
#include "queue.h"

#include <cusolverDn.h>

#include <algorithm>
#include <functional>

namespace {

using namespace cuda_emulation;

cudaStream_t& stream_of(cusolverDnHandle_t handle) { return *reinterpret_cast<cudaStream_t*>(handle); }

at::ScalarType dtype_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_32F: return at::kFloat;
    case CUDA_R_64F: return at::kDouble;
    case CUDA_C_32F: return c10::kComplexFloat;
    default: return c10::kComplexDouble;
  }
}
template <typename T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kType<cuComplex> = CUDA_C_32F;
template <>
constexpr cudaDataType kType<cuDoubleComplex> = CUDA_C_64F;

constexpr size_t kBytesPerColumn = 48;

// Work that may use `bytes` at `memory`, and leaves something there.
template <typename Body>
cusolverStatus_t queue(cusolverDnHandle_t handle, bool arguments_are_right, void* memory, size_t bytes,
                       const Body& body) {
  if (!arguments_are_right || !cuda_emulation::is_device_memory(memory, bytes, cuda_emulation::current_device())) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  const cudaError_t error = cuda_emulation::enqueue(stream_of(handle), [=] {
    std::memset(memory, 0x5a, bytes);
    body();
    return cudaSuccess;
  });
  return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

// The size that routines of 64 bits, and those of 32, ask for.
cusolverStatus_t ask(int64_t columns, size_t* device_bytes, size_t* host_bytes) {
  *device_bytes = kBytesPerColumn * static_cast<size_t>(columns);
  *host_bytes = 0;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t ask(int columns, int* size) {
  *size = 3 * columns;
  return CUSOLVER_STATUS_SUCCESS;
}
bool is_enough(int64_t columns, size_t bytes) { return bytes >= kBytesPerColumn * static_cast<size_t>(columns); }

template <typename T>
cusolverStatus_t queue_sized(cusolverDnHandle_t handle, bool right, int columns, T* work, int size,
                             const std::function<void()>& body) {
  return queue(handle, right && size >= 3 * columns, work, sizeof(T) * static_cast<size_t>(size), body);
}

}  // namespace

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = reinterpret_cast<cusolverDnHandle_t>(new cudaStream_t(nullptr));
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  stream_of(handle) = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters) {
  *parameters = reinterpret_cast<cusolverDnParams_t>(new int());
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* settings) {
  *settings = reinterpret_cast<gesvdjInfo_t>(new int());
  return CUSOLVER_STATUS_SUCCESS;
}

// ---------------------------------------------------------------------------------------------------- factorisations

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, int64_t n,
                                             cudaDataType, void*, int64_t, cudaDataType, size_t* device_bytes,
                                             size_t* host_bytes) {
  return ask(n, device_bytes, host_bytes);
}
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                                  cudaDataType type, void* a, int64_t leading, cudaDataType, void* device,
                                  size_t device_bytes, void*, size_t, int* info) {
  return queue(handle, leading == n && is_enough(n, device_bytes), device, device_bytes,
               [=] { factor_by_cholesky({a, n, n, dtype_of(type)}, fill == CUBLAS_FILL_MODE_UPPER, info); });
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t, int64_t n, cudaDataType,
                                             void*, int64_t, cudaDataType, void*, cudaDataType, size_t* device_bytes,
                                             size_t* host_bytes) {
  return ask(n, device_bytes, host_bytes);
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                  cudaDataType type, void* a, int64_t leading, cudaDataType, void* tau, cudaDataType,
                                  void* device, size_t device_bytes, void*, size_t, int* info) {
  return queue(handle, leading == m && is_enough(n, device_bytes), device, device_bytes, [=] {
    factor_by_qr({a, m, n, dtype_of(type)}, tau);
    *info = 0;
  });
}

cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int64_t n, int64_t, cudaDataType,
                                             const void*, int64_t, const int64_t*, cudaDataType, void*, int64_t,
                                             size_t* device_bytes, size_t* host_bytes) {
  return ask(n, device_bytes, host_bytes);
}
cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t fill, int64_t n, int64_t columns,
                                  cudaDataType type, const void* a, int64_t leading, const int64_t* pivots,
                                  cudaDataType, void* b, int64_t b_leading, void* device, size_t device_bytes, void*,
                                  size_t, int* info) {
  const bool right = fill == CUBLAS_FILL_MODE_LOWER && leading == n && b_leading == n && is_enough(n, device_bytes);
  return queue(handle, right, device, device_bytes, [=] {
    const Matrices solutions{b, n, columns, dtype_of(type)};
    const Tensor found = solutions.read();
    at::native::ldl_solve_kernels(c10::DeviceType::CPU, found,
                                  Matrices{const_cast<void*>(a), n, n, solutions.dtype}.read(),
                                  read_vectors(pivots, 1, n, at::kLong).to(at::kInt), /*hermitian=*/false);
    solutions.write(found);
    *info = 0;
  });
}

// ---------------------------------------------------------------------------------------- eigenvalues, singular values

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                             cublasFillMode_t, int64_t n, cudaDataType, void*, int64_t, cudaDataType,
                                             void*, cudaDataType, size_t* device_bytes, size_t* host_bytes) {
  return ask(n, device_bytes, host_bytes);
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t mode,
                                  cublasFillMode_t fill, int64_t n, cudaDataType type, void* a, int64_t leading,
                                  cudaDataType w_type, void* w, cudaDataType compute, void* device, size_t device_bytes,
                                  void* host, size_t host_bytes, int* info) {
  return cusolverDnXsyevBatched(handle, parameters, mode, fill, n, type, a, leading, w_type, w, compute, device,
                                device_bytes, host, host_bytes, info, 1);
}
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                                   cublasFillMode_t, int64_t n, cudaDataType, const void*, int64_t,
                                                   cudaDataType, const void*, cudaDataType, size_t* device_bytes,
                                                   size_t* host_bytes, int64_t) {
  return ask(n, device_bytes, host_bytes);
}
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t mode,
                                        cublasFillMode_t fill, int64_t n, cudaDataType type, void* a, int64_t leading,
                                        cudaDataType, void* w, cudaDataType, void* device, size_t device_bytes, void*,
                                        size_t, int* info, int64_t batches) {
  return queue(handle, leading == n && is_enough(n, device_bytes), device, device_bytes, [=] {
    find_eigenvalues({a, n, n, dtype_of(type), batches}, w, mode == CUSOLVER_EIG_MODE_VECTOR,
                     fill == CUBLAS_FILL_MODE_UPPER, info);
  });
}

cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                            cusolverEigMode_t, int64_t n, cudaDataType, void*, int64_t, cudaDataType,
                                            void*, cudaDataType, void*, int64_t, cudaDataType, void*, int64_t,
                                            cudaDataType, size_t* device_bytes, size_t* host_bytes) {
  return ask(n, device_bytes, host_bytes);
}
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t left,
                                 cusolverEigMode_t right, int64_t n, cudaDataType type, void* a, int64_t leading,
                                 cudaDataType w_type, void* w, cudaDataType, void*, int64_t, cudaDataType, void* vr,
                                 int64_t vr_leading, cudaDataType, void* device, size_t device_bytes, void*, size_t,
                                 int* info) {
  const bool is_right = left == CUSOLVER_EIG_MODE_NOVECTOR && leading == n && vr_leading == n &&
                        dtype_of(w_type) == c10::complex_type(c10::real_type(dtype_of(type)));
  return queue(handle, is_right && is_enough(n, device_bytes), device, device_bytes, [=] {
    find_general_eigenvalues({a, n, n, dtype_of(type)}, w, right == CUSOLVER_EIG_MODE_VECTOR ? vr : nullptr, info);
  });
}

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, signed char, signed char, int64_t,
                                             int64_t n, cudaDataType, void*, int64_t, cudaDataType, void*, cudaDataType,
                                             void*, int64_t, cudaDataType, void*, int64_t, cudaDataType,
                                             size_t* device_bytes, size_t* host_bytes) {
  return ask(n, device_bytes, host_bytes);
}
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char job_u, signed char job_vt,
                                  int64_t m, int64_t n, cudaDataType type, void* a, int64_t leading, cudaDataType,
                                  void* s, cudaDataType, void* u, int64_t u_leading, cudaDataType, void* vt,
                                  int64_t vt_leading, cudaDataType, void* device, size_t device_bytes, void*, size_t,
                                  int* info) {
  const bool right = m >= n && leading == m && u_leading == m && vt_leading == n && (job_u == 'N') == (job_vt == 'N');
  return queue(handle, right && is_enough(n, device_bytes), device, device_bytes, [=] {
    find_singular_values({a, m, n, dtype_of(type)}, s, u, job_u == 'A' ? m : n, vt, /*adjoint=*/true, job_u != 'N',
                         info);
  });
}

// ------------------------------------------------------------------------------------------------ routines of one type

#define DEFINE_SOLVERS(p, T, R, orthogonal)                                                                            \
  cusolverStatus_t cusolverDn##p##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a[],        \
                                               int leading, int* info, int batches) {                                  \
    if (leading != n) return CUSOLVER_STATUS_INVALID_VALUE;                                                            \
    const auto work = [=] {                                                                                            \
      for (int i = 0; i < batches; ++i) {                                                                              \
        factor_by_cholesky({a[i], n, n, dtype_of(kType<T>)}, fill == CUBLAS_FILL_MODE_UPPER, info + i);                \
      }                                                                                                                \
      return cudaSuccess;                                                                                              \
    };                                                                                                                 \
    return cuda_emulation::enqueue(stream_of(handle), work) == cudaSuccess ? CUSOLVER_STATUS_SUCCESS                   \
                                                                           : CUSOLVER_STATUS_EXECUTION_FAILED;         \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##getrf_bufferSize(cusolverDnHandle_t, int, int n, T*, int, int* size) {               \
    return ask(n, size);                                                                                               \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##getrf(cusolverDnHandle_t handle, int m, int n, T* a, int leading, T* work,           \
                                        int* pivots, int* info) {                                                      \
    return queue_sized(handle, leading == m, n, work, 3 * n,                                                           \
                       [=] { factor_by_lu({a, m, n, dtype_of(kType<T>)}, pivots, info); });                            \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##orthogonal##gqr_bufferSize(cusolverDnHandle_t, int, int n, int, const T*, int,       \
                                                             const T*, int* size) {                                    \
    return ask(n, size);                                                                                               \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##orthogonal##gqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int leading,   \
                                                  const T* tau, T* work, int size, int* info) {                        \
    return queue_sized(handle, leading == m && m >= n && n >= k, n, work, size, [=] {                                  \
      const Matrices matrices{a, m, n, dtype_of(kType<T>)};                                                            \
      const Tensor found = matrices.read();                                                                            \
      at::native::householder_product_kernels(c10::DeviceType::CPU, found, read_vectors(tau, 1, k, matrices.dtype));   \
      matrices.write(found);                                                                                           \
      *info = 0;                                                                                                       \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##orthogonal##mqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t,  \
                                                             int, int n, int, const T*, int, const T*, const T*, int,  \
                                                             int* size) {                                              \
    return ask(n, size);                                                                                               \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##orthogonal##mqr(                                                                     \
      cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t operation, int m, int n, int k, const T* a,  \
      int leading, const T* tau, T* c, int c_leading, T* work, int size, int* info) {                                  \
    const bool left = side == CUBLAS_SIDE_LEFT;                                                                        \
    const bool is_real = kType<T> == CUDA_R_32F || kType<T> == CUDA_R_64F;                                             \
    const bool right = operation == CUBLAS_OP_N || operation == (is_real ? CUBLAS_OP_T : CUBLAS_OP_C);                 \
    return queue_sized(handle, right && leading == (left ? m : n) && c_leading == m, n, work, size, [=] {              \
      const Matrices products{c, m, n, dtype_of(kType<T>)};                                                            \
      const Tensor found = products.read();                                                                            \
      at::native::ormqr_kernels(c10::DeviceType::CPU, found,                                                           \
                                Matrices{const_cast<T*>(a), leading, k, products.dtype}.read(),                        \
                                read_vectors(tau, 1, k, products.dtype), left, operation != CUBLAS_OP_N);              \
      products.write(found);                                                                                           \
      *info = 0;                                                                                                       \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##sytrf_bufferSize(cusolverDnHandle_t, int n, T*, int, int* size) {                    \
    return ask(n, size);                                                                                               \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##sytrf(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a, int leading,    \
                                        int* pivots, T* work, int size, int* info) {                                   \
    return queue_sized(handle, fill == CUBLAS_FILL_MODE_LOWER && leading == n, n, work, size,                          \
                       [=] { factor_by_ldl({a, n, n, dtype_of(kType<T>)}, pivots, info); });                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##gesvdj_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, int, int, int n, const T*,  \
                                                    int, const R*, const T*, int, const T*, int, int* size,            \
                                                    gesvdjInfo_t) {                                                    \
    return ask(n, size);                                                                                               \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t mode, int thin, int m, int n,    \
                                         T* a, int leading, R* s, T* u, int u_leading, T* v, int v_leading, T* work,   \
                                         int size, int* info, gesvdjInfo_t) {                                          \
    return queue_sized(handle, m >= n && leading == m && u_leading == m && v_leading == n, n, work, size, [=] {        \
      find_singular_values({a, m, n, dtype_of(kType<T>)}, s, u, thin ? n : m, v, false,                                \
                           mode == CUSOLVER_EIG_MODE_VECTOR, info);                                                    \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##gesvdjBatched_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, int, int n,          \
                                                           const T*, int, const R*, const T*, int, const T*, int,      \
                                                           int* size, gesvdjInfo_t, int) {                             \
    return ask(n, size);                                                                                               \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##gesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, T* a, \
                                                int leading, R* s, T* u, int u_leading, T* v, int v_leading, T* work,  \
                                                int size, int* info, gesvdjInfo_t, int batches) {                      \
    const bool right = m >= n && m <= 32 && leading == m && u_leading == m && v_leading == n;                          \
    return queue_sized(handle, right, n, work, size, [=] {                                                             \
      find_singular_values({a, m, n, dtype_of(kType<T>), batches}, s, u, m, v, false,                                  \
                           mode == CUSOLVER_EIG_MODE_VECTOR, info);                                                    \
    });                                                                                                                \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##gesvdaStridedBatched_bufferSize(                                                     \
      cusolverDnHandle_t, cusolverEigMode_t, int, int, int n, const T*, int, long long, const R*, long long, const T*, \
      int, long long, const T*, int, long long, int* size, int) {                                                      \
    return ask(n, size);                                                                                               \
  }                                                                                                                    \
  cusolverStatus_t cusolverDn##p##gesvdaStridedBatched(                                                                \
      cusolverDnHandle_t handle, cusolverEigMode_t mode, int rank, int m, int n, const T* a, int leading,              \
      long long a_stride, R* s, long long s_stride, T* u, int u_leading, long long u_stride, T* v, int v_leading,      \
      long long v_stride, T* work, int size, int* info, double*, int batches) {                                        \
    const bool right = m >= n && rank == n && leading == m && u_leading == m && v_leading == n &&                      \
                       a_stride == (long long)m * n && s_stride == n && u_stride == (long long)m * n &&                \
                       v_stride == (long long)n * n;                                                                   \
    return queue_sized(handle, right, n, work, size, [=] {                                                             \
      find_singular_values({const_cast<T*>(a), m, n, dtype_of(kType<T>), batches}, s, u, n, v, false,                  \
                           mode == CUSOLVER_EIG_MODE_VECTOR, info);                                                    \
    });                                                                                                                \
  }
DEFINE_SOLVERS(S, float, float, or)
DEFINE_SOLVERS(D, double, double, or)
DEFINE_SOLVERS(C, cuComplex, float, un)
DEFINE_SOLVERS(Z, cuDoubleComplex, double, un)
