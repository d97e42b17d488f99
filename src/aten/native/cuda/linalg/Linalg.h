#pragma once
// The border between libtorch_cuda and libtorch_cuda_linalg. cuBLAS is several hundred megabytes; a process loads it
// with the first matrix product, not with the first tensor. Plain C types only, so neither library needs the other's symbols.

#include <cuda_runtime_api.h>

#include <stdint.h>

extern "C" {

// C = alpha * A @ B + beta * C for `batches` matrices in row-major order: A is [m, k], B is [k, n], C is [m, n].
// A transposed operand is stored with its rows and columns exchanged. Leading dimensions and batch strides count elements.
struct TorchCudaGemm {
  int is_double;   // its parts', of a complex one
  int is_complex;
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

// Queues the product on the stream. Returns null, or what went wrong (static text).
typedef const char* (*TorchCudaGemmFunction)(const TorchCudaGemm*);

const char* torch_cuda_gemm(const TorchCudaGemm* gemm);
}
