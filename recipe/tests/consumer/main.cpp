// Uses the installed libtorch: makes tensors, multiplies, differentiates, and checks the numbers.
#include <torch/torch.h>

#include <cmath>
#include <iostream>

int main() {
  at::Tensor weight = at::ones({3}).requires_grad_();
  at::Tensor loss = at::sum(at::mul(weight, weight));
  loss.backward();
  const double value = loss.item().toDouble();
  const double gradient = at::sum(weight.grad()).item().toDouble();
  std::cout << "loss " << value << ", gradient " << gradient << '\n';
  const bool right = std::abs(value - 3.0) < 1e-6 && std::abs(gradient - 6.0) < 1e-6;
  return right ? 0 : 1;
}
