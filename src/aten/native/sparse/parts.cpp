// Making sparse tensors, taking them apart, and bringing them from one layout to another.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Sparse.h>

#include <vector>

namespace at::native {

namespace {

// The same data without history, so that nothing hangs on a part.
c10::intrusive_ptr<TensorImpl> part(const Tensor& tensor) {
  return tensor.impl()->shallow_copy(/*share_version=*/true);
}
Tensor handle(const c10::intrusive_ptr<TensorImpl>& impl) { return Tensor(impl->shallow_copy(/*share_version=*/true)); }

int64_t count_dense_dims(const Tensor& self) { return parts_of(self, "dense_dim").values->dim() - 1; }

// `result`, in a handle of its own: autograd gives what an operator returns a new history.
Tensor apart_from(const Tensor& self, const Tensor& result) {
  return result.is_same(self) ? handle(self.impl_ptr()) : result;
}

// The dimension that CSR and CSC compress.
int64_t compressed_dim(Layout layout) { return layout == kSparseCsr ? 0 : 1; }

void check_matrix(IntArrayRef sizes, int64_t dense_dims, const char* function) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      static_cast<int64_t>(sizes.size()) - dense_dims == 2, function,
      ": tensors of a compressed layout have two sparse dimensions here, batches are not supported; got size ", sizes,
      " with ", dense_dims, " dense dimensions");
}

}  // namespace

const SparseParts& parts_of(const Tensor& self, const char* function) {
  const SparseParts* parts = self.impl()->sparse();
  TORCH_CHECK(parts != nullptr, function, " expected sparse tensor layout but got ", self.layout());
  return *parts;
}

Tensor sparse_values(const Tensor& self) { return handle(parts_of(self, "values").values); }
Tensor sparse_indices(const Tensor& self) { return handle(parts_of(self, "indices").indices); }
Tensor compressed_indices(const Tensor& self) { return handle(parts_of(self, "compressed_indices").compressed); }

int64_t count_sparse_dims(const Tensor& self) { return self.dim() - count_dense_dims(self); }

Tensor make_coo(const Tensor& indices, const Tensor& values, IntArrayRef sizes, bool is_coalesced) {
  return Tensor(
      c10::make_intrusive<TensorImpl>(SparseParts{kSparse, nullptr, part(indices), part(values), is_coalesced}, sizes));
}

Tensor make_compressed(Layout layout, const Tensor& compressed, const Tensor& indices, const Tensor& values,
                       IntArrayRef sizes) {
  return Tensor(
      c10::make_intrusive<TensorImpl>(SparseParts{layout, part(compressed), part(indices), part(values), true}, sizes));
}

namespace {

bool share_memory(const c10::intrusive_ptr<TensorImpl>& self, const c10::intrusive_ptr<TensorImpl>& other) {
  if (!self || !other) return !self && !other;
  return self->data() == other->data() && self->dtype() == other->dtype() && self->sizes() == other->sizes() &&
         self->strides() == other->strides() && self->device() == other->device();
}

}  // namespace

bool share_places(const Tensor& self, const Tensor& other) {
  const SparseParts& left = parts_of(self, "indices");
  const SparseParts& right = parts_of(other, "indices");
  return left.layout == right.layout && self.sizes() == other.sizes() && left.is_coalesced && right.is_coalesced &&
         left.values->sizes() == right.values->sizes() && share_memory(left.indices, right.indices) &&
         share_memory(left.compressed, right.compressed);
}

Tensor with_values(const Tensor& self, const Tensor& values) {
  SparseParts parts = parts_of(self, "values");
  parts.values = part(values);
  return Tensor(c10::make_intrusive<TensorImpl>(std::move(parts), self.sizes()));
}

Tensor empty_sparse_like(IntArrayRef sizes, int64_t sparse_dims, Layout layout, const TensorOptions& options) {
  const TensorOptions strided = options.layout(kStrided);
  const TensorOptions places = strided.dtype(kLong);
  DimVector value_sizes(sizes.slice(sparse_dims));
  value_sizes.insert(0, 0);
  const Tensor values = at::empty(value_sizes, strided);
  if (layout == kSparse) return make_coo(at::empty({sparse_dims, 0}, places), values, sizes, /*is_coalesced=*/true);
  check_matrix(sizes, static_cast<int64_t>(sizes.size()) - sparse_dims, "empty");
  return make_compressed(layout, at::zeros({sizes[compressed_dim(layout)] + 1}, places), at::empty({0}, places), values,
                         sizes);
}

void write_sparse(Tensor& out, const Tensor& result) {
  if (!out.defined()) {
    out = result;
    return;
  }
  TORCH_CHECK(c10::can_cast(result.dtype(), out.dtype()), "result type ", result.dtype(),
              " can't be cast to the desired output type ", out.dtype());
  if (!result.impl()->sparse()) {
    TORCH_CHECK(!out.impl()->sparse(), "a strided result cannot be written to a tensor of layout ", out.layout());
    at::detail::resize_output(out, result.sizes());
    return at::detail::copy_into(out, result);
  }
  TORCH_CHECK(out.layout() == result.layout(), "a result of layout ", result.layout(),
              " cannot be written to a tensor of layout ", out.layout());
  SparseParts parts = *result.impl()->sparse();
  if (out.dtype() != result.dtype()) parts.values = part(at::detail::to_dtype(sparse_values(result), out.dtype()));
  out.impl()->set_sparse(std::move(parts), result.sizes());
}

// ------------------------------------------------------------------------------------------------ operators

Tensor _sparse_coo_tensor_unsafe(const Tensor& indices, const Tensor& values, IntArrayRef size, bool is_coalesced) {
  TORCH_CHECK(indices.dim() == 2, "indices must be sparse_dim x nnz, but got: ", indices.sizes());
  TORCH_CHECK(values.dim() > 0, "values must have a dimension that counts them");
  TORCH_CHECK(indices.sizes()[1] == values.sizes()[0],
              "indices and values must have same nnz, but got nnz from indices: ", indices.sizes()[1],
              ", nnz from values: ", values.sizes()[0]);
  const int64_t sparse_dims = indices.sizes()[0];
  TORCH_CHECK(static_cast<int64_t>(size.size()) == sparse_dims + values.dim() - 1,
              "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
              ", sparse_dim = ", sparse_dims, ", dense_dim = ", values.dim() - 1);
  TORCH_CHECK(size.slice(sparse_dims) == values.sizes().slice(1), "values has incorrect size, expected ",
              size.slice(sparse_dims), " behind the first dimension, got ", values.sizes().slice(1));
  return make_coo(indices.to(kLong), values, size, is_coalesced);
}

void _validate_sparse_coo_tensor_args(const Tensor& indices, const Tensor& values, IntArrayRef size) {
  TORCH_CHECK(indices.dim() == 2, "indices must be sparse_dim x nnz, but got: ", indices.sizes());
  if (indices.numel() == 0 || values.dim() == 0) return;
  const Tensor least = std::get<0>(at::min(indices, 1));
  const Tensor greatest = std::get<0>(at::max(indices, 1));
  for (int64_t dim = 0; dim < indices.sizes()[0] && dim < static_cast<int64_t>(size.size()); ++dim) {
    const int64_t low = least[dim].item<int64_t>();
    const int64_t high = greatest[dim].item<int64_t>();
    TORCH_CHECK(low >= 0, "found negative index ", low, " for dim ", dim);
    TORCH_CHECK(high < size[dim], "size is inconsistent with indices: for dim ", dim, ", size is ", size[dim],
                " but found index ", high);
  }
}

Tensor _sparse_compressed_tensor_unsafe(const Tensor& compressed, const Tensor& plain, const Tensor& values,
                                        IntArrayRef size, Layout layout) {
  TORCH_CHECK(layout == kSparseCsr || layout == kSparseCsc, "expected a compressed sparse layout, but got ", layout);
  TORCH_CHECK_NOT_IMPLEMENTED(
      compressed.dim() == 1 && plain.dim() == 1,
      "batches of matrices in a compressed layout are not supported: give 1-dimensional indices");
  TORCH_CHECK(values.dim() >= 1 && plain.sizes()[0] == values.sizes()[0], "number of elements in ",
              layout == kSparseCsr ? "col" : "row", "_indices (", plain.sizes()[0], ") and values (",
              values.dim() ? values.sizes()[0] : 1, ") must be the same");
  check_matrix(size, values.dim() - 1, "sparse_compressed_tensor");
  const int64_t rows = size[compressed_dim(layout)];
  TORCH_CHECK(compressed.sizes()[0] == rows + 1, layout == kSparseCsr ? "crow" : "ccol",
              "_indices.shape[-1] must be equal to the number of ", layout == kSparseCsr ? "rows" : "columns", " + 1 (",
              rows + 1, "), but got ", compressed.sizes()[0]);
  TORCH_CHECK(size.slice(2) == values.sizes().slice(1), "values has incorrect dense sizes: ", values.sizes().slice(1),
              " of a tensor of size ", size);
  TORCH_CHECK((compressed.dtype() == kLong || compressed.dtype() == kInt) && compressed.dtype() == plain.dtype(),
              "indices must be int32 or int64, both of the same dtype, but got ", compressed.dtype(), " and ",
              plain.dtype());
  return make_compressed(layout, compressed, plain, values, size);
}

void _validate_sparse_compressed_tensor_args(const Tensor& compressed, const Tensor& plain, const Tensor& values,
                                             IntArrayRef size, Layout layout) {
  const Tensor checked = native::_sparse_compressed_tensor_unsafe(compressed, plain, values, size, layout);
  const int64_t across = size[1 - compressed_dim(layout)];
  const char* name = layout == kSparseCsr ? "crow_indices" : "ccol_indices";
  const char* plain_name = layout == kSparseCsr ? "col_indices" : "row_indices";
  const Tensor starts = compressed.to(kLong);
  TORCH_CHECK(starts[0].item<int64_t>() == 0, "`", name, "[..., 0] == 0` is not satisfied.");
  TORCH_CHECK(starts[-1].item<int64_t>() == plain.sizes()[0], "`", name, "[..., -1] == nnz` is not satisfied.");
  if (starts.sizes()[0] > 1) {
    const Tensor counts = at::diff(starts);
    TORCH_CHECK(at::min(counts).item<int64_t>() >= 0 && at::max(counts).item<int64_t>() <= across, "`0 <= ", name,
                "[..., 1:] - ", name, "[..., :-1] <= ", layout == kSparseCsr ? "ncols" : "nrows",
                "` is not satisfied.");
  }
  if (plain.numel() == 0) return;
  TORCH_CHECK(at::min(plain).item<int64_t>() >= 0, "`0 <= ", plain_name, "` is not satisfied.");
  TORCH_CHECK(at::max(plain).item<int64_t>() < across, "`", plain_name, " < ", layout == kSparseCsr ? "ncols" : "nrows",
              "` is not satisfied.");
  const int64_t nnz = plain.sizes()[0];
  if (nnz < 2) return;
  const Tensor rows = expand_compressed(starts, nnz);
  const Tensor same_row = at::eq(rows.slice(0, 1), rows.slice(0, 0, nnz - 1));
  const Tensor falls = at::le(plain.slice(0, 1), plain.slice(0, 0, nnz - 1));
  TORCH_CHECK(!at::any(at::logical_and(same_row, falls)).item<bool>(), "`", plain_name, "[..., ", name,
              "[..., i - 1]:", name, "[..., i]] for all i = 1, ..., ", layout == kSparseCsr ? "nrows" : "ncols",
              " are sorted and distinct along the last dimension values` is not satisfied.");
}

int64_t _nnz(const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      self.impl()->sparse(), "Could not run 'aten::_nnz' with arguments from the 'CPU' backend: the tensor is strided");
  return sparse_nnz(self);
}
int64_t sparse_dim(const Tensor& self) { return self.impl()->sparse() ? count_sparse_dims(self) : 0; }
int64_t dense_dim(const Tensor& self) { return self.impl()->sparse() ? count_dense_dims(self) : self.dim(); }

namespace {

const SparseParts& coo_parts(const Tensor& self, const char* function) {
  TORCH_CHECK(self.is_sparse(), function, " expected sparse coordinate tensor layout but got ", self.layout());
  return *self.impl()->sparse();
}

const SparseParts& compressed_parts(const Tensor& self, Layout layout, const char* function) {
  TORCH_CHECK(self.layout() == layout, function, " expected sparse ", layout == kSparseCsr ? "row" : "column",
              " compressed tensor layout but got ", self.layout());
  return *self.impl()->sparse();
}

}  // namespace

bool is_coalesced(const Tensor& self) { return coo_parts(self, "is_coalesced").is_coalesced; }

Tensor _indices(const Tensor& self) { return handle(coo_parts(self, "_indices").indices); }
Tensor _values(const Tensor& self) { return handle(parts_of(self, "_values").values); }
Tensor indices(const Tensor& self) {
  TORCH_CHECK(coo_parts(self, "indices").is_coalesced,
              "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  return native::_indices(self);
}
Tensor values(const Tensor& self) {
  TORCH_CHECK(parts_of(self, "values").is_coalesced,
              "Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  return native::_values(self);
}
Tensor crow_indices(const Tensor& self) {
  return handle(compressed_parts(self, kSparseCsr, "crow_indices").compressed);
}
Tensor col_indices(const Tensor& self) { return handle(compressed_parts(self, kSparseCsr, "col_indices").indices); }
Tensor ccol_indices(const Tensor& self) {
  return handle(compressed_parts(self, kSparseCsc, "ccol_indices").compressed);
}
Tensor row_indices(const Tensor& self) { return handle(compressed_parts(self, kSparseCsc, "row_indices").indices); }

Tensor& _coalesced_(Tensor& self, bool coalesced) {
  SparseParts parts = coo_parts(self, "_coalesced_");
  parts.is_coalesced = coalesced;
  self.impl()->set_sparse(std::move(parts), self.sizes());
  return self;
}

namespace {

Tensor resized(const Tensor& self, IntArrayRef size, int64_t sparse_dims, int64_t dense_dims, bool clear) {
  const SparseParts& parts = coo_parts(self, "sparse_resize_");
  TORCH_CHECK(sparse_dims >= 0 && dense_dims >= 0 && sparse_dims + dense_dims == static_cast<int64_t>(size.size()),
              "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
              ", sparse_dim = ", sparse_dims, ", dense_dim = ", dense_dims);
  const int64_t nnz = clear ? 0 : sparse_nnz(self);
  if (nnz == 0) return empty_sparse_like(size, sparse_dims, kSparse, self.options());
  TORCH_CHECK(sparse_dims == count_sparse_dims(self), "changing the number of sparse dimensions (from ",
              count_sparse_dims(self), " to ", sparse_dims,
              ") on a non-empty sparse tensor is not supported. If you need an empty sparse tensor of this size, call "
              "`x = torch.sparse_coo_tensor(size)`.");
  TORCH_CHECK(dense_dims == count_dense_dims(self), "changing the number of dense dimensions (from ",
              count_dense_dims(self), " to ", dense_dims,
              ") on a non-empty sparse tensor is not supported. If you need an empty sparse tensor of this size, call "
              "`x = torch.sparse_coo_tensor(size)`.");
  bool smaller = false;
  for (int64_t dim = 0; dim < self.dim(); ++dim) smaller = smaller || size[dim] < self.sizes()[dim];
  TORCH_CHECK(!smaller, "shrinking the size of dimensions (from ", self.sizes(), " to ", size,
              ") on a non-empty sparse tensor is not supported. If you need an empty sparse tensor of this size, call "
              "`x = torch.sparse_coo_tensor(size)`.");
  DimVector value_sizes(size.slice(sparse_dims));
  value_sizes.insert(0, nnz);
  Tensor values = handle(parts.values);
  if (values.sizes() != IntArrayRef(value_sizes)) {
    Tensor wider = at::zeros(value_sizes, values.options());
    Tensor corner = wider;
    for (int64_t dim = 1; dim < values.dim(); ++dim) corner = corner.narrow(dim, 0, values.sizes()[dim]);
    corner.copy_(values);
    values = wider;
  }
  return make_coo(handle(parts.indices), values, size, parts.is_coalesced);
}

}  // namespace

Tensor& sparse_resize_(Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  self.impl()->shallow_assign(*resized(self, size, sparse_dim, dense_dim, /*clear=*/false).impl());
  return self;
}
Tensor& sparse_resize_and_clear_(Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  self.impl()->shallow_assign(*resized(self, size, sparse_dim, dense_dim, /*clear=*/true).impl());
  return self;
}
Tensor& resize_as_sparse_(Tensor& self, const Tensor& the_template) {
  coo_parts(self, "resize_as_sparse_");
  coo_parts(the_template, "resize_as_sparse_");
  if (self.sizes() == the_template.sizes() && count_sparse_dims(self) == count_sparse_dims(the_template)) return self;
  return at::sparse_resize_(self, the_template.sizes(), count_sparse_dims(the_template),
                            count_dense_dims(the_template));
}

// ------------------------------------------------------------------------------------------------ factories, copies

namespace {

// Elements that are not there have no order in memory.
void check_no_order(std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(
      !memory_format || *memory_format == MemoryFormat::Preserve || *memory_format == MemoryFormat::Contiguous,
      "unsupported memory format option of a sparse tensor: it has neither strides nor channels that could be last");
}

}  // namespace

Tensor empty_sparse(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  check_no_order(memory_format);
  return empty_sparse_like(size, static_cast<int64_t>(size.size()), options.layout(), options);
}

Tensor zeros_sparse(IntArrayRef size, const TensorOptions& options) {
  return native::empty_sparse(size, options, std::nullopt);
}

Tensor empty_like_sparse(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  const TensorOptions filled =
      options.dtype(options.dtype_opt.value_or(self.dtype())).device(options.device_opt.value_or(self.device()));
  const Layout layout = options.layout_opt.value_or(self.layout());
  if (layout == kStrided) return at::empty(self.sizes(), filled);
  check_no_order(memory_format);
  return empty_sparse_like(self.sizes(), self.impl()->sparse() ? count_sparse_dims(self) : self.dim(), layout, filled);
}

Tensor zeros_like_sparse(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  const Tensor result = native::empty_like_sparse(self, options, memory_format);
  return result.impl()->sparse() ? result : at::zero_(const_cast<Tensor&>(result));
}

Tensor& zero_sparse_(Tensor& self) {
  const Tensor zeros = empty_sparse_like(self.sizes(), count_sparse_dims(self), self.layout(), self.options());
  self.impl()->set_sparse(*zeros.impl()->sparse(), zeros.sizes());
  return self;
}

namespace {

// The same layout with every part as `change` makes it; indices too, unless only the values are meant.
template <typename Change>
Tensor map_parts(const Tensor& self, Change&& change) {
  SparseParts parts = parts_of(self, "values");
  if (parts.compressed) parts.compressed = part(change(handle(parts.compressed), true));
  parts.indices = part(change(handle(parts.indices), true));
  parts.values = part(change(handle(parts.values), false));
  return Tensor(c10::make_intrusive<TensorImpl>(std::move(parts), self.sizes()));
}

}  // namespace

Tensor clone_sparse(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  check_no_order(memory_format);
  return map_parts(self, [](const Tensor& tensor, bool) { return at::clone(tensor); });
}

Tensor to_copy_sparse(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Device> device,
                      bool non_blocking, std::optional<MemoryFormat> memory_format) {
  check_no_order(memory_format);
  return map_parts(self, [&](const Tensor& tensor, bool is_index) {
    return at::_to_copy(tensor, is_index ? std::nullopt : dtype, device, non_blocking);
  });
}

Tensor& copy_sparse_(Tensor& self, const Tensor& src, bool non_blocking) {
  if (self.is_same(src)) return self;
  TORCH_CHECK(self.sizes() == src.sizes(),
              "copy_ between sparse tensors, or of one into a strided tensor, does not broadcast: got sizes ",
              self.sizes(), " and ", src.sizes());
  if (!self.impl()->sparse()) {
    TORCH_CHECK(false, "copy_() between dense and sparse Tensors is not implemented! Found self type = torch.",
                c10::to_string(self.dtype()), "Tensor and src type = torch.sparse.", c10::to_string(src.dtype()),
                "Tensor");
  }
  TORCH_CHECK(self.layout() == src.layout(),
              "copy_() between dense and sparse Tensors is not implemented! The layouts are ", self.layout(), " and ",
              src.layout());
  const Tensor copy = native::to_copy_sparse(src, self.dtype(), self.device(), non_blocking, std::nullopt);
  self.impl()->set_sparse(*copy.impl()->sparse(), self.sizes());
  return self;
}

// ------------------------------------------------------------------------------------------------ layouts

Tensor linear_indices(const Tensor& indices, IntArrayRef sizes) {
  const int64_t dims = indices.sizes()[0];
  if (dims == 1) return indices[0];
  if (dims == 0) return at::zeros({indices.sizes()[1]}, indices.options());
  Tensor keys = indices[0];
  for (int64_t dim = 1; dim < dims; ++dim) keys = keys * sizes[dim] + indices[dim];
  return keys;
}

namespace {

Tensor unravel(const Tensor& keys, IntArrayRef sizes, int64_t dims) {
  Tensor indices = at::empty({dims, keys.sizes()[0]}, keys.options());
  Tensor rest = keys;
  for (int64_t dim = dims - 1; dim > 0; --dim) {
    indices[dim].copy_(at::remainder(rest, sizes[dim]));
    rest = at::floor_divide(rest, Scalar(sizes[dim]));
  }
  if (dims > 0) indices[0].copy_(rest);
  return indices;
}

}  // namespace

Tensor expand_compressed(const Tensor& compressed, int64_t nnz) {
  const Tensor counts = at::diff(compressed.to(kLong));
  return at::repeat_interleave(counts, std::optional<int64_t>(nnz));
}

Tensor compress(const Tensor& sorted, int64_t count) {
  return at::searchsorted(sorted.contiguous(), at::arange(count + 1, sorted.options()));
}

Tensor add_groups(const Tensor& values, const Tensor& groups, int64_t count) {
  if (values.dtype() == kBool) return at::ne(add_groups(values.to(kInt), groups, count), Scalar(0));
  DimVector sizes(values.sizes());
  sizes[0] = count;
  return at::zeros(sizes, values.options()).index_add_(0, groups, values);
}

Tensor coalesced(const Tensor& self) {
  const SparseParts& parts = parts_of(self, "to_sparse");
  if (parts.is_coalesced) return self;
  const Tensor indices = handle(parts.indices);
  const Tensor values = handle(parts.values);
  const int64_t nnz = sparse_nnz(self);
  if (nnz < 2) return make_coo(indices, values, self.sizes(), true);
  const int64_t dims = indices.sizes()[0];
  const Tensor keys = linear_indices(indices, self.sizes());
  const auto [sorted, order] = at::sort(keys, std::optional<bool>(true), 0, /*descending=*/false);
  const Tensor starts =
      at::cat({at::ones({1}, keys.options().dtype(kBool)), at::ne(sorted.slice(0, 1), sorted.slice(0, 0, nnz - 1))});
  const Tensor firsts = at::nonzero(starts).select(1, 0);
  const Tensor ordered = at::index_select(values, 0, order);
  if (firsts.sizes()[0] == nnz) return make_coo(unravel(sorted, self.sizes(), dims), ordered, self.sizes(), true);
  const Tensor summed = add_groups(ordered, at::sub(at::cumsum(starts, 0), Scalar(1)), firsts.sizes()[0]);
  return make_coo(unravel(at::index_select(sorted, 0, firsts), self.sizes(), dims), summed, self.sizes(), true);
}

Tensor coalesce(const Tensor& self) {
  coo_parts(self, "coalesce");
  return apart_from(self, coalesced(self));
}

Tensor as_strided_tensor(const Tensor& self) {
  const Tensor coo = as_coo(self);
  const int64_t sparse_dims = count_sparse_dims(coo);
  const IntArrayRef sizes = self.sizes();
  const Tensor values = sparse_values(coo);
  DimVector flat(sizes.slice(sparse_dims));
  flat.insert(0, product(sizes.slice(0, sparse_dims)));
  const Tensor keys = linear_indices(sparse_indices(coo), sizes);
  if (!coo.impl()->sparse()->is_coalesced) return add_groups(values, keys, flat[0]).view(sizes);
  Tensor result = at::zeros(flat, values.options());
  if (values.numel() != 0) result.index_copy_(0, keys, values);
  return result.view(sizes);
}

Tensor as_layout(const Tensor& self, Layout layout) {
  if (self.layout() == layout) return self;
  if (layout == kStrided) return as_strided_tensor(self);
  if (layout == kSparse) return as_coo(self);
  check_matrix(self.sizes(), count_dense_dims(self), "to_sparse");
  const Tensor coo = coalesced(as_coo(self));
  const Tensor indices = sparse_indices(coo);
  if (layout == kSparseCsr)
    return make_compressed(layout, compress(indices[0], self.sizes()[0]), indices[1].contiguous(), sparse_values(coo),
                           self.sizes());
  const auto [columns, order] = at::sort(indices[1], std::optional<bool>(true), 0, /*descending=*/false);
  return make_compressed(layout, compress(columns, self.sizes()[1]), at::index_select(indices[0], 0, order),
                         at::index_select(sparse_values(coo), 0, order), self.sizes());
}

Tensor to_dense(const Tensor& self, std::optional<ScalarType> dtype, std::optional<bool> /*masked_grad*/) {
  const Tensor dense = as_layout(self, kStrided);
  return apart_from(self, dtype ? dense.to(*dtype) : dense);
}

namespace {

// The elements, or blocks of the last dimensions, that are not all zero.
Tensor strided_to_coo(const Tensor& self, int64_t sparse_dims) {
  TORCH_CHECK(sparse_dims >= 0 && sparse_dims <= self.dim() && (sparse_dims > 0 || self.dim() == 0),
              "sparse_dim ", sparse_dims, " is not in range of [1, ", self.dim(), "]");
  Tensor marks = at::ne(self, Scalar(0));
  if (sparse_dims < self.dim()) {
    DimVector sizes(self.sizes().slice(0, sparse_dims));
    sizes.push_back(product(self.sizes().slice(sparse_dims)));
    marks = at::any(at::reshape(marks, sizes), sparse_dims);
  }
  const Tensor indices = at::nonzero(marks).t().contiguous();
  DimVector flat(self.sizes().slice(sparse_dims));
  flat.insert(0, product(self.sizes().slice(0, sparse_dims)));
  const Tensor values = at::index_select(at::reshape(self, flat), 0, linear_indices(indices, self.sizes()));
  return make_coo(indices, values, self.sizes(), /*is_coalesced=*/true);
}

}  // namespace

Tensor to_sparse_dims(const Tensor& self, int64_t sparse_dim) {
  if (!self.impl()->sparse()) return strided_to_coo(self, sparse_dim);
  TORCH_CHECK(sparse_dim == count_sparse_dims(self), "to_sparse: a sparse tensor keeps its ", count_sparse_dims(self),
              " sparse dimensions, but ", sparse_dim, " were asked for");
  return apart_from(self, as_layout(self, kSparse));
}

Tensor to_sparse(const Tensor& self, std::optional<Layout> layout, std::optional<IntArrayRef> blocksize,
                 std::optional<int64_t> dense_dim) {
  const Layout target = layout.value_or(kSparse);
  TORCH_CHECK(!blocksize, "to_sparse for ", self.layout(), " to ", target,
              " conversion does not use specified blocksize");
  TORCH_CHECK(target != kStrided, "to_sparse: expected a sparse layout, but got Strided");
  const int64_t dense = dense_dim.value_or(0);
  if (self.impl()->sparse()) {
    TORCH_CHECK(!dense_dim || dense == count_dense_dims(self),
                "dense_dim argument must be equal to the number of dense dimensions of a sparse tensor");
    return apart_from(self, as_layout(self, target));
  }
  TORCH_CHECK(dense >= 0 && dense <= self.dim(), "dense_dim must be in [0, ", self.dim(), "], but got ", dense);
  if (target != kSparse) {
    TORCH_CHECK(self.dim() >= 2, "to_sparse_", target == kSparseCsr ? "csr" : "csc",
                ": expected a tensor of at least 2 dimensions, got ", self.dim());
    check_matrix(self.sizes(), dense, "to_sparse");
  }
  return as_layout(strided_to_coo(self, self.dim() - dense), target);
}

Tensor to_sparse_csr(const Tensor& self, std::optional<int64_t> dense_dim) {
  return at::to_sparse(self, kSparseCsr, std::nullopt, dense_dim);
}
Tensor to_sparse_csc(const Tensor& self, std::optional<int64_t> dense_dim) {
  return at::to_sparse(self, kSparseCsc, std::nullopt, dense_dim);
}
Tensor to_sparse_coo(const Tensor& self) { return at::to_sparse(self); }

}  // namespace at::native
