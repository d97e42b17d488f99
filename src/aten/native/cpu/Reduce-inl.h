// The three ways through a reduction, included once per instruction set (by files that use
// hwy/foreach_target.h).
//
// An operation has: `identity()`, `combine(T, T)`, and `step(d, accumulator, values)` on Highway vectors where
// kVectorised. Partial results are combined as a tree of fixed shape, so that sums of floats stay accurate and do
// not depend on the number of threads. A mean is a sum whose plan says so: it costs no code of its own.

#if defined(TORCH_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_REDUCE_INL_H_
#undef TORCH_REDUCE_INL_H_
#else
#define TORCH_REDUCE_INL_H_
#endif

#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/ReducePlan.h>
#include <aten/native/cpu/ReducedElements-inl.h>

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Elements of a row that are added up before the tree begins, with vectors of 64 bytes: 16 floats per accumulator.
constexpr int64_t kRunBlock = 1024;
// Columns that are reduced side by side, 2 KiB of them where 256 are less; rows that make one partial result, in groups
// of groups.
constexpr int64_t kColumnBlock = 256;
template <typename T>
constexpr int64_t kColumnsOf = std::max<int64_t>(kColumnBlock, 2048 / sizeof(T));
constexpr int64_t kNarrow = 128;  // fewer columns than half of this are widened
constexpr int64_t kRowGroup = 16;
constexpr int64_t kRowSection = 256;
constexpr int64_t kRowChunk = 4096;
constexpr int64_t kShortRow = 16;  // fewer elements fill no vectors
// A row that any vectors reduce as one block.
constexpr int64_t kPlainRow = 256;
// Length of the parts that a long row is given out in.
constexpr int64_t kRunChunk = 65536;

// Rows that are converted before they are added up.
constexpr int64_t kConvertedRows = 4;

// What reads float16 and bfloat16 without a conversion in between: sums and extremes.
template <typename Op, typename T>
constexpr bool kWidens = std::is_same_v<T, float> && Op::identity() != T(1);

// What is as good in whatever order it is computed: all but sums that are rounded.
template <typename Op, typename T>
constexpr bool kIsOrderFree = std::is_integral_v<T> || !Op::kIsSum;

// The last step. The mean of nothing is NaN.
template <typename T>
T finish(const ReducePlan& plan, T total) {
  if constexpr (c10::is_complex_v<T>) {
    const auto number = static_cast<Lane<T>>(plan.count);
    if (plan.mean) return {total.real() / number, total.imag() / number};
  } else if constexpr (std::is_floating_point_v<T>) {
    if (plan.mean) return total / static_cast<T>(plan.count);
  }
  return total;
}

template <typename T>
HWY_NOINLINE HWY_ATTR void finish_all(const ReducePlan& plan, const T* totals, int64_t count, char* out, int64_t step) {
  if (step != sizeof(T) || c10::is_complex_v<T>) {
    for (int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(out + i * step) = finish(plan, totals[i]);
    return;
  }
  auto* const dense = reinterpret_cast<T*>(out);
  if constexpr (std::is_floating_point_v<T>) {
    if (plan.mean) {
      const auto number = static_cast<T>(plan.count);
      TORCH_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) dense[i] = totals[i] / number;
      return;
    }
  }
  std::copy_n(totals, count, dense);
}

// Memory for elements that is not filled first, as arrays of complex numbers would be.
template <typename T, int64_t kCount>
struct Scratch {
  Scratch() {}
  operator T*() { return reinterpret_cast<T*>(bytes); }
  HWY_ALIGN unsigned char bytes[kCount * sizeof(T)];
};

// The lower half with the upper one, until one number is left.
template <typename Op, typename T, size_t kLanes, typename D, typename V>
HWY_ATTR T combine_lanes_of([[maybe_unused]] D d, V values) {
#if HWY_TARGET == HWY_SCALAR
  return hn::GetLane(values);
#else
  if constexpr (kLanes == kLanesOf<T>) {
    if constexpr (kLanes == 1) {
      return hn::GetLane(values);
    } else {
      HWY_ALIGN hn::TFromD<D> parts[hn::MaxLanes(d)];
      hn::Store(values, d, parts);
      return {parts[0], parts[1]};
    }
  } else if constexpr (kLanes * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half;
    return combine_lanes_of<Op, T, kLanes / 2>(
        half, Op::step(half, hn::LowerHalf(half, values), hn::UpperHalf(half, values)));
  } else {
    return combine_lanes_of<Op, T, kLanes / 2>(d, Op::step(d, values, hn::ShiftRightLanes<kLanes / 2>(d, values)));
  }
#endif
}
template <typename Op, typename T, typename D, typename V>
HWY_ATTR T combine_lanes(D d, V values) {
  return combine_lanes_of<Op, T, hn::MaxLanes(d)>(d, values);
}

// A vector of what changes nothing.
template <typename Op, typename T, typename D>
HWY_INLINE HWY_ATTR hn::Vec<D> set_identity(D d) {
  if constexpr (c10::is_complex_v<T>) {
    constexpr T identity = Op::identity();
    return hn::OddEven(hn::Set(d, identity.imag()), hn::Set(d, identity.real()));
  } else {
    return hn::Set(d, Op::identity());
  }
}

// Elements that lie side by side, no more than a block of them.
template <typename Op, typename T, ElementMap kMap = ElementMap::none, typename From>
HWY_ATTR T reduce_block(const From* data, int64_t count) {
  [[maybe_unused]] constexpr int64_t kApart = 8;
  T result = Op::identity();
  int64_t i = 0;
  if constexpr (Op::kVectorised) {
    const hn::ScalableTag<Lane<T>> d;
    const auto width = static_cast<int64_t>(hn::Lanes(d));
    const int64_t lanes = width / kLanesOf<T>;
    if (count >= lanes) {
      const auto identity = set_identity<Op, T>(d);
      const auto load = [&](int64_t from) HWY_ATTR {
        return map_vector<kMap>(d, load_stored(d, lanes_at(data + from)));
      };
      auto first = identity;
      if (count >= 4 * lanes) {
        auto second = identity;
        auto third = identity;
        auto fourth = identity;
        for (; i + 4 * lanes <= count; i += 4 * lanes) {
          first = Op::step(d, first, load(i));
          second = Op::step(d, second, load(i + lanes));
          third = Op::step(d, third, load(i + 2 * lanes));
          fourth = Op::step(d, fourth, load(i + 3 * lanes));
        }
        first = Op::step(d, Op::step(d, first, second), Op::step(d, third, fourth));
      }
      for (; i + lanes <= count; i += lanes) first = Op::step(d, first, load(i));
      if constexpr (sizeof(From) >= 4) {  // others have no loads by mask
        if (i < count) {
          const int64_t rest = (count - i) * kLanesOf<T>;
          const auto mask = hn::FirstN(d, static_cast<size_t>(rest));
          const auto values = map_vector<kMap>(d, hn::MaskedLoad(mask, d, lanes_at(data + i)));
          first = Op::step(d, first, hn::IfThenElse(mask, values, identity));
          i = count;
        }
      } else if constexpr (std::is_same_v<From, c10::Half>) {  // whose conversion one by one takes long
        if (i < count) {
          const auto are_done = hn::FirstN(d, static_cast<size_t>(lanes - (count - i)));
          first = Op::step(d, first, hn::IfThenElse(are_done, identity, load(count - lanes)));
          i = count;
        }
      }
      result = combine_lanes<Op, T>(d, first);
    }
  } else if (count >= 2 * kApart) {  // no operation waits for the one before
    T apart[kApart];
    for (int64_t j = 0; j < kApart; ++j) apart[j] = static_cast<T>(data[j]);
    for (i = kApart; i + kApart <= count; i += kApart) {
      for (int64_t j = 0; j < kApart; ++j) apart[j] = Op::combine(apart[j], static_cast<T>(data[i + j]));
    }
    for (const T part : apart) result = Op::combine(result, part);
  }
  for (; i < count; ++i) result = Op::combine(result, map_element<kMap>(static_cast<T>(data[i])));
  return result;
}

// A row of `count` elements.
template <typename Op, typename T>
HWY_ATTR T reduce_run(const Elements<T>& elements, int64_t count) {
  // Narrower vectors take shorter blocks, so that as few numbers go into an accumulator as with wide ones.
  const auto vector_bytes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<uint8_t>()));
  const int64_t block = std::min(kRunBlock, kRunBlock * vector_bytes / 64);
  if (kIsOrderFree<Op, T> && elements.map == ElementMap::none) {
    if (const auto* data = elements.template in_place<T>()) return reduce_block<Op, T>(data, count);
  }
  if (count > block) {
    const int64_t half = (count / 2 + block - 1) / block * block;
    const T lower = reduce_run<Op>(elements, half);  // first: memory is read in its order
    return Op::combine(lower, reduce_run<Op>(elements.from_place(half), count - half));
  }
  const auto reduce_mapped = [&](const auto* data) HWY_ATTR {
    if constexpr (Op::kIsSum && std::is_floating_point_v<T>) {
      return with_map(elements.map, [&](auto kind) HWY_ATTR {
        return reduce_block<Op, T, decltype(kind)::value>(data, count);
      });
    } else {
      return reduce_block<Op, T>(data, count);
    }
  };
  if constexpr (kWidens<Op, T>) {
    if (const auto* data = elements.template in_place<c10::BFloat16>()) return reduce_mapped(data);
    if (const auto* data = elements.template in_place<c10::Half>()) return reduce_mapped(data);
  }
  if (const auto* data = elements.template in_place<T>()) return reduce_mapped(data);
  Scratch<T, kRunBlock> buffer;
  return reduce_block<Op, T>(elements.read(count, buffer), count);
}

template <typename Op, typename T>
HWY_ATTR T reduce_run(const T* data, int64_t count) {
  return reduce_run<Op>(Elements<T>{reinterpret_cast<const char*>(data), sizeof(T), nullptr, ElementMap::none}, count);
}

// Values that come one after another, combined as a tree: a level passes its result on after kRowGroup
// values.
template <typename Op, typename T>
class Cascade {
 public:
  HWY_ATTR void add(T value) {
    levels_[0] = Op::combine(levels_[0], value);
    ++added_;
    for (int level = 0; level + 1 < kLevels && added_ % (int64_t{1} << (6 * (level + 1))) == 0; ++level) {
      levels_[level + 1] = Op::combine(levels_[level + 1], levels_[level]);
      levels_[level] = Op::identity();
    }
  }
  HWY_ATTR T result() const {
    T total = levels_[0];
    for (int level = 1; level < kLevels; ++level) total = Op::combine(total, levels_[level]);
    return total;
  }

 private:
  static constexpr int kLevels = 4;
  T levels_[kLevels] = {Op::identity(), Op::identity(), Op::identity(), Op::identity()};
  int64_t added_ = 0;
};

// Two numbers, without the branch that compilers make of a choice between floats.
template <typename Op, typename T>
HWY_INLINE HWY_ATTR T combine_two(T a, T b) {
  if constexpr (std::is_floating_point_v<T> && !Op::kIsSum) {
    const hn::CappedTag<T, 1> d;
    return hn::GetLane(Op::step(d, hn::Set(d, a), hn::Set(d, b)));
  } else {
    return Op::combine(a, b);
  }
}

// Short rows that follow each other without gaps, a block of them at a time: between rows nothing is decided.
template <typename Op, typename T>
HWY_ATTR void reduce_short_rows(const ReducePlan& plan) {
  const int64_t length = plan.count;
  const int64_t at_once = kRunBlock / length;
  const int64_t blocks = (plan.outputs + at_once - 1) / at_once;
  parallel_for(0, blocks, std::max<int64_t>(1, kGrainSize / kRunBlock), [&](int64_t first, int64_t last) HWY_ATTR {
    Scratch<T, kRunBlock> buffer, sums;
    T* const totals = sums;
    for (int64_t block = first; block < last; ++block) {
      const int64_t top = block * at_once;
      const int64_t rows = std::min(at_once, plan.outputs - top);
      const T* data = elements_at<T>(plan, top * length * plan.item, plan.item).read(rows * length, buffer);
      if (length >= kShortRow) {
        for (int64_t row = 0; row < rows; ++row) totals[row] = reduce_block<Op, T>(data + row * length, length);
      } else {  // two columns at a time of all rows: a loop as short as a row costs more than what it does
        std::fill_n(totals, rows, Op::identity());
        int64_t i = 0;
        for (; i + 2 <= length; i += 2) {
          const T* from = data + i;
          for (int64_t row = 0; row < rows; ++row, from += length)
            totals[row] = combine_two<Op>(combine_two<Op>(totals[row], from[0]), from[1]);
        }
        for (const T* from = data + i; i < length; ++i) {
          for (int64_t row = 0; row < rows; ++row, from += length) totals[row] = combine_two<Op>(totals[row], *from);
        }
      }
      const int64_t step = plan.kept_out_strides[0];
      finish_all(plan, totals, rows, plan.out + top * step, step);
    }
  });
}

// The fastest dimension is reduced and its elements lie next to each other.
template <typename Op, typename T>
HWY_ATTR void reduce_rows(const ReducePlan& plan) {
  const int64_t length = plan.reduced_sizes[0];
  const int64_t runs = plan.count / length;
  if (plan.outputs == 1 && plan.count > kRunChunk && length >= kRunBlock) {
    // One long result: parts of fixed length for the threads.
    const int64_t chunks = (length + kRunChunk - 1) / kRunChunk;
    std::vector<T> partial(static_cast<size_t>(runs * chunks));
    parallel_for(0, runs * chunks, 1, [&](int64_t first, int64_t last) {
      for (int64_t unit = first; unit < last; ++unit) {
        const int64_t start = unit % chunks * kRunChunk;
        const auto run = elements_at<T>(plan, plan.reduced_offset(unit / chunks, 1), plan.item);
        partial[unit] = reduce_run<Op>(run.from_place(start), std::min(kRunChunk, length - start));
      }
    });
    *reinterpret_cast<T*>(plan.out) = finish(plan, reduce_run<Op>(partial.data(), runs * chunks));
    return;
  }
  // Short rows are read where they lie; a call and a look at what they are would take longer than their elements.
  const bool is_plain = !plan.conversion && plan.map == ElementMap::none && length <= kPlainRow;
  const bool is_matrix = runs == 1 && plan.kept_sizes.size() == 1;
  parallel_for(
      0, plan.outputs, std::max<int64_t>(1, kGrainSize / plan.count), [&](int64_t first, int64_t last) HWY_ATTR {
        const auto reduce_row = [&](int64_t offset) HWY_ATTR {
          if (is_plain) return reduce_block<Op, T>(reinterpret_cast<const T*>(plan.in + offset), length);
          return reduce_run<Op>(elements_at<T>(plan, offset, plan.item), length);
        };
        for (int64_t i = first; i < last; ++i) {
          int64_t out_offset;
          int64_t in_offset;
          if (is_matrix) {
            out_offset = i * plan.kept_out_strides[0];
            in_offset = i * plan.kept_strides[0];
          } else {
            plan.kept_offsets(i, 0, out_offset, in_offset);
          }
          T total;
          if (runs == 1) {
            total = reduce_row(in_offset);
          } else {
            Cascade<Op, T> cascade;
            for (int64_t run = 0; run < runs; ++run) cascade.add(reduce_row(in_offset + plan.reduced_offset(run, 1)));
            total = cascade.result();
          }
          *reinterpret_cast<T*>(plan.out + out_offset) = finish(plan, total);
        }
      });
}

// into[i] = combine(into[i], each of from[..][i] in turn), with the sums in registers; where `apart` the rows are
// combined with each other first.
template <typename Op, typename T, typename From>
HWY_NOINLINE HWY_ATTR void combine_rows(T* HWY_RESTRICT into, const From* const* from, int64_t rows, int64_t columns,
                                        bool apart) {
  int64_t i = 0;
  if constexpr (Op::kVectorised) {
    const hn::ScalableTag<Lane<T>> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)) / kLanesOf<T>;
    const auto identity = set_identity<Op, T>(d);
    const auto load = [&](const From* data) HWY_ATTR { return load_stored(d, lanes_at(data)); };
    const auto begin = [&](int64_t at) HWY_ATTR { return apart ? identity : hn::LoadU(d, lanes_at(into + at)); };
    const auto end = [&](int64_t at, auto sums) HWY_ATTR {
      if (apart) sums = Op::step(d, hn::LoadU(d, lanes_at(into + at)), sums);
      hn::StoreU(sums, d, reinterpret_cast<Lane<T>*>(into + at));
    };
    for (; i + 4 * lanes <= columns; i += 4 * lanes) {
      auto first = begin(i);
      auto second = begin(i + lanes);
      auto third = begin(i + 2 * lanes);
      auto fourth = begin(i + 3 * lanes);
      for (int64_t row = 0; row < rows; ++row) {
        const From* data = from[row] + i;
        first = Op::step(d, first, load(data));
        second = Op::step(d, second, load(data + lanes));
        third = Op::step(d, third, load(data + 2 * lanes));
        fourth = Op::step(d, fourth, load(data + 3 * lanes));
      }
      end(i, first);
      end(i + lanes, second);
      end(i + 2 * lanes, third);
      end(i + 3 * lanes, fourth);
    }
    for (; i + lanes <= columns; i += lanes) {
      auto result = begin(i);
      for (int64_t row = 0; row < rows; ++row) result = Op::step(d, result, load(from[row] + i));
      end(i, result);
    }
  }
  if (!apart) {
    for (int64_t row = 0; row < rows; ++row) {
      const From* HWY_RESTRICT data = from[row];
      for (int64_t j = i; j < columns; ++j) into[j] = Op::combine(into[j], static_cast<T>(data[j]));
    }
    return;
  }
  for (; i < columns; ++i) {
    T result = Op::identity();
    for (int64_t row = 0; row < rows; ++row) result = Op::combine(result, static_cast<T>(from[row][i]));
    into[i] = Op::combine(into[i], result);
  }
}
template <typename Op, typename T>
HWY_ATTR void combine_columns(T* into, const T* from, int64_t columns) {
  combine_rows<Op>(into, &from, 1, columns, /*apart=*/false);
}

// What an operation is to those who reduce columns, so that they stand once for all operations.
template <typename T>
struct Combination {
  template <typename From>
  using Combine = void (*)(T* into, const From* const* from, int64_t rows, int64_t columns, bool apart);

  T identity;
  bool is_order_free;
  Combine<T> rows;
  Combine<c10::BFloat16> bfloat16_rows = nullptr;  // null: they are converted first
  Combine<c10::Half> half_rows = nullptr;

  template <typename From>
  Combine<From> rows_of() const {
    if constexpr (std::is_same_v<From, T>) return rows;
    else if constexpr (std::is_same_v<From, c10::BFloat16>) return bfloat16_rows;
    else return half_rows;
  }
  void columns(T* into, const T* from, int64_t count) const { rows(into, &from, 1, count, /*apart=*/false); }
};
template <typename Op, typename T>
Combination<T> combination_of() {
  if constexpr (kWidens<Op, T>) {
    return {Op::identity(), kIsOrderFree<Op, T>, &combine_rows<Op, T, T>, &combine_rows<Op, T, c10::BFloat16>,
            &combine_rows<Op, T, c10::Half>};
  } else {
    return {Op::identity(), kIsOrderFree<Op, T>, &combine_rows<Op, T, T>};
  }
}

// The fastest dimension stays: rows are added up side by side.
template <typename T>
HWY_ATTR void reduce_columns(const ReducePlan& plan, const Combination<T>& combination) {
  const int64_t columns = plan.kept_sizes[0];
  const int64_t outer = plan.outputs / columns;
  constexpr int64_t kColumns = kColumnsOf<T>;
  const int64_t blocks = (columns + kColumns - 1) / kColumns;
  const int64_t chunks = (plan.count + kRowChunk - 1) / kRowChunk;
  std::vector<T> partial(static_cast<size_t>(chunks > 1 ? chunks * plan.outputs : 0));
  const int64_t unit_work = std::min(columns, kColumns) * std::min(plan.count, kRowChunk);
  const int64_t step = plan.kept_strides[0];
  const bool is_plain = !plan.conversion && plan.map == ElementMap::none && step == sizeof(T);
  const auto lanes = std::max<int64_t>(1, static_cast<int64_t>(hn::Lanes(hn::ScalableTag<Lane<T>>())) / kLanesOf<T>);
  const bool are_rows_dense =
      columns <= kColumns && plan.reduced_sizes.size() == 1 && plan.reduced_strides[0] == columns * step;
  const char* const data_end = plan.data_end();
  parallel_for(
      0, outer * blocks * chunks, std::max<int64_t>(1, kGrainSize / unit_work),
      [&](int64_t first, int64_t last) {
        Scratch<T, kColumns> sums_of_group, sums_of_section, sums_of_all;
        Scratch<T, kConvertedRows * kColumns> collected;
        T* const group = sums_of_group;
        T* const section = sums_of_section;
        for (int64_t unit = first; unit < last; ++unit) {
          const int64_t chunk = unit % chunks;
          const int64_t start = unit / chunks % blocks * kColumns;
          const int64_t position = unit / chunks / blocks;
          const int64_t width = std::min(kColumns, columns - start);
          // With what follows, whose sums nobody reads: whole vectors.
          const int64_t whole = chunks > 1 ? width : (width + lanes - 1) / lanes * lanes;
          int64_t out_offset;
          int64_t in_offset;
          plan.kept_offsets(position, 1, out_offset, in_offset);
          in_offset += start * step;
          T* const total = chunks > 1 ? partial.data() + chunk * plan.outputs + position * columns + start
                                      : static_cast<T*>(sums_of_all);
          std::fill_n(total, whole, combination.identity);
          const int64_t end = std::min(plan.count, (chunk + 1) * kRowChunk);
          const bool are_groups = plan.count > kRowGroup && !combination.is_order_free;
          // The rows of a group, at once where they need no other place.
          const auto add_rows = [&](int64_t top, int64_t group_end, T* sums) HWY_ATTR {
            const auto add_in_place = [&](auto element) HWY_ATTR {
              using Stored = decltype(element);
              const Stored* rows[kRowGroup];
              const char* const data = plan.in + in_offset;
              const int64_t count = group_end - top;
              const Stored* highest = nullptr;
              for (int64_t i = 0; i < count; ++i) {
                const int64_t offset =
                    plan.reduced_sizes.size() == 1 ? (top + i) * plan.reduced_strides[0] : plan.reduced_offset(top + i);
                rows[i] = reinterpret_cast<const Stored*>(data + offset);
                highest = std::max(highest, rows[i]);
              }
              const bool goes_on = reinterpret_cast<const char*>(highest + whole) <= data_end;
              combination.template rows_of<Stored>()(sums, rows, count, goes_on ? whole : width, are_groups);
            };
            if (is_plain) return add_in_place(T());
            if constexpr (std::is_same_v<T, float>) {
              const auto elements = elements_at<T>(plan, 0, step);
              const bool widens = combination.half_rows && plan.map == ElementMap::none;
              if (widens && elements.template in_place<c10::BFloat16>()) return add_in_place(c10::BFloat16());
              if (widens && elements.template in_place<c10::Half>()) return add_in_place(c10::Half());
            }
            T* const converted = are_groups ? group : sums;
            if (are_groups) std::fill_n(group, whole, combination.identity);
            const int64_t at_once = are_rows_dense ? kConvertedRows * kColumns / whole : kConvertedRows;
            for (int64_t i = top, count; i < group_end; i += count) {
              count = std::min({at_once, kRowGroup, group_end - i});
              const T* rows[kRowGroup];
              const int64_t parts = are_rows_dense ? 1 : count;
              const int64_t apart = are_rows_dense ? width : kColumns;
              for (int64_t j = 0; j < parts; ++j) {
                elements_at<T>(plan, in_offset + plan.reduced_offset(i + j), step)
                    .read(count / parts * width, collected + j * apart);
              }
              for (int64_t j = 0; j < count; ++j) rows[j] = collected + j * apart;
              combination.rows(converted, rows, count, whole, /*apart=*/false);
            }
            if (are_groups) combination.columns(sums, group, width);
          };
          if (!are_groups) {
            for (int64_t top = chunk * kRowChunk; top < end; top += kRowGroup)
              add_rows(top, std::min(end, top + kRowGroup), total);
          } else {
            for (int64_t first_row = chunk * kRowChunk; first_row < end; first_row += kRowSection) {
              const int64_t section_end = std::min(end, first_row + kRowSection);
              std::fill_n(section, whole, combination.identity);
              for (int64_t top = first_row; top < section_end; top += kRowGroup) {
                add_rows(top, std::min(section_end, top + kRowGroup), section);
              }
              combination.columns(total, section, width);
            }
          }
          const int64_t out_step = plan.kept_out_strides[0];
          if (chunks == 1) finish_all(plan, total, width, plan.out + out_offset + start * out_step, out_step);
        }
      });
  if (chunks == 1) return;
  for (int64_t apart = 1; apart < chunks; apart *= 2) {
    for (int64_t chunk = 0; chunk + apart < chunks; chunk += 2 * apart) {
      combination.columns(partial.data() + chunk * plan.outputs,
                          partial.data() + (chunk + apart) * plan.outputs, plan.outputs);
    }
  }
  for (int64_t position = 0; position < outer; ++position) {
    int64_t out_offset;
    int64_t in_offset;
    plan.kept_offsets(position, 1, out_offset, in_offset);
    finish_all(plan, partial.data() + position * columns, columns, plan.out + out_offset, plan.kept_out_strides[0]);
  }
}

// Few columns without gaps between the rows: several rows are taken as one, so that vectors are filled.
template <typename T>
HWY_ATTR void reduce_narrow_columns(const ReducePlan& plan, const Combination<T>& combination) {
  const int64_t columns = plan.kept_sizes[0];
  const int64_t fold = kNarrow / columns;
  const int64_t width = columns * fold;
  std::vector<T> sums(static_cast<size_t>(width));
  ReducePlan wide(plan);
  wide.out = reinterpret_cast<char*>(sums.data());
  wide.outputs = wide.kept_sizes[0] = width;
  wide.kept_out_strides[0] = sizeof(T);
  wide.count = wide.reduced_sizes[0] = plan.count / fold;
  wide.reduced_strides[0] = width * plan.item;
  wide.mean = false;  // not yet
  reduce_columns(wide, combination);
  for (int64_t left = fold; left > 1; left -= left / 2) {
    const int64_t half = left / 2;
    combination.columns(sums.data(), sums.data() + (left - half) * columns, half * columns);
  }
  const int64_t summed = wide.count * fold;  // rows; fewer than one wide row are left
  Scratch<T, kNarrow> buffer;
  const int64_t rest = (plan.count - summed) * columns;
  const T* data = elements_at<T>(plan, summed * columns * plan.item, plan.item).read(rest, buffer);
  for (int64_t done = 0; done < rest; done += columns) combination.columns(sums.data(), data + done, columns);
  finish_all(plan, sums.data(), columns, plan.out, plan.kept_out_strides[0]);
}

// The same for each of several groups of columns, as images are whose channels lie last.
template <typename T>
HWY_ATTR void reduce_groups_of_columns(const ReducePlan& plan, const Combination<T>& combination) {
  const T identity = combination.identity;
  const int64_t columns = plan.kept_sizes[0];
  const int64_t groups = plan.outputs / columns;
  const int64_t size = columns * plan.count;
  int64_t fold = 1;
  while (2 * fold * columns <= kNarrow && 2 * fold <= plan.count) fold *= 2;
  const int64_t width = columns * fold;
  const int64_t block = std::min(kRowGroup, kRunBlock / width) * width;
  const int64_t whole = size / width * width;
  const int64_t section = std::min(whole, kRowGroup * block);
  parallel_for(0, groups, std::max<int64_t>(1, kGrainSize / size), [&](int64_t first, int64_t last) HWY_ATTR {
    Scratch<T, kNarrow> sums_of_all, sums_of_section;
    Scratch<T, kRunBlock> buffer;
    for (int64_t i = first; i < last; ++i) {
      int64_t out_offset;
      int64_t in_offset;
      plan.kept_offsets(i, 1, out_offset, in_offset);
      const auto elements = elements_at<T>(plan, in_offset, plan.item);
      T* const sums = sums_of_all;
      T* const part = section == whole ? sums : static_cast<T*>(sums_of_section);
      std::fill_n(sums, width, identity);
      for (int64_t start = 0; start < whole; start += section) {
        const int64_t end = std::min(whole, start + section);
        if (part != sums) std::fill_n(part, width, identity);
        for (int64_t done = start; done < end; done += block) {
          const T* rows[kRowGroup];
          const int64_t count = std::min(block, end - done) / width;
          const T* data = elements.from_place(done).read(count * width, buffer);
          for (int64_t row = 0; row < count; ++row) rows[row] = data + row * width;
          combination.rows(part, rows, count, width, !combination.is_order_free);
        }
        if (part != sums) combination.columns(sums, part, width);
      }
      combination.columns(sums, elements.from_place(whole).read(size - whole, buffer), size - whole);
      for (int64_t half = fold / 2; half > 0; half /= 2) {
        combination.columns(sums, sums + half * columns, half * columns);
      }
      finish_all(plan, sums, columns, plan.out + out_offset, plan.kept_out_strides[0]);
    }
  });
}

// `count` elements that lie apart, in blocks.
template <typename Op, typename T>
HWY_ATTR T reduce_collected(const Elements<T>& elements, int64_t count) {
  Scratch<T, kRunBlock> block;
  Cascade<Op, T> cascade;
  for (int64_t done = 0; done < count; done += kRunBlock) {
    const int64_t part = std::min(kRunBlock, count - done);
    cascade.add(reduce_run<Op>(elements.from_place(done).read(part, block), part));
  }
  return cascade.result();
}

// Any strides.
template <typename Op, typename T>
HWY_ATTR void reduce_strided(const ReducePlan& plan) {
  constexpr int64_t kLong = 16;  // elements from which on it pays to bring them together
  const int64_t length = plan.reduced_sizes.empty() ? 1 : plan.reduced_sizes[0];
  const int64_t runs = length == 0 ? 0 : plan.count / length;
  if (plan.outputs == 1 && length >= kLong) {  // the runs are given out to threads
    std::vector<T> partial(static_cast<size_t>(runs));
    parallel_for(0, runs, std::max<int64_t>(1, kGrainSize / length), [&](int64_t first, int64_t last) {
      for (int64_t run = first; run < last; ++run) {
        partial[run] =
            reduce_collected<Op>(elements_at<T>(plan, plan.reduced_offset(run, 1), plan.reduced_strides[0]), length);
      }
    });
    *reinterpret_cast<T*>(plan.out) = finish(plan, reduce_run<Op>(partial.data(), runs));
    return;
  }
  parallel_for(0, plan.outputs, std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, plan.count)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   int64_t out_offset;
                   int64_t in_offset;
                   plan.kept_offsets(i, 0, out_offset, in_offset);
                   Cascade<Op, T> cascade;
                   if (length >= kLong) {
                     for (int64_t run = 0; run < runs; ++run) {
                       const int64_t offset = in_offset + plan.reduced_offset(run, 1);
                       cascade.add(reduce_collected<Op>(elements_at<T>(plan, offset, plan.reduced_strides[0]), length));
                     }
                   } else {
                     T element;
                     for (int64_t j = 0; j < plan.count; ++j)
                       cascade.add(
                           *elements_at<T>(plan, in_offset + plan.reduced_offset(j), sizeof(T)).read(1, &element));
                   }
                   *reinterpret_cast<T*>(plan.out + out_offset) = finish(plan, cascade.result());
                 }
               });
}

template <typename Op, typename T>
HWY_ATTR void reduce(const ReducePlan& plan) {
  const int64_t item = plan.item;
  const bool overlaps = plan.outputs > 1 && plan.kept_strides[0] == item && plan.kept_sizes[0] >= kShortRow;  // windows
  if (plan.count > 1 && plan.reduced_strides[0] == item && !(overlaps && plan.count <= kRowGroup)) {
    const bool is_matrix = plan.reduced_sizes.size() == 1 && plan.kept_sizes.size() == 1;
    // Squares are added in one step with what they are added to, and halves widened in registers.
    const bool is_special = plan.map == ElementMap::square || c10::is_reduced_floating_type(plan.widened);
    if (is_matrix && plan.count < (is_special ? kShortRow : kPlainRow) && plan.kept_strides[0] == plan.count * item)
      return reduce_short_rows<Op, T>(plan);
    reduce_rows<Op, T>(plan);
  } else if (plan.count > 0 && plan.outputs > 1 && plan.kept_strides[0] == item) {
    const int64_t columns = plan.kept_sizes[0];
    const bool is_dense = plan.reduced_sizes.size() == 1 && plan.reduced_strides[0] == columns * item;
    const bool fills_vectors = columns * sizeof(T) % 64 == 0 && !plan.conversion && plan.map == ElementMap::none;
    if (is_dense && columns == plan.outputs && 2 * columns <= kNarrow && plan.count >= kNarrow) {
      reduce_narrow_columns(plan, combination_of<Op, T>());
    } else if (is_dense && 2 * columns <= kNarrow && plan.count >= (fills_vectors ? kNarrow : kRowGroup)) {
      reduce_groups_of_columns(plan, combination_of<Op, T>());
    } else {
      reduce_columns(plan, combination_of<Op, T>());
    }
  } else if (plan.count > 0 && plan.outputs > 1 && plan.kept_sizes[0] >= 16 &&
             (plan.count == 1 || std::abs(plan.kept_strides[0]) < std::abs(plan.reduced_strides[0]))) {
    reduce_columns(plan, combination_of<Op, T>());
  } else {
    reduce_strided<Op, T>(plan);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // TORCH_REDUCE_INL_H_
