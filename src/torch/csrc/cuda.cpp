// torch._C._cuda_*: nothing of CUDA is linked here; each call asks libtorch's plug-in loader.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/functions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <aten/Plugin.h>
#include <c10/core/Backend.h>

#include <mutex>
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

PyObject* is_loaded(PyObject*, PyObject*) { return new_bool(c10::find_backend(c10::kCUDA) != nullptr); }

PyObject* manual_seed_all(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    if (!PyLong_Check(value)) raise(PyExc_TypeError, "a seed must be an int, not " + type_name(value));
    const auto seed = static_cast<uint64_t>(PyLong_AsUnsignedLongLongMask(value));  // negative: modulo 2^64
    if (PyErr_Occurred()) throw PythonError();
    c10::remember_seed(seed);
    if (c10::Backend* loaded = c10::find_backend(c10::kCUDA)) {
      for (int index = 0; index < loaded->device_count(); ++index) {
        const auto generator = loaded->default_generator(static_cast<c10::DeviceIndex>(index));
        const std::lock_guard<std::mutex> lock(generator->mutex);
        generator->set_current_seed(seed);
      }
    }
    return new_none();
  });
}

PyObject* device_name(PyObject*, PyObject* value) {
  return guarded([&] {
    const c10::DeviceIndex index = read_index(value);
    return new_string(backend().device_facts(index).name);
  });
}
PyObject* device_capability(PyObject*, PyObject* value) {
  return guarded([&] {
    const c10::DeviceIndex index = read_index(value);
    const c10::DeviceFacts facts = backend().device_facts(index);
    return Py_BuildValue("(ii)", facts.major, facts.minor);
  });
}
PyObject* total_memory(PyObject*, PyObject* value) {
  return guarded([&] {
    const c10::DeviceIndex index = read_index(value);
    return PyLong_FromLongLong(backend().device_facts(index).total_memory);
  });
}
PyObject* memory_stats(PyObject*, PyObject* value) {
  return guarded([&] {
    const c10::DeviceIndex index = read_index(value);
    const c10::DeviceMemory memory = backend().device_memory(index);
    return Py_BuildValue("{s:L,s:L,s:L,s:L}", "allocated", static_cast<long long>(memory.allocated), "reserved",
                         static_cast<long long>(memory.reserved), "max_allocated",
                         static_cast<long long>(memory.max_allocated), "max_reserved",
                         static_cast<long long>(memory.max_reserved));
  });
}
PyObject* reset_peak_memory(PyObject*, PyObject* value) {
  return guarded([&] {
    const c10::DeviceIndex index = read_index(value);
    backend().reset_peak_memory(index);
    return new_none();
  });
}
PyObject* empty_cache(PyObject*, PyObject*) {
  return guarded([] {
    if (c10::Backend* loaded = c10::find_backend(c10::kCUDA)) loaded->empty_cache();
    return new_none();
  });
}

}  // namespace

PyMethodDef cuda_functions[] = {
    {"_cuda_is_loaded", is_loaded, METH_NOARGS, "Whether the plug-in is in this process; loads nothing."},
    {"_cuda_manual_seed_all", manual_seed_all, METH_O, "Seeds all devices, those of a plug-in to come, too."},
    {"_cuda_device_name", device_name, METH_O, "What a device is called."},
    {"_cuda_device_capability", device_capability, METH_O, "(major, minor) of a device's compute capability."},
    {"_cuda_total_memory", total_memory, METH_O, "Bytes of a device's memory."},
    {"_cuda_memory_stats", memory_stats, METH_O, "Bytes allocated and reserved, now and at most."},
    {"_cuda_reset_peak_memory_stats", reset_peak_memory, METH_O, "Begins anew to look for the most."},
    {"_cuda_empty_cache", empty_cache, METH_NOARGS, "Gives unused memory back to the devices."},
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
