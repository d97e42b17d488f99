#pragma once
// Written by torchgen from native_functions.yaml, kernels.yaml and derivatives.yaml: change those instead.
// The nodes of the autograd graph, one per formula of derivatives.yaml.

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>

namespace torch::autograd {

using namespace at;

${classes}

}  // namespace torch::autograd
