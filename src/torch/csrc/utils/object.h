#pragma once
// Owning references to Python objects, and the GIL as a scope.

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <c10/macros/Export.h>

#include <string>
#include <string_view>
#include <utility>

namespace torch::python {

// One strong reference, given back when the scope ends. Needs the GIL wherever it is copied or dies.
class Object {
 public:
  Object() = default;
  // Takes over a new reference, as most C API calls return it.
  static Object steal(PyObject* object) { return Object(object); }
  static Object borrow(PyObject* object) {
    Py_XINCREF(object);
    return Object(object);
  }
  Object(const Object& other) : object_(other.object_) { Py_XINCREF(object_); }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Object(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// Holds the GIL; works on any thread and nests.
class AcquireGil {
 public:
  AcquireGil() : state_(PyGILState_Ensure()) {}
  ~AcquireGil() { PyGILState_Release(state_); }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Lets other Python threads run while C++ works. `worth_it` false: does nothing, since a release and re-acquire cost as
// much as a small operator does.
class ReleaseGil {
 public:
  explicit ReleaseGil(bool worth_it = true) : state_(worth_it ? PyEval_SaveThread() : nullptr) {}
  ~ReleaseGil() {
    if (state_) PyEval_RestoreThread(state_);
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};

inline PyObject* new_none() {
  Py_INCREF(Py_None);
  return Py_None;
}
inline PyObject* new_bool(bool value) { return PyBool_FromLong(value); }
inline PyObject* new_string(std::string_view text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}
// The object's type as error messages name it: "str", "torch.dtype", "numpy.ndarray".
inline std::string type_name(PyObject* object) { return Py_TYPE(object)->tp_name; }

// The C API wants plain C function pointers of one type; METH_FASTCALL | METH_KEYWORDS functions have another.
template <typename Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
constexpr int kFastMethod = METH_FASTCALL | METH_KEYWORDS;

// Adds a static type to the module under its last name part. Throws PythonError.
void add_type(PyObject* module, PyTypeObject& type, const char* name);

}  // namespace torch::python
