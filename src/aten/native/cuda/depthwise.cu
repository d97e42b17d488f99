// A thread has a channel, or neighbouring channels where they are last, keeps their filter in registers if it is of
// 3 x 3, and goes through places of the result: what neighbouring places share comes from the first cache.

#include <aten/ATen.h>
#include <aten/Plugin.h>
#include <aten/native/cuda/Rows.cuh>
#include <aten/native/cuda/depthwise.h>

namespace at::native::cuda {

namespace {

// Where the elements of an image are. With channels first a pack is one channel.
struct Image {
  int height, width;
  int64_t batch_stride, channel_stride, place_stride;

  Image(const Tensor& tensor, bool last) {
    const int64_t channels = tensor.size(1);
    height = static_cast<int>(tensor.dim() == 4 ? tensor.size(2) : 1);
    width = static_cast<int>(tensor.size(-1));
    const int64_t places = int64_t{height} * width;
    batch_stride = channels * places;
    channel_stride = last ? 1 : places;
    place_stride = last ? channels : 1;
  }
  __device__ int64_t offset(int64_t sample, int64_t channel, int y, int x) const {
    return sample * batch_stride + channel * channel_stride + (int64_t{y} * width + x) * place_stride;
  }
};

// Of a filter along both dimensions.
struct Filter {
  int size[2] = {1, 1}, stride[2] = {1, 1}, padding[2] = {0, 0}, dilation[2] = {1, 1};

  Filter(const Tensor& weight, IntArrayRef strides, IntArrayRef paddings, IntArrayRef dilations) {
    const size_t missing = 2 - strides.size();
    for (size_t i = 0; i < strides.size(); ++i) {
      size[missing + i] = static_cast<int>(weight.sizes()[2 + i]);
      stride[missing + i] = static_cast<int>(strides[i]);
      padding[missing + i] = static_cast<int>(paddings[i]);
      dilation[missing + i] = static_cast<int>(dilations[i]);
    }
  }
  // Where element `i` of the filter meets the input of `extent` places, for one place of the result; -1: nowhere.
  __device__ int met(int dim, int place, int i, int extent, bool transposed) const {
    int at;
    if (transposed) {
      at = place + padding[dim] - i * dilation[dim];
      if (stride[dim] > 1) {
        if (at < 0 || at % stride[dim] != 0) return -1;
        at /= stride[dim];
      }
    } else {
      at = place * stride[dim] - padding[dim] + i * dilation[dim];
    }
    return at >= 0 && at < extent ? at : -1;
  }
};

// A block's threads along x have packs of channels, those along y places of all samples.
struct Places {
  int64_t channels;
  unsigned count;  // of all samples
  unsigned of_sample;
};

template <typename T>
constexpr int kChannelPack = std::is_same_v<T, double> ? 2 : 4;

// body(sample, y, x) for the places of this thread in an image of so many columns.
template <typename Body>
__device__ void for_each_place(const Places& places, int width, Body&& body) {
  for (unsigned i = blockIdx.y * blockDim.y + threadIdx.y; i < places.count; i += gridDim.y * blockDim.y) {
    const unsigned sample = i / places.of_sample;
    const unsigned place = i - sample * places.of_sample;
    const unsigned y = place / static_cast<unsigned>(width);
    body(int64_t{sample}, static_cast<int>(y), static_cast<int>(place - y * width));
  }
}

// kTaps: the elements of the filter, or 0 for those that are read each time.
template <typename T, int kPack, int kTaps>
__global__ void __launch_bounds__(kThreads)
    filter_channels(T* out, const T* in, const T* weight, const T* bias, Image out_image, Image in_image, Filter filter,
                    Places places, bool transposed) {
  using A = ComputedOf<T>;
  const int64_t channel = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) * kPack;
  if (channel >= places.channels) return;
  const int taps = filter.size[0] * filter.size[1];
  A factors[kTaps > 0 ? kTaps : 1][kPack];
  A first[kPack];
#pragma unroll
  for (int j = 0; j < kPack; ++j) {
    first[j] = bias ? widen(bias[channel + j]) : A(0);
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) factors[tap][j] = widen(weight[(channel + j) * kTaps + tap]);
  }
  for_each_place(places, out_image.width, [&](int64_t sample, int y, int x) {
    A sums[kPack];
#pragma unroll
    for (int j = 0; j < kPack; ++j) sums[j] = first[j];
    const auto add = [&](int row, int column, int tap) {
      const int in_y = filter.met(0, y, row, in_image.height, transposed);
      const int in_x = filter.met(1, x, column, in_image.width, transposed);
      if (in_y < 0 || in_x < 0) return;
      const auto values = read_neighbours<kPack>(in + in_image.offset(sample, channel, in_y, in_x));
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        const A factor = kTaps > 0 ? factors[kTaps > 0 ? tap : 0][j] : widen(weight[(channel + j) * taps + tap]);
        sums[j] += widen(values.values[j]) * factor;
      }
    };
    if constexpr (kTaps > 0) {
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) add(tap / 3, tap % 3, tap);
    } else {
#pragma unroll 1
      for (int row = 0, tap = 0; row < filter.size[0]; ++row) {
#pragma unroll 1
        for (int column = 0; column < filter.size[1]; ++column) add(row, column, tap++);
      }
    }
    Neighbours<T, kPack> result;
#pragma unroll
    for (int j = 0; j < kPack; ++j) result.values[j] = narrow_to<T>(sums[j]);
    write_neighbours<kPack>(out + out_image.offset(sample, channel, y, x), result);
  });
}

// Sums for kTaps elements of the filter: all of them, or, if kTaps is 1, that of blockIdx.z. partial: (blocks along y,
// elements of the filter, channels).
template <typename T, int kPack, int kTaps>
__global__ void __launch_bounds__(kThreads)
    sum_filter_gradients(ComputedOf<T>* partial, const T* grad, const T* in, Image grad_image, Image in_image,
                         Filter filter, Places places) {
  using A = ComputedOf<T>;
  __shared__ A shared[kThreads];
  const int64_t channel = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) * kPack;
  const bool is_there = channel < places.channels;
  const int taps = filter.size[0] * filter.size[1];
  A sums[kTaps][kPack];
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
#pragma unroll
    for (int j = 0; j < kPack; ++j) sums[tap][j] = 0;
  }
  if (is_there) {
    for_each_place(places, grad_image.width, [&](int64_t sample, int y, int x) {
      const auto slopes = read_neighbours<kPack>(grad + grad_image.offset(sample, channel, y, x));
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        const int number = kTaps > 1 ? tap : static_cast<int>(blockIdx.z);
        const int width = kTaps > 1 ? 3 : filter.size[1];
        const int in_y = filter.met(0, y, number / width, in_image.height, false);
        const int in_x = filter.met(1, x, number % width, in_image.width, false);
        if (in_y < 0 || in_x < 0) continue;
        const auto values = read_neighbours<kPack>(in + in_image.offset(sample, channel, in_y, in_x));
#pragma unroll
        for (int j = 0; j < kPack; ++j) sums[tap][j] += widen(slopes.values[j]) * widen(values.values[j]);
      }
    });
  }
  const unsigned own = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
#pragma unroll
    for (int j = 0; j < kPack; ++j) {
      __syncthreads();  // the sums before may still be read
      shared[own] = sums[tap][j];
      for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.y < half) shared[own] += shared[own + half * blockDim.x];
      }
      if (threadIdx.y != 0 || !is_there) continue;
      const int64_t number = kTaps > 1 ? tap : blockIdx.z;
      partial[(blockIdx.y * int64_t{taps} + number) * places.channels + channel + j] = shared[own];
    }
  }
}

// A warp for each element of all filters.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    add_filter_gradients(T* out, const ComputedOf<T>* partial, int64_t channels, int64_t taps, int64_t blocks) {
  using A = ComputedOf<T>;
  const int64_t count = channels * taps;
  for (int64_t first = blockIdx.x * int64_t{blockDim.y}; first < count; first += int64_t{gridDim.x} * blockDim.y) {
    const int64_t place = first + threadIdx.y;  // channels are neighbours
    A sum = 0;
    for (int64_t block = threadIdx.x; block < blocks && place < count; block += kWarp)
      sum += partial[block * count + place];
    sum = add_team(sum, static_cast<A*>(nullptr));
    if (threadIdx.x == 0 && place < count) out[place % channels * taps + place / channels] = narrow_to<T>(sum);
  }
}

bool has_channels_last(const Tensor& tensor) {
  return tensor.dim() == 4 && !tensor.is_contiguous() && tensor.is_contiguous(MemoryFormat::ChannelsLast);
}

// The threads of a block, and the blocks along channels and places, for packs of `pack` channels.
struct Shape {
  dim3 block, grid;
  Shape(const Places& places, int64_t pack, bool last, unsigned smallest) {
    const int64_t packs = (places.channels + pack - 1) / pack;
    unsigned x = 1;
    while (last && x < kWarp && x < packs) x *= 2;
    block = dim3(x, kThreads / x);
    const int64_t across = (packs + x - 1) / x;
    const int64_t wanted = std::max<int64_t>(132 * 16 / across, 1);
    const int64_t most = (places.count + int64_t{block.y} * smallest - 1) / (int64_t{block.y} * smallest);
    grid = dim3(static_cast<unsigned>(across), static_cast<unsigned>(std::clamp<int64_t>(most, 1, wanted)));
  }
};

bool is_depthwise(const Tensor& out, const Tensor& input, const Tensor& weight, int64_t groups) {
  if ((at::product_switches() & at::kCudnnDepthwise) != 0) return false;
  const bool counts = groups > 1 && input.size(1) == groups && out.size(1) == groups && input.dim() <= 4;
  const auto fits = [](const Tensor& tensor) {
    return tensor.numel() > 0 && tensor.numel() <= std::numeric_limits<int>::max();
  };
  return counts && weight.size(1) == 1 && fits(out) && fits(input) && fits(weight);
}

}  // namespace

bool convolve_depthwise(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups,
                        bool transposed) {
  if (!is_depthwise(out, input, weight, groups)) return false;
  const bool last = has_channels_last(out);
  if (!last && !out.is_contiguous()) return false;
  const Tensor image = input.contiguous(last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous);
  const Tensor filters = weight.contiguous();
  const Tensor biases = bias.defined() ? bias.contiguous() : bias;
  const Filter filter(weight, stride, padding, dilation);
  const Image out_image(out, last), in_image(image, last);
  const int64_t of_sample = int64_t{out_image.height} * out_image.width;
  const Places places{groups, static_cast<unsigned>(out.size(0) * of_sample), static_cast<unsigned>(of_sample)};
  const bool is_3_by_3 = filter.size[0] == 3 && filter.size[1] == 3;
  dispatch_row_types(out.dtype(), "convolution", [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kPack = kChannelPack<T>;
    const bool is_packed = last && groups % kPack == 0 && is_at_16_bytes({out.data_ptr(), image.data_ptr()});
    const Shape shape(places, is_packed ? kPack : 1, last, 4);
    const auto kernel = is_packed ? (is_3_by_3 ? filter_channels<T, kPack, 9> : filter_channels<T, kPack, 0>)
                                  : (is_3_by_3 ? filter_channels<T, 1, 9> : filter_channels<T, 1, 0>);
    launch(kernel, shape.grid, shape.block, out.data_ptr<T>(), image.data_ptr<T>(), filters.data_ptr<T>(),
           elements_of<T>(biases), out_image, in_image, filter, places, transposed);
  });
  return true;
}

bool compute_depthwise_weight_gradient(const Tensor& out, const Tensor& grad, const Tensor& input, IntArrayRef stride,
                                       IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  if (!is_depthwise(grad, input, out, groups) || !out.is_contiguous()) return false;
  const bool last = has_channels_last(input);
  const MemoryFormat format = last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
  const Tensor image = input.contiguous(format);
  const Tensor slopes = grad.contiguous(format);
  const Filter filter(out, stride, padding, dilation);
  const Image grad_image(slopes, last), in_image(image, last);
  const int64_t of_sample = int64_t{grad_image.height} * grad_image.width;
  const Places places{groups, static_cast<unsigned>(grad.size(0) * of_sample), static_cast<unsigned>(of_sample)};
  const int taps = filter.size[0] * filter.size[1];
  const bool is_3_by_3 = filter.size[0] == 3 && filter.size[1] == 3;
  dispatch_row_types(out.dtype(), "convolution_weight_gradient", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = ComputedOf<T>;
    constexpr int kPack = kChannelPack<T>;
    const bool is_packed = last && groups % kPack == 0 && is_at_16_bytes({slopes.data_ptr(), image.data_ptr()});
    Shape shape(places, is_packed ? kPack : 1, last, 16);
    const int64_t blocks = shape.grid.y;
    const c10::DataPtr memory =
        c10::get_backend(kCUDA).allocator()->allocate(static_cast<size_t>(blocks * taps * groups) * sizeof(A));
    A* const partial = static_cast<A*>(memory.get());
    if (!is_3_by_3) shape.grid.z = static_cast<unsigned>(taps);
    const auto kernel = is_packed
                            ? (is_3_by_3 ? sum_filter_gradients<T, kPack, 9> : sum_filter_gradients<T, kPack, 1>)
                            : (is_3_by_3 ? sum_filter_gradients<T, 1, 9> : sum_filter_gradients<T, 1, 1>);
    launch(kernel, shape.grid, shape.block, partial, slopes.data_ptr<T>(), image.data_ptr<T>(), grad_image, in_image,
           filter, places);
    const dim3 block(kWarp, kThreads / kWarp);
    launch(add_filter_gradients<T>, grid_of_teams(groups * taps, block), block, out.data_ptr<T>(), partial, groups,
           int64_t{taps}, blocks);
  });
  return true;
}

}  // namespace at::native::cuda
