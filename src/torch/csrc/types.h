#pragma once
// The Python types of the values that are not tensors: dtype, device, layout, memory_format, Size, Generator, storage.

#include <torch/csrc/utils/object.h>

#include <aten/Generator.h>
#include <c10/core/Device.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>
#include <c10/util/ArrayRef.h>

#include <optional>

namespace torch::python {

// Types that tensors cannot have are known by name, so that programs may mention them: their value is kOnlyNamed.
constexpr auto kOnlyNamed = static_cast<c10::ScalarType>(-1);
struct DtypeObject {
  PyObject_HEAD
  c10::ScalarType value;
  const c10::TypeFacts* facts;
};
struct DeviceObject {
  PyObject_HEAD
  c10::Device value;
};
struct LayoutObject {
  PyObject_HEAD
  const char* name;  // "strided"; tensors cannot have the others
};
struct MemoryFormatObject {
  PyObject_HEAD
  c10::MemoryFormat value;
};
struct GeneratorObject {
  PyObject_HEAD
  at::Generator generator;
};
struct StorageObject {
  PyObject_HEAD
  c10::Storage storage;
};

extern PyTypeObject DtypeType;
extern PyTypeObject DeviceTypeObject;
extern PyTypeObject LayoutType;
extern PyTypeObject MemoryFormatType;
extern PyTypeObject SizeType;
extern PyTypeObject GeneratorType;
extern PyTypeObject StorageType;

// New references. The dtype, layout and memory format objects are one per value.
PyObject* new_dtype(c10::ScalarType value);
PyObject* new_device(const c10::Device& value);
PyObject* new_layout(c10::Layout value);
PyObject* new_memory_format(c10::MemoryFormat value);
// Raises NotImplementedError for a layout that there are no tensors of.
c10::Layout to_layout(PyObject* object);
PyObject* new_size(c10::IntArrayRef sizes);
PyObject* new_generator(at::Generator generator);
PyObject* new_storage(c10::Storage storage);

// Where this thread makes tensors that are told no device:
// what `with torch.device(...)` or torch.set_default_device said.
std::optional<c10::Device> default_device();

inline const c10::Storage& unpack_storage(PyObject* object) {
  return reinterpret_cast<StorageObject*>(object)->storage;
}

// Each adds its type and its values to torch._C.
void register_dtype(PyObject* module);
void register_device(PyObject* module);
void register_layout(PyObject* module);
void register_size(PyObject* module);
void register_generator(PyObject* module);
void register_storage(PyObject* module);

}  // namespace torch::python
