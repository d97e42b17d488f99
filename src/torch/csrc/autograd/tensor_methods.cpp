// The methods of at::Tensor that are about gradients, and the native functions that change history instead of
// data.

#include <aten/NativeFunctions.h>
#include <aten/Tensor.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/dispatch.h>
#include <torch/csrc/autograd/wrapper_tools.h>

namespace at {

using torch::autograd::AutogradMeta;
using torch::autograd::find_meta;
using torch::autograd::meta_of;

const Tensor& Tensor::requires_grad_(bool requires_grad) const {
  if (!is_leaf()) {
    TORCH_CHECK(requires_grad,
                "you can only change requires_grad flags of leaf variables. If you want to use a computed "
                "variable in a subgraph that doesn't require differentiation use var_no_grad = "
                "var.detach().");
    return *this;  // it requires them already
  }
  TORCH_CHECK(!requires_grad || torch::autograd::is_differentiable(*this),
              "Only Tensors of floating point and complex dtype can require gradients");
  TORCH_CHECK(!requires_grad || !impl_->is_inference() || c10::InferenceMode::is_enabled(),
              "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (requires_grad || find_meta(*this)) meta_of(*this).leaf_requires_grad = requires_grad;
  return *this;
}

bool Tensor::is_leaf() const { return torch::autograd::grad_fn(*this) == nullptr; }

int64_t Tensor::output_nr() const {
  const AutogradMeta* meta = find_meta(*this);
  return meta ? meta->output_nr : 0;
}

std::shared_ptr<torch::autograd::Node> Tensor::grad_fn() const { return torch::autograd::grad_fn(*this); }

void Tensor::retain_grad() const {
  TORCH_CHECK(requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  const std::shared_ptr<torch::autograd::Node> node = torch::autograd::grad_fn(*this);
  AutogradMeta& meta = meta_of(*this);
  if (!node || meta.retained_grad) return;
  meta.retained_grad = std::make_shared<Tensor>();
  node->set_retained_grad(meta.output_nr, meta.retained_grad);
}

bool Tensor::retains_grad() const {
  const AutogradMeta* meta = find_meta(*this);
  return meta && meta->retained_grad != nullptr;
}

const Tensor& Tensor::grad() const {
  static const Tensor undefined;
  const AutogradMeta* meta = find_meta(*this);
  if (!meta) return undefined;
  return meta->retained_grad ? *meta->retained_grad : meta->grad;
}

void Tensor::set_grad(const Tensor& grad) const {
  if (grad.defined()) {
    TORCH_CHECK(grad.sizes() == sizes(), "attempting to assign a gradient of size '", grad.sizes(),
                "' to a tensor of size '", sizes(),
                "'. Please ensure that the gradient and the tensor are the same size");
    TORCH_CHECK(grad.dtype() == dtype(), "assigned grad has data of a different type");
    TORCH_CHECK(grad.device() == device(), "assigned grad has data located on a different device");
    TORCH_CHECK(!grad.is_same(*this), "can't assign Variable as its own grad");
  } else if (!find_meta(*this)) {
    return;
  }
  AutogradMeta& meta = meta_of(*this);
  (meta.retained_grad ? *meta.retained_grad : meta.grad) = grad;
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph) const {
  torch::autograd::backward({*this}, {gradient}, retain_graph, create_graph);
}

bool Tensor::is_view() const {
  const AutogradMeta* meta = find_meta(*this);
  return meta && meta->view != nullptr;
}

const Tensor& Tensor::_base() const {
  TORCH_CHECK(is_view(), "Can't get base of non-view Variable");
  return find_meta(*this)->view->base;
}

Tensor Tensor::variable_data() const { return torch::autograd::dispatch::detached(*this, /*share_version=*/false); }

namespace native {

Tensor detach(const Tensor& self) { return Tensor(self.impl()->shallow_copy(/*share_version=*/true)); }

Tensor& become_view(Tensor& self, const Tensor& view) {
  torch::autograd::become_view(self, view);
  return self;
}

bool is_differentiated(const Tensor& tensor) { return torch::autograd::any_tracked(tensor); }

bool is_dispatched() { return torch::autograd::dispatch::in_use(); }

bool is_inference(const Tensor& self) { return self.impl()->is_inference(); }

Tensor forget_base(Tensor result) {
  if (AutogradMeta* meta = find_meta(result)) meta->view.reset();
  return result;
}

Tensor& detach_(Tensor& self) {
  torch::autograd::detach_in_place(self);
  return self;
}

}  // namespace native

}  // namespace at
