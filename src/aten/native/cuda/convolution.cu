// Convolutions: cuDNN's, where it is there and takes them (cudnn.h); else the operands and axes of their products
// (ImplicitProduct.cuh; matmul.h for kernels of one element).

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Plugin.h>
#include <aten/native/Dimensions.h>
#include <aten/native/cuda/ImplicitProduct.cuh>
#include <aten/native/cuda/cudnn.h>
#include <aten/native/cuda/depthwise.h>
#include <aten/native/cuda/matmul.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace at::native::cuda {

namespace {

// Such groups would leave most of a tile empty.
bool is_channelwise(int64_t groups, int64_t rows) { return groups > 1 && rows <= 16; }

bool allows_tf32() { return (at::product_switches() & at::kConvolutionTF32) != 0; }

template <typename T, bool kForward>
auto tile_kernel() {
  if constexpr (c10::is_reduced_floating_v<T>) return multiply_tiles<T, kForward, true>;
  else if constexpr (std::is_same_v<T, double>) return multiply_tiles<T, kForward, false>;
  else return allows_tf32() ? multiply_tiles<T, kForward, true> : multiply_tiles<T, kForward, false>;
}

template <typename T, bool kForward>
void compute(Product<T, kForward> product) {
  const bool is_narrow = is_channelwise(product.groups, product.rows);
  const auto tiles = [](int64_t count, int64_t size) { return (count + size - 1) / size; };
  const int64_t jobs = is_narrow ? tiles(product.rows * product.groups * product.columns.count, kThreads)
                                 : tiles(product.rows, kRows) * tiles(product.columns.count, kColumns) * product.groups;
  // Ranges for blocks that would have no work, none so short that its partial sums are most of what it does.
  constexpr int64_t wanted_jobs = 132 * 4;
  constexpr int64_t smallest_range = 256;
  product.splits = std::clamp<int64_t>(wanted_jobs / std::max<int64_t>(jobs, 1), 1,
                                       std::max<int64_t>(product.depth.count / smallest_range, 1));
  product.range = tiles(product.depth.count, product.splits);
  product.range = tiles(product.range, 32) * 32;
  product.splits = std::max<int64_t>(tiles(product.depth.count, product.range), 1);
  c10::DataPtr partial;
  if (product.splits > 1) {
    const int64_t results = product.splits * product.groups * product.rows * product.columns.count;
    partial = c10::get_backend(kCUDA).allocator()->allocate(static_cast<size_t>(results) * sizeof(SumOf<T>));
  }
  product.partial = static_cast<SumOf<T>*>(partial.get());
  if (is_narrow)
    multiply_channelwise(product);
  else
    launch(tile_kernel<T, kForward>(), grid_of_rows(jobs * product.splits), kTileThreads, product);
  if (product.partial) add_partials(product);
}

// Three dimensions of places; what fewer have not is of size 1.
Tensor volumes(Tensor tensor) {
  while (tensor.dim() < 5) tensor = tensor.unsqueeze(2);
  return tensor;
}

struct Window {
  int64_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};

  Window(IntArrayRef strides, IntArrayRef paddings, IntArrayRef dilations) {
    const size_t missing = 3 - strides.size();
    std::copy(strides.begin(), strides.end(), stride + missing);
    std::copy(paddings.begin(), paddings.end(), padding + missing);
    std::copy(dilations.begin(), dilations.end(), dilation + missing);
  }
};

// A kernel of one element that takes each place once (with output padding some have none): the product of two matrices,
// as long as cuBLAS counts the places.
bool is_pointwise(const Tensor& filters, const Window& window, const Tensor& out, const Tensor& image, int64_t groups) {
  bool is = groups == 1 && filters.numel() > 0 && out.sizes().slice(2) == image.sizes().slice(2) &&
            image.numel() / image.size(1) <= std::numeric_limits<int>::max();
  for (int i = 0; i < 3; ++i) is = is && filters.size(i + 2) == 1 && window.stride[i] == 1 && window.padding[i] == 0;
  return is;
}

// (N, C, *) as (N * places, C).
Tensor pixels(const Tensor& image) {
  return image.permute({0, 2, 3, 4, 1}).contiguous().view({-1, image.size(1)});
}

bool has_last_channels(const Tensor& image) { return image.permute({0, 2, 3, 4, 1}).is_contiguous(); }

// Whether rows of the product's matrices are whole packs of 16 bytes, as tensor cores take them: then cuBLAS is several
// times as fast as what cuDNN takes for a kernel of one element, seen on an H100.
bool is_best_multiplied(const Tensor& out, const Tensor& image) {
  const auto is_whole = [&](int64_t row) { return row * out.element_size() % 16 == 0; };
  return has_last_channels(out) ? is_whole(out.size(1)) && is_whole(image.size(1))
                                : is_whole(out.size(2) * out.size(3) * out.size(4));
}

// matrix: (channels of out, channels of image).
void convolve_pointwise(const Tensor& out, const Tensor& image, const Tensor& matrix) {
  if (has_last_channels(out)) {
    const Tensor last = out.permute({0, 2, 3, 4, 1}).view({-1, out.size(1)});
    multiply_matrices(last, pixels(image), matrix.t(), 0, 1, allows_tf32());
  } else {
    const int64_t batch = out.size(0);
    multiply_matrices(out.view({batch, out.size(1), -1}), matrix.unsqueeze(0).expand({batch, -1, -1}),
                      image.view({batch, image.size(1), -1}), 0, 1, allows_tf32());
  }
}

// Contiguous, at a multiple of 16 bytes, and with zeros behind the last two dimensions, or the last, up to multiples of
// `pack`.
Tensor packed(const Tensor& tensor, int64_t pack, int dims) {
  DimVector zeros;
  for (int64_t dim = 1; dim <= dims; ++dim) {
    zeros.push_back(0);
    zeros.push_back((pack - tensor.size(-dim) % pack) % pack);
  }
  const bool is_whole = std::all_of(zeros.begin(), zeros.end(), [](int64_t count) { return count == 0; });
  const Tensor result = (is_whole ? tensor : at::constant_pad_nd(tensor, zeros)).contiguous();
  return reinterpret_cast<uintptr_t>(result.data_ptr()) % 16 == 0 ? result : result.clone();
}

// (N, C, *) as (N, *, groups, C / groups).
Tensor channels_last(const Tensor& image, int64_t groups, int64_t pack) {
  const IntArrayRef sizes = image.sizes();
  return packed(
      image.view({sizes[0], groups, sizes[1] / groups, sizes[2], sizes[3], sizes[4]}).permute({0, 3, 4, 5, 1, 2}), pack,
      1);
}

// An index on the device is one of 32 bits.
int narrow(int64_t number) {
  TORCH_CHECK(number >= std::numeric_limits<int>::min() && number <= std::numeric_limits<int>::max(),
              "a convolution on CUDA takes at most 2147483647 elements along a dimension, its padding included, got ",
              number);
  return static_cast<int>(number);
}

template <typename T, bool kForward>
void set_image(Product<T, kForward>& product, const Tensor& image) {
  product.image = image.data_ptr<T>();
  for (int i = 0; i < 3; ++i) product.sizes[i] = narrow(image.size(i + 1));
  product.pixel_stride = image.size(4) * image.size(5);
  product.image_group = image.size(5);
}

// Columns or depth of so many windows; `first` and `step` are theirs in the image.
Axis<true> positions(const Tensor& image, IntArrayRef counts, const int64_t (&first)[3], const int64_t (&step)[3]) {
  Axis<true> axis;
  axis.count = counts[0] * counts[1] * counts[2] * counts[3];
  axis.other_stride = image.stride(0);
  for (int i = 0; i < 4; ++i) axis.sizes[i] = narrow(counts[i]);
  for (int i = 0; i < 3; ++i) {
    axis.first[i] = narrow(first[i]);
    axis.step[i] = narrow(step[i]);
    narrow(first[i] + step[i] * (counts[i + 1] - 1));
  }
  return axis;
}

// Columns or depth of a window of (*, channels), whose elements lie `step` apart.
Axis<false> elements(IntArrayRef kernel, int64_t channels, const int64_t (&step)[3]) {
  Axis<false> axis;
  axis.count = kernel[0] * kernel[1] * kernel[2] * channels;
  axis.other_stride = 1;
  axis.sizes[3] = narrow(channels);
  for (int i = 0; i < 3; ++i) {
    axis.sizes[i] = narrow(kernel[i]);
    axis.first[i] = 0;
    axis.step[i] = narrow(step[i]);
    narrow(step[i] * (kernel[i] - 1));
  }
  return axis;
}

// Places of `out`, of which (N, channels, *) are written, begin at `first` in the image and go on by `step`; elements
// of the window lie `gap` apart. weight: (groups, *, channels of a group's image, rows), packed.
template <typename T>
void convolve(const Tensor& out, const Tensor& image, const Tensor& weight, const Tensor& bias,
              const int64_t (&first)[3], const int64_t (&step)[3], const int64_t (&gap)[3]) {
  if (weight.numel() == 0) {
    if (bias.defined())
      out.copy_(bias.view({1, bias.size(0), 1, 1, 1}));
    else
      out.zero_();
    return;
  }
  Product<T, true> product;
  set_image(product, image);
  product.columns = positions(image, {out.size(0), out.size(2), out.size(3), out.size(4)}, first, step);
  product.depth = elements(weight.sizes().slice(1, 3), image.size(5), gap);
  product.groups = image.size(4);
  product.rows = out.size(1) / product.groups;
  product.matrix = weight.data_ptr<T>();
  product.matrix_stride = weight.size(5);
  product.matrix_group = weight.stride(0);
  product.out = out.data_ptr<T>();
  product.out_row = out.stride(1);
  product.out_group = product.rows * out.stride(1);
  product.out_stride[0] = out.stride(0);
  for (int i = 1; i < 4; ++i) product.out_stride[i] = out.stride(i + 1);
  product.channels = image.size(5);
  product.bias = bias.defined() ? bias.data_ptr<T>() : nullptr;
  compute(product);
}

template <typename Body>
void dispatch_convolution_types(c10::ScalarType dtype, const char* name, Body&& body) {
  if (dtype == kHalf)
    body(TypeTag<c10::Half>());
  else if (dtype == kBFloat16)
    body(TypeTag<c10::BFloat16>());
  else
    dispatch_floating_types(dtype, name, body);
}

void add_bias(const Tensor& out, const Tensor& bias) {
  if (!bias.defined()) return;
  DimVector channelwise(out.dim(), 1);
  channelwise[1] = bias.size(0);
  Tensor(out).add_(bias.view(channelwise));
}

template <typename T>
int64_t pack_of(int64_t groups, int64_t rows) {
  return is_channelwise(groups, rows) ? 1 : kChannelsAtOnce<T>;
}

}  // namespace

void convolution_kernel(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  if (convolve_depthwise(out, input, weight, bias, stride, padding, dilation, groups, /*transposed=*/false)) return;
  const Window window(stride, padding, dilation);
  const Tensor filters = volumes(weight);
  const bool is_product = is_pointwise(filters, window, volumes(out), volumes(input), groups);
  if (!(is_product && is_best_multiplied(volumes(out), volumes(input))) &&
      convolve_by_cudnn(kTorchCudaConvolution, input, weight, out, stride, padding, dilation, groups)) {
    return add_bias(out, bias);
  }
  if (is_product) {
    convolve_pointwise(volumes(out), volumes(input), filters.flatten(1));
    return add_bias(out, bias);
  }
  const int64_t rows = filters.size(0) / groups;
  dispatch_convolution_types(out.dtype(), "convolution", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t pack = pack_of<T>(groups, rows);
    const Tensor matrix =
        filters.view({groups, rows, filters.size(1), filters.size(2), filters.size(3), filters.size(4)});
    const int64_t first[3] = {-window.padding[0], -window.padding[1], -window.padding[2]};
    convolve<T>(volumes(out), channels_last(volumes(input), groups, pack),
                packed(matrix.permute({0, 3, 4, 5, 2, 1}), pack, 2), bias, first, window.stride, window.dilation);
  });
}

// Places of the result that are a stride apart see the same elements of the kernel: each such phase is a convolution of
// its own, of the elements that meet it.
void convolution_transposed_kernel(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  if (convolve_depthwise(out, input, weight, bias, stride, padding, dilation, groups, /*transposed=*/true)) return;
  const Window window(stride, padding, dilation);
  const Tensor filters = volumes(weight);
  const Tensor result = volumes(out);
  const bool is_product = is_pointwise(filters, window, result, volumes(input), groups);
  if (!(is_product && is_best_multiplied(result, volumes(input))) &&
      convolve_by_cudnn(kTorchCudaImageGradient, out, weight, input, stride, padding, dilation, groups)) {
    return add_bias(out, bias);
  }
  if (is_product) {
    convolve_pointwise(result, volumes(input), filters.flatten(1).t());
    return add_bias(out, bias);
  }
  const int64_t rows = filters.size(1);
  dispatch_convolution_types(out.dtype(), "convolution_transposed", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t pack = pack_of<T>(groups, rows);
    const Tensor image = channels_last(volumes(input), groups, pack);
    const Tensor matrix =
        filters.view({groups, filters.size(0) / groups, rows, filters.size(2), filters.size(3), filters.size(4)})
            .permute({0, 3, 4, 5, 1, 2});
    int64_t phases = 1;
    for (int i = 0; i < 3; ++i) phases *= std::min(window.stride[i], result.size(i + 2));
    for (int64_t phase = 0; phase < phases; ++phase) {
      Tensor part = result;
      Tensor part_matrix = matrix;
      int64_t first[3], gap[3];
      int64_t rest = phase;
      for (int i = 0; i < 3; ++i) {
        const int64_t step = window.stride[i];
        const int64_t begin = rest % std::min(step, result.size(i + 2));
        rest /= std::min(step, result.size(i + 2));
        const int64_t every =
            step / std::gcd(step, window.dilation[i]);  // elements of the kernel that meet the same phase
        const int64_t start = begin + window.padding[i];
        int64_t element = 0;
        while (element < every && (start - element * window.dilation[i]) % step != 0) ++element;
        // Without such an element there is nothing to add up.
        const int64_t count = element < every ? filters.size(i + 2) : 0;
        first[i] = element < every ? (start - element * window.dilation[i]) / step : 0;
        gap[i] = -(every * window.dilation[i] / step);
        part = at::slice(part, i + 2, begin, std::nullopt, step);
        part_matrix = at::slice(part_matrix, i + 1, std::min(element, count), count, every);
      }
      const int64_t one[3] = {1, 1, 1};
      convolve<T>(part, image, packed(part_matrix, pack, 2), bias, first, one, gap);
    }
  });
}

void convolution_weight_gradient_kernel(const Tensor& out, const Tensor& grad, const Tensor& input, IntArrayRef stride,
                                        IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  if (grad.numel() == 0) {
    out.zero_();
    return;
  }
  if (compute_depthwise_weight_gradient(out, grad, input, stride, padding, dilation, groups)) return;
  const Window window(stride, padding, dilation);
  const Tensor result = volumes(out);
  const bool is_product = is_pointwise(result, window, volumes(grad), volumes(input), groups);
  // Channels that are not last would have to be brought there first.
  const bool is_multiplied = is_product && out.element_size() == 2 && has_last_channels(volumes(grad)) &&
                             is_best_multiplied(volumes(grad), volumes(input));
  if (!is_multiplied &&
      convolve_by_cudnn(kTorchCudaFilterGradient, input, out, grad, stride, padding, dilation, groups)) {
    return;
  }
  if (is_product) {
    multiply_matrices(result.flatten(1), pixels(volumes(grad)).t(), pixels(volumes(input)), 0, 1, allows_tf32());
    return;
  }
  const int64_t rows = result.size(0) / groups;
  dispatch_convolution_types(out.dtype(), "convolution_weight_gradient", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t pack = pack_of<T>(groups, rows);
    const Tensor image = channels_last(volumes(input), groups, pack);
    const Tensor slopes = channels_last(volumes(grad), groups, pack);
    Product<T, false> product;
    set_image(product, image);
    const int64_t first[3] = {-window.padding[0], -window.padding[1], -window.padding[2]};
    product.columns = elements(result.sizes().slice(2, 3), image.size(5), window.dilation);
    product.depth = positions(image, slopes.sizes().slice(0, 4), first, window.stride);
    product.groups = groups;
    product.rows = rows;
    product.matrix = slopes.data_ptr<T>();
    product.matrix_stride = slopes.size(4) * slopes.size(5);
    product.matrix_group = slopes.size(5);
    product.out = result.data_ptr<T>();
    product.out_row = result.stride(0);
    product.out_group = rows * result.stride(0);
    for (int i = 0; i < 3; ++i) product.out_stride[i] = result.stride(i + 2);
    product.out_stride[3] = result.stride(1);
    product.channels = result.size(1);
    product.bias = nullptr;
    compute(product);
  });
}

}  // namespace at::native::cuda
