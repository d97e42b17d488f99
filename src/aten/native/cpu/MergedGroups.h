#pragma once
// Convolutions of many small groups as ones of fewer and larger groups, whose weight has those of the small ones as
// blocks, and else zeros: tiles (bfloat16_tiles.h) take no longer for them than for what they are.

#include <aten/Tensor.h>
#include <aten/native/cpu/ConvolutionGeometry.h>
#include <aten/native/cpu/bfloat16_products.h>
#include <aten/native/cpu/bfloat16_tiles.h>

#include <algorithm>
#include <cstdint>

namespace at::native::cpu {

// Whether none of bfloat16 images that lie without gaps is infinite or NaN, and would be in every group that is merged.
inline bool are_finite(const Tensor& images) {
  constexpr int64_t kSome = 1 << 12;
  constexpr uint16_t kExponent = 0x7F80;
  const auto* const bits = static_cast<const uint16_t*>(images.data_ptr());
  for (int64_t first = 0; first < images.numel(); first += kSome) {
    const int64_t last = std::min(first + kSome, images.numel());
    uint16_t found = 0;
    for (int64_t i = first; i < last; ++i)
      found |= static_cast<uint16_t>((bits[i] & kExponent) == kExponent ? 1 : 0);
    if (found != 0) return false;
  }
  return true;
}

// How many groups of bfloat16 are best computed as one; 1: each by itself.
inline int64_t groups_of_a_tile(const ConvolutionGeometry& g, ScalarType dtype) {
  constexpr int64_t kFewestChannels = 4;
  constexpr int64_t kChannels = 32;  // as deep as tiles are, and as wide as two of them
  const int64_t most = std::max(g.image_channels, g.window_channels);
  if (dtype != kBFloat16 || std::min(g.image_channels, g.window_channels) < kFewestChannels) return 1;
  if (!has_bfloat16_products() || !has_bfloat16_tiles()) return 1;
  int64_t together = std::max<int64_t>(1, std::min(g.groups, kChannels / most));
  while (g.groups % together != 0) --together;
  return together;
}

// Calls body(element of the small groups' weight, that of the merged one) for each line of what follows the second
// axis' first element; lines have `line` elements.
template <typename Body>
void for_each_merged_line(IntArrayRef sizes, int64_t groups, int64_t together, Body&& body) {
  int64_t line = 1;
  for (size_t dim = 1; dim < sizes.size(); ++dim) line *= sizes[dim];
  for (int64_t row = 0; row < sizes[0]; ++row) {
    const int64_t group = row / (sizes[0] / groups);
    body(row * line, (row * together + group % together) * line, line);
  }
}

inline DimVector merged_sizes(IntArrayRef sizes, int64_t together) {
  DimVector merged(sizes);
  merged[1] *= together;
  return merged;
}

// The weight of groups / together groups. Both are row-major, and bfloat16.
inline Tensor merge_groups(const Tensor& weight, int64_t groups, int64_t together) {
  const Tensor rows = weight.contiguous();
  const Tensor merged = at::detail::empty(merged_sizes(weight.sizes(), together), kBFloat16, weight.device());
  const auto* from = static_cast<const uint16_t*>(rows.data_ptr());
  auto* to = static_cast<uint16_t*>(merged.data_ptr());
  std::fill_n(to, merged.numel(), uint16_t{0});
  for_each_merged_line(weight.sizes(), groups, together, [&](int64_t small, int64_t large, int64_t line) {
    std::copy_n(from + small, line, to + large);
  });
  return merged;
}

// What the small groups have of a merged weight's gradient.
inline Tensor part_groups(const Tensor& merged, IntArrayRef sizes, int64_t groups, int64_t together) {
  const Tensor parts = at::detail::empty(sizes, kBFloat16, merged.device());
  const auto* from = static_cast<const uint16_t*>(merged.data_ptr());
  auto* to = static_cast<uint16_t*>(parts.data_ptr());
  for_each_merged_line(sizes, groups, together, [&](int64_t small, int64_t large, int64_t line) {
    std::copy_n(from + large, line, to + small);
  });
  return parts;
}

}  // namespace at::native::cpu
