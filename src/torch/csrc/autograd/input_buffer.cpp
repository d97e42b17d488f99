#include <torch/csrc/autograd/input_buffer.h>

#include <aten/ATen.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

bool is_only_owner(const at::Tensor& tensor) {
  if (tensor.use_count() != 1 || tensor.impl()->sparse()) return false;
  const AutogradMeta* meta = find_meta(tensor);
  const bool base_is_ours = meta && meta->view && meta->view->base.use_count() == 1;
  return tensor.storage().use_count() == (base_is_ours ? 2U : 1U);
}

at::Tensor add_gradients(const at::Tensor& left, const at::Tensor& right) {
  return left.impl()->sparse() && !right.impl()->sparse() ? at::add(right, left) : at::add(left, right);
}

void InputBuffer::add(size_t input_nr, at::Tensor gradient) {
  if (!gradient.defined()) return;
  at::Tensor& sum = gradients_[input_nr];
  if (!sum.defined()) {
    sum = std::move(gradient);
    return;
  }
  const bool in_place = !c10::GradMode::is_enabled() && is_only_owner(sum) &&
                        sum.is_non_overlapping_and_dense() && sum.sizes() == gradient.sizes() &&
                        sum.dtype() == gradient.dtype();
  if (in_place) {
    at::add_(sum, gradient);
  } else {
    sum = add_gradients(sum, gradient);
  }
}

}  // namespace torch::autograd
