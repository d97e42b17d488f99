#pragma once
// Python's side of `__torch_dispatch__`: modes, classes, and calls of operators by their schemas (torch/_ops.py).

#include <torch/csrc/utils/argument_parser.h>

namespace torch::python {

// A row of torch._ops: a schema, and the overload that is called for it.
struct OperatorRow {
  const char* schema;
  const Callable* callable;
  uint8_t overload;
};
extern const OperatorRow operator_rows[];  // generated/python_schemas.cpp; ends with a row of null pointers

// Whether the tensors of a class answer for operators.
bool class_dispatches(PyTypeObject* type);

void register_dispatch(PyObject* module);

}  // namespace torch::python
