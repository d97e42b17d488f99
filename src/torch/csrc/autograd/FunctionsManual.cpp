#include <torch/csrc/autograd/FunctionsManual.h>

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/TensorIterator.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/FusedKernels.h>
#include <torch/csrc/autograd/dispatch.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace torch::autograd {

namespace {

constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;

// `dim` counted from the front; a 0-dim tensor has dimension 0 for this purpose.
int64_t wrap(int64_t dim, size_t dimensions) {
  return dim < 0 ? dim + std::max<int64_t>(static_cast<int64_t>(dimensions), 1) : dim;
}

bool reduces_all(const OptionalIntVector& dim) { return !dim || dim->empty(); }

// Puts reduced dimensions back with size 1, so that the result broadcasts against the input.
Tensor restore_dimensions(Tensor reduced, size_t dimensions, IntArrayRef dim, bool keepdim) {
  if (keepdim || dimensions == 0) return reduced;
  if (dim.empty()) return reduced;  // 0-dim: broadcasts anyway
  std::vector<int64_t> wrapped;
  for (int64_t each : dim) wrapped.push_back(wrap(each, dimensions));
  std::sort(wrapped.begin(), wrapped.end());
  for (int64_t each : wrapped) reduced = reduced.unsqueeze(each);
  return reduced;
}

}  // namespace

Tensor maybe_multiply(const Tensor& grad, const Scalar& value) {
  return value.equal(1) ? grad : grad * value;
}

Tensor to_copy_backward(const Tensor& grad, const at::TensorOptions& options) {
  if (grad.dtype() == options.dtype() && grad.device() == options.device()) return grad;
  return at::_to_copy(grad, options.dtype(), options.device());
}

// ------------------------------------------------------------------------------------------------ arithmetic

Tensor div_mode_self_backward(const Tensor& grad, const Tensor& other,
                              const std::optional<std::string>& rounding_mode) {
  return rounding_mode ? at::zeros_like(grad) : grad / other.conj();
}

Tensor div_mode_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other,
                               const std::optional<std::string>& rounding_mode) {
  return rounding_mode ? at::zeros_like(grad) : -grad * ((self / other) / other).conj();
}

Tensor pow_backward(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  if (exponent.equal(0)) return at::zeros_like(grad);
  if (exponent.equal(1)) return grad;
  if (exponent.equal(2)) return grad * (self * 2).conj();
  Scalar less(exponent.is_integral(/*include_bool=*/true) ? Scalar(exponent.toLong() - 1) : Scalar());
  if (exponent.is_floating_point()) less = exponent.toDouble() - 1;
  if (exponent.is_complex()) less = exponent.to<c10::complex<double>>() - c10::complex<double>(1);
  return grad * (at::pow(self, less) * exponent).conj();
}

Tensor pow_self_backward(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  const Tensor slope = exponent * at::pow(self, exponent - 1);
  return grad * at::where(exponent == 0, 0, slope).conj();
}

Tensor pow_exponent_backward(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                             const Tensor& result) {
  // 0 ** positive is flat; elsewhere the logarithm has a value.
  const Tensor flat = at::logical_and(self == 0, at::real(exponent) >= 0);
  // A number as base is a tensor of the default dtype: its logarithm is wanted in the result's.
  return grad * at::where(flat, 0, result * self.to(result.dtype()).log()).conj();
}

Tensor angle_backward(const Tensor& grad, const Tensor& self) {
  if (!self.is_complex()) return at::zeros_like(self);
  const Tensor size = self.abs();
  const Tensor turned = self * Scalar(c10::complex<double>(0, 1));
  return (grad * turned / (size * size)).masked_fill(self == 0, 0);
}

Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (!self.is_complex()) return at::zeros_like(grad);
  // What is along the number does not turn it.
  return ((grad - result * at::real(result.conj() * grad)) / self.abs()).masked_fill(self == 0, 0);
}

Tensor zeros_beside(const Tensor& grad, IntArrayRef sizes) {
  if (C10_UNLIKELY(dispatch::is_wrapper(grad)) && grad.numel() > 0) {
    return at::zeros_like(grad.reshape({-1}).select(0, 0).expand(sizes));
  }
  return at::zeros(sizes, grad.options());
}

Tensor pairwise_backward(const Tensor& grad, const Tensor& lost, const Tensor& tied) {
  return at::where(tied, grad / 2, grad).masked_fill(lost, 0);
}

namespace {

// Whether the CPU may zero a gradient where `self` is out of bounds in one pass: nobody asks for the gradient of that.
bool is_zeroed_at_once(const Tensor& grad, const Tensor& self) {
  return grad.is_cpu() && self.is_cpu() && self.is_floating_point() && grad.dtype() == self.dtype() &&
         !at::native::is_differentiated(grad) && !at::native::is_dispatched();
}

Tensor zero_outside(const Tensor& grad, const Tensor& self, const Scalar& low, const Scalar& high, bool open) {
  const auto rounded = [&](const Scalar& bound) {  // to the type, as a comparison with it does
    alignas(16) char element[16];
    at::detail::store_scalar(element, self.dtype(), bound);
    return at::detail::load_scalar(element, self.dtype()).toDouble();
  };
  Tensor out;
  at::TensorIterator::binary_op(out, grad, self).run(at::native::cpu::zero_outside, rounded(low), rounded(high), open);
  return out;
}

}  // namespace

Tensor hardtanh_backward(const Tensor& grad, const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  if (is_zeroed_at_once(grad, self)) return zero_outside(grad, self, min_val, max_val, /*open=*/true);
  return at::where(at::logical_and(self > min_val, self < max_val), grad, 0);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                      const std::optional<Scalar>& max) {
  if ((min || max) && is_zeroed_at_once(grad, self)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return zero_outside(grad, self, min.value_or(-infinity), max.value_or(infinity), /*open=*/false);
  }
  if (min && max) return at::where(at::logical_and(self >= *min, self <= *max), grad, 0);
  if (min) return at::where(self >= *min, grad, 0);
  if (max) return at::where(self <= *max, grad, 0);
  return grad;
}

Tensor logit_backward(const Tensor& grad, const Tensor& self, const std::optional<double>& eps) {
  const double low = eps.value_or(0);
  const double outside = eps ? 0 : std::numeric_limits<double>::quiet_NaN();
  const bool is_plain = self.dtype() == at::kFloat || self.dtype() == at::kDouble;
  if (is_plain && !c10::GradMode::is_enabled() && is_zeroed_at_once(grad, self)) {
    const Tensor out = at::empty(self.sizes(), self.options());
    at::native::cpu::logit_slopes(out, grad.contiguous(), self.contiguous(), low, 1 - low, outside);
    return out;
  }
  return (grad / (self * (1 - self))).masked_fill(at::logical_or(self < low, self > 1 - low), outside);
}

Tensor clamp_tensor_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max) {
  if (min.defined() && max.defined()) return at::where(at::logical_and(self >= min, self <= max), grad, 0);
  return at::where(min.defined() ? self >= min : self <= max, grad, 0);
}

Tensor clamp_tensor_min_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max) {
  if (!min.defined()) return {};
  const Tensor chosen = self < min;
  return at::where(max.defined() ? at::logical_and(min < max, chosen) : chosen, grad, 0);
}

Tensor clamp_tensor_max_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max) {
  if (!max.defined()) return {};
  const Tensor chosen = self > max;
  return at::where(min.defined() ? at::logical_or(max < min, chosen) : chosen, grad, 0);
}

Tensor gelu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                            std::string_view approximate) {
  const Tensor square = self * self;
  Tensor curvature;
  if (approximate == "tanh") {
    // y = x/2 (1 + tanh u), u = c (x + k x^3): y'' = u' s + x/2 (u'' s - 2 t u'^2 s), s = 1 - t^2
    const double c = 2 * kInverseSqrtTwoPi;  // sqrt(2 / pi)
    const double k = 0.044715;
    const Tensor t = ((square * self * k + self) * c).tanh();
    const Tensor s = 1 - t * t;
    const Tensor first = (square * (3 * k) + 1) * c;
    const Tensor second = self * (6 * k * c);
    curvature = first * s + self * 0.5 * (second * s - t * first * first * s * 2);
  } else {
    // y = x cdf(x): y'' = pdf(x) (2 - x^2)
    curvature = (square * -0.5).exp() * kInverseSqrtTwoPi * (2 - square);
  }
  return grad * grad_output * curvature;
}

// ------------------------------------------------------------------------------------------------ reductions

Tensor sum_backward(const Tensor& grad, IntArrayRef sizes, const OptionalIntVector& dim, bool keepdim) {
  if (reduces_all(dim)) return grad.expand(sizes);
  return restore_dimensions(grad, sizes.size(), *dim, keepdim).expand(sizes);
}

Tensor mean_backward(const Tensor& grad, IntArrayRef sizes, const OptionalIntVector& dim, bool keepdim) {
  int64_t count = 1;
  if (reduces_all(dim)) {
    for (int64_t size : sizes) count *= size;
  } else if (!sizes.empty()) {
    for (int64_t each : *dim) count *= sizes[wrap(each, sizes.size())];
  }
  return sum_backward(grad / count, sizes, dim, keepdim).clone();  // divided before there are many
}

namespace {

// Whether an element is zero, or not known.
bool may_have_zeros(const Tensor& self) { return self.is_meta() || !at::all(self).item<bool>(); }

// d prod / d x_i is the product of the others. Divides where nothing is zero; where one element is, only that one has a
// gradient, unless 0 is multiplied with what is infinite or no number; where several are, none has. `rest` is the
// product of the elements that are not zero; `alone` marks the one that is not finite, where there is only one.
Tensor product_of_others(const Tensor& grad, const Tensor& is_zero, const Tensor& zeros, const Tensor& filled,
                         const Tensor& rest, const Tensor& alone) {
  const Tensor none = grad * rest / filled;
  const Tensor one = at::where(is_zero, grad * rest, (none * 0).masked_fill(alone, 0));
  return at::where(zeros == 0, none, at::where(zeros == 1, one, 0));
}

}  // namespace

Tensor prod_backward(const Tensor& grad, const Tensor& self) {
  if (!may_have_zeros(self)) return grad * self.prod() / self;
  const Tensor is_zero = self == 0;
  const Tensor filled = self.masked_fill(is_zero, 1);
  const Tensor wild = at::isfinite(filled).logical_not();
  return product_of_others(grad, is_zero, is_zero.sum(), filled, filled.prod(), at::logical_and(wild, wild.sum() == 1));
}

Tensor prod_dim_backward(const Tensor& grad, const Tensor& self, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return prod_backward(grad, self);
  const Tensor restored = keepdim ? grad : grad.unsqueeze(dim);
  if (!may_have_zeros(self)) return restored * self.prod(dim, true) / self;
  const Tensor is_zero = self == 0;
  const Tensor filled = self.masked_fill(is_zero, 1);
  const Tensor wild = at::isfinite(filled).logical_not();
  return product_of_others(restored, is_zero, is_zero.sum(dim, true), filled, filled.prod(dim, true),
                           at::logical_and(wild, wild.sum(dim, true) == 1));
}

Tensor extremum_backward(const Tensor& grad, const Tensor& self, const Tensor& result, IntArrayRef dim,
                         bool keepdim) {
  const size_t dimensions = self.sizes().size();
  const Tensor mask = self == restore_dimensions(result, dimensions, dim, keepdim);
  const Tensor count = dim.empty() ? mask.sum() : mask.sum(dim, true);
  return restore_dimensions(grad, dimensions, dim, keepdim) / count * mask;
}

namespace {

// A divisor that is nowhere 0. What is divided there is 0, too, and stays it.
Tensor without_zeros(const Tensor& divisor) { return divisor.masked_fill(divisor == 0, 1); }

}  // namespace

Tensor norm_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& p, const Tensor& result,
                     IntArrayRef dim, bool keepdim) {
  const double exponent = p ? p->toDouble() : 2;
  if (exponent == 0) return {};  // a count of elements
  const auto dimensions = static_cast<size_t>(self.dim());
  const Tensor slope = restore_dimensions(grad, dimensions, dim, keepdim);
  if (exponent == 1) return slope * self.sgn();
  const Tensor norm = restore_dimensions(result, dimensions, dim, keepdim);
  if (exponent == 2) return self * (slope / without_zeros(norm)).masked_fill(norm == 0, 0);
  const Tensor magnitude = self.abs();
  if (std::isinf(exponent)) {
    const Tensor mask = at::logical_or(magnitude == norm, at::logical_and(self != self, norm != norm));
    const Tensor count = dim.empty() ? mask.sum() : mask.sum(dim, true);
    return self.sgn() * (slope / count * mask);
  }
  const Tensor is_zero = self == 0;
  const Tensor filled = magnitude.masked_fill(is_zero, 1);
  const Tensor scale = (slope / without_zeros(norm).pow(exponent - 1)).masked_fill(norm == 0, 0);
  return (self.sgn() * filled.pow(exponent - 1)).masked_fill(is_zero, 0) * scale;
}

Tensor std_backward(const Tensor& grad, const Tensor& self, const Tensor& result, const OptionalIntVector& dim,
                    const std::optional<Scalar>& correction, bool keepdim) {
  const auto dimensions = static_cast<size_t>(self.dim());
  const std::vector<int64_t> dims = reduces_all(dim) ? std::vector<int64_t>{} : *dim;
  const Tensor deviation = restore_dimensions(result, dimensions, dims, keepdim);
  const Tensor slope = restore_dimensions(grad, dimensions, dims, keepdim) / without_zeros(deviation);
  const Tensor mean = dims.empty() ? self.mean() : self.mean(dims, true);
  double count = 1;
  if (dims.empty()) count = static_cast<double>(self.numel());
  for (const int64_t each : dims) count *= dimensions == 0 ? 1 : static_cast<double>(self.size(each));
  const double freedom = std::max(0.0, count - (correction ? correction->toDouble() : 1));
  return slope.masked_fill(deviation == 0, 0) * ((self - mean) / freedom);
}

Tensor evenly_distribute_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  // A NaN is the extremum where there is one, and equals nothing.
  const Tensor mask = at::logical_or(self == result, at::logical_and(self != self, result != result));
  return mask * (grad / mask.sum());
}

Tensor value_selecting_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& indices,
                                bool keepdim) {
  if (sizes.empty()) return grad.reshape({});
  Tensor result = zeros_beside(grad, sizes);
  if (keepdim) return result.scatter_(dim, indices, grad);
  return result.scatter_(dim, indices.unsqueeze(dim), grad.unsqueeze(dim));
}

Tensor cumsum_backward(const Tensor& grad, int64_t dim) {
  if (grad.dim() == 0 || grad.numel() <= 1) return grad;
  return grad.flip(dim).cumsum(dim).flip(dim);
}

// ------------------------------------------------------------------------------------------------ matrices

Tensor mm_mat1_backward(const Tensor& grad, IntArrayRef mat1_sizes, IntArrayRef mat1_strides,
                        const Tensor& mat2) {
  const bool column_major = mat1_strides[0] == 1 && mat1_strides[1] == mat1_sizes[0];
  return column_major ? mat2.mm(grad.t()).t() : grad.mm(mat2.t());
}

Tensor mm_mat2_backward(const Tensor& grad, const Tensor& mat1, IntArrayRef mat2_sizes,
                        IntArrayRef mat2_strides) {
  const bool column_major = mat2_strides[0] == 1 && mat2_strides[1] == mat2_sizes[0];
  return column_major ? grad.t().mm(mat1).t() : mat1.t().mm(grad);
}

// ------------------------------------------------------------------------------------------------ shapes and
// views

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
    Tensor count = zeros_beside(grad, {extent});
    count.index_add_(0, places, at::ones({places.numel()}, grad.options()));
    flat = flat / count;
  }
  return flat.as_strided(self_sizes, self_strides, self_offset - first);
}

Tensor permute_backward(const Tensor& grad, IntArrayRef dims) {
  std::vector<int64_t> inverse(dims.size());
  for (size_t index = 0; index < dims.size(); ++index)
    inverse[wrap(dims[index], dims.size())] = static_cast<int64_t>(index);
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
  const int64_t dim = wrap(dimension, sizes.size());
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
  const int64_t wrapped = wrap(dim, static_cast<size_t>(grad.dim()));
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

std::vector<Tensor> euclidean_dist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2,
                                            const Tensor& result) {
  // Points that lie on each other pull nowhere.
  const Tensor ratio = at::div(grad, result).masked_fill(at::eq(result, Scalar(0)), Scalar(0));
  return {at::sub(at::mul(x1, at::sum(ratio, {-1}, true)), at::matmul(ratio, x2)),
          at::sub(at::mul(x2, at::sum(ratio, {-2}, false).unsqueeze(-1)), at::matmul(ratio.transpose(-2, -1), x1))};
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
  const int64_t wrapped = wrap(dim, sizes.size());
  c10::DimVector part(sizes);
  part.erase(wrapped);
  const std::vector<Tensor> parts = with_zeros(grads, options, [&](size_t) { return IntArrayRef(part); });
  return parts.empty() ? Tensor() : at::stack(parts, wrapped);
}

Tensor split_with_sizes_backward(const std::vector<Tensor>& grads, IntArrayRef sizes, const at::TensorOptions& options,
                                 IntArrayRef lengths, int64_t dim) {
  const int64_t wrapped = wrap(dim, sizes.size());
  c10::DimVector part(sizes);
  const std::vector<Tensor> parts = with_zeros(grads, options, [&](size_t index) {
    part[wrapped] = lengths[index];
    return IntArrayRef(part);
  });
  return parts.empty() ? Tensor() : at::cat(parts, wrapped);
}

Tensor split_backward(const std::vector<Tensor>& grads, IntArrayRef sizes, const at::TensorOptions& options,
                      int64_t length, int64_t dim) {
  const int64_t size = sizes[wrap(dim, sizes.size())];
  std::vector<int64_t> lengths(grads.size(), std::min(length, size));
  lengths.back() = size - lengths[0] * static_cast<int64_t>(grads.size() - 1);
  return split_with_sizes_backward(grads, sizes, options, lengths, dim);
}

void move_into(std::vector<Tensor>& grad_inputs, size_t first, std::vector<Tensor>&& gradients) {
  std::move(gradients.begin(), gradients.end(), grad_inputs.begin() + static_cast<std::ptrdiff_t>(first));
}

// ------------------------------------------------------------------------------------------------ indexing

Tensor index_backward(const Tensor& grad, IntArrayRef sizes, TensorList indices) {
  return zeros_beside(grad, sizes).index_put_(indices, grad, true);
}

Tensor index_put_self_backward(const Tensor& grad, TensorList indices, bool accumulate) {
  if (accumulate) return grad;
  return grad.clone().index_put_(indices, at::zeros({}, grad.options()));
}

Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& index) {
  if (sizes.empty()) return grad.reshape({-1}).sum();
  return zeros_beside(grad, sizes).index_add_(dim, index, grad);
}

Tensor gather_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& index) {
  if (index.numel() == 0) return zeros_beside(grad, sizes);  // which may be of any dtype
  return zeros_beside(grad, sizes).scatter_add_(dim, index, grad);
}

Tensor scatter_source_backward(const Tensor& grad, IntArrayRef source_sizes, int64_t dim,
                               const Tensor& index) {
  Tensor used = grad.gather(dim, index);
  if (used.sizes() == source_sizes) return used;
  Tensor result = zeros_beside(grad, source_sizes);
  Tensor part = result;
  for (int64_t each = 0; each < used.dim(); ++each) part = part.narrow(each, 0, used.size(each));
  part.copy_(used);
  return result;
}

// ------------------------------------------------------------------------------------------------ softmax
// and losses

Tensor softmax_double_backward_grad(const Tensor& grad, const Tensor& output, int64_t dim, bool log) {
  // The Jacobian of softmax is symmetric, that of its logarithm is not.
  if (!log) return at::_softmax_backward(grad, output, dim, false);
  return grad - (grad * output.exp()).sum(dim, true);
}

Tensor softmax_double_backward_output(const Tensor& grad, const Tensor& grad_output, const Tensor& output,
                                      int64_t dim, bool log) {
  if (log) return -grad * output.exp() * grad_output.sum(dim, true);
  return grad * grad_output - grad * (grad_output * output).sum(dim, true) -
         (grad * output).sum(dim, true) * grad_output;
}

namespace {

// The gradient of every element's loss, from that of what `reduction` made of them.
Tensor of_each_loss(const Tensor& grad, const Tensor& losses, int64_t reduction) {
  return reduction == 1 ? grad / losses.numel() : grad;
}

}  // namespace

Tensor binary_cross_entropy_backward(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight,
                                     int64_t reduction) {
  // Certain predictions have a large gradient, but a finite one.
  const Tensor slope = (self - target) / at::clamp_min((1 - self) * self, 1e-12);
  const Tensor each = of_each_loss(grad, slope, reduction) * slope;
  return weight.defined() ? each * weight : each;
}

Tensor binary_cross_entropy_target_backward(const Tensor& grad, const Tensor& self, const Tensor& target,
                                            const Tensor& weight, int64_t reduction) {
  const Tensor slope = at::log1p(-self) - at::log(self);
  const Tensor each = of_each_loss(grad, target, reduction) * slope;
  return weight.defined() ? each * weight : each;
}

Tensor smooth_l1_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction,
                               double beta) {
  if (beta != 0) return huber_loss_backward(beta == 1 ? grad : grad / beta, self, target, reduction, beta);
  const Tensor difference = self - target;
  return of_each_loss(grad, difference, reduction) * difference.sign();
}

namespace {

// Whether the CPU computes the gradient of a loss in one pass: nobody asks for the gradient of that.
bool is_computed_at_once(const Tensor& self, const Tensor& target) {
  return !c10::GradMode::is_enabled() && self.is_cpu() && target.is_cpu() && !at::native::is_dispatched();
}

int64_t number_of_losses(const Tensor& self, const Tensor& target) {
  int64_t count = 1;
  for (const int64_t size : at::broadcast_shapes(self.sizes(), target.sizes())) count *= size;
  return count;
}

}  // namespace

Tensor huber_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction,
                           double delta) {
  if (is_computed_at_once(self, target)) {
    Tensor out;
    const Tensor each = reduction == 1 ? grad / number_of_losses(self, target) : grad;
    at::TensorIterator::ternary_op(out, each, self, target).run(at::native::cpu::half_square_slope, delta);
    return out;
  }
  const Tensor difference = self - target;
  return of_each_loss(grad, difference, reduction) * at::clamp(difference, -delta, delta);
}

Tensor multilabel_margin_loss_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                              const Tensor& target, int64_t reduction) {
  const Tensor ones = at::ones_like(grad_output);
  const Tensor terms = grad * at::multilabel_margin_loss_backward(ones, self, target, reduction);
  return reduction == 0 && self.dim() > 0 ? terms.sum({-1}) : terms.sum();
}

Tensor mse_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction) {
  const double factor = reduction == 1 ? 2.0 / static_cast<double>(number_of_losses(self, target)) : 2.0;
  if (is_computed_at_once(self, target) && !c10::is_reduced_floating_type(grad.dtype())) {
    Tensor out;
    at::TensorIterator::ternary_op(out, grad, self, target).run(at::native::cpu::times_difference, factor);
    return out;
  }
  return grad * ((self - target) * factor);
}

}  // namespace torch::autograd
