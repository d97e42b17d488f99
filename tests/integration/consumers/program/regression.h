#pragma once
#include <torch/torch.h>

/// Fits targets = inputs @ weight by gradient descent from zero; inputs is (n, k), targets (n, 1), both float32.
at::Tensor fit_linear(const at::Tensor& inputs, const at::Tensor& targets, int steps, double rate);
