// Sums of softplus, computed by libtorch from C++: ``smooth.total(n)`` is sum(log(1 + exp(ones(n)))).
#include <Python.h>
#include <torch/torch.h>

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define ENTRY_OF(name) PyInit_##name
#define ENTRY(name) ENTRY_OF(name)

static PyObject* total(PyObject*, PyObject* argument) {
  const long long count = PyLong_AsLongLong(argument);
  if (count == -1 && PyErr_Occurred()) return nullptr;
  try {
    const at::Tensor values = at::log(at::add(at::exp(at::ones({count})), 1.0));
    return PyFloat_FromDouble(at::sum(values).item().toDouble());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
    return nullptr;
  }
}

static PyMethodDef functions[] = {{"total", total, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, TEXT(TORCH_EXTENSION_NAME), nullptr, -1, functions,
                                 nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC ENTRY(TORCH_EXTENSION_NAME)() { return PyModule_Create(&definition); }
