// Affine functions of (N, C, ...) tensors with numbers per channel, and these numbers from moments and sums of a batch.
// Contracts are in kernels.yaml.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Rows.cuh>

namespace at::native::cuda {

namespace {

// The channel of element `i` in memory: neighbours with channels that are last, else lines of `elements`. `numbers` are
// C, or N * C where the channels of each sample are on their own.
struct ChannelOf {
  int64_t count, elements, numbers;
  bool last, is_short;

  ChannelOf(const Tensor& input, int64_t given)
      : count(input.sizes()[1]), elements(1), numbers(given), is_short(fits_32_bits(input.numel())) {
    for (int64_t dim = 2; dim < input.dim(); ++dim) elements *= input.sizes()[dim];
    last = elements == 1 || !input.is_contiguous();
  }
  __device__ int64_t remainder(int64_t a, int64_t b) const { return a - quotient(a, b, is_short) * b; }
  __device__ int64_t operator()(int64_t i) const {
    if (!last) return remainder(quotient(i, elements, is_short), numbers);
    const int64_t inside = remainder(i, count);
    return numbers == count ? inside : quotient(i, count * elements, is_short) * count + inside;
  }
};

template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    affine(T* out, const T* in, const ComputedOf<T>* scales, const T* others, const ComputedOf<T>* other_scales,
           const ComputedOf<T>* shifts, ChannelOf channel_of, int64_t packs) {
  using A = ComputedOf<T>;
  for (int64_t pack = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; pack < packs;
       pack += int64_t{blockDim.x} * gridDim.x) {
    const int64_t first = pack * kSize;
    const auto values = read_neighbours<kSize>(in + first);
    Neighbours<T, kSize> other, result;
    if (others) other = read_neighbours<kSize>(others + first);
    // Within a line all have one channel; with channels last, whose count is a multiple of kSize, neighbouring ones.
    const int64_t channel = channel_of(first);
    const bool is_even = channel_of.last ? channel_of.count % kSize == 0
                                         : kSize == 1 || channel_of.elements % kSize == 0;
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      const int64_t own = !is_even ? channel_of(first + j) : channel_of.last ? channel + j : channel;
      A value = widen(values.values[j]) * scales[own] + shifts[own];
      if (others) value += widen(other.values[j]) * other_scales[own];
      result.values[j] = narrow_to<T>(value);
    }
    write_neighbours<kSize>(out + first, result);
  }
}

template <typename T>
T* writable(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

// Of each channel: where running moments are given, they are moved.
template <typename T>
struct Factors {
  T *invstds, *scales, *shifts, *running_means, *running_variances;
  const T *means, *variances, *weights, *biases;
  T momentum, correction, eps;

  __device__ void operator()(int64_t channel) const {
    const T invstd = T(1) / ::sqrt(variances[channel] + eps);
    const T scale = weights ? invstd * weights[channel] : invstd;
    invstds[channel] = invstd;
    scales[channel] = scale;
    shifts[channel] = (biases ? biases[channel] : T(0)) - means[channel] * scale;
    if (running_means) running_means[channel] += momentum * (means[channel] - running_means[channel]);
    if (running_variances)
      running_variances[channel] += momentum * (variances[channel] * correction - running_variances[channel]);
  }
};

// The gradient of the input is grad * scale + input * slope + shift.
template <typename T>
struct GradientFactors {
  T *scales, *slopes, *shifts, *grad_weights;
  const T *sums, *products, *means, *invstds, *weights;
  T count;  // of elements of a channel

  __device__ void operator()(int64_t channel) const {
    const T invstd = invstds[channel];
    const T scale = weights ? invstd * weights[channel] : invstd;
    const T slope = -scale * invstd * invstd * products[channel] / count;
    grad_weights[channel] = products[channel] * invstd;
    scales[channel] = scale;
    slopes[channel] = slope;
    shifts[channel] = -scale * sums[channel] / count - means[channel] * slope;
  }
};

}  // namespace

void channel_affine_kernel(const Tensor& out, const Tensor& input, const Tensor& scale, const Tensor& other,
                           const Tensor& other_scale, const Tensor& shift) {
  const int64_t count = input.numel();
  if (count == 0) return;
  dispatch_row_types(input.dtype(), "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = ComputedOf<T>;
    constexpr int kSize = kWholeSize<T>;
    const T* others = elements_of<T>(other);
    const bool is_packed = count % kSize == 0 && is_at_16_bytes({out.data_ptr(), input.data_ptr(), others});
    const int64_t packs = is_packed ? count / kSize : count;
    launch(is_packed ? affine<T, kSize> : affine<T, 1>, grid_of_rows((packs + kThreads - 1) / kThreads), kThreads,
           out.data_ptr<T>(), input.data_ptr<T>(), scale.data_ptr<A>(), others,
           others ? other_scale.data_ptr<A>() : nullptr, shift.data_ptr<A>(), ChannelOf(input, scale.numel()), packs);
  });
}

void channel_factors_kernel(const Tensor& invstd, const Tensor& scale, const Tensor& shift, const Tensor& running_mean,
                            const Tensor& running_var, const Tensor& mean, const Tensor& variance, const Tensor& weight,
                            const Tensor& bias, double momentum, double correction, double eps) {
  dispatch_floating_types(mean.dtype(), "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Factors<T> factors{
        writable<T>(invstd),       writable<T>(scale),       writable<T>(shift),      writable<T>(running_mean),
        writable<T>(running_var),  elements_of<T>(mean),     elements_of<T>(variance), elements_of<T>(weight),
        elements_of<T>(bias),      static_cast<T>(momentum), static_cast<T>(correction), static_cast<T>(eps)};
    for_each_index(mean.numel(), factors);
  });
}

void channel_gradient_factors_kernel(const Tensor& scale, const Tensor& slope, const Tensor& shift,
                                     const Tensor& grad_weight, const Tensor& sum, const Tensor& product,
                                     const Tensor& mean, const Tensor& invstd, const Tensor& weight, double count) {
  dispatch_floating_types(mean.dtype(), "batch_norm_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const GradientFactors<T> factors{writable<T>(scale), writable<T>(slope), writable<T>(shift),
                                     writable<T>(grad_weight), elements_of<T>(sum), elements_of<T>(product),
                                     elements_of<T>(mean), elements_of<T>(invstd), elements_of<T>(weight),
                                     static_cast<T>(count)};
    for_each_index(mean.numel(), factors);
  });
}

}  // namespace at::native::cuda
