#pragma once
// Compares gradients with central differences, once and for the gradient's own gradient.

#include <aten/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace check {

using Tensors = std::vector<at::Tensor>;
using Function = std::function<at::Tensor(const Tensors&)>;

// d sum(function(inputs) * weight) / d inputs, by central differences. Float64.
inline Tensors numeric_gradients(const Function& function, const Tensors& inputs, const at::Tensor& weight) {
  const double step = 1e-6;
  const at::NoGradGuard no_grad;
  Tensors gradients;
  for (const at::Tensor& input : inputs) {
    at::Tensor gradient = at::zeros(input.sizes(), input.options());
    for (int64_t element = 0; element < input.numel(); ++element) {
      // The inputs are contiguous.
      double* value = input.data_ptr<double>() + element;
      const double before = *value;
      *value = before + step;
      const double above = (function(inputs) * weight).sum().item<double>();
      *value = before - step;
      const double below = (function(inputs) * weight).sum().item<double>();
      *value = before;
      gradient.data_ptr<double>()[element] = (above - below) / (2 * step);
    }
    gradients.push_back(gradient);
  }
  return gradients;
}

// Empty when they agree, else what differs.
inline std::string difference(const Tensors& found, const Tensors& expected, double tolerance) {
  for (size_t index = 0; index < expected.size(); ++index) {
    const at::Tensor actual = found[index].defined() ? found[index] : at::zeros_like(expected[index]);
    if (actual.sizes() != expected[index].sizes())
      return "input " + std::to_string(index) + ": shapes differ";
    const at::Tensor off = (actual - expected[index]).abs() - expected[index].abs() * tolerance;
    if (expected[index].numel() == 0) continue;
    const double worst = off.max().item<double>();
    // Also refuses nan.
    if (!(worst <= tolerance)) {
      return "input " + std::to_string(index) + ": off by " + std::to_string(worst + tolerance);
    }
  }
  return "";
}

// A reproducible weight for a result: different in every element, so that no error cancels.
inline at::Tensor weights_for(const at::Tensor& result) {
  return ((at::arange(0, result.numel(), 1, result.options()) * 0.7 + 0.3).sin() + 1.5)
      .reshape(result.sizes());
}

inline Tensors gradients_of(const Function& function, const Tensors& inputs, const at::Tensor& weight,
                            bool create_graph) {
  return torch::autograd::grad({function(inputs)}, inputs, {weight}, std::nullopt, create_graph,
                               /*allow_unused=*/true);
}

// Empty when first and second derivatives agree with central differences.
inline std::string check_gradients(const Function& function, Tensors inputs, bool second = true) {
  for (at::Tensor& input : inputs) input.requires_grad_();
  const at::Tensor weight = weights_for(function(inputs).detach());
  const std::string first = difference(gradients_of(function, inputs, weight, false),
                                       numeric_gradients(function, inputs, weight), 2e-5);
  if (!first.empty()) return "first derivative, " + first;
  if (!second) return "";
  // The sum of all gradients, weighted, as a function of the inputs.
  const Function gradient = [&](const Tensors& at) {
    const c10::AutoGradMode mode(true);
    at::Tensor total = at::zeros({}, weight.options());
    for (const at::Tensor& each : gradients_of(function, at, weight, true)) {
      if (each.defined()) total = total + (each * weights_for(each.detach())).sum();
    }
    return total;
  };
  const at::Tensor one = at::ones({}, weight.options());
  Tensors found(inputs.size());
  const at::Tensor value = gradient(inputs);
  if (value.requires_grad()) {
    found = torch::autograd::grad({value}, inputs, {one}, std::nullopt, false, /*allow_unused=*/true);
  }
  const std::string again = difference(found, numeric_gradients(gradient, inputs, one), 2e-4);
  return again.empty() ? "" : "second derivative, " + again;
}

}  // namespace check
