// Written by torchgen from native_functions.yaml: change that instead.
// The schemas of all operators, and what is called for them.

#include <torch/csrc/generated/python_callables.h>
#include <torch/csrc/utils/python_dispatch.h>

namespace torch::python {

const OperatorRow operator_rows[] = {
${rows}
    {nullptr, nullptr, 0},
};

}  // namespace torch::python
