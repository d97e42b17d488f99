// Negative log likelihood of [N, C] scores for [N] targets.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>

namespace at::native::cpu {

namespace {

// The weight of each sample: 0 where its target is ignored.
template <typename T>
T sample_weight(int64_t target, const T* weight, int64_t classes, int64_t ignore_index) {
  if (target == ignore_index) return T(0);
  TORCH_CHECK_INDEX(target >= 0 && target < classes, "Target ", target, " is out of bounds.");
  return weight ? weight[target] : T(1);
}

// body(tag of what is computed, tag of what is in memory): the same, or float for float16 and bfloat16.
template <typename Body>
void dispatch_loss_types(ScalarType computed, ScalarType stored, const char* function, const Body& body) {
  dispatch_floating_types(computed, function, [&](auto type) {
    if (stored == kHalf) return body(type, TypeTag<c10::Half>());
    if (stored == kBFloat16) return body(type, TypeTag<c10::BFloat16>());
    body(type, type);
  });
}

}  // namespace

// Losses, and the weights that counted, are float32 where scores are float16 or bfloat16.
void nll_loss_kernel(const Tensor& losses, const Tensor& weights, const Tensor& self, const Tensor& target,
                     const Tensor& weight, int64_t ignore_index) {
  const int64_t classes = self.sizes()[1];
  const int64_t row = self.strides()[0];
  const int64_t column = self.strides()[1];
  const int64_t* targets = target.data_ptr<int64_t>();
  dispatch_loss_types(losses.dtype(), self.dtype(), "nll_loss_out_frame", [&](auto type, auto stored) {
    using scalar_t = typename decltype(type)::type;
    const auto* scores = self.data_ptr<typename decltype(stored)::type>();
    const scalar_t* class_weights = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    scalar_t* loss = losses.data_ptr<scalar_t>();
    scalar_t* counted = weights.data_ptr<scalar_t>();
    for (int64_t i = 0; i < target.numel(); ++i) {
      counted[i] = sample_weight(targets[i], class_weights, classes, ignore_index);
      // An ignored target may be no class at all, and its score infinite.
      loss[i] = targets[i] == ignore_index ? scalar_t(0)
                                           : -static_cast<scalar_t>(scores[i * row + targets[i] * column]) * counted[i];
    }
  });
}

void nll_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_losses, const Tensor& target,
                              const Tensor& weight, int64_t ignore_index) {
  const int64_t classes = grad_input.sizes()[1];
  const int64_t* targets = target.data_ptr<int64_t>();
  dispatch_loss_types(grad_losses.dtype(), grad_input.dtype(), "nll_loss_backward_out_frame",
                      [&](auto type, auto stored) {
    using scalar_t = typename decltype(type)::type;
    using stored_t = typename decltype(stored)::type;
    const scalar_t* grad = grad_losses.data_ptr<scalar_t>();
    const scalar_t* class_weights = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    auto* result = grad_input.data_ptr<stored_t>();
    for (int64_t i = 0; i < target.numel(); ++i) {
      if (targets[i] == ignore_index) continue;
      result[i * classes + targets[i]] =
          static_cast<stored_t>(-grad[i] * sample_weight(targets[i], class_weights, classes, ignore_index));
    }
  });
}

}  // namespace at::native::cpu
