#include <torch/csrc/autograd/autograd.h>

#include <aten/ATen.h>
#include <c10/core/Extents.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

namespace {

// The gradient that enters at one output.
at::Tensor starting_gradient(const at::Tensor& output, const at::Tensor& given, size_t index) {
  if (!given.defined()) {
    TORCH_CHECK(output.numel() == 1, "grad can be implicitly created only for scalar outputs");
    TORCH_CHECK(c10::is_floating_type(output.dtype()),
                "grad can be implicitly created only for real scalar outputs but got ", "torch.",
                c10::dtype_name(output.dtype()));
    return at::ones_like(output);
  }
  TORCH_CHECK(given.sizes() == output.sizes(), "Mismatch in shape: grad_output[", index,
              "] has a shape of torch.Size(", given.sizes(), ") and output[", index,
              "] has a shape of torch.Size(", output.sizes(), ").");
  const bool same = given.dtype() == output.dtype() && given.device() == output.device();
  return same ? given : at::_to_copy(given, output.dtype(), output.device());
}

variable_list run(const variable_list& outputs, const variable_list& given, const edge_list& targets,
                  BackwardOptions options) {
  TORCH_CHECK(given.empty() || given.size() == outputs.size(), "got ", outputs.size(), " tensors and ",
              given.size(), " gradients");
  edge_list roots;
  variable_list grads;
  for (size_t index = 0; index < outputs.size(); ++index) {
    const at::Tensor& output = outputs[index];
    TORCH_CHECK(output.defined(), "element ", index, " of tensors is undefined");
    TORCH_CHECK(output.requires_grad(), "element ", index,
                " of tensors does not require grad and does not have a grad_fn");
    // The gradient is an input of the backward: with create_graph it may itself have a history.
    const c10::AutoGradMode mode(options.create_graph);
    grads.push_back(starting_gradient(output, given.empty() ? at::Tensor() : given[index], index));
    roots.push_back(gradient_edge(output));
  }
  return Engine::execute(roots, std::move(grads), targets, options);
}

void check_used(const at::Tensor& gradient, size_t index, bool allow_unused) {
  TORCH_CHECK(allow_unused || gradient.defined(), "The differentiated Tensor at index ", index,
              " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
}

edge_list edges_of_inputs(const variable_list& inputs) {
  edge_list edges;
  for (const at::Tensor& input : inputs) {
    TORCH_CHECK(input.defined() && input.requires_grad(),
                "One of the differentiated Tensors does not require grad");
    edges.push_back(gradient_edge(input));
  }
  return edges;
}

}  // namespace

void backward(const variable_list& tensors, const variable_list& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph, const variable_list& inputs) {
  const edge_list targets = edges_of_inputs(inputs);
  for (const at::Tensor& input : inputs) {
    if (!input.is_leaf()) input.retain_grad();
  }
  run(tensors, grad_tensors, targets,
      {retain_graph.value_or(create_graph), create_graph, /*accumulate=*/true});
}

variable_list run_backward(const edge_list& roots, variable_list grads, const edge_list& targets,
                           BackwardOptions options, bool allow_unused) {
  TORCH_CHECK(grads.size() == roots.size(), "got ", roots.size(), " tensors and ", grads.size(), " gradients");
  for (size_t index = 0; index < roots.size(); ++index) {
    if (grads[index].defined()) continue;
    const InputMetadata& result = roots[index].function->input_metadata()[roots[index].input_nr];
    TORCH_CHECK(c10::checked_numel(result.sizes) == 1, "grad can be implicitly created only for scalar outputs");
    grads[index] = at::ones(result.sizes, result.options);
  }
  variable_list gradients = Engine::execute(roots, std::move(grads), targets, options);
  for (size_t index = 0; index < gradients.size() && !options.accumulate; ++index)
    check_used(gradients[index], index, allow_unused);
  return gradients;
}

variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs, std::optional<bool> retain_graph, bool create_graph,
                   bool allow_unused) {
  TORCH_CHECK_VALUE(!inputs.empty(), "grad requires non-empty inputs.");
  variable_list gradients = run(outputs, grad_outputs, edges_of_inputs(inputs),
                                {retain_graph.value_or(create_graph), create_graph, /*accumulate=*/false});
  for (size_t index = 0; index < gradients.size(); ++index) {
    check_used(gradients[index], index, allow_unused);
  }
  return gradients;
}

}  // namespace torch::autograd
