#pragma once
// A contiguous tensor as [outer, size, inner] around one of its dimensions.

#include <aten/Tensor.h>

namespace at::native::cpu {

struct Extents {
  Extents(const Tensor& tensor, int64_t dim) : size(tensor.sizes()[dim]) {
    for (int64_t i = 0; i < dim; ++i) outer *= tensor.sizes()[i];
    for (int64_t i = dim + 1; i < tensor.dim(); ++i) inner *= tensor.sizes()[i];
  }
  int64_t outer = 1;
  int64_t size;
  int64_t inner = 1;
};

}  // namespace at::native::cpu
