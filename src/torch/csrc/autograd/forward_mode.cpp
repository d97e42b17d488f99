#include <torch/csrc/autograd/forward_mode.h>

#include <aten/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <algorithm>
#include <atomic>

namespace torch::autograd {

namespace {

// Levels have identities, so that a tangent that outlives its level is not taken for one of the next.
struct Levels {
  std::vector<uint64_t> identities;
  size_t visible = 0;
  // What the end of a level empties: a tangent may have a history in which a
  // node keeps the tensor that has this tangent.
  std::vector<std::weak_ptr<Tangents>> holders;
};
thread_local Levels levels;

bool is_visible(uint64_t identity) {
  const auto end = levels.identities.begin() + static_cast<std::ptrdiff_t>(levels.visible);
  return std::find(levels.identities.begin(), end, identity) != end;
}

// The tensor whose tangents a view shares; undefined for a tensor that has its own.
at::Tensor tangent_owner(const AutogradMeta& meta) {
  if (!meta.view || meta.view->has_own_tangents) return {};
  return meta.view->tangent_base.defined() ? meta.view->tangent_base : meta.view->base;
}

at::Tensor* own_tangent(const AutogradMeta* meta, uint64_t identity) {
  if (!meta || !meta->tangents) return nullptr;
  for (auto& [owner, tangent] : *meta->tangents) {
    if (owner == identity) return &tangent;
  }
  return nullptr;
}

const std::shared_ptr<Tangents>& holder_of(const at::Tensor& tensor) {
  AutogradMeta& meta = meta_of(tensor);
  if (!meta.tangents) {
    meta.tangents = std::make_shared<Tangents>();
    auto& holders = levels.holders;
    if (holders.size() == holders.capacity()) {  // in a long level most are gone when the list would have to grow
      holders.erase(std::remove_if(holders.begin(), holders.end(), [](const auto& known) { return known.expired(); }),
                    holders.end());
    }
    holders.push_back(meta.tangents);
  }
  return meta.tangents;
}

// Takes the tangents of one level away, and forgets holders that are gone.
void empty_holders(uint64_t identity) {
  Tangents ended;  // destroyed last: their histories may own holders
  std::vector<std::weak_ptr<Tangents>> living;
  for (std::weak_ptr<Tangents>& known : levels.holders) {
    const std::shared_ptr<Tangents> holder = known.lock();
    if (!holder) continue;
    const auto is_over = [&](const auto& entry) { return entry.first == identity; };
    for (auto& entry : *holder) {
      if (is_over(entry)) ended.push_back(entry);
    }
    holder->erase(std::remove_if(holder->begin(), holder->end(), is_over), holder->end());
    living.push_back(std::move(known));
  }
  levels.holders = levels.identities.empty() ? std::vector<std::weak_ptr<Tangents>>() : std::move(living);
}

void store(const at::Tensor& tensor, at::Tensor tangent, uint64_t identity) {
  const std::shared_ptr<Tangents>& holder = holder_of(tensor);
  if (at::Tensor* known = own_tangent(find_meta(tensor), identity)) *known = std::move(tangent);
  else holder->emplace_back(identity, std::move(tangent));
}

// A tangent is laid out as its tensor is, so that views of both show the same elements.
at::Tensor laid_out_as(const at::Tensor& tensor, const at::Tensor& tangent) {
  if (tangent.strides() == tensor.strides() || !tensor.is_non_overlapping_and_dense()) return tangent;
  const at::Tensor copy = at::empty_strided(tensor.sizes(), tensor.strides(), tangent.options());
  return at::copy_(const_cast<at::Tensor&>(copy), tangent);
}

// The part of the base's tangent that a view shows.
at::Tensor shown_by(const at::Tensor& view, const at::Tensor& base, const at::Tensor& tangent) {
  const int64_t offset = view.storage_offset() - base.storage_offset() + tangent.storage_offset();
  if (view.dtype() == base.dtype()) return at::as_strided(tangent, view.sizes(), view.strides(), offset);
  // A complex tensor's parts.
  const at::Tensor parts = at::view_as_real(tangent);
  return at::as_strided(parts, view.sizes(), view.strides(),
                        view.storage_offset() - 2 * base.storage_offset() + parts.storage_offset());
}

// The node behind inputs that a call's own backward is to give something for.
class Receiver final : public Node {
 public:
  variable_list apply(variable_list&&) override { return {}; }
  std::string name() const override { return "Receiver"; }
};

const std::shared_ptr<Node>& receiver() {
  thread_local const std::shared_ptr<Node> node = make_node<Receiver>();
  return node;
}

// A backward formula's answer in the shape and dtype of its input.
at::Tensor as_input(at::Tensor product, const at::Tensor& input) {
  if (product.sizes() != input.sizes()) product = at::sum_to_size(product, input.sizes());
  if (product.dtype() != input.dtype()) product = at::_to_copy(product, input.dtype(), input.device());
  return product;
}

}  // namespace

size_t enter_forward_level() {
  static std::atomic<uint64_t> next{1};
  TORCH_CHECK(levels.visible == levels.identities.size(),
              "a forward level cannot begin while operators compute tangents");
  levels.identities.push_back(next++);
  levels.visible = levels.identities.size();
  return levels.visible - 1;
}

void exit_forward_level(size_t level) {
  TORCH_CHECK(level + 1 == levels.identities.size(),
              "Trying to exit a forward AD level that was not the last one that was created. This is not supported.");
  const uint64_t identity = levels.identities.back();
  levels.identities.pop_back();
  levels.visible = std::min(levels.visible, level);
  empty_holders(identity);
}

size_t forward_levels() { return levels.visible; }

std::shared_ptr<Tangents> shared_tangents(const at::Tensor& tensor) {
  return levels.identities.empty() ? nullptr : holder_of(tensor);
}

bool is_tracking() {
  return (c10::GradMode::is_enabled() && !c10::InferenceMode::is_enabled()) || levels.visible > 0;
}

bool AutogradMeta::is_tracked() const {
  if (requires_grad()) return true;
  if (levels.visible == 0) return false;
  if (tangents) {
    for (const auto& [identity, tangent] : *tangents) {
      if (is_visible(identity)) return true;
    }
  }
  const at::Tensor owner = tangent_owner(*this);
  return owner.defined() && owner.impl()->is_tracked();
}

at::Tensor tangent_at(const at::Tensor& tensor, size_t level) {
  if (!tensor.defined() || level >= levels.identities.size()) return {};
  const AutogradMeta* meta = find_meta(tensor);
  if (!meta) return {};
  const uint64_t identity = levels.identities[level];
  if (const at::Tensor* own = own_tangent(meta, identity)) return *own;
  const at::Tensor owner = tangent_owner(*meta);
  if (!owner.defined()) return {};
  const at::Tensor* shared = own_tangent(find_meta(owner), identity);
  if (!shared) return {};
  const ForwardLevelsGuard below(level);
  at::Tensor shown = shown_by(tensor, owner, *shared);
  store(tensor, shown, identity);
  return shown;
}

bool moves(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    for (size_t level = 0; level < levels.visible; ++level) {
      if (tangent_at(tensor, level).defined()) return true;
    }
  }
  return false;
}

void set_tangent(const at::Tensor& tensor, at::Tensor tangent, size_t level) {
  store(tensor, std::move(tangent), levels.identities.at(level));
}

at::Tensor make_dual(const at::Tensor& primal, const at::Tensor& tangent, size_t level) {
  TORCH_CHECK(
      level < levels.identities.size(),
      "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.");
  TORCH_CHECK(!tangent_at(primal, level).defined(),
              "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level ", level,
              " is not supported.");
  TORCH_CHECK(
      tangent.sizes() == primal.sizes(),
      "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
      "supported. Tensor is of size ",
      primal.sizes(), " while the given forward gradient is of size ", tangent.sizes(), ".");
  at::Tensor dual = primal_at(primal, level);
  const ForwardLevelsGuard below(level);
  set_tangent(dual, laid_out_as(dual, tangent), level);
  return dual;
}

at::Tensor primal_at(const at::Tensor& tensor, size_t level) {
  const ForwardLevelsGuard below(level);
  const at::Tensor primal = at::view(tensor, tensor.sizes());
  if (AutogradMeta* meta = find_meta(primal); meta && meta->view) meta->view->has_own_tangents = true;
  return primal;
}

at::Tensor copy_before_write(const at::Tensor& self) {
  at::Tensor copy = at::clone(self);
  for (size_t level = levels.visible; level < levels.identities.size(); ++level) {
    const at::Tensor tangent = tangent_at(self, level);
    const ForwardLevelsGuard below(level);
    if (tangent.defined()) set_tangent(copy, at::clone(tangent), level);
  }
  return copy;
}

void copy_tangents(const at::Tensor& from, const at::Tensor& to) {
  for (size_t level = 0; level < levels.visible; ++level) {
    if (at::Tensor tangent = tangent_at(from, level); tangent.defined()) set_tangent(to, std::move(tangent), level);
  }
}

ForwardLevelsGuard::ForwardLevelsGuard(size_t count) : previous_(levels.visible) { levels.visible = count; }
ForwardLevelsGuard::~ForwardLevelsGuard() { levels.visible = std::min(previous_, levels.identities.size()); }

void Recording::begin() {
  for (size_t level = levels.visible; !moves_ && level-- > 0;) {
    tangents_.clear();
    for (const at::Tensor& input : inputs_) {
      at::Tensor tangent = is_differentiable(input) ? tangent_at(input, level) : at::Tensor();
      moves_ |= tangent.defined();
      tangents_.push_back(std::move(tangent));
    }
    level_ = level;
  }
  const bool is_wanted = c10::GradMode::is_enabled() &&
                         std::any_of(inputs_.begin(), inputs_.end(),
                                     [](const at::Tensor& input) { return input.defined() && input.requires_grad(); });
  if (!moves_ && is_wanted) {
    append_edges(inputs_);
    return;
  }
  levels_.emplace(moves_ ? level_ : 0);
  for (size_t index = 0; index < inputs_.size(); ++index) {
    const bool receives = moves_ && tangents_[index].defined();
    edges_.push_back(receives ? Edge(receiver(), static_cast<uint32_t>(index)) : Edge());
  }
}

bool Recording::is_differentiable_again() const {
  const auto wants = [](const at::Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); };
  return c10::GradMode::is_enabled() && (std::any_of(inputs_.begin(), inputs_.end(), wants) ||
                                         std::any_of(tangents_.begin(), tangents_.end(), wants));
}

variable_list Recording::kept_tangents(bool will_be_written) const {
  variable_list kept = tangents_;
  for (at::Tensor& tangent : kept) {
    if (will_be_written && tangent.defined()) tangent = at::clone(tangent);
  }
  return kept;
}

void Recording::follow(Node& node, const variable_list& results, bool in_place) const {
  const bool again = is_differentiable_again();
  const variable_list along = kept_tangents(in_place && again);
  variable_list starts;
  variable_list products;
  variable_list vectors;
  {
    const c10::AutoGradMode recorded(true);
    const Engine::OutsideOfTask outside;
    for (const at::Tensor& result : results) {
      if (!is_differentiable(result)) continue;
      // Its shape alone counts: one zero, seen everywhere, spares products of matrices their work.
      const bool is_dense = result.layout() == c10::kStrided;
      const at::Tensor start =
          is_dense ? at::expand(at::zeros({}, result.options()), result.sizes()) : at::zeros_like(result);
      starts.push_back(start.requires_grad_());
    }
    variable_list all = node(variable_list(starts));
    for (size_t index = 0; index < inputs_.size(); ++index) {
      if (!tangents_[index].defined() || !all[index].defined()) continue;
      at::Tensor product = as_input(std::move(all[index]), inputs_[index]);
      if (!product.requires_grad()) continue;
      products.push_back(std::move(product));
      vectors.push_back(along[index]);
    }
  }
  variable_list moved(starts.size());
  if (!products.empty()) moved = grad(products, starts, vectors, again, again, /*allow_unused=*/true);
  auto next = moved.begin();
  for (const at::Tensor& result : results) {
    if (is_differentiable(result)) move(result, std::move(*next++), in_place);
  }
}

void Recording::follow_elementwise(Node& node, const at::Tensor& result, bool in_place) const {
  if (!is_differentiable(result)) return;
  // A complex element is two numbers, each of which both numbers of an input may move.
  const auto is_complex = [](const at::Tensor& tensor) { return tensor.defined() && tensor.is_complex(); };
  if (is_complex(result) || std::any_of(inputs_.begin(), inputs_.end(), is_complex))
    return follow(node, {result}, in_place);
  const bool again = is_differentiable_again();
  const variable_list along = kept_tangents(in_place && again);
  const c10::AutoGradMode recorded(again);
  const Engine::OutsideOfTask outside;
  const edge_list all = node.next_edges();
  at::Tensor moved;
  for (size_t index = 0; index < inputs_.size(); ++index) {
    if (!tangents_[index].defined()) continue;
    edge_list one(all.size());
    one[index] = all[index];
    node.set_next_edges(std::move(one));
    at::Tensor tangent = along[index];
    if (tangent.dtype() != result.dtype()) tangent = at::_to_copy(tangent, result.dtype(), result.device());
    if (tangent.sizes() != result.sizes()) tangent = at::expand(tangent, result.sizes());
    at::Tensor part = node({tangent})[index];
    moved = moved.defined() && part.defined() ? at::add(moved, part) : part.defined() ? part : moved;
  }
  node.set_next_edges(edge_list(all));
  if (moved.defined() && moved.dtype() != result.dtype()) moved = at::_to_copy(moved, result.dtype(), result.device());
  move(result, std::move(moved), in_place);
}

void Recording::move_along(const variable_list& results, variable_list tangents) const {
  for (size_t index = 0; index < results.size(); ++index) move_along(results[index], std::move(tangents[index]));
}

void Recording::move(const at::Tensor& result, at::Tensor tangent, bool in_place) const {
  if (in_place) {
    if (const at::Tensor known = tangent_at(result, level_); known.defined()) {
      at::Tensor written = known;
      if (tangent.defined()) written.copy_(tangent);
      else written.zero_();
      return;
    }
    const at::Tensor owner = tangent_owner(meta_of(result));
    if (owner.defined() && tangent.defined()) {
      set_tangent(owner, at::zeros_like(owner), level_);
      tangent_at(result, level_).copy_(tangent);
      return;
    }
  }
  if (!tangent.defined()) {
    tangent = at::zeros_like(result);
  } else {
    // In-place writes change tangents, too: no two tensors may have the same one.
    const auto shares = [&](const at::Tensor& other) {
      return other.defined() && other.storage().is_alias_of(tangent.storage());
    };
    if (std::any_of(tangents_.begin(), tangents_.end(), shares)) tangent = at::clone(tangent);
    tangent = laid_out_as(result, tangent);
  }
  set_tangent(result, std::move(tangent), level_);
}

}  // namespace torch::autograd
