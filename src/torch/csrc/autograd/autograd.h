#pragma once
// backward() and grad(): the two ways to ask for gradients. The messages of their errors are those of
// torch.autograd.

#include <torch/csrc/autograd/engine.h>

#include <optional>

namespace torch::autograd {

// Adds d(sum of tensors * grad_tensors)/d(leaf) to the grad of every leaf that is reached, or of `inputs`
// only when there are any. An undefined or missing gradient is one, for a tensor of one element.
// `retain_graph` defaults to `create_graph`.
TORCH_API void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                        std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                        const variable_list& inputs = {});

// The gradients of `outputs` for each of `inputs`; changes no grad. Throws Error when an input was not used,
// unless `allow_unused`: then its gradient is undefined.
TORCH_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                             const variable_list& grad_outputs = {},
                             std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                             bool allow_unused = false);

// The same from and to edges of the graph. A root without a gradient must belong to a tensor of one element.
TORCH_API variable_list run_backward(const edge_list& roots, variable_list grads, const edge_list& targets,
                                     BackwardOptions options, bool allow_unused);

}  // namespace torch::autograd
