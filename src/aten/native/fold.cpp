// Images as matrices of windows and back (im2col, col2im), and channels as pixels.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <c10/core/Extents.h>
#include <aten/native/RunKernel.h>

namespace at::native {

namespace {

struct Windows {
  DimVector kernel, dilation, padding, stride;
  DimVector counts;
  int64_t elements = 1;  // of a window
};

DimVector for_each_dimension(IntArrayRef values, int64_t dims, const char* function, const char* name, int64_t least) {
  const auto count = static_cast<int64_t>(values.size());
  TORCH_CHECK(count == 1 || count == dims, function, ": expected ", name, " to be one int or ", dims, " ints, but got ",
              values);
  DimVector result;
  for (int64_t dim = 0; dim < dims; ++dim) {
    result.push_back(values[count == 1 ? 0 : dim]);
    TORCH_CHECK(result.back() >= least, function, ": ", name, " should be ",
                least > 0 ? "greater than zero" : "non-negative", ", but got ", values);
  }
  return result;
}

// `sizes` are the image's, without batch and channels; a kernel for each of them.
Windows windows_of(IntArrayRef sizes, const char* function, IntArrayRef kernel_size, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride) {
  const auto dims = static_cast<int64_t>(sizes.size());
  Windows w{for_each_dimension(kernel_size, dims, function, "kernel_size", 1),
            for_each_dimension(dilation, dims, function, "dilation", 1),
            for_each_dimension(padding, dims, function, "padding", 0),
            for_each_dimension(stride, dims, function, "stride", 1),
            {}};
  bool fits = true;
  for (int64_t dim = 0; dim < dims; ++dim) {
    const int64_t room = sizes[dim] + 2 * w.padding[dim] - w.dilation[dim] * (w.kernel[dim] - 1) - 1;
    fits = fits && room >= 0;
    w.counts.push_back(room >= 0 ? room / w.stride[dim] + 1 : 0);
    w.elements *= w.kernel[dim];
  }
  TORCH_CHECK(fits, function, ": the windows do not fit: given an image of size ", sizes, ", kernel_size=", kernel_size,
              ", dilation=", dilation, ", padding=", padding);
  return w;
}

// Windows are made of floating-point and complex numbers and of bools, as in PyTorch.
void check_window_type(const Tensor& self, const char* function) {
  TORCH_CHECK_NOT_IMPLEMENTED(c10::is_floating_or_complex_type(self.dtype()) || self.dtype() == kBool, '"', function,
                              self.is_cuda() ? "_out_cuda" : "_out_cpu", "\" not implemented for '", self.dtype(), "'");
}

}  // namespace

Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  const auto dims = std::max<int64_t>(2, static_cast<int64_t>(kernel_size.size()));
  TORCH_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "im2col: Expected ", dims + 1, "D or ", dims + 2,
              "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
              self.sizes());
  if (self.dim() == dims + 1) {
    return native::im2col(self.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0);
  }
  check_window_type(self, "im2col");
  const Windows w = windows_of(self.sizes().slice(2, dims), "im2col", kernel_size, dilation, padding, stride);
  const Tensor out = at::detail::empty({self.sizes()[0], self.sizes()[1] * w.elements, product(w.counts)}, self.dtype(),
                                       self.device());
  if (out.numel() > 0) {
    run_kernel(im2col_kernels, self.device(), out, at::detail::to_contiguous(self), w.kernel, w.dilation, w.padding,
               w.stride, w.counts);
  }
  return out;
}

Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
              IntArrayRef padding, IntArrayRef stride) {
  const auto dims = std::max<int64_t>(2, static_cast<int64_t>(output_size.size()));
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3,
              "col2im: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch ",
              "size and non-zero dimensions for input, but got: ", self.sizes());
  if (self.dim() == 2) {
    return native::col2im(self.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0);
  }
  check_window_type(self, "col2im");
  if (self.dtype() == kBool) {  // whether any window holds true
    const Tensor counts =
        native::col2im(at::detail::to_dtype(self, kFloat), output_size, kernel_size, dilation, padding, stride);
    return at::detail::to_dtype(counts, kBool);
  }
  const DimVector sizes = for_each_dimension(output_size, dims, "col2im", "output_size", 1);
  const Windows w = windows_of(sizes, "col2im", kernel_size, dilation, padding, stride);
  TORCH_CHECK(self.sizes()[1] % w.elements == 0,
              "Expected size of input's dimension 1 to be divisible by the product of kernel_size, ",
              "but got input.size(1)=", self.sizes()[1], " and kernel_size=", kernel_size);
  TORCH_CHECK(self.sizes()[2] == product(w.counts), "Given output_size=", output_size, ", kernel_size=", kernel_size,
              ", dilation=", dilation, ", padding=", padding, ", stride=", stride,
              ", expected size of input's dimension 2 to match the calculated ", "number of sliding blocks ",
              product(w.counts), ", but got input.size(2)=", self.sizes()[2]);
  DimVector shape{self.sizes()[0], self.sizes()[1] / w.elements};
  for (const int64_t size : sizes) shape.push_back(size);
  const Tensor out = at::detail::empty(shape, self.dtype(), self.device());
  if (out.numel() > 0) {
    run_kernel_in_float32(col2im_kernels, self.device(), out, at::detail::to_contiguous(self), w.kernel, w.dilation,
                          w.padding, w.stride, w.counts);
  }
  return out;
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  TORCH_CHECK(self.dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes ", self.sizes());
  TORCH_CHECK(groups > 0, "Number of groups to divide channels in must be positive. Value of groups:", groups);
  const int64_t channels = self.sizes()[1];
  TORCH_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ", channels,
              " channels and ", groups, " groups.");
  if (self.suggest_memory_format() != MemoryFormat::Contiguous) {  // each place on its own
    const Tensor last = at::movedim(self, 1, -1);
    DimVector places(last.sizes().slice(0, last.dim() - 1));
    places.push_back(groups);
    places.push_back(channels / groups);
    return at::movedim(at::reshape(at::transpose(at::reshape(last, places), -2, -1), last.sizes()), -1, 1);
  }
  DimVector shape{self.sizes()[0], groups, channels / groups};
  for (int64_t dim = 2; dim < self.dim(); ++dim) shape.push_back(self.sizes()[dim]);
  const Tensor dealt = at::reshape(at::transpose(at::reshape(self, shape), 1, 2), self.sizes());
  return dealt.contiguous(self.suggest_memory_format());
}

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  TORCH_CHECK(self.dim() >= 3, "pixel_shuffle expects input to have at least 3 dimensions, but got input with ",
              self.dim(), " dimension(s)");
  TORCH_CHECK(upscale_factor > 0, "pixel_shuffle expects a positive upscale_factor, but got ", upscale_factor);
  const int64_t leading = self.dim() - 3;
  const int64_t r = upscale_factor;
  TORCH_CHECK_VALUE(c10::multiply_if_fits(r, r),
                    "upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor=", r);
  const int64_t channels = self.sizes()[leading], height = self.sizes()[leading + 1], width = self.sizes()[leading + 2];
  TORCH_CHECK(channels % (r * r) == 0,
              "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of ",
              "upscale_factor, but input.size(-3)=", channels, " is not divisible by ", r * r);
  const Tensor spread =
      at::reshape(self, {product(self.sizes().slice(0, leading)), channels / (r * r), r, r, height, width})
          .permute({0, 1, 4, 2, 5, 3});
  DimVector shape(self.sizes().slice(0, leading));
  for (const int64_t size : {channels / (r * r), height * r, width * r}) shape.push_back(size);
  return at::reshape(spread, shape);
}

Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  TORCH_CHECK(self.dim() >= 3, "pixel_unshuffle expects input to have at least 3 dimensions, but got input with ",
              self.dim(), " dimension(s)");
  TORCH_CHECK(downscale_factor > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", downscale_factor);
  const int64_t leading = self.dim() - 3;
  const int64_t r = downscale_factor;
  const int64_t channels = self.sizes()[leading], height = self.sizes()[leading + 1], width = self.sizes()[leading + 2];
  TORCH_CHECK(height % r == 0 && width % r == 0,
              "pixel_unshuffle expects height and width to be divisible by downscale_factor, but ",
              "input.size(-2)=", height, " and input.size(-1)=", width, " are not divisible by ", r);
  const Tensor spread =
      at::reshape(self, {product(self.sizes().slice(0, leading)), channels, height / r, r, width / r, r})
          .permute({0, 1, 3, 5, 2, 4});
  DimVector shape(self.sizes().slice(0, leading));
  for (const int64_t size : {channels * r * r, height / r, width / r}) shape.push_back(size);
  return at::reshape(spread, shape).contiguous(self.suggest_memory_format());
}

}  // namespace at::native
