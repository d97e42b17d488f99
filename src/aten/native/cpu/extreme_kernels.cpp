// max and min along one dimension, with the place where they are; compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/extreme_kernels.cpp"
#include <hwy/foreach_target.h>
#include <aten/native/cpu/Highway-inl.h>

#include <aten/ATen.h>
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
HWY_ATTR void extreme_along(T* values, int64_t* indices, const T* self, int64_t outer, int64_t size,
                            int64_t inner) {
  constexpr int64_t kShortRow = 16;  // fewer elements are looked at one by one
  if (inner == 1 && size < kShortRow) {
    parallel_for(0, outer, std::max<int64_t>(1, kGrainSize / size), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const T* row = self + i * size;
        T best = row[0];
        int64_t place = 0;
        for (int64_t j = 1; j < size; ++j) {  // without a branch
          const int64_t better = -static_cast<int64_t>(Op::beats(row[j], best));
          best = combine_two<Op>(best, row[j]);
          place = (j & better) | (place & ~better);
        }
        if (values) values[i] = best;
        indices[i] = place;
      }
    });
    return;
  }
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
  // Blocks of columns, with places as wide as the values so that both fill the same vectors.
  using Place = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  TORCH_CHECK(size <= std::numeric_limits<Place>::max(), "max, min: a dimension of ", size,
              " elements is too large for its dtype");
  const int64_t blocks = (inner + kColumnBlock - 1) / kColumnBlock;
  const int64_t work = size * std::min(inner, kColumnBlock);
  parallel_for(0, outer * blocks, std::max<int64_t>(1, kGrainSize / work), [&](int64_t first, int64_t last) {
    T best[kColumnBlock];
    Place place[kColumnBlock];
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t start = unit % blocks * kColumnBlock;
      const int64_t width = std::min(kColumnBlock, inner - start);
      const T* block = self + unit / blocks * size * inner + start;
      std::copy_n(block, width, best);
      std::fill_n(place, width, Place(0));
      for (int64_t row = 1; row < size; ++row) {
        const T* HWY_RESTRICT candidates = block + row * inner;
        for (int64_t j = 0; j < width; ++j) {
          const bool better = Op::beats(candidates[j], best[j]);
          best[j] = better ? candidates[j] : best[j];
          place[j] = better ? static_cast<Place>(row) : place[j];
        }
      }
      const int64_t target = unit / blocks * inner + start;
      if (values) std::copy_n(best, width, values + target);
      std::copy_n(place, width, indices + target);
    }
  });
}

template <template <typename> typename Op>
void extreme_dim(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim,
                 const char* name) {
  const int64_t size = self.dim() > 0 ? self.sizes()[dim] : 1;
  int64_t outer = 1;
  int64_t inner = 1;
  for (int64_t i = 0; i < dim; ++i) outer *= self.sizes()[i];
  for (int64_t i = dim + 1; i < self.dim(); ++i) inner *= self.sizes()[i];
  constexpr int64_t kFewColumns = 16;  // fewer are brought into rows: side by side they fill no vectors
  Tensor dense = self;
  const bool has_few_columns = inner > 1 && inner < kFewColumns && size > inner;
  if (has_few_columns || !self.is_contiguous()) {
    const Tensor rows = self.dim() > 0 ? at::movedim(at::detach(self), dim, -1) : self;
    if (has_few_columns || rows.is_contiguous()) {
      dense = rows;
      outer *= inner;
      inner = 1;
    }
  }
  dense = at::detail::to_contiguous(dense);
  int64_t* places = indices.data_ptr<int64_t>();
  void* best = values.defined() ? values.data_ptr() : nullptr;
  if (self.dtype() == kBool) {  // bytes 0 and 1
    extreme_along<Op<uint8_t>>(static_cast<uint8_t*>(best), places,
                               static_cast<const uint8_t*>(dense.data_ptr()), outer, size, inner);
    return;
  }
  dispatch_numeric_types(self.dtype(), name, [&](auto type) {
    using T = typename decltype(type)::type;
    extreme_along<Op<T>>(static_cast<T*>(best), places, static_cast<const T*>(dense.data_ptr()), outer, size,
                         inner);
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
