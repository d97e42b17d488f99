#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <aten/ATen.h>
#include <torch/csrc/autograd/input_buffer.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

namespace {

// Whether nobody else can see the memory of `grad` and it is laid out as the variable is, so that it may be
// kept as it is.
bool can_keep(const at::Tensor& grad, const at::Tensor& variable) {
  return is_only_owner(grad) && grad.is_non_overlapping_and_dense() &&
         (!variable.is_non_overlapping_and_dense() || grad.strides() == variable.strides());
}

}  // namespace

variable_list AccumulateGrad::apply(variable_list&& grads) {
  if (!grads[0].defined()) return {};
  at::Tensor grad = std::move(grads[0]);
  AutogradMeta& meta = meta_of(variable_);
  if (!meta.leaf_requires_grad) return {};
  // Several threads may reach one leaf.
  std::unique_lock<std::recursive_mutex> lock(meta.mutex);
  at::Tensor& target = meta.grad;
  if (c10::GradMode::is_enabled()) {
    target = target.defined() ? at::add(target, grad) : at::clone(grad);
  } else if (!target.defined()) {
    // A new handle, so that neither history nor views are kept.
    target = can_keep(grad, variable_) ? at::Tensor(grad.impl()->shallow_copy(/*share_version=*/false))
                                       : at::clone(grad);
  } else {
    at::add_(target, grad);
  }
  lock.unlock();
  if (meta.post_accumulate_hooks) {
    for (const auto& [number, hook] : meta.post_accumulate_hooks->snapshot()) hook(variable_);
  }
  return {};
}

}  // namespace torch::autograd
