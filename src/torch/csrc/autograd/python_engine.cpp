#include <torch/csrc/autograd/python_engine.h>

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_hooks.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>

#include <cstdio>
#include <new>
#include <string>
#include <unordered_map>

namespace torch::python {

namespace {

using autograd::Node;

NodeObject* as_node(PyObject* self) { return reinterpret_cast<NodeObject*>(self); }

std::shared_ptr<Node> living_node(PyObject* self) {
  std::shared_ptr<Node> node = node_of(self);
  if (!node) raise(PyExc_RuntimeError, "the graph that this node belongs to has been freed");
  return node;
}

void node_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  NodeObject* object = as_node(self);
  if (object->node && object->node->pyobj() == self) object->node->set_pyobj(nullptr);
  Py_CLEAR(object->metadata);
  object->node.~shared_ptr();
  object->weak_node.~weak_ptr();
  type->tp_free(self);
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) Py_DECREF(type);
}

int node_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_node(self)->metadata);
  return 0;
}

int node_clear(PyObject* self) {
  Py_CLEAR(as_node(self)->metadata);
  return 0;
}

PyObject* node_repr(PyObject* self) {
  const std::shared_ptr<Node> node = node_of(self);
  const std::string name = node ? node->name() : Py_TYPE(self)->tp_name;
  return PyUnicode_FromFormat("<%s object at %p>", name.c_str(), static_cast<void*>(self));
}

PyObject* node_name(PyObject* self, PyObject*) {
  return guarded([&] {
    const std::shared_ptr<Node> node = living_node(self);
    const std::string name = node->name();
    // PyTorch's names of the nodes that no formula made.
    const bool is_built_in = name == "AccumulateGrad" || name == "CopySlices";
    return new_string(is_built_in ? "torch::autograd::" + name : name);
  });
}

PyObject* node_next_functions(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const std::shared_ptr<Node> node = living_node(self);
    const autograd::edge_list& edges = node->next_edges();
    Object result = Object::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(edges.size()))));
    for (size_t index = 0; index < edges.size(); ++index) {
      const Object next = Object::steal(wrap_node(edges[index].function));
      PyObject* pair = Py_BuildValue("(OI)", next.get(), edges[index].input_nr);
      PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(index), checked(pair));
    }
    return result.release();
  });
}

PyObject* node_metadata(PyObject* self, void*) {
  NodeObject* object = as_node(self);
  if (!object->metadata) object->metadata = PyDict_New();
  Py_XINCREF(object->metadata);
  return object->metadata;
}

// The leaf of an AccumulateGrad; others have no such attribute.
PyObject* node_variable(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const at::Tensor leaf = living_node(self)->leaf();
    if (!leaf.defined()) {
      raise(PyExc_AttributeError, std::string("'") + Py_TYPE(self)->tp_name + "' object has no attribute 'variable'");
    }
    return wrap(leaf);
  });
}

autograd::variable_list tensors_of(PyObject* tuple, const char* what, bool none_allowed) {
  if (!PyTuple_Check(tuple)) raise(PyExc_TypeError, std::string(what) + " must be a tuple, not " + type_name(tuple));
  autograd::variable_list tensors;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(tuple); ++index) {
    PyObject* item = PyTuple_GET_ITEM(tuple, index);
    if (is_tensor(item)) {
      tensors.push_back(unpack(item));
    } else if (none_allowed && item == Py_None) {
      tensors.emplace_back();
    } else {
      raise(PyExc_TypeError, "element " + std::to_string(index) + " of " + what + " must be a Tensor, not " +
                                 type_name(item));
    }
  }
  return tensors;
}

template <bool before>
PyObject* node_register_hook(PyObject* self, PyObject* hook) {
  return guarded([&]() -> PyObject* {
    living_node(self);
    const Object number = Object::steal(checked(PyLong_FromUnsignedLongLong(add_node_hook(self, hook, before))));
    const Object module = Object::steal(checked(PyImport_ImportModule("torch.utils.hooks")));
    return PyObject_CallMethod(module.get(), "NodeHookHandle", "OOO", self, number.get(), before ? Py_True : Py_False);
  });
}

// node(*gradients): the operation's backward alone.
PyObject* node_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    if (keywords && PyDict_GET_SIZE(keywords)) raise(PyExc_TypeError, "a node takes no keyword arguments");
    const std::shared_ptr<Node> node = living_node(self);
    autograd::variable_list gradients = tensors_of(arguments, "gradients", true);
    autograd::variable_list results;
    {
      const ReleaseGil gil;
      results = (*node)(std::move(gradients));
    }
    if (results.size() == 1) return wrap(std::move(results[0]));
    return wrap(results);
  });
}

PyMethodDef node_methods[] = {
    {"register_hook", node_register_hook<false>, METH_O,
     "register_hook($self, fn)\n--\n\nCalls fn(grad_inputs, grad_outputs) after it ran; a tuple replaces grad_inputs."},
    {"register_prehook", node_register_hook<true>, METH_O,
     "register_prehook($self, fn)\n--\n\nCalls fn(grad_outputs) before it runs; a tuple replaces them."},
    {"_remove_hook", remove_node_hook, METH_VARARGS, "_remove_hook(number, before)"},
    {"name", node_name, METH_NOARGS, "name($self)\n--\n\nThe name of the operation's backward, such as AddBackward0."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef node_properties[] = {
    {"next_functions", node_next_functions, nullptr, "(node or None, input number) for each input.", nullptr},
    {"metadata", node_metadata, nullptr, "A dict for notes.", nullptr},
    {"variable", node_variable, nullptr, "The leaf that an AccumulateGrad writes to.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject make_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch._C.Node";
  type.tp_basicsize = sizeof(NodeObject);
  type.tp_dealloc = node_dealloc;
  type.tp_repr = node_repr;
  type.tp_call = node_call;
  type.tp_traverse = node_traverse;
  type.tp_clear = node_clear;
  type.tp_methods = node_methods;
  type.tp_getset = node_properties;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_doc = "An operation in the autograd graph.";
  return type;
}

// The class of nodes with this name, made when the first one reaches Python.
PyTypeObject* type_for(const std::string& name) {
  static auto* types = new std::unordered_map<std::string, PyTypeObject*>();
  PyTypeObject*& type = (*types)[name];
  if (!type) {
    Object arguments = Object::steal(checked(Py_BuildValue("s(O){s:s,s:()}", name.c_str(), &NodeType, "__module__",
                                                           "torch.autograd.graph", "__slots__")));
    type = reinterpret_cast<PyTypeObject*>(
        checked(PyObject_CallObject(reinterpret_cast<PyObject*>(&PyType_Type), arguments.get())));
    type->tp_dealloc = node_dealloc;
  }
  return type;
}

PyObject* run_backward(PyObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"tensors",      "grad_tensors",    "retain_graph", "create_graph", "inputs",
                                  "allow_unused", "accumulate_grad", nullptr};
    PyObject* tensors = nullptr;
    PyObject* gradients = nullptr;
    PyObject* inputs = nullptr;
    int retain_graph = 0;
    int create_graph = 0;
    int allow_unused = 0;
    int accumulate = 1;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOppOpp:_run_backward", const_cast<char**>(names), &tensors,
                                     &gradients, &retain_graph, &create_graph, &inputs, &allow_unused, &accumulate)) {
      return nullptr;
    }
    const autograd::variable_list roots = tensors_of(tensors, "tensors", false);
    const autograd::variable_list grads = tensors_of(gradients, "grad_tensors", true);
    const autograd::variable_list targets = tensors_of(inputs, "inputs", false);
    if (accumulate) {
      {
        const ReleaseGil gil;
        autograd::backward(roots, grads, retain_graph != 0, create_graph != 0, targets);
      }
      return checked(PyTuple_New(0));
    }
    autograd::variable_list results;
    {
      const ReleaseGil gil;
      results = autograd::grad(roots, targets, grads, retain_graph != 0, create_graph != 0, allow_unused != 0);
    }
    return wrap(results);
  });
}

PyObject* set_nan_check(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    autograd::set_nan_check(checked(PyObject_IsTrue(value)) == 1);
    return new_none();
  });
}

PyMethodDef functions[] = {
    {"_set_nan_check", set_nan_check, METH_O, "Whether a backward of this thread stops at nan."},
    {"_push_saved_tensor_hooks", push_saved_tensor_hooks, METH_VARARGS,
     "_push_saved_tensor_hooks(pack, unpack): what this thread saves is packed."},
    {"_pop_saved_tensor_hooks", pop_saved_tensor_hooks, METH_NOARGS, "Ends the last of those."},
    {"_run_backward", as_method(run_backward), METH_VARARGS | METH_KEYWORDS, "The engine's entry; see torch.autograd."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyTypeObject NodeType = make_type();

std::shared_ptr<Node> node_of(PyObject* object) {
  NodeObject* self = as_node(object);
  return self->node ? self->node : self->weak_node.lock();
}

PyObject* wrap_node(const std::shared_ptr<Node>& node) {
  if (!node) return new_none();
  if (auto* python = dynamic_cast<PythonNode*>(node.get())) {
    Py_INCREF(python->context());
    return python->context();
  }
  if (auto* existing = static_cast<PyObject*>(node->pyobj())) {
    Py_INCREF(existing);
    return existing;
  }
  PyTypeObject* type = type_for(node->name());
  PyObject* self = checked(type->tp_alloc(type, 0));
  new (&as_node(self)->node) std::shared_ptr<Node>(node);
  new (&as_node(self)->weak_node) std::weak_ptr<Node>();
  node->set_pyobj(self);
  return self;
}

void register_engine(PyObject* module) {
  add_type(module, NodeType, "Node");
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
