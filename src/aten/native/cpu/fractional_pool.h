#pragma once
// Maxima of windows that begin elsewhere in each plane.

#include <aten/Tensor.h>
#include <aten/native/PoolGeometry.h>

namespace at::native::cpu {

// out and indices (int64), of contiguous planes of any floating type: `starts` (int64) says of each plane where its
// windows begin along the three dimensions, one dimension behind the other.
void fractional_max_pool(const Tensor& out, const Tensor& indices, const Tensor& self, const Tensor& starts,
                         const PoolGeometry& g);

}  // namespace at::native::cpu
