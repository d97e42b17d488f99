// Shapes made from the views: reshape and its relatives, splitting, joining, repeating.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/JoinedPieces.h>
#include <c10/core/Extents.h>

namespace at::native {

Tensor view_as(const Tensor& self, const Tensor& other) { return self.view(other.sizes()); }

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  const DimVector size = infer_size(shape, self.numel());
  if (compute_stride(self.sizes(), self.strides(), size)) return self.view(size);
  return forget_base(self.contiguous().view(size));
}

Tensor reshape_as(const Tensor& self, const Tensor& other) { return at::reshape(self, other.sizes()); }

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t start = wrap_dim(start_dim, self.dim());
  const int64_t end = wrap_dim(end_dim, self.dim());
  TORCH_CHECK(start <= end, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return at::reshape(self, {1});
  if (start == end) return self;
  DimVector shape(self.sizes().slice(0, start));
  shape.push_back(product(self.sizes().slice(start, end - start + 1)));
  for (int64_t i = end + 1; i < self.dim(); ++i) shape.push_back(self.sizes()[i]);
  return at::reshape(self, shape);
}

Tensor ravel(const Tensor& self) { return self.contiguous().view({self.numel()}); }

Tensor expand_as(const Tensor& self, const Tensor& other) { return self.expand(other.sizes()); }

Tensor broadcast_to(const Tensor& self, IntArrayRef size) { return self.expand(size); }

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  DimVector shape;
  for (const Tensor& tensor : tensors) shape = broadcast_shapes(shape, tensor.sizes());
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) result.push_back(tensor.expand(shape));
  return result;
}

Tensor sum_to_size(const Tensor& self, IntArrayRef size) {
  const int64_t leading = self.dim() - static_cast<int64_t>(size.size());
  bool fits = leading >= 0;
  DimVector reduced;
  for (int64_t i = 0; fits && i < self.dim(); ++i) {
    if (i < leading) {
      reduced.push_back(i);
    } else if (size[i - leading] != self.sizes()[i]) {
      fits = size[i - leading] == 1;
      reduced.push_back(i);
    }
  }
  TORCH_CHECK(fits, "size {", size, "} is not expandable to size {", self.sizes(), "}.");
  if (size.empty()) return at::sum(self);
  if (reduced.empty()) return self;
  return at::sum(self, IntArrayRef(reduced), /*keepdim=*/true).view(size);
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TORCH_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  TORCH_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t size = self.size(dim);
  TORCH_CHECK_INDEX(start >= -size && start <= size, "start out of range (expected to be in range of [",
                    -size, ", ", size, "], but got ", start, ")");
  if (start < 0) start += size;
  TORCH_CHECK(start <= size - length, "start (", start, ") + length (", length, ") exceeds dimension size (",
              size, ").");
  return at::slice(self, dim, start, start + length, 1);
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  std::vector<Tensor> result;
  result.reserve(self.sizes()[dim]);
  for (int64_t i = 0; i < self.sizes()[dim]; ++i) result.push_back(at::select(self, dim, i));
  return result;
}

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  TORCH_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  TORCH_CHECK(split_size >= 0, "split expects split_size be non-negative, but got split_size=", split_size);
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[dim];
  TORCH_CHECK(split_size > 0 || size == 0,
              "split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
  if (size == 0)
    return {at::narrow(self, dim, 0, 0)};  // one empty part, as for any size that is smaller than a part
  std::vector<Tensor> result;
  split_size = std::min(split_size, size);  // so that `start` cannot overflow
  for (int64_t start = 0; start < size; start += split_size) {
    result.push_back(at::narrow(self, dim, start, std::min(split_size, size - start)));
  }
  return result;
}

std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  TORCH_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  dim = wrap_dim(dim, self.dim());
  int64_t total = 0;
  for (const int64_t length : split_sizes) {
    TORCH_CHECK(length >= 0,
                "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=",
                split_sizes);
    total = c10::checked_add(total, length, "split_with_sizes");
  }
  TORCH_CHECK(total == self.sizes()[dim], "split_with_sizes expects split_sizes to sum exactly to ",
              self.sizes()[dim], " (input tensor's size at dimension ", dim,
              "), but got split_sizes=", split_sizes);
  std::vector<Tensor> result;
  result.reserve(split_sizes.size());
  int64_t start = 0;
  for (const int64_t length : split_sizes) {
    result.push_back(at::narrow(self, dim, start, length));
    start += length;
  }
  return result;
}

std::vector<Tensor> split_sizes(const Tensor& self, IntArrayRef split_size, int64_t dim) {
  return at::split_with_sizes(self, split_size, dim);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TORCH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[dim];
  const int64_t split_size = size / chunks + (size % chunks != 0);
  if (size == 0)
    return at::split_with_sizes(self, std::vector<int64_t>(chunks, 0), dim);  // as many empty parts as were asked for
  return at::split(self, split_size, dim);
}

namespace {

// One-dimensional tensors without elements may stand in any list to be joined; they add nothing.
bool is_skipped_in_cat(const Tensor& tensor) { return tensor.dim() == 1 && tensor.sizes()[0] == 0; }

// Where all tensors lie in order, as the result does: writes it from its beginning to its end, a row of each tensor at
// a time. False if they do not, or are one row each, which threads copy better in parts.
bool join_rows(TensorList tensors, const Tensor& result, int64_t dim, MemoryFormat format) {
  constexpr int64_t kMost = 64 << 10;  // bytes that are not worth a thread
  if (!result.is_cpu() || result.numel() == 0) return false;
  int64_t rows = 1;
  for (int64_t i = 0; i < result.dim(); ++i) {
    if (result.strides()[i] > result.strides()[dim]) rows *= result.sizes()[i];
  }
  const auto unit = static_cast<int64_t>(c10::element_size(result.dtype()));
  const int64_t whole = result.numel() / rows * unit;
  if (rows == 1 && whole > kMost) return false;
  std::vector<cpu::JoinedPieces> pieces;
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;
    if (tensor.dtype() != result.dtype() || !tensor.is_contiguous(format)) return false;
    pieces.push_back({static_cast<const char*>(tensor.data_ptr()), tensor.numel() / rows * unit});
  }
  cpu::join_pieces(static_cast<char*>(result.data_ptr()), pieces, rows);
  return true;
}

// Plain numbers and 0-dim tensors have less say in the result's type than others have, but cat takes none of
// either.
ScalarType common_dtype(TensorList tensors) {
  ScalarType result = tensors[0].dtype();
  for (const Tensor& tensor : tensors) result = c10::promote_types(result, tensor.dtype());
  return result;
}

}  // namespace

Tensor cat(TensorList tensors, int64_t dim) {
  TORCH_CHECK_VALUE(!tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  const Tensor* first = nullptr;
  size_t first_position = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position ", i, ") cannot be concatenated");
    check_same_device(tensors[0], tensors[i], "tensors", "cat");
    if (!first && !is_skipped_in_cat(tensors[i])) {
      first = &tensors[i];
      first_position = i;
    }
  }
  const TensorOptions options = tensors[0].options().dtype(common_dtype(tensors));
  if (!first) return at::detail::empty({0}, options);
  dim = wrap_dim(dim, first->dim());
  DimVector shape(first->sizes());
  shape[dim] = 0;
  for (size_t i = first_position; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (is_skipped_in_cat(tensor)) continue;
    TORCH_CHECK(tensor.dim() == first->dim(), "Tensors must have same number of dimensions: got ",
                first->dim(), " and ", tensor.dim());
    for (int64_t j = 0; j < tensor.dim(); ++j) {
      TORCH_CHECK(j == dim || tensor.sizes()[j] == shape[j],
                  "Sizes of tensors must match except in dimension ", dim, ". Expected size ", shape[j],
                  " but got size ", tensor.sizes()[j], " for tensor number ", i, " in the list.");
    }
    shape[dim] = c10::checked_add(shape[dim], tensor.sizes()[dim], "cat");
  }
  // What all agree on, or row-major.
  MemoryFormat format = first->suggest_memory_format();
  for (const Tensor& tensor : tensors) {
    if (!is_skipped_in_cat(tensor) && tensor.suggest_memory_format() != format) format = MemoryFormat::Contiguous;
  }
  const Tensor result = at::detail::empty(shape, options, format);
  if (join_rows(tensors, result, dim, format)) return result;
  int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (is_skipped_in_cat(tensor)) continue;
    const int64_t length = tensor.sizes()[dim];
    if (tensor.numel() > 0) {
      DimVector part(shape);
      part[dim] = length;
      at::detail::copy_into(
          alias_with_sizes_and_strides(result, part, result.strides(), start * result.strides()[dim]),
          tensor);
    }
    start += length;
  }
  return result;
}

Tensor stack(TensorList tensors, int64_t dim) {
  TORCH_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  dim = wrap_dim(dim, tensors[0].dim() + 1);
  const IntArrayRef sizes = tensors[0].sizes();
  std::vector<Tensor> parts;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(tensors[i].sizes() == sizes, "stack expects each tensor to be equal size, but got ", sizes,
                " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  }
  if (tensors[0].layout() == c10::kStrided && dim < tensors[0].dim()) {
    // Joined as what they are, images perhaps, whose layout the result keeps, and then told apart.
    DimVector shape(sizes);
    shape.insert(dim, static_cast<int64_t>(tensors.size()));
    return forget_base(at::cat(tensors, dim).view(shape));
  }
  parts.reserve(tensors.size());
  for (const Tensor& tensor : tensors) parts.push_back(at::unsqueeze(tensor, dim));
  return at::cat(parts, dim);
}

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  const int64_t dims = static_cast<int64_t>(repeats.size());
  TORCH_CHECK(dims >= self.dim(),
              "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  // [a, b] repeated (r, s) is [1, a, 1, b] expanded to [r, a, s, b] and folded.
  DimVector unfolded;
  DimVector expanded;
  DimVector folded;
  for (int64_t i = 0; i < dims; ++i) {
    const int64_t dim = i - (dims - self.dim());
    const int64_t size = dim >= 0 ? self.sizes()[dim] : 1;
    const int64_t repeated = c10::checked_multiply(repeats[i], size, "repeat");
    TORCH_CHECK(repeats[i] >= 0, "Trying to create tensor with negative dimension ", repeated);
    unfolded.push_back(1);
    unfolded.push_back(size);
    expanded.push_back(repeats[i]);
    expanded.push_back(size);
    folded.push_back(repeated);
  }
  c10::checked_storage_bytes(folded, DimVector(folded.size(), 0), static_cast<int64_t>(self.element_size()));
  const Tensor result = at::reshape(at::reshape(self, unfolded).expand(expanded), folded);
  // Nothing was copied if every count is 1; a repeat is never a view.
  return result.is_alias_of(self) ? at::clone(result, MemoryFormat::Contiguous) : result.contiguous();
}

Tensor flip(const Tensor& self, IntArrayRef dims) {
  if (dims.empty()) return at::clone(self);
  const DimMask flipped = dim_mask(dims, self.dim());
  if (!self.is_cuda()) {
    // A view that is read backwards. Negative strides never leave this function: a copy takes its place.
    DimVector strides(self.strides());
    int64_t offset = self.storage_offset();
    for (int64_t dim = 0; dim < self.dim(); ++dim) {
      if (!flipped[dim] || self.numel() == 0) continue;
      offset += (self.sizes()[dim] - 1) * strides[dim];
      strides[dim] = -strides[dim];
    }
    const Tensor result = native::empty_like(self, {}, MemoryFormat::Preserve);
    at::detail::copy_into(result, alias_with_sizes_and_strides(self, self.sizes(), strides, offset));
    return result;
  }
  Tensor result = self;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    const int64_t size = self.sizes()[dim];
    if (!flipped[dim] || size <= 1) continue;
    const Tensor backwards = at::rsub(at::arange(size, TensorOptions(kLong).device(self.device())), size - 1);
    result = at::index_select(result, dim, backwards);
  }
  return result.is_same(self) ? at::clone(self) : result;
}

Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  TORCH_CHECK(source.size() == destination.size(), "movedim: Invalid source or destination dims: source (", source,
              " dims) should contain the same number of dims as destination (", destination, " dims)");
  DimVector order(self.dim(), -1);
  std::vector<bool> moved(self.dim(), false);
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = wrap_dim(source[i], self.dim());
    const int64_t to = wrap_dim(destination[i], self.dim());
    if (self.dim() == 0) continue;
    TORCH_CHECK(!moved[from], "movedim: repeated dim in `source` (", source, ")");
    TORCH_CHECK(order[to] == -1, "movedim: repeated dim in `destination` (", destination, ")");
    moved[from] = true;
    order[to] = from;
  }
  int64_t next = 0;  // those that were not named keep their order in the places left
  for (int64_t& dim : order) {
    if (dim != -1) continue;
    while (moved[next]) ++next;
    dim = next++;
  }
  return at::permute(self, order);
}

Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  source = wrap_dim(source, self.dim());
  destination = wrap_dim(destination, self.dim());
  if (self.dim() == 0) return self;
  DimVector order;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (dim != source) order.push_back(dim);
  }
  order.insert(destination, source);
  return at::permute(self, order);
}

}  // namespace at::native
