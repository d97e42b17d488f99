// sum, mean and prod; compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/reduce_sum_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ComplexKernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/Reduce-inl.h>
#include <aten/native/cpu/ReduceOps-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

void sum_reduce(TensorIterator& iter) {
  dispatch_numeric_types(iter.common_dtype(), "sum_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    reduce<Sum<T>, T>(ReducePlan(iter));
  });
}

// Complex numbers are added up part by part: as columns of real numbers, two for each.
void sum_parts_reduce(TensorIterator& iter, bool mean) {
  dispatch_complex_types(iter.common_dtype(), "sum_cpu", [&](auto type) {
    using T = c10::real_type_t<typename decltype(type)::type>;
    ReducePlan plan(iter);
    plan.mean = mean;
    constexpr int64_t size = sizeof(T);
    if (!plan.kept_sizes.empty() && plan.kept_strides[0] == 2 * size && plan.kept_out_strides[0] == 2 * size) {
      plan.kept_sizes[0] *= 2;
      plan.kept_strides[0] = plan.kept_out_strides[0] = size;
    } else {
      plan.kept_sizes.insert(0, 2);
      plan.kept_strides.insert(0, size);
      plan.kept_out_strides.insert(0, size);
    }
    plan.outputs *= 2;
    plan.item = size;
    reduce<Sum<T>, T>(plan);
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
  dispatch_floating_types(iter.common_dtype(), "mean_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    ReducePlan plan(iter);
    plan.mean = true;
    reduce<Sum<T>, T>(plan);
  });
}

void prod_reduce(TensorIterator& iter) {
  dispatch_numeric_types(iter.common_dtype(), "prod_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
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
HWY_EXPORT(sum_parts_reduce);
HWY_EXPORT(mean_reduce);
HWY_EXPORT(prod_reduce);

namespace {

// Whether complex numbers are read: real ones that are summed as such are converted.
bool reads_parts(const TensorIterator& iter) {
  return c10::is_complex_type(iter.common_dtype()) && !iter.is_cpu_scalar(1) &&
         iter.input().dtype() == iter.input_dtype();
}

}  // namespace

void sum_kernel(TensorIterator& iter) {
  if (reads_parts(iter)) return HWY_DYNAMIC_DISPATCH(sum_parts_reduce)(iter, false);
  if (c10::is_complex_type(iter.common_dtype())) return complex_sum(iter);
  HWY_DYNAMIC_DISPATCH(sum_reduce)(iter);
}
void sum_mapped_kernel(TensorIterator& iter, ElementMap map) {
  HWY_DYNAMIC_DISPATCH(sum_mapped_reduce)(iter, map);
}
void mean_kernel(TensorIterator& iter) {
  if (reads_parts(iter)) return HWY_DYNAMIC_DISPATCH(sum_parts_reduce)(iter, true);
  if (c10::is_complex_type(iter.common_dtype())) return complex_mean(iter);
  HWY_DYNAMIC_DISPATCH(mean_reduce)(iter);
}
void prod_kernel(TensorIterator& iter) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_prod(iter);
  HWY_DYNAMIC_DISPATCH(prod_reduce)(iter);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
