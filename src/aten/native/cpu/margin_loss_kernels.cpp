// Losses of several classes at once: each class that a target names is held against each one that it does not.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>

#include <algorithm>
#include <limits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/margin_loss_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Highway-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Both take the scores of all others up to a whole vector: what is behind the last one reaches no bound.

// The sum of what is positive of bound + other.
HWY_ATTR double SumOfMargins(const double* bounds, int64_t bounds_count, const double* others, int64_t others_count) {
  const hn::ScalableTag<double> d;
  const auto zero = hn::Zero(d);
  auto even = zero;
  auto odd = zero;
  const auto add = [&](auto sum, auto other, int64_t j) HWY_ATTR {
    const auto margin = hn::Add(hn::Set(d, bounds[j]), other);
    return hn::Add(sum, hn::IfThenElseZero(hn::Gt(margin, zero), margin));
  };
  for (int64_t i = 0; i < others_count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto other = hn::LoadU(d, others + i);
    int64_t j = 0;
    for (; j + 2 <= bounds_count; j += 2) {
      even = add(even, other, j);
      odd = add(odd, other, j + 1);
    }
    if (j < bounds_count) even = add(even, other, j);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

// How many bounds each other is positive with, in its place, and how many others each bound is.
HWY_ATTR void CountMargins(const double* bounds, int64_t bounds_count, int64_t* reached, double* others,
                           int64_t others_count) {
  const hn::ScalableTag<double> d;
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1.0);
  for (int64_t i = 0; i < others_count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto other = hn::LoadU(d, others + i);
    auto count = zero;
    for (int64_t j = 0; j < bounds_count; ++j) {
      const auto is_positive = hn::Gt(hn::Add(hn::Set(d, bounds[j]), other), zero);
      count = hn::Add(count, hn::IfThenElseZero(is_positive, one));
      reached[j] += static_cast<int64_t>(hn::CountTrue(d, is_positive));
    }
    hn::StoreU(count, d, others + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

namespace {

HWY_EXPORT(SumOfMargins);
HWY_EXPORT(CountMargins);

constexpr int64_t kMostLanes = 8;

// A row's scores sorted by what its target says, each kind side by side. The margins of float32 are computed in
// float64, too.
struct SortedScores {
  int64_t classes;
  std::vector<uint8_t> is_named;
  std::vector<double> scores;
  std::vector<int64_t> numbers;
  double* bounds;   // 1 - score of each class that is named, as often as it is
  double* others;
  int64_t* places;  // of the others
  int64_t* reached;
  int64_t bounds_count = 0;
  int64_t others_count = 0;

  explicit SortedScores(int64_t count)
      : classes(count),
        is_named(count),
        scores(2 * count + kMostLanes),
        numbers(2 * count),
        bounds(scores.data()),
        others(bounds + count),
        places(numbers.data()),
        reached(places + count) {}

  template <typename T>
  void sort(const T* row, const int64_t* target) {
    std::fill(is_named.begin(), is_named.end(), 0);
    bool is_beyond = false;
    for (int64_t i = 0; i < classes; ++i)
      is_beyond |= static_cast<uint64_t>(target[i] + 1) > static_cast<uint64_t>(classes);
    TORCH_CHECK(!is_beyond, "argument #2 'target' is out of range");
    for (bounds_count = 0; bounds_count < classes && target[bounds_count] >= 0; ++bounds_count) {
      is_named[target[bounds_count]] = 1;
      bounds[bounds_count] = 1 - static_cast<double>(row[target[bounds_count]]);
    }
    others_count = 0;
    for (int64_t i = 0; i < classes && bounds_count > 0; ++i) {
      others[others_count] = row[i];
      places[others_count] = i;
      others_count += is_named[i] ? 0 : 1;
    }
    std::fill_n(others + others_count, kMostLanes, -std::numeric_limits<double>::infinity());
  }

  double loss() const {
    const double sum = HWY_DYNAMIC_DISPATCH(SumOfMargins)(bounds, bounds_count, others, others_count);
    return sum / static_cast<double>(classes);
  }

  // Writes into `grad`, which is all 0, what the margins move by, `share` for each one that is positive: an other by
  // as many as are its own, a named class by as many less.
  template <typename T>
  void write_slopes(T* grad, const int64_t* target, T share) {
    std::fill_n(reached, bounds_count, 0);
    HWY_DYNAMIC_DISPATCH(CountMargins)(bounds, bounds_count, reached, others, others_count);
    for (int64_t i = 0; i < others_count; ++i) grad[places[i]] = static_cast<T>(others[i]) * share;
    for (int64_t j = 0; j < bounds_count; ++j) grad[target[j]] -= static_cast<T>(reached[j]) * share;
  }
};

// Writes `losses`, or, where it is given, grad_input for these gradients of them.
void run_margin_loss(const Tensor& losses, const Tensor& grad_input, const Tensor& self, const Tensor& target) {
  const int64_t classes = self.sizes()[1];
  const bool is_forward = !grad_input.defined();
  parallel_for(0, self.sizes()[0], std::max<int64_t>(1, 4096 / classes), [&](int64_t begin, int64_t end) {
    SortedScores row(classes);
    dispatch_floating_types(self.dtype(), "multilabel_margin_loss_forward_out_frame", [&](auto type) {
      using T = typename decltype(type)::type;
      T* loss = losses.data_ptr<T>();
      for (int64_t i = begin; i < end; ++i) {
        const int64_t* wanted = target.data_ptr<int64_t>() + i * classes;
        row.sort(self.data_ptr<T>() + i * classes, wanted);
        if (is_forward) loss[i] = static_cast<T>(row.loss());
        else row.write_slopes(grad_input.data_ptr<T>() + i * classes, wanted, loss[i] / static_cast<T>(classes));
      }
    });
  });
}

}  // namespace

void multilabel_margin_loss_kernel(const Tensor& losses, const Tensor& self, const Tensor& target) {
  run_margin_loss(losses, Tensor(), self, target);
}

void multilabel_margin_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_losses, const Tensor& self,
                                            const Tensor& target) {
  run_margin_loss(grad_losses, grad_input, self, target);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
