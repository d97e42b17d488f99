#pragma once
// The order of dimensions in memory, and the strides of results that keep their input's order.

#include <aten/Tensor.h>

#include <algorithm>
#include <utility>

namespace at {

// Dimensions from the fastest to the slowest. compare(a, b) > 0 says that `a` is slower than `b`, 0 that it has no
// opinion (broadcast dimensions have none): an insertion sort then leaves them in row-major order.
template <typename Compare>
DimVector order_dimensions(size_t ndim, const Compare& compare) {
  DimVector order(ndim);
  for (size_t i = 0; i < ndim; ++i) order[i] = static_cast<int64_t>(ndim - 1 - i);
  for (size_t i = 1; i < ndim; ++i) {
    for (size_t j = i, k = i; k-- > 0;) {
      const int order_of = compare(order[k], order[j]);
      if (order_of < 0) break;
      if (order_of > 0) {
        std::swap(order[k], order[j]);
        j = k;
      }
    }
  }
  return order;
}

// Strides without gaps for these sizes, in that order.
inline DimVector strides_in_order(IntArrayRef sizes, const DimVector& order) {
  DimVector strides(order.size());
  int64_t step = 1;
  for (const int64_t dim : order) {
    strides[dim] = step;
    step *= std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

// Strides (in elements) of a tensor of self's shape without gaps or overlaps, whose dimensions lie in memory in the
// order of self's. For a dense tensor these are its own strides.
inline DimVector dense_strides(const Tensor& self) {
  if (self.is_non_overlapping_and_dense()) return self.strides();
  const IntArrayRef sizes = self.sizes();
  const IntArrayRef strides = self.strides();
  return strides_in_order(sizes, order_dimensions(sizes.size(), [&](int64_t a, int64_t b) {
                            if (strides[a] == 0 || strides[b] == 0) return 0;
                            if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
                            return sizes[a] > sizes[b] ? 1 : 0;
                          }));
}

}  // namespace at
