// Gradients of what makes and multiplies sparse tensors.

#include <torch/csrc/autograd/FunctionsManual.h>

#include <aten/ATen.h>
#include <aten/native/Sparse.h>

namespace torch::autograd {

using at::native::as_coo;

namespace {

Tensor places_of(const Tensor& tensor) { return tensor.is_sparse() ? tensor.detach().coalesce() : tensor.detach(); }

// `values` at the places of `like`; recorded.
Tensor at_places(const Tensor& values, const Tensor& like) {
  const auto& parts = *like.impl()->sparse();
  const Tensor indices = at::native::sparse_indices(like);
  if (like.is_sparse()) return at::_sparse_coo_tensor_unsafe(indices, values, like.sizes(), parts.is_coalesced);
  return at::_sparse_compressed_tensor_unsafe(at::native::compressed_indices(like), indices, values, like.sizes(),
                                              like.layout());
}

}  // namespace

Tensor sparse_constructor_values_backward(const Tensor& grad, const Tensor& places) {
  return grad.sparse_mask(places.detach())._values();
}

Tensor values_backward(const Tensor& grad, const Tensor& self) { return at_places(grad, self); }

Tensor to_layout_backward(const Tensor& grad, at::Layout layout) {
  return layout == c10::kStrided ? grad.to_dense() : grad.to_sparse(layout);
}

Tensor to_dense_backward(const Tensor& grad, const Tensor& self, std::optional<bool> masked_grad) {
  if (self.layout() == c10::kStrided) return grad;
  return masked_grad.value_or(true) ? grad.sparse_mask(places_of(self)) : grad.to_sparse(self.layout());
}

Tensor sparse_mask_backward(const Tensor& grad, const Tensor& mask, at::Layout layout) {
  // A place that the mask has twice was read twice.
  return to_layout_backward(grad.sparse_mask(mask.detach()), layout);
}

Tensor sparse_mm_backward(const Tensor& grad, const Tensor& mat1, const Tensor& mat2) {
  if (grad.layout() != c10::kStrided || mat2.layout() != c10::kStrided || mat1.layout() == c10::kStrided) {
    const Tensor whole = grad.mm(mat2.t());
    return mat1.layout() == c10::kStrided ? whole : whole.sparse_mask(places_of(mat1));
  }
  // Only those elements of grad @ mat2.t() that mat1 has: the whole of it may not fit into memory.
  const Tensor places = places_of(mat1);
  const Tensor indices = at::native::sparse_indices(as_coo(places));
  return at_places((grad.index_select(0, indices[0]) * mat2.index_select(0, indices[1])).sum(IntArrayRef{1}), places);
}

Tensor sparse_matmul_backward(const Tensor& grad, const Tensor& like) { return grad.sparse_mask(places_of(like)); }

Tensor sparse_sum_backward(const Tensor& grad, const Tensor& self, IntArrayRef dims) {
  Tensor whole = grad.to_dense();
  std::vector<bool> summed(self.dim(), dims.empty());
  for (const int64_t dim : dims) summed[dim < 0 ? dim + self.dim() : dim] = true;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (summed[dim]) whole = whole.unsqueeze(dim);
  }
  return whole.expand(self.sizes()).sparse_mask(places_of(self));
}

Tensor embedding_sparse_backward(const Tensor& grad, const Tensor& indices, IntArrayRef weight_sizes,
                                 int64_t padding_idx) {
  Tensor rows = indices.reshape({-1});
  Tensor values = grad.reshape({-1, weight_sizes[1]});
  if (padding_idx >= 0) {
    const Tensor kept = at::nonzero(rows.ne(padding_idx)).select(1, 0);
    rows = rows.index_select(0, kept);
    values = values.index_select(0, kept);
  }
  return at::_sparse_coo_tensor_unsafe(rows.unsqueeze(0), values, weight_sizes);
}

}  // namespace torch::autograd
