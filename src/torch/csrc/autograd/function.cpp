#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>

namespace torch::autograd {

namespace {
thread_local std::string (*origin_teller)() = nullptr;
}

void set_origin_teller(std::string (*teller)()) { origin_teller = teller; }

Node::~Node() = default;

void Node::set_next_edges(edge_list&& edges) {
  next_edges_ = std::move(edges);
  if (C10_UNLIKELY(origin_teller != nullptr) && !origin_) origin_ = std::make_unique<std::string>(origin_teller());
}

uint64_t Node::next_sequence_nr() {
  thread_local uint64_t next = 0;
  return next++;
}

bool Node::in_selective_backward() { return Engine::is_selective(); }

bool Node::is_asked_for(const Edge& edge) { return Engine::is_asked_for(*edge.function); }

const std::shared_ptr<TensorHooks>& Node::tensor_hooks(uint32_t input_nr) {
  for (const InputHooks& entry : tensor_hooks_) {
    if (entry.input_nr == input_nr) return entry.hooks;
  }
  tensor_hooks_.push_back({input_nr, std::make_shared<TensorHooks>()});
  return tensor_hooks_.back().hooks;
}

void Node::set_retained_grad(uint32_t input_nr, std::shared_ptr<at::Tensor> slot) {
  take_retained_grad(input_nr);
  retained_.emplace_back(input_nr, std::move(slot));
}

std::shared_ptr<at::Tensor> Node::take_retained_grad(uint32_t input_nr) {
  for (auto entry = retained_.begin(); entry != retained_.end(); ++entry) {
    if (entry->first == input_nr) {
      std::shared_ptr<at::Tensor> slot = std::move(entry->second);
      retained_.erase(entry);
      return slot;
    }
  }
  return nullptr;
}

static void delete_node(Node* node) {
  // While one node is deleted, those that it let go of queue up here instead of being deleted inside of it.
  thread_local std::vector<Node*>* queue = nullptr;
  if (queue != nullptr) {
    queue->push_back(node);
    return;
  }
  std::vector<Node*> pending{node};
  queue = &pending;
  while (!pending.empty()) {
    Node* next = pending.back();
    pending.pop_back();
    delete next;
  }
  queue = nullptr;
}

std::shared_ptr<Node> keep_node(Node* node) {
  return std::shared_ptr<Node>(node, [](Node* unkept) { delete_node(unkept); });
}

}  // namespace torch::autograd
