// torch.Generator.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <aten/ATen.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

namespace torch::python {

namespace {

c10::GeneratorImpl& impl_of(PyObject* self) { return *reinterpret_cast<GeneratorObject*>(self)->generator.impl(); }

PyObject* generator_new(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"device", nullptr};
    PyObject* place = nullptr;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:Generator", const_cast<char**>(names), &place)) {
      return nullptr;
    }
    const c10::Device device = place ? to_device(place) : c10::Device(c10::kCPU);
    return new_generator(at::Generator(c10::get_backend(device.type()).new_generator(device.index())));
  });
}

void generator_dealloc(PyObject* self) {
  reinterpret_cast<GeneratorObject*>(self)->generator.~Generator();
  Py_TYPE(self)->tp_free(self);
}

PyObject* manual_seed(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    if (!is_integer(value)) raise(PyExc_TypeError, "manual_seed expected a long, but got " + type_name(value));
    // Negative seeds are taken modulo 2^64.
    const Object number = Object::steal(checked(PyNumber_Index(value)));
    uint64_t seed = PyLong_AsUnsignedLongLong(number.get());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      seed = static_cast<uint64_t>(PyLong_AsLongLong(number.get()));
      if (PyErr_Occurred()) {
        PyErr_Clear();
        raise(PyExc_RuntimeError, "Overflow when unpacking long: a seed must fit 64 bits");
      }
    }
    {
      const std::lock_guard<std::mutex> lock(impl_of(self).mutex);
      impl_of(self).set_current_seed(seed);
    }
    Py_INCREF(self);
    return self;
  });
}

PyObject* seed(PyObject* self, PyObject*) {
  return guarded([&] {
    const std::lock_guard<std::mutex> lock(impl_of(self).mutex);
    return PyLong_FromUnsignedLongLong(impl_of(self).seed());
  });
}

PyObject* initial_seed(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(impl_of(self).current_seed()); });
}

PyObject* get_state(PyObject* self, PyObject*) {
  return guarded([&] {
    std::vector<uint8_t> state;
    {
      const std::lock_guard<std::mutex> lock(impl_of(self).mutex);
      state = impl_of(self).state();
    }
    const at::Tensor tensor = at::empty({static_cast<int64_t>(state.size())}, at::TensorOptions(at::kByte));
    std::copy(state.begin(), state.end(), tensor.data_ptr<uint8_t>());
    return wrap(tensor);
  });
}

PyObject* set_state(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(value) || unpack(value).dtype() != at::kByte || !unpack(value).is_cpu()) {
      raise(PyExc_TypeError, "RNG state must be a torch.ByteTensor");
    }
    const at::Tensor state = unpack(value).contiguous();
    const uint8_t* bytes = state.data_ptr<uint8_t>();
    {
      const std::lock_guard<std::mutex> lock(impl_of(self).mutex);
      impl_of(self).set_state(std::vector<uint8_t>(bytes, bytes + state.numel()));
    }
    Py_INCREF(self);
    return self;
  });
}

PyObject* clone_state(PyObject* self, PyObject*) {
  return guarded([&] { return new_generator(at::Generator(impl_of(self).clone())); });
}

// Pickled as the device and the state, in which the seed is, too.
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Object device = Object::steal(checked(new_device(impl_of(self).device())));
    const Object state = Object::steal(checked(get_state(self, nullptr)));
    return checked(Py_BuildValue("O(O)O", Py_TYPE(self), device.get(), state.get()));
  });
}

PyObject* restore(PyObject* self, PyObject* state) {
  const Object itself = Object::steal(set_state(self, state));
  return itself ? new_none() : nullptr;
}

PyObject* get_device(PyObject* self, void*) {
  return guarded([&] { return new_device(impl_of(self).device()); });
}

PyMethodDef methods[] = {
    {"manual_seed", manual_seed, METH_O, TORCH_SIGNATURE("manual_seed($self, seed)") "Seeds it; returns itself."},
    {"seed", seed, METH_NOARGS,
     TORCH_SIGNATURE("seed($self)") "Seeds it from the system's randomness; returns the seed."},
    {"initial_seed", initial_seed, METH_NOARGS, TORCH_SIGNATURE("initial_seed($self)") "The last seed."},
    {"get_state", get_state, METH_NOARGS, TORCH_SIGNATURE("get_state($self)") "The state, a uint8 tensor."},
    {"set_state", set_state, METH_O, TORCH_SIGNATURE("set_state($self, state)") "Goes back to a state of get_state()."},
    {"clone_state", clone_state, METH_NOARGS, TORCH_SIGNATURE("clone_state($self)") "A generator in the same state."},
    {"__reduce__", reduce, METH_NOARGS, TORCH_SIGNATURE("__reduce__($self)") "Its device and its state."},
    {"__setstate__", restore, METH_O, TORCH_SIGNATURE("__setstate__($self, state)") "Goes back to a pickled state."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef properties[] = {
    {"device", get_device, nullptr, "The device whose numbers it makes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject make_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch._C.Generator";
  type.tp_basicsize = sizeof(GeneratorObject);
  type.tp_dealloc = generator_dealloc;
  type.tp_methods = methods;
  type.tp_getset = properties;
  type.tp_new = generator_new;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = "Generator(device='cpu')\n--\n\nA source of random numbers.";
  return type;
}

}  // namespace

PyTypeObject GeneratorType = make_type();

PyObject* new_generator(at::Generator generator) {
  PyObject* self = checked(GeneratorType.tp_alloc(&GeneratorType, 0));
  new (&reinterpret_cast<GeneratorObject*>(self)->generator) at::Generator(std::move(generator));
  return self;
}

void register_generator(PyObject* module) {
  add_type(module, GeneratorType, "Generator");
  checked(PyModule_AddObject(module, "default_generator", new_generator(at::default_generator())));
}

}  // namespace torch::python
