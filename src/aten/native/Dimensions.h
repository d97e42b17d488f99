#pragma once
// Dimension numbers as users give them: negative ones count from the end.

#include <aten/Tensor.h>

#include <bitset>

namespace at::native {

constexpr size_t kMaxDimensions = 64;
using DimMask = std::bitset<kMaxDimensions>;

// `dim` in [0, dims). A tensor without dimensions is taken as having one. Throws IndexError when out of
// range.
inline int64_t wrap_dim(int64_t dim, int64_t dims, bool wrap_scalar = true) {
  if (dims == 0) {
    TORCH_CHECK_INDEX(wrap_scalar, "Dimension specified as ", dim, " but tensor has no dimensions");
    dims = 1;
  }
  TORCH_CHECK_INDEX(dim >= -dims && dim < dims, "Dimension out of range (expected to be in range of [", -dims,
                    ", ", dims - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + dims : dim;
}

// The dimensions that `dims` names, each at most once; all of them when it is empty.
inline DimMask dim_mask(IntArrayRef dims, int64_t count, const char* duplicate_message = nullptr) {
  TORCH_CHECK(count <= static_cast<int64_t>(kMaxDimensions), "only tensors with up to ", kMaxDimensions,
              " dims are supported");
  DimMask mask;
  if (dims.empty()) return mask.set();
  for (const int64_t given : dims) {
    const int64_t dim = wrap_dim(given, count);
    if (duplicate_message) {
      TORCH_CHECK(!mask[dim], duplicate_message);
    } else {
      TORCH_CHECK(!mask[dim], "dim ", dim, " appears multiple times in the list of dims");
    }
    mask.set(dim);
  }
  return mask;
}

inline int64_t product(IntArrayRef sizes) {
  int64_t result = 1;
  for (const int64_t size : sizes) result *= size;
  return result;
}

// Refuses a tensor whose device differs from the first operand's, as PyTorch words it.
inline void check_same_device(const Tensor& expected, const Tensor& tensor, const char* argument,
                              const char* function) {
  TORCH_CHECK(expected.device() == tensor.device(), "Expected all tensors to be on the same device, but got ",
              argument, " is on ", tensor.device(), ", different from other tensors on ", expected.device(),
              " (when checking argument in method ", function, ")");
}

}  // namespace at::native
