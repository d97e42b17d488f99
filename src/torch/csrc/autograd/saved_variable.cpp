#include <torch/csrc/autograd/dispatch.h>
#include <torch/csrc/autograd/forward_mode.h>
#include <torch/csrc/autograd/functions/copy_slices.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>

#include <sstream>

namespace torch::autograd {

namespace {

constexpr const char* kTwice =
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access "
    "saved tensors "
    "after calling backward.";

std::string describe(const at::Tensor& tensor) {
  std::ostringstream text;
  text << "[torch." << (tensor.is_cuda() ? "cuda." : "") << c10::to_string(tensor.dtype()) << "Tensor "
       << tensor.sizes() << "]";
  return text.str();
}

thread_local PackTensor tensor_packer = nullptr;

}  // namespace

void set_tensor_packer(PackTensor packer) { tensor_packer = packer; }

SavedVariable::SavedVariable(const at::Tensor& variable, bool is_output, bool is_inplace_on_view) {
  if (!variable.defined()) return;
  TORCH_CHECK(
      !variable.impl()->is_inference(),
      "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
      "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
      "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
  was_defined_ = true;
  saved_version_ = variable._version();
  const AutogradMeta* meta = find_meta(variable);
  output_nr_ = meta ? meta->output_nr : 0;
  requires_grad_ = variable.requires_grad();
  is_output_ = is_output && requires_grad_ && !variable.is_leaf();
  is_inplace_on_view_ = is_inplace_on_view;
  if (tensor_packer || is_output_) tangents_ = shared_tangents(variable);
  if (tensor_packer) {
    packed_ = tensor_packer(dispatch::detached(variable, /*share_version=*/true));
    if (!is_output_ && requires_grad_) packed_history_ = gradient_edge(variable).function;
    if (is_output_ && is_inplace_on_view) packed_history_ = grad_fn(variable);
    return;
  }
  if (!is_output_) {
    data_ = variable;
    return;
  }
  data_ = dispatch::detached(variable, /*share_version=*/true);
  if (is_inplace_on_view_) view_history_ = std::static_pointer_cast<CopySlices>(grad_fn(variable._base()));
}

at::Tensor SavedVariable::unpack(std::shared_ptr<Node> owner) const {
  if (!was_defined_) return {};
  if (packed_) return unpack_packed(std::move(owner));
  TORCH_CHECK(data_.defined(), kTwice);
  const std::shared_ptr<Node> history = !is_output_           ? grad_fn(data_)
                                        : is_inplace_on_view_ ? replay_view()
                                                              : std::move(owner);
  const uint32_t current = data_._version();
  if (current != saved_version_) {
    std::ostringstream message;
    message
        << "one of the variables needed for gradient computation has been modified by an inplace operation: "
        << describe(data_);
    if (history) {
      const std::string name = history->name();
      message << ", which is output " << output_nr_ << " of " << name.substr(0, name.rfind("Backward")) << ",";
    }
    message << " is at version " << current << "; expected version " << saved_version_
            << " instead. Hint: the tensor was "
            << "changed after it was used in the forward pass; use an out-of-place operation there, or clone "
               "it first.";
    throw c10::Error(message.str());
  }
  if (!is_output_) return data_;
  TORCH_INTERNAL_ASSERT(history != nullptr, "a saved result has lost its history");
  at::Tensor result = dispatch::detached(data_, /*share_version=*/true);
  AutogradMeta& meta = meta_of(result);
  meta.grad_fn = history;
  meta.output_nr = output_nr_;
  meta.tangents = tangents_;
  return result;
}

at::Tensor SavedVariable::unpack_packed(std::shared_ptr<Node> owner) const {
  const at::Tensor unpacked = packed_->unpack();
  at::Tensor result = dispatch::detached(unpacked, /*share_version=*/true);
  std::shared_ptr<Node> history = packed_history_ ? packed_history_ : is_output_ ? std::move(owner) : nullptr;
  if (history) {
    AutogradMeta& meta = meta_of(result);
    meta.output_nr = output_nr_;
    if (history->leaf().defined()) {
      meta.leaf_requires_grad = true;
      meta.accumulator = history;
    } else {
      meta.grad_fn = std::move(history);
    }
  }
  if (tangents_) meta_of(result).tangents = tangents_;
  return result;
}

std::shared_ptr<Node> SavedVariable::replay_view() const {
  const std::shared_ptr<CopySlices> written = view_history_.lock();
  TORCH_INTERNAL_ASSERT(written != nullptr, "a view's node outlived the history of its base");
  auto node =
      make_node<ViewReplayBackward>(Edge(written, 0), written->base_geometry(), TensorGeometry(data_));
  node->add_input_metadata(data_);
  return node;
}

std::vector<SavedVariable> save_list(at::TensorList tensors) {
  std::vector<SavedVariable> saved;
  saved.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) saved.emplace_back(tensor, false);
  return saved;
}

std::vector<at::Tensor> unpack_list(const std::vector<SavedVariable>& saved) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(saved.size());
  for (const SavedVariable& entry : saved) tensors.push_back(entry.unpack());
  return tensors;
}

}  // namespace torch::autograd
