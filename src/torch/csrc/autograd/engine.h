#pragma once
// Runs the graph backwards, on the calling thread.

#include <torch/csrc/autograd/function.h>

namespace torch::autograd {

struct BackwardOptions {
  // Keep what nodes saved, for another backward.
  bool keep_graph = false;
  // Record the backward itself.
  bool create_graph = false;
  // Add to the leaves' grad; otherwise gradients only reach `targets`.
  bool accumulate = true;
};

// Whether a backward on this thread throws Error when a node gives nan.
TORCH_API void set_nan_check(bool enabled);

class TORCH_API Engine {
 public:
  // Sends `grads` into `roots` and returns the gradients that arrive at `targets`, undefined where none did.
  // With targets, only nodes on the way to one run. Targets that are AccumulateGrad nodes run when
  // `accumulate` is set. Throws whatever a node throws.
  static variable_list execute(const edge_list& roots, variable_list grads, const edge_list& targets,
                               BackwardOptions options);

  // Whether the backward that runs on this thread has targets, and whether `node` is on the way to one.
  static bool is_selective();
  static bool is_asked_for(const Node& node);
};

}  // namespace torch::autograd
