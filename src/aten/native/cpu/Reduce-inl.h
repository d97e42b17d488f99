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

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Elements of a row that are added up before the tree begins, with vectors of 64 bytes: 16 floats per accumulator.
constexpr int64_t kRunBlock = 1024;
// Columns that are reduced side by side; rows that make one partial result, in groups of groups.
constexpr int64_t kColumnBlock = 256;
constexpr int64_t kNarrow = 128;  // fewer columns than half of this are widened
constexpr int64_t kRowGroup = 16;
constexpr int64_t kRowSection = 256;
constexpr int64_t kRowChunk = 4096;
// A row that any vectors reduce as one block.
constexpr int64_t kPlainRow = 256;
// Length of the parts that a long row is given out in.
constexpr int64_t kRunChunk = 65536;

// What is worth loops of its own: sums and extremes of floating numbers.
template <typename Op, typename T>
constexpr bool kIsFrequent = std::is_floating_point_v<T> && Op::identity() != T(1);

// What reads float16 and bfloat16 without a conversion in between.
template <typename Op, typename T>
constexpr bool kWidens = std::is_same_v<T, float> && kIsFrequent<Op, T>;

// The last step. The mean of nothing is NaN.
template <typename T>
T finish(const ReducePlan& plan, T total) {
  if constexpr (std::is_floating_point_v<T> || c10::is_complex_v<T>) {
    if (plan.mean) return total / static_cast<T>(plan.count);
  }
  return total;
}

template <typename T>
HWY_ATTR void finish_all(const ReducePlan& plan, const T* totals, int64_t count, char* out, int64_t step) {
  if (step != sizeof(T)) {
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

// What is read: elements `step` bytes apart, brought side by side and to T in parts of a block at most.
template <typename T>
struct Elements {
  const char* from;
  int64_t step;
  const Conversion* conversion;  // null: they are T in memory
  ElementMap map;
  ScalarType widened = ScalarType::Undefined;  // in memory, where T is float

  // Elements that are widened on their way into registers; null: they are not such.
  template <typename Half>
  const Half* halves() const {
    constexpr ScalarType dtype = c10::CppTypeToScalarType<Half>::value;
    const bool are_such = widened == dtype && step == sizeof(Half) && map == ElementMap::none;
    return are_such ? reinterpret_cast<const Half*>(from) : nullptr;
  }

  HWY_ATTR const T* read(int64_t count, T* buffer) const {
    const T* found = buffer;
    if (conversion) (*conversion)(reinterpret_cast<char*>(buffer), sizeof(T), from, step, count);
    else found = collect(from, step, count, buffer);
    if (map == ElementMap::none) return found;
    map_elements(found, count, buffer);
    return buffer;
  }
  Elements from_place(int64_t place) const { return {from + place * step, step, conversion, map, widened}; }

 private:
  HWY_ATTR void map_elements(const T* values, int64_t count, T* mapped) const {
    if constexpr (std::is_floating_point_v<T>) {
      switch (map) {
        case ElementMap::square:
          TORCH_INDEPENDENT
          for (int64_t i = 0; i < count; ++i) mapped[i] = values[i] * values[i];
          break;
        case ElementMap::magnitude:
          TORCH_INDEPENDENT
          for (int64_t i = 0; i < count; ++i) mapped[i] = std::fabs(values[i]);
          break;
        default:  // numbers
          TORCH_INDEPENDENT
          for (int64_t i = 0; i < count; ++i) mapped[i] = values[i] == values[i] ? values[i] : T(0);
      }
    }
  }
};
template <typename T>
Elements<T> elements_at(const ReducePlan& plan, int64_t offset, int64_t step) {
  return {plan.in + offset, step, plan.conversion ? &*plan.conversion : nullptr, plan.map, plan.widened};
}

// Memory for elements that is not filled first, as arrays of complex numbers would be.
template <typename T, int64_t kCount>
struct Scratch {
  Scratch() {}
  operator T*() { return reinterpret_cast<T*>(bytes); }
  HWY_ALIGN unsigned char bytes[kCount * sizeof(T)];
};

// The lower half with the upper one, until one lane is left.
template <typename Op, size_t kLanes, typename D, typename V>
HWY_ATTR hn::TFromD<D> combine_lanes_of([[maybe_unused]] D d, V values) {
#if HWY_TARGET == HWY_SCALAR
  return hn::GetLane(values);
#else
  if constexpr (kLanes == 1) {
    return hn::GetLane(values);
  } else if constexpr (kLanes * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half;
    return combine_lanes_of<Op, kLanes / 2>(
        half, Op::step(half, hn::LowerHalf(half, values), hn::UpperHalf(half, values)));
  } else {
    return combine_lanes_of<Op, kLanes / 2>(d, Op::step(d, values, hn::ShiftRightLanes<kLanes / 2>(d, values)));
  }
#endif
}
template <typename Op, typename D, typename V>
HWY_ATTR hn::TFromD<D> combine_lanes(D d, V values) {
  return combine_lanes_of<Op, hn::MaxLanes(d)>(d, values);
}

// The last elements of a block, and then zeros.
template <typename D, typename From>
HWY_INLINE HWY_ATTR hn::Vec<D> load_rest(D d, const From* from, int64_t count) {
  if constexpr (std::is_same_v<From, c10::Half>) return load_stored_part(d, from, count);
  else return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
}

// Elements that lie side by side, no more than a block of them.
template <typename Op, typename T, typename From>
HWY_ATTR T reduce_block(const From* data, int64_t count) {
  [[maybe_unused]] constexpr int64_t kApart = 8;
  T result = Op::identity();
  int64_t i = 0;
  if constexpr (Op::kVectorised) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    if (count >= lanes) {
      const auto identity = hn::Set(d, Op::identity());
      auto first = identity;
      if (count >= 4 * lanes) {
        auto second = identity;
        auto third = identity;
        auto fourth = identity;
        for (; i + 4 * lanes <= count; i += 4 * lanes) {
          first = Op::step(d, first, load_stored(d, data + i));
          second = Op::step(d, second, load_stored(d, data + i + lanes));
          third = Op::step(d, third, load_stored(d, data + i + 2 * lanes));
          fourth = Op::step(d, fourth, load_stored(d, data + i + 3 * lanes));
        }
        first = Op::step(d, Op::step(d, first, second), Op::step(d, third, fourth));
      }
      for (; i + lanes <= count; i += lanes) first = Op::step(d, first, load_stored(d, data + i));
      if constexpr (sizeof(From) >= 4 || std::is_same_v<From, c10::Half>) {  // not all have loads by mask
        if (i < count) {
          const auto rest = hn::FirstN(d, static_cast<size_t>(count - i));
          first = Op::step(d, first, hn::IfThenElse(rest, load_rest(d, data + i, count - i), identity));
          i = count;
        }
      }
      result = combine_lanes<Op>(d, first);
    }
  } else if (count >= 2 * kApart) {  // no operation waits for the one before
    T apart[kApart];
    for (int64_t j = 0; j < kApart; ++j) apart[j] = static_cast<T>(data[j]);
    for (i = kApart; i + kApart <= count; i += kApart) {
      for (int64_t j = 0; j < kApart; ++j) apart[j] = Op::combine(apart[j], static_cast<T>(data[i + j]));
    }
    for (const T part : apart) result = Op::combine(result, part);
  }
  for (; i < count; ++i) result = Op::combine(result, static_cast<T>(data[i]));
  return result;
}

// A row of `count` elements.
template <typename Op, typename T>
HWY_ATTR T reduce_run(const Elements<T>& elements, int64_t count) {
  // Narrower vectors take shorter blocks, so that as few numbers go into an accumulator as with wide ones.
  const auto vector_bytes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<uint8_t>()));
  const int64_t block = std::min(kRunBlock, kRunBlock * vector_bytes / 64);
  if (count > block) {
    const int64_t half = (count / 2 + block - 1) / block * block;
    const T lower = reduce_run<Op>(elements, half);  // first: memory is read in its order
    return Op::combine(lower, reduce_run<Op>(elements.from_place(half), count - half));
  }
  if constexpr (kWidens<Op, T>) {
    if (const auto* halves = elements.template halves<c10::BFloat16>()) return reduce_block<Op, T>(halves, count);
    if (const auto* halves = elements.template halves<c10::Half>()) return reduce_block<Op, T>(halves, count);
  }
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

// Short rows that follow each other without gaps, a block of them at a time.
template <typename Op, typename T>
HWY_ATTR void reduce_short_rows(const ReducePlan& plan) {
  const int64_t length = plan.count;
  const int64_t at_once = kRunBlock / length;
  const int64_t blocks = (plan.outputs + at_once - 1) / at_once;
  parallel_for(0, blocks, std::max<int64_t>(1, kGrainSize / kRunBlock), [&](int64_t first, int64_t last) HWY_ATTR {
    Scratch<T, kRunBlock> buffer;
    for (int64_t block = first; block < last; ++block) {
      const int64_t top = block * at_once;
      const int64_t rows = std::min(at_once, plan.outputs - top);
      const T* data = elements_at<T>(plan, top * length * plan.item, plan.item).read(rows * length, buffer);
      char* out = plan.out + top * plan.kept_out_strides[0];
      for (int64_t row = 0; row < rows; ++row, data += length, out += plan.kept_out_strides[0]) {
        T total = Op::identity();
        for (int64_t i = 0; i < length; ++i) total = Op::combine(total, data[i]);
        *reinterpret_cast<T*>(out) = finish(plan, total);
      }
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

// into[i] = combine(into[i], each of from[..][i] in turn)
template <typename Op, typename T, typename From, int kRows>
HWY_ATTR void combine_rows(T* HWY_RESTRICT into, const From* const (&from)[kRows], int64_t columns) {
  int64_t i = 0;
  if constexpr (Op::kVectorised) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= columns; i += lanes) {
      auto result = hn::LoadU(d, into + i);
      for (const From* row : from) result = Op::step(d, result, load_stored(d, row + i));
      hn::StoreU(result, d, into + i);
    }
  }
  for (; i < columns; ++i) {
    for (const From* row : from) into[i] = Op::combine(into[i], static_cast<T>(row[i]));
  }
}
template <typename Op, typename T>
HWY_ATTR void combine_columns(T* into, const T* from, int64_t columns) {
  const T* const row[] = {from};
  combine_rows<Op>(into, row, columns);
}

// The fastest dimension stays: rows are added up side by side.
template <typename Op, typename T>
HWY_ATTR void reduce_columns(const ReducePlan& plan) {
  const int64_t columns = plan.kept_sizes[0];
  const int64_t outer = plan.outputs / columns;
  const int64_t blocks = (columns + kColumnBlock - 1) / kColumnBlock;
  const int64_t chunks = (plan.count + kRowChunk - 1) / kRowChunk;
  std::vector<T> partial(static_cast<size_t>(chunks * plan.outputs));
  const int64_t unit_work = std::min(columns, kColumnBlock) * std::min(plan.count, kRowChunk);
  parallel_for(
      0, outer * blocks * chunks, std::max<int64_t>(1, kGrainSize / unit_work),
      [&](int64_t first, int64_t last) {
        Scratch<T, kColumnBlock> sums_of_group, sums_of_section, collected[4];
        T* const group = sums_of_group;
        T* const section = sums_of_section;
        for (int64_t unit = first; unit < last; ++unit) {
          const int64_t chunk = unit % chunks;
          const int64_t block = unit / chunks % blocks;
          const int64_t position = unit / chunks / blocks;
          const int64_t width = std::min(kColumnBlock, columns - block * kColumnBlock);
          int64_t out_offset;
          int64_t in_offset;
          plan.kept_offsets(position, 1, out_offset, in_offset);
          in_offset += block * kColumnBlock * plan.kept_strides[0];
          T* total = partial.data() + chunk * plan.outputs + position * columns + block * kColumnBlock;
          std::fill_n(total, width, Op::identity());
          const int64_t end = std::min(plan.count, (chunk + 1) * kRowChunk);
          const auto add_rows = [&](int64_t top, int64_t group_end, T* sums) HWY_ATTR {
            const auto row = [&](int64_t i, T* buffer) HWY_ATTR {
              return elements_at<T>(plan, in_offset + plan.reduced_offset(i), plan.kept_strides[0]).read(width, buffer);
            };
            int64_t i = top;
            if constexpr (kWidens<Op, T>) {
              const auto add_halves = [&](auto element) HWY_ATTR {
                using Half = decltype(element);
                const auto halves = [&](int64_t j) {
                  return elements_at<T>(plan, in_offset + plan.reduced_offset(j), plan.kept_strides[0])
                      .template halves<Half>();
                };
                for (; i + 4 <= group_end && halves(i); i += 4) {
                  const Half* const rows[] = {halves(i), halves(i + 1), halves(i + 2), halves(i + 3)};
                  combine_rows<Op>(sums, rows, width);
                }
              };
              add_halves(c10::BFloat16());
              add_halves(c10::Half());
            }
            if constexpr (kIsFrequent<Op, T>) {
              for (; i + 4 <= group_end; i += 4) {  // as many at once as keep the sums in registers
                const T* const rows[] = {row(i, collected[0]), row(i + 1, collected[1]), row(i + 2, collected[2]),
                                         row(i + 3, collected[3])};
                combine_rows<Op>(sums, rows, width);
              }
            }
            for (; i < group_end; ++i) combine_columns<Op>(sums, row(i, collected[0]), width);
          };
          if (plan.count <= kRowGroup) {
            add_rows(0, end, total);
            continue;
          }
          for (int64_t start = chunk * kRowChunk; start < end; start += kRowSection) {
            const int64_t section_end = std::min(end, start + kRowSection);
            std::fill_n(section, width, Op::identity());
            for (int64_t top = start; top < section_end; top += kRowGroup) {
              const int64_t group_end = std::min(section_end, top + kRowGroup);
              std::fill_n(group, width, Op::identity());
              add_rows(top, group_end, group);
              combine_columns<Op>(section, group, width);
            }
            combine_columns<Op>(total, section, width);
          }
        }
      });
  for (int64_t step = 1; step < chunks; step *= 2) {
    for (int64_t chunk = 0; chunk + step < chunks; chunk += 2 * step) {
      combine_columns<Op>(partial.data() + chunk * plan.outputs,
                          partial.data() + (chunk + step) * plan.outputs, plan.outputs);
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
template <typename Op, typename T>
HWY_ATTR void reduce_narrow_columns(const ReducePlan& plan) {
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
  reduce_columns<Op, T>(wide);
  for (int64_t left = fold; left > 1; left -= left / 2) {
    const int64_t half = left / 2;
    combine_columns<Op>(sums.data(), sums.data() + (left - half) * columns, half * columns);
  }
  const int64_t summed = wide.count * fold;  // rows; fewer than one wide row are left
  Scratch<T, kNarrow> buffer;
  const int64_t rest = (plan.count - summed) * columns;
  const T* data = elements_at<T>(plan, summed * columns * plan.item, plan.item).read(rest, buffer);
  for (int64_t done = 0; done < rest; done += columns) combine_columns<Op>(sums.data(), data + done, columns);
  finish_all(plan, sums.data(), columns, plan.out, plan.kept_out_strides[0]);
}

// The same for each of several groups of columns, as images are whose channels lie last.
template <typename Op, typename T>
HWY_ATTR void reduce_groups_of_columns(const ReducePlan& plan) {
  const int64_t columns = plan.kept_sizes[0];
  const int64_t groups = plan.outputs / columns;
  if (groups == 1) return reduce_narrow_columns<Op, T>(plan);
  parallel_for(0, groups, std::max<int64_t>(1, kGrainSize / (columns * plan.count)), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      int64_t out_offset;
      int64_t in_offset;
      plan.kept_offsets(i, 1, out_offset, in_offset);
      ReducePlan group(plan);
      group.out += out_offset;
      group.in += in_offset;
      group.outputs = columns;
      group.kept_sizes.resize(1);
      reduce_narrow_columns<Op, T>(group);
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
  constexpr int64_t kShortRow = 16;  // fewer elements fill no vectors
  if (plan.count > 1 && plan.reduced_strides[0] == item) {
    const bool is_matrix = plan.reduced_sizes.size() == 1 && plan.kept_sizes.size() == 1;
    if (is_matrix && plan.count < kShortRow && plan.kept_strides[0] == plan.count * item)
      return reduce_short_rows<Op, T>(plan);
    reduce_rows<Op, T>(plan);
  } else if (plan.count > 1 && plan.outputs > 1 && plan.kept_strides[0] == item) {
    const int64_t columns = plan.kept_sizes[0];
    if (2 * columns <= kNarrow && plan.count >= kNarrow && plan.reduced_sizes.size() == 1 &&
        plan.reduced_strides[0] == columns * item) {
      reduce_groups_of_columns<Op, T>(plan);
    } else {
      reduce_columns<Op, T>(plan);
    }
  } else if (plan.count > 1 && plan.outputs > 1 && plan.kept_sizes[0] >= 16 &&
             std::abs(plan.kept_strides[0]) < std::abs(plan.reduced_strides[0])) {
    reduce_columns<Op, T>(plan);
  } else {
    reduce_strided<Op, T>(plan);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // TORCH_REDUCE_INL_H_
