#pragma once
// `__torch_function__`: an argument's class, or an active mode, may answer for a function of torch.
//
// Every function and method of ours asks is_overridden() first, which for plain tensors and numbers is a comparison of
// types, and hands an overridden call to call_override(). Classes opt out with _disabled_torch_function_impl.

#include <torch/csrc/autograd/python_variable.h>

#include <c10/macros/Export.h>

namespace torch::python {

// What a thread lets classes answer.
enum class Overrides : uint8_t { All, ModesOnly, None };

// How many modes are active, on all threads together: 0 almost always.
extern int active_modes;

// Whether a mode of this thread answers, which is asked only if there is one somewhere.
bool mode_answers();
// The same for a value's class; `value` is neither a plain tensor nor a plain number.
bool class_answers(PyObject* value);
// Whether a list or tuple holds such a value.
bool list_answers(PyObject* list);

// Types that have nothing to say: asked of every argument, so it only compares pointers.
inline bool is_plain_type(PyTypeObject* type) {
  return type == tensor_class || type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type ||
         type == Py_TYPE(Py_None) || type == &PyUnicode_Type;
}

inline bool value_answers(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  if (is_plain_type(type)) return false;
  if (PyTuple_Check(value) || PyList_Check(value)) return list_answers(value);
  return class_answers(value);
}

inline bool is_overridden(PyObject* value) {
  return C10_UNLIKELY(active_modes != 0 && mode_answers()) || C10_UNLIKELY(value_answers(value));
}
inline bool is_overridden(PyObject* one, PyObject* two) {
  return C10_UNLIKELY(active_modes != 0 && mode_answers()) || C10_UNLIKELY(value_answers(one) || value_answers(two));
}
inline bool is_overridden(PyObject* const* values, Py_ssize_t count) {
  if (C10_UNLIKELY(active_modes != 0 && mode_answers())) return true;
  for (Py_ssize_t index = 0; index < count; ++index) {
    if (C10_UNLIKELY(value_answers(values[index]))) return true;
  }
  return false;
}

// Asks the mode, then the classes of `relevant` (a tuple: its values, and those of lists in it), subclasses first, for
// `function(*arguments, **keywords)`. A new reference; NotImplemented if none of them knows; throws PythonError.
PyObject* ask_overrides(PyObject* function, PyObject* relevant, PyObject* arguments, PyObject* keywords);

// The same for a call in the vector convention of attribute `name` of `owner`, which `self` (null for functions)
// precedes. TypeError if nobody knows.
PyObject* call_override(PyObject* owner, const char* name, PyObject* self, PyObject* const* values, Py_ssize_t count,
                        PyObject* keyword_names);
// A method of TensorBase with few arguments; NotImplemented if nobody knows.
PyObject* ask_method(const char* name, PyObject* self, PyObject* argument = nullptr, PyObject* second = nullptr);
// The same; TypeError if nobody knows.
PyObject* call_method_override(const char* name, PyObject* self, PyObject* argument = nullptr,
                               PyObject* second = nullptr);
// The getter, setter (`value` given) or deleter of a property.
PyObject* call_property_override(const char* name, PyObject* self, PyObject* value, bool is_write);

extern PyMethodDef override_functions[];
void register_overrides(PyObject* module);

}  // namespace torch::python
