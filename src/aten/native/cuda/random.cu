// Random numbers: Philox 4x32-10 with one counter per element, so that a seed gives the same numbers on every device and
// for every launch configuration. They are not the numbers of PyTorch's CUDA generator, whose order depends on the grid.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Launch.cuh>
#include <c10/cuda/CUDAGenerator.h>

namespace at::native::cuda {

namespace {

using c10::cuda::CUDAGenerator;
using c10::cuda::PhiloxState;

struct Numbers {
  uint32_t value[4];
};

// Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC11): ten rounds, key from the seed, counter from the
// element's number and the generator's offset.
__device__ Numbers philox(PhiloxState state, uint64_t element) {
  constexpr uint32_t multiplier0 = 0xD2511F53u, multiplier1 = 0xCD9E8D57u, weyl0 = 0x9E3779B9u, weyl1 = 0xBB67AE85u;
  uint32_t counter[4] = {static_cast<uint32_t>(state.offset), static_cast<uint32_t>(state.offset >> 32),
                         static_cast<uint32_t>(element), static_cast<uint32_t>(element >> 32)};
  uint32_t key[2] = {static_cast<uint32_t>(state.seed), static_cast<uint32_t>(state.seed >> 32)};
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

// In [0, 1), with as many bits as the type holds.
template <typename T>
__device__ T unit(const Numbers& numbers) {
  if constexpr (sizeof(T) == 4) return static_cast<T>(numbers.value[0] >> 8) * T(1.0 / (1 << 24));
  else return static_cast<T>((uint64_t{numbers.value[0]} << 32 | numbers.value[1]) >> 11) * T(1.0 / (uint64_t{1} << 53));
}

PhiloxState take(const Generator& generator) {
  auto* impl = dynamic_cast<CUDAGenerator*>(generator.impl());
  TORCH_CHECK(impl != nullptr, "Expected a 'cuda' device type for generator but found another one");
  const std::lock_guard<std::mutex> lock(impl->mutex);
  return impl->reserve(4);
}

// Runs `body(out)` on `self`, or on a contiguous stand-in that is copied back.
template <typename Body>
void with_contiguous(const Tensor& self, Body&& body) {
  if (self.numel() == 0) return;
  if (self.is_contiguous()) return body(self);
  Tensor packed = at::empty(self.sizes(), self.options());
  body(packed);
  Tensor(self).copy_(packed);
}

template <typename T>
void fill_uniform(const Tensor& out, double from, double to, PhiloxState state) {
  T* data = out.data_ptr<T>();
  const T low = static_cast<T>(from), width = static_cast<T>(to - from), high = static_cast<T>(to);
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const T value = unit<T>(philox(state, index)) * width + low;
    data[index] = value < high || width == T{0} ? value : low;  // rounding may reach the open end
  });
}

template <typename T>
void fill_normal(const Tensor& out, double mean, double std, PhiloxState state) {
  T* data = out.data_ptr<T>();
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const Numbers numbers = philox(state, index);
    // Box-Muller; 1 - u is in (0, 1], where the logarithm is finite.
    const double u = static_cast<double>((uint64_t{numbers.value[0]} << 32 | numbers.value[1]) >> 11) * (1.0 / (uint64_t{1} << 53));
    const double v = static_cast<double>(numbers.value[2]) * (1.0 / 4294967296.0);
    data[index] = static_cast<T>(mean + std * ::sqrt(-2.0 * ::log(1.0 - u)) * ::cospi(2.0 * v));
  });
}

template <typename T>
void fill_integers(const Tensor& out, int64_t from, uint64_t range, PhiloxState state) {
  T* data = out.data_ptr<T>();
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const Numbers numbers = philox(state, index);
    const uint64_t wide = uint64_t{numbers.value[0]} << 32 | numbers.value[1];
    data[index] = static_cast<T>(static_cast<int64_t>(range == 0 ? wide : wide % range) + from);
  });
}

template <typename T, typename P>
void fill_bernoulli(const Tensor& out, const P* probabilities, double p, PhiloxState state) {
  T* data = out.data_ptr<T>();
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const double probability = probabilities ? static_cast<double>(probabilities[index]) : p;
    data[index] = static_cast<T>(unit<double>(philox(state, index)) < probability);
  });
}

}  // namespace

void uniform_kernel(const Tensor& self, double from, double to, const Generator& generator) {
  const PhiloxState state = take(generator);
  with_contiguous(self, [&](const Tensor& out) {
    dispatch_floating_types(out.dtype(), "uniform_", [&](auto tag) { fill_uniform<typename decltype(tag)::type>(out, from, to, state); });
  });
}

void normal_kernel(const Tensor& self, double mean, double std, const Generator& generator) {
  const PhiloxState state = take(generator);
  with_contiguous(self, [&](const Tensor& out) {
    dispatch_floating_types(out.dtype(), "normal_", [&](auto tag) { fill_normal<typename decltype(tag)::type>(out, mean, std, state); });
  });
}

void random_kernel(const Tensor& self, int64_t from, uint64_t range, const Generator& generator) {
  const PhiloxState state = take(generator);
  with_contiguous(self, [&](const Tensor& out) {
    dispatch_all_types(out.dtype(), "random_", [&](auto tag) { fill_integers<typename decltype(tag)::type>(out, from, range, state); });
  });
}

void bernoulli_kernel(const Tensor& self, const Tensor& probabilities, double p, const Generator& generator) {
  const PhiloxState state = take(generator);
  const Tensor packed = probabilities.defined() ? probabilities.expand(self.sizes()).contiguous() : Tensor();
  with_contiguous(self, [&](const Tensor& out) {
    dispatch_all_types(out.dtype(), "bernoulli_", [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (!packed.defined()) return fill_bernoulli<T, float>(out, nullptr, p, state);
      dispatch_floating_types(packed.dtype(), "bernoulli_", [&](auto p_tag) {
        using P = typename decltype(p_tag)::type;
        fill_bernoulli<T, P>(out, packed.data_ptr<P>(), p, state);
      });
    });
  });
}

}  // namespace at::native::cuda
