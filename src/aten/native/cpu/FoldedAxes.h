#pragma once
// Convolutions whose kernel covers the image along some axes, as ones of fewer axes and more channels.

#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/cpu/ConvolutionGeometry.h>

namespace at::native::cpu {

inline MemoryFormat last_format(const Tensor& image) {
  return image.dim() == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
}
inline Tensor with_channels_last(const Tensor& image) { return at::detail::to_contiguous(image, last_format(image)); }
inline Tensor like_with_channels_last(const Tensor& image) {
  return at::detail::empty(image.sizes(), image.options(), last_format(image));
}

// A kernel that covers the image along some axes, at one place, has channels there: along the last axis of an image
// with one channel these lie last; along all others of a row-major image they follow each other.
enum class Folding { none, last_axis, other_axes };
inline Folding find_folding(const ConvolutionGeometry& g, const Tensor& image, const Tensor& weight) {
  const auto is_covered = [&](size_t dim) {
    return g.windows[dim] == 1 && g.kernel[dim] == g.image[dim] && g.padding[dim] == 0;
  };
  if (!image.is_contiguous() || !weight.is_contiguous() || !c10::is_floating_type(image.dtype())) return Folding::none;
  if (image.dim() > 3 && is_covered(2) && g.image[2] > 1 && g.groups * g.image_channels == 1)
    return Folding::last_axis;
  const bool has_others = is_covered(0) && is_covered(1) && g.image[0] * g.image[1] > 1 && g.image_channels > 0;
  return has_others ? Folding::other_axes : Folding::none;
}

// An image or a weight whose channels are those, too.
inline Tensor fold_axes(const Tensor& tensor, Folding folding) {
  if (folding == Folding::last_axis) return native::transpose(tensor, 1, tensor.dim() - 1);
  DimVector sizes(tensor.dim(), 1);
  sizes[0] = tensor.sizes()[0];
  sizes[1] = -1;
  sizes.back() = tensor.sizes().back();
  return native::view(tensor, sizes);
}

// The bias of an image whose axes are folded to `channels` channels, or undefined.
inline Tensor repeat_bias(const Tensor& bias, int64_t channels) {
  if (!bias.defined()) return bias;
  const Tensor repeated = native::expand(native::unsqueeze(bias, 1), {bias.numel(), channels / bias.numel()}, true);
  return native::view(at::detail::to_contiguous(repeated), {-1});
}

}  // namespace at::native::cpu
