// Sums of sparse tensors, and softmax over what they hold.

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Sparse.h>

namespace at::native {

Tensor sum_sparse(const Tensor& self, std::optional<ScalarType> dtype) { return at::sum(sparse_values(self), dtype); }

Tensor _sparse_sum_dim(const Tensor& self, IntArrayRef dim, std::optional<ScalarType> dtype) {
  const Tensor coo = as_coo(self);
  const DimMask mask = dim_mask(dim, self.dim());
  const int64_t sparse_dims = count_sparse_dims(coo);
  Tensor values = sparse_values(coo);
  DimVector dense;
  for (int64_t i = sparse_dims; i < self.dim(); ++i) {
    if (mask[i]) dense.push_back(i - sparse_dims + 1);
  }
  if (!dense.empty()) values = at::sum(values, IntArrayRef(dense), false, dtype);
  else if (dtype) values = values.to(*dtype);
  else if (c10::is_integral_type(values.dtype(), /*include_bool=*/true)) values = values.to(kLong);
  DimVector sizes;
  int64_t kept = 0;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (mask[i]) continue;
    sizes.push_back(self.sizes()[i]);
    if (i < sparse_dims) ++kept;
  }
  if (kept == 0) return at::sum(values, IntArrayRef{0});
  std::vector<Tensor> rows;
  const Tensor indices = sparse_indices(coo);
  for (int64_t i = 0; i < sparse_dims; ++i) {
    if (!mask[i]) rows.push_back(indices[i]);
  }
  const bool same_places = kept == sparse_dims && coo.impl()->sparse()->is_coalesced;
  return coalesced(make_coo(at::stack(rows), values, sizes, same_places));
}

Tensor sum_dim_sparse(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim,
                      std::optional<ScalarType> dtype) {
  const IntArrayRef dims = dim.value_or(IntArrayRef());
  TORCH_CHECK(self.is_sparse() || keepdim, "reduction operations on CSR tensors with keepdim=False is unsupported");
  Tensor result = native::_sparse_sum_dim(self, dims, dtype);
  if (!keepdim) return result;
  const DimMask mask = dim_mask(dims, self.dim());
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (mask[i]) result = at::unsqueeze(result, i);
  }
  return self.is_sparse() ? result : as_layout(result.impl()->sparse() ? result : at::to_sparse(result), self.layout());
}

Scalar item_sparse(const Tensor& self) {
  TORCH_CHECK(self.numel() == 1, "a Tensor with ", self.numel(), " elements cannot be converted to Scalar");
  return at::item(as_strided_tensor(self));
}

Tensor any_sparse_values(const Tensor& self) {
  return at::any(sparse_values(self.is_sparse() ? coalesced(self) : self));
}

Tensor norm_sparse(const Tensor& self, const Scalar& p) {
  return at::norm(sparse_values(self.is_sparse() ? coalesced(self) : self), p);
}

namespace {

// Which values are normalised together: those whose places differ in `dim` alone. Groups are numbered from 0.
struct Groups {
  Tensor numbers;
  int64_t count;
};

Groups groups_along(const Tensor& coo, int64_t dim) {
  std::vector<Tensor> rows;
  DimVector sizes;
  const Tensor indices = sparse_indices(coo);
  for (int64_t i = 0; i < indices.sizes()[0]; ++i) {
    if (i == dim) continue;
    rows.push_back(indices[i]);
    sizes.push_back(coo.sizes()[i]);
  }
  if (rows.empty()) return {at::zeros({indices.sizes()[1]}, indices.options()), 1};
  const auto [present, numbers, counts] = at::_unique2(linear_indices(at::stack(rows), sizes), true, true);
  return {numbers, present.numel()};
}

Tensor sum_within(const Groups& groups, const Tensor& values) {
  return at::index_select(add_groups(values, groups.numbers, groups.count), 0, groups.numbers);
}

Tensor max_within(const Groups& groups, const Tensor& values) {
  DimVector sizes(values.sizes());
  sizes[0] = groups.count;
  Tensor numbers = groups.numbers;
  for (int64_t i = 1; i < values.dim(); ++i) numbers = numbers.unsqueeze(-1);
  const Tensor none = at::full(sizes, Scalar(-std::numeric_limits<double>::infinity()), values.options());
  return at::index_select(at::scatter_reduce(none, 0, numbers.expand(values.sizes()), values, "amax"), 0,
                          groups.numbers);
}

int64_t softmax_dim(const Tensor& self, int64_t dim, const char* function) {
  TORCH_CHECK(self.is_sparse(), function, ": expected a sparse COO tensor, but got layout ", self.layout());
  return wrap_dim(dim, self.dim());
}

}  // namespace

Tensor _sparse_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  dim = softmax_dim(self, dim, "sparse.softmax");
  const Tensor input = coalesced(self);
  const Tensor values = dtype ? sparse_values(input).to(*dtype) : sparse_values(input);
  const int64_t sparse_dims = count_sparse_dims(input);
  if (dim >= sparse_dims) return with_values(input, at::softmax(values, dim - sparse_dims + 1));
  if (values.numel() == 0) return with_values(input, values);
  const Groups groups = groups_along(input, dim);
  const Tensor powers = at::exp(values - max_within(groups, values));
  return with_values(input, powers / sum_within(groups, powers));
}

Tensor _sparse_log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  dim = softmax_dim(self, dim, "sparse.log_softmax");
  const Tensor input = coalesced(self);
  const Tensor values = dtype ? sparse_values(input).to(*dtype) : sparse_values(input);
  const int64_t sparse_dims = count_sparse_dims(input);
  if (dim >= sparse_dims) return with_values(input, at::log_softmax(values, dim - sparse_dims + 1));
  if (values.numel() == 0) return with_values(input, values);
  const Groups groups = groups_along(input, dim);
  const Tensor shifted = values - max_within(groups, values);
  return with_values(input, shifted - at::log(sum_within(groups, at::exp(shifted))));
}

Tensor _sparse_softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim, bool log) {
  dim = wrap_dim(dim, output.dim());
  const int64_t sparse_dims = count_sparse_dims(output);
  const Tensor y = sparse_values(output);
  if (y.numel() == 0) return with_values(output, y);
  const Tensor g = sparse_values(at::sparse_mask(grad, output));
  const Tensor weighted = log ? g : g * y;
  const Tensor sums = dim >= sparse_dims ? at::sum(weighted, IntArrayRef{dim - sparse_dims + 1}, /*keepdim=*/true)
                                         : sum_within(groups_along(output, dim), weighted);
  return with_values(output, log ? g - at::exp(y) * sums : y * (g - sums));
}

}  // namespace at::native
