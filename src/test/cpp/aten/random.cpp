// The numbers that PyTorch 2.13 gives for torch.manual_seed(42) on the CPU.

#include "expect.h"

#include <aten/CPUGenerator.h>

using at::kBool;
using at::kByte;
using at::kDouble;
using at::kFloat;
using at::kInt;
using at::kLong;
using at::Tensor;

namespace {
void seed() { at::default_generator()->set_current_seed(42); }
}  // namespace

TEST(uniform) {
  seed();
  EXPECT_TENSOR(at::rand({5}), ({5}), kFloat, 0.882269263, 0.915003955, 0.38286376, 0.959305644, 0.390448213);
  seed();
  EXPECT_TENSOR(at::rand({3}, kDouble), ({3}), kDouble, 0.058154486, 0.062910167, 0.123586073);
  seed();
  EXPECT_TENSOR(at::empty({4}).uniform_(-2, 3), ({4}), kFloat, 2.411346436, 2.575019836, -0.0856812,
                2.796528339);
  CHECK_THROWS(c10::Error, at::empty({4}).uniform_(2, 1),
               "uniform_ expects to return a [from, to) range, but found from=2 > to=1");
}

TEST(normal_pairs) {
  seed();
  EXPECT_TENSOR(at::randn({5}), ({5}), kFloat, 0.336690366, 0.128809407, 0.234462366, 0.23033303,
                -1.122856379);
  // the second number of the last pair was kept
  EXPECT_TENSOR(at::randn({2}), ({2}), kFloat, -0.186328292, 2.208201408);
}

TEST(normal_sixteens) {
  seed();
  EXPECT_TENSOR(at::randn({20}), ({20}), kFloat, 1.926915288, 1.487284064, 0.900717199, -2.105520964,
                -0.758131146, 1.078317642, 0.800800562, 1.680620551, 0.355859905, -0.686622977, -0.493356347,
                0.241487786, -0.23162432, 0.041759491, -0.251575291, 0.859858513, -0.309726775, -0.395710498,
                0.803409338, -0.621595383);
  seed();
  EXPECT_TENSOR(at::randn({17}, kDouble), ({17}), kDouble, 0.299556288, 1.504572276, 1.271590967, 0.618669994,
                -0.037203007, 1.035247297, -0.010085522, 0.08948016, 0.038435238, 0.390003484, -0.579841455,
                0.875893885, 0.392384844, 1.108461181, 0.865173465, 0.855215961, 0.24941188);
}

TEST(normal_in_memory_order) {
  seed();
  EXPECT_TENSOR(at::empty({5, 4}).t().normal_(), (std::vector<int64_t>{4, 5}), kFloat, 0.336690366,
                -1.122856379, 0.461657226, 1.110290289, 1.322135091, 0.128809407, -0.186328292, 0.267350882,
                -1.689798951, 0.817189753, 0.234462366, 2.208201408, 0.534904659, -0.988959908, -0.765838623,
                0.23033303, -0.637997031, 0.809357226, 0.957971811, -0.750622332);
}

TEST(integers) {
  seed();
  EXPECT_TENSOR(at::randint(0, 100, {6}), ({6}), kLong, 42, 67, 76, 14, 26, 35);
  seed();
  EXPECT_TENSOR(at::randint(-5, 5, {6}), ({6}), kLong, -3, 2, 1, -1, 1, 0);
  seed();
  EXPECT_TENSOR(at::randint(0, int64_t{1} << 40, {3}), ({3}), kLong, 441507790259, 395924837646,
                458615280711);
  seed();
  EXPECT_TENSOR(at::randint(0, 1 << 28, {3}), ({3}), kLong, 199900595, 250975502, 127521863);
  seed();
  EXPECT_TENSOR(at::randint(0, (1 << 28) - 1, {3}), ({3}), kLong, 266460267, 199900607, 56755051);
  CHECK_THROWS(c10::Error, at::randint(3, 3, {1}),
               "random_ expects 'from' to be less than 'to', but got from=3 >= to=3");
}

TEST(whole_ranges) {
  seed();
  CHECK_EQ(at::empty({2}, kLong).random_()[1].item<int64_t>(), 8314211556539077902);
  seed();
  EXPECT_TENSOR(at::empty({2}, kInt).random_(), ({2}), kInt, 1608637542, 1273642419);
  seed();
  EXPECT_TENSOR(at::empty({4}, kByte).random_(), ({4}), kByte, 102, 179, 92, 14);
  seed();
  EXPECT_TENSOR(at::empty({2}).random_(), ({2}), kFloat, 14801927.0, 15351016.0);
  seed();
  EXPECT_TENSOR(at::empty({2}, kDouble).random_(), ({2}), kDouble, 523809042610868.0, 566644413140339.0);
  seed();
  EXPECT_TENSOR(at::empty({8}, kBool).random_(), ({8}), kBool, 0, 1, 0, 0, 0, 1, 0, 0);
  seed();
  CHECK_EQ(
      at::empty({2}, kLong).random_(std::numeric_limits<int64_t>::min(), std::nullopt)[1].item<int64_t>(),
      -909160480315697906);
  seed();
  EXPECT_TENSOR(at::empty({2}, kInt).random_(0, std::numeric_limits<int32_t>::max()), ({2}), kInt, 195950210,
                364485578);
}

TEST(permutation) {
  seed();
  EXPECT_TENSOR(at::randperm(10), ({10}), kLong, 2, 6, 1, 8, 4, 5, 0, 9, 3, 7);
  CHECK_EQ(at::randperm(0).numel(), 0);
}

TEST(bernoulli) {
  seed();
  EXPECT_TENSOR(at::empty({12}).bernoulli_(0.4), ({12}), kFloat, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1);
  seed();
  EXPECT_TENSOR(at::bernoulli(at::full({12}, 0.4)), ({12}), kFloat, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0);
  seed();
  EXPECT_TENSOR(at::bernoulli(at::full({12}, 0.4, kDouble)), ({12}), kDouble, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1,
                1);
  seed();
  const double kept = 1 / 0.75;
  EXPECT_TENSOR(at::dropout(at::ones({8}), 0.25, true), ({8}), kFloat, kept, kept, kept, kept, kept, kept, 0,
                0);
  CHECK_THROWS(c10::Error, at::empty({1}).bernoulli_(1.5),
               "bernoulli_ expects p to be in [0, 1], but got p=1.5");
  CHECK_THROWS(c10::Error, at::dropout(at::ones({8}), 2, true),
               "dropout probability has to be between 0 and 1, but got 2");
}

TEST(multinomial) {
  const Tensor p = expect::tensor({.1, .2, .3, .4});
  seed();
  EXPECT_TENSOR(at::multinomial(p, 3), ({3}), kLong, 3, 1, 2);
  seed();
  EXPECT_TENSOR(at::multinomial(p, 8, true), ({8}), kLong, 0, 0, 1, 0, 2, 2, 3, 3);
  seed();
  EXPECT_TENSOR(at::multinomial(at::stack({p, at::flip(p, {0})}), 4, true), (std::vector<int64_t>{2, 4}),
                kLong, 0, 0, 1, 0, 1, 1, 3, 3);
  seed();
  EXPECT_TENSOR(at::multinomial(p, 1, true), ({1}), kLong, 3);
  CHECK_THROWS(c10::Error, at::multinomial(p, 5),
               "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  CHECK_THROWS(c10::Error, at::multinomial(expect::tensor({1, -1}), 1),
               "contains either `inf`, `nan` or element < 0");
  CHECK_THROWS(c10::Error, at::multinomial(expect::tensor({0, 0}), 1), "invalid multinomial distribution");
}

TEST(state) {
  seed();
  at::randn({3});
  const std::vector<uint8_t> state = at::default_generator()->state();
  CHECK_EQ(state.size(), size_t{5056});
  const std::vector<int> head{42, 0, 0, 0, 0, 0, 0, 0, 105, 2,   0,  0,  1, 0, 0, 0,
                              8,  0, 0, 0, 0, 0, 0, 0, 67,  233, 38, 43, 0, 0, 0, 0};
  for (size_t i = 0; i < head.size(); ++i) CHECK_EQ(static_cast<int>(state[i]), head[i]);
  const std::vector<int> tail{210, 9, 95, 85, 0, 0,  0,   0,  95,  66,  172, 243, 0,  0, 0, 0, 0, 0, 0,
                              0,   0, 0,  0,  0, 34, 124, 10, 123, 141, 123, 205, 63, 0, 0, 0, 0, 0, 0,
                              0,   0, 1,  0,  0, 0,  0,   0,  0,   0,   0,   0,   0,  0, 0, 0, 0, 0};
  for (size_t i = 0; i < tail.size(); ++i) CHECK_EQ(static_cast<int>(state[5000 + i]), tail[i]);
  const std::vector<double> next{0.23033303, -1.122856379, -0.186328292};
  EXPECT_TENSOR(at::randn({3}), ({3}), kFloat, next[0], next[1], next[2]);
  at::default_generator()->set_state(state);
  EXPECT_TENSOR(at::randn({3}), ({3}), kFloat, next[0], next[1], next[2]);
  const at::Generator other(at::default_generator()->clone());
  CHECK(at::equal(at::rand({4}), at::rand({4}, other)));
  CHECK_THROWS(c10::Error, at::default_generator()->set_state({1, 2, 3}),
               "size 5056 but found the input RNG state size to be 3");
  CHECK_THROWS(c10::Error, at::default_generator()->set_state(std::vector<uint8_t>(5056)),
               "Invalid mt19937 state");
}

TEST_MAIN()
