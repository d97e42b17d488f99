// torch.tensor, as_tensor, from_numpy, frombuffer, asarray; and questions about dtypes and tensors. They are part of
// torch._C._VariableFunctions, beside the operators.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/functions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/ATen.h>
#include <aten/TensorIterator.h>

#include <iterator>
#include <string>

namespace torch::python {

namespace {

constexpr uint8_t kOption = kHasDefault | kKeywordOnly | kNullable;

#define TORCH_FUNCTION(name, parameters, positional, call)                                                           \
  const Overload name##_overloads[] = {                                                                              \
      {parameters, static_cast<uint8_t>(std::size(parameters)), positional, true, false, call}};                     \
  constexpr Callable name##_callable{#name, name##_overloads, 1};

// The device that was named, or the default one that the user set.
std::optional<c10::Device> asked_device(const Arguments& arguments, size_t index) {
  return arguments.has(index) ? arguments.optional_device(index) : default_device();
}

PyObject* finish(const Arguments& arguments, at::Tensor result, size_t requires_grad) {
  if (arguments.given(requires_grad) && arguments.boolean(requires_grad)) result.requires_grad_(true);
  return wrap(std::move(result));
}

Parameter tensor_parameters[] = {{"data", Kind::Any},
                                 {"dtype", Kind::DType, kOption, 0, "None"},
                                 {"device", Kind::Device, kOption, 0, "None"},
                                 {"requires_grad", Kind::Bool, kHasDefault | kKeywordOnly, 0, "False"},
                                 {"pin_memory", Kind::Bool, kHasDefault | kKeywordOnly, 0, "False"}};
PyObject* tensor_call(Arguments& arguments) {
  if (is_tensor(arguments.object(0)) &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                   "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
                   1) < 0) {
    throw PythonError();
  }
  at::Tensor made = tensor_from_data(arguments.object(0), arguments.optional_dtype(1), asked_device(arguments, 2));
  if (arguments.given(4) && arguments.boolean(4)) {
    at::TensorOptions options;
    options.pin_memory_flag = true;
    made = at::empty_like(made, options).copy_(made);
  }
  return finish(arguments, std::move(made), 3);
}
TORCH_FUNCTION(tensor, tensor_parameters, 1, tensor_call)

// Without a copy wherever dtype and device already fit.
at::Tensor shared(PyObject* data, std::optional<c10::ScalarType> dtype, std::optional<c10::Device> device) {
  if (is_tensor(data)) {
    const at::Tensor& source = unpack(data);
    return source.to(device, dtype);
  }
  if (is_numpy_array(data)) {
    const at::Tensor source = tensor_from_buffer(data, true);
    return source.to(device, dtype);
  }
  return tensor_from_data(data, dtype, device);
}

Parameter as_tensor_parameters[] = {{"data", Kind::Any},
                                    {"dtype", Kind::DType, kHasDefault | kNullable, 0, "None"},
                                    {"device", Kind::Device, kHasDefault | kNullable, 0, "None"}};
PyObject* as_tensor_call(Arguments& arguments) {
  return wrap(shared(arguments.object(0), arguments.optional_dtype(1), asked_device(arguments, 2)));
}
TORCH_FUNCTION(as_tensor, as_tensor_parameters, 3, as_tensor_call)

Parameter asarray_parameters[] = {{"obj", Kind::Any},
                                  {"dtype", Kind::DType, kOption, 0, "None"},
                                  {"device", Kind::Device, kOption, 0, "None"},
                                  {"copy", Kind::Bool, kOption, 0, "None"},
                                  {"requires_grad", Kind::Bool, kHasDefault | kKeywordOnly, 0, "False"}};
PyObject* asarray_call(Arguments& arguments) {
  PyObject* data = arguments.object(0);
  const std::optional<bool> copy = arguments.optional_boolean(3);
  if (copy && *copy) {
    return finish(arguments, tensor_from_data(data, arguments.optional_dtype(1), asked_device(arguments, 2)), 4);
  }
  const bool has_memory = is_tensor(data) || is_numpy_array(data);
  at::Tensor result = shared(data, arguments.optional_dtype(1), asked_device(arguments, 2));
  if (copy && has_memory) {
    const at::Tensor source = is_tensor(data) ? unpack(data) : tensor_from_buffer(data, false);
    TORCH_CHECK_VALUE(result.data_ptr() == source.data_ptr(),
                      "can't alias the data: another dtype or device was asked for and copy is False");
  } else if (copy) {
    raise(PyExc_ValueError, "can't alias the data: " + type_name(data) + " is no tensor or array and copy is False");
  }
  return finish(arguments, std::move(result), 4);
}
TORCH_FUNCTION(asarray, asarray_parameters, 1, asarray_call)

Parameter from_numpy_parameters[] = {{"ndarray", Kind::Any}};
PyObject* from_numpy_call(Arguments& arguments) {
  PyObject* array = arguments.object(0);
  if (!is_numpy_array(array)) raise(PyExc_TypeError, "expected np.ndarray (got " + type_name(array) + ")");
  return wrap(tensor_from_buffer(array, true));
}
TORCH_FUNCTION(from_numpy, from_numpy_parameters, 1, from_numpy_call)

Parameter frombuffer_parameters[] = {{"buffer", Kind::Any},
                                     {"dtype", Kind::DType, kKeywordOnly},
                                     {"count", Kind::Int, kHasDefault | kKeywordOnly, 0, "-1"},
                                     {"offset", Kind::Int, kHasDefault | kKeywordOnly, 0, "0"},
                                     {"requires_grad", Kind::Bool, kHasDefault | kKeywordOnly, 0, "False"}};
PyObject* frombuffer_call(Arguments& arguments) {
  const c10::ScalarType dtype = arguments.dtype(1);
  const auto size = static_cast<int64_t>(c10::element_size(dtype));
  // memoryview().cast("B"): whatever the exporter calls its elements, they are bytes here.
  const Object view = Object::steal(PyMemoryView_FromObject(arguments.object(0)));
  if (!view) {
    PyErr_Clear();
    raise(PyExc_ValueError, "object does not implement Python buffer protocol: " + type_name(arguments.object(0)));
  }
  const Object bytes = Object::steal(checked(PyObject_CallMethod(view.get(), "cast", "s", "B")));
  const at::Tensor whole = tensor_from_buffer(bytes.get(), true);
  const int64_t offset = arguments.integer(3, 0);
  const int64_t available = whole.numel();
  TORCH_CHECK_VALUE(available > 0, "both buffer length (", available, ") and count (", arguments.integer(2, -1),
                    ") must not be 0");
  TORCH_CHECK_VALUE(offset >= 0 && offset < available, "offset (", offset,
                    " bytes) must be non-negative and no greater than buffer length (", available, " bytes) minus 1");
  int64_t count = arguments.integer(2, -1);
  if (count < 0) {
    TORCH_CHECK_VALUE((available - offset) % size == 0, "buffer length (", available - offset, " bytes) after offset (",
                      offset, " bytes) must be a multiple of element size (", size, ")");
    count = (available - offset) / size;
  }
  TORCH_CHECK_VALUE(count > 0 && count <= (available - offset) / size, "requested buffer length (", count, " * ", size,
                    " bytes) after offset (", offset, " bytes) must not be greater than actual buffer length (",
                    available, " bytes)");
  TORCH_CHECK_VALUE(
      (reinterpret_cast<uintptr_t>(whole.data_ptr()) + static_cast<uintptr_t>(offset)) % static_cast<uintptr_t>(size) ==
          0,
      "frombuffer: the buffer is not aligned to ", size, " bytes at offset ", offset, "; copy it first");
  auto impl = c10::make_intrusive<at::TensorImpl>(whole.storage(), dtype, at::Device(at::kCPU));
  if (offset % size == 0) {
    impl->set_sizes_and_strides({count}, {1}, offset / size);
  } else {
    // An offset that is no whole number of elements needs a storage of its own that begins there.
    auto* owner = new c10::Storage(whole.storage());
    c10::DataPtr data(static_cast<char*>(whole.data_ptr()) + offset, owner,
                      [](void* context) { delete static_cast<c10::Storage*>(context); }, at::kCPU);
    impl = c10::make_intrusive<at::TensorImpl>(c10::Storage(std::move(data), static_cast<size_t>(count * size)), dtype,
                                               at::Device(at::kCPU));
    impl->set_sizes_contiguous({count});
  }
  return finish(arguments, at::Tensor(std::move(impl)), 4);
}
TORCH_FUNCTION(frombuffer, frombuffer_parameters, 1, frombuffer_call)

// ---- questions

Parameter input_parameters[] = {{"input", Kind::Tensor}};
PyObject* numel_call(Arguments& arguments) { return PyLong_FromLongLong(arguments.tensor(0).numel()); }
PyObject* is_floating_point_call(Arguments& arguments) { return new_bool(arguments.tensor(0).is_floating_point()); }
PyObject* is_complex_call(Arguments& arguments) { return new_bool(arguments.tensor(0).is_complex()); }
PyObject* is_signed_call(Arguments& arguments) { return new_bool(c10::is_signed_type(arguments.tensor(0).dtype())); }
TORCH_FUNCTION(numel, input_parameters, 1, numel_call)
TORCH_FUNCTION(is_floating_point, input_parameters, 1, is_floating_point_call)
TORCH_FUNCTION(is_complex, input_parameters, 1, is_complex_call)
TORCH_FUNCTION(is_signed, input_parameters, 1, is_signed_call)

Parameter promote_parameters[] = {{"type1", Kind::DType}, {"type2", Kind::DType}};
PyObject* promote_call(Arguments& arguments) {
  return new_dtype(c10::promote_types(arguments.dtype(0), arguments.dtype(1)));
}
TORCH_FUNCTION(promote_types, promote_parameters, 2, promote_call)

Parameter can_cast_parameters[] = {{"from_", Kind::DType}, {"to", Kind::DType}};
PyObject* can_cast_call(Arguments& arguments) {
  return new_bool(c10::can_cast(arguments.dtype(0), arguments.dtype(1)));
}
TORCH_FUNCTION(can_cast, can_cast_parameters, 2, can_cast_call)

Parameter result_type_parameters[] = {{"tensor1", Kind::Tensor, kTakesNumbers | kNumbersAlone},
                                      {"tensor2", Kind::Tensor, kTakesNumbers | kNumbersAlone}};
PyObject* result_type_call(Arguments& arguments) {
  const at::Tensor operands[] = {arguments.tensor(0), arguments.tensor(1)};
  return new_dtype(at::result_type(at::TensorList(operands, 2)));
}
TORCH_FUNCTION(result_type, result_type_parameters, 2, result_type_call)

#undef TORCH_FUNCTION

template <const Callable& callable>
PyMethodDef by_table(const char* documentation) {
  return {callable.name, as_method(call_function<callable>), kFastMethod, documentation};
}

}  // namespace

PyMethodDef creation_functions[] = {
    by_table<tensor_callable>(
        TORCH_SIGNATURE("tensor($module, data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)")
        "A new tensor with a copy of data: numbers, nested sequences, arrays."),
    by_table<as_tensor_callable>(TORCH_SIGNATURE("as_tensor($module, data, dtype=None, device=None)")
                                 "data as a tensor, sharing memory where that is possible."),
    by_table<asarray_callable>(
        TORCH_SIGNATURE("asarray($module, obj, *, dtype=None, device=None, copy=None, requires_grad=False)")
        "obj as a tensor; copy says whether memory must, may or must not be new."),
    by_table<from_numpy_callable>(TORCH_SIGNATURE("from_numpy($module, ndarray)")
                                  "A tensor that shares a numpy.ndarray's memory."),
    by_table<frombuffer_callable>("frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False) -> Tensor\n"
                                  "A one-dimensional tensor that shares the memory of an object with a buffer."),
    by_table<numel_callable>(TORCH_SIGNATURE("numel($module, input)") "How many elements there are."),
    by_table<is_floating_point_callable>(
        TORCH_SIGNATURE("is_floating_point($module, input)")
        "Whether input's dtype holds fractions."),
    by_table<is_complex_callable>(
        TORCH_SIGNATURE("is_complex($module, input)")
        "Whether input's dtype holds complex numbers."),
    by_table<is_signed_callable>(
        TORCH_SIGNATURE("is_signed($module, input)")
        "Whether input's dtype holds negative numbers."),
    by_table<promote_types_callable>(TORCH_SIGNATURE("promote_types($module, type1, type2)")
                                     "The smallest dtype that both convert to."),
    by_table<can_cast_callable>(TORCH_SIGNATURE("can_cast($module, from_, to)")
                                "Whether results of dtype from_ may be written into tensors of dtype to."),
    by_table<result_type_callable>(TORCH_SIGNATURE("result_type($module, tensor1, tensor2)")
                                   "The dtype of an arithmetic operation on both."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace torch::python
