// The product of two sparse matrices, row by row: each is a sum of rows of the right matrix (Gustavson, 1978).

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Parallel.h>
#include <aten/native/Sparse.h>

#include <vector>

namespace at::native {

namespace {

void check_rows(const SparseRows& rows, int64_t bound) {
  check_row_starts(rows.starts, rows.columns.numel());
  const int64_t* column = rows.columns.data_ptr<int64_t>();
  bool inside = true;
  for (int64_t i = 0; i < rows.columns.numel(); ++i) {
    inside &= static_cast<uint64_t>(column[i]) < static_cast<uint64_t>(bound);
  }
  TORCH_CHECK_INDEX(inside, "an index of a sparse matrix is out of bounds for ", bound, " columns");
}

struct Pattern {
  const int64_t* starts;
  const int64_t* columns;
};

// Which columns a row of the product has. Rows that meet few elements keep a list of them, others look through all.
class RowPlaces {
 public:
  explicit RowPlaces(int64_t columns) : seen_(columns) {}

  void add(const Pattern& left, const Pattern& right, int64_t row) {
    list_.clear();
    int64_t met = 0;
    const int64_t end = left.starts[row + 1];
    for (int64_t i = left.starts[row]; i < end; ++i) {
      met += right.starts[left.columns[i] + 1] - right.starts[left.columns[i]];
    }
    is_short_ = met < static_cast<int64_t>(seen_.size()) / 16;
    for (int64_t i = left.starts[row]; i < end; ++i) {
      const int64_t stop = right.starts[left.columns[i] + 1];
      for (int64_t j = right.starts[left.columns[i]]; j < stop; ++j) {
        const int64_t column = right.columns[j];
        if (is_short_ && !seen_[column]) list_.push_back(column);
        seen_[column] = 1;
      }
    }
  }

  int64_t count() const {
    if (is_short_) return static_cast<int64_t>(list_.size());
    int64_t sum = 0;
    for (const uint8_t mark : seen_) sum += mark;
    return sum;
  }

  // In order; `count` of them.
  void write(int64_t* columns, int64_t count) {
    if (is_short_) {
      std::sort(list_.begin(), list_.end());
      std::copy(list_.begin(), list_.end(), columns);
      return;
    }
    for (int64_t at = 0, column = 0; at < count; ++column) {
      columns[at] = column;
      at += seen_[column];
    }
  }

  void clear() {
    if (!is_short_) std::fill(seen_.begin(), seen_.end(), uint8_t{0});
    for (const int64_t column : list_) seen_[column] = 0;
  }

 private:
  std::vector<uint8_t> seen_;
  std::vector<int64_t> list_;
  bool is_short_ = false;
};

}  // namespace

SparseRows multiply_sparse_rows(const SparseRows& left, const SparseRows& right, int64_t columns) {
  const int64_t rows = left.starts.numel() - 1;
  check_rows(left, right.starts.numel() - 1);
  check_rows(right, columns);
  const Pattern a{left.starts.data_ptr<int64_t>(), left.columns.data_ptr<int64_t>()};
  const Pattern b{right.starts.data_ptr<int64_t>(), right.columns.data_ptr<int64_t>()};
  SparseRows product{at::zeros({rows + 1}, left.starts.options()), Tensor(), Tensor()};
  int64_t* start = product.starts.data_ptr<int64_t>();
  const int64_t grain = rows / 64 + 1;  // each thread has an array of all columns
  parallel_for(0, rows, grain, [&](int64_t first, int64_t last) {
    RowPlaces places(columns);
    for (int64_t row = first; row < last; ++row) {
      places.add(a, b, row);
      start[row + 1] = places.count();
      places.clear();
    }
  });
  for (int64_t row = 0; row < rows; ++row) start[row + 1] += start[row];
  product.columns = at::empty({start[rows]}, left.columns.options());
  product.values = at::empty({start[rows]}, left.values.options());
  int64_t* column = product.columns.data_ptr<int64_t>();
  const auto fill = [&](auto type) {
    using T = typename decltype(type)::type;
    const T* x = left.values.data_ptr<T>();
    const T* y = right.values.data_ptr<T>();
    T* out = product.values.data_ptr<T>();
    parallel_for(0, rows, grain, [&](int64_t first, int64_t last) {
      RowPlaces places(columns);
      std::vector<T> sums(columns);
      for (int64_t row = first; row < last; ++row) {
        places.add(a, b, row);
        places.write(column + start[row], start[row + 1] - start[row]);
        places.clear();
        for (int64_t i = a.starts[row]; i < a.starts[row + 1]; ++i) {
          const T value = x[i];
          const int64_t stop = b.starts[a.columns[i] + 1];
          for (int64_t j = b.starts[a.columns[i]]; j < stop; ++j) sums[b.columns[j]] += value * y[j];
        }
        for (int64_t at = start[row]; at < start[row + 1]; ++at) out[at] = std::exchange(sums[column[at]], T(0));
      }
    });
  };
  switch (left.values.dtype()) {
    case kFloat: fill(TypeTag<float>()); break;
    case kDouble: fill(TypeTag<double>()); break;
    case kLong: fill(TypeTag<int64_t>()); break;
    case kComplexFloat: fill(TypeTag<c10::complex<float>>()); break;
    case kComplexDouble: fill(TypeTag<c10::complex<double>>()); break;
    default: at::detail::throw_dtype_not_implemented("sparse_sparse_matmul", left.values.dtype());
  }
  return product;
}

}  // namespace at::native
