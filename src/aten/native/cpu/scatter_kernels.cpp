// gather and scatter: an index per element, along one dimension.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>

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

// What one call works on: `indexed` is addressed through `index` along `dim`, `dense` at index's own places.
struct Plan {
  Plan(const Tensor& indexed, const Tensor& dense, const Tensor& index, int64_t dim)
      : dim(dim), size(indexed.sizes()[dim]) {
    int64_t last = index.dim() - 1;
    while (last > 0 && index.sizes()[last] == 1) --last;
    columns = index.sizes()[last];
    indexed_column = dim == last ? 0 : indexed.strides()[last];
    dense_column = dense.strides()[last];
    index_column = index.strides()[last];
    step = indexed.strides()[dim];
    for (int64_t i = 0; i < last; ++i) {
      outer.push_back(index.sizes()[i]);
      indexed_outer.push_back(i == dim ? 0 : indexed.strides()[i]);
      dense_outer.push_back(dense.strides()[i]);
      index_outer.push_back(index.strides()[i]);
      rows *= index.sizes()[i];
      if (i < dim) groups *= index.sizes()[i];
    }
    // Rows never meet in `indexed` when the indices move along them,
    // and no two elements do when every row has one index.
    rows_are_independent = dim >= last;
    elements_are_independent = dim > last;
    const bool is_dense = dense_column == 1 && index_column == 1;
    is_plain = is_dense && dim == last && step == 1;
    columns_move_together = is_dense && indexed_column == 1;
    one_index_moves_rows = index_column == 0 && dense_column == 1 && indexed_column == 1 && columns > 1;
  }

  int64_t dim;
  int64_t size;
  int64_t columns = 1;
  int64_t rows = 1;
  int64_t groups = 1;  // of rows, which no index leads from one to another
  int64_t indexed_column = 0;
  int64_t dense_column = 0;
  int64_t index_column = 0;
  int64_t step = 0;
  DimVector outer;
  DimVector indexed_outer;
  DimVector dense_outer;
  DimVector index_outer;
  bool rows_are_independent = false;
  bool elements_are_independent = false;
  bool is_plain = false;               // indices along rows of neighbours
  bool columns_move_together = false;  // indices from row to row of neighbours
  bool one_index_moves_rows = false;   // all neighbours of a row by the same index
};

[[noreturn]] C10_NOINLINE void throw_outside(int64_t dim, int64_t size, int64_t index) {
  TORCH_CHECK(false, "index ", index, " is out of bounds for dimension ", dim, " with size ", size);
}

// body(indexed element, dense element) for `count` neighbours of a row.
template <typename T, typename Body>
C10_NOINLINE void run_indices(const Plan& plan, T* indexed, T* dense, const int64_t* index, int64_t count,
                              Body&& body) {
  // Nothing that is written can change these.
  const int64_t step = plan.step;
  const int64_t size = plan.size;
  const int64_t dim = plan.dim;
  const auto checked = [dim, size](int64_t place) {
    if (C10_UNLIKELY(static_cast<uint64_t>(place) >= static_cast<uint64_t>(size))) throw_outside(dim, size, place);
    return place;
  };
  if (plan.one_index_moves_rows) {  // as index_reduce asks for
    T* target = indexed + checked(index[0]) * step;
    AT_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) body(target[i], dense[i]);
  } else if (plan.is_plain) {
    AT_UNROLLED
    for (int64_t i = 0; i < count; ++i) body(indexed[checked(index[i])], dense[i]);
  } else if (plan.columns_move_together) {
    for (int64_t i = 0; i < count; ++i) body(indexed[i + checked(index[i]) * step], dense[i]);
  } else {
    const int64_t indexed_column = plan.indexed_column;
    const int64_t index_column = plan.index_column;
    const int64_t dense_column = plan.dense_column;
    for (int64_t i = 0; i < count; ++i)
      body(indexed[i * indexed_column + checked(index[i * index_column]) * step], dense[i * dense_column]);
  }
}

// body(indexed element, dense element) for every index.
template <typename T, typename Body>
void for_each_index(const Plan& plan, T* indexed, T* dense, const int64_t* index, bool only_reads, Body&& body) {
  const auto run_row = [&](int64_t row, int64_t begin, int64_t end) {
    T* indexed_row = indexed + begin * plan.indexed_column;
    T* dense_row = dense + begin * plan.dense_column;
    const int64_t* index_row = index + begin * plan.index_column;
    for (size_t i = plan.outer.size(); i-- > 0;) {
      const int64_t position = row % plan.outer[i];
      row /= plan.outer[i];
      indexed_row += position * plan.indexed_outer[i];
      dense_row += position * plan.dense_outer[i];
      index_row += position * plan.index_outer[i];
    }
    run_indices(plan, indexed_row, dense_row, index_row, end - begin, body);
  };
  if (!only_reads && !plan.rows_are_independent && plan.groups >= get_num_threads()) {
    const int64_t rows = plan.rows / plan.groups;
    const int64_t work = std::max<int64_t>(1, rows * plan.columns);
    parallel_for(0, plan.groups, std::max<int64_t>(1, kGrainSize / work), [&](int64_t first, int64_t last) {
      for (int64_t row = first * rows; row < last * rows; ++row) run_row(row, 0, plan.columns);
    });
    return;
  }
  if (!only_reads && !plan.rows_are_independent) {  // but columns are
    parallel_for(0, plan.columns, std::max<int64_t>(1, kGrainSize / plan.rows), [&](int64_t first, int64_t last) {
      for (int64_t row = 0; row < plan.rows; ++row) run_row(row, first, last);
    });
    return;
  }
  const bool splits_rows = only_reads || plan.elements_are_independent;
  const int64_t piece = std::max<int64_t>(1, splits_rows ? std::min(plan.columns, kGrainSize) : plan.columns);
  const int64_t pieces = (plan.columns + piece - 1) / piece;
  parallel_for(0, plan.rows * pieces, std::max<int64_t>(1, kGrainSize / piece), [&](int64_t first, int64_t last) {
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t begin = unit % pieces * piece;
      run_row(unit / pieces, begin, std::min(plan.columns, begin + piece));
    }
  });
}

}  // namespace

void gather_kernel(const Tensor& out, const Tensor& given, int64_t dim, const Tensor& index) {
  const Tensor self = dim + 1 == given.dim() ? with_near_columns(given, index) : given;
  const Plan plan(self, out, index, dim);
  dispatch_word(self.element_size(), [&](auto word) {
    using Word = decltype(word);
    for_each_index(plan, static_cast<Word*>(self.data_ptr()), static_cast<Word*>(out.data_ptr()),
                   index.data_ptr<int64_t>(),
                   /*only_reads=*/true, [](Word from, Word& to) { to = from; });
  });
}

void scatter_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& given) {
  const Tensor src = with_near_columns(given, index);
  const Plan plan(self, src, index, dim);
  dispatch_word(self.element_size(), [&](auto word) {
    using Word = decltype(word);
    for_each_index(plan, static_cast<Word*>(self.data_ptr()), static_cast<Word*>(src.data_ptr()),
                   index.data_ptr<int64_t>(),
                   /*only_reads=*/false, [](Word& to, Word from) { to = from; });
  });
}

void scatter_add_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& given) {
  const Tensor src = with_near_columns(given, index);
  const Plan plan(self, src, index, dim);
  dispatch_stored_types(self.dtype(), "scatter_add", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    for_each_index(plan, self.data_ptr<scalar_t>(), src.data_ptr<scalar_t>(), index.data_ptr<int64_t>(),
                   /*only_reads=*/false,
                   [](scalar_t& to, scalar_t from) { to = static_cast<scalar_t>(to + from); });
  });
}

namespace {

template <Reduction kReduction, typename T>
T reduced(T a, T b) {
  if constexpr (kReduction == Reduction::sum) return static_cast<T>(a + b);
  if constexpr (kReduction == Reduction::product) return static_cast<T>(a * b);
  if constexpr (!c10::is_complex_v<T>) {  // these have no order, and are not asked for
    // NaN wins and stays.
    if constexpr (kReduction == Reduction::greatest) return b > a || b != b ? b : a;
    if constexpr (kReduction == Reduction::least) return b < a || b != b ? b : a;
  }
  return a;
}

// body(the reduction as a constant)
template <typename Body>
void dispatch_reduction(Reduction reduction, Body&& body) {
  switch (reduction) {
    case Reduction::sum: return body(std::integral_constant<Reduction, Reduction::sum>());
    case Reduction::product: return body(std::integral_constant<Reduction, Reduction::product>());
    case Reduction::greatest: return body(std::integral_constant<Reduction, Reduction::greatest>());
    case Reduction::least: return body(std::integral_constant<Reduction, Reduction::least>());
  }
}

}  // namespace

void scatter_reduce_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           Reduction reduction) {
  const Plan plan(self, src, index, dim);
  const auto run = [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    dispatch_reduction(reduction, [&](auto kind) {
      for_each_index(plan, self.data_ptr<scalar_t>(), src.data_ptr<scalar_t>(), index.data_ptr<int64_t>(),
                     /*only_reads=*/false,
                     [](scalar_t& to, scalar_t from) { to = reduced<decltype(kind)::value>(to, from); });
    });
  };
  if (self.is_complex()) dispatch_complex_types(self.dtype(), "scatter_reduce", run);
  else dispatch_all_types(self.dtype(), "scatter_reduce", run);
}

}  // namespace at::native::cpu
