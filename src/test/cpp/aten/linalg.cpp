// Matrix products against plain loops, for every way that matrices can lie in memory.

#include "expect.h"

using at::kBool;
using at::kDouble;
using at::kFloat;
using at::kInt;
using at::kLong;
using at::Tensor;
using expect::ramp;
using Sizes = std::vector<int64_t>;

namespace {

Tensor numbers(const Sizes& sizes, at::ScalarType dtype) {
  return at::remainder(ramp(sizes, kLong) * at::Scalar(37), at::Scalar(11)).to(dtype, false);
}

Tensor reference(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(kDouble, false).contiguous();
  const Tensor y = b.to(kDouble, false).contiguous();
  const int64_t m = x.size(0);
  const int64_t k = x.size(1);
  const int64_t n = y.size(1);
  Tensor result = at::zeros({m, n}, kDouble);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double total = 0;
      for (int64_t p = 0; p < k; ++p)
        total += x.data_ptr<double>()[i * k + p] * y.data_ptr<double>()[p * n + j];
      result.data_ptr<double>()[i * n + j] = total;
    }
  }
  return result;
}

// The same values laid out by rows, by columns, with gaps, and with a stride in both dimensions.
std::vector<Tensor> layouts(const Tensor& matrix) {
  const int64_t m = matrix.size(0);
  const int64_t n = matrix.size(1);
  std::vector<Tensor> result{matrix, at::clone(matrix.t()).contiguous().t()};
  Tensor wide = at::zeros({m, n + 3}, matrix.options());
  result.push_back(at::narrow(wide, 1, 1, n));
  result.back().copy_(matrix);
  Tensor sparse = at::zeros({m * 2, n * 2}, matrix.options());
  result.push_back(at::slice(at::slice(sparse, 0, 0, m * 2, 2), 1, 0, n * 2, 2));
  result.back().copy_(matrix);
  return result;
}

}  // namespace

TEST(mm_of_every_layout) {
  const std::vector<Sizes> shapes{{3, 4, 5}, {1, 4, 5}, {3, 4, 1},    {1, 4, 1},
                                  {3, 1, 5}, {1, 1, 1}, {70, 65, 130}};
  for (const auto dtype : {kFloat, kDouble, kInt, kLong, at::kByte}) {
    for (const Sizes& shape : shapes) {
      const Tensor a = numbers({shape[0], shape[1]}, dtype);
      const Tensor b = numbers({shape[1], shape[2]}, dtype);
      const Tensor expected = reference(a, b).to(kLong, false).to(dtype, false);
      for (const Tensor& x : layouts(a)) {
        for (const Tensor& y : layouts(b)) CHECK(at::equal(at::mm(x, y), expected));
      }
    }
  }
}

TEST(mm_of_nothing) {
  EXPECT_TENSOR(at::mm(at::empty({2, 0}), at::empty({0, 2})), (Sizes{2, 2}), kFloat, 0, 0, 0, 0);
  CHECK_EQ(at::mm(at::empty({0, 3}), at::empty({3, 2})).sizes(), at::IntArrayRef({0, 2}));
  EXPECT_TENSOR(at::addmm(expect::ramp({2}), at::empty({2, 0}), at::empty({0, 2}), 3), (Sizes{2, 2}), kFloat,
                0, 3, 0, 3);
}

TEST(mm_errors) {
  CHECK_THROWS(c10::Error, at::mm(ramp({2, 3}), ramp({4, 5})),
               "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  CHECK_THROWS(c10::Error, at::mm(ramp({2}), ramp({4, 5})), "self must be a matrix");
  CHECK_THROWS(c10::Error, at::mm(ramp({2, 3}), ramp({3, 2}, kDouble)),
               "expected m1 and m2 to have the same dtype, but got: float != double");
  CHECK_THROWS(c10::NotImplementedError, at::mm(at::ones({1, 1}, kBool), at::ones({1, 1}, kBool)),
               "\"addmm_impl_cpu_\" not implemented for 'Bool'");
  CHECK_THROWS(c10::Error, at::bmm(ramp({1, 2, 3}), ramp({1, 2, 3})),
               "Expected size for first two dimensions of batch2 tensor to be: [1, 3] but got: "
               "[1, 2].");
  CHECK_THROWS(c10::Error, at::dot(ramp({2}), ramp({3})), "inconsistent tensor size");
  CHECK_THROWS(c10::Error, at::matmul(ramp({}), ramp({3})),
               "both arguments to matmul need to be at least 1D, but they are 0D and 1D");
}

TEST(addmm) {
  const Tensor a = numbers({3, 4}, kFloat);
  const Tensor b = numbers({4, 2}, kFloat);
  const Tensor product = reference(a, b);
  const Tensor bias = expect::tensor({10, 20});
  CHECK(at::allclose(at::addmm(bias, a, b).to(kDouble, false), product + bias));
  CHECK(at::allclose(at::addmm(bias, a, b, 2, 0.5).to(kDouble, false), product * 0.5 + bias * 2));
  // with beta 0 the bias is not even read
  CHECK(at::allclose(at::addmm(at::full({2}, expect::kNaN), a, b, 0, 1).to(kDouble, false), product));
}

TEST(bmm_and_matmul) {
  const Tensor a = numbers({2, 3, 4}, kFloat);
  const Tensor b = numbers({2, 4, 5}, kFloat);
  for (const Tensor& x : {a, at::clone(a.transpose(1, 2)).contiguous().transpose(1, 2), at::flip(a, {0})}) {
    const Tensor result = at::bmm(x, b);
    for (int64_t i = 0; i < 2; ++i) CHECK(at::allclose(result[i].to(kDouble, false), reference(x[i], b[i])));
    CHECK(at::equal(at::matmul(x, b), result));
  }
  CHECK_EQ(at::matmul(ramp({3, 4}), ramp({4})).sizes(), at::IntArrayRef(3));
  CHECK_EQ(at::matmul(ramp({4}), ramp({4, 3})).sizes(), at::IntArrayRef(3));
  CHECK_EQ(at::matmul(ramp({4}), ramp({4})).dim(), 0);
  CHECK_EQ(at::matmul(ramp({2, 5, 3, 4}), ramp({4})).sizes(), at::IntArrayRef({2, 5, 3}));
  CHECK_EQ(at::matmul(ramp({4}), ramp({2, 4, 3})).sizes(), at::IntArrayRef({2, 3}));
  CHECK_EQ(at::matmul(ramp({2, 1, 3, 4}), ramp({5, 4, 6})).sizes(), at::IntArrayRef({2, 5, 3, 6}));
  EXPECT_TENSOR(at::matmul(ramp({4}), at::stack({ramp({4, 1}), ramp({4, 1}) * 2})), (Sizes{2, 1}), kFloat, 14,
                28);
}

TEST(vectors) {
  EXPECT_TENSOR(at::dot(ramp({4}), ramp({4})), ({}), kFloat, 14);
  EXPECT_TENSOR(at::mv(ramp({2, 3}), ramp({3})), ({2}), kFloat, 5, 14);
  EXPECT_TENSOR(at::mv(ramp({3, 2}).t(), at::slice(ramp({6}), 0, 0, 6, 2)), ({2}), kFloat, 20, 26);
  EXPECT_TENSOR(at::outer(ramp({2}), ramp({3})), (Sizes{2, 3}), kFloat, 0, 0, 0, 0, 1, 2);
}

TEST(linear) {
  const Tensor weight = ramp({2, 3});
  const Tensor bias = expect::tensor({10, 20});
  EXPECT_TENSOR(at::linear(ramp({3}), weight, bias), ({2}), kFloat, 15, 34);
  EXPECT_TENSOR(at::linear(ramp({1, 3}), weight, bias), (Sizes{1, 2}), kFloat, 15, 34);
  EXPECT_TENSOR(at::linear(ramp({2, 1, 3}), weight, bias), (Sizes{2, 1, 2}), kFloat, 15, 34, 24, 70);
  EXPECT_TENSOR(at::linear(ramp({2, 1, 3}), weight), (Sizes{2, 1, 2}), kFloat, 5, 14, 14, 50);
}

TEST_MAIN()
