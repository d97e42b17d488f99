// Normalisation of channels (dimension 1) by the moments of a batch or by running ones.
//
// With n elements per channel, x' = (x - mean) * invstd and y = x' * weight + bias, the gradient of the input is
// invstd * weight * (g - sum(g) / n - x' * sum(g * x') / n) in training, and invstd * weight * g otherwise. Both
// directions are channel-wise sums and then one affine step per element.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>

#include <cmath>
#include <numeric>

namespace at::native {

namespace {

// (C) as (1, C, 1, ...)
Tensor along_channels(const Tensor& values, const Tensor& input) {
  DimVector shape(input.dim(), 1);
  shape[1] = input.sizes()[1];
  return at::reshape(values, shape);
}

// The type that is computed in, and that numbers per channel have.
ScalarType computed_type(const Tensor& input) {
  return c10::is_reduced_floating_type(input.dtype()) ? kFloat : input.dtype();
}

// float16 and bfloat16 are computed in float32 from end to end, and rounded once.
Tensor widened(const Tensor& values) {
  return values.defined() ? at::detail::to_dtype(values, computed_type(values)) : values;
}

// The functions below take C numbers, or N * C: then the channels of each sample are on their own.

// Mean and variance (over n, not n - 1) of each channel; of each sample's, if they are to have two dimensions.
std::pair<Tensor, Tensor> channel_moments(const Tensor& input, IntArrayRef sizes) {
  Tensor mean = at::detail::empty(sizes, computed_type(input), input.device());
  Tensor variance = at::detail::empty(sizes, computed_type(input), input.device());
  run_kernel(channel_moments_kernels, input.device(), mean, variance, input);
  return {std::move(mean), std::move(variance)};
}
std::pair<Tensor, Tensor> channel_moments(const Tensor& input) { return channel_moments(input, {input.sizes()[1]}); }

// sum(grad) and sum(grad * (input - mean)) of each channel.
std::pair<Tensor, Tensor> channel_products(const Tensor& grad, const Tensor& input, const Tensor& mean) {
  const int64_t numbers = mean.numel();
  Tensor sum = at::detail::empty({numbers}, mean.dtype(), input.device());
  Tensor product = at::detail::empty({numbers}, mean.dtype(), input.device());
  run_kernel(channel_products_kernels, input.device(), sum, product, grad, input, at::detail::to_contiguous(mean));
  return {std::move(sum), std::move(product)};
}

// input * scale + other * other_scale + shift, in the input's type; `other` may be undefined.
Tensor channel_affine(const Tensor& input, const Tensor& scale, const Tensor& other, const Tensor& other_scale,
                      const Tensor& shift) {
  const Tensor out = at::detail::empty(input.sizes(), input.options(), input.suggest_memory_format());
  run_kernel(channel_affine_kernels, input.device(), out, input, at::detail::to_contiguous(scale), other,
             other.defined() ? at::detail::to_contiguous(other_scale) : other_scale, at::detail::to_contiguous(shift));
  return out;
}

// Dense, with the channels last if they lie so: what the kernels take.
Tensor dense_channels(const Tensor& input, MemoryFormat format) {
  // Where both readings fit, the kernels see a contiguous tensor.
  return input.is_contiguous() ? input : at::detail::to_contiguous(input, format);
}

// `values` laid out as `dense` is, which dense_channels() made.
Tensor like(const Tensor& dense, const Tensor& values) {
  return at::detail::to_contiguous(values,
                                   dense.is_contiguous() ? MemoryFormat::Contiguous : dense.suggest_memory_format());
}

// The type that users see numbers per channel in: the input's own, or float32 beside a reduced one.
ScalarType channel_type(const Tensor& input, std::initializer_list<Tensor> channels) {
  ScalarType result = input.dtype();
  for (const Tensor& values : channels) {
    if (!values.defined() || values.dtype() == input.dtype()) continue;
    TORCH_CHECK(values.dtype() == kFloat, "mixed dtype (CPU): expect parameter to have scalar type of Float");
    TORCH_CHECK(c10::is_reduced_floating_type(input.dtype()),
                "mixed dtype (CPU): all inputs must share same datatype.");
    result = kFloat;
  }
  for (const Tensor& values : channels) {
    TORCH_CHECK(!values.defined() || values.dtype() == result,
                "mixed dtype (CPU): all inputs must share same datatype.");
  }
  return result;
}

void check_channels(const Tensor& values, const char* name, const Tensor& input) {
  TORCH_CHECK(!values.defined() || (values.dim() == 1 && values.numel() == input.sizes()[1]), name, " should contain ",
              input.sizes()[1], " elements not ", values.defined() ? values.numel() : 0);
}

// Of each channel, or group of channels, its mean and 1 / deviation; and for each channel what multiplies it and what
// is added then.
struct Factors {
  Tensor mean, invstd;  // C; of groups N * groups
  Tensor scale, shift;  // C; of groups N * C
};

// Whether a kernel may be given all of them.
bool are_plain(ScalarType dtype, std::initializer_list<Tensor> channels) {
  return std::all_of(channels.begin(), channels.end(), [&](const Tensor& values) {
    return !values.defined() || (values.dtype() == dtype && values.is_contiguous());
  });
}

// By the moments of a batch, which move the running ones by `momentum`.
Factors channel_factors(const Tensor& mean, const Tensor& variance, const Tensor& weight, const Tensor& bias,
                        const Tensor& running_mean, const Tensor& running_var, double momentum, double correction,
                        double eps) {
  if (channel_factors_kernels.has(mean.device_type()) &&
      are_plain(mean.dtype(), {mean, variance, weight, bias, running_mean, running_var})) {
    const auto make = [&] { return at::detail::empty(mean.sizes(), mean.dtype(), mean.device()); };
    const Factors factors{mean, make(), make(), make()};
    run_kernel(channel_factors_kernels, mean.device(), factors.invstd, factors.scale, factors.shift, running_mean,
               running_var, mean, variance, weight, bias, momentum, correction, eps);
    for (const Tensor& moved : {running_mean, running_var}) {
      if (moved.defined()) moved.impl()->bump_version();
    }
    return factors;
  }
  Tensor old_mean = running_mean;
  Tensor old_variance = running_var;
  if (old_mean.defined()) old_mean.lerp_(at::detail::to_dtype(mean, old_mean.dtype()), Scalar(momentum));
  if (old_variance.defined()) {
    old_variance.lerp_(at::mul(at::detail::to_dtype(variance, old_variance.dtype()), Scalar(correction)),
                       Scalar(momentum));
  }
  const Tensor invstd = at::rsqrt(at::add(variance, Scalar(eps)));
  const Tensor scale = weight.defined() ? at::mul(invstd, widened(weight)) : invstd;
  const Tensor drift = at::mul(mean, scale);
  return {mean, invstd, scale, bias.defined() ? at::sub(widened(bias), drift) : at::neg(drift)};
}

Factors batch_factors(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                      const Tensor& running_var, double momentum, double eps) {
  const auto [mean, variance] = channel_moments(input);
  const auto count = static_cast<double>(input.numel() / std::max<int64_t>(1, input.sizes()[1]));
  return channel_factors(mean, variance, weight, bias, running_mean, running_var, momentum, count / (count - 1), eps);
}

Factors running_factors(const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                        double eps) {
  return channel_factors(widened(running_mean), widened(running_var), weight, bias, {}, {}, 0, 1, eps);
}

// From the moments of all channels.
Factors group_factors(const Tensor& means, const Tensor& variances, const Tensor& weight, const Tensor& bias,
                           int64_t batch, int64_t channels, int64_t groups, double eps) {
  const DimVector in_groups{batch, groups, channels / groups};
  const Tensor grouped = at::reshape(means, in_groups);
  const Tensor mean = at::mean(grouped, IntArrayRef({-1}), /*keepdim=*/true);
  const Tensor drift = at::sub(grouped, mean);
  const Tensor variance =
      at::mean(at::add(at::reshape(variances, in_groups), at::mul(drift, drift)), IntArrayRef({-1}), true);
  const Tensor invstd = at::rsqrt(at::add(variance, Scalar(eps)));
  Tensor scale = at::reshape(at::expand(invstd, in_groups), {batch, channels});
  Tensor shift = at::neg(at::mul(at::reshape(at::expand(mean, in_groups), {batch, channels}), scale));
  if (weight.defined()) {
    scale = at::mul(scale, weight);
    shift = at::mul(shift, weight);
  }
  if (bias.defined()) shift = at::add(shift, bias);
  return {mean, invstd, scale, shift};
}

// The same in one pass: of small images, a dozen calls would take longer than all else. Without weight and bias groups
// have one scale and one shift.
Factors group_factors_cpu(const Tensor& means, const Tensor& variances, const Tensor& weight, const Tensor& bias,
                               int64_t batch, int64_t channels, int64_t groups, double eps) {
  const auto make = [&](int64_t count) { return at::detail::empty({count}, means.dtype(), means.device()); };
  const int64_t size = weight.defined() || bias.defined() ? channels / groups : 1;
  const int64_t scaled = batch * groups * size;
  const Factors factors{make(batch * groups), make(batch * groups), make(scaled), make(scaled)};
  const int64_t parts = means.numel() / std::max<int64_t>(1, batch * groups);
  const Tensor weights = weight.defined() ? at::detail::to_contiguous(weight) : weight;
  const Tensor biases = bias.defined() ? at::detail::to_contiguous(bias) : bias;
  dispatch_floating_types(means.dtype(), "group_norm", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* const weight_of = weights.defined() ? weights.data_ptr<T>() : nullptr;
    const T* const bias_of = biases.defined() ? biases.data_ptr<T>() : nullptr;
    const T* from = means.data_ptr<T>();
    const T* variance_of = variances.data_ptr<T>();
    T* scale = factors.scale.template data_ptr<T>();
    T* shift = factors.shift.template data_ptr<T>();
    T* const mean_of = factors.mean.template data_ptr<T>();
    T* const invstd_of = factors.invstd.template data_ptr<T>();
    for (int64_t i = 0; i < batch * groups; ++i) {
      double mean = from[0];
      double variance = variance_of[0];
      if (parts > 1) {
        mean = std::accumulate(from, from + parts, 0.0) / static_cast<double>(parts);
        variance = 0;
        for (int64_t j = 0; j < parts; ++j) variance += variance_of[j] + (from[j] - mean) * (from[j] - mean);
        variance /= static_cast<double>(parts);
      }
      const double invstd = 1 / std::sqrt(variance + eps);
      mean_of[i] = static_cast<T>(mean);
      invstd_of[i] = static_cast<T>(invstd);
      const int64_t first = i % groups * size;
      for (int64_t j = 0; j < size; ++j) {
        const double factor = weight_of ? invstd * weight_of[first + j] : invstd;
        scale[j] = static_cast<T>(factor);
        shift[j] = static_cast<T>((bias_of ? bias_of[first + j] : 0) - mean * factor);
      }
      from += parts, variance_of += parts, scale += size, shift += size;
    }
  });
  return factors;
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, bool training, double momentum, double eps,
                  [[maybe_unused]] bool cudnn_enabled) {
  return std::get<0>(at::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                     const Tensor& running_mean, const Tensor& running_var,
                                                     bool training, double momentum, double eps) {
  TORCH_CHECK(input.dim() >= 2, "batch_norm: expected an input of at least 2 dimensions, but got one of size ",
              input.sizes());
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"batch_norm\" not implemented for '", input.dtype(), "'");
  TORCH_CHECK(training || (running_mean.defined() && running_var.defined()),
              "running_mean and running_var must be defined in evaluation mode");
  for (const auto& [values, name] : {std::pair<const Tensor&, const char*>{weight, "weight"},
                                     {bias, "bias"},
                                     {running_mean, "running_mean"},
                                     {running_var, "running_var"}}) {
    check_channels(values, name, input);
  }
  const ScalarType saved_type = channel_type(input, {weight, bias, running_mean, running_var});
  const MemoryFormat format = input.suggest_memory_format();
  const Tensor dense = dense_channels(input, format);
  const auto [mean, invstd, scale, shift] =
      training ? batch_factors(dense, weight, bias, running_mean, running_var, momentum, eps)
               : running_factors(weight, bias, running_mean, running_var, eps);
  return {at::detail::to_contiguous(channel_affine(dense, scale, {}, {}, shift), format),
          at::detail::to_dtype(mean, saved_type), at::detail::to_dtype(invstd, saved_type)};
}

namespace {

// Of which elements moments were taken: of a channel in all samples, or, where there is a line of them for each sample,
// of a group of channels in one.
struct Groups {
  int64_t samples, count, channels;  // channels of each
  Groups(const Tensor& input, const Tensor& mean)
      : samples(mean.dim() == 2 ? mean.sizes()[0] : 1),
        count(mean.sizes().back()),
        channels(input.sizes()[1] / std::max<int64_t>(1, count)) {}

  // Numbers of each group for its channels, of channels for each sample, and the sums over the channels of a group.
  Tensor spread(const Tensor& values) const {
    const Tensor rows = at::reshape(values, {samples, count, 1});
    return at::reshape(at::expand(rows, {samples, count, channels}), {-1});
  }
  Tensor repeated(const Tensor& values) const { return samples == 1 ? values : values.repeat({samples}); }
  Tensor gathered(const Tensor& values) const {
    return at::sum(at::reshape(values, {samples, count, channels}), {-1}, false);
  }
};

}  // namespace

std::tuple<Tensor, Tensor, Tensor> _batch_norm_gradients(const Tensor& grad_output, const Tensor& input,
                                                         const Tensor& weight, const Tensor& mean,
                                                         const Tensor& invstd, bool training, bool of_input,
                                                         bool of_weights) {
  const MemoryFormat format = input.suggest_memory_format();
  const Tensor dense = dense_channels(input, format);
  const Tensor grad = like(dense, grad_output);
  const bool is_grouped = mean.dim() == 2;
  if (is_grouped && !weight.defined() && !of_weights && of_input && dense.is_contiguous()) {  // each group is a channel
    const auto in_pieces = [&](const Tensor& values) {
      return at::reshape(values, {mean.sizes()[0], mean.sizes()[1], -1});
    };
    const auto [slopes, none, nothing] = at::_batch_norm_gradients(
        in_pieces(grad), in_pieces(dense), {}, at::reshape(mean, {-1}), at::reshape(invstd, {-1}), training,
        /*of_input=*/true, /*of_weights=*/false);
    return {at::reshape(slopes, input.sizes()), Tensor(), Tensor()};
  }
  const Groups groups(input, mean);
  const auto spread = [&](const Tensor& values) { return is_grouped ? groups.spread(values) : values; };
  const auto added = [&](const Tensor& values) {
    const Tensor sums =
        is_grouped ? at::sum(at::reshape(values, {groups.samples, input.sizes()[1]}), {0}, false) : values;
    return at::detail::to_dtype(sums, mean.dtype());
  };
  const Tensor scales = widened(invstd);
  const Tensor middles = widened(mean);
  const auto count = static_cast<double>(input.numel() / std::max<int64_t>(1, mean.numel()));
  Tensor sum, product;
  if (training || of_weights) std::tie(sum, product) = channel_products(grad, dense, spread(middles));
  Tensor grad_input, grad_weight;
  if (of_input && training && !is_grouped && channel_gradient_factors_kernels.has(input.device_type()) &&
      are_plain(middles.dtype(), {middles, scales, weight})) {
    const auto make = [&] { return at::detail::empty(sum.sizes(), sum.dtype(), sum.device()); };
    const Tensor scale = make(), slope = make(), shift = make(), slopes_of_weight = make();
    run_kernel(channel_gradient_factors_kernels, input.device(), scale, slope, shift, slopes_of_weight, sum, product,
               middles, scales, weight, count);
    grad_input = channel_affine(grad, scale, dense, slope, shift);
    if (of_weights) grad_weight = at::detail::to_dtype(slopes_of_weight, mean.dtype());
  } else if (of_input) {
    const Tensor weights = weight.defined() ? groups.repeated(widened(weight)) : weight;
    const auto weighted = [&](const Tensor& values) { return weight.defined() ? at::mul(values, weights) : values; };
    const Tensor scale = weighted(spread(scales));
    if (training) {
      const auto average = [&](const Tensor& sums) {
        return at::div(is_grouped ? groups.gathered(weighted(sums)) : weighted(sums), Scalar(count));
      };
      // -invstd^3 * product / n for each unit of x - mean
      const Tensor slope = at::neg(at::mul(at::mul(scales, at::mul(scales, scales)), average(product)));
      const Tensor shift = at::neg(at::add(at::mul(average(sum), scales), at::mul(middles, slope)));
      grad_input = channel_affine(grad, scale, dense, spread(slope), spread(shift));
    } else {
      grad_input = channel_affine(grad, scale, {}, {}, at::zeros_like(scale));
    }
  }
  if (of_input) grad_input = at::detail::to_contiguous(grad_input, format);
  if (!of_weights) return {std::move(grad_input), Tensor(), Tensor()};
  if (!grad_weight.defined()) grad_weight = added(at::mul(product, spread(scales)));
  return {std::move(grad_input), std::move(grad_weight), added(sum)};
}

std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit(const Tensor& input, const Tensor& weight,
                                                            const Tensor& bias, const Tensor& running_mean,
                                                            const Tensor& running_var, bool training, double momentum,
                                                            double eps) {
  return at::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}
std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit_no_stats(const Tensor& input, const Tensor& weight,
                                                                     const Tensor& bias, bool training, double momentum,
                                                                     double eps) {
  return at::native_batch_norm(input, weight, bias, {}, {}, training, momentum, eps);
}

// -------------------------------------------------------------------------------------- in parts, for batches in parts
//
// Each process computes the moments of its part, all of them join them, and each normalises its part.

std::tuple<Tensor, Tensor> batch_norm_stats(const Tensor& input, double eps) {
  const auto [mean, variance] = channel_moments(at::detail::to_contiguous(input));
  return {mean, at::rsqrt(at::add(variance, Scalar(eps)))};
}

Tensor batch_norm_elemt(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                        const Tensor& invstd, [[maybe_unused]] double eps) {
  Tensor result = at::mul(at::sub(input, along_channels(mean, input)), along_channels(invstd, input));
  if (weight.defined()) result = at::mul(result, along_channels(weight, input));
  if (bias.defined()) result = at::add(result, along_channels(bias, input));
  return result;
}

namespace {

// Moves running moments towards those of a batch; the variance is given over n and kept over n - 1.
void move_running(const Tensor& running_mean, const Tensor& running_var, const Tensor& mean, const Tensor& unbiased,
                  double momentum) {
  Tensor old_mean = running_mean;
  Tensor old_variance = running_var;
  if (old_mean.defined()) old_mean.lerp_(at::detail::to_dtype(mean, old_mean.dtype()), Scalar(momentum));
  if (old_variance.defined())
    old_variance.lerp_(at::detail::to_dtype(unbiased, old_variance.dtype()), Scalar(momentum));
}

}  // namespace

std::tuple<Tensor, Tensor> batch_norm_update_stats(const Tensor& input, const Tensor& running_mean,
                                                   const Tensor& running_var, double momentum) {
  TORCH_CHECK(input.dim() >= 2,
              "batch_norm_update_stats: expected an input of at least 2 dimensions, but got one of size ",
              input.sizes());
  check_channels(running_mean, "running_mean", input);
  check_channels(running_var, "running_var", input);
  const auto [mean, variance] = channel_moments(at::detail::to_contiguous(input));
  const auto count = static_cast<double>(input.numel() / std::max<int64_t>(1, input.sizes()[1]));
  move_running(running_mean, running_var, mean, at::mul(variance, Scalar(count / (count - 1))), momentum);
  return {mean, variance};
}

std::tuple<Tensor, Tensor> batch_norm_gather_stats_with_counts(const Tensor& /*input*/, const Tensor& mean,
                                                               const Tensor& invstd, const Tensor& running_mean,
                                                               const Tensor& running_var, double momentum, double eps,
                                                               const Tensor& counts) {
  const Tensor weights = at::reshape(at::detail::to_dtype(counts, mean.dtype()), {-1, 1});
  const Tensor total = at::sum(weights);
  const Tensor joint = at::div(at::sum(at::mul(mean, weights), {0}, false), total);
  const Tensor variances = at::sub(at::reciprocal(at::mul(invstd, invstd)), Scalar(eps));
  const Tensor drift = at::sub(mean, joint);
  const Tensor squares = at::sum(at::mul(at::add(variances, at::mul(drift, drift)), weights), {0}, false);
  move_running(running_mean, running_var, joint, at::div(squares, at::sub(total, Scalar(1))), momentum);
  return {joint, at::rsqrt(at::add(at::div(squares, total), Scalar(eps)))};
}

std::tuple<Tensor, Tensor> batch_norm_gather_stats(const Tensor& input, const Tensor& mean, const Tensor& invstd,
                                                   const Tensor& running_mean, const Tensor& running_var,
                                                   double momentum, double eps, int64_t count) {
  const Tensor counts = at::full({mean.sizes()[0]}, Scalar(count), mean.options());
  return at::batch_norm_gather_stats_with_counts(input, mean, invstd, running_mean, running_var, momentum, eps, counts);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_backward_reduce(const Tensor& grad_out, const Tensor& input,
                                                                      const Tensor& mean, const Tensor& invstd,
                                                                      const Tensor& weight, bool input_g, bool weight_g,
                                                                      bool bias_g) {
  const auto [sum, product] = channel_products(at::detail::to_contiguous(grad_out), at::detail::to_contiguous(input),
                                               widened(mean));
  const ScalarType dtype = weight.defined() ? weight.dtype() : input.dtype();
  const auto wanted = [&](bool is_wanted, const Tensor& values) { return is_wanted ? values : Tensor(); };
  return {wanted(input_g, sum), wanted(input_g, product),
          wanted(weight_g, at::detail::to_dtype(at::mul(product, invstd), dtype)),
          wanted(bias_g, at::detail::to_dtype(sum, dtype))};
}

Tensor batch_norm_backward_elemt(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& invstd,
                                 const Tensor& weight, const Tensor& sum_dy, const Tensor& sum_dy_xmu,
                                 const Tensor& count) {
  const Tensor total = at::sum(at::detail::to_dtype(count, sum_dy.dtype()));
  const Tensor centered = at::sub(input, along_channels(mean, input));
  const Tensor slope = at::mul(at::div(sum_dy_xmu, total), at::mul(invstd, invstd));
  const Tensor rest = at::sub(at::sub(grad_out, along_channels(at::div(sum_dy, total), input)),
                              at::mul(centered, along_channels(slope, input)));
  const Tensor scale = weight.defined() ? at::mul(invstd, weight) : invstd;
  return at::detail::to_dtype(at::mul(rest, along_channels(scale, input)), input.dtype());
}

Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
  TORCH_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
              "Expected running_mean and running_var to be defined when use_input_stats is false");
  TORCH_CHECK(input.dim() >= 2, "instance_norm: expected an input of at least 2 dimensions, but got one of size ",
              input.sizes());
  const int64_t batch = input.sizes()[0];
  const int64_t channels = input.sizes()[1];
  // Every channel of every sample is a channel of one sample.
  const auto repeated = [&](const Tensor& values) { return values.defined() ? values.repeat({batch}) : values; };
  DimVector shape{1, batch * channels};
  for (int64_t dim = 2; dim < input.dim(); ++dim) shape.push_back(input.sizes()[dim]);
  const Tensor means = repeated(running_mean);
  const Tensor variances = repeated(running_var);
  const Tensor result = at::batch_norm(at::reshape(input, shape), repeated(weight), repeated(bias), means, variances,
                                       use_input_stats, momentum, eps, cudnn_enabled);
  if (use_input_stats) {
    const NoGradGuard no_grad;
    Tensor own_mean = running_mean;
    Tensor own_variance = running_var;
    if (own_mean.defined()) own_mean.copy_(at::mean(means.view({batch, channels}), {0}, false));
    if (own_variance.defined()) own_variance.copy_(at::mean(variances.view({batch, channels}), {0}, false));
  }
  return result.view(input.sizes());
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps,
                  [[maybe_unused]] bool cudnn_enabled) {
  TORCH_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ", input.dim());
  const int64_t batch = input.sizes()[0];
  const int64_t channels = input.sizes()[1];
  TORCH_CHECK(num_groups > 0, "Expected num groups to be greater than 0, got ", num_groups);
  int64_t elements = 1;
  for (int64_t dim = 2; dim < input.dim(); ++dim) elements *= input.sizes()[dim];
  return std::get<0>(at::native_group_norm(input, weight, bias, batch, channels, elements, num_groups, eps));
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                     int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) {
  TORCH_CHECK(group > 0 && C % group == 0,
              "Expected number of channels in input to be divisible by num_groups, but got input of shape ",
              input.sizes(), " and num_groups=", group);
  for (const auto& [values, name] : {std::pair<const Tensor&, const char*>{weight, "weight"}, {bias, "bias"}}) {
    TORCH_CHECK(!values.defined() || (values.dim() == 1 && values.numel() == C), "Expected ", name,
                " to be a vector of size ", "equal to the number of channels in input, but got ", name, " of shape ",
                values.defined() ? values.sizes() : IntArrayRef(), " and input of shape ", input.sizes());
  }
  const ScalarType saved_type = channel_type(input, {weight, bias});
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"GroupNormKernelImpl\" not implemented for '", input.dtype(),
                              "'");
  const bool has_channels = input.dim() >= 2 && input.sizes()[0] == N && input.sizes()[1] == C;
  const Tensor images = has_channels ? input : at::reshape(input, {N, C, HxW});
  const MemoryFormat format = images.suggest_memory_format();
  const Tensor dense = dense_channels(images, format);
  // The moments of groups that lie in one piece, else of each channel of each sample. A sample does in any order.
  const bool is_in_order = dense.is_contiguous() || (group == 1 && dense.is_contiguous(format));
  const bool are_pieces = input.is_cpu() && is_in_order && dense.numel() > 0;
  const int64_t piece = are_pieces ? dense.numel() / (N * group) : 0;
  const Tensor pieces = are_pieces ? at::detail::make_view(dense, {N, group, piece}, {group * piece, piece, 1},
                                                           dense.storage_offset())
                                   : dense;
  const auto [means, variances] = channel_moments(pieces, {N, are_pieces ? group : C});
  const auto make_factors = input.is_cpu() ? group_factors_cpu : group_factors;
  const auto [mean, invstd, scale, shift] =
      make_factors(means, variances, widened(weight), widened(bias), N, C, group, eps);
  Tensor result;
  if (are_pieces && scale.numel() == mean.numel()) {
    result = channel_affine(pieces, scale, {}, {}, shift);
    result = dense.is_contiguous() ? at::reshape(result, dense.sizes())
                                   : at::detail::make_view(result, dense.sizes(), dense.strides(), 0);
  } else {
    const auto of_channels = [&](const Tensor& values) {  // those of groups, if they are the same for their channels
      return values.numel() == N * C
                 ? at::reshape(values, {-1})
                 : at::reshape(at::expand(at::reshape(values, {N, group, 1}), {N, group, C / group}), {-1});
    };
    result = channel_affine(dense, of_channels(scale), {}, {}, of_channels(shift));
  }
  return {at::reshape(at::detail::to_contiguous(result, format), input.sizes()),
          at::detail::to_dtype(at::reshape(mean, {N, group}), saved_type),
          at::detail::to_dtype(at::reshape(invstd, {N, group}), saved_type)};
}

}  // namespace at::native
