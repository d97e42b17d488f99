#include <torch/csrc/autograd/functions/copy_slices.h>

#include <aten/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

CopySlices::CopySlices(const at::Tensor& base, const at::Tensor& view, std::shared_ptr<Node> function)
    : base_(base), view_(view), function_(std::move(function)) {
  add_input_metadata(base);
  add_next_edge(gradient_edge(base));
  // What the view was is part of what the base was.
  function_->set_next_edge(0, next_edge(0));
  for (size_t index = 1; index < function_->num_outputs(); ++index)
    add_next_edge(function_->next_edge(index));
}

variable_list CopySlices::apply(variable_list&& grads) {
  variable_list grad_inputs(num_outputs());
  if (!grads[0].defined()) return grad_inputs;
  TORCH_CHECK(function_ != nullptr,
              "Trying to backward through the graph a second time, but an in-place operation on a view was "
              "already freed. "
              "Specify retain_graph=True if you need to backward through the graph a second time.");
  // In the layout of the base, so that the view's strides mean the same elements.
  const int64_t extent = storage_extent(base_.sizes, base_.strides);
  at::Tensor flat = at::zeros({extent}, grads[0].options());
  at::Tensor result = at::as_strided(flat, base_.sizes, base_.strides, 0);
  result.copy_(grads[0]);
  const int64_t offset = view_.storage_offset - base_.storage_offset;
  at::Tensor slice = at::as_strided(flat, view_.sizes, view_.strides, offset);
  variable_list inner = (*function_)({at::clone(slice)});
  for (size_t index = 0; index < inner.size(); ++index) {
    if (!task_should_compute_output(index) || !inner[index].defined()) {
      if (index == 0) slice.zero_();
      continue;
    }
    if (index > 0) {
      grad_inputs[index] = std::move(inner[index]);
    } else {
      slice.copy_(inner[0]);
    }
  }
  if (task_should_compute_output(0)) grad_inputs[0] = result;
  return grad_inputs;
}

void CopySlices::release_variables() { function_.reset(); }

variable_list ViewReplayBackward::apply(variable_list&& grads) {
  if (!grads[0].defined()) return variable_list(1);
  return {as_strided_backward(grads[0], base_.sizes, base_.strides, base_.storage_offset, view_.sizes,
                              view_.strides, view_.storage_offset)};
}

}  // namespace torch::autograd
