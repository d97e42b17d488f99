// Rows of formulas*.cpp: an operator's gradients, and their gradients, against central differences.

#pragma once

#include "check.h"
#include "gradient_check.h"

#include <torch/csrc/autograd/variable.h>

#include <cmath>
#include <string>
#include <vector>

using at::Tensor;
using check::Tensors;

namespace formulas {

// Values in [low, high], all different, in no order; float64.
inline Tensor values(std::vector<int64_t> sizes, double low = -2, double high = 2) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  Tensor result = at::empty(sizes, at::kDouble);
  for (int64_t element = 0; element < count; ++element) {
    // Steps of the golden ratio fill an interval evenly.
    const double fraction = std::fmod(0.37 + static_cast<double>(element) * 0.6180339887498949, 1.0);
    result.data_ptr<double>()[element] = low + (high - low) * fraction;
  }
  return result;
}

inline Tensor integers(std::vector<int64_t> numbers, std::vector<int64_t> sizes) {
  Tensor result = at::empty(sizes, at::kLong);
  std::copy(numbers.begin(), numbers.end(), result.data_ptr<int64_t>());
  return result;
}

inline Tensor mask_of(std::vector<int64_t> sizes) { return values(sizes) > 0.3; }

struct Row {
  const char* name;
  Tensors inputs;
  check::Function function;
  bool second = true;
};

inline void run(const std::vector<Row>& rows) {
  std::string failures;
  for (const Row& row : rows) {
    std::string problem;
    try {
      problem = check::check_gradients(row.function, row.inputs, row.second);
    } catch (const std::exception& error) {
      problem = std::string("threw: ") + error.what();
    }
    if (!problem.empty()) failures += std::string("\n    ") + row.name + ": " + problem;
  }
  if (!failures.empty()) check::fail(__FILE__, __LINE__, failures);
}

}  // namespace formulas

#define UNARY(name, low, high) \
  {#name, {values({2, 3}, low, high)}, [](const Tensors& x) { return at::name(x[0]); }}
#define ROW(name, inputs, expression) {name, inputs, [](const Tensors& x) -> Tensor { return expression; }}
// Of a function whose gradient has no gradient for all of its inputs.
#define ROW_ONCE(name, inputs, expression) \
  {name, inputs, [](const Tensors& x) -> Tensor { return expression; }, /*second=*/false}
#define INPUTS(...) \
  Tensors { __VA_ARGS__ }
