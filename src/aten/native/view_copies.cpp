// Views as tensors of their own, and copies of a tensor with something written through a view.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Views.h>

#include <algorithm>

namespace at::native {

namespace {

Tensor dense_copy(const Tensor& view) { return at::clone(view).contiguous(); }

std::vector<Tensor> dense_copies(const std::vector<Tensor>& views) {
  std::vector<Tensor> result;
  result.reserve(views.size());
  for (const Tensor& view : views) result.push_back(dense_copy(view));
  return result;
}

// What is written through a view has to have its shape: nothing is broadcast.
void check_same_shape(const Tensor& view, const Tensor& src, const char* name) {
  TORCH_CHECK(view.sizes() == src.sizes(), name,
              ": expected src to have a size equal to the slice of self. src size = ", src.sizes(),
              ", slice size = ", view.sizes());
}

}  // namespace

Tensor alias_copy(const Tensor& self) { return dense_copy(self); }
Tensor as_strided_copy(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                       std::optional<int64_t> storage_offset) {
  return dense_copy(at::as_strided(self, size, stride, storage_offset));
}
Tensor diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return dense_copy(at::diagonal(self, offset, dim1, dim2));
}
Tensor expand_copy(const Tensor& self, IntArrayRef size, bool implicit) {
  return dense_copy(self.expand(size, implicit));
}
Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return dense_copy(at::narrow(self, dim, start, length));
}
Tensor permute_copy(const Tensor& self, IntArrayRef dims) { return dense_copy(at::permute(self, dims)); }
Tensor detach_copy(const Tensor& self) { return dense_copy(at::detach(self)); }
Tensor select_copy(const Tensor& self, int64_t dim, int64_t index) { return dense_copy(at::select(self, dim, index)); }
Tensor slice_copy(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                  int64_t step) {
  return dense_copy(at::slice(self, dim, start, end, step));
}
std::vector<Tensor> split_copy(const Tensor& self, int64_t split_size, int64_t dim) {
  return dense_copies(at::split(self, split_size, dim));
}
Tensor view_as_complex_copy(const Tensor& self) { return dense_copy(at::view_as_complex(self)); }
Tensor view_as_real_copy(const Tensor& self) { return dense_copy(at::view_as_real(self)); }
std::vector<Tensor> split_with_sizes_copy(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return dense_copies(at::split_with_sizes(self, split_sizes, dim));
}
Tensor squeeze_copy(const Tensor& self) { return dense_copy(at::squeeze(self)); }
Tensor squeeze_copy_dim(const Tensor& self, int64_t dim) { return dense_copy(at::squeeze(self, dim)); }
Tensor t_copy(const Tensor& self) { return dense_copy(at::t(self)); }
Tensor transpose_copy(const Tensor& self, int64_t dim0, int64_t dim1) {
  return dense_copy(at::transpose(self, dim0, dim1));
}
std::vector<Tensor> unbind_copy(const Tensor& self, int64_t dim) { return dense_copies(at::unbind(self, dim)); }
Tensor unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return dense_copy(self.unfold(dimension, size, step));
}
Tensor unsqueeze_copy(const Tensor& self, int64_t dim) { return dense_copy(at::unsqueeze(self, dim)); }
Tensor view_copy(const Tensor& self, IntArrayRef size) { return dense_copy(self.view(size)); }

// ---------------------------------------------------------------------------------------------- writing through a view

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                          std::optional<int64_t> storage_offset) {
  Tensor result = at::clone(self);
  Tensor view = at::as_strided(result, size, stride, storage_offset);
  check_same_shape(view, src, "as_strided_scatter");
  view.copy_(src);
  return result;
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor result = at::clone(self);
  Tensor view = at::diagonal(result, offset, dim1, dim2);
  check_same_shape(view, src, "diagonal_scatter");
  view.copy_(src);
  return result;
}

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  Tensor result = at::clone(self);
  Tensor view = at::select(result, dim, index);
  check_same_shape(view, src, "select_scatter");
  view.copy_(src);
  return result;
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                     std::optional<int64_t> end, int64_t step) {
  Tensor result = at::clone(self);
  Tensor view = at::slice(result, dim, start, end, step);
  check_same_shape(view, src, "slice_scatter");
  view.copy_(src);
  return result;
}

// The tensor that `self` is a slice of: a view of the memory of `self` in the shape of `src`.
Tensor slice_inverse(const Tensor& self, const Tensor& src, [[maybe_unused]] int64_t dim,
                     [[maybe_unused]] std::optional<int64_t> start, [[maybe_unused]] std::optional<int64_t> end,
                     [[maybe_unused]] int64_t step) {
  TORCH_CHECK(self.dtype() == src.dtype(), "slice_inverse: expected self and src to have one dtype, but got ",
              self.dtype(), " and ", src.dtype());
  return at::as_strided(self, src.sizes(), src.strides(), src.storage_offset());
}

// ---------------------------------------------------------------------------------------------- splitting

namespace {

// What may be written in place, each by itself: for autograd, no views.
std::vector<Tensor> forget_bases(std::vector<Tensor> parts) {
  for (Tensor& part : parts) part = forget_base(std::move(part));
  return parts;
}

}  // namespace

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  return forget_bases(at::chunk(self, chunks, dim));
}
std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  return forget_bases(at::split(self, split_size, dim));
}
std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return forget_bases(at::split_with_sizes(self, split_sizes, dim));
}

std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ",
              self.dim(), " dims");
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  const int64_t size = self.sizes()[dim];
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    // The first ones get what the division leaves.
    const int64_t length = size / sections + (i < size % sections ? 1 : 0);
    parts.push_back(at::slice(self, dim, start, start + length));
    start += length;
  }
  return parts;
}

std::vector<Tensor> tensor_split_indices(const Tensor& self, IntArrayRef indices, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ",
              self.dim(), " dims");
  dim = wrap_dim(dim, self.dim());
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t end : indices) {
    parts.push_back(at::slice(self, dim, start, end));
    start = end;
  }
  parts.push_back(at::slice(self, dim, start, self.sizes()[dim]));
  return parts;
}

std::vector<Tensor> tensor_split_tensor(const Tensor& self, const Tensor& tensor_indices_or_sections, int64_t dim) {
  const Tensor& given = tensor_indices_or_sections;
  TORCH_CHECK(given.is_cpu(), "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on ",
              given.device());
  TORCH_CHECK(given.dtype() == kLong,
              "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ", given.dtype());
  TORCH_CHECK(given.dim() <= 1, "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                                "one-dimensional tensor, but got a tensor with ", given.dim(), " dims");
  if (given.dim() == 0) return native::tensor_split(self, given.item<int64_t>(), dim);
  const Tensor dense = at::detail::to_contiguous(given);
  return native::tensor_split_indices(self, IntArrayRef(dense.data_ptr<int64_t>(), dense.numel()), dim);
}

namespace {

// Refuses what numpy's hsplit and its like refuse.
void check_split(const Tensor& self, int64_t least, int64_t dim, int64_t sections, const char* name) {
  TORCH_CHECK(self.dim() >= least, "torch.", name, " requires a tensor with at least ", least, " dimension",
              least > 1 ? "s" : "", ", but got a tensor with ", self.dim(), " dimensions!");
  TORCH_CHECK(sections != 0 && self.sizes()[dim] % sections == 0, "torch.", name,
              " attempted to split along dimension ", dim, ", but the size of the dimension ", self.sizes()[dim],
              " is not divisible by the split_size ", sections, "!");
}

}  // namespace

std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  const int64_t dim = self.dim() == 1 ? 0 : 1;
  check_split(self, 1, dim, sections, "hsplit");
  return at::tensor_split(self, sections, dim);
}
std::vector<Tensor> hsplit_indices(const Tensor& self, IntArrayRef indices) {
  check_split(self, 1, self.dim() == 1 ? 0 : 1, 1, "hsplit");
  return at::tensor_split(self, indices, self.dim() == 1 ? 0 : 1);
}
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  check_split(self, 2, 0, sections, "vsplit");
  return at::tensor_split(self, sections, 0);
}
std::vector<Tensor> vsplit_indices(const Tensor& self, IntArrayRef indices) {
  check_split(self, 2, 0, 1, "vsplit");
  return at::tensor_split(self, indices, 0);
}
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  check_split(self, 3, 2, sections, "dsplit");
  return at::tensor_split(self, sections, 2);
}
std::vector<Tensor> dsplit_indices(const Tensor& self, IntArrayRef indices) {
  check_split(self, 3, 2, 1, "dsplit");
  return at::tensor_split(self, indices, 2);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  TORCH_CHECK(self.dim() > 0, "unflatten: the tensor has no dimension to unflatten");
  DimVector shape(self.sizes().slice(0, dim));
  int64_t known = 1;
  bool infers = false;
  for (const int64_t size : sizes) {
    infers |= size == -1;
    known *= size == -1 ? 1 : size;
  }
  const int64_t whole = self.sizes()[dim];
  TORCH_CHECK(infers ? known != 0 && whole % known == 0 : known == whole, "unflatten: Provided sizes ", sizes,
              " don't multiply up to the size of dim ", dim, " (", whole, ") in the input tensor");
  for (const int64_t size : sizes) shape.push_back(size == -1 ? whole / known : size);
  for (int64_t i = dim + 1; i < self.dim(); ++i) shape.push_back(self.sizes()[i]);
  return at::reshape(self, shape);
}

Tensor squeeze_dims(const Tensor& self, IntArrayRef dim) {
  const DimMask mask = dim.empty() ? DimMask() : dim_mask(dim, std::max<int64_t>(self.dim(), 1));
  DimVector shape;
  DimVector strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (mask[i] && self.sizes()[i] == 1) continue;
    shape.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  return at::as_strided(self, shape, strides, self.storage_offset());
}

// ------------------------------------------------------------------------------------------- tensors that become views

Tensor& squeeze_(Tensor& self) { return become_view(self, at::squeeze(self)); }
Tensor& squeeze_dim_(Tensor& self, int64_t dim) { return become_view(self, at::squeeze(self, dim)); }
Tensor& squeeze_dims_(Tensor& self, IntArrayRef dim) { return become_view(self, at::squeeze(self, dim)); }
Tensor& unsqueeze_(Tensor& self, int64_t dim) { return become_view(self, at::unsqueeze(self, dim)); }
Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) { return at::transpose(self, axis0, axis1); }
Tensor& transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  return become_view(self, at::transpose(self, dim0, dim1));
}
Tensor& swapdims_(Tensor& self, int64_t dim0, int64_t dim1) { return native::transpose_(self, dim0, dim1); }
Tensor& swapaxes_(Tensor& self, int64_t axis0, int64_t axis1) { return native::transpose_(self, axis0, axis1); }
Tensor& t_(Tensor& self) { return become_view(self, at::t(self)); }
Tensor& as_strided_(Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  return become_view(self, at::as_strided(self, size, stride, storage_offset));
}

Tensor& fill_diagonal_(Tensor& self, const Scalar& fill_value, bool wrap) {
  const int64_t dims = self.dim();
  TORCH_CHECK(dims >= 2, "dimensions must larger than 1");
  const int64_t rows = self.sizes()[0];
  const int64_t columns = self.sizes()[1];
  if (dims > 2) {
    for (const int64_t size : self.sizes())
      TORCH_CHECK(size == rows, "all dimensions of input must be of equal length");
  }
  int64_t step = 0;
  for (const int64_t stride : self.strides()) step += stride;
  const int64_t length = dims == 2 ? std::min(rows, columns) : rows;
  at::as_strided(self, {length}, {step}, self.storage_offset()).fill_(fill_value);
  if (!wrap || dims > 2) return self;
  // Below a whole square and one row that is left out, another diagonal begins.
  for (int64_t first = columns + 1; first < rows; first += columns + 1) {
    const int64_t count = std::min(rows - first, columns);
    at::as_strided(self, {count}, {step}, self.storage_offset() + first * self.strides()[0]).fill_(fill_value);
  }
  return self;
}

Tensor& resize_(Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(!self.requires_grad(), "cannot resize variables that require grad");
  TORCH_CHECK(memory_format != MemoryFormat::Preserve, "Unsupported memory format ", "preserve_format");
  // A wish that such sizes cannot have is refused before anything is changed.
  const DimVector strides = c10::strides_in(memory_format.value_or(MemoryFormat::Contiguous), size);
  at::detail::resize(self, size);
  if (memory_format) self.impl()->set_sizes_and_strides(size, strides, self.storage_offset());
  return self;
}
Tensor& resize_as_(Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format) {
  if (memory_format == MemoryFormat::Preserve) memory_format = the_template.suggest_memory_format();
  return native::resize_(self, the_template.sizes(), memory_format);
}

Tensor fill_scalar(const Tensor& self, const Scalar& value) { return at::clone(self).fill_(value); }
Tensor fill_tensor(const Tensor& self, const Tensor& value) { return at::clone(self).fill_(value); }

Tensor new_empty_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  return at::empty_strided(size, stride, options.dtype(options.dtype_opt.value_or(self.dtype()))
                                             .device(options.device_opt.value_or(self.device())));
}

}  // namespace at::native
