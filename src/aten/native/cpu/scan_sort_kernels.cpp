// Running sums and sorting along one dimension.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/AroundDimension.h>
#include <aten/native/cpu/FusedKernels.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace at::native::cpu {

namespace {

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
  } else if constexpr (c10::is_reduced_floating_v<T>) {
    return sort_key(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint32_t>(static_cast<int32_t>(value)) ^ 0x80000000u;
  } else {
    return static_cast<uint32_t>(value);
  }
}

// Key and index in one word where the key has 32 bits, side by side where it has 64.
struct NarrowItem {
  uint64_t word;
  NarrowItem() = default;
  NarrowItem(uint64_t key, int64_t index) : word(key << 32 | static_cast<uint64_t>(index)) {}
  uint64_t key() const { return word >> 32; }
  int64_t index() const { return static_cast<int64_t>(word & 0xffffffffu); }
  friend bool operator<(const NarrowItem& a, const NarrowItem& b) { return a.word < b.word; }
};
struct WideItem {
  uint64_t word;
  int64_t position;
  WideItem() = default;
  WideItem(uint64_t key, int64_t index) : word(key), position(index) {}
  uint64_t key() const { return word; }
  int64_t index() const { return position; }
  friend bool operator<(const WideItem& a, const WideItem& b) {
    return a.word != b.word ? a.word < b.word : a.position < b.position;
  }
};

// Sorts by one byte of the key after another, from the lowest; bytes that are the same in every key cost
// nothing.
template <typename Item>
void radix_sort(std::vector<Item>& items, std::vector<Item>& buffer) {
  uint64_t all = ~uint64_t{0};
  uint64_t any = 0;
  for (const Item& item : items) {
    all &= item.key();
    any |= item.key();
  }
  buffer.resize(items.size());
  for (int shift = 0; shift < 64; shift += 8) {
    if (((all ^ any) >> shift & 0xff) == 0) continue;
    size_t places[256] = {};
    for (const Item& item : items) ++places[item.key() >> shift & 0xff];
    size_t place = 0;
    for (size_t& next : places) {
      const size_t count = next;
      next = place;
      place += count;
    }
    for (const Item& item : items) buffer[places[item.key() >> shift & 0xff]++] = item;
    items.swap(buffer);
  }
}

constexpr int64_t kRadixSize = 200;                // fewer elements are compared with each other
constexpr int64_t kNarrowSize = int64_t{1} << 32;  // positions that a narrow item holds

// Memory that the rows of one thread share.
template <typename T>
struct SortBuffers {
  using Key = decltype(sort_key(T()));
  using Item = std::conditional_t<sizeof(Key) == 4, NarrowItem, WideItem>;
  static constexpr int kDigitBits = 11;
  std::vector<Item> items;
  std::vector<Item> spare;

  // Elements are `stride` apart. Equal keys keep their order, because items are ordered by index too.
  void load(const T* row, int64_t size, int64_t stride, bool descending) {
    const Key flip = descending ? static_cast<Key>(~Key{0}) : Key{0};
    items.resize(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) items[i] = Item(static_cast<Key>(sort_key(row[i * stride]) ^ flip), i);
  }
  // The first `count` in order, as std::partial_sort leaves them: a heap of them stands, and what is before its last
  // one takes that one's place. Most elements are not, which a block of neighbours shows at once.
  template <typename Compare>
  void select_few(const T* row, int64_t size, int64_t stride, bool descending, int64_t count,
                  const Compare& is_before) {
    constexpr int64_t kBlock = 32;
    const Key flip = descending ? static_cast<Key>(~Key{0}) : Key{0};
    load(row, count, stride, descending);
    items.resize(static_cast<size_t>(count + 1));
    const auto begin = items.begin();
    std::make_heap(begin, begin + count, is_before);
    for (int64_t start = count; start < size; start += kBlock) {
      const int64_t end = std::min(size, start + kBlock);
      const T last = row[begin->index() * stride];
      if (stride == 1 && end - start == kBlock &&
          !(descending ? any_above(row + start, last) : any_below(row + start, last)))
        continue;
      for (int64_t i = start; i < end; ++i) {
        const Item item(static_cast<Key>(sort_key(row[i * stride]) ^ flip), i);
        if (!is_before(item, *begin)) continue;
        items[static_cast<size_t>(count)] = item;
        std::pop_heap(begin, begin + count + 1, is_before);
      }
    }
    std::sort_heap(begin, begin + count, is_before);
  }
  // The item that would stand at `place` in order. Of many elements those are kept whose leading bits are the ones
  // that it must have, by their counts, until few are left.
  Item select_one(const T* row, int64_t size, int64_t stride, int64_t place) {
    int shift = static_cast<int>(8 * sizeof(Key)) - kDigitBits;
    const auto key = [&](int64_t i) { return sort_key(row[i * stride]); };
    if (size < kRadixSize) {
      load(row, size, stride, /*descending=*/false);
    } else {
      const size_t digit = find_digit(size, shift, place, key);
      items.clear();
      for (int64_t i = 0; i < size; ++i) {
        if (digit_of(key(i), shift) == digit) items.emplace_back(key(i), i);
      }
    }
    while (static_cast<int64_t>(items.size()) >= kRadixSize && shift > 0) {
      shift = std::max(0, shift - kDigitBits);
      const size_t digit = find_digit(static_cast<int64_t>(items.size()), shift, place,
                                      [&](int64_t i) { return items[static_cast<size_t>(i)].key(); });
      const auto falls_away = [&](const Item& item) { return digit_of(item.key(), shift) != digit; };
      items.erase(std::remove_if(items.begin(), items.end(), falls_away), items.end());
    }
    const auto chosen = items.begin() + place;
    std::nth_element(items.begin(), chosen, items.end());
    return *chosen;
  }
  static size_t digit_of(uint64_t key, int shift) { return key >> shift & ((1 << kDigitBits) - 1); }
  // The digit of the key at `place` in order; `place` becomes that among the keys with this digit.
  template <typename KeyOf>
  static size_t find_digit(int64_t count, int shift, int64_t& place, const KeyOf& key) {
    int64_t counts[1 << kDigitBits] = {};
    for (int64_t i = 0; i < count; ++i) ++counts[digit_of(key(i), shift)];
    size_t digit = 0;
    for (; place >= counts[digit]; ++digit) place -= counts[digit];
    return digit;
  }
  // Whether one of 32 elements may come after `last`; a NaN does.
  static bool any_above(const T* block, T last) {
    int found = 0;
    for (int i = 0; i < 32; ++i) found |= !(block[i] <= last);
    return found != 0;
  }
  static bool any_below(const T* block, T last) {
    int found = 0;
    for (int i = 0; i < 32; ++i) found |= !(block[i] >= last);
    return found != 0;
  }
  void store(T* values, int64_t* indices, const T* row, int64_t count, int64_t stride_in,
             int64_t stride_out) const {
    for (int64_t i = 0; i < count; ++i) {
      indices[i * stride_out] = items[i].index();
      values[i * stride_out] = row[items[i].index() * stride_in];
    }
  }
};

}  // namespace

namespace {

// Running sums of `Rows` rows, which do not wait for each other.
template <int Rows, typename Total, typename T>
void sum_along_rows(T* to, const T* from, int64_t size) {
  Total totals[Rows] = {};
  for (int64_t j = 0; j < size; ++j) {
    for (int row = 0; row < Rows; ++row) {
      totals[row] = static_cast<Total>(totals[row] + from[row * size + j]);
      to[row * size + j] = static_cast<T>(totals[row]);
    }
  }
}

}  // namespace

void cumsum_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  dispatch_numeric_and_complex_types(self.dtype(), "cumsum_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    // float is added up in double, so that long sums stay accurate
    using Total = std::conditional_t<std::is_floating_point_v<scalar_t>, double, scalar_t>;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    const int64_t work = std::max<int64_t>(1, extents.size * extents.inner);
    parallel_for(0, extents.outer, std::max<int64_t>(1, kGrainSize / work), [&](int64_t first, int64_t last) {
      if (extents.inner == 1) {
        int64_t i = first;
        for (; i + 4 <= last; i += 4)
          sum_along_rows<4, Total>(to + i * extents.size, from + i * extents.size, extents.size);
        for (; i < last; ++i) sum_along_rows<1, Total>(to + i * extents.size, from + i * extents.size, extents.size);
        return;
      }
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

namespace {

// order(buffers, row, size, stride) puts the first elements of each row's items in place.
template <typename Order>
void for_each_sorted_row(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, Order&& order) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  const int64_t count = values.sizes()[dim];
  TORCH_CHECK(extents.size < kNarrowSize, "sort: a dimension of 2^32 elements or more is not supported, got ",
              extents.size);
  dispatch_ordered_types(self.dtype(), "sort", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* sorted = values.data_ptr<scalar_t>();
    int64_t* places = indices.data_ptr<int64_t>();
    const int64_t grain = std::max<int64_t>(1, kGrainSize / 16 / std::max<int64_t>(1, extents.size));
    parallel_for(0, extents.outer * extents.inner, grain, [&](int64_t first, int64_t last) {
      SortBuffers<scalar_t> buffers;
      for (int64_t row = first; row < last; ++row) {
        const int64_t outer = row / extents.inner;
        const int64_t inner = row % extents.inner;
        const scalar_t* data = from + outer * extents.size * extents.inner + inner;
        const int64_t target = outer * count * extents.inner + inner;
        order(buffers, data, extents.size, extents.inner);
        buffers.store(sorted + target, places + target, data, count, extents.inner, extents.inner);
      }
    });
  });
}

}  // namespace

void sort_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim,
                 bool descending) {
  for_each_sorted_row(values, indices, self, dim, [&](auto& buffers, const auto* row, int64_t size, int64_t stride) {
    buffers.load(row, size, stride, descending);
    if (size < kRadixSize) {
      std::sort(buffers.items.begin(), buffers.items.end());
    } else {
      radix_sort(buffers.items, buffers.spare);
    }
  });
}

// The lower one of the two in the middle; the first NaN of a row that has one.
void median_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  for_each_sorted_row(values, indices, self, dim, [](auto& buffers, const auto* row, int64_t size, int64_t stride) {
    int64_t first_nan = 0;
    while (first_nan < size && row[first_nan * stride] == row[first_nan * stride]) ++first_nan;
    if (first_nan < size) {
      buffers.items.assign(1, {0, first_nan});
    } else {
      buffers.items.assign(1, buffers.select_one(row, size, stride, (size - 1) / 2));
    }
  });
}

void select_in_order(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, int64_t place) {
  for_each_sorted_row(values, indices, self, dim, [&](auto& buffers, const auto* row, int64_t size, int64_t stride) {
    buffers.items.assign(1, buffers.select_one(row, size, stride, place));
  });
}

void topk_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool largest,
                 bool sorted) {
  const int64_t count = values.sizes()[dim];
  for_each_sorted_row(values, indices, self, dim, [&](auto& buffers, const auto* row, int64_t size, int64_t stride) {
    // Of equal elements those are found that PyTorch finds, by the same steps: the numbers alone are compared.
    const auto is_before = [](const auto& a, const auto& b) { return a.key() < b.key(); };
    auto& items = buffers.items;
    if (count == 0) return;
    if (count * 64 <= size) {
      buffers.select_few(row, size, stride, largest, count, is_before);
    } else {
      buffers.load(row, size, stride, largest);
      std::nth_element(items.begin(), items.begin() + count - 1, items.end(), is_before);
      if (sorted) std::sort(items.begin(), items.begin() + count - 1, is_before);
    }
  });
}

}  // namespace at::native::cpu
