#pragma once
// Convolutions of floating images as products of gathered windows and panels of the weight:
// no matrix of windows is written.

#include <aten/native/cpu/ConvolutionGeometry.h>

#include <cstdint>

namespace at::native::cpu {

// Images and results lie both with their channels last, or both row-major. `bias` may be null.
template <typename T>
void convolve_gathered(const ConvolutionGeometry& geometry, bool channels_last, T* out, const T* input, const T* weight,
                       const T* bias);

// The geometry's image is the result, and its windows are the input.
template <typename T>
void convolve_transposed_gathered(const ConvolutionGeometry& geometry, bool channels_last, T* out, const T* input,
                                  const T* weight, const T* bias);

// The same of bfloat16 numbers (their bits), with sums in float32, where has_bfloat16_products().
void convolve_pairs(const ConvolutionGeometry& geometry, bool transposed, bool channels_last, uint16_t* out,
                    const uint16_t* input, const uint16_t* weight, const float* bias);

// out: as the geometry says.
template <typename T>
void weight_gradient_gathered(const ConvolutionGeometry& geometry, bool channels_last, T* out, const T* grad,
                              const T* input);

// The same of bfloat16 numbers, where has_bfloat16_products(): of several images, which are multiplied two at a time,
// or of two halves of one, by its height, or by its width where it has no height.
inline bool is_line(const ConvolutionGeometry& geometry) {
  return geometry.windows[1] == 1 && geometry.image[1] == 1 && geometry.kernel[1] == 1;
}
inline bool gradient_has_pairs(const ConvolutionGeometry& geometry) {
  return geometry.batch > 1 || geometry.windows[is_line(geometry) ? 2 : 1] > 1;
}
void weight_gradient_pairs(const ConvolutionGeometry& geometry, bool channels_last, float* out, const uint16_t* grad,
                           const uint16_t* input);

}  // namespace at::native::cpu
