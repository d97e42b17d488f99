#pragma once
// Convolutions of one channel a group (depthwise) of images whose channels lie last: vectors hold channels.

#include <aten/native/cpu/ConvolutionGeometry.h>

#include <cstdint>

namespace at::native::cpu {

// `transposed` is the gradient of the image. `bias` may be null.
void convolve_channelwise(const ConvolutionGeometry& g, bool transposed, float* out, const float* input,
                          const float* weight, const float* bias);
void convolve_channelwise(const ConvolutionGeometry& g, bool transposed, double* out, const double* input,
                          const double* weight, const double* bias);
// Bits of bfloat16 numbers, with sums in float32.
void convolve_channelwise(const ConvolutionGeometry& g, bool transposed, uint16_t* out, const uint16_t* input,
                          const float* weight, const float* bias);
void weight_gradient_channelwise(const ConvolutionGeometry& g, float* out, const float* grad, const float* input);
void weight_gradient_channelwise(const ConvolutionGeometry& g, double* out, const double* grad, const double* input);

}  // namespace at::native::cpu
