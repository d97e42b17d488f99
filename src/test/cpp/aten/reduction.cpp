// Reductions against plain loops, over shapes that take every way through the kernels.

#include "expect.h"

using at::kBool;
using at::kByte;
using at::kDouble;
using at::kFloat;
using at::kInt;
using at::kLong;
using at::Tensor;
using expect::kInf;
using expect::kNaN;
using expect::ramp;
using Sizes = std::vector<int64_t>;

namespace {

// Values between -1 and 1 that do not repeat soon.
Tensor wave(const Sizes& sizes, at::ScalarType dtype = kDouble) {
  return at::sin(ramp(sizes, kDouble) * at::Scalar(1.7)).to(dtype, false);
}

// fold(accumulator, value) over `dims`, one element after another; [outer] in row-major order.
template <typename Fold>
Tensor reference(const Tensor& x, const std::vector<int64_t>& dims, double start, Fold fold) {
  const Tensor values = x.to(kDouble, false);
  Sizes kept(values.sizes().begin(), values.sizes().end());
  for (const int64_t dim : dims) kept[dim] = 1;
  Tensor result = at::full(kept, start, kDouble);
  const Tensor target = result.expand(values.sizes());
  std::vector<int64_t> position(values.dim(), 0);
  for (int64_t i = 0; i < values.numel(); ++i) {
    int64_t rest = i;
    int64_t from = 0;
    int64_t to = 0;
    for (int64_t dim = values.dim() - 1; dim >= 0; --dim) {
      const int64_t place = rest % values.sizes()[dim];
      rest /= values.sizes()[dim];
      from += place * values.strides()[dim];
      to += place * target.strides()[dim];
    }
    double& total = result.data_ptr<double>()[to];
    total = fold(total, values.data_ptr<double>()[from]);
  }
  return result;
}

double add(double total, double value) { return total + value; }
double larger(double total, double value) { return value > total ? value : total; }

bool close(const Tensor& actual, const Tensor& expected, double tolerance) {
  return at::allclose(actual.to(kDouble, false), expected, tolerance, tolerance);
}

}  // namespace

TEST(sum_and_max_of_many_shapes) {
  struct Case {
    Tensor x;
    std::vector<int64_t> dims;
  };
  const std::vector<Case> cases{
      {wave({7}), {0}},
      {wave({300000}), {0}},
      {wave({3, 70001}), {1}},
      {wave({5000, 3}), {0}},
      {wave({20, 3}), {0}},
      {wave({1001, 64}), {0}},
      {wave({9000, 300}), {0}},
      {wave({4, 5, 6}), {1}},
      {wave({4, 5, 6}), {0, 2}},
      {wave({40, 50, 60}), {0, 1, 2}},
      {wave({40, 50, 60}).transpose(0, 2), {0}},
      {wave({40, 50, 60}).transpose(0, 2), {2}},
      {at::slice(wave({40, 50, 60}), 2, 0, 60, 7), {2}},
      {at::slice(wave({40, 50, 60}), 2, 0, 60, 7), {0, 1}},
      {wave({1, 50, 1}).expand({20, 50, 30}), {0, 2}},
      {wave({1, 50, 1}).expand({20, 50, 30}), {1}},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    for (const auto dtype : {kDouble, kFloat}) {
      const Tensor x = cases[i].x.to(dtype, false);
      const double tolerance = dtype == kFloat ? 1e-5 : 1e-12;
      const at::IntArrayRef dims(cases[i].dims);
      const std::string name = "case " + std::to_string(i);
      if (!close(at::sum(x, dims, true), reference(x, cases[i].dims, 0, add), tolerance))
        check::fail(__FILE__, __LINE__, "sum, " + name);
      if (!close(at::amax(x, dims, true), reference(x, cases[i].dims, -9, larger), 0))
        check::fail(__FILE__, __LINE__, "amax, " + name);
    }
  }
}

TEST(long_float_sums_stay_accurate) {
  const Tensor x = at::full({10000000}, 0.1);
  CHECK(std::fabs(at::sum(x).item<double>() - 1000000.0149) < 1);
  const Tensor columns = at::full({1000000, 4}, 0.1);
  CHECK(std::fabs(at::sum(columns, at::IntArrayRef(0))[3].item<double>() - 100000.00149) < 0.1);
}

TEST(dtypes_of_results) {
  EXPECT_TENSOR(at::sum(ramp({3}, kInt)), ({}), kLong, 3);
  EXPECT_TENSOR(at::sum(expect::tensor({1, 0, 1}, kBool)), ({}), kLong, 2);
  EXPECT_TENSOR(at::sum(ramp({3}, kInt), kFloat), ({}), kFloat, 3);
  EXPECT_TENSOR(at::prod(expect::tensor({2, 3, 4}, kByte)), ({}), kLong, 24);
  EXPECT_TENSOR(at::mean(ramp({4})), ({}), kFloat, 1.5);
  EXPECT_TENSOR(at::any(expect::tensor({0, 2}, kByte)), ({}), kByte, 1);
  EXPECT_TENSOR(at::all(expect::tensor({0, kNaN})), ({}), kBool, 0);
  EXPECT_TENSOR(at::any(expect::tensor({0, kNaN})), ({}), kBool, 1);
  CHECK_THROWS(c10::Error, at::mean(ramp({4}, kLong)),
               "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
               "dtype. Got: Long");
}

TEST(nothing_to_reduce) {
  const Tensor none = at::empty({0});
  EXPECT_TENSOR(at::sum(none), ({}), kFloat, 0);
  EXPECT_TENSOR(at::prod(none), ({}), kFloat, 1);
  EXPECT_TENSOR(at::mean(none), ({}), kFloat, kNaN);
  EXPECT_TENSOR(at::any(none), ({}), kBool, 0);
  EXPECT_TENSOR(at::all(none), ({}), kBool, 1);
  EXPECT_TENSOR(at::sum(at::empty({2, 0}), 1), ({2}), kFloat, 0, 0);
  CHECK_EQ(at::amax(at::empty({2, 0}), 0).sizes(), at::IntArrayRef({0}));
  CHECK_THROWS(
      c10::Error, at::max(none),
      "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
      "the 'dim' argument.");
  CHECK_THROWS(c10::IndexError, at::amax(at::empty({2, 0}), 1),
               "amax(): Expected reduction dim 1 to have non-zero size.");
  CHECK_THROWS(c10::IndexError, at::argmax(none, 0),
               "argmax(): Expected reduction dim 0 to have non-zero size.");
}

TEST(not_a_number_wins) {
  const Tensor x = expect::tensor({1, kNaN, 3, kNaN, 2});
  EXPECT_TENSOR(at::max(x), ({}), kFloat, kNaN);
  EXPECT_TENSOR(at::amin(x), ({}), kFloat, kNaN);
  EXPECT_TENSOR(at::argmax(x), ({}), kLong, 1);
  EXPECT_TENSOR(at::argmin(x), ({}), kLong, 1);
  const auto [values, indices] = at::min(at::stack({x, x}, 1), 0);
  EXPECT_TENSOR(values, ({2}), kFloat, kNaN, kNaN);
  EXPECT_TENSOR(indices, ({2}), kLong, 1, 1);
  Tensor longer = wave({100}, kFloat);
  longer[77].fill_(kNaN);
  EXPECT_TENSOR(at::max(longer), ({}), kFloat, kNaN);
  EXPECT_TENSOR(at::argmax(longer), ({}), kLong, 77);
}

TEST(places_of_extremes) {
  EXPECT_TENSOR(at::argmax(expect::tensor({1, 5, 5, 2})), ({}), kLong, 1);
  EXPECT_TENSOR(at::argmin(expect::tensor({3, 1, 5, 1})), ({}), kLong, 1);
  const Tensor x = expect::tensor({1, 9, 9, 4, 4, 7}, {2, 3});
  const auto [values, indices] = at::max(x, 0, true);
  EXPECT_TENSOR(values, (Sizes{1, 3}), kFloat, 4, 9, 9);
  EXPECT_TENSOR(indices, (Sizes{1, 3}), kLong, 1, 0, 0);
  EXPECT_TENSOR(at::argmax(x, 1), ({2}), kLong, 1, 2);
  EXPECT_TENSOR(at::argmax(x.t()), ({}), kLong, 2);
  EXPECT_TENSOR(at::argmax(x, std::nullopt, true), (Sizes{1, 1}), kLong, 1);
  EXPECT_TENSOR(at::argmax(expect::tensor({-kInf, -kInf})), ({}), kLong, 0);
}

TEST(variance) {
  const Tensor x = expect::tensor({1, 2, 4, 8}, {2, 2});
  EXPECT_TENSOR(at::var(x), ({}), kFloat, 9.583333);
  EXPECT_TENSOR(at::var(x, /*unbiased=*/false), ({}), kFloat, 7.1875);
  EXPECT_TENSOR(at::std(x, at::IntArrayRef(1), at::Scalar(1), true), (Sizes{2, 1}), kFloat, 0.70710678,
                2.82842712);
  EXPECT_TENSOR(at::var(expect::tensor({3})), ({}), kFloat, kNaN);
  CHECK_THROWS(c10::Error, at::var(ramp({3}, kLong)),
               "std and var only support floating point and complex dtypes");
}

TEST(logsumexp_norm) {
  EXPECT_TENSOR(at::logsumexp(expect::tensor({1000, 1000}), 0), ({}), kFloat, 1000.6931472);
  EXPECT_TENSOR(at::logsumexp(expect::tensor({-kInf, -kInf}), 0), ({}), kFloat, -kInf);
  EXPECT_TENSOR(at::norm(expect::tensor({3, 4})), ({}), kFloat, 5);
  EXPECT_TENSOR(at::norm(expect::tensor({3, -4}), 1), ({}), kFloat, 7);
  EXPECT_TENSOR(at::norm(expect::tensor({3, -4}), kInf), ({}), kFloat, 4);
  EXPECT_TENSOR(at::norm(expect::tensor({3, 4}), 3), ({}), kFloat, 4.49794);
}

TEST(cumsum) {
  EXPECT_TENSOR(at::cumsum(ramp({2, 3}), 0), (Sizes{2, 3}), kFloat, 0, 1, 2, 3, 5, 7);
  EXPECT_TENSOR(at::cumsum(ramp({2, 3}), 1), (Sizes{2, 3}), kFloat, 0, 1, 3, 3, 7, 12);
  EXPECT_TENSOR(at::cumsum(expect::tensor({1, 1, 0}, kBool), 0), ({3}), kLong, 1, 2, 2);
}

TEST(sort_topk) {
  const auto [values, indices] = at::sort(expect::tensor({3, kNaN, 1, 2, 1, -0.0, 0.0, -kInf}));
  EXPECT_TENSOR(values, ({8}), kFloat, -kInf, 0, 0, 1, 1, 2, 3, kNaN);
  EXPECT_TENSOR(indices, ({8}), kLong, 7, 5, 6, 2, 4, 3, 0, 1);
  const auto [down, places] = at::sort(expect::tensor({3, 1, 2, 1}, kLong), 0, true);
  EXPECT_TENSOR(down, ({4}), kLong, 3, 2, 1, 1);
  EXPECT_TENSOR(places, ({4}), kLong, 0, 2, 1, 3);
  EXPECT_TENSOR(at::argsort(expect::tensor({3, 1, 2, 0}, {2, 2}), int64_t{0}), (Sizes{2, 2}), kLong, 1, 1, 0, 0);
  const auto [top, where] = at::topk(expect::tensor({1, 5, 3, 4}), 2);
  EXPECT_TENSOR(top, ({2}), kFloat, 5, 4);
  EXPECT_TENSOR(where, ({2}), kLong, 1, 3);
  CHECK_THROWS(c10::Error, at::topk(ramp({3}), 4), "selected index k out of range");
}

// Long rows are sorted by their bytes, short ones by comparing: both stable, in any dtype and along any
// dimension.
TEST(sort_of_every_length) {
  for (const auto dtype : {kFloat, kDouble, kInt, kLong, kByte, kBool}) {
    for (const int64_t size : {1, 2, 199, 200, 3000}) {
      const Tensor x = at::round(wave({size, 3}) * 50).to(dtype, false);
      for (const bool descending : {false, true}) {
        const auto [values, indices] = at::sort(x, 0, descending);
        CHECK(at::equal(at::gather(x, 0, indices), values));
        const auto keys = values.to(kDouble, false);
        for (int64_t i = 0; i + 1 < size; ++i) {
          for (int64_t column = 0; column < 3; ++column) {
            const double before = keys[i][column].item<double>();
            const double after = keys[i + 1][column].item<double>();
            CHECK(descending ? before >= after : before <= after);
            if (before == after)
              CHECK(indices[i][column].item<int64_t>() < indices[i + 1][column].item<int64_t>());
          }
        }
        if (dtype == kBool) continue;
        const int64_t count = std::min<int64_t>(size, 17);
        const auto top = at::topk(x, count, 0, descending);
        CHECK(at::equal(std::get<0>(top), at::slice(values, 0, 0, count)));
        CHECK(at::equal(at::gather(x, 0, std::get<1>(top)), std::get<0>(top)));
      }
    }
  }
}

TEST(dimensions_are_checked) {
  CHECK_THROWS(c10::IndexError, at::sum(ramp({2, 2}), 2),
               "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  CHECK_THROWS(c10::Error, at::sum(ramp({2, 2}), {0, -2}),
               "dim 0 appears multiple times in the list of dims");
  CHECK_THROWS(c10::IndexError, at::max(ramp({2, 2}), 5), "Dimension out of range");
}

TEST_MAIN()
