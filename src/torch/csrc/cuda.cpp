// torch._C._cuda_*: nothing of CUDA is linked here; each call asks libtorch's plug-in loader.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/functions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <aten/PinnedMemory.h>
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

PyObject* has_magma(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    const at::PluginInfo* info = at::cuda_plugin_info();
    return new_bool(info != nullptr && info->has_magma);
  });
}
PyObject* has_cudnn(PyObject*, PyObject*) {
  return guarded([] {
    at::cuda_available();
    const at::PluginInfo* info = at::cuda_plugin_info();
    return new_bool(info != nullptr && info->cudnn_version != nullptr);
  });
}
PyObject* cudnn_version(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    at::cuda_available();
    const at::PluginInfo* info = at::cuda_plugin_info();
    if (info == nullptr || info->cudnn_version == nullptr) return new_none();
    return PyLong_FromLongLong(info->cudnn_version());
  });
}
PyObject* cudnn_benchmark_limit(PyObject*, PyObject*) { return PyLong_FromLong(at::cudnn_benchmark_limit()); }
PyObject* set_cudnn_benchmark_limit(PyObject*, PyObject* value) {
  return guarded([&] {
    at::set_cudnn_benchmark_limit(static_cast<int>(to_integer(value)));
    return new_none();
  });
}
PyObject* linalg_library(PyObject*, PyObject*) {
  return PyLong_FromLong(static_cast<long>(at::preferred_linalg_library()));
}
PyObject* set_linalg_library(PyObject*, PyObject* value) {
  return guarded([&] {
    at::prefer_linalg_library(static_cast<at::LinalgLibrary>(to_integer(value)));
    return new_none();
  });
}
PyObject* set_product_switches(PyObject*, PyObject* value) {
  return guarded([&] {
    at::set_product_switches(static_cast<unsigned>(to_integer(value)));
    return new_none();
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
// -1: memory of the host
c10::DeviceIndex read_memory_index(PyObject* value) {
  return is_integer(value) && to_integer(value) == -1 ? c10::DeviceIndex{-1} : read_index(value);
}

PyObject* memory_stats(PyObject*, PyObject* value) {
  return guarded([&] {
    Object numbers = Object::steal(checked(PyDict_New()));
    for (const auto& [name, number] : backend().memory_numbers(read_memory_index(value))) {
      const Object boxed = Object::steal(checked(PyLong_FromLongLong(number)));
      if (PyDict_SetItemString(numbers.get(), name.c_str(), boxed.get()) < 0) throw PythonError();
    }
    return numbers.release();
  });
}
PyObject* reset_memory(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *device, *totals;
    if (!PyArg_UnpackTuple(args, "reset_memory_stats", 2, 2, &device, &totals)) throw PythonError();
    backend().reset_memory_numbers(read_memory_index(device), PyObject_IsTrue(totals) == 1);
    return new_none();
  });
}
PyObject* memory_segments(PyObject*, PyObject*) {
  return guarded([] {
    Object segments = Object::steal(checked(PyList_New(0)));
    for (const c10::MemorySegment& segment : backend().memory_segments()) {
      Object blocks = Object::steal(checked(PyList_New(0)));
      for (const auto& block : segment.blocks) {
        const Object tuple = Object::steal(checked(Py_BuildValue(
            "(LLs)", static_cast<long long>(block.bytes), static_cast<long long>(block.requested), block.state)));
        if (PyList_Append(blocks.get(), tuple.get()) < 0) throw PythonError();
      }
      const Object entry = Object::steal(
          checked(Py_BuildValue("(iLLKiO)", int{segment.device}, static_cast<long long>(segment.address),
                                static_cast<long long>(reinterpret_cast<intptr_t>(segment.stream)),
                                static_cast<unsigned long long>(segment.pool), int{segment.is_small}, blocks.get())));
      if (PyList_Append(segments.get(), entry.get()) < 0) throw PythonError();
    }
    return segments.release();
  });
}
PyObject* limit_memory(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *device, *fraction;
    if (!PyArg_UnpackTuple(args, "limit_memory", 2, 2, &device, &fraction)) throw PythonError();
    const double share = PyFloat_AsDouble(fraction);
    if (PyErr_Occurred()) throw PythonError();
    backend().limit_memory(read_index(device), share);
    return new_none();
  });
}
PyObject* memory_limit(PyObject*, PyObject* value) {
  return guarded([&] { return PyFloat_FromDouble(backend().memory_limit(read_index(value))); });
}
PyObject* can_access_peer(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *device, *peer;
    if (!PyArg_UnpackTuple(args, "can_access_peer", 2, 2, &device, &peer)) throw PythonError();
    return new_bool(backend().can_access_peer(read_index(device), read_index(peer)));
  });
}
PyObject* empty_cache(PyObject*, PyObject*) {
  return guarded([] {
    if (c10::Backend* loaded = c10::find_backend(c10::kCUDA)) loaded->empty_cache();
    return new_none();
  });
}

// ---- streams and events. A stream is a number: its handle; the default stream is 0.

c10::StreamHandle read_stream(PyObject* value) {
  if (!is_integer(value)) raise(PyExc_TypeError, "a stream must be an int, not " + type_name(value));
  return reinterpret_cast<c10::StreamHandle>(to_integer(value));
}
PyObject* new_stream_number(c10::StreamHandle stream) {
  return PyLong_FromLongLong(static_cast<long long>(reinterpret_cast<intptr_t>(stream)));
}

struct StreamArguments {
  c10::StreamHandle stream;
  c10::DeviceIndex device;
};
// (stream, device)
StreamArguments read_stream_and_device(PyObject* args) {
  PyObject *stream, *device;
  if (!PyArg_UnpackTuple(args, "stream", 2, 2, &stream, &device)) throw PythonError();
  return {read_stream(stream), read_index(device)};
}

PyObject* current_stream(PyObject*, PyObject* value) {
  return guarded([&] { return new_stream_number(backend().current_stream(read_index(value))); });
}
PyObject* set_stream(PyObject*, PyObject* args) {
  return guarded([&] {
    const auto [stream, device] = read_stream_and_device(args);
    backend().set_current_stream(stream, device);
    return new_none();
  });
}
PyObject* new_stream(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *device, *priority;
    if (!PyArg_UnpackTuple(args, "new_stream", 2, 2, &device, &priority)) throw PythonError();
    return new_stream_number(backend().new_stream(read_index(device), static_cast<int>(to_integer(priority))));
  });
}
PyObject* synchronize_stream(PyObject*, PyObject* args) {
  return guarded([&] {
    const auto [stream, device] = read_stream_and_device(args);
    const c10::DeviceGuard guard(c10::Device(c10::kCUDA, device));
    {
      const ReleaseGil gil;
      backend().synchronize_stream(stream);
    }
    return new_none();
  });
}
PyObject* query_stream(PyObject*, PyObject* args) {
  return guarded([&] {
    const auto [stream, device] = read_stream_and_device(args);
    const c10::DeviceGuard guard(c10::Device(c10::kCUDA, device));
    return new_bool(backend().query_stream(stream));
  });
}
PyObject* record_stream(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *data, *stream;
    if (!PyArg_UnpackTuple(args, "record_stream", 2, 2, &data, &stream)) throw PythonError();
    backend().record_stream(reinterpret_cast<void*>(to_integer(data)), read_stream(stream));
    return new_none();
  });
}

constexpr const char* kEvent = "torch._C.cuda_event";

c10::DeviceEvent& read_event(PyObject* capsule) {
  auto* event = static_cast<c10::DeviceEvent*>(PyCapsule_GetPointer(capsule, kEvent));
  if (event == nullptr) throw PythonError();
  return *event;
}

PyObject* new_event(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *device, *timing;
    if (!PyArg_UnpackTuple(args, "new_event", 2, 2, &device, &timing)) throw PythonError();
    const c10::DeviceGuard guard(c10::Device(c10::kCUDA, read_index(device)));
    auto event = backend().new_event(PyObject_IsTrue(timing) == 1);
    PyObject* capsule = PyCapsule_New(event.get(), kEvent, [](PyObject* dying) {
      delete static_cast<c10::DeviceEvent*>(PyCapsule_GetPointer(dying, kEvent));
    });
    if (capsule) event.release();
    return capsule;
  });
}

// (event, stream, device)
template <typename Body>
PyObject* with_event_and_stream(PyObject* args, const Body& body) {
  return guarded([&] {
    PyObject *event, *stream, *device;
    if (!PyArg_UnpackTuple(args, "event", 3, 3, &event, &stream, &device)) throw PythonError();
    const c10::DeviceGuard guard(c10::Device(c10::kCUDA, read_index(device)));
    body(read_event(event), read_stream(stream));
    return new_none();
  });
}
PyObject* record_event(PyObject*, PyObject* args) {
  return with_event_and_stream(args, [](c10::DeviceEvent& event, c10::StreamHandle stream) { event.record(stream); });
}
PyObject* wait_event(PyObject*, PyObject* args) {
  return with_event_and_stream(args, [](c10::DeviceEvent& event, c10::StreamHandle stream) { event.wait(stream); });
}
PyObject* query_event(PyObject*, PyObject* event) {
  return guarded([&] { return new_bool(read_event(event).query()); });
}
PyObject* synchronize_event(PyObject*, PyObject* value) {
  return guarded([&] {
    const c10::DeviceEvent& event = read_event(value);
    {
      const ReleaseGil gil;
      event.synchronize();
    }
    return new_none();
  });
}
PyObject* elapsed_time(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *start, *end;
    if (!PyArg_UnpackTuple(args, "elapsed_time", 2, 2, &start, &end)) throw PythonError();
    return PyFloat_FromDouble(read_event(end).elapsed_since(read_event(start)));
  });
}

PyObject* pin_memory(PyObject*, PyObject* tensor) {
  return guarded([&] {
    const at::Tensor& given = unpack(tensor);
    at::Tensor pinned;
    {
      const ReleaseGil gil;
      pinned = at::pin_memory(given);
    }
    return wrap(std::move(pinned));
  });
}
PyObject* is_pinned(PyObject*, PyObject* tensor) {
  return guarded([&] { return new_bool(at::is_pinned(unpack(tensor))); });
}

// ---- pools of memory, and graphs

c10::MemoryPool read_pool(PyObject* value) {
  if (!is_integer(value)) raise(PyExc_TypeError, "a pool must be an int, not " + type_name(value));
  return static_cast<c10::MemoryPool>(to_integer(value));
}
PyObject* new_pool(PyObject*, PyObject*) {
  return guarded([] { return PyLong_FromUnsignedLongLong(backend().new_memory_pool()); });
}
PyObject* release_pool(PyObject*, PyObject* pool) {
  return guarded([&] {
    backend().release_memory_pool(read_pool(pool));
    return new_none();
  });
}
PyObject* enter_pool(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *device, *pool;
    if (!PyArg_UnpackTuple(args, "enter_pool", 2, 2, &device, &pool)) throw PythonError();
    backend().enter_memory_pool(read_index(device), read_pool(pool));
    return new_none();
  });
}
PyObject* leave_pool(PyObject*, PyObject* device) {
  return guarded([&] {
    backend().leave_memory_pool(read_index(device));
    return new_none();
  });
}

constexpr const char* kGraph = "torch._C.cuda_graph";

c10::DeviceGraph& read_graph(PyObject* capsule) {
  auto* graph = static_cast<c10::DeviceGraph*>(PyCapsule_GetPointer(capsule, kGraph));
  if (graph == nullptr) throw PythonError();
  return *graph;
}
PyObject* new_graph(PyObject*, PyObject*) {
  return guarded([] {
    auto graph = backend().new_graph();
    PyObject* capsule = PyCapsule_New(graph.get(), kGraph, [](PyObject* dying) {
      delete static_cast<c10::DeviceGraph*>(PyCapsule_GetPointer(dying, kGraph));
    });
    if (capsule) graph.release();
    return capsule;
  });
}
PyObject* begin_graph(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *graph, *pool, *mode;
    if (!PyArg_UnpackTuple(args, "begin_graph", 3, 3, &graph, &pool, &mode)) throw PythonError();
    const char* text = PyUnicode_AsUTF8(mode);
    if (text == nullptr) throw PythonError();
    read_graph(graph).begin(read_pool(pool), text);
    return new_none();
  });
}
template <void (c10::DeviceGraph::*method)()>
PyObject* call_graph(PyObject*, PyObject* graph) {
  return guarded([&] {
    c10::DeviceGraph& called = read_graph(graph);
    {
      const ReleaseGil gil;
      (called.*method)();
    }
    return new_none();
  });
}
PyObject* is_capturing(PyObject*, PyObject*) {
  return guarded([] {
    c10::Backend* loaded = c10::find_backend(c10::kCUDA);
    return new_bool(loaded && loaded->is_capturing());
  });
}

PyObject* memory_info(PyObject*, PyObject* value) {
  return guarded([&] {
    const auto [free_bytes, total_bytes] = backend().free_and_total_memory(read_index(value));
    return Py_BuildValue("(LL)", static_cast<long long>(free_bytes), static_cast<long long>(total_bytes));
  });
}

}  // namespace

PyMethodDef cuda_functions[] = {
    {"_cuda_is_loaded", is_loaded, METH_NOARGS, "Whether the plug-in is in this process; loads nothing."},
    {"_cuda_manual_seed_all", manual_seed_all, METH_O, "Seeds all devices, those of a plug-in to come, too."},
    {"_cuda_device_name", device_name, METH_O, "What a device is called."},
    {"_cuda_device_capability", device_capability, METH_O, "(major, minor) of a device's compute capability."},
    {"_cuda_total_memory", total_memory, METH_O, "Bytes of a device's memory."},
    {"_cuda_memory_stats", memory_stats, METH_O,
     "What the allocator counts, by name; of device -1, that of pinned memory."},
    {"_cuda_reset_memory_stats", reset_memory, METH_VARARGS,
     "(device, totals): begins anew to look for the most, or to add up."},
    {"_cuda_memory_segments", memory_segments, METH_NOARGS,
     "(device, address, stream, pool, is_small, [(bytes, requested, state)]) of what the allocator holds."},
    {"_cuda_limit_memory", limit_memory, METH_VARARGS, "(device, fraction): no more than this share is taken."},
    {"_cuda_memory_limit", memory_limit, METH_O, "The share of a device's memory that may be taken."},
    {"_cuda_can_access_peer", can_access_peer, METH_VARARGS, "(device, peer): whether one reads the other's memory."},
    {"_pin_memory", pin_memory, METH_O, "A tensor in pinned memory."},
    {"_is_pinned", is_pinned, METH_O, "Whether a tensor is in pinned memory."},
    {"_cuda_new_pool", new_pool, METH_NOARGS, "The number of a new pool of memory, which is held."},
    {"_cuda_release_pool", release_pool, METH_O, "Ends the hold on a pool."},
    {"_cuda_enter_pool", enter_pool, METH_VARARGS, "(device, pool): this thread's memory comes from there."},
    {"_cuda_leave_pool", leave_pool, METH_O, "Ends the last `_cuda_enter_pool` of a device."},
    {"_cuda_new_graph", new_graph, METH_NOARGS, "A graph without work."},
    {"_cuda_begin_graph", begin_graph, METH_VARARGS, "(graph, pool, mode): records the current stream's work."},
    {"_cuda_end_graph", call_graph<&c10::DeviceGraph::end>, METH_O, "Ends the record."},
    {"_cuda_instantiate_graph", call_graph<&c10::DeviceGraph::instantiate>, METH_O, "Makes it ready to be replayed."},
    {"_cuda_replay_graph", call_graph<&c10::DeviceGraph::replay>, METH_O, "Does the work, on the current stream."},
    {"_cuda_reset_graph", call_graph<&c10::DeviceGraph::reset>, METH_O, "Forgets the work."},
    {"_cuda_is_capturing", is_capturing, METH_NOARGS, "Whether the current stream's work is recorded."},
    {"_cuda_empty_cache", empty_cache, METH_NOARGS, "Gives unused memory back to the devices."},
    {"_cuda_unavailable_reason", unavailable_reason, METH_NOARGS, "Why CUDA cannot be used; None when it can."},
    {"_cuda_version", version, METH_NOARGS, "The CUDA version of the plug-in, or None."},
    {"_cuda_arch_list", arch_list, METH_NOARGS, "The architectures that the plug-in holds code for."},
    {"_cuda_has_magma", has_magma, METH_NOARGS, "Whether the plug-in is built with MAGMA."},
    {"_cuda_has_cudnn", has_cudnn, METH_NOARGS, "Whether the plug-in is built with cuDNN."},
    {"_cuda_cudnn_version", cudnn_version, METH_NOARGS, "The version of cuDNN, which this loads, or None."},
    {"_cuda_cudnn_benchmark_limit", cudnn_benchmark_limit, METH_NOARGS, "How many algorithms cuDNN tries."},
    {"_cuda_set_cudnn_benchmark_limit", set_cudnn_benchmark_limit, METH_O, "Says how many; 0: all."},
    {"_cuda_linalg_library", linalg_library, METH_NOARGS, "Who factorises matrices, as a number of aten/Plugin.h."},
    {"_cuda_set_linalg_library", set_linalg_library, METH_O, "Says who is to factorise matrices."},
    {"_cuda_set_product_switches", set_product_switches, METH_O,
     "How products and convolutions are computed, by the bits of aten/Plugin.h."},
    {"_cuda_device_count", device_count, METH_NOARGS, "How many devices there are."},
    {"_cuda_current_device", current_device, METH_NOARGS, "The current device's index."},
    {"_cuda_set_device", set_device, METH_O, "Makes a device current."},
    {"_cuda_synchronize", synchronize, METH_O, "Waits for all work on a device."},
    {"_cuda_default_generator", default_generator, METH_O, "The generator of a device."},
    {"_cuda_memory_info", memory_info, METH_O, "(free, total) bytes of a device."},
    {"_cuda_current_stream", current_stream, METH_O, "The stream that this thread's work on a device goes to."},
    {"_cuda_set_stream", set_stream, METH_VARARGS, "(stream, device): makes a stream current."},
    {"_cuda_new_stream", new_stream, METH_VARARGS, "(device, priority): a stream of the pool."},
    {"_cuda_synchronize_stream", synchronize_stream, METH_VARARGS, "(stream, device): waits for its work."},
    {"_cuda_query_stream", query_stream, METH_VARARGS, "(stream, device): whether its work is done."},
    {"_cuda_record_stream", record_stream, METH_VARARGS, "(address, stream): memory is used there, too."},
    {"_cuda_new_event", new_event, METH_VARARGS, "(device, timing): an event."},
    {"_cuda_record_event", record_event, METH_VARARGS, "(event, stream, device)"},
    {"_cuda_wait_event", wait_event, METH_VARARGS, "(event, stream, device): the stream waits for the event."},
    {"_cuda_query_event", query_event, METH_O, "Whether an event has passed."},
    {"_cuda_synchronize_event", synchronize_event, METH_O, "Waits for an event."},
    {"_cuda_elapsed_time", elapsed_time, METH_VARARGS, "(start, end): milliseconds between two events."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace torch::python
