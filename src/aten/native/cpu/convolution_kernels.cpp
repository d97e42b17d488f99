// Convolutions. Floating ones whose groups have enough channels of results to fill vectors: as gathered products,
// row-major or channels last. Of few channels: directly (phased_convolution.h), or channel by channel. Integers, and
// transposed ones with strides: windows copied into a matrix, a tile that fits into the cache at a time, times the
// weight. Tiles, images and groups are given out to threads.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Functions.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/Parallel.h>
#include <aten/native/CachedParts.h>
#include <aten/native/RunKernel.h>
#include <aten/native/cpu/Conversion.h>
#include <aten/native/cpu/ConvolutionGeometry.h>
#include <aten/native/cpu/ConvolutionTasks.h>
#include <aten/native/cpu/DispatchInt64.h>
#include <aten/native/cpu/FoldedAxes.h>
#include <aten/native/cpu/MergedGroups.h>
#include <aten/native/cpu/WindowProducts.h>
#include <aten/native/cpu/bfloat16_products.h>
#include <aten/native/cpu/bfloat16_tiles.h>
#include <aten/native/cpu/blas.h>
#include <aten/native/cpu/channelwise_convolution.h>
#include <aten/native/cpu/gathered_convolution.h>
#include <aten/native/cpu/gathered_elements.h>
#include <aten/native/cpu/gathered_products.h>
#include <aten/native/cpu/panel_gemm.h>
#include <aten/native/cpu/phased_convolution.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace at::native::cpu {

namespace {

using Geometry = ConvolutionGeometry;

constexpr int64_t kShortLine = 6;
constexpr int64_t kNarrow = 8;
constexpr int64_t kManyResults = 512;            // of a channel
constexpr int64_t kSomeResults = 32;             // the same, of a few vectors
constexpr int64_t kFewPlaces = 16;               // of results
constexpr int64_t kFewResultChannels = 16;       // of row-major images
constexpr int64_t kFewImageChannels = 128;       // of which some places stay in the first cache
constexpr int64_t kFewestImageChannels = 32;     // the same beside as many results as there may be
constexpr int64_t kLeastTogether = 3;            // channels of results that lie last and fill part of a vector
constexpr int64_t kFewSources = 4;               // channels, of which a transposed convolution is not worth a product

// Channels of a group's results that lie last and are worth vectors that they fill in part. Where images are matrices
// as they lie nothing is quicker.
int64_t least_together(const Geometry& g) { return g.is_pointwise() && g.groups == 1 ? 1 : kLeastTogether; }

// Whether a group has enough channels of results to fill vectors with them, or some of one where they lie next to each
// other; else vectors are filled with neighbouring places, unless there are few of them, too.
template <typename T>
bool is_gathered(const Geometry& g, int64_t results, bool channels_last, int64_t places = kManyResults) {
  if (results > 1 && places <= kFewPlaces) return true;
  return results >= (channels_last ? std::min(least_together(g), panel_step<T>()) : panel_columns<T>() / 2);
}

// Whether images are matrices as they lie, for a BLAS that uses the processor's widest vectors; where these are short,
// own panels take less.
bool suits_blas(const Geometry& g) {
  return g.is_pointwise() && g.groups == 1 && g.window_count() >= kSomeResults &&
         panel_columns<float>() > kShortPanel && !panels_beat_blas();
}

// Whether windows of one element, of few channels and many results, are best multiplied as the image lies.
bool is_product_of_image(const Geometry& g) {
  return suits_blas(g) ||
         (g.is_pointwise() && g.window_channels > g.image_channels && g.window_count() >= kManyResults);
}

// Whether windows of one element, of some channels, are best multiplied by panels of neighbouring places: where vectors
// are short these take less than panels of the weight, whose results have to be turned.
bool fills_panels_of_image(const Geometry& g) {
  constexpr int64_t kFewestPlaces = 256;
  return g.is_pointwise() && panel_columns<float>() <= kShortPanel && g.image_channels >= kFewestImageChannels &&
         g.window_count() >= kFewestPlaces && g.window_channels > kShortPanel;
}

// Whether windows of one element, of few channels, are best computed with vectors of places.
bool has_few_channels(const Geometry& g) {
  const bool are_few = g.window_channels < kFewResultChannels;
  const int64_t most = are_few ? kFewImageChannels : kFewestImageChannels;
  return g.is_pointwise() && g.image_channels > 0 && g.image_channels <= most &&
         g.window_count() >= (are_few ? kSomeResults : kManyResults / 4);
}

// The same of images whose channels lie last: places times a few filters.
constexpr int64_t kFewFilters = 4;
template <typename T>
void multiply_places(const Geometry& g, T* out, const T* input, const T* weight, const T* bias) {
  const int64_t places = g.batch * g.window_count();
  const int64_t outs = g.window_channels;
  for (int64_t i = 0; bias && i < places; ++i) std::copy_n(bias, outs, out + i * outs);
  gemm(places, outs, g.image_channels, T(1), {input, g.image_channels, false}, {weight, g.image_channels, true},
       T(bias ? 1 : 0), out, outs);
}

// Channels last where takes_channels_last() says so.
template <typename T>
void convolve(const Geometry& g, bool channels_last, T* out, const T* input, const T* weight, const T* bias) {
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (std::is_same_v<T, float>) {
      if (!channels_last && has_few_channels(g)) return convolve_places(g, out, input, weight, bias);
    }
    if (!channels_last && fills_panels_of_image(g)) return multiply_images(g, out, input, weight, bias);
    if (!channels_last && is_product_of_image(g)) return convolve_by_products(g, out, input, weight, bias);
    if (channels_last && g.is_pointwise() && g.groups == 1 && g.window_channels <= kFewFilters)
      return multiply_places(g, out, input, weight, bias);
    if (is_gathered<T>(g, g.window_channels, channels_last, g.window_count()))
      return convolve_gathered(g, channels_last, out, input, weight, bias);
    if (channels_last) return convolve_channelwise(g, false, out, input, weight, bias);
    if (!g.is_pointwise()) return convolve_directly(g, out, input, weight, bias);
  }
  convolve_by_products(g, out, input, weight, bias);
}

// A transposed convolution with stride 1 is an ordinary one with the kernel turned round.
template <typename T>
void convolve_transposed(const Geometry& g, bool channels_last, T* out, const T* input, const T* weight,
                         const T* bias) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool by_blas = !channels_last && suits_blas(g);
    if (!by_blas && is_gathered<T>(g, g.image_channels, channels_last))
      return convolve_transposed_gathered(g, channels_last, out, input, weight, bias);
    if (channels_last) return convolve_channelwise(g, true, out, input, weight, bias);
    if (g.has_stride() && g.window_channels <= kFewSources) return transpose_directly(g, out, input, weight, bias);
  }
  if (g.has_stride() || !std::is_floating_point_v<T>) return scatter_by_products(g, out, input, weight, bias);
  Geometry turned = g;
  std::swap(turned.image, turned.windows);
  std::swap(turned.image_channels, turned.window_channels);
  for (int dim = 0; dim < 3; ++dim) turned.padding[dim] = g.dilation[dim] * (g.kernel[dim] - 1) - g.padding[dim];
  const int64_t kernel = g.kernel_elements();
  const auto flipped = scratch<T>(g.groups * g.window_channels * g.rows());
  T* to = flipped.get();
  for (int64_t group = 0; group < g.groups; ++group) {
    for (int64_t c = 0; c < g.image_channels; ++c) {
      for (int64_t o = 0; o < g.window_channels; ++o, to += kernel) {
        const T* from = weight + ((group * g.window_channels + o) * g.image_channels + c) * kernel;
        std::reverse_copy(from, from + kernel, to);
      }
    }
  }
  convolve(turned, false, out, input, flipped.get(), bias);
}

template <typename T>
void weight_gradient(const Geometry& g, bool channels_last, T* out, const T* grad, const T* input) {
  const int64_t rows = g.rows();
  const int64_t outs = g.window_channels;
  const int64_t windows = g.window_count();
  const int64_t size = outs * rows;
  const int64_t threads = get_num_threads();
  const Tiling tiles(g, sizeof(T), divide_up(threads, g.groups));
  if (tiles.count == 0 || windows == 0) {
    std::fill_n(out, g.groups * size, T(0));
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    const bool by_blas = !channels_last && suits_blas(g);
    if (!by_blas && is_gathered<T>(g, g.window_channels, channels_last))
      return weight_gradient_gathered(g, channels_last, out, grad, input);
    if (channels_last) return weight_gradient_channelwise(g, out, grad, input);
    // Short lines of windows would leave the vectors mostly to the zeros between them.
    if (!g.is_pointwise() && g.windows[2] >= kShortLine) return weight_gradient_directly(g, out, grad, input);
  }
  // Each group's tiles in chunks, each chunk with a sum of its own, the first one in `out`.
  const int64_t affordable = 1 + kPartialSumBytes / static_cast<int64_t>(sizeof(T)) / (g.groups * size);
  const int64_t chunks = std::min({divide_up(threads, g.groups), tiles.count, affordable});
  const auto partial = scratch<T>((chunks - 1) * g.groups * size);
  const int64_t tasks = g.groups * chunks;
  const SerialBlas serial(tasks > 1);
  parallel_for(0, tasks, grain_for(g.batch * g.groups * windows * size, tasks), [&](int64_t begin, int64_t end) {
    const auto columns = scratch<T>(rows * tiles.size);
    const auto gathered = scratch<T>(tiles.images > 1 ? outs * tiles.size : 0);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task % g.groups;
      const int64_t chunk = task / g.groups;
      T* sum = (chunk == 0 ? out : partial.get() + (chunk - 1) * g.groups * size) + group * size;
      bool is_first = true;
      for (int64_t tile = chunk * tiles.count / chunks; tile < (chunk + 1) * tiles.count / chunks; ++tile) {
        const auto [first, last] = tiles.range(tile);
        const int64_t count = last - first;
        if (count == 0) continue;
        const bool one_image = tiles.images == 1;
        const Matrix<T> matrix = windows_of(g, input, group, first, last, one_image, columns.get());
        const int64_t image = first / windows;
        Matrix<T> slope{grad + (image * g.groups + group) * outs * windows + first - image * windows, windows};
        if (!one_image) {
          for_each_image(windows, first, last, [&](int64_t number, int64_t, int64_t column, int64_t) {
            const T* from = grad + (number * g.groups + group) * outs * windows;
            for (int64_t o = 0; o < outs; ++o) {
              std::copy_n(from + o * windows, windows, gathered.get() + o * count + column);
            }
          });
          slope = {gathered.get(), count};
        }
        gemm(outs, rows, count, T(1), {slope.data, slope.leading, false}, {matrix.data, matrix.leading, true},
             is_first ? T(0) : T(1), sum, rows);
        is_first = false;
      }
    }
  });
  add_partial_sums(out, partial.get(), chunks, g.groups * size);
}

// One window that is the whole image: convolutions and their gradients are products of matrices, with a row for each
// sample, or for each channel of the results.
bool is_product(const Geometry& g, ScalarType dtype) {
  return c10::is_floating_type(dtype) && g.groups == 1 && g.window_count() == 1 && g.kernel == g.image &&
         g.kernel_elements() > 1 && g.padding == Geometry::Triple{0, 0, 0};
}
Tensor as_rows(const Tensor& tensor) {
  return native::view(at::detail::to_contiguous(tensor), {tensor.sizes()[0], -1});
}

// Whether groups of bfloat16 fill vectors together where channels lie last: that saves more than turning takes.
bool fills_pairs(const Geometry& g, const Tensor& out, const Tensor& input) {
  if (input.dtype() != kBFloat16 || !has_bfloat16_products() || out.dim() == 3) return false;
  const int64_t columns = columns_of_groups<uint32_t>(g.window_channels);
  return g.image_channels == g.window_channels && columns > 0 && g.groups * g.window_channels % columns == 0 &&
         out.is_contiguous() && input.is_contiguous() && out.numel() > out.sizes()[0] * out.sizes()[1];
}

bool is_channelwise(const Geometry& g) { return g.image_channels == 1 && g.window_channels == 1; }
// Channels that lie last, of which each is on its own.
bool fills_vectors(const Geometry& g) { return g.groups >= panel_columns<float>() / 2; }

// Whether there is a way that reads and writes floating images with their channels last.
bool takes_channels_last(ScalarType dtype, int64_t result_channels, const Geometry& g, int64_t places = kManyResults) {
  const bool wide =
      dtype == kFloat ? is_gathered<float>(g, result_channels, true, places)
                      : dtype == kDouble && is_gathered<double>(g, result_channels, true, places);
  return wide || (c10::is_floating_type(dtype) && is_channelwise(g) && fills_vectors(g));
}

// Calls body(out, input, whether channels are last) with both laid out alike, as the way that is taken wants them.
template <typename Body>
void in_one_layout(const Tensor& out, const Tensor& input, bool takes_last, Body&& body) {
  const bool is_last = !(out.is_contiguous() && input.is_contiguous());
  if (!is_last || takes_last) return body(out, input, is_last);
  const Tensor result = at::detail::empty(out.sizes(), out.dtype(), out.device());
  body(result, at::detail::to_contiguous(input), false);
  at::detail::copy_into(out, result);
}

// Whether lines of so many results of row-major images leave part of a vector empty, or most of a long one, where one
// of channels is full.
bool is_narrow(const Geometry& g, int64_t width, const Tensor& out, const Tensor& input) {
  return is_channelwise(g) && fills_vectors(g) && c10::is_floating_type(out.dtype()) && out.dim() == 4 &&
         out.is_contiguous() && input.is_contiguous() && out.sizes()[2] * out.sizes()[3] > 1 &&
         g.kernel_elements() > 1 && width <= std::min<int64_t>(kNarrow, panel_columns<float>() / 2);
}

bool lies_last(const Tensor& weight) {
  return !weight.is_contiguous() && weight.suggest_memory_format() != MemoryFormat::Contiguous &&
         weight.is_contiguous(weight.suggest_memory_format());
}
// The weight as it is where its channels lie last and are taken so, else row-major; the geometry is told.
Tensor lay_out_weight(Geometry& g, const Tensor& weight, bool takes_last) {
  g.weight_last = takes_last && lies_last(weight);
  return g.weight_last ? weight : weight.contiguous();
}

const uint16_t* bits_of(const Tensor& tensor) { return static_cast<const uint16_t*>(tensor.data_ptr()); }

// Whether windows are single elements that lie apart in row-major images, which several vectors of channels read.
bool is_spread(const Geometry& g, const Tensor& input) {
  return g.kernel_elements() == 1 && g.has_stride() && g.padding == Geometry::Triple{0, 0, 0} &&
         g.window_channels >= panel_columns<float>() && input.is_contiguous();
}
// These elements alone.
Tensor take_windows(const Tensor& input, IntArrayRef stride) {
  Tensor taken = input;
  for (size_t dim = 0; dim < stride.size(); ++dim)
    taken = native::slice(taken, static_cast<int64_t>(dim) + 2, std::nullopt, std::nullopt, stride[dim]);
  return at::detail::to_contiguous(taken);
}

// False: not for this way.
bool convolve_in_pairs(Geometry g, bool transposed, const Tensor& out, const Tensor& input, const Tensor& weight,
                       const Tensor& bias) {
  const int64_t results = transposed ? g.image_channels : g.window_channels;
  const int64_t sources = transposed ? g.window_channels : g.image_channels;
  const bool is_last = !(out.is_contiguous() && input.is_contiguous());
  if (!has_bfloat16_products() || results < (is_last ? least_together(g) : kHalfPairs) || (sources < 2 && !is_last))
    return false;
  const Tensor addend = bias.defined() ? at::detail::to_dtype(bias, kFloat) : bias;
  const Tensor factors = lay_out_weight(g, weight, is_last);
  convolve_pairs(g, transposed, is_last, static_cast<uint16_t*>(out.data_ptr()), bits_of(input), bits_of(factors),
                 bias.defined() ? addend.data_ptr<float>() : nullptr);
  return true;
}

// False: not for this way.
bool convolve_bits_channelwise(const Geometry& g, bool transposed, const Tensor& out, const Tensor& input,
                               const Tensor& weight, const Tensor& bias) {
  if (!is_channelwise(g) || !fills_vectors(g) || (out.is_contiguous() && input.is_contiguous())) return false;
  const Tensor factors = at::detail::to_dtype(weight, kFloat).contiguous();
  const Tensor addend = bias.defined() ? at::detail::to_dtype(bias, kFloat) : bias;
  convolve_channelwise(g, transposed, static_cast<uint16_t*>(out.data_ptr()), bits_of(input), factors.data_ptr<float>(),
                       bias.defined() ? addend.data_ptr<float>() : nullptr);
  return true;
}

// Images of float16 and bfloat16, as many at a time as stay in the cache, as float32. False:
// not in the layout that is taken.
template <typename Convolve>
bool convolve_some_images(const Geometry& g, bool takes_last, const Tensor& out, const Tensor& input,
                          const Tensor& weight, const Tensor& bias, Convolve&& convolve_images) {
  const bool is_last = !(out.is_contiguous() && input.is_contiguous());
  if (is_last && !takes_last) return false;
  const Tensor factors = at::detail::to_dtype(weight, kFloat).contiguous();
  const Tensor addend = bias.defined() ? at::detail::to_dtype(bias, kFloat) : bias;
  const float* added = bias.defined() ? addend.data_ptr<float>() : nullptr;
  const Conversion widen(kFloat, input.dtype());
  const Conversion round(out.dtype(), kFloat);
  const int64_t read = input.numel() / g.batch;
  const int64_t written = out.numel() / g.batch;
  for_each_cached_part(g.batch, read + written, [&](int64_t first, int64_t last) {
    Geometry part = g;
    part.batch = last - first;
    const auto images = scratch<float>(part.batch * read);
    const auto results = scratch<float>(part.batch * written);
    constexpr int64_t kHalf = 2;  // bytes
    constexpr int64_t kWhole = sizeof(float);
    widen(reinterpret_cast<char*>(images.get()), kWhole,
          static_cast<const char*>(input.data_ptr()) + first * read * kHalf, kHalf, part.batch * read);
    convolve_images(part, is_last, results.get(), images.get(), factors.data_ptr<float>(), added);
    round(static_cast<char*>(out.data_ptr()) + first * written * kHalf, kHalf,
          reinterpret_cast<const char*>(results.get()), kWhole, part.batch * written);
  });
  return true;
}

// Of a few filters of one element: sums over places are products of matrices as images lie. False: not for this way.
bool sum_gradient_by_products(const Geometry& g, const Tensor& out, const Tensor& grad, const Tensor& input) {
  constexpr int64_t kFew = 8;
  const bool is_last = !(grad.is_contiguous() && input.is_contiguous());
  const bool is_taken = input.dtype() == kFloat || (input.dtype() == kBFloat16 && has_bfloat16_products());
  if (!is_taken || !g.is_pointwise() || g.groups != 1) return false;
  if (g.window_channels > kFew || (is_last && g.image_channels < kFew)) return false;
  const int64_t images = is_last ? 1 : g.batch;
  const int64_t places = g.window_count() * g.batch / images;
  const auto matrix_of = [&](const Tensor& tensor, int64_t channels, int64_t image) {  // of a line for each channel
    const DimVector strides = is_last ? DimVector{1, channels} : DimVector{places, 1};
    return at::detail::make_view(tensor, {channels, places}, strides,
                                 tensor.storage_offset() + image * channels * places);
  };
  const Tensor sums = at::detail::empty({g.window_channels, g.image_channels}, kFloat, out.device());
  for (int64_t i = 0; i < images; ++i) {
    gemm_kernel(sums, matrix_of(grad, g.window_channels, i), native::t(matrix_of(input, g.image_channels, i)),
                Scalar(i > 0 ? 1 : 0), Scalar(1));
  }
  at::detail::copy_into(out, native::view(sums, out.sizes()));
  return true;
}

bool sum_gradient_in_pairs(Geometry g, const Tensor& out, const Tensor& grad, const Tensor& input) {
  const bool is_last = !(grad.is_contiguous() && input.is_contiguous());
  if (!has_bfloat16_products() || g.window_channels < (is_last ? least_together(g) : kHalfPairs) ||
      !gradient_has_pairs(g))
    return false;
  if (is_last && has_bfloat16_tiles())  // whose rows are of neighbouring places
    return sum_gradient_in_pairs(g, out, at::detail::to_contiguous(grad), at::detail::to_contiguous(input));
  g.weight_last = lies_last(out);
  const MemoryFormat format = g.weight_last ? out.suggest_memory_format() : MemoryFormat::Contiguous;
  const Tensor sums = at::detail::empty(out.sizes(), out.options().dtype(kFloat), format);
  weight_gradient_pairs(g, is_last, sums.data_ptr<float>(), bits_of(grad), bits_of(input));
  at::detail::copy_into(out, sums);
  return true;
}

}  // namespace

void convolution_kernel(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  Geometry geometry(input.sizes(), out.sizes(), weight.sizes(), stride, padding, dilation, groups);
  if (is_product(geometry, out.dtype())) {
    const Tensor factors = native::t(as_rows(weight));
    const Tensor result = bias.defined() ? native::addmm(bias, as_rows(input), factors, Scalar(1), Scalar(1))
                                         : native::mm(as_rows(input), factors);
    return at::detail::copy_into(out, native::view(result, out.sizes()));
  }
  if (const Folding folding = find_folding(geometry, input, weight); folding != Folding::none) {
    const Tensor result = folding == Folding::last_axis ? like_with_channels_last(out) : out;
    convolution_kernel(result, fold_axes(input, folding), fold_axes(weight, folding), bias, stride, padding, dilation,
                       groups);
    if (!result.is_same(out)) at::detail::copy_into(out, result);
    return;
  }
  if (is_spread(geometry, input)) {
    const DimVector steps(stride.size(), 1);
    return convolution_kernel(out, take_windows(input, stride), weight, bias, steps, padding, dilation, groups);
  }
  if (const int64_t together = groups_of_a_tile(geometry, input.dtype()); together > 1 && are_finite(input)) {
    return convolution_kernel(out, input, merge_groups(weight, groups, together), bias, stride, padding, dilation,
                              groups / together);
  }
  if (is_narrow(geometry, geometry.windows[2], out, input) || fills_pairs(geometry, out, input)) {
    const Tensor result = like_with_channels_last(out);
    convolution_kernel(result, with_channels_last(input), weight, bias, stride, padding, dilation, groups);
    return at::detail::copy_into(out, result);
  }
  if (c10::is_reduced_floating_type(input.dtype())) {
    if (input.dtype() == kBFloat16 && (convolve_in_pairs(geometry, false, out, input, weight, bias) ||
                                       convolve_bits_channelwise(geometry, false, out, input, weight, bias)))
      return;
    const bool takes_last =
        takes_channels_last(kFloat, geometry.window_channels, geometry, geometry.window_count());
    if (convolve_some_images(geometry, takes_last, out, input, weight, bias, &convolve<float>)) return;
    return run_kernel_in_float32(convolution_kernels, out.device(), out, input, weight, bias, stride, padding, dilation,
                                 groups);
  }
  const int64_t places = geometry.window_count();
  const bool takes_last = takes_channels_last(out.dtype(), geometry.window_channels, geometry, places);
  in_one_layout(out, input, takes_last, [&](const Tensor& result, const Tensor& image, bool channels_last) {
    dispatch_numeric_types(out.dtype(), "convolution", [&](auto type) {
      using T = typename decltype(type)::type;
      const bool takes_weight =
          std::is_floating_point_v<T> && is_gathered<T>(geometry, geometry.window_channels, channels_last, places);
      const Tensor factors = lay_out_weight(geometry, weight, takes_weight);
      convolve(geometry, channels_last, result.data_ptr<T>(), image.data_ptr<T>(), factors.data_ptr<T>(),
               bias.defined() ? bias.data_ptr<T>() : nullptr);
    });
  });
}

void convolution_transposed_kernel(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  Geometry geometry(out.sizes(), input.sizes(), weight.sizes(), stride, padding, dilation, groups);
  if (is_product(geometry, out.dtype())) {
    Tensor result = native::mm(as_rows(input), as_rows(weight));
    if (bias.defined()) {
      DimVector sizes{out.sizes()[0], out.sizes()[1], geometry.kernel_elements()};
      result = at::add(native::view(result, sizes), native::unsqueeze(bias, 1));
    }
    return at::detail::copy_into(out, native::view(result, out.sizes()));
  }
  if (const Folding folding = find_folding(geometry, out, weight); folding != Folding::none) {
    const Tensor result = fold_axes(out, folding);
    return convolution_transposed_kernel(result, folding == Folding::last_axis ? with_channels_last(input) : input,
                                         fold_axes(weight, folding), repeat_bias(bias, result.sizes()[1]), stride,
                                         padding, dilation, groups);
  }
  if (const int64_t together = groups_of_a_tile(geometry, input.dtype()); together > 1 && are_finite(input)) {
    return convolution_transposed_kernel(out, input, merge_groups(weight, groups, together), bias, stride, padding,
                                         dilation, groups / together);
  }
  if (is_narrow(geometry, geometry.image[2], out, input) || fills_pairs(geometry, out, input)) {
    const Tensor result = like_with_channels_last(out);
    convolution_transposed_kernel(result, with_channels_last(input), weight, bias, stride, padding, dilation, groups);
    return at::detail::copy_into(out, result);
  }
  if (c10::is_reduced_floating_type(input.dtype())) {
    if (input.dtype() == kBFloat16 && (convolve_in_pairs(geometry, true, out, input, weight, bias) ||
                                       convolve_bits_channelwise(geometry, true, out, input, weight, bias)))
      return;
    if (convolve_some_images(geometry, takes_channels_last(kFloat, geometry.image_channels, geometry), out, input,
                             weight, bias, &convolve_transposed<float>)) {
      return;
    }
    return run_kernel_in_float32(convolution_transposed_kernels, out.device(), out, input, weight, bias, stride,
                                 padding, dilation, groups);
  }
  const bool takes_last = takes_channels_last(out.dtype(), geometry.image_channels, geometry);
  in_one_layout(out, input, takes_last, [&](const Tensor& result, const Tensor& image, bool channels_last) {
    dispatch_floating_types_and_int64(out.dtype(), "convolution_transposed", [&](auto type) {
      using T = typename decltype(type)::type;
      const bool takes_weight =
          std::is_floating_point_v<T> && is_gathered<T>(geometry, geometry.image_channels, channels_last);
      const Tensor factors = lay_out_weight(geometry, weight, takes_weight);
      convolve_transposed(geometry, channels_last, result.data_ptr<T>(), image.data_ptr<T>(), factors.data_ptr<T>(),
                          bias.defined() ? bias.data_ptr<T>() : nullptr);
    });
  });
}

void convolution_weight_gradient_kernel(const Tensor& out, const Tensor& grad, const Tensor& input, IntArrayRef stride,
                                        IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  Geometry geometry(input.sizes(), grad.sizes(), out.sizes(), stride, padding, dilation, groups);
  if (is_product(geometry, out.dtype())) {
    const Tensor sums = native::mm(native::t(as_rows(grad)), as_rows(input));
    return at::detail::copy_into(out, native::view(sums, out.sizes()));
  }
  if (const Folding folding = find_folding(geometry, input, out); folding != Folding::none) {
    return convolution_weight_gradient_kernel(
        fold_axes(out, folding), folding == Folding::last_axis ? with_channels_last(grad) : grad,
        fold_axes(input, folding), stride, padding, dilation, groups);
  }
  if (sum_gradient_by_products(geometry, out, grad, input)) return;
  if (const int64_t together = groups_of_a_tile(geometry, input.dtype()); together > 1) {
    const Tensor merged = at::detail::empty(merged_sizes(out.sizes(), together), kBFloat16, out.device());
    convolution_weight_gradient_kernel(merged, grad, input, stride, padding, dilation, groups / together);
    return at::detail::copy_into(out, part_groups(merged, out.sizes(), groups, together));
  }
  if (c10::is_reduced_floating_type(input.dtype())) {
    if (input.dtype() == kBFloat16 && sum_gradient_in_pairs(geometry, out, grad, input)) return;
    return run_kernel_in_float32(convolution_weight_gradient_kernels, out.device(), out, grad, input, stride, padding,
                                 dilation, groups);
  }
  if (is_narrow(geometry, geometry.windows[2], grad, input)) {
    return convolution_weight_gradient_kernel(out, with_channels_last(grad), with_channels_last(input), stride, padding,
                                              dilation, groups);
  }
  const bool is_last = !(grad.is_contiguous() && input.is_contiguous());
  const bool is_kept = is_last && takes_channels_last(out.dtype(), geometry.window_channels, geometry);
  const Tensor slopes = is_kept ? grad : at::detail::to_contiguous(grad);
  const Tensor image = is_kept ? input : at::detail::to_contiguous(input);
  dispatch_floating_types(out.dtype(), "convolution_weight_gradient", [&](auto type) {
    using T = typename decltype(type)::type;
    geometry.weight_last = is_gathered<T>(geometry, geometry.window_channels, is_kept) && lies_last(out);
    const bool is_written = geometry.weight_last || out.is_contiguous();
    const Tensor sums = is_written ? out : at::detail::empty(out.sizes(), out.dtype(), out.device());
    weight_gradient(geometry, is_kept, sums.data_ptr<T>(), slopes.data_ptr<T>(), image.data_ptr<T>());
    if (!is_written) at::detail::copy_into(out, sums);
  });
}

}  // namespace at::native::cpu
