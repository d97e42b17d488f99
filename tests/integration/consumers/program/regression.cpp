#include "regression.h"

at::Tensor fit_linear(const at::Tensor& inputs, const at::Tensor& targets, int steps, double rate) {
  at::Tensor weight = at::zeros({inputs.size(1), 1});
  for (int step = 0; step < steps; ++step) {
    at::Tensor current = weight.detach();
    current.requires_grad_();
    const at::Tensor error = at::sub(at::matmul(inputs, current), targets);
    at::mean(at::mul(error, error)).backward();
    weight = at::sub(weight, at::mul(current.grad(), rate));
  }
  return weight;
}
