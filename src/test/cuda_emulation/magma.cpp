// MAGMA as the plug-in sees it: routines that wait for nobody's stream, work on one of their own, and are done when
// they return. Sizes that MAGMA would not be content with are refused.

#include "lapack.h"
#include "memory.h"
#include "queue.h"

#include <magma_v2.h>

#include <algorithm>
#include <complex>
#include <vector>

namespace {

using namespace cuda_emulation;

bool initialized = false;

template <typename T>
constexpr at::ScalarType kDtype = at::kFloat;
template <>
constexpr at::ScalarType kDtype<double> = at::kDouble;
template <>
constexpr at::ScalarType kDtype<magmaFloatComplex> = c10::kComplexFloat;
template <>
constexpr at::ScalarType kDtype<magmaDoubleComplex> = c10::kComplexDouble;

// What LAPACK and MAGMA call a wrong argument, without its place in the list.
constexpr magma_int_t kWrongArgument = -1;

magma_int_t answer(magma_int_t* info, magma_int_t code) { return *info = code; }

// `body(code)`, which may touch memory of the device.
template <typename T, typename Body>
magma_int_t run_on_device(const T* matrix, int64_t count, bool right, magma_int_t* info, const Body& body) {
  if (!initialized) return answer(info, MAGMA_ERR_NOT_INITIALIZED);
  if (!right || !is_device_memory(matrix, sizeof(T) * static_cast<size_t>(count), current_device()))
    return answer(info, kWrongArgument);
  cudaStream_t stream = nullptr;
  magma_int_t code = 0;
  const auto work = [&] {
    body(&code);
    return cudaSuccess;
  };
  const bool done = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
                    enqueue(stream, work) == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess &&
                    cudaStreamDestroy(stream) == cudaSuccess;
  return answer(info, done ? code : MAGMA_ERR);
}

// Whether a call only asks for sizes, and has then got them.
template <typename T>
bool is_question(magma_int_t size, T* work, int64_t needed) {
  if (size != -1) return false;
  *work = static_cast<T>(static_cast<float>(needed));
  return true;
}

template <typename T>
magma_int_t potrf(magma_uplo_t uplo, magma_int_t n, T* matrix, magma_int_t leading, magma_int_t* info) {
  return run_on_device(matrix, int64_t{n} * n, leading == n, info,
                       [=](int* code) { factor_by_cholesky({matrix, n, n, kDtype<T>}, uplo == MagmaUpper, code); });
}

template <typename T>
magma_int_t getrf(magma_int_t m, magma_int_t n, T* matrix, magma_int_t leading, magma_int_t* pivots,
                  magma_int_t* info) {
  return run_on_device(matrix, int64_t{m} * n, leading == m, info,
                       [=](int* code) { factor_by_lu({matrix, m, n, kDtype<T>}, pivots, code); });
}

template <typename T>
magma_int_t geqrf(magma_int_t m, magma_int_t n, T* matrix, magma_int_t leading, T* tau, magma_int_t* info) {
  return run_on_device(matrix, int64_t{m} * n, leading == m, info,
                       [=](int*) { factor_by_qr({matrix, m, n, kDtype<T>}, tau); });
}

template <typename T, typename R>
magma_int_t syevd(magma_vec_t job, magma_uplo_t uplo, magma_int_t n, T* matrix, magma_int_t leading, R* w,
                  magma_int_t copy_leading, T* work, magma_int_t size, magma_int_t* places, magma_int_t count,
                  magma_int_t* info) {
  if (is_question(size, work, 2 * n + int64_t{n} * n)) {
    *places = 3 + 5 * n;
    return answer(info, 0);
  }
  const bool right = leading == n && copy_leading == n && size >= 2 * n + int64_t{n} * n && count >= 3 + 5 * n;
  return run_on_device(matrix, int64_t{n} * n, right, info, [=](int* code) {
    std::fill_n(work, size, T(7));
    find_eigenvalues({matrix, n, n, kDtype<T>}, w, job == MagmaVec, uplo == MagmaUpper, code);
  });
}

// `w` gets std::complex<R>.
template <typename T, typename R>
magma_int_t geev(magma_vec_t job_left, magma_vec_t job_right, magma_int_t n, T* matrix, magma_int_t leading,
                 std::complex<R>* w, T* right, magma_int_t right_leading, T* work, magma_int_t size,
                 magma_int_t* info) {
  if (!initialized) return answer(info, MAGMA_ERR_NOT_INITIALIZED);
  if (is_question(size, work, 4 * int64_t{n})) return answer(info, 0);
  if (job_left != MagmaNoVec || leading != n || right_leading != n || size < 4 * n) return answer(info, kWrongArgument);
  std::fill_n(work, size, T(7));
  find_general_eigenvalues({matrix, n, n, kDtype<T>}, w, job_right == MagmaVec ? right : nullptr, info);
  std::fill_n(matrix, int64_t{n} * n, T(7));
  return *info;
}

template <typename T, typename R>
magma_int_t gesdd(magma_vec_t job, magma_int_t m, magma_int_t n, T* matrix, magma_int_t leading, R* s, T* u,
                  magma_int_t u_leading, T* vt, magma_int_t vt_leading, T* work, magma_int_t size, magma_int_t* places,
                  magma_int_t* info) {
  if (!initialized) return answer(info, MAGMA_ERR_NOT_INITIALIZED);
  if (is_question(size, work, 5 * int64_t{m} * n)) return answer(info, 0);
  if (m < n || leading != m || u_leading != m || vt_leading != n || size < 5 * int64_t{m} * n)
    return answer(info, kWrongArgument);
  std::fill_n(work, size, T(7));
  std::fill_n(places, 8 * n, 7);
  find_singular_values({matrix, m, n, kDtype<T>}, s, u, job == MagmaAllVec ? m : n, vt, /*adjoint=*/true,
                       job != MagmaNoVec, info);
  return *info;
}

}  // namespace

magma_int_t magma_init() {
  int devices = 0;
  initialized = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  return initialized ? MAGMA_SUCCESS : MAGMA_ERR_NOT_INITIALIZED;
}
const char* magma_strerror(magma_int_t error) {
  return error == MAGMA_ERR_NOT_INITIALIZED ? "not initialized" : "unknown MAGMA error code";
}

#define DEFINE_FACTORIZATIONS(p, T)                                                                                   \
  magma_int_t magma_##p##potrf_gpu(magma_uplo_t uplo, magma_int_t n, T* dA, magma_int_t leading, magma_int_t* info) { \
    return potrf(uplo, n, dA, leading, info);                                                                         \
  }                                                                                                                   \
  magma_int_t magma_##p##getrf_gpu(magma_int_t m, magma_int_t n, T* dA, magma_int_t leading, magma_int_t* pivots,     \
                                   magma_int_t* info) {                                                               \
    return getrf(m, n, dA, leading, pivots, info);                                                                    \
  }                                                                                                                   \
  magma_int_t magma_##p##geqrf2_gpu(magma_int_t m, magma_int_t n, T* dA, magma_int_t leading, T* tau,                 \
                                    magma_int_t* info) {                                                              \
    return geqrf(m, n, dA, leading, tau, info);                                                                       \
  }
DEFINE_FACTORIZATIONS(s, float)
DEFINE_FACTORIZATIONS(d, double)
DEFINE_FACTORIZATIONS(c, magmaFloatComplex)
DEFINE_FACTORIZATIONS(z, magmaDoubleComplex)

#define DEFINE_REAL(p, T)                                                                                              \
  magma_int_t magma_##p##syevd_gpu(magma_vec_t job, magma_uplo_t uplo, magma_int_t n, T* dA, magma_int_t leading,      \
                                   T* w, T*, magma_int_t copy_leading, T* work, magma_int_t size, magma_int_t* places, \
                                   magma_int_t count, magma_int_t* info) {                                             \
    return syevd(job, uplo, n, dA, leading, w, copy_leading, work, size, places, count, info);                         \
  }                                                                                                                    \
  magma_int_t magma_##p##geev(magma_vec_t job_left, magma_vec_t job_right, magma_int_t n, T* a, magma_int_t leading,   \
                              T* w_real, T* w_imaginary, T*, magma_int_t, T* right, magma_int_t right_leading,         \
                              T* work, magma_int_t size, magma_int_t* info) {                                          \
    std::vector<std::complex<T>> w(n);                                                                                 \
    geev<T, T>(job_left, job_right, n, a, leading, w.data(), right, right_leading, work, size, info);                  \
    for (magma_int_t i = 0; i < n && size != -1; ++i) w_real[i] = w[i].real(), w_imaginary[i] = w[i].imag();           \
    return *info;                                                                                                      \
  }                                                                                                                    \
  magma_int_t magma_##p##gesdd(magma_vec_t job, magma_int_t m, magma_int_t n, T* a, magma_int_t leading, T* s, T* u,   \
                               magma_int_t u_leading, T* vt, magma_int_t vt_leading, T* work, magma_int_t size,        \
                               magma_int_t* places, magma_int_t* info) {                                               \
    return gesdd(job, m, n, a, leading, s, u, u_leading, vt, vt_leading, work, size, places, info);                    \
  }
DEFINE_REAL(s, float)
DEFINE_REAL(d, double)

#define DEFINE_COMPLEX(p, T, R)                                                                                        \
  magma_int_t magma_##p##heevd_gpu(magma_vec_t job, magma_uplo_t uplo, magma_int_t n, T* dA, magma_int_t leading,      \
                                   R* w, T*, magma_int_t copy_leading, T* work, magma_int_t size, R* real_work,        \
                                   magma_int_t real_size, magma_int_t* places, magma_int_t count, magma_int_t* info) { \
    const int64_t needed = 1 + 5 * int64_t{n} + 2 * int64_t{n} * n;                                                    \
    if (!is_question(real_size, real_work, needed)) {                                                                  \
      if (real_size < needed) return answer(info, kWrongArgument);                                                     \
      std::fill_n(real_work, needed, R(7));                                                                            \
    }                                                                                                                  \
    return syevd(job, uplo, n, dA, leading, w, copy_leading, work, size, places, count, info);                         \
  }                                                                                                                    \
  magma_int_t magma_##p##geev(magma_vec_t job_left, magma_vec_t job_right, magma_int_t n, T* a, magma_int_t leading,   \
                              T* w, T*, magma_int_t, T* right, magma_int_t right_leading, T* work, magma_int_t size,   \
                              R* real_work, magma_int_t* info) {                                                       \
    if (size != -1) std::fill_n(real_work, 2 * n, R(7));                                                               \
    return geev<T, R>(job_left, job_right, n, a, leading, w, right, right_leading, work, size, info);                  \
  }                                                                                                                    \
  magma_int_t magma_##p##gesdd(magma_vec_t job, magma_int_t m, magma_int_t n, T* a, magma_int_t leading, R* s, T* u,   \
                               magma_int_t u_leading, T* vt, magma_int_t vt_leading, T* work, magma_int_t size,        \
                               R* real_work, magma_int_t* places, magma_int_t* info) {                                 \
    if (size != -1) std::fill_n(real_work, int64_t{n} * std::max(5 * n + 7, 2 * m + 2 * n + 1), R(7));                 \
    return gesdd(job, m, n, a, leading, s, u, u_leading, vt, vt_leading, work, size, places, info);                    \
  }
DEFINE_COMPLEX(c, magmaFloatComplex, float)
DEFINE_COMPLEX(z, magmaDoubleComplex, double)
