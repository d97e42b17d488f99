#pragma once
// New tensors from Python data: numbers, nested sequences, arrays, buffers.

#include <torch/csrc/utils/object.h>

#include <aten/Tensor.h>

#include <optional>

namespace torch::python {

// A new CPU tensor with a copy of `data` (moved to `device` at the end): a number, a nested sequence of numbers or
// tensors, a tensor, a NumPy array or another buffer. Without `dtype`: bool, int64, or the default dtype, after what is
// in it; an array or tensor keeps its own. Throws TypeError or ValueError for what is no such data.
at::Tensor tensor_from_data(PyObject* data, std::optional<c10::ScalarType> dtype, std::optional<c10::Device> device);
// torch._C._legacy_tensor(dtype, *arguments, device=None).
PyObject* legacy_tensor_of(PyObject* module, PyObject* arguments, PyObject* keywords);

// ---- utils/tensor_numpy.cpp

// Whether it is a numpy.ndarray; never imports NumPy.
bool is_numpy_array(PyObject* object);
// A CPU tensor that shares the memory of an object with a buffer. Throws TypeError for dtypes without a counterpart and
// ValueError for strides that a tensor cannot have.
at::Tensor tensor_from_buffer(PyObject* object, bool warn_read_only);
// A numpy.ndarray that shares the tensor's memory and keeps it alive.
PyObject* tensor_to_numpy(const at::Tensor& tensor, bool force);
// "float32" -> the struct module's format of one element.
const char* buffer_format(c10::ScalarType dtype);
void register_numpy(PyObject* module);

// ---- utils/tensor_list.cpp

// Nested lists of Python numbers; a number for a 0-dim tensor.
PyObject* tensor_to_list(const at::Tensor& tensor);

}  // namespace torch::python
