// fake_quantize_*: numbers rounded as quantization would, which stay floating.

#include <aten/native/FakeQuantize.h>

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>

namespace at::native {

namespace {

// Half types are computed in float32.
Tensor widened(const Tensor& self) { return self.element_size() < 4 ? self.to(kFloat) : self; }

// The integers that numbers become, not clamped. What is no number, or infinite, falls below all of them, as where C++
// makes an integer of it. A zero point that is an integer is added after rounding, another one before it.
Tensor levels_of(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min) {
  const Tensor steps = at::mul(widened(self), at::reciprocal(scale));
  const Tensor levels = zero_point.is_floating_point() ? at::round(at::add(steps, zero_point))
                                                       : at::add(at::round(steps), zero_point);
  const auto below = static_cast<double>(quant_min - 1);
  return at::nan_to_num(levels, below, below, below);
}

Tensor quantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min,
                int64_t quant_max) {
  const Tensor clamped =
      at::clamp(levels_of(self, scale, zero_point, quant_min), Scalar(quant_min), Scalar(quant_max));
  return at::mul(at::sub(clamped, zero_point), scale).to(self.dtype());
}

void check_levels(const Tensor& self, int64_t quant_min, int64_t quant_max) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"fake_quantize\" not implemented for '", self.dtype(), "'");
  TORCH_CHECK(quant_min <= quant_max, "`quant_min` should be less than or equal to `quant_max`.");
}

Tensor scale_of(const Tensor& self, double scale) { return at::full({}, scale, self.options().dtype(kFloat)); }
Tensor zero_point_of(const Tensor& self, int64_t zero_point) {
  return at::full({}, zero_point, self.options().dtype(kLong));
}

}  // namespace

Tensor along_axis(const Tensor& self, const Tensor& parameter, int64_t axis) {
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  shape[static_cast<size_t>(axis < 0 ? axis + self.dim() : axis)] = parameter.numel();
  const Tensor along = at::reshape(parameter, shape);
  return parameter.dtype() == kHalf ? along.to(kFloat) : along;
}

Tensor is_within_levels(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min,
                        int64_t quant_max) {
  const Tensor levels = levels_of(self, scale, zero_point, quant_min);
  return at::logical_and(at::ge(levels, Scalar(quant_min)), at::le(levels, Scalar(quant_max)));
}

Tensor is_within_levels(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  return is_within_levels(self, scale_of(self, scale), zero_point_of(self, zero_point), quant_min, quant_max);
}

Tensor fake_quantize_per_tensor_affine(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min,
                                       int64_t quant_max) {
  check_levels(self, quant_min, quant_max);
  TORCH_CHECK(zero_point >= quant_min && zero_point <= quant_max,
              "`zero_point` must be between `quant_min` and `quant_max`.");
  return quantize(self, scale_of(self, scale), zero_point_of(self, zero_point), quant_min, quant_max);
}

Tensor fake_quantize_per_tensor_affine_qparams(const Tensor& self, const Tensor& scale, const Tensor& zero_point,
                                               int64_t quant_min, int64_t quant_max) {
  check_levels(self, quant_min, quant_max);
  TORCH_CHECK(scale.numel() == 1 && zero_point.numel() == 1, "scale and zero_point must have one element each");
  return quantize(self, at::reshape(scale, {}).to(kFloat), at::reshape(zero_point, {}).to(kLong), quant_min,
                  quant_max);
}

Tensor fake_quantize_per_channel_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis,
                                        int64_t quant_min, int64_t quant_max) {
  check_levels(self, quant_min, quant_max);
  TORCH_CHECK(scale.dtype() == kFloat, "Scale must be Float, found ", scale.dtype());
  TORCH_CHECK(zero_point.dtype() == kInt || zero_point.dtype() == kFloat || zero_point.dtype() == kHalf,
              "Zero-point must be Int32, Float or Half, found ", zero_point.dtype());
  TORCH_CHECK(scale.dim() == 1 && zero_point.dim() == 1, "scale and zero_point must be 1-D tensors");
  axis = wrap_dim(axis, self.dim());
  TORCH_CHECK(scale.numel() == zero_point.numel() && scale.numel() == self.sizes()[static_cast<size_t>(axis)],
              "dimensions of scale and zero-point are not consistent with input tensor");
  if (zero_point.dtype() == kInt && zero_point.numel() > 0 && !zero_point.is_meta()) {
    TORCH_CHECK(at::min(zero_point).item<int64_t>() >= quant_min && at::max(zero_point).item<int64_t>() <= quant_max,
                "`zero_point` must be between `quant_min` and `quant_max`.");
  }
  return quantize(self, along_axis(self, scale, axis), along_axis(self, zero_point, axis), quant_min, quant_max);
}

}  // namespace at::native
