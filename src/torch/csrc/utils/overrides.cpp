#include <torch/csrc/utils/overrides.h>

#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/autocast.h>
#include <torch/csrc/utils/mode_stack.h>

#include <string>
#include <utility>
#include <vector>

namespace torch::python {

int active_modes = 0;

namespace {

thread_local Overrides overrides = Overrides::All;
// Whether the next function written in Python that asks is told that nobody answers
// (torch.overrides.redispatch_function).
thread_local bool skips_next = false;
thread_local ModeStack modes;

PyObject* protocol_name = nullptr;  // "__torch_function__", interned
PyObject* disabled = nullptr;       // torch._C._disabled_torch_function_impl

// Sets this thread's state for a scope.
class WithOverrides {
 public:
  explicit WithOverrides(Overrides wanted) : before_(overrides) { overrides = wanted; }
  ~WithOverrides() { overrides = before_; }
  WithOverrides(const WithOverrides&) = delete;
  WithOverrides& operator=(const WithOverrides&) = delete;

 private:
  Overrides before_;
};

// Takes the topmost mode away while it answers, so that what it calls reaches the one below.
class WithoutTopMode {
 public:
  WithoutTopMode() : mode_(modes.pop()) { --active_modes; }
  ~WithoutTopMode() {
    modes.push(mode_);
    ++active_modes;
  }
  WithoutTopMode(const WithoutTopMode&) = delete;
  WithoutTopMode& operator=(const WithoutTopMode&) = delete;
  PyObject* mode() const { return mode_; }

 private:
  PyObject* mode_;
};

// A class's own protocol, or null if it has none or has opted out.
bool has_protocol(PyTypeObject* type) {
  PyObject* found = _PyType_Lookup(type, protocol_name);
  return found && found != disabled;
}

// Puts `value` before the first of its superclasses, unless its class is there already.
void add_relevant(std::vector<PyObject*>& values, PyObject* value) {
  if (!class_answers(value)) return;
  PyTypeObject* type = Py_TYPE(value);
  size_t place = values.size();
  for (size_t index = 0; index < values.size(); ++index) {
    if (Py_TYPE(values[index]) == type) return;
    if (place == values.size() && PyType_IsSubtype(type, Py_TYPE(values[index]))) place = index;
  }
  values.insert(values.begin() + static_cast<std::ptrdiff_t>(place), value);
}

std::vector<PyObject*> find_relevant(PyObject* tuple) {
  std::vector<PyObject*> values;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(tuple); ++index) {
    PyObject* value = PyTuple_GET_ITEM(tuple, index);
    if (PyTuple_Check(value) || PyList_Check(value)) {
      for (Py_ssize_t item = 0; item < PySequence_Fast_GET_SIZE(value); ++item) {
        add_relevant(values, PySequence_Fast_GET_ITEM(value, item));
      }
    } else {
      add_relevant(values, value);
    }
  }
  return values;
}

// handler.__torch_function__(function, types, arguments, keywords)
Object ask(PyObject* handler, PyObject* function, PyObject* types, PyObject* arguments, PyObject* keywords) {
  const Object protocol = Object::steal(checked(PyObject_GetAttr(handler, protocol_name)));
  return Object::steal(checked(PyObject_CallFunctionObjArgs(protocol.get(), function, types, arguments,
                                                            keywords ? keywords : Py_None, nullptr)));
}

Object types_of(const std::vector<PyObject*>& values) {
  Object types = Object::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(values.size()))));
  for (size_t index = 0; index < values.size(); ++index) {
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(values[index]));
    Py_INCREF(type);
    PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(index), type);
  }
  return types;
}

[[noreturn]] void raise_unanswered(const std::string& name, PyObject* relevant) {
  std::string message =
      "Multiple dispatch failed for '" + name + "'; all __torch_function__ handlers returned NotImplemented:\n";
  if (mode_answers()) message += "\n  - mode object of type " + type_name(modes.top());
  for (PyObject* value : find_relevant(relevant)) {
    const Object text = Object::steal(checked(PyObject_Repr(reinterpret_cast<PyObject*>(Py_TYPE(value)))));
    message += std::string("\n  - tensor subclass ") + PyUnicode_AsUTF8(text.get());
  }
  raise(PyExc_TypeError, message);
}

Object pack(PyObject* self, PyObject* const* values, Py_ssize_t count) {
  const Py_ssize_t first = self ? 1 : 0;
  Object packed = Object::steal(checked(PyTuple_New(count + first)));
  if (self) {
    Py_INCREF(self);
    PyTuple_SET_ITEM(packed.get(), 0, self);
  }
  for (Py_ssize_t index = 0; index < count; ++index) {
    Py_INCREF(values[index]);
    PyTuple_SET_ITEM(packed.get(), index + first, values[index]);
  }
  return packed;
}

PyObject* base_class() { return reinterpret_cast<PyObject*>(tensor_class); }

}  // namespace

bool mode_answers() { return overrides != Overrides::None && !modes.empty(); }

bool class_answers(PyObject* value) {
  return !is_plain_type(Py_TYPE(value)) && has_protocol(Py_TYPE(value)) && overrides == Overrides::All;
}

bool list_answers(PyObject* list) {
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
  PyObject** items = PySequence_Fast_ITEMS(list);
  for (Py_ssize_t index = 0; index < count; ++index) {
    if (class_answers(items[index])) return true;
  }
  return false;
}

PyObject* ask_overrides(PyObject* function, PyObject* relevant, PyObject* arguments, PyObject* keywords) {
  const std::vector<PyObject*> values = find_relevant(relevant);
  const Object types = types_of(values);
  if (mode_answers()) {
    const WithoutTopMode without;
    Object answer = ask(without.mode(), function, types.get(), arguments, keywords);
    if (answer.get() != Py_NotImplemented) return answer.release();
  }
  for (PyObject* value : values) {
    Object answer = ask(value, function, types.get(), arguments, keywords);
    if (answer.get() != Py_NotImplemented) return answer.release();
  }
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* call_override(PyObject* owner, const char* name, PyObject* self, PyObject* const* values, Py_ssize_t count,
                        PyObject* keyword_names) {
  const Object function = Object::steal(checked(PyObject_GetAttrString(owner, name)));
  const Py_ssize_t named = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  const Object relevant = pack(self, values, count + named);
  const Object arguments = pack(self, values, count);
  Object keywords;
  if (named) {
    keywords = Object::steal(checked(PyDict_New()));
    for (Py_ssize_t index = 0; index < named; ++index) {
      checked(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(keyword_names, index), values[count + index]));
    }
  }
  Object answer = Object::steal(ask_overrides(function.get(), relevant.get(), arguments.get(), keywords.get()));
  if (answer.get() == Py_NotImplemented) {
    raise_unanswered((owner == base_class() ? "torch.Tensor." : "torch.") + std::string(name), relevant.get());
  }
  return answer.release();
}

PyObject* ask_method(const char* name, PyObject* self, PyObject* argument, PyObject* second) {
  const Object function = Object::steal(checked(PyObject_GetAttrString(base_class(), name)));
  PyObject* values[] = {argument, second};
  const Object arguments = pack(self, values, argument ? (second ? 2 : 1) : 0);
  // A subscript's parts lie one list deeper than other arguments do.
  Object relevant = arguments;
  if (argument && (PyTuple_Check(argument) || PyList_Check(argument))) {
    const Object parts = Object::steal(checked(PySequence_Tuple(argument)));
    relevant = Object::steal(checked(PySequence_Concat(arguments.get(), parts.get())));
  }
  return ask_overrides(function.get(), relevant.get(), arguments.get(), nullptr);
}

PyObject* call_method_override(const char* name, PyObject* self, PyObject* argument, PyObject* second) {
  Object answer = Object::steal(ask_method(name, self, argument, second));
  if (answer.get() == Py_NotImplemented) {
    PyObject* values[] = {argument, second};
    raise_unanswered(std::string("torch.Tensor.") + name, pack(self, values, argument ? (second ? 2 : 1) : 0).get());
  }
  return answer.release();
}

PyObject* call_property_override(const char* name, PyObject* self, PyObject* value, bool is_write) {
  const Object property =
      Object::steal(checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&TensorBaseType), name)));
  const char* part = is_write ? (value ? "__set__" : "__delete__") : "__get__";
  const Object function = Object::steal(checked(PyObject_GetAttrString(property.get(), part)));
  const Object arguments = pack(self, &value, value ? 1 : 0);
  Object answer = Object::steal(ask_overrides(function.get(), arguments.get(), arguments.get(), nullptr));
  if (answer.get() == Py_NotImplemented)
    raise_unanswered(std::string("torch.Tensor.") + name + "." + part, arguments.get());
  return answer.release();
}

namespace {

// ---- for torch.overrides

// _disabled_torch_function_impl(func, types, args=(), kwargs={}): the call as if no class answered.
PyObject* call_without_classes(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* function = nullptr;
    PyObject* types = nullptr;
    PyObject* positional = nullptr;
    PyObject* keywords = nullptr;
    if (!PyArg_ParseTuple(arguments, "OO|OO:_disabled_torch_function_impl", &function, &types, &positional,
                          &keywords)) {
      return nullptr;
    }
    if (keywords == Py_None) keywords = nullptr;
    const Object tuple = Object::steal(checked(positional ? PySequence_Tuple(positional) : PyTuple_New(0)));
    const WithOverrides without(overrides == Overrides::All ? Overrides::ModesOnly : overrides);
    return PyObject_Call(function, tuple.get(), keywords);
  });
}

// _has_torch_function(args): whether a value of the tuple answers, or a mode does.
PyObject* has_any(PyObject*, PyObject* values) {
  return guarded([&]() -> PyObject* {
    if (std::exchange(skips_next, false)) Py_RETURN_FALSE;
    const Object tuple = Object::steal(checked(PySequence_Tuple(values)));
    return new_bool(is_overridden(PySequence_Fast_ITEMS(tuple.get()), PyTuple_GET_SIZE(tuple.get())));
  });
}
PyObject* has_unary(PyObject*, PyObject* value) {
  return new_bool(!std::exchange(skips_next, false) && is_overridden(value));
}
PyObject* has_variadic(PyObject*, PyObject* const* values, Py_ssize_t count) {
  return new_bool(!std::exchange(skips_next, false) && is_overridden(values, count));
}
// _set_skip_next_torch_function(skip): what it was.
PyObject* set_skip_next(PyObject*, PyObject* skip) { return new_bool(std::exchange(skips_next, skip == Py_True)); }

// _is_call_special(args, kwargs): whether _is_call_overridden, or some thread is in autocast.
PyObject* is_call_overridden(PyObject*, PyObject* const* values, Py_ssize_t count);
PyObject* is_call_special(PyObject* module, PyObject* const* values, Py_ssize_t count) {
  if (C10_UNLIKELY(active_autocasts != 0)) Py_RETURN_TRUE;
  return is_call_overridden(module, values, count);
}

// _is_call_overridden(args, kwargs)
PyObject* is_call_overridden(PyObject*, PyObject* const* values, Py_ssize_t count) {
  if (count != 2 || !PyTuple_Check(values[0]) || !PyDict_Check(values[1])) {
    PyErr_SetString(PyExc_TypeError, "_is_call_overridden takes a tuple and a dict");
    return nullptr;
  }
  if (is_overridden(PySequence_Fast_ITEMS(values[0]), PyTuple_GET_SIZE(values[0]))) Py_RETURN_TRUE;
  Py_ssize_t position = 0;
  PyObject* value = nullptr;
  while (PyDict_Next(values[1], &position, nullptr, &value)) {
    if (value_answers(value)) Py_RETURN_TRUE;
  }
  Py_RETURN_FALSE;
}

// _call_torch_function(func, relevant_args, args, kwargs): NotImplemented if nobody knows.
PyObject* call_torch_function(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* function = nullptr;
    PyObject* relevant = nullptr;
    PyObject* positional = nullptr;
    PyObject* keywords = nullptr;
    if (!PyArg_ParseTuple(arguments, "OO!O!O!:_call_torch_function", &function, &PyTuple_Type, &relevant, &PyTuple_Type,
                          &positional, &PyDict_Type, &keywords)) {
      return nullptr;
    }
    return ask_overrides(function, relevant, positional, keywords);
  });
}

// _get_overloaded_args(relevant_args): those that answer, in the order in which they are asked.
PyObject* get_relevant(PyObject*, PyObject* values) {
  return guarded([&]() -> PyObject* {
    const Object tuple = Object::steal(checked(PySequence_Tuple(values)));
    const std::vector<PyObject*> found = find_relevant(tuple.get());
    Object list = Object::steal(checked(PyList_New(0)));
    for (PyObject* value : found) checked(PyList_Append(list.get(), value));
    return list.release();
  });
}

PyObject* push_mode(PyObject*, PyObject* mode) {
  Py_INCREF(mode);
  modes.push(mode);
  ++active_modes;
  return new_none();
}
PyObject* pop_mode(PyObject*, PyObject*) {
  return guarded([] {
    PyObject* mode = modes.pop();
    --active_modes;
    return mode;
  });
}
PyObject* count_modes(PyObject*, PyObject*) { return PyLong_FromSize_t(modes.size()); }
PyObject* get_mode(PyObject*, PyObject* position) {
  return guarded([&] { return modes.at(position); });
}
PyObject* get_state(PyObject*, PyObject*) { return PyLong_FromLong(static_cast<long>(overrides)); }
PyObject* set_state(PyObject*, PyObject* value) {
  const long state = PyLong_AsLong(value);
  if (state == -1 && PyErr_Occurred()) return nullptr;
  if (state < 0 || state > 2) {
    PyErr_SetString(PyExc_ValueError, "a state is 0, 1 or 2");
    return nullptr;
  }
  overrides = static_cast<Overrides>(state);
  return new_none();
}
PyObject* is_enabled(PyObject*, PyObject*) { return new_bool(overrides == Overrides::All); }
PyObject* is_all_disabled(PyObject*, PyObject*) { return new_bool(overrides == Overrides::None); }
PyObject* is_mode_enabled(PyObject*, PyObject*) { return new_bool(mode_answers()); }

// ---- with torch._C.DisableTorchFunctionSubclass(): ...

struct ScopeObject {
  PyObject_HEAD
  Overrides before;
};

template <Overrides wanted>
PyObject* scope_enter(PyObject* self, PyObject*) {
  reinterpret_cast<ScopeObject*>(self)->before = overrides;
  if (overrides < wanted) overrides = wanted;
  return new_none();
}
PyObject* scope_exit(PyObject* self, PyObject*) {
  overrides = reinterpret_cast<ScopeObject*>(self)->before;
  return new_none();
}

template <Overrides wanted>
PyTypeObject make_scope_type(const char* name, const char* documentation) {
  static PyMethodDef methods[] = {
      {"__enter__", scope_enter<wanted>, METH_NOARGS, nullptr},
      {"__exit__", scope_exit, METH_VARARGS, nullptr},
      {nullptr, nullptr, 0, nullptr},
  };
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = name;
  type.tp_basicsize = sizeof(ScopeObject);
  type.tp_methods = methods;
  type.tp_new = PyType_GenericNew;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = documentation;
  return type;
}

PyTypeObject without_classes_type = make_scope_type<Overrides::ModesOnly>(
    "torch._C.DisableTorchFunctionSubclass", "Inside, no argument's class answers for a function; modes still do.");
PyTypeObject without_any_type =
    make_scope_type<Overrides::None>("torch._C.DisableTorchFunction", "Inside, neither classes nor modes answer.");

}  // namespace

PyMethodDef override_functions[] = {
    {"_disabled_torch_function_impl", call_without_classes, METH_VARARGS,
     "_disabled_torch_function_impl(func, types, args=(), kwargs={}): the call, with no class asked."},
    {"_has_torch_function", has_any, METH_O, "Whether a value of the sequence, or a mode, answers."},
    {"_has_torch_function_unary", has_unary, METH_O, "Whether the value, or a mode, answers."},
    {"_has_torch_function_variadic", as_method(has_variadic), METH_FASTCALL,
     "Whether one of the values, or a mode, answers."},
    {"_set_skip_next_torch_function", set_skip_next, METH_O,
     "Sets whether the next _has_torch_function says no, whatever it is asked; returns what it was."},
    {"_is_call_overridden", as_method(is_call_overridden), METH_FASTCALL,
     "_is_call_overridden(args, kwargs): whether one of them, or a mode, answers."},
    {"_is_call_special", as_method(is_call_special), METH_FASTCALL,
     "_is_call_special(args, kwargs): whether the call is overridden, or may be in autocast."},
    {"_call_torch_function", call_torch_function, METH_VARARGS,
     "_call_torch_function(func, relevant_args, args, kwargs): the answer; NotImplemented if nobody knows one."},
    {"_get_overloaded_args", get_relevant, METH_O, "The values that answer, in the order in which they are asked."},
    {"_push_on_torch_function_stack", push_mode, METH_O, "Makes a mode the first to be asked on this thread."},
    {"_pop_torch_function_stack", pop_mode, METH_NOARGS, "Ends the topmost mode, and returns it."},
    {"_len_torch_function_stack", count_modes, METH_NOARGS, "How many modes this thread has."},
    {"_get_function_stack_at", get_mode, METH_O, "A mode by its place; 0 is the outermost."},
    {"_get_torch_function_state", get_state, METH_NOARGS, "0: classes and modes answer, 1: modes, 2: none."},
    {"_set_torch_function_state", set_state, METH_O, "Sets what _get_torch_function_state tells."},
    {"_is_torch_function_enabled", is_enabled, METH_NOARGS, "Whether classes answer on this thread."},
    {"_is_torch_function_all_disabled", is_all_disabled, METH_NOARGS, "Whether neither classes nor modes answer."},
    {"_is_torch_function_mode_enabled", is_mode_enabled, METH_NOARGS, "Whether a mode answers on this thread."},
    {nullptr, nullptr, 0, nullptr},
};

void register_overrides(PyObject* module) {
  protocol_name = checked(PyUnicode_InternFromString("__torch_function__"));
  checked(PyModule_AddFunctions(module, override_functions));
  disabled = checked(PyObject_GetAttrString(module, "_disabled_torch_function_impl"));
  add_type(module, without_classes_type, "DisableTorchFunctionSubclass");
  add_type(module, without_any_type, "DisableTorchFunction");
}

}  // namespace torch::python
