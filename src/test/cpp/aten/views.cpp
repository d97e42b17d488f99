// Views, shapes, joining and splitting.

#include "expect.h"

using at::kFloat;
using at::kLong;
using at::Tensor;
using expect::ramp;
using Sizes = std::vector<int64_t>;

TEST(view_shares_storage_and_version) {
  Tensor x = ramp({2, 3});
  Tensor y = x.view({3, 2});
  CHECK(y.is_alias_of(x));
  y.fill_(7);
  EXPECT_TENSOR(x, (Sizes{2, 3}), kFloat, 7, 7, 7, 7, 7, 7);
  CHECK_EQ(x._version(), y._version());
  CHECK(x._version() > 0);
}

TEST(view_infers_and_checks) {
  const Tensor x = ramp({2, 3});
  EXPECT_TENSOR(x.view({-1}), ({6}), kFloat, 0, 1, 2, 3, 4, 5);
  CHECK_THROWS(c10::Error, x.view({4}), "shape '[4]' is invalid for input of size 6");
  CHECK_THROWS(c10::Error, x.view({-1, 4}), "shape '[-1, 4]' is invalid for input of size 6");
  CHECK_THROWS(c10::Error, x.view({-1, -1}), "only one dimension can be inferred");
  CHECK_THROWS(c10::Error, x.view({-2}), "invalid shape dimension -2");
  CHECK_THROWS(c10::Error, x.t().view({6}),
               "view size is not compatible with input tensor's size and stride");
  CHECK_THROWS(c10::Error, at::empty({0}).view({-1, 0}),
               "cannot reshape tensor of 0 elements into shape [-1, 0]");
  EXPECT_TENSOR(at::reshape(x.t(), {6}), ({6}), kFloat, 0, 3, 1, 4, 2, 5);
  // a transposed tensor can be split where its memory allows it
  const Tensor z = ramp({2, 6}).t().view({2, 3, 2});
  CHECK_EQ(z.strides(), at::IntArrayRef({3, 1, 6}));
  CHECK(at::reshape(x, {3, 2}).is_alias_of(x));
}

TEST(expand) {
  const Tensor x = ramp({3, 1});
  const Tensor y = x.expand({2, -1, 4});
  CHECK_EQ(y.sizes(), at::IntArrayRef({2, 3, 4}));
  CHECK_EQ(y.strides()[2], 0);
  CHECK_THROWS(
      c10::Error, x.expand({4, 4}),
      "The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 0.  "
      "Target sizes: [4, 4].  Tensor sizes: [3, 1]");
  CHECK_THROWS(c10::Error, x.expand({3}),
               "the number of sizes provided (1) must be greater or equal to the number of dimensions in the "
               "tensor (2)");
  CHECK_THROWS(c10::Error, x.expand({-1, 3, 1}), "isn't allowed in a leading, non-existing dimension 0");
}

TEST(permute_transpose_squeeze) {
  const Tensor x = ramp({2, 3});
  EXPECT_TENSOR(x.t(), (Sizes{3, 2}), kFloat, 0, 3, 1, 4, 2, 5);
  EXPECT_TENSOR(at::permute(ramp({2, 1, 3}), {2, 0, 1}), (Sizes{3, 2, 1}), kFloat, 0, 3, 1, 4, 2, 5);
  CHECK_EQ(at::squeeze(ramp({1, 3, 1})).dim(), 1);
  CHECK_EQ(at::squeeze(ramp({1, 3, 1}), 0).dim(), 2);
  CHECK_EQ(at::squeeze(ramp({1, 3, 1}), 1).dim(), 3);
  CHECK_EQ(at::unsqueeze(x, -1).sizes(), at::IntArrayRef({2, 3, 1}));
  CHECK_EQ(at::movedim(ramp({2, 3, 4}), 0, 2).sizes(), at::IntArrayRef({3, 4, 2}));
  CHECK_THROWS(c10::IndexError, at::transpose(x, 0, 2),
               "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  CHECK_THROWS(c10::Error, at::permute(x, {0, 0}), "permute(): duplicate dims are not allowed.");
  CHECK_THROWS(c10::Error, at::t(ramp({2, 1, 3})),
               "t() expects a tensor with <= 2 dimensions, but self is 3D");
}

TEST(select_slice) {
  const Tensor x = ramp({3, 4});
  EXPECT_TENSOR(at::select(x, 0, -1), ({4}), kFloat, 8, 9, 10, 11);
  EXPECT_TENSOR(at::slice(x, 1, 1, std::nullopt, 2), (Sizes{3, 2}), kFloat, 1, 3, 5, 7, 9, 11);
  EXPECT_TENSOR(at::slice(x, 0, -2, 100), (Sizes{2, 4}), kFloat, 4, 5, 6, 7, 8, 9, 10, 11);
  CHECK_EQ(at::slice(x, 0, 2, 1).sizes(), at::IntArrayRef({0, 4}));
  CHECK_EQ(at::slice(x, 0, 0, 3, std::numeric_limits<int64_t>::max()).sizes(), at::IntArrayRef({1, 4}));
  CHECK_THROWS(c10::IndexError, at::select(x, 0, 3),
               "select(): index 3 out of range for tensor of size [3, 4] at dimension 0");
  CHECK_THROWS(c10::Error, at::slice(x, 0, 0, 1, 0), "slice step must be positive");
  EXPECT_TENSOR(at::narrow(x, 1, 1, 2), (Sizes{3, 2}), kFloat, 1, 2, 5, 6, 9, 10);
  CHECK_THROWS(c10::Error, at::narrow(x, 1, 3, 2), "start (3) + length (2) exceeds dimension size (4).");
}

TEST(diagonal_unfold) {
  const Tensor x = ramp({3, 4});
  EXPECT_TENSOR(at::diagonal(x), ({3}), kFloat, 0, 5, 10);
  EXPECT_TENSOR(at::diagonal(x, 2), ({2}), kFloat, 2, 7);
  EXPECT_TENSOR(at::diagonal(x, -1), ({2}), kFloat, 4, 9);
  CHECK_EQ(at::diagonal(x, 9).numel(), 0);
  EXPECT_TENSOR(ramp({5}).unfold(0, 3, 2), (Sizes{2, 3}), kFloat, 0, 1, 2, 2, 3, 4);
  CHECK_THROWS(c10::Error, ramp({3}).unfold(0, 4, 1),
               "maximum size for tensor at dimension 0 is 3 but size is 4");
}

TEST(split_chunk_unbind) {
  const Tensor x = ramp({5, 2});
  const auto parts = at::split(x, 2);
  CHECK_EQ(parts.size(), size_t{3});
  EXPECT_TENSOR(parts[2], (Sizes{1, 2}), kFloat, 8, 9);
  CHECK_EQ(at::chunk(x, 3).size(), size_t{3});
  CHECK_EQ(at::chunk(ramp({6}), 4).size(), size_t{3});
  CHECK_EQ(at::split(x, at::IntArrayRef({1, 4}))[1].sizes(), at::IntArrayRef({4, 2}));
  CHECK_EQ(at::unbind(x, 1).size(), size_t{2});
  CHECK_THROWS(c10::Error, at::split(x, at::IntArrayRef({1, 3})),
               "split_with_sizes expects split_sizes to sum exactly to 5");
  CHECK_THROWS(c10::Error, at::chunk(x, 0), "chunk expects `chunks` to be greater than 0, got: 0");
}

TEST(cat_stack_repeat_flip) {
  const Tensor x = ramp({2, 2});
  EXPECT_TENSOR(at::cat({x, x}, 1), (Sizes{2, 4}), kFloat, 0, 1, 0, 1, 2, 3, 2, 3);
  EXPECT_TENSOR(at::cat({at::empty({0}), x, expect::ramp({1, 2}, kLong)}), (Sizes{3, 2}), kFloat, 0, 1, 2, 3,
                0, 1);
  EXPECT_TENSOR(at::stack({ramp({2}), ramp({2})}, 1), (Sizes{2, 2}), kFloat, 0, 0, 1, 1);
  EXPECT_TENSOR(ramp({2}).repeat({2, 2}), (Sizes{2, 4}), kFloat, 0, 1, 0, 1, 0, 1, 0, 1);
  EXPECT_TENSOR(at::flip(x, {0, 1}), (Sizes{2, 2}), kFloat, 3, 2, 1, 0);
  CHECK(!at::flip(x, {}).is_alias_of(x));
  CHECK(!x.repeat({1, 1}).is_alias_of(x));
  CHECK_THROWS(c10::Error, at::cat({x, ramp({3, 2})}, 1),
               "Sizes of tensors must match except in dimension 1. Expected size 2 but got size 3 for "
               "tensor number 1 in the list.");
  CHECK_THROWS(c10::Error, at::stack({ramp({2}), ramp({3})}),
               "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1");
}

TEST(as_strided_stays_inside) {
  const Tensor x = ramp({6});
  EXPECT_TENSOR(at::as_strided(x, {2, 2}, {1, 2}, 1), (Sizes{2, 2}), kFloat, 1, 3, 2, 4);
  CHECK_THROWS(c10::Error, at::as_strided(x, {2, 3}, {3, 2}),
               "requiring a storage size of 32 are out of bounds for storage of size 24");
  CHECK_THROWS(c10::Error, at::as_strided(x, {2}, {-1}), "Negative strides are not supported");
}

TEST(broadcast_and_sum_back) {
  const auto pair = at::broadcast_tensors({ramp({3, 1}), ramp({4})});
  CHECK_EQ(pair[0].sizes(), at::IntArrayRef({3, 4}));
  EXPECT_TENSOR(ramp({2, 3}).sum_to_size({1, 3}), (Sizes{1, 3}), kFloat, 3, 5, 7);
  EXPECT_TENSOR(ramp({2, 3}).sum_to_size({3}), ({3}), kFloat, 3, 5, 7);
  CHECK_THROWS(c10::Error, ramp({2, 3}).sum_to_size({2}), "is not expandable to size");
}

TEST_MAIN()
