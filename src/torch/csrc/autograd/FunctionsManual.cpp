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

bool reduces_all(const OptionalIntVector& dim) { return !dim || dim->empty(); }

// Puts reduced dimensions back with size 1, so that the result broadcasts against the input.
Tensor restore_dimensions(Tensor reduced, size_t dimensions, IntArrayRef dim, bool keepdim) {
  if (keepdim || dimensions == 0) return reduced;
  if (dim.empty()) return reduced;  // 0-dim: broadcasts anyway
  std::vector<int64_t> wrapped;
  for (int64_t each : dim) wrapped.push_back(wrap_dim(each, dimensions));
  std::sort(wrapped.begin(), wrapped.end());
  for (int64_t each : wrapped) reduced = reduced.unsqueeze(each);
  return reduced;
}

}  // namespace

int64_t wrap_dim(int64_t dim, size_t dimensions) {
  return dim < 0 ? dim + std::max<int64_t>(static_cast<int64_t>(dimensions), 1) : dim;
}

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
    for (int64_t each : *dim) count *= sizes[wrap_dim(each, sizes.size())];
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

std::vector<Tensor> euclidean_dist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2,
                                            const Tensor& result) {
  // Points that lie on each other pull nowhere.
  const Tensor ratio = at::div(grad, result).masked_fill(at::eq(result, Scalar(0)), Scalar(0));
  return {at::sub(at::mul(x1, at::sum(ratio, {-1}, true)), at::matmul(ratio, x2)),
          at::sub(at::mul(x2, at::sum(ratio, {-2}, false).unsqueeze(-1)), at::matmul(ratio.transpose(-2, -1), x1))};
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
