#include <torch/torch.h>

#include <aten/helpers.h>

#include <limits>

using at::Tensor;

TEST(integer_division_is_pythons) {
  const Tensor a = make<int64_t>({7, -7, 7, -7});
  const Tensor b = make<int64_t>({2, 2, -2, -2});
  CHECK_VALUES(at::floor_divide(a, b), int64_t, {3, -4, -4, 3});
  CHECK_VALUES(at::remainder(a, b), int64_t, {1, 1, -1, -1});
  CHECK_VALUES(at::div(a, b, "trunc"), int64_t, {3, -3, -3, 3});
  CHECK_VALUES(at::div(a, b), float, {3.5f, -3.5f, -3.5f, 3.5f});
  CHECK_THROWS(c10::Error, at::floor_divide(a, 0), "ZeroDivisionError");
  CHECK_THROWS(c10::Error, at::remainder(a, 0), "ZeroDivisionError");
  CHECK_THROWS(c10::Error, at::div(a, b, "up"), "but found 'up'");
  const Tensor lowest = make<int64_t>({std::numeric_limits<int64_t>::min()});
  CHECK_VALUES(at::floor_divide(lowest, -1), int64_t, {std::numeric_limits<int64_t>::min()});
  CHECK_VALUES(at::remainder(lowest, -1), int64_t, {0});
}

TEST(float_division_is_pythons) {
  const Tensor a = make<double>({7, -7, 1, 0.3, -0.0});
  const Tensor b = make<double>({-2, 2, 0.1, 0.1, 3});
  CHECK_VALUES(at::floor_divide(a, b), double, {-4, -4, 9, 2, -0.0});
  CHECK_VALUES(at::remainder(make<double>({7, -7}), make<double>({-2, 2})), double, {-1, 1});
  CHECK(std::isinf(at::floor_divide(make<double>({1}), make<double>({0})).item<double>()));
}

TEST(powers) {
  CHECK_VALUES(at::pow(make<int64_t>({2, -3, 0}), 3), int64_t, {8, -27, 0});
  CHECK_VALUES(at::pow(make<int64_t>({2, -3}), make<int64_t>({5, 4})), int64_t, {32, 81});
  CHECK_VALUES(at::pow(make<float>({4, 9}), 0.5), float, {2, 3});
  CHECK_VALUES(at::pow(make<float>({4, 2}), -1), float, {0.25f, 0.5f});
  CHECK_VALUES(at::pow(make<int64_t>({4}), 0.5), float, {2});
  CHECK_VALUES(at::pow(2, make<float>({3, -1})), float, {8, 0.5f});
  CHECK_THROWS(c10::Error, at::pow(make<int64_t>({2}), -1), "Integers to negative integer powers are not allowed.");
}

TEST(alpha_and_bool) {
  const Tensor ints = make<int64_t>({1, 2});
  CHECK_VALUES(at::add(ints, ints, 3), int64_t, {4, 8});
  CHECK_VALUES(at::sub(ints, ints, 2), int64_t, {-1, -2});
  CHECK_THROWS(c10::Error, at::add(ints, ints, 0.5), "argument alpha must not be a floating point number");
  CHECK_THROWS(c10::Error, at::add(ints, ints, true), "Boolean alpha only supported for Boolean results.");
  const Tensor truth = make<bool>({true, false});
  CHECK_VALUES(truth + truth, bool, {true, false});
  CHECK_VALUES(truth * truth, bool, {true, false});
  CHECK_THROWS(c10::Error, truth - truth, "with two bool tensors is not supported");
  CHECK_THROWS(c10::Error, ints - truth, "with a bool tensor is not supported");
}

TEST(comparisons_give_bool) {
  const Tensor a = make<float>({1, 2, NAN});
  const Tensor b = make<float>({1, 1, NAN});
  CHECK_VALUES(a == b, bool, {true, false, false});
  CHECK_VALUES(a != b, bool, {false, true, true});
  CHECK_VALUES(a > 1, bool, {false, true, false});
  CHECK_VALUES(make<uint8_t>({200}) > make<uint8_t>({100}), bool, {true});
  CHECK_VALUES(at::logical_and(a, make<int64_t>({0, 1, 1})), bool, {false, true, true});
}

TEST(extremes_keep_nan) {
  const Tensor a = make<float>({1, NAN, 3});
  const Tensor b = make<float>({2, 2, NAN});
  const auto largest = values<float>(at::maximum(a, b));
  CHECK(largest[0] == 2 && std::isnan(largest[1]) && std::isnan(largest[2]));
  const auto smallest = values<float>(at::minimum(a, b));
  CHECK(smallest[0] == 1 && std::isnan(smallest[1]) && std::isnan(smallest[2]));
}

TEST(bits) {
  const Tensor a = make<int32_t>({12, 10});
  CHECK_VALUES(at::bitwise_and(a, 6), int32_t, {4, 2});
  CHECK_VALUES(at::bitwise_or(a, 1), int32_t, {13, 11});
  CHECK_VALUES(at::bitwise_xor(a, a), int32_t, {0, 0});
  CHECK_THROWS(c10::NotImplementedError, at::bitwise_and(make<float>({1}), make<float>({1})),
               "not implemented for 'Float'");
}

TEST(where_and_lerp_and_friends) {
  const Tensor mask = make<bool>({true, false});
  CHECK_VALUES(at::where(mask, make<float>({1, 2}), make<float>({3, 4})), float, {1, 4});
  CHECK_THROWS(c10::Error, at::where(make<float>({1}), make<float>({1}), make<float>({1})), "boolean tensor");
  CHECK_VALUES(at::lerp(make<float>({0, 10}), make<float>({10, 20}), 0.25), float, {2.5f, 12.5f});
  CHECK_VALUES(at::addcmul(make<float>({1, 1}), make<float>({2, 3}), make<float>({4, 5}), 10), float, {81, 151});
  CHECK_VALUES(at::addcdiv(make<float>({1, 1}), make<float>({2, 3}), make<float>({4, 6})), float, {1.5f, 1.5f});
  CHECK_THROWS(c10::Error, at::addcdiv(make<int64_t>({1}), make<int64_t>({1}), make<int64_t>({1})), "Integer division");
}

TEST(long_and_strided_operands_agree_with_short_ones) {
  const Tensor a = at::arange(100000, at::kFloat);
  const Tensor sum = a.slice(0, 0, 100000, 2) + a.slice(0, 1, 100000, 2);
  const float* data = sum.data_ptr<float>();
  bool right = true;
  for (int64_t i = 0; i < 50000; ++i) right &= data[i] == static_cast<float>(4 * i + 1);
  CHECK(right);
  const Tensor scaled = at::mul(a, at::arange(100000, at::kFloat));
  right = true;
  for (int64_t i = 0; i < 100000; ++i) {
    right &= scaled.data_ptr<float>()[i] == static_cast<float>(i) * static_cast<float>(i);
  }
  CHECK(right);
}

TEST_MAIN()
