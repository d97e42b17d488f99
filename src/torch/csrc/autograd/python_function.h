#pragma once
// Operations whose forward and backward are written in Python: torch.autograd.Function.
//
// One call of Function.apply makes a context object (Python) and a PythonNode (C++). The node owns the context; the
// context knows the node weakly, so that the graph goes when its last tensor goes.

#include <torch/csrc/autograd/python_engine.h>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <optional>
#include <string>
#include <vector>

namespace torch::python {

class PythonNode final : public autograd::Node {
 public:
  // Takes a new reference to `context`.
  explicit PythonNode(PyObject* context);
  ~PythonNode() override;

  autograd::variable_list apply(autograd::variable_list&& grads) override;
  std::string name() const override { return name_; }
  void release_variables() override;
  PyObject* context() const { return context_; }

  // One per result of forward: which input of the node its gradient enters, -1 where there is none; and its look.
  struct Result {
    int64_t input_nr = -1;
    std::optional<autograd::InputMetadata> metadata;  // none: not a tensor
  };
  std::vector<Result> results;
  // One per argument of apply(): whether it was a tensor.
  std::vector<bool> tensor_arguments;

 private:
  PyObject* context_;
  std::string name_;
};

// What Function's instances are made of; begins as every node object does.
struct FunctionObject {
  NodeObject base;
  PyObject* dict;
  PyObject* weak_references;
  PyObject* to_save;  // tuple given to _save() until forward has returned
  PyObject* for_forward;  // that given to _save_for_forward(), until jvp has returned
  std::vector<autograd::SavedVariable> saved;
  bool was_released;
};

extern PyTypeObject FunctionBaseType;
void register_function_base(PyObject* module);

}  // namespace torch::python
