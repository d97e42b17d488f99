#pragma once
// The border between libtorch_cuda and libtorch_cuda_linalg. cuBLAS is several hundred megabytes; a process loads it
// with the first matrix product, not with the first tensor. Plain C types only,
// so neither library needs the other's symbols.

#include <cuda_runtime_api.h>

#include <stdint.h>

extern "C" {

enum TorchCudaMatrixType {
  kTorchCudaHalf,
  kTorchCudaBFloat16,
  kTorchCudaFloat,
  kTorchCudaDouble,
  kTorchCudaComplexFloat,
  kTorchCudaComplexDouble,
};

// C = alpha * A @ B + beta * C for `batches` matrices in row-major order: A is [m, k], B is [k, n], C is [m, n].
// A transposed operand is stored with its rows and columns exchanged.
// Leading dimensions and batch strides count elements.
struct TorchCudaGemm {
  TorchCudaMatrixType type;
  int float_result;  // A and B are of halves, C of floats
  int tf32;          // products of floats may be those of their first 10 bits
  int reduced_sums;  // parts of a sum of halves may be halves
  int transpose_a;
  int transpose_b;
  int64_t m, n, k;
  double alpha[2], beta[2];  // real and imaginary part
  const void* a;
  int64_t a_leading;
  int64_t a_batch_stride;
  const void* b;
  int64_t b_leading;
  int64_t b_batch_stride;
  void* c;
  int64_t c_leading;
  int64_t c_batch_stride;
  int64_t batches;
  cudaStream_t stream;
};

// Functions queue work on the stream, and return null, or what went wrong (static text).
typedef const char* (*TorchCudaGemmFunction)(const TorchCudaGemm*);

const char* torch_cuda_gemm(const TorchCudaGemm* gemm);

enum TorchCudaSolver { kTorchCudaFactorLU, kTorchCudaSolveLU, kTorchCudaSolveTriangular };

// `batches` systems A X = B, or their factorisation A = P L U in place. Columns first; `a` and `b` are arrays of
// pointers in device memory. Factors are square.
struct TorchCudaSolve {
  TorchCudaSolver solver;
  int is_double;   // its parts', of a complex one
  int is_complex;
  int64_t size;           // of A
  int64_t rows, columns;  // of B
  void** a;
  void** b;
  int* pivots;  // from 1 on
  int* info;    // one per matrix
  int adjoint;  // solve with A's adjoint
  int left, upper, unitriangular;  // triangular A: X A = B if not left
  int64_t batches;
  cudaStream_t stream;
};

typedef const char* (*TorchCudaSolveFunction)(const TorchCudaSolve*);

const char* torch_cuda_solve(const TorchCudaSolve* solve);
}
