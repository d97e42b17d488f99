#pragma once
// What autograd attaches to a tensor, and how histories are set.

#include <torch/csrc/autograd/function.h>

#include <mutex>

namespace torch::autograd {

// How a view came about; a view made while grad mode was off cannot be written in place once it is on, and one of
// several that a function returned cannot be, either.
enum class ViewCreation : uint8_t { Recorded, NoGrad, Inference, CustomFunction, OneOfSeveral };

struct ViewInfo {
  at::Tensor base;  // never itself a view
  ViewCreation creation;
  // The version for which the view's grad_fn holds; when the base was written since, it is made anew.
  uint32_t version;
  // Tangents are shared with `base`, or with this view of it where it began to
  // have its own (make_dual), or with nobody.
  at::Tensor tangent_base = {};
  bool has_own_tangents = false;
};

// Along what a tensor moves, by the identity of the forward level.
using Tangents = std::vector<std::pair<uint64_t, at::Tensor>>;

struct TORCH_API AutogradMeta final : c10::AutogradMetaInterface {
  bool requires_grad() const override;
  bool is_tracked() const override;

  // A leaf's wish for a gradient.
  bool leaf_requires_grad = false;
  uint32_t output_nr = 0;
  std::shared_ptr<Node> grad_fn;
  at::Tensor grad;
  // Instead of `grad`, shared with grad_fn, after retain_grad().
  std::shared_ptr<at::Tensor> retained_grad;
  std::weak_ptr<Node> accumulator;
  // Of a leaf; a result's hooks belong to its grad_fn.
  std::shared_ptr<TensorHooks> hooks;
  // Of a leaf: called with the leaf itself after its grad was written; their results are ignored.
  std::shared_ptr<TensorHooks> post_accumulate_hooks;
  std::unique_ptr<ViewInfo> view;
  // Shared with the copies of a result that its node keeps; made when needed. See forward_mode.h.
  std::shared_ptr<Tangents> tangents;
  // Recursive: accumulating under create_graph may meet the leaf itself, as a gradient that a hook returned.
  std::recursive_mutex mutex;
};

// Null when nothing was attached yet.
TORCH_API AutogradMeta* find_meta(const at::Tensor& tensor);
TORCH_API AutogradMeta& meta_of(const at::Tensor& tensor);

// Only floating-point and complex tensors have gradients.
inline bool is_differentiable(const at::Tensor& tensor) {
  return tensor.defined() && c10::is_floating_or_complex_type(tensor.dtype());
}

// The node that a tensor came from, of the present version for a view; null for a leaf.
TORCH_API std::shared_ptr<Node> grad_fn(const at::Tensor& tensor);
// The AccumulateGrad of a leaf that requires grad, made when there is none; null for others.
TORCH_API std::shared_ptr<Node> grad_accumulator(const at::Tensor& tensor);
// Where the gradient of a tensor goes; invalid when it needs none.
TORCH_API Edge gradient_edge(const at::Tensor& tensor);

// Attaches a new result to its node. Does nothing for results without gradients.
TORCH_API void set_history(const at::Tensor& result, const std::shared_ptr<Node>& node);
TORCH_API void set_history(const std::vector<at::Tensor>& results, const std::shared_ptr<Node>& node);
// After an in-place operation: `self` now comes from `node`, which has an edge to what self was, first. For a
// view, its base does (CopySlices).
TORCH_API void rebase_history(const at::Tensor& self, std::shared_ptr<Node> node);
// Throws Error when `self` may not be written in place while a gradient is recorded.
TORCH_API void check_inplace(const at::Tensor& self);

// Marks `result`, which shares memory with `source`, as its view. A result that is `source` itself becomes a
// new tensor.
TORCH_API at::Tensor as_view(const at::Tensor& source, at::Tensor result,
                             bool recorded = c10::GradMode::is_enabled());
// The same of all that one function returned: in-place writes to them are not recorded but refused.
TORCH_API std::vector<at::Tensor> as_views(const at::Tensor& source, std::vector<at::Tensor> results);
// `self` takes sizes, strides and history of `view`, a view of it: squeeze_() and its like.
TORCH_API void become_view(const at::Tensor& self, const at::Tensor& view);
// Forgets history and wish for a gradient. Throws Error for a view.
TORCH_API void detach_in_place(const at::Tensor& tensor);

// tensor.register_hook(): returns the list that the hook is in and its number there.
TORCH_API std::pair<std::shared_ptr<TensorHooks>, uint64_t> register_hook(const at::Tensor& tensor,
                                                                          TensorHook hook);

}  // namespace torch::autograd
