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

#include <aten/native/cpu/Highway-inl.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kShortRow = ReducePlan::kShortRow;
constexpr int64_t kPlainRow = ReducePlan::kPlainRow;

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

template <typename T>
Elements<T> elements_of(const T* data) {
  return {reinterpret_cast<const char*>(data), sizeof(T), nullptr, ElementMap::none};
}
template <typename Op, typename T>
HWY_ATTR T reduce_run(const T* data, int64_t count) {
  return reduce_run<Op>(elements_of(data), count);
}

template <typename Op, typename T>
HWY_NOINLINE HWY_ATTR T add_to_cascade(Cascade<T>& cascade, const T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) cascade.template add<Op>(values[i]);
  return cascade.template result<Op>();
}

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
            Cascade<T> cascade(Op::identity());
            for (int64_t run = 0; run < runs; ++run)
              cascade.template add<Op>(reduce_row(in_offset + plan.reduced_offset(run, 1)));
            total = cascade.template result<Op>();
          }
          *reinterpret_cast<T*>(plan.out + out_offset) = finish(plan, total);
        }
      });
}

// The same, of one result: parts of fixed length for the threads.
template <typename T>
HWY_NOINLINE HWY_ATTR void reduce_long_row(const ReducePlan& plan, const Combination<T>& combination) {
  // Products of as many numbers are on their way to 0, and processors take long for the last ones before it: that way
  // is gone once in a longer part.
  constexpr int64_t kFactors = 1 << 20;
  const bool are_factors = std::is_floating_point_v<T> && combination.identity == T(1);
  const int64_t part = are_factors ? kFactors : ReducePlan::kRunChunk;
  const int64_t length = plan.reduced_sizes[0];
  const int64_t runs = plan.count / length;
  const int64_t chunks = (length + part - 1) / part;
  std::vector<T> partial(static_cast<size_t>(runs * chunks));
  parallel_for(0, runs * chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t start = unit % chunks * part;
      const auto run = elements_at<T>(plan, plan.reduced_offset(unit / chunks, 1), plan.item);
      partial[unit] = combination.run(run.from_place(start), std::min(part, length - start));
    }
  });
  *reinterpret_cast<T*>(plan.out) = finish(plan, combination.run(elements_of(partial.data()), runs * chunks));
}

// `count` elements that lie apart, in blocks.
template <typename T>
HWY_NOINLINE HWY_ATTR T reduce_collected(const Combination<T>& combination, const Elements<T>& elements,
                                         int64_t count) {
  Scratch<T, kRunBlock> block;
  if (count <= kRunBlock) return combination.run(elements_of(elements.read(count, block)), count);
  Cascade<T> cascade(combination.identity);
  T total = combination.identity;
  for (int64_t done = 0; done < count; done += kRunBlock) {
    const int64_t part = std::min(kRunBlock, count - done);
    const T value = combination.run(elements_of(elements.from_place(done).read(part, block)), part);
    total = combination.add(cascade, &value, 1);
  }
  return total;
}

// Any strides.
template <typename T>
HWY_NOINLINE HWY_ATTR void reduce_strided(const ReducePlan& plan, const Combination<T>& combination) {
  constexpr int64_t kLong = 16;    // elements from which on it pays to bring them together
  constexpr int64_t kParts = 256;  // numbers that are combined at once
  const int64_t length = plan.reduced_sizes.empty() ? 1 : plan.reduced_sizes[0];
  const int64_t runs = length == 0 ? 0 : plan.count / length;
  const auto reduce_part = [&](int64_t offset) {
    return reduce_collected(combination, elements_at<T>(plan, offset, plan.reduced_strides[0]), length);
  };
  if (plan.outputs == 1 && length >= kLong) {  // the runs are given out to threads
    std::vector<T> partial(static_cast<size_t>(runs));
    parallel_for(0, runs, std::max<int64_t>(1, kGrainSize / length), [&](int64_t first, int64_t last) {
      for (int64_t run = first; run < last; ++run) partial[run] = reduce_part(plan.reduced_offset(run, 1));
    });
    *reinterpret_cast<T*>(plan.out) = finish(plan, combination.run(elements_of(partial.data()), runs));
    return;
  }
  const bool is_plain = !plan.conversion && plan.map == ElementMap::none;
  const int64_t parts = length >= kLong ? runs : plan.count;
  parallel_for(0, plan.outputs, std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, plan.count)),
               [&](int64_t first, int64_t last) {
                 Scratch<T, kParts> memory;
                 T* const values = memory;
                 for (int64_t i = first; i < last; ++i) {
                   int64_t out_offset;
                   int64_t in_offset;
                   plan.kept_offsets(i, 0, out_offset, in_offset);
                   Cascade<T> cascade(combination.identity);
                   T total = combination.identity;
                   for (int64_t done = 0, count; done < parts; done += count) {
                     count = std::min(kParts, parts - done);
                     for (int64_t j = 0; j < count; ++j) {
                       if (length >= kLong) {
                         values[j] = reduce_part(in_offset + plan.reduced_offset(done + j, 1));
                         continue;
                       }
                       const int64_t offset = in_offset + plan.reduced_offset(done + j);
                       values[j] = is_plain ? *reinterpret_cast<const T*>(plan.in + offset)
                                            : *elements_at<T>(plan, offset, sizeof(T)).read(1, values + j);
                     }
                     total = combination.add(cascade, values, count);
                   }
                   *reinterpret_cast<T*>(plan.out + out_offset) = finish(plan, total);
                 }
               });
}

template <typename T>
HWY_NOINLINE HWY_ATTR void reduce_directly(const ReducePlan& plan, const Combination<T>& combination) {
  switch (plan.way(sizeof(T))) {
    case ReduceWay::short_rows: return combination.reduce_short_rows(plan);
    case ReduceWay::rows: return combination.reduce_rows(plan);
    case ReduceWay::long_row: return reduce_long_row(plan, combination);
    case ReduceWay::narrow_columns: return reduce_narrow_columns(plan, combination);
    case ReduceWay::groups_of_columns: return reduce_groups_of_columns(plan, combination);
    case ReduceWay::columns: return reduce_columns(plan, combination);
    case ReduceWay::strided: return reduce_strided(plan, combination);
  }
}

template <typename T>
HWY_NOINLINE HWY_ATTR void reduce_by(const ReducePlan& plan, const Combination<T>& combination) {
  const int dim = plan.row_dimension();
  if (dim < 0) return reduce_directly(plan, combination);
  const std::vector<T> sums = add_up_rows(plan, dim, combination);
  reduce_directly(plan.of_sums(dim, reinterpret_cast<const char*>(sums.data()), sizeof(T)), combination);
}

template <typename Op, typename T>
HWY_ATTR void reduce(const ReducePlan& plan) {
  // What programs ask for most, with nothing before it.
  if (plan.row_dimension() < 0 && plan.way(sizeof(T)) == ReduceWay::rows) return reduce_rows<Op, T>(plan);
  Combination<T> combination = {Op::identity(),
                                kIsOrderFree<Op, T>,
                                &combine_rows<Op, T, T>,
                                nullptr,
                                nullptr,
                                &reduce_run<Op, T>,
                                &add_to_cascade<Op, T>,
                                &reduce_rows<Op, T>,
                                &reduce_short_rows<Op, T>};
  if constexpr (kWidens<Op, T>) {
    combination.bfloat16_rows = &combine_rows<Op, T, c10::BFloat16>;
    combination.half_rows = &combine_rows<Op, T, c10::Half>;
  }
  reduce_by(plan, combination);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // TORCH_REDUCE_INL_H_
