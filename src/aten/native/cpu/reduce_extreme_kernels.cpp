// amax, amin, any and all; compiled once per instruction set. (With the place of the extreme: extreme_kernels.cpp.)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/reduce_extreme_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/Reduce-inl.h>
#include <aten/native/cpu/ReduceOps-inl.h>

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

void amax_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(amax_reduce)(iter); }
void amin_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(amin_reduce)(iter); }
void any_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(any_reduce)(iter); }
void all_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(all_reduce)(iter); }

}  // namespace at::native::cpu
#endif  // HWY_ONCE
