#include <torch/torch.h>

#include <aten/helpers.h>

using at::Tensor;

TEST(every_pair_of_dtypes) {
  const at::ScalarType all[] = {at::kBool, at::kByte, at::kInt, at::kLong, at::kFloat, at::kDouble};
  for (const at::ScalarType from : all) {
    for (const at::ScalarType to : all) {
      const Tensor source = at::ones({5}, from);
      CHECK(at::equal(source.to(to), at::ones({5}, to)));
      // Strided on both sides.
      Tensor wide = at::zeros({5, 2}, to);
      wide.select(1, 1).copy_(at::ones({5, 3}, from).select(1, 2));
      CHECK(at::equal(wide.select(1, 1), at::ones({5}, to)));
      CHECK(at::equal(wide.select(1, 0), at::zeros({5}, to)));
    }
  }
}

TEST(conversions_truncate_and_wrap) {
  CHECK_VALUES(make<float>({2.9f, -2.9f, 300}).to(at::kLong), int64_t, {2, -2, 300});
  CHECK_VALUES(make<float>({-1, 300}).to(at::kByte), uint8_t, {255, 44});
  CHECK_VALUES(make<float>({0, 0.5f, NAN}).to(at::kBool), bool, {false, true, true});
}

TEST(transposes_of_every_size) {
  for (const int64_t rows : {1, 2, 31, 32, 33, 100}) {
    for (const int64_t columns : {1, 7, 64, 65}) {
      for (const at::ScalarType dtype : {at::kByte, at::kFloat, at::kDouble}) {
        const Tensor source = at::arange(rows * columns).to(dtype).view({rows, columns});
        const Tensor turned = source.t().contiguous();
        CHECK(turned.is_contiguous());
        bool right = true;
        for (int64_t i = 0; i < columns; i += 5) {
          for (int64_t j = 0; j < rows; j += 3) {
            right &= turned[i][j].item<double>() == source[j][i].item<double>();
          }
        }
        CHECK(right);
      }
    }
  }
}

TEST(large_transposes_use_threads) {
  const Tensor source = at::arange(700 * 900, at::kFloat).view({700, 900});
  CHECK(at::equal(source.t().contiguous().t(), source));
}

TEST(copy_broadcasts_into_what_is_there) {
  Tensor out = at::zeros({2, 3});
  out.copy_(make<float>({1, 2, 3}));
  CHECK_VALUES(out, float, {1, 2, 3, 1, 2, 3});
  CHECK_THROWS(c10::Error, out.copy_(at::zeros({4, 2, 3})), "doesn't match the broadcast shape");
  CHECK_THROWS(c10::Error, out.copy_(at::zeros({2})), "must match the size of tensor");
}

TEST(to_returns_itself_when_nothing_changes) {
  const Tensor a = at::zeros({2});
  CHECK(a.to(at::kFloat).is_same(a));
  CHECK(a.to(at::Device(at::kCPU, 0)).is_same(a));
  CHECK(!at::to(a, at::kFloat, false, /*copy=*/true).is_same(a));
  CHECK(a.to(at::kDouble).dtype() == at::kDouble);
  CHECK(a.contiguous().is_same(a));
  CHECK(a.to(at::Device(at::kMeta)).is_meta());
  CHECK_THROWS(c10::NotImplementedError, a.to(at::Device(at::kMeta)).cpu(), "Cannot copy out of meta tensor");
}

TEST_MAIN()
