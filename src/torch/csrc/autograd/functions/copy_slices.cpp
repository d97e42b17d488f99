#include <torch/csrc/autograd/functions/copy_slices.h>

#include <aten/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

namespace {

// A view may show a complex base's parts, or two real numbers as one: both are then counted in parts. Of the same dtype
// they are counted as they are.
TensorGeometry in_parts(TensorGeometry geometry, bool split) {
  if (!split || !c10::is_complex_type(geometry.dtype)) return geometry;
  geometry.dtype = c10::real_type(geometry.dtype);
  for (int64_t& stride : geometry.strides) stride *= 2;
  geometry.sizes.push_back(2);
  geometry.strides.push_back(1);
  geometry.storage_offset *= 2;
  return geometry;
}
at::Tensor in_parts(const at::Tensor& tensor, bool split) {
  return split && tensor.is_complex() ? at::view_as_real(tensor.contiguous()) : tensor;
}
// The other way round: a tensor of parts as one of `dtype`.
at::Tensor joined(const at::Tensor& parts, at::ScalarType dtype) {
  return parts.dtype() == dtype ? parts : at::view_as_complex(parts);
}

}  // namespace

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
  const bool split = base_.dtype != view_.dtype;
  const TensorGeometry base = in_parts(base_, split);
  const TensorGeometry view = in_parts(view_, split);
  const at::Tensor grad = in_parts(grads[0], split);
  const int64_t extent = storage_extent(base.sizes, base.strides);
  at::Tensor flat = at::zeros({extent}, grad.options());
  const at::Tensor result = joined(at::as_strided(flat, base.sizes, base.strides, 0), base_.dtype);
  at::Tensor(result).copy_(grads[0]);
  const int64_t offset = view.storage_offset - base.storage_offset;
  at::Tensor slice = joined(at::as_strided(flat, view.sizes, view.strides, offset), view_.dtype);
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
  const bool split = base_.dtype != view_.dtype;
  const TensorGeometry base = in_parts(base_, split);
  const TensorGeometry view = in_parts(view_, split);
  const at::Tensor result = as_strided_backward(in_parts(grads[0], split), base.sizes, base.strides,
                                                base.storage_offset, view.sizes, view.strides, view.storage_offset);
  return {joined(split ? result.contiguous() : result, base_.dtype)};
}

}  // namespace torch::autograd
