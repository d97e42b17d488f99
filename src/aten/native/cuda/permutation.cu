// Random permutations, PyTorch's for a seed and a device: places in the order of random keys, of as many bits as make
// equal keys unlikely, and those of equal keys shuffled.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Philox.cuh>

#include <cub/device/device_radix_sort.cuh>

#include <cmath>
#include <limits>

namespace at::native::cuda {

namespace {

// Bits with which all of n keys differ in nine of ten draws.
int bits_of_keys(int64_t n) {
  const auto count = static_cast<double>(n);
  return std::min(64, static_cast<int>(std::ceil(std::log2(count - (6 * count * count + 1) / (12 * std::log(0.9))))));
}

template <typename Key>
Tensor draw_keys(int64_t n, const TensorOptions& options, const Generator& generator) {
  using Limits = std::numeric_limits<Key>;
  const Tensor keys = at::empty({n}, options);
  random_kernel(keys, Limits::min(), static_cast<uint64_t>(Limits::max()) - static_cast<uint64_t>(Limits::min()),
                generator);
  return keys;
}

// Of each row of equal keys the first one's thread shuffles their places (Fisher and Yates).
void shuffle_equal_keys(const uint64_t* keys, int64_t* places, int64_t n, uint64_t mask, PhiloxState state) {
  for_each_index(n - 1, [=] __device__(int64_t first) {
    const auto key = [=](int64_t i) { return keys[i] & mask; };
    if (key(first) != key(first + 1) || (first != 0 && key(first) == key(first - 1))) return;
    int64_t end = first + 2;
    while (end < n && key(end) == key(first)) ++end;
    Philox stream(state, first);
    Numbers numbers;
    int drawn = 0;
    for (int64_t last = end - first - 1; last > 0; --last, ++drawn) {
      if (drawn % 4 == 0) numbers = stream.next();
      const int64_t other = numbers.word[drawn % 4] % static_cast<uint32_t>(last + 1);
      const int64_t moved = places[first + last];
      places[first + last] = places[first + other];
      places[first + other] = moved;
    }
  });
}

}  // namespace

void randperm_kernel(const Tensor& out, const Generator& generator) {
  const int64_t n = out.numel();
  const int bits = bits_of_keys(n);
  const TensorOptions options = TensorOptions(kLong).device(out.device());
  const Tensor drawn = bits <= 32 ? draw_keys<int32_t>(n, TensorOptions(kInt).device(out.device()), generator).to(kLong)
                                  : draw_keys<int64_t>(n, options, generator);
  // As numbers with a sign where all bits count.
  const bool has_sign = bits == 32 || bits == 64;
  const uint64_t sign = has_sign ? uint64_t{1} << (bits - 1) : 0;
  const Tensor sorted = at::empty({n}, options);
  const Tensor numbers = at::arange(Scalar(n), options);
  const Tensor places = at::empty({n}, options);
  auto* key = reinterpret_cast<uint64_t*>(drawn.data_ptr<int64_t>());
  auto* sorted_key = reinterpret_cast<uint64_t*>(sorted.data_ptr<int64_t>());
  if (has_sign) for_each_index(n, [=] __device__(int64_t i) { key[i] ^= sign; });
  size_t bytes = 0;
  const auto sort = [&](void* workspace) {
    C10_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(workspace, bytes, key, sorted_key, numbers.data_ptr<int64_t>(),
                                                   places.data_ptr<int64_t>(), n, 0, bits,
                                                   c10::cuda::current_stream()));
  };
  sort(nullptr);
  const c10::DataPtr workspace = c10::get_backend(kCUDA).allocator()->allocate(bytes);
  sort(workspace.get());
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  shuffle_equal_keys(sorted_key, places.data_ptr<int64_t>(), n, mask, take(generator, static_cast<uint64_t>(n)));
  Tensor(out).copy_(places);
}

}  // namespace at::native::cuda
