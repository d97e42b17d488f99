#pragma once
// Random numbers: Philox 4x32-10 as cuRAND numbers it, so that a seed gives PyTorch's numbers for a device.

#include <aten/ATen.h>
#include <aten/native/cuda/Launch.cuh>
#include <c10/cuda/CUDAGenerator.h>

namespace at::native::cuda {

using c10::cuda::PhiloxState;

// Four words drawn at once, and what cuRAND makes of them.
struct Numbers {
  uint32_t word[4];

  __device__ uint64_t long_word(int pair) const { return uint64_t{word[2 * pair]} << 32 | word[2 * pair + 1]; }

  // In (0, 1].
  __device__ float uniform(int i, float) const { return word[i] * kFloatStep + kFloatStep / 2; }
  __device__ double uniform(int pair, double) const { return fraction(2 * pair) * kDoubleStep + kDoubleStep / 2; }

  // Of the standard normal distribution, by Box and Muller's method: the two of a pair have a sine and a cosine.
  __device__ void make_normal(float (&values)[4]) const {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const float radius = ::sqrtf(-2.0f * ::logf(uniform(i, 0.0f)));
      const float angle = word[i + 1] * (kFloatStep * kTwoPi) + kFloatStep * kTwoPi / 2;
      ::__sincosf(angle, &values[i], &values[i + 1]);
      values[i] *= radius;
      values[i + 1] *= radius;
    }
  }
  __device__ void make_normal(double (&values)[2]) const {
    const double radius = ::sqrt(-2.0 * ::log(uniform(0, 0.0)));
    ::sincospi(fraction(2) * (2 * kDoubleStep) + kDoubleStep, &values[0], &values[1]);
    values[0] *= radius;
    values[1] *= radius;
  }

 private:
  static constexpr float kFloatStep = 1.0f / 4294967296.0f;
  static constexpr float kTwoPi = 6.2831855f;
  static constexpr double kDoubleStep = 1.0 / 9007199254740992.0;
  __device__ double fraction(int first) const {
    return static_cast<double>(uint64_t{word[first]} ^ uint64_t{word[first + 1]} << 21);
  }
};

// Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC11): ten rounds. The counter's lower half is the
// generator's offset, in fours; the upper half numbers the streams.
class Philox {
 public:
  __device__ Philox(PhiloxState state, uint64_t stream) : seed_(state.seed), place_(state.offset / 4), stream_(stream) {
    if (state.recorded == nullptr) return;
    seed_ = state.recorded[0];
    place_ += state.recorded[1] / 4;
  }

  // As if next() had been called so often.
  __device__ void skip(int64_t draws) { place_ += draws; }

  __device__ Numbers next() {
    constexpr uint32_t multiplier0 = 0xD2511F53u, multiplier1 = 0xCD9E8D57u, weyl0 = 0x9E3779B9u, weyl1 = 0xBB67AE85u;
    uint32_t counter[4] = {static_cast<uint32_t>(place_), static_cast<uint32_t>(place_ >> 32),
                           static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)};
    uint32_t key[2] = {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)};
    ++place_;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      const uint32_t high0 = __umulhi(multiplier0, counter[0]), low0 = multiplier0 * counter[0];
      const uint32_t high1 = __umulhi(multiplier1, counter[2]), low1 = multiplier1 * counter[2];
      counter[0] = high1 ^ counter[1] ^ key[0];
      counter[1] = low1;
      counter[2] = high0 ^ counter[3] ^ key[1];
      counter[3] = low0;
      key[0] += weyl0;
      key[1] += weyl1;
    }
    return {{counter[0], counter[1], counter[2], counter[3]}};
  }

 private:
  uint64_t seed_, place_, stream_;
};

// What elements are made of: the words themselves.
struct AsDrawn {
  __device__ Numbers operator()(const Numbers& numbers) const { return numbers; }
};

// Each thread has a stream, and makes `kUnroll` elements, a grid apart, of each four words:
// write(element, make(numbers), which).
template <int kUnroll, typename Make, typename Write>
__global__ void __launch_bounds__(kThreads) draw_loop(int64_t n, PhiloxState state, Make make, Write write) {
  const int64_t thread = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  const int64_t grid = int64_t{blockDim.x} * gridDim.x;
  Philox stream(state, thread);
  for (int64_t first = thread; first < n; first += grid * kUnroll) {
    const auto made = make(stream.next());
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if (first + i * grid < n) write(first + i * grid, made, i);
    }
  }
}

// An undefined generator is the current device's own.
inline PhiloxState take(const Generator& given, uint64_t numbers_per_thread) {
  const auto generator = given.defined() ? given : Generator(c10::cuda::default_generator(-1));
  auto* impl = dynamic_cast<c10::cuda::CUDAGenerator*>(generator.impl());
  TORCH_CHECK(impl != nullptr, "Expected a 'cuda' device type for generator but found another one");
  const std::lock_guard<std::mutex> lock(impl->mutex);
  return impl->reserve(numbers_per_thread);
}

// The grid is PyTorch's, because the numbers depend on it: as many threads as the device holds.
inline int64_t blocks_of_draw(int64_t n) {
  const int64_t most = int64_t{attribute(cudaDevAttrMultiProcessorCount)} *
                       (attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / kThreads);
  return std::min<int64_t>(most, (n + kThreads - 1) / kThreads);
}

template <int kUnroll, typename Write, typename Make = AsDrawn>
void draw(int64_t n, const Generator& generator, Write write, Make make = {}) {
  if (n == 0) return;
  const int64_t blocks = blocks_of_draw(n);
  const int64_t rounds = (n - 1) / (kThreads * blocks * kUnroll) + 1;
  launch(draw_loop<kUnroll, Make, Write>, static_cast<unsigned>(blocks), kThreads, n,
         take(generator, 4 * static_cast<uint64_t>(rounds)), make, write);
}

}  // namespace at::native::cuda
