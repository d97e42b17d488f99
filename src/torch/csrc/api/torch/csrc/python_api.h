#pragma once
// What extensions call of libtorch_python: tensors, dtypes, devices and errors, from C++ to Python and back. Everything
// here needs the GIL. The rest of libtorch_python is hidden, and its headers are not installed.

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <aten/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/macros/Export.h>

#include <exception>

// ---- tensors

// Whether it is a torch.Tensor or of a subclass of it.
C10_EXPORT bool THPVariable_Check(PyObject* object);
// A new reference to the tensor's Python object: the one it has, or a new torch.Tensor; None for an undefined tensor.
// Null, with a Python exception set, when there is no memory for it.
C10_EXPORT PyObject* THPVariable_Wrap(const at::Tensor& tensor);
// The tensor of an object that THPVariable_Check approves of. Lives as long as the object does.
C10_EXPORT const at::Tensor& THPVariable_Unpack(PyObject* object);

// ---- torch.dtype, torch.device, numbers

C10_EXPORT bool THPDtype_Check(PyObject* object);   // torch.dtype, not Python's float, int and bool
C10_EXPORT bool THPDevice_Check(PyObject* object);  // torch.device, not a str

namespace torch::python {

// New references; null with a Python exception set.
C10_EXPORT PyObject* wrap_dtype(c10::ScalarType dtype) noexcept;
C10_EXPORT PyObject* wrap_device(const c10::Device& device) noexcept;
C10_EXPORT PyObject* wrap_scalar(const c10::Scalar& scalar) noexcept;

// Each gives true and fills `value`; false, without a Python exception, when the object is nothing of the kind. What is
// of the kind, yet has no value (a dtype without tensors, an integer beyond 64 bits), throws, see set_exception.
C10_EXPORT bool unwrap_dtype(PyObject* object, c10::ScalarType& value);    // torch.dtype, or Python's float, int, bool
C10_EXPORT bool unwrap_device(PyObject* object, c10::Device& value);       // torch.device
C10_EXPORT bool unwrap_scalar(PyObject* object, c10::Scalar& value);       // a number, NumPy's, or a 0-dim tensor
C10_EXPORT bool unwrap_integer(PyObject* object, int64_t& value);          // int, NumPy's, or a 0-dim integral tensor

// Makes an exception of libtorch or libtorch_python the pending Python exception: c10::Error becomes RuntimeError,
// c10::IndexError IndexError, a Python exception that has crossed C++ itself again. False,
// and nothing done, for others.
C10_EXPORT bool set_exception(const std::exception_ptr& exception) noexcept;

}  // namespace torch::python
