// Whether writing one tensor can change what is read from the same memory.

#include <aten/TensorIterator.h>

namespace at {

void assert_no_internal_overlap(const Tensor& tensor) {
  if (tensor.is_contiguous()) return;
  const IntArrayRef sizes = tensor.sizes();
  const IntArrayRef strides = tensor.strides();
  bool overlaps = false;
  for (size_t i = 0; i < sizes.size(); ++i) overlaps |= strides[i] == 0 && sizes[i] > 1;
  TORCH_CHECK(
      !overlaps || tensor.numel() == 0,
      "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
      "Please clone() the tensor before performing the operation.");
}

void assert_no_partial_overlap(const Tensor& written, const Tensor& read) {
  if (written.is_same(read) || written.numel() == 0 || read.numel() == 0) return;
  if (!written.storage() || !written.storage().is_alias_of(read.storage())) return;
  // With gaps the spans tell nothing, and an exact answer is expensive: only dense tensors are judged.
  if (!written.is_non_overlapping_and_dense() || !read.is_non_overlapping_and_dense()) return;
  const auto first = [](const Tensor& t) { return t.storage_offset() * static_cast<int64_t>(t.element_size()); };
  const auto last = [&](const Tensor& t) { return first(t) + static_cast<int64_t>(t.nbytes()); };
  if (first(written) == first(read) && last(written) == last(read) && written.strides() == read.strides()) return;
  TORCH_CHECK(
      last(written) <= first(read) || last(read) <= first(written),
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
      "location. Please clone() the tensor before performing the operation.");
}

}  // namespace at
