// The graph: histories, versions, views, hooks, and what backward() and grad() promise.

#include "check.h"

#include <aten/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>

#include <thread>

using at::Tensor;
using c10::Error;
namespace autograd = torch::autograd;

namespace {

Tensor leaf(std::vector<double> numbers) {
  Tensor result = at::empty({static_cast<int64_t>(numbers.size())}, at::kDouble);
  std::copy(numbers.begin(), numbers.end(), result.data_ptr<double>());
  return result.requires_grad_();
}

std::vector<double> numbers(const Tensor& tensor) {
  const Tensor flat = tensor.detach().contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

bool same(const Tensor& tensor, const std::vector<double>& expected) { return numbers(tensor) == expected; }

std::string history(const Tensor& tensor) { return tensor.grad_fn() ? tensor.grad_fn()->name() : "none"; }

}  // namespace

TEST(backward_adds_to_grad) {
  Tensor x = leaf({1, 2});
  (x * x).sum().backward();
  CHECK(same(x.grad(), {2, 4}));
  (x * 3).sum().backward();
  CHECK(same(x.grad(), {5, 7}));
  CHECK(!x.grad().requires_grad());
}

TEST(a_diamond_runs_each_node_once) {
  Tensor x = leaf({3});
  Tensor y = x * x;
  int calls = 0;
  autograd::register_hook(y, [&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  (y * 2 + y * y).sum().backward();
  CHECK_EQ(calls, 1);
  CHECK(same(x.grad(), {2 * 2 * 3 + 4 * 27.0}));
}

TEST(a_long_chain_needs_no_stack) {
  Tensor x = leaf({1});
  Tensor y = x;
  for (int step = 0; step < 200000; ++step) y = y + 1;
  y.backward();
  CHECK(same(x.grad(), {1}));
}

TEST(a_long_chain_is_deleted_without_stack) {
  Tensor y = leaf({1});
  for (int step = 0; step < 200000; ++step) y = y.exp().log();
  y.reset();
}

TEST(a_second_backward_needs_retain_graph) {
  Tensor x = leaf({1, 2});
  Tensor y = (x * x).sum();
  y.backward();
  CHECK_THROWS(Error, y.backward(), "Trying to backward through the graph a second time");
  Tensor z = (x * x).sum();
  z.backward({}, true);
  z.backward();
  CHECK(same(x.grad(), {6, 12}));
}

TEST(grad_leaves_grad_alone) {
  Tensor x = leaf({1, 2});
  Tensor y = leaf({3, 4});
  const auto gradients = autograd::grad({(x * y).sum()}, {x});
  CHECK(same(gradients[0], {3, 4}));
  CHECK(!x.grad().defined());
  CHECK(!y.grad().defined());
}

TEST(grad_of_an_intermediate_result) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  CHECK(same(autograd::grad({(y * y).sum()}, {y})[0], {4, 8}));
}

TEST(grad_of_the_output_itself) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  CHECK(same(autograd::grad({y}, {y}, {at::ones_like(y)})[0], {1, 1}));
}

TEST(grad_of_an_unused_input) {
  Tensor x = leaf({1});
  Tensor unused = leaf({1});
  Tensor y = x * x;
  CHECK_THROWS(Error, autograd::grad({y}, {unused}, {}, true), "appears to not have been used in the graph");
  const auto gradients = autograd::grad({y}, {unused, x}, {}, true, false, /*allow_unused=*/true);
  CHECK(!gradients[0].defined());
  CHECK(same(gradients[1], {2}));
}

TEST(grad_of_a_grad) {
  Tensor x = leaf({3});
  const Tensor first = autograd::grad({x * x * x}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  CHECK(first.requires_grad());
  CHECK(same(first, {27}));
  const Tensor second = autograd::grad({first}, {x}, {}, std::nullopt, true)[0];
  CHECK(same(second, {18}));
  CHECK(same(autograd::grad({second}, {x})[0], {6}));
}

TEST(selective_backward_saves_what_create_graph_needs) {
  // The graph made during a selective backward is as complete as any.
  Tensor x = leaf({2});
  Tensor y = leaf({5});
  const Tensor dx = autograd::grad({x * x * y}, {x}, {}, std::nullopt, true)[0];  // 2xy
  CHECK(same(autograd::grad({dx}, {y})[0], {4}));
}

TEST(backward_for_some_inputs_only) {
  Tensor x = leaf({1, 2});
  Tensor y = leaf({3, 4});
  Tensor z = x * y;
  autograd::backward({z.sum()}, {}, std::nullopt, false, {x});
  CHECK(same(x.grad(), {3, 4}));
  CHECK(!y.grad().defined());
}

TEST(errors_of_backward) {
  Tensor x = leaf({1, 2});
  CHECK_THROWS(Error, (x * 2).backward(), "grad can be implicitly created only for scalar outputs");
  CHECK_THROWS(Error, at::ones({}).backward(),
               "element 0 of tensors does not require grad and does not have a grad_fn");
  CHECK_THROWS(Error, (x * 2).backward(at::ones({3}, at::kDouble)), "Mismatch in shape: grad_output[0]");
  CHECK_THROWS(Error, autograd::grad({x.sum()}, {at::ones({})}),
               "One of the differentiated Tensors does not require grad");
  CHECK_THROWS(c10::ValueError, autograd::grad({x.sum()}, {}), "grad requires non-empty inputs");
}

TEST(gradients_have_the_shape_and_dtype_of_the_input) {
  Tensor x = at::ones({3, 1}, at::kFloat).requires_grad_();
  Tensor y = leaf({1, 2});
  (x * y).sum().backward();
  CHECK_EQ(x.grad().sizes(), at::IntArrayRef({3, 1}));
  CHECK_EQ(x.grad().dtype(), at::kFloat);
  CHECK(same(y.grad(), {3, 3}));
}

TEST(a_gradient_of_another_dtype_is_cast) {
  Tensor x = leaf({1, 2});
  (x * 2).backward(at::ones({2}, at::kLong));
  CHECK(same(x.grad(), {2, 2}));
}

TEST(hooks_keep_shape_and_dtype) {
  Tensor x = leaf({1, 2});
  const auto [hooks, number] =
      autograd::register_hook(x, [](const Tensor& gradient) { return gradient.to(at::kFloat); });
  CHECK_THROWS(Error, x.sum().backward(), "hook has changed the type of value");
  hooks->remove(number);
  autograd::register_hook(x, [](const Tensor& gradient) { return gradient.sum(); });
  CHECK_THROWS(Error, x.sum().backward(), "hook has changed the size of value");
}

TEST(names_of_nodes) {
  Tensor x = leaf({1, 2});
  CHECK_EQ(history(x), "none");
  CHECK_EQ(history(x + 1), "AddBackward0");
  CHECK_EQ(history(x.sum()), "SumBackward0");
  CHECK_EQ(history(x.sum(0)), "SumBackward1");
  CHECK_EQ(history(x.view({2, 1}).t()), "TBackward0");
  CHECK_EQ(history(x.clone()), "CloneBackward0");
  CHECK_EQ(history(at::zeros({2}, at::kDouble).copy_(x)), "CopyBackwards");
  CHECK_EQ((x + 1).grad_fn()->next_edge(0).function->name(), "AccumulateGrad");
  CHECK(!(x + 1).grad_fn()->next_edge(1).is_valid());
}

TEST(no_grad_records_nothing) {
  Tensor x = leaf({1});
  const at::NoGradGuard no_grad;
  CHECK(!(x * 2).requires_grad());
}

TEST(integers_have_no_history) {
  Tensor x = leaf({1, 2});
  CHECK(!(x > 1).requires_grad());
  CHECK(!x.argmax().requires_grad());
  CHECK(!x.to(at::kLong).requires_grad());
  const auto [values, indices] = x.max(0);
  CHECK(values.requires_grad());
  CHECK(!indices.requires_grad());
  CHECK_THROWS(Error, at::ones({2}, at::kLong).requires_grad_(), "Only Tensors of floating point");
}

TEST(copying_into_integers_ends_a_history) {
  Tensor x = leaf({1, 2});
  Tensor y = at::zeros({2}, at::kLong).copy_(x);
  CHECK(!y.requires_grad());
  CHECK_EQ(y.sum().item<int64_t>(), 3);
}

TEST(detach_shares_memory_and_version) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  Tensor detached = y.detach();
  CHECK(!detached.requires_grad());
  CHECK(detached.is_alias_of(y));
  detached.fill_(5);
  CHECK_EQ(y._version(), 1U);
  y.detach_();
  CHECK(y.is_leaf());
  CHECK(!y.requires_grad());
  CHECK_THROWS(Error, (x * 1).view({2, 1}).detach_(), "Can't detach views in-place");
}

TEST(what_was_written_cannot_be_used) {
  Tensor x = leaf({1, 2});
  Tensor y = x.exp();
  y.mul_(2);
  CHECK_THROWS(
      Error, y.sum().backward(),
      "one of the variables needed for gradient computation has been modified by an inplace operation: "
      "[torch.DoubleTensor [2]], which is output 0 of Exp, is at version 1; expected version 0 "
      "instead");
  Tensor z = x * 1;
  Tensor product = z * x;
  z.view({2, 1}).zero_();
  CHECK_THROWS(Error, product.sum().backward(), "is at version 1; expected version 0");
}

TEST(leaves_are_not_written) {
  Tensor x = leaf({1, 2});
  CHECK_THROWS(Error, x.add_(1),
               "a leaf Variable that requires grad is being used in an in-place operation.");
  CHECK_THROWS(Error, x.select(0, 0).add_(1),
               "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  {
    const at::NoGradGuard no_grad;
    x.add_(1);
  }
  CHECK(same(x, {2, 3}));
  CHECK_EQ(x._version(), 1U);
}

TEST(a_view_made_without_grad_is_not_written_with_it) {
  Tensor x = leaf({1, 2}) * 1;
  Tensor view;
  {
    const at::NoGradGuard no_grad;
    view = x.select(0, 0);
  }
  CHECK_THROWS(Error, view.add_(1), "A view was created in no_grad mode and is being modified inplace");
  x.mul_(2);
  CHECK_THROWS(Error, view.grad_fn(), "A view was created in no_grad mode and its base or another view");
}

TEST(in_place_gives_a_leaf_a_history) {
  Tensor x = leaf({1, 2});
  Tensor y = at::zeros({2}, at::kDouble);
  Tensor view = y.select(0, 1);
  y.add_(x);
  CHECK_EQ(history(y), "AddBackward0");
  // The view follows its base.
  CHECK(view.requires_grad());
  CHECK_EQ(history(view), "AsStridedBackward0");
  view.backward();
  CHECK(same(x.grad(), {0, 1}));
}

TEST(writing_a_view_changes_the_base) {
  Tensor x = leaf({5});
  Tensor base = at::ones({3}, at::kDouble);
  base.select(0, 1).mul_(x.squeeze());
  CHECK(base.requires_grad());
  CHECK_EQ(history(base), "CopySlices");
  (base * base).sum().backward();
  CHECK(same(x.grad(), {10}));
}

TEST(selective_backward_passes_copy_slices) {
  Tensor x = leaf({1, 2, 3});
  Tensor w = leaf({5});
  Tensor y = x * 1;
  y.slice(0, 1, 3).mul_(w);
  CHECK(same(autograd::grad({y.sum()}, {x}, {}, true)[0], {1, 5, 5}));
  CHECK(same(autograd::grad({y.sum()}, {w})[0], {5}));
}

TEST(views_know_their_base) {
  Tensor x = at::ones({2, 3});
  Tensor view = x.t().select(0, 1);
  CHECK(view.is_view());
  CHECK(view._base().is_same(x));
  CHECK(!x.is_view());
  CHECK_THROWS(Error, x._base(), "Can't get base of non-view Variable");
}

TEST(out_does_not_record) {
  Tensor x = leaf({1, 2});
  Tensor out = at::empty({2}, at::kDouble);
  CHECK_THROWS(Error, at::add_out(out, x, x),
               "add(): functions with out=... arguments don't support automatic differentiation, but one of "
               "the arguments "
               "requires grad.");
  const at::NoGradGuard no_grad;
  CHECK(same(at::add_out(out, x, x), {2, 4}));
  CHECK_EQ(out._version(), 1U);
}

TEST(in_place_without_a_formula_is_refused) {
  Tensor x = leaf({1, 2}) * 1;
  CHECK_THROWS(Error, x.eq_(1), "eq_(): has no gradient");
}

TEST(hooks_change_gradients) {
  Tensor x = leaf({1, 2});
  const auto [hooks, number] =
      autograd::register_hook(x, [](const Tensor& gradient) { return gradient * 10; });
  x.sum().backward();
  CHECK(same(x.grad(), {10, 10}));
  hooks->remove(number);
  x.sum().backward();
  CHECK(same(x.grad(), {11, 11}));
  CHECK_THROWS(Error, autograd::register_hook(at::ones({}), [](const Tensor&) { return Tensor(); }),
               "cannot register a hook on a tensor that doesn't require gradient");
}

TEST(hooks_of_nodes) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  y.grad_fn()->pre_hooks().add([](autograd::variable_list inputs) {
    inputs[0] = inputs[0] + 1;
    return inputs;
  });
  double entered = 0;
  y.grad_fn()->post_hooks().add([&](autograd::variable_list outputs, const autograd::variable_list& inputs) {
    entered = inputs[0].sum().item<double>();
    outputs[0] = outputs[0] * 2;
    return outputs;
  });
  y.sum().backward();
  CHECK_EQ(entered, 4.0);
  CHECK(same(x.grad(), {12, 12}));
}

TEST(retain_grad_keeps_an_intermediate_gradient) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  CHECK(!y.retains_grad());
  y.retain_grad();
  CHECK(y.retains_grad());
  autograd::register_hook(y, [](const Tensor& gradient) { return gradient * 2; });
  (y * y).sum().backward();
  CHECK(same(y.grad(), {12, 24}));
  CHECK_THROWS(Error, at::ones({}).retain_grad(), "can't retain_grad on Tensor that has requires_grad=False");
}

TEST(retain_grad_follows_in_place_changes) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  y.retain_grad();
  y.mul_(2);
  (y * 5).sum().backward();
  CHECK(same(y.grad(), {5, 5}));
  CHECK(same(x.grad(), {30, 30}));
}

TEST(a_gradient_is_not_shared_with_the_caller) {
  Tensor x = leaf({1, 2});
  Tensor given = at::ones({2}, at::kDouble);
  (x + 0).backward(given);
  x.view({2, 1}).backward(given.view({2, 1}));
  CHECK(same(given, {1, 1}));
  CHECK(!x.grad().is_alias_of(given));
  CHECK(same(x.grad(), {2, 2}));
}

TEST(two_leaves_do_not_share_a_gradient) {
  Tensor x = leaf({1, 2});
  Tensor y = leaf({1, 2});
  (x + y).sum().backward();
  CHECK(!x.grad().is_alias_of(y.grad()));
}

TEST(a_hook_may_run_backward) {
  Tensor x = leaf({1, 2});
  Tensor inner = leaf({4});
  autograd::register_hook(x, [&](const Tensor&) {
    const c10::AutoGradMode mode(true);
    (inner * inner).sum().backward();
    return Tensor();
  });
  x.sum().backward();
  CHECK(same(inner.grad(), {8}));
  CHECK(same(x.grad(), {1, 1}));
}

TEST(requires_grad_of_a_result_cannot_be_changed) {
  Tensor y = leaf({1}) * 2;
  CHECK_THROWS(Error, y.requires_grad_(false), "you can only change requires_grad flags of leaf variables.");
  CHECK(y.requires_grad_().requires_grad());
}

TEST(factories_honour_requires_grad) {
  CHECK(at::ones({2}, at::TensorOptions(at::kFloat).requires_grad(true)).requires_grad());
  CHECK(!at::ones({2}).requires_grad());
}

TEST(set_grad_checks_its_argument) {
  Tensor x = leaf({1, 2});
  CHECK_THROWS(Error, x.set_grad(at::ones({3}, at::kDouble)),
               "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'");
  CHECK_THROWS(Error, x.set_grad(at::ones({2}, at::kFloat)), "assigned grad has data of a different type");
  x.set_grad(at::ones({2}, at::kDouble));
  CHECK(same(x.grad(), {1, 1}));
  x.set_grad({});
  CHECK(!x.grad().defined());
}

TEST(backward_may_start_at_a_leaf) {
  Tensor x = leaf({1, 2});
  x.backward(at::ones({2}, at::kDouble));
  CHECK(same(x.grad(), {1, 1}));
  CHECK(same(autograd::grad({x.sum()}, {x})[0], {1, 1}));
  CHECK(same(x.grad(), {1, 1}));
}

TEST(threads_share_a_leaf) {
  Tensor x = leaf({1, 2});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&x] {
      for (int step = 0; step < 200; ++step) (x * 3).sum().backward();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(same(x.grad(), {2400, 2400}));
}

TEST(an_exception_leaves_the_engine_usable) {
  Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  autograd::register_hook(y, [](const Tensor&) -> Tensor { throw c10::Error("stop"); });
  CHECK_THROWS(Error, y.sum().backward(), "stop");
  CHECK(c10::GradMode::is_enabled());
  (x * 2).sum().backward();
  CHECK(same(x.grad(), {2, 2}));
}

namespace {

// A node as other code would write one: y = 3 x.
class Triple final : public autograd::Node {
 public:
  autograd::variable_list apply(autograd::variable_list&& grads) override { return {grads[0] * factor}; }
  std::string name() const override { return "Triple"; }
  double factor = 3;
};

}  // namespace

TEST(nodes_can_be_written_by_hand) {
  Tensor x = leaf({1, 2});
  const auto node = autograd::make_node<Triple>();
  node->set_next_edges({autograd::gradient_edge(x)});
  Tensor y;
  {
    const at::NoGradGuard no_grad;
    y = x * 3;
  }
  autograd::set_history(y, node);
  (y * 2).sum().backward();
  CHECK(same(x.grad(), {6, 6}));
}

TEST_MAIN()
