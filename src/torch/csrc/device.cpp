// torch.device.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <c10/core/Backend.h>

#include <new>
#include <string>
#include <vector>

namespace torch::python {

namespace {

// The default device under those of the `with` blocks around it, which the innermost one hides.
thread_local std::optional<c10::Device> lasting_default;
thread_local std::vector<c10::Device> entered;

const c10::Device& value_of(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->value; }

PyObject* device_new(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"type", "index", nullptr};
    PyObject* type = nullptr;
    PyObject* index = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:device", const_cast<char**>(names), &type, &index)) {
      return nullptr;
    }
    if (!is_device_like(type)) {
      raise(PyExc_TypeError, "device(): argument 'type' (position 1) must be str, not " + type_name(type));
    }
    c10::Device device = to_device(type);
    if (index == Py_None) return new_device(device);
    if (!PyUnicode_Check(type)) raise(PyExc_TypeError, "device(): an index goes with a type given as str");
    if (!is_integer(index)) {
      raise(PyExc_TypeError, "device(): argument 'index' (position 2) must be int, not " + type_name(index));
    }
    if (device.has_index()) {
      raise(PyExc_RuntimeError, "type (string) must not include an index because index was passed explicitly: " +
                                    device.str());
    }
    const int64_t number = to_integer(index);
    if (number < 0 || number > 127) raise(PyExc_RuntimeError, "Device index must not be negative or above 127");
    return new_device(c10::Device(device.type(), static_cast<c10::DeviceIndex>(number)));
  });
}

void device_dealloc(PyObject* self) { Py_TYPE(self)->tp_free(self); }

PyObject* device_repr(PyObject* self) {
  const c10::Device& device = value_of(self);
  std::string text = std::string("device(type='") + c10::device_type_name(device.type()) + "'";
  if (device.has_index()) text += ", index=" + std::to_string(device.index());
  return new_string(text + ")");
}

PyObject* device_str(PyObject* self) { return new_string(value_of(self).str()); }

Py_hash_t device_hash(PyObject* self) {
  return (static_cast<Py_hash_t>(value_of(self).type()) << 8) + value_of(self).index() + 2;
}

PyObject* device_compare(PyObject* self, PyObject* other, int operation) {
  if (!PyObject_TypeCheck(other, &DeviceTypeObject) || (operation != Py_EQ && operation != Py_NE)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return new_bool((value_of(self) == value_of(other)) == (operation == Py_EQ));
}

PyObject* device_type(PyObject* self, void*) { return new_string(c10::device_type_name(value_of(self).type())); }
PyObject* device_index(PyObject* self, void*) {
  return value_of(self).has_index() ? PyLong_FromLong(value_of(self).index()) : new_none();
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  const c10::Device& device = value_of(self);
  const char* type = c10::device_type_name(device.type());
  if (device.has_index()) return Py_BuildValue("O(si)", &DeviceTypeObject, type, static_cast<int>(device.index()));
  return Py_BuildValue("O(s)", &DeviceTypeObject, type);
}

PyObject* device_enter(PyObject* self, PyObject*) {
  return guarded([&] {
    entered.push_back(value_of(self));
    Py_INCREF(self);
    return self;
  });
}
PyObject* device_exit(PyObject*, PyObject*) {
  if (!entered.empty()) entered.pop_back();
  Py_RETURN_NONE;
}
// @torch.device("meta"): what the function makes is there.
PyObject* device_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"func", nullptr};
    PyObject* function = nullptr;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:device", const_cast<char**>(names), &function))
      return nullptr;
    const Object module = Object::steal(checked(PyImport_ImportModule("torch.utils._device")));
    return PyObject_CallMethod(module.get(), "device_decorator", "OO", self, function);
  });
}

PyObject* get_default_device(PyObject*, PyObject*) {
  return guarded([] {
    const c10::Device device = default_device().value_or(c10::kCPU);
    if (!device.is_cuda() || device.has_index()) return new_device(device);
    return new_device(c10::Device(c10::kCUDA, c10::get_backend(c10::kCUDA).current_device()));
  });
}
PyObject* set_default_device(PyObject*, PyObject* value) {
  return guarded([&] {
    lasting_default = value == Py_None ? std::nullopt : std::optional(to_device(value));
    return new_none();
  });
}

PyMethodDef functions[] = {
    {"_get_default_device", get_default_device, METH_NOARGS, "Where tensors are made unless a device is named."},
    {"_set_default_device", set_default_device, METH_O, "Sets where this thread makes tensors; None: on the CPU."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef device_methods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, nullptr},
    {"__enter__", device_enter, METH_NOARGS, "Makes new tensors of this thread here."},
    {"__exit__", device_exit, METH_VARARGS, "Ends what __enter__ began."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef device_properties[] = {
    {"type", device_type, nullptr, "'cpu', 'cuda' or 'meta'.", nullptr},
    {"index", device_index, nullptr, "Which one of its type; None for the current one.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject make_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch.device";
  type.tp_basicsize = sizeof(DeviceObject);
  type.tp_dealloc = device_dealloc;
  type.tp_repr = device_repr;
  type.tp_str = device_str;
  type.tp_hash = device_hash;
  type.tp_call = device_call;
  type.tp_richcompare = device_compare;
  type.tp_methods = device_methods;
  type.tp_getset = device_properties;
  type.tp_new = device_new;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = "device(type, index=None)\n--\n\nWhere a tensor lives: 'cpu', 'cuda', 'cuda:1', 'meta'.";
  return type;
}

}  // namespace

PyTypeObject DeviceTypeObject = make_type();

PyObject* new_device(const c10::Device& value) {
  PyObject* object = checked(DeviceTypeObject.tp_alloc(&DeviceTypeObject, 0));
  new (&reinterpret_cast<DeviceObject*>(object)->value) c10::Device(value);
  return object;
}

bool is_device_like(PyObject* object) {
  return Py_TYPE(object) == &DeviceTypeObject || PyUnicode_Check(object) ||
         (PyLong_Check(object) && !PyBool_Check(object));
}

c10::Device to_device(PyObject* object) {
  if (Py_TYPE(object) == &DeviceTypeObject) return value_of(object);
  if (PyUnicode_Check(object)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (!text) throw PythonError();
    return c10::Device(std::string_view(text, static_cast<size_t>(size)));
  }
  if (PyLong_Check(object) && !PyBool_Check(object)) {
    const int64_t index = to_integer(object);
    if (index < 0 || index > 127) raise(PyExc_RuntimeError, "Device index must not be negative or above 127");
    return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
  }
  raise(PyExc_TypeError, "device must be torch.device, str or int, not " + type_name(object));
}

std::optional<c10::Device> default_device() { return entered.empty() ? lasting_default : entered.back(); }

void register_device(PyObject* module) {
  add_type(module, DeviceTypeObject, "device");
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
