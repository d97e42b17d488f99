#pragma once
// A contiguous tensor as [outer, size, inner] around one of its dimensions.

#include <aten/Parallel.h>
#include <aten/Tensor.h>

#include <algorithm>

namespace at::native::cpu {

struct Extents {
  Extents(const Tensor& tensor, int64_t dim) : size(tensor.sizes()[dim]) {
    for (int64_t i = 0; i < dim; ++i) outer *= tensor.sizes()[i];
    for (int64_t i = dim + 1; i < tensor.dim(); ++i) inner *= tensor.sizes()[i];
  }
  // The first element of a line along the dimension; the next one is `inner` elements behind it.
  int64_t first_of_line(int64_t line) const { return line / inner * size * inner + line % inner; }

  int64_t outer = 1;
  int64_t size;
  int64_t inner = 1;
};

// body(first line, last line) for all lines along `dim` of a contiguous tensor.
template <typename Body>
void parallel_for_lines(const Extents& extents, Body&& body) {
  const int64_t grain = std::max<int64_t>(1, kGrainSize / 8 / std::max<int64_t>(1, extents.size));
  parallel_for(0, extents.outer * extents.inner, grain, body);
}

}  // namespace at::native::cpu
