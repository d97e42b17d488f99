#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "answer.h"

static PyObject *tell(PyObject *self, PyObject *arguments) {
  (void)self, (void)arguments;
  return PyLong_FromLong(answer());
}

static PyMethodDef methods[] = {{"answer", tell, METH_NOARGS, "The number."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "greet", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_greet(void) { return PyModule_Create(&module); }
