#pragma once
// Sparse tensors as native functions see them: parts in, parts out. Parts have no history; operators that are recorded
// are those on whole tensors.

#include <aten/Tensor.h>

#include <utility>

namespace at::native {

using c10::SparseParts;
using c10::kSparse;
using c10::kSparseCsc;
using c10::kSparseCsr;
using c10::kStrided;

// The parts of a sparse tensor. Throws Error, in the name of `function`, for a strided one.
TORCH_API const SparseParts& parts_of(const Tensor& self, const char* function);
// A new handle on the values, (n, dense dimensions...), and on the indices.
TORCH_API Tensor sparse_values(const Tensor& self);
TORCH_API Tensor sparse_indices(const Tensor& self);
TORCH_API Tensor compressed_indices(const Tensor& self);
inline int64_t sparse_nnz(const Tensor& self) { return parts_of(self, "_nnz").values->sizes()[0]; }
// Dimensions that indices name; the rest are those of the values.
TORCH_API int64_t count_sparse_dims(const Tensor& self);

TORCH_API Tensor make_coo(const Tensor& indices, const Tensor& values, IntArrayRef sizes, bool is_coalesced);
TORCH_API Tensor make_compressed(Layout layout, const Tensor& compressed, const Tensor& indices, const Tensor& values,
                                 IntArrayRef sizes);
// `values` at the places that `self` has them.
TORCH_API Tensor with_values(const Tensor& self, const Tensor& values);
// A tensor of zeros of this layout: no values at all.
TORCH_API Tensor empty_sparse_like(IntArrayRef sizes, int64_t sparse_dims, Layout layout, const TensorOptions& options);

// Whether both have the same places because they share the memory of their indices, as a result does with what it was
// made from; each place once.
bool share_places(const Tensor& self, const Tensor& other);

// `self` as COO, with every place once and in order; itself if it is so.
TORCH_API Tensor coalesced(const Tensor& self);
TORCH_API Tensor as_coo(const Tensor& self);
TORCH_API Tensor as_strided_tensor(const Tensor& self);
TORCH_API Tensor as_layout(const Tensor& self, Layout layout);
// The places of indices (dimensions, n), counted through these sizes row by row: (n).
TORCH_API Tensor linear_indices(const Tensor& indices, IntArrayRef sizes);
// Sums of the values (n, ...) of each group: `groups` (n) in [0, count). Of bool, whether any is True.
TORCH_API Tensor add_groups(const Tensor& values, const Tensor& groups, int64_t count);
// Row numbers for where rows begin: [0, 2, 3] gives [0, 0, 1]. And the other way, of sorted row numbers.
TORCH_API Tensor expand_compressed(const Tensor& compressed, int64_t nnz);
TORCH_API Tensor compress(const Tensor& sorted, int64_t count);
// Throws Error unless these, on the host, rise from 0 to `nnz`.
void check_row_starts(const Tensor& starts, int64_t nnz);

// What has one key in [0, count), for each key: those between `starts` of it and of the next, in the order of `order`,
// which is undefined if the keys are sorted. On the host.
struct KeyGroups {
  Tensor starts;
  Tensor order;
};
KeyGroups group_by_key(const Tensor& keys, int64_t count);

// A sparse matrix by rows: where each begins among the columns and values.
struct SparseRows {
  Tensor starts;
  Tensor columns;
  Tensor values;
};
// The product of two such matrices on the host: columns in order and once in each row; indices are int64, all is
// contiguous.
SparseRows multiply_sparse_rows(const SparseRows& left, const SparseRows& right, int64_t columns);

// `out`, which may be undefined, becomes `result`: an in-place or out= form of something that takes sparse tensors.
TORCH_API void write_sparse(Tensor& out, const Tensor& result);

// What `function` makes of the values, at their places: for functions that are 0 at 0.
// Values at one place are added first.
template <typename Function>
Tensor map_sparse_values(const Tensor& self, Function&& function) {
  const Tensor input = self.is_sparse() ? coalesced(self) : self;
  return with_values(input, function(sparse_values(input)));
}
template <typename Function>
void map_sparse_values(const Tensor& self, Function&& function, Tensor& out) {
  write_sparse(out, map_sparse_values(self, std::forward<Function>(function)));
}

}  // namespace at::native
