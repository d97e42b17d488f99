#pragma once
// Written by torchgen from native_functions.yaml: change that instead.
// Every operator as a Python callable, and the named tuples that operators return.

#include <torch/csrc/utils/argument_parser.h>

namespace torch::python::callables {

${callables}

}  // namespace torch::python::callables

namespace torch::python::return_types {

${return_types}

}  // namespace torch::python::return_types
