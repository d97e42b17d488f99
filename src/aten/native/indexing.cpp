// Reading and writing by index tensors and masks.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/TypeNames.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>

#include <sstream>

namespace at::native {

namespace {

// What x[indices] comes down to: `self` with its indexed dimensions in front, int64 indices of one shape, and
// where the dimensions of that shape stand in the result.
struct AdvancedIndex {
  Tensor self;
  std::vector<Tensor> indices;
  DimVector index_shape;
  int64_t position = 0;  // of the index dimensions in the result
};

// Index tensors as int64; a mask becomes one index per dimension that it covers.
std::vector<Tensor> expand_masks(const Tensor& self, TensorList indices) {
  std::vector<Tensor> result;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Tensor& index = indices[i];
    if (!index.defined()) {
      result.emplace_back();
      continue;
    }
    const ScalarType type = index.dtype();
    TORCH_CHECK_INDEX(type == kLong || type == kInt || type == kByte || type == kBool,
                      "tensors used as indices must be long, int, byte or bool tensors");
    TORCH_CHECK(index.device() == self.device() || index.is_cpu(),
                "indices should be either on cpu or on the same device as the indexed tensor (",
                self.device(), ")");
    const Tensor local = index.device() == self.device() ? index : index.to(self.device());
    if (type != kBool && type != kByte) {
      result.push_back(at::detail::to_dtype(local, kLong));
      continue;
    }
    for (int64_t j = 0; j < index.dim(); ++j) {
      const int64_t dim = static_cast<int64_t>(result.size()) + j;
      TORCH_CHECK_INDEX(dim < self.dim() && index.sizes()[j] == self.sizes()[dim], "The shape of the mask ",
                        index.sizes(), " at index ", j, " does not match the shape of the indexed tensor ",
                        self.sizes(), " at index ", dim);
    }
    // Where the mask lies: one on the CPU has values that one on Meta has not.
    const Tensor positions = at::nonzero(index).to(self.device());
    for (int64_t j = 0; j < index.dim(); ++j) result.push_back(native::select(positions, 1, j));
    TORCH_CHECK_INDEX(index.dim() > 0, "a mask without dimensions must be expanded before it can index");
  }
  TORCH_CHECK_INDEX(static_cast<int64_t>(result.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim());
  return result;
}

DimVector broadcast_index_shapes(const std::vector<Tensor>& indices) {
  DimVector shape;
  for (const Tensor& index : indices) {
    if (!index.defined()) continue;
    const IntArrayRef sizes = index.sizes();
    DimVector merged(std::max(shape.size(), sizes.size()));
    bool fits = true;
    for (size_t i = 0; i < merged.size(); ++i) {
      const int64_t a = i < shape.size() ? shape[shape.size() - 1 - i] : 1;
      const int64_t b = i < sizes.size() ? sizes[sizes.size() - 1 - i] : 1;
      fits &= a == b || a == 1 || b == 1;
      merged[merged.size() - 1 - i] = a == 1 ? b : a;
    }
    if (!fits) {
      std::ostringstream shapes;
      for (const Tensor& each : indices) {
        if (each.defined()) shapes << (shapes.tellp() > 0 ? ", " : "") << each.sizes();
      }
      TORCH_CHECK_INDEX(false,
                        "shape mismatch: indexing tensors could not be broadcast together with shapes ",
                        shapes.str());
    }
    shape = merged;
  }
  return shape;
}

AdvancedIndex make_advanced_index(const Tensor& self, TensorList given) {
  const std::vector<Tensor> indices = expand_masks(self, given);
  AdvancedIndex result;
  result.index_shape = broadcast_index_shapes(indices);
  DimVector order;
  DimVector rest;
  int64_t runs = 0;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    const bool indexed = dim < static_cast<int64_t>(indices.size()) && indices[dim].defined();
    if (!indexed) {
      rest.push_back(dim);
      continue;
    }
    if (order.empty()) result.position = dim;
    runs += order.empty() || order.back() != dim - 1;
    order.push_back(dim);
    result.indices.push_back(native::expand(indices[dim], result.index_shape, true));
  }
  TORCH_CHECK_INDEX(!order.empty(), "index: at least one index tensor is needed");
  if (runs > 1) result.position = 0;  // indices with gaps between them: their dimensions come first
  for (const int64_t dim : rest) order.push_back(dim);
  result.self = native::permute(self, order);
  return result;
}

// `tensor`, shaped as the result of indexing, with the index dimensions in front.
Tensor index_dims_to_front(const Tensor& tensor, const AdvancedIndex& index) {
  const int64_t count = static_cast<int64_t>(index.index_shape.size());
  if (index.position == 0) return tensor;
  DimVector order;
  for (int64_t i = 0; i < count; ++i) order.push_back(index.position + i);
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (i < index.position || i >= index.position + count) order.push_back(i);
  }
  return native::permute(tensor, order);
}

DimVector indexed_shape(const AdvancedIndex& index) {
  const IntArrayRef sizes = index.self.sizes();
  const size_t indexed = index.indices.size();
  DimVector shape(sizes.slice(indexed, index.position));
  for (const int64_t size : index.index_shape) shape.push_back(size);
  for (size_t i = indexed + index.position; i < sizes.size(); ++i) shape.push_back(sizes[i]);
  return shape;
}

// Positions in a dimension without elements exist only where nothing is asked for.
void check_indexable(const AdvancedIndex& index) {
  if (product(index.index_shape) == 0) return;
  for (size_t i = 0; i < index.indices.size(); ++i) {
    TORCH_CHECK_INDEX(index.self.sizes()[i] != 0 || index.self.numel() != 0,
                      "index is out of bounds for dimension with size 0");
  }
}

void check_index_dtype(const Tensor& index, const char* name) {
  TORCH_CHECK(index.dtype() == kLong || index.dtype() == kInt, name, "(): Expected dtype int32/int64 for index");
}

// index.size(d) <= limit.size(d) for every d but `dim`.
bool fits_apart_from(const Tensor& index, const Tensor& limit, int64_t dim) {
  for (int64_t i = 0; i < index.dim(); ++i) {
    if (i != dim && index.sizes()[i] > limit.sizes()[i]) return false;
  }
  return true;
}

// 0-dim tensors as vectors of one element.
Tensor at_least_1d(const Tensor& tensor) { return tensor.dim() > 0 ? tensor : native::unsqueeze(tensor, 0); }

void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                   const char* name) {
  check_index_dtype(index, name);
  check_same_device(self, index, "index", name);
  check_same_device(self, src, "src", name);
  TORCH_CHECK(self.dtype() == src.dtype(), name, "(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return;
  TORCH_CHECK(std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(self.dim(), 1),
              "Index tensor must have the same number of dimensions as self tensor");
  TORCH_CHECK(std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(src.dim(), 1),
              "Index tensor must have the same number of dimensions as src tensor");
  TORCH_CHECK(fits_apart_from(index, self, dim) && fits_apart_from(index, src, /*dim=*/-1), "Expected index ",
              index.sizes(), " to be no larger than self ", self.sizes(), " apart from dimension ", dim,
              " and to be no larger size than src ", src.sizes());
}

// The elements where a mask of the tensor's own shape is true, on the CPU: neither places nor offsets are written down.
Tensor elements_where(const Tensor& self, const Tensor& mask) {
  const Tensor values = at::detail::to_contiguous(self);
  const Tensor chosen = at::detail::to_contiguous(mask);
  const auto* choice = static_cast<const uint8_t*>(chosen.data_ptr());
  int64_t count = 0;
  for (int64_t i = 0; i < self.numel(); ++i) count += choice[i] != 0;
  const Tensor out = at::detail::empty({count}, self.dtype(), self.device());
  dispatch_word(self.element_size(), [&](auto word) {
    using Word = decltype(word);
    const auto* from = static_cast<const Word*>(values.data_ptr());
    auto* to = static_cast<Word*>(out.data_ptr());
    // Every element is written, and only those that count move on: no branch to mispredict.
    for (Word* const end = to + count; to < end; ++from, ++choice) {
      *to = *from;
      to += *choice != 0;
    }
  });
  return out;
}

bool is_own_mask(const Tensor& self, TensorList indices) {
  return indices.size() == 1 && indices[0].defined() && indices[0].dtype() == kBool && self.dim() > 0 &&
         self.is_cpu() && indices[0].is_cpu() && indices[0].sizes() == self.sizes();
}

}  // namespace

Tensor index(const Tensor& self, TensorList indices) {
  if (is_own_mask(self, indices)) return elements_where(self, indices[0]);
  const AdvancedIndex plan = make_advanced_index(self, indices);
  check_indexable(plan);
  const Tensor out = at::detail::empty(indexed_shape(plan), self.dtype(), self.device());
  if (out.numel() > 0)
    run_kernel(index_kernels, self.device(), index_dims_to_front(out, plan), plan.self,
               TensorList(plan.indices));
  return out;
}

namespace {

// Whether one number is put where a mask of the first dimensions is true: nothing needs to be found first.
bool puts_number_by_mask(const Tensor& self, TensorList indices, const Tensor& values) {
  if (indices.size() != 1 || values.numel() != 1 || values.dtype() != self.dtype() || !self.is_cpu()) return false;
  const Tensor& mask = indices[0];
  return mask.defined() && mask.is_cpu() && mask.dtype() == kBool && mask.dim() > 0 && mask.dim() <= self.dim() &&
         mask.sizes() == self.sizes().slice(0, static_cast<size_t>(mask.dim()));
}

}  // namespace

Tensor& index_put_(Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  if (!accumulate && values.dim() == 0 && puts_number_by_mask(self, indices, values)) {
    Tensor mask = indices[0];
    while (mask.dim() < self.dim()) mask = native::unsqueeze(mask, -1);
    return native::masked_fill_(self, mask, at::detail::load_scalar(values.data_ptr(), values.dtype()));
  }
  const AdvancedIndex plan = make_advanced_index(self, indices);
  check_indexable(plan);
  TORCH_CHECK(values.dtype() == self.dtype(),
              "Index put requires the source and destination dtypes match, got ", self.dtype(),
              " for the destination and ", values.dtype(), " for the source.");
  assert_no_internal_overlap(self);
  const Tensor local = values.device() == self.device() ? values : values.to(self.device());
  const DimVector shape = indexed_shape(plan);
  // Leading dimensions of size 1 may be more than the result has.
  Tensor source = local;
  while (source.dim() > static_cast<int64_t>(shape.size()) && source.sizes()[0] == 1)
    source = native::squeeze_dim(source, 0);
  bool fits = source.dim() <= static_cast<int64_t>(shape.size());
  for (int64_t i = 0; fits && i < source.dim(); ++i) {
    const int64_t size = source.sizes()[source.dim() - 1 - i];
    fits = size == 1 || size == shape[shape.size() - 1 - i];
  }
  TORCH_CHECK(fits, "shape mismatch: value tensor of shape ", values.sizes(),
              " cannot be broadcast to indexing result of shape ", IntArrayRef(shape));
  if (product(shape) == 0) return self;
  if (source.is_alias_of(self)) source = at::clone(source);
  const Tensor expanded = native::expand(source, shape, true);
  run_kernel(index_put_kernels, self.device(), plan.self, TensorList(plan.indices),
             index_dims_to_front(expanded, plan), accumulate);
  return self;
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  TORCH_CHECK(index.dtype() == kLong || index.dtype() == kInt,
              "index_select(): Expected dtype int32 or int64 for index");
  check_same_device(self, index, "index", "index_select");
  Tensor source = at_least_1d(self);
  const Tensor positions = at_least_1d(at::detail::to_dtype(index, kLong));
  TORCH_CHECK(self.dim() > 0 || positions.numel() == 1,
              "index_select(): Index to scalar can have only 1 value, got ", positions.numel(), " value(s)");
  TORCH_CHECK(positions.numel() == 0 || self.dim() <= 1 || source.sizes()[dim] > 0,
              "index_select(): self indexing axis dim should be positive");
  DimVector shape(source.sizes());
  shape[dim] = positions.numel();
  const Tensor out = at::detail::empty(shape, self.dtype(), self.device());  // refused first where it is too large
  if (positions.is_cpu()) {
    // Negative positions are refused here; the kernel would count them from the end.
    const int64_t* values = positions.data_ptr<int64_t>();
    for (int64_t i = 0; i < positions.numel(); ++i) {
      const int64_t position = values[i * positions.strides()[0]];
      TORCH_CHECK_INDEX(position >= 0 && position < source.sizes()[dim], "index out of range in self");
    }
  }
  if (out.numel() > 0) {
    const bool reads_all = source.is_cpu() && positions.numel() >= source.sizes()[dim];
    if (reads_all) source = at::detail::to_contiguous(source);  // from afar once
    run_kernel(index_kernels, self.device(), native::movedim(out, dim, 0), native::movedim(source, dim, 0),
               TensorList(positions));
  }
  return self.dim() == 0 ? native::view(out, {}) : out;
}

Tensor& index_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                   const Scalar& alpha) {
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(index.dim() <= 1,
                    "index_add_(): Index is supposed to be a vector, but got dim: ", index.dim(),
                    " with type: ", index.dtype(), " and size: ", index.sizes());
  TORCH_CHECK(index.dtype() == kLong || index.dtype() == kInt,
              "index_add_(): Expected dtype int32/int64 for index but got: ", index.dtype());
  TORCH_CHECK(self.dtype() == source.dtype(), "index_add_(): self (", self.dtype(), ") and source (",
              source.dtype(), ") must have the same scalar type");
  check_same_device(self, index, "index", "index_add_");
  check_same_device(self, source, "source", "index_add_");
  assert_no_internal_overlap(self);
  assert_no_partial_overlap(self, source);
  assert_no_partial_overlap(self, index);
  const Tensor target = at_least_1d(self);
  const Tensor values = at_least_1d(source);
  const Tensor positions = at_least_1d(at::detail::to_dtype(index, kLong));
  TORCH_CHECK(values.dim() == target.dim() && values.sizes()[dim] == positions.numel(),
              "index_add_(): Number of indices (", positions.numel(),
              ") should be equal to source.size(dim): (",
              values.dim() == target.dim() ? values.sizes()[dim] : 0, "), for dim: ", dim);
  for (int64_t i = 0; i < target.dim(); ++i) {
    TORCH_CHECK(i == dim || values.sizes()[i] == target.sizes()[i],
                "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                "self.shape = ",
                self.sizes(), " source.shape = ", source.sizes());
  }
  if (values.numel() == 0) return self;
  if (positions.is_cpu()) {  // here too negative positions are none
    const int64_t* places = positions.data_ptr<int64_t>();
    const int64_t size = target.sizes()[dim];
    for (int64_t i = 0; i < positions.numel(); ++i) {
      const int64_t place = places[i * positions.strides()[0]];
      if (place >= 0 && place < size) continue;
      TORCH_CHECK_INDEX(self.dim() > 1, "index out of range in self");
      TORCH_CHECK(false, "index ", place, " is out of bounds for dimension ", dim, " with size ", size);
    }
  }
  Tensor scaled = alpha.equal(1) ? values : at::detail::to_dtype(at::mul(values, alpha), self.dtype());
  // Rows are added to rows: what lies crosswise is turned first, in whole cache lines.
  if (target.is_contiguous() && scaled.strides().back() > 1) scaled = at::detail::to_contiguous(scaled);
  if (self.is_cpu() && target.dim() == 1) {  // rows of one element, which are added up faster as such
    Tensor sums = target;
    native::scatter_add_(sums, 0, positions, scaled);
    return self;
  }
  const Tensor indexed = native::movedim(target, dim, 0);
  const Tensor added = native::movedim(scaled, dim, 0);
  // Halves are rounded after each sum, which takes vectors: what is added lies side by side in a copy.
  const bool turns = self.is_cpu() && c10::is_reduced_floating_type(self.dtype()) && indexed.strides()[0] == 1 &&
                     positions.numel() >= indexed.sizes()[0] / 4;
  const Tensor sums = turns ? at::detail::to_contiguous(indexed) : indexed;
  run_kernel(index_put_kernels, self.device(), sums, TensorList(positions),
             turns ? at::detail::to_contiguous(added) : added, /*accumulate=*/true);
  if (turns) at::detail::copy_into(indexed, sums);
  return self;
}

Tensor gather(const Tensor& self, int64_t dim, const Tensor& given_index, bool /*sparse_grad*/) {
  dim = wrap_dim(dim, self.dim());
  if (given_index.numel() > 0) check_index_dtype(given_index, "gather");
  const Tensor index = at::detail::to_dtype(given_index, kLong);
  check_same_device(self, index, "index", "gather");
  const Tensor out = at::detail::empty(index.sizes(), self.dtype(), self.device());
  if (index.numel() == 0) return out;
  TORCH_CHECK(std::max<int64_t>(self.dim(), 1) == std::max<int64_t>(index.dim(), 1),
              "Index tensor must have the same number of dimensions as input tensor");
  for (int64_t i = 0; i < index.dim() && self.dim() > 0; ++i) {
    TORCH_CHECK(i == dim || index.sizes()[i] <= self.sizes()[i], "Size does not match at dimension ", i,
                " expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
                " apart from dimension ", dim);
  }
  run_kernel(gather_kernels, self.device(), at_least_1d(out), at_least_1d(self), dim, at_least_1d(index));
  return out;
}

Tensor& scatter_src_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  dim = wrap_dim(dim, self.dim());
  check_scatter(self, dim, index, src, "scatter");
  assert_no_internal_overlap(self);
  assert_no_partial_overlap(self, src);
  assert_no_partial_overlap(self, index);
  if (index.numel() == 0) return self;
  run_kernel(scatter_kernels, self.device(), at_least_1d(self), dim, at_least_1d(at::detail::to_dtype(index, kLong)),
             at_least_1d(src));
  return self;
}

Tensor& scatter_value_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  const Tensor number = at::full({}, value, self.options());
  return native::scatter_src_(self, dim, index, native::expand(number, index.sizes(), true));
}

Tensor& scatter_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  dim = wrap_dim(dim, self.dim());
  check_scatter(self, dim, index, src, "scatter");
  assert_no_internal_overlap(self);
  assert_no_partial_overlap(self, src);
  assert_no_partial_overlap(self, index);
  if (index.numel() == 0) return self;
  const Tensor target = at_least_1d(self);
  const Tensor places = at_least_1d(at::detail::to_dtype(index, kLong));
  // Halves are converted faster all together than one by one, unless few of them are asked for.
  if (self.is_cpu() && index.numel() >= self.numel() / 4) {
    run_kernel_in_float32(scatter_add_kernels, self.device(), target, dim, places, at_least_1d(src));
  } else {
    run_kernel(scatter_add_kernels, self.device(), target, dim, places, at_least_1d(src));
  }
  return self;
}

// The functions beside the in-place ones: the same on a copy, which PyTorch makes contiguous for some of them.

Tensor scatter_src(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return at::clone(self, MemoryFormat::Contiguous).scatter_(dim, index, src);
}

Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return at::clone(self, MemoryFormat::Contiguous).scatter_(dim, index, value);
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return at::clone(self, MemoryFormat::Contiguous).scatter_add_(dim, index, src);
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  return at::clone(self, MemoryFormat::Contiguous).index_add_(dim, index, source, alpha);
}

Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  return at::clone(self).index_put_(indices, values, accumulate);
}

Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Scalar& value) {
  TORCH_CHECK(mask.dtype() == kBool, "masked_fill_ only supports boolean masks, but got mask with dtype ",
              cpp_type_name(mask.dtype()));
  const DimVector shape = broadcast_shapes(self.sizes(), mask.sizes());
  TORCH_CHECK(IntArrayRef(shape) == self.sizes(), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", IntArrayRef(shape));
  const Tensor expanded = native::expand(mask, shape, /*implicit=*/true);
  auto iter =
      TensorIterator(TensorIteratorConfig().output(self).fixed_input(expanded).leave_dtypes());
  iter.run(masked_fill_kernels, value);
  return self;
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  const DimVector shape = broadcast_shapes(self.sizes(), mask.sizes());
  Tensor result = at::detail::empty(shape, self.dtype(), self.device());
  at::detail::copy_into(result, self);
  return native::masked_fill_(result, mask, value);
}

Tensor masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value) {
  TORCH_CHECK(mask.dtype() == kBool, "masked_fill_ only supports boolean masks, but got mask with dtype ",
              cpp_type_name(mask.dtype()));
  TORCH_CHECK(value.dim() == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  return at::where(mask, value.to(self.device(), self.dtype()), self);
}

Tensor& masked_fill_tensor_(Tensor& self, const Tensor& mask, const Tensor& value) {
  return self.copy_(at::masked_fill(self, mask, value));
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(mask.dtype() == kBool, "masked_select: expected BoolTensor for mask");
  const DimVector shape = broadcast_shapes(self.sizes(), mask.sizes());
  if (shape.empty()) return at::index(at::unsqueeze(self, 0), {at::unsqueeze(mask, 0)});
  return at::index(self.expand(shape), {mask.expand(shape)});
}

Tensor nonzero(const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !self.is_meta(), "nonzero: the size of the result depends on values, and a tensor on Meta has none");
  Tensor out = at::detail::empty({0, self.dim()}, kLong, self.device());
  if (self.numel() > 0) run_kernel(nonzero_kernels, self.device(), out, self);
  return out;
}

std::vector<Tensor> where_nonzero(const Tensor& condition) {
  // A number is a vector of one, so that there is a dimension to give positions in.
  return at::unbind(at::nonzero(condition.dim() > 0 ? condition : at::unsqueeze(condition, 0)), 1);
}

Tensor take_along_dim(const Tensor& self, const Tensor& given_indices, std::optional<int64_t> given_dim) {
  if (!given_dim) return at::gather(at::reshape(self, {-1}), 0, at::reshape(given_indices, {-1}));
  int64_t dim = *given_dim;
  Tensor indices = given_indices;
  TORCH_CHECK(self.dim() == indices.dim(),
              "torch.take_along_dim(): input and indices should have the same number of dimensions, but got ",
              self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  TORCH_CHECK(indices.dtype() == kLong, "torch.take_along_dim(): dtype of indices should be Long but got ",
              indices.dtype());
  dim = wrap_dim(dim, self.dim());
  DimVector shape =
      broadcast_shapes(self.dim() == 0 ? self.sizes() : native::select(self, dim, 0).sizes(),
                       self.dim() == 0 ? indices.sizes() : native::select(indices, dim, 0).sizes());
  if (self.dim() == 0) return at::gather(self, dim, indices);
  DimVector self_shape(shape);
  self_shape.insert(dim, self.sizes()[dim]);
  DimVector index_shape(shape);
  index_shape.insert(dim, indices.sizes()[dim]);
  // Negative positions count from the end.
  indices = at::where(at::lt(indices, Scalar(0)), indices + self.sizes()[dim], indices);
  return at::gather(self.expand(self_shape), dim, indices.expand(index_shape));
}

Tensor& embedding_renorm_(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  TORCH_CHECK(self.dim() == 2, "embedding_renorm_: expected a 2-D table, but got ", self.dim(), " dimensions");
  TORCH_CHECK(indices.dtype() == kLong || indices.dtype() == kInt,
              "Expected tensor for argument #2 'indices' to have one of the ",
              "following scalar types: Long, Int; but got ", indices.dtype(), " instead");
  const c10::NoGradGuard no_gradient;
  const Tensor rows = std::get<0>(at::_unique2(at::reshape(indices, {-1})));
  const Tensor found = at::index_select(self, 0, rows);
  const Tensor norms = at::norm(found, std::optional<Scalar>(norm_type), {1}, /*keepdim=*/true);
  const Tensor scaled = at::mul(found, at::div(at::full_like(norms, Scalar(max_norm)), at::add(norms, Scalar(1e-7))));
  return self.index_copy_(0, at::detail::to_dtype(rows, kLong),
                          at::where(at::gt(norms, Scalar(max_norm)), scaled, found));
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq,
                 bool sparse) {
  TORCH_CHECK_NOT_IMPLEMENTED(!scale_grad_by_freq, "embedding: scale_grad_by_freq is not supported: leave it out");
  TORCH_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  TORCH_CHECK(indices.dtype() == kLong || indices.dtype() == kInt,
              "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
              "Int; but got torch.",
              indices.dtype(), "Tensor instead (while checking arguments for embedding)");
  if (sparse || (padding_idx >= 0 && is_differentiated(weight) && !is_dispatched())) {
    return at::_embedding(weight, indices, padding_idx, sparse);
  }
  Tensor result;
  if (indices.dim() == 1) {
    result = at::index_select(weight, 0, indices);
  } else {
    DimVector shape(indices.sizes());
    shape.push_back(weight.sizes()[1]);
    result = at::index_select(weight, 0, at::reshape(indices, {-1})).view(shape);
  }
  if (padding_idx < 0 || !is_differentiated(result)) return result;
  // The row of the padding gets no gradient.
  return at::where(at::eq(indices, Scalar(padding_idx)).unsqueeze(-1), result.detach(), result);
}

// What has a gradient of its own: a sparse one, or one without the row of the padding.
Tensor _embedding(const Tensor& weight, const Tensor& indices, int64_t /*padding_idx*/, bool /*sparse*/) {
  DimVector shape(indices.sizes());
  shape.push_back(weight.sizes()[1]);
  return at::index_select(weight, 0, at::reshape(indices, {-1})).view(shape);
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  TORCH_CHECK(self.dtype() == kLong, "one_hot is only applicable to index tensor of type LongTensor.");
  TORCH_CHECK(num_classes == -1 || num_classes > 0, "Class values must be smaller than num_classes.");
  TORCH_CHECK(self.numel() > 0 || num_classes != -1, "Can not infer total number of classes from empty tensor.");
  int64_t classes = num_classes;
  if (self.numel() > 0 && (classes == -1 || !self.is_meta())) {
    TORCH_CHECK(at::min(self).item<int64_t>() >= 0, "Class values must be non-negative.");
    const int64_t greatest = at::max(self).item<int64_t>();
    if (classes == -1) classes = greatest + 1;
    TORCH_CHECK(greatest < classes, "Class values must be smaller than num_classes.");
  }
  const Tensor places = self.unsqueeze(-1);
  if (!self.is_cpu()) return at::eq(places, at::arange(classes, self.options())).to(kLong);
  DimVector shape(places.sizes());
  shape.back() = classes;
  return at::zeros(shape, self.options()).scatter_(-1, places, Scalar(1));
}

}  // namespace at::native
