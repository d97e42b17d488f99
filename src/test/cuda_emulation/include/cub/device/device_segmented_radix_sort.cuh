#pragma once
// cub::DeviceSegmentedRadixSort, in the stream's order: stable, by all bits of unsigned keys.

#include <cuda_emulation.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace cub {

struct DeviceSegmentedRadixSort {
  template <typename Key, typename Value, typename Begins, typename Ends>
  static cudaError_t SortPairs(void* workspace, size_t& bytes, const Key* keys, Key* sorted_keys, const Value* values,
                               Value* sorted_values, int64_t count, int64_t segments, Begins begins, Ends ends, int,
                               int, cudaStream_t stream) {
    if (workspace == nullptr) {
      bytes = 256;
      return cudaSuccess;
    }
    if (bytes < 256) return cudaErrorInvalidValue;
    ::cuda_emulation::enqueue_work(stream, [=] {
      memset(workspace, 0xab, 256);
      for (int64_t segment = 0; segment < segments; ++segment) {
        const int64_t begin = begins[segment], end = ends[segment];
        if (begin < 0 || end > count) continue;
        std::vector<int64_t> order(static_cast<size_t>(end - begin));
        std::iota(order.begin(), order.end(), begin);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
        for (int64_t i = begin; i < end; ++i) {
          sorted_keys[i] = keys[order[static_cast<size_t>(i - begin)]];
          sorted_values[i] = values[order[static_cast<size_t>(i - begin)]];
        }
      }
    });
    return cudaSuccess;
  }
};

}  // namespace cub
