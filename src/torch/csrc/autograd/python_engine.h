#pragma once
// The graph's nodes as Python objects, and the engine's entry.

#include <torch/csrc/utils/object.h>

#include <torch/csrc/autograd/function.h>

#include <memory>

namespace torch::python {

struct NodeObject {
  PyObject_HEAD
  std::shared_ptr<autograd::Node> node;    // of a C++ node
  std::weak_ptr<autograd::Node> weak_node;  // of a PythonNode, which owns its object
  PyObject* metadata;
};

extern PyTypeObject NodeType;

// The object of a node: a new reference; None for null. Its class has the node's name.
PyObject* wrap_node(const std::shared_ptr<autograd::Node>& node);
// Null when the graph that a context belonged to is gone.
std::shared_ptr<autograd::Node> node_of(PyObject* object);

void register_engine(PyObject* module);
void register_forward_mode(PyObject* module);  // python_forward_mode.cpp

}  // namespace torch::python
