// Written by torchgen from native_functions.yaml: change that instead.
// The method tables of TensorBase, _VariableFunctions and the namespaces beside it, and the types of named results.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/generated/python_callables.h>
#include <torch/csrc/utils/calls.h>

namespace torch::python {

PyMethodDef generated_tensor_methods[] = {
${methods}
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef generated_functions[] = {
${functions}
    {nullptr, nullptr, 0, nullptr},
};

${namespaces}

const FunctionNamespace generated_namespaces[] = {
${names}
    {nullptr, nullptr},
};

namespace return_types {

${return_types}

}  // namespace return_types

namespace {

${fields}

}  // namespace

void register_return_types(PyObject* types) {
${registrations}
}

}  // namespace torch::python
