// torch._C._cuda_*: nothing of CUDA is linked here; each call asks libtorch's plug-in loader.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/functions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <aten/Plugin.h>
#include <c10/core/Backend.h>

#include <string>

namespace torch::python {

namespace {

c10::Backend& backend() { return c10::get_backend(c10::kCUDA); }

c10::DeviceIndex read_index(PyObject* value) {
  if (!is_integer(value)) raise(PyExc_TypeError, "a device index must be an int, not " + type_name(value));
  const int64_t index = to_integer(value);
  const int count = backend().device_count();
  if (index < 0 || index >= count) {
    raise(PyExc_RuntimeError, "CUDA error: invalid device ordinal " + std::to_string(index) + " (there are " +
                                  std::to_string(count) + " devices)");
  }
  return static_cast<c10::DeviceIndex>(index);
}

PyObject* unavailable_reason(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    if (at::cuda_available()) return new_none();
    return new_string(at::cuda_unavailable_reason());
  });
}

PyObject* version(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    at::cuda_available();
    const at::PluginInfo* info = at::cuda_plugin_info();
    return info ? new_string(info->cuda_version) : new_none();
  });
}

PyObject* arch_list(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    at::cuda_available();
    const at::PluginInfo* info = at::cuda_plugin_info();
    return new_string(info ? info->arch_list : "");
  });
}

PyObject* device_count(PyObject*, PyObject*) {
  return guarded([] { return PyLong_FromLong(at::cuda_available() ? backend().device_count() : 0); });
}
PyObject* current_device(PyObject*, PyObject*) {
  return guarded([] { return PyLong_FromLong(backend().current_device()); });
}
PyObject* set_device(PyObject*, PyObject* value) {
  return guarded([&] {
    backend().set_device(read_index(value));
    return new_none();
  });
}
PyObject* synchronize(PyObject*, PyObject* value) {
  return guarded([&] {
    const c10::DeviceIndex index = read_index(value);
    {
      const ReleaseGil gil;
      backend().synchronize(index);
    }
    return new_none();
  });
}
PyObject* default_generator(PyObject*, PyObject* value) {
  return guarded([&] { return new_generator(at::Generator(backend().default_generator(read_index(value)))); });
}

}  // namespace

PyMethodDef cuda_functions[] = {
    {"_cuda_unavailable_reason", unavailable_reason, METH_NOARGS, "Why CUDA cannot be used; None when it can."},
    {"_cuda_version", version, METH_NOARGS, "The CUDA version of the plug-in, or None."},
    {"_cuda_arch_list", arch_list, METH_NOARGS, "The architectures that the plug-in holds code for."},
    {"_cuda_device_count", device_count, METH_NOARGS, "How many devices there are."},
    {"_cuda_current_device", current_device, METH_NOARGS, "The current device's index."},
    {"_cuda_set_device", set_device, METH_O, "Makes a device current."},
    {"_cuda_synchronize", synchronize, METH_O, "Waits for all work on a device."},
    {"_cuda_default_generator", default_generator, METH_O, "The generator of a device."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace torch::python
