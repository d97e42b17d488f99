#pragma once
// Making views: new shapes over a tensor's storage. Who calls these has checked that the elements are there.

#include <aten/Tensor.h>

#include <optional>
#include <vector>

namespace at::native {

// A view with this shape; strides and `storage_offset` count elements. It shares storage and version counter
// with `self`.
inline Tensor alias_with_sizes_and_strides(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                                           int64_t storage_offset) {
  auto impl = self.impl()->shallow_copy(/*share_version=*/true);
  impl->set_wrapped_number(false);
  impl->set_sizes_and_strides(sizes, strides, storage_offset);
  return Tensor(std::move(impl));
}

inline Tensor alias_with_sizes_and_strides(const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

// A view of another dtype on the same storage; strides and offset count elements of `dtype`.
inline Tensor alias_as(const Tensor& self, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides,
                int64_t storage_offset) {
  Tensor result(c10::make_intrusive<TensorImpl>(self.storage(), dtype, self.device()));
  result.impl()->set_version_counter(self.impl()->version_counter());
  result.impl()->set_sizes_and_strides(sizes, strides, storage_offset);
  return result;
}

// `result`, a new tensor's only view, takes the tensor's place: for autograd it is no view. (Defined with autograd.)
Tensor forget_base(Tensor result);

// `self` becomes what `view`, a view of it, shows: its sizes and strides, and its history. (Defined with autograd.)
Tensor& become_view(Tensor& self, const Tensor& view);

// Whether what is computed from this tensor will be differentiated, backward or forward. (Defined with autograd.)
bool is_differentiated(const Tensor& tensor);

// `shape` with its one -1 replaced so that it holds `numel` elements. Throws Error when that is impossible.
DimVector infer_size(IntArrayRef shape, int64_t numel);

// The strides that let `shape` (of as many elements) be read from memory laid out as `sizes` and `strides`;
// nothing when that takes a copy.
std::optional<DimVector> compute_stride(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape);

}  // namespace at::native
