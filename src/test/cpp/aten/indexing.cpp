// Indices, masks, gather and scatter.

#include "expect.h"

using at::kBool;
using at::kFloat;
using at::kInt;
using at::kLong;
using at::Tensor;
using expect::integers;
using expect::ramp;
using Sizes = std::vector<int64_t>;

TEST(index_by_integers) {
  const Tensor x = ramp({3, 4});
  EXPECT_TENSOR(at::index(x, {integers({2, -3})}), (Sizes{2, 4}), kFloat, 8, 9, 10, 11, 0, 1, 2, 3);
  EXPECT_TENSOR(at::index(x, {integers({0, 2}), integers({1, -1})}), ({2}), kFloat, 1, 11);
  EXPECT_TENSOR(at::index(x, {Tensor(), integers({3, 0})}), (Sizes{3, 2}), kFloat, 3, 0, 7, 4, 11, 8);
  EXPECT_TENSOR(at::index(x.t(), {integers({3, 0})}), (Sizes{2, 3}), kFloat, 3, 7, 11, 0, 4, 8);
  EXPECT_TENSOR(at::index(x, {integers({0, 2}).to(kInt, false)}), (Sizes{2, 4}), kFloat, 0, 1, 2, 3, 8, 9, 10,
                11);
  // indices are broadcast against each other
  EXPECT_TENSOR(at::index(x, {at::unsqueeze(integers({0, 1}), 1), integers({2, 3})}), (Sizes{2, 2}), kFloat,
                2, 3, 6, 7);
  const Tensor y = ramp({2, 3, 4});
  CHECK_EQ(at::index(y, {integers({0}), Tensor(), integers({1})}).sizes(),
           at::IntArrayRef({1, 3}));  // apart: they go first
  EXPECT_TENSOR(at::index(y, {Tensor(), integers({1, 0}), integers({0, 3})}), (Sizes{2, 2}), kFloat, 4, 3, 16,
                15);
  CHECK_EQ(at::index(x, {at::empty({0}, kLong)}).sizes(), at::IntArrayRef({0, 4}));
}

TEST(index_by_masks) {
  const Tensor x = ramp({2, 3});
  EXPECT_TENSOR(at::index(x, {x > 2}), ({3}), kFloat, 3, 4, 5);
  EXPECT_TENSOR(at::index(x, {expect::tensor({0, 1}, kBool)}), (Sizes{1, 3}), kFloat, 3, 4, 5);
  EXPECT_TENSOR(at::masked_select(x, expect::tensor({1, 0, 1}, kBool)), ({4}), kFloat, 0, 2, 3, 5);
  CHECK_THROWS(c10::IndexError, at::index(x, {expect::tensor({1, 0, 1}, kBool)}),
               "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [2, 3] "
               "at index 0");
}

TEST(index_errors) {
  const Tensor x = ramp({2, 3});
  CHECK_THROWS(c10::IndexError, at::index(x, {integers({0, 2})}),
               "index 2 is out of bounds for dimension 0 with size 2");
  CHECK_THROWS(c10::IndexError, at::index(x, {integers({0}), integers({0}), integers({0})}),
               "too many indices for tensor of dimension 2");
  CHECK_THROWS(c10::IndexError, at::index(x, {ramp({2})}),
               "tensors used as indices must be long, int, byte or bool tensors");
  CHECK_THROWS(c10::IndexError, at::index(x, {integers({0, 1}), integers({0, 1, 2})}),
               "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]");
}

TEST(index_put) {
  Tensor x = at::zeros({3, 2});
  x.index_put_({integers({0, 2})}, expect::tensor({1, 2}));
  EXPECT_TENSOR(x, (Sizes{3, 2}), kFloat, 1, 2, 0, 0, 1, 2);
  x.index_put_({integers({0, 0, 1})}, at::ones({3, 2}), true);
  EXPECT_TENSOR(x, (Sizes{3, 2}), kFloat, 3, 4, 1, 1, 1, 2);
  x.index_put_({x > 2}, at::full({}, -1.0));
  EXPECT_TENSOR(x, (Sizes{3, 2}), kFloat, -1, -1, 1, 1, 1, 2);
  x.index_put_({Tensor(), integers({1})}, expect::tensor({7, 8, 9}, {3, 1}));
  EXPECT_TENSOR(x, (Sizes{3, 2}), kFloat, -1, 7, 1, 8, 1, 9);
  CHECK_THROWS(
      c10::Error, x.index_put_({integers({0, 1})}, ramp({3})),
      "shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of shape [2, 2]");
  CHECK_THROWS(c10::Error, x.index_put_({integers({0})}, integers({1})),
               "Index put requires the source and destination dtypes match");
}

TEST(index_select_and_add) {
  const Tensor x = ramp({2, 3});
  EXPECT_TENSOR(at::index_select(x, 1, integers({2, 2, 0})), (Sizes{2, 3}), kFloat, 2, 2, 0, 5, 5, 3);
  EXPECT_TENSOR(at::index_select(ramp({}), 0, integers({0})), ({}), kFloat, 0);
  CHECK_THROWS(c10::IndexError, at::index_select(x, 1, integers({3})), "index out of range in self");
  CHECK_THROWS(c10::IndexError, at::index_select(x, 1, integers({-1})), "index out of range in self");
  Tensor y = at::zeros({2, 3});
  y.index_add_(1, integers({0, 0, 2}), x, 2);
  EXPECT_TENSOR(y, (Sizes{2, 3}), kFloat, 2, 0, 4, 14, 0, 10);
  EXPECT_TENSOR(at::embedding(ramp({3, 2}), expect::tensor({2, 0, 1, 2}, {2, 2}, kLong)), (Sizes{2, 2, 2}),
                kFloat, 4, 5, 0, 1, 2, 3, 4, 5);
}

TEST(gather_scatter) {
  const Tensor x = ramp({2, 3});
  EXPECT_TENSOR(at::gather(x, 1, expect::tensor({2, 0, 1, 1}, {2, 2}, kLong)), (Sizes{2, 2}), kFloat, 2, 0, 4,
                4);
  EXPECT_TENSOR(at::gather(x, 0, expect::tensor({1, 0, 1}, {1, 3}, kLong)), (Sizes{1, 3}), kFloat, 3, 1, 5);
  CHECK_THROWS(c10::Error, at::gather(x, 1, expect::tensor({3}, {1, 1}, kLong)),
               "index 3 is out of bounds for dimension 1 with size 3");
  CHECK_THROWS(c10::Error, at::gather(x, 1, at::zeros({1, 1})), "gather(): Expected dtype int32/int64 for index");
  CHECK_THROWS(c10::Error, at::gather(x, 1, integers({0})),
               "Index tensor must have the same number of dimensions as input tensor");
  Tensor y = at::zeros({2, 3});
  y.scatter_(1, expect::tensor({2, 1}, {2, 1}, kLong), at::ones({2, 1}));
  EXPECT_TENSOR(y, (Sizes{2, 3}), kFloat, 0, 0, 1, 0, 1, 0);
  y.scatter_(0, expect::tensor({1, 1, 0}, {1, 3}, kLong), 5.0);
  EXPECT_TENSOR(y, (Sizes{2, 3}), kFloat, 0, 0, 5, 5, 5, 0);
  y.scatter_add_(1, expect::tensor({0, 0, 0, 1, 1, 1}, {2, 3}, kLong), x);
  EXPECT_TENSOR(y, (Sizes{2, 3}), kFloat, 3, 0, 5, 5, 17, 0);
  EXPECT_TENSOR(at::take_along_dim(x, at::argsort(x, 1, true), 1), (Sizes{2, 3}), kFloat, 2, 1, 0, 5, 4, 3);
}

TEST(masked_fill) {
  Tensor x = ramp({2, 3});
  EXPECT_TENSOR(x.masked_fill(x > 3, -1), (Sizes{2, 3}), kFloat, 0, 1, 2, 3, -1, -1);
  x.masked_fill_(expect::tensor({1, 0, 0}, kBool), 9);
  EXPECT_TENSOR(x, (Sizes{2, 3}), kFloat, 9, 1, 2, 9, 4, 5);
  EXPECT_TENSOR(ramp({3}).masked_fill(expect::tensor({1, 0}, {2, 1}, kBool), 7), (Sizes{2, 3}), kFloat, 7, 7,
                7, 0, 1, 2);
  CHECK_THROWS(c10::Error, x.masked_fill_(integers({1, 0, 0}), 9),
               "masked_fill_ only supports boolean masks, but got mask with dtype long int");
}

TEST(nonzero) {
  EXPECT_TENSOR(at::nonzero(expect::tensor({0, 3, 0, 4}, {2, 2})), (Sizes{2, 2}), kLong, 0, 1, 1, 1);
  EXPECT_TENSOR(at::nonzero(at::remainder(ramp({2, 2, 3}), 5) == 4), (Sizes{2, 3}), kLong, 0, 1, 1, 1, 1, 0);
  CHECK_EQ(at::nonzero(at::zeros({2, 2})).sizes(), at::IntArrayRef({0, 2}));
  CHECK_EQ(at::nonzero(at::ones({})).sizes(), at::IntArrayRef({1, 0}));
  const auto parts = at::where(expect::tensor({0, 1, 1, 0}, {2, 2}, kBool));
  CHECK_EQ(parts.size(), size_t{2});
  EXPECT_TENSOR(parts[1], ({2}), kLong, 1, 0);
}

TEST_MAIN()
