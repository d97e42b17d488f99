#pragma once
// How torch.nn.Module finds its parameters, buffers and submodules.

#include <torch/csrc/utils/object.h>

namespace torch::python {

void register_module_members(PyObject* module);

}  // namespace torch::python
