#pragma once
// cub::DeviceRadixSort, in the stream's order: stable, by some bits of unsigned keys.

#include <cuda_emulation.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace cub {

struct DeviceRadixSort {
  template <typename Key, typename Value>
  static cudaError_t SortPairs(void* workspace, size_t& bytes, const Key* keys, Key* sorted_keys, const Value* values,
                               Value* sorted_values, int64_t count, int begin_bit, int end_bit, cudaStream_t stream) {
    if (workspace == nullptr) {
      bytes = 256;
      return cudaSuccess;
    }
    if (bytes < 256 || begin_bit < 0 || end_bit > static_cast<int>(sizeof(Key) * 8)) return cudaErrorInvalidValue;
    ::cuda_emulation::enqueue_work(stream, [=] {
      memset(workspace, 0xab, 256);
      const Key all = ~Key{0};
      const Key low = end_bit == sizeof(Key) * 8 ? all : static_cast<Key>((Key{1} << end_bit) - 1);
      const auto bits = [=](int64_t i) { return static_cast<Key>((keys[i] & low) >> begin_bit); };
      std::vector<int64_t> order(static_cast<size_t>(count));
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return bits(a) < bits(b); });
      for (int64_t i = 0; i < count; ++i) {
        sorted_keys[i] = keys[order[static_cast<size_t>(i)]];
        sorted_values[i] = values[order[static_cast<size_t>(i)]];
      }
    });
    return cudaSuccess;
  }
};

}  // namespace cub
