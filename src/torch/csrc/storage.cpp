// torch.UntypedStorage: the bytes that tensors share, with Python's buffer protocol.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <c10/core/Backend.h>

#include <new>
#include <string>

namespace torch::python {

namespace {

PyObject* storage_new(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"nbytes", "device", nullptr};
    Py_ssize_t bytes = 0;
    PyObject* place = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|nO:UntypedStorage", const_cast<char**>(names), &bytes, &place)) {
      return nullptr;
    }
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
    if (!storage.device().is_cpu()) raise(PyExc_BufferError, "a storage has a buffer on the CPU only, not on " + storage.device().str());
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

PyMethodDef methods[] = {
    {"nbytes", nbytes, METH_NOARGS, TORCH_SIGNATURE("nbytes($self)") "How many bytes there are."},
    {"size", nbytes, METH_NOARGS, TORCH_SIGNATURE("size($self)") "The same as nbytes()."},
    {"data_ptr", data_ptr, METH_NOARGS, TORCH_SIGNATURE("data_ptr($self)") "The address of the first byte."},
    {"resizable", resizable, METH_NOARGS, TORCH_SIGNATURE("resizable($self)") "Whether its memory is torch's own."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef properties[] = {
    {"device", get_device, nullptr, "Where the bytes are.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject make_type() {
  static PyBufferProcs buffers = {storage_buffer, nullptr};
  static PySequenceMethods sequence = {};
  sequence.sq_length = length;
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch._C.UntypedStorage";
  type.tp_basicsize = sizeof(StorageObject);
  type.tp_dealloc = storage_dealloc;
  type.tp_as_sequence = &sequence;
  type.tp_as_buffer = &buffers;
  type.tp_methods = methods;
  type.tp_getset = properties;
  type.tp_new = storage_new;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = "UntypedStorage(nbytes=0, device='cpu')\n--\n\nBytes that tensors share; on the CPU also a buffer.";
  return type;
}

}  // namespace

PyTypeObject StorageType = make_type();

PyObject* new_storage(c10::Storage storage) {
  PyObject* self = checked(StorageType.tp_alloc(&StorageType, 0));
  new (&reinterpret_cast<StorageObject*>(self)->storage) c10::Storage(std::move(storage));
  return self;
}

void register_storage(PyObject* module) { add_type(module, StorageType, "UntypedStorage"); }

}  // namespace torch::python
