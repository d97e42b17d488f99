#pragma once
// What the generated overloads are made of: running the operator, wrapping what it returns.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/argument_parser.h>

#include <optional>
#include <tuple>
#include <utility>

namespace torch::python {

// Runs the operator, without the GIL when there is much to do.
template <typename Call>
auto run(const Arguments& arguments, Call&& call) -> decltype(call()) {
  const ReleaseGil gil(arguments.is_heavy());
  return call();
}

inline PyObject* new_reference(PyObject* object) {
  Py_INCREF(object);
  return object;
}

inline std::optional<at::IntArrayRef> optional_view(const std::optional<at::DimVector>& values) {
  return values ? std::optional<at::IntArrayRef>(*values) : std::nullopt;
}

// A named tuple of tensors, such as torch.return_types.max.
template <typename... Results>
PyObject* wrap_tuple(PyTypeObject* type, std::tuple<Results...>&& results) {
  Object tuple = Object::steal(checked(PyStructSequence_New(type)));
  Py_ssize_t position = 0;
  std::apply(
      [&](auto&&... parts) {
        (PyStructSequence_SetItem(tuple.get(), position++, wrap(std::forward<decltype(parts)>(parts))), ...);
      },
      std::move(results));
  return tuple.release();
}

// A plain tuple, for results without names.
template <typename... Results>
PyObject* wrap_tuple(std::tuple<Results...>&& results) {
  Object tuple = Object::steal(checked(PyTuple_New(sizeof...(Results))));
  Py_ssize_t position = 0;
  std::apply(
      [&](auto&&... parts) {
        (PyTuple_SET_ITEM(tuple.get(), position++, wrap(std::forward<decltype(parts)>(parts))), ...);
      },
      std::move(results));
  return tuple.release();
}

// Adds the type `full_name` to the dictionary `types` under `name`; its repr is PyTorch's.
PyTypeObject* make_return_type(PyObject* types, const char* name, const char* full_name, PyStructSequence_Field* fields,
                               int count);
// Generated: makes every return type.
void register_return_types(PyObject* types);

}  // namespace torch::python
