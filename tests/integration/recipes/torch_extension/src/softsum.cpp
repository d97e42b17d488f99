// softsum._softsum: libtorch's operators and its automatic differentiation, called from C++.
#include <Python.h>
#include <torch/torch.h>

#include <vector>

static PyObject* softsum(PyObject*, PyObject* argument) {
  const Py_ssize_t count = PySequence_Size(argument);
  if (count < 0) return nullptr;
  std::vector<float> numbers(static_cast<size_t>(count));
  for (Py_ssize_t index = 0; index < count; ++index) {
    PyObject* item = PySequence_GetItem(argument, index);
    if (!item) return nullptr;
    numbers[static_cast<size_t>(index)] = static_cast<float>(PyFloat_AsDouble(item));
    Py_DECREF(item);
    if (PyErr_Occurred()) return nullptr;
  }
  try {
    at::Tensor values = at::empty({count}, torch::dtype(torch::kFloat));
    std::copy(numbers.begin(), numbers.end(), values.data_ptr<float>());
    values.requires_grad_();
    const at::Tensor total = at::sum(at::log(at::add(at::exp(values), 1.0)));
    total.backward();
    const at::Tensor gradient = values.grad();
    PyObject* slopes = PyList_New(count);
    if (!slopes) return nullptr;
    for (Py_ssize_t index = 0; index < count; ++index) {
      PyList_SET_ITEM(slopes, index, PyFloat_FromDouble(gradient.data_ptr<float>()[index]));
    }
    return Py_BuildValue("dN", total.item().toDouble(), slopes);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

static PyMethodDef functions[] = {{"softsum", softsum, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_softsum", nullptr, -1, functions,
                                 nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__softsum() { return PyModule_Create(&definition); }
