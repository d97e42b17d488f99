#pragma once
// Matrix products on raw memory.

#include <aten/Parallel.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace at::native::cpu {

// A matrix as BLAS reads it: rows next to each other (`transposed` false) or columns next to each other
// (true), with `leading` elements from one to the next.
template <typename T>
struct MatrixOperand {
  const T* data;
  int64_t leading;
  bool transposed;
};

// out[m, n] = beta * out + alpha * a[m, k] @ b[k, n]; `out` has its rows next to each other, `out_leading`
// elements apart. With beta == 0 what was in `out` is not read.
#define TORCH_DECLARE_GEMM(cpp_type, ...)                                                                 \
  void gemm(int64_t m, int64_t n, int64_t k, cpp_type alpha, MatrixOperand<cpp_type> a,                   \
            MatrixOperand<cpp_type> b, cpp_type beta, cpp_type* out, int64_t out_leading);
C10_FORALL_COMPUTING_FLOATING_TYPES(TORCH_DECLARE_GEMM)
C10_FORALL_COMPLEX_TYPES(TORCH_DECLARE_GEMM)
C10_FORALL_INTEGRAL_TYPES(TORCH_DECLARE_GEMM)
#undef TORCH_DECLARE_GEMM

// out = the sum of conj(a) b over `count` neighbours.
void conjugate_dot(int64_t count, const c10::complex<float>* a, const c10::complex<float>* b,
                   c10::complex<float>* out);
void conjugate_dot(int64_t count, const c10::complex<double>* a, const c10::complex<double>* b,
                   c10::complex<double>* out);

// A routine of BLAS or LAPACK: they take as many threads as OpenMP has for this one, which get_num_threads sees to.
template <auto routine>
struct Threaded;
template <typename... Arguments, void (*routine)(Arguments...)>
struct Threaded<routine> {
  static void call(Arguments... arguments) {
    get_num_threads();
    routine(arguments...);
  }
};

// While it lives, products run on the thread that asks for them (if `active`), for loops that are themselves parallel.
// MKL and an OpenBLAS on OpenMP do so by themselves; an OpenBLAS with threads of its own has to be told.
class SerialBlas {
 public:
  explicit SerialBlas(bool active);
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 private:
  int threads_;  // to return to; 0: nothing was changed
};

// While it lives, MKL does what this thread asks for without others, if `active`: below some size waking them takes
// longer than the work.
class SerialMkl {
 public:
  explicit SerialMkl(bool active);
  ~SerialMkl();
  SerialMkl(const SerialMkl&) = delete;
  SerialMkl& operator=(const SerialMkl&) = delete;

 private:
  int threads_;  // to return to; -1: nothing was changed
};

}  // namespace at::native::cpu
