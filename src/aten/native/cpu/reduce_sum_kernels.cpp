// sum, mean and prod; compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/reduce_sum_kernels.cpp"
#include <hwy/foreach_target.h>
#include <aten/native/cpu/Highway-inl.h>

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/ElementBits.h>
#include <aten/native/cpu/Reduce-inl.h>
#include <aten/native/cpu/ReduceOps-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

void sum_reduce(TensorIterator& iter) {
  dispatch_numeric_and_complex_types(iter.common_dtype(), "sum_cpu", [&](auto type) {
    using T = SameBits<typename decltype(type)::type>;
    reduce<Sum<T>, T>(ReducePlan(iter));
  });
}

void sum_mapped_reduce(TensorIterator& iter, ElementMap map) {
  dispatch_floating_types(iter.common_dtype(), "sum_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    ReducePlan plan(iter);
    plan.map = map;
    reduce<Sum<T>, T>(plan);
  });
}

void mean_reduce(TensorIterator& iter) {
  dispatch_floating_and_complex_types(iter.common_dtype(), "mean_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    ReducePlan plan(iter);
    plan.mean = true;
    reduce<Sum<T>, T>(plan);
  });
}

void prod_reduce(TensorIterator& iter) {
  dispatch_numeric_and_complex_types(iter.common_dtype(), "prod_cpu", [&](auto type) {
    using T = SameBits<typename decltype(type)::type>;
    reduce<Product<T>, T>(ReducePlan(iter));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(sum_reduce);
HWY_EXPORT(sum_mapped_reduce);
HWY_EXPORT(mean_reduce);
HWY_EXPORT(prod_reduce);

void sum_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(sum_reduce)(iter); }
void sum_mapped_kernel(TensorIterator& iter, ElementMap map) {
  HWY_DYNAMIC_DISPATCH(sum_mapped_reduce)(iter, map);
}
void mean_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(mean_reduce)(iter); }
void prod_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(prod_reduce)(iter); }

}  // namespace at::native::cpu
#endif  // HWY_ONCE
