#pragma once
// The border between libtorch_cuda and libtorch_cuda_dnn, which links cuDNN. Plain C types only, so neither library
// needs the other's symbols.

#include <cuda_runtime_api.h>

#include <stdint.h>

extern "C" {

// Which of the three tensors of a convolution is computed: its result, or, by the gradient of the result, that of the
// image (a transposed convolution) or that of the filters.
enum TorchCudaConvolutionKind { kTorchCudaConvolution, kTorchCudaImageGradient, kTorchCudaFilterGradient };

enum TorchCudaConvolutionType {
  kTorchCudaConvolutionHalf,
  kTorchCudaConvolutionBFloat16,
  kTorchCudaConvolutionFloat,
  kTorchCudaConvolutionDouble,
};

// All that an engine is chosen by. Integers only, and those that are not used are 0: it is compared as a whole.
struct TorchCudaConvolutionGeometry {
  int kind;  // TorchCudaConvolutionKind
  int type;  // TorchCudaConvolutionType
  int channels_last;
  int tf32;             // floats may be multiplied by their first 10 bits
  int deterministic;    // by engines only that give the same each time
  int benchmark;        // the fastest of those that are tried, else the one that ought to be
  int benchmark_limit;  // so many are tried; 0: all
  int dims;             // of places: 2 or 3
  int groups;
  // Batch and channels come first; of filters, channels of the result and those of a group of the image.
  int result[5], image[5], filters[5];
  int stride[3], padding[3], dilation[3];
};

// The tensors lie in device memory without gaps, all with their channels in the same place.
struct TorchCudaConvolution {
  TorchCudaConvolutionGeometry geometry;
  void* result;
  void* image;
  void* filters;
  cudaStream_t stream;
  // Device memory to work in, for what is queued on the stream until the next call; null: there is not so much.
  void* (*allocate)(void* context, size_t bytes);
  void* context;
};

// Queues the work on the stream. `done` becomes 0 where cuDNN has no engine for this, or none whose memory there is:
// then nothing is computed. Returns null, or what went wrong (text of the calling thread's, until its next call).
typedef const char* (*TorchCudaConvolutionFunction)(const TorchCudaConvolution*, int* done);
// Of the library that was loaded, as cuDNN numbers them: 91300 is 9.13.0.
typedef int64_t (*TorchCudaCudnnVersionFunction)();

const char* torch_cuda_convolution(const TorchCudaConvolution* convolution, int* done);
int64_t torch_cuda_cudnn_version();
}
