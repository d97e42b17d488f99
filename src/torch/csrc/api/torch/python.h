#pragma once
// Tensors between C++ and Python: the C API, and pybind11's conversions.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>
