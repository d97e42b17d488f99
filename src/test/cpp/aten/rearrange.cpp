// What a C++ program calls of the functions that are made of others: the same names as in Python.

#include "expect.h"

using at::kBool;
using at::kDouble;
using at::kFloat;
using at::kLong;
using at::Tensor;
using expect::integers;
using expect::ramp;
using expect::tensor;
using Sizes = std::vector<int64_t>;

#define IS(actual, shape, dtype, ...) \
  expect::is(actual, shape, dtype, std::vector<double> __VA_ARGS__, __FILE__, __LINE__)

TEST(elements_move) {
  IS(at::roll(ramp({4}), 1), (Sizes{4}), kFloat, {3, 0, 1, 2});
  IS(at::roll(ramp({2, 2}), {1, 1}, {0, 1}), (Sizes{2, 2}), kFloat, {3, 2, 1, 0});
  IS(at::tile(ramp({2}), {2, 1}), (Sizes{2, 2}), kFloat, {0, 1, 0, 1});
  IS(at::repeat_interleave(ramp({2}), 2), (Sizes{4}), kFloat, {0, 0, 1, 1});
  IS(at::repeat_interleave(ramp({2}), integers({1, 2})), (Sizes{3}), kFloat, {0, 1, 1});
  IS(at::repeat_interleave(integers({0, 2})), (Sizes{2}), kLong, {1, 1});
  IS(at::fliplr(ramp({2, 2})), (Sizes{2, 2}), kFloat, {1, 0, 3, 2});
  IS(at::flipud(ramp({2, 2})), (Sizes{2, 2}), kFloat, {2, 3, 0, 1});
  IS(at::diag(tensor({1, 2}), 1), (Sizes{3, 3}), kFloat, {0, 1, 0, 0, 0, 2, 0, 0, 0});
  IS(at::diff(tensor({1, 4, 9}), 2), (Sizes{1}), kFloat, {2});
  IS(at::tril_indices(2, 2), (Sizes{2, 3}), kLong, {0, 1, 1, 0, 0, 1});
  CHECK_THROWS(c10::Error, at::roll(ramp({4}), {1, 2}, {0}), "shifts and dimensions must align");
  CHECK_THROWS(c10::Error, at::repeat_interleave(ramp({2}), integers({1, -1})), "repeats can not be negative");
  CHECK_THROWS(c10::Error, at::diag(ramp({1, 1, 1})), "diag(): Supports 1D or 2D tensors. Got 3D");
}

TEST(tensors_are_stacked) {
  IS(at::hstack({ramp({2}), ramp({1})}), (Sizes{3}), kFloat, {0, 1, 0});
  IS(at::vstack({ramp({2}), ramp({2})}), (Sizes{2, 2}), kFloat, {0, 1, 0, 1});
  IS(at::row_stack({ramp({2}), ramp({2})}), (Sizes{2, 2}), kFloat, {0, 1, 0, 1});
  IS(at::dstack({ramp({2}), ramp({2})}), (Sizes{1, 2, 2}), kFloat, {0, 0, 1, 1});
  IS(at::column_stack({ramp({2}), ramp({2})}), (Sizes{2, 2}), kFloat, {0, 0, 1, 1});
  CHECK(at::atleast_3d(ramp({2, 3})).sizes() == at::IntArrayRef({2, 3, 1}));
  IS(at::meshgrid({ramp({2}), ramp({3})}, "xy")[0], (Sizes{3, 2}), kFloat, {0, 1, 0, 1, 0, 1});
}

TEST(tensors_are_multiplied) {
  IS(at::kron(tensor({1, 10}), tensor({1, 2})), (Sizes{4}), kFloat, {1, 2, 10, 20});
  IS(at::inner(ramp({2, 2}), tensor({1, 10})), (Sizes{2}), kFloat, {10, 32});
  IS(at::vdot(ramp({3}), ramp({3})), (Sizes{}), kFloat, {5});
  IS(at::tensordot(ramp({2, 2}), ramp({2, 2}), {0, 1}, {1, 0}), (Sizes{}), kFloat, {13});
  IS(at::einsum("ij,jk->ki", {ramp({2, 2}), ramp({2, 1})}), (Sizes{1, 2}), kFloat, {1, 3});
  IS(at::cdist(tensor({0, 0}, {1, 2}), tensor({3, 4}, {1, 2})), (Sizes{1, 1}), kFloat, {5});
  IS(at::norm(tensor({3, -4}), std::optional<at::Scalar>(1), 0), (Sizes{}), kFloat, {7});
  CHECK_THROWS(c10::Error, at::einsum("ij,jk", {ramp({2, 2})}), "fewer operands were provided than specified");
}

TEST(values_are_counted) {
  const auto [values, inverse, counts] = at::_unique2(integers({3, 1, 3}), true, true, true);
  IS(values, (Sizes{2}), kLong, {1, 3});
  IS(inverse, (Sizes{3}), kLong, {1, 0, 1});
  IS(counts, (Sizes{2}), kLong, {1, 2});
  IS(at::bincount(integers({1, 3, 1}), {}, 5), (Sizes{5}), kLong, {0, 2, 0, 1, 0});
  IS(at::bincount(integers({1, 1}), tensor({0.5, 0.25})), (Sizes{2}), kFloat, {0, 0.75});
  IS(at::median(tensor({4, 1, 3, 2})), (Sizes{}), kFloat, {2});
  IS(at::median(tensor({4, expect::kNaN, 3})), (Sizes{}), kFloat, {expect::kNaN});
  IS(std::get<1>(at::median(tensor({4, expect::kNaN, 3, expect::kNaN}), 0)), (Sizes{}), kLong, {1});
  IS(at::count_nonzero(ramp({2, 2}), at::IntArrayRef({1})), (Sizes{2}), kLong, {1, 2});
  IS(at::nan_to_num(tensor({expect::kNaN, -expect::kInf, 2}), 7, {}, -1), (Sizes{3}), kFloat, {7, -1, 2});
  CHECK_THROWS(c10::Error, at::bincount(integers({-1})), "bincount only supports 1-d non-negative integral inputs");
}

TEST(second_names) {
  Tensor x = tensor({-1, 2});
  IS(at::absolute(x), (Sizes{2}), kFloat, {1, 2});
  IS(at::true_divide(x, 2), (Sizes{2}), kFloat, {-0.5, 1});
  IS(x.subtract(1), (Sizes{2}), kFloat, {-2, 1});
  x.multiply_(x);
  IS(x, (Sizes{2}), kFloat, {1, 4});
  IS(at::concatenate({x, x}), (Sizes{4}), kFloat, {1, 4, 1, 4});
}

TEST(results_go_into_out) {
  Tensor out = at::zeros({1}, at::TensorOptions(kDouble));
  CHECK(at::kron_out(out, tensor({1, 10}), tensor({1, 2})).is_same(out));
  IS(out, (Sizes{4}), kDouble, {1, 2, 10, 20});
  Tensor whole = at::zeros({1}, at::TensorOptions(kLong));
  CHECK_THROWS(c10::Error, at::kron_out(whole, tensor({1}), tensor({1})),
               "result type Float can't be cast to the desired output type Long");
  const Tensor needs = tensor({1}).requires_grad_(true);
  CHECK_THROWS(c10::Error, at::kron_out(out, needs, needs), "don't support automatic differentiation");
}

TEST_MAIN()
