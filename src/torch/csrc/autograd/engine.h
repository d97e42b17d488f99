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

// Anomaly mode of this thread: a backward warns of the operation whose node fails, and,
// with `check_nan`, fails at a node that gives nan.
TORCH_API void set_anomaly_mode(bool enabled, bool check_nan);

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
  // Whether the backward that runs on this thread will run `node`, or has.
  static bool will_run(const Node& node);
  // A number of the backward that runs on this thread, no other's; -1 outside of all.
  static int64_t task_number();

  // A scope in which nodes that are called by themselves compute all that their edges ask for.
  class TORCH_API OutsideOfTask {
   public:
    OutsideOfTask();
    ~OutsideOfTask();
    OutsideOfTask(const OutsideOfTask&) = delete;
    OutsideOfTask& operator=(const OutsideOfTask&) = delete;

   private:
    void* task_;
  };
};

}  // namespace torch::autograd
