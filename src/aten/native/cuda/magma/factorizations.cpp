// Cholesky, LU and QR by MAGMA, which factorises narrow panels on the host
// while the device updates what is left of the matrix.

#include <aten/native/cuda/magma/Call.h>
#include <aten/native/cuda/magma/Solvers.h>

#include <algorithm>

namespace torch_cuda_magma {

const char* cholesky(const TorchCudaSolverCall* given, TorchCudaStack a, void**, int upper, int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    const magma_int_t n = narrow(a.rows);
    for (int64_t i = 0; i < call.batches(); ++i) {
      magma_int_t code = 0;
      Routines<T>::potrf(upper ? MagmaUpper : MagmaLower, n, matrix<T>(a, i), n, &code);
      call.finish(code, info + i);
    }
  });
}

const char* lu(const TorchCudaSolverCall* given, TorchCudaStack a, int* pivots, int* info) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    const magma_int_t rows = narrow(a.rows), columns = narrow(a.columns), rank = std::min(rows, columns);
    Pinned<magma_int_t> found(rank);
    for (int64_t i = 0; i < call.batches(); ++i) {
      magma_int_t code = 0;
      Routines<T>::getrf(rows, columns, matrix<T>(a, i), rows, found.get(), &code);
      call.finish(code, info + i);
      call.write(pivots + i * rank, found);
    }
  });
}

const char* qr(const TorchCudaSolverCall* given, TorchCudaStack a, void* tau) {
  return run(given, [&](auto type, Call& call) {
    using T = decltype(type);
    const magma_int_t rows = narrow(a.rows), columns = narrow(a.columns), rank = std::min(rows, columns);
    Pinned<T> found(rank);
    for (int64_t i = 0; i < call.batches(); ++i) {
      magma_int_t code = 0;
      Routines<T>::geqrf(rows, columns, matrix<T>(a, i), rows, found.get(), &code);
      call.finish(code, nullptr);
      call.write(static_cast<T*>(tau) + i * rank, found);
    }
  });
}

}  // namespace torch_cuda_magma
