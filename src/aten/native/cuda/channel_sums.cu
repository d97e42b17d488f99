// Sums over the channels of (N, C, ...) tensors, and over the columns of matrices: their moments, products of gradients
// and deviations. The tensors of a call are all contiguous, or all dense with their channels last: then they are
// matrices of a row for each place. With N * C numbers instead of C, the channels of each sample are on their own.
// Contracts are in kernels.yaml.
//
// Each channel is cut into ranges where there are too few of them to fill the device; threads, ranges and then channels
// are combined in an order that is always the same.
//
// A sum's type has: Part, which a thread adds to; start(channel, origin, packs), by the place of the channel's first
// element and the first packs that the thread will add, which read() reads; add(part, packs, j, row); Total, which
// finish(part, elements) gives; combine(total, total); write(total, channel, origin). kOfMatrix: it is of columns only.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Rows.cuh>

namespace at::native::cuda {

namespace {

// Mean and variance. A thread adds up distances from its first element, and means that are combined are distances from
// the channel's first one, so that no digits are lost where the mean is large beside them.
template <typename Element>
struct Moments {
  using T = Element;
  using A = ComputedOf<T>;
  static constexpr bool kOfMatrix = false;
  const T* values;
  A* mean;
  A* variance;
  A count;  // of elements of a channel

  struct Part {
    A shift, origin, sum, squares;
  };
  struct Total {
    A count, mean, squares;
  };
  template <int kSize>
  struct Packs {
    Neighbours<T, kSize> values;
  };

  template <int kSize>
  __device__ Packs<kSize> read(int64_t first) const { return {read_neighbours<kSize>(values + first)}; }
  template <int kSize>
  __device__ Part start(int64_t, int64_t origin, const Packs<kSize>& packs, int j) const {
    return {finite(packs.values.values[j]), finite(values[origin]), A(0), A(0)};
  }
  // There is no distance from infinity.
  __device__ static A finite(T element) {
    const A value = widen(element);
    return value - value == 0 ? value : A(0);
  }
  template <int kSize>
  __device__ void add(Part& part, const Packs<kSize>& packs, int j, int64_t) const {
    const A distance = widen(packs.values.values[j]) - part.shift;
    part.sum += distance;
    part.squares += distance * distance;
  }
  __device__ static Total finish(const Part& part, A elements) {
    const A drift = part.sum / elements;
    const A squares = part.squares - part.sum * drift;
    return {elements, part.shift - part.origin + drift, squares < 0 ? A(0) : squares};
  }
  __device__ static Total combine(const Total& a, const Total& b) {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    const A count = a.count + b.count;
    const A share = b.count / count;
    const A distance = b.mean - a.mean;
    return {count, a.mean + distance * share, a.squares + b.squares + distance * distance * a.count * share};
  }
  __device__ void write(const Total& total, int64_t channel, int64_t origin) const {
    mean[channel] = total.count == 0 ? total.mean / total.count : finite(values[origin]) + total.mean;
    variance[channel] = total.squares / count;
  }
  __device__ static Total shuffled_down(const Total& total, int offset) {
    return {shuffle_down(total.count, offset), shuffle_down(total.mean, offset), shuffle_down(total.squares, offset)};
  }
};

template <typename A>
struct Pair {
  A sum, product;
};

// sum(grad) and sum(grad * (value - mean)), with the mean of the channel; or, for each column,
// sum(grad * (value - mean) * scale) with those of the row.
template <typename Element, bool kByRow>
struct Products {
  using T = Element;
  using A = ComputedOf<T>;
  static constexpr bool kOfMatrix = kByRow;
  const T* grads;
  const T* values;
  const A* means;
  const A* scales;  // kByRow only
  A* sum;           // not if kByRow
  A* product;

  struct Part {
    A mean, sum, product;
  };
  using Total = Pair<A>;
  template <int kSize>
  struct Packs {
    Neighbours<T, kSize> grads, values;
  };

  template <int kSize>
  __device__ Packs<kSize> read(int64_t first) const {
    return {read_neighbours<kSize>(grads + first), read_neighbours<kSize>(values + first)};
  }
  template <int kSize>
  __device__ Part start(int64_t channel, int64_t, const Packs<kSize>&, int) const {
    return {kByRow ? A(0) : means[channel], A(0), A(0)};
  }
  template <int kSize>
  __device__ void add(Part& part, const Packs<kSize>& packs, int j, int64_t row) const {
    const A grad = widen(packs.grads.values[j]);
    const A value = widen(packs.values.values[j]);
    if constexpr (kByRow) {
      part.product += grad * ((value - means[row]) * scales[row]);
    } else {
      part.sum += grad;
      part.product += grad * (value - part.mean);
    }
  }
  __device__ static Total finish(const Part& part, A) { return {part.sum, part.product}; }
  __device__ static Total combine(const Total& a, const Total& b) { return {a.sum + b.sum, a.product + b.product}; }
  __device__ void write(const Total& total, int64_t channel, int64_t) const {
    if constexpr (!kByRow) sum[channel] = total.sum;
    product[channel] = total.product;
  }
  __device__ static Total shuffled_down(const Total& total, int offset) {
    return {shuffle_down(total.sum, offset), shuffle_down(total.product, offset)};
  }
};

// `batch` times `count` lines of `elements`, or with the channels last `batch` times `elements` rows of `count`.
struct Channels {
  int64_t batch, count, elements;
  bool last;
  bool apart;  // in each sample
  Channels(const Tensor& input, int64_t numbers)
      : batch(input.sizes()[0]), count(input.sizes()[1]), elements(1), apart(numbers != count) {
    for (int64_t dim = 2; dim < input.dim(); ++dim) elements *= input.sizes()[dim];
    last = elements == 1 || !input.is_contiguous();
    if (apart == last) return;
    if (last) elements *= std::exchange(batch, 1);  // the samples' rows follow each other
    else count *= std::exchange(batch, 1);          // as do their channels
  }
  // The columns of a matrix.
  Channels(int64_t rows, int64_t columns) : batch(1), count(columns), elements(rows), last(true), apart(false) {}

  // Where the first element of a channel is.
  __device__ int64_t origin(int64_t channel) const {
    return last ? channel / count * elements * count + channel % count : channel * elements;
  }
};

// Packs of a channel, or rows of a column, in `splits` ranges.
struct Ranges {
  int64_t splits, length;
  Ranges(int64_t jobs, int64_t total, int64_t smallest) {
    constexpr int64_t wanted_jobs = 132 * 8;
    splits = std::clamp<int64_t>(wanted_jobs / std::max<int64_t>(jobs, 1), 1, std::max<int64_t>(total / smallest, 1));
    length = (total + splits - 1) / splits;
  }
};

// The team's totals, in its first thread.
template <typename Sum>
__device__ typename Sum::Total combine_totals(typename Sum::Total total, typename Sum::Total* shared) {
  const int team = blockDim.x;
  for (int offset = (team < kWarp ? team : kWarp) / 2; offset > 0; offset /= 2)
    total = Sum::combine(total, Sum::shuffled_down(total, offset));
  if (team <= kWarp) return total;
  const int warps = team / kWarp;
  auto* own = shared + threadIdx.y * warps;
  __syncthreads();  // they may still be read
  if (threadIdx.x % kWarp == 0) own[threadIdx.x / kWarp] = total;
  __syncthreads();
  for (int warp = 1; warp < warps && threadIdx.x == 0; ++warp) total = Sum::combine(total, own[warp]);
  return total;
}

// A team for each channel and range of its lines.
template <typename Sum, int kSize>
__global__ void __launch_bounds__(kThreads)
    sum_lines(Sum sum, Channels channels, Ranges ranges, bool is_short, typename Sum::Total* partial) {
  using Total = typename Sum::Total;
  using A = typename Sum::A;
  __shared__ Total shared[kThreads / kWarp];
  const int64_t jobs = channels.count * ranges.splits;
  const int64_t line_packs = channels.elements / kSize;
  const int64_t packs = channels.batch * line_packs;
  for (int64_t first = blockIdx.x * int64_t{blockDim.y}; first < jobs; first += int64_t{gridDim.x} * blockDim.y) {
    const int64_t job = first + threadIdx.y;
    const int64_t channel = job % channels.count;
    const int64_t split = job / channels.count;
    const int64_t end = job < jobs ? ::min((split + 1) * ranges.length, packs) : 0;
    const int64_t own = split * ranges.length + threadIdx.x;
    const auto read = [&](int64_t i) {
      const int64_t sample = channels.batch == 1 ? 0 : quotient(i, line_packs, is_short);
      const int64_t line = sample * channels.count + channel;
      return sum.template read<kSize>(line * channels.elements + (i - sample * line_packs) * kSize);
    };
    Total total{};
    if (own < end) {
      auto part = sum.start(channel, channels.origin(channel), read(own), 0);
#pragma unroll 4
      for (int64_t i = own; i < end; i += blockDim.x) {
        const auto packs_here = read(i);
#pragma unroll
        for (int j = 0; j < kSize; ++j) sum.add(part, packs_here, j, 0);
      }
      total = Sum::finish(part, static_cast<A>(((end - own - 1) / blockDim.x + 1) * kSize));
    }
    total = combine_totals<Sum>(total, shared);
    if (threadIdx.x != 0 || job >= jobs) continue;
    if (partial) partial[split * channels.count + channel] = total;
    else sum.write(total, channel, channels.origin(channel));
  }
}

// Threads along x have kSize columns each, those along y rows of them; blockIdx.y is the range, blockIdx.z the sample.
template <typename Sum, int kSize>
__global__ void __launch_bounds__(kThreads)
    sum_columns(Sum sum, Channels channels, Ranges ranges, typename Sum::Total* partial) {
  using Total = typename Sum::Total;
  alignas(16) __shared__ unsigned char memory[kThreads * kSize * sizeof(Total)];
  auto shared = reinterpret_cast<Total(*)[kSize]>(memory);
  const unsigned own = threadIdx.y * blockDim.x + threadIdx.x;
  const int64_t column = (blockIdx.x * int64_t{blockDim.x} + threadIdx.x) * kSize;
  const int64_t split = blockIdx.y;
  const int64_t end = ::min((split + 1) * ranges.length, channels.elements);
  for (int64_t sample = blockIdx.z; sample < channels.batch; sample += gridDim.z) {
    const int64_t channel = sample * channels.count + column;
    const int64_t origin = sample * channels.elements * channels.count + column;
    const int64_t first = split * ranges.length + threadIdx.y;
    const auto read = [&](int64_t i) {
      return sum.template read<kSize>((sample * channels.elements + i) * channels.count + column);
    };
    Total totals[kSize]{};
    if (column < channels.count && first < end) {
      typename Sum::Part parts[kSize];
      const auto first_packs = read(first);
#pragma unroll
      for (int j = 0; j < kSize; ++j) parts[j] = sum.start(channel + j, origin + j, first_packs, j);
#pragma unroll 4
      for (int64_t i = first; i < end; i += blockDim.y) {
        const auto packs = read(i);
#pragma unroll
        for (int j = 0; j < kSize; ++j) sum.add(parts[j], packs, j, sample * channels.elements + i);
      }
      const auto elements = static_cast<typename Sum::A>((end - first - 1) / blockDim.y + 1);
#pragma unroll
      for (int j = 0; j < kSize; ++j) totals[j] = Sum::finish(parts[j], elements);
    }
    __syncthreads();  // the sample before may still be read
#pragma unroll
    for (int j = 0; j < kSize; ++j) shared[own][j] = totals[j];
    for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.y >= half || column >= channels.count) continue;
#pragma unroll
      for (int j = 0; j < kSize; ++j) shared[own][j] = Sum::combine(shared[own][j], shared[own + half * blockDim.x][j]);
    }
    if (threadIdx.y != 0 || column >= channels.count) continue;
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      if (partial) partial[split * channels.batch * channels.count + channel + j] = shared[own][j];
      else sum.write(shared[own][j], channel + j, origin + j);
    }
  }
}

// A warp for each of `numbers` channels.
template <typename Sum>
__global__ void __launch_bounds__(kThreads)
    combine_ranges(Sum sum, Channels channels, int64_t numbers, int64_t splits, const typename Sum::Total* partial) {
  for (int64_t first = blockIdx.x * int64_t{blockDim.y}; first < numbers; first += int64_t{gridDim.x} * blockDim.y) {
    const int64_t channel = first + threadIdx.y;
    typename Sum::Total total{};
    for (int64_t split = threadIdx.x; split < splits && channel < numbers; split += blockDim.x)
      total = Sum::combine(total, partial[split * numbers + channel]);
    total = combine_totals<Sum>(total, nullptr);
    if (threadIdx.x == 0 && channel < numbers) sum.write(total, channel, channels.origin(channel));
  }
}

// Adds up all of them; the tensors' `places` tell whether they are read 16 bytes at once.
template <typename Sum>
void add_up(const Sum& sum, const Channels& channels, std::initializer_list<const void*> places) {
  using Total = typename Sum::Total;
  constexpr int kSize = kWholeSize<typename Sum::T>;
  const int64_t numbers = channels.last ? channels.batch * channels.count : channels.count;
  if (numbers == 0) return;
  const bool is_packed = is_at_16_bytes(places) && (channels.last ? channels.count : channels.elements) % kSize == 0;
  const int64_t size = is_packed ? kSize : 1;
  c10::DataPtr memory;
  const auto allocate = [&](int64_t splits) {
    if (splits == 1) return static_cast<Total*>(nullptr);
    memory = c10::get_backend(kCUDA).allocator()->allocate(static_cast<size_t>(splits * numbers) * sizeof(Total));
    return static_cast<Total*>(memory.get());
  };
  int64_t splits = 1;
  if (channels.last) {
    const int64_t packs = channels.count / size;
    unsigned x = kWarp;
    while (x > 1 && x / 2 >= packs) x /= 2;
    const dim3 block(x, kThreads / x);
    const int64_t across = (packs + x - 1) / x;
    const Ranges ranges(across * channels.batch, channels.elements, int64_t{block.y} * 4);
    splits = ranges.splits;
    const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(splits),
                    static_cast<unsigned>(std::min<int64_t>(channels.batch, 65535)));
    const auto kernel = is_packed ? sum_columns<Sum, kSize> : sum_columns<Sum, 1>;
    launch(kernel, grid, block, sum, channels, ranges, allocate(splits));
  } else if constexpr (!Sum::kOfMatrix) {
    const int64_t packs = channels.batch * channels.elements / size;
    const dim3 block = block_of_teams(packs, 16);
    const Ranges ranges(channels.count, packs, int64_t{block.x} * 8);
    splits = ranges.splits;
    const auto kernel = is_packed ? sum_lines<Sum, kSize> : sum_lines<Sum, 1>;
    launch(kernel, grid_of_teams(channels.count * splits, block), block, sum, channels, ranges, fits_32_bits(packs),
           allocate(splits));
  }
  if (splits == 1) return;
  const dim3 block(kWarp, kThreads / kWarp);
  launch(combine_ranges<Sum>, grid_of_teams(numbers, block), block, sum, channels, numbers, splits,
         static_cast<const Total*>(memory.get()));
}

}  // namespace

void channel_moments_kernel(const Tensor& mean, const Tensor& variance, const Tensor& input) {
  const int64_t numbers = mean.numel();
  dispatch_row_types(input.dtype(), "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = ComputedOf<T>;
    const auto count = static_cast<A>(numbers == 0 ? 0 : input.numel() / numbers);
    const Moments<T> moments{input.data_ptr<T>(), mean.data_ptr<A>(), variance.data_ptr<A>(), count};
    add_up(moments, Channels(input, numbers), {input.data_ptr()});
  });
}

void channel_products_kernel(const Tensor& sum, const Tensor& product, const Tensor& grad, const Tensor& input,
                             const Tensor& mean) {
  dispatch_row_types(input.dtype(), "batch_norm_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = ComputedOf<T>;
    const Products<T, false> products{grad.data_ptr<T>(), input.data_ptr<T>(), mean.data_ptr<A>(), nullptr,
                                      sum.data_ptr<A>(),  product.data_ptr<A>()};
    add_up(products, Channels(input, mean.numel()), {grad.data_ptr(), input.data_ptr()});
  });
}

void normalize_rows_weight_gradient_kernel(const Tensor& out, const Tensor& grad, const Tensor& input,
                                           const Tensor& mean, const Tensor& scale) {
  dispatch_row_types(input.dtype(), "LayerNormBackwardKernelImpl", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = ComputedOf<T>;
    const Products<T, true> products{grad.data_ptr<T>(),  input.data_ptr<T>(), mean.data_ptr<A>(),
                                     scale.data_ptr<A>(), nullptr,             out.data_ptr<A>()};
    add_up(products, Channels(mean.numel(), out.numel()), {grad.data_ptr(), input.data_ptr()});
  });
}

}  // namespace at::native::cuda
