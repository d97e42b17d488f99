#include <Python.h>

extern int torch_answer(void);

static PyObject* answer(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  return PyLong_FromLong(torch_answer());
}

static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, "What libtorch says."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torch._C", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyObject* initModule(void) { return PyModule_Create(&definition); }
