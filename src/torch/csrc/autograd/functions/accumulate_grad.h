#pragma once
// The end of every path: adds a gradient to a leaf's grad.

#include <torch/csrc/autograd/function.h>

#include <limits>

namespace torch::autograd {

class TORCH_API AccumulateGrad final : public Node {
 public:
  // Runs as soon as it is ready: nothing waits behind it.
  explicit AccumulateGrad(at::Tensor variable)
      : Node(std::numeric_limits<uint64_t>::max()), variable_(std::move(variable)) {
    add_input_metadata(variable_);
  }
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "AccumulateGrad"; }
  at::Tensor leaf() const override { return variable_; }
  const at::Tensor& variable() const { return variable_; }

 private:
  at::Tensor variable_;
};

}  // namespace torch::autograd
