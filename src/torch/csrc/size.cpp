// torch.Size: a tuple of ints that knows how many elements it describes.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <string>

namespace torch::python {

namespace {

// Takes over a tuple and returns it as a Size.
PyObject* as_size(Object tuple) {
  const Py_ssize_t count = PyTuple_GET_SIZE(tuple.get());
  PyObject* size = checked(SizeType.tp_alloc(&SizeType, count));
  for (Py_ssize_t index = 0; index < count; ++index) {
    PyObject* item = PyTuple_GET_ITEM(tuple.get(), index);
    Py_INCREF(item);
    PyTuple_SET_ITEM(size, index, item);
  }
  return size;
}

PyObject* size_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    Object self = Object::steal(checked(PyTuple_Type.tp_new(type, arguments, keywords)));
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(self.get()); ++index) {
      PyObject* item = PyTuple_GET_ITEM(self.get(), index);
      if (PyLong_Check(item)) continue;
      if (!is_integer(item)) {
        raise(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item " + std::to_string(index) + " is '" +
                                   type_name(item) + "')");
      }
      PyTuple_SET_ITEM(self.get(), index, checked(PyLong_FromLongLong(to_integer(item))));
      Py_DECREF(item);
    }
    return self.release();
  });
}

PyObject* size_repr(PyObject* self) {
  std::string text = "torch.Size([";
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(self); ++index) {
    text += (index ? ", " : "") + std::to_string(PyLong_AsLongLong(PyTuple_GET_ITEM(self, index)));
  }
  return new_string(text + "])");
}

PyObject* size_concat(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    if (!PyTuple_Check(self) || !PyTuple_Check(other)) Py_RETURN_NOTIMPLEMENTED;
    Object joined = Object::steal(checked(PyTuple_Type.tp_as_sequence->sq_concat(self, other)));
    if (PyObject_TypeCheck(joined.get(), &SizeType)) return joined.release();
    return as_size(std::move(joined));
  });
}

PyObject* size_repeat(PyObject* self, Py_ssize_t times) {
  return guarded([&] { return as_size(Object::steal(checked(PyTuple_Type.tp_as_sequence->sq_repeat(self, times)))); });
}

PyObject* size_subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    Object item = Object::steal(checked(PyTuple_Type.tp_as_mapping->mp_subscript(self, key)));
    return PySlice_Check(key) ? as_size(std::move(item)) : item.release();
  });
}

PyObject* size_numel(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    int64_t count = 1;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(self); ++index) {
      count *= to_integer(PyTuple_GET_ITEM(self, index));
    }
    return PyLong_FromLongLong(count);
  });
}

PyObject* size_reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Object plain = Object::steal(checked(PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self))));
    // A slice over everything may be the same object: pickle must see a plain tuple.
    Object list = Object::steal(checked(PySequence_List(plain.get())));
    Object tuple = Object::steal(checked(PyList_AsTuple(list.get())));
    return Py_BuildValue("O(O)", &SizeType, tuple.get());
  });
}

PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "numel()\n--\n\nThe product of the sizes: how many elements such a tensor has."},
    {"__reduce__", size_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyTypeObject make_type() {
  static PySequenceMethods sequence = {};
  sequence.sq_concat = size_concat;
  sequence.sq_repeat = size_repeat;
  static PyMappingMethods mapping = {};
  mapping.mp_subscript = size_subscript;
  // torch.Size + tuple and tuple + torch.Size: the number slot is asked first, whichever side is ours.
  static PyNumberMethods number = {};
  number.nb_add = size_concat;
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch.Size";
  type.tp_basicsize = sizeof(PyTupleObject) - sizeof(PyObject*);
  type.tp_itemsize = sizeof(PyObject*);
  type.tp_repr = size_repr;
  type.tp_as_number = &number;
  type.tp_as_sequence = &sequence;
  type.tp_as_mapping = &mapping;
  type.tp_methods = size_methods;
  type.tp_new = size_new;
  type.tp_base = &PyTuple_Type;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = "The shape of a tensor: a tuple of ints.";
  return type;
}

}  // namespace

PyTypeObject SizeType = make_type();

PyObject* new_size(c10::IntArrayRef sizes) {
  PyObject* object = checked(SizeType.tp_alloc(&SizeType, static_cast<Py_ssize_t>(sizes.size())));
  for (size_t index = 0; index < sizes.size(); ++index) {
    PyTuple_SET_ITEM(object, static_cast<Py_ssize_t>(index), checked(PyLong_FromLongLong(sizes[index])));
  }
  return object;
}

void register_size(PyObject* module) { add_type(module, SizeType, "Size"); }

}  // namespace torch::python
