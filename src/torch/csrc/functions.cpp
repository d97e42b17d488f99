#include <torch/csrc/functions.h>

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/Context.h>
#include <aten/Parallel.h>
#include <c10/core/GradMode.h>

#include <string>

#if defined(__SSE__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace torch::python {

namespace {

bool read_bool(PyObject* value, const char* name) {
  if (!PyBool_Check(value)) {
    raise(PyExc_TypeError, std::string(name) + " expected a bool, but got " + type_name(value));
  }
  return value == Py_True;
}

PyObject* get_default_dtype(PyObject*, PyObject*) {
  return guarded([] { return new_dtype(c10::get_default_dtype()); });
}
PyObject* set_default_dtype(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    if (Py_TYPE(value) != &DtypeType)
      raise(PyExc_TypeError,
            "invalid dtype object: only floating-point types are supported "
            "as the default type");
    c10::set_default_dtype(to_dtype(value));
    return new_none();
  });
}
PyObject* is_grad_enabled(PyObject*, PyObject*) { return new_bool(c10::GradMode::is_enabled()); }
PyObject* set_grad_enabled(PyObject*, PyObject* value) {
  return guarded([&] {
    c10::GradMode::set_enabled(read_bool(value, "set_grad_enabled"));
    return new_none();
  });
}
PyObject* is_inference_mode(PyObject*, PyObject*) { return new_bool(c10::InferenceMode::is_enabled()); }
PyObject* set_inference_mode(PyObject*, PyObject* value) {
  return guarded([&] {
    c10::InferenceMode::set_enabled(read_bool(value, "_set_inference_mode"));
    return new_none();
  });
}
PyObject* suggest_memory_format(PyObject*, PyObject* tensor) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(tensor)) raise(PyExc_TypeError, "expected a Tensor, but got " + type_name(tensor));
    return new_memory_format(unpack(tensor).suggest_memory_format());
  });
}
PyObject* get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(at::get_num_threads()); }
PyObject* set_num_threads(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    if (!is_integer(value)) raise(PyExc_TypeError, "set_num_threads expects an int, but got " + type_name(value));
    const int64_t threads = to_integer(value);
    if (threads < 1 || threads > 65536) raise(PyExc_RuntimeError, "set_num_threads expects a positive integer");
    at::set_num_threads(static_cast<int>(threads));
    return new_none();
  });
}
// The calling thread's, and of threads that it makes from here on: false where the processor has no such switch.
PyObject* set_flush_denormal(PyObject*, PyObject* value) {
  return guarded([&] {
    const bool flushes = read_bool(value, "set_flush_denormal");
#if defined(__SSE__) || defined(_M_X64)
    constexpr unsigned flush_results_and_inputs = 0x8040;
    const unsigned control = _mm_getcsr();
    _mm_setcsr(flushes ? control | flush_results_and_inputs : control & ~flush_results_and_inputs);
    return new_bool(true);
#else
    return new_bool(!flushes);
#endif
  });
}
PyObject* show_config(PyObject*, PyObject*) {
  return guarded([] { return new_string(at::show_config()); });
}
PyObject* parallel_info(PyObject*, PyObject*) {
  return guarded([] {
    return new_string("ATen/Parallel:\n\tat::get_num_threads() : " + std::to_string(at::get_num_threads()) +
                      "\nOpenMP: " + (at::has_openmp() ? "yes" : "no") + "\nInstruction set: " + at::cpu_capability() +
                      "\n");
  });
}

PyObject* cpu_capability(PyObject*, PyObject*) { return new_string(at::cpu_capability()); }

}  // namespace

PyMethodDef global_functions[] = {
    {"_cpu_capability", cpu_capability, METH_NOARGS, "The instruction set that kernels use on this machine."},
    {"get_default_dtype", get_default_dtype, METH_NOARGS, "The dtype of new floating-point tensors."},
    {"_legacy_tensor", as_method(legacy_tensor_of), METH_VARARGS | METH_KEYWORDS,
     "_legacy_tensor(dtype, *sizes or data, device=None): what torch.FloatTensor(...) makes."},
    {"_set_default_dtype", set_default_dtype, METH_O, "Sets the dtype of new floating-point tensors."},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "Whether operations are recorded on this thread."},
    {"_set_grad_enabled", set_grad_enabled, METH_O, "Sets whether operations are recorded on this thread."},
    {"_is_inference_mode_enabled", is_inference_mode, METH_NOARGS, "Whether this thread is in inference mode."},
    {"_set_inference_mode", set_inference_mode, METH_O, "Sets the flag of inference mode; grad mode is set apart."},
    {"_suggest_memory_format", suggest_memory_format, METH_O,
     "The memory format of results that are laid out as a tensor is."},
    {"get_num_threads", get_num_threads, METH_NOARGS, "How many threads an operator may use."},
    {"set_num_threads", set_num_threads, METH_O, "Sets how many threads an operator may use."},
    {"_set_flush_denormal", set_flush_denormal, METH_O,
     "Whether this thread takes numbers below the smallest normal one for 0; True if the processor can."},
    {"_show_config", show_config, METH_NOARGS, "How torch was built."},
    {"_parallel_info", parallel_info, METH_NOARGS, "How operators use threads."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace torch::python
