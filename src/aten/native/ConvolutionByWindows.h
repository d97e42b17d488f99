#pragma once
// Convolutions as products of matrices with the matrix of windows (im2col): what backends without convolution kernels
// use, and what tests hold the kernels against. Sizes were checked; strides,
// padding and dilation have one number per dimension.

#include <aten/Tensor.h>

namespace at::native {

TORCH_API Tensor convolve_by_windows(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                                     IntArrayRef dilation, int64_t groups);
// `image`: the sizes of the result, without batch and channels.
TORCH_API Tensor transpose_by_windows(const Tensor& input, const Tensor& weight, IntArrayRef stride,
                                      IntArrayRef padding, IntArrayRef dilation, IntArrayRef image, int64_t groups);
TORCH_API Tensor weight_gradient_by_windows(const Tensor& grad, const Tensor& input, IntArrayRef weight_size,
                                            IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                            int64_t groups);

}  // namespace at::native
