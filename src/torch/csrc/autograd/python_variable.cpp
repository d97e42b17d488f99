// Life and death of tensor objects; see python_variable.h for who owns whom.

#include <torch/csrc/autograd/python_variable.h>

#include <torch/csrc/autograd/dispatch.h>
#include <torch/csrc/autograd/python_hooks.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/python_dispatch.h>

#include <cstddef>
#include <new>

namespace torch::python {

PyTypeObject* tensor_class = nullptr;

namespace {

TensorObject* as_object(PyObject* object) { return reinterpret_cast<TensorObject*>(object); }

// Counts `tensor` down without touching the handle, which then holds an uncounted pointer.
void uncount(at::Tensor& tensor) { c10::intrusive_ptr<at::TensorImpl>::reclaim(tensor.impl()); }
// The opposite.
void count(at::Tensor& tensor) { c10::intrusive_ptr<at::TensorImpl>(tensor.impl()).release(); }

// Called when the last Python reference is gone: if C++ still holds the tensor, the object lives on, owned by it.
bool try_revive(PyObject* self) {
  TensorObject* object = as_object(self);
  if (!object->tensor.defined() || object->is_borrowed) return false;
  at::TensorImpl* impl = object->tensor.impl();
  if (impl->use_count() <= 1 || impl->pyobj() != self) return false;
  // A plain object without attributes is cheaper to make again than to keep; its identity can be seen by nobody, unless
  // through a weak reference.
  if (!object->dict && !object->weak_references && Py_TYPE(self) == tensor_class) return false;
  Py_SET_REFCNT(self, 0);
  Py_INCREF(self);
  object->is_borrowed = true;
  impl->set_pyobj(self, true);
  uncount(object->tensor);
  return true;
}

// What a dying tensor was, in a new one: memory, shape, version and everything of autograd.
at::Tensor rescue(at::TensorImpl& dying) {
  at::Tensor rescued(dying.shallow_copy(/*share_version=*/true));
  if (auto* from = static_cast<autograd::AutogradMeta*>(dying.autograd_meta())) {
    autograd::AutogradMeta& to = autograd::meta_of(rescued);
    to.leaf_requires_grad = from->leaf_requires_grad;
    to.output_nr = from->output_nr;
    to.grad_fn = std::move(from->grad_fn);
    to.grad = std::move(from->grad);
    to.retained_grad = std::move(from->retained_grad);
    to.hooks = std::move(from->hooks);
    to.post_accumulate_hooks = std::move(from->post_accumulate_hooks);
    to.view = std::move(from->view);
    to.tangents = std::move(from->tangents);
  }
  return rescued;
}

// The TensorImpl that owns `object` is being destroyed.
void release_object(void* pointer) {
  // After the interpreter's end its memory is not ours to touch.
  if (!Py_IsInitialized()) return;
  AcquireGil gil;
  auto* self = static_cast<PyObject*>(pointer);
  TensorObject* object = as_object(self);
  at::TensorImpl* dying = object->tensor.release_impl();
  object->is_borrowed = false;
  if (Py_REFCNT(self) > 1) {
    // Someone has made a strong reference of a weak one, of which the tensor could not know.
    object->tensor = rescue(*dying);
    object->tensor.impl()->set_pyobj(self, false);
  }
  Py_DECREF(self);
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  TensorObject* object = as_object(self);
  Py_VISIT(object->dict);
  // What only this object keeps alive through C++. With other owners, what it refers to can be reached from them.
  if (object->tensor.defined() && !object->is_borrowed && object->tensor.use_count() == 1) {
    return visit_python_hooks(object->tensor, visit, arg);
  }
  return 0;
}

int tensor_clear(PyObject* self) {
  TensorObject* object = as_object(self);
  // C++ can still hand this object out again: it must stay whole.
  if (object->tensor.defined() && (object->is_borrowed || object->tensor.use_count() > 1)) return 0;
  Py_CLEAR(object->dict);
  if (object->tensor.defined()) {
    at::Tensor tensor = std::move(object->tensor);
    if (tensor.impl()->pyobj() == self) tensor.impl()->set_pyobj(nullptr, false);
  }
  return 0;
}

void tensor_dealloc(PyObject* self) {
  if (try_revive(self)) return;
  PyTypeObject* type = Py_TYPE(self);
  TensorObject* object = as_object(self);
  if (type->tp_finalize && PyObject_CallFinalizerFromDealloc(self) < 0) return;  // __del__ has revived it
  PyObject_GC_UnTrack(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  if (type != tensor_class && type->tp_clear) type->tp_clear(self);  // __slots__ of subclasses, too
  Py_CLEAR(object->dict);
  if (object->tensor.defined()) {
    at::TensorImpl* impl = object->tensor.impl();
    if (impl->pyobj() == self) impl->set_pyobj(nullptr, false);
  }
  object->tensor.~Tensor();
  if (object->dispatches) autograd::dispatch::count_user(-1);
  type->tp_free(self);
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) Py_DECREF(type);
}

// By identity: == compares element by element.
Py_hash_t tensor_hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4); }

// type.__new__ gives every class written in Python the interpreter's own deallocator, which takes a dying object apart
// before ours is asked whether it dies at all.
PyObject* meta_new(PyTypeObject* meta, PyObject* arguments, PyObject* keywords) {
  PyObject* type = PyType_Type.tp_new(meta, arguments, keywords);
  if (type) reinterpret_cast<PyTypeObject*>(type)->tp_dealloc = tensor_dealloc;
  return type;
}

PyTypeObject make_meta_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch._C._TensorMeta";
  type.tp_base = &PyType_Type;
  type.tp_new = meta_new;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_doc = "The type of torch.Tensor and of its subclasses.";
  return type;
}

PyTypeObject make_base_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch._C.TensorBase";
  type.tp_basicsize = sizeof(TensorObject);
  type.tp_dealloc = tensor_dealloc;
  type.tp_as_number = &tensor_number_methods;
  type.tp_as_sequence = &tensor_sequence_methods;
  type.tp_as_mapping = &tensor_mapping_methods;
  type.tp_hash = tensor_hash;
  type.tp_richcompare = tensor_richcompare;
  type.tp_traverse = tensor_traverse;
  type.tp_clear = tensor_clear;
  type.tp_weaklistoffset = offsetof(TensorObject, weak_references);
  type.tp_dictoffset = offsetof(TensorObject, dict);
  type.tp_getset = tensor_properties();
  type.tp_methods = tensor_methods;
  type.tp_new = tensor_legacy_new;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_doc = "What torch.Tensor is made of: the operators, without what is written in Python.";
  return type;
}

}  // namespace

PyTypeObject TensorMetaType = make_meta_type();
PyTypeObject TensorBaseType = make_base_type();

PyObject* wrap_as(PyTypeObject* type, at::Tensor tensor) {
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) throw PythonError();
  TensorObject* object = as_object(self);
  new (&object->tensor) at::Tensor(std::move(tensor));
  object->is_borrowed = false;
  object->dispatches = type != tensor_class && class_dispatches(type);
  if (object->dispatches) autograd::dispatch::count_user(1);
  object->tensor.impl()->set_pyobj(self, false);
  return self;
}

PyObject* wrap(at::Tensor&& tensor) {
  if (!tensor.defined()) return new_none();
  at::TensorImpl* impl = tensor.impl();
  if (auto* self = static_cast<PyObject*>(impl->pyobj())) {
    if (impl->owns_pyobj()) {
      TensorObject* object = as_object(self);
      count(object->tensor);
      object->is_borrowed = false;
      impl->set_pyobj(self, false);
      return self;  // the tensor's reference becomes the caller's
    }
    Py_INCREF(self);
    return self;
  }
  if (!tensor_class) raise(PyExc_RuntimeError, "torch._C._initExtension must be called before tensors reach Python");
  return wrap_as(tensor_class, std::move(tensor));
}

PyObject* wrap(const at::Tensor& tensor) { return wrap(at::Tensor(tensor)); }

PyObject* wrap(const std::vector<at::Tensor>& tensors) {
  Object tuple = Object::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(tensors.size()))));
  for (size_t index = 0; index < tensors.size(); ++index) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(index), wrap(tensors[index]));
  }
  return tuple.release();
}

PyObject* wrap(const c10::Scalar& scalar) { return from_scalar(scalar); }

namespace {

PyObject* init_extension(PyObject*, PyObject* type) {
  return guarded([&]() -> PyObject* {
    if (!PyType_Check(type) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &TensorBaseType)) {
      raise(PyExc_TypeError, "_initExtension takes the class torch.Tensor, a subclass of torch._C.TensorBase");
    }
    Py_INCREF(type);
    tensor_class = reinterpret_cast<PyTypeObject*>(type);
    return new_none();
  });
}

// _make_subclass(cls, tensor, requires_grad=False)
PyObject* make_subclass(PyObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"cls", "data", "require_grad", nullptr};
    PyObject* type = nullptr;
    PyObject* data = nullptr;
    int requires_grad = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!|p:_make_subclass", const_cast<char**>(names),
                                     &PyType_Type, &type, &TensorBaseType, &data, &requires_grad)) {
      return nullptr;
    }
    if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &TensorBaseType)) {
      raise(PyExc_TypeError, "_make_subclass: cls must be a subclass of torch.Tensor");
    }
    // Of a plain tensor no mode is asked: making an object is no operator.
    const at::Tensor& given = unpack(data);
    const bool is_wrapper = autograd::dispatch::is_wrapper(given);
    at::Tensor tensor = is_wrapper ? given.variable_data() : at::Tensor(given.impl()->shallow_copy(false));
    tensor.requires_grad_(requires_grad != 0);
    return wrap_as(reinterpret_cast<PyTypeObject*>(type), std::move(tensor));
  });
}

PyMethodDef functions[] = {
    {"_initExtension", init_extension, METH_O, "Makes torch.Tensor the class of tensors that C++ hands to Python."},
    {"_make_subclass", as_method(make_subclass), METH_VARARGS | METH_KEYWORDS,
     "_make_subclass(cls, data, require_grad=False)\n--\n\nA new leaf of class cls that shares data's storage."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void register_tensor(PyObject* module) {
  // The hand-written methods come with the type; the generated ones are added to its dictionary.
  add_type(module, TensorMetaType, "_TensorMeta");
  Py_SET_TYPE(reinterpret_cast<PyObject*>(&TensorBaseType), &TensorMetaType);
  add_type(module, TensorBaseType, "TensorBase");
  for (PyMethodDef* method = generated_tensor_methods; method->ml_name; ++method) {
    if (PyDict_GetItemString(TensorBaseType.tp_dict, method->ml_name)) continue;
    const Object descriptor = Object::steal(checked(PyDescr_NewMethod(&TensorBaseType, method)));
    checked(PyDict_SetItemString(TensorBaseType.tp_dict, method->ml_name, descriptor.get()));
  }
  PyType_Modified(&TensorBaseType);
  at::TensorImpl::set_pyobj_release_hook(release_object);
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
