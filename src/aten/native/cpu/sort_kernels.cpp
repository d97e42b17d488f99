// Sorting along one dimension, and what stands at a place of the order.

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
    const uint32_t nan = -static_cast<uint32_t>(value != value);
    value += 0.0f;
    std::memcpy(&bits, &value, sizeof(bits));
    // Without a branch: signs are not foreseen.
    return nan | (bits ^ (static_cast<uint32_t>(-static_cast<int32_t>(bits >> 31)) | 0x80000000u));
  } else if constexpr (std::is_same_v<T, double>) {
    uint64_t bits;
    const uint64_t nan = -static_cast<uint64_t>(value != value);
    value += 0.0;
    std::memcpy(&bits, &value, sizeof(bits));
    return nan | (bits ^ (static_cast<uint64_t>(-static_cast<int64_t>(bits >> 63)) | uint64_t{1} << 63));
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

// Sorts by one byte of the key after another, from the lowest; bytes that are the same in every key cost nothing.
// Returns where the sorted items are, in `items` or in `buffer`.
NarrowItem* radix_sort(NarrowItem* items, NarrowItem* buffer, size_t size) {
  uint64_t all = ~uint64_t{0};
  uint64_t any = 0;
  for (size_t i = 0; i < size; ++i) {
    all &= items[i].key();
    any |= items[i].key();
  }
  for (int shift = 0; shift < 32; shift += 8) {
    const uint64_t varied = (all ^ any) >> shift & 0xff;
    if (varied == 0) continue;
    uint64_t mask = 1;  // bits above are alike
    while (mask < varied) mask = 2 * mask + 1;
    size_t places[256];
    std::fill_n(places, mask + 1, size_t{0});
    for (size_t i = 0; i < size; ++i) ++places[items[i].key() >> shift & mask];
    size_t place = 0;
    for (uint64_t digit = 0; digit <= mask; ++digit) {
      const size_t count = places[digit];
      places[digit] = place;
      place += count;
    }
    for (size_t i = 0; i < size; ++i) buffer[places[items[i].key() >> shift & mask]++] = items[i];
    std::swap(items, buffer);
  }
  return items;
}

constexpr int64_t kFewItems = 32;                  // are ordered without a branch, which would be foreseen wrongly,
constexpr int64_t kFewSelected = 16;               // also where only some of them are asked for
constexpr int64_t kRadixSize = 200;                // fewer elements are compared with each other
constexpr int64_t kByteRadixSize = 32;             // of one byte
constexpr int64_t kSelectSize = 1000;              // fewer are compared to find one of them
constexpr int64_t kNarrowSize = int64_t{1} << 32;  // positions that a narrow item holds

// Narrow items in order, and memory for sorting them.
struct SortedItems {
  std::vector<NarrowItem> sorted;
  std::vector<NarrowItem> spare;

  // Some of them, which stay where they are, unless these are all: then they may change places with `spare`.
  void sort_items(size_t begin, size_t end, size_t few) {
    NarrowItem* const items = sorted.data() + begin;
    if (end - begin < few) return std::sort(items, sorted.data() + end);
    spare.resize(sorted.size());
    NarrowItem* const found = radix_sort(items, spare.data() + begin, end - begin);
    if (found == items) return;
    if (end - begin == sorted.size()) sorted.swap(spare);
    else std::copy_n(found, end - begin, items);
  }
};

// Memory that the rows of one thread share.
template <typename T>
struct SortBuffers : SortedItems {
  using Key = decltype(sort_key(T()));
  using Item = std::conditional_t<sizeof(Key) == 4, NarrowItem, WideItem>;
  static constexpr int kDigitBits = 11;
  std::vector<Item> items;
  std::vector<Key> keys;
  Item few[kFewItems];

  // Elements are `stride` apart. Equal keys keep their order, because items are ordered by index too.
  void load(const T* row, int64_t size, int64_t stride, bool descending) {
    const Key flip = descending ? static_cast<Key>(~Key{0}) : Key{0};
    items.resize(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) items[i] = Item(static_cast<Key>(sort_key(row[i * stride]) ^ flip), i);
  }
  // No more than kFewItems in order: the place of each is how many come before it. Keys have 64 bits, as vectors of so
  // few, which compilers would make of 32, take longer.
  C10_NOINLINE const Item* sort_few(const T* row, int64_t size, int64_t stride, bool descending) {
    const Key flip = descending ? static_cast<Key>(~Key{0}) : Key{0};
    if (size == 2) return sort_number<2>(row, stride, flip);
    if (size == 3) return sort_number<3>(row, stride, flip);
    if (size == 4) return sort_number<4>(row, stride, flip);
    uint64_t own[kFewItems];
    int64_t places[kFewItems];
    for (int64_t i = 0; i < size; ++i) {
      const uint64_t key = static_cast<Key>(sort_key(row[i * stride]) ^ flip);
      int64_t place = i;
      for (int64_t j = 0; j < i; ++j) {
        const bool is_before = key < own[j];
        places[j] += is_before;
        place -= is_before;
      }
      own[i] = key;
      places[i] = place;
    }
    for (int64_t i = 0; i < size; ++i) few[places[i]] = Item(own[i], i);
    return few;
  }
  // The same of so few that registers hold them.
  template <int kSize>
  const Item* sort_number(const T* row, int64_t stride, Key flip) {
    Key own[kSize];
    int64_t places[kSize];
#pragma GCC unroll 4
    for (int i = 0; i < kSize; ++i) {
      own[i] = static_cast<Key>(sort_key(row[i * stride]) ^ flip);
      places[i] = i;
#pragma GCC unroll 4
      for (int j = 0; j < i; ++j) {
        const bool is_before = own[i] < own[j];
        places[j] += is_before;
        places[i] -= is_before;
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kSize; ++i) few[places[i]] = Item(own[i], i);
    return few;
  }
  // All in order, in `sorted`: by the 32 highest bits of their distances from the first one, then those of one kind by
  // what is below.
  void sort(const T* row, int64_t size, int64_t stride, bool descending) {
    if constexpr (std::is_same_v<T, bool>) return sort_in_two(row, size, stride, descending);
    const Key flip = descending ? static_cast<Key>(~Key{0}) : Key{0};
    Key first = 0;
    const auto key_of = [&](int64_t i) -> Key { return (sort_key(row[i * stride]) ^ flip) - first; };
    uint64_t varied = 0;
    int shift = 0;
    if constexpr (sizeof(Key) == 8) {
      Key least = ~Key{0};
      Key greatest = 0;
      for (int64_t i = 0; i < size; ++i) {
        least = std::min(least, key_of(i));
        greatest = std::max(greatest, key_of(i));
      }
      first = least;
      while ((greatest - least) >> shift > 0xffffffffu) ++shift;
    }
    sorted.resize(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) {
      const Key key = key_of(i);
      varied |= key;
      sorted[static_cast<size_t>(i)] = NarrowItem(key >> shift, i);
    }
    constexpr size_t kFew = sizeof(T) == 1 ? kByteRadixSize : kRadixSize;
    sort_items(0, sorted.size(), kFew);
    const uint64_t below = (uint64_t{1} << shift) - 1;
    if ((varied & below) == 0) return;
    for (size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
      for (++end; end < sorted.size() && sorted[end].key() == sorted[begin].key();) ++end;
      if (end - begin == 1) continue;
      for (size_t i = begin; i < end; ++i) {
        const int64_t index = sorted[i].index();
        sorted[i] = NarrowItem(key_of(index) & below, index);
      }
      sort_items(begin, end, kFew);
    }
  }
  // Of two kinds.
  void sort_in_two(const bool* row, int64_t size, int64_t stride, bool descending) {
    sorted.resize(static_cast<size_t>(size));
    NarrowItem* next[2] = {sorted.data(), sorted.data()};
    for (int64_t i = 0; i < size; ++i) next[1] += row[i * stride] == descending;
    for (int64_t i = 0; i < size; ++i) {
      const bool is_late = row[i * stride] != descending;
      *next[is_late]++ = NarrowItem(is_late, i);
    }
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
  // Where the first NaN of a row is, or its size.
  static int64_t find_nan(const T* row, int64_t size, int64_t stride) {
    constexpr int64_t kBlock = 32;
    if (!std::is_floating_point_v<T> && !c10::is_reduced_floating_v<T>) return size;
    int64_t i = 0;
    for (int found = 0; stride == 1 && i + kBlock <= size; i += kBlock) {
      for (int64_t j = i; j < i + kBlock; ++j) found |= row[j] != row[j];
      if (found != 0) break;
    }
    while (i < size && row[i * stride] == row[i * stride]) ++i;
    return i;
  }
  // The item that would stand at `place` in order. Of many elements those are kept whose leading bits are the ones
  // that it must have, by their counts, until few are left.
  C10_NOINLINE Item select_one(const T* row, int64_t size, int64_t stride, int64_t place) {
    if (size == 2) {
      const Key first = sort_key(row[0]);
      const Key second = sort_key(row[stride]);
      const bool is_second = (second < first) != (place == 1);
      return Item(is_second ? second : first, is_second);
    }
    if (size <= kFewSelected) return sort_few(row, size, stride, /*descending=*/false)[place];
    if (size < kSelectSize) {
      load(row, size, stride, /*descending=*/false);
    } else {
      keys.resize(static_cast<size_t>(size));
      Key all = static_cast<Key>(~Key{0});
      Key any = 0;
      for (int64_t i = 0; i < size; ++i) {
        const Key key = sort_key(row[i * stride]);
        keys[static_cast<size_t>(i)] = key;
        all &= key;
        any |= key;
      }
      int bits = 0;  // up to the highest one in which keys differ
      for (Key varied = all ^ any; varied != 0; varied = static_cast<Key>(varied >> 1)) ++bits;
      int shift = std::max(0, bits - kDigitBits);
      items.clear();
      const Key* const key_at = keys.data();
      keep_digit(
          size, shift, place, [=](int64_t i) { return key_at[i]; }, [=](int64_t i) { return Item(key_at[i], i); });
      while (static_cast<int64_t>(items.size()) >= kSelectSize && shift > 0) {
        shift = std::max(0, shift - kDigitBits);
        const auto item_at = [&](int64_t i) { return items[static_cast<size_t>(i)]; };
        const auto key_of = [&](int64_t i) { return item_at(i).key(); };
        keep_digit(static_cast<int64_t>(items.size()), shift, place, key_of, item_at);
      }
      if (shift == 0) return items[static_cast<size_t>(place)];  // equals, in their order
    }
    const auto chosen = items.begin() + place;
    std::nth_element(items.begin(), chosen, items.end());
    return *chosen;
  }
  static size_t digit_of(uint64_t key, int shift) { return key >> shift & ((1 << kDigitBits) - 1); }
  // Keeps the items that have the digit of the one at `place` in order, which becomes that among them.
  template <typename KeyAt, typename ItemAt>
  void keep_digit(int64_t count, int shift, int64_t& place, const KeyAt& key_at, const ItemAt& item_at) {
    uint32_t even[1 << kDigitBits] = {};  // two, because neighbours are often alike
    uint32_t odd[1 << kDigitBits] = {};
    int64_t i = 0;
    for (; i + 1 < count; i += 2) {
      ++even[digit_of(key_at(i), shift)];
      ++odd[digit_of(key_at(i + 1), shift)];
    }
    if (i < count) ++even[digit_of(key_at(i), shift)];
    size_t digit = 0;
    const auto number = [&] { return int64_t{even[digit]} + odd[digit]; };
    for (; place >= number(); ++digit) place -= number();
    items.resize(std::max(items.size(), static_cast<size_t>(number() + 1)));
    Item* const kept_items = items.data();
    size_t kept = 0;
    for (i = 0; i < count; ++i) {  // without a branch, which would often be foreseen wrongly
      const auto key = key_at(i);
      kept_items[kept] = item_at(i);
      kept += digit_of(key, shift) == digit;
    }
    items.resize(kept);
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
  template <typename AnyItem>
  static void store(const AnyItem* chosen, T* values, int64_t* indices, const T* row, int64_t count,
                    int64_t stride) {
    for (int64_t i = 0; i < count; ++i) {
      indices[i * stride] = chosen[i].index();
      values[i * stride] = row[chosen[i].index() * stride];
    }
  }
};

}  // namespace

namespace {

// order(buffers, row, size, stride, store) has the first items of each row stored, in their order.
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
      const int64_t stride = extents.inner;
      int64_t outer = first / stride;
      int64_t inner = first % stride;
      for (int64_t row = first; row < last; ++row) {
        const scalar_t* data = from + outer * extents.size * stride + inner;
        const int64_t target = outer * count * stride + inner;
        order(buffers, data, extents.size, stride, [&](const auto* chosen) {
          buffers.store(chosen, sorted + target, places + target, data, count, stride);
        });
        if (++inner < stride) continue;
        inner = 0;
        ++outer;
      }
    });
  });
}

}  // namespace

void sort_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim,
                 bool descending) {
  const auto sort = [=](auto& buffers, const auto* row, int64_t size, int64_t stride, const auto& store) {
    constexpr bool kAreOfTwo = std::is_same_v<std::decay_t<decltype(*row)>, bool>;
    if (!kAreOfTwo && size <= kFewItems) return store(buffers.sort_few(row, size, stride, descending));
    buffers.sort(row, size, stride, descending);
    store(buffers.sorted.data());
  };
  for_each_sorted_row(values, indices, self, dim, sort);
}

// The lower one of the two in the middle; the first NaN of a row that has one.
void median_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  const auto select = [](auto& buffers, const auto* row, int64_t size, int64_t stride, const auto& store) {
    const int64_t first_nan = buffers.find_nan(row, size, stride);
    const bool has_nan = first_nan < size;
    const auto item = has_nan ? typename std::decay_t<decltype(buffers)>::Item(0, first_nan)
                              : buffers.select_one(row, size, stride, (size - 1) / 2);
    store(&item);
  };
  for_each_sorted_row(values, indices, self, dim, select);
}

void find_nanmedian(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  const auto select = [](auto& buffers, const auto* row, int64_t size, int64_t stride, const auto& store) {
    int64_t numbers = 0;
    for (int64_t i = 0; i < size; ++i) numbers += row[i * stride] == row[i * stride];
    const auto item = buffers.select_one(row, size, stride, std::max<int64_t>(0, (numbers - 1) / 2));
    store(&item);
  };
  for_each_sorted_row(values, indices, self, dim, select);
}

void select_in_order(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, int64_t place) {
  const auto select = [=](auto& buffers, const auto* row, int64_t size, int64_t stride, const auto& store) {
    const auto item = buffers.select_one(row, size, stride, place);
    store(&item);
  };
  for_each_sorted_row(values, indices, self, dim, select);
}

void topk_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool largest,
                 bool sorted) {
  const int64_t count = values.sizes()[dim];
  const auto select = [=](auto& buffers, const auto* row, int64_t size, int64_t stride, const auto& store) {
    // Of equal elements those are found that PyTorch finds, by the same steps: the numbers alone are compared.
    const auto is_before = [](const auto& a, const auto& b) { return a.key() < b.key(); };
    auto& items = buffers.items;
    if (count == 0) return;
    if (sorted && size <= kFewSelected) {
      const auto* const few = buffers.sort_few(row, size, stride, largest);
      bool has_equals = false;
      for (int64_t i = 1; i < size && !has_equals; ++i) has_equals = few[i - 1].key() == few[i].key();
      constexpr int64_t kSortedAnyway = 3;  // elements that std::nth_element brings in order, too
      if (!has_equals || size <= kSortedAnyway) return store(few);
    }
    if (count * 64 <= size) {
      buffers.select_few(row, size, stride, largest, count, is_before);
    } else {
      buffers.load(row, size, stride, largest);
      std::nth_element(items.begin(), items.begin() + count - 1, items.end(), is_before);
      if (sorted) std::sort(items.begin(), items.begin() + count - 1, is_before);
    }
    store(items.data());
  };
  for_each_sorted_row(values, indices, self, dim, select);
}

}  // namespace at::native::cpu
