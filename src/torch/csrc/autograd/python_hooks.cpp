#include <torch/csrc/autograd/python_hooks.h>

#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/exceptions.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::python {

namespace {

using autograd::HookList;
using autograd::TensorHook;
using autograd::TensorHooks;

// A Python function that C++ copies and destroys on any thread.
class SharedCallable {
 public:
  explicit SharedCallable(PyObject* function) : function_(function) { Py_INCREF(function); }
  ~SharedCallable() {
    if (!Py_IsInitialized()) return;
    AcquireGil gil;
    Py_DECREF(function_);
  }
  SharedCallable(const SharedCallable&) = delete;
  SharedCallable& operator=(const SharedCallable&) = delete;
  PyObject* get() const { return function_; }

 private:
  PyObject* function_;
};

struct PythonTensorHook {
  std::shared_ptr<SharedCallable> function;

  at::Tensor operator()(const at::Tensor& gradient) const {
    AcquireGil gil;
    const Object argument = Object::steal(wrap(gradient));
    const Object result = Object::steal(checked(PyObject_CallOneArg(function->get(), argument.get())));
    if (result.get() == Py_None) return {};
    if (!is_tensor(result.get())) {
      raise(PyExc_TypeError, "expected hook to return a Tensor or None, but it returned " + type_name(result.get()));
    }
    const at::Tensor& replacement = unpack(result.get());
    if (replacement.sizes() != gradient.sizes()) {
      raise(PyExc_RuntimeError, "hook has changed the size of value");
    }
    if (replacement.dtype() != gradient.dtype()) raise(PyExc_RuntimeError, "hook has changed the type of value");
    return replacement;
  }
};

// Where a hook is, so that it can be removed when the tensor has another history by then.
struct Registration {
  std::weak_ptr<TensorHooks> hooks;
  uint64_t number;
};
std::unordered_map<int64_t, Registration>& registrations() {
  static auto* map = new std::unordered_map<int64_t, Registration>();  // never destroyed: hooks outlive statics
  return *map;
}

int64_t remember(Registration registration) {
  static int64_t last = 0;
  static size_t purge_at = 64;
  auto& map = registrations();
  if (map.size() >= purge_at) {
    for (auto entry = map.begin(); entry != map.end();) {
      entry = entry->second.hooks.expired() ? map.erase(entry) : std::next(entry);
    }
    purge_at = std::max<size_t>(64, map.size() * 2);
  }
  map.emplace(++last, std::move(registration));
  return last;
}

int visit_list(const TensorHooks& hooks, visitproc visit, void* arg) {
  for (const auto& [number, hook] : hooks.snapshot()) {
    const auto* python = hook.target<PythonTensorHook>();
    // Copies of the function object outside of this list keep it alive, too.
    if (python) Py_VISIT(python->function->get());
  }
  return 0;
}

}  // namespace

int64_t add_grad_hook(const at::Tensor& tensor, PyObject* hook, bool post_accumulate) {
  if (!PyCallable_Check(hook)) raise(PyExc_TypeError, "a hook must be callable, not " + type_name(hook));
  auto function = std::make_shared<SharedCallable>(hook);
  if (!post_accumulate) {
    auto [hooks, number] = autograd::register_hook(tensor, PythonTensorHook{std::move(function)});
    return remember({hooks, number});
  }
  TORCH_CHECK(tensor.requires_grad() && tensor.is_leaf(),
              "post accumulate grad hooks cannot be registered on non-leaf tensors");
  autograd::AutogradMeta& meta = autograd::meta_of(tensor);
  if (!meta.post_accumulate_hooks) meta.post_accumulate_hooks = std::make_shared<TensorHooks>();
  const uint64_t number = meta.post_accumulate_hooks->add([function](const at::Tensor& leaf) {
    AcquireGil gil;
    const Object argument = Object::steal(wrap(leaf));
    Object::steal(checked(PyObject_CallOneArg(function->get(), argument.get())));
    return at::Tensor();
  });
  return remember({meta.post_accumulate_hooks, number});
}

void remove_grad_hook(const at::Tensor&, int64_t number) {
  auto& map = registrations();
  const auto entry = map.find(number);
  if (entry == map.end()) return;
  if (const std::shared_ptr<TensorHooks> hooks = entry->second.hooks.lock()) hooks->remove(entry->second.number);
  map.erase(entry);
}

int visit_python_hooks(const at::Tensor& tensor, visitproc visit, void* arg) {
  const autograd::AutogradMeta* meta = autograd::find_meta(tensor);
  if (!meta) return 0;
  if (meta->hooks && meta->hooks.use_count() == 1) {
    if (const int status = visit_list(*meta->hooks, visit, arg)) return status;
  }
  if (meta->grad_fn && meta->grad_fn.use_count() == 1) {
    if (const auto* node = dynamic_cast<const PythonNode*>(meta->grad_fn.get())) Py_VISIT(node->context());
  }
  // .grad as Python sees it: this tensor's handle and its object's, no other.
  const at::Tensor& grad = meta->grad;
  if (grad.defined() && grad.impl()->owns_pyobj() && grad.use_count() == 1) {
    Py_VISIT(static_cast<PyObject*>(grad.impl()->pyobj()));
  }
  return 0;
}

namespace {

Object tuple_of(const autograd::variable_list& tensors) { return Object::steal(wrap(tensors)); }

// What a hook of a node returned, in the place of `original`.
autograd::variable_list replaced(const Object& result, autograd::variable_list original) {
  if (result.get() == Py_None) return original;
  const Object tuple = PyTuple_Check(result.get()) ? result : Object::steal(checked(PyTuple_Pack(1, result.get())));
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(tuple.get()));
  if (count != original.size()) {
    raise(PyExc_RuntimeError, "hook has returned an incorrect number of values (got " + std::to_string(count) +
                                  ", but expected " + std::to_string(original.size()) + ")");
  }
  for (size_t index = 0; index < count; ++index) {
    PyObject* item = PyTuple_GET_ITEM(tuple.get(), static_cast<Py_ssize_t>(index));
    if (item != Py_None && !is_tensor(item)) {
      raise(PyExc_TypeError, "expected hook to return Tensors or None, but it returned " + type_name(item));
    }
    original[index] = item == Py_None ? at::Tensor() : unpack(item);
  }
  return original;
}

std::shared_ptr<autograd::Node> living(PyObject* node) {
  std::shared_ptr<autograd::Node> found = node_of(node);
  if (!found) raise(PyExc_RuntimeError, "the graph that this node belongs to has been freed");
  return found;
}

}  // namespace

uint64_t add_node_hook(PyObject* node, PyObject* hook, bool before) {
  auto function = std::make_shared<SharedCallable>(hook);
  if (before) {
    return living(node)->pre_hooks().add([function](autograd::variable_list inputs) {
      AcquireGil gil;
      const Object result = Object::steal(checked(PyObject_CallOneArg(function->get(), tuple_of(inputs).get())));
      return replaced(result, std::move(inputs));
    });
  }
  return living(node)->post_hooks().add([function](autograd::variable_list outputs,
                                                   const autograd::variable_list& inputs) {
    AcquireGil gil;
    const Object result = Object::steal(checked(
        PyObject_CallFunctionObjArgs(function->get(), tuple_of(outputs).get(), tuple_of(inputs).get(), nullptr)));
    return replaced(result, std::move(outputs));
  });
}

PyObject* remove_node_hook(PyObject* node, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    unsigned long long number = 0;
    int before = 0;
    if (!PyArg_ParseTuple(arguments, "Kp:_remove_hook", &number, &before)) return nullptr;
    const std::shared_ptr<autograd::Node> found = node_of(node);
    if (found && before) found->pre_hooks().remove(number);
    if (found && !before) found->post_hooks().remove(number);
    return new_none();
  });
}

namespace {

struct SavedHooks {
  std::shared_ptr<SharedCallable> pack;
  std::shared_ptr<SharedCallable> unpack;
};
// Never destroyed: a thread may end after the interpreter.
thread_local std::vector<SavedHooks>* saved_hooks = nullptr;

// What a pack hook gave, until it is unpacked.
class PythonPackedTensor final : public autograd::PackedTensor {
 public:
  PythonPackedTensor(PyObject* packed, std::shared_ptr<SharedCallable> unpack)
      : packed_(packed), unpack_(std::move(unpack)) {}
  at::Tensor unpack() override {
    AcquireGil gil;
    const Object result = Object::steal(checked(PyObject_CallOneArg(unpack_->get(), packed_.get())));
    if (!is_tensor(result.get())) {
      raise(PyExc_TypeError, "Output of saved tensor unpack_hook expected to be a Tensor but got result of type " +
                                 type_name(result.get()));
    }
    return torch::python::unpack(result.get());
  }

 private:
  SharedCallable packed_;
  std::shared_ptr<SharedCallable> unpack_;
};

std::shared_ptr<autograd::PackedTensor> pack_tensor(const at::Tensor& tensor) {
  AcquireGil gil;
  const SavedHooks hooks = saved_hooks->back();
  autograd::set_tensor_packer(nullptr);  // what the hook itself computes is not packed
  const uint32_t version = tensor._version();
  const Object argument = Object::steal(wrap(tensor));
  const Object packed = Object::steal(PyObject_CallOneArg(hooks.pack->get(), argument.get()));
  autograd::set_tensor_packer(pack_tensor);
  if (!packed) throw PythonError();
  TORCH_CHECK(
      tensor._version() == version,
      "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
      "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
      "to perform in-place operations on the input to a pack hook.");
  return std::make_shared<PythonPackedTensor>(packed.get(), hooks.unpack);
}

}  // namespace

PyObject* push_saved_tensor_hooks(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* pack = nullptr;
    PyObject* unpack = nullptr;
    if (!PyArg_ParseTuple(arguments, "OO:_push_saved_tensor_hooks", &pack, &unpack)) return nullptr;
    if (!saved_hooks) saved_hooks = new std::vector<SavedHooks>();
    saved_hooks->push_back({std::make_shared<SharedCallable>(pack), std::make_shared<SharedCallable>(unpack)});
    autograd::set_tensor_packer(pack_tensor);
    return new_none();
  });
}

PyObject* pop_saved_tensor_hooks(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (!saved_hooks || saved_hooks->empty()) raise(PyExc_RuntimeError, "there are no hooks of saved tensors");
    saved_hooks->pop_back();
    if (saved_hooks->empty()) autograd::set_tensor_packer(nullptr);
    return new_none();
  });
}

}  // namespace torch::python
