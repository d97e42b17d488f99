// What torch.autograd.forward_ad and torch.func are made of.

#include <torch/csrc/autograd/python_engine.h>

#include <torch/csrc/autograd/forward_mode.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/argument_parser.h>

#include <aten/ATen.h>

#include <string>

namespace torch::python {

namespace {

const at::Tensor& tensor_argument(PyObject* object, const char* function) {
  if (!is_tensor(object))
    raise(PyExc_TypeError, std::string(function) + "() expected a Tensor, but got " + type_name(object));
  return unpack(object);
}

// torch.autograd.forward_ad has one level; torch.func nests them.
PyObject* enter_level(PyObject*, PyObject* may_nest) {
  return guarded([&]() -> PyObject* {
    TORCH_CHECK(may_nest == Py_True || autograd::forward_levels() == 0,
                "Nested forward mode AD is not supported at the moment");
    return PyLong_FromSize_t(autograd::enter_forward_level());
  });
}

PyObject* exit_level(PyObject*, PyObject* level) {
  return guarded([&]() -> PyObject* {
    autograd::exit_forward_level(static_cast<size_t>(to_integer(level)));
    return new_none();
  });
}

PyObject* make_dual(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* primal = nullptr;
    PyObject* tangent = nullptr;
    Py_ssize_t level = 0;
    if (!PyArg_ParseTuple(arguments, "OOn:_make_dual", &primal, &tangent, &level)) return nullptr;
    return wrap(autograd::make_dual(tensor_argument(primal, "make_dual"), tensor_argument(tangent, "make_dual"),
                                    static_cast<size_t>(level)));
  });
}

// (primal, tangent or None)
PyObject* unpack_dual(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* object = nullptr;
    Py_ssize_t level = 0;
    if (!PyArg_ParseTuple(arguments, "On:_unpack_dual", &object, &level)) return nullptr;
    const at::Tensor& tensor = tensor_argument(object, "unpack_dual");
    const auto number = static_cast<size_t>(level);
    const at::Tensor tangent = autograd::tangent_at(tensor, number);
    const Object primal = Object::steal(wrap(autograd::primal_at(tensor, number)));
    const autograd::ForwardLevelsGuard below(number);
    const Object moved = Object::steal(wrap(tangent.defined() ? at::view(tangent, tangent.sizes()) : tangent));
    return checked(PyTuple_Pack(2, primal.get(), moved.get()));
  });
}

PyObject* detach_history(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const at::Tensor& tensor = tensor_argument(object, "_detach_history");
    at::Tensor result = at::detach(tensor);
    autograd::copy_tangents(tensor, result);
    return wrap(std::move(result));
  });
}

// [(level, tangent)] of the levels at which a tensor moves.
PyObject* tangents_of(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    const at::Tensor& tensor = tensor_argument(object, "_tangents");
    Object list = Object::steal(checked(PyList_New(0)));
    for (size_t level = 0; level < autograd::forward_levels(); ++level) {
      const at::Tensor tangent = autograd::tangent_at(tensor, level);
      if (!tangent.defined()) continue;
      const Object pair = Object::steal(checked(Py_BuildValue("(nN)", static_cast<Py_ssize_t>(level), wrap(tangent))));
      checked(PyList_Append(list.get(), pair.get()));
    }
    return list.release();
  });
}

PyObject* set_tangent(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* tensor = nullptr;
    PyObject* tangent = nullptr;
    Py_ssize_t level = 0;
    if (!PyArg_ParseTuple(arguments, "OOn:_set_tangent", &tensor, &tangent, &level)) return nullptr;
    TORCH_CHECK(level >= 0 && static_cast<size_t>(level) < autograd::forward_levels(), "there is no forward level ",
                level);
    autograd::set_tangent(tensor_argument(tensor, "_set_tangent"), tensor_argument(tangent, "_set_tangent"),
                          static_cast<size_t>(level));
    return new_none();
  });
}

PyMethodDef functions[] = {
    {"_tangents", tangents_of, METH_O, "_tangents(tensor): [(level, tangent)]"},
    {"_set_tangent", set_tangent, METH_VARARGS, "_set_tangent(tensor, tangent, level)"},
    {"_enter_dual_level", enter_level, METH_O,
     "_enter_dual_level(may_nest): begins a level of forward mode; its number."},
    {"_exit_dual_level", exit_level, METH_O, "_exit_dual_level(level): ends the last level."},
    {"_make_dual", make_dual, METH_VARARGS, "_make_dual(primal, tangent, level)"},
    {"_unpack_dual", unpack_dual, METH_VARARGS, "_unpack_dual(tensor, level): (primal, tangent or None)"},
    {"_detach_history", detach_history, METH_O, "detach(), but the result moves along the same tangents."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void register_forward_mode(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
