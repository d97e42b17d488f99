#pragma once
// The autograd graph: a Node per recorded operation, an Edge per input that needs a gradient.
//
// A node's outputs in backward are the gradients of the operation's inputs, and its inputs the gradients of
// the operation's results. Subclass Node and define apply() to add an operation (Python's autograd.Function
// does).

#include <aten/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch::autograd {

using variable_list = std::vector<at::Tensor>;

class Node;
class SavedVisitor;  // saved_variable.h

// To input `input_nr` of `function`; a null function: no gradient is needed there.
struct Edge {
  Edge() = default;
  Edge(std::shared_ptr<Node> target, uint32_t input) : function(std::move(target)), input_nr(input) {}
  bool is_valid() const { return function != nullptr; }

  std::shared_ptr<Node> function;
  uint32_t input_nr = 0;
};
using edge_list = std::vector<Edge>;

// What a gradient that enters a node must look like: as the result of the forward operation that it belongs
// to.
struct InputMetadata {
  explicit InputMetadata(const at::Tensor& tensor)
      : sizes(tensor.sizes().begin(), tensor.sizes().end()), options(tensor.options()) {}
  std::vector<int64_t> sizes;
  at::TensorOptions options;
};

// Receives a gradient and returns its replacement, or an undefined tensor to keep it.
using TensorHook = std::function<at::Tensor(const at::Tensor& gradient)>;
// Before a node runs: the gradients that enter it; returns those to use.
using NodePreHook = std::function<variable_list(variable_list inputs)>;
// After a node ran: the gradients it made and those that entered; returns those to use.
using NodePostHook = std::function<variable_list(variable_list outputs, const variable_list& inputs)>;

// Hooks in the order of registration, each with a number by which it can be removed.
template <typename Hook>
class HookList {
 public:
  uint64_t add(Hook hook) {
    hooks_.emplace_back(++last_, std::move(hook));
    return last_;
  }
  void remove(uint64_t number) {
    for (auto entry = hooks_.begin(); entry != hooks_.end(); ++entry) {
      if (entry->first == number) {
        hooks_.erase(entry);
        return;
      }
    }
  }
  bool empty() const { return hooks_.empty(); }
  // A copy: a hook may remove itself while it runs.
  std::vector<std::pair<uint64_t, Hook>> snapshot() const { return hooks_; }

 private:
  std::vector<std::pair<uint64_t, Hook>> hooks_;
  uint64_t last_ = 0;
};
using TensorHooks = HookList<TensorHook>;

class TORCH_API Node : public std::enable_shared_from_this<Node> {
 public:
  // `sequence_nr` orders nodes that are ready in backward: the later it was made, the earlier it runs.
  explicit Node(uint64_t sequence_nr = next_sequence_nr()) : sequence_nr_(sequence_nr) {}
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // From the gradients of the results (an entry may be undefined: zero) to those of the inputs, one per edge.
  virtual variable_list apply(variable_list&& grads) = 0;
  virtual std::string name() const = 0;
  // Forgets what was saved; called after backward unless the graph is retained.
  virtual void release_variables() {}
  // Shows what was saved, by the names of the formula.
  virtual void visit_saved(SavedVisitor&) {}
  // The leaf that an AccumulateGrad writes to; undefined for every other node.
  virtual at::Tensor leaf() const { return {}; }
  variable_list operator()(variable_list&& grads) { return apply(std::move(grads)); }

  // Graph.
  const edge_list& next_edges() const { return next_edges_; }
  const Edge& next_edge(size_t index) const { return next_edges_[index]; }
  // In anomaly mode this notes where the program is.
  void set_next_edges(edge_list&& edges);
  void set_next_edge(size_t index, Edge edge) { next_edges_[index] = std::move(edge); }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  size_t num_outputs() const { return next_edges_.size(); }
  uint64_t sequence_nr() const { return sequence_nr_; }
  static uint64_t next_sequence_nr();

  // Whether input `index` of the operation needs a gradient.
  bool should_compute_output(size_t index) const { return next_edges_[index].is_valid(); }
  // In apply(): and whether the backward that runs asks for it.
  bool task_should_compute_output(size_t index) const {
    return next_edges_[index].is_valid() && (!in_selective_backward() || is_asked_for(next_edges_[index]));
  }
  bool task_should_compute_any(size_t first, size_t count) const {
    for (size_t index = first; index < first + count; ++index) {
      if (task_should_compute_output(index)) return true;
    }
    return false;
  }

  // Metadata of one more result; returns its number.
  uint32_t add_input_metadata(const at::Tensor& result) {
    inputs_.emplace_back(result);
    return static_cast<uint32_t>(inputs_.size() - 1);
  }
  // A result without a gradient of its own keeps its number free.
  const std::vector<InputMetadata>& input_metadata() const { return inputs_; }
  size_t num_inputs() const { return inputs_.size(); }

  // Hooks. Tensor hooks belong to one input of the node; all run before the pre-hooks.
  struct InputHooks {
    uint32_t input_nr;
    std::shared_ptr<TensorHooks> hooks;
  };
  // The list for an input, made when there is none. It can outlive the node.
  const std::shared_ptr<TensorHooks>& tensor_hooks(uint32_t input_nr);
  const std::vector<InputHooks>& all_tensor_hooks() const { return tensor_hooks_; }
  // Where retain_grad() of a result keeps its gradient: after the tensor hooks.
  void set_retained_grad(uint32_t input_nr, std::shared_ptr<at::Tensor> slot);
  const std::vector<std::pair<uint32_t, std::shared_ptr<at::Tensor>>>& retained_grads() const {
    return retained_;
  }
  // Takes the slot away, null when there is none.
  std::shared_ptr<at::Tensor> take_retained_grad(uint32_t input_nr);
  HookList<NodePreHook>& pre_hooks() { return pre_hooks_; }
  HookList<NodePostHook>& post_hooks() { return post_hooks_; }

  // Where the operation was called, if that was in anomaly mode; otherwise empty.
  std::string origin() const { return origin_ ? *origin_ : std::string(); }

  // The Python object that shows this node, borrowed; the bindings keep it.
  void* pyobj() const { return pyobj_; }
  void set_pyobj(void* object) { pyobj_ = object; }

 private:
  static bool in_selective_backward();
  static bool is_asked_for(const Edge& edge);

  uint64_t sequence_nr_;
  edge_list next_edges_;
  std::vector<InputMetadata> inputs_;
  std::vector<InputHooks> tensor_hooks_;
  std::vector<std::pair<uint32_t, std::shared_ptr<at::Tensor>>> retained_;
  HookList<NodePreHook> pre_hooks_;
  HookList<NodePostHook> post_hooks_;
  std::unique_ptr<std::string> origin_;
  void* pyobj_ = nullptr;
};

// Who says where the program is when this thread makes a node; null: nobody.
TORCH_API void set_origin_teller(std::string (*teller)());

// A node and what keeps it, which is one type for all nodes.
template <typename T>
class NodePointer : public std::shared_ptr<Node> {
 public:
  NodePointer() = default;
  explicit NodePointer(std::shared_ptr<Node> node) : std::shared_ptr<Node>(std::move(node)) {}
  T* operator->() const { return static_cast<T*>(get()); }
  T& operator*() const { return static_cast<T&>(*get()); }
};

// Once nobody keeps it, the node is deleted, and the nodes that only it kept, one after the other: a long chain must
// not overflow the stack.
TORCH_API std::shared_ptr<Node> keep_node(Node* node);

// The way to make a node: make_node<AddBackward0>(arguments of its constructor...).
template <typename T, typename... Arguments>
NodePointer<T> make_node(Arguments&&... arguments) {
  return NodePointer<T>(keep_node(new T(std::forward<Arguments>(arguments)...)));
}

}  // namespace torch::autograd
