#pragma once
// All that a Python extension in C++ needs. Its entry is PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) { ... };
// torch.utils.cpp_extension defines TORCH_EXTENSION_NAME.

#include <torch/torch.h>

#include <torch/python.h>
