// amax, amin, any and all; compiled once per instruction set. (With the place of the extreme: extreme_kernels.cpp.)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/reduce_extreme_kernels.cpp"
#include <hwy/foreach_target.h>
#include <aten/native/cpu/Highway-inl.h>

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/ElementBits.h>
#include <aten/native/cpu/FusedKernels.h>
#include <aten/native/cpu/Reduce-inl.h>
#include <aten/native/cpu/ReduceOps-inl.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// Truth values are bytes 0 and 1: the largest is whether any is true, the smallest whether all are.
template <template <typename> typename Op>
void extreme_reduce(TensorIterator& iter, const char* name) {
  if (iter.common_dtype() == kBool) return reduce<Op<uint8_t>, uint8_t>(ReducePlan(iter));
  dispatch_numeric_types(iter.common_dtype(), name, [&](auto type) {
    using T = typename decltype(type)::type;
    reduce<Op<T>, T>(ReducePlan(iter));
  });
}

void amax_reduce(TensorIterator& iter) { extreme_reduce<Maximum>(iter, "max_values_cpu"); }
void amin_reduce(TensorIterator& iter) { extreme_reduce<Minimum>(iter, "min_values_cpu"); }

// The least of some numbers, then the greatest; of floats that is NaN for both if one of them is.
template <typename Element>
HWY_ATTR void find_both(void* both, const void* numbers, int64_t count) {
  using T = Computed<Element>;
  const auto* const from = static_cast<const Element*>(numbers);
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T least = static_cast<T>(from[0]);
  T greatest = least;
  int64_t i = 0;
  if (count >= 2 * lanes) {
    auto lower = hn::Set(d, least), upper = lower, other_lower = lower, other_upper = lower;
    auto are_numbers = hn::Eq(lower, lower);
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      const auto values = load_stored(d, from + i), others = load_stored(d, from + i + lanes);
      if constexpr (std::is_floating_point_v<T>)
        are_numbers = hn::And(are_numbers, hn::And(hn::Eq(values, values), hn::Eq(others, others)));
      lower = hn::Min(values, lower);
      upper = hn::Max(values, upper);
      other_lower = hn::Min(others, other_lower);
      other_upper = hn::Max(others, other_upper);
    }
    if (hn::AllTrue(d, are_numbers)) {
      least = combine_lanes<Minimum<T>, T>(d, hn::Min(lower, other_lower));
      greatest = combine_lanes<Maximum<T>, T>(d, hn::Max(upper, other_upper));
    } else {
      least = greatest = std::numeric_limits<T>::quiet_NaN();
    }
  }
#pragma GCC unroll 1
  for (; i < count; ++i) {
    least = Minimum<T>::combine(least, static_cast<T>(from[i]));
    greatest = Maximum<T>::combine(greatest, static_cast<T>(from[i]));
  }
  static_cast<Element*>(both)[0] = static_cast<Element>(least);
  static_cast<Element*>(both)[1] = static_cast<Element>(greatest);
}
using FindBoth = void (*)(void* both, const void* numbers, int64_t count);
FindBoth FindBothOf(ScalarType dtype) {
  return dispatch_real_types(bool_as_byte(dtype), "aminmax", [](auto type) -> FindBoth {
    using T = typename decltype(type)::type;
    return &find_both<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;
  });
}

// As amax and amin of bool, but that nothing is known of nothing: any is 0, all is 1.
struct All : Minimum<uint8_t> {
  static constexpr uint8_t identity() { return 1; }
};
void any_reduce(TensorIterator& iter) { reduce<Maximum<uint8_t>, uint8_t>(ReducePlan(iter)); }
void all_reduce(TensorIterator& iter) { reduce<All, uint8_t>(ReducePlan(iter)); }

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(amax_reduce);
HWY_EXPORT(amin_reduce);
HWY_EXPORT(any_reduce);
HWY_EXPORT(all_reduce);

HWY_EXPORT(FindBothOf);
void find_both_extremes(const Tensor& least, const Tensor& greatest, const Tensor& self) {
  const auto find_both = HWY_DYNAMIC_DISPATCH(FindBothOf)(self.dtype());
  const auto size = static_cast<int64_t>(self.element_size());
  const int64_t count = self.numel();
  const int64_t parts = (count + kGrainSize - 1) / kGrainSize;
  std::vector<uint64_t> found(static_cast<size_t>(2 * parts + 1));  // of at most eight bytes each
  char* const pairs = reinterpret_cast<char*>(found.data());
  const char* const numbers = static_cast<const char*>(self.data_ptr());
  parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      const int64_t begin = part * kGrainSize;
      find_both(pairs + 2 * part * size, numbers + begin * size, std::min(kGrainSize, count - begin));
    }
  });
  find_both(pairs, pairs, 2 * parts);
  std::memcpy(least.data_ptr(), pairs, static_cast<size_t>(size));
  std::memcpy(greatest.data_ptr(), pairs + size, static_cast<size_t>(size));
}

void amax_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(amax_reduce)(iter); }
void amin_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(amin_reduce)(iter); }
void any_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(any_reduce)(iter); }
void all_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(all_reduce)(iter); }

}  // namespace at::native::cpu
#endif  // HWY_ONCE
