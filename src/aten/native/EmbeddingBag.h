#pragma once
// What embedding_bag and its gradients share.

#include <aten/native/cpu/EmbeddingBag.h>

namespace at::native {

// PyTorch's numbers.
enum class BagMode : int64_t { sum, mean, max };

// The bag of each index, int64. Bags begin at `offsets` and end with the next one; the last one has all that is left,
// even where the last offset is not a beginning but an end (`include_last_offset`).
Tensor owners_of_bags(const Tensor& indices, const Tensor& offsets, bool include_last_offset);

// Whether bags of this table have kernels of their own.
bool has_bag_kernels(const Tensor& table, const Tensor& factors);

// Bags of tensors of the CPU, whose indices are int64 and dense; the tensor must outlive them.
cpu::Bags bags_of(const Tensor& indices, const Tensor& offsets, bool include_last_offset, int64_t padding_idx);

}  // namespace at::native
