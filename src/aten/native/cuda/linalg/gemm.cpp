// libtorch_cuda_linalg: matrix products by cuBLAS.

#include <aten/native/cuda/linalg/Handle.h>
#include <aten/native/cuda/linalg/Linalg.h>

#include <climits>

namespace {

// What cuBLAS calls the type of the matrices, and that of alpha, beta and the sums.
struct Types {
  cudaDataType_t matrices;
  cublasComputeType_t sums;
};

Types types_of(const TorchCudaGemm& gemm) {
  switch (gemm.type) {
    case kTorchCudaHalf: return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case kTorchCudaBFloat16: return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case kTorchCudaFloat: return {CUDA_R_32F, gemm.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case kTorchCudaDouble: return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case kTorchCudaComplexFloat: return {CUDA_C_32F, gemm.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case kTorchCudaComplexDouble: break;
  }
  return {CUDA_C_64F, CUBLAS_COMPUTE_64F};
}

// alpha or beta, in the type of the sums; a real one reads the first part only.
class Factor {
 public:
  explicit Factor(const double (&parts)[2])
      : double_(parts), float_{static_cast<float>(parts[0]), static_cast<float>(parts[1])} {}
  const void* in(cublasComputeType_t type) const {
    return type == CUBLAS_COMPUTE_64F ? static_cast<const void*>(double_) : static_cast<const void*>(float_);
  }

 private:
  const double* double_;
  float float_[2];
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* torch_cuda_gemm(const TorchCudaGemm* given) {
  const TorchCudaGemm& gemm = *given;
  for (const int64_t size : {gemm.m, gemm.n, gemm.k, gemm.a_leading, gemm.b_leading, gemm.c_leading, gemm.batches}) {
    if (size > INT_MAX) return "a matrix dimension is larger than cuBLAS' 32-bit interface takes";
  }
  cublasHandle_t handle = nullptr;
  if (const char* error = handle_for_current_device(&handle)) return error;
  if (const char* error = describe(cublasSetStream(handle, gemm.stream))) return error;
  const cublasMath_t mode = gemm.reduced_sums ? CUBLAS_DEFAULT_MATH : CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  if (const char* error = describe(cublasSetMathMode(handle, mode))) return error;

  const Types types = types_of(gemm);
  const cudaDataType_t result = gemm.float_result ? CUDA_R_32F : types.matrices;
  const Factor alpha(gemm.alpha), beta(gemm.beta);
  // cuBLAS counts columns first: a row-major C = A B is a column-major C' = B' A', so the operands change places.
  return describe(cublasGemmStridedBatchedEx(
      handle, gemm.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, gemm.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
      static_cast<int>(gemm.n), static_cast<int>(gemm.m), static_cast<int>(gemm.k), alpha.in(types.sums), gemm.b,
      types.matrices, static_cast<int>(gemm.b_leading), gemm.b_batch_stride, gemm.a, types.matrices,
      static_cast<int>(gemm.a_leading), gemm.a_batch_stride, beta.in(types.sums), gemm.c, result,
      static_cast<int>(gemm.c_leading), gemm.c_batch_stride, static_cast<int>(gemm.batches), types.sums,
      CUBLAS_GEMM_DEFAULT));
}
