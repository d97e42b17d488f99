// Reductions whose fastest dimension stays, included once per instruction set (by Reduce-inl.h): rows are added up side
// by side, mostly by code that stands once for all operations on a type.

#if defined(TORCH_REDUCE_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_REDUCE_COLUMNS_INL_H_
#undef TORCH_REDUCE_COLUMNS_INL_H_
#else
#define TORCH_REDUCE_COLUMNS_INL_H_
#endif

#include <aten/native/cpu/ReducePlan.h>
#include <aten/native/cpu/ReducedElements-inl.h>

#include <aten/native/cpu/Highway-inl.h>

#include <algorithm>
#include <type_traits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kRunBlock = ReducePlan::kRunBlock;
// Columns that are reduced side by side, 2 KiB of them where 256 are less; rows that make one partial result, in groups
// of groups.
constexpr int64_t kColumnBlock = 256;
template <typename T>
constexpr int64_t kColumnsOf = std::max<int64_t>(kColumnBlock, 2048 / sizeof(T));
constexpr int64_t kNarrow = ReducePlan::kNarrow;
constexpr int64_t kRowGroup = ReducePlan::kRowGroup;
constexpr int64_t kRowSection = 256;
constexpr int64_t kRowChunk = 4096;

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
    const auto number = static_cast<Lane<T>>(plan.divisor);
    if (plan.mean) return {total.real() / number, total.imag() / number};
  } else if constexpr (std::is_floating_point_v<T>) {
    if (plan.mean) return total / static_cast<T>(plan.divisor);
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
      const auto number = static_cast<T>(plan.divisor);
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
  HWY_ALIGN alignas(T) unsigned char bytes[kCount * sizeof(T)];  // without vectors HWY_ALIGN is nothing
};

// Not inline: it is many vectors, and called for blocks of results.
template <typename T>
HWY_NOINLINE HWY_ATTR void fill_with(T* values, int64_t count, T value) {
  TORCH_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) values[i] = value;
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

// Values that come one after another, combined as a tree: a level passes its result on after 64 of them.
template <typename T>
class Cascade {
 public:
  explicit Cascade(T identity) { std::fill_n(levels_, kLevels, identity); }
  template <typename Op>
  HWY_ATTR void add(T value) {
    levels_[0] = Op::combine(levels_[0], value);
    ++added_;
    for (int level = 0; level + 1 < kLevels && added_ % (int64_t{1} << (6 * (level + 1))) == 0; ++level) {
      levels_[level + 1] = Op::combine(levels_[level + 1], levels_[level]);
      levels_[level] = Op::identity();
    }
  }
  template <typename Op>
  HWY_ATTR T result() const {
    T total = levels_[0];
    for (int level = 1; level < kLevels; ++level) total = Op::combine(total, levels_[level]);
    return total;
  }

 private:
  static constexpr int kLevels = 4;
  T levels_[kLevels];
  int64_t added_ = 0;
};

// What an operation is to all that stands once for all operations on a type.
template <typename T>
struct Combination {
  template <typename From>
  using Combine = void (*)(T* into, const From* const* from, int64_t rows, int64_t columns, bool apart);

  T identity;
  bool is_order_free;
  Combine<T> rows;
  Combine<c10::BFloat16> bfloat16_rows;  // null: they are converted first
  Combine<c10::Half> half_rows;
  T (*run)(const Elements<T>& elements, int64_t count);
  T (*add)(Cascade<T>& cascade, const T* values, int64_t count);  // gives the result so far
  void (*reduce_rows)(const ReducePlan& plan);
  void (*reduce_short_rows)(const ReducePlan& plan);

  template <typename From>
  Combine<From> rows_of() const {
    if constexpr (std::is_same_v<From, T>) return rows;
    else if constexpr (std::is_same_v<From, c10::BFloat16>) return bfloat16_rows;
    else return half_rows;
  }
  void columns(T* into, const T* from, int64_t count) const { rows(into, &from, 1, count, /*apart=*/false); }
};

// The fastest dimension stays: rows are added up side by side.
template <typename T>
HWY_NOINLINE HWY_ATTR void reduce_columns(const ReducePlan& plan, const Combination<T>& combination) {
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
  // Columns that lie apart have others between them: those of a block come one after the other.
  const int64_t together = step == plan.item ? 1 : outer;
  const bool is_direct = chunks > 1 || (columns % lanes == 0 && plan.kept_out_strides[0] == sizeof(T) && !plan.mean);
  parallel_for(
      0, outer * blocks * chunks, std::max<int64_t>(1, kGrainSize / unit_work),
      [&](int64_t first, int64_t last) {
        Scratch<T, kColumns> sums_of_group, sums_of_section, sums_of_all;
        Scratch<T, kConvertedRows * kColumns> collected;
        T* const group = sums_of_group;
        T* const section = sums_of_section;
        for (int64_t unit = first; unit < last; ++unit) {
          const int64_t chunk = unit % chunks;
          const int64_t start = unit / chunks / together % blocks * kColumns;
          const int64_t position = together > 1 ? unit / chunks % together : unit / chunks / blocks;
          const int64_t width = std::min(kColumns, columns - start);
          // Few columns with what follows, whose sums nobody reads: whole vectors.
          const int64_t whole = is_direct ? width : (width + lanes - 1) / lanes * lanes;
          int64_t out_offset;
          int64_t in_offset;
          plan.kept_offsets(position, 1, out_offset, in_offset);
          in_offset += start * step;
          T* total = sums_of_all;
          if (chunks > 1) total = partial.data() + chunk * plan.outputs + position * columns + start;
          else if (is_direct) total = reinterpret_cast<T*>(plan.out + out_offset) + start;
          fill_with(total, whole, combination.identity);
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
            if (are_groups) fill_with(group, whole, combination.identity);
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
              fill_with(section, whole, combination.identity);
              for (int64_t top = first_row; top < section_end; top += kRowGroup) {
                add_rows(top, std::min(section_end, top + kRowGroup), section);
              }
              combination.columns(total, section, width);
            }
          }
          const int64_t out_step = plan.kept_out_strides[0];
          if (!is_direct) finish_all(plan, total, width, plan.out + out_offset + start * out_step, out_step);
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
HWY_NOINLINE HWY_ATTR void reduce_narrow_columns(const ReducePlan& plan, const Combination<T>& combination) {
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

// The same for each of several groups of columns, as images are whose channels lie last, and for rows with gaps between
// them, which are added up, too.
template <typename T>
HWY_NOINLINE HWY_ATTR void reduce_groups_of_columns(const ReducePlan& plan, const Combination<T>& combination) {
  const T identity = combination.identity;
  const int64_t columns = plan.kept_sizes[0];
  const int64_t pitch = plan.reduced_strides[0] / plan.item;
  const int64_t groups = plan.outputs / columns;
  const int64_t size = (plan.count - 1) * pitch + columns;
  int64_t fold = 1;
  while (2 * fold * pitch <= kNarrow && 2 * fold <= plan.count) fold *= 2;
  const int64_t width = pitch * fold;
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
      fill_with(sums, width, identity);
      for (int64_t start = 0; start < whole; start += section) {
        const int64_t end = std::min(whole, start + section);
        if (part != sums) fill_with(part, width, identity);
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
        combination.columns(sums, sums + half * pitch, half * pitch);
      }
      finish_all(plan, sums, columns, plan.out + out_offset, plan.kept_out_strides[0]);
    }
  });
}

// The sums over `dim` of rows that hold a part of every result, with whatever is between.
template <typename T>
HWY_NOINLINE HWY_ATTR std::vector<T> add_up_rows(const ReducePlan& plan, int dim, const Combination<T>& combination) {
  const int64_t stride = plan.reduced_strides[dim];
  const int64_t width = stride / plan.item;
  std::vector<T> sums(static_cast<size_t>(width));
  const ReducePlan rows = plan.over_rows(dim, reinterpret_cast<char*>(sums.data()), sizeof(T));
  if (2 * width <= kNarrow) reduce_narrow_columns(rows, combination);
  else reduce_columns(rows, combination);
  const auto last = elements_at<T>(plan, rows.count * stride, plan.item);
  const int64_t span = plan.data_end() - plan.in - rows.count * stride;
  Scratch<T, kRunBlock> buffer;
  for (int64_t done = 0; done < span / plan.item; done += kRunBlock) {
    const int64_t part = std::min(kRunBlock, span / plan.item - done);
    combination.columns(sums.data() + done, last.from_place(done).read(part, buffer), part);
  }
  return sums;
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // TORCH_REDUCE_COLUMNS_INL_H_
