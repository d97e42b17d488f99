// Rows brought to mean 0 and deviation 1 (or only to a root mean square of 1), times a weight, plus a bias, and the
// gradient of the input: a team of threads for each row, which is read once where it fits their registers. Contracts
// are in kernels.yaml; the gradient of the weight is among the sums of channels (channel_sums.cu).

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Rows.cuh>

namespace at::native::cuda {

namespace {

// `weights` and `biases` may be null.
template <typename T, int kSize, int kPacks>
__global__ void __launch_bounds__(kThreads)
    normalize(T* out, ComputedOf<T>* means, ComputedOf<T>* scales, const T* in, const ComputedOf<T>* weights,
              const ComputedOf<T>* biases, int64_t rows, int64_t width, ComputedOf<T> eps, bool centered) {
  using A = ComputedOf<T>;
  __shared__ A shared[kThreads / kWarp];
  for (int64_t first = blockIdx.x * int64_t{blockDim.y}; first < rows; first += int64_t{gridDim.x} * blockDim.y) {
    const int64_t row = first + threadIdx.y;
    const RowPart<T, kSize, kPacks> part(in + row * width, row < rows ? width / kSize : 0);
    A mean = 0;
    if (centered) {
      A sum = 0;
      part.for_each([&](int64_t, const auto& pack) {
#pragma unroll
        for (int j = 0; j < kSize; ++j) sum += widen(pack.values[j]);
      });
      mean = add_team(sum, shared) / static_cast<A>(width);
    }
    A squares = 0;
    part.for_each([&](int64_t, const auto& pack) {
#pragma unroll
      for (int j = 0; j < kSize; ++j) {
        const A deviation = widen(pack.values[j]) - mean;
        squares += deviation * deviation;
      }
    });
    const A scale = A(1) / ::sqrt(add_team(squares, shared) / static_cast<A>(width) + eps);
    if (row < rows && threadIdx.x == 0) {
      means[row] = mean;
      scales[row] = scale;
    }
    part.for_each([&](int64_t i, const auto& pack) {
      Neighbours<A, kSize> weight, bias;
      if (weights) weight = read_neighbours<kSize>(weights + i);
      if (biases) bias = read_neighbours<kSize>(biases + i);
      Neighbours<T, kSize> result;
#pragma unroll
      for (int j = 0; j < kSize; ++j) {
        A value = (widen(pack.values[j]) - mean) * scale;
        if (weights) value *= weight.values[j];
        if (biases) value += bias.values[j];
        result.values[j] = narrow_to<T>(value);
      }
      write_neighbours<kSize>(out + row * width + i, result);
    });
  }
}

template <typename T, int kSize, int kPacks>
__global__ void __launch_bounds__(kThreads)
    input_gradient(T* out, const T* grad, const T* in, const ComputedOf<T>* weights, const ComputedOf<T>* means,
                   const ComputedOf<T>* scales, int64_t rows, int64_t width, bool centered) {
  using A = ComputedOf<T>;
  __shared__ A shared[kThreads / kWarp];
  for (int64_t first = blockIdx.x * int64_t{blockDim.y}; first < rows; first += int64_t{gridDim.x} * blockDim.y) {
    const int64_t row = first + threadIdx.y;
    const int64_t packs = row < rows ? width / kSize : 0;
    const RowPart<T, kSize, kPacks> slopes(grad + row * width, packs);
    const RowPart<T, kSize, kPacks> part(in + row * width, packs);
    const A mean = row < rows ? means[row] : A(0);
    const A scale = row < rows ? scales[row] : A(0);
    // body(first element, weighted gradients, deviations)
    const auto for_each = [&](auto body) {
      slopes.for_each_with(part, [&](int64_t i, const auto& slope, const auto& value) {
        Neighbours<A, kSize> weighted, deviation;
        if (weights) weighted = read_neighbours<kSize>(weights + i);
#pragma unroll
        for (int j = 0; j < kSize; ++j) {
          weighted.values[j] = weights ? widen(slope.values[j]) * weighted.values[j] : widen(slope.values[j]);
          deviation.values[j] = widen(value.values[j]) - mean;
        }
        body(i, weighted, deviation);
      });
    };
    A sum = 0, product = 0;
    for_each([&](int64_t, const auto& weighted, const auto& deviation) {
#pragma unroll
      for (int j = 0; j < kSize; ++j) {
        sum += weighted.values[j];
        product += weighted.values[j] * deviation.values[j];
      }
    });
    const A shift = centered ? scale * add_team(sum, shared) / static_cast<A>(width) : A(0);
    const A factor = scale * scale * scale * add_team(product, shared) / static_cast<A>(width);
    for_each([&](int64_t i, const auto& weighted, const auto& deviation) {
      Neighbours<T, kSize> result;
#pragma unroll
      for (int j = 0; j < kSize; ++j)
        result.values[j] = narrow_to<T>(weighted.values[j] * scale - deviation.values[j] * factor - shift);
      write_neighbours<kSize>(out + row * width + i, result);
    });
  }
}

}  // namespace

void normalize_rows_kernel(const Tensor& out, const Tensor& mean, const Tensor& scale, const Tensor& input,
                           const Tensor& weight, const Tensor& bias, double eps, bool centered) {
  const int64_t rows = mean.numel();
  if (rows == 0) return;
  const int64_t width = input.numel() / rows;
  dispatch_row_types(input.dtype(), "LayerNormKernelImpl", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = ComputedOf<T>;
    const A* weights = elements_of<A>(weight);
    const A* biases = elements_of<A>(bias);
    const bool is_aligned = is_at_16_bytes({out.data_ptr(), input.data_ptr(), weights, biases});
    choose_row_parts<T>(width, is_aligned, [&](auto size, auto held) {
      const dim3 block = block_of_teams(width / size.value, kPacksOfThread<T>);
      launch(normalize<T, size.value, held.value>, grid_of_teams(rows, block), block, out.data_ptr<T>(),
             mean.data_ptr<A>(), scale.data_ptr<A>(), input.data_ptr<T>(), weights, biases, rows, width, eps, centered);
    });
  });
}

void normalize_rows_gradient_kernel(const Tensor& out, const Tensor& grad, const Tensor& input, const Tensor& weight,
                                    const Tensor& mean, const Tensor& scale, bool centered) {
  if (out.numel() == 0) return;
  const int64_t rows = mean.numel();
  const int64_t width = input.numel() / rows;
  dispatch_row_types(input.dtype(), "LayerNormBackwardKernelImpl", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = ComputedOf<T>;
    const A* weights = elements_of<A>(weight);
    const bool is_aligned = is_at_16_bytes({out.data_ptr(), grad.data_ptr(), input.data_ptr(), weights});
    choose_row_parts<T>(width, is_aligned, [&](auto size, auto held) {
      const dim3 block = block_of_teams(width / size.value, kPacksOfThread<T>);
      launch(input_gradient<T, size.value, held.value>, grid_of_teams(rows, block), block, out.data_ptr<T>(),
             grad.data_ptr<T>(), input.data_ptr<T>(), weights, mean.data_ptr<A>(), scale.data_ptr<A>(), rows, width,
             centered);
    });
  });
}

}  // namespace at::native::cuda
