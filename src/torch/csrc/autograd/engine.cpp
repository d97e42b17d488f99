// A graph task counts how many gradients each node waits for, then runs nodes as they become ready, latest
// first. There is no recursion over the graph, so its depth is limited by memory only.

#include <torch/csrc/autograd/engine.h>

#include <aten/ATen.h>
#include <c10/util/Warning.h>
#include <torch/csrc/autograd/input_buffer.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <atomic>

namespace torch::autograd {

namespace {

thread_local bool anomaly_mode = false;
thread_local bool nan_check = false;

// Where a backward starts: hands its gradients to the roots.
class GraphRoot final : public Node {
 public:
  GraphRoot(const edge_list& roots, variable_list grads) : grads_(std::move(grads)) {
    set_next_edges(edge_list(roots));
  }
  variable_list apply(variable_list&&) override { return std::move(grads_); }
  std::string name() const override { return "GraphRoot"; }

 private:
  variable_list grads_;
};

// What a task knows of a node.
struct NodeState {
  std::shared_ptr<Node> node;
  std::vector<std::pair<uint32_t, size_t>> captures;  // input -> number of the target
  InputBuffer inputs{0};
  int64_t waits_for = 0;         // gradients that are still to come
  bool has_inputs = false;       // one came
  bool leads_to_target = false;  // it has to run
  bool was_seen = false;
};

// The states by their nodes' addresses. Small graphs are run most often:
// a table of a few entries needs no memory of its own.
class NodeStates {
 public:
  NodeStates() { states_.reserve(kFirst / 2); }
  uint32_t index_of(const std::shared_ptr<Node>& node) {
    size_t slot = slot_of(node.get());
    if (table()[slot].node == nullptr) {
      if (2 * states_.size() >= mask_ + 1) {
        grow();
        slot = slot_of(node.get());
      }
      table()[slot] = {node.get(), static_cast<uint32_t>(states_.size())};
      states_.emplace_back().node = node;
    }
    return table()[slot].index;
  }
  const NodeState* find(const Node& node) const {
    const Entry& entry = table()[slot_of(&node)];
    return entry.node == nullptr ? nullptr : &states_[entry.index];
  }
  NodeState& operator[](uint32_t index) { return states_[index]; }

 private:
  struct Entry {
    const Node* node;
    uint32_t index;
  };
  static constexpr size_t kFirst = 32;

  Entry* table() { return large_.empty() ? first_ : large_.data(); }
  const Entry* table() const { return large_.empty() ? first_ : large_.data(); }
  // That of the node, or the free one where it belongs.
  size_t slot_of(const Node* node) const {
    size_t slot = (reinterpret_cast<uintptr_t>(node) >> 4) * 0x9E3779B97F4A7C15U >> 32 & mask_;
    while (table()[slot].node != nullptr && table()[slot].node != node) slot = (slot + 1) & mask_;
    return slot;
  }
  void grow() {
    mask_ = 4 * (mask_ + 1) - 1;
    large_.assign(mask_ + 1, Entry{});
    for (uint32_t index = 0; index < states_.size(); ++index) {
      const Node* node = states_[index].node.get();
      large_[slot_of(node)] = {node, index};
    }
  }

  Entry first_[kFirst] = {};
  std::vector<Entry> large_;
  size_t mask_ = kFirst - 1;
  std::vector<NodeState> states_;
};

// A node that has all its gradients; of several, the one that was made last runs first.
struct Ready {
  uint64_t sequence_nr;
  uint32_t state;
  bool operator<(const Ready& other) const { return sequence_nr < other.sequence_nr; }
};

class GraphTask {
 public:
  GraphTask(BackwardOptions options, const edge_list& targets)
      : options_(options), selective_(!targets.empty()) {
    captured_.resize(targets.size());
  }

  variable_list run(const std::shared_ptr<Node>& root, const edge_list& targets);
  bool is_selective() const { return selective_; }
  bool will_run(const Node& node) const { return selective_ ? is_asked_for(node) : states_.find(node) != nullptr; }
  int64_t number() const { return number_; }
  bool is_asked_for(const Node& node) const {
    const NodeState* state = states_.find(node);
    return state != nullptr && (state->leads_to_target || !state->captures.empty());
  }

 private:
  void count_dependencies(const std::shared_ptr<Node>& root);
  void mark_targets(const std::shared_ptr<Node>& root, const edge_list& targets);
  void evaluate(uint32_t index);
  void send(const Edge& edge, at::Tensor gradient);

  BackwardOptions options_;
  bool selective_;
  int64_t number_ = next_number_++;
  inline static std::atomic<int64_t> next_number_{0};
  variable_list captured_;
  NodeStates states_;
  std::vector<Ready> ready_;  // a heap
};

thread_local GraphTask* current_task = nullptr;

// A backward may run inside of another, from a hook or a custom function.
class TaskScope {
 public:
  explicit TaskScope(GraphTask* task) : previous_(std::exchange(current_task, task)) {}
  ~TaskScope() { current_task = previous_; }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  GraphTask* previous_;
};

void GraphTask::count_dependencies(const std::shared_ptr<Node>& root) {
  std::vector<const Node*> stack{root.get()};
  states_.index_of(root);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (edge.is_valid() && states_[states_.index_of(edge.function)].waits_for++ == 0)
        stack.push_back(edge.function.get());
    }
  }
}

void GraphTask::mark_targets(const std::shared_ptr<Node>& root, const edge_list& targets) {
  for (size_t index = 0; index < targets.size(); ++index) {
    if (!targets[index].is_valid()) continue;
    NodeState& state = states_[states_.index_of(targets[index].function)];
    if (options_.accumulate && targets[index].function->leaf().defined()) {
      state.leads_to_target = true;
    } else {
      state.captures.emplace_back(targets[index].input_nr, index);
    }
  }
  // Depth first; a node is judged when all behind it are.
  struct Frame {
    uint32_t state;
    size_t next;
  };
  std::vector<Frame> stack{{states_.index_of(root), 0}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    NodeState& state = states_[frame.state];
    const edge_list& edges = state.node->next_edges();
    if (frame.next < edges.size()) {
      const Edge& edge = edges[frame.next++];
      if (!edge.is_valid()) continue;
      const uint32_t next = states_.index_of(edge.function);
      if (!std::exchange(states_[next].was_seen, true)) stack.push_back({next, 0});
      continue;
    }
    for (const Edge& edge : edges) {
      state.leads_to_target = state.leads_to_target || (edge.is_valid() && is_asked_for(*edge.function));
    }
    stack.pop_back();
  }
}

// Runs the hooks of the tensors that a node's inputs are gradients of, then keeps what retain_grad() asked
// for.
void run_tensor_hooks(Node& node, variable_list& inputs) {
  const auto run = [&inputs](const TensorHooks& hooks, uint32_t input_nr) {
    for (const auto& [number, hook] : hooks.snapshot()) {
      if (!inputs[input_nr].defined()) return;
      at::Tensor replaced = hook(inputs[input_nr]);
      if (!replaced.defined()) continue;
      const at::Tensor& original = inputs[input_nr];
      TORCH_CHECK(replaced.sizes() == original.sizes(), "hook has changed the size of value");
      TORCH_CHECK(replaced.dtype() == original.dtype(), "hook has changed the type of value (was ",
                  original.dtype(), " got ", replaced.dtype(), ")");
      TORCH_CHECK(replaced.device() == original.device(), "hook has changed the device of value");
      inputs[input_nr] = std::move(replaced);
    }
  };
  for (const Node::InputHooks& entry : node.all_tensor_hooks()) run(*entry.hooks, entry.input_nr);
  const at::Tensor leaf = node.leaf();
  if (leaf.defined()) {
    const AutogradMeta* meta = find_meta(leaf);
    if (meta && meta->hooks) run(*meta->hooks, 0);
  }
  for (const auto& [input_nr, slot] : node.retained_grads()) {
    if (!inputs[input_nr].defined()) continue;
    *slot = slot->defined() ? at::add(*slot, inputs[input_nr]) : at::clone(inputs[input_nr]);
  }
}

// Brings a gradient to the shape, dtype and device of the tensor that it belongs to.
at::Tensor conform(at::Tensor gradient, const InputMetadata& expected, const Node& node, size_t index) {
  if (gradient.sizes() != c10::IntArrayRef(expected.sizes)) {
    const c10::IntArrayRef sizes = gradient.sizes();
    bool expandable = sizes.size() >= expected.sizes.size();
    for (size_t back = 1; expandable && back <= expected.sizes.size(); ++back) {
      const int64_t want = expected.sizes[expected.sizes.size() - back];
      expandable = want == 1 || want == sizes[sizes.size() - back];
    }
    TORCH_CHECK(expandable, "Function ", node.name(), " returned an invalid gradient at index ", index,
                " - got ", sizes, " but expected shape compatible with ", c10::IntArrayRef(expected.sizes));
    gradient = at::sum_to_size(gradient, expected.sizes);
  }
  const bool same_device = gradient.device() == expected.options.device();
  TORCH_CHECK(same_device || gradient.dim() == 0, "Function ", node.name(),
              " returned an invalid gradient at index ", index, " - expected device ",
              expected.options.device(), " but got ", gradient.device());
  if (!same_device || gradient.dtype() != expected.options.dtype()) {
    gradient = at::_to_copy(gradient, expected.options.dtype(), expected.options.device());
  }
  return gradient;
}

void check_for_nan(const Node& node, const variable_list& outputs) {
  const at::NoGradGuard no_history;
  for (size_t index = 0; index < outputs.size(); ++index) {
    at::Tensor output = outputs[index];
    if (output.defined() && output.impl()->sparse()) output = output._values();
    if (!output.defined() || !c10::is_floating_or_complex_type(output.dtype())) continue;
    TORCH_CHECK(!at::any(at::ne(output, output)).item().toBool(), "Function '", node.name(),
                "' returned nan values in its ", index, "th output.");
  }
}

// Says which operation a failing node belongs to.
void warn_of(const Node& node) {
  const std::string origin = node.origin();
  TORCH_WARN("Error detected in ", node.name(), ". ",
             origin.empty()
                 ? "No forward pass information available. Enable detect anomaly during forward pass for more "
                   "information."
                 : "Traceback of forward call that caused the error:\n",
             origin);
}

void check_outputs(const Node& node, variable_list& outputs) {
  const size_t expected = node.num_outputs();
  // A custom function may return more, as long as they are undefined.
  for (size_t index = expected; index < outputs.size(); ++index) {
    TORCH_CHECK(!outputs[index].defined(), "Function ", node.name(),
                " returned an invalid number of gradients - got ", outputs.size(), ", but expected ",
                expected);
  }
  TORCH_CHECK(outputs.size() >= expected, "Function ", node.name(),
              " returned an invalid number of gradients - got ", outputs.size(), ", but expected ", expected);
  for (size_t index = 0; index < expected; ++index) {
    const Edge& edge = node.next_edge(index);
    if (!edge.is_valid() || !outputs[index].defined()) continue;
    const auto& metadata = edge.function->input_metadata();
    TORCH_INTERNAL_ASSERT(edge.input_nr < metadata.size(),
                          "an edge ends in an input that its node does not have");
    outputs[index] = conform(std::move(outputs[index]), metadata[edge.input_nr], node, index);
  }
}

void GraphTask::evaluate(uint32_t index) {
  // A node may be the last that holds tensors; it goes when it has run.
  const std::shared_ptr<Node> keeper = states_[index].node;
  Node& node = *keeper;
  variable_list inputs = states_[index].inputs.take();
  run_tensor_hooks(node, inputs);
  if (selective_) {
    const NodeState& state = states_[index];
    for (const auto& [input_nr, target] : state.captures) captured_[target] = inputs[input_nr];
    if (!state.leads_to_target) return;
  } else if (!options_.accumulate && node.leaf().defined()) {
    return;
  }
  for (const auto& [number, hook] : node.pre_hooks().snapshot()) inputs = hook(std::move(inputs));
  const auto post_hooks = node.post_hooks().snapshot();
  const variable_list kept = post_hooks.empty() ? variable_list{} : inputs;
  variable_list outputs = node(std::move(inputs));
  if (!options_.keep_graph) node.release_variables();
  for (const auto& [number, hook] : post_hooks) outputs = hook(std::move(outputs), kept);
  check_outputs(node, outputs);
  if (nan_check) check_for_nan(node, outputs);
  for (size_t output = 0; output < node.num_outputs(); ++output)
    send(node.next_edge(output), std::move(outputs[output]));
}

void GraphTask::send(const Edge& edge, at::Tensor gradient) {
  if (!edge.is_valid()) return;
  const uint32_t index = states_.index_of(edge.function);
  NodeState& state = states_[index];
  const bool wanted = !selective_ || state.leads_to_target || !state.captures.empty();
  if (wanted) {
    if (!std::exchange(state.has_inputs, true)) state.inputs = InputBuffer(edge.function->num_inputs());
    state.inputs.add(edge.input_nr, std::move(gradient));
  }
  if (--state.waits_for == 0 && wanted) {
    ready_.push_back({edge.function->sequence_nr(), index});
    std::push_heap(ready_.begin(), ready_.end());
  }
}

variable_list GraphTask::run(const std::shared_ptr<Node>& root, const edge_list& targets) {
  count_dependencies(root);
  if (selective_) mark_targets(root, targets);
  const TaskScope scope(this);
  const c10::AutoGradMode mode(options_.create_graph);
  ready_.push_back({root->sequence_nr(), states_.index_of(root)});
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end());
    const uint32_t next = ready_.back().state;
    ready_.pop_back();
    if (C10_LIKELY(!anomaly_mode)) {
      evaluate(next);
      continue;
    }
    try {
      evaluate(next);
    } catch (...) {
      warn_of(*states_[next].node);
      throw;
    }
  }
  return std::move(captured_);
}

}  // namespace

variable_list Engine::execute(const edge_list& roots, variable_list grads, const edge_list& targets,
                              BackwardOptions options) {
  TORCH_INTERNAL_ASSERT(roots.size() == grads.size(), "one gradient per root");
  GraphTask task(options, targets);
  return task.run(make_node<GraphRoot>(roots, std::move(grads)), targets);
}

bool Engine::is_selective() { return current_task != nullptr && current_task->is_selective(); }

bool Engine::will_run(const Node& node) { return current_task != nullptr && current_task->will_run(node); }

int64_t Engine::task_number() { return current_task ? current_task->number() : -1; }

bool Engine::is_asked_for(const Node& node) { return current_task->is_asked_for(node); }

Engine::OutsideOfTask::OutsideOfTask() : task_(std::exchange(current_task, nullptr)) {}
Engine::OutsideOfTask::~OutsideOfTask() { current_task = static_cast<GraphTask*>(task_); }

void set_anomaly_mode(bool enabled, bool check_nan) {
  anomaly_mode = enabled;
  nan_check = enabled && check_nan;
}

}  // namespace torch::autograd
