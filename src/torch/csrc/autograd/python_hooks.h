#pragma once
// Python functions as hooks of tensors, of nodes and of what is saved.

#include <torch/csrc/utils/object.h>

#include <aten/Tensor.h>

namespace torch::python {

// Registers `hook(grad) -> Tensor or None`, or with `post_accumulate` `hook(tensor)` after .grad of a leaf was written.
// Returns a number for remove_grad_hook.
int64_t add_grad_hook(const at::Tensor& tensor, PyObject* hook, bool post_accumulate);
// Does nothing when the hook has gone already.
void remove_grad_hook(const at::Tensor& tensor, int64_t number);

// `hook(gradients)` before a node runs, or `hook(made, entered)` after it; what it returns takes the place of what it
// got (first). Returns a number for Node._remove_hook(number, before).
uint64_t add_node_hook(PyObject* node, PyObject* hook, bool before);
PyObject* remove_node_hook(PyObject* node, PyObject* arguments);

// Python functions that pack what a thread saves for backward; the last pair counts.
PyObject* push_saved_tensor_hooks(PyObject* module, PyObject* arguments);
PyObject* pop_saved_tensor_hooks(PyObject* module, PyObject*);

// For the garbage collector: what a tensor refers to through its hooks and through a Python node that only it keeps.
int visit_python_hooks(const at::Tensor& tensor, visitproc visit, void* arg);

}  // namespace torch::python
