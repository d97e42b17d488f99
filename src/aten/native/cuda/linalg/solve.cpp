// LU factorisations and systems of equations by cuBLAS' batched routines.

#include <aten/native/cuda/linalg/Handle.h>
#include <aten/native/cuda/linalg/Linalg.h>

#include <climits>

namespace {

// The routines of one element type.
template <typename T>
struct Routines;
#define DEFINE_ROUTINES(T, p)                                       \
  template <>                                                       \
  struct Routines<T> {                                              \
    static constexpr auto getrf = cublas##p##getrfBatched;          \
    static constexpr auto getrs = cublas##p##getrsBatched;          \
    static constexpr auto trsm = cublas##p##trsmBatched;            \
  };
DEFINE_ROUTINES(float, S)
DEFINE_ROUTINES(double, D)
DEFINE_ROUTINES(cuComplex, C)
DEFINE_ROUTINES(cuDoubleComplex, Z)
#undef DEFINE_ROUTINES

template <typename T, typename P>
const char* run(cublasHandle_t handle, const TorchCudaSolve& s) {
  auto* a = reinterpret_cast<T**>(s.a);
  auto* b = reinterpret_cast<T**>(s.b);
  const int size = static_cast<int>(s.size);
  const int rows = static_cast<int>(s.rows);
  const int columns = static_cast<int>(s.columns);
  const int batches = static_cast<int>(s.batches);
  T one{};
  reinterpret_cast<P&>(one) = P(1);  // the real part comes first
  switch (s.solver) {
    case kTorchCudaFactorLU: return describe(Routines<T>::getrf(handle, size, a, size, s.pivots, s.info, batches));
    case kTorchCudaSolveLU: {
      int wrong_argument = 0;
      return describe(Routines<T>::getrs(handle, s.adjoint ? CUBLAS_OP_C : CUBLAS_OP_N, size, columns, a, size,
                                         s.pivots, b, rows, &wrong_argument, batches));
    }
    case kTorchCudaSolveTriangular:
      return describe(Routines<T>::trsm(handle, s.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                                        s.upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                                        s.unitriangular ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, rows, columns, &one,
                                        a, size, b, rows, batches));
  }
  return "an unknown routine";
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* torch_cuda_solve(const TorchCudaSolve* solve) {
  for (const int64_t size : {solve->size, solve->rows, solve->columns, solve->batches}) {
    if (size > INT_MAX) return "a matrix dimension is larger than cuBLAS' 32-bit interface takes";
  }
  cublasHandle_t handle = nullptr;
  if (const char* error = handle_for_current_device(&handle)) return error;
  if (const char* error = describe(cublasSetStream(handle, solve->stream))) return error;
  if (solve->is_complex) {
    return solve->is_double ? run<cuDoubleComplex, double>(handle, *solve) : run<cuComplex, float>(handle, *solve);
  }
  return solve->is_double ? run<double, double>(handle, *solve) : run<float, float>(handle, *solve);
}
