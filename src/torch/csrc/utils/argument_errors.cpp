// The TypeErrors of calls that fit no overload. Runs only after the call has failed, so it may take its time.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/argument_parser.h>

#include <cstring>

namespace torch::python {

namespace {

std::string kind_text(const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::Tensor: return "Tensor";
    case Kind::TensorList: return "tuple of Tensors";
    case Kind::OptionalTensorList: return "tuple of Tensors";
    case Kind::Int: return "int";
    case Kind::IntList: return parameter.list_size ? "int or tuple of ints" : "tuple of ints";
    case Kind::FloatList: return "tuple of floats";
    case Kind::Float: return "float";
    case Kind::Bool: return "bool";
    case Kind::Scalar: return "Number";
    case Kind::String: return "str";
    case Kind::DType: return "torch.dtype";
    case Kind::Layout: return "torch.layout";
    case Kind::Device: return "torch.device";
    case Kind::MemoryFormat: return "torch.memory_format";
    case Kind::Generator: return "torch.Generator";
    case Kind::Any: return "object";
  }
  return "object";
}

// A value's type; of a short list also what is in it, since the mistake is often there.
std::string described_type(PyObject* value) {
  if (!PyTuple_Check(value) && !PyList_Check(value)) {
    const std::string name = type_name(value);
    return name.rfind("torch._C.", 0) == 0 ? "torch." + name.substr(9) : name;
  }
  std::string text = PyTuple_Check(value) ? "tuple of (" : "list of [";
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
  PyObject** items = PySequence_Fast_ITEMS(value);
  for (Py_ssize_t index = 0; index < count && index < 4; ++index) {
    text += std::string(index ? ", " : "") + type_name(items[index]);
  }
  if (count > 4) text += ", ...";
  return text + (PyTuple_Check(value) ? ")" : "]");
}

std::string given_types(PyObject* const* values, Py_ssize_t count, PyObject* keyword_names) {
  std::string text;
  for (Py_ssize_t index = 0; index < count; ++index) text += (index ? ", " : "") + described_type(values[index]);
  const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t index = 0; index < keywords; ++index) {
    if (!text.empty()) text += ", ";
    text += keyword_text(PyTuple_GET_ITEM(keyword_names, index)) + "=" + described_type(values[count + index]);
  }
  return text;
}

std::string plural(size_t count, const char* word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

// What is wrong with the call for the only overload there is.
std::string explain_one(const char* name, const Overload& overload, bool is_method, PyObject* const* values,
                        Py_ssize_t count, PyObject* keyword_names) {
  const size_t first = is_method ? 1 : 0;
  const std::string call = std::string(name) + "()";
  const bool is_varargs = varargs_parameter(overload, is_method) >= 0 && count > 0 && !PyTuple_Check(values[0]) &&
                          !PyList_Check(values[0]);
  const size_t allowed = overload.positional - first;
  if (static_cast<size_t>(count) > allowed && !is_varargs) {
    return call + " takes " + plural(allowed, "positional argument") + " but " + std::to_string(count) +
           (count == 1 ? " was given" : " were given");
  }
  std::vector<PyObject*> bound(overload.count, nullptr);
  for (size_t index = 0; index < std::min<size_t>(count, allowed); ++index) bound[first + index] = values[index];
  const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t index = 0; index < keywords; ++index) {
    PyObject* keyword = PyTuple_GET_ITEM(keyword_names, index);
    const int parameter = find_parameter(overload, keyword);
    if (parameter < 0) return call + " got an unexpected keyword argument '" + keyword_text(keyword) + "'";
    if (bound[parameter] || (is_method && parameter == 0)) {
      return call + " got multiple values for argument '" + keyword_text(keyword) + "'";
    }
    bound[parameter] = values[count + index];
  }
  if (is_varargs) {
    for (Py_ssize_t index = 0; index < count; ++index) {
      if (is_integer(values[index])) continue;
      const Parameter& parameter = overload.parameters[first];
      if (count == 1) {
        return call + ": argument '" + parameter.name + "' (position 1) must be tuple of ints, not " +
               described_type(values[0]);
      }
      return call + ": argument '" + parameter.name + "' must be tuple of ints, but found element of type " +
             described_type(values[index]) + " at pos " + std::to_string(index);
    }
  }
  std::string missing;
  size_t missing_count = 0;
  for (size_t index = first; index < overload.count; ++index) {
    if (bound[index] || overload.parameters[index].has_default()) continue;
    missing += (missing_count++ ? ", \"" : "\"") + std::string(overload.parameters[index].name) + "\"";
  }
  if (missing_count) {
    return call + " missing " + std::to_string(missing_count) + " required positional argument" +
           (missing_count == 1 ? "" : "s") + ": " + missing;
  }
  for (size_t index = first; index < overload.count; ++index) {
    const Parameter& parameter = overload.parameters[index];
    if (!bound[index] || (is_varargs && index == first) || value_fits(parameter, bound[index])) continue;
    std::string text = call + ": argument '" + parameter.name + "'";
    const size_t position = index - first + 1;
    if (position <= static_cast<size_t>(count)) text += " (position " + std::to_string(position) + ")";
    const bool is_list = PyTuple_Check(bound[index]) || PyList_Check(bound[index]);
    if (is_list && (parameter.kind == Kind::TensorList || parameter.kind == Kind::IntList)) {
      PyObject** items = PySequence_Fast_ITEMS(bound[index]);
      for (Py_ssize_t item = 0; item < PySequence_Fast_GET_SIZE(bound[index]); ++item) {
        const Parameter element{parameter.name, parameter.kind == Kind::IntList ? Kind::Int : Kind::Tensor};
        if (value_fits(element, items[item])) continue;
        return call + ": argument '" + parameter.name + "' must be " +
               (parameter.kind == Kind::IntList ? "tuple of ints" : "tuple of Tensors") +
               ", but found element of type " + described_type(items[item]) + " at pos " + std::to_string(item);
      }
    }
    return text + " must be " + kind_text(parameter) + ", not " +
           (is_list ? (PyTuple_Check(bound[index]) ? "tuple" : "list") : described_type(bound[index]));
  }
  return call + " cannot be called so";
}

}  // namespace

std::string keyword_text(PyObject* keyword) {
  const char* text = PyUnicode_AsUTF8(keyword);
  if (text) return text;
  PyErr_Clear();
  return "?";
}

std::string signature_text(const Overload& overload, bool with_self) {
  std::string text = "(";
  bool is_starred = false;
  for (size_t index = with_self ? 0 : 1; index < overload.count; ++index) {
    const Parameter& parameter = overload.parameters[index];
    if (text.size() > 1) text += ", ";
    if (parameter.keyword_only() && !is_starred) {
      text += "*, ";
      is_starred = true;
    }
    text += kind_text(parameter) + " " + parameter.name;
    if (parameter.has_default()) text += std::string(" = ") + parameter.default_text;
  }
  return text + ")";
}

std::string explain_mismatch(const Callable& callable, PyObject* self, PyObject* const* values, Py_ssize_t count,
                             PyObject* keyword_names) {
  std::vector<const Overload*> overloads;
  for (size_t index = 0; index < callable.count; ++index) {
    const Overload& overload = callable.overloads[index];
    if (self ? overload.as_method : overload.as_function) overloads.push_back(&overload);
  }
  if (overloads.size() == 1) {
    return explain_one(callable.name, *overloads[0], self != nullptr, values, count, keyword_names);
  }
  std::string text = std::string(callable.name) + "() received an invalid combination of arguments - got (" +
                     given_types(values, count, keyword_names) + "), but expected one of:";
  for (const Overload* overload : overloads) {
    text += "\n * " + signature_text(*overload, self == nullptr) + "\n      did not match: ";
    text += explain_one(callable.name, *overload, self != nullptr, values, count, keyword_names);
  }
  return text + "\n";
}

}  // namespace torch::python
