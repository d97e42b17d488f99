#include <torch/csrc/exceptions.h>

#include <c10/util/Warning.h>

#include <c10/util/AcceleratorError.h>
#include <c10/util/Exception.h>

#include <new>
#include <stdexcept>

namespace torch::python {

PyObject* out_of_memory_error = nullptr;
PyObject* linalg_error = nullptr;

namespace {

std::string describe(PyObject* type, PyObject* value) {
  std::string message = type ? reinterpret_cast<PyTypeObject*>(type)->tp_name : "unknown Python error";
  Object text = Object::steal(value ? PyObject_Str(value) : nullptr);
  const char* characters = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (characters && *characters) message += std::string(": ") + characters;
  PyErr_Clear();
  return message;
}

}  // namespace

PythonError::PythonError() {
  PyErr_Fetch(&type_, &value_, &traceback_);
  if (!type_) {
    Py_INCREF(PyExc_SystemError);
    type_ = PyExc_SystemError;
    value_ = new_string("a function of the bindings failed without saying why");
  }
  message_ = describe(type_, value_);
}

PythonError::PythonError(const PythonError& other) : std::exception(other), message_(other.message_) {
  AcquireGil gil;
  type_ = other.type_;
  value_ = other.value_;
  traceback_ = other.traceback_;
  Py_XINCREF(type_);
  Py_XINCREF(value_);
  Py_XINCREF(traceback_);
}

PythonError::~PythonError() {
  if (!type_ && !value_ && !traceback_) return;
  AcquireGil gil;
  Py_XDECREF(type_);
  Py_XDECREF(value_);
  Py_XDECREF(traceback_);
}

void PythonError::restore() const {
  Py_XINCREF(type_);
  Py_XINCREF(value_);
  Py_XINCREF(traceback_);
  PyErr_Restore(type_, value_, traceback_);
}

namespace {

PyObject* accelerator_error = nullptr;

void raise_accelerator_error(const c10::AcceleratorError& error) {
  const Object raised = Object::steal(PyObject_CallFunction(accelerator_error, "s", error.what()));
  const Object code = Object::steal(PyLong_FromLong(error.code()));
  if (!raised || !code || PyObject_SetAttrString(raised.get(), "error_code", code.get()) < 0) return;
  PyErr_SetObject(accelerator_error, raised.get());
}

// Torch's warnings are UserWarnings of the line that made the call.
void warn_in_python(const std::string& message) {
  const AcquireGil gil;
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0) throw PythonError();
}

}  // namespace

void register_exceptions(PyObject* module) {
  c10::set_warning_handler(&warn_in_python);
  out_of_memory_error = checked(PyErr_NewExceptionWithDoc("torch.OutOfMemoryError",
                                                          "Raised when a device has no memory left for an allocation.",
                                                          PyExc_RuntimeError, nullptr));
  Py_INCREF(out_of_memory_error);
  checked(PyModule_AddObject(module, "OutOfMemoryError", out_of_memory_error));
  accelerator_error = checked(PyErr_NewExceptionWithDoc(
      "torch.AcceleratorError", "Raised when a device's runtime fails; `error_code` is its number.", PyExc_RuntimeError,
      nullptr));
  Py_INCREF(accelerator_error);
  checked(PyModule_AddObject(module, "AcceleratorError", accelerator_error));
  linalg_error = checked(PyErr_NewExceptionWithDoc(
      "torch._C._LinAlgError", "Raised when a matrix is not what an algorithm needs: singular, not positive definite.",
      PyExc_RuntimeError, nullptr));
  Py_INCREF(linalg_error);
  checked(PyModule_AddObject(module, "_LinAlgError", linalg_error));
}

void translate_exception() noexcept {
  try {
    throw;
  } catch (const PythonError& error) {
    error.restore();
  } catch (const c10::IndexError& error) {
    PyErr_SetString(PyExc_IndexError, error.what());
  } catch (const c10::ValueError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const c10::TypeError& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const c10::NotImplementedError& error) {
    PyErr_SetString(PyExc_NotImplementedError, error.what());
  } catch (const c10::LinAlgError& error) {
    PyErr_SetString(linalg_error ? linalg_error : PyExc_RuntimeError, error.what());
  } catch (const c10::AcceleratorError& error) {
    raise_accelerator_error(error);
  } catch (const c10::OutOfMemoryError& error) {
    PyErr_SetString(out_of_memory_error ? out_of_memory_error : PyExc_RuntimeError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "a C++ exception of an unknown type reached Python");
  }
}

void raise(PyObject* exception_type, const std::string& message) {
  PyErr_SetString(exception_type, message.c_str());
  throw PythonError();
}

void add_type(PyObject* module, PyTypeObject& type, const char* name) {
  checked(PyType_Ready(&type));
  Py_INCREF(&type);
  checked(PyModule_AddObject(module, name, reinterpret_cast<PyObject*>(&type)));
}

}  // namespace torch::python
