#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <aten/ATen.h>
#include <torch/csrc/autograd/dispatch.h>
#include <torch/csrc/autograd/input_buffer.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

namespace {

// Whether nobody else can see the memory of `grad` and it is laid out as the variable is, so that it may be
// kept as it is.
bool can_keep(const at::Tensor& grad, const at::Tensor& variable) {
  if (grad.impl()->sparse()) return true;  // its parts are shared, as in PyTorch
  return is_only_owner(grad) && grad.is_non_overlapping_and_dense() &&
         (!variable.is_non_overlapping_and_dense() || grad.strides() == variable.strides());
}

// A copy that is laid out as the variable is, so that optimizers walk through both alike.
at::Tensor copy_for(const at::Tensor& variable, const at::Tensor& grad) {
  if (grad.impl()->sparse() || !variable.is_non_overlapping_and_dense() || grad.strides() == variable.strides())
    return at::clone(grad);
  return at::empty_strided(variable.sizes(), variable.strides(), grad.options()).copy_(grad);
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
    target = target.defined() ? add_gradients(target, grad) : copy_for(variable_, grad);
  } else if (!target.defined()) {
    // A new handle, so that neither history nor views are kept.
    target = can_keep(grad, variable_) ? dispatch::detached(grad, /*share_version=*/false)
                                       : copy_for(variable_, grad);
  } else if (target.impl()->sparse() && !grad.impl()->sparse()) {
    target = add_gradients(target, grad);
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
