// Storages in shared memory: torch._C._share_memory and what torch.multiprocessing sends.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/functions.h>
#include <torch/csrc/types.h>

#include <torch/lib/libshm/libshm.h>

#include <cstring>
#include <string>

namespace torch::python {

namespace {

const c10::Storage& read_storage(PyObject* value) {
  if (!PyObject_TypeCheck(value, &StorageType)) {
    raise(PyExc_TypeError, "expected an UntypedStorage, not " + type_name(value));
  }
  const c10::Storage& storage = unpack_storage(value);
  if (!storage.device().is_cpu()) {
    raise(PyExc_RuntimeError, "only storages on the CPU can be in shared memory, not one on " + storage.device().str());
  }
  return storage;
}

// Moves the bytes; every tensor of the storage goes with it.
libshm::Handle share(const c10::Storage& storage) {
  if (const auto handle = libshm::find(storage.data())) return *handle;
  const size_t bytes = storage.nbytes();
  c10::DataPtr memory = libshm::allocate(bytes);
  if (bytes) std::memcpy(memory.get(), storage.data(), bytes);
  const auto handle = libshm::find(memory.get());
  storage.impl()->set_data(std::move(memory), bytes);
  return *handle;
}

PyObject* share_memory(PyObject*, PyObject* value) {
  return guarded([&] {
    share(read_storage(value));
    return new_none();
  });
}

PyObject* is_shared(PyObject*, PyObject* value) {
  return guarded([&] { return new_bool(libshm::find(read_storage(value).data()).has_value()); });
}

PyObject* send_storage(PyObject*, PyObject* value) {
  return guarded([&] {
    const libshm::Handle handle = share(read_storage(value));
    libshm::hold(handle);
    return Py_BuildValue("(ssn)", handle.manager.c_str(), handle.name.c_str(), static_cast<Py_ssize_t>(handle.bytes));
  });
}

PyObject* receive_storage(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    const char* manager = nullptr;
    const char* name = nullptr;
    Py_ssize_t bytes = 0;
    if (!PyArg_ParseTuple(arguments, "ssn:_receive_storage", &manager, &name, &bytes)) return nullptr;
    if (bytes < 0) raise(PyExc_ValueError, "_receive_storage: the size must not be negative");
    const auto size = static_cast<size_t>(bytes);
    return new_storage(c10::Storage(libshm::open({manager, name, size}), size));
  });
}

}  // namespace

PyMethodDef shared_memory_functions[] = {
    {"_share_memory", share_memory, METH_O, "Moves a CPU storage into shared memory, in place."},
    {"_is_shared", is_shared, METH_O, "Whether a CPU storage is in shared memory."},
    {"_send_storage", send_storage, METH_O,
     "(manager, name, bytes) of a storage, for one _receive_storage in another process."},
    {"_receive_storage", receive_storage, METH_VARARGS, "The storage that another process has sent."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace torch::python
