// torch.return_types: named tuples.

#include <torch/csrc/utils/calls.h>

#include <structmember.h>

#include <string>

namespace torch::python {

namespace {

// As PyTorch prints them: one field per line.
PyObject* return_type_repr(PyObject* self) {
  return guarded([&]() -> PyObject* {
    std::string text = std::string(Py_TYPE(self)->tp_name) + "(\n";
    const Py_ssize_t count = PyTuple_GET_SIZE(self);
    const PyMemberDef* members = Py_TYPE(self)->tp_members;
    for (Py_ssize_t index = 0; index < count; ++index) {
      const Object item = Object::steal(checked(PyObject_Repr(PyStructSequence_GetItem(self, index))));
      const char* item_text = PyUnicode_AsUTF8(item.get());
      if (!item_text) throw PythonError();
      text += std::string(members[index].name) + "=" + item_text + (index + 1 < count ? ",\n" : ")");
    }
    return new_string(text);
  });
}

}  // namespace

PyTypeObject* make_return_type(PyObject* types, const char* name, const char* full_name, PyStructSequence_Field* fields,
                               int count) {
  PyStructSequence_Desc description = {full_name, "The named results of an operator.", fields, count};
  PyTypeObject* type = PyStructSequence_NewType(&description);
  if (!type) throw PythonError();
  type->tp_repr = return_type_repr;
  PyType_Modified(type);
  checked(PyDict_SetItemString(types, name, reinterpret_cast<PyObject*>(type)));
  return type;
}

}  // namespace torch::python
