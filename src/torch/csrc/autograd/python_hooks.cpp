#include <torch/csrc/autograd/python_hooks.h>

#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/exceptions.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

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

}  // namespace torch::python
