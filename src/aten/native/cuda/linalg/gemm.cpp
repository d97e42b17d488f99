// libtorch_cuda_linalg: matrix products by cuBLAS.

#include <aten/native/cuda/linalg/Linalg.h>

#include <cublas_v2.h>

#include <climits>
#include <map>

namespace {

const char* describe(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? nullptr : cublasGetStatusString(status);
}

// One handle per thread and device: handles must not be used by two threads at once. They are not destroyed, because the
// driver may be gone when thread-local destructors run.
const char* handle_for_current_device(cublasHandle_t* handle) {
  thread_local auto* handles = new std::map<int, cublasHandle_t>();
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return "cudaGetDevice failed";
  const auto found = handles->find(device);
  if (found != handles->end()) {
    *handle = found->second;
    return nullptr;
  }
  if (const char* error = describe(cublasCreate(handle))) return error;
  handles->emplace(device, *handle);
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* torch_cuda_gemm(const TorchCudaGemm* gemm) {
  for (const int64_t size : {gemm->m, gemm->n, gemm->k, gemm->a_leading, gemm->b_leading, gemm->c_leading, gemm->batches}) {
    if (size > INT_MAX) return "a matrix dimension is larger than cuBLAS' 32-bit interface takes";
  }
  cublasHandle_t handle = nullptr;
  if (const char* error = handle_for_current_device(&handle)) return error;
  if (const char* error = describe(cublasSetStream(handle, gemm->stream))) return error;

  // cuBLAS counts columns first: a row-major C = A B is a column-major C' = B' A', so the operands change places.
  const cublasOperation_t first = gemm->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = gemm->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int rows = static_cast<int>(gemm->n);
  const int columns = static_cast<int>(gemm->m);
  const int inner = static_cast<int>(gemm->k);
  const int b_leading = static_cast<int>(gemm->b_leading);
  const int a_leading = static_cast<int>(gemm->a_leading);
  const int c_leading = static_cast<int>(gemm->c_leading);
  const int batches = static_cast<int>(gemm->batches);
  if (gemm->is_double) {
    return describe(cublasDgemmStridedBatched(
        handle, first, second, rows, columns, inner, &gemm->alpha, static_cast<const double*>(gemm->b), b_leading,
        gemm->b_batch_stride, static_cast<const double*>(gemm->a), a_leading, gemm->a_batch_stride, &gemm->beta,
        static_cast<double*>(gemm->c), c_leading, gemm->c_batch_stride, batches));
  }
  const auto alpha = static_cast<float>(gemm->alpha);
  const auto beta = static_cast<float>(gemm->beta);
  return describe(cublasSgemmStridedBatched(
      handle, first, second, rows, columns, inner, &alpha, static_cast<const float*>(gemm->b), b_leading,
      gemm->b_batch_stride, static_cast<const float*>(gemm->a), a_leading, gemm->a_batch_stride, &beta,
      static_cast<float*>(gemm->c), c_leading, gemm->c_batch_stride, batches));
}
