#pragma once
// The border between libtorch_cuda and the two libraries that factorise: libtorch_cuda_solver, which links cuSOLVER,
// and libtorch_cuda_magma, which links MAGMA. Each is loaded when a routine of it is first used. Plain C types only, so
// no library needs another's symbols.
//
// Stacks of matrices lie one behind the other, each with its columns one behind the other. Functions queue work on the
// stream, and return null, or what went wrong (static text). `info` gets one of LAPACK's codes per matrix, in device
// memory like everything else.

#include <cuda_runtime_api.h>

#include <stdint.h>

extern "C" {

// What all of them are told.
struct TorchCudaSolverCall {
  int is_double;  // its parts', of a complex one
  int is_complex;
  int64_t batches;
  cudaStream_t stream;
  // Device memory that lives as long as work that is queued on the stream
  // before the caller of the function has returned.
  void* (*allocate)(void* context, size_t bytes);
  void* context;
};

struct TorchCudaStack {
  void* data;
  int64_t rows;
  int64_t columns;
};

enum TorchCudaSVDMethod { kTorchCudaJacobi, kTorchCudaQRIterations, kTorchCudaApproximate, kTorchCudaDivideAndConquer };

// What a library has not is null: `multiply_reflectors` to `solve_ldl` of MAGMA, `eig` of a cuSOLVER before CUDA 12.6.
struct TorchCudaSolvers {
  // The triangle of `a` becomes its factor; the other one stays. `places`: where each matrix begins, in device memory.
  const char* (*cholesky)(const TorchCudaSolverCall*, TorchCudaStack a, void** places, int upper, int* info);
  // A = P L U, in place; pivots [min(rows, columns)] count from 1.
  const char* (*lu)(const TorchCudaSolverCall*, TorchCudaStack a, int* pivots, int* info);
  // R, below it the reflectors, whose factors are `tau` [min(rows, columns)].
  const char* (*qr)(const TorchCudaSolverCall*, TorchCudaStack a, void* tau);
  // `a` becomes the first columns of the product of its `reflections`.
  const char* (*multiply_reflectors)(const TorchCudaSolverCall*, TorchCudaStack a, const void* tau,
                                     int64_t reflections);
  // `c` becomes Q c, Q^H c (`adjoint`), or c Q, c Q^H (not `left`).
  const char* (*apply_reflectors)(const TorchCudaSolverCall*, TorchCudaStack reflectors, const void* tau,
                                  int64_t reflections, TorchCudaStack c, int left, int adjoint);
  // Symmetric A = L D L^T, in the lower triangle.
  const char* (*ldl)(const TorchCudaSolverCall*, TorchCudaStack a, int* pivots, int* info);
  const char* (*solve_ldl)(const TorchCudaSolverCall*, TorchCudaStack factors, const int64_t* pivots, TorchCudaStack b);
  // `a` becomes its eigenvectors; without them it is lost. Values are real, in ascending order.
  const char* (*eigh)(const TorchCudaSolverCall*, TorchCudaStack a, void* values, int upper, int with_vectors,
                      int* info);
  // Values are complex. `vectors` may be null, and are of A's type: of a pair of values,
  // real and imaginary part. `a` is lost.
  const char* (*eig)(const TorchCudaSolverCall*, TorchCudaStack a, void* values, void* vectors, int* info);
  // At least as many rows as columns. `u` [rows, rows or columns] and `v` [columns, columns] are always given, and only
  // filled `with_vectors`; `v` is V, by QR iterations and by divide and conquer V^H. The approximate method has no full
  // `u`. `a` is lost. cuSOLVER has the first three methods, MAGMA the last.
  const char* (*svd)(const TorchCudaSolverCall*, TorchCudaStack a, void* values, TorchCudaStack u, TorchCudaStack v,
                     int with_vectors, TorchCudaSVDMethod method, int* info);
};

typedef const TorchCudaSolvers* (*TorchCudaSolversFunction)();

const TorchCudaSolvers* torch_cuda_solvers();
const TorchCudaSolvers* torch_cuda_magma_solvers();
}
