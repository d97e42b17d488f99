// The bytes that tensors share, with Python's buffer protocol: the base of torch.UntypedStorage, which torch/storage.py
// completes.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/ATen.h>
#include <c10/core/Backend.h>

#include <algorithm>

#include <new>
#include <string>

namespace torch::python {

namespace {

PyObject* storage_new(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"nbytes", "device", nullptr};
    PyObject* size = nullptr;
    PyObject* place = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO:UntypedStorage", const_cast<char**>(names), &size,
                                     &place)) {
      return nullptr;
    }
    if (size && PyList_Check(size)) {
      return new_storage(
          tensor_from_data(size, at::kByte, place == Py_None ? std::nullopt : std::optional(to_device(place)))
              .storage());
    }
    const Py_ssize_t bytes = size ? static_cast<Py_ssize_t>(to_integer(size)) : 0;
    TORCH_CHECK_VALUE(bytes >= 0, "UntypedStorage: nbytes must not be negative, not ", bytes);
    const c10::Device device = place == Py_None ? c10::Device(c10::kCPU) : to_device(place);
    const c10::DeviceGuard guard(device);
    return new_storage(c10::Storage(static_cast<size_t>(bytes), c10::get_backend(device.type()).allocator()));
  });
}

void storage_dealloc(PyObject* self) {
  reinterpret_cast<StorageObject*>(self)->storage.~Storage();
  Py_TYPE(self)->tp_free(self);
}

int storage_buffer(PyObject* self, Py_buffer* buffer, int flags) {
  return guarded([&]() -> int {
    const c10::Storage& storage = unpack_storage(self);
    if (!storage.device().is_cpu())
      raise(PyExc_BufferError, "a storage has a buffer on the CPU only, not on " + storage.device().str());
    static char empty = 0;
    return PyBuffer_FillInfo(buffer, self, storage.data() ? storage.data() : &empty,
                             static_cast<Py_ssize_t>(storage.nbytes()), 0, flags);
  });
}

PyObject* nbytes(PyObject* self, PyObject*) { return PyLong_FromSize_t(unpack_storage(self).nbytes()); }
PyObject* data_ptr(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<uintptr_t>(unpack_storage(self).data()));
}
PyObject* resizable(PyObject* self, PyObject*) {
  return new_bool(unpack_storage(self).impl()->allocator() != nullptr);
}
PyObject* get_device(PyObject* self, void*) {
  return guarded([&] { return new_device(unpack_storage(self).device()); });
}
Py_ssize_t length(PyObject* self) { return static_cast<Py_ssize_t>(unpack_storage(self).nbytes()); }

// The bytes as a tensor of uint8 that shares them.
at::Tensor bytes_of(PyObject* self) {
  const c10::Storage& storage = unpack_storage(self);
  auto impl = c10::make_intrusive<at::TensorImpl>(storage, c10::kByte, storage.device());
  impl->set_sizes_contiguous({static_cast<int64_t>(storage.nbytes())});
  return at::Tensor(std::move(impl));
}

PyObject* itself(PyObject* self) {
  Py_INCREF(self);
  return self;
}

PyObject* to_list(PyObject* self, PyObject*) {
  return guarded([&] { return tensor_to_list(bytes_of(self)); });
}
PyObject* fill(PyObject* self, PyObject* value) {
  return guarded([&] {
    bytes_of(self).fill_(to_scalar(value));
    return itself(self);
  });
}
PyObject* clone(PyObject* self, PyObject*) {
  return guarded([&] { return new_storage(bytes_of(self).clone().storage()); });
}
PyObject* to_cpu(PyObject* self, PyObject*) {
  return guarded([&] {
    return unpack_storage(self).device().is_cpu() ? itself(self) : new_storage(bytes_of(self).cpu().storage());
  });
}
PyObject* copy_from(PyObject* self, PyObject* source) {
  return guarded([&] {
    if (!PyObject_TypeCheck(source, &StorageType))
      raise(PyExc_TypeError, "copy_() takes an UntypedStorage, not " + type_name(source));
    bytes_of(self).copy_(bytes_of(source));
    return itself(self);
  });
}
PyObject* resize(PyObject* self, PyObject* value) {
  return guarded([&] {
    const int64_t wanted = to_integer(value);
    TORCH_CHECK_VALUE(wanted >= 0, "resize_: the size must not be negative, not ", wanted);
    c10::StorageImpl* impl = unpack_storage(self).impl();
    TORCH_CHECK(impl->allocator() != nullptr, "Trying to resize storage that is not resizable");
    const auto bytes = static_cast<size_t>(wanted);
    const at::Tensor old = bytes_of(self).slice(0, 0, static_cast<int64_t>(std::min(bytes, impl->nbytes()))).clone();
    const c10::DeviceGuard guard(impl->device());
    impl->set_data(impl->allocator()->allocate(bytes), bytes);
    bytes_of(self).slice(0, 0, old.numel()).copy_(old);
    return itself(self);
  });
}
PyObject* one(PyObject*, PyObject*) { return PyLong_FromLong(1); }

PyObject* get_item(PyObject* self, Py_ssize_t index) {
  return guarded([&]() -> PyObject* {
    if (index < 0 || index >= static_cast<Py_ssize_t>(unpack_storage(self).nbytes())) {
      raise(PyExc_IndexError, "index " + std::to_string(index) + " out of range for storage of size " +
                                  std::to_string(unpack_storage(self).nbytes()));
    }
    return from_scalar(bytes_of(self).select(0, index).item());
  });
}
// storage[3], storage[2:5]: a slice shares the bytes.
PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    if (PySlice_Check(key)) {
      const Object module = Object::steal(checked(PyImport_ImportModule("torch.storage")));
      return PyObject_CallMethod(module.get(), "_slice_storage", "OO", self, key);
    }
    const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) return nullptr;
    return get_item(self, index < 0 ? index + static_cast<Py_ssize_t>(unpack_storage(self).nbytes()) : index);
  });
}
int set_item(PyObject* self, Py_ssize_t index, PyObject* value) {
  return guarded([&]() -> int {
    if (!value || index < 0 || index >= static_cast<Py_ssize_t>(unpack_storage(self).nbytes())) {
      raise(PyExc_IndexError, "index " + std::to_string(index) + " out of range for storage of size " +
                                  std::to_string(unpack_storage(self).nbytes()));
    }
    bytes_of(self).select(0, index).fill_(to_scalar(value));
    return 0;
  });
}

PyObject* itself(PyObject* self, PyObject*) {
  Py_INCREF(self);
  return self;
}

// from_file(filename, shared=False, nbytes=0): torch.storage maps the file.
PyObject* from_file(PyObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    const Object module = Object::steal(checked(PyImport_ImportModule("torch.storage")));
    const Object function = Object::steal(checked(PyObject_GetAttrString(module.get(), "_map_file")));
    return PyObject_Call(function.get(), arguments, keywords);
  });
}

// Storages are equal that are the same bytes.
PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (!PyObject_TypeCheck(other, &StorageType) || (operation != Py_EQ && operation != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return new_bool(unpack_storage(self).is_alias_of(unpack_storage(other)) == (operation == Py_EQ));
}
Py_hash_t hash(PyObject* self) {
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(unpack_storage(self).impl()) >> 4);
}
PyObject* get_cdata(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<uintptr_t>(unpack_storage(self).impl()));
}

PyMethodDef methods[] = {
    {"from_file", as_method(from_file), METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "from_file(filename, shared=False, nbytes=0)\n--\n\nA file's bytes, mapped; writes reach it if shared."},
    {"tolist", to_list, METH_NOARGS, TORCH_SIGNATURE("tolist($self)") "The bytes as numbers."},
    {"fill_", fill, METH_O, TORCH_SIGNATURE("fill_($self, value)") "Sets every byte; returns itself."},
    {"clone", clone, METH_NOARGS, TORCH_SIGNATURE("clone($self)") "A copy."},
    {"untyped", itself, METH_NOARGS, TORCH_SIGNATURE("untyped($self)") "Itself."},
    {"cpu", to_cpu, METH_NOARGS, TORCH_SIGNATURE("cpu($self)") "Itself on the CPU, else a copy there."},
    {"copy_", copy_from, METH_O,
     TORCH_SIGNATURE("copy_($self, source)") "Copies another storage's bytes; returns itself."},
    {"resize_", resize, METH_O,
     TORCH_SIGNATURE("resize_($self, size)") "Gives it so many bytes, the first ones kept; returns itself."},
    {"element_size", one, METH_NOARGS, TORCH_SIGNATURE("element_size($self)") "1: elements are bytes."},
    {"nbytes", nbytes, METH_NOARGS, TORCH_SIGNATURE("nbytes($self)") "How many bytes there are."},
    {"size", nbytes, METH_NOARGS, TORCH_SIGNATURE("size($self)") "The same as nbytes()."},
    {"data_ptr", data_ptr, METH_NOARGS, TORCH_SIGNATURE("data_ptr($self)") "The address of the first byte."},
    {"resizable", resizable, METH_NOARGS, TORCH_SIGNATURE("resizable($self)") "Whether its memory is torch's own."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef properties[] = {
    {"device", get_device, nullptr, "Where the bytes are.", nullptr},
    {"_cdata", get_cdata, nullptr, "A number that only this storage has while it lives.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject make_type() {
  static PyBufferProcs buffers = {storage_buffer, nullptr};
  static PySequenceMethods sequence = {};
  sequence.sq_length = length;
  sequence.sq_item = get_item;
  sequence.sq_ass_item = set_item;
  static PyMappingMethods mapping = {};
  mapping.mp_length = length;
  mapping.mp_subscript = subscript;
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch._C.StorageBase";
  type.tp_basicsize = sizeof(StorageObject);
  type.tp_dealloc = storage_dealloc;
  type.tp_as_sequence = &sequence;
  type.tp_as_mapping = &mapping;
  type.tp_as_buffer = &buffers;
  type.tp_methods = methods;
  type.tp_getset = properties;
  type.tp_new = storage_new;
  type.tp_richcompare = compare;
  type.tp_hash = hash;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_doc = "StorageBase(nbytes=0, device='cpu')\n--\n\nBytes that tensors share; on the CPU also a buffer.";
  return type;
}

}  // namespace

PyTypeObject StorageType = make_type();

PyObject* new_storage(c10::Storage storage) {
  static PyObject* const type = [] {  // torch.UntypedStorage: imported with the first storage that Python sees
    const Object module = Object::steal(checked(PyImport_ImportModule("torch.storage")));
    return checked(PyObject_GetAttrString(module.get(), "UntypedStorage"));
  }();
  auto* storage_type = reinterpret_cast<PyTypeObject*>(type);
  PyObject* self = checked(storage_type->tp_alloc(storage_type, 0));
  new (&reinterpret_cast<StorageObject*>(self)->storage) c10::Storage(std::move(storage));
  return self;
}

void register_storage(PyObject* module) { add_type(module, StorageType, "StorageBase"); }

}  // namespace torch::python
