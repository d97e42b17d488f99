// Written by torchgen from native_functions.yaml: change that instead.
// Parameter tables, and for each overload the function that calls it.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/generated/python_callables.h>
#include <torch/csrc/utils/calls.h>

#include <aten/ATen.h>

namespace torch::python {

${definitions}

}  // namespace torch::python
