// libtorch_cuda_linalg: matrix products by cuBLAS.

#include <aten/native/cuda/linalg/Handle.h>
#include <aten/native/cuda/linalg/Linalg.h>

#include <climits>
#include <type_traits>

namespace {

template <typename T, typename P>
T number(const double (&parts)[2]) {
  if constexpr (std::is_same_v<T, P>) return static_cast<P>(parts[0]);
  else return {static_cast<P>(parts[0]), static_cast<P>(parts[1])};
}

// cuBLAS counts columns first: a row-major C = A B is a column-major C' = B' A', so the operands change places.
template <typename T, typename P, typename Function>
const char* multiply(cublasHandle_t handle, const TorchCudaGemm& gemm, Function function) {
  const T alpha = number<T, P>(gemm.alpha);
  const T beta = number<T, P>(gemm.beta);
  return describe(function(handle, gemm.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, gemm.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                           static_cast<int>(gemm.n), static_cast<int>(gemm.m), static_cast<int>(gemm.k), &alpha,
                           static_cast<const T*>(gemm.b), static_cast<int>(gemm.b_leading), gemm.b_batch_stride,
                           static_cast<const T*>(gemm.a), static_cast<int>(gemm.a_leading), gemm.a_batch_stride, &beta,
                           static_cast<T*>(gemm.c), static_cast<int>(gemm.c_leading), gemm.c_batch_stride,
                           static_cast<int>(gemm.batches)));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* torch_cuda_gemm(const TorchCudaGemm* gemm) {
  for (const int64_t size : {gemm->m, gemm->n, gemm->k, gemm->a_leading, gemm->b_leading, gemm->c_leading, gemm->batches}) {
    if (size > INT_MAX) return "a matrix dimension is larger than cuBLAS' 32-bit interface takes";
  }
  cublasHandle_t handle = nullptr;
  if (const char* error = handle_for_current_device(&handle)) return error;
  if (const char* error = describe(cublasSetStream(handle, gemm->stream))) return error;

  if (gemm->is_complex) {
    return gemm->is_double ? multiply<cuDoubleComplex, double>(handle, *gemm, cublasZgemmStridedBatched)
                           : multiply<cuComplex, float>(handle, *gemm, cublasCgemmStridedBatched);
  }
  return gemm->is_double ? multiply<double, double>(handle, *gemm, cublasDgemmStridedBatched)
                         : multiply<float, float>(handle, *gemm, cublasSgemmStridedBatched);
}
