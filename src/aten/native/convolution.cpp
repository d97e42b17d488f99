// Convolutions: checks and shapes. A transposed convolution is the gradient of an ordinary one with respect to its
// input, so both and one operator for the gradient of the weight are closed under differentiation.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/TypeNames.h>

#include <limits>
#include <sstream>

namespace at::native {

namespace {

// One number for each dimension, from one for all or one for each.
DimVector per_dimension(IntArrayRef values, int64_t dims, const char* name) {
  const auto count = static_cast<int64_t>(values.size());
  TORCH_CHECK(count == 1 || count == dims, "expected ", name, " to be a single integer value or a list of ", dims,
              " values to match the convolution dimensions, but got ", name, "=", values);
  DimVector result;
  for (int64_t dim = 0; dim < dims; ++dim) result.push_back(values[count == 1 ? 0 : dim]);
  return result;
}

std::string joined(IntArrayRef values) {
  std::ostringstream text;
  for (size_t i = 0; i < values.size(); ++i) text << (i == 0 ? "(" : " x ") << values[i];
  text << ")";
  return text.str();
}

// With numbers of 32 bits no product of the geometry leaves int64.
void check_32_bits(int64_t number) {
  TORCH_CHECK(number <= std::numeric_limits<int32_t>::max(), "value cannot be converted to type int without overflow");
}

struct Window {
  DimVector stride;
  DimVector padding;
  DimVector dilation;
};

Window check_window(IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t dims) {
  TORCH_CHECK(dims >= 1 && dims <= 3, "Expected 3D, 4D or 5D weight for a convolution, but got ", dims + 2, "D");
  Window window{per_dimension(stride, dims, "stride"), per_dimension(padding, dims, "padding"),
                per_dimension(dilation, dims, "dilation")};
  for (int64_t dim = 0; dim < dims; ++dim) {
    TORCH_CHECK(window.stride[dim] > 0, "non-positive stride is not supported");
    TORCH_CHECK(window.padding[dim] >= 0, "negative padding is not supported");
    TORCH_CHECK(window.dilation[dim] > 0, "dilation should be greater than zero");
    for (const int64_t number : {window.stride[dim], window.padding[dim], window.dilation[dim]}) check_32_bits(number);
  }
  return window;
}

void check_types(const Tensor& input, const Tensor& other, const char* name) {
  check_same_device(input, other, name, "convolution");
  TORCH_CHECK(input.dtype() == other.dtype(), "Input type (", cpp_type_name(input.dtype()), ") and ", name, " type (",
              cpp_type_name(other.dtype()), ") should be the same");
}

// A result is laid out channels last if an operand is, but double volumes, as in PyTorch.
MemoryFormat format_of_result(const Tensor& input, const Tensor& other) {
  if (input.dim() == 5 && input.dtype() == kDouble) return MemoryFormat::Contiguous;
  const MemoryFormat format = input.suggest_memory_format();
  return format == MemoryFormat::Contiguous ? other.suggest_memory_format() : format;
}

// A bilinear function of complex tensors by what it is of their parts.
template <typename Function>
Tensor product_of_parts(const Tensor& first, const Tensor& second, Function&& function) {
  const Tensor a = at::real(first).contiguous();
  const Tensor b = at::imag(first).contiguous();
  const Tensor c = at::real(second).contiguous();
  const Tensor d = at::imag(second).contiguous();
  return at::complex(at::sub(function(a, c), function(b, d)), at::add(function(a, d), function(b, c)));
}

// Kernels of one element over channels one by one only scale these: out = image * weight + bias, of `times` results for
// each channel.
void scale_channels(const Tensor& out, const Tensor& image, const Tensor& weight, const Tensor& bias) {
  const int64_t batch = image.sizes()[0];
  const int64_t channels = image.sizes()[1];
  const int64_t times = out.sizes()[1] / channels;
  const int64_t elements = out.numel() / (batch * channels * times);
  const auto view_of = [&](const Tensor& tensor, int64_t results) {
    const bool is_last = !tensor.is_contiguous();
    const int64_t channel = is_last ? 1 : elements;
    return at::detail::make_view(tensor, {batch, channels, results, elements},
                                 {channels * results * elements, results * channel, channel,
                                  is_last ? channels * results : 1}, tensor.storage_offset());
  };
  const auto factors_of = [&](const Tensor& tensor) {
    return at::detail::make_view(tensor, {1, channels, times, 1}, {0, times, 1, 0}, tensor.storage_offset());
  };
  Tensor target = view_of(out, times);
  const Tensor factors = factors_of(weight.contiguous());
  if (bias.defined()) native::addcmul(factors_of(bias), view_of(image, 1), factors, Scalar(1), target);
  else native::mul(view_of(image, 1), factors, target);
}

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                   int64_t groups) {
  const int64_t dims = weight.dim() - 2;
  const Window window = check_window(stride, padding, dilation, dims);
  const DimVector extra = per_dimension(output_padding, dims, "output_padding");
  const IntArrayRef sizes = input.sizes();
  const IntArrayRef weights = weight.sizes();
  TORCH_CHECK(input.dim() == weight.dim(), "Expected ", dims + 2,
              "D (batched) input to a convolution with a weight of ", "size ", weights,
              ", but got input of size: ", sizes);
  check_types(input, weight, "weight");
  TORCH_CHECK(groups > 0, "non-positive groups is not supported");
  TORCH_CHECK(weights[0] >= groups && weights[0] % groups == 0, "Given groups=", groups,
              ", expected weight to be at least ", groups,
              " at dimension 0 and divisible by it, but got weight of size ", weights, " instead");
  if (transposed) {
    TORCH_CHECK(sizes[1] == weights[0], "Given transposed=1, weight of size ", weights, ", expected input", sizes,
                " to have ", weights[0], " channels, but got ", sizes[1], " channels instead");
  } else {
    TORCH_CHECK(sizes[1] == weights[1] * groups, "Given groups=", groups, ", weight of size ", weights,
                ", expected input", sizes, " to have ", weights[1] * groups, " channels, but got ", sizes[1],
                " channels instead");
  }
  const int64_t channels = transposed ? weights[1] * groups : weights[0];
  if (bias.defined()) {
    check_types(input, bias, "bias");
    TORCH_CHECK(bias.dim() == 1 && bias.sizes()[0] == channels, "Given weight of size ", weights,
                ", expected bias to be 1-dimensional with ", channels, " elements, but got bias of size ", bias.sizes(),
                " instead");
  }
  DimVector shape{sizes[0], channels};
  DimVector padded;
  DimVector reach;
  bool fits = true;
  for (int64_t dim = 0; dim < dims; ++dim) {
    const int64_t size = sizes[dim + 2];
    check_32_bits(size);
    check_32_bits(weights[dim + 2]);
    TORCH_CHECK(size > 0, "Only zero batch or zero channel inputs are supported, but got input shape: ", sizes);
    const int64_t length = window.dilation[dim] * (weights[dim + 2] - 1) + 1;
    reach.push_back(length);
    padded.push_back(size + 2 * window.padding[dim]);
    TORCH_CHECK(weights[dim + 2] > 0, "Expected a kernel of at least one element, but got weight of size ", weights);
    if (transposed) {
      TORCH_CHECK(extra[dim] >= 0 && extra[dim] < std::max(window.stride[dim], window.dilation[dim]),
                  "output padding must be smaller than either stride or dilation, but got output_padding: ",
                  IntArrayRef(extra), " stride: ", IntArrayRef(window.stride), " dilation: ",
                  IntArrayRef(window.dilation));
      shape.push_back((size - 1) * window.stride[dim] - 2 * window.padding[dim] + length + extra[dim]);
      TORCH_CHECK(shape.back() > 0, "Given input size per channel: ", joined(sizes.slice(2, dims)),
                  ". Calculated output size in dimension ", dim, ": ", shape.back(), ". Output size is too small");
    } else {
      TORCH_CHECK(extra[dim] == 0, "output_padding is for transposed convolutions only");
      fits = fits && padded.back() >= length;
      shape.push_back(fits ? (padded.back() - length) / window.stride[dim] + 1 : 0);
    }
  }
  TORCH_CHECK(fits, "Calculated padded input size per channel: ", joined(padded), ". Kernel size: ", joined(reach),
              ". Kernel size can't be greater than actual input size");
  if (input.is_complex()) {
    const Tensor result = product_of_parts(input, weight, [&](const Tensor& image, const Tensor& kernel) {
      return native::convolution(image, kernel, Tensor(), stride, padding, dilation, transposed, output_padding,
                                 groups);
    });
    if (!bias.defined()) return result;
    DimVector channelwise(input.dim(), 1);
    channelwise[1] = channels;
    return at::add(result, at::reshape(bias, channelwise));
  }
  const MemoryFormat format = format_of_result(input, weight);
  const Tensor out = at::detail::empty(shape, input.options(), format);
  if (out.numel() > 0) {
    const auto& kernels = transposed ? convolution_transposed_kernels : convolution_kernels;
    const Tensor image = at::detail::to_contiguous(input, format);
    const Tensor addend = bias.defined() ? bias.contiguous() : bias;
    bool is_plain = true;
    for (int64_t dim = 0; dim < dims; ++dim) {
      is_plain = is_plain && weights[dim + 2] == 1 && window.stride[dim] == 1 && shape[dim + 2] == sizes[dim + 2] &&
                 window.padding[dim] == 0;
    }
    if (out.device().is_cpu() && groups == sizes[1] && is_plain && (!transposed || channels == groups)) {
      scale_channels(out, image, weight, addend);
      return out;
    }
    const Tensor factors = out.device().is_cpu() ? weight : weight.contiguous();
    run_kernel(kernels, out.device(), out, image, factors, addend, window.stride, window.padding,
               window.dilation, groups);
  }
  return out;
}

Tensor _convolution_weight_gradient(const Tensor& grad_output, const Tensor& input, IntArrayRef weight_size,
                                    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const auto dims = static_cast<int64_t>(weight_size.size()) - 2;
  const Window window = check_window(stride, padding, dilation, dims);
  TORCH_CHECK(input.dim() == dims + 2 && grad_output.dim() == dims + 2 && groups > 0, "a gradient of size ",
              grad_output.sizes(), " and an input of size ", input.sizes(),
              " cannot come from a convolution with a weight of size ", weight_size);
  check_types(input, grad_output, "gradient");
  TORCH_CHECK(grad_output.sizes()[0] == input.sizes()[0] && grad_output.sizes()[1] == weight_size[0] &&
                  input.sizes()[1] == weight_size[1] * groups && weight_size[0] % groups == 0,
              "a gradient of size ", grad_output.sizes(), " and an input of size ", input.sizes(),
              " do not belong to a weight of size ", weight_size, " and groups=", groups);
  if (input.is_complex()) {
    return product_of_parts(grad_output, input, [&](const Tensor& grad, const Tensor& image) {
      return native::_convolution_weight_gradient(grad, image, weight_size, stride, padding, dilation, groups);
    });
  }
  const MemoryFormat format = format_of_result(grad_output, input);
  // The CPU's kernels write either layout.
  const bool is_last = input.device().is_cpu() && dims > 1;
  const Tensor out =
      at::detail::empty(weight_size, input.options(), is_last ? format : MemoryFormat::Contiguous);
  if (out.numel() > 0) {
    run_kernel(convolution_weight_gradient_kernels, out.device(), out, at::detail::to_contiguous(grad_output, format),
                    at::detail::to_contiguous(input, format), window.stride, window.padding, window.dilation, groups);
  }
  return at::detail::to_contiguous(out, format);
}

// --------------------------------------------------------------------------------------------- by number of dimensions

namespace {

// The input as a batch, and whether it was one sample.
std::pair<Tensor, bool> batched(const Tensor& input, int64_t dims, const char* name) {
  TORCH_CHECK(input.dim() == dims + 1 || input.dim() == dims + 2, "Expected ", dims + 1, "D (unbatched) or ", dims + 2,
              "D (batched) input to ", name, ", but got input of size: ", input.sizes());
  const bool single = input.dim() == dims + 1;
  return {single ? input.unsqueeze(0) : input, single};
}

Tensor convolve(const char* name, int64_t dims, const Tensor& input, const Tensor& weight, const Tensor& bias,
                IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  TORCH_CHECK(weight.dim() == dims + 2, "Expected ", dims + 2, "D weight for ", name,
              ", but got weight of size: ", weight.sizes());
  const auto [batch, single] = batched(input, dims, name);
  const Tensor result =
      at::convolution(batch, weight, bias, stride, padding, dilation, false, DimVector(dims, 0), groups);
  return single ? result.squeeze(0) : result;
}

Tensor convolve(const char* name, int64_t dims, const Tensor& input, const Tensor& weight, const Tensor& bias,
                IntArrayRef stride, std::string_view padding, IntArrayRef dilation, int64_t groups) {
  TORCH_CHECK(padding == "same" || padding == "valid", "Invalid padding string: '", padding, "'");
  if (padding == "valid")
    return convolve(name, dims, input, weight, bias, stride, IntArrayRef(DimVector(dims, 0)), dilation, groups);
  TORCH_CHECK(weight.dim() == dims + 2, "Expected ", dims + 2, "D weight for ", name,
              ", but got weight of size: ", weight.sizes());
  for (const int64_t step : stride) TORCH_CHECK(step == 1, "padding='same' is not supported for strided convolutions");
  const DimVector gaps = per_dimension(dilation, dims, "dilation");
  DimVector common;
  DimVector more;  // at the ends, from the last dimension on: an even kernel needs one element more there
  bool is_even = false;
  for (int64_t dim = 0; dim < dims; ++dim) {
    const int64_t total = gaps[dim] * (weight.sizes()[dim + 2] - 1);
    common.push_back(total / 2);
    is_even = is_even || total % 2 != 0;
  }
  for (int64_t dim = dims - 1; dim >= 0; --dim) {
    more.push_back(0);
    more.push_back(gaps[dim] * (weight.sizes()[dim + 2] - 1) % 2);
  }
  return convolve(name, dims, is_even ? at::constant_pad_nd(input, more, 0) : input, weight, bias, stride,
                  IntArrayRef(common), dilation, groups);
}

Tensor transpose(const char* name, int64_t dims, const Tensor& input, const Tensor& weight, const Tensor& bias,
                 IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, int64_t groups,
                 IntArrayRef dilation) {
  TORCH_CHECK(weight.dim() == dims + 2, "Expected ", dims + 2, "D weight for ", name,
              ", but got weight of size: ", weight.sizes());
  const auto [batch, single] = batched(input, dims, name);
  const Tensor result = at::convolution(batch, weight, bias, stride, padding, dilation, true, output_padding, groups);
  return single ? result.squeeze(0) : result;
}

}  // namespace

#define AT_DEFINE_CONVOLUTION(dims)                                                                                  \
  Tensor conv##dims##d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,            \
                       IntArrayRef padding, IntArrayRef dilation, int64_t groups) {                                  \
    return convolve("conv" #dims "d", dims, input, weight, bias, stride, padding, dilation, groups);                 \
  }                                                                                                                  \
  Tensor conv##dims##d_padding(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,    \
                               std::string_view padding, IntArrayRef dilation, int64_t groups) {                     \
    return convolve("conv" #dims "d", dims, input, weight, bias, stride, padding, dilation, groups);                 \
  }                                                                                                                  \
  Tensor conv_transpose##dims##d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,  \
                                 IntArrayRef padding, IntArrayRef output_padding, int64_t groups,                    \
                                 IntArrayRef dilation) {                                                             \
    return transpose("conv_transpose" #dims "d", dims, input, weight, bias, stride, padding, output_padding, groups, \
                     dilation);                                                                                      \
  }
AT_DEFINE_CONVOLUTION(1)
AT_DEFINE_CONVOLUTION(2)
AT_DEFINE_CONVOLUTION(3)
#undef AT_DEFINE_CONVOLUTION

Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  TORCH_CHECK(self.dim() == 3, "Input must have 3 dims: time, batch, in_channel");
  TORCH_CHECK(weight.dim() == 3, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.");
  TORCH_CHECK(bias.dim() == 1, "Bias must be 1-D");
  return at::conv1d(self.permute({1, 2, 0}), weight.permute({2, 1, 0}), bias, {1}, {pad}, {1}, 1).permute({2, 0, 1});
}

}  // namespace at::native
