#pragma once
// Python functions as hooks of tensors.

#include <torch/csrc/utils/object.h>

#include <aten/Tensor.h>

namespace torch::python {

// Registers `hook(grad) -> Tensor or None`, or with `post_accumulate` `hook(tensor)` after .grad of a leaf was written.
// Returns a number for remove_grad_hook.
int64_t add_grad_hook(const at::Tensor& tensor, PyObject* hook, bool post_accumulate);
// Does nothing when the hook has gone already.
void remove_grad_hook(const at::Tensor& tensor, int64_t number);

// For the garbage collector: what a tensor refers to through its hooks and through a Python node that only it keeps.
int visit_python_hooks(const at::Tensor& tensor, visitproc visit, void* arg);

}  // namespace torch::python
