// torch.dtype, torch.layout and torch.memory_format: a few immortal objects each.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <array>
#include <string>

namespace torch::python {

namespace {

std::array<PyObject*, c10::kScalarTypes> dtype_objects{};
PyObject* strided_object = nullptr;

const c10::TypeFacts& facts_of(PyObject* self) {
  return c10::type_facts(reinterpret_cast<DtypeObject*>(self)->value);
}

PyObject* dtype_repr(PyObject* self) { return new_string(std::string("torch.") + facts_of(self).name); }
// pickle: the name of an attribute of the module that __module__ names.
PyObject* dtype_reduce(PyObject* self, PyObject*) { return new_string(facts_of(self).name); }
PyObject* dtype_module(PyObject*, void*) { return new_string("torch"); }
PyObject* dtype_itemsize(PyObject* self, void*) { return PyLong_FromLong(facts_of(self).size); }
PyObject* dtype_is_floating_point(PyObject* self, void*) {
  return new_bool(facts_of(self).kind == c10::TypeKind::Floating);
}
PyObject* dtype_is_complex(PyObject* self, void*) {
  return new_bool(facts_of(self).kind == c10::TypeKind::Complex);
}
PyObject* convert_dtype(PyObject* self, c10::ScalarType (*convert)(c10::ScalarType)) {
  return guarded([&] { return new_dtype(convert(facts_of(self).type)); });
}
PyObject* dtype_to_real(PyObject* self, PyObject*) { return convert_dtype(self, c10::real_type); }
PyObject* dtype_to_complex(PyObject* self, PyObject*) { return convert_dtype(self, c10::complex_type); }
PyObject* dtype_is_signed(PyObject* self, void*) { return new_bool(facts_of(self).is_signed); }
PyObject* dtype_type_name(PyObject* self, void*) { return new_string(facts_of(self).enumerator); }
PyObject* dtype_digits(PyObject* self, void*) { return PyLong_FromLong(facts_of(self).digits); }
PyObject* dtype_max_exponent(PyObject* self, void*) { return PyLong_FromLong(facts_of(self).max_exponent); }

PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
    {"to_real", dtype_to_real, METH_NOARGS, TORCH_SIGNATURE("to_real($self)") "The dtype of its parts, if it is complex."},
    {"to_complex", dtype_to_complex, METH_NOARGS,
     TORCH_SIGNATURE("to_complex($self)") "The complex dtype with such parts, if it is floating."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef dtype_properties[] = {
    {"__module__", dtype_module, nullptr, nullptr, nullptr},
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"is_floating_point", dtype_is_floating_point, nullptr, "Whether it holds fractions.", nullptr},
    {"is_complex", dtype_is_complex, nullptr, "Whether it holds complex numbers.", nullptr},
    {"is_signed", dtype_is_signed, nullptr, "Whether it holds negative numbers.", nullptr},
    {"_type_name", dtype_type_name, nullptr, "'Float': as storages and tensor types are named.", nullptr},
    {"_digits", dtype_digits, nullptr, "Bits of the fraction and one more; of an integer, without the sign.", nullptr},
    {"_max_exponent", dtype_max_exponent, nullptr, "Floating numbers are below 2 to this.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyObject* layout_repr(PyObject*) { return new_string("torch.strided"); }
PyObject* layout_reduce(PyObject*, PyObject*) { return new_string("strided"); }
PyMethodDef layout_methods[] = {
    {"__reduce__", layout_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef layout_properties[] = {
    {"__module__", dtype_module, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

const char* memory_format_name(PyObject* self) {
  switch (reinterpret_cast<MemoryFormatObject*>(self)->value) {
    case MemoryFormatValue::Contiguous: return "contiguous_format";
    case MemoryFormatValue::Preserve: return "preserve_format";
    case MemoryFormatValue::ChannelsLast: return "channels_last";
  }
  return "?";
}
PyObject* memory_format_repr(PyObject* self) { return new_string(std::string("torch.") + memory_format_name(self)); }
PyObject* memory_format_reduce(PyObject* self, PyObject*) { return new_string(memory_format_name(self)); }
PyMethodDef memory_format_methods[] = {
    {"__reduce__", memory_format_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyTypeObject plain_type(const char* name, Py_ssize_t size, reprfunc repr, PyMethodDef* methods, PyGetSetDef* properties,
                        const char* documentation) {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = name;
  type.tp_basicsize = size;
  type.tp_repr = repr;
  type.tp_methods = methods;
  type.tp_getset = properties;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = documentation;
  return type;
}

void add_value(PyObject* module, const char* name, PyObject* value) {
  Py_INCREF(value);
  checked(PyModule_AddObject(module, name, value));
}

}  // namespace

PyTypeObject DtypeType = plain_type("torch.dtype", sizeof(DtypeObject), dtype_repr, dtype_methods, dtype_properties,
                                    "The type of a tensor's elements, such as torch.float32.");
PyTypeObject LayoutType = plain_type("torch.layout", sizeof(LayoutObject), layout_repr, layout_methods,
                                     layout_properties, "How a tensor lies in memory: torch.strided.");
PyTypeObject MemoryFormatType =
    plain_type("torch.memory_format", sizeof(MemoryFormatObject), memory_format_repr, memory_format_methods,
               layout_properties, "The order of a tensor's dimensions in memory.");

PyObject* new_dtype(c10::ScalarType value) {
  PyObject* object = dtype_objects.at(static_cast<size_t>(value));
  if (!object) raise(PyExc_SystemError, "an element type without a dtype object");
  Py_INCREF(object);
  return object;
}

PyObject* new_layout(c10::Layout) {
  Py_INCREF(strided_object);
  return strided_object;
}

bool is_dtype_like(PyObject* object) {
  return Py_TYPE(object) == &DtypeType || object == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         object == reinterpret_cast<PyObject*>(&PyLong_Type) || object == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         object == reinterpret_cast<PyObject*>(&PyComplex_Type);
}

c10::ScalarType to_dtype(PyObject* object) {
  if (Py_TYPE(object) == &DtypeType) return reinterpret_cast<DtypeObject*>(object)->value;
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return c10::kDouble;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return c10::kLong;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return c10::kBool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return c10::kComplexDouble;
  raise(PyExc_TypeError, "dtype must be torch.dtype, not " + type_name(object));
}

void register_dtype(PyObject* module) {
  add_type(module, DtypeType, "dtype");
  // Every name of every dtype, second names included, as attributes of one object.
  Object names = Object::steal(checked(PyModule_New("torch._C._dtypes")));
  for (const c10::TypeFacts& facts : c10::all_scalar_types()) {
    PyObject* object = checked(DtypeType.tp_alloc(&DtypeType, 0));
    reinterpret_cast<DtypeObject*>(object)->value = facts.type;
    dtype_objects.at(static_cast<size_t>(facts.type)) = object;
    add_value(names.get(), facts.name, object);
    if (*facts.second_name) add_value(names.get(), facts.second_name, object);
  }
  checked(PyModule_AddObject(module, "_dtypes", names.release()));
}

void register_layout(PyObject* module) {
  add_type(module, LayoutType, "layout");
  strided_object = checked(LayoutType.tp_alloc(&LayoutType, 0));
  reinterpret_cast<LayoutObject*>(strided_object)->value = c10::kStrided;
  add_value(module, "strided", strided_object);
  add_type(module, MemoryFormatType, "memory_format");
  for (const MemoryFormatValue value :
       {MemoryFormatValue::Contiguous, MemoryFormatValue::Preserve, MemoryFormatValue::ChannelsLast}) {
    PyObject* object = checked(MemoryFormatType.tp_alloc(&MemoryFormatType, 0));
    reinterpret_cast<MemoryFormatObject*>(object)->value = value;
    checked(PyModule_AddObject(module, memory_format_name(object), object));
  }
}

}  // namespace torch::python
