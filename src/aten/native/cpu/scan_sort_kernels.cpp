// Running sums and sorting along one dimension.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace at::native::cpu {

namespace {

// A contiguous tensor as [outer, size, inner] around a dimension.
struct Extents {
  Extents(const Tensor& tensor, int64_t dim) : size(tensor.sizes()[dim]) {
    for (int64_t i = 0; i < dim; ++i) outer *= tensor.sizes()[i];
    for (int64_t i = dim + 1; i < tensor.dim(); ++i) inner *= tensor.sizes()[i];
  }
  int64_t outer = 1;
  int64_t size;
  int64_t inner = 1;
};

// An unsigned integer that orders as T does, with every NaN after every number and -0 as 0.
template <typename T>
auto sort_key(T value) {
  if constexpr (std::is_same_v<T, float>) {
    uint32_t bits;
    if (value != value) return ~uint32_t{0};
    value += 0.0f;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  } else if constexpr (std::is_same_v<T, double>) {
    uint64_t bits;
    if (value != value) return ~uint64_t{0};
    value += 0.0;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return static_cast<uint32_t>(value) ^ 0x80000000u;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return static_cast<uint64_t>(value) ^ uint64_t{1} << 63;
  } else {
    return static_cast<uint32_t>(value);
  }
}

struct WideItem {
  uint64_t key;
  int64_t index;
  friend bool operator<(const WideItem& a, const WideItem& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; }
};

// Stable, because equal keys are ordered by their index; `row` elements are `stride` apart.
template <typename T>
void sort_row(T* values, int64_t* indices, const T* row, int64_t size, int64_t stride, bool descending) {
  using Key = decltype(sort_key(T()));
  const Key flip = descending ? static_cast<Key>(~Key{0}) : Key{0};
  if (sizeof(Key) == 4 && size <= int64_t{1} << 32) {  // key and index in one word
    std::vector<uint64_t> items(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) items[i] = static_cast<uint64_t>(sort_key(row[i * stride]) ^ flip) << 32 | static_cast<uint64_t>(i);
    std::sort(items.begin(), items.end());
    for (int64_t i = 0; i < size; ++i) {
      const auto index = static_cast<int64_t>(items[i] & 0xffffffffu);
      indices[i * stride] = index;
      values[i * stride] = row[index * stride];
    }
  } else {
    std::vector<WideItem> items(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) items[i] = {static_cast<uint64_t>(sort_key(row[i * stride]) ^ flip), i};
    std::sort(items.begin(), items.end());
    for (int64_t i = 0; i < size; ++i) {
      indices[i * stride] = items[i].index;
      values[i * stride] = row[items[i].index * stride];
    }
  }
}

}  // namespace

void cumsum_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  dispatch_numeric_types(self.dtype(), "cumsum_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    // float is added up in double, so that long sums stay accurate
    using Total = std::conditional_t<std::is_floating_point_v<scalar_t>, double, scalar_t>;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    const int64_t work = std::max<int64_t>(1, extents.size * extents.inner);
    parallel_for(0, extents.outer, std::max<int64_t>(1, kGrainSize / work), [&](int64_t first, int64_t last) {
      std::vector<Total> totals(static_cast<size_t>(extents.inner));
      for (int64_t i = first; i < last; ++i) {
        std::fill(totals.begin(), totals.end(), Total(0));
        for (int64_t row = i * extents.size; row < (i + 1) * extents.size; ++row) {
          for (int64_t j = 0; j < extents.inner; ++j) {
            totals[j] = static_cast<Total>(totals[j] + from[row * extents.inner + j]);
            to[row * extents.inner + j] = static_cast<scalar_t>(totals[j]);
          }
        }
      }
    });
  });
}

void sort_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool descending) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  dispatch_all_types(self.dtype(), "sort", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* sorted = values.data_ptr<scalar_t>();
    int64_t* places = indices.data_ptr<int64_t>();
    const int64_t grain = std::max<int64_t>(1, kGrainSize / 16 / std::max<int64_t>(1, extents.size));
    parallel_for(0, extents.outer * extents.inner, grain, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        const int64_t start = row / extents.inner * extents.size * extents.inner + row % extents.inner;
        sort_row(sorted + start, places + start, from + start, extents.size, extents.inner, descending);
      }
    });
  });
}

}  // namespace at::native::cpu
