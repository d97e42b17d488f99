#pragma once

#include <aten/Tensor.h>
#include <aten/native/cuda/dnn/Convolution.h>

namespace at::native::cuda {

// Computes one of the three tensors by cuDNN, with one number for each dimension of places. False, and nothing done:
// torch.backends.cudnn, or cuDNN itself, leaves it to others.
bool convolve_by_cudnn(TorchCudaConvolutionKind kind, const Tensor& image, const Tensor& filters, const Tensor& result,
                       IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups);

// Of the library, which this loads.
int64_t cudnn_version();

}  // namespace at::native::cuda
