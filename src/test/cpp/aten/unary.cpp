#include <torch/torch.h>

#include <aten/helpers.h>

#include <limits>

using at::Tensor;

TEST(signs) {
  CHECK_VALUES(at::neg(make<int64_t>({1, -2, std::numeric_limits<int64_t>::min()})), int64_t,
               {-1, 2, std::numeric_limits<int64_t>::min()});
  CHECK_VALUES(at::neg(make<uint8_t>({1})), uint8_t, {255});
  CHECK_VALUES(at::abs(make<float>({-1.5f, 2})), float, {1.5f, 2});
  CHECK_VALUES(at::sign(make<float>({-1.5f, 0, 2})), float, {-1, 0, 1});
  CHECK_THROWS(c10::Error, -make<bool>({true}), "on a bool tensor is not supported");
}

TEST(rounding) {
  const Tensor x = make<float>({-1.5f, -0.5f, 0.5f, 1.5f, 2.5f});
  CHECK_VALUES(at::round(x), float, {-2, -0.f, 0, 2, 2});
  CHECK_VALUES(at::floor(x), float, {-2, -1, 0, 1, 2});
  CHECK_VALUES(at::ceil(x), float, {-1, -0.f, 1, 2, 3});
  CHECK_VALUES(at::trunc(x), float, {-1, -0.f, 0, 1, 2});
  CHECK_VALUES(at::floor(make<int64_t>({3})), int64_t, {3});
  CHECK_THROWS(c10::NotImplementedError, at::floor(make<bool>({true})), "\"floor\" not implemented for 'Bool'");
}

TEST(integers_are_computed_in_the_default_dtype) {
  CHECK_EQ(at::sqrt(make<int64_t>({4})).dtype(), at::kFloat);
  CHECK_VALUES(at::sqrt(make<int64_t>({4, 9})), float, {2, 3});
  Tensor ints = make<int64_t>({4});
  CHECK_THROWS(c10::Error, at::sqrt_(ints), "result type Float can't be cast to the desired output type Long");
}

TEST(clamp_and_relu) {
  const Tensor x = make<float>({-2, 0.5f, NAN, 3});
  const auto clamped = values<float>(at::clamp(x, -1, 1));
  CHECK(clamped[0] == -1 && clamped[1] == 0.5f && std::isnan(clamped[2]) && clamped[3] == 1);
  CHECK_EQ(at::clamp(make<int64_t>({1, 5}), 1.5).dtype(), at::kFloat);
  CHECK_VALUES(at::clamp(make<int64_t>({1, 5}), 2, 4), int64_t, {2, 4});
  CHECK_THROWS(c10::Error, at::clamp(x, std::nullopt), "At least one of 'min' or 'max' must not be None");
  CHECK_VALUES(at::relu(make<float>({-1, 2})), float, {0, 2});
  CHECK(std::isnan(at::relu(x)[2].item<float>()));
}

TEST(logic_and_bits) {
  CHECK_VALUES(at::logical_not(make<float>({0, 2})), bool, {true, false});
  CHECK_VALUES(at::bitwise_not(make<int32_t>({0, 5})), int32_t, {-1, -6});
  CHECK_VALUES(at::bitwise_not(make<bool>({true, false})), bool, {false, true});
}

TEST_MAIN()
