#pragma once
// Images in another size, as a product with one sparse matrix for each axis, in compressed rows.

#include <aten/Tensor.h>

namespace at::native {

// New element n is the sum of weights[k] * old element places[k], for k from offsets[n] up to offsets[n + 1]. `offsets`
// and `places` are int32, `weights` float or double. Undefined offsets: the axis stays as it is. Undefined weights: one
// place for each element, which is copied.
struct ResampleAxis {
  int64_t old_size = 1, new_size = 1;
  Tensor offsets, places, weights;

  bool is_identity() const { return !offsets.defined(); }
};

// Contiguous memory (planes, axes[0], axes[1], axes[2], inner); `inner` is the number of channels where they lie last.
struct ResampleGeometry {
  int64_t planes = 1, inner = 1;
  ResampleAxis axes[3];
};

}  // namespace at::native
