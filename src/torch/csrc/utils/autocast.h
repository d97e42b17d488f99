#pragma once
// torch.autocast: inside it, operators that gain from fewer bits get their tensors in a smaller dtype, and those that
// need more get float32. Arguments are converted on their way from Python, by the operator's name; autograd sees the
// conversions, so gradients arrive in the dtype of the original.

#include <torch/csrc/utils/object.h>

#include <vector>

namespace torch::python {

// How many threads are inside an enabled block: 0 almost always.
extern int active_autocasts;

// A call's arguments as the operator is to have them.
class AutocastArguments {
 public:
  // Does nothing if this thread is in no enabled block, or the operator computes in what it gets.
  AutocastArguments(const char* name, PyObject* self, PyObject* const* values, Py_ssize_t count);

  PyObject* self() const { return self_; }
  PyObject* const* values() const { return values_; }

 private:
  PyObject* self_;
  PyObject* const* values_;
  std::vector<PyObject*> replaced_;
  std::vector<Object> owners_;
};

extern PyMethodDef autocast_functions[];

}  // namespace torch::python
