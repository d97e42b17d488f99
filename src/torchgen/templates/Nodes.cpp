// Written by torchgen from derivatives.yaml: change that instead.
// What each node does with the gradient that reaches it.

#include <aten/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/generated/Nodes.h>

namespace torch::autograd {

${definitions}

}  // namespace torch::autograd
