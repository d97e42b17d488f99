/* torch/_C.*.so: all of the bindings live in libtorch_python, which this file only starts.
   It is C, tiny and never changes, so that a rebuild of the bindings relinks one library and not the extension. */
#include <Python.h>

extern PyObject* initModule(void);

PyMODINIT_FUNC PyInit__C(void) { return initModule(); }
