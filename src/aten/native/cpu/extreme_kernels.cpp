// max and min along one dimension, with the place where they are; compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/extreme_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/Reduce-inl.h>
#include <aten/native/cpu/ReduceOps-inl.h>

#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// The first place of `value` in a row; of the first NaN when `value` is one.
template <typename T>
HWY_ATTR int64_t first_place(const T* row, int64_t size, T value) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool is_nan = value != value;
  const auto wanted = hn::Set(d, value);
  int64_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto values = hn::LoadU(d, row + i);
    auto matches = hn::Eq(values, wanted);
    if constexpr (std::is_floating_point_v<T>) {
      if (is_nan) matches = hn::IsNaN(values);
    }
    const auto found = hn::FindFirstTrue(d, matches);
    if (found >= 0) return i + found;
  }
  for (; i < size; ++i) {
    if (is_nan ? row[i] != row[i] : row[i] == value) return i;
  }
  return 0;
}

// [outer, size, inner] to [outer, inner]; `values` may be null.
template <typename Op, typename T>
HWY_ATTR void extreme_along(T* values, int64_t* indices, const T* self, int64_t outer, int64_t size, int64_t inner) {
  if (inner == 1) {
    parallel_for(0, outer, std::max<int64_t>(1, kGrainSize / size), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const T* row = self + i * size;
        const T best = reduce_run<Op>(row, size);
        if (values) values[i] = best;
        indices[i] = first_place(row, size, best);
      }
    });
    return;
  }
  parallel_for(0, outer, std::max<int64_t>(1, kGrainSize / (size * inner)), [&](int64_t first, int64_t last) {
    std::vector<T> best(static_cast<size_t>(inner));
    for (int64_t i = first; i < last; ++i) {
      const T* block = self + i * size * inner;
      int64_t* place = indices + i * inner;
      std::copy_n(block, inner, best.data());
      std::fill_n(place, inner, int64_t{0});
      for (int64_t row = 1; row < size; ++row) {
        const T* candidates = block + row * inner;
        for (int64_t j = 0; j < inner; ++j) {
          // combine() keeps the first of equal values, and a NaN.
          const bool better = !(Op::combine(best[j], candidates[j]) == best[j]) && best[j] == best[j];
          best[j] = better ? candidates[j] : best[j];
          place[j] = better ? row : place[j];
        }
      }
      if (values) std::copy_n(best.data(), inner, values + i * inner);
    }
  });
}

template <template <typename> typename Op>
void extreme_dim(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, const char* name) {
  const Tensor dense = at::detail::to_contiguous(self);
  int64_t outer = 1;
  int64_t inner = 1;
  for (int64_t i = 0; i < dim; ++i) outer *= self.sizes()[i];
  for (int64_t i = dim + 1; i < self.dim(); ++i) inner *= self.sizes()[i];
  const int64_t size = self.dim() > 0 ? self.sizes()[dim] : 1;
  int64_t* places = indices.data_ptr<int64_t>();
  void* best = values.defined() ? values.data_ptr() : nullptr;
  if (self.dtype() == kBool) {  // bytes 0 and 1
    extreme_along<Op<uint8_t>>(static_cast<uint8_t*>(best), places, static_cast<const uint8_t*>(dense.data_ptr()), outer, size, inner);
    return;
  }
  dispatch_numeric_types(self.dtype(), name, [&](auto type) {
    using T = typename decltype(type)::type;
    extreme_along<Op<T>>(static_cast<T*>(best), places, static_cast<const T*>(dense.data_ptr()), outer, size, inner);
  });
}

void max_along_dim(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  extreme_dim<Maximum>(values, indices, self, dim, "max_cpu");
}

void min_along_dim(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  extreme_dim<Minimum>(values, indices, self, dim, "min_cpu");
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(max_along_dim);
HWY_EXPORT(min_along_dim);

void max_dim_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  HWY_DYNAMIC_DISPATCH(max_along_dim)(values, indices, self, dim);
}

void min_dim_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  HWY_DYNAMIC_DISPATCH(min_along_dim)(values, indices, self, dim);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
