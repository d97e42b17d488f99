// Sums, products and quotients with sparse tensors.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/Sparse.h>

namespace at::native {

namespace {

bool is_number(const Tensor& tensor) { return tensor.dim() == 0 && !tensor.impl()->sparse(); }

Tensor scaled(const Tensor& values, const Scalar& alpha, ScalarType dtype) {
  const Tensor wide = values.to(dtype);
  return alpha.equal(1) ? wide : at::mul(wide, alpha);
}

void check_same_size(const char* name, const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.sizes() == other.sizes(), name, ": expected sizes of 'self' and 'other' to match, but ",
              self.sizes(), " != ", other.sizes());
}

// Where a tensor has values, on the host: rows of keys that rise. Those of COO are one row of linear places.
struct Places {
  Tensor starts;
  Tensor keys;
};

Places places_by_rows(const Tensor& self) {
  if (self.is_sparse()) {
    const Tensor keys = linear_indices(sparse_indices(self), self.sizes()).cpu().contiguous();
    const Tensor starts = at::zeros({2}, keys.options());
    starts.data_ptr<int64_t>()[1] = keys.numel();
    return {starts, keys};
  }
  const Places places{compressed_indices(self).cpu().to(kLong).contiguous(),
                      sparse_indices(self).cpu().to(kLong).contiguous()};
  check_row_starts(places.starts, places.keys.numel());
  return places;
}

// Both read once, as when sorted lists are merged. For the union: where in it the values of each are. For the
// intersection: which value of each stands there.
struct Merged {
  Tensor left;
  Tensor right;
  Tensor starts;
  int64_t count;
};

Merged merge(const Tensor& self, const Tensor& other, bool intersects) {
  const Places left = places_by_rows(self);
  const Places right = places_by_rows(other);
  const int64_t n = left.keys.numel();
  const int64_t m = right.keys.numel();
  Merged merged{at::empty({n}, left.keys.options()), at::empty({m}, left.keys.options()),
                at::zeros(left.starts.sizes(), left.starts.options()), 0};
  const int64_t* a = left.keys.data_ptr<int64_t>();
  const int64_t* b = right.keys.data_ptr<int64_t>();
  const int64_t* start_a = left.starts.data_ptr<int64_t>();
  const int64_t* start_b = right.starts.data_ptr<int64_t>();
  int64_t* to_a = merged.left.data_ptr<int64_t>();
  int64_t* to_b = merged.right.data_ptr<int64_t>();
  int64_t* start = merged.starts.data_ptr<int64_t>();
  int64_t count = 0;
  for (int64_t row = 0; row < left.starts.numel() - 1; ++row) {
    int64_t i = start_a[row];
    int64_t j = start_b[row];
    const int64_t end_a = start_a[row + 1];
    const int64_t end_b = start_b[row + 1];
    while (i < end_a && j < end_b) {  // without branches that depend on keys: no processor foresees those
      const int64_t takes_a = a[i] <= b[j];
      const int64_t takes_b = b[j] <= a[i];
      to_a[intersects ? count : i] = intersects ? i : count;
      to_b[intersects ? count : j] = intersects ? j : count;
      count += intersects ? takes_a & takes_b : 1;
      i += takes_a;
      j += takes_b;
    }
    while (!intersects && i < end_a) to_a[i++] = count++;
    while (!intersects && j < end_b) to_b[j++] = count++;
    start[row + 1] = count;
  }
  merged.count = count;
  if (intersects) {
    merged.left = merged.left.slice(0, 0, count);
    merged.right = merged.right.slice(0, 0, count);
  }
  const Device device = self.device();
  merged.left = merged.left.to(device);
  merged.right = merged.right.to(device);
  merged.starts = merged.starts.to(device);
  return merged;
}

// A tensor of the layout and size of `like`, with places as they were merged.
Tensor with_places(const Tensor& like, const Merged& merged, const Tensor& indices, const Tensor& values,
                   bool is_coalesced) {
  if (like.is_sparse()) return make_coo(indices, values, like.sizes(), is_coalesced);
  return make_compressed(like.layout(), merged.starts.to(indices.dtype()), indices, values, like.sizes());
}

// Both are of one layout.
Tensor add_places(const Tensor& self, const Tensor& other, const Scalar& alpha, ScalarType dtype) {
  check_same_size("add", self, other);
  const int64_t dims = count_sparse_dims(self);
  TORCH_CHECK(dims == count_sparse_dims(other),
              "add: expected 'self' and 'other' to have same density, but 'self' has ", dims,
              " sparse dimensions while 'other' has ", count_sparse_dims(other), " sparse dimensions");
  const Tensor left = sparse_values(self).to(dtype);
  if (share_places(self, other)) return with_values(self, at::add(left, sparse_values(other).to(dtype), alpha));
  const Tensor left_indices = sparse_indices(self);
  const Tensor right_indices = sparse_indices(other).to(left_indices.dtype());
  const bool is_coalesced = self.impl()->sparse()->is_coalesced && other.impl()->sparse()->is_coalesced;
  const Merged merged = merge(self, other, /*intersects=*/false);
  DimVector sizes(left.sizes());
  sizes[0] = merged.count;
  Tensor values = at::zeros(sizes, left.options());
  const Tensor right = scaled(sparse_values(other), alpha, dtype);
  values.index_copy_(0, merged.left, left);
  if (dtype == kBool)
    values.index_put_({merged.right}, at::logical_or(at::index_select(values, 0, merged.right), right));
  else values.index_add_(0, merged.right, right);
  DimVector index_sizes(left_indices.sizes());
  index_sizes.back() = merged.count;
  Tensor indices = at::empty(index_sizes, left_indices.options());
  indices.index_copy_(-1, merged.left, left_indices);
  indices.index_copy_(-1, merged.right, right_indices);
  return with_places(self, merged, indices, values, is_coalesced);
}

// dense + alpha * sparse; written into `out` if it is given, which may be `dense` itself.
void add_to_strided(const Tensor& dense, const Tensor& sparse, const Scalar& alpha, ScalarType dtype, Tensor& out) {
  TORCH_CHECK(dense.sizes() == sparse.sizes(), "add: expected 'self' and 'other' to have same size, but self has size ",
              dense.sizes(), " while other has size ", sparse.sizes(),
              " (FYI: op2-sparse addition does not currently support broadcasting)");
  if (!out.defined()) out = dense.dtype() == dtype ? at::clone(dense).contiguous() : dense.to(dtype).contiguous();
  else if (!out.is_same(dense)) {
    at::detail::resize_output(out, dense.sizes());
    at::detail::copy_into(out, dense);
  }
  const Tensor coo = as_coo(sparse);
  const Tensor values = scaled(sparse_values(coo), alpha, out.dtype());
  const Tensor indices = sparse_indices(coo);
  const int64_t dims = indices.sizes()[0];
  if (values.numel() == 0) return;
  if (out.dtype() == kBool) return at::detail::copy_into(out, at::logical_or(out, as_strided_tensor(sparse)));
  if (dims == 1) {
    out.index_add_(0, indices[0], values);
  } else if (out.is_contiguous()) {
    DimVector flat(out.sizes().slice(dims));
    flat.insert(0, -1);
    out.view(flat).index_add_(0, linear_indices(indices, out.sizes()), values);
  } else {
    out.add_(as_strided_tensor(sparse), alpha);
  }
}

}  // namespace

void add_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  const ScalarType dtype = result_type({self, other});
  const bool left_is_sparse = self.impl()->sparse();
  const bool right_is_sparse = other.impl()->sparse();
  TORCH_CHECK(alpha.is_integral(true) || c10::is_floating_or_complex_type(dtype),
              "For integral input tensors, argument alpha must not be a floating point number.");
  if (!left_is_sparse && !right_is_sparse) {  // into a sparse `out`
    Tensor sum;
    native::add(self, other, alpha, sum);
    return write_sparse(out, sum);
  }
  if (!left_is_sparse) {
    if (!out.defined() || !out.impl()->sparse()) return add_to_strided(self, other, alpha, dtype, out);
    Tensor sum;
    add_to_strided(self, other, alpha, dtype, sum);
    return write_sparse(out, sum);
  }
  if (!right_is_sparse) {
    TORCH_CHECK(!self.is_sparse(), "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
    Tensor sum;
    add_to_strided(scaled(other, alpha, dtype), self, 1, dtype, sum);
    return write_sparse(out, sum);
  }
  if (self.layout() == other.layout()) return write_sparse(out, add_places(self, other, alpha, dtype));
  const Tensor sum = add_places(coalesced(as_coo(self)), coalesced(as_coo(other)), alpha, dtype);
  write_sparse(out, as_layout(sum, self.layout()));
}

void sub_sparse(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  TORCH_CHECK(self.dtype() != kBool && other.dtype() != kBool,
              "Subtraction, the `-` operator, with a bool tensor is not supported.");
  native::add_sparse(self, other, -alpha, out);
}

namespace {

// The values of a strided tensor of these sizes, or one that broadcasts to them, at the places of `indices`.
Tensor gather_places(const Tensor& dense, const Tensor& indices, IntArrayRef sizes) {
  const int64_t dims = indices.sizes()[0];
  const Tensor whole = dense.expand(sizes);
  if (dims == 0) return at::index_select(whole.unsqueeze(0), 0, linear_indices(indices, sizes));
  std::vector<Tensor> places;
  for (int64_t dim = 0; dim < dims; ++dim) places.push_back(indices[dim]);
  return at::index(whole, places);
}

// Where each of `keys` stands among `known`, which is sorted and not empty, and whether it does.
std::pair<Tensor, Tensor> find_keys(const Tensor& known, const Tensor& keys) {
  const Tensor places =
      at::clamp(at::searchsorted(known.contiguous(), keys.contiguous()), Scalar(0), Scalar(known.numel() - 1));
  return {places, at::eq(at::index_select(known, 0, places), keys)};
}

// Both are of one layout, `right` is coalesced. What stands twice in `left` does so in the product.
Tensor mul_places(const Tensor& left, const Tensor& right, ScalarType dtype) {
  check_same_size("mul", left, right);
  TORCH_CHECK(count_sparse_dims(left) == count_sparse_dims(right),
              "mul: expected both tensors to have the same number of sparse dimensions, but got ",
              count_sparse_dims(left), " and ", count_sparse_dims(right));
  const Tensor left_values = sparse_values(left);
  const Tensor right_values = sparse_values(right);
  if (share_places(left, right)) return with_values(left, at::mul(left_values, right_values).to(dtype));
  Merged merged;
  if (left.impl()->sparse()->is_coalesced) {
    merged = merge(left, right, /*intersects=*/true);
  } else {
    const Tensor keys = linear_indices(sparse_indices(left), left.sizes());
    const Tensor known = linear_indices(sparse_indices(right), right.sizes());
    if (known.numel() == 0 || keys.numel() == 0) {
      return empty_sparse_like(left.sizes(), count_sparse_dims(left), kSparse, left.options().dtype(dtype));
    }
    const auto [found, hits] = find_keys(known, keys);
    merged.left = at::nonzero(hits).select(1, 0);
    merged.right = at::index_select(found, 0, merged.left);
  }
  const Tensor values =
      at::mul(at::index_select(left_values, 0, merged.left), at::index_select(right_values, 0, merged.right));
  return with_places(left, merged, at::index_select(sparse_indices(left), -1, merged.left), values.to(dtype),
                     left.impl()->sparse()->is_coalesced);
}

Tensor mul_strided(const Tensor& sparse, const Tensor& dense, ScalarType dtype) {
  if (is_number(dense)) return with_values(sparse, at::mul(sparse_values(sparse), dense).to(dtype));
  const Tensor places = sparse_indices(as_coo(sparse));
  return with_values(sparse, at::mul(sparse_values(sparse), gather_places(dense, places, sparse.sizes())).to(dtype));
}

}  // namespace

void mul_sparse(const Tensor& self, const Tensor& other, Tensor& out) {
  const ScalarType dtype = result_type({self, other});
  const bool left_is_sparse = self.impl()->sparse();
  const bool right_is_sparse = other.impl()->sparse();
  if (!left_is_sparse && !right_is_sparse) {
    Tensor result;
    native::mul(self, other, result);
    return write_sparse(out, result);
  }
  if (!right_is_sparse) return write_sparse(out, mul_strided(self, other, dtype));
  if (!left_is_sparse) return write_sparse(out, mul_strided(other, self, dtype));
  if (self.dim() == 0 && other.dim() != 0) return write_sparse(out, mul_strided(other, as_strided_tensor(self), dtype));
  if (other.dim() == 0 && self.dim() != 0) return write_sparse(out, mul_strided(self, as_strided_tensor(other), dtype));
  if (!self.is_sparse() && self.layout() == other.layout()) return write_sparse(out, mul_places(self, other, dtype));
  // The places of the one that is not coalesced stay as they are.
  const Tensor left = as_coo(self);
  const Tensor right = as_coo(other);
  const bool swapped = left.impl()->sparse()->is_coalesced && !right.impl()->sparse()->is_coalesced;
  const Tensor product = swapped ? mul_places(right, left, dtype) : mul_places(left, coalesced(right), dtype);
  write_sparse(out, as_layout(product, self.layout()));
}

namespace {

void check_divisor(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(is_number(other), "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape ",
              other.sizes(), " for divisor)");
  TORCH_CHECK(self.impl()->sparse(), "Sparse division requires a sparse dividend");
}

// Sums of quotients are quotients of sums, unless they are rounded.
template <typename Function>
void divide(const Tensor& self, const Tensor& other, bool rounds, Function&& function, Tensor& out) {
  check_divisor(self, other);
  const Tensor input = rounds && self.is_sparse() ? coalesced(self) : self;
  write_sparse(out, with_values(input, function(sparse_values(input))));
}

}  // namespace

void div_sparse(const Tensor& self, const Tensor& other, Tensor& out) {
  divide(self, other, false, [&](const Tensor& values) { return at::div(values, other); }, out);
}
void div_mode_sparse(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode,
                     Tensor& out) {
  divide(
      self, other, rounding_mode.has_value(),
      [&](const Tensor& values) { return at::div(values, other, rounding_mode); }, out);
}
void floor_divide_sparse(const Tensor& self, const Tensor& other, Tensor& out) {
  divide(self, other, true, [&](const Tensor& values) { return at::floor_divide(values, other); }, out);
}

void pow_scalar_sparse(const Tensor& self, const Scalar& exponent, Tensor& out) {
  TORCH_CHECK(!exponent.equal(0),
              "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense");
  map_sparse_values(self, [&](const Tensor& values) { return at::pow(values, exponent); }, out);
}

// The same places, repeated or not: what is added stays added.
void neg_sparse(const Tensor& self, Tensor& out) { write_sparse(out, with_values(self, at::neg(sparse_values(self)))); }

void threshold_backward_sparse(const Tensor& grad_output, const Tensor& self, const Scalar& threshold, Tensor& out) {
  if (!grad_output.impl()->sparse()) {
    return native::threshold_backward(grad_output, as_strided_tensor(self), threshold, out);
  }
  const Tensor grad = coalesced(as_coo(grad_output));
  const Tensor input = at::sparse_mask(as_layout(self, kSparse), grad);
  write_sparse(
      out, as_layout(with_values(grad, at::threshold_backward(sparse_values(grad), sparse_values(input), threshold)),
                     grad_output.layout()));
}

Tensor sparse_mask(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK_NOT_IMPLEMENTED(mask.impl()->sparse(),
                              "sparse_mask(): the mask must be a sparse tensor, but it is strided");
  TORCH_CHECK(self.sizes() == mask.sizes(), "sparse_mask(): operands have incompatible sizes; self has size ",
              self.sizes(), " but mask has size ", mask.sizes());
  const Tensor places = as_coo(mask);
  if (self.impl()->sparse() && count_sparse_dims(self) != count_sparse_dims(mask)) {
    return native::sparse_mask(as_strided_tensor(self), mask);
  }
  if (!self.impl()->sparse()) return with_values(mask, gather_places(self, sparse_indices(places), self.sizes()));
  // A sparse tensor has 0 where the mask has a place and it has none.
  const Tensor source = coalesced(as_coo(self));
  const Tensor keys = linear_indices(sparse_indices(places), mask.sizes());
  const Tensor known = linear_indices(sparse_indices(source), self.sizes());
  const Tensor values = sparse_values(source);
  DimVector sizes(values.sizes());
  sizes[0] = keys.numel();
  if (known.numel() == 0) return with_values(mask, at::zeros(sizes, values.options()));
  auto [found, hits] = find_keys(known, keys);
  for (int64_t dim = 1; dim < values.dim(); ++dim) hits = hits.unsqueeze(-1);
  return with_values(mask, at::where(hits, at::index_select(values, 0, found), at::zeros({}, values.options())));
}

}  // namespace at::native
