// Other arrangements of sparse tensors: transposed, selected from, put together. New tensors,
// which share values at most.

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Sparse.h>

namespace at::native {

Tensor permute_sparse(const Tensor& self, IntArrayRef dims) {
  TORCH_CHECK(static_cast<int64_t>(dims.size()) == self.dim(),
              "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
              "ordering of dimensions i.e. input.dim() = ",
              self.dim(), " is not equal to len(dims) = ", dims.size());
  DimVector order;
  DimVector sizes;
  DimMask seen;
  for (const int64_t given : dims) {
    const int64_t dim = wrap_dim(given, self.dim());
    TORCH_CHECK(!seen[dim], "permute(sparse_coo): duplicate dims are not allowed.");
    seen.set(dim);
    order.push_back(dim);
    sizes.push_back(self.sizes()[dim]);
  }
  if (!self.is_sparse()) {
    TORCH_CHECK(self.dim() == 2, "permute: a tensor of layout ", self.layout(),
                " can be permuted if it is a matrix, but it has ", self.dim(), " dimensions");
    if (order[0] == 0) return Tensor(self.impl()->shallow_copy(/*share_version=*/true));
    const SparseParts& parts = *self.impl()->sparse();
    return make_compressed(parts.layout == kSparseCsr ? kSparseCsc : kSparseCsr, compressed_indices(self),
                           sparse_indices(self), sparse_values(self), sizes);
  }
  const int64_t sparse_dims = count_sparse_dims(self);
  DimVector values_order{0};
  std::vector<Tensor> rows;
  const Tensor indices = sparse_indices(self);
  bool same = true;
  for (int64_t i = 0; i < self.dim(); ++i) {
    TORCH_CHECK((i < sparse_dims) == (order[i] < sparse_dims),
                "transpose: transposed dimensions must be either both sparse or both dense; a hybrid tensor with ",
                sparse_dims, " sparse dimensions cannot be brought into the order ", IntArrayRef(order));
    if (i < sparse_dims) rows.push_back(indices[order[i]]);
    else values_order.push_back(order[i] - sparse_dims + 1);
    same = same && (i >= sparse_dims || order[i] == i);
  }
  const Tensor values = sparse_values(self);
  return make_coo(same ? indices : at::stack(rows),
                  values_order.size() > 1 ? at::permute(values, values_order) : values, sizes,
                  same && self.impl()->sparse()->is_coalesced);
}

Tensor transpose_sparse(const Tensor& self, int64_t dim0, int64_t dim1) {
  DimVector order;
  for (int64_t dim = 0; dim < self.dim(); ++dim) order.push_back(dim);
  if (self.dim() > 0) std::swap(order[wrap_dim(dim0, self.dim())], order[wrap_dim(dim1, self.dim())]);
  return native::permute_sparse(self, order);
}

Tensor t_sparse(const Tensor& self) {
  TORCH_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got ",
              count_sparse_dims(self), " sparse and ", self.dim() - count_sparse_dims(self), " dense dimensions");
  return self.dim() < 2 ? Tensor(self.impl()->shallow_copy(/*share_version=*/true))
                        : native::transpose_sparse(self, 0, 1);
}

Tensor unsqueeze_sparse(const Tensor& self, int64_t dim) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_sparse(), "unsqueeze: tensors of layout ", self.layout(), " are matrices");
  dim = wrap_dim(dim, self.dim() + 1);
  const int64_t sparse_dims = count_sparse_dims(self);
  DimVector sizes(self.sizes());
  sizes.insert(dim, 1);
  const bool is_coalesced = self.impl()->sparse()->is_coalesced;
  const Tensor indices = sparse_indices(self);
  if (dim > sparse_dims)
    return make_coo(indices, at::unsqueeze(sparse_values(self), dim - sparse_dims + 1), sizes, is_coalesced);
  const Tensor row = at::zeros({1, sparse_nnz(self)}, indices.options());
  return make_coo(at::cat({indices.slice(0, 0, dim), row, indices.slice(0, dim)}), sparse_values(self), sizes,
                  is_coalesced);
}

Tensor select_sparse(const Tensor& self, int64_t dim, int64_t index) {
  dim = wrap_dim(dim, self.dim(), /*wrap_scalar=*/false);
  const int64_t size = self.sizes()[dim];
  TORCH_CHECK_INDEX(index >= -size && index < size, "select(): index ", index, " out of range for tensor of size ",
                    self.sizes(), " at dimension ", dim);
  if (index < 0) index += size;
  const Tensor coo = as_coo(self);
  const int64_t sparse_dims = count_sparse_dims(coo);
  DimVector sizes;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != dim) sizes.push_back(self.sizes()[i]);
  }
  const bool is_coalesced = coo.impl()->sparse()->is_coalesced;
  const Tensor indices = sparse_indices(coo);
  const Tensor values = sparse_values(coo);
  if (dim >= sparse_dims)
    return make_coo(indices, at::select(values, dim - sparse_dims + 1, index), sizes, is_coalesced);
  const Tensor hits = at::nonzero(at::eq(indices[dim], Scalar(index))).select(1, 0);
  const Tensor found = at::index_select(values, 0, hits);
  // Nothing sparse is left of a vector.
  if (sparse_dims == 1) return at::sum(found, IntArrayRef{0}, false, found.dtype());
  const Tensor rest = at::cat({indices.slice(0, 0, dim), indices.slice(0, dim + 1)});
  return make_coo(at::index_select(rest, 1, hits), found, sizes, is_coalesced);
}

Tensor slice_sparse(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                    int64_t step) {
  dim = wrap_dim(dim, self.dim(), /*wrap_scalar=*/false);
  TORCH_CHECK_VALUE(step > 0, "slice step must be positive");
  const int64_t size = self.sizes()[dim];
  const auto clamped = [size](int64_t place) { return std::clamp<int64_t>(place < 0 ? place + size : place, 0, size); };
  const int64_t first = clamped(start.value_or(0));
  const int64_t last = std::max(first, clamped(end.value_or(size)));
  return native::index_select_sparse(self, dim,
                                     at::arange(first, last, step, at::TensorOptions(kLong).device(self.device())));
}

Tensor squeeze_dim_sparse(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  if (self.dim() > 0 && self.sizes()[dim] == 1) return native::select_sparse(self, dim, 0);
  return Tensor(self.impl()->shallow_copy(/*share_version=*/true));
}

Tensor index_select_sparse(const Tensor& self, int64_t dim, const Tensor& index) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_sparse() && !index.impl()->sparse(),
                              "index_select: expected a sparse COO tensor and a strided index");
  TORCH_CHECK(index.dim() <= 1, "index_select() argument index must be 1-D or scalar, but got ", index.dim(),
              "-D tensor.");
  TORCH_CHECK(index.dtype() == kLong || index.dtype() == kInt,
              "index_select() argument index must be of type long or int.");
  dim = wrap_dim(dim, self.dim(), /*wrap_scalar=*/false);
  // On the host, and counted from the front.
  const Tensor wanted = at::clone(at::reshape(index, {-1}).cpu().to(kLong)).contiguous();
  const int64_t size = self.sizes()[dim];
  const int64_t count = wanted.numel();
  int64_t* want = wanted.data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    TORCH_CHECK_INDEX(want[i] >= -size && want[i] < size, "index_select(): index contains ", want[i],
                      " that is out of range for tensor of size ", self.sizes(), " at dimension ", dim);
    if (want[i] < 0) want[i] += size;
  }
  DimVector sizes(self.sizes());
  sizes[dim] = count;
  const int64_t sparse_dims = count_sparse_dims(self);
  const Tensor indices = sparse_indices(self);
  const Tensor values = sparse_values(self);
  const bool is_coalesced = self.impl()->sparse()->is_coalesced;
  if (dim >= sparse_dims) {
    const Tensor places = wanted.to(self.device());
    return make_coo(indices, at::index_select(values, dim - sparse_dims + 1, places), sizes, is_coalesced);
  }
  // The values in the order of `dim`, and for each wanted index the run of them that it has.
  const KeyGroups groups = group_by_key(indices[dim], size);
  const int64_t* start = groups.starts.data_ptr<int64_t>();
  const int64_t* order = groups.order.defined() ? groups.order.data_ptr<int64_t>() : nullptr;
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += start[want[i] + 1] - start[want[i]];
  Tensor taken = at::empty({found}, wanted.options());
  const Tensor position = at::empty({found}, wanted.options());
  int64_t* take = taken.data_ptr<int64_t>();
  int64_t* place = position.data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = start[want[i]]; j < start[want[i] + 1]; ++j) {
      *take++ = order == nullptr ? j : order[j];
      *place++ = i;
    }
  }
  taken = taken.to(self.device());
  Tensor chosen = at::index_select(indices, 1, taken);
  chosen[dim].copy_(position);
  return make_coo(chosen, at::index_select(values, 0, taken), sizes, is_coalesced && dim == 0);
}

Tensor cat_sparse(TensorList tensors, int64_t dim) {
  DimVector sizes(tensors[0].sizes());
  dim = wrap_dim(dim, tensors[0].dim());
  std::vector<Tensor> indices;
  std::vector<Tensor> values;
  int64_t offset = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    TORCH_CHECK(tensor.impl()->sparse(), "Concatenating sparse tensors, but a dense tensor was found at position ", i,
                ".");
    TORCH_CHECK_NOT_IMPLEMENTED(tensor.is_sparse(), "cat: tensors of layout ", tensor.layout(),
                                " cannot be concatenated; convert them with to_sparse()");
  }
  const int64_t sparse_dims = count_sparse_dims(tensors[0]);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    bool fits = tensor.dim() == tensors[0].dim() && count_sparse_dims(tensor) == sparse_dims;
    for (int64_t other = 0; fits && other < tensor.dim(); ++other) {
      fits = other == dim || tensor.sizes()[other] == sizes[other];
    }
    TORCH_CHECK(fits, "All tensors must have the same shape: ", tensors[0].sizes(),
                " (except in the concatenating dimension), but found shape: ", tensor.sizes(), " at position ", i);
    Tensor places = sparse_indices(tensor);
    if (dim < sparse_dims && offset != 0) {
      places = at::clone(places);
      places[dim].add_(Scalar(offset));
    }
    indices.push_back(places);
    Tensor part = sparse_values(tensor);
    if (dim >= sparse_dims) {  // 0 in the others' places
      DimVector before(part.sizes());
      before[dim - sparse_dims + 1] = offset;
      DimVector after(part.sizes());
      int64_t rest = 0;
      for (size_t later = i + 1; later < tensors.size(); ++later) rest += tensors[later].sizes()[dim];
      after[dim - sparse_dims + 1] = rest;
      part =
          at::cat({at::zeros(before, part.options()), part, at::zeros(after, part.options())}, dim - sparse_dims + 1);
    }
    values.push_back(part);
    offset += tensor.sizes()[dim];
  }
  sizes[dim] = offset;
  return make_coo(at::cat(indices, 1), at::cat(values), sizes, /*is_coalesced=*/false);
}

}  // namespace at::native
