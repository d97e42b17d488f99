// Conversions between Python values and C++ arguments, declared in argument_parser.h.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/ATen.h>
#include <aten/WrappedScalar.h>

#include <cstring>

namespace torch::python {

namespace {

// Larger tensors than this take longer to compute on than giving the GIL to others costs.
constexpr int64_t kHeavyElements = 4096;

bool is_numpy_bool(PyObject* object) {
  const char* name = Py_TYPE(object)->tp_name;
  return std::strncmp(name, "numpy.bool", 10) == 0;
}

// numpy.complex64(1j), which is no Python complex; its nb_float would lose half of it.
bool is_numpy_complex(PyObject* object) { return std::strncmp(Py_TYPE(object)->tp_name, "numpy.complex", 13) == 0; }

// numpy.float32(2) and its like: converts to float, but is no container.
bool is_foreign_number(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  const bool converts = type->tp_as_number && (type->tp_as_number->nb_float || type->tp_as_number->nb_index);
  const bool contains = (type->tp_as_sequence && type->tp_as_sequence->sq_length) ||
                        (type->tp_as_mapping && type->tp_as_mapping->mp_length);
  return converts && !contains;
}

// numpy.array(2), which Python takes as an index, too.
bool is_integer_array(PyObject* object) {
  if (!is_numpy_array(object)) return false;
  const Object index = Object::steal(PyNumber_Index(object));
  PyErr_Clear();
  return static_cast<bool>(index);
}

bool is_scalar_tensor(PyObject* object) { return is_tensor(object) && unpack(object).dim() == 0; }

// Such a tensor is no number: its gradient would be lost without a word.
bool asks_for_gradient(PyObject* object) { return is_tensor(object) && unpack(object).impl()->is_tracked(); }

bool is_list(PyObject* object) { return PyTuple_Check(object) || PyList_Check(object); }

bool is_integer_list(PyObject* object) {
  if (!is_list(object)) return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  PyObject** items = PySequence_Fast_ITEMS(object);
  for (Py_ssize_t index = 0; index < count; ++index) {
    if (!is_integer(items[index])) return false;
  }
  return true;
}

bool is_tensor_list(PyObject* object, bool none_allowed) {
  if (!is_list(object)) return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  PyObject** items = PySequence_Fast_ITEMS(object);
  for (Py_ssize_t index = 0; index < count; ++index) {
    if (!is_tensor(items[index]) && !(none_allowed && items[index] == Py_None)) return false;
  }
  return true;
}

// Python's bool is an int, and so a number of any float argument, as in PyTorch.
bool is_floating(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) || is_scalar_tensor(object) ||
         (!is_tensor(object) && !PyComplex_Check(object) && !is_numpy_complex(object) && !is_numpy_bool(object) &&
          is_foreign_number(object));
}

bool is_floating_list(PyObject* object) {
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  for (Py_ssize_t item = 0; item < PySequence_Fast_GET_SIZE(object); ++item) {
    if (!is_floating(PySequence_Fast_ITEMS(object)[item])) return false;
  }
  return true;
}

}  // namespace

bool is_integer(PyObject* object) {
  if (PyLong_CheckExact(object)) return true;
  if (PyBool_Check(object) || PyFloat_Check(object)) return false;
  if (PyLong_Check(object)) return true;
  if (is_tensor(object)) {
    const at::Tensor& tensor = unpack(object);
    return tensor.dim() == 0 && c10::is_integral_type(tensor.dtype(), false);
  }
  if (!PyIndex_Check(object) || is_numpy_bool(object)) return false;
  return is_foreign_number(object) || is_integer_array(object);
}

bool is_plain_number(PyObject* object) {
  if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object)) return true;
  return !is_tensor(object) && is_foreign_number(object);
}

bool is_number(PyObject* object) { return is_plain_number(object) || is_scalar_tensor(object); }

bool value_fits(const Parameter& parameter, PyObject* value) {
  // None stands for a list's default, as in PyTorch.
  if (value == Py_None) {
    return parameter.nullable() || parameter.kind == Kind::Any ||
           (parameter.kind == Kind::IntList && parameter.has_default());
  }
  switch (parameter.kind) {
    case Kind::Tensor: return is_tensor(value) || (parameter.takes_numbers() && is_plain_number(value));
    case Kind::TensorList: return is_tensor_list(value, false);
    case Kind::OptionalTensorList: return is_tensor_list(value, true);
    case Kind::Int: return is_integer(value);
    case Kind::IntList: return is_integer_list(value) || (parameter.list_size && is_integer(value));
    case Kind::FloatList: return is_floating_list(value);
    case Kind::Float: return is_floating(value) && !asks_for_gradient(value);
    case Kind::Bool: return PyBool_Check(value) || is_numpy_bool(value);
    case Kind::Scalar: return is_number(value) && !asks_for_gradient(value);
    case Kind::String: return PyUnicode_Check(value);
    case Kind::DType: return is_dtype_like(value);
    case Kind::Layout: return Py_TYPE(value) == &LayoutType;
    case Kind::Device: return is_device_like(value);
    case Kind::MemoryFormat: return Py_TYPE(value) == &MemoryFormatType;
    case Kind::Generator: return PyObject_TypeCheck(value, &GeneratorType);
    case Kind::Any: return true;
  }
  return false;
}

namespace {

constexpr const char* kTooLong = "Overflow when unpacking long long";

// Nothing where the number does not fit.
std::optional<int64_t> fitting_integer(PyObject* object) {
  if (is_tensor(object)) return unpack(object).item<int64_t>();
  long long value;  // NOLINT: the C API's type
  if (PyLong_Check(object)) {
    value = PyLong_AsLongLong(object);
  } else {
    const Object index = Object::steal(checked(PyNumber_Index(object)));
    value = PyLong_AsLongLong(index.get());
  }
  if (value == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw PythonError();
    PyErr_Clear();
    return std::nullopt;
  }
  return value;
}

// Item `index` of the list `what`.
int64_t to_item(PyObject* object, const char* what, Py_ssize_t index) {
  const std::optional<int64_t> value = fitting_integer(object);
  if (!value) {
    raise(PyExc_TypeError, std::string("argument '") + what + "' failed to unpack the object at pos " +
                               std::to_string(index + 1) + " with error \"" + kTooLong + "\"");
  }
  return *value;
}

}  // namespace

int64_t to_integer(PyObject* object) {
  const std::optional<int64_t> value = fitting_integer(object);
  if (!value) raise(PyExc_ValueError, kTooLong);
  return *value;
}

double to_double(PyObject* object) {
  if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object);
  if (is_tensor(object)) return unpack(object).item<double>();
  const double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) throw PythonError();
  return value;
}

c10::complex<double> to_complex(PyObject* object) {
  const Py_complex value = PyComplex_AsCComplex(object);
  if (value.real == -1.0 && PyErr_Occurred()) throw PythonError();
  return {value.real, value.imag};
}

c10::Scalar to_scalar(PyObject* object) {
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) {
    if (const std::optional<int64_t> value = fitting_integer(object)) return *value;
    const unsigned long long value = PyLong_AsUnsignedLongLong(object);  // NOLINT: the C API's type
    if (!PyErr_Occurred()) return static_cast<uint64_t>(value);  // from 2^63 on, uint64's
    PyErr_Clear();
    raise(PyExc_OverflowError, "int too big to convert");
  }
  if (is_tensor(object)) return unpack(object).item();
  if (PyComplex_Check(object) || is_numpy_complex(object)) return to_complex(object);
  if (is_numpy_bool(object)) return checked(PyObject_IsTrue(object)) == 1;
  if (PyIndex_Check(object)) return to_integer(object);
  return to_double(object);
}

c10::DimVector to_integers(PyObject* object, const char* what) {
  c10::DimVector result;
  if (is_integer(object)) {
    result.push_back(to_integer(object));
    return result;
  }
  if (!is_list(object)) {
    raise(PyExc_TypeError, std::string(what) + " must be tuple of ints, not " + type_name(object));
  }
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  result.reserve(static_cast<size_t>(count));
  for (Py_ssize_t index = 0; index < count; ++index) {
    PyObject* item = PySequence_Fast_ITEMS(object)[index];
    if (!is_integer(item)) {
      raise(PyExc_TypeError, std::string(what) + " must be tuple of ints, but found element of type " +
                                 type_name(item) + " at pos " + std::to_string(index));
    }
    result.push_back(to_item(item, what, index));
  }
  return result;
}

PyObject* from_scalar(const c10::Scalar& scalar) {
  if (scalar.is_boolean()) return new_bool(scalar.toBool());
  if (scalar.is_floating_point()) return PyFloat_FromDouble(scalar.toDouble());
  if (scalar.is_large_unsigned()) return PyLong_FromUnsignedLongLong(scalar.to<uint64_t>());
  if (scalar.is_complex()) {
    const auto value = scalar.to<c10::complex<double>>();
    return PyComplex_FromDoubles(value.real(), value.imag());
  }
  return PyLong_FromLongLong(scalar.toLong());
}

// ---- Arguments

const at::Tensor& Arguments::tensor(size_t index) {
  static const at::Tensor undefined;
  PyObject* value = values_[index];
  if (!value || value == Py_None) return undefined;
  if (is_tensor(value)) return unpack(value);
  at::Tensor& slot = wrapped_.at(wrapped_count_++);
  c10::Device device = c10::kCPU;
  for (size_t other = 0; other < overload_->count; ++other) {
    if (values_[other] && is_tensor(values_[other])) {
      device = unpack(values_[other]).device();
      break;
    }
  }
  slot = at::wrapped_scalar_tensor(to_scalar(value), device);
  return slot;
}

at::Tensor& Arguments::mutable_tensor(size_t index) { return unpack_mutable(values_[index]); }

std::vector<at::Tensor> Arguments::tensor_list(size_t index) const {
  std::vector<at::Tensor> tensors;
  PyObject* list = values_[index];
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
  tensors.reserve(static_cast<size_t>(count));
  for (Py_ssize_t item = 0; item < count; ++item) {
    PyObject* value = PySequence_Fast_ITEMS(list)[item];
    tensors.push_back(value == Py_None ? at::Tensor() : unpack(value));
  }
  return tensors;
}

std::vector<at::Tensor> Arguments::out_tensors(size_t index, size_t count) const {
  std::vector<at::Tensor> tensors = tensor_list(index);
  TORCH_CHECK_TYPE(tensors.size() == count, "expected tuple of ", count, " elements but got ", tensors.size());
  return tensors;
}

std::vector<double> Arguments::numbers(size_t index) const {
  std::vector<double> numbers;
  PyObject* list = values_[index];
  if (!has(index)) return numbers;
  for (Py_ssize_t item = 0; item < PySequence_Fast_GET_SIZE(list); ++item) {
    numbers.push_back(to_double(PySequence_Fast_ITEMS(list)[item]));
  }
  return numbers;
}

std::optional<std::vector<double>> Arguments::optional_numbers(size_t index) const {
  return has(index) ? std::optional(numbers(index)) : std::nullopt;
}

int64_t Arguments::integer(size_t index) const { return to_integer(values_[index]); }

std::optional<int64_t> Arguments::optional_integer(size_t index) const {
  return has(index) ? std::optional(to_integer(values_[index])) : std::nullopt;
}

c10::DimVector Arguments::integers(size_t index) const {
  c10::DimVector result;
  if (static_cast<int>(index) == varargs_index_) {
    for (Py_ssize_t item = 0; item < varargs_count_; ++item) {
      result.push_back(to_item(varargs_[item], overload_->parameters[index].name, item));
    }
    return result;
  }
  PyObject* value = values_[index];
  if (!has(index)) return result;
  const Parameter& parameter = overload_->parameters[index];
  if (parameter.list_size && !is_list(value)) return c10::DimVector(parameter.list_size, to_integer(value));
  return to_integers(value, parameter.name);
}

std::optional<c10::DimVector> Arguments::optional_integers(size_t index) const {
  return has(index) ? std::optional(integers(index)) : std::nullopt;
}

double Arguments::number(size_t index) const { return to_double(values_[index]); }

std::optional<double> Arguments::optional_number(size_t index) const {
  return has(index) ? std::optional(to_double(values_[index])) : std::nullopt;
}

bool Arguments::boolean(size_t index) const {
  return values_[index] == Py_True || (values_[index] != Py_False && checked(PyObject_IsTrue(values_[index])) == 1);
}

std::optional<bool> Arguments::optional_boolean(size_t index) const {
  return has(index) ? std::optional(boolean(index)) : std::nullopt;
}

c10::Scalar Arguments::scalar(size_t index) const { return to_scalar(values_[index]); }

std::optional<c10::Scalar> Arguments::optional_scalar(size_t index) const {
  return has(index) ? std::optional(to_scalar(values_[index])) : std::nullopt;
}

std::string_view Arguments::string(size_t index) const {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(values_[index], &size);
  if (!text) throw PythonError();
  return {text, static_cast<size_t>(size)};
}

std::optional<std::string_view> Arguments::optional_string(size_t index) const {
  return has(index) ? std::optional(string(index)) : std::nullopt;
}

c10::ScalarType Arguments::dtype(size_t index) const { return to_dtype(values_[index]); }

std::optional<c10::ScalarType> Arguments::optional_dtype(size_t index) const {
  return has(index) ? std::optional(to_dtype(values_[index])) : std::nullopt;
}

c10::Device Arguments::device(size_t index) const { return to_device(values_[index]); }

c10::Layout Arguments::layout(size_t index) const { return to_layout(values_[index]); }

std::optional<c10::Layout> Arguments::optional_layout(size_t index) const {
  return has(index) ? std::optional(layout(index)) : std::nullopt;
}

std::optional<c10::Device> Arguments::optional_device(size_t index) const {
  return has(index) ? std::optional(to_device(values_[index])) : std::nullopt;
}

at::Generator Arguments::generator(size_t index) const {
  return has(index) ? reinterpret_cast<GeneratorObject*>(values_[index])->generator : at::Generator();
}

std::optional<c10::MemoryFormat> Arguments::optional_memory_format(size_t index) const {
  return has(index) ? std::optional(reinterpret_cast<MemoryFormatObject*>(values_[index])->value) : std::nullopt;
}

std::optional<c10::Device> Arguments::device_for_new() const {
  const std::optional<c10::Device> device = default_device();
  if (!device) return std::nullopt;
  // What is like another tensor goes where that is.
  for (size_t index = 0; index < overload_->count; ++index) {
    if (overload_->parameters[index].kind == Kind::Tensor && overload_->parameters[index].flags == kRequired)
      return std::nullopt;
  }
  return device;
}

at::TensorOptions Arguments::options(size_t first, std::optional<c10::ScalarType> dtype) const {
  at::TensorOptions options;
  options.dtype_opt = has(first) ? optional_dtype(first) : dtype;
  options.layout_opt = optional_layout(first + 1);
  options.device_opt = optional_device(first + 2);
  if (!options.device_opt) options.device_opt = device_for_new();
  options.pin_memory_flag = has(first + 3) && boolean(first + 3);
  return options;
}

bool Arguments::is_heavy() const {
  const auto is_large = [](const at::Tensor& tensor) { return tensor.numel() > kHeavyElements || tensor.is_cuda(); };
  // Of a new tensor. What lies on another device may wait for that.
  const auto are_few = [&](const c10::DimVector& sizes) {
    int64_t count = 1;
    for (const int64_t size : sizes) {
      if (size < 0 || size > kHeavyElements) return false;
      count *= size;
      if (count > kHeavyElements) return false;
    }
    return !default_device();
  };
  bool is_known = false;
  for (size_t index = 0; index < overload_->count; ++index) {
    PyObject* value = values_[index];
    if (!value || value == Py_None) continue;
    const Kind kind = overload_->parameters[index].kind;
    if (kind == Kind::Tensor && is_tensor(value)) {
      if (is_large(unpack(value))) return true;
      is_known = true;
    } else if (kind == Kind::TensorList) {
      int64_t elements = 0;
      for (Py_ssize_t item = 0; item < PySequence_Fast_GET_SIZE(value); ++item) {
        const at::Tensor& tensor = unpack(PySequence_Fast_ITEMS(value)[item]);
        elements += tensor.numel();
        if (elements > kHeavyElements || is_large(tensor)) return true;
      }
      is_known = true;
    } else if (kind == Kind::IntList) {
      is_known = is_known || are_few(integers(index));
    } else if (kind == Kind::Device) {
      return true;
    }
  }
  return !is_known;
}

}  // namespace torch::python
