#pragma once
// cub::DeviceSelect, in the stream's order.

#include <cuda_emulation.h>

namespace cub {

struct DeviceSelect {
  // Without a workspace: how large it has to be. With it: the inputs whose flag is set, in order,
  // and how many they are.
  template <typename Input, typename Flags, typename Output, typename Count>
  static cudaError_t Flagged(void* workspace, size_t& bytes, Input input, Flags flags, Output output, Count count,
                             int64_t n, cudaStream_t stream) {
    if (workspace == nullptr) {
      bytes = 256;
      return cudaSuccess;
    }
    if (bytes < 256) return cudaErrorInvalidValue;
    ::cuda_emulation::enqueue_work(stream, [=] {
      memset(workspace, 0xab, 256);
      int64_t found = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (flags[i]) output[found++] = input[i];
      }
      *count = found;
    });
    return cudaSuccess;
  }
};

}  // namespace cub
