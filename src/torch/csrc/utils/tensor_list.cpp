// Tensor.tolist().

#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/ATen.h>

namespace torch::python {

namespace {

PyObject* element(const char* data, c10::ScalarType dtype) {
  switch (dtype) {
#define TORCH_FLOAT(cpp_type, name, ...) \
  case at::k##name: return PyFloat_FromDouble(*reinterpret_cast<const cpp_type*>(data));
#define TORCH_INTEGER(cpp_type, name, ...) \
  case at::k##name: return PyLong_FromLongLong(*reinterpret_cast<const cpp_type*>(data));
#define TORCH_UNSIGNED(cpp_type, name, ...) \
  case at::k##name: return PyLong_FromUnsignedLongLong(*reinterpret_cast<const cpp_type*>(data));
#define TORCH_COMPLEX(cpp_type, name, ...)                             \
  case at::k##name: {                                                  \
    const auto& value = *reinterpret_cast<const cpp_type*>(data);      \
    return PyComplex_FromDoubles(value.real(), value.imag());          \
  }
    C10_FORALL_FLOATING_TYPES(TORCH_FLOAT)
    C10_FORALL_INTEGRAL_TYPES(TORCH_INTEGER)
    C10_FORALL_BAREBONES_TYPES(TORCH_UNSIGNED)
    C10_FORALL_COMPLEX_TYPES(TORCH_COMPLEX)
#undef TORCH_COMPLEX
#undef TORCH_UNSIGNED
#undef TORCH_INTEGER
#undef TORCH_FLOAT
    case at::kBool: return new_bool(*reinterpret_cast<const bool*>(data));
    case c10::ScalarType::Undefined: break;
  }
  raise(PyExc_RuntimeError, std::string("tolist() does not know the dtype ") + c10::dtype_name(dtype));
}

PyObject* list_of(const char* data, const at::Tensor& tensor, int64_t dim) {
  if (dim == tensor.dim()) return checked(element(data, tensor.dtype()));
  const int64_t size = tensor.sizes()[dim];
  const int64_t step = tensor.strides()[dim] * static_cast<int64_t>(tensor.element_size());
  Object list = Object::steal(checked(PyList_New(size)));
  for (int64_t index = 0; index < size; ++index) {
    PyList_SET_ITEM(list.get(), index, list_of(data + index * step, tensor, dim + 1));
  }
  return list.release();
}

}  // namespace

PyObject* tensor_to_list(const at::Tensor& tensor) {
  if (tensor.is_meta()) raise(PyExc_NotImplementedError, "Cannot copy out of meta tensor; no data!");
  const at::Tensor local = tensor.is_cpu() ? tensor : tensor.cpu();
  return list_of(static_cast<const char*>(local.data_ptr()), local, 0);
}

}  // namespace torch::python
