// Connectionist temporal classification: one launch for each step of time, a thread for each state of each sequence.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/Alignment.h>
#include <aten/native/cuda/Atomic.cuh>
#include <aten/native/cuda/Launch.cuh>

#include <cassert>
#include <limits>

namespace at::native::cuda {

namespace {

// The logarithm of the sum of what `a`, `b` and `c` are logarithms of.
template <typename T>
__device__ T log_of_sum(T a, T b, T c) {
  const T highest = ::fmax(a, ::fmax(b, c));
  if (highest == -std::numeric_limits<T>::infinity()) return highest;
  return ::log(::exp(a - highest) + ::exp(b - highest) + ::exp(c - highest)) + highest;
}

// What a thread reads of its state: the label's class, checked.
__device__ int64_t class_of(const AlignmentBatch& batch, const Alignment& alignment, int64_t state) {
  const int64_t label = alignment.label(state);
  assert(label >= 0 && label < batch.classes && "target out of bounds");
  return label;
}

template <typename T>
void forward_step(T* log_alpha, const T* log_probs, AlignmentBatch batch, int64_t time) {
  for_each_index(batch.sequences * batch.states, [=] __device__(int64_t index) {
    const T never = -std::numeric_limits<T>::infinity();
    const int64_t sequence = index / batch.states;
    const int64_t state = index % batch.states;
    const Alignment alignment = batch[sequence];
    T arrived = never;
    if (time < alignment.steps && state < alignment.states()) {
      if (time == 0) {
        arrived = state < 2 ? T{0} : never;
      } else {
        const T* before = log_alpha + batch.row(time - 1, sequence);
        arrived = log_of_sum(before[state], state > 0 ? before[state - 1] : never,
                             state > 1 && alignment.may_skip(state) ? before[state - 2] : never);
      }
      arrived += log_probs[batch.offset(time, sequence) + class_of(batch, alignment, state)];
    }
    log_alpha[batch.row(time, sequence) + state] = arrived;
  });
}

template <typename T>
void add_up_ends(T* losses, const T* log_alpha, AlignmentBatch batch) {
  for_each_index(batch.sequences, [=] __device__(int64_t sequence) {
    const T never = -std::numeric_limits<T>::infinity();
    const Alignment alignment = batch[sequence];
    if (alignment.steps == 0) {
      losses[sequence] = alignment.length == 0 ? T{0} : -never;
      return;
    }
    const T* end = log_alpha + batch.row(alignment.steps - 1, sequence) + alignment.states() - 1;
    losses[sequence] = -log_of_sum(end[0], alignment.length > 0 ? end[-1] : never, never);
  });
}

// `later` and `now` hold, for each state, the likelihood of all from it on; shares of classes are added up.
template <typename T>
void backward_step(T* shares, T* now, const T* later, const T* losses, const T* log_alpha, const T* log_probs,
                   AlignmentBatch batch, int64_t time) {
  for_each_index(batch.sequences * batch.states, [=] __device__(int64_t index) {
    const T never = -std::numeric_limits<T>::infinity();
    const int64_t sequence = index / batch.states;
    const int64_t state = index % batch.states;
    const Alignment alignment = batch[sequence];
    const int64_t states = alignment.states();
    T leaving = never;
    if (time < alignment.steps && state < states) {
      if (time == alignment.steps - 1) {
        leaving = state >= states - 2 ? T{0} : never;
      } else {
        const T* after = later + sequence * batch.states + state;
        leaving = log_of_sum(after[0], state + 1 < states ? after[1] : never,
                             state + 2 < states && alignment.may_skip(state + 2) ? after[2] : never);
      }
      const int64_t label = class_of(batch, alignment, state);
      const T share = ::exp(log_alpha[batch.row(time, sequence) + state] + leaving + losses[sequence]);
      if (share > T{0}) atomic_add(shares + (time * batch.sequences + sequence) * batch.classes + label, share);
      leaving += log_probs[batch.offset(time, sequence) + label];
    }
    now[index] = leaving;
  });
}

template <typename T>
void finish_gradient(T* grad_input, const T* grad, const T* losses, const T* log_probs, AlignmentBatch batch,
                     bool zero_infinity) {
  for_each_index(batch.steps * batch.sequences * batch.classes, [=] __device__(int64_t index) {
    const int64_t sequence = index / batch.classes % batch.sequences;
    const int64_t time = index / batch.classes / batch.sequences;
    if (time >= batch[sequence].steps) {
      grad_input[index] = T{0};
    } else if (losses[sequence] == std::numeric_limits<T>::infinity()) {
      grad_input[index] = zero_infinity ? T{0} : std::numeric_limits<T>::quiet_NaN();
    } else {
      const T likely = ::exp(log_probs[batch.offset(time, sequence) + index % batch.classes]);
      grad_input[index] = (likely - grad_input[index]) * grad[sequence];
    }
  });
}

}  // namespace

void ctc_loss_kernel(const Tensor& losses, const Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets,
                     const Tensor& extents, int64_t blank) {
  const AlignmentBatch batch = batch_of(log_alpha, log_probs, targets, extents, blank);
  dispatch_floating_types(log_probs.dtype(), "ctc_loss", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t time = 0; time < batch.steps; ++time) {
      forward_step<T>(log_alpha.data_ptr<T>(), log_probs.data_ptr<T>(), batch, time);
    }
    add_up_ends<T>(losses.data_ptr<T>(), log_alpha.data_ptr<T>(), batch);
  });
}

void ctc_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad, const Tensor& losses,
                              const Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets,
                              const Tensor& extents, int64_t blank, bool zero_infinity) {
  const AlignmentBatch batch = batch_of(log_alpha, log_probs, targets, extents, blank);
  Tensor(grad_input).zero_();
  const Tensor rows = at::empty({2, batch.sequences * batch.states}, losses.options());
  dispatch_floating_types(log_probs.dtype(), "ctc_loss_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* shares = grad_input.data_ptr<T>();
    T* now = rows.data_ptr<T>();
    T* later = now + batch.sequences * batch.states;
    for (int64_t time = batch.steps - 1; time >= 0; --time) {
      backward_step<T>(shares, now, later, losses.data_ptr<T>(), log_alpha.data_ptr<T>(), log_probs.data_ptr<T>(),
                       batch, time);
      std::swap(now, later);
    }
    finish_gradient<T>(shares, grad.data_ptr<T>(), losses.data_ptr<T>(), log_probs.data_ptr<T>(), batch, zero_infinity);
  });
}

}  // namespace at::native::cuda
