#pragma once
// Convolutions of few channels, on copies of images that are laid out for them (PhasedImage.h): vectors hold
// neighbouring places. Images and results are row-major.

#include <aten/native/cpu/ConvolutionGeometry.h>

namespace at::native::cpu {

// `bias` may be null.
template <typename T>
void convolve_directly(const ConvolutionGeometry& g, T* out, const T* input, const T* weight, const T* bias);

// Windows of one element, of images that are read as they lie.
void convolve_places(const ConvolutionGeometry& g, float* out, const float* input, const float* weight,
                     const float* bias);

// The geometry's image is the result, and its windows are the input: with strides, of few channels to read.
template <typename T>
void transpose_directly(const ConvolutionGeometry& g, T* out, const T* input, const T* weight, const T* bias);

template <typename T>
void weight_gradient_directly(const ConvolutionGeometry& g, T* out, const T* grad, const T* input);

// Row-major images by kernels of one element, of which each place is one: by panels of neighbouring places.
template <typename T>
void multiply_images(const ConvolutionGeometry& geometry, T* out, const T* input, const T* weight, const T* bias);

}  // namespace at::native::cpu
