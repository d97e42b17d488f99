#include <torch/torch.h>

#include <aten/helpers.h>

using at::Tensor;

TEST(arange_infers_its_dtype) {
  CHECK_VALUES(at::arange(3), int64_t, {0, 1, 2});
  CHECK_VALUES(at::arange(1.5, 4), float, {1.5f, 2.5f, 3.5f});
  CHECK_VALUES(at::arange(5, 0, -2), int64_t, {5, 3, 1});
  CHECK_EQ(at::arange(0, 1, 0.1).numel(), 10);
  CHECK_THROWS(c10::Error, at::arange(0, 3, 0), "step must be nonzero");
  CHECK_THROWS(c10::Error, at::arange(3, 0), "inconsistent with step sign");
  CHECK_THROWS(c10::Error, at::arange(0, INFINITY), "unsupported range");
  const Tensor large = at::arange((int64_t{1} << 53), (int64_t{1} << 53) + 3);
  CHECK_VALUES(large, int64_t, {9007199254740992, 9007199254740993, 9007199254740994});
}

TEST(linspace_ends_exactly) {
  const Tensor line = at::linspace(0, 1, 7);
  CHECK_EQ(line[6].item<float>(), 1.0f);
  CHECK_VALUES(at::linspace(2, 5, 1), float, {2});
  CHECK_EQ(at::linspace(0, 1, 0).numel(), 0);
  CHECK_THROWS(c10::Error, at::linspace(0, 1, -1), "non-negative");
}

TEST(full_infers_its_dtype) {
  CHECK_EQ(at::full({2}, 1).dtype(), at::kLong);
  CHECK_EQ(at::full({2}, 1.0).dtype(), at::kFloat);
  CHECK_EQ(at::full({2}, true).dtype(), at::kBool);
  CHECK_THROWS(c10::Error, at::full({2}, 300, at::kByte), "without overflow");
  CHECK_THROWS(c10::Error, at::zeros({-1}), "negative dimension -1");
  CHECK_THROWS(c10::Error, at::zeros({int64_t{1} << 40, int64_t{1} << 40}), "overflowed");
}

TEST(like_keeps_the_layout) {
  const Tensor transposed = at::zeros({2, 3}).t();
  CHECK_EQ(at::ones_like(transposed).strides(), at::IntArrayRef({1, 3}));
  CHECK_EQ(at::empty_like(at::zeros({2, 6}).slice(1, 0, 6, 2)).strides(), at::IntArrayRef({3, 1}));
  CHECK_EQ(at::zeros_like(transposed, at::kLong).dtype(), at::kLong);
  CHECK_EQ(at::clone(at::zeros({3, 1}).expand({3, 4})).strides(), at::IntArrayRef({4, 1}));
}

TEST(eye_and_triangles) {
  CHECK_VALUES(at::eye(2, 3), float, {1, 0, 0, 0, 1, 0});
  const Tensor square = at::arange(1, 10).view({3, 3});
  CHECK_VALUES(at::tril(square), int64_t, {1, 0, 0, 4, 5, 0, 7, 8, 9});
  CHECK_VALUES(at::triu(square, 1), int64_t, {0, 2, 3, 0, 0, 6, 0, 0, 0});
  CHECK_VALUES(at::tril(square.t(), -1), int64_t, {0, 0, 0, 2, 0, 0, 3, 6, 0});
  CHECK_VALUES(at::triu(at::arange(8).view({2, 2, 2}), -5), int64_t, {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK_THROWS(c10::Error, at::tril(at::zeros({3})), "at least 2 dimensions");
}

TEST(item_needs_one_element) {
  CHECK_EQ(at::full({1, 1}, 2.5).item<double>(), 2.5);
  CHECK_THROWS(c10::Error, at::zeros({2}).item<float>(), "a Tensor with 2 elements cannot be converted to Scalar");
}

TEST_MAIN()
