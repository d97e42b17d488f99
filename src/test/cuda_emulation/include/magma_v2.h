#pragma once
// The part of MAGMA that the plug-in uses, answered by LAPACK. Numbers are MAGMA's own.

#include <cublas_v2.h>

extern "C" {

typedef int magma_int_t;
typedef cuComplex magmaFloatComplex;
typedef cuDoubleComplex magmaDoubleComplex;

constexpr magma_int_t MAGMA_SUCCESS = 0;
constexpr magma_int_t MAGMA_ERR = -100;
constexpr magma_int_t MAGMA_ERR_NOT_INITIALIZED = -101;
enum magma_uplo_t { MagmaUpper = 121, MagmaLower = 122 };
enum magma_vec_t { MagmaNoVec = 301, MagmaVec = 302, MagmaAllVec = 304, MagmaSomeVec = 305 };

magma_int_t magma_init();
const char* magma_strerror(magma_int_t error);

// dA, dU are of the device; everything else is the host's. A size of -1 asks for the sizes of memory to work in.
#define DECLARE_FACTORIZATIONS(p, T)                                                                                 \
  magma_int_t magma_##p##potrf_gpu(magma_uplo_t uplo, magma_int_t n, T* dA, magma_int_t leading, magma_int_t* info); \
  magma_int_t magma_##p##getrf_gpu(magma_int_t m, magma_int_t n, T* dA, magma_int_t leading, magma_int_t* pivots,    \
                                   magma_int_t* info);                                                               \
  magma_int_t magma_##p##geqrf2_gpu(magma_int_t m, magma_int_t n, T* dA, magma_int_t leading, T* tau,                \
                                    magma_int_t* info);
DECLARE_FACTORIZATIONS(s, float)
DECLARE_FACTORIZATIONS(d, double)
DECLARE_FACTORIZATIONS(c, magmaFloatComplex)
DECLARE_FACTORIZATIONS(z, magmaDoubleComplex)
#undef DECLARE_FACTORIZATIONS

#define DECLARE_REAL(p, T)                                                                                           \
  magma_int_t magma_##p##syevd_gpu(magma_vec_t job, magma_uplo_t uplo, magma_int_t n, T* dA, magma_int_t leading,    \
                                   T* w, T* copy, magma_int_t copy_leading, T* work, magma_int_t size,               \
                                   magma_int_t* places, magma_int_t count, magma_int_t* info);                       \
  magma_int_t magma_##p##geev(magma_vec_t job_left, magma_vec_t job_right, magma_int_t n, T* a, magma_int_t leading, \
                              T* w_real, T* w_imaginary, T* left, magma_int_t left_leading, T* right,                \
                              magma_int_t right_leading, T* work, magma_int_t size, magma_int_t* info);              \
  magma_int_t magma_##p##gesdd(magma_vec_t job, magma_int_t m, magma_int_t n, T* a, magma_int_t leading, T* s, T* u, \
                               magma_int_t u_leading, T* vt, magma_int_t vt_leading, T* work, magma_int_t size,      \
                               magma_int_t* places, magma_int_t* info);
DECLARE_REAL(s, float)
DECLARE_REAL(d, double)
#undef DECLARE_REAL

#define DECLARE_COMPLEX(p, T, R)                                                                                      \
  magma_int_t magma_##p##heevd_gpu(magma_vec_t job, magma_uplo_t uplo, magma_int_t n, T* dA, magma_int_t leading,     \
                                   R* w, T* copy, magma_int_t copy_leading, T* work, magma_int_t size, R* real_work,  \
                                   magma_int_t real_size, magma_int_t* places, magma_int_t count, magma_int_t* info); \
  magma_int_t magma_##p##geev(magma_vec_t job_left, magma_vec_t job_right, magma_int_t n, T* a, magma_int_t leading,  \
                              T* w, T* left, magma_int_t left_leading, T* right, magma_int_t right_leading, T* work,  \
                              magma_int_t size, R* real_work, magma_int_t* info);                                     \
  magma_int_t magma_##p##gesdd(magma_vec_t job, magma_int_t m, magma_int_t n, T* a, magma_int_t leading, R* s, T* u,  \
                               magma_int_t u_leading, T* vt, magma_int_t vt_leading, T* work, magma_int_t size,       \
                               R* real_work, magma_int_t* places, magma_int_t* info);
DECLARE_COMPLEX(c, magmaFloatComplex, float)
DECLARE_COMPLEX(z, magmaDoubleComplex, double)
#undef DECLARE_COMPLEX
}
