// Rows of sparse matrices: counted, expanded, and multiplied.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Parallel.h>
#include <aten/native/Sparse.h>

#include <hwy/base.h>

#include <cstring>
#include <utility>
#include <vector>

namespace at::native {

void check_row_starts(const Tensor& starts, int64_t nnz) {
  const int64_t rows = starts.numel() - 1;
  const int64_t* start = starts.data_ptr<int64_t>();
  bool valid = start[0] == 0 && start[rows] == nnz;
  for (int64_t row = 0; row < rows; ++row) valid &= start[row] <= start[row + 1];
  TORCH_CHECK(valid, "the compressed indices of a sparse matrix must rise from 0 to the number of its values");
}

namespace {

// expand_compressed, into a contiguous tensor.
void expand_into(const Tensor& out, const Tensor& compressed) {
  if (!out.is_cpu()) {
    at::detail::copy_into(out, expand_compressed(compressed, out.numel()));
    return;
  }
  const Tensor starts = compressed.to(kLong).contiguous();
  check_row_starts(starts, out.numel());
  const int64_t* start = starts.data_ptr<int64_t>();
  int64_t* row_of = out.data_ptr<int64_t>();
  for (int64_t row = 0; row < starts.numel() - 1; ++row) std::fill(row_of + start[row], row_of + start[row + 1], row);
}

}  // namespace

KeyGroups group_by_key(const Tensor& keys, int64_t count) {
  const int64_t nnz = keys.numel();
  const Tensor host_keys = keys.cpu().contiguous();
  KeyGroups groups{at::zeros({count + 1}, host_keys.options()), Tensor()};
  const int64_t* key = host_keys.data_ptr<int64_t>();
  int64_t* start = groups.starts.data_ptr<int64_t>();
  bool sorted = true;
  for (int64_t i = 0; i < nnz; ++i) {
    TORCH_CHECK(key[i] >= 0 && key[i] < count, "index ", key[i], " is out of bounds for a sparse matrix with ", count,
                " rows");
    start[key[i] + 1] += 1;
    sorted = sorted && (i == 0 || key[i - 1] <= key[i]);
  }
  for (int64_t i = 0; i < count; ++i) start[i + 1] += start[i];
  if (sorted) return groups;
  groups.order = at::empty({nnz}, host_keys.options());
  const Tensor next = at::clone(groups.starts);
  int64_t* place = groups.order.data_ptr<int64_t>();
  int64_t* free = next.data_ptr<int64_t>();
  for (int64_t i = 0; i < nnz; ++i) place[free[key[i]]++] = i;
  return groups;
}

Tensor as_coo(const Tensor& self) {
  const SparseParts& parts = parts_of(self, "to_sparse");
  if (parts.layout == kSparse) return self;
  const bool by_rows = parts.layout == kSparseCsr;
  const Tensor indices = at::empty({2, sparse_nnz(self)}, sparse_indices(self).options().dtype(kLong));
  indices[by_rows ? 1 : 0].copy_(sparse_indices(self));
  expand_into(indices[by_rows ? 0 : 1], compressed_indices(self));
  return make_coo(indices, sparse_values(self), self.sizes(), /*is_coalesced=*/by_rows);
}

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

// body(place in the left row, column, place in the right one) for every product that a row of the result is made of.
template <typename Body>
inline void for_each_product(Pattern left, Pattern right, int64_t row, const Body& body) {
  const int64_t end = left.starts[row + 1];
  for (int64_t i = left.starts[row]; i < end; ++i) {
    const int64_t stop = right.starts[left.columns[i] + 1];
    for (int64_t j = right.starts[left.columns[i]]; j < stop; ++j) body(i, right.columns[j], j);
  }
}

// Counts the columns that rows of the product have: a byte for each says which row had it last, by that one's number
// in as many as a byte tells apart.
class ColumnCounter {
 public:
  explicit ColumnCounter(int64_t columns) : seen_(columns) {}

  HWY_NOINLINE int64_t count(Pattern left, Pattern right, int64_t row) {
    if (++number_ == 0) {
      std::fill(seen_.begin(), seen_.end(), uint8_t{0});
      number_ = 1;
    }
    uint8_t* seen = seen_.data();  // bytes may be anything's, these are nobody else's
    const uint8_t number = number_;
    int64_t found = 0;
    for_each_product(left, right, row, [&](int64_t, int64_t column, int64_t) {
      found += seen[column] != number;
      seen[column] = number;
    });
    return found;
  }

 private:
  std::vector<uint8_t> seen_;
  uint8_t number_ = 0;
};

// Which columns a row of the product has: a byte for each, and one for each kBlock of them, so that few are looked
// through where there are few. Bytes, because what is only stored waits for nothing.
class RowPlaces {
 public:
  explicit RowPlaces(int64_t columns)
      : seen_((columns + kBlock - 1) / kBlock * kBlock), blocks_((columns / kBlock + kWord) / kWord * kWord) {}

  // Adds the row's products to `sums`, which has a number for each column.
  template <typename T>
  HWY_NOINLINE void add(Pattern left, const T* x, Pattern right, const T* y, int64_t row, T* sums) {
    uint8_t* seen = seen_.data();
    uint8_t* blocks = blocks_.data();
    for_each_product(left, right, row, [&](int64_t i, int64_t column, int64_t j) {
      seen[column] = 1;
      blocks[column / kBlock] = 1;
      sums[column] += x[i] * y[j];
    });
  }

  // In order; none is left.
  HWY_NOINLINE void write(int64_t* columns) {
    for_words(blocks_.data(), static_cast<int64_t>(blocks_.size()), [&](int64_t first_block, uint64_t block_word) {
      int64_t marked[kWord];
      const int64_t* end = write_word(marked, first_block, block_word);
      for (const int64_t* block = marked; block < end; ++block) {
        const int64_t first = *block * kBlock;
        for_words(seen_.data() + first, kBlock,
                  [&](int64_t at, uint64_t word) { columns = write_word(columns, first + at, word); });
      }
    });
  }

 private:
  static constexpr int64_t kWord = 8;
  static constexpr int64_t kBlock = 16;

  static int64_t* write_word(int64_t* places, int64_t first, uint64_t word) {
    for (; word != 0; word &= word - 1) {
      *places++ = first + static_cast<int64_t>(hwy::Num0BitsBelowLS1Bit_Nonzero64(word)) / 8;
    }
    return places;
  }

  // function(at, word) over the words of marks that are not 0, which become so.
  template <typename Function>
  static void for_words(uint8_t* marks, int64_t count, Function&& function) {
    for (int64_t at = 0; at < count; at += kWord) {
      uint64_t word;
      std::memcpy(&word, marks + at, kWord);
      if (word == 0) continue;
      std::memset(marks + at, 0, kWord);
      function(at, word);
    }
  }

  std::vector<uint8_t> seen_;
  std::vector<uint8_t> blocks_;
};

}  // namespace

// Each row is a sum of rows of the right matrix (Gustavson, 1978): places are counted first, then values are added.
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
    ColumnCounter counter(columns);
    for (int64_t row = first; row < last; ++row) start[row + 1] = counter.count(a, b, row);
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
        places.add(a, x, b, y, row, sums.data());
        places.write(column + start[row]);
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
