// torch.dtype, torch.layout and torch.memory_format: a few immortal objects each.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <array>
#include <string>
#include <tuple>

namespace torch::python {

namespace {

std::array<PyObject*, 32> dtype_objects{};
PyObject* strided_object = nullptr;

const DtypeObject& as_dtype(PyObject* self) { return *reinterpret_cast<DtypeObject*>(self); }

PyObject* dtype_repr(PyObject* self) { return new_string(std::string("torch.") + as_dtype(self).name); }
// pickle: the name of an attribute of the module that __module__ names.
PyObject* dtype_reduce(PyObject* self, PyObject*) { return new_string(as_dtype(self).name); }
PyObject* dtype_module(PyObject*, void*) { return new_string("torch"); }
PyObject* dtype_itemsize(PyObject* self, void*) { return PyLong_FromLong(as_dtype(self).itemsize); }
PyObject* dtype_is_floating_point(PyObject* self, void*) { return new_bool(as_dtype(self).is_floating_point); }
PyObject* dtype_is_complex(PyObject*, void*) { return new_bool(false); }
PyObject* dtype_is_signed(PyObject* self, void*) { return new_bool(as_dtype(self).is_signed); }

PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef dtype_properties[] = {
    {"__module__", dtype_module, nullptr, nullptr, nullptr},
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"is_floating_point", dtype_is_floating_point, nullptr, "Whether it holds fractions.", nullptr},
    {"is_complex", dtype_is_complex, nullptr, "False: there are no complex types yet.", nullptr},
    {"is_signed", dtype_is_signed, nullptr, "Whether it holds negative numbers.", nullptr},
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
         object == reinterpret_cast<PyObject*>(&PyLong_Type) || object == reinterpret_cast<PyObject*>(&PyBool_Type);
}

c10::ScalarType to_dtype(PyObject* object) {
  if (Py_TYPE(object) == &DtypeType) {
    const DtypeObject& dtype = as_dtype(object);
    if (dtype.value == c10::ScalarType::Undefined) {
      raise(PyExc_NotImplementedError, std::string("tensors of dtype torch.") + dtype.name +
                                           " are not supported yet; use float32, float64, int64, int32, uint8 or bool");
    }
    return dtype.value;
  }
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return c10::get_default_dtype();
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return c10::kLong;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return c10::kBool;
  raise(PyExc_TypeError, "dtype must be torch.dtype, not " + type_name(object));
}

void register_dtype(PyObject* module) {
  add_type(module, DtypeType, "dtype");
  constexpr c10::ScalarType values[] = {
#define TORCH_DTYPE_VALUE(cpp_type, name) c10::ScalarType::name,
      C10_FORALL_SCALAR_TYPES(TORCH_DTYPE_VALUE)
#undef TORCH_DTYPE_VALUE
  };
  const auto add = [module](const DtypeObject& facts) {
    PyObject* object = checked(DtypeType.tp_alloc(&DtypeType, 0));
    auto* dtype = reinterpret_cast<DtypeObject*>(object);
    dtype->value = facts.value;
    dtype->name = facts.name;
    dtype->itemsize = facts.itemsize;
    dtype->is_floating_point = facts.is_floating_point;
    dtype->is_signed = facts.is_signed;
    add_value(module, facts.name, object);
    return object;
  };
  for (const c10::ScalarType value : values) {
    DtypeObject facts{};
    facts.value = value;
    facts.name = c10::dtype_name(value);
    facts.itemsize = static_cast<int>(c10::element_size(value));
    facts.is_floating_point = c10::is_floating_type(value);
    facts.is_signed = c10::is_signed_type(value);
    dtype_objects.at(static_cast<size_t>(value)) = add(facts);
  }
  for (const auto& [name, size, is_floating] :
       {std::tuple{"int8", 1, false}, {"int16", 2, false}, {"float16", 2, true}, {"bfloat16", 2, true}}) {
    DtypeObject facts{};
    facts.value = c10::ScalarType::Undefined;
    facts.name = name;
    facts.itemsize = size;
    facts.is_floating_point = is_floating;
    facts.is_signed = true;
    add(facts);
  }
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
