// torch.dtype, torch.layout and torch.memory_format: a few immortal objects each.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <algorithm>
#include <array>
#include <string>

namespace torch::python {

namespace {

std::array<PyObject*, c10::kScalarTypes> dtype_objects{};
std::array<PyObject*, 4> memory_format_objects{};
// By c10::Layout.
std::array<PyObject*, 4> layout_objects{};

const c10::TypeFacts& facts_of(PyObject* self) {
  return *reinterpret_cast<DtypeObject*>(self)->facts;
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

// Integers of fewer bits than 8, pairs of floating numbers of 4, and quantized types, by the names that programs
// compare with.
constexpr c10::TypeFacts only_named(const char* enumerator, const char* name, c10::TypeKind kind, int8_t size,
                                    bool is_signed = true) {
  return {kOnlyNamed, kind, is_signed, true, true, false, size, 0, 0, enumerator, name, "", "", "", ""};
}
constexpr c10::TypeFacts kOnlyNamedTypes[] = {
    only_named("ComplexHalf", "complex32", c10::TypeKind::Complex, 4),
    only_named("Float4_e2m1fn_x2", "float4_e2m1fn_x2", c10::TypeKind::Floating, 1),
    only_named("QInt8", "qint8", c10::TypeKind::Integral, 1),
    only_named("QUInt8", "quint8", c10::TypeKind::Integral, 1),
    only_named("QInt32", "qint32", c10::TypeKind::Integral, 4),
    only_named("QUInt4x2", "quint4x2", c10::TypeKind::Integral, 1),
    only_named("QUInt2x4", "quint2x4", c10::TypeKind::Integral, 1),
    only_named("Bits1x8", "bits1x8", c10::TypeKind::Integral, 1),
    only_named("Bits2x4", "bits2x4", c10::TypeKind::Integral, 1),
    only_named("Bits4x2", "bits4x2", c10::TypeKind::Integral, 1),
    only_named("Bits8", "bits8", c10::TypeKind::Integral, 1),
    only_named("Bits16", "bits16", c10::TypeKind::Integral, 2),
#define AT_NAME_SMALL_INTEGER(bits)                                                 \
  only_named("Int" #bits, "int" #bits, c10::TypeKind::Integral, 1),                 \
      only_named("UInt" #bits, "uint" #bits, c10::TypeKind::Integral, 1, false),
    AT_NAME_SMALL_INTEGER(1)
    AT_NAME_SMALL_INTEGER(2)
    AT_NAME_SMALL_INTEGER(3)
    AT_NAME_SMALL_INTEGER(4)
    AT_NAME_SMALL_INTEGER(5)
    AT_NAME_SMALL_INTEGER(6)
    AT_NAME_SMALL_INTEGER(7)
#undef AT_NAME_SMALL_INTEGER
};

PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
    {"to_real", dtype_to_real, METH_NOARGS,
     TORCH_SIGNATURE("to_real($self)") "The dtype of its parts, if it is complex."},
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

const char* layout_name(PyObject* self) { return reinterpret_cast<LayoutObject*>(self)->name; }
PyObject* layout_repr(PyObject* self) { return new_string(std::string("torch.") + layout_name(self)); }
PyObject* layout_reduce(PyObject* self, PyObject*) { return new_string(layout_name(self)); }
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
    case c10::MemoryFormat::Contiguous: return "contiguous_format";
    case c10::MemoryFormat::Preserve: return "preserve_format";
    case c10::MemoryFormat::ChannelsLast: return "channels_last";
    case c10::MemoryFormat::ChannelsLast3d: return "channels_last_3d";
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
PyTypeObject LayoutType = plain_type(
    "torch.layout", sizeof(LayoutObject), layout_repr, layout_methods, layout_properties,
    "How a tensor holds its elements: torch.strided, torch.sparse_coo, torch.sparse_csr or torch.sparse_csc.");
PyTypeObject MemoryFormatType =
    plain_type("torch.memory_format", sizeof(MemoryFormatObject), memory_format_repr, memory_format_methods,
               layout_properties, "The order of a tensor's dimensions in memory.");

PyObject* new_memory_format(c10::MemoryFormat value) {
  PyObject* object = memory_format_objects.at(static_cast<size_t>(value));
  Py_INCREF(object);
  return object;
}

PyObject* new_dtype(c10::ScalarType value) {
  PyObject* object = dtype_objects.at(static_cast<size_t>(value));
  if (!object) raise(PyExc_SystemError, "an element type without a dtype object");
  Py_INCREF(object);
  return object;
}

PyObject* new_layout(c10::Layout value) {
  PyObject* object = layout_objects.at(static_cast<size_t>(value));
  Py_INCREF(object);
  return object;
}

c10::Layout to_layout(PyObject* object) {
  const auto found = std::find(layout_objects.begin(), layout_objects.end(), object);
  if (found != layout_objects.end()) return static_cast<c10::Layout>(found - layout_objects.begin());
  raise(PyExc_NotImplementedError,
        std::string("there are no tensors of layout torch.") + layout_name(object) + " here");
}

bool is_dtype_like(PyObject* object) {
  return Py_TYPE(object) == &DtypeType || object == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         object == reinterpret_cast<PyObject*>(&PyLong_Type) || object == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         object == reinterpret_cast<PyObject*>(&PyComplex_Type);
}

c10::ScalarType to_dtype(PyObject* object) {
  if (Py_TYPE(object) == &DtypeType) {
    const c10::ScalarType value = reinterpret_cast<DtypeObject*>(object)->value;
    if (value != kOnlyNamed) return value;
    raise(PyExc_NotImplementedError, std::string("there are no tensors of torch.") + facts_of(object).name + " here");
  }
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
    reinterpret_cast<DtypeObject*>(object)->facts = &facts;
    dtype_objects.at(static_cast<size_t>(facts.type)) = object;
    add_value(names.get(), facts.name, object);
    if (*facts.second_name) add_value(names.get(), facts.second_name, object);
  }
  checked(PyModule_AddObject(module, "_dtypes", names.release()));
  Object only_named = Object::steal(checked(PyModule_New("torch._C._named_dtypes")));
  for (const c10::TypeFacts& facts : kOnlyNamedTypes) {
    PyObject* object = checked(DtypeType.tp_alloc(&DtypeType, 0));
    reinterpret_cast<DtypeObject*>(object)->value = kOnlyNamed;
    reinterpret_cast<DtypeObject*>(object)->facts = &facts;
    checked(PyModule_AddObject(only_named.get(), facts.name, object));
  }
  checked(PyModule_AddObject(module, "_named_dtypes", only_named.release()));
}

void register_layout(PyObject* module) {
  add_type(module, LayoutType, "layout");
  // In the order of c10::Layout; of the last three there are no tensors.
  auto next = layout_objects.begin();
  for (const char* name : {"strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"}) {
    PyObject* object = checked(LayoutType.tp_alloc(&LayoutType, 0));
    reinterpret_cast<LayoutObject*>(object)->name = name;
    if (next != layout_objects.end()) *next++ = object;
    add_value(module, name, object);
  }
  add_type(module, MemoryFormatType, "memory_format");
  for (const c10::MemoryFormat value : {c10::MemoryFormat::Contiguous, c10::MemoryFormat::Preserve,
                                        c10::MemoryFormat::ChannelsLast, c10::MemoryFormat::ChannelsLast3d}) {
    PyObject* object = checked(MemoryFormatType.tp_alloc(&MemoryFormatType, 0));
    reinterpret_cast<MemoryFormatObject*>(object)->value = value;
    memory_format_objects.at(static_cast<size_t>(value)) = object;
    add_value(module, memory_format_name(object), object);
  }
}

}  // namespace torch::python
