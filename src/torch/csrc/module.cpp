// initModule: puts torch._C together.

#include <torch/csrc/autograd/python_engine.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/functions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/autocast.h>
#include <torch/csrc/utils/calls.h>
#include <torch/csrc/utils/overrides.h>
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

// The operators that are functions: those of torch as attributes of one object, those of its modules (_nn, ...) of
// others.
void register_functions(PyObject* module) {
  for (const FunctionNamespace* space = generated_namespaces; space->name; ++space) {
    Object functions = Object::steal(checked(PyModule_New(space->name)));
    checked(PyModule_AddFunctions(functions.get(), space->functions));
    checked(PyModule_AddObject(module, std::strrchr(space->name, '.') + 1, functions.release()));
  }
  Object functions = Object::steal(checked(PyModule_New("torch._C._VariableFunctions")));
  checked(PyModule_AddFunctions(functions.get(), generated_functions));
  checked(PyModule_AddFunctions(functions.get(), creation_functions));
  checked(PyModule_AddObject(module, "_VariableFunctions", functions.release()));
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
