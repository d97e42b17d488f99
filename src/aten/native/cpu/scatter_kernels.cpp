// gather and scatter: an index per element, along one dimension.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <vector>

// A loop's own steps would take as long as the moves.
#if defined(__clang__)
#define AT_UNROLLED _Pragma("unroll 4")
#define AT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define AT_UNROLLED _Pragma("GCC unroll 4")
#define AT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define AT_UNROLLED
#define AT_INDEPENDENT
#endif

namespace at::native::cpu {

namespace {

// For a tensor that `index` goes through row by row, while the elements of a row lie further apart than those of a
// column: a copy whose rows lie side by side takes whole cache lines, and each element of such a row one of its own.
Tensor with_near_columns(const Tensor& tensor, const Tensor& index) {
  if (tensor.dim() < 2 || index.numel() < tensor.numel()) return tensor;
  const int64_t step = std::abs(tensor.strides().back());
  const auto is_nearer = [&](size_t dim) {
    return tensor.sizes()[dim] > 1 && tensor.strides()[dim] != 0 && std::abs(tensor.strides()[dim]) < step;
  };
  for (size_t dim = 0; dim + 1 < tensor.sizes().size(); ++dim) {
    if (is_nearer(dim)) return at::detail::to_contiguous(tensor);
  }
  return tensor;
}

// A dimension of what one call works on: steps are in elements.
struct Axis {
  int64_t size;
  int64_t indexed, dense, index;  // from an element to the next one
  bool moves;                     // whether the indices count along it

  // Whether `inner`, the next faster one, goes on where this one does.
  bool continues(const Axis& inner) const {
    return !moves && !inner.moves && indexed == inner.size * inner.indexed && dense == inner.size * inner.dense &&
           index == inner.size * inner.index;
  }
};

// What one call works on: `indexed` is addressed through `index` along `dim`, `dense` at index's own places.
struct Plan {
  Plan(const Tensor& indexed, const Tensor& dense, const Tensor& index, int64_t dim)
      : dim(dim), size(indexed.sizes()[dim]), step(indexed.strides()[dim]), item(indexed.element_size()) {
    for (int64_t i = 0; i < index.dim(); ++i) {
      Axis axis{index.sizes()[i], i == dim ? 0 : indexed.strides()[i], dense.strides()[i], index.strides()[i],
                i == dim};
      if (axis.size == 1) continue;
      if (!outer.empty() && outer.back().continues(axis)) {
        axis.size *= outer.back().size;
        outer.pop_back();
      }
      outer.push_back(axis);
    }
    if (!outer.empty()) {
      columns = outer.back();
      outer.pop_back();
    }
    bool is_within = false;
    for (const Axis& axis : outer) {
      is_within |= axis.moves;
      rows *= axis.size;
      if (!is_within) groups *= axis.size;
    }
    // Rows never meet in `indexed` when the indices move along them,
    // and no two elements do when every row has one index.
    elements_are_independent = index.sizes()[dim] == 1;
    rows_are_independent = columns.moves || elements_are_independent;
  }

  int64_t dim;
  int64_t size;
  int64_t step;
  size_t item;  // bytes of an element
  Axis columns{1, 0, 0, 0, false};
  std::vector<Axis> outer;
  int64_t rows = 1;
  int64_t groups = 1;  // of rows, which no index leads from one to another
  bool rows_are_independent = false;
  bool elements_are_independent = false;
};

[[noreturn]] C10_NOINLINE void throw_outside(int64_t dim, int64_t size, int64_t index) {
  TORCH_CHECK(false, "index ", index, " is out of bounds for dimension ", dim, " with size ", size);
}

// Operation()(indexed element, dense element) for `count` neighbours along an axis.
template <typename T, typename Operation>
void run_indices(const Plan& plan, const Axis& axis, void* indexed_data, void* dense_data, const int64_t* index,
                 int64_t count) {
  auto* const indexed = static_cast<T*>(indexed_data);
  auto* const dense = static_cast<T*>(dense_data);
  constexpr Operation operation{};
  // Nothing that is written can change these.
  const int64_t step = plan.step;
  const int64_t size = plan.size;
  const int64_t dim = plan.dim;
  const auto checked = [dim, size](int64_t place) {
    if (C10_UNLIKELY(static_cast<uint64_t>(place) >= static_cast<uint64_t>(size))) throw_outside(dim, size, place);
    return place;
  };
  const bool is_dense = axis.dense == 1 && axis.index == 1;
  if (axis.index == 0 && axis.dense == 1 && axis.indexed == 1) {  // one index for all, as index_reduce asks for
    T* target = indexed + checked(index[0]) * step;
    AT_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) operation(target[i], dense[i]);
  } else if (is_dense && axis.moves && step == 1) {  // indices along rows of neighbours
    AT_UNROLLED
    for (int64_t i = 0; i < count; ++i) operation(indexed[checked(index[i])], dense[i]);
  } else if (is_dense && axis.indexed == 1) {  // from row to row of neighbours
    for (int64_t i = 0; i < count; ++i) operation(indexed[i + checked(index[i]) * step], dense[i]);
  } else {
    const int64_t indexed_step = axis.indexed;
    const int64_t index_step = axis.index;
    const int64_t dense_step = axis.dense;
    for (int64_t i = 0; i < count; ++i)
      operation(indexed[i * indexed_step + checked(index[i * index_step]) * step], dense[i * dense_step]);
  }
}
using RunIndices = void (*)(const Plan&, const Axis&, void*, void*, const int64_t*, int64_t);

// What a run works on.
struct Place {
  char* indexed;
  char* dense;
  const int64_t* index;

  Place moved(const Axis& axis, int64_t count, size_t item) const {
    const auto bytes = static_cast<int64_t>(item);
    return {indexed + count * axis.indexed * bytes, dense + count * axis.dense * bytes, index + count * axis.index};
  }
};

// Columns [begin, end) of rows [first, last). Indices that move along an axis are taken in its order.
void run_rows(const Plan& plan, const Place& origin, RunIndices run, int64_t first, int64_t last, int64_t begin,
              int64_t end) {
  constexpr int64_t kShortRow = 16;
  constexpr int64_t kRowBlock = 128;  // short rows that stay in the first cache
  const int64_t width = end - begin;
  const Axis next = plan.outer.empty() ? Axis{1, 0, 0, 0, false} : plan.outer.back();
  while (first < last) {
    Place place = origin.moved(plan.columns, begin, plan.item);
    int64_t rest = first;
    for (size_t i = plan.outer.size(); i-- > 0; rest /= plan.outer[i].size) {
      place = place.moved(plan.outer[i], rest % plan.outer[i].size, plan.item);
    }
    const int64_t left = std::min(last - first, next.size - first % next.size);
    if (width < kShortRow && left > width) {  // columns of many rows, one after the other
      const int64_t rows = std::min(left, kRowBlock);
      for (int64_t column = 0; column < width; ++column) {
        const Place top = place.moved(plan.columns, column, plan.item);
        run(plan, next, top.indexed, top.dense, top.index, rows);
      }
      first += rows;
      continue;
    }
    for (int64_t row = 0; row < left; ++row) {
      run(plan, plan.columns, place.indexed, place.dense, place.index, width);
      place = place.moved(next, 1, plan.item);
    }
    first += left;
  }
}

// Operation()(indexed element, dense element) for every index.
void for_each_index(const Plan& plan, const Place& origin, bool only_reads, RunIndices run) {
  const int64_t columns = plan.columns.size;
  if (!only_reads && !plan.rows_are_independent && plan.groups >= get_num_threads()) {
    const int64_t rows = plan.rows / plan.groups;
    const int64_t work = std::max<int64_t>(1, rows * columns);
    parallel_for(0, plan.groups, std::max<int64_t>(1, kGrainSize / work), [&](int64_t first, int64_t last) {
      run_rows(plan, origin, run, first * rows, last * rows, 0, columns);
    });
    return;
  }
  if (!only_reads && !plan.rows_are_independent) {  // but columns are
    parallel_for(0, columns, std::max<int64_t>(1, kGrainSize / plan.rows), [&](int64_t first, int64_t last) {
      run_rows(plan, origin, run, 0, plan.rows, first, last);
    });
    return;
  }
  const bool splits_rows = only_reads || plan.elements_are_independent;
  const int64_t piece = std::max<int64_t>(1, splits_rows ? std::min(columns, kGrainSize) : columns);
  const int64_t pieces = (columns + piece - 1) / piece;
  parallel_for(0, plan.rows * pieces, std::max<int64_t>(1, kGrainSize / piece), [&](int64_t first, int64_t last) {
    if (pieces == 1) return run_rows(plan, origin, run, first, last, 0, columns);
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t begin = unit % pieces * piece;
      run_rows(plan, origin, run, unit / pieces, unit / pieces + 1, begin, std::min(columns, begin + piece));
    }
  });
}
Place origin_of(const Tensor& indexed, const Tensor& dense, const Tensor& index) {
  return {static_cast<char*>(indexed.data_ptr()), static_cast<char*>(dense.data_ptr()), index.data_ptr<int64_t>()};
}

struct Take {
  template <typename T>
  void operator()(const T& from, T& to) const { to = from; }
};
struct Put {
  template <typename T>
  void operator()(T& to, const T& from) const { to = from; }
};

template <Reduction kReduction>
struct Reduce {
  template <typename T>
  void operator()(T& to, const T& from) const { to = reduced(to, from); }

 private:
  template <typename T>
  static T reduced(T a, T b) {
    if constexpr (kReduction == Reduction::sum) return static_cast<T>(a + b);
    else if constexpr (kReduction == Reduction::product) return static_cast<T>(a * b);
    else if constexpr (kReduction == Reduction::greatest) return b > a || b != b ? b : a;  // NaN wins and stays
    else return b < a || b != b ? b : a;
  }
};

// Types share code where that does the same.
template <typename T, Reduction kReduction>
RunIndices find_reduction() {
  constexpr bool is_greatest = kReduction == Reduction::greatest;
  constexpr bool is_extreme = is_greatest || kReduction == Reduction::least;
  if constexpr (c10::is_complex_v<T> && is_extreme) return nullptr;  // these have no order, and are not asked for
  else if constexpr (std::is_same_v<T, bool> && is_extreme)
    return find_reduction<T, is_greatest ? Reduction::sum : Reduction::product>();
  else if constexpr (std::is_same_v<T, int8_t> && !is_extreme) return find_reduction<uint8_t, kReduction>();
  else return &run_indices<T, Reduce<kReduction>>;
}

}  // namespace

void gather_kernel(const Tensor& out, const Tensor& given, int64_t dim, const Tensor& index) {
  const Tensor self = dim + 1 == given.dim() ? with_near_columns(given, index) : given;
  dispatch_word(self.element_size(), [&](auto word) {
    for_each_index(Plan(self, out, index, dim), origin_of(self, out, index), /*only_reads=*/true,
                   &run_indices<decltype(word), Take>);
  });
}

void scatter_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& given) {
  const Tensor src = with_near_columns(given, index);
  dispatch_word(self.element_size(), [&](auto word) {
    for_each_index(Plan(self, src, index, dim), origin_of(self, src, index), /*only_reads=*/false,
                   &run_indices<decltype(word), Put>);
  });
}

void scatter_add_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& given) {
  const Tensor src = with_near_columns(given, index);
  const RunIndices run = dispatch_added_types(self.dtype(), "scatter_add", [&](auto type) {
    return find_reduction<typename decltype(type)::type, Reduction::sum>();
  });
  for_each_index(Plan(self, src, index, dim), origin_of(self, src, index), /*only_reads=*/false, run);
}

void scatter_reduce_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           Reduction reduction) {
  const auto find = [&](auto type) -> RunIndices {
    using T = typename decltype(type)::type;
    switch (reduction) {
      case Reduction::sum: return find_reduction<T, Reduction::sum>();
      case Reduction::product: return find_reduction<T, Reduction::product>();
      case Reduction::greatest: return find_reduction<T, Reduction::greatest>();
      default: return find_reduction<T, Reduction::least>();
    }
  };
  const RunIndices run = self.is_complex() ? dispatch_complex_types(self.dtype(), "scatter_reduce", find)
                                           : dispatch_all_types(self.dtype(), "scatter_reduce", find);
  for_each_index(Plan(self, src, index, dim), origin_of(self, src, index), /*only_reads=*/false, run);
}

}  // namespace at::native::cpu
