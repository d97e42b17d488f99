// Gradients of operators that only arrange elements: views, parts, and what they are put together from.

#include <torch/csrc/autograd/FunctionsManual.h>

#include <aten/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace torch::autograd {

int64_t storage_extent(IntArrayRef sizes, IntArrayRef strides) {
  int64_t last = 0;
  for (size_t index = 0; index < sizes.size(); ++index) {
    if (sizes[index] == 0) return 0;
    last += (sizes[index] - 1) * strides[index];
  }
  return last + 1;
}

namespace {

// Whether two positions of the shape may be one element: true only if there is no order in which strides grow
// past what the dimensions inside them span.
bool may_overlap(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<std::pair<int64_t, int64_t>> dimensions;
  for (size_t index = 0; index < sizes.size(); ++index) {
    if (sizes[index] > 1) dimensions.emplace_back(strides[index], sizes[index]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : dimensions) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

}  // namespace

Tensor as_strided_backward(const Tensor& grad, IntArrayRef self_sizes, IntArrayRef self_strides,
                           int64_t self_offset, IntArrayRef size, IntArrayRef stride,
                           std::optional<int64_t> storage_offset) {
  if (grad.numel() == 0) return at::zeros(self_sizes, grad.options());
  // The gradient of the storage: what the result touched receives its gradient, added up where it touched
  // twice.
  const int64_t offset = storage_offset.value_or(self_offset);
  const int64_t first = std::min(offset, self_offset);
  const int64_t extent = std::max(offset + storage_extent(size, stride),
                                  self_offset + storage_extent(self_sizes, self_strides)) -
                         first;
  Tensor flat = zeros_beside(grad, {extent});
  const auto positions = [&](IntArrayRef sizes, IntArrayRef strides, int64_t from) {
    return at::arange(extent, grad.options().dtype(at::kLong))
        .as_strided(sizes, strides, from - first)
        .reshape({-1});
  };
  if (may_overlap(size, stride)) {
    flat.index_add_(0, positions(size, stride, offset), grad.reshape({-1}));
  } else {
    flat.as_strided(size, stride, offset - first).copy_(grad);
  }
  // An element that the input shows several times shares what its memory received.
  if (may_overlap(self_sizes, self_strides)) {
    const Tensor places = positions(self_sizes, self_strides, self_offset);
    Tensor count = at::zeros({extent}, grad.options());
    count.index_add_(0, places, at::ones({places.numel()}, grad.options()));
    flat = flat / count;
  }
  return flat.as_strided(self_sizes, self_strides, self_offset - first);
}

Tensor permute_backward(const Tensor& grad, IntArrayRef dims) {
  std::vector<int64_t> inverse(dims.size());
  for (size_t index = 0; index < dims.size(); ++index)
    inverse[wrap_dim(dims[index], dims.size())] = static_cast<int64_t>(index);
  return grad.permute(inverse);
}

Tensor select_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, int64_t index) {
  Tensor result = zeros_beside(grad, sizes);
  result.select(dim, index).copy_(grad);
  return result;
}

Tensor slice_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step) {
  Tensor result = zeros_beside(grad, sizes);
  result.slice(dim, start, end, step).copy_(grad);
  return result;
}

Tensor diagonal_backward(const Tensor& grad, IntArrayRef sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor result = zeros_beside(grad, sizes);
  result.diagonal(offset, dim1, dim2).copy_(grad);
  return result;
}

Tensor unfold_backward(const Tensor& grad, IntArrayRef sizes, int64_t dimension, int64_t size, int64_t step) {
  // grad: the input's shape with windows in `dimension`, and their elements in a last one.
  Tensor result = zeros_beside(grad, sizes);
  if (sizes.empty()) return grad.reshape({});
  const int64_t dim = wrap_dim(dimension, sizes.size());
  const at::TensorOptions integers = grad.options().dtype(at::kLong);
  const int64_t windows = grad.size(dim);
  if (windows == 0) return result;
  const Tensor places = at::arange(0, sizes[dim], 1, integers).unfold(0, size, step).reshape({-1});
  const Tensor source = grad.movedim(-1, dim + 1).flatten(dim, dim + 1);
  return result.index_add_(dim, places, source);
}

Tensor roll_backward(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims) {
  // The same way round, so that no shift needs a number that has no opposite.
  std::vector<int64_t> back(shifts.begin(), shifts.end());
  for (size_t i = 0; i < back.size(); ++i) {
    const int64_t size = dims.empty() ? grad.numel() : grad.dim() > 0 ? grad.size(dims[i]) : 1;
    if (size > 0) back[i] = -(back[i] % size);
  }
  return at::roll(grad, back, dims);
}

std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<std::vector<int64_t>>& sizes,
                                 int64_t dim) {
  std::vector<Tensor> gradients;
  int64_t start = 0;
  const int64_t wrapped = wrap_dim(dim, static_cast<size_t>(grad.dim()));
  for (const std::vector<int64_t>& each : sizes) {
    // A tensor of shape [0] may stand among others of any shape.
    if (each == std::vector<int64_t>{0}) {
      gradients.push_back(at::zeros({0}, grad.options()));
      continue;
    }
    gradients.push_back(grad.narrow(wrapped, start, each[wrapped]));
    start += each[wrapped];
  }
  return gradients;
}

namespace {

// The gradients of parts that were used, and zeros for the others, of sizes that `sizes_of_part` tells.
// Nothing where none was.
template <typename SizesOfPart>
std::vector<Tensor> with_zeros(const std::vector<Tensor>& grads, const at::TensorOptions& options,
                               const SizesOfPart& sizes_of_part) {
  if (std::none_of(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); })) return {};
  const Tensor zero = at::zeros({}, options);
  std::vector<Tensor> parts;
  parts.reserve(grads.size());
  for (size_t index = 0; index < grads.size(); ++index) {
    parts.push_back(grads[index].defined() ? grads[index] : zero.expand(sizes_of_part(index)));
  }
  return parts;
}

}  // namespace

Tensor unbind_backward(const std::vector<Tensor>& grads, IntArrayRef sizes, const at::TensorOptions& options,
                       int64_t dim) {
  const int64_t wrapped = wrap_dim(dim, sizes.size());
  c10::DimVector part(sizes);
  part.erase(wrapped);
  const std::vector<Tensor> parts = with_zeros(grads, options, [&](size_t) { return IntArrayRef(part); });
  return parts.empty() ? Tensor() : at::stack(parts, wrapped);
}

Tensor split_with_sizes_backward(const std::vector<Tensor>& grads, IntArrayRef sizes, const at::TensorOptions& options,
                                 IntArrayRef lengths, int64_t dim) {
  const int64_t wrapped = wrap_dim(dim, sizes.size());
  c10::DimVector part(sizes);
  const std::vector<Tensor> parts = with_zeros(grads, options, [&](size_t index) {
    part[wrapped] = lengths[index];
    return IntArrayRef(part);
  });
  return parts.empty() ? Tensor() : at::cat(parts, wrapped);
}

Tensor split_backward(const std::vector<Tensor>& grads, IntArrayRef sizes, const at::TensorOptions& options,
                      int64_t length, int64_t dim) {
  const int64_t size = sizes[wrap_dim(dim, sizes.size())];
  std::vector<int64_t> lengths(grads.size(), std::min(length, size));
  lengths.back() = size - lengths[0] * static_cast<int64_t>(grads.size() - 1);
  return split_with_sizes_backward(grads, sizes, options, lengths, dim);
}

}  // namespace torch::autograd
