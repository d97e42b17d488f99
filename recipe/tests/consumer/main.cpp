// Uses the installed libtorch as its users do. Without arguments: makes tensors, multiplies, differentiates, and checks
// the numbers. With `cuda`: asks for the CUDA add-on, which must be found, and must either work or say why it cannot.
#include <torch/torch.h>

#include <aten/Plugin.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <string>

namespace {

bool differentiates() {
  at::Tensor weight = at::ones({3});
  weight.requires_grad_();
  at::Tensor loss = at::sum(at::mul(weight, weight));
  loss.backward();
  const double value = loss.item().toDouble();
  const double gradient = at::sum(weight.grad()).item().toDouble();
  std::cout << "loss " << value << ", gradient " << gradient << '\n';
  return std::abs(value - 3.0) < 1e-6 && std::abs(gradient - 6.0) < 1e-6;
}

bool finds_cuda() {
  if (at::cuda_available()) {
    std::cout << "CUDA is available\n";
    return true;
  }
  const std::string reason(at::cuda_unavailable_reason());
  std::cout << "CUDA is not available: " << reason << '\n';
  // Installed but unusable is fine on a machine without a driver; not found, refused or crashed is not.
  return reason.find("driver") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  const bool cuda = argc > 1 && std::strcmp(argv[1], "cuda") == 0;
  return differentiates() && (!cuda || finds_cuda()) ? 0 : 1;
}
