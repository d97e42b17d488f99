#include <aten/TensorIterator.h>
#include <torch/torch.h>

#include <aten/helpers.h>

using at::Tensor;
using at::TensorIterator;

TEST(contiguous_operands_become_one_dimension) {
  const Tensor a = at::ones({2, 3, 4});
  const Tensor b = at::ones({2, 3, 4});
  Tensor out;
  const auto iter = TensorIterator::binary_op(out, a, b);
  CHECK_EQ(iter.ndim(), 1);
  CHECK_EQ(iter.numel(), 24);
  CHECK(iter.is_contiguous());
  CHECK_EQ(out.sizes(), at::IntArrayRef({2, 3, 4}));
}

TEST(a_result_is_laid_out_as_its_inputs) {
  const Tensor a = at::ones({3, 4}).t();
  const Tensor b = at::ones({3, 4}).t();
  Tensor out;
  const auto iter = TensorIterator::binary_op(out, a, b);
  CHECK_EQ(out.strides(), at::IntArrayRef({1, 4}));
  CHECK_EQ(iter.ndim(), 1);
}

TEST(broadcasting) {
  const Tensor a = at::arange(3, at::kFloat).view({3, 1});
  const Tensor b = at::arange(2, at::kFloat);
  CHECK_VALUES(a + b, float, {0, 1, 1, 2, 2, 3});
  CHECK_THROWS(c10::Error, at::ones({2, 3}) + at::ones({2, 4}),
               "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
  CHECK_EQ((at::ones({0, 3}) + at::ones({1, 3})).sizes(), at::IntArrayRef({0, 3}));
}

TEST(categories_decide_the_dtype) {
  const Tensor ints = at::ones({2}, at::kInt);
  const Tensor doubles = at::ones({}, at::kDouble);
  CHECK_EQ((ints + 1).dtype(), at::kInt);
  CHECK_EQ((ints + 1.5).dtype(), at::kFloat);
  CHECK_EQ((ints + doubles).dtype(), at::kDouble);
  CHECK_EQ((at::ones({2}) + doubles).dtype(), at::kFloat);
  CHECK_EQ((at::ones({2}, at::kByte) + at::ones({}, at::kLong)).dtype(), at::kByte);
  CHECK_EQ((at::ones({2}, at::kBool) + 1).dtype(), at::kLong);
  CHECK_EQ((at::ones({}, at::kInt) + at::ones({}, at::kLong)).dtype(), at::kLong);
  CHECK_EQ((ints / ints).dtype(), at::kFloat);
  CHECK_VALUES(ints + 1.5, float, {2.5f, 2.5f});
}

TEST(in_place_keeps_shape_and_dtype) {
  Tensor ints = at::ones({2}, at::kLong);
  CHECK_THROWS(c10::Error, at::add_(ints, at::ones({2})),
               "result type Float can't be cast to the desired output type Long");
  CHECK_THROWS(c10::Error, at::add_(ints, at::ones({3, 2}, at::kLong)),
               "output with shape [2] doesn't match the broadcast shape [3, 2]");
  Tensor floats = at::ones({2});
  at::add_(floats, at::ones({2}, at::kDouble));
  CHECK_VALUES(floats, float, {2, 2});
  at::eq_(floats, at::ones({2}));
  CHECK_VALUES(floats, float, {0, 0});
}

TEST(out_is_resized_and_cast) {
  Tensor out = at::empty({0}, at::kDouble);
  at::add_out(out, at::ones({2, 2}), at::ones({2, 2}));
  CHECK_EQ(out.sizes(), at::IntArrayRef({2, 2}));
  CHECK_VALUES(out, double, {2, 2, 2, 2});
  Tensor strided = at::zeros({2, 4}).slice(1, 0, 4, 2);
  at::add_out(strided, at::ones({2, 2}), 1);
  CHECK_VALUES(strided, float, {2, 2, 2, 2});
}

TEST(overlapping_writes_are_refused) {
  Tensor expanded = at::zeros({1}).expand({4});
  CHECK_THROWS(c10::Error, at::add_(expanded, 1), "more than one element of the written-to tensor");
  Tensor memory = at::arange(6, at::kFloat);
  Tensor head = memory.slice(0, 0, 5);
  const Tensor tail = memory.slice(0, 1, 6);
  CHECK_THROWS(c10::Error, at::add_(head, tail), "some elements of the input tensor and the written-to tensor");
  at::add_(head, head);
  CHECK_VALUES(memory, float, {0, 2, 4, 6, 8, 5});
}

TEST(other_devices) {
  const Tensor meta = at::ones({2, 3}, at::Device(at::kMeta));
  const Tensor sum = meta + at::ones({3}, at::Device(at::kMeta));
  CHECK(sum.is_meta());
  CHECK_EQ(sum.sizes(), at::IntArrayRef({2, 3}));
  CHECK_THROWS(c10::Error, meta + at::ones({2, 3}), "found at least two devices, meta and cpu!");
  CHECK_EQ((meta + 1).sizes(), at::IntArrayRef({2, 3}));
}

TEST(rows_cover_every_element_once) {
  const Tensor source = at::arange(2 * 3 * 4 * 5, at::kFloat).view({2, 3, 4, 5});
  const Tensor permuted = source.permute({2, 0, 3, 1});
  Tensor out = at::zeros({4, 2, 5, 3});
  const auto iter = TensorIterator::binary_op(out, permuted, at::ones({2, 5, 3}));
  for (const int64_t cut : {0, 1, 7, 59, 119, 120}) {
    std::vector<int> seen(120, 0);
    const auto count = [&](char** data, const int64_t* strides, int64_t n) {
      for (int64_t i = 0; i < n; ++i) ++seen[static_cast<size_t>(*reinterpret_cast<float*>(data[1] + i * strides[1]))];
    };
    iter.serial_for_each(count, 0, cut);
    iter.serial_for_each(count, cut, 120);
    CHECK(seen == std::vector<int>(120, 1));
  }
}

TEST(halves_for_32_bit_indexing) {
  // Four billion elements, without memory: only strides and pointers are looked at.
  const Tensor large = at::zeros({1 << 16, 1 << 16}, at::TensorOptions(at::kByte).device(at::kMeta));
  Tensor out;
  const auto iter = TensorIterator::unary_op(out, large);
  CHECK(!iter.can_use_32bit_indexing());
  int64_t total = 0;
  iter.with_32bit_indexing([&](const TensorIterator& part) {
    CHECK(part.can_use_32bit_indexing());
    total += part.numel();
  });
  CHECK_EQ(total, int64_t{1} << 32);
}

TEST(reductions_keep_the_input_shape) {
  const Tensor self = at::arange(24, at::kFloat).view({2, 3, 4});
  Tensor out;
  const auto iter = TensorIterator::reduce_op(out, self, {1}, /*keepdim=*/false, at::kFloat, at::kFloat);
  CHECK_EQ(out.sizes(), at::IntArrayRef({2, 4}));
  CHECK_EQ(iter.numel(), 24);
  CHECK_EQ(iter.num_output_elements(), 8);
  int reduced = 0;
  for (int dim = 0; dim < iter.ndim(); ++dim) reduced += iter.is_reduced(dim) ? 1 : 0;
  CHECK_EQ(reduced, 1);
  Tensor kept;
  TensorIterator::reduce_op(kept, self, {-1, 0}, /*keepdim=*/true, at::kFloat, at::kFloat);
  CHECK_EQ(kept.sizes(), at::IntArrayRef({1, 3, 1}));
  CHECK_THROWS(c10::IndexError, TensorIterator::reduce_op(kept, self, {3}, true, at::kFloat, at::kFloat),
               "expected to be in range of [-3, 2], but got 3");
  CHECK_THROWS(c10::Error, TensorIterator::reduce_op(kept, self, {0, -3}, true, at::kFloat, at::kFloat),
               "multiple times");
}

TEST_MAIN()
