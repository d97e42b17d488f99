#pragma once
// How a sequence of labels is aligned with time in connectionist temporal classification, for the CPU and for CUDA.

#include <aten/Tensor.h>

#include <cstdint>

#if defined(__CUDACC__)
#define TORCH_ALIGNMENT_FUNCTION __host__ __device__ inline
#else
#define TORCH_ALIGNMENT_FUNCTION inline
#endif

namespace at::native {

// One sequence: blank, label, blank, ..., label, blank are the states that a path goes through, one for each step of
// time. It stays, goes on to the next state, or skips a blank between two labels that differ. A path comes from the
// state before the first one, -1, and leaves to that after the last one.
struct Alignment {
  const int64_t* labels;
  int64_t length, steps, blank;

  TORCH_ALIGNMENT_FUNCTION int64_t states() const { return 2 * length + 1; }
  TORCH_ALIGNMENT_FUNCTION int64_t label(int64_t state) const { return state % 2 == 0 ? blank : labels[state / 2]; }
  // Whether `state` may come after the last but one.
  TORCH_ALIGNMENT_FUNCTION bool may_skip(int64_t state) const {
    if (state % 2 == 0) return false;
    return state == 1 || state == states() || labels[state / 2] != labels[state / 2 - 1];
  }
};

// A batch of them. `extents`: the steps of all, their lengths, and where the labels of each begin.
struct AlignmentBatch {
  const int64_t* targets;
  const int64_t* extents;
  int64_t sequences, steps, states;  // the most steps and states of all
  int64_t classes, blank;
  int64_t time_stride, sequence_stride;  // of log_probs, whose classes lie next to each other

  TORCH_ALIGNMENT_FUNCTION Alignment operator[](int64_t sequence) const {
    return {targets + extents[2 * sequences + sequence], extents[sequences + sequence], extents[sequence], blank};
  }
  TORCH_ALIGNMENT_FUNCTION int64_t offset(int64_t time, int64_t sequence) const {
    return time * time_stride + sequence * sequence_stride;
  }
  // Of a tensor of [sequences, steps, states].
  TORCH_ALIGNMENT_FUNCTION int64_t row(int64_t time, int64_t sequence) const {
    return (sequence * steps + time) * states;
  }
};

inline AlignmentBatch batch_of(const Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets,
                               const Tensor& extents, int64_t blank) {
  AlignmentBatch batch{};
  batch.targets = targets.data_ptr<int64_t>();
  batch.extents = extents.data_ptr<int64_t>();
  batch.sequences = log_alpha.sizes()[0];
  batch.steps = log_alpha.sizes()[1];
  batch.states = log_alpha.sizes()[2];
  batch.classes = log_probs.sizes()[2];
  batch.blank = blank;
  batch.time_stride = log_probs.strides()[0];
  batch.sequence_stride = log_probs.strides()[1];
  return batch;
}

}  // namespace at::native
