// Tangents: of functions, through writes in place and views, at several levels, and what is left of them afterwards.

#include "check.h"

#include <aten/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/forward_mode.h>

using at::Tensor;
using c10::Error;
namespace autograd = torch::autograd;

namespace {

class Level {
 public:
  Level() : number_(autograd::enter_forward_level()) {}
  ~Level() { autograd::exit_forward_level(number_); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  Tensor dual(const Tensor& primal, const Tensor& tangent) const {
    return autograd::make_dual(primal, tangent, number_);
  }
  Tensor tangent(const Tensor& tensor) const { return autograd::tangent_at(tensor, number_); }

 private:
  size_t number_;
};

Tensor filled(double value) { return at::full({2}, value, at::kDouble); }

bool is_filled(const Tensor& tensor, double value) { return tensor.defined() && at::equal(tensor, filled(value)); }

}  // namespace

TEST(results_move_as_their_inputs_do) {
  const Level level;
  const Tensor x = level.dual(filled(3), filled(1));
  CHECK(is_filled(level.tangent(x * x), 6));     // element-wise
  CHECK(is_filled(level.tangent(x.neg()), -1));  // linear
  CHECK(at::equal(level.tangent(x.prod()), at::full({}, 6.0, at::kDouble)));  // by the derivative of the formula
  CHECK(!level.tangent(x.detach()).defined());
  CHECK(!level.tangent(filled(1) * 2).defined());
  const c10::NoGradGuard no_grad;
  CHECK(is_filled(level.tangent(x * x), 6));
}

TEST(views_share_tangents) {
  const Level level;
  const Tensor base = at::zeros({2, 2}, at::kDouble);
  const Tensor before = base.select(0, 1);
  Tensor row = base.select(0, 0);
  row.copy_(level.dual(filled(1), filled(5)));
  CHECK(is_filled(level.tangent(base.select(0, 0)), 5));
  CHECK(is_filled(level.tangent(before), 0));
  row.mul_(2);
  CHECK(is_filled(level.tangent(base).select(0, 0), 10));
}

TEST(levels_nest) {
  const Level outer;
  const Tensor x = outer.dual(filled(3), filled(1));
  Tensor first;
  {
    const Level inner;
    const Tensor y = inner.dual(x, filled(1));
    first = inner.tangent(y * y * y);
    CHECK_THROWS(Error, autograd::exit_forward_level(0), "not the last one");
  }
  CHECK(is_filled(first, 27));
  CHECK(is_filled(outer.tangent(first), 18));
}

TEST(a_level_takes_its_tangents_along) {
  Tensor x;
  {
    const Level level;
    x = level.dual(filled(1), filled(1));
    CHECK_THROWS(Error, level.dual(x, filled(1)), "already has a forward gradient");
    CHECK_THROWS(Error, level.dual(filled(1), at::ones({3}, at::kDouble)), "Tensor is of size [2]");
  }
  const Level next;
  CHECK(!next.tangent(x).defined());
  CHECK(!next.tangent(x * 2).defined());
}

TEST(backward_over_forward_and_forward_over_backward) {
  const Level level;
  const Tensor x = filled(2).requires_grad_();
  const Tensor tangent = level.tangent(level.dual(x, filled(1)).exp());
  CHECK(at::equal(autograd::grad({tangent.sum()}, {x})[0], x.exp().detach()));
  const Tensor leaf = level.dual(filled(2), filled(1)).requires_grad_();
  const Tensor gradient = autograd::grad({leaf.exp().sum()}, {leaf})[0];
  CHECK(at::equal(level.tangent(gradient), filled(2).exp()));
}

TEST_MAIN()
