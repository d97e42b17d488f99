// initModule: puts torch._C together.

#include <torch/csrc/autograd/python_engine.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/functions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/autocast.h>
#include <torch/csrc/utils/calls.h>
#include <torch/csrc/utils/module_members.h>
#include <torch/csrc/utils/overrides.h>
#include <torch/csrc/utils/python_dispatch.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/Context.h>

#include <cstring>

namespace torch::python {

namespace {

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "torch._C",
    "The bindings of libtorch. Users find what they need in torch; what is here may change.",
    -1,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

// The functions of torch are attributes of a class, as in PyTorch: that is how pickles of them name one.
PyTypeObject variable_functions = {PyVarObject_HEAD_INIT(nullptr, 0) "torch._C._VariableFunctionsClass"};

void add_to_class(PyMethodDef* functions) {
  auto* type = reinterpret_cast<PyObject*>(&variable_functions);
  const Object module = Object::steal(checked(PyUnicode_FromString("torch")));
  for (PyMethodDef* function = functions; function->ml_name; ++function) {
    const Object made = Object::steal(checked(PyCFunction_NewEx(function, type, module.get())));
    checked(PyDict_SetItemString(variable_functions.tp_dict, function->ml_name, made.get()));
  }
}

// The operators that are functions: those of torch as attributes of one object, those of its modules (_nn, ...) of
// others, which pickles import.
void register_functions(PyObject* module) {
  for (const FunctionNamespace* space = generated_namespaces; space->name; ++space) {
    Object functions = Object::steal(checked(PyModule_New(space->name)));
    checked(PyModule_AddFunctions(functions.get(), space->functions));
    checked(PyDict_SetItemString(PyImport_GetModuleDict(), space->name, functions.get()));
    checked(PyModule_AddObject(module, std::strrchr(space->name, '.') + 1, functions.release()));
  }
  variable_functions.tp_basicsize = sizeof(PyObject);
  variable_functions.tp_flags = Py_TPFLAGS_DEFAULT;
  variable_functions.tp_new = PyType_GenericNew;
  checked(PyType_Ready(&variable_functions));
  add_to_class(generated_functions);
  add_to_class(creation_functions);
  PyType_Modified(&variable_functions);
  auto* type = reinterpret_cast<PyObject*>(&variable_functions);
  checked(PyModule_AddObjectRef(module, "_VariableFunctionsClass", type));
  checked(PyModule_AddObject(module, "_VariableFunctions", checked(PyObject_CallNoArgs(type))));
  Object types = Object::steal(checked(PyDict_New()));
  register_return_types(types.get());
  checked(PyModule_AddObject(module, "_return_types", types.release()));
}

void add_flag(PyObject* module, const char* name, bool value) {
  checked(PyModule_AddObject(module, name, new_bool(value)));
}

PyObject* make_module() {
  Object module = Object::steal(checked(PyModule_Create(&definition)));
  PyObject* self = module.get();
  register_exceptions(self);
  register_overrides(self);
  register_dispatch(self);
  register_dtype(self);
  register_device(self);
  register_layout(self);
  register_size(self);
  register_generator(self);
  register_storage(self);
  register_numpy(self);
  register_tensor(self);
  register_engine(self);
  register_forward_mode(self);
  register_function_base(self);
  register_functions(self);
  register_module_members(self);
  checked(PyModule_AddFunctions(self, global_functions));
  checked(PyModule_AddFunctions(self, autocast_functions));
  checked(PyModule_AddFunctions(self, cuda_functions));
  checked(PyModule_AddFunctions(self, dlpack_functions));
#if defined(TORCH_HAS_SHM)
  checked(PyModule_AddFunctions(self, shared_memory_functions));
#endif
  add_flag(self, "_has_mkl", at::has_mkl());
  add_flag(self, "_has_openmp", at::has_openmp());
  add_flag(self, "_has_lapack", at::has_lapack());
#ifdef _GLIBCXX_USE_CXX11_ABI
  add_flag(self, "_cxx11_abi", _GLIBCXX_USE_CXX11_ABI != 0);
#else
  add_flag(self, "_cxx11_abi", true);
#endif
  return module.release();
}

}  // namespace

}  // namespace torch::python

extern "C" C10_EXPORT PyObject* initModule() {
  return torch::python::guarded([] { return torch::python::make_module(); });
}
