// Activations that are more than one arithmetic step, small composites of element-wise operators, and
// closeness.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/FusedKernels.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace at::native {

namespace {

bool is_tanh_approximation(std::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh",
              "approximate argument must be either none or tanh.");
  return approximate == "tanh";
}

// What keeps mean 0 and variance 1.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Tensor gelu(const Tensor& self, std::string_view approximate) {
  const bool tanh_approximation = is_tanh_approximation(approximate);
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"GeluKernelImpl\" not implemented for '",
                              self.dtype(), "'");
  Tensor out;
  auto iter = TensorIterator::unary_op(out, self);
  iter.run(gelu_kernels, tanh_approximation);
  return out;
}

Tensor gelu_backward(const Tensor& grad_output, const Tensor& self, std::string_view approximate) {
  const bool tanh_approximation = is_tanh_approximation(approximate);
  Tensor out;
  auto iter = TensorIterator::binary_op(out, grad_output, self);
  iter.run(gelu_backward_kernels, tanh_approximation);
  return out;
}

namespace {

void check_floating(const Tensor& self, const char* function) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), '"', function, "\" not implemented for '", self.dtype(), "'");
}

}  // namespace

void silu(const Tensor& self, Tensor& out) {
  if (!self.is_complex()) check_floating(self, "silu_cpu");
  TensorIterator::unary_op(out, self).run(silu_kernels);
}
void silu_backward(const Tensor& grad_output, const Tensor& self, Tensor& out) {
  TensorIterator::binary_op(out, grad_output, self).run(silu_backward_kernels);
}

#define AT_DEFINE_ACTIVATION(name)                                                                     \
  void name(const Tensor& self, Tensor& out) {                                                         \
    check_floating(self, #name "_cpu");                                                                \
    TensorIterator::unary_op(out, self).run(name##_kernels);                                           \
  }                                                                                                    \
  void name##_backward(const Tensor& grad_output, const Tensor& self, Tensor& out) {                   \
    TensorIterator::binary_op(out, grad_output, self).run(name##_backward_kernels);                    \
  }
AT_DEFINE_ACTIVATION(mish)
AT_DEFINE_ACTIVATION(log_sigmoid)
AT_DEFINE_ACTIVATION(hardsigmoid)
AT_DEFINE_ACTIVATION(hardswish)
#undef AT_DEFINE_ACTIVATION

void leaky_relu(const Tensor& self, const Scalar& negative_slope, Tensor& out) {
  check_floating(self, "leaky_relu_cpu");
  TensorIterator::unary_op(out, self).run(leaky_relu_kernels, negative_slope.toDouble());
}

void leaky_relu_backward(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope, Tensor& out) {
  TensorIterator::binary_op(out, grad_output, self).run(leaky_relu_backward_kernels, negative_slope.toDouble());
}

void softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold, Tensor& out) {
  check_floating(self, "softplus_cpu");
  TensorIterator::unary_op(out, self).run(softplus_kernels, beta.toDouble(), threshold.toDouble());
}

void softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold,
                       Tensor& out) {
  TensorIterator::binary_op(out, grad_output, self)
      .run(softplus_backward_kernels, beta.toDouble(), threshold.toDouble());
}

void elu(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale, Tensor& out) {
  check_floating(self, "elu_cpu");
  TensorIterator::unary_op(out, self).run(elu_kernels, alpha.toDouble(), scale.toDouble(), input_scale.toDouble());
}

void elu_backward(const Tensor& grad_output, const Tensor& self, const Scalar& alpha, const Scalar& scale,
                  const Scalar& input_scale, Tensor& out) {
  TensorIterator::binary_op(out, grad_output, self)
      .run(elu_backward_kernels, alpha.toDouble(), scale.toDouble(), input_scale.toDouble());
}

Tensor selu(const Tensor& self) { return at::elu(self, Scalar(kSeluAlpha), Scalar(kSeluScale)); }
Tensor& selu_(Tensor& self) { return at::elu_(self, Scalar(kSeluAlpha), Scalar(kSeluScale)); }

Tensor celu(const Tensor& self, const Scalar& alpha) {
  TORCH_CHECK(alpha.toDouble() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return at::elu(self, alpha, Scalar(1.0), Scalar(1 / alpha.toDouble()));
}

namespace {

bool has_fused_kernels(const Tensor& self) { return self.is_cpu() && self.is_floating_point(); }

// To the type of `self`, as a comparison with it does.
double round_bound(const Tensor& self, const Scalar& bound) {
  alignas(16) char element[16];
  at::detail::store_scalar(element, self.dtype(), bound);
  return at::detail::load_scalar(element, self.dtype()).toDouble();
}

Tensor replace_within(const Tensor& self, double low, double high, double value) {
  Tensor out;
  TensorIterator::unary_op(out, self).run(cpu::replace_within, low, high, value);
  return out;
}

Tensor lies_within(const Tensor& self, const Scalar& bound) {
  return at::logical_and(at::ge(self, Scalar(-bound.toDouble())), at::le(self, bound));
}

}  // namespace

Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.dtype() != kBool && !self.is_complex(), "\"threshold_cpu\" not implemented for '",
                              self.dtype(), "'");
  if (has_fused_kernels(self)) return replace_within(self, -kInfinity, threshold.toDouble(), value.toDouble());
  return at::masked_fill(self, at::le(self, threshold), value);
}

Tensor hardshrink(const Tensor& self, const Scalar& lambd) {
  check_floating(self, "hardshrink_cpu");
  if (has_fused_kernels(self)) {
    const double bound = round_bound(self, lambd);
    return replace_within(self, -bound, bound, 0);
  }
  return at::masked_fill(self, lies_within(self, lambd), Scalar(0));
}

Tensor softshrink(const Tensor& self, const Scalar& lambd) {
  TORCH_CHECK(lambd.toDouble() >= 0, "lambda must be greater or equal to 0, but found to be ", lambd.toDouble(), ".");
  check_floating(self, "softshrink_cpu");
  if (!has_fused_kernels(self)) return at::sub(self, at::clamp(self, Scalar(-lambd.toDouble()), lambd));
  const double bound = round_bound(self, lambd);
  Tensor out;
  TensorIterator::unary_op(out, self).run(cpu::less_held, -bound, bound);
  return out;
}

// Of both: where they are not 0, they grow as what is given does.
Tensor hardshrink_backward(const Tensor& grad_output, const Tensor& self, const Scalar& lambd) {
  if (!has_fused_kernels(self) || grad_output.dtype() != self.dtype())
    return at::masked_fill(grad_output, lies_within(self, lambd), Scalar(0));
  const double bound = round_bound(self, lambd);
  Tensor out;
  TensorIterator::binary_op(out, grad_output, self).run(cpu::zero_within, -bound, bound);
  return out;
}

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training, const Generator& generator) {
  const double low = lower.toDouble();
  const double high = upper.toDouble();
  TORCH_CHECK(low <= high, "Lower bound should be less than or equal to the upper bound");
  check_floating(self, "rrelu_with_noise_out_cpu");
  if (!training) return at::leaky_relu(self, Scalar((low + high) / 2));
  if (self.is_cuda()) {  // each element draws a number
    Tensor drawn = at::empty(self.sizes(), self.options().dtype(self.dtype() == kDouble ? kDouble : kFloat));
    drawn.uniform_(0, 1, generator);
    drawn = drawn.to(self.dtype()).to(kDouble);
    const Tensor slopes = drawn.mul_(Scalar(high - low)).add_(Scalar(low)).to(self.dtype());
    return at::mul(self, at::where(at::le(self.detach(), Scalar(0)), slopes, at::ones_like(slopes)));
  }
  const ScalarType drawn = self.dtype() == kDouble ? kDouble : kFloat;
  const Tensor dense = at::detail::to_contiguous(at::detail::to_dtype(self.detach(), drawn));
  const Tensor slopes = at::detail::empty(dense.sizes(), drawn, dense.device());
  cpu::draw_slopes(slopes, dense, low, high, generator);
  return at::mul(self, at::detail::to_dtype(slopes, self.dtype()));
}

void hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val, Tensor& out) {
  TORCH_CHECK(self.dtype() != kBool, "Bool inputs not supported for hardtanh");
  TORCH_CHECK(self.dtype() != kByte || (min_val.toDouble() >= 0 && max_val.toDouble() >= 0),
              "cannot do hardtanh on an unsigned type with negative limits");
  TensorIterator::unary_op(out, self).run(clamp_kernels, min_val, max_val);
}

namespace {

// The two halves of `tensor` along `dim`.
std::pair<Tensor, Tensor> halves_of(const Tensor& tensor, int64_t dim) {
  TORCH_CHECK(tensor.dim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t where = wrap_dim(dim, tensor.dim());
  const int64_t size = tensor.sizes()[where];
  TORCH_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", where, " is size ", size);
  return {native::slice(tensor, where, 0, size / 2, 1), native::slice(tensor, where, size / 2, size, 1)};
}

}  // namespace

// Of a and b: a * sigmoid(b), which is what the gradient of softplus is.
Tensor glu(const Tensor& self, int64_t dim) {
  const auto [a, b] = halves_of(self, dim);
  check_floating(self, "glu_cpu");
  Tensor out;
  native::softplus_backward(a, b, Scalar(1), Scalar(kInfinity), out);
  return out;
}

Tensor glu_backward(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const Tensor grad_input = at::detail::empty(self.sizes(), self.options());
  const auto [a, b] = halves_of(self, dim);
  auto [grad_a, grad_b] = halves_of(grad_input, dim);
  native::softplus_backward(grad_output, b, Scalar(1), Scalar(kInfinity), grad_a);
  TensorIterator::ternary_op(grad_b, grad_output, a, b).run(glu_gate_backward_kernels);
  return grad_input;
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  TORCH_CHECK(weight.dim() <= 1,
              "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  Tensor slope = weight;
  if (weight.numel() != 1) {
    TORCH_CHECK(self.dim() > 0, "Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.sizes()[1] : 1;
    TORCH_CHECK(weight.numel() == channels,
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
                " and channel size = ", channels, ".");
    DimVector shape(self.dim(), 1);
    shape[1] = channels;
    slope = at::reshape(weight, shape);
  } else if (self.dim() == 0) {
    slope = at::reshape(weight, {});
  }
  check_floating(self, "prelu_cpu");
  // In one pass where nobody asks for a gradient, which is that of the parts.
  const bool is_differentiated_by_either = is_differentiated(self) || is_differentiated(slope);
  if (!is_differentiated_by_either && has_fused_kernels(self) && slope.dtype() == self.dtype()) {
    Tensor out;
    TensorIterator::binary_op(out, self, slope).run(cpu::slope_below_zero);
    return out;
  }
  return at::where(at::gt(self, Scalar(0)), self, at::mul(slope, self));
}

Tensor softsign(const Tensor& self) {
  const bool is_rounded_twice = c10::is_reduced_floating_type(self.dtype());
  if (!has_fused_kernels(self) || is_rounded_twice || is_differentiated(self)) {
    return at::div(self, at::add(at::abs(self), Scalar(1)));
  }
  Tensor out;
  TensorIterator::unary_op(out, self).run(cpu::softsign);
  return out;
}

namespace {

// What a dropped input is multiplied with: 0 with probability p, else 1 / (1 - p).
Tensor dropout_noise(IntArrayRef shape, const Tensor& input, double p) {
  Tensor noise = at::empty(shape, input.options());
  noise.bernoulli_(1 - p);
  return p == 1 ? noise : noise.div_(Scalar(1 - p));
}

// One number per channel of (N, C, ...).
DimVector channels_of(const Tensor& input) {
  TORCH_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  DimVector shape{input.sizes()[0], input.sizes()[1]};
  for (int64_t dim = 2; dim < input.dim(); ++dim) shape.push_back(1);
  return shape;
}

bool drops(const Tensor& input, double p, bool train) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  return p > 0 && train && input.numel() > 0;
}

}  // namespace

Tensor& dropout_(Tensor& self, double p, bool train) {
  if (!drops(self, p, train)) return self;
  return p == 1 ? self.mul_(at::zeros_like(self)) : self.mul_(dropout_noise(self.sizes(), self, p));
}

Tensor feature_dropout(const Tensor& input, double p, bool train) {
  return drops(input, p, train) ? at::mul(input, dropout_noise(channels_of(input), input, p)) : input;
}

Tensor& feature_dropout_(Tensor& self, double p, bool train) {
  return drops(self, p, train) ? self.mul_(dropout_noise(channels_of(self), self, p)) : self;
}

Tensor dropout(const Tensor& input, double p, bool train) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || input.numel() == 0) return input;
  if (p == 1) return at::mul(input, at::zeros_like(input));
  if (input.is_cuda() && input.is_floating_point()) return std::get<0>(at::native_dropout(input, p, true));
  Tensor noise = at::empty_like(input);
  noise.bernoulli_(1 - p);
  noise.div_(Scalar(1 - p));
  return at::mul(input, noise);
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  if (input.numel() == 0) return {at::clone(input), at::empty_like(input)};
  if (!train.value_or(true)) return {at::clone(input), at::ones_like(input, TensorOptions(kBool))};
  if (p == 1) return {at::zeros_like(input), at::zeros_like(input, TensorOptions(kBool))};
  if (input.is_cuda()) {
    const Tensor out = at::empty_like(input);
    const Tensor kept = at::empty_like(input, TensorOptions(kBool));
    run_kernel(dropout_kernels, input.device(), out, kept, input, p, at::default_generator(input.device()));
    return {out, kept};
  }
  const Tensor kept = at::empty_like(input).bernoulli_(1 - p).to(kBool, false);
  return {at::mul(at::mul(input, kept), Scalar(1 / (1 - p))), kept};
}

Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  if (!grad_output.is_cuda() || !grad_output.is_floating_point() || mask.dtype() != kBool || mask.numel() == 0)
    return at::mul(at::mul(grad_output, mask), Scalar(scale));
  const Tensor out = at::empty_like(mask, TensorOptions(grad_output.dtype()));
  run_kernel(dropout_backward_kernels, mask.device(), out, grad_output, mask, scale);
  return out;
}

namespace {

// Where `noise` (of the input's shape, or a number per channel) is 0, the input becomes what SELU tends to below 0; a
// factor and a shift then keep mean and variance. They are returned.
std::pair<Tensor, Tensor> alpha_noise(IntArrayRef shape, const Tensor& input, double p) {
  constexpr double lowest = kSeluAlpha * kSeluScale;
  Tensor noise = at::empty(shape, input.options());
  noise.bernoulli_(1 - p);
  const double factor = 1 / std::sqrt((lowest * lowest * p + 1) * (1 - p));
  Tensor shift = at::add(noise, Scalar(-1)).mul_(Scalar(lowest * factor)).add_(Scalar(lowest * factor * p));
  return {noise.mul_(Scalar(factor)), std::move(shift)};
}

Tensor drop_to_alpha(const Tensor& input, IntArrayRef shape, double p) {
  if (p == 1) return at::mul(input, at::zeros_like(input));
  const auto [factor, shift] = alpha_noise(shape, input, p);
  return at::add(at::mul(input, factor), shift);
}

Tensor& drop_to_alpha_(Tensor& self, IntArrayRef shape, double p) {
  if (p == 1) return self.mul_(at::zeros_like(self));
  const auto [factor, shift] = alpha_noise(shape, self, p);
  return self.mul_(factor).add_(shift);
}

}  // namespace

Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  return drops(input, p, train) ? drop_to_alpha(input, input.sizes(), p) : input;
}
Tensor& alpha_dropout_(Tensor& self, double p, bool train) {
  return drops(self, p, train) ? drop_to_alpha_(self, self.sizes(), p) : self;
}
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  return drops(input, p, train) ? drop_to_alpha(input, channels_of(input), p) : input;
}
Tensor& feature_alpha_dropout_(Tensor& self, double p, bool train) {
  return drops(self, p, train) ? drop_to_alpha_(self, channels_of(self), p) : self;
}

Tensor clamp_min(const Tensor& self, const Scalar& min) { return at::clamp(self, min, std::nullopt); }
Tensor clamp_max(const Tensor& self, const Scalar& max) { return at::clamp(self, std::nullopt, max); }

Tensor square(const Tensor& self) { return at::pow(self, Scalar(2)); }

Tensor isnan(const Tensor& self) { return at::ne(self, self); }

Tensor isinf(const Tensor& self) {
  if (self.is_complex()) return at::logical_or(at::isinf(at::real(self)), at::isinf(at::imag(self)));
  if (!self.is_floating_point()) return at::zeros_like(self, TensorOptions(kBool));
  return at::eq(at::abs(self), Scalar(kInfinity));
}

namespace {

struct Replacements {
  double nan;
  double above;
  double below;
};
Replacements replacements_for(ScalarType dtype, std::optional<double> nan, std::optional<double> posinf,
                              std::optional<double> neginf) {
  const double largest = dispatch_real_types(dtype, "nan_to_num", [](auto type) -> double {
    return std::numeric_limits<typename decltype(type)::type>::max();
  });
  return {nan.value_or(0), posinf.value_or(largest), neginf.value_or(-largest)};
}

// In one pass, if it can be: `out` may be `self`.
bool write_numbers(const Tensor& self, const Replacements& by, Tensor& out) {
  if (!self.is_cpu() || !self.is_floating_point() || is_differentiated(self)) return false;
  TensorIterator::unary_op(out, self).run(cpu::nan_to_num, by.nan, by.above, by.below);
  return true;
}

}  // namespace

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (self.is_complex()) {
    return at::view_as_complex(at::nan_to_num(at::view_as_real(self), nan, posinf, neginf).contiguous());
  }
  if (!self.is_floating_point()) return at::clone(self);
  const Replacements by = replacements_for(self.dtype(), nan, posinf, neginf);
  Tensor out;
  if (write_numbers(self, by, out)) return out;
  const Tensor result = at::masked_fill(self, at::isnan(self), Scalar(by.nan));
  return at::masked_fill(at::masked_fill(result, at::eq(self, Scalar(kInfinity)), Scalar(by.above)),
                         at::eq(self, Scalar(-kInfinity)), Scalar(by.below));
}

Tensor& nan_to_num_(Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                    std::optional<double> neginf) {
  if (self.is_floating_point() && write_numbers(self, replacements_for(self.dtype(), nan, posinf, neginf), self)) {
    self.impl()->bump_version();
    return self;
  }
  return self.copy_(at::nan_to_num(self, nan, posinf, neginf));
}

Tensor isfinite(const Tensor& self) {
  if (self.is_complex()) return at::logical_and(at::isfinite(at::real(self)), at::isfinite(at::imag(self)));
  if (!self.is_floating_point()) return at::ones_like(self, TensorOptions(kBool));
  return at::lt(at::abs(self), Scalar(kInfinity));  // false for NaN too
}

namespace {

// Most tensors that differ do so in their first elements already, which are looked at one by one.
bool differs_at_once(const Tensor& self, const Tensor& other) {
  constexpr int64_t kFirst = 16;
  const bool are_plain = self.is_cpu() && other.is_cpu() && self.dtype() == other.dtype() && self.is_contiguous() &&
                         other.is_contiguous() && !is_dispatched();
  return are_plain && dispatch_stored_types(self.dtype(), "equal", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto* const a = self.data_ptr<scalar_t>();
    const int64_t count = std::min(self.numel(), kFirst);
    return !std::equal(a, a + count, other.data_ptr<scalar_t>());
  });
}

}  // namespace

bool equal(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.device() == other.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ",
              self.device(), " and ", other.device(), "!");
  if (self.sizes() != other.sizes()) return false;
  if (self.numel() == 0) return true;
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_meta(), "equal: the answer depends on values, and a tensor on Meta has none");
  if (differs_at_once(self, other)) return false;
  return at::all(at::eq(self, other)).item<bool>();
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  TORCH_CHECK(self.dtype() == other.dtype(), self.dtype(), " did not match ", other.dtype());
  TORCH_CHECK(rtol >= 0, "rtol must be greater than or equal to zero, but got ", rtol);
  TORCH_CHECK(atol >= 0, "atol must be greater than or equal to zero, but got ", atol);
  // Equal values are close, among them infinities of one sign.
  Tensor close = at::eq(self, other);
  if (equal_nan && c10::is_floating_or_complex_type(self.dtype())) {
    close = at::logical_or(close, at::logical_and(at::isnan(self), at::isnan(other)));
  }
  if (rtol == 0 && atol == 0) return close;
  Tensor left = self;
  Tensor right = other;
  // Integers are compared as floating-point numbers, so that nothing wraps around.
  if (!c10::is_floating_or_complex_type(self.dtype())) {
    left = self.to(kDouble, false);
    right = other.to(kDouble, false);
  }
  const Tensor allowed = at::add(at::abs(at::mul(right, Scalar(rtol))), Scalar(atol));
  const Tensor difference = at::abs(at::sub(left, right));
  return at::logical_or(close, at::logical_and(at::isfinite(difference), at::le(difference, allowed)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return at::all(at::isclose(self, other, rtol, atol, equal_nan)).item<bool>();
}

}  // namespace at::native
