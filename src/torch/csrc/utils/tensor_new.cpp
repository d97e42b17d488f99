#include <torch/csrc/utils/tensor_new.h>

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <aten/ATen.h>
#include <c10/util/InlineVector.h>

#include <string>
#include <vector>

namespace torch::python {

namespace {

constexpr size_t kDeepest = 64;

bool is_sequence(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object) ||
         (!PyUnicode_Check(object) && !PyBytes_Check(object) && !is_tensor(object) && PySequence_Check(object));
}

bool is_array_like(PyObject* object) {
  return is_numpy_array(object) || (PyObject_CheckBuffer(object) && !PyUnicode_Check(object) &&
                                    !PyBytes_Check(object) && !is_plain_number(object) && !PyList_Check(object));
}

// The shape that the first item of each level says; every other item is checked while it is stored.
c10::DimVector shape_of(PyObject* data) {
  c10::DimVector sizes;
  Object current = Object::borrow(data);
  while (true) {
    if (is_tensor(current.get())) {
      for (const int64_t size : unpack(current.get()).sizes()) sizes.push_back(size);
      return sizes;
    }
    if (!is_sequence(current.get())) return sizes;
    const Py_ssize_t length = PySequence_Size(current.get());
    if (length < 0) throw PythonError();
    sizes.push_back(length);
    if (sizes.size() > kDeepest) raise(PyExc_ValueError, "too many dimensions '" + type_name(data) + "'");
    if (length == 0) return sizes;
    current = Object::steal(checked(PySequence_GetItem(current.get(), 0)));
  }
}

// The smallest dtype that holds everything in it, by Python's types.
c10::ScalarType infer_dtype(PyObject* data) {
  // numpy.float64 is a float, too; it has a buffer and a dtype of its own.
  if (PyFloat_Check(data) && !PyObject_CheckBuffer(data)) return c10::get_default_dtype();
  if (PyComplex_Check(data) && !PyObject_CheckBuffer(data)) return c10::complex_type(c10::get_default_dtype());
  if (PyBool_Check(data)) return at::kBool;
  if (PyLong_Check(data)) return at::kLong;
  if (is_tensor(data)) return unpack(data).dtype();
  if (is_plain_number(data)) {
    // numpy.float32(1): its own dtype, as an array of it has.
    if (PyObject_CheckBuffer(data)) return tensor_from_buffer(data, false).dtype();
    const c10::ScalarType type = to_scalar(data).type();
    if (c10::is_complex_type(type)) return c10::complex_type(c10::get_default_dtype());
    return type == at::kDouble ? c10::get_default_dtype() : type;
  }
  if (is_array_like(data)) return tensor_from_buffer(data, false).dtype();
  if (PyUnicode_Check(data)) raise(PyExc_TypeError, "new(): invalid data type 'str'");
  if (!is_sequence(data)) raise(PyExc_RuntimeError, "Could not infer dtype of " + type_name(data));
  const Py_ssize_t length = PySequence_Size(data);
  if (length < 0) throw PythonError();
  if (length == 0) return c10::get_default_dtype();
  c10::ScalarType result = c10::ScalarType::Undefined;
  for (Py_ssize_t index = 0; index < length; ++index) {
    const Object item = Object::steal(checked(PySequence_GetItem(data, index)));
    if (item.get() == data) raise(PyExc_TypeError, "new(): self-referential lists are incompatible");
    const c10::ScalarType type = infer_dtype(item.get());
    result = result == c10::ScalarType::Undefined ? type : c10::promote_types(result, type);
  }
  return result;
}

template <typename T>
T number_as(PyObject* item) {
  if constexpr (std::is_same_v<T, bool>) {
    if (is_number(item)) return to_scalar(item).toBool();
  } else if constexpr (c10::is_complex_v<T>) {
    if (is_number(item)) return to_scalar(item).to<T>();
  } else if constexpr (c10::is_floating_v<T>) {
    if (PyFloat_CheckExact(item)) return static_cast<T>(PyFloat_AS_DOUBLE(item));
    if (is_number(item)) return static_cast<T>(to_double(item));
  } else {
    if (PyLong_Check(item) && !std::is_same_v<T, uint64_t>) return c10::Scalar(to_integer(item)).to<T>();
    if (is_number(item)) return to_scalar(item).to<T>();
  }
  if (is_sequence(item)) raise(PyExc_ValueError, "too many dimensions '" + type_name(item) + "'");
  raise(PyExc_TypeError, "must be real number, not " + type_name(item));
}

template <typename T>
void store(T*& output, const c10::DimVector& sizes, size_t dim, PyObject* data) {
  if (is_tensor(data) && dim < sizes.size()) {
    const at::Tensor& tensor = unpack(data);
    if (tensor.sizes() != c10::IntArrayRef(sizes).slice(dim, sizes.size() - dim)) {
      raise(PyExc_ValueError, "expected sequence of equal shapes: a tensor in it has another shape");
    }
    const at::Tensor values = tensor.cpu().detach().to(c10::CppTypeToScalarType<T>::value).contiguous();
    std::copy_n(values.data_ptr<T>(), values.numel(), output);
    output += values.numel();
    return;
  }
  if (dim == sizes.size()) {
    *output++ = number_as<T>(data);
    return;
  }
  if (!is_sequence(data)) {
    raise(PyExc_TypeError, "expected a sequence of length " + std::to_string(sizes[dim]) + " at dim " +
                               std::to_string(dim) + " (got a " + type_name(data) + ")");
  }
  const Object fast = Object::steal(checked(PySequence_Fast(data, "not a sequence")));
  const Py_ssize_t length = PySequence_Fast_GET_SIZE(fast.get());
  if (length != sizes[dim]) {
    raise(PyExc_ValueError, "expected sequence of length " + std::to_string(sizes[dim]) + " at dim " +
                                std::to_string(dim) + " (got " + std::to_string(length) + ")");
  }
  PyObject** items = PySequence_Fast_ITEMS(fast.get());
  for (Py_ssize_t index = 0; index < length; ++index) store(output, sizes, dim + 1, items[index]);
}

// Whether items are arrays, which cost too much when they are read number by number.
bool holds_arrays(PyObject* data) {
  return (PyList_Check(data) || PyTuple_Check(data)) && PySequence_Fast_GET_SIZE(data) > 0 &&
         is_numpy_array(PySequence_Fast_ITEMS(data)[0]);
}

at::Tensor from_sequence(PyObject* data, std::optional<c10::ScalarType> dtype) {
  if (holds_arrays(data)) {
    std::vector<at::Tensor> rows;
    for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(data); ++index) {
      rows.push_back(tensor_from_data(PySequence_Fast_ITEMS(data)[index], dtype, std::nullopt));
    }
    return at::stack(rows);
  }
  const c10::DimVector sizes = shape_of(data);
  const c10::ScalarType type = dtype ? *dtype : infer_dtype(data);
  at::Tensor result = at::empty(sizes, at::TensorOptions(type));
  switch (type) {
#define TORCH_STORE(cpp_type, name, ...)                      \
  case c10::ScalarType::name: {                              \
    auto* output = static_cast<cpp_type*>(result.data_ptr()); \
    store(output, sizes, 0, data);                           \
    break;                                                   \
  }
    C10_FORALL_SCALAR_TYPES(TORCH_STORE)
#undef TORCH_STORE
    case c10::ScalarType::Undefined: break;
  }
  return result;
}

}  // namespace

at::Tensor tensor_from_data(PyObject* data, std::optional<c10::ScalarType> dtype, std::optional<c10::Device> device) {
  c10::NoGradGuard no_grad;
  at::Tensor result;
  if (PyUnicode_Check(data)) raise(PyExc_TypeError, "new(): invalid data type 'str'");
  if (is_tensor(data)) {
    const at::Tensor& source = unpack(data);
    result = source.detach().to(device, dtype);
    return result.is_alias_of(source) ? result.clone() : result;
  }
  if (is_array_like(data)) {
    const at::Tensor shared = tensor_from_buffer(data, false);
    result = dtype && *dtype != shared.dtype() ? shared.to(*dtype) : shared.clone();
  } else {
    result = from_sequence(data, dtype);
  }
  return device && !device->is_cpu() ? result.to(*device) : result;
}

namespace {

// Sizes, a sequence of values, a storage or a tensor: what torch.Tensor(...) and torch.FloatTensor(...) take.
at::Tensor legacy_tensor(c10::ScalarType dtype, PyObject* arguments, PyObject* keywords) {
  const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
  std::optional<c10::Device> device;
  if (keywords && PyDict_Size(keywords) > 0) {
    PyObject* value = PyDict_GetItemString(keywords, "device");
    if (!value || PyDict_Size(keywords) > 1) {
      raise(PyExc_TypeError, "new() takes no keyword argument but device; use torch.tensor to say more");
    }
    if (value != Py_None) device = to_device(value);
  }
  const at::TensorOptions options = at::TensorOptions(dtype).device(device);
  PyObject* first = count ? PyTuple_GET_ITEM(arguments, 0) : nullptr;
  at::Tensor result;
  if (count == 0) {
    result = at::empty({0}, options);
  } else if (count == 1 && is_tensor(first) && unpack(first).dim() > 0) {
    if (unpack(first).dtype() != dtype) {
      raise(PyExc_TypeError, std::string("expected ") + c10::to_string(dtype) + " (got " +
                                 c10::to_string(unpack(first).dtype()) + ")");
    }
    result = unpack(first).detach();
  } else if (count == 1 && PyObject_TypeCheck(first, &SizeType)) {
    result = at::empty(to_integers(first, "size"), options);
  } else if (count == 1 && PyObject_TypeCheck(first, &StorageType)) {
    const c10::Storage& storage = unpack_storage(first);
    auto impl = c10::make_intrusive<at::TensorImpl>(storage, dtype, storage.device());
    impl->set_sizes_contiguous({static_cast<int64_t>(storage.nbytes() / c10::element_size(dtype))});
    result = at::Tensor(std::move(impl));
  } else if (count == 1 && PyFloat_Check(first)) {
    raise(PyExc_TypeError, "new(): data must be a sequence (got " + type_name(first) + ")");
  } else if (count == 1 && !is_integer(first)) {
    result = tensor_from_data(first, dtype, device);
  } else {
    c10::DimVector sizes;
    for (Py_ssize_t index = 0; index < count; ++index) {
      PyObject* item = PyTuple_GET_ITEM(arguments, index);
      if (!is_integer(item)) {
        raise(PyExc_TypeError, "new(): sizes must be int, not " + type_name(item) + " (position " +
                                   std::to_string(index + 1) + ")");
      }
      sizes.push_back(to_integer(item));
    }
    result = at::empty(sizes, options);
  }
  return result;
}

}  // namespace

// torch.Tensor(...): of the default dtype.
PyObject* tensor_legacy_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    if (type == &TensorBaseType) {
      raise(PyExc_RuntimeError, "Cannot instantiate TensorBase itself; use torch.Tensor or torch.tensor");
    }
    return wrap_as(type, legacy_tensor(c10::get_default_dtype(), arguments, keywords));
  });
}

// _legacy_tensor(dtype, *arguments, device=None): torch.FloatTensor(...).
PyObject* legacy_tensor_of(PyObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    const c10::ScalarType dtype = to_dtype(PyTuple_GET_ITEM(arguments, 0));
    const Object rest = Object::steal(checked(PyTuple_GetSlice(arguments, 1, PyTuple_GET_SIZE(arguments))));
    return wrap(legacy_tensor(dtype, rest.get(), keywords));
  });
}

}  // namespace torch::python
