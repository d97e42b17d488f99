#pragma once
// The memory layout of results that keep their input's layout.

#include <aten/Tensor.h>

#include <algorithm>

namespace at::native {

// Strides (in elements) of a tensor of self's shape without gaps or overlaps, whose dimensions lie in memory in the order
// of self's. For a dense tensor these are its own strides.
inline DimVector dense_strides(const Tensor& self) {
  if (self.is_non_overlapping_and_dense()) return self.strides();
  DimVector order(static_cast<size_t>(self.dim()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  // From the slowest dimension to the fastest; broadcast ones (stride 0) stay where they are among their neighbours.
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return self.strides()[a] > self.strides()[b]; });
  DimVector strides(order.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(self.sizes()[order[i]], 1);
  }
  return strides;
}

}  // namespace at::native
