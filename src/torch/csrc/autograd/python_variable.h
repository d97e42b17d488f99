#pragma once
// Tensors as Python objects.
//
// One TensorImpl has at most one Python object, for as long as either side holds the tensor: `x.grad is x.grad`, and
// attributes set on a tensor survive while only C++ (the graph, an optimizer's buffer) keeps it. Usually the object
// owns the tensor. When Python drops the last reference while C++ still has some, the object is revived and the tensor
// owns the object (`is_borrowed`); when it is handed to Python again, ownership turns round again.

#include <torch/csrc/utils/object.h>

#include <aten/Tensor.h>

#include <vector>

namespace torch::python {

struct TensorObject {
  PyObject_HEAD
  at::Tensor tensor;
  bool is_borrowed;  // `tensor` is not counted: the TensorImpl owns this object
  bool dispatches;   // its class answers for operators: a user of dispatch as long as it lives
  PyObject* dict;
  PyObject* weak_references;
};

extern PyTypeObject TensorMetaType;  // type(torch.Tensor): gives every subclass our deallocator
extern PyTypeObject TensorBaseType;  // torch._C.TensorBase
extern PyTypeObject* tensor_class;   // torch.Tensor, once _initExtension has been called

inline bool is_tensor(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return type == tensor_class || Py_IS_TYPE(reinterpret_cast<PyObject*>(type), &TensorMetaType) ||
         PyType_IsSubtype(type, &TensorBaseType);
}
inline const at::Tensor& unpack(PyObject* object) { return reinterpret_cast<TensorObject*>(object)->tensor; }
inline at::Tensor& unpack_mutable(PyObject* object) { return reinterpret_cast<TensorObject*>(object)->tensor; }

// The object of a tensor, made if there is none: a new reference. None for an undefined tensor.
PyObject* wrap(const at::Tensor& tensor);
PyObject* wrap(at::Tensor&& tensor);
// A new object of class `type` for a tensor that has none yet.
PyObject* wrap_as(PyTypeObject* type, at::Tensor tensor);
PyObject* wrap(const std::vector<at::Tensor>& tensors);  // a tuple
PyObject* wrap(const c10::Scalar& scalar);
inline PyObject* wrap(bool value) { return new_bool(value); }
inline PyObject* wrap(int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* wrap(double value) { return PyFloat_FromDouble(value); }

void register_tensor(PyObject* module);

// Parts of the type that live in files of their own.
extern PyNumberMethods tensor_number_methods;    // python_operators.cpp
PyObject* tensor_richcompare(PyObject* self, PyObject* other, int operation);
extern PyMappingMethods tensor_mapping_methods;  // python_variable_indexing.cpp
extern PySequenceMethods tensor_sequence_methods;
PyGetSetDef* tensor_properties();                // python_properties.cpp
extern PyMethodDef tensor_methods[];             // python_methods.cpp, hand-written
extern PyMethodDef generated_tensor_methods[];   // generated/python_tensor_methods.cpp
extern PyMethodDef generated_functions[];        // generated/python_tables.cpp

// The operators of one module of torch: torch._C._nn has those of torch.nn.functional.
struct FunctionNamespace {
  const char* name;
  PyMethodDef* functions;
};
extern const FunctionNamespace generated_namespaces[];  // the same; ends with a row of null pointers
PyObject* tensor_legacy_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords);  // utils/tensor_new.cpp

}  // namespace torch::python
