#pragma once
// What PYTORCH_ALLOC_CONF, or PYTORCH_CUDA_ALLOC_CONF where that is not set, says of device memory.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace c10::cuda {

struct AllocatorSettings {
  size_t max_split_size = SIZE_MAX;  // blocks from here on are not cut for smaller requests
  size_t max_non_split_rounding = size_t{20} << 20;  // they may be so much larger than a request of their kind
  // Of what the process may take (set_per_process_memory_fraction): from there on free segments are given back.
  double garbage_collection_threshold = 0;
  // Into how many sizes the numbers from a power of two to the next are rounded up; of sizes from 1 MiB (and below) on.
  std::array<size_t, 16> roundup_power2_divisions{};

  // "max_split_size_mb:128,garbage_collection_threshold:0.8": ValueError for a value that is none, a warning for an
  // option that is not here.
  static AllocatorSettings parse(const std::string& text);
  size_t round_up(size_t bytes, size_t granularity) const;
};

// Read once.
const AllocatorSettings& allocator_settings();

}  // namespace c10::cuda
