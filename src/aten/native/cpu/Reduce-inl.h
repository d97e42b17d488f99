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
#include <aten/native/cpu/ReduceColumns-inl.h>
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

constexpr int64_t kShortRow = 16;  // fewer elements fill no vectors
// A row that any vectors reduce as one block.
constexpr int64_t kPlainRow = 256;
// Length of the parts that a long row is given out in. Products of as many numbers are on their way to 0, and
// processors take long for the last ones before it: that way is gone once in a longer part.
template <typename Op, typename T>
constexpr int64_t kRunChunk = std::is_floating_point_v<T> && Op::identity() == T(1) ? 1 << 20 : 65536;

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

// Short rows in equal steps, with little between them, a block of them at a time: between rows nothing is decided.
template <typename Op, typename T>
HWY_ATTR void reduce_short_rows(const ReducePlan& plan) {
  const int64_t length = plan.count;
  const int64_t pitch = plan.kept_strides[0] / plan.reduced_strides[0];
  const int64_t at_once = kRunBlock / pitch;
  const int64_t blocks = (plan.outputs + at_once - 1) / at_once;
  parallel_for(0, blocks, std::max<int64_t>(1, kGrainSize / kRunBlock), [&](int64_t first, int64_t last) HWY_ATTR {
    Scratch<T, kRunBlock> buffer, sums;
    T* const totals = sums;
    for (int64_t block = first; block < last; ++block) {
      const int64_t top = block * at_once;
      const int64_t rows = std::min(at_once, plan.outputs - top);
      const T* data = elements_at<T>(plan, top * plan.kept_strides[0], plan.reduced_strides[0])
                          .read((rows - 1) * pitch + length, buffer);
      if (length >= kShortRow) {
        for (int64_t row = 0; row < rows; ++row) totals[row] = reduce_block<Op, T>(data + row * pitch, length);
      } else {  // two columns at a time of all rows: a loop as short as a row costs more than what it does
        std::fill_n(totals, rows, Op::identity());
        int64_t i = 0;
        for (; i + 2 <= length; i += 2) {
          const T* from = data + i;
          for (int64_t row = 0; row < rows; ++row, from += pitch)
            totals[row] = combine_two<Op>(combine_two<Op>(totals[row], from[0]), from[1]);
        }
        for (const T* from = data + i; i < length; ++i) {
          for (int64_t row = 0; row < rows; ++row, from += pitch) totals[row] = combine_two<Op>(totals[row], *from);
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
  constexpr int64_t kChunk = kRunChunk<Op, T>;
  if (plan.outputs == 1 && plan.count > kChunk && length >= kRunBlock) {
    // One long result: parts of fixed length for the threads.
    const int64_t chunks = (length + kChunk - 1) / kChunk;
    std::vector<T> partial(static_cast<size_t>(runs * chunks));
    parallel_for(0, runs * chunks, 1, [&](int64_t first, int64_t last) {
      for (int64_t unit = first; unit < last; ++unit) {
        const int64_t start = unit % chunks * kChunk;
        const auto run = elements_at<T>(plan, plan.reduced_offset(unit / chunks, 1), plan.item);
        partial[unit] = reduce_run<Op>(run.from_place(start), std::min(kChunk, length - start));
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
HWY_NOINLINE HWY_ATTR void reduce_directly(const ReducePlan& plan) {
  const int64_t item = plan.item;
  const bool is_empty = plan.count == 0 || plan.outputs == 0;
  const int64_t columns = plan.outputs > 1 && !is_empty ? plan.kept_sizes[0] : 0;
  const bool are_columns_near = columns > 0 && plan.kept_strides[0] == item;
  const bool is_matrix = !is_empty && plan.reduced_sizes.size() == 1 && plan.kept_sizes.size() == 1;
  const bool is_dense =
      are_columns_near && plan.reduced_sizes.size() == 1 && plan.reduced_strides[0] == columns * item;
  const bool are_rows_near = !is_empty && plan.count > 1 && plan.reduced_strides[0] == item;
  const bool overlaps = are_columns_near && columns >= kShortRow;  // windows
  if (is_matrix && plan.reduced_strides[0] > 0 && plan.kept_strides[0] % plan.reduced_strides[0] == 0) {
    const int64_t pitch = plan.kept_strides[0] / plan.reduced_strides[0];
    // Squares are added in one step with what they are added to, and halves widened in registers.
    const bool is_special = plan.map == ElementMap::square || c10::is_reduced_floating_type(plan.widened);
    const int64_t longest = is_special && are_rows_near ? kShortRow : kPlainRow;
    if (plan.count < longest && pitch >= plan.count && pitch <= 2 * plan.count)
      return reduce_short_rows<Op, T>(plan);
  }
  if (is_dense && columns == plan.outputs && 2 * columns <= kNarrow && plan.count >= kNarrow)
    return reduce_narrow_columns(plan, combination_of<Op, T>());
  if (are_rows_near && !(overlaps && plan.count <= kRowGroup) && !(plan.count < kShortRow && columns >= kShortRow))
    return reduce_rows<Op, T>(plan);
  // Rows with little between them, if anything.
  const int64_t row_step = plan.reduced_sizes.size() == 1 ? plan.reduced_strides[0] : 0;
  const bool is_even = are_columns_near && row_step >= columns * item && row_step % item == 0 &&
                       2 * row_step <= kNarrow * item;
  const bool fills_vectors = columns * sizeof(T) % 64 == 0 && !plan.conversion && plan.map == ElementMap::none;
  if (is_even && plan.count >= (fills_vectors ? kNarrow : kRowGroup))
    return reduce_groups_of_columns(plan, combination_of<Op, T>());
  if (are_columns_near ||
      (columns >= kShortRow &&
       (plan.count < kShortRow || std::abs(plan.kept_strides[0]) < std::abs(plan.reduced_strides[0]))))
    return reduce_columns(plan, combination_of<Op, T>());
  reduce_strided<Op, T>(plan);
}

template <typename Op, typename T>
HWY_ATTR void reduce(const ReducePlan& plan) {
  const int dim = plan.row_dimension();
  if (dim < 0) return reduce_directly<Op, T>(plan);
  const std::vector<T> sums = add_up_rows(plan, dim, combination_of<Op, T>());
  reduce_directly<Op, T>(plan.of_sums(dim, reinterpret_cast<const char*>(sums.data()), sizeof(T)));
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // TORCH_REDUCE_INL_H_
