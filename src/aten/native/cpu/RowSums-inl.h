// Sums over the elements of a row: vectors of their own type for some thousands of them, and then double. Included once
// per instruction set.

#if defined(TORCH_ROW_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_ROW_SUMS_INL_H_
#undef TORCH_ROW_SUMS_INL_H_
#else
#define TORCH_ROW_SUMS_INL_H_
#endif

#include <aten/native/cpu/Highway-inl.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kBlock = 4096;  // elements whose sum is made in T before it goes into a double

// How terms are read: vectors, or the lanes of a mask.
struct WholeVector {
  template <typename D, typename T>
  HWY_ATTR hn::Vec<D> operator()(D d, const T* from) const { return hn::LoadU(d, from); }
};
template <typename M>
struct PartOfVector {
  M mask;
  template <typename D, typename T>
  HWY_ATTR hn::Vec<D> operator()(D d, const T* from) const { return hn::MaskedLoad(mask, d, from); }
};

// The sum of term(d, i, load) over [0, count).
template <typename T, typename Term>
HWY_ATTR double add_up(int64_t count, const Term& term) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(count, begin + kBlock);
    auto a = hn::Zero(d);
    auto b = a;
    auto c = a;
    auto e = a;
    int64_t i = begin;
    const WholeVector load;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      a = hn::Add(a, term(d, i, load));
      b = hn::Add(b, term(d, i + lanes, load));
      c = hn::Add(c, term(d, i + 2 * lanes, load));
      e = hn::Add(e, term(d, i + 3 * lanes, load));
    }
    for (; i + lanes <= end; i += lanes) a = hn::Add(a, term(d, i, load));
    if (i < end) {
      const auto rest = hn::FirstN(d, static_cast<size_t>(end - i));
      b = hn::Add(b, hn::IfThenElseZero(rest, term(d, i, PartOfVector<decltype(rest)>{rest})));
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e)))));
  }
  return total;
}

template <typename T>
struct Value {
  const T* x;
  template <typename D, typename Load>
  HWY_ATTR hn::Vec<D> operator()(D d, int64_t i, const Load& load) const { return load(d, x + i); }
};
template <typename T>
struct Square {
  const T* x;
  T mean;
  template <typename D, typename Load>
  HWY_ATTR hn::Vec<D> operator()(D d, int64_t i, const Load& load) const {
    const auto deviation = hn::Sub(load(d, x + i), hn::Set(d, mean));
    return hn::Mul(deviation, deviation);
  }
};
// gradient * weight, and that times the deviation of x.
template <typename T, bool kDeviation>
struct Weighted {
  const T* gradient;
  const T* weight;  // null: 1
  const T* x;
  T mean;
  template <typename D, typename Load>
  HWY_ATTR hn::Vec<D> operator()(D d, int64_t i, const Load& load) const {
    auto value = load(d, gradient + i);
    if (weight) value = hn::Mul(value, load(d, weight + i));
    return kDeviation ? hn::Mul(value, hn::Sub(load(d, x + i), hn::Set(d, mean))) : value;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
