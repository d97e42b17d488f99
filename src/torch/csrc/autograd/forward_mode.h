#pragma once
// Forward mode: results move along tangents as their inputs do.
//
// A level is a derivative that is being taken; levels nest, and a tensor may have a tangent at each. An operation on
// tensors with tangents runs below the innermost of their levels, as if that did not exist, and then its tangent is
// computed there, too: that of a view by the same function, every other one from the operation's backward formula,
// which is linear in the gradient that comes in: the derivative of its product with the tangents, with respect to that
// gradient, is how the result moves. So forward mode has no formulas of its own,
// and tangents can be differentiated both ways.

#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

// Begins a level, the innermost of this thread; returns its number, counted from 0.
TORCH_API size_t enter_forward_level();
// Ends the innermost one, whose number must be `level`: no tensor has a tangent there any more.
TORCH_API void exit_forward_level(size_t level);
// How many levels there are for operations that this thread calls now.
TORCH_API size_t forward_levels();

// Whether operations of this thread are recorded or followed forward, if their inputs ask for it.
TORCH_API bool is_tracking();

// The tangent of a tensor at a level, undefined when it does not move. That of a view is a view of its base's.
TORCH_API at::Tensor tangent_at(const at::Tensor& tensor, size_t level);
TORCH_API void set_tangent(const at::Tensor& tensor, at::Tensor tangent, size_t level);
// Whether one of the tensors has a tangent at a level that operations see.
TORCH_API bool moves(at::TensorList tensors);
// A view of `primal` that moves along `tangent`. Throws Error when that has another shape.
TORCH_API at::Tensor make_dual(const at::Tensor& primal, const at::Tensor& tangent, size_t level);
// A view of a tensor that does not move at this level.
TORCH_API at::Tensor primal_at(const at::Tensor& tensor, size_t level);
// `to`, which has the values of `from`, moves as that does.
TORCH_API void copy_tangents(const at::Tensor& from, const at::Tensor& to);
// What a tensor is before it is written, for the node of the write: it moves as the tensor does, also at the levels
// that this call does not see.
TORCH_API at::Tensor copy_before_write(const at::Tensor& self);
// What a copy that a node keeps has to share with its result, which gets its tangents later;
// null outside of all levels.
TORCH_API std::shared_ptr<Tangents> shared_tangents(const at::Tensor& tensor);

// Operations see the levels below a number only, in a scope.
class TORCH_API ForwardLevelsGuard {
 public:
  explicit ForwardLevelsGuard(size_t levels);
  ~ForwardLevelsGuard();
  ForwardLevelsGuard(const ForwardLevelsGuard&) = delete;
  ForwardLevelsGuard& operator=(const ForwardLevelsGuard&) = delete;

 private:
  size_t previous_;
};

// What is known of a call that backward or forward mode has to follow.
class TORCH_API Recording {
 public:
  template <typename... Inputs>
  explicit Recording(const Inputs&... inputs) {
    if (C10_LIKELY(forward_levels() == 0)) {
      edges_.reserve(sizeof...(inputs));
      (append_edges(inputs), ...);
    } else {
      (append_inputs(inputs), ...);
      begin();
    }
  }

  // The call is only to be made once more, below the level (or, if no input moves, below all of them): that records it.
  bool is_repeated() const { return levels_.has_value(); }
  bool is_recorded() const { return !is_repeated(); }
  // One per input, in order.
  edge_list take_edges() { return std::move(edges_); }

  template <typename Results>
  void set_history(const Results& results, const std::shared_ptr<Node>& node) const {
    if (is_recorded()) autograd::set_history(results, node);
  }
  void rebase_history(const at::Tensor& self, const std::shared_ptr<Node>& node) const {
    if (is_recorded()) autograd::rebase_history(self, node);
  }

  // A linear function of one input, or a view of it: the tangent is the same function of the input's.
  template <typename Function>
  auto repeat_linear(const Function& function, const at::Tensor& input) const {
    auto result = function(input);
    if (moves_) move_along(result, function(tangents_[0]));
    return result;
  }
  // Afterwards the results move: those that have gradients, in the order in which `node` was given them.
  void propagate(Node& node, const variable_list& results, bool in_place = false) const {
    if (moves_) follow(node, results, in_place);
  }
  void propagate_elementwise(Node& node, const variable_list& results, bool in_place = false) const {
    if (moves_) follow_elementwise(node, results[0], in_place);
  }

 private:
  void append_edges(const at::Tensor& tensor) { edges_.push_back(gradient_edge(tensor)); }
  void append_edges(at::TensorList tensors) {
    for (const at::Tensor& tensor : tensors) append_edges(tensor);
  }
  void append_inputs(const at::Tensor& tensor) { inputs_.push_back(tensor); }
  void append_inputs(at::TensorList tensors) { inputs_.insert(inputs_.end(), tensors.begin(), tensors.end()); }
  void begin();
  void follow(Node& node, const variable_list& results, bool in_place) const;
  void follow_elementwise(Node& node, const at::Tensor& result, bool in_place) const;
  void move(const at::Tensor& result, at::Tensor tangent, bool in_place) const;
  void move_along(const at::Tensor& result, at::Tensor tangent) const {
    if (is_differentiable(result)) set_tangent(result, std::move(tangent), level_);
  }
  void move_along(const variable_list& results, variable_list tangents) const;
  bool is_differentiable_again() const;
  // The inputs' tangents; copies, if a history is to keep what a write in place changes.
  variable_list kept_tangents(bool will_be_written) const;

  edge_list edges_;
  variable_list inputs_;
  variable_list tangents_;
  std::optional<ForwardLevelsGuard> levels_;
  size_t level_ = 0;
  bool moves_ = false;
};

}  // namespace torch::autograd
