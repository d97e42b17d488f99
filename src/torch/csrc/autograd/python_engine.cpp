#include <torch/csrc/autograd/python_engine.h>
#include <torch/csrc/autograd/python_function.h>

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/python_hooks.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/exceptions.h>

#include <cstdio>
#include <new>
#include <string>
#include <string_view>
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
  std::string name = node ? node->name() : Py_TYPE(self)->tp_name;
  if (dynamic_cast<const PythonNode*>(node.get())) name = "torch.autograd.function." + name;
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

PyObject* node_sequence_nr(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(living_node(self)->sequence_nr()); });
}

PyObject* node_next_functions(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const std::shared_ptr<Node> node = living_node(self);
    const autograd::edge_list& edges = node->next_edges();
    const Object result = Object::steal(checked(PyList_New(0)));
    const auto* python_node = dynamic_cast<const PythonNode*>(node.get());
    for (size_t index = 0; index < edges.size(); ++index) {
      if (python_node && !python_node->tensor_arguments[index]) continue;
      const Object next = Object::steal(wrap_node(edges[index].function));
      const Object pair = Object::steal(checked(Py_BuildValue("(OI)", next.get(), edges[index].input_nr)));
      checked(PyList_Append(result.get(), pair.get()));
    }
    return checked(PyList_AsTuple(result.get()));
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

// Answers node._saved_NAME.
class FindSaved final : public autograd::SavedVisitor {
 public:
  FindSaved(std::string_view name, std::shared_ptr<Node> node) : name_(name), node_(std::move(node)) {}
  using SavedVisitor::visit;
  void visit(const char* name, const autograd::SavedVariable& tensor) override {
    if (name == name_) found = wrap(tensor.unpack(node_));
  }
  void visit(const char* name, const std::vector<autograd::SavedVariable>& tensors) override {
    if (name == name_) found = wrap(autograd::unpack_list(tensors));
  }
  void visit(const char* name, int64_t value) override {
    if (name == name_) found = wrap(value);
  }
  void visit(const char* name, double value) override {
    if (name == name_) found = wrap(value);
  }
  void visit(const char* name, bool value) override {
    if (name == name_) found = wrap(value);
  }
  void visit(const char* name, const c10::Scalar& value) override {
    if (name == name_) found = wrap(value);
  }
  void visit(const char* name, const std::string& value) override {
    if (name == name_) found = new_string(value);
  }
  void visit(const char* name, const std::vector<int64_t>& values) override {
    if (name != name_) return;
    found = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
    for (size_t index = 0; index < values.size(); ++index) {
      PyTuple_SET_ITEM(found, static_cast<Py_ssize_t>(index), PyLong_FromLongLong(values[index]));
    }
  }
  void visit(const char* name, std::nullopt_t) override {
    if (name == name_) found = new_none();
  }

  PyObject* found = nullptr;  // a new reference

 private:
  std::string_view name_;
  std::shared_ptr<Node> node_;
};

// Collects the names of such attributes.
class ListSaved final : public autograd::SavedVisitor {
 public:
  explicit ListSaved(PyObject* list) : list_(list) {}
  using SavedVisitor::visit;
  void visit(const char* name, const autograd::SavedVariable&) override { add(name); }
  void visit(const char* name, const std::vector<autograd::SavedVariable>&) override { add(name); }
  void visit(const char* name, int64_t) override { add(name); }
  void visit(const char* name, double) override { add(name); }
  void visit(const char* name, bool) override { add(name); }
  void visit(const char* name, const c10::Scalar&) override { add(name); }
  void visit(const char* name, const std::string&) override { add(name); }
  void visit(const char* name, const std::vector<int64_t>&) override { add(name); }
  void visit(const char* name, std::nullopt_t) override { add(name); }

 private:
  void add(const char* name) {
    const Object text = Object::steal(new_string(std::string("_saved_") + name));
    checked(PyList_Append(list_, text.get()));
  }
  PyObject* list_;
};

PyObject* node_getattr(PyObject* self, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const char* text = PyUnicode_AsUTF8(name);
    if (text && std::string_view(text).substr(0, 7) == "_saved_") {
      if (const std::shared_ptr<Node> node = node_of(self)) {
        FindSaved finder(text + 7, node);
        node->visit_saved(finder);
        if (finder.found) return finder.found;
      }
    }
    return PyObject_GenericGetAttr(self, name);
  });
}

PyObject* node_dir(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Object type = Object::borrow(reinterpret_cast<PyObject*>(Py_TYPE(self)));
    Object names = Object::steal(checked(PyObject_Dir(type.get())));
    ListSaved list(names.get());
    if (const std::shared_ptr<Node> node = node_of(self)) node->visit_saved(list);
    return names.release();
  });
}

PyMethodDef node_methods[] = {
    {"__dir__", node_dir, METH_NOARGS, nullptr},
    {"register_hook", node_register_hook<false>, METH_O,
     "register_hook($self, fn)\n--\n\nCalls fn(grad_inputs, grad_outputs) after it ran; a tuple replaces grad_inputs."},
    {"register_prehook", node_register_hook<true>, METH_O,
     "register_prehook($self, fn)\n--\n\nCalls fn(grad_outputs) before it runs; a tuple replaces them."},
    {"_remove_hook", remove_node_hook, METH_VARARGS, "_remove_hook(number, before)"},
    {"_sequence_nr", node_sequence_nr, METH_NOARGS, "_sequence_nr($self)\n--\n\nThe later it was made, the greater."},
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
  type.tp_getattro = node_getattr;
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

// A GradientEdge is a tuple of a node and a number.
bool has_edges(PyObject* tuple) {
  for (Py_ssize_t index = 0; PyTuple_Check(tuple) && index < PyTuple_GET_SIZE(tuple); ++index) {
    if (PyTuple_Check(PyTuple_GET_ITEM(tuple, index))) return true;
  }
  return false;
}

autograd::edge_list edges_of(PyObject* tuple) {
  autograd::edge_list edges;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(tuple); ++index) {
    PyObject* item = PyTuple_GET_ITEM(tuple, index);
    if (is_tensor(item)) {
      TORCH_CHECK(unpack(item).requires_grad(), "One of the differentiated Tensors does not require grad");
      edges.push_back(autograd::gradient_edge(unpack(item)));
      continue;
    }
    PyObject* node = nullptr;
    unsigned int number = 0;
    PyObject* token = nullptr;
    if (!PyArg_ParseTuple(item, "O!I|O", &NodeType, &node, &number, &token)) throw PythonError();
    std::shared_ptr<Node> found = living_node(node);
    TORCH_CHECK(number < found->num_inputs(), "a GradientEdge ends in input ", number, " of a node that has ",
                found->num_inputs());
    edges.emplace_back(std::move(found), number);
  }
  return edges;
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
    const autograd::variable_list grads = tensors_of(gradients, "grad_tensors", true);
    if (has_edges(tensors) || has_edges(inputs)) {
      const autograd::edge_list from = edges_of(tensors);
      const autograd::edge_list to = edges_of(inputs);
      autograd::variable_list results;
      {
        const ReleaseGil gil;
        results = autograd::run_backward(from, grads, to, {retain_graph != 0, create_graph != 0, accumulate != 0},
                                         allow_unused != 0);
      }
      return accumulate ? checked(PyTuple_New(0)) : wrap(results);
    }
    const autograd::variable_list roots = tensors_of(tensors, "tensors", false);
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

// The Python stack, as text.
std::string origin() {
  AcquireGil gil;
  const Object module = Object::steal(checked(PyImport_ImportModule("torch.autograd.anomaly_mode")));
  const Object text = Object::steal(checked(PyObject_CallMethod(module.get(), "_origin", nullptr)));
  return PyUnicode_AsUTF8(text.get());
}

PyObject* set_anomaly_mode(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    int enabled = 0;
    int check_nan = 0;
    if (!PyArg_ParseTuple(arguments, "pp:_set_anomaly_mode", &enabled, &check_nan)) return nullptr;
    autograd::set_anomaly_mode(enabled != 0, check_nan != 0);
    autograd::set_origin_teller(enabled ? origin : nullptr);
    return new_none();
  });
}

PyObject* current_task(PyObject*, PyObject*) { return PyLong_FromLongLong(autograd::Engine::task_number()); }
PyObject* will_run(PyObject*, PyObject* node) {
  return guarded([&] {
    if (!PyObject_TypeCheck(node, &NodeType)) raise(PyExc_TypeError, "expected a Node, but got " + type_name(node));
    return new_bool(autograd::Engine::will_run(*living_node(node)));
  });
}
PyObject* is_selective(PyObject*, PyObject*) { return new_bool(autograd::Engine::is_selective()); }

PyObject* increment_version(PyObject*, PyObject* tensor) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(tensor)) raise(PyExc_TypeError, "increment_version expects a Tensor, but got " + type_name(tensor));
    unpack(tensor).impl()->bump_version();
    return new_none();
  });
}

PyMethodDef functions[] = {
    {"_set_anomaly_mode", set_anomaly_mode, METH_VARARGS, "_set_anomaly_mode(enabled, check_nan), for this thread."},
    {"_current_graph_task_id", current_task, METH_NOARGS,
     "A number of the backward that runs, no other's; -1 outside of all."},
    {"_will_engine_execute_node", will_run, METH_O, "Whether the backward that runs on this thread runs a node."},
    {"_is_selective_backward", is_selective, METH_NOARGS,
     "Whether a backward with inputs, or grad(), runs on this thread."},
    {"_increment_version", increment_version, METH_O, "Counts an in-place write that torch has not seen."},
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
