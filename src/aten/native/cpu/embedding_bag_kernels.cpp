// The functions of EmbeddingBag.h. The columns of a bag are computed a few vectors at a time, which stay in registers
// while the bag's rows pass.

#include <aten/Dispatch.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/EmbeddingBag.h>

#include <algorithm>

#include <hwy/cache_control.h>

#ifndef TORCH_EMBEDDING_BAG_ONCE
#define TORCH_EMBEDDING_BAG_ONCE
namespace at::native::cpu {
namespace {

int64_t bags_for_thread(const Bags& bags, int64_t columns) {
  const int64_t work = (bags.starts.back() + bags.count()) * std::max<int64_t>(columns, 1);
  return std::max<int64_t>(1, kGrainSize * bags.count() / std::max<int64_t>(work, 1));
}

}  // namespace
}  // namespace at::native::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/embedding_bag_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/StoredVectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr int64_t kAhead = 16;  // rows that are asked for before they are needed

// body(first column, columns between vectors, columns of a vector, vectors) for the columns of a row: eight vectors at a
// time, unless four are as long, then four, two, and one. The last ones begin earlier where not all of them is left;
// only in a row that is shorter than a vector the one has fewer columns.
template <typename D, typename Body>
HWY_INLINE HWY_ATTR void for_each_block(D d, int64_t columns, const Body& body) {
  [[maybe_unused]] const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t column = 0;
#if HWY_TARGET == HWY_SCALAR  // one number after the other
  for (; column < columns; ++column) body(column, 1, 1, std::integral_constant<int, 1>());
#else
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<D>) <= 32) {
    for (; column + 8 * lanes <= columns; column += 8 * lanes) {
      body(column, lanes, lanes, std::integral_constant<int, 8>());
    }
  }
  for (; column + 4 * lanes <= columns; column += 4 * lanes) {
    body(column, lanes, lanes, std::integral_constant<int, 4>());
  }
  const int64_t last = std::max<int64_t>(0, columns - lanes);
  for (; column < last; column += 2 * lanes) {
    body(column, std::min(column + lanes, last) - column, lanes, std::integral_constant<int, 2>());
  }
  if (column < columns) {
    body(std::min(column, last), lanes, std::min(lanes, columns), std::integral_constant<int, 1>());
  }
#endif
}
// Of a row that is shorter than a vector, what comes behind it is loaded, too, up to `end`.
template <typename Element, typename D>
HWY_INLINE HWY_ATTR hn::Vec<D> load_before(D d, const Element* from, int64_t count, const Element* end) {
  if (HWY_LIKELY(end - from >= static_cast<int64_t>(hn::Lanes(d)))) return load_stored(d, from);
  return load_stored_part(d, from, count);
}

template <typename Element>
struct BagTable {
  const Bags& bags;
  const Element* elements;
  const Element* end;
  int64_t columns;
  // Whether more of the table is read than the nearest cache holds.
  bool is_large;
};
template <typename Element>
BagTable<Element> bag_table(const Bags& bags, const Tensor& table) {
  constexpr int64_t kNear = 1 << 15;
  const Element* const elements = table.data_ptr<Element>();
  return {bags, elements, elements + table.numel(), table.sizes()[1], static_cast<int64_t>(table.nbytes()) > kNear};
}

// Below 0 or not, which vectors of any processor see: an index, or how many rows come behind it.
bool AreRows(const int64_t* indices, int64_t count, int64_t rows) {
  const hn::ScalableTag<int64_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto last = hn::Set(d, rows - 1);
  auto outside = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto index = hn::LoadU(d, indices + i);
    outside = hn::Or(outside, hn::Or(index, hn::Sub(last, index)));
  }
  bool are_inside = hn::AllFalse(d, hn::Lt(outside, hn::Zero(d)));
  for (; i < count; ++i) are_inside &= indices[i] >= 0 && indices[i] < rows;
  return are_inside;
}

template <int kVectors, typename Element, typename D>
HWY_NOINLINE HWY_ATTR void sum_columns(D d, const BagTable<Element>& table, int64_t first, int64_t end, int64_t column,
                                       int64_t step, int64_t count, const Element* factors, bool mean, Element* out) {
  using Number = hn::TFromD<D>;
  constexpr int kInLine = std::max<int>(1, 64 / (hn::MaxLanes(D()) * sizeof(Element)));  // vectors of a line of cache
  const int64_t* const indices = table.bags.indices;
  const int64_t padding = table.bags.padding;
  const int64_t last = table.is_large ? table.bags.starts.back() - kAhead : 0;
  int64_t place = table.bags.starts[first];
  for (int64_t bag = first; bag < end; ++bag) {
    hn::Vec<D> sums[kVectors];
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) sums[i] = hn::Zero(d);
    int64_t rows = 0;
    auto factor = hn::Set(d, Number{1});
    for (const int64_t stop = table.bags.starts[bag + 1]; place < stop; ++place) {
      if (place < last) {
        const Element* next = table.elements + indices[place + kAhead] * table.columns + column;
#pragma GCC unroll 8
        for (int i = 0; i < kVectors; i += kInLine) hwy::Prefetch(next + i * step);
      }
      if (indices[place] == padding) continue;
      ++rows;
      const Element* row = table.elements + indices[place] * table.columns + column;
      if (factors) factor = hn::Set(d, static_cast<Number>(factors[place]));
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) {
        const auto part = kVectors > 1 ? load_stored(d, row + i * step) : load_before(d, row, count, table.end);
        sums[i] = hn::MulAdd(part, factor, sums[i]);
      }
    }
    const auto divisor = hn::Set(d, static_cast<Number>(std::max<int64_t>(rows, 1)));
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      if (mean) sums[i] = hn::Div(sums[i], divisor);
      Element* const to = out + bag * table.columns + column + i * step;
      if (kVectors > 1) store_stored(d, sums[i], to);
      else store_some(d, sums[i], to, count);
    }
  }
}

void SumBags(const Tensor& out, const Tensor& table, const Bags& bags, const Tensor& factors, bool mean) {
  constexpr int64_t kTogether = 16;  // bags, whose rows stay in the first cache
  dispatch_stored_floating_types(table.dtype(), "embedding_bag", [&](auto type) {
    using Element = typename decltype(type)::type;
    const auto plan = bag_table<Element>(bags, table);
    const Element* const factor = factors.defined() ? factors.data_ptr<Element>() : nullptr;
    Element* const results = out.data_ptr<Element>();
    parallel_for(0, bags.count(), bags_for_thread(bags, plan.columns), [&](int64_t first, int64_t last) HWY_ATTR {
      const auto sum = [&](auto d) HWY_ATTR {
        for (int64_t bag = first; bag < last; bag += kTogether) {
          for_each_block(d, plan.columns, [&](int64_t column, int64_t step, int64_t count, auto vectors) HWY_ATTR {
            sum_columns<vectors.value>(d, plan, bag, std::min(last, bag + kTogether), column, step, count, factor, mean,
                                       results);
          });
        }
      };
      const hn::ScalableTag<Computed<Element>> wide;
      if constexpr (hn::MaxLanes(wide) == 16) {  // rows of 8 to 15 numbers fill halves of vectors
        if (plan.columns >= 8 && plan.columns < 16) return sum(hn::Half<decltype(wide)>());
      }
      with_vectors_for<Computed<Element>>(plan.columns, sum);
    });
  });
}

// The first row of a bag stands, whatever its numbers are; a later one where it is greater.
template <typename Element, typename D>
HWY_ATTR void max_columns(D d, const BagTable<Element>& table, int64_t bag, int64_t column, int64_t count, Element* out,
                          int64_t* rows) {
  const hn::RebindToSigned<D> integers;
  using Integer = hn::TFromD<decltype(integers)>;
  const int64_t* const indices = table.bags.indices + table.bags.starts[bag];
  const int64_t size = table.bags.starts[bag + 1] - table.bags.starts[bag];
  auto greatest = hn::Zero(d);
  auto places = hn::Set(integers, Integer{-1});
  bool is_first = true;
  for (int64_t place = 0; place < size; ++place) {
    if (indices[place] == table.bags.padding) continue;
    const auto row = load_before(d, table.elements + indices[place] * table.columns + column, count, table.end);
    const auto here = hn::Set(integers, static_cast<Integer>(place));
    const auto wins = hn::Gt(row, greatest);
    greatest = is_first ? row : hn::IfThenElse(wins, row, greatest);
    places = is_first ? here : hn::IfThenElse(hn::RebindMask(integers, wins), here, places);
    is_first = false;
  }
  store_some(d, greatest, out + column, count);
  HWY_ALIGN Integer found[hn::MaxLanes(D())];
  hn::Store(places, integers, found);
  for (int64_t i = 0; i < count; ++i) rows[column + i] = found[i] < 0 ? 0 : indices[found[i]];
}

void MaxBags(const Tensor& out, const Tensor& rows, const Tensor& table, const Bags& bags) {
  dispatch_stored_floating_types(table.dtype(), "embedding_bag", [&](auto type) {
    using Element = typename decltype(type)::type;
    const auto plan = bag_table<Element>(bags, table);
    parallel_for(0, bags.count(), bags_for_thread(bags, plan.columns), [&](int64_t first, int64_t last) HWY_ATTR {
      const hn::ScalableTag<Computed<Element>> d;
      const auto lanes = static_cast<int64_t>(hn::Lanes(d));
      for (int64_t bag = first; bag < last; ++bag) {
        for (int64_t column = 0; column < plan.columns; column += lanes) {
          max_columns(d, plan, bag, column, std::min(lanes, plan.columns - column),
                      out.data_ptr<Element>() + bag * plan.columns, rows.data_ptr<int64_t>() + bag * plan.columns);
        }
      }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(AreRows);
HWY_EXPORT(SumBags);
HWY_EXPORT(MaxBags);

bool are_rows(const int64_t* indices, int64_t count, int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(AreRows)(indices, count, rows);
}

void sum_bags(const Tensor& out, const Tensor& table, const Bags& bags, const Tensor& factors, bool mean) {
  HWY_DYNAMIC_DISPATCH(SumBags)(out, table, bags, factors, mean);
}

void max_bags(const Tensor& out, const Tensor& rows, const Tensor& table, const Bags& bags) {
  HWY_DYNAMIC_DISPATCH(MaxBags)(out, rows, table, bags);
}

// Each thread has some of the table's rows, and looks at all bags: every row is added up in the order of the indices.
void add_bags_gradient(const Tensor& table_grad, const Tensor& grad, const Bags& bags, const Tensor& factors,
                       bool mean) {
  const int64_t rows = table_grad.sizes()[0];
  const int64_t columns = table_grad.sizes()[1];
  const int64_t work = std::max<int64_t>(1, bags.starts.back() * columns);
  dispatch_stored_floating_types(grad.dtype(), "embedding_bag", [&](auto type) {
    using Element = typename decltype(type)::type;
    using Number = std::conditional_t<c10::is_reduced_floating_v<Element>, float, Element>;
    const Element* const factor = factors.defined() ? factors.data_ptr<Element>() : nullptr;
    parallel_for(0, rows, std::max<int64_t>(1, rows * kGrainSize / work), [&](int64_t first, int64_t last) {
      for (int64_t bag = 0; bag < bags.count(); ++bag) {
        const Element* const slope = grad.data_ptr<Element>() + bag * columns;
        const int64_t* const begin = bags.indices + bags.starts[bag];
        const int64_t* const end = bags.indices + bags.starts[bag + 1];
        const auto size = mean ? end - begin - std::count(begin, end, bags.padding) : 1;
        for (const int64_t* place = begin; place < end; ++place) {
          if (*place < first || *place >= last || *place == bags.padding) continue;
          const Number scale = (factor ? static_cast<Number>(factor[place - bags.indices]) : Number(1)) /
                               static_cast<Number>(size);
          Element* const target = table_grad.data_ptr<Element>() + *place * columns;
          for (int64_t column = 0; column < columns; ++column) {
            const Number addend = static_cast<Number>(slope[column]) * scale;
            target[column] = static_cast<Element>(static_cast<Number>(target[column]) + addend);
          }
        }
      }
    });
  });
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
