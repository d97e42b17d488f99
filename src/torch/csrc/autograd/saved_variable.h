#pragma once
// A tensor kept for backward, with the version it had.

#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

class CopySlices;

// What a program keeps in place of a tensor (torch.autograd.graph.saved_tensors_hooks).
class PackedTensor {
 public:
  virtual ~PackedTensor() = default;
  virtual at::Tensor unpack() = 0;
};
using PackTensor = std::shared_ptr<PackedTensor> (*)(const at::Tensor& tensor);
// Who packs what this thread saves from now on; null: nobody.
TORCH_API void set_tensor_packer(PackTensor packer);

class TORCH_API SavedVariable {
 public:
  SavedVariable() = default;
  // `is_output`: the tensor is a result of the node that keeps it. It is then kept without its history, which
  // would be a cycle. `is_inplace_on_view`: and that result is a view that was written in place, whose
  // history is not the node.
  SavedVariable(const at::Tensor& variable, bool is_output, bool is_inplace_on_view = false);

  // The tensor as it was saved; `owner` is the node that keeps it, for an output. Undefined if it was
  // undefined. Throws Error when it was released, or written in place since.
  at::Tensor unpack(std::shared_ptr<Node> owner = nullptr) const;
  void reset() {
    data_.reset();
    packed_.reset();
  }

 private:
  std::shared_ptr<Node> replay_view() const;
  at::Tensor unpack_packed(std::shared_ptr<Node> owner) const;

  at::Tensor data_;
  // In place of the tensor, where it is packed; and where its gradient goes, unless the tensor is an output.
  std::shared_ptr<PackedTensor> packed_;
  std::shared_ptr<Node> packed_history_;
  // What a view's base came from when the view had been written; it owns the node that keeps this.
  std::weak_ptr<CopySlices> view_history_;
  std::shared_ptr<Tangents> tangents_;
  uint32_t saved_version_ = 0;
  uint32_t output_nr_ = 0;
  bool was_defined_ = false;
  bool is_output_ = false;
  bool is_inplace_on_view_ = false;
  bool requires_grad_ = false;
};

// Is told what a node has saved.
class SavedVisitor {
 public:
  virtual ~SavedVisitor() = default;
  virtual void visit(const char* name, const SavedVariable& tensor) = 0;
  virtual void visit(const char* name, const std::vector<SavedVariable>& tensors) = 0;
  virtual void visit(const char* name, int64_t value) = 0;
  virtual void visit(const char* name, double value) = 0;
  virtual void visit(const char* name, bool value) = 0;
  virtual void visit(const char* name, const c10::Scalar& value) = 0;
  virtual void visit(const char* name, const std::string& value) = 0;
  virtual void visit(const char* name, const std::vector<int64_t>& values) = 0;
  virtual void visit(const char* name, std::nullopt_t nothing) = 0;
  template <typename T>
  void visit(const char* name, const std::optional<T>& value) {
    if (value) visit(name, *value);
    else visit(name, std::nullopt);
  }
  // What Python has no attribute for.
  void visit(const char*, const at::TensorOptions&) {}
  void visit(const char*, const c10::Device&) {}
  void visit(const char*, c10::Layout) {}
  void visit(const char*, c10::ScalarType) {}
  void visit(const char*, const std::vector<std::vector<int64_t>>&) {}
};

TORCH_API std::vector<SavedVariable> save_list(at::TensorList tensors);
TORCH_API std::vector<at::Tensor> unpack_list(const std::vector<SavedVariable>& saved);

}  // namespace torch::autograd
