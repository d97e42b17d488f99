#pragma once
// Convolutions of each channel with one filter of its own: signals and images, contiguous or with their channels last.

#include <aten/Tensor.h>

namespace at::native::cuda {

// The arguments are those of the kernels `convolution`, `convolution_transposed` and `convolution_weight_gradient`.
// False: not of that kind; nothing was done.
bool convolve_depthwise(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups, bool transposed);
bool compute_depthwise_weight_gradient(const Tensor& out, const Tensor& grad, const Tensor& input, IntArrayRef stride,
                                       IntArrayRef padding, IntArrayRef dilation, int64_t groups);

}  // namespace at::native::cuda
