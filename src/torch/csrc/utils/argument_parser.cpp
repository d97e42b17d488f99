#include <torch/csrc/utils/argument_parser.h>

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/autocast.h>
#include <torch/csrc/utils/deprecated_calls.h>
#include <torch/csrc/utils/overrides.h>

#include <cstring>

namespace torch::python {

namespace {

// numpy's names for our parameters. `first` is what self is called where it is not the object of a method.
struct Alias {
  const char* name;
  const char* meaning;
};
constexpr Alias kAliases[] = {
    {"axis", "dim"}, {"keepdims", "keepdim"}, {"x", "input"}, {"a", "input"}, {"x1", "input"}, {"x2", "other"},
};

void intern_names(const Overload& overload) {
  for (size_t index = 0; index < overload.count; ++index) {
    Parameter& parameter = overload.parameters[index];
    if (!parameter.interned) parameter.interned = checked(PyUnicode_InternFromString(parameter.name));
  }
}

// Whether the values may follow one another in the place of a list of ints.
bool all_integers(PyObject* const* values, Py_ssize_t count) {
  for (Py_ssize_t index = 0; index < count; ++index) {
    if (!is_integer(values[index])) return false;
  }
  return count > 0;
}

}  // namespace

int varargs_parameter(const Overload& overload, bool is_method) {
  const int first = is_method ? 1 : 0;
  if (overload.positional != first + 1) return -1;
  const Parameter& parameter = overload.parameters[first];
  return parameter.kind == Kind::IntList && parameter.list_size == 0 ? first : -1;
}

int find_parameter(const Overload& overload, PyObject* keyword) {
  for (int index = 0; index < overload.count; ++index) {
    if (overload.parameters[index].interned == keyword) return index;
  }
  for (int index = 0; index < overload.count; ++index) {
    if (PyUnicode_CompareWithASCIIString(keyword, overload.parameters[index].name) == 0) return index;
  }
  for (const Alias& alias : kAliases) {
    if (PyUnicode_CompareWithASCIIString(keyword, alias.name) != 0) continue;
    for (int index = 0; index < overload.count; ++index) {
      if (std::strcmp(overload.parameters[index].name, alias.meaning) == 0) return index;
    }
  }
  return -1;
}

namespace {

// Numbers may stand for tensors; for all of them only where the operator says so.
bool has_tensor(const Overload& overload, PyObject* const* bound) {
  if (overload.parameters[0].numbers_alone()) return true;
  for (int index = 0; index < overload.count; ++index) {
    if (overload.parameters[index].kind == Kind::Tensor && bound[index] && is_tensor(bound[index])) return true;
  }
  return false;
}

}  // namespace

bool bind(const Overload& overload, Arguments& arguments, PyObject* self, PyObject* const* values, Py_ssize_t count,
          PyObject* keyword_names) {
  const int first = self ? 1 : 0;
  arguments.varargs_index_ = -1;
  const int list = count > 0 ? varargs_parameter(overload, self != nullptr) : -1;
  if (list >= 0 && all_integers(values, count)) {
    arguments.varargs_index_ = list;
  } else if (count + first > overload.positional) {
    return false;
  }
  arguments.overload_ = &overload;
  PyObject** bound = arguments.values_;
  int next = 0;
  if (self) bound[next++] = self;
  if (arguments.varargs_index_ >= 0) {
    arguments.varargs_ = values;
    arguments.varargs_count_ = count;
    bound[next++] = values[0];
  } else {
    for (Py_ssize_t index = 0; index < count; ++index) bound[next++] = values[index];
  }
  for (int index = next; index < overload.count; ++index) bound[index] = nullptr;

  if (keyword_names) {
    if (overload.count && !overload.parameters[overload.count - 1].interned) intern_names(overload);
    const Py_ssize_t keywords = PyTuple_GET_SIZE(keyword_names);
    for (Py_ssize_t index = 0; index < keywords; ++index) {
      const int parameter = find_parameter(overload, PyTuple_GET_ITEM(keyword_names, index));
      if (parameter < 0 || bound[parameter]) return false;
      bound[parameter] = values[count + index];
    }
  }
  for (int index = first; index < overload.count; ++index) {
    const Parameter& parameter = overload.parameters[index];
    if (!bound[index]) {
      if (!parameter.has_default()) return false;
    } else if (index != arguments.varargs_index_ && !value_fits(parameter, bound[index])) {
      return false;
    }
  }
  return self || !overload.count || !overload.parameters[0].takes_numbers() || has_tensor(overload, bound);
}

namespace {

// The first overload that fits, or nullptr.
const Overload* find_overload(const Callable& callable, Arguments& arguments, PyObject* self, PyObject* const* values,
                              Py_ssize_t count, PyObject* keyword_names) {
  for (size_t index = 0; index < callable.count; ++index) {
    const Overload& overload = callable.overloads[index];
    if (!(self ? overload.as_method : overload.as_function)) continue;
    if (bind(overload, arguments, self, values, count, keyword_names)) return &overload;
  }
  return nullptr;
}

PyObject* call_overload(const Callable& callable, PyObject* self, PyObject* const* values, Py_ssize_t count,
                        PyObject* keyword_names) {
  Arguments arguments;
  if (const Overload* overload = find_overload(callable, arguments, self, values, count, keyword_names)) {
    return overload->call(arguments);
  }
  if (const auto call = reorder_deprecated_call(callable, self != nullptr, values, count, keyword_names)) {
    const Overload* overload =
        find_overload(callable, arguments, self, call->values.data(), call->count, call->keyword_names.get());
    if (overload) {
      warn_of_deprecated_call(callable, *call);
      return overload->call(arguments);
    }
  }
  PyErr_SetString(PyExc_TypeError, explain_mismatch(callable, self, values, count, keyword_names).c_str());
  return nullptr;
}

PyObject* call_in_autocast(const Callable& callable, PyObject* self, PyObject* const* values, Py_ssize_t count,
                           PyObject* keyword_names, Py_ssize_t all) {
  const AutocastArguments converted(callable.name, self, values, all, keyword_names);
  return call_overload(callable, converted.self(), converted.values(), count, keyword_names);
}

Py_ssize_t count_all(Py_ssize_t count, PyObject* keyword_names) {
  return keyword_names ? count + PyTuple_GET_SIZE(keyword_names) : count;
}

// torch.tensor(data) and its like look at the data themselves, and make plain tensors of it: only a mode answers.
bool takes_data(const Callable& callable) {
  const Overload& overload = callable.overloads[0];
  return overload.count > 0 && overload.parameters[0].kind == Kind::Any;
}

}  // namespace

PyObject* dispatch_method(const Callable& callable, PyObject* self, PyObject* const* values, Py_ssize_t count,
                          PyObject* keyword_names) noexcept {
  return guarded([&]() -> PyObject* {
    if (C10_UNLIKELY(is_overridden(self) || is_overridden(values, count_all(count, keyword_names)))) {
      return call_override(reinterpret_cast<PyObject*>(tensor_class), callable.name, self, values, count,
                           keyword_names);
    }
    if (C10_UNLIKELY(active_autocasts != 0)) {
      return call_in_autocast(callable, self, values, count, keyword_names, count_all(count, keyword_names));
    }
    return call_overload(callable, self, values, count, keyword_names);
  });
}

PyObject* dispatch_function(const Callable& callable, PyObject* module, PyObject* const* values, Py_ssize_t count,
                            PyObject* keyword_names) noexcept {
  return guarded([&]() -> PyObject* {
    if (C10_UNLIKELY(is_overridden(values, count_all(count, keyword_names))) &&
        (!takes_data(callable) || mode_answers())) {
      return call_override(module, callable.name, nullptr, values, count, keyword_names);
    }
    if (C10_UNLIKELY(active_autocasts != 0)) {
      return call_in_autocast(callable, nullptr, values, count, keyword_names, count_all(count, keyword_names));
    }
    return call_overload(callable, nullptr, values, count, keyword_names);
  });
}

}  // namespace torch::python
