#pragma once
// The LAPACK that is linked (MKL's LP64 interface and OpenBLAS have the same), with one name per routine for all four
// element types: Lapack<T>::potrf. Matrices lie with their columns next to each other. Sizes are ints: whoever calls
// takes them through lapack_int. Routines of complex numbers that are called differently have the real one's name here
// (orgqr for ungqr), and hetrf of real numbers is sytrf.

#include <aten/native/cpu/blas.h>
#include <c10/util/Exception.h>
#include <c10/util/complex.h>

#include <cstdint>
#include <limits>

#define TORCH_LAPACK_DECLARE(p, T, R, orgqr, ormqr, hetrf, hetrs)                                                      \
  void p##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info);                                     \
  void p##potri_(const char* uplo, const int* n, T* a, const int* lda, int* info);                                     \
  void p##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);                            \
  void p##getrs_(const char* trans, const int* n, const int* nrhs, const T* a, const int* lda, const int* pivots,      \
                 T* b, const int* ldb, int* info);                                                                     \
  void p##trsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,   \
                const T* alpha, const T* a, const int* lda, T* b, const int* ldb);                                     \
  void p##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);      \
  void p##orgqr##_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,              \
                   const int* lwork, int* info);                                                                       \
  void p##ormqr##_(const char* side, const char* trans, const int* m, const int* n, const int* k, const T* a,          \
                   const int* lda, const T* tau, T* c, const int* ldc, T* work, const int* lwork, int* info);          \
  void p##sytrf_(const char* uplo, const int* n, T* a, const int* lda, int* pivots, T* work, const int* lwork,         \
                 int* info);                                                                                           \
  void p##sytrs_(const char* uplo, const int* n, const int* nrhs, const T* a, const int* lda, const int* pivots, T* b, \
                 const int* ldb, int* info);                                                                           \
  void p##gels_(const char* trans, const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,            \
                const int* ldb, T* work, const int* lwork, int* info);

// The complex ones have a workspace of real numbers, too.
#define TORCH_LAPACK_DECLARE_REAL(p, T)                                                                              \
  void p##syevd_(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,              \
                 const int* lwork, int* iwork, const int* liwork, int* info);                                        \
  void p##geev_(const char* jobvl, const char* jobvr, const int* n, T* a, const int* lda, T* wr, T* wi, T* vl,       \
                const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, int* info);                      \
  void p##gesdd_(const char* jobz, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu,     \
                 T* vt, const int* ldvt, T* work, const int* lwork, int* iwork, int* info);                          \
  void p##gelsy_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, int* jpvt, \
                 const T* rcond, int* rank, T* work, const int* lwork, int* info);                                   \
  void p##gelsd_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, T* s,      \
                 const T* rcond, int* rank, T* work, const int* lwork, int* iwork, int* info);                       \
  void p##gelss_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, T* s,      \
                 const T* rcond, int* rank, T* work, const int* lwork, int* info);

#define TORCH_LAPACK_DECLARE_COMPLEX(p, T, R)                                                                          \
  void p##hetrf_(const char* uplo, const int* n, T* a, const int* lda, int* pivots, T* work, const int* lwork,         \
                 int* info);                                                                                           \
  void p##hetrs_(const char* uplo, const int* n, const int* nrhs, const T* a, const int* lda, const int* pivots, T* b, \
                 const int* ldb, int* info);                                                                           \
  void p##heevd_(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, R* w, T* work,                \
                 const int* lwork, R* rwork, const int* lrwork, int* iwork, const int* liwork, int* info);             \
  void p##geev_(const char* jobvl, const char* jobvr, const int* n, T* a, const int* lda, T* w, T* vl,                 \
                const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, R* rwork, int* info);              \
  void p##gesdd_(const char* jobz, const int* m, const int* n, T* a, const int* lda, R* s, T* u, const int* ldu,       \
                 T* vt, const int* ldvt, T* work, const int* lwork, R* rwork, int* iwork, int* info);                  \
  void p##gelsy_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, int* jpvt,   \
                 const R* rcond, int* rank, T* work, const int* lwork, R* rwork, int* info);                           \
  void p##gelsd_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, R* s,        \
                 const R* rcond, int* rank, T* work, const int* lwork, R* rwork, int* iwork, int* info);               \
  void p##gelss_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, R* s,        \
                 const R* rcond, int* rank, T* work, const int* lwork, R* rwork, int* info);

extern "C" {
TORCH_LAPACK_DECLARE(s, float, float, orgqr, ormqr, sytrf, sytrs)
TORCH_LAPACK_DECLARE(d, double, double, orgqr, ormqr, sytrf, sytrs)
TORCH_LAPACK_DECLARE(c, c10::complex<float>, float, ungqr, unmqr, hetrf, hetrs)
TORCH_LAPACK_DECLARE(z, c10::complex<double>, double, ungqr, unmqr, hetrf, hetrs)
TORCH_LAPACK_DECLARE_REAL(s, float)
TORCH_LAPACK_DECLARE_REAL(d, double)
TORCH_LAPACK_DECLARE_COMPLEX(c, c10::complex<float>, float)
TORCH_LAPACK_DECLARE_COMPLEX(z, c10::complex<double>, double)
}

#undef TORCH_LAPACK_DECLARE
#undef TORCH_LAPACK_DECLARE_REAL
#undef TORCH_LAPACK_DECLARE_COMPLEX

namespace at::native::cpu {

template <typename T>
struct Lapack;

#define TORCH_LAPACK_TABLE(p, T, R, real, orgqr_name, ormqr_name, hetrf_name, hetrs_name, syevd_name) \
  template <>                                                                                  \
  struct Lapack<T> {                                                                           \
    using Real = R;                                                                            \
    static constexpr bool kIsReal = real;                                                      \
    static constexpr auto potrf = Threaded<p##potrf_>::call;                                   \
    static constexpr auto potri = Threaded<p##potri_>::call;                                   \
    static constexpr auto getrf = Threaded<p##getrf_>::call;                                   \
    static constexpr auto getrs = Threaded<p##getrs_>::call;                                   \
    static constexpr auto trsm = Threaded<p##trsm_>::call;                                     \
    static constexpr auto geqrf = Threaded<p##geqrf_>::call;                                   \
    static constexpr auto orgqr = Threaded<p##orgqr_name##_>::call;                            \
    static constexpr auto ormqr = Threaded<p##ormqr_name##_>::call;                            \
    static constexpr auto sytrf = Threaded<p##sytrf_>::call;                                   \
    static constexpr auto sytrs = Threaded<p##sytrs_>::call;                                   \
    static constexpr auto hetrf = Threaded<p##hetrf_name##_>::call;                            \
    static constexpr auto hetrs = Threaded<p##hetrs_name##_>::call;                            \
    static constexpr auto syevd = Threaded<p##syevd_name##_>::call;                            \
    static constexpr auto geev = Threaded<p##geev_>::call;                                     \
    static constexpr auto gesdd = Threaded<p##gesdd_>::call;                                   \
    static constexpr auto gels = Threaded<p##gels_>::call;                                     \
    static constexpr auto gelsy = Threaded<p##gelsy_>::call;                                   \
    static constexpr auto gelsd = Threaded<p##gelsd_>::call;                                   \
    static constexpr auto gelss = Threaded<p##gelss_>::call;                                   \
  };
TORCH_LAPACK_TABLE(s, float, float, true, orgqr, ormqr, sytrf, sytrs, syevd)
TORCH_LAPACK_TABLE(d, double, double, true, orgqr, ormqr, sytrf, sytrs, syevd)
TORCH_LAPACK_TABLE(c, c10::complex<float>, float, false, ungqr, unmqr, hetrf, hetrs, heevd)
TORCH_LAPACK_TABLE(z, c10::complex<double>, double, false, ungqr, unmqr, hetrf, hetrs, heevd)
#undef TORCH_LAPACK_TABLE

// A size as LAPACK takes it. Throws Error when it does not fit.
inline int lapack_int(int64_t value) {
  TORCH_CHECK(value >= 0 && value <= std::numeric_limits<int>::max(), "linear algebra: a size of ", value,
              " is more than this LAPACK can take (2^31 - 1)");
  return static_cast<int>(value);
}

}  // namespace at::native::cpu
