// Attributes of torch.nn.Module: what lies in `_parameters`, `_buffers` and `_modules` is found at the cost of an
// ordinary attribute.
//
// In a class with `__getattr__`, each attribute that is no ordinary one first makes an AttributeError with its text,
// and then calls a function of Python: half of what a small layer costs. Classes that are given member_of() look by
// themselves, and ask `__getattr__` for the rest. When that is assigned to a class, or to one that it comes from, the
// interpreter puts its own way back.

#include <torch/csrc/utils/module_members.h>

#include <torch/csrc/exceptions.h>

#include <iterator>

namespace torch::python {

namespace {

PyObject* store_names[3];
PyObject* getattr_name = nullptr;
PyObject* getattribute_name = nullptr;
PyObject* original = nullptr;  // Module.__getattr__

PyObject* member_of(PyObject* self, PyObject* name) {
  // Null without an error where there is no such attribute, or a property raised AttributeError.
  PyObject* found = _PyObject_GenericGetAttrWithDict(self, name, nullptr, /*suppress=*/1);
  if (found || PyErr_Occurred()) return found;
  return guarded([&]() -> PyObject* {
    const Object own = Object::steal(checked(PyObject_GenericGetDict(self, nullptr)));
    for (PyObject* store_name : store_names) {
      PyObject* store = PyDict_GetItemWithError(own.get(), store_name);
      if (!store || !PyDict_CheckExact(store)) break;  // not yet initialised, or a class that looks by itself
      if (PyObject* value = PyDict_GetItemWithError(store, name)) {
        Py_INCREF(value);
        return value;
      }
    }
    if (PyErr_Occurred()) throw PythonError();
    return checked(PyObject_CallMethodOneArg(self, getattr_name, name));
  });
}

void give_to(PyTypeObject* type) {
  const bool is_ordinary =
      _PyType_Lookup(type, getattribute_name) == _PyType_Lookup(&PyBaseObject_Type, getattribute_name);
  if (is_ordinary && _PyType_Lookup(type, getattr_name) == original) {
    type->tp_getattro = member_of;
    PyType_Modified(type);
  }
  const Object subclasses = Object::steal(
      checked(PyObject_CallMethod(reinterpret_cast<PyObject*>(type), "__subclasses__", nullptr)));
  for (Py_ssize_t index = 0; index < PyList_GET_SIZE(subclasses.get()); ++index) {
    give_to(reinterpret_cast<PyTypeObject*>(PyList_GET_ITEM(subclasses.get(), index)));
  }
}

PyObject* look_up_members(PyObject*, PyObject* type) {
  return guarded([&]() -> PyObject* {
    if (!PyType_Check(type)) raise(PyExc_TypeError, "_look_up_members takes a class");
    // The first is Module itself.
    if (!original) original = checked(PyObject_GetAttr(type, getattr_name));
    give_to(reinterpret_cast<PyTypeObject*>(type));
    return new_none();
  });
}

PyMethodDef functions[] = {
    {"_look_up_members", look_up_members, METH_O,
     "Has torch.nn.Module, or a class made of it, and its subclasses find parameters, buffers and modules fast."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void register_module_members(PyObject* module) {
  const char* const names[] = {"_parameters", "_buffers", "_modules"};
  for (size_t index = 0; index < std::size(names); ++index) {
    store_names[index] = checked(PyUnicode_InternFromString(names[index]));
  }
  getattr_name = checked(PyUnicode_InternFromString("__getattr__"));
  getattribute_name = checked(PyUnicode_InternFromString("__getattribute__"));
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
