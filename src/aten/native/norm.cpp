// Normalisation.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>

#include <limits>

namespace at::native {

namespace {

void check_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias) {
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
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"LayerNormKernelImpl\" not implemented for '", input.dtype(),
                              "'");
  for (const Tensor& values : {weight, bias}) {
    const bool fits = !values.defined() || values.dtype() == input.dtype() ||
                      (values.dtype() == kFloat && c10::is_reduced_floating_type(input.dtype()));
    TORCH_CHECK(fits, "mixed dtype (CPU): expect parameter to have scalar type of Float");
  }
}

}  // namespace

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps) {
  check_layer_norm(input, normalized_shape, weight, bias);
  return std::get<0>(at::_normalize_rows(input, normalized_shape, weight, bias, eps, /*centered=*/true));
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, std::optional<double> eps) {
  const auto count = static_cast<int64_t>(normalized_shape.size());
  TORCH_CHECK(count >= 1,
              "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got ",
              "normalized_shape = ", normalized_shape);
  TORCH_CHECK(!weight.defined() || weight.sizes() == normalized_shape,
              "Expected weight to be of same shape as normalized_shape, but ", "got weight of shape ",
              weight.defined() ? weight.sizes() : IntArrayRef(), " and normalized_shape = ", normalized_shape);
  const int64_t leading = input.dim() - count;
  TORCH_CHECK(leading >= 0 && input.sizes().slice(leading, count) == normalized_shape,
              "Given normalized_shape=", normalized_shape, ", expected input with shape [*, ", normalized_shape,
              "], but got input of size ", input.sizes());
  const double epsilon =
      input.dtype() == kDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  if (!input.is_floating_point()) {  // complex numbers, by their squares
    DimVector dims;
    for (int64_t dim = leading; dim < input.dim(); ++dim) dims.push_back(dim);
    const Tensor squares = at::mean(at::mul(input, input), IntArrayRef(dims), /*keepdim=*/true);
    const Tensor result = at::mul(input, at::rsqrt(at::add(squares, Scalar(eps.value_or(epsilon)))));
    return weight.defined() ? at::mul(result, weight) : result;
  }
  return std::get<0>(
      at::_normalize_rows(input, normalized_shape, weight, {}, eps.value_or(epsilon), /*centered=*/false));
}

// (input - mean) * scale * weight + bias over the last dimensions; the mean and the scale of each row, in the type that
// is computed in (float32 for float16 and bfloat16), which are one-dimensional.
std::tuple<Tensor, Tensor, Tensor> _normalize_rows(const Tensor& input, IntArrayRef normalized_shape,
                                                   const Tensor& weight, const Tensor& bias, double eps,
                                                   bool centered) {
  const bool is_reduced = c10::is_reduced_floating_type(input.dtype());
  const ScalarType computed = is_reduced ? kFloat : input.dtype();
  const auto widened = [&](const Tensor& values) {
    return values.defined() ? at::detail::to_contiguous(at::detail::to_dtype(values, computed)) : values;
  };
  const int64_t leading = input.dim() - static_cast<int64_t>(normalized_shape.size());
  const int64_t rows = product(input.sizes().slice(0, leading));
  Tensor out = at::detail::empty(input.sizes(), input.dtype(), input.device());
  Tensor mean = at::detail::empty({rows}, computed, input.device());
  Tensor scale = at::detail::empty({rows}, computed, input.device());
  run_kernel(normalize_rows_kernels, input.device(), out, mean, scale, at::detail::to_contiguous(input),
             widened(weight), widened(bias), eps, centered);
  return {std::move(out), std::move(mean), std::move(scale)};
}

Tensor _normalize_rows_gradient(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                                const Tensor& mean, const Tensor& scale, bool centered) {
  Tensor out = at::detail::empty(input.sizes(), input.dtype(), input.device());
  const Tensor wide = weight.defined() ? at::detail::to_contiguous(at::detail::to_dtype(weight, mean.dtype())) : weight;
  run_kernel(normalize_rows_gradient_kernels, input.device(), out, at::detail::to_contiguous(grad_output),
             at::detail::to_contiguous(input), wide, mean, scale, centered);
  return out;
}

Tensor _normalize_rows_weight_gradient(const Tensor& grad_output, const Tensor& input, IntArrayRef normalized_shape,
                                       const Tensor& mean, const Tensor& scale) {
  Tensor out = at::detail::empty(normalized_shape, mean.dtype(), input.device());
  run_kernel(normalize_rows_weight_gradient_kernels, input.device(), out, at::detail::to_contiguous(grad_output),
             at::detail::to_contiguous(input), mean, scale);
  return out;
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

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                                                     const Tensor& weight, const Tensor& bias, double eps) {
  check_layer_norm(input, normalized_shape, weight, bias);
  const auto [result, mean, scale] = at::_normalize_rows(input, normalized_shape, weight, bias, eps, /*centered=*/true);
  DimVector shape(input.sizes().slice(0, input.dim() - static_cast<int64_t>(normalized_shape.size())));
  for (size_t i = 0; i < normalized_shape.size(); ++i) shape.push_back(1);
  const ScalarType saved = weight.defined() ? weight.dtype() : input.dtype();
  return {result, at::detail::to_dtype(at::reshape(mean, shape), saved),
          at::detail::to_dtype(at::reshape(scale, shape), saved)};
}

}  // namespace at::native
