// Views: tensors that show another tensor's storage under another shape.

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Views.h>
#include <c10/core/Extents.h>

#include <algorithm>
#include <string>

namespace at::native {

DimVector infer_size(IntArrayRef shape, int64_t numel) {
  DimVector result(shape);
  int64_t known = 1;
  bool overflow = false;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      TORCH_CHECK(!inferred, "only one dimension can be inferred");
      inferred = i;
    } else {
      TORCH_CHECK(shape[i] >= 0, "invalid shape dimension ", shape[i], " at index ", i, " of shape ", shape);
      overflow |= __builtin_mul_overflow(known, shape[i], &known);
    }
  }
  const auto invalid = [&] {
    std::string text;
    for (const int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return c10::detail::concatenate("shape '[", text, "]' is invalid for input of size ", numel);
  };
  if (overflow) {
    // As many elements as these no tensor has; without any, the sizes alone are at fault.
    TORCH_CHECK(numel == 0, invalid());
    c10::checked_numel(shape);
  }
  if (inferred) {
    TORCH_CHECK(numel == 0 || known != 0, invalid());
    TORCH_CHECK(known != 0, "cannot reshape tensor of 0 elements into shape ", shape,
                " because the unspecified dimension size -1 can be any value and is ambiguous");
    TORCH_CHECK(numel % known == 0, invalid());
    result[*inferred] = numel / known;
  } else {
    TORCH_CHECK(known == numel, invalid());
  }
  return result;
}

std::optional<DimVector> compute_stride(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape) {
  if (sizes.empty()) return DimVector(shape.size(), 1);
  DimVector result(shape.size());
  const int64_t numel = product(sizes);
  if (numel == 0) {
    if (sizes == shape) return DimVector(strides);
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      result[i] = stride;
      stride *= std::max<int64_t>(shape[i], 1);
    }
    return result;
  }
  // From the last dimension, collect runs of old dimensions that lie in memory as one; each must be filled
  // exactly by some new dimensions.
  int64_t view_dim = static_cast<int64_t>(shape.size()) - 1;
  int64_t run_stride = strides.back();
  int64_t run_numel = 1;
  int64_t view_numel = 1;
  for (int64_t dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0; --dim) {
    run_numel *= sizes[dim];
    const bool run_ends = dim == 0 || (sizes[dim - 1] != 1 && strides[dim - 1] != run_numel * run_stride);
    if (!run_ends) continue;
    while (view_dim >= 0 && (view_numel < run_numel || shape[view_dim] == 1)) {
      result[view_dim] = view_numel * run_stride;
      view_numel *= shape[view_dim];
      --view_dim;
    }
    if (view_numel != run_numel) return std::nullopt;
    if (dim > 0) {
      run_stride = strides[dim - 1];
      run_numel = 1;
      view_numel = 1;
    }
  }
  if (view_dim != -1) return std::nullopt;
  return result;
}

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                  std::optional<int64_t> storage_offset) {
  TORCH_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape");
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  TORCH_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  for (const int64_t each : stride) {
    TORCH_CHECK(each >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  }
  const auto itemsize = static_cast<int64_t>(self.element_size());
  if (self.is_meta()) {
    c10::checked_storage_bytes(size, stride, itemsize, offset);
  } else {
    c10::check_within_storage(size, stride, itemsize, offset, self.storage().nbytes());
  }
  return alias_with_sizes_and_strides(self, size, stride, offset);
}

Tensor view(const Tensor& self, IntArrayRef size) {
  const DimVector shape = infer_size(size, self.numel());
  const auto strides = compute_stride(self.sizes(), self.strides(), shape);
  TORCH_CHECK(strides,
              "view size is not compatible with input tensor's size and stride (at least one dimension spans "
              "across two "
              "contiguous subspaces). Use .reshape(...) instead.");
  return alias_with_sizes_and_strides(self, shape, *strides);
}

Tensor _unsafe_view(const Tensor& self, IntArrayRef size) { return native::view(self, size); }

namespace {

// As PyTorch's messages name a tensor's type.
std::string type_name(const Tensor& tensor) {
  if (tensor.dtype() == kBool && tensor.is_cpu()) return "CPUBoolType";
  return std::string(tensor.is_cuda() ? "torch.cuda." : "torch.") + c10::to_string(tensor.dtype()) + "Tensor";
}

}  // namespace

Tensor expand(const Tensor& self, IntArrayRef size, bool /*implicit*/) {
  const int64_t dims = self.dim();
  const int64_t result_dims = static_cast<int64_t>(size.size());
  TORCH_CHECK(result_dims >= dims, "expand(", type_name(self), "{", self.sizes(), "}, size=", size,
              "): the number of sizes provided (", result_dims,
              ") must be greater or equal to the number of dimensions in the tensor (", dims, ")");
  DimVector sizes(result_dims);
  DimVector strides(result_dims);
  for (int64_t i = result_dims - 1; i >= 0; --i) {
    const int64_t dim = i - (result_dims - dims);
    const int64_t own_size = dim >= 0 ? self.sizes()[dim] : 1;
    // New dimensions of size 1 lie as if the tensor were contiguous, those of a single number nowhere: as in PyTorch.
    int64_t stride = dims == 0 ? 0 : dim >= 0 ? self.strides()[dim] : sizes[i + 1] * strides[i + 1];
    int64_t target = size[i];
    if (target == -1) {
      TORCH_CHECK(dim >= 0, "The expanded size of the tensor (", target,
                  ") isn't allowed in a leading, non-existing dimension ", i);
      target = own_size;
    }
    TORCH_CHECK(target >= 0, "The expanded size of the tensor (", target,
                ") must be non-negative in dimension ", i);
    if (own_size != target) {
      TORCH_CHECK(own_size == 1, "The expanded size of the tensor (", target,
                  ") must match the existing size (", own_size, ") at non-singleton dimension ", i,
                  ".  Target sizes: ", size, ".  Tensor sizes: ", self.sizes());
      stride = 0;
    }
    sizes[i] = target;
    strides[i] = stride;
  }
  return alias_with_sizes_and_strides(self, sizes, strides);
}

Tensor permute(const Tensor& self, IntArrayRef dims) {
  TORCH_CHECK(static_cast<int64_t>(dims.size()) == self.dim(),
              "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
              "the desired ordering of "
              "dimensions i.e. input.dim() = ",
              self.dim(), " is not equal to len(dims) = ", dims.size());
  DimVector sizes;
  DimVector strides;
  DimMask seen;
  for (const int64_t given : dims) {
    const int64_t dim = wrap_dim(given, self.dim());
    TORCH_CHECK(!seen[dim], "permute(): duplicate dims are not allowed.");
    seen.set(dim);
    sizes.push_back(self.sizes()[dim]);
    strides.push_back(self.strides()[dim]);
  }
  return alias_with_sizes_and_strides(self, sizes, strides);
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = wrap_dim(dim0, self.dim());
  dim1 = wrap_dim(dim1, self.dim());
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  if (dim0 != dim1) {
    std::swap(sizes[dim0], sizes[dim1]);
    std::swap(strides[dim0], strides[dim1]);
  }
  return alias_with_sizes_and_strides(self, sizes, strides);
}

Tensor t(const Tensor& self) {
  TORCH_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return native::transpose(self, 0, self.dim() < 2 ? 0 : 1);
}

Tensor squeeze(const Tensor& self) {
  DimVector sizes;
  DimVector strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (self.sizes()[i] == 1) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  return alias_with_sizes_and_strides(self, sizes, strides);
}

Tensor squeeze_dim(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  if (self.dim() > 0 && sizes[dim] == 1) {
    sizes.erase(dim);
    strides.erase(dim);
  }
  return alias_with_sizes_and_strides(self, sizes, strides);
}

Tensor alias(const Tensor& self) { return alias_with_sizes_and_strides(self, self.sizes(), self.strides()); }

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim() + 1);
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  const int64_t stride = dim < self.dim() ? sizes[dim] * strides[dim] : 1;
  sizes.insert(dim, 1);
  strides.insert(dim, stride);
  return alias_with_sizes_and_strides(self, sizes, strides);
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  TORCH_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[dim];
  TORCH_CHECK_INDEX(index >= -size && index < size, "select(): index ", index,
                    " out of range for tensor of size ", self.sizes(), " at dimension ", dim);
  if (index < 0) index += size;
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  const int64_t offset = self.storage_offset() + index * strides[dim];
  sizes.erase(dim);
  strides.erase(dim);
  return alias_with_sizes_and_strides(self, sizes, strides, offset);
}

// The stride of every `step`th element. A step so large that this wraps leaves one element at most, and the
// stride unused.
static int64_t stepped(int64_t stride, int64_t step) {
  return static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(step));
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
             int64_t step) {
  TORCH_CHECK_INDEX(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK(step > 0, "slice step must be positive");
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  const int64_t size = sizes[dim];
  const auto clip = [size](int64_t position, int64_t lowest) {
    if (position < 0) position += size;
    return std::min(std::max(position, lowest), size);
  };
  const int64_t first = clip(start.value_or(0), 0);
  const int64_t last = clip(end.value_or(size), first);
  sizes[dim] =
      (last - first) / step + ((last - first) % step != 0);  // no sum that could overflow with a huge step
  const int64_t offset = self.storage_offset() + first * strides[dim];
  strides[dim] = stepped(strides[dim], step);
  return alias_with_sizes_and_strides(self, sizes, strides, offset);
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t first = wrap_dim(dim1, self.dim());
  const int64_t second = wrap_dim(dim2, self.dim());
  TORCH_CHECK(first != second, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t rows = self.sizes()[first];
  const int64_t columns = self.sizes()[second];
  // An offset beyond the matrix is as good as one at its edge, and can be added.
  offset = std::clamp(offset, -rows, columns);
  const int64_t length = offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns);
  int64_t storage_offset = self.storage_offset();
  if (length > 0) {
    storage_offset += offset >= 0 ? offset * self.strides()[second] : -offset * self.strides()[first];
  }
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  const int64_t stride = strides[first] + strides[second];
  for (const int64_t dim : {std::max(first, second), std::min(first, second)}) {
    sizes.erase(dim);
    strides.erase(dim);
  }
  sizes.push_back(length);
  strides.push_back(stride);
  return alias_with_sizes_and_strides(self, sizes, strides, storage_offset);
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t dim = wrap_dim(dimension, self.dim());
  const int64_t own_size = self.dim() == 0 ? 1 : self.sizes()[dim];
  TORCH_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  TORCH_CHECK(size <= own_size, "maximum size for tensor at dimension ", dim, " is ", own_size,
              " but size is ", size);
  TORCH_CHECK(step > 0, "step is ", step, " but must be > 0");
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  sizes.push_back(size);
  strides.push_back(self.dim() == 0 ? 1 : strides[dim]);
  if (self.dim() > 0) {
    sizes[dim] = (own_size - size) / step + 1;
    strides[dim] = stepped(strides[dim], step);
  }
  return alias_with_sizes_and_strides(self, sizes, strides);
}

}  // namespace at::native
