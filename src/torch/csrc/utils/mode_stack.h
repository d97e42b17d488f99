#pragma once
// The modes of one thread that answer for functions (utils/overrides.h) or for operators (utils/python_dispatch.h).

#include <torch/csrc/exceptions.h>

#include <vector>

namespace torch::python {

// Strong references, the innermost last. A thread that ends inside a mode loses them: it has no GIL then.
class ModeStack {
 public:
  bool empty() const { return !modes_ || modes_->empty(); }
  size_t size() const { return modes_ ? modes_->size() : 0; }
  PyObject* top() const { return modes_->back(); }
  // Takes the reference over.
  void push(PyObject* mode) {
    if (!modes_) modes_ = new std::vector<PyObject*>();
    modes_->push_back(mode);
  }
  // Gives the reference out. Throws IndexError where there is none.
  PyObject* pop() {
    if (empty()) raise(PyExc_IndexError, "no mode is active");
    PyObject* mode = top();
    modes_->pop_back();
    return mode;
  }
  // The one at a place that Python names, 0 being the outermost: a new reference. Throws IndexError.
  PyObject* at(PyObject* position) const {
    const Py_ssize_t index = PyLong_AsSsize_t(position);
    if (index == -1 && PyErr_Occurred()) throw PythonError();
    if (index < 0 || static_cast<size_t>(index) >= size()) raise(PyExc_IndexError, "there are fewer modes");
    PyObject* mode = (*modes_)[static_cast<size_t>(index)];
    Py_INCREF(mode);
    return mode;
  }

 private:
  std::vector<PyObject*>* modes_ = nullptr;
};

}  // namespace torch::python
