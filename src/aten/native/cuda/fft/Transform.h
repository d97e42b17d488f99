#pragma once
// The border between libtorch_cuda and libtorch_cuda_fft, which links cuFFT. Plain C types only, so neither library
// needs the other's symbols.

#include <cuda_runtime_api.h>

#include <stdint.h>

extern "C" {

enum TorchCudaTransformKind { kTorchCudaComplexToComplex, kTorchCudaRealToComplex, kTorchCudaComplexToReal };

// `batches` transforms of `size` numbers, not scaled. Element i of transform b is `i * step + b * distance` elements
// from the start. Of real ones, the complex side has size / 2 + 1 numbers.
struct TorchCudaTransform {
  TorchCudaTransformKind kind;
  int is_double;
  int forward;  // of complex to complex
  int64_t size;
  int64_t batches;
  void* in;
  int64_t in_step, in_distance;
  void* out;
  int64_t out_step, out_distance;
  cudaStream_t stream;
};

// Queues the transforms on the stream. Returns null, or what went wrong (static text).
typedef const char* (*TorchCudaTransformFunction)(const TorchCudaTransform*);

const char* torch_cuda_transform(const TorchCudaTransform* transform);
}
