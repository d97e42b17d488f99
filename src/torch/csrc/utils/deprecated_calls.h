#pragma once
// Calls in a form that PyTorch gave up, in today's form.

#include <torch/csrc/utils/argument_parser.h>

#include <optional>
#include <vector>

namespace torch::python {

struct ReorderedCall {
  std::vector<PyObject*> values;  // positional ones, then those of keyword_names; borrowed
  Py_ssize_t count = 0;           // of positional ones
  Object keyword_names;
};

// x.add_(-rate, gradient) as x.add_(gradient, alpha=-rate); nothing where the call has no such form.
std::optional<ReorderedCall> reorder_deprecated_call(const Callable& callable, bool is_method, PyObject* const* values,
                                                     Py_ssize_t count, PyObject* keyword_names);
void warn_of_deprecated_call(const Callable& callable, const ReorderedCall& call);

}  // namespace torch::python
