#include <aten/native/cpu/AttentionRows.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/attention_rows.cpp"
#include <hwy/foreach_target.h>
#include <aten/native/cpu/Highway-inl.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Counts are multiples of a vector here: rows end in what counts for nothing.

// row[i] = scale * row[i] + mask[i] for i < valid, -inf behind; returns the greatest. `mask` may be null: 0.
template <typename T>
HWY_ATTR T prepare_scores(T* row, const T* mask, int64_t valid, int64_t count, T scale) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T lowest = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < valid; ++i) row[i] = mask ? row[i] * scale + mask[i] : row[i] * scale;
  for (int64_t i = valid; i < count; ++i) row[i] = lowest;
  auto greatest = hn::Set(d, lowest);
  auto is_nan = hn::Zero(d);  // NaN if any is
  for (int64_t i = 0; i < count; i += lanes) {
    const auto values = hn::LoadU(d, row + i);
    greatest = hn::Max(greatest, values);
    is_nan = hn::IfThenElse(hn::IsNaN(values), values, is_nan);
  }
  const T result = hn::GetLane(hn::MaxOfLanes(d, greatest));
  return hn::AllFalse(d, hn::IsNaN(is_nan)) ? result : std::numeric_limits<T>::quiet_NaN();
}

// Highway's exp makes 0 of NaN.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V exp_or_nan(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

// row[i] = exp(row[i] - shift); returns their sum.
template <typename T>
HWY_ATTR T exponentiate(T* row, T shift, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto offset = hn::Set(d, shift);
  auto sum = hn::Zero(d);
  for (int64_t i = 0; i < count; i += lanes) {
    const auto value = exp_or_nan(d, hn::Sub(hn::LoadU(d, row + i), offset));
    hn::StoreU(value, d, row + i);
    sum = hn::Add(sum, value);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// slopes[i] = weights[i] * (slopes[i] - mean) * scale
template <typename T>
HWY_ATTR void make_slopes(const T* weights, T* slopes, T mean, T scale, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto offset = hn::Set(d, mean);
  const auto factor = hn::Set(d, scale);
  for (int64_t i = 0; i < count; i += lanes) {
    const auto slope = hn::Mul(hn::Sub(hn::LoadU(d, slopes + i), offset), factor);
    hn::StoreU(hn::Mul(hn::LoadU(d, weights + i), slope), d, slopes + i);
  }
}

// sums[i] = the product of `one` and row i.
template <typename T>
HWY_ATTR void multiply_rows(T* sums, const T* one, const T* rows, int64_t step, int64_t count, int64_t features) {
  constexpr int64_t kTogether = 4;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t first = 0; first < count; first += kTogether) {
    const T* row[kTogether];
    hn::Vec<decltype(d)> products[kTogether];
#pragma GCC unroll 4
    for (int64_t r = 0; r < kTogether; ++r) {
      row[r] = rows + std::min(first + r, count - 1) * step;
      products[r] = hn::Zero(d);
    }
    int64_t i = 0;
    for (; i + lanes <= features; i += lanes) {
      const auto factor = hn::LoadU(d, one + i);
#pragma GCC unroll 4
      for (int64_t r = 0; r < kTogether; ++r) products[r] = hn::MulAdd(factor, hn::LoadU(d, row[r] + i), products[r]);
    }
    if (i < features) {
      const auto rest = hn::FirstN(d, static_cast<size_t>(features - i));
      const auto factor = hn::MaskedLoad(rest, d, one + i);
#pragma GCC unroll 4
      for (int64_t r = 0; r < kTogether; ++r)
        products[r] = hn::MulAdd(factor, hn::MaskedLoad(rest, d, row[r] + i), products[r]);
    }
    for (int64_t r = 0; r < std::min(kTogether, count - first); ++r)
      sums[first + r] = hn::GetLane(hn::SumOfLanes(d, products[r]));
  }
}

#define TORCH_ROWS(T)                                                                            \
  void multiply_rows_##T(T* sums, const T* one, const T* rows, int64_t step, int64_t count, int64_t features) { \
    multiply_rows(sums, one, rows, step, count, features);                                       \
  }                                                                                              \
  T prepare_scores_##T(T* row, const T* mask, int64_t valid, int64_t count, T scale) {           \
    return prepare_scores(row, mask, valid, count, scale);                                       \
  }                                                                                              \
  T exponentiate_##T(T* row, T shift, int64_t count) { return exponentiate(row, shift, count); } \
  void make_slopes_##T(const T* weights, T* slopes, T mean, T scale, int64_t count) {            \
    make_slopes(weights, slopes, mean, scale, count);                                            \
  }
TORCH_ROWS(float)
TORCH_ROWS(double)
#undef TORCH_ROWS

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(multiply_rows_float);
HWY_EXPORT(multiply_rows_double);
HWY_EXPORT(prepare_scores_float);
HWY_EXPORT(prepare_scores_double);
HWY_EXPORT(exponentiate_float);
HWY_EXPORT(exponentiate_double);
HWY_EXPORT(make_slopes_float);
HWY_EXPORT(make_slopes_double);

#define TORCH_ROWS(T)                                                                                       \
  void multiply_rows(T* sums, const T* one, const T* rows, int64_t step, int64_t count, int64_t features) { \
    HWY_DYNAMIC_DISPATCH(multiply_rows_##T)(sums, one, rows, step, count, features);                        \
  }                                                                                                         \
  T prepare_scores(T* row, const T* mask, int64_t valid, int64_t count, T scale) {                          \
    return HWY_DYNAMIC_DISPATCH(prepare_scores_##T)(row, mask, valid, count, scale);                        \
  }                                                                                                         \
  T exponentiate(T* row, T shift, int64_t count) {                                                          \
    return HWY_DYNAMIC_DISPATCH(exponentiate_##T)(row, shift, count);                                       \
  }                                                                                                         \
  void make_slopes(const T* weights, T* slopes, T mean, T scale, int64_t count) {                           \
    HWY_DYNAMIC_DISPATCH(make_slopes_##T)(weights, slopes, mean, scale, count);                             \
  }
TORCH_ROWS(float)
TORCH_ROWS(double)
#undef TORCH_ROWS

}  // namespace at::native::cpu
#endif  // HWY_ONCE
