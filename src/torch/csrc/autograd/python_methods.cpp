// Tensor methods that are no operators: questions about the tensor, conversions, new_* factories, storage.

#include <torch/csrc/autograd/python_engine.h>
#include <torch/csrc/autograd/python_hooks.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/overrides.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/ATen.h>
#include <c10/core/Extents.h>

#include <string>

namespace torch::python {

namespace {

constexpr uint8_t kOption = kHasDefault | kKeywordOnly | kNullable;
constexpr uint8_t kOptional = kHasDefault | kNullable;

// ---- without arguments

PyObject* get_dim(PyObject* self, PyObject*) { return PyLong_FromLongLong(unpack(self).dim()); }
PyObject* get_numel(PyObject* self, PyObject*) { return PyLong_FromLongLong(unpack(self).numel()); }
PyObject* get_element_size(PyObject* self, PyObject*) { return PyLong_FromSize_t(unpack(self).element_size()); }
PyObject* get_storage_offset(PyObject* self, PyObject*) { return PyLong_FromLongLong(unpack(self).storage_offset()); }
PyObject* get_data_ptr(PyObject* self, PyObject*) {
  return guarded([&] {
    const at::Tensor& tensor = unpack(self);
    const bool has_data = (tensor.numel() != 0 || tensor.impl()->sparse()) && !tensor.is_meta();
    return PyLong_FromUnsignedLongLong(reinterpret_cast<uintptr_t>(has_data ? tensor.data_ptr() : nullptr));
  });
}
PyObject* get_is_floating_point(PyObject* self, PyObject*) { return new_bool(unpack(self).is_floating_point()); }
PyObject* get_is_complex(PyObject* self, PyObject*) { return new_bool(unpack(self).is_complex()); }
PyObject* get_is_signed(PyObject* self, PyObject*) { return new_bool(c10::is_signed_type(unpack(self).dtype())); }
PyObject* get_device_index(PyObject* self, PyObject*) { return PyLong_FromLong(unpack(self).device().index()); }
PyObject* get_is_view(PyObject* self, PyObject*) {
  return guarded([&] { return new_bool(unpack(self).is_view()); });
}
PyObject* tolist(PyObject* self, PyObject*) {
  return guarded([&] { return tensor_to_list(unpack(self)); });
}
PyObject* retain_grad(PyObject* self, PyObject*) {
  return guarded([&] {
    unpack(self).retain_grad();
    return new_none();
  });
}
PyObject* untyped_storage(PyObject* self, PyObject*) {
  return guarded([&] { return new_storage(unpack(self).storage()); });
}
PyObject* to_cpu(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (unpack(self).is_cpu()) {
      Py_INCREF(self);
      return self;
    }
    return wrap(unpack(self).cpu());
  });
}

// ---- with arguments, by tables

#define TORCH_METHOD(name, parameters, positional, call)                                                            \
  const Overload name##_overloads[] = {{parameters, static_cast<uint8_t>(std::size(parameters)), positional, false, \
                                        true, call}};                                                               \
  constexpr Callable name##_callable{#name, name##_overloads, 1};

Parameter size_parameters[] = {{"self", Kind::Tensor}, {"dim", Kind::Int, kOptional, 0, "None"}};
PyObject* size_call(Arguments& arguments) {
  const at::Tensor& self = arguments.tensor(0);
  if (!arguments.has(1)) return new_size(self.sizes());
  return PyLong_FromLongLong(self.size(arguments.integer(1)));
}
TORCH_METHOD(size, size_parameters, 2, size_call)

Parameter stride_parameters[] = {{"self", Kind::Tensor}, {"dim", Kind::Int, kOptional, 0, "None"}};
PyObject* stride_call(Arguments& arguments) {
  const at::Tensor& self = arguments.tensor(0);
  if (arguments.has(1)) return PyLong_FromLongLong(self.stride(arguments.integer(1)));
  Object strides = Object::steal(checked(PyTuple_New(self.dim())));
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    PyTuple_SET_ITEM(strides.get(), dim, checked(PyLong_FromLongLong(self.strides()[dim])));
  }
  return strides.release();
}
TORCH_METHOD(stride, stride_parameters, 2, stride_call)

Parameter cast_parameters[] = {
    {"self", Kind::Tensor}, {"memory_format", Kind::MemoryFormat, kOption, 0, "torch.preserve_format"}};
template <c10::ScalarType dtype>
PyObject* cast_call(Arguments& arguments) {
  at::Tensor result;
  {
    const ReleaseGil gil(arguments.is_heavy());
    result = arguments.tensor(0).to(dtype, /*non_blocking=*/false, /*copy=*/false, arguments.optional_memory_format(1));
  }
  return wrap(std::move(result));
}
#define TORCH_CAST(name, dtype)                                                                                        \
  const Overload name##_cast_overloads[] = {{cast_parameters, 2, 1, false, true, cast_call<at::dtype>}}; \
  constexpr Callable name##_cast_callable{#name, name##_cast_overloads, 1};
TORCH_CAST(float, kFloat)
TORCH_CAST(double, kDouble)
TORCH_CAST(int, kInt)
TORCH_CAST(long, kLong)
TORCH_CAST(byte, kByte)
TORCH_CAST(half, kHalf)
TORCH_CAST(bfloat16, kBFloat16)
TORCH_CAST(short, kShort)
TORCH_CAST(char, kChar)
TORCH_CAST(cfloat, kComplexFloat)
TORCH_CAST(cdouble, kComplexDouble)
TORCH_CAST(bool, kBool)
#undef TORCH_CAST

Parameter is_contiguous_parameters[] = {{"self", Kind::Tensor},
                                        {"memory_format", Kind::MemoryFormat, kOption, 0, "torch.contiguous_format"}};
PyObject* is_contiguous_call(Arguments& arguments) {
  return new_bool(arguments.tensor(0).is_contiguous(arguments.memory_format(1, c10::MemoryFormat::Contiguous)));
}
TORCH_METHOD(is_contiguous, is_contiguous_parameters, 1, is_contiguous_call)

Parameter numpy_parameters[] = {{"self", Kind::Tensor},
                                {"force", Kind::Bool, kHasDefault | kKeywordOnly, 0, "False"}};
PyObject* numpy_call(Arguments& arguments) {
  return tensor_to_numpy(arguments.tensor(0), arguments.boolean(1, false));
}
TORCH_METHOD(numpy, numpy_parameters, 1, numpy_call)

Parameter requires_grad_parameters[] = {{"self", Kind::Tensor},
                                        {"requires_grad", Kind::Bool, kHasDefault, 0, "True"}};
PyObject* requires_grad_call(Arguments& arguments) {
  PyObject* self = arguments.object(0);
  const bool wanted = arguments.boolean(1, true);
  if (!wanted || unpack(self).is_leaf()) {  // a result that has a history requires gradients already
    checked(PyObject_SetAttrString(self, "requires_grad", Object::steal(new_bool(wanted)).get()));
  }
  Py_INCREF(self);
  return self;
}
TORCH_METHOD(requires_grad_, requires_grad_parameters, 2, requires_grad_call)

Parameter cuda_parameters[] = {{"self", Kind::Tensor},
                               {"device", Kind::Device, kOptional, 0, "None"},
                               {"non_blocking", Kind::Bool, kHasDefault, 0, "False"}};
PyObject* cuda_call(Arguments& arguments) {
  const c10::Device device = arguments.optional_device(1).value_or(c10::Device(c10::kCUDA));
  if (!device.is_cuda()) raise(PyExc_RuntimeError, "Invalid device, must be cuda device: " + device.str());
  return wrap(arguments.tensor(0).to(device, std::nullopt, arguments.given(2) && arguments.boolean(2)));
}
TORCH_METHOD(cuda, cuda_parameters, 3, cuda_call)

// The dtype that "torch.FloatTensor" names, and whether it is CUDA's ("torch.cuda.FloatTensor").
std::pair<c10::ScalarType, bool> parse_type_name(const std::string& name) {
  if (name == "torch.Tensor") return {c10::get_default_dtype(), false};
  const bool cuda = name.rfind("torch.cuda.", 0) == 0;
  for (const c10::TypeFacts& facts : c10::all_scalar_types()) {
    if (name == std::string(cuda ? "torch.cuda." : "torch.") + facts.enumerator + "Tensor") return {facts.type, cuda};
  }
  raise(PyExc_ValueError, "invalid type: '" + name + "'");
}

// type(): "torch.FloatTensor" or "torch.cuda.FloatTensor"; type(dtype), type("torch.FloatTensor") and
// type(torch.FloatTensor) convert.
Parameter type_parameters[] = {{"self", Kind::Tensor}, {"dtype", Kind::Any, kOptional, 0, "None"}};
PyObject* type_call(Arguments& arguments) {
  const at::Tensor& self = arguments.tensor(0);
  if (!arguments.has(1)) {
    return new_string(std::string(self.is_cuda() ? "torch.cuda." : "torch.") + c10::to_string(self.dtype()) + "Tensor");
  }
  PyObject* wanted = arguments.object(1);
  Object name = Object::borrow(wanted);
  if (PyType_Check(wanted) && !is_dtype_like(wanted)) {  // torch.FloatTensor
    const Object home = Object::steal(checked(PyObject_GetAttrString(wanted, "__module__")));
    const Object own = Object::steal(checked(PyObject_GetAttrString(wanted, "__name__")));
    name = Object::steal(checked(PyUnicode_FromFormat("%U.%U", home.get(), own.get())));
  }
  if (PyUnicode_Check(name.get())) {
    const char* text = PyUnicode_AsUTF8(name.get());
    if (!text) throw PythonError();
    const auto [dtype, cuda] = parse_type_name(text);
    return wrap(self.to(at::Device(cuda ? at::kCUDA : at::kCPU), dtype));
  }
  if (!is_dtype_like(wanted)) raise(PyExc_TypeError, "dtype must be a type, str, or dtype object");
  return wrap(self.to(to_dtype(arguments.object(1))));
}
TORCH_METHOD(type, type_parameters, 2, type_call)

// ---- view: other sizes, or the same bytes as another dtype

Parameter view_size_parameters[] = {{"self", Kind::Tensor}, {"size", Kind::IntList}};
PyObject* view_size_call(Arguments& arguments) { return wrap(arguments.tensor(0).view(arguments.integers(1))); }

Parameter view_dtype_parameters[] = {{"self", Kind::Tensor}, {"dtype", Kind::DType}};
PyObject* view_dtype_call(Arguments& arguments) {
  const at::Tensor& self = arguments.tensor(0);
  const c10::ScalarType dtype = arguments.dtype(1);
  const auto old_size = static_cast<int64_t>(self.element_size());
  const auto new_size = static_cast<int64_t>(c10::element_size(dtype));
  TORCH_CHECK(!self.requires_grad() || dtype == self.dtype(),
              "view(dtype) of a tensor that requires grad is not differentiable; detach() it first");
  at::DimVector sizes = self.sizes();
  at::DimVector strides = self.strides();
  int64_t offset = self.storage_offset();
  if (old_size != new_size) {
    TORCH_CHECK(self.dim() > 0 && strides.back() == 1, "self.stride(-1) must be 1 and self.dim() above 0 to view ",
                self.dtype(), " as ", dtype, " (different element sizes)");
    if (old_size < new_size) {
      const int64_t ratio = new_size / old_size;
      TORCH_CHECK(sizes.back() % ratio == 0, "self.size(-1) must be divisible by ", ratio, " to view ", self.dtype(),
                  " as ", dtype, " (different element sizes), but got ", sizes.back());
      TORCH_CHECK(offset % ratio == 0, "self.storage_offset() must be divisible by ", ratio, " to view ", self.dtype(),
                  " as ", dtype, " (different element sizes), but got ", offset);
    }
    sizes.back() = sizes.back() * old_size / new_size;
    offset = offset * old_size / new_size;
    for (size_t dim = 0; dim + 1 < strides.size(); ++dim) {
      TORCH_CHECK(old_size > new_size || strides[dim] % (new_size / old_size) == 0, "self.stride(", dim,
                  ") must be divisible by ", new_size / old_size, " to view ", self.dtype(), " as ", dtype);
      // The stride of a single element can be any number; where there are more, the product fits.
      strides[dim] =
          static_cast<int64_t>(static_cast<uint64_t>(strides[dim]) * static_cast<uint64_t>(old_size)) / new_size;
    }
  }
  auto impl = c10::make_intrusive<at::TensorImpl>(self.storage(), dtype, self.device());
  impl->set_sizes_and_strides(sizes, strides, offset);
  impl->set_version_counter(self.impl()->version_counter().shared());
  return wrap(at::Tensor(std::move(impl)));
}
const Overload view_overloads[] = {{view_size_parameters, 2, 2, false, true, view_size_call},
                                   {view_dtype_parameters, 2, 2, false, true, view_dtype_call}};
constexpr Callable view_callable{"view", view_overloads, 2};

// ---- set_(storage, storage_offset, size, stride), set_(tensor)

Parameter set_storage_parameters[] = {{"self", Kind::Tensor},
                                      {"source", Kind::Any},
                                      {"storage_offset", Kind::Int, kHasDefault, 0, "0"},
                                      {"size", Kind::IntList, kHasDefault, 0, "()"},
                                      {"stride", Kind::IntList, kHasDefault, 0, "()"}};
PyObject* set_storage_call(Arguments& arguments) {
  const at::Tensor& self = arguments.tensor(0);
  PyObject* source = arguments.object(1);
  TORCH_CHECK(!self.impl()->sparse() && !(is_tensor(source) && unpack(source).impl()->sparse()),
              "set_(): a sparse tensor has no storage to set");
  if (is_tensor(source)) {
    TORCH_CHECK(unpack(source).dtype() == self.dtype(), "set_(): the dtypes differ");
    self.impl()->shallow_assign(*unpack(source).impl());
  } else {
    Object untyped;
    if (!PyObject_TypeCheck(source, &StorageType)) {
      untyped = Object::steal(PyObject_GetAttrString(source, "_untyped_storage"));  // torch.FloatStorage and its like
      PyErr_Clear();
      if (!untyped || !PyObject_TypeCheck(untyped.get(), &StorageType)) {
        raise(PyExc_TypeError, "set_(): argument 'source' (position 1) must be Tensor or a storage, not " +
                                   type_name(source));
      }
      const Object dtype = Object::steal(checked(PyObject_GetAttrString(source, "dtype")));
      TORCH_CHECK(to_dtype(dtype.get()) == self.dtype(), "Expected a Storage of type ", c10::to_string(self.dtype()),
                  " or an UntypedStorage, but got type ", c10::to_string(to_dtype(dtype.get())),
                  " for argument 1 'storage'");
      source = untyped.get();
    }
    const c10::Storage& storage = unpack_storage(source);
    TORCH_CHECK(storage.device() == self.device(), "set_(): the storage is on ", storage.device(), ", the tensor on ",
                self.device());
    const auto element = static_cast<int64_t>(self.element_size());
    const int64_t offset = arguments.integer(2, 0);
    at::DimVector sizes = arguments.integers(3);
    if (!arguments.given(3)) {
      const int64_t elements = static_cast<int64_t>(storage.nbytes()) / element;
      TORCH_CHECK(offset >= 0 && offset <= elements, "Tensor: invalid storage offset ", offset);
      sizes.push_back(elements - offset);
    }
    at::DimVector strides = arguments.integers(4);
    if (!arguments.given(4)) {
      strides.resize(sizes.size());
      int64_t stride = 1;
      for (size_t dim = sizes.size(); dim-- > 0;) {
        strides[dim] = stride;
        stride = c10::checked_multiply(stride, std::max<int64_t>(sizes[dim], 1), "set_");
      }
    }
    TORCH_CHECK(sizes.size() == strides.size(), "unequal size length (", sizes.size(), ") and stride length (",
                strides.size(), ")");
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      TORCH_CHECK(sizes[dim] >= 0 && strides[dim] >= 0, "set_(): sizes and strides must not be negative");
    }
    c10::check_within_storage(sizes, strides, element, offset, storage.nbytes());
    self.impl()->set_sizes_and_strides(sizes, strides, offset);  // which may refuse them; then nothing has changed
    self.impl()->set_storage(storage);
  }
  Py_INCREF(arguments.object(0));
  return arguments.object(0);
}
TORCH_METHOD(set_, set_storage_parameters, 5, set_storage_call)

// ---- new_*: of self's dtype and device unless something else is asked for

at::TensorOptions options_like(const Arguments& arguments, const at::Tensor& self, size_t first) {
  return at::TensorOptions(arguments.optional_dtype(first).value_or(self.dtype()))
      .device(arguments.optional_device(first + 1).value_or(self.device()));
}
PyObject* finish_new(const Arguments& arguments, at::Tensor result, size_t requires_grad) {
  if (arguments.has(requires_grad) && arguments.boolean(requires_grad)) result.requires_grad_(true);
  return wrap(std::move(result));
}

Parameter new_size_parameters[] = {{"self", Kind::Tensor},
                                   {"size", Kind::IntList},
                                   {"dtype", Kind::DType, kOption, 0, "None"},
                                   {"device", Kind::Device, kOption, 0, "None"},
                                   {"requires_grad", Kind::Bool, kHasDefault | kKeywordOnly, 0, "False"}};
using Factory = at::Tensor (*)(at::IntArrayRef, const at::TensorOptions&);
template <Factory factory>
PyObject* new_size_call(Arguments& arguments) {
  const at::TensorOptions options = options_like(arguments, arguments.tensor(0), 2);
  return finish_new(arguments, factory(arguments.integers(1), options), 4);
}
at::Tensor make_empty(at::IntArrayRef size, const at::TensorOptions& options) { return at::empty(size, options); }
at::Tensor make_zeros(at::IntArrayRef size, const at::TensorOptions& options) { return at::zeros(size, options); }
at::Tensor make_ones(at::IntArrayRef size, const at::TensorOptions& options) { return at::ones(size, options); }
TORCH_METHOD(new_empty, new_size_parameters, 2, new_size_call<make_empty>)
TORCH_METHOD(new_zeros, new_size_parameters, 2, new_size_call<make_zeros>)
TORCH_METHOD(new_ones, new_size_parameters, 2, new_size_call<make_ones>)

Parameter new_full_parameters[] = {{"self", Kind::Tensor},
                                   {"size", Kind::IntList},
                                   {"fill_value", Kind::Scalar},
                                   {"dtype", Kind::DType, kOption, 0, "None"},
                                   {"device", Kind::Device, kOption, 0, "None"},
                                   {"requires_grad", Kind::Bool, kHasDefault | kKeywordOnly, 0, "False"}};
PyObject* new_full_call(Arguments& arguments) {
  const at::TensorOptions options = options_like(arguments, arguments.tensor(0), 3);
  return finish_new(arguments, at::full(arguments.integers(1), arguments.scalar(2), options), 5);
}
TORCH_METHOD(new_full, new_full_parameters, 3, new_full_call)

Parameter new_tensor_parameters[] = {{"self", Kind::Tensor},
                                     {"data", Kind::Any},
                                     {"dtype", Kind::DType, kOption, 0, "None"},
                                     {"device", Kind::Device, kOption, 0, "None"},
                                     {"requires_grad", Kind::Bool, kHasDefault | kKeywordOnly, 0, "False"}};
PyObject* new_tensor_call(Arguments& arguments) {
  const at::TensorOptions options = options_like(arguments, arguments.tensor(0), 2);
  return finish_new(arguments, tensor_from_data(arguments.object(1), options.dtype(), options.device()), 4);
}
TORCH_METHOD(new_tensor, new_tensor_parameters, 2, new_tensor_call)

// as_subclass(cls): the same tensor, with its history, as an object of another class. No class is asked: it is what
// they turn results into theirs with.
PyObject* as_subclass(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"cls", nullptr};
    PyObject* type = nullptr;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:as_subclass", const_cast<char**>(names), &type))
      return nullptr;
    if (!PyType_Check(type) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &TensorBaseType)) {
      raise(PyExc_TypeError, "cls must be a type, a subclass of torch.Tensor (got " + type_name(type) + ")");
    }
    return wrap_as(reinterpret_cast<PyTypeObject*>(type), at::alias(unpack(self)));
  });
}

// ---- hooks

Parameter add_hook_parameters[] = {{"self", Kind::Tensor},
                                   {"hook", Kind::Any},
                                   {"post_accumulate", Kind::Bool, kHasDefault | kKeywordOnly, 0, "False"}};
PyObject* add_hook_call(Arguments& arguments) {
  return PyLong_FromLongLong(
      add_grad_hook(arguments.tensor(0), arguments.object(1), arguments.boolean(2, false)));
}
TORCH_METHOD(_add_grad_hook, add_hook_parameters, 2, add_hook_call)

Parameter remove_hook_parameters[] = {{"self", Kind::Tensor}, {"id", Kind::Int}};
PyObject* remove_hook_call(Arguments& arguments) {
  remove_grad_hook(arguments.tensor(0), arguments.integer(1));
  return new_none();
}
TORCH_METHOD(_remove_grad_hook, remove_hook_parameters, 2, remove_hook_call)

#undef TORCH_METHOD

// A method without arguments. Its name is looked up only when it is overridden.
template <PyCFunction method>
PyObject* overridable(PyObject* self, PyObject*) {
  if (!is_overridden(self)) return method(self, nullptr);
  return guarded([&]() -> PyObject* {
    const PyMethodDef* definition = tensor_methods;
    while (definition->ml_meth != overridable<method>) ++definition;
    return call_method_override(definition->ml_name, self);
  });
}

template <const Callable& callable>
PyMethodDef by_table(const char* documentation) {
  return {callable.name, as_method(call_method<callable>), kFastMethod, documentation};
}

}  // namespace

PyMethodDef tensor_methods[] = {
    {"dim", overridable<get_dim>, METH_NOARGS, TORCH_SIGNATURE("dim($self)") "How many dimensions there are."},
    {"ndimension", overridable<get_dim>, METH_NOARGS, TORCH_SIGNATURE("ndimension($self)") "The same as dim()."},
    {"numel", overridable<get_numel>, METH_NOARGS, TORCH_SIGNATURE("numel($self)") "How many elements there are."},
    {"nelement", overridable<get_numel>, METH_NOARGS, TORCH_SIGNATURE("nelement($self)") "The same as numel()."},
    {"element_size", overridable<get_element_size>, METH_NOARGS,
     TORCH_SIGNATURE("element_size($self)") "Bytes of one element."},
    {"storage_offset", overridable<get_storage_offset>, METH_NOARGS,
     TORCH_SIGNATURE("storage_offset($self)") "Where in the storage the first element is, in elements."},
    {"data_ptr", overridable<get_data_ptr>, METH_NOARGS,
     TORCH_SIGNATURE("data_ptr($self)") "The address of the first element."},
    {"is_floating_point", overridable<get_is_floating_point>, METH_NOARGS, nullptr},
    {"is_signed", overridable<get_is_signed>, METH_NOARGS, nullptr},
    {"is_complex", overridable<get_is_complex>, METH_NOARGS, nullptr},
    {"get_device", overridable<get_device_index>, METH_NOARGS,
     TORCH_SIGNATURE("get_device($self)") "The device's index; -1 on CPU."},
    {"_is_view", overridable<get_is_view>, METH_NOARGS, nullptr},
    {"tolist", overridable<tolist>, METH_NOARGS, TORCH_SIGNATURE("tolist($self)") "Nested lists of numbers."},
    {"retain_grad", overridable<retain_grad>, METH_NOARGS,
     TORCH_SIGNATURE("retain_grad($self)") "Makes backward() fill .grad of a tensor that is no leaf, too."},
    {"untyped_storage", overridable<untyped_storage>, METH_NOARGS,
     TORCH_SIGNATURE("untyped_storage($self)") "The bytes under it."},
    {"cpu", overridable<to_cpu>, METH_NOARGS,
     TORCH_SIGNATURE("cpu($self)") "The tensor on the CPU; itself if it is there."},
    by_table<float_cast_callable>(
        TORCH_SIGNATURE("float($self, *, memory_format=torch.preserve_format)") "to(torch.float32)."),
    by_table<double_cast_callable>(
        TORCH_SIGNATURE("double($self, *, memory_format=torch.preserve_format)") "to(torch.float64)."),
    by_table<int_cast_callable>(
        TORCH_SIGNATURE("int($self, *, memory_format=torch.preserve_format)") "to(torch.int32)."),
    by_table<long_cast_callable>(
        TORCH_SIGNATURE("long($self, *, memory_format=torch.preserve_format)") "to(torch.int64)."),
    by_table<byte_cast_callable>(
        TORCH_SIGNATURE("byte($self, *, memory_format=torch.preserve_format)") "to(torch.uint8)."),
    by_table<half_cast_callable>(
        TORCH_SIGNATURE("half($self, *, memory_format=torch.preserve_format)") "to(torch.float16)."),
    by_table<bfloat16_cast_callable>(
        TORCH_SIGNATURE("bfloat16($self, *, memory_format=torch.preserve_format)") "to(torch.bfloat16)."),
    by_table<short_cast_callable>(
        TORCH_SIGNATURE("short($self, *, memory_format=torch.preserve_format)") "to(torch.int16)."),
    by_table<char_cast_callable>(
        TORCH_SIGNATURE("char($self, *, memory_format=torch.preserve_format)") "to(torch.int8)."),
    by_table<cfloat_cast_callable>(
        TORCH_SIGNATURE("cfloat($self, *, memory_format=torch.preserve_format)") "to(torch.complex64)."),
    by_table<cdouble_cast_callable>(
        TORCH_SIGNATURE("cdouble($self, *, memory_format=torch.preserve_format)") "to(torch.complex128)."),
    by_table<bool_cast_callable>(
        TORCH_SIGNATURE("bool($self, *, memory_format=torch.preserve_format)") "to(torch.bool)."),
    by_table<size_callable>(TORCH_SIGNATURE("size($self, dim=None)") "shape, or the size of one dimension."),
    by_table<stride_callable>(TORCH_SIGNATURE("stride($self, dim=None)") "Steps between elements, in elements."),
    by_table<is_contiguous_callable>(nullptr),
    by_table<numpy_callable>(
        TORCH_SIGNATURE("numpy($self, *, force=False)") "A numpy.ndarray of the same memory; force copies if it must."),
    by_table<requires_grad__callable>(
        TORCH_SIGNATURE("requires_grad_($self, requires_grad=True)") "Sets requires_grad; returns itself."),
    by_table<cuda_callable>(TORCH_SIGNATURE("cuda($self, device=None, non_blocking=False)") "A copy on a CUDA device."),
    by_table<type_callable>(TORCH_SIGNATURE("type($self, dtype=None)") "Its type's name, or a conversion."),
    by_table<view_callable>("view(*size) or view(dtype): the same memory in another shape or as another dtype."),
    by_table<set__callable>(nullptr),
    by_table<new_empty_callable>(nullptr),
    by_table<new_zeros_callable>(nullptr),
    by_table<new_ones_callable>(nullptr),
    by_table<new_full_callable>(nullptr),
    by_table<new_tensor_callable>(nullptr),
    {"as_subclass", as_method(as_subclass), METH_VARARGS | METH_KEYWORDS,
     TORCH_SIGNATURE("as_subclass($self, cls)") "The same memory and history as an instance of cls."},
    by_table<_add_grad_hook_callable>(nullptr),
    by_table<_remove_grad_hook_callable>(nullptr),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace torch::python
