// Activations that are more than one arithmetic step, small composites of element-wise operators, and
// closeness.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>

#include <limits>

namespace at::native {

namespace {

bool is_tanh_approximation(std::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh",
              "approximate argument must be either none or tanh.");
  return approximate == "tanh";
}

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

Tensor silu(const Tensor& self) { return at::mul(self, at::sigmoid(self)); }

Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"leaky_relu_cpu\" not implemented for '",
                              self.dtype(), "'");
  return at::where(at::gt(self, Scalar(0)), self, at::mul(self, negative_slope));
}

Tensor dropout(const Tensor& input, double p, bool train) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || input.numel() == 0) return input;
  if (p == 1) return at::mul(input, at::zeros_like(input));
  Tensor noise = at::empty_like(input);
  noise.bernoulli_(1 - p);
  noise.div_(Scalar(1 - p));
  return at::mul(input, noise);
}

Tensor clamp_min(const Tensor& self, const Scalar& min) { return at::clamp(self, min, std::nullopt); }
Tensor clamp_max(const Tensor& self, const Scalar& max) { return at::clamp(self, std::nullopt, max); }

Tensor square(const Tensor& self) { return at::pow(self, Scalar(2)); }

Tensor isnan(const Tensor& self) { return at::ne(self, self); }

Tensor isinf(const Tensor& self) {
  if (!self.is_floating_point()) return at::zeros_like(self, TensorOptions(kBool));
  return at::eq(at::abs(self), Scalar(kInfinity));
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (!self.is_floating_point()) return at::clone(self);
  const double largest = dispatch_stored_types(self.dtype(), "nan_to_num", [](auto type) -> double {
    return std::numeric_limits<typename decltype(type)::type>::max();
  });
  Tensor result = at::masked_fill(self, at::isnan(self), Scalar(nan.value_or(0)));
  result = at::masked_fill(result, at::eq(self, Scalar(kInfinity)), Scalar(posinf.value_or(largest)));
  return at::masked_fill(result, at::eq(self, Scalar(-kInfinity)), Scalar(neginf.value_or(-largest)));
}

Tensor& nan_to_num_(Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                    std::optional<double> neginf) {
  return self.copy_(at::nan_to_num(self, nan, posinf, neginf));
}

Tensor isfinite(const Tensor& self) {
  if (!self.is_floating_point()) return at::ones_like(self, TensorOptions(kBool));
  return at::lt(at::abs(self), Scalar(kInfinity));  // false for NaN too
}

bool equal(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.device() == other.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ",
              self.device(), " and ", other.device(), "!");
  if (self.sizes() != other.sizes()) return false;
  if (self.numel() == 0) return true;
  return at::all(at::eq(self, other)).item<bool>();
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  TORCH_CHECK(self.dtype() == other.dtype(), self.dtype(), " did not match ", other.dtype());
  TORCH_CHECK(rtol >= 0, "rtol must be greater than or equal to zero, but got ", rtol);
  TORCH_CHECK(atol >= 0, "atol must be greater than or equal to zero, but got ", atol);
  // Equal values are close, among them infinities of one sign.
  Tensor close = at::eq(self, other);
  if (equal_nan && self.is_floating_point()) {
    close = at::logical_or(close, at::logical_and(at::isnan(self), at::isnan(other)));
  }
  if (rtol == 0 && atol == 0) return close;
  Tensor left = self;
  Tensor right = other;
  if (!self.is_floating_point()) {  // integers are compared as floating-point numbers, so that nothing wraps
                                    // around
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
