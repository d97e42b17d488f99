// The exported functions of libtorch_python: what python_api.h declares.

#include <torch/csrc/python_api.h>

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <c10/util/Exception.h>

bool THPVariable_Check(PyObject* object) { return object && torch::python::is_tensor(object); }

PyObject* THPVariable_Wrap(const at::Tensor& tensor) {
  return torch::python::guarded([&] { return torch::python::wrap(tensor); });
}

const at::Tensor& THPVariable_Unpack(PyObject* object) { return torch::python::unpack(object); }

bool THPDtype_Check(PyObject* object) { return object && Py_TYPE(object) == &torch::python::DtypeType; }

bool THPDevice_Check(PyObject* object) { return object && Py_TYPE(object) == &torch::python::DeviceTypeObject; }

namespace torch::python {

PyObject* wrap_dtype(c10::ScalarType dtype) noexcept {
  return guarded([&] { return new_dtype(dtype); });
}

PyObject* wrap_device(const c10::Device& device) noexcept {
  return guarded([&] { return new_device(device); });
}

PyObject* wrap_scalar(const c10::Scalar& scalar) noexcept {
  return guarded([&] { return from_scalar(scalar); });
}

bool unwrap_dtype(PyObject* object, c10::ScalarType& value) {
  if (!object || !is_dtype_like(object)) return false;
  value = to_dtype(object);
  return true;
}

bool unwrap_device(PyObject* object, c10::Device& value) {
  if (!THPDevice_Check(object)) return false;
  value = to_device(object);
  return true;
}

bool unwrap_scalar(PyObject* object, c10::Scalar& value) {
  if (!object || !is_number(object)) return false;
  value = to_scalar(object);
  return true;
}

bool unwrap_integer(PyObject* object, int64_t& value) {
  if (!object || !is_integer(object)) return false;
  value = to_integer(object);
  return true;
}

bool set_exception(const std::exception_ptr& exception) noexcept {
  if (!exception) return false;
  try {
    std::rethrow_exception(exception);
  } catch (const PythonError&) {
    translate_exception();
  } catch (const c10::Error&) {
    translate_exception();
  } catch (...) {
    return false;
  }
  return true;
}

}  // namespace torch::python
