// Normalisation.

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>

#include <limits>

namespace at::native {

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps) {
  const int64_t count = static_cast<int64_t>(normalized_shape.size());
  TORCH_CHECK(count >= 1,
              "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
              "element, but got normalized_shape = ",
              normalized_shape);
  TORCH_CHECK(!weight.defined() || weight.sizes() == normalized_shape,
              "Expected weight to be of same shape as normalized_shape, but got weight of shape ",
              weight.sizes(), " and normalized_shape = ", normalized_shape);
  TORCH_CHECK(!bias.defined() || bias.sizes() == normalized_shape,
              "Expected bias to be of same shape as normalized_shape, but got bias of shape ", bias.sizes(),
              " and normalized_shape = ", normalized_shape);
  const int64_t leading = input.dim() - count;
  TORCH_CHECK(
      leading >= 0 && input.sizes().slice(leading, count) == normalized_shape,
      "Given normalized_shape=", normalized_shape, ", expected input with shape [*",
      [&] {
        std::string text;
        for (const int64_t size : normalized_shape) text += ", " + std::to_string(size);
        return text;
      }(),
      "], but got input of size", input.sizes());
  DimVector dims;
  for (int64_t dim = leading; dim < input.dim(); ++dim) dims.push_back(dim);
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"LayerNormKernelImpl\" not implemented for '", input.dtype(), "'");
  const bool is_reduced = c10::is_reduced_floating_type(input.dtype());  // computed in float32, rounded once
  const Tensor wide = (is_reduced ? input.to(kFloat, false) : input).contiguous();
  const Tensor centered = at::sub(wide, at::mean(wide, IntArrayRef(dims), /*keepdim=*/true));
  const Tensor variance = at::mean(at::mul(centered, centered), IntArrayRef(dims), /*keepdim=*/true);
  Tensor result = at::mul(centered, at::rsqrt(at::add(variance, Scalar(eps))));
  if (weight.defined()) result = at::mul(result, weight);
  if (bias.defined()) result = at::add(result, bias);
  return is_reduced ? result.to(input.dtype(), false) : result;
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, std::optional<double> eps) {
  const auto count = static_cast<int64_t>(normalized_shape.size());
  TORCH_CHECK(count >= 1, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got ",
              "normalized_shape = ", normalized_shape);
  TORCH_CHECK(!weight.defined() || weight.sizes() == normalized_shape, "Expected weight to be of same shape as normalized_shape, but ",
              "got weight of shape ", weight.defined() ? weight.sizes() : IntArrayRef(), " and normalized_shape = ", normalized_shape);
  const int64_t leading = input.dim() - count;
  TORCH_CHECK(leading >= 0 && input.sizes().slice(leading, count) == normalized_shape, "Given normalized_shape=", normalized_shape,
              ", expected input with shape [*, ", normalized_shape, "], but got input of size ", input.sizes());
  DimVector dims;
  for (int64_t dim = leading; dim < input.dim(); ++dim) dims.push_back(dim);
  const double epsilon = input.dtype() == kDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const bool is_reduced = c10::is_reduced_floating_type(input.dtype());  // whose squares may be beyond its range
  const Tensor wide = is_reduced ? input.to(kFloat, false) : input;
  const Tensor squares = at::mean(at::mul(wide, wide), IntArrayRef(dims), /*keepdim=*/true);
  Tensor result = at::mul(wide, at::rsqrt(at::add(squares, Scalar(eps.value_or(epsilon)))));
  if (weight.defined()) result = at::mul(result, weight);
  return is_reduced ? result.to(input.dtype(), false) : result;
}

// PyTorch has these two for sparse tensors; of a dense one they are `norm`.
Tensor native_norm(const Tensor& self, const Scalar& p) { return at::norm(self, p); }
Tensor native_norm_dim_dtype(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                             std::optional<ScalarType> dtype) {
  return dtype ? at::norm(self, p, dim, keepdim, *dtype) : at::norm(self, p, dim, keepdim);
}

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  const std::optional<Scalar> order(pow);
  if (dim == -1) return at::norm(v, *order);
  DimVector others;
  for (int64_t i = 0; i < v.dim(); ++i) {
    if (i != wrap_dim(dim, v.dim())) others.push_back(i);
  }
  return others.empty() ? at::abs(v) : at::norm(v, order, IntArrayRef(others), /*keepdim=*/true);
}

namespace {

// (values, mean, 1 / deviation) over the last dimension.
std::tuple<Tensor, Tensor, Tensor> standardized(const Tensor& rows, double eps) {
  const Tensor mean = at::mean(rows, IntArrayRef({-1}), /*keepdim=*/true);
  const Tensor centered = at::sub(rows, mean);
  const Tensor scale = at::rsqrt(at::add(at::mean(at::mul(centered, centered), IntArrayRef({-1}), /*keepdim=*/true), Scalar(eps)));
  return {at::mul(centered, scale), mean, scale};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                                                     const Tensor& bias, double eps) {
  const Tensor result = at::layer_norm(input, normalized_shape, weight, bias, eps);  // which checks shapes
  const int64_t leading = input.dim() - static_cast<int64_t>(normalized_shape.size());
  DimVector shape(input.sizes().slice(0, leading));
  shape.push_back(product(normalized_shape));
  const auto [values, mean, scale] = standardized(at::reshape(input, shape), eps);
  DimVector ones(input.sizes().slice(0, leading));
  for (size_t i = 0; i < normalized_shape.size(); ++i) ones.push_back(1);
  return {result, at::detach(at::reshape(mean, ones)), at::detach(at::reshape(scale, ones))};
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t N,
                                                     int64_t C, int64_t HxW, int64_t group, double eps) {
  TORCH_CHECK(group > 0 && C % group == 0, "Expected number of channels in input to be divisible by num_groups, but got input of "
              "shape ", input.sizes(), " and num_groups=", group);
  const auto [values, mean, scale] = standardized(at::reshape(input, {N, group, C / group * HxW}), eps);
  Tensor result = at::reshape(values, {N, C, HxW});
  if (weight.defined()) result = at::mul(result, at::reshape(weight, {1, C, 1}));
  if (bias.defined()) result = at::add(result, at::reshape(bias, {1, C, 1}));
  return {at::reshape(result, input.sizes()), at::reshape(mean, {N, group}), at::reshape(scale, {N, group})};
}

}  // namespace at::native
