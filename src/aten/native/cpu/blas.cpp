// gemm by the BLAS that is linked (MKL's LP64 interface and OpenBLAS have the same), and by own loops for
// integers (integer_products.h).

#include <aten/native/cpu/blas.h>

#include <aten/native/cpu/integer_products.h>
#include <aten/native/cpu/panel_gemm.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <type_traits>

extern "C" {
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void sgemv_(const char* trans, const int* m, const int* n, const float* alpha, const float* a, const int* lda,
            const float* x, const int* incx, const float* beta, float* y, const int* incy);
void dgemv_(const char* trans, const int* m, const int* n, const double* alpha, const double* a,
            const int* lda, const double* x, const int* incx, const double* beta, double* y, const int* incy);
// Of pairs of floats and of doubles.
void cgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const void* alpha,
            const void* a, const int* lda, const void* b, const int* ldb, const void* beta, void* c, const int* ldc);
void cgemv_(const char* trans, const int* m, const int* n, const void* alpha, const void* a, const int* lda,
            const void* x, const int* incx, const void* beta, void* y, const int* incy);
void zgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const void* alpha,
            const void* a, const int* lda, const void* b, const int* ldb, const void* beta, void* c, const int* ldc);
void zgemv_(const char* trans, const int* m, const int* n, const void* alpha, const void* a, const int* lda,
            const void* x, const int* incx, const void* beta, void* y, const int* incy);
#ifndef _WIN32  // which has no weak symbols
// Only OpenBLAS has these.
[[gnu::weak]] int openblas_get_parallel();
[[gnu::weak]] int openblas_get_num_threads();
[[gnu::weak]] void openblas_set_num_threads(int threads);
// Only MKL has this; it returns what was set before.
[[gnu::weak]] int MKL_Set_Num_Threads_Local(int threads);
#endif
}

namespace at::native::cpu {

namespace {

int blas_int(int64_t value) {
  TORCH_CHECK(value <= std::numeric_limits<int>::max(), "matrix product: a size of ", value,
              " is more than this BLAS can take (2^31 - 1); split the matrix");
  return static_cast<int>(value);
}

template <typename T>
void scale_rows(int64_t m, int64_t n, T beta, T* out, int64_t out_leading) {
  for (int64_t i = 0; i < m; ++i) {
    T* row = out + i * out_leading;
    if (beta == T(0)) {
      std::fill_n(row, n, T(0));
    } else if (beta != T(1)) {
      for (int64_t j = 0; j < n; ++j) row[j] *= beta;
    }
  }
}

// BLAS counts columns first, so it is asked for the transpose: out^T = b^T a^T, and a matrix with its rows
// next to each other is what it calls a transposed one. `Gemm` and `Gemv` are its routines for T.
template <typename T, typename Gemm, typename Gemv>
void blas_gemm(Gemm&& call_gemm, Gemv&& call_gemv, int64_t m, int64_t n, int64_t k, T alpha,
               MatrixOperand<T> a, MatrixOperand<T> b, T beta, T* out, int64_t out_leading) {
  if (m == 0 || n == 0) return;
  if (k == 0) return scale_rows(m, n, beta, out, out_leading);
  const int one = 1;
  const int lda = blas_int(a.leading);
  const int ldb = blas_int(b.leading);
  if (n == 1) {  // matrix times vector: b's elements are `step` apart
    const int step = b.transposed ? 1 : ldb;
    const int step_out = blas_int(out_leading);
    const char mode = a.transposed ? 'n' : 't';
    const int rows = blas_int(a.transposed ? m : k);
    const int columns = blas_int(a.transposed ? k : m);
    return call_gemv(&mode, &rows, &columns, &alpha, a.data, &lda, b.data, &step, &beta, out, &step_out);
  }
  if (m == 1) {  // vector times matrix, read as the transposed matrix times the vector
    const int step = a.transposed ? lda : 1;
    const char mode = b.transposed ? 't' : 'n';
    const int rows = blas_int(b.transposed ? k : n);
    const int columns = blas_int(b.transposed ? n : k);
    return call_gemv(&mode, &rows, &columns, &alpha, b.data, &ldb, a.data, &step, &beta, out, &one);
  }
  const char mode_a = a.transposed ? 't' : 'n';
  const char mode_b = b.transposed ? 't' : 'n';
  const int rows = blas_int(n);
  const int columns = blas_int(m);
  const int inner = blas_int(k);
  const int ldc = blas_int(out_leading);
  constexpr int64_t kSerialWork = (int64_t{3} << 18) / static_cast<int64_t>(sizeof(T));
  const SerialMkl serial(m * n * k < kSerialWork);
  call_gemm(&mode_b, &mode_a, &rows, &columns, &inner, &alpha, b.data, &ldb, a.data, &lda, &beta, out, &ldc);
}

// Vectors are the business of gemv, and what is very small is not worth the packing.
bool is_for_panels(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kLeast = 16 * 16 * 16;
  return m > 1 && n >= 8 && k > 0 && m * n * k >= kLeast && panels_beat_blas();
}

}  // namespace

void gemm(int64_t m, int64_t n, int64_t k, float alpha, MatrixOperand<float> a, MatrixOperand<float> b,
          float beta, float* out, int64_t out_leading) {
  if (alpha != 0 && is_for_panels(m, n, k)) return panel_gemm(m, n, k, alpha, a, b, beta, out, out_leading);
  blas_gemm(Threaded<sgemm_>::call, Threaded<sgemv_>::call, m, n, k, alpha, a, b, beta, out, out_leading);
}

void gemm(int64_t m, int64_t n, int64_t k, double alpha, MatrixOperand<double> a, MatrixOperand<double> b,
          double beta, double* out, int64_t out_leading) {
  if (alpha != 0 && is_for_panels(m, n, k)) return panel_gemm(m, n, k, alpha, a, b, beta, out, out_leading);
  blas_gemm(Threaded<dgemm_>::call, Threaded<dgemv_>::call, m, n, k, alpha, a, b, beta, out, out_leading);
}

void gemm(int64_t m, int64_t n, int64_t k, c10::complex<float> alpha, MatrixOperand<c10::complex<float>> a,
          MatrixOperand<c10::complex<float>> b, c10::complex<float> beta, c10::complex<float>* out,
          int64_t out_leading) {
  blas_gemm(Threaded<cgemm_>::call, Threaded<cgemv_>::call, m, n, k, alpha, a, b, beta, out, out_leading);
}

void gemm(int64_t m, int64_t n, int64_t k, c10::complex<double> alpha, MatrixOperand<c10::complex<double>> a,
          MatrixOperand<c10::complex<double>> b, c10::complex<double> beta, c10::complex<double>* out,
          int64_t out_leading) {
  blas_gemm(Threaded<zgemm_>::call, Threaded<zgemv_>::call, m, n, k, alpha, a, b, beta, out, out_leading);
}

namespace {

// A matrix of one column, turned and conjugated, times a vector.
template <typename T, typename Gemv>
void gemv_of_conjugates(Gemv&& call_gemv, int64_t count, const T* a, const T* b, T* out) {
  const char mode = 'c';
  const int rows = blas_int(count);
  const int one = 1;
  const T alpha(1);
  const T beta(0);
  call_gemv(&mode, &rows, &one, &alpha, a, &rows, b, &one, &beta, out, &one);
}

}  // namespace

void conjugate_dot(int64_t count, const c10::complex<float>* a, const c10::complex<float>* b,
                   c10::complex<float>* out) {
  gemv_of_conjugates(Threaded<cgemv_>::call, count, a, b, out);
}

void conjugate_dot(int64_t count, const c10::complex<double>* a, const c10::complex<double>* b,
                   c10::complex<double>* out) {
  gemv_of_conjugates(Threaded<zgemv_>::call, count, a, b, out);
}

#define TORCH_INTEGER_GEMM(cpp_type, ...)                                                                 \
  void gemm(int64_t m, int64_t n, int64_t k, cpp_type alpha, MatrixOperand<cpp_type> a,                   \
            MatrixOperand<cpp_type> b, cpp_type beta, cpp_type* out, int64_t out_leading) {               \
    using Word = std::make_unsigned_t<cpp_type>;                                                          \
    const auto word = [](const cpp_type* data) { return reinterpret_cast<const Word*>(data); };           \
    integer_gemm(m, n, k, static_cast<Word>(alpha), {word(a.data), a.leading, a.transposed},              \
                 {word(b.data), b.leading, b.transposed}, static_cast<Word>(beta),                        \
                 reinterpret_cast<Word*>(out), out_leading);                                              \
  }
C10_FORALL_INTEGRAL_TYPES(TORCH_INTEGER_GEMM)
#undef TORCH_INTEGER_GEMM

SerialBlas::SerialBlas([[maybe_unused]] bool active) : threads_(0) {
#ifndef _WIN32
  constexpr int kOwnThreads = 1;  // what openblas_get_parallel calls them
  if (!active || !openblas_get_parallel || openblas_get_parallel() != kOwnThreads) return;
  const int threads = openblas_get_num_threads();
  if (threads == 1) return;
  threads_ = threads;
  openblas_set_num_threads(1);
#endif
}

SerialMkl::SerialMkl([[maybe_unused]] bool active) : threads_(-1) {
#ifndef _WIN32
  if (active && MKL_Set_Num_Threads_Local && get_num_threads() > 1) threads_ = MKL_Set_Num_Threads_Local(1);
#endif
}

SerialMkl::~SerialMkl() {
#ifndef _WIN32
  if (threads_ >= 0) MKL_Set_Num_Threads_Local(threads_);
#endif
}

SerialBlas::~SerialBlas() {
#ifndef _WIN32
  if (threads_ > 0) openblas_set_num_threads(threads_);
#endif
}

}  // namespace at::native::cpu
