#pragma once
// Tensors from lists, and comparing tensors with lists.

#include "check.h"

#include <aten/ATen.h>

#include <cmath>
#include <limits>

namespace expect {

using at::Tensor;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// A contiguous tensor of these values.
inline Tensor tensor(const std::vector<double>& values, const std::vector<int64_t>& sizes,
                     at::ScalarType dtype = at::kFloat) {
  Tensor result = at::empty(sizes, at::TensorOptions(at::kDouble));
  std::copy(values.begin(), values.end(), result.data_ptr<double>());
  return result.to(dtype, false);
}
inline Tensor tensor(const std::vector<double>& values, at::ScalarType dtype = at::kFloat) {
  return tensor(values, {static_cast<int64_t>(values.size())}, dtype);
}
inline Tensor integers(const std::vector<double>& values) { return tensor(values, at::kLong); }

// 0, 1, 2, ... in this shape.
inline Tensor ramp(const std::vector<int64_t>& sizes, at::ScalarType dtype = at::kFloat) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return at::reshape(at::arange(at::Scalar(count), at::TensorOptions(dtype)), sizes);
}

// Fails unless `actual` has this shape, dtype and (within a few units in the last place, or `tolerance`)
// these values.
inline void is(const Tensor& actual, const std::vector<int64_t>& sizes, at::ScalarType dtype,
               const std::vector<double>& values, const char* file, int line, double tolerance = 2e-6) {
  std::ostringstream problem;
  if (actual.sizes() != at::IntArrayRef(sizes))
    problem << "shape " << actual.sizes() << ", expected " << at::IntArrayRef(sizes);
  if (actual.dtype() != dtype) problem << "; dtype " << actual.dtype() << ", expected " << dtype;
  if (problem.str().empty()) {
    const Tensor dense = actual.to(at::kDouble, false).contiguous();
    if (static_cast<size_t>(dense.numel()) != values.size())
      problem << dense.numel() << " values, expected " << values.size();
    for (int64_t i = 0; problem.str().empty() && i < dense.numel(); ++i) {
      const double found = dense.data_ptr<double>()[i];
      const double wanted = values[static_cast<size_t>(i)];
      const bool same = found == wanted || (std::isnan(found) && std::isnan(wanted)) ||
                        std::fabs(found - wanted) <= tolerance * std::max(1.0, std::fabs(wanted));
      if (!same) problem << "element " << i << " is " << found << ", expected " << wanted;
    }
  }
  if (!problem.str().empty()) check::fail(file, line, problem.str());
}

}  // namespace expect

#define EXPECT_TENSOR(actual, sizes, dtype, ...) \
  expect::is(actual, std::vector<int64_t> sizes, dtype, {__VA_ARGS__}, __FILE__, __LINE__)
