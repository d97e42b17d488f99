#include <torch/csrc/utils/python_dispatch.h>

#include <torch/csrc/autograd/dispatch.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/mode_stack.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>

#include <string>
#include <utility>
#include <vector>

namespace torch::python {

namespace {

using autograd::dispatch::Argument;
using autograd::dispatch::Result;

thread_local ModeStack modes;
// How many _DisableTorchDispatch hold on this thread.
thread_local int disabled = 0;

PyObject* protocol_name = nullptr;  // "__torch_dispatch__", interned
PyObject* opted_out = nullptr;      // torch._C._disabled_torch_dispatch_impl

class WithoutDispatch {
 public:
  WithoutDispatch() { ++disabled; }
  ~WithoutDispatch() { --disabled; }
  WithoutDispatch(const WithoutDispatch&) = delete;
  WithoutDispatch& operator=(const WithoutDispatch&) = delete;
};

// ---- from C++ to Python

Object tensor_object(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.impl()->is_wrapped_number()) return Object::steal(wrap(tensor));
  const WithoutDispatch without;  // a number that Python wrote is a number there
  return Object::steal(from_scalar(tensor.item()));
}

template <typename Values, typename Convert>
Object make_list(const Values& values, Convert&& convert) {
  Object list = Object::steal(checked(PyList_New(static_cast<Py_ssize_t>(values.size()))));
  Py_ssize_t position = 0;
  for (const auto& value : values) PyList_SET_ITEM(list.get(), position++, convert(value));
  return list;
}

template <typename Value, typename Convert>
Object optional_object(const Argument& argument, Convert&& convert) {
  const auto& value = argument.as<std::optional<Value>>();
  return value ? Object::steal(checked(convert(*value))) : Object::borrow(Py_None);
}

PyObject* new_integer(int64_t value) { return PyLong_FromLongLong(value); }
PyObject* new_text(std::string_view value) {
  return PyUnicode_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
}

void add_options(std::vector<Object>& objects, const at::TensorOptions& options) {
  const auto add = [&](PyObject* object) { objects.push_back(Object::steal(checked(object))); };
  add(options.dtype_opt ? new_dtype(*options.dtype_opt) : new_none());
  add(options.layout_opt ? new_layout(*options.layout_opt) : new_none());
  add(options.device_opt ? new_device(*options.device_opt) : new_none());
  add(options.pinned_memory() ? new_bool(true) : new_none());
}

Object to_object(const Argument& argument) {
  using Kind = Argument::Kind;
  const auto integers = [](const auto& values) { return make_list(values, new_integer); };
  switch (argument.kind) {
    case Kind::Tensor: return tensor_object(argument.as<at::Tensor>());
    case Kind::TensorList:
      return make_list(argument.as<at::TensorList>(),
                       [](const at::Tensor& item) { return tensor_object(item).release(); });
    case Kind::Scalar: return Object::steal(from_scalar(argument.as<c10::Scalar>()));
    case Kind::OptionalScalar: return optional_object<c10::Scalar>(argument, from_scalar);
    case Kind::Int: return Object::steal(new_integer(argument.as<int64_t>()));
    case Kind::OptionalInt: return optional_object<int64_t>(argument, new_integer);
    case Kind::IntList: return integers(argument.as<at::IntArrayRef>());
    case Kind::OptionalIntList: {
      const auto& values = argument.as<at::OptionalIntArrayRef>();
      return values.has_value() ? integers(values.value()) : Object::borrow(Py_None);
    }
    case Kind::Float: return Object::steal(PyFloat_FromDouble(argument.as<double>()));
    case Kind::OptionalFloat: return optional_object<double>(argument, PyFloat_FromDouble);
    case Kind::FloatList: return make_list(argument.as<at::ArrayRef<double>>(), PyFloat_FromDouble);
    case Kind::OptionalFloatList: {
      const auto& values = argument.as<std::optional<at::ArrayRef<double>>>();
      return values ? make_list(*values, PyFloat_FromDouble) : Object::borrow(Py_None);
    }
    case Kind::Bool: return Object::steal(new_bool(argument.as<bool>()));
    case Kind::OptionalBool: return optional_object<bool>(argument, [](bool value) { return new_bool(value); });
    case Kind::String: return Object::steal(checked(new_text(argument.as<std::string_view>())));
    case Kind::OptionalString: return optional_object<std::string_view>(argument, new_text);
    case Kind::DType: return Object::steal(new_dtype(argument.as<c10::ScalarType>()));
    case Kind::OptionalDType: return optional_object<c10::ScalarType>(argument, new_dtype);
    case Kind::Layout: return Object::steal(new_layout(argument.as<c10::Layout>()));
    case Kind::OptionalLayout: return optional_object<c10::Layout>(argument, new_layout);
    case Kind::Device: return Object::steal(new_device(argument.as<c10::Device>()));
    case Kind::OptionalDevice: return optional_object<c10::Device>(argument, new_device);
    case Kind::MemoryFormat: return Object::steal(new_memory_format(argument.as<c10::MemoryFormat>()));
    case Kind::OptionalMemoryFormat: return optional_object<c10::MemoryFormat>(argument, new_memory_format);
    case Kind::Generator: {
      const auto& generator = argument.as<at::Generator>();
      return generator.defined() ? Object::steal(new_generator(generator)) : Object::borrow(Py_None);
    }
    case Kind::Options: break;  // four arguments: add_options
  }
  TORCH_INTERNAL_ASSERT(false, "an argument of an unknown kind");
}

// The values of a call in the order of its schema.
Object to_tuple(at::ArrayRef<Argument> arguments) {
  std::vector<Object> objects;
  for (const Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::Options) {
      add_options(objects, argument.as<at::TensorOptions>());
    } else {
      objects.push_back(to_object(argument));
    }
  }
  Object tuple = Object::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(objects.size()))));
  Py_ssize_t position = 0;
  for (Object& object : objects) PyTuple_SET_ITEM(tuple.get(), position++, object.release());
  return tuple;
}

// ---- from Python to C++

at::Tensor to_tensor(PyObject* object, const char* name) {
  if (object == Py_None) return {};
  if (!is_tensor(object)) {
    const std::string returned = "__torch_dispatch__ returned " + type_name(object);
    raise(PyExc_TypeError, returned + " where aten::" + name + " returns a Tensor");
  }
  return unpack(object);
}

void read_result(const Result& result, PyObject* object, const char* name) {
  switch (result.kind) {
    case Result::Kind::Tensor: result.as<at::Tensor>() = to_tensor(object, name); return;
    case Result::Kind::TensorList: {
      const char* expected = "__torch_dispatch__ has to return a list of tensors";
      const Object items = Object::steal(checked(PySequence_Fast(object, expected)));
      auto& tensors = result.as<std::vector<at::Tensor>>();
      for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(items.get()); ++index) {
        tensors.push_back(to_tensor(PySequence_Fast_GET_ITEM(items.get(), index), name));
      }
      return;
    }
    case Result::Kind::Scalar: result.as<c10::Scalar>() = to_scalar(object); return;
    case Result::Kind::Int: result.as<int64_t>() = to_integer(object); return;
    case Result::Kind::Float: result.as<double>() = to_double(object); return;
    case Result::Kind::Bool: result.as<bool>() = checked(PyObject_IsTrue(object)) != 0; return;
    case Result::Kind::DType: result.as<c10::ScalarType>() = to_dtype(object); return;
  }
}

void read_results(at::ArrayRef<Result> results, PyObject* object, const char* name) {
  if (results.size() == 1) return read_result(results[0], object, name);
  if (results.empty()) return;  // nothing, or what was written
  const char* expected = "__torch_dispatch__ has to return a tuple of results";
  const Object items = Object::steal(checked(PySequence_Fast(object, expected)));
  if (static_cast<size_t>(PySequence_Fast_GET_SIZE(items.get())) != results.size()) {
    const std::string counted = "__torch_dispatch__ returned another number of results than aten::";
    raise(PyExc_TypeError, counted + name + " has");
  }
  for (size_t index = 0; index < results.size(); ++index) {
    read_result(results[index], PySequence_Fast_GET_ITEM(items.get(), static_cast<Py_ssize_t>(index)), name);
  }
}

// ---- who answers

template <typename Visit>
void visit_tensors(at::ArrayRef<Argument> arguments, Visit&& visit) {
  for (const Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::Tensor) {
      visit(argument.as<at::Tensor>());
    } else if (argument.kind == Argument::Kind::TensorList) {
      for (const at::Tensor& tensor : argument.as<at::TensorList>()) visit(tensor);
    }
  }
}

bool is_asked(at::ArrayRef<Argument> arguments) {
  if (!modes.empty()) return true;
  bool found = false;
  visit_tensors(arguments, [&](const at::Tensor& tensor) {
    if (found || !tensor.defined() || !tensor.impl()->pyobj()) return;
    PyTypeObject* type = Py_TYPE(static_cast<PyObject*>(tensor.impl()->pyobj()));
    found = type != tensor_class && class_dispatches(type);
  });
  return found;
}

bool answer(const char* name, at::ArrayRef<Argument> arguments, at::ArrayRef<Result> results) {
  const AcquireGil gil;
  if (disabled || !is_asked(arguments)) {
    visit_tensors(arguments, [&](const at::Tensor& tensor) {
      TORCH_CHECK_NOT_IMPLEMENTED(!autograd::dispatch::is_wrapper(tensor), "aten::", name,
                                  ": a tensor has no memory, and __torch_dispatch__ of its class is not asked here");
    });
    return false;
  }
  static PyObject* ask = [] {
    const Object module = Object::steal(checked(PyImport_ImportModule("torch._ops")));
    return checked(PyObject_GetAttrString(module.get(), "_dispatch"));
  }();
  const c10::NoGradGuard no_grad;  // what is done for an operator is below autograd
  const Object values = to_tuple(arguments);
  const Object found = Object::steal(checked(PyObject_CallFunction(ask, "sO", name, values.get())));
  read_results(results, found.get(), name);
  return true;
}

// ---- for Python

PyObject* disabled_implementation(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject *function = nullptr, *types = nullptr, *positional = nullptr, *keywords = nullptr;
    if (!PyArg_ParseTuple(arguments, "OO|OO:_disabled_torch_dispatch_impl", &function, &types, &positional,
                          &keywords)) {
      return nullptr;
    }
    const Object tuple = Object::steal(checked(positional ? PySequence_Tuple(positional) : PyTuple_New(0)));
    const WithoutDispatch without;
    return PyObject_Call(function, tuple.get(), keywords == Py_None ? nullptr : keywords);
  });
}

PyObject* push_mode(PyObject*, PyObject* mode) {
  Py_INCREF(mode);
  modes.push(mode);
  autograd::dispatch::count_user(1);
  return new_none();
}
PyObject* pop_mode(PyObject*, PyObject*) {
  return guarded([] {
    PyObject* mode = modes.pop();
    autograd::dispatch::count_user(-1);
    return mode;
  });
}
PyObject* count_modes(PyObject*, PyObject*) { return PyLong_FromSize_t(modes.size()); }
PyObject* get_mode(PyObject*, PyObject* position) {
  return guarded([&] { return modes.at(position); });
}

PyObject* answers(PyObject*, PyObject* type) {
  return new_bool(PyType_Check(type) && class_dispatches(reinterpret_cast<PyTypeObject*>(type)));
}

// _make_wrapper(cls, sizes, strides, storage_offset, dtype, device, requires_grad)
PyObject* make_wrapper_object(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject *type = nullptr, *sizes = nullptr, *strides = nullptr, *dtype = nullptr, *device = nullptr;
    Py_ssize_t offset = 0;
    int requires_grad = 0;
    if (!PyArg_ParseTuple(arguments, "O!OOnO!O!p:_make_wrapper", &PyType_Type, &type, &sizes, &strides, &offset,
                          &DtypeType, &dtype, &DeviceTypeObject, &device, &requires_grad)) {
      return nullptr;
    }
    auto* wanted = reinterpret_cast<PyTypeObject*>(type);
    if (!PyType_IsSubtype(wanted, &TensorBaseType) || !class_dispatches(wanted)) {
      raise(PyExc_TypeError, "_make_wrapper_subclass: cls must be a subclass of torch.Tensor with __torch_dispatch__");
    }
    const at::DimVector shape = to_integers(sizes, "size");
    const at::DimVector steps = to_integers(strides, "strides");
    using autograd::dispatch::make_wrapper;
    const at::Tensor tensor = make_wrapper(shape, steps, offset, to_dtype(dtype), to_device(device));
    tensor.requires_grad_(requires_grad != 0);
    return wrap_as(wanted, tensor);
  });
}

// _swap_tensor_impl(one, two): each object is the tensor that the other was. Graphs go on with what they have.
PyObject* swap_impls(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject *one = nullptr, *two = nullptr;
    if (!PyArg_ParseTuple(arguments, "O!O!:_swap_tensor_impl", &TensorBaseType, &one, &TensorBaseType, &two)) {
      return nullptr;
    }
    std::swap(unpack_mutable(one), unpack_mutable(two));
    for (PyObject* object : {one, two}) unpack(object).impl()->set_pyobj(object, false);
    return new_none();
  });
}

PyObject* list_schemas(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Object list = Object::steal(checked(PyList_New(0)));
    for (const OperatorRow* row = operator_rows; row->schema; ++row) {
      checked(PyList_Append(list.get(), Object::steal(checked(PyUnicode_FromString(row->schema))).get()));
    }
    return list.release();
  });
}

// _call_operator(row, args, kwargs): the operator of a row of _operator_schemas(), and no other overload.
PyObject* call_operator(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    Py_ssize_t index = 0;
    PyObject *positional = nullptr, *keywords = nullptr;
    if (!PyArg_ParseTuple(arguments, "nO!O!:_call_operator", &index, &PyTuple_Type, &positional, &PyDict_Type,
                          &keywords)) {
      return nullptr;
    }
    const OperatorRow& row = operator_rows[index];
    const Py_ssize_t count = PyTuple_GET_SIZE(positional);
    std::vector<PyObject*> values(PySequence_Fast_ITEMS(positional), PySequence_Fast_ITEMS(positional) + count);
    const Object names = Object::steal(checked(PySequence_Tuple(keywords)));
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(names.get()); ++place) {
      values.push_back(PyDict_GetItem(keywords, PyTuple_GET_ITEM(names.get(), place)));
    }
    PyObject* keyword_names = PyTuple_GET_SIZE(names.get()) ? names.get() : nullptr;
    Arguments bound;
    const Overload& overload = row.callable->overloads[row.overload];
    if (bind(overload, bound, nullptr, values.data(), count, keyword_names)) return overload.call(bound);
    raise(PyExc_TypeError, std::string("aten::") + row.schema + ": the arguments do not fit");
  });
}

// An object that keeps operators of its thread from `__torch_dispatch__`, from its making until its end.
struct DisableObject {
  PyObject_HEAD
  bool holds;
};
PyObject* disable_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) {
    reinterpret_cast<DisableObject*>(self)->holds = true;
    ++disabled;
  }
  return self;
}
void disable_end(PyObject* self) {
  if (std::exchange(reinterpret_cast<DisableObject*>(self)->holds, false)) --disabled;
}
void disable_dealloc(PyObject* self) {
  disable_end(self);
  Py_TYPE(self)->tp_free(self);
}
PyObject* disable_enter(PyObject* self, PyObject*) {
  Py_INCREF(self);
  return self;
}
PyObject* disable_exit(PyObject* self, PyObject*) {
  disable_end(self);
  return new_none();
}
PyMethodDef disable_methods[] = {
    {"__enter__", disable_enter, METH_NOARGS, nullptr},
    {"__exit__", disable_exit, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyTypeObject make_disable_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch._C._DisableTorchDispatch";
  type.tp_basicsize = sizeof(DisableObject);
  type.tp_new = disable_new;
  type.tp_dealloc = disable_dealloc;
  type.tp_methods = disable_methods;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = "While it lives, or until the end of its `with`, neither modes nor classes answer for operators.";
  return type;
}
PyTypeObject DisableType = make_disable_type();

PyMethodDef functions[] = {
    {"_disabled_torch_dispatch_impl", disabled_implementation, METH_VARARGS,
     "_disabled_torch_dispatch_impl(func, types, args=(), kwargs={}): the call, with nobody asked."},
    {"_push_on_torch_dispatch_stack", push_mode, METH_O, "Makes a mode the first to be asked on this thread."},
    {"_pop_torch_dispatch_stack", pop_mode, METH_VARARGS, "Ends the topmost mode, and returns it."},
    {"_len_torch_dispatch_stack", count_modes, METH_NOARGS, "How many modes this thread has."},
    {"_get_dispatch_stack_at", get_mode, METH_O, "A mode by its place; 0 is the outermost."},
    {"_class_dispatches", answers, METH_O, "Whether the tensors of a class answer for operators."},
    {"_make_wrapper", make_wrapper_object, METH_VARARGS,
     "_make_wrapper(cls, sizes, strides, storage_offset, dtype, device, requires_grad): a tensor without memory."},
    {"_swap_tensor_impl", swap_impls, METH_VARARGS, "Makes each of two objects the tensor that the other was."},
    {"_operator_schemas", list_schemas, METH_NOARGS, "The schemas of all operators."},
    {"_call_operator", call_operator, METH_VARARGS,
     "_call_operator(row, args, kwargs): calls the operator of a row of _operator_schemas()."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool class_dispatches(PyTypeObject* type) {
  PyObject* found = _PyType_Lookup(type, protocol_name);
  return found && found != opted_out;
}

void register_dispatch(PyObject* module) {
  protocol_name = checked(PyUnicode_InternFromString("__torch_dispatch__"));
  checked(PyModule_AddFunctions(module, functions));
  opted_out = checked(PyObject_GetAttrString(module, "_disabled_torch_dispatch_impl"));
  add_type(module, DisableType, "_DisableTorchDispatch");
  autograd::dispatch::set_handler(answer);
}

}  // namespace torch::python
