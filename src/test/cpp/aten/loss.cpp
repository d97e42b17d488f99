// softmax, losses, layer_norm, activations and closeness.

#include "expect.h"

using at::kBool;
using at::kDouble;
using at::kFloat;
using at::Tensor;
using expect::integers;
using expect::kInf;
using expect::kNaN;
using expect::ramp;
using Sizes = std::vector<int64_t>;

TEST(softmax) {
  EXPECT_TENSOR(at::softmax(expect::tensor({1, 2, 3}), 0), ({3}), kFloat, 0.09003057, 0.24472847, 0.66524096);
  EXPECT_TENSOR(at::log_softmax(expect::tensor({1, 2, 3}), 0), ({3}), kFloat, -2.40760596, -1.40760596,
                -0.40760596);
  EXPECT_TENSOR(at::softmax(expect::tensor({1000, 1000, -kInf}), 0), ({3}), kFloat, 0.5, 0.5, 0);
  EXPECT_TENSOR(at::softmax(ramp({3}, at::kLong), 0, kDouble), ({3}), kDouble, 0.09003057, 0.24472847,
                0.66524096);
  EXPECT_TENSOR(at::softmax(ramp({}), 0), ({}), kFloat, 1);
  CHECK_THROWS(c10::NotImplementedError, at::softmax(ramp({3}, at::kLong), 0), "not implemented for 'Long'");
  CHECK_THROWS(c10::IndexError, at::softmax(ramp({3}), 1),
               "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
}

// Every size, so that rests of vectors are met, and both ways through memory, against the definition.
TEST(softmax_of_every_size) {
  for (const auto dtype : {kFloat, kDouble}) {
    for (const int64_t size : {1, 2, 7, 16, 33, 2500}) {
      const Tensor x = (at::sin(ramp({3, size, 5}, kDouble)) * 4).to(dtype, false);
      const double tolerance = dtype == kFloat ? 2e-6 : 1e-14;
      for (const int64_t dim : {0, 1, 2}) {
        for (const Tensor& input : {x, x.transpose(0, 2)}) {
          const Tensor exponentials = at::exp(input.to(kDouble, false));
          const Tensor expected = exponentials / at::sum(exponentials, at::IntArrayRef(dim), true);
          CHECK(at::allclose(at::softmax(input, dim).to(kDouble, false), expected, tolerance, tolerance));
          CHECK(at::allclose(at::log_softmax(input, dim).to(kDouble, false), at::log(expected),
                             10 * tolerance, 10 * tolerance));
        }
      }
    }
  }
}

TEST(nll_loss) {
  const Tensor x = expect::tensor({-1, -2, -3, -4, -5, -6}, {2, 3});
  const Tensor target = integers({0, 2});
  EXPECT_TENSOR(at::nll_loss(x, target), ({}), kFloat, 3.5);
  EXPECT_TENSOR(at::nll_loss(x, target, {}, 0), ({2}), kFloat, 1, 6);
  EXPECT_TENSOR(at::nll_loss(x, target, {}, 2), ({}), kFloat, 7);
  const Tensor weight = expect::tensor({1, 2, 3});
  EXPECT_TENSOR(at::nll_loss(x, target, weight), ({}), kFloat, 4.75);
  EXPECT_TENSOR(at::nll_loss(x, integers({-100, 2}), weight), ({}), kFloat, 6);
  EXPECT_TENSOR(at::nll_loss(x, integers({-100, -100})), ({}), kFloat, kNaN);
  EXPECT_TENSOR(at::nll_loss(at::select(x, 0, 1), integers({1})[0]), ({}), kFloat, 5);
  const Tensor image = ramp({2, 3, 2, 2});
  EXPECT_TENSOR(at::nll_loss(image, at::ones({2, 2, 2}, at::kLong), {}, 0), (Sizes{2, 2, 2}), kFloat, -4, -5,
                -6, -7, -16, -17, -18, -19);
  CHECK_THROWS(c10::IndexError, at::nll_loss(x, integers({0, 3})), "Target 3 is out of bounds.");
  CHECK_THROWS(c10::ValueError, at::nll_loss(x, integers({0, 1, 2})),
               "Expected input batch_size (2) to match target batch_size (3).");
  CHECK_THROWS(c10::Error, at::nll_loss(x, at::ones({2})),
               "expected target dtype to be Long or Byte, but got Float");
  CHECK_THROWS(c10::Error, at::nll_loss(x, target, at::ones({2})),
               "weight tensor should be defined either for all 3 classes or no classes");
}

TEST(nll_loss_backward) {
  const Tensor x = expect::tensor({-1, -2, -3, -4, -5, -6}, {2, 3});
  const Tensor weight = expect::tensor({1, 2, 3});
  EXPECT_TENSOR(at::nll_loss_backward(at::ones({}), x, integers({0, 2}), weight, 1, -100), (Sizes{2, 3}),
                kFloat, -0.25, 0, 0, 0, 0, -0.75);
  EXPECT_TENSOR(at::nll_loss_backward(expect::tensor({2, 3}), x, integers({0, -100}), {}, 0, -100),
                (Sizes{2, 3}), kFloat, -2, 0, 0, 0, 0, 0);
}

TEST(cross_entropy) {
  const Tensor x = expect::tensor({1, 2, 3, 1, 0, -1}, {2, 3});
  const Tensor target = integers({2, 1});
  EXPECT_TENSOR(at::cross_entropy_loss(x, target), ({}), kFloat, 0.907605946);
  EXPECT_TENSOR(at::cross_entropy_loss(x, target, {}, 1, -100, 0.1), ({}), kFloat, 0.957605958);
  EXPECT_TENSOR(at::cross_entropy_loss(x, target, expect::tensor({1, 2, 3}), 1, -100, 0.1), ({}), kFloat,
                0.839453816);
  const Tensor probabilities = expect::tensor({0.2, 0.3, 0.5, 1, 0, 0}, {2, 3});
  EXPECT_TENSOR(at::cross_entropy_loss(x, probabilities), ({}), kFloat, 0.757605970);
  EXPECT_TENSOR(at::cross_entropy_loss(x, probabilities, {}, 0, -100, 0.1), ({2}), kFloat, 1.137605906,
                0.507605970);
  CHECK_THROWS(c10::Error, at::cross_entropy_loss(x, target, {}, 1, -100, 2),
               "label_smoothing must be between 0.0 and 1.0. Got: 2");
}

TEST(other_losses) {
  const Tensor x = expect::tensor({0.1, 0.6, 0.9});
  const Tensor y = expect::tensor({0, 1, 1});
  EXPECT_TENSOR(at::mse_loss(x, y), ({}), kFloat, 0.06);
  EXPECT_TENSOR(at::l1_loss(x, y, 2), ({}), kFloat, 0.6);
  EXPECT_TENSOR(at::smooth_l1_loss(x * 3, y), ({}), kFloat, 0.521666586);
  EXPECT_TENSOR(at::binary_cross_entropy(x, y), ({}), kFloat, 0.240515560);
  EXPECT_TENSOR(at::binary_cross_entropy(y, 1 - y), ({}), kFloat, 100);
  EXPECT_TENSOR(at::binary_cross_entropy_with_logits(expect::tensor({-100, 0, 100}), y), ({}), kFloat,
                0.231049061);
  EXPECT_TENSOR(at::binary_cross_entropy_with_logits(x, y, {}, expect::tensor({3}), 0), ({3}), kFloat,
                0.744396687, 1.31246483, 1.02346039);
  CHECK_THROWS(c10::Error, at::binary_cross_entropy(x * 2, y),
               "all elements of input should be between 0 and 1");
  CHECK_THROWS(c10::ValueError, at::binary_cross_entropy_with_logits(x, ramp({2})),
               "Target size ([2]) must be the same as input size ([3])");
}

TEST(layer_norm) {
  EXPECT_TENSOR(at::layer_norm(ramp({2, 2}), {2}, expect::tensor({1, 2}), expect::tensor({0, 1})),
                (Sizes{2, 2}), kFloat, -0.99998, 2.99996, -0.99998, 2.99996);
  CHECK_THROWS(c10::Error, at::layer_norm(ramp({2, 2}), {3}),
               "Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[2, 2]");
}

TEST(activations) {
  const Tensor x = expect::tensor({-2, 0, 1});
  EXPECT_TENSOR(at::gelu(x), ({3}), kFloat, -0.04550027, 0, 0.841344714);
  EXPECT_TENSOR(at::gelu(x, "tanh"), ({3}), kFloat, -0.045402306, 0, 0.841191947);
  EXPECT_TENSOR(at::silu(x), ({3}), kFloat, -0.238405839, 0, 0.731058598);
  EXPECT_TENSOR(at::leaky_relu(x, 0.1), ({3}), kFloat, -0.2, 0, 1);
  EXPECT_TENSOR(at::clamp_min(x, -1), ({3}), kFloat, -1, 0, 1);
  CHECK_THROWS(c10::Error, at::gelu(x, "fast"), "approximate argument must be either none or tanh.");
}

TEST(closeness) {
  const Tensor x = expect::tensor({1, kNaN, kInf, -kInf, 0});
  EXPECT_TENSOR(at::isnan(x), ({5}), kBool, 0, 1, 0, 0, 0);
  EXPECT_TENSOR(at::isinf(x), ({5}), kBool, 0, 0, 1, 1, 0);
  EXPECT_TENSOR(at::isfinite(x), ({5}), kBool, 1, 0, 0, 0, 1);
  EXPECT_TENSOR(at::isclose(x, x), ({5}), kBool, 1, 0, 1, 1, 1);
  EXPECT_TENSOR(at::isclose(x, x, 0, 0, true), ({5}), kBool, 1, 1, 1, 1, 1);
  EXPECT_TENSOR(at::isclose(x, at::flip(x, {0})), ({5}), kBool, 0, 0, 1, 0, 0);
  CHECK(at::allclose(ramp({3}), ramp({3}) + 1e-9));
  CHECK(!at::equal(ramp({3}), ramp({4})));
  CHECK(at::equal(ramp({2, 3}).t(), at::clone(ramp({2, 3}).t())));
}

TEST_MAIN()
