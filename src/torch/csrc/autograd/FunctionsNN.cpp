// Gradients of the operators of torch.nn: activations, pooling, windows, padding, batch normalisation.

#include <torch/csrc/autograd/FunctionsManual.h>

#include <aten/ATen.h>
#include <aten/native/FakeQuantize.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace torch::autograd {

// ----------------------------------------------------------------------------------------------- quantization

Tensor fake_quantize_backward(const Tensor& grad, const Tensor& self, double scale, int64_t zero_point,
                              int64_t quant_min, int64_t quant_max) {
  return grad.masked_fill(
      at::native::is_within_levels(self, scale, zero_point, quant_min, quant_max).logical_not(), 0);
}

Tensor fake_quantize_backward(const Tensor& grad, const Tensor& self, const Tensor& scale, const Tensor& zero_point,
                              int64_t quant_min, int64_t quant_max) {
  const Tensor level_of_zero = zero_point.reshape({}).to(at::kLong);
  const Tensor is_within =
      at::native::is_within_levels(self, scale.reshape({}), level_of_zero, quant_min, quant_max);
  return grad.masked_fill(is_within.logical_not(), 0);
}

Tensor fake_quantize_channels_backward(const Tensor& grad, const Tensor& self, const Tensor& scale,
                                       const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max) {
  const Tensor is_within =
      at::native::is_within_levels(self, at::native::along_axis(self, scale, axis),
                                   at::native::along_axis(self, zero_point, axis), quant_min, quant_max);
  return grad.masked_fill(is_within.logical_not(), 0);
}

// ------------------------------------------------------------------------------------------------ activations

Tensor sigmoid_slope(const Tensor& self) {
  const Tensor sigmoid = at::sigmoid(self);
  return sigmoid * (1 - sigmoid);
}

Tensor silu_curvature(const Tensor& self) {
  const Tensor sigmoid = at::sigmoid(self);
  const Tensor slope = sigmoid * (1 - sigmoid);
  return slope * (2 + self * (1 - sigmoid * 2));
}

Tensor mish_curvature(const Tensor& self) {
  const Tensor sigmoid = at::sigmoid(self);
  const Tensor tanh = at::tanh(at::softplus(self));
  const Tensor rest = 1 - tanh * tanh;
  return rest * sigmoid * (2 + self * (1 - sigmoid - tanh * sigmoid * 2));
}

Tensor hardswish_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self) {
  return at::where(at::logical_and(self > -3, self < 3), grad * grad_output / 3, 0);
}

Tensor elu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Scalar& alpha,
                           const Scalar& scale, const Scalar& input_scale) {
  const double factor = alpha.toDouble() * scale.toDouble() * input_scale.toDouble() * input_scale.toDouble();
  const Tensor curvature = at::exp(at::clamp_max(self, 0) * input_scale) * factor;
  return at::where(self > 0, 0, grad * grad_output * curvature);
}

Tensor softplus_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Scalar& beta,
                                const Scalar& threshold) {
  const Tensor scaled = self * beta;
  return at::where(scaled > threshold, 0, grad * grad_output * sigmoid_slope(scaled) * beta);
}

// Of a * sigmoid(b), in the direction of `grad`.
Tensor glu_tangent(const Tensor& grad, const Tensor& self, int64_t dim) {
  const std::vector<Tensor> parts = self.chunk(2, dim);
  const std::vector<Tensor> grads = grad.chunk(2, dim);
  return grads[0] * at::sigmoid(parts[1]) + grads[1] * parts[0] * sigmoid_slope(parts[1]);
}

Tensor glu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const std::vector<Tensor> parts = self.chunk(2, dim);
  const std::vector<Tensor> grads = grad.chunk(2, dim);
  const Tensor slope = grad_output * sigmoid_slope(parts[1]);
  const Tensor curvature = slope * (1 - 2 * at::sigmoid(parts[1]));
  return at::cat({grads[1] * slope, grads[0] * slope + grads[1] * parts[0] * curvature}, dim);
}

// ------------------------------------------------------------------------------------------------ pooling

Tensor max_pool_backward(const Tensor& grad, const Tensor& indices, IntArrayRef sizes, int64_t dims) {
  const auto leading = static_cast<int64_t>(sizes.size()) - dims;
  // Channels that lie last, as in the input, stay last, so that nothing is copied.
  const bool channels_last = indices.suggest_memory_format() != at::MemoryFormat::Contiguous;
  const auto planes = [&](const Tensor& tensor) {
    const Tensor flat = tensor.flatten(leading);
    return channels_last ? flat.transpose(1, 2) : flat;
  };
  std::vector<int64_t> flat(sizes.begin(), sizes.begin() + leading);
  flat.push_back(1);
  for (int64_t dim = leading; dim < leading + dims; ++dim) flat.back() *= sizes[dim];
  const int64_t across = channels_last ? 1 : leading;
  if (channels_last) std::swap(flat[1], flat[2]);
  const Tensor sums = zeros_beside(grad, flat).scatter_add_(across, planes(indices), planes(grad));
  return (channels_last ? sums.transpose(1, 2) : sums).view(sizes);
}

Tensor adaptive_avg_pool_double_backward(const Tensor& grad, IntArrayRef output_sizes, int64_t dims) {
  const IntArrayRef windows =
      output_sizes.slice(output_sizes.size() - static_cast<size_t>(dims), static_cast<size_t>(dims));
  return dims == 2 ? at::_adaptive_avg_pool2d(grad, windows) : at::_adaptive_avg_pool3d(grad, windows);
}

// ------------------------------------------------------------------------------------------------ windows and padding

Tensor im2col_backward(const Tensor& grad, IntArrayRef sizes, IntArrayRef kernel_size, IntArrayRef dilation,
                       IntArrayRef padding, IntArrayRef stride) {
  const size_t leading = sizes.size() - (grad.dim() == 3 ? 2 : 1);
  return at::col2im(grad, sizes.slice(sizes.size() - leading, leading), kernel_size, dilation, padding, stride);
}

Tensor col2im_backward(const Tensor& grad, IntArrayRef sizes, IntArrayRef kernel_size, IntArrayRef dilation,
                       IntArrayRef padding, IntArrayRef stride) {
  return at::im2col(grad, kernel_size, dilation, padding, stride).view(sizes);
}

Tensor constant_pad_nd_backward(const Tensor& grad, IntArrayRef pad) {
  std::vector<int64_t> inverse;
  for (const int64_t amount : pad) inverse.push_back(-amount);
  return at::constant_pad_nd(grad, inverse, 0);
}

// ------------------------------------------------------------------------------------------------ batch normalisation

namespace {

std::vector<int64_t> all_but_channels(const Tensor& tensor) {
  std::vector<int64_t> dims{0};
  for (int64_t dim = 2; dim < tensor.dim(); ++dim) dims.push_back(dim);
  return dims;
}

Tensor along_channels(const Tensor& values, const Tensor& like) {
  std::vector<int64_t> shape(static_cast<size_t>(like.dim()), 1);
  shape[1] = -1;
  return values.reshape(shape);
}

// What the input was normalised to, and one over its deviation, as functions of the input in training.
struct Normalised {
  Tensor values;
  Tensor invstd;
};

Normalised normalise(const Tensor& input, const Tensor& mean, const Tensor& invstd, bool training, double eps) {
  if (!training) {
    const Tensor scale = along_channels(invstd, input);
    return {(input - along_channels(mean, input)) * scale, scale};
  }
  const std::vector<int64_t> dims = all_but_channels(input);
  const Tensor centered = input - input.mean(dims, true);
  const Tensor scale = at::rsqrt((centered * centered).mean(dims, true) + eps);
  return {centered * scale, scale};
}

}  // namespace

std::vector<Tensor> batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                        const Tensor& mean, const Tensor& invstd, bool training, double eps,
                                        bool of_input, bool of_weights) {
  if (!c10::GradMode::is_enabled()) {
    auto [grad_input, grad_weight, grad_bias] =
        at::_batch_norm_gradients(grad, input, weight, mean, invstd, training, of_input, of_weights);
    return {std::move(grad_input), std::move(grad_weight), std::move(grad_bias)};
  }
  std::vector<Tensor> gradients(3);
  const Normalised x = normalise(input, mean, invstd, training, eps);
  const std::vector<int64_t> dims = all_but_channels(input);
  if (of_weights) {
    gradients[1] = (grad * x.values).sum(dims);
    gradients[2] = grad.sum(dims);
  }
  if (!of_input) return gradients;
  const Tensor weighted = weight.defined() ? grad * along_channels(weight, grad) : grad;
  gradients[0] =
      training ? (weighted - weighted.mean(dims, true) - x.values * (weighted * x.values).mean(dims, true)) * x.invstd
               : weighted * x.invstd;
  return gradients;
}

namespace {

// The input's rows normalised again, as functions of it.
Normalised normalise_rows(const Tensor& input, const std::vector<int64_t>& dims, double eps, bool centered) {
  const Tensor wide = c10::is_reduced_floating_type(input.dtype()) ? input.to(at::kFloat) : input;
  const Tensor deviations = centered ? wide - wide.mean(dims, true) : wide;
  const Tensor scale = at::rsqrt((deviations * deviations).mean(dims, true) + eps);
  return {deviations * scale, scale};
}

std::vector<int64_t> dims_between(int64_t first, int64_t last) {
  std::vector<int64_t> dims;
  for (int64_t dim = first; dim < last; ++dim) dims.push_back(dim);
  return dims;
}

// As (batch, channels, ...), which it mostly is already.
Tensor with_channels(const Tensor& input, int64_t batch, int64_t channels, int64_t elements) {
  const bool has_them = input.dim() >= 2 && input.sizes()[0] == batch && input.sizes()[1] == channels;
  return has_them ? input : input.reshape({batch, channels, elements});
}

}  // namespace

std::vector<Tensor> group_norm_backward(const std::vector<Tensor>& grads, const Tensor& input, const Tensor& weight,
                                        const Tensor& mean, const Tensor& invstd, int64_t batch, int64_t channels,
                                        int64_t elements, int64_t groups, double eps, bool of_input, bool of_weights) {
  std::vector<Tensor> gradients(3);
  of_weights = of_weights && grads[0].defined();
  if (grads[0].defined() && !c10::GradMode::is_enabled()) {
    const bool is_of_result = !grads[1].defined() && !grads[2].defined();
    const auto [grad_input, grad_weight, grad_bias] = at::_batch_norm_gradients(
        with_channels(grads[0], batch, channels, elements), with_channels(input, batch, channels, elements), weight,
        mean, invstd, /*training=*/true, of_input && is_of_result, of_weights);
    gradients[1] = grad_weight;
    gradients[2] = grad_bias;
    of_weights = false;
    if (of_input && is_of_result) gradients[0] = grad_input.reshape(input.sizes());
    of_input = of_input && !is_of_result;
  }
  if (!of_input && !of_weights) return gradients;
  const std::vector<int64_t> sizes{batch, groups, channels / groups * elements};
  const Normalised x = normalise_rows(input.reshape(sizes), {2}, eps, true);
  if (of_weights) {
    const Tensor grad = with_channels(grads[0], batch, channels, elements);
    const std::vector<int64_t> dims = all_but_channels(grad);
    gradients[1] = (grad * x.values.reshape(grad.sizes())).sum(dims);
    gradients[2] = grad.sum(dims);
  }
  if (!of_input) return gradients;
  Tensor slopes = at::zeros_like(x.values);
  if (grads[0].defined()) {
    const Tensor grad = grads[0].reshape({batch, channels, elements});
    const Tensor weighted = (weight.defined() ? grad * along_channels(weight, grad) : grad).reshape(sizes);
    slopes = (weighted - weighted.mean({2}, true) - x.values * (weighted * x.values).mean({2}, true)) * x.invstd;
  }
  const auto count = static_cast<double>(sizes[2]);
  if (grads[1].defined()) slopes = slopes + grads[1].reshape({batch, groups, 1}) / count;
  if (grads[2].defined())
    slopes = slopes - grads[2].reshape({batch, groups, 1}) * x.values * x.invstd * x.invstd / count;
  gradients[0] = slopes.reshape(input.sizes());
  return gradients;
}

Tensor normalize_rows_input_backward(const Tensor& grad, const Tensor& input, at::IntArrayRef normalized_shape,
                                     const Tensor& weight, const Tensor& mean, const Tensor& scale, double eps,
                                     bool centered) {
  if (!c10::GradMode::is_enabled())
    return at::_normalize_rows_gradient(grad, input, weight, mean, scale, centered);
  const std::vector<int64_t> dims =
      dims_between(input.dim() - static_cast<int64_t>(normalized_shape.size()), input.dim());
  const Normalised x = normalise_rows(input, dims, eps, centered);
  const Tensor weighted = weight.defined() ? grad * weight : grad;
  const Tensor across = weighted - x.values * (weighted * x.values).mean(dims, true);
  return (centered ? across - weighted.mean(dims, true) : across) * x.invstd;
}

Tensor normalize_rows_weight_backward(const Tensor& grad, const Tensor& input, at::IntArrayRef normalized_shape,
                                      const Tensor& mean, const Tensor& scale, double eps, bool centered) {
  if (!c10::GradMode::is_enabled())
    return at::_normalize_rows_weight_gradient(grad, input, normalized_shape, mean, scale);
  const int64_t leading = input.dim() - static_cast<int64_t>(normalized_shape.size());
  const Tensor product = grad * normalise_rows(input, dims_between(leading, input.dim()), eps, centered).values;
  return leading == 0 ? product : product.sum(dims_between(0, leading));
}

Tensor normalize_rows_bias_backward(const Tensor& grad, at::IntArrayRef normalized_shape) {
  const int64_t leading = grad.dim() - static_cast<int64_t>(normalized_shape.size());
  return leading == 0 ? grad : grad.sum(dims_between(0, leading));
}

// ------------------------------------------------------------------------------------------------ attention

std::vector<Tensor> attention_backward(const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                                       const Tensor& output, const Tensor& logsumexp, bool is_causal,
                                       const Tensor& mask, std::optional<double> scale) {
  if (!c10::GradMode::is_enabled()) {
    auto [grad_query, grad_key, grad_value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        grad, query, key, value, output, logsumexp, 0, is_causal, mask, scale);
    return {grad_query, grad_key, grad_value};
  }
  // That can be differentiated again.
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  Tensor scores = at::matmul(query, key.transpose(-2, -1)) * factor;
  if (mask.defined()) scores = scores + mask;
  if (is_causal) {
    const Tensor seen = at::tril(at::ones({query.size(-2), key.size(-2)}, query.options().dtype(at::kBool)));
    scores = at::masked_fill(scores, at::logical_not(seen), at::Scalar(-std::numeric_limits<double>::infinity()));
  }
  const Tensor weights = at::_safe_softmax(scores, -1);
  const Tensor slopes = at::matmul(grad, value.transpose(-2, -1));
  const Tensor score_slopes = weights * (slopes - (slopes * weights).sum({-1}, true)) * factor;
  return {at::matmul(score_slopes, key), at::matmul(score_slopes.transpose(-2, -1), query),
          at::matmul(weights.transpose(-2, -1), grad)};
}

namespace {

// As recurrence_backward, by the history of a recurrence of operators: that can be differentiated again.
std::vector<Tensor> recurrence_backward_by_operators(const variable_list& grads, const Tensor& input,
                                                     const at::native::RecurrenceState& state,
                                                     const at::native::RecurrenceWeights& weights,
                                                     IntArrayRef batch_sizes, at::native::Cell cell, bool reverse) {
  // An input may come from another one: what is asked for ends at these.
  const auto own = [](const Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    return tensor.requires_grad() ? tensor.view_as(tensor) : tensor.detach().requires_grad_();
  };
  const variable_list inputs{own(input),        own(state.h),      own(state.c),      own(weights.w_ih),
                             own(weights.w_hh), own(weights.b_ih), own(weights.b_hh), own(weights.w_hr)};
  const auto [output, last] = at::native::run_recurrence_by_operators(
      cell, inputs[0], {inputs[1], inputs[2]}, {inputs[3], inputs[4], inputs[5], inputs[6], inputs[7]}, batch_sizes,
      reverse);
  variable_list results;
  variable_list gradients;
  for (size_t index = 0; index < grads.size(); ++index) {
    if (!grads[index].defined()) continue;
    results.push_back(index == 0 ? output : index == 1 ? last.h : last.c);
    gradients.push_back(grads[index]);
  }
  variable_list wanted;
  for (const Tensor& tensor : inputs) {
    if (tensor.defined()) wanted.push_back(tensor);
  }
  const variable_list found =
      torch::autograd::grad(results, wanted, gradients, std::nullopt, /*create_graph=*/true, /*allow_unused=*/true);
  variable_list every(inputs.size());
  for (size_t index = 0, next = 0; index < inputs.size(); ++index) {
    if (inputs[index].defined()) every[index] = found[next++];
  }
  return every;
}

}  // namespace

std::vector<Tensor> recurrence_backward(const std::vector<Tensor>& grads, const Tensor& input,
                                        const at::native::RecurrenceState& state,
                                        const at::native::RecurrenceWeights& weights, const Tensor& output,
                                        const Tensor& gates, const Tensor& kept, IntArrayRef batch_sizes, int64_t cell,
                                        bool reverse, bool needs_input) {
  const bool is_needed = std::any_of(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); });
  if (!is_needed) return std::vector<Tensor>(8);
  if (c10::GradMode::is_enabled()) {
    return recurrence_backward_by_operators(grads, input, state, weights, batch_sizes,
                                            static_cast<at::native::Cell>(cell), reverse);
  }
  auto [wide_grad_gates, wide_grad_state_gates, grad_h, grad_c, wide_before, unprojected, grad_projected] =
      at::_recurrence_backward(grads[0], grads[1], grads.size() > 2 ? grads[2] : Tensor(), output, state.h, state.c,
                               weights.w_hh, weights.w_hr, gates, kept, batch_sizes, cell, reverse);
  // Products of all steps in the type of the operands.
  const auto narrow = [&](const Tensor& tensor) { return tensor.to(input.dtype()); };
  const Tensor grad_gates = narrow(wide_grad_gates);
  const bool is_shared = wide_grad_gates.is_same(wide_grad_state_gates);
  const Tensor grad_state_gates = is_shared ? grad_gates : narrow(wide_grad_state_gates);
  std::vector<Tensor> gradients(8);
  if (needs_input) gradients[0] = grad_gates.mm(weights.w_ih);
  gradients[1] = grad_h;
  gradients[2] = grad_c;
  gradients[3] = grad_gates.t().mm(input);
  gradients[4] = grad_state_gates.t().mm(narrow(wide_before));
  if (weights.b_ih.defined()) gradients[5] = grad_gates.sum({0});
  if (weights.b_hh.defined())
    gradients[6] = is_shared && gradients[5].defined() ? gradients[5] : grad_state_gates.sum({0});
  if (weights.w_hr.defined()) gradients[7] = narrow(grad_projected).t().mm(narrow(unprojected));
  return gradients;
}

}  // namespace torch::autograd
