#include <torch/csrc/utils/autocast.h>

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <aten/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace torch::python {

int active_autocasts = 0;

struct AutocastDevice {
  c10::DeviceType device;
  c10::ScalarType dtype;
  bool enabled = false;
};

namespace {

struct State {
  // In the order of PyTorch's dispatcher, for calls with tensors of both.
  AutocastDevice devices[2] = {{at::kCUDA, at::kHalf}, {at::kCPU, at::kBFloat16}};
  bool keeps_weights = true;
  int depth = 0;
  // The converted forms of parameters, until the outermost block ends. The original is kept, so that no other tensor
  // can come to lie where it lay.
  std::unordered_map<const at::TensorImpl*, std::pair<at::Tensor, at::Tensor>> weights;
};

State& state() {
  thread_local State* made = new State();  // never deleted: a thread may end when Python has
  return *made;
}

void set_enabled(AutocastDevice& device, bool enabled) {
  active_autocasts += static_cast<int>(enabled) - static_cast<int>(device.enabled);
  device.enabled = enabled;
}

bool is_convertible(const at::Tensor& tensor, const AutocastDevice& device) {
  return tensor.device_type() == device.device && tensor.is_floating_point() && tensor.dtype() != at::kDouble;
}

at::Tensor convert(const at::Tensor& tensor, const AutocastDevice& device, c10::ScalarType dtype) {
  if (!is_convertible(tensor, device) || tensor.dtype() == dtype) return tensor;
  State& current = state();
  const bool is_weight = current.keeps_weights && dtype == device.dtype && tensor.dtype() == at::kFloat &&
                         tensor.requires_grad() && tensor.is_leaf() && !tensor.is_view();
  if (!is_weight) return tensor.to(dtype);
  auto& [original, kept] = current.weights[tensor.impl()];
  if (!kept.defined() || kept.dtype() != dtype) {  // blocks within blocks may have other dtypes
    original = tensor;
    kept = tensor.to(dtype);
  }
  return kept;
}

// visit(tensor) for each tensor of an argument, or of a list of them.
template <typename Visit>
void visit_tensors(PyObject* value, Visit&& visit) {
  if (is_tensor(value)) {
    visit(unpack(value));
  } else if (PyTuple_Check(value) || PyList_Check(value)) {
    for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(value); ++index) {
      visit_tensors(PySequence_Fast_GET_ITEM(value, index), visit);
    }
  }
}

// The value with its tensors converted; itself if there is nothing to do.
Object converted(PyObject* value, const AutocastDevice& device, c10::ScalarType dtype) {
  if (is_tensor(value)) {
    const at::Tensor& tensor = unpack(value);
    at::Tensor result = convert(tensor, device, dtype);
    return result.is_same(tensor) ? Object::borrow(value) : Object::steal(wrap(std::move(result)));
  }
  if (!PyTuple_Check(value) && !PyList_Check(value)) return Object::borrow(value);
  Object list = Object::steal(checked(PySequence_List(value)));
  bool changed = false;
  for (Py_ssize_t index = 0; index < PyList_GET_SIZE(list.get()); ++index) {
    PyObject* item = PyList_GET_ITEM(list.get(), index);
    if (!is_tensor(item)) continue;
    Object made = converted(item, device, dtype);
    changed = changed || made.get() != item;
    checked(PyList_SetItem(list.get(), index, made.release()));
  }
  return changed ? list : Object::borrow(value);
}

// [h, c] of an LSTM whose h is projected.
bool is_projected_state(PyObject* value) {
  if (!(PyTuple_Check(value) || PyList_Check(value)) || PySequence_Fast_GET_SIZE(value) != 2) return false;
  PyObject* h = PySequence_Fast_GET_ITEM(value, 0);
  PyObject* c = PySequence_Fast_GET_ITEM(value, 1);
  if (!is_tensor(h) || !is_tensor(c) || unpack(h).dim() == 0 || unpack(c).dim() == 0) return false;
  return unpack(h).sizes().back() != unpack(c).sizes().back();
}

bool is_any(PyObject* const* values, Py_ssize_t count, std::initializer_list<const char*> words) {
  return std::any_of(values, values + count, [&](PyObject* value) {
    return PyUnicode_Check(value) && std::any_of(words.begin(), words.end(), [&](const char* word) {
             return PyUnicode_CompareWithASCIIString(value, word) == 0;
           });
  });
}

AutocastPolicies policies_of_call(std::string_view name, PyObject* const* values, Py_ssize_t count) {
  // Of some functions only some modes are operators of the lists.
  if (name == "pad" && is_any(values, count, {"reflect", "replicate"})) return autocast_policies("reflection_pad1d");
  if (name == "interpolate" && is_any(values, count, {"area"})) return {};
  AutocastPolicies policies = autocast_policies(name);
  // On the CPU PyTorch keeps everything of packed sequences in float32.
  if (name == "lstm" && count > 1 && is_tensor(values[1]) &&
      std::none_of(values, values + count, is_projected_state)) {
    policies.cpu = AutocastPolicy::Single;
  }
  return policies;
}

// Whether the call writes into a tensor that it was given, which is no operator of the lists.
bool has_out(PyObject* const* values, Py_ssize_t count, PyObject* keyword_names) {
  const Py_ssize_t named = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t index = 0; index < named; ++index) {
    PyObject* name = PyTuple_GET_ITEM(keyword_names, index);
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0) return values[count - named + index] != Py_None;
  }
  return false;
}

bool says_dtype(PyObject* const* values, Py_ssize_t count) {
  return std::any_of(values, values + count, [](PyObject* value) { return Py_TYPE(value) == &DtypeType; });
}

}  // namespace

AutocastArguments::AutocastArguments(const char* name, PyObject* self, PyObject* const* values, Py_ssize_t count,
                                     PyObject* keyword_names)
    : self_(self), values_(values) {
  const State& current = state();
  const auto& [cuda, cpu] = current.devices;
  if ((!cuda.enabled && !cpu.enabled) || has_out(values, count, keyword_names)) return;
  const AutocastPolicies policies = policies_of_call(name, values, count);
  if (cuda.enabled) convert_for(cuda, policies.cuda, count);
  if (cpu.enabled) convert_for(cpu, policies.cpu, count, std::string_view(name) == "lstm");
}

void AutocastArguments::convert_for(const AutocastDevice& device, AutocastPolicy policy, Py_ssize_t count,
                                    bool keeps_projected_state) {
  if (policy == AutocastPolicy::Keep) return;
  if (policy == AutocastPolicy::SingleByDefault) {
    PyObject* first = self_ ? self_ : count > 0 ? values_[0] : nullptr;
    if (!first || !is_tensor(first) || !is_convertible(unpack(first), device) || says_dtype(values_, count)) return;
  }
  bool is_here = false;
  bool has_single = false;
  const auto look = [&](const at::Tensor& tensor) {
    is_here = is_here || tensor.device_type() == device.device;
    has_single = has_single || (is_convertible(tensor, device) && tensor.dtype() == at::kFloat);
  };
  if (self_) visit_tensors(self_, look);
  for (Py_ssize_t index = 0; index < count; ++index) visit_tensors(values_[index], look);
  if (!is_here) return;
  TORCH_CHECK(policy != AutocastPolicy::Banned,
              "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: float16 has few "
              "probabilities near 1. Give logits to binary_cross_entropy_with_logits or BCEWithLogitsLoss");
  const bool is_lower = policy == AutocastPolicy::Lower || (policy == AutocastPolicy::Widest && !has_single);
  const c10::ScalarType dtype = is_lower ? device.dtype : at::kFloat;
  if (self_) {
    owners_.push_back(converted(self_, device, dtype));
    self_ = owners_.back().get();
  }
  std::vector<PyObject*> replaced;
  for (Py_ssize_t index = 0; index < count; ++index) {
    const bool is_kept = keeps_projected_state && is_projected_state(values_[index]);
    owners_.push_back(is_kept ? Object::borrow(values_[index]) : converted(values_[index], device, dtype));
    replaced.push_back(owners_.back().get());
  }
  replaced_ = std::move(replaced);
  values_ = replaced_.data();
  applied_.push_back(device.device);
}

at::Tensor autocast_argument(const char* name, const at::Tensor& tensor) {
  at::Tensor result = tensor;
  const AutocastPolicies policies = autocast_policies(name);
  for (const AutocastDevice& device : state().devices) {
    const AutocastPolicy policy = device.device == at::kCUDA ? policies.cuda : policies.cpu;
    if (!device.enabled || policy == AutocastPolicy::Keep) continue;
    TORCH_INTERNAL_ASSERT(policy == AutocastPolicy::Single, "one tensor is converted to float32 only");
    result = convert(result, device, at::kFloat);
  }
  return result;
}

namespace {

// The block of a device, as off while an operator of its lists runs.
class PausedAutocasts {
 public:
  explicit PausedAutocasts(const std::vector<c10::DeviceType>& devices) {
    for (AutocastDevice& device : state().devices) {
      if (std::find(devices.begin(), devices.end(), device.device) == devices.end()) continue;
      set_enabled(device, false);
      paused_.push_back(&device);
    }
  }
  ~PausedAutocasts() {
    for (AutocastDevice* device : paused_) set_enabled(*device, true);
  }
  PausedAutocasts(const PausedAutocasts&) = delete;
  PausedAutocasts& operator=(const PausedAutocasts&) = delete;

 private:
  std::vector<AutocastDevice*> paused_;
};

// _call_in_autocast(function, args, kwargs): by the function's __name__.
PyObject* call_in_autocast(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* function = nullptr;
    PyObject* positional = nullptr;
    PyObject* keywords = nullptr;
    if (!PyArg_ParseTuple(arguments, "OO!O!:_call_in_autocast", &function, &PyTuple_Type, &positional, &PyDict_Type,
                          &keywords)) {
      return nullptr;
    }
    const Object name = Object::steal(checked(PyObject_GetAttrString(function, "__name__")));
    const char* text = PyUnicode_AsUTF8(name.get());
    if (!text) throw PythonError();
    // The named values follow the positional ones, as in a vector call.
    std::vector<PyObject*> values;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(positional); ++index) {
      values.push_back(PyTuple_GET_ITEM(positional, index));
    }
    const Object names = Object::steal(checked(PySequence_Tuple(keywords)));
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names.get()); ++index) {
      values.push_back(PyDict_GetItem(keywords, PyTuple_GET_ITEM(names.get(), index)));
    }
    const auto count = static_cast<Py_ssize_t>(values.size());
    const AutocastArguments converted(text, nullptr, values.data(), count, names.get());
    const PausedAutocasts paused(converted.applied());
    return PyObject_Vectorcall(function, converted.values(), static_cast<size_t>(PyTuple_GET_SIZE(positional)),
                               PyTuple_GET_SIZE(names.get()) ? names.get() : nullptr);
  });
}

AutocastDevice& autocast_device(PyObject* name) {
  if (PyUnicode_Check(name)) {
    for (AutocastDevice& device : state().devices) {
      if (PyUnicode_CompareWithASCIIString(name, device.device == at::kCUDA ? "cuda" : "cpu") == 0) return device;
    }
  }
  raise(PyExc_ValueError, "expected 'cpu' or 'cuda'");
}

PyObject* is_enabled(PyObject*, PyObject* device) {
  return guarded([&] { return new_bool(autocast_device(device).enabled); });
}
PyObject* is_any_enabled(PyObject*, PyObject*) {
  const auto& devices = state().devices;
  return new_bool(std::any_of(std::begin(devices), std::end(devices), [](const auto& each) { return each.enabled; }));
}
PyObject* set_device_enabled(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* device = nullptr;
    int enabled = 0;
    if (!PyArg_ParseTuple(arguments, "Op:_set_autocast_enabled", &device, &enabled)) return nullptr;
    set_enabled(autocast_device(device), enabled != 0);
    return new_none();
  });
}
PyObject* get_dtype(PyObject*, PyObject* device) {
  return guarded([&] { return new_dtype(autocast_device(device).dtype); });
}
PyObject* set_dtype(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* device = nullptr;
    PyObject* dtype = nullptr;
    if (!PyArg_ParseTuple(arguments, "OO:_set_autocast_dtype", &device, &dtype)) return nullptr;
    if (Py_TYPE(dtype) != &DtypeType) raise(PyExc_TypeError, "expected a torch.dtype, but got " + type_name(dtype));
    autocast_device(device).dtype = to_dtype(dtype);
    return new_none();
  });
}
PyObject* is_cache_enabled(PyObject*, PyObject*) { return new_bool(state().keeps_weights); }
PyObject* set_cache_enabled(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    state().keeps_weights = checked(PyObject_IsTrue(value)) == 1;
    return new_none();
  });
}
PyObject* clear_cache(PyObject*, PyObject*) {
  return guarded([] {
    state().weights.clear();
    return new_none();
  });
}
PyObject* increment_nesting(PyObject*, PyObject*) { return PyLong_FromLong(++state().depth); }
PyObject* decrement_nesting(PyObject*, PyObject*) { return PyLong_FromLong(--state().depth); }

}  // namespace

PyMethodDef autocast_functions[] = {
    {"_call_in_autocast", call_in_autocast, METH_VARARGS,
     "_call_in_autocast(function, args, kwargs): the call with arguments converted as for an operator of its name."},
    {"_is_autocast_enabled", is_enabled, METH_O, "Whether this thread is in an enabled block for a type of device."},
    {"_is_any_autocast_enabled", is_any_enabled, METH_NOARGS, "Whether this thread is in an enabled block."},
    {"_set_autocast_enabled", set_device_enabled, METH_VARARGS, "_set_autocast_enabled(device, enabled): sets that."},
    {"_get_autocast_dtype", get_dtype, METH_O, "The smaller dtype of a type of device."},
    {"_set_autocast_dtype", set_dtype, METH_VARARGS, "_set_autocast_dtype(device, dtype): sets it."},
    {"_is_autocast_cache_enabled", is_cache_enabled, METH_NOARGS, "Whether converted parameters are kept."},
    {"_set_autocast_cache_enabled", set_cache_enabled, METH_O, "Sets that."},
    {"_clear_autocast_cache", clear_cache, METH_NOARGS, "Forgets converted parameters."},
    {"_autocast_increment_nesting", increment_nesting, METH_NOARGS, "Enters a block; how many there are."},
    {"_autocast_decrement_nesting", decrement_nesting, METH_NOARGS, "Leaves a block; how many remain."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace torch::python
