#include <torch/csrc/autograd/python_function.h>

#include <torch/csrc/autograd/dispatch.h>
#include <torch/csrc/autograd/forward_mode.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/exceptions.h>

#include <aten/ATen.h>

#include <cstddef>
#include <new>
#include <optional>
#include <utility>

namespace torch::python {

namespace {

using autograd::variable_list;

FunctionObject* as_function(PyObject* self) { return reinterpret_cast<FunctionObject*>(self); }

// An attribute, or null (without a Python error) when it is not there.
Object attribute(PyObject* object, const char* name) {
  Object value = Object::steal(PyObject_GetAttrString(object, name));
  if (!value) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonError();
    PyErr_Clear();
  }
  return value;
}

bool contains(const Object& tuple, PyObject* item) {
  if (!tuple || !PyTuple_Check(tuple.get())) return false;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(tuple.get()); ++index) {
    if (PyTuple_GET_ITEM(tuple.get(), index) == item) return true;
  }
  return false;
}

bool flag(PyObject* object, const char* name, bool otherwise) {
  const Object value = attribute(object, name);
  return value ? checked(PyObject_IsTrue(value.get())) == 1 : otherwise;
}

// ---- the context object

PyObject* function_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  FunctionObject* object = as_function(self);
  new (&object->base.node) std::shared_ptr<autograd::Node>();
  new (&object->base.weak_node) std::weak_ptr<autograd::Node>();
  new (&object->saved) std::vector<autograd::SavedVariable>();
  return self;
}

int function_traverse(PyObject* self, visitproc visit, void* arg) {
  FunctionObject* object = as_function(self);
  Py_VISIT(object->base.metadata);
  Py_VISIT(object->dict);
  Py_VISIT(object->to_save);
  Py_VISIT(object->for_forward);
  return 0;
}

int function_clear(PyObject* self) {
  FunctionObject* object = as_function(self);
  Py_CLEAR(object->base.metadata);
  Py_CLEAR(object->dict);
  Py_CLEAR(object->to_save);
  Py_CLEAR(object->for_forward);
  object->saved.clear();
  return 0;
}

void function_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  FunctionObject* object = as_function(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  function_clear(self);
  object->saved.~vector();
  object->base.node.~shared_ptr();
  object->base.weak_node.~weak_ptr();
  Py_TYPE(self)->tp_free(self);  // a subclass's own deallocator lets go of the class
}

template <PyObject* FunctionObject::*kept>
PyObject* save(PyObject* self, PyObject* tensors) {
  return guarded([&]() -> PyObject* {
    if (!PyTuple_Check(tensors)) {
      raise(PyExc_TypeError, "saved variables argument must be a tuple, not " + type_name(tensors));
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(tensors); ++index) {
      PyObject* item = PyTuple_GET_ITEM(tensors, index);
      if (item != Py_None && !is_tensor(item)) {
        raise(PyExc_TypeError, "save_for_backward can only save variables, but argument " + std::to_string(index) +
                                   " is of type " + type_name(item));
      }
    }
    Py_INCREF(tensors);
    Py_XSETREF(as_function(self)->*kept, tensors);
    return new_none();
  });
}

PyObject* saved_tensors(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    FunctionObject* object = as_function(self);
    // While forward mode asks for them, those that save_for_forward kept.
    if (PyObject* kept = object->for_forward ? object->for_forward : object->to_save) {
      Py_INCREF(kept);
      return kept;
    }
    TORCH_CHECK(!object->was_released,
                "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
                "if you need to access saved tensors after calling backward.");
    const std::shared_ptr<autograd::Node> owner = node_of(self);
    std::vector<at::Tensor> tensors;
    tensors.reserve(object->saved.size());
    for (const autograd::SavedVariable& variable : object->saved) tensors.push_back(variable.unpack(owner));
    return wrap(tensors);
  });
}

// ---- forward

struct Call {
  autograd::NodePointer<PythonNode> node;
  Object context;
  bool is_recorded = false;
};

Call prepare(PyObject* type, PyObject* const* values, Py_ssize_t count) {
  Call call;
  call.context = Object::steal(checked(
      function_new(reinterpret_cast<PyTypeObject*>(type), nullptr, nullptr)));
  autograd::edge_list edges;
  std::vector<bool> tensor_arguments;
  Object needs_gradient = Object::steal(checked(PyTuple_New(count)));
  for (Py_ssize_t index = 0; index < count; ++index) {
    const bool is_input = is_tensor(values[index]);
    const bool needs = is_input && unpack(values[index]).requires_grad();
    tensor_arguments.push_back(is_input);
    call.is_recorded |= needs;
    PyTuple_SET_ITEM(needs_gradient.get(), index, new_bool(needs));
  }
  checked(PyObject_SetAttrString(call.context.get(), "needs_input_grad", needs_gradient.get()));
  call.is_recorded = call.is_recorded && c10::GradMode::is_enabled();
  call.node = autograd::make_node<PythonNode>(call.context.get());
  as_function(call.context.get())->base.weak_node = call.node;
  call.node->tensor_arguments = std::move(tensor_arguments);
  if (call.is_recorded) {
    for (Py_ssize_t index = 0; index < count; ++index) {
      edges.push_back(is_tensor(values[index]) ? autograd::gradient_edge(unpack(values[index])) : autograd::Edge());
    }
    call.node->set_next_edges(std::move(edges));
  }
  return call;
}

bool is_argument(PyObject* object, PyObject* const* values, Py_ssize_t count) {
  for (Py_ssize_t index = 0; index < count; ++index) {
    if (values[index] == object) return true;
  }
  return false;
}

// Gives one result its history; returns what the user gets.
Object attach(const Call& call, PyObject* result, PyObject* const* values, Py_ssize_t count, const Object& dirty,
              const Object& non_differentiable) {
  PythonNode::Result& entry = call.node->results.emplace_back();
  if (!is_tensor(result)) return Object::borrow(result);
  const at::Tensor& tensor = unpack(result);
  entry.metadata.emplace(tensor);
  if (!call.is_recorded) return Object::borrow(result);
  if (contains(non_differentiable, result) || !autograd::is_differentiable(tensor)) {
    if (!is_argument(result, values, count)) {
      if (tensor.requires_grad()) autograd::detach_in_place(tensor);
      return Object::borrow(result);
    }
    return Object::steal(wrap(tensor.detach()));
  }
  if (contains(dirty, result)) {
    TORCH_CHECK(!tensor.is_leaf() || !tensor.requires_grad(),
                "a leaf Variable that requires grad is being used in an in-place operation.");
    autograd::rebase_history(tensor, call.node);
    tensor.impl()->bump_version();
    entry.input_nr = tensor.output_nr();
    return Object::borrow(result);
  }
  Object given = Object::borrow(result);
  if (is_argument(result, values, count)) {
    // An argument that comes back must not lose its own history: the result is a view of it.
    given = Object::steal(wrap(autograd::dispatch::detached(tensor, /*share_version=*/true)));
  }
  const at::Tensor& output = unpack(given.get());
  autograd::set_history(output, call.node);
  entry.input_nr = output.output_nr();
  return given;
}

void finish_saving(const Call& call) {
  FunctionObject* context = as_function(call.context.get());
  const Object to_save = Object::steal(std::exchange(context->to_save, nullptr));
  if (!to_save || !call.is_recorded) return;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(to_save.get()); ++index) {
    PyObject* item = PyTuple_GET_ITEM(to_save.get(), index);
    const at::Tensor tensor = item == Py_None ? at::Tensor() : unpack(item);
    const bool is_output = tensor.defined() && tensor.grad_fn() == call.node;
    context->saved.emplace_back(tensor, is_output);
  }
}

struct Applied {
  Call call;
  Object given;  // what the user gets
};

// What `given` consists of: of a tuple its items.
std::vector<PyObject*> results_of(const Object& given) {
  if (!PyTuple_Check(given.get())) return {given.get()};
  PyObject** items = PySequence_Fast_ITEMS(given.get());
  return {items, items + PyTuple_GET_SIZE(given.get())};
}

Applied record(PyObject* type, PyObject* const* values, Py_ssize_t count) {
  Applied applied{prepare(type, values, count), Object()};
  const Call& call = applied.call;
  Object output;
  {
    const c10::NoGradGuard no_grad;
    std::vector<PyObject*> stack{call.context.get()};
    stack.insert(stack.end(), values, values + count);
    const Object forward = Object::steal(checked(PyObject_GetAttrString(type, "_call_forward")));
    output = Object::steal(checked(PyObject_Vectorcall(forward.get(), stack.data(), stack.size(), nullptr)));
  }
  const Object dirty = attribute(call.context.get(), "_dirty");
  const Object non_differentiable = attribute(call.context.get(), "_non_differentiable");
  if (PyTuple_Check(output.get())) {
    const std::vector<PyObject*> results = results_of(output);
    applied.given = Object::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(results.size()))));
    for (size_t index = 0; index < results.size(); ++index) {
      Object result = attach(call, results[index], values, count, dirty, non_differentiable);
      PyTuple_SET_ITEM(applied.given.get(), static_cast<Py_ssize_t>(index), result.release());
    }
  } else {
    applied.given = attach(call, output.get(), values, count, dirty, non_differentiable);
  }
  finish_saving(call);
  return applied;
}

// Calls jvp(ctx, *tangents), of which the results' tangents come.
void move_results(const Applied& applied, PyObject* type, PyObject* const* values, Py_ssize_t count, size_t level) {
  PyObject* context = applied.call.context.get();
  const bool materialize = flag(context, "_materialize_grads", true);
  Object arguments = Object::steal(checked(PyTuple_New(count + 1)));
  Py_INCREF(context);
  PyTuple_SET_ITEM(arguments.get(), 0, context);
  for (Py_ssize_t index = 0; index < count; ++index) {
    at::Tensor tangent;
    if (is_tensor(values[index])) {
      const at::Tensor& input = unpack(values[index]);
      tangent = autograd::tangent_at(input, level);
      if (!tangent.defined() && materialize && autograd::is_differentiable(input)) tangent = at::zeros_like(input);
    }
    PyTuple_SET_ITEM(arguments.get(), index + 1, wrap(std::move(tangent)));
  }
  const Object jvp = Object::steal(checked(PyObject_GetAttrString(type, "jvp")));
  const Object moved = Object::steal(checked(PyObject_CallObject(jvp.get(), arguments.get())));
  const std::vector<PyObject*> results = results_of(applied.given);
  const std::vector<PyObject*> tangents = results_of(moved);
  TORCH_CHECK(tangents.size() == results.size(), "Function's jvp returned an incorrect number of tangents (expected ",
              results.size(), ", got ", tangents.size(), ")");
  for (size_t index = 0; index < results.size(); ++index) {
    if (tangents[index] == Py_None || !is_tensor(results[index])) continue;
    TORCH_CHECK(is_tensor(tangents[index]), "Function's jvp returned a ", type_name(tangents[index]), " at position ",
                index, ", expected Tensor or None");
    const at::Tensor& result = unpack(results[index]);
    const at::Tensor& tangent = unpack(tangents[index]);
    TORCH_CHECK(tangent.sizes() == result.sizes(), "Function's jvp returned a tangent of size [", tangent.sizes(),
                "] at position ", index, " for a result of size [", result.sizes(), "]");
    if (autograd::is_differentiable(result)) autograd::set_tangent(result, tangent, level);
  }
}

// The innermost level at which an argument moves.
std::optional<size_t> moving_level(PyObject* const* values, Py_ssize_t count) {
  for (size_t level = autograd::forward_levels(); level-- > 0;) {
    for (Py_ssize_t index = 0; index < count; ++index) {
      if (is_tensor(values[index]) && autograd::tangent_at(unpack(values[index]), level).defined()) return level;
    }
  }
  return std::nullopt;
}

Applied run(PyObject* type, PyObject* const* values, Py_ssize_t count) {
  const std::optional<size_t> level = moving_level(values, count);
  if (!level) return record(type, values, count);
  const autograd::ForwardLevelsGuard below(*level);
  Applied applied = run(type, values, count);
  move_results(applied, type, values, count, *level);
  return applied;
}

PyObject* apply(PyObject* type, PyObject* const* values, Py_ssize_t count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    if (keyword_names && PyTuple_GET_SIZE(keyword_names)) {
      raise(PyExc_TypeError, "apply() takes no keyword arguments");
    }
    if (type == reinterpret_cast<PyObject*>(&FunctionBaseType)) {
      raise(PyExc_NotImplementedError, "You must implement the forward function for custom autograd.Function.");
    }
    Applied applied = run(type, values, count);
    if (as_function(applied.call.context.get())->for_forward)
      Py_CLEAR(as_function(applied.call.context.get())->for_forward);
    return applied.given.release();
  });
}

// ---- backward

Object gradient_arguments(PyObject* context, const std::vector<PythonNode::Result>& results,
                          const variable_list& grads) {
  const bool materialize = flag(context, "_materialize_grads", true);
  Object arguments = Object::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(results.size() + 1))));
  Py_INCREF(context);
  PyTuple_SET_ITEM(arguments.get(), 0, context);
  for (size_t index = 0; index < results.size(); ++index) {
    const PythonNode::Result& result = results[index];
    at::Tensor grad;
    if (result.input_nr >= 0 && static_cast<size_t>(result.input_nr) < grads.size()) {
      grad = grads[static_cast<size_t>(result.input_nr)];
    }
    if (!grad.defined() && materialize && result.metadata) {
      grad = at::zeros(result.metadata->sizes, result.metadata->options);
    }
    PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(index + 1), wrap(std::move(grad)));
  }
  return arguments;
}

PyMethodDef function_methods[] = {
    {"apply", as_method(apply), METH_FASTCALL | METH_KEYWORDS | METH_CLASS, "Runs forward and records the operation."},
    {"_save", save<&FunctionObject::to_save>, METH_O, "Keeps a tuple of tensors (or None) for backward."},
    {"_save_for_forward", save<&FunctionObject::for_forward>, METH_O, "Keeps a tuple of tensors (or None) for jvp."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef function_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"saved_tensors", saved_tensors, nullptr, "What save_for_backward kept.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject make_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch._C._FunctionBase";
  type.tp_basicsize = sizeof(FunctionObject);
  type.tp_base = &NodeType;
  type.tp_dealloc = function_dealloc;
  type.tp_traverse = function_traverse;
  type.tp_clear = function_clear;
  type.tp_weaklistoffset = offsetof(FunctionObject, weak_references);
  type.tp_dictoffset = offsetof(FunctionObject, dict);
  type.tp_methods = function_methods;
  type.tp_getset = function_properties;
  type.tp_new = function_new;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_doc = "The base of torch.autograd.Function: an operation written in Python.";
  return type;
}

}  // namespace

PyTypeObject FunctionBaseType = make_type();

PythonNode::PythonNode(PyObject* context) : context_(context) {
  Py_INCREF(context);
  name_ = std::string(Py_TYPE(context)->tp_name) + "Backward";
}

PythonNode::~PythonNode() {
  if (!Py_IsInitialized()) return;
  AcquireGil gil;
  Py_DECREF(context_);
}

variable_list PythonNode::apply(variable_list&& grads) {
  AcquireGil gil;
  const Object arguments = gradient_arguments(context_, results, grads);
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(context_));
  const Object backward = Object::steal(checked(PyObject_GetAttrString(type, "_call_backward")));
  Object output = Object::steal(checked(PyObject_CallObject(backward.get(), arguments.get())));
  if (!PyTuple_Check(output.get())) {
    Object tuple = Object::steal(checked(PyTuple_Pack(1, output.get())));
    output = std::move(tuple);
  }
  const auto expected = static_cast<Py_ssize_t>(tensor_arguments.size());
  Py_ssize_t given = PyTuple_GET_SIZE(output.get());
  // Trailing None are for arguments with defaults that were not passed.
  while (given > expected && PyTuple_GET_ITEM(output.get(), given - 1) == Py_None) --given;
  TORCH_CHECK(given == expected, "function ", name_, " returned an incorrect number of gradients (expected ", expected,
              ", got ", given, ")");
  variable_list result(static_cast<size_t>(expected));
  for (Py_ssize_t index = 0; index < expected; ++index) {
    PyObject* item = PyTuple_GET_ITEM(output.get(), index);
    if (item == Py_None) continue;
    TORCH_CHECK(tensor_arguments[static_cast<size_t>(index)], "function ", name_,
                " returned a gradient different than None at position ", index + 1,
                ", but the corresponding forward input was not a Variable");
    TORCH_CHECK(is_tensor(item), "function ", name_, " returned a ", type_name(item), " at position ", index + 1,
                ", expected Tensor or None");
    result[static_cast<size_t>(index)] = unpack(item);
  }
  return result;
}

void PythonNode::release_variables() {
  if (!Py_IsInitialized()) return;
  AcquireGil gil;
  FunctionObject* context = as_function(context_);
  context->saved.clear();
  context->was_released = true;
}

void register_function_base(PyObject* module) { add_type(module, FunctionBaseType, "_FunctionBase"); }

}  // namespace torch::python
