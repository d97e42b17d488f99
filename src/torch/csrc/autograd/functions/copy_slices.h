#pragma once
// The history of a base after one of its views was written in place.

#include <torch/csrc/autograd/function.h>

namespace torch::autograd {

// The shape of a view over its storage.
struct TensorGeometry {
  explicit TensorGeometry(const at::Tensor& tensor)
      : dtype(tensor.dtype()),
        sizes(tensor.sizes().vec()),
        strides(tensor.strides().vec()),
        storage_offset(tensor.storage_offset()) {}
  at::ScalarType dtype;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t storage_offset;
};

// The gradient of the base: outside of the view as it comes, inside through `function`, the node of the
// operation that wrote the view. Edge 0 goes to what the base was, the others are those of `function` but its
// first.
class TORCH_API CopySlices final : public Node {
 public:
  CopySlices(const at::Tensor& base, const at::Tensor& view, std::shared_ptr<Node> function);
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "CopySlices"; }
  void release_variables() override;
  const TensorGeometry& base_geometry() const { return base_; }

 private:
  TensorGeometry base_;
  TensorGeometry view_;
  std::shared_ptr<Node> function_;
};

// The history of a view that is made anew, because its base was written: replayed by as_strided.
class TORCH_API ViewReplayBackward final : public Node {
 public:
  // `edge` goes to what the base came from.
  ViewReplayBackward(Edge edge, TensorGeometry base, TensorGeometry view)
      : base_(std::move(base)), view_(std::move(view)) {
    add_next_edge(std::move(edge));
  }
  variable_list apply(variable_list&& grads) override;
  // The operation that would replay it.
  std::string name() const override { return "AsStridedBackward0"; }

 private:
  TensorGeometry base_;
  TensorGeometry view_;
};

}  // namespace torch::autograd
