#include <torch/csrc/autograd/variable.h>

#include <torch/csrc/autograd/dispatch.h>
#include <torch/csrc/autograd/forward_mode.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/copy_slices.h>

namespace torch::autograd {

bool AutogradMeta::requires_grad() const {
  return leaf_requires_grad || grad_fn != nullptr || (view != nullptr && view->base.requires_grad());
}

AutogradMeta* find_meta(const at::Tensor& tensor) {
  // This library is the only one that attaches a meta.
  return static_cast<AutogradMeta*>(tensor.impl()->autograd_meta());
}

AutogradMeta& meta_of(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.defined(), "an undefined tensor has no gradient");
  if (AutogradMeta* meta = find_meta(tensor)) return *meta;
  tensor.impl()->set_autograd_meta(std::make_unique<AutogradMeta>());
  return *find_meta(tensor);
}

namespace {

// "Split" for SplitBackward0: what made the view.
std::string maker_of(const AutogradMeta& meta) {
  const std::string name = meta.grad_fn->name();
  return name.substr(0, name.find("Backward"));
}

// A view that was not recorded has no history that in-place changes could be part of.
void check_creation(const AutogradMeta& meta, const char* change) {
  const ViewCreation creation = meta.view->creation;
  if (creation == ViewCreation::OneOfSeveral) {
    const std::string view =
        meta.grad_fn ? c10::detail::concatenate("Output ", meta.output_nr, " of ", maker_of(meta), " is a view and ")
                     : "A view was created in no_grad mode and ";
    throw c10::Error(
        view + change + (meta.grad_fn ? "" : " with grad mode enabled") +
        ". This view is the output of a function that returns multiple views. Such functions do not allow the "
        "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.");
  }
  const char* mode = creation == ViewCreation::NoGrad      ? "no_grad"
                     : creation == ViewCreation::Inference ? "inference"
                                                           : nullptr;
  const char* block = creation == ViewCreation::NoGrad ? "no_grad" : "inference_mode";
  TORCH_CHECK(
      mode == nullptr, "A view was created in ", mode, " mode and ", change,
      creation == ViewCreation::Inference ? " in normal mode" : " with grad mode enabled",
      ". Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
      "both the view and the inplace either both inside the ",
      block,
      " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).");
  TORCH_CHECK(creation != ViewCreation::CustomFunction,
              "A view was created inside a custom Function (or because an input was returned as-is) and ",
              change,
              ". This view cannot be written while its history is recorded. You can fix this by cloning the "
              "output of the custom Function.");
}

}  // namespace

std::shared_ptr<Node> grad_fn(const at::Tensor& tensor) {
  AutogradMeta* meta = find_meta(tensor);
  if (meta == nullptr) return nullptr;
  if (meta->view == nullptr) return meta->grad_fn;
  const std::lock_guard<std::recursive_mutex> lock(meta->mutex);
  const uint32_t version = tensor._version();
  if (meta->view->version == version) return meta->grad_fn;
  const at::Tensor& base = meta->view->base;
  if (meta->grad_fn == nullptr && !base.requires_grad()) return nullptr;
  check_creation(*meta, "its base or another view of its base has been modified inplace");
  std::shared_ptr<at::Tensor> retained =
      meta->grad_fn ? meta->grad_fn->take_retained_grad(meta->output_nr) : nullptr;
  auto node =
      make_node<ViewReplayBackward>(gradient_edge(base), TensorGeometry(base), TensorGeometry(tensor));
  node->add_input_metadata(tensor);
  if (retained) node->set_retained_grad(0, std::move(retained));
  meta->grad_fn = std::move(node);
  meta->output_nr = 0;
  meta->view->version = version;
  return meta->grad_fn;
}

std::shared_ptr<Node> grad_accumulator(const at::Tensor& tensor) {
  AutogradMeta* meta = find_meta(tensor);
  if (meta == nullptr || !meta->leaf_requires_grad || meta->grad_fn) return nullptr;
  const std::lock_guard<std::recursive_mutex> lock(meta->mutex);
  if (std::shared_ptr<Node> known = meta->accumulator.lock()) return known;
  std::shared_ptr<Node> made = make_node<AccumulateGrad>(tensor);
  meta->accumulator = made;
  return made;
}

Edge gradient_edge(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.requires_grad()) return {};
  if (std::shared_ptr<Node> node = grad_fn(tensor))
    return Edge(std::move(node), find_meta(tensor)->output_nr);
  return Edge(grad_accumulator(tensor), 0);
}

void set_history(const at::Tensor& result, const std::shared_ptr<Node>& node) {
  if (!is_differentiable(result)) return;
  AutogradMeta& meta = meta_of(result);
  meta.output_nr = node->add_input_metadata(result);
  meta.grad_fn = node;
  if (meta.view) meta.view->version = result._version();
}

void set_history(const std::vector<at::Tensor>& results, const std::shared_ptr<Node>& node) {
  for (const at::Tensor& result : results) set_history(result, node);
}

void rebase_history(const at::Tensor& self, std::shared_ptr<Node> node) {
  AutogradMeta& meta = meta_of(self);
  TORCH_INTERNAL_ASSERT(node->num_inputs() == 0, "rebase_history wants a node that has no results yet");
  node->add_input_metadata(self);
  if (meta.view != nullptr) {
    const at::Tensor& base = meta.view->base;
    auto copy_slices = make_node<CopySlices>(base, self, std::move(node));
    AutogradMeta& base_meta = meta_of(base);
    std::shared_ptr<at::Tensor> retained =
        base_meta.grad_fn ? base_meta.grad_fn->take_retained_grad(base_meta.output_nr) : nullptr;
    if (retained) copy_slices->set_retained_grad(0, std::move(retained));
    base_meta.grad_fn = std::move(copy_slices);
    base_meta.output_nr = 0;
    grad_fn(self);  // makes the view's history anew, now that the version differs
    return;
  }
  std::shared_ptr<at::Tensor> retained =
      meta.grad_fn ? meta.grad_fn->take_retained_grad(meta.output_nr) : nullptr;
  if (retained) node->set_retained_grad(0, std::move(retained));
  meta.grad_fn = std::move(node);
  meta.output_nr = 0;
}

void check_inplace(const at::Tensor& self) {
  const AutogradMeta* meta = find_meta(self);
  if (meta == nullptr) return;
  if (meta->view != nullptr) {
    check_creation(*meta, "is being modified inplace");
    const at::Tensor& base = meta->view->base;
    TORCH_CHECK(!(base.is_leaf() && base.requires_grad()),
                "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  }
  TORCH_CHECK(!(self.is_leaf() && self.requires_grad()),
              "a leaf Variable that requires grad is being used in an in-place operation.");
}

at::Tensor as_view(const at::Tensor& source, at::Tensor result, bool recorded) {
  // A part or an arrangement of a sparse tensor is a new one.
  const bool is_sparse = source.layout() != c10::kStrided;
  if (is_sparse && !result.is_same(source)) return result;
  if (result.is_same(source)) result = dispatch::detached(source, /*share_version=*/true);
  // Integers have no history to share.
  if (is_sparse || !is_differentiable(result)) return result;
  const AutogradMeta* source_meta = find_meta(source);
  const ViewInfo* source_view = source_meta ? source_meta->view.get() : nullptr;
  ViewCreation creation = recorded                          ? ViewCreation::Recorded
                          : c10::InferenceMode::is_enabled() ? ViewCreation::Inference
                                                             : ViewCreation::NoGrad;
  if (recorded && source_view) creation = source_view->creation;
  auto view = std::make_unique<ViewInfo>(
      ViewInfo{source_view ? source_view->base : source, creation, result._version()});
  if (source_view) view->tangent_base = source_view->has_own_tangents ? source : source_view->tangent_base;
  meta_of(result).view = std::move(view);
  return result;
}

std::vector<at::Tensor> as_views(const at::Tensor& source, std::vector<at::Tensor> results) {
  for (at::Tensor& result : results) {
    result = as_view(source, std::move(result));
    AutogradMeta* meta = find_meta(result);
    if (!meta || !meta->view || meta->view->creation != ViewCreation::Recorded) continue;
    meta->view->creation = ViewCreation::OneOfSeveral;
  }
  return results;
}

void become_view(const at::Tensor& self, const at::Tensor& view) {
  const std::shared_ptr<Node> node = grad_fn(view);
  if (c10::GradMode::is_enabled() && self.requires_grad()) {
    check_inplace(self);
    AutogradMeta& meta = meta_of(self);
    meta.grad_fn = node;
    meta.output_nr = meta_of(view).output_nr;
    meta.leaf_requires_grad = false;
  }
  copy_tangents(view, self);
  self.impl()->set_sizes_and_strides(view.sizes(), view.strides(), view.storage_offset());
  self.impl()->bump_version();
  if (AutogradMeta* meta = find_meta(self); meta && meta->view) meta->view->version = self._version();
}

void detach_in_place(const at::Tensor& tensor) {
  AutogradMeta* meta = find_meta(tensor);
  if (meta == nullptr) return;
  TORCH_CHECK(
      meta->view == nullptr,
      "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
      "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
      "detach_() "
      "cannot be called on these gradients.");
  meta->leaf_requires_grad = false;
  meta->grad_fn.reset();
  meta->output_nr = 0;
  meta->retained_grad.reset();
  meta->tangents.reset();
}

std::pair<std::shared_ptr<TensorHooks>, uint64_t> register_hook(const at::Tensor& tensor, TensorHook hook) {
  TORCH_CHECK(tensor.requires_grad(), "cannot register a hook on a tensor that doesn't require gradient");
  const std::shared_ptr<Node> node = grad_fn(tensor);
  AutogradMeta& meta = meta_of(tensor);
  std::shared_ptr<TensorHooks> hooks;
  if (node) {
    hooks = node->tensor_hooks(meta.output_nr);
  } else {
    if (!meta.hooks) meta.hooks = std::make_shared<TensorHooks>();
    hooks = meta.hooks;
  }
  return {hooks, hooks->add(std::move(hook))};
}

}  // namespace torch::autograd
