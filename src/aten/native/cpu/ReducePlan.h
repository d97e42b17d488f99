#pragma once
// A reduction's iteration space, taken apart into what stays and what is reduced.

#include <aten/TensorIterator.h>
#include <aten/native/ElementMap.h>
#include <aten/native/cpu/Conversion.h>

#include <algorithm>
#include <optional>

namespace at::native::cpu {

// Strides are in bytes; dimensions come fastest first, without those of size 1.
struct ReducePlan {
  explicit ReducePlan(const TensorIterator& iter) : out(iter.data(0)), in(iter.data(1)), item(iter.element_size(1)) {
    if (!iter.is_cpu_scalar(1) && iter.input().dtype() != iter.input_dtype()) {
      item = static_cast<int64_t>(iter.input().element_size());
      conversion.emplace(iter.input_dtype(), iter.input().dtype());
      if (iter.input_dtype() == kFloat) widened = iter.input().dtype();
    }
    for (int dim = 0; dim < iter.ndim(); ++dim) {
      const int64_t size = iter.shape()[dim];
      if (size == 1) continue;
      if (iter.strides(0)[dim] == 0) {
        reduced_sizes.push_back(size);
        reduced_strides.push_back(iter.strides(1)[dim]);
        count *= size;
      } else {
        kept_sizes.push_back(size);
        kept_out_strides.push_back(iter.strides(0)[dim]);
        kept_strides.push_back(iter.strides(1)[dim]);
        outputs *= size;
      }
    }
  }

  // Byte offset of reduced position `index`, counting from dimension `first` on.
  int64_t reduced_offset(int64_t index, size_t first = 0) const {
    int64_t offset = 0;
    if (first >= reduced_sizes.size()) return 0;
    const size_t last = reduced_sizes.size() - 1;  // is not divided, which takes as long as a short row
    for (size_t dim = first; dim < last; ++dim) {
      offset += index % reduced_sizes[dim] * reduced_strides[dim];
      index /= reduced_sizes[dim];
    }
    return offset + index * reduced_strides[last];
  }
  // Byte offsets of kept position `index`, counting from dimension `first` on, in the output and in the
  // input.
  void kept_offsets(int64_t index, size_t first, int64_t& out_offset, int64_t& in_offset) const {
    out_offset = 0;
    in_offset = 0;
    if (first >= kept_sizes.size()) return;
    const size_t last = kept_sizes.size() - 1;
    for (size_t dim = first; dim < last; ++dim) {
      const int64_t position = index % kept_sizes[dim];
      index /= kept_sizes[dim];
      out_offset += position * kept_out_strides[dim];
      in_offset += position * kept_strides[dim];
    }
    out_offset += index * kept_out_strides[last];
    in_offset += index * kept_strides[last];
  }

  // Behind the last element of the input.
  const char* data_end() const {
    const char* last = in;
    for (size_t dim = 0; dim < kept_sizes.size(); ++dim) {
      last += std::max<int64_t>(0, (kept_sizes[dim] - 1) * kept_strides[dim]);
    }
    for (size_t dim = 0; dim < reduced_sizes.size(); ++dim) {
      last += std::max<int64_t>(0, (reduced_sizes[dim] - 1) * reduced_strides[dim]);
    }
    return last + item;
  }

  char* out;
  const char* in;
  int64_t item;                          // bytes of an element of the input
  std::optional<Conversion> conversion;  // of what is read, where it lies in memory as another type
  ScalarType widened = ScalarType::Undefined;  // that type, where it becomes float
  DimVector kept_sizes;
  DimVector kept_out_strides;
  DimVector kept_strides;
  DimVector reduced_sizes;
  DimVector reduced_strides;
  int64_t outputs = 1;
  int64_t count = 1;  // elements per output
  bool mean = false;  // whether the result is divided by `count` at last
  ElementMap map = ElementMap::none;  // of what is read
};

}  // namespace at::native::cpu
