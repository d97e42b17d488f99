#pragma once
// torch.autocast: inside it, and for tensors of its device, operators that gain from fewer bits get their tensors in a
// smaller dtype, and those that need more get float32. Arguments are converted on their way from Python, by the
// operator's name; autograd sees the conversions, so gradients arrive in the dtype of the original.

#include <torch/csrc/utils/autocast_lists.h>
#include <torch/csrc/utils/object.h>

#include <aten/Tensor.h>

#include <vector>

namespace torch::python {

struct AutocastDevice;

// How many enabled blocks all threads are inside of: 0 almost always.
extern int active_autocasts;

// A call's arguments as the operator is to have them.
class AutocastArguments {
 public:
  // Does nothing if this thread is in no enabled block, or the operator computes in what it gets, as every one does
  // that is given `out`. `count` includes the values of `keyword_names`, which are the last.
  AutocastArguments(const char* name, PyObject* self, PyObject* const* values, Py_ssize_t count,
                    PyObject* keyword_names);

  PyObject* self() const { return self_; }
  PyObject* const* values() const { return values_; }
  // The devices whose lists have the operator.
  const std::vector<c10::DeviceType>& applied() const { return applied_; }

 private:
  void convert_for(const AutocastDevice& device, AutocastPolicy policy, Py_ssize_t count,
                   bool keeps_projected_state = false);

  PyObject* self_;
  PyObject* const* values_;
  std::vector<PyObject*> replaced_;
  std::vector<Object> owners_;
  std::vector<c10::DeviceType> applied_;
};

// The one tensor of an operator that is in the list of float32, or in none.
at::Tensor autocast_argument(const char* name, const at::Tensor& tensor);

extern PyMethodDef autocast_functions[];

}  // namespace torch::python
