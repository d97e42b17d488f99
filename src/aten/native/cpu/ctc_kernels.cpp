// Connectionist temporal classification: the likelihood of each sequence over all its alignments with time, in
// logarithms, and its gradient; compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/ctc_kernels.cpp"
#include <hwy/foreach_target.h>
#include <aten/native/cpu/Highway-inl.h>

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/Alignment.h>
#include <aten/native/cpu/VectorMath-inl.h>

#include <cmath>
#include <limits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// to[i] = log(exp(stays[i]) + exp(steps[i]) + exp(skips[i] + may_skip[i])), in whole vectors.
template <typename T>
HWY_NOINLINE HWY_ATTR void join_paths(const T* stays, const T* steps, const T* skips, const T* may_skip, T* to,
                                      int64_t count) {
  const hn::ScalableTag<T> d;
  const auto never = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto stay = hn::LoadU(d, stays + i);
    const auto step = hn::LoadU(d, steps + i);
    const auto skip = hn::Add(hn::LoadU(d, skips + i), hn::LoadU(d, may_skip + i));
    const auto highest = hn::Max(hn::Max(stay, step), skip);
    const auto shift = hn::IfThenZeroElse(hn::Eq(highest, never), highest);
    const auto sum = hn::Add(hn::Add(exp_of_negative(d, hn::Sub(stay, shift)),
                                     exp_of_negative(d, hn::Sub(step, shift))),
                             exp_of_negative(d, hn::Sub(skip, shift)));
    // The highest of the three adds 1, unless no path arrives here.
    const auto total = hn::Add(log_vector(d, hn::Max(sum, hn::Set(d, T(1)))), highest);
    hn::StoreU(hn::IfThenElse(hn::Eq(sum, sum), total, sum), d, to + i);
  }
}

// values[i] = exp(values[i]), in whole vectors.
template <typename T>
HWY_NOINLINE HWY_ATTR void exponentiate(T* values, int64_t count) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::StoreU(exp_vector(d, hn::LoadU(d, values + i)), d, values + i);
  }
}

template <typename T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

template <typename T>
int64_t whole_vectors(int64_t count) {
  constexpr int64_t lanes = HWY_MAX_BYTES / sizeof(T);
  return (count + lanes - 1) / lanes * lanes;
}

// What a thread keeps of one sequence: rows of states, with two more on each side of them and room for whole vectors.
template <typename T>
struct StateRows {
  explicit StateRows(const AlignmentBatch& batch)
      : now(whole_vectors<T>(batch.states) + 4), next(now.size()), may_skip(now.size()), scores(now.size()) {}

  void begin(const Alignment& sequence, int64_t classes) {
    alignment = sequence;
    count = whole_vectors<T>(alignment.states());
    for (std::vector<T>* row : {&now, &next, &may_skip, &scores}) std::fill(row->begin(), row->end(), kNever<T>);
    for (int64_t state = 1; state <= alignment.states(); state += 2) {
      if (alignment.may_skip(state)) may_skip[state] = 0;
    }
    for (int64_t i = 0; i < alignment.length; ++i) {
      TORCH_CHECK_INDEX(alignment.labels[i] >= 0 && alignment.labels[i] < classes, "ctc_loss: target ",
                        alignment.labels[i], " is out of bounds for ", classes, " classes");
    }
  }
  void read_scores(const T* log_probs) {
    for (int64_t state = 0; state < alignment.states(); ++state) scores[state] = log_probs[alignment.label(state)];
  }

  Alignment alignment{};
  int64_t count = 0;
  std::vector<T> now;       // of the state -2 + i: the likelihood to be there
  std::vector<T> next;      // the same, a step of time further
  std::vector<T> may_skip;  // of the state i: 0 or -infinity
  std::vector<T> scores;
};

template <typename T>
HWY_ATTR void align(const AlignmentBatch& batch, T* losses, T* log_alpha, const T* log_probs) {
  parallel_for(0, batch.sequences, 1, [&](int64_t first, int64_t last) {
    StateRows<T> rows(batch);
    for (int64_t sequence = first; sequence < last; ++sequence) {
      const Alignment alignment = batch[sequence];
      rows.begin(alignment, batch.classes);
      rows.now[1] = 0;  // every path comes from the state -1
      for (int64_t time = 0; time < alignment.steps; ++time) {
        rows.read_scores(log_probs + batch.offset(time, sequence));
        T* arrived = rows.next.data() + 2;
        const T* before = rows.now.data();
        join_paths(before + 2, before + 1, before, rows.may_skip.data(), arrived, rows.count);
        for (int64_t state = 0; state < rows.count; ++state) arrived[state] += rows.scores[state];
        std::copy_n(arrived, alignment.states(), log_alpha + batch.row(time, sequence));
        rows.now[1] = kNever<T>;
        std::swap(rows.now, rows.next);
      }
      // A path ends in the last state or, past its blank, in the one before.
      const T* end = rows.now.data() + alignment.states();
      const T highest = std::max(end[0], end[1]);
      if (highest == kNever<T>) {
        losses[sequence] = -highest;
      } else if (alignment.steps == 0) {
        losses[sequence] = 0;  // without time, nothing at all is what a sequence holds
      } else {
        losses[sequence] = -(std::log(std::exp(end[0] - highest) + std::exp(end[1] - highest)) + highest);
      }
    }
  });
}

// The gradient of a loss by each log_prob: how likely the class is there, less the share of paths that go through it.
template <typename T>
HWY_ATTR void align_backward(const AlignmentBatch& batch, T* grad_input, const T* grad, const T* losses,
                             const T* log_alpha, const T* log_probs, bool zero_infinity) {
  parallel_for(0, batch.sequences, 1, [&](int64_t first, int64_t last) {
    StateRows<T> rows(batch);
    std::vector<T> shares(rows.now.size());
    std::vector<T> likely(whole_vectors<T>(batch.classes));
    for (int64_t sequence = first; sequence < last; ++sequence) {
      const Alignment alignment = batch[sequence];
      const T loss = losses[sequence];
      const bool impossible = loss == std::numeric_limits<T>::infinity();
      const auto result = [&](int64_t time) {
        return grad_input + (time * batch.sequences + sequence) * batch.classes;
      };
      for (int64_t time = alignment.steps; time < batch.steps; ++time) std::fill_n(result(time), batch.classes, T(0));
      if (impossible) {
        const T value = zero_infinity ? T(0) : std::numeric_limits<T>::quiet_NaN();
        for (int64_t time = 0; time < alignment.steps; ++time) std::fill_n(result(time), batch.classes, value);
        continue;
      }
      rows.begin(alignment, batch.classes);
      rows.now[alignment.states() + 2] = 0;  // every path goes to the state after the last
      for (int64_t time = alignment.steps - 1; time >= 0; --time) {
        const T* from = log_probs + batch.offset(time, sequence);
        const T* alpha = log_alpha + batch.row(time, sequence);
        rows.read_scores(from);
        T* leaving = rows.next.data() + 2;
        const T* after = rows.now.data() + 2;
        join_paths(after, after + 1, after + 2, rows.may_skip.data() + 2, leaving, rows.count);
        for (int64_t state = 0; state < alignment.states(); ++state) {
          shares[state] = alpha[state] + leaving[state] + loss;
        }
        exponentiate(shares.data(), alignment.states());
        std::copy_n(from, batch.classes, likely.data());
        exponentiate(likely.data(), batch.classes);
        for (int64_t state = 0; state < alignment.states(); ++state) likely[alignment.label(state)] -= shares[state];
        T* to = result(time);
        for (int64_t index = 0; index < batch.classes; ++index) to[index] = likely[index] * grad[sequence];
        for (int64_t state = 0; state < rows.count; ++state) leaving[state] += rows.scores[state];
        rows.now[alignment.states() + 2] = kNever<T>;
        std::swap(rows.now, rows.next);
      }
    }
  });
}

void CtcLossImpl(const Tensor& losses, const Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets,
                 const Tensor& extents, int64_t blank) {
  dispatch_floating_types(log_probs.dtype(), "ctc_loss_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    align<T>(batch_of(log_alpha, log_probs, targets, extents, blank), losses.data_ptr<T>(), log_alpha.data_ptr<T>(),
             log_probs.data_ptr<T>());
  });
}
void CtcLossBackwardImpl(const Tensor& grad_input, const Tensor& grad, const Tensor& losses, const Tensor& log_alpha,
                         const Tensor& log_probs, const Tensor& targets, const Tensor& extents, int64_t blank,
                         bool zero_infinity) {
  dispatch_floating_types(log_probs.dtype(), "ctc_loss_backward_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    align_backward<T>(batch_of(log_alpha, log_probs, targets, extents, blank), grad_input.data_ptr<T>(),
                      grad.data_ptr<T>(), losses.data_ptr<T>(), log_alpha.data_ptr<T>(),
                      log_probs.data_ptr<T>(), zero_infinity);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(CtcLossImpl);
HWY_EXPORT(CtcLossBackwardImpl);

void ctc_loss_kernel(const Tensor& losses, const Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets,
                     const Tensor& extents, int64_t blank) {
  HWY_DYNAMIC_DISPATCH(CtcLossImpl)(losses, log_alpha, log_probs, targets, extents, blank);
}
void ctc_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad, const Tensor& losses,
                              const Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets,
                              const Tensor& extents, int64_t blank, bool zero_infinity) {
  HWY_DYNAMIC_DISPATCH(CtcLossBackwardImpl)(grad_input, grad, losses, log_alpha, log_probs, targets, extents, blank,
                                            zero_infinity);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
