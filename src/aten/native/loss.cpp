// Losses. `reduction` says what becomes of one value per element or sample: 0 kept, 1 averaged, 2 added up.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/FusedKernels.h>

#include <algorithm>

namespace at::native {

namespace {

constexpr int64_t kNone = 0;
constexpr int64_t kMean = 1;
constexpr int64_t kSum = 2;

Tensor reduce_loss(const Tensor& values, int64_t reduction) {
  if (reduction == kMean) return at::mean(values);
  if (reduction == kSum) return at::sum(values);
  return values;
}

// Losses over pairs are for floating-point numbers; one side may be integers.
void check_loss_types(const Tensor& self, const Tensor& target, const char* function) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || target.is_floating_point(), '"', function,
                              "\" not implemented for '", self.dtype(), "'");
}

// A classification problem in one form: scores [N, C], or [N, C, places] of more dimensions, and one row of targets.
struct Classification {
  Tensor scores;
  Tensor targets;
  DimVector loss_shape;
};

Classification flatten_classification(const Tensor& self, const Tensor& target, const Tensor& weight) {
  TORCH_CHECK_VALUE(self.dim() > 0, "Expected 1 or more dimensions (got ", self.dim(), ")");
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const int64_t classes = self.sizes()[class_dim];
  Classification result;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != class_dim) result.loss_shape.push_back(self.sizes()[i]);
  }
  if (self.dim() > 1) {
    TORCH_CHECK_VALUE(target.dim() > 0 && self.sizes()[0] == target.sizes()[0], "Expected input batch_size (",
                      self.sizes()[0], ") to match target batch_size (",
                      target.dim() > 0 ? target.sizes()[0] : 1, ").");
  }
  if (self.dim() <= 2) {
    TORCH_CHECK(target.dim() == self.dim() - 1 || (self.dim() == 1 && target.numel() == 1),
                "0D or 1D target tensor expected, multi-target not supported");
  } else {
    TORCH_CHECK(IntArrayRef(result.loss_shape) == target.sizes(), "Expected target size ",
                IntArrayRef(result.loss_shape), ", got ", target.sizes());
  }
  TORCH_CHECK(target.dtype() == kLong || target.dtype() == kByte,
              "expected target dtype to be Long or Byte, but got ", target.dtype());
  TORCH_CHECK(!weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
              "weight tensor should be defined either for all ", classes,
              " classes or no classes but got weight tensor of shape: ", weight.sizes());
  check_same_device(self, target, "target", "nll_loss");
  if (weight.defined()) {
    check_same_device(self, weight, "weight", "nll_loss");
    TORCH_CHECK(weight.dtype() == self.dtype(), "expected scalar type ", self.dtype(), " but found ",
                weight.dtype());
  }
  const int64_t samples = product(result.loss_shape);
  result.scores = self;
  if (self.dim() == 1) result.scores = native::view(at::detail::to_contiguous(self), {1, classes});
  if (self.dim() > 3) result.scores = at::flatten(self, 2);
  result.targets = at::detail::to_contiguous(at::detail::to_dtype(target, kLong));
  if (target.dim() != 1) result.targets = native::view(result.targets, {samples});
  return result;
}

// `tensor`, or as float32 what kernels compute so.
Tensor in_computed_type(const Tensor& tensor) {
  if (!tensor.defined() || !c10::is_reduced_floating_type(tensor.dtype())) return tensor;
  return at::detail::to_dtype(tensor, kFloat);
}

// A loss for each target, and the weights that counted, if they are asked for.
Tensor sample_losses(const Classification& problem, const Tensor& weight, int64_t ignore_index,
                     Tensor* counted = nullptr) {
  const Tensor& scores = problem.scores;
  const ScalarType dtype = scores.dtype();
  const ScalarType computed = c10::is_reduced_floating_type(dtype) ? kFloat : dtype;
  const Tensor losses = at::detail::empty(problem.targets.sizes(), computed, scores.device());
  const Tensor weights = counted ? at::detail::empty(problem.targets.sizes(), computed, scores.device()) : Tensor();
  if (losses.numel() > 0) {
    const Tensor dense_weight = in_computed_type(weight.defined() ? at::detail::to_contiguous(weight) : weight);
    // The CPU takes scores of any type: it reads a few of them.
    run_kernel(nll_loss_kernels, scores.device(), losses, weights, scores.is_cpu() ? scores : in_computed_type(scores),
               problem.targets, dense_weight, ignore_index);
  }
  if (counted) *counted = at::detail::to_dtype(weights, dtype);
  return at::detail::to_dtype(losses, dtype);
}

// Whether targets that count are all that the mean divides by, and the host can count them.
bool weighs_by_number(const Classification& problem, const Tensor& weight) {
  return !weight.defined() && problem.scores.is_cpu();
}

// In the type of the scores.
double number_of_counted(const Classification& problem, int64_t ignore_index) {
  const auto* target = problem.targets.data_ptr<int64_t>();
  const int64_t samples = problem.targets.numel();
  const int64_t count = samples - std::count(target, target + samples, ignore_index);
  if (problem.scores.dtype() == kBFloat16) return static_cast<float>(c10::BFloat16(static_cast<float>(count)));
  if (problem.scores.dtype() == kHalf) return static_cast<float>(c10::Half(static_cast<float>(count)));
  return static_cast<double>(count);
}

}  // namespace

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  check_loss_types(self, target, "mse_cpu");
  const ScalarType dtype = result_type({self, target});
  if (self.is_cpu() && target.is_cpu() && !c10::is_reduced_floating_type(dtype)) {  // which would be rounded twice
    Tensor losses;
    TensorIterator::binary_op(losses, self, target).run(cpu::square_of_difference);
    return reduce_loss(losses, reduction);
  }
  Tensor losses = at::sub(self, target);
  if (is_dispatched()) losses = at::mul(losses, losses);
  else at::mul_out(losses, losses, losses);  // nobody else has seen it
  return reduce_loss(losses, reduction);
}

Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduce_loss(at::abs(at::sub(self, target)), reduction);
}

Tensor nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                int64_t ignore_index) {
  const Classification problem = flatten_classification(self, target, weight);
  const bool by_number = weighs_by_number(problem, weight);
  Tensor weights;
  const Tensor losses =
      sample_losses(problem, weight, ignore_index, reduction == kMean && !by_number ? &weights : nullptr);
  if (reduction == kNone) return native::view(losses, problem.loss_shape);
  const Tensor total = at::sum(losses);
  if (reduction == kSum) return total;
  if (!by_number) return at::div(total, at::sum(weights));
  const double divisor = number_of_counted(problem, ignore_index);
  dispatch_stored_floating_types(total.dtype(), "nll_loss", [&](auto type) {
    using T = typename decltype(type)::type;
    using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;
    T& number = *total.template data_ptr<T>();
    number = static_cast<T>(static_cast<Number>(number) / static_cast<Number>(divisor));
  });
  return total;
}

Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                         const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  const Classification problem = flatten_classification(self, target, weight);
  const int64_t samples = problem.targets.numel();
  Tensor grad_losses = grad_output;
  if (reduction == kMean && weighs_by_number(problem, weight)) {
    grad_losses = at::div(grad_output, Scalar(number_of_counted(problem, ignore_index)));
  } else if (reduction == kMean) {
    Tensor weights;
    sample_losses(problem, weight, ignore_index, &weights);
    grad_losses = at::div(grad_output, at::sum(weights));
  }
  grad_losses =
      reduction == kNone ? at::reshape(grad_losses, {samples}) : native::expand(grad_losses, {samples}, true);
  const Tensor grad_scores = at::zeros(problem.scores.sizes(), problem.scores.options());
  if (grad_scores.numel() > 0) {
    const Tensor dense_weight = in_computed_type(weight.defined() ? at::detail::to_contiguous(weight) : weight);
    const Tensor dense_grad = in_computed_type(at::detail::to_contiguous(grad_losses));
    const Tensor written = grad_scores.is_cpu() ? grad_scores : in_computed_type(grad_scores);
    run_kernel(nll_loss_backward_kernels, self.device(), written, dense_grad, problem.targets, dense_weight,
               ignore_index);
    if (written.dtype() != grad_scores.dtype()) at::detail::copy_into(grad_scores, written);
  }
  return native::view(grad_scores, self.sizes());
}

namespace {

// A problem of several classes for each sample in one form: [N, C] scores and targets, whatever dimensions they had.
Classification flatten_labels(const Tensor& self, const Tensor& target) {
  const int64_t classes = self.dim() == 0 ? 1 : self.sizes().back();
  TORCH_CHECK(self.dim() <= 2 && classes > 0,
              "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", self.sizes());
  TORCH_CHECK(self.dim() == 2 ? target.sizes() == self.sizes() : target.dim() <= 1 && target.numel() == classes,
              "inconsistent target size: ", target.sizes(), " for input of size: ", self.sizes());
  TORCH_CHECK(target.dtype() == kLong, "expected scalar type Long but found ", target.dtype());
  check_same_device(self, target, "target", "multilabel_margin_loss");
  Classification result;
  if (self.dim() == 2) result.loss_shape.push_back(self.sizes()[0]);
  const DimVector rows{product(result.loss_shape), classes};
  result.scores = native::view(at::detail::to_contiguous(self), rows);
  result.targets = native::view(at::detail::to_contiguous(target), rows);
  return result;
}

}  // namespace

// CUDA's kernels compute halves as float32, the CPU has none, as in PyTorch.
Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  const Classification problem = flatten_labels(self, target);
  const Tensor scores = self.is_cpu() ? problem.scores : in_computed_type(problem.scores);
  Tensor losses = at::detail::empty({scores.sizes()[0]}, scores.dtype(), self.device());
  if (losses.numel() > 0)
    run_kernel(multilabel_margin_loss_kernels, self.device(), losses, scores, problem.targets);
  losses = at::detail::to_dtype(losses, self.dtype());
  return reduction == kNone ? native::view(losses, problem.loss_shape) : reduce_loss(losses, reduction);
}

Tensor multilabel_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                       int64_t reduction) {
  const Classification problem = flatten_labels(self, target);
  const Tensor scores = self.is_cpu() ? problem.scores : in_computed_type(problem.scores);
  const int64_t samples = scores.sizes()[0];
  Tensor grad_losses = at::detail::to_dtype(grad_output, scores.dtype());
  if (reduction == kMean) grad_losses = at::div(grad_losses, Scalar(samples));
  grad_losses =
      reduction == kNone ? at::reshape(grad_losses, {samples}) : native::expand(grad_losses, {samples}, true);
  const Tensor grad_input = at::zeros(scores.sizes(), scores.options());
  if (grad_input.numel() > 0) {
    run_kernel(multilabel_margin_loss_backward_kernels, self.device(), grad_input,
               at::detail::to_contiguous(grad_losses), scores, problem.targets);
  }
  return native::view(at::detail::to_dtype(grad_input, self.dtype()), self.sizes());
}

namespace {

// max(0, margin - score of the target + score) ** p of all other scores of a row, over how many scores there are.
template <typename T>
double margins_of_row(const T* scores, int64_t classes, int64_t target, T margin, bool is_squared) {
  const T bound = margin - scores[target];
  double sum = 0;
  for (int64_t i = 0; i < classes; ++i) {
    const auto excess = static_cast<double>(bound + scores[i]);
    const double positive = excess > 0 && i != target ? excess : 0;
    sum += is_squared ? positive * positive : positive;
  }
  return sum / static_cast<double>(classes);
}

// The losses of all rows in one pass, where no gradient is asked for.
Tensor multi_margins(const Tensor& scores, const Tensor& targets, bool is_squared, double margin,
                     const Tensor& weight) {
  const int64_t classes = scores.sizes()[1];
  const Tensor losses = at::detail::empty({scores.sizes()[0]}, scores.dtype(), scores.device());
  dispatch_floating_types(scores.dtype(), "multi_margin_loss_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    const int64_t* const target = targets.data_ptr<int64_t>();
    const T* const factors = weight.defined() ? weight.data_ptr<T>() : nullptr;
    const T* row = scores.data_ptr<T>();
    for (int64_t i = 0; i < losses.numel(); ++i, row += classes) {
      const double loss = margins_of_row(row, classes, target[i], static_cast<T>(margin), is_squared);
      losses.template data_ptr<T>()[i] = static_cast<T>(factors ? loss * factors[target[i]] : loss);
    }
  });
  return losses;
}

}  // namespace

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                         const Tensor& weight, int64_t reduction) {
  TORCH_CHECK(p.equal(1) || p.equal(2), "only p == 1 and p == 2 supported");
  const bool is_squared = p.equal(2);
  const int64_t classes = self.dim() == 0 ? 1 : self.sizes().back();
  TORCH_CHECK(self.dim() <= 2 && classes > 0,
              "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", self.sizes());
  const int64_t samples = self.dim() == 2 ? self.sizes()[0] : 1;
  TORCH_CHECK(target.dim() <= 1 && target.numel() == samples, "inconsistent target size, expected ", samples,
              " but got ", target.sizes());
  const bool fits = !weight.defined() || (weight.dim() <= 1 && weight.numel() == classes);
  TORCH_CHECK(fits, "inconsistent weight size, expected ", classes, " but got ", weight.sizes());
  TORCH_CHECK(target.dtype() == kLong, "expected scalar type Long but found ", target.dtype());
  const bool is_plain = !is_dispatched() && !target.is_meta();
  const Tensor scores = at::reshape(self, {samples, classes});
  const Tensor targets = at::reshape(target, {samples});
  if (is_plain && target.is_cpu()) {
    const Tensor dense = targets.contiguous();
    const int64_t* const classes_of = dense.data_ptr<int64_t>();
    const bool is_inside = std::all_of(classes_of, classes_of + samples, [&](int64_t number) {
      return static_cast<uint64_t>(number) < static_cast<uint64_t>(classes);
    });
    TORCH_CHECK(is_inside, "target out of range");
    const bool is_recorded = is_differentiated(self) || (weight.defined() && is_differentiated(weight));
    if (self.is_cpu() && (self.dtype() == kFloat || self.dtype() == kDouble) && !is_recorded &&
        (!weight.defined() || (weight.is_cpu() && weight.dtype() == self.dtype()))) {
      const Tensor losses = multi_margins(scores.contiguous(), dense, is_squared, margin.toDouble(),
                                          weight.defined() ? weight.contiguous() : weight);
      return reduction == kNone ? at::reshape(losses, target.sizes()) : reduce_loss(losses, reduction);
    }
  } else if (is_plain && samples > 0) {
    TORCH_CHECK(at::logical_and(targets >= 0, targets < classes).all().item<bool>(), "target out of range");
  }
  const Tensor places = targets.unsqueeze(1);
  Tensor losses = at::clamp_min(at::add(at::add(at::neg(scores.gather(1, places)), margin), scores), Scalar(0));
  if (is_squared) losses = at::mul(losses, losses);
  if (weight.defined()) losses = at::mul(losses, at::reshape(weight, {classes}).index_select(0, targets).unsqueeze(1));
  losses = at::div(at::sum(losses.scatter(1, places, Scalar(0)), {1}, false), Scalar(classes));
  return reduction == kNone ? at::reshape(losses, target.sizes()) : reduce_loss(losses, reduction);
}

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                          int64_t ignore_index, double label_smoothing) {
  TORCH_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
              "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const Tensor log_probabilities = at::log_softmax(self, class_dim, std::nullopt);
  const bool target_is_probabilities = self.sizes() == target.sizes() && target.is_floating_point();
  if (!target_is_probabilities && label_smoothing == 0) {
    return at::nll_loss(log_probabilities, target, weight, reduction, ignore_index);
  }
  const int64_t classes = self.sizes()[class_dim];
  Tensor class_weight = weight;
  if (weight.defined()) {
    TORCH_CHECK(weight.dim() == 1 && weight.numel() == classes,
                "cross_entropy: weight tensor should be defined either for all ", classes,
                " classes or no classes but got weight tensor of shape: ", weight.sizes());
    DimVector shape(self.dim(), 1);
    shape[class_dim] = classes;
    class_weight = weight.view(shape);
  }
  const Tensor weighted = weight.defined() ? at::mul(log_probabilities, class_weight) : log_probabilities;
  if (target_is_probabilities) {
    TORCH_CHECK(ignore_index < 0, "ignore_index is not supported for floating point target");
    Tensor probabilities = target;
    if (label_smoothing > 0) {
      probabilities = at::add(at::mul(target, Scalar(1 - label_smoothing)),
                              Scalar(label_smoothing / static_cast<double>(classes)));
    }
    const Tensor terms = at::mul(weighted, probabilities);
    if (reduction == kNone) return at::neg(at::sum(terms, {class_dim}, false));
    const Tensor total = at::neg(at::sum(terms));
    if (reduction == kSum) return total;
    return at::div(total, Scalar(static_cast<double>(self.numel()) / static_cast<double>(classes)));
  }
  // Smoothing mixes the loss of the target with the mean loss over all classes.
  const Tensor target_loss = at::nll_loss(log_probabilities, target, weight, reduction, ignore_index);
  Tensor smooth_loss = at::neg(at::sum(weighted, {class_dim}, false));
  const Tensor ignored = at::eq(target, Scalar(ignore_index));
  smooth_loss = smooth_loss.masked_fill(ignored, Scalar(0));
  if (reduction == kSum) {
    smooth_loss = at::sum(smooth_loss);
  } else if (reduction == kMean) {
    Tensor total_weight = at::sum(at::logical_not(ignored), self.dtype());
    if (weight.defined()) {
      const Tensor safe_target = target.masked_fill(ignored, Scalar(0));
      const Tensor weights =
          at::reshape(at::index_select(weight, 0, at::reshape(safe_target, {-1})), target.sizes());
      total_weight = at::sum(weights.masked_fill(ignored, Scalar(0)));
    }
    smooth_loss = at::div(at::sum(smooth_loss), total_weight);
  }
  return at::add(at::mul(target_loss, Scalar(1 - label_smoothing)),
                 at::mul(smooth_loss, Scalar(label_smoothing / static_cast<double>(classes))));
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight,
                            int64_t reduction) {
  TORCH_CHECK_VALUE(self.sizes() == target.sizes(), "Using a target size (", target.sizes(),
                    ") that is different to the input size (", self.sizes(),
                    ") is deprecated. Please ensure they have the same size.");
  check_loss_types(self, target, "binary_cross_entropy");
  if (self.is_cpu() && self.numel() > 0) {
    const auto is_probability = [](const Tensor& tensor) {
      return at::all(at::logical_and(at::ge(tensor, Scalar(0)), at::le(tensor, Scalar(1)))).item<bool>();
    };
    TORCH_CHECK(is_probability(self), "all elements of input should be between 0 and 1");
    TORCH_CHECK(is_probability(target), "all elements of target should be between 0 and 1");
  }
  // Logarithms are cut at -100, so that no probability of exactly 0 or 1 gives an infinite loss.
  const Tensor log_yes = at::clamp(at::log(self), Scalar(-100.0), std::nullopt);
  const Tensor log_no = at::clamp(at::log1p(at::neg(self)), Scalar(-100.0), std::nullopt);
  Tensor loss = at::sub(at::mul(at::sub(target, Scalar(1)), log_no), at::mul(target, log_yes));
  if (weight.defined()) loss = at::mul(loss, weight);
  return reduce_loss(loss, reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const Tensor& weight,
                                        const Tensor& pos_weight, int64_t reduction) {
  TORCH_CHECK_VALUE(self.sizes() == target.sizes(), "Target size (", target.sizes(),
                    ") must be the same as input size (", self.sizes(), ")");
  const Tensor log_sigmoid = at::log_sigmoid(self);
  const Tensor rest = at::mul(at::rsub(target, Scalar(1)), self);
  Tensor loss;
  if (pos_weight.defined()) {
    const Tensor factor = at::add(at::mul(at::sub(pos_weight, Scalar(1)), target), Scalar(1));
    loss = at::sub(rest, at::mul(factor, log_sigmoid));
  } else {
    loss = at::sub(rest, log_sigmoid);
  }
  if (weight.defined()) loss = at::mul(loss, weight);
  return reduce_loss(loss, reduction);
}

namespace {

// With x = |self - target|: x^2 / 2 up to `bound`, and from there the straight line bound * (x - bound / 2); with c the
// lesser of both, (x - c / 2) c.
Tensor half_square_up_to(const Tensor& self, const Tensor& target, double bound, const char* function) {
  check_loss_types(self, target, function);
  if (self.is_cpu() && target.is_cpu()) {
    Tensor out;
    TensorIterator::binary_op(out, self, target).run(cpu::half_square_up_to, bound);
    return out;
  }
  const Tensor x = at::abs(at::sub(self, target));
  const Tensor bounded = at::clamp(x, std::nullopt, Scalar(bound));
  return at::sub(x, bounded, Scalar(0.5)).mul_(bounded);
}

}  // namespace

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  if (beta == 0) {
    check_loss_types(self, target, "smooth_l1_cpu");
    return at::l1_loss(self, target, reduction);
  }
  const Tensor loss = half_square_up_to(self, target, beta, "smooth_l1_cpu");
  return reduce_loss(beta == 1 ? loss : at::div(loss, Scalar(beta)), reduction);
}

Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  TORCH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  return reduce_loss(half_square_up_to(self, target, delta, "huber_cpu"), reduction);
}

Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  TORCH_CHECK(self.is_floating_point() || target.is_floating_point(), "kl_div: Integral inputs not supported.");
  if (log_target) return reduce_loss(at::mul(at::exp(target), at::sub(target, self)), reduction);
  return reduce_loss(at::sub(at::xlogy(target, target), at::mul(target, self)), reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                        int64_t reduction) {
  Tensor losses = log_input ? at::sub(at::exp(input), at::mul(target, input))
                            : at::sub(input, at::mul(target, at::log(at::add(input, Scalar(eps)))));
  if (full) {
    constexpr double two_pi = 6.283185307179586;
    const Tensor stirling = at::add(at::sub(at::mul(target, at::log(target)), target),
                                    at::mul(at::log(at::mul(target, Scalar(two_pi))), Scalar(0.5)));
    losses = at::add(losses, at::masked_fill(stirling, at::le(target, Scalar(1)), Scalar(0)));
  }
  return reduce_loss(losses, reduction);
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
  const Tensor zeros = at::zeros_like(self);
  const Tensor far =
      at::where(at::ne(target, Scalar(1)), at::clamp_min(at::rsub(self, Scalar(margin)), Scalar(0)), zeros);
  const Tensor near = at::where(at::ne(target, Scalar(-1)), self, zeros);
  return reduce_loss(at::add(far, near), reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             int64_t reduction) {
  TORCH_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
  const int64_t dims = target.dim() + 1;
  TORCH_CHECK(input1.dim() == dims && input2.dim() == dims, target.dim(), "D target tensor expects ", dims,
              "D input tensors, but found inputs with sizes ", input1.sizes(), " and ", input2.sizes(), ".");
  const auto products = [](const Tensor& one, const Tensor& other) {
    return at::sum(at::mul(one, other), {-1}, false);
  };
  const Scalar least(1e-12);
  const Tensor squares = at::mul(at::add(products(input1, input1), least), at::add(products(input2, input2), least));
  const Tensor cosine = at::div(products(input1, input2), at::sqrt(squares));
  const Tensor zeros = at::zeros_like(cosine);
  const Tensor near = at::where(at::eq(target, Scalar(1)), at::rsub(cosine, Scalar(1)), zeros);
  const Tensor far =
      at::where(at::eq(target, Scalar(-1)), at::clamp_min(at::sub(cosine, Scalar(margin)), Scalar(0)), zeros);
  return reduce_loss(at::add(near, far), reduction);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           int64_t reduction) {
  const Tensor excess = at::add(at::mul(at::neg(target), at::sub(input1, input2)), Scalar(margin));
  return reduce_loss(at::clamp_min(excess, Scalar(0)), reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
                           double p, double eps, bool swap, int64_t reduction) {
  TORCH_CHECK(anchor.dim() == positive.dim() && positive.dim() == negative.dim(),
              "The anchor, positive, and negative tensors are ",
              "expected to have the same number of dimensions, but got: anchor ", anchor.dim(), "D, positive ",
              positive.dim(), "D, and negative ", negative.dim(), "D inputs");
  const Tensor near = at::pairwise_distance(anchor, positive, p, eps, false);
  Tensor far = at::pairwise_distance(anchor, negative, p, eps, false);
  if (swap) far = at::minimum(far, at::pairwise_distance(positive, negative, p, eps, false));
  return reduce_loss(at::clamp_min(at::add(at::sub(near, far), Scalar(margin)), Scalar(0)), reduction);
}

}  // namespace at::native
