#include <aten/native/cpu/integer_products.h>

#include <aten/Parallel.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/integer_products.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr int64_t kFewColumns = 8;  // fewer fill no vectors: then the sums run along a row and a column

// Short words are multiplied in unsigned numbers: uint16_t would be in int, which overflows.
template <typename Word>
using Wide = std::conditional_t<sizeof(Word) == 8, uint64_t, uint32_t>;

// The rows of a matrix, one after the other.
template <typename Word>
MatrixOperand<Word> to_rows(MatrixOperand<Word> matrix, int64_t rows, int64_t columns, std::vector<Word>& memory) {
  if (!matrix.transposed) return matrix;
  if (rows == 1 && matrix.leading == 1) return {matrix.data, columns, false};
  memory.resize(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) memory[i * columns + j] = matrix.data[j * matrix.leading + i];
  }
  return {memory.data(), columns, false};
}

// into[j] += factors[0] * rows[0][j] + ...
template <typename Word, int kRows>
TORCH_SIMD void add_rows(Word* HWY_RESTRICT into, const Wide<Word> (&factors)[kRows], const Word* rows, int64_t leading,
                         int64_t count) {
  TORCH_INDEPENDENT
  for (int64_t j = 0; j < count; ++j) {
    Wide<Word> sum = into[j];
    for (int row = 0; row < kRows; ++row) sum += factors[row] * rows[row * leading + j];
    into[j] = static_cast<Word>(sum);
  }
}

// A block of b stays in the cache while rows of a pass over it.
template <typename Word>
TORCH_SIMD void multiply_by_rows(int64_t first, int64_t last, int64_t n, int64_t k, Word alpha, MatrixOperand<Word> a,
                                 MatrixOperand<Word> b, Word* out, int64_t out_leading) {
  constexpr int64_t kInnerBlock = 64;
  constexpr int64_t kColumnBlock = 512;
  const auto factor = [&](int64_t i, int64_t p) HWY_ATTR {
    const Word element = a.transposed ? a.data[p * a.leading + i] : a.data[i * a.leading + p];
    return static_cast<Wide<Word>>(alpha) * static_cast<Wide<Word>>(element);
  };
  for (int64_t column = 0; column < n; column += kColumnBlock) {
    const int64_t width = std::min(n - column, kColumnBlock);
    for (int64_t inner = 0; inner < k; inner += kInnerBlock) {
      const int64_t end = std::min(k, inner + kInnerBlock);
      for (int64_t i = first; i < last; ++i) {
        Word* const row = out + i * out_leading + column;
        int64_t p = inner;
        for (; p + 4 <= end; p += 4) {
          const Wide<Word> factors[] = {factor(i, p), factor(i, p + 1), factor(i, p + 2), factor(i, p + 3)};
          add_rows<Word>(row, factors, b.data + p * b.leading + column, b.leading, width);
        }
        for (; p < end; ++p) {
          const Wide<Word> factors[] = {factor(i, p)};
          add_rows<Word>(row, factors, b.data + p * b.leading + column, b.leading, width);
        }
      }
    }
  }
}

// What registers hold: sums of some rows and of the columns of two vectors.
constexpr int kTileRows = HWY_TARGET <= HWY_AVX3 ? 8 : 4;

// out[i][j] += alpha * a[i][p] * b[p][j] for kRows rows i, the columns j of two vectors, and p in [0, k).
template <int kRows, typename Word>
HWY_ATTR void multiply_tile(int64_t k, Word alpha, const Word* a, int64_t row_step, int64_t column_step, const Word* b,
                            int64_t b_leading, Word* out, int64_t out_leading) {
  const hn::ScalableTag<Word> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<hn::ScalableTag<Word>> sums[kRows][2];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    sums[i][0] = hn::LoadU(d, out + i * out_leading);
    sums[i][1] = hn::LoadU(d, out + i * out_leading + lanes);
  }
  for (int64_t p = 0; p < k; ++p) {
    const auto first = hn::LoadU(d, b + p * b_leading);
    const auto second = hn::LoadU(d, b + p * b_leading + lanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const auto factor = hn::Set(d, static_cast<Word>(alpha * a[i * row_step + p * column_step]));
      sums[i][0] = hn::Add(sums[i][0], hn::Mul(factor, first));
      sums[i][1] = hn::Add(sums[i][1], hn::Mul(factor, second));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    hn::StoreU(sums[i][0], d, out + i * out_leading);
    hn::StoreU(sums[i][1], d, out + i * out_leading + lanes);
  }
}

// All columns that fill two vectors; returns how many these are. A block of b stays in the cache while rows pass.
template <typename Word>
HWY_ATTR int64_t multiply_by_tiles(int64_t first, int64_t last, int64_t n, int64_t k, Word alpha, MatrixOperand<Word> a,
                                   MatrixOperand<Word> b, Word* out, int64_t out_leading) {
  constexpr int64_t kInnerBlock = 256;
  const auto width = static_cast<int64_t>(2 * hn::Lanes(hn::ScalableTag<Word>()));
  const int64_t row_step = a.transposed ? 1 : a.leading;
  const int64_t column_step = a.transposed ? a.leading : 1;
  const int64_t columns = n / width * width;
  std::vector<Word> block(static_cast<size_t>(width * kInnerBlock));
  for (int64_t inner = 0; inner < k; inner += kInnerBlock) {
    const int64_t depth = std::min(k - inner, kInnerBlock);
    for (int64_t column = 0; column < columns; column += width) {
      for (int64_t p = 0; p < depth; ++p) {
        std::copy_n(b.data + (inner + p) * b.leading + column, width, block.data() + p * width);
      }
      const Word* left = a.data + inner * column_step;
      int64_t i = first;
      for (; i + kTileRows <= last; i += kTileRows) {
        multiply_tile<kTileRows>(depth, alpha, left + i * row_step, row_step, column_step, block.data(), width,
                                 out + i * out_leading + column, out_leading);
      }
      for (; i < last; ++i) {
        multiply_tile<1>(depth, alpha, left + i * row_step, row_step, column_step, block.data(), width,
                         out + i * out_leading + column, out_leading);
      }
    }
  }
  return columns;
}

// `columns` has the columns of b as rows.
template <typename Word>
TORCH_SIMD void multiply_by_columns(int64_t first, int64_t last, int64_t n, int64_t k, Word alpha, const Word* a,
                                    int64_t a_leading, MatrixOperand<Word> columns, Word* out, int64_t out_leading) {
  for (int64_t i = first; i < last; ++i) {
    const Word* const row = a + i * a_leading;
    for (int64_t j = 0; j < n; ++j) {
      const Word* const column = columns.data + j * columns.leading;
      Wide<Word> sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += static_cast<Wide<Word>>(row[p]) * static_cast<Wide<Word>>(column[p]);
      Word& result = out[i * out_leading + j];
      result = static_cast<Word>(result + static_cast<Wide<Word>>(alpha) * sum);
    }
  }
}

template <typename Word>
void multiply(int64_t m, int64_t n, int64_t k, Word alpha, MatrixOperand<Word> a, MatrixOperand<Word> b, Word beta,
              Word* out, int64_t out_leading) {
  const bool by_columns = n < kFewColumns && !a.transposed;
  std::vector<Word> memory;
  const MatrixOperand<Word> right = by_columns ? to_rows<Word>({b.data, b.leading, !b.transposed}, n, k, memory)
                                               : to_rows(b, k, n, memory);
  const int64_t grain = std::max<int64_t>(1, kGrainSize / std::max<int64_t>(n * k, 1));
  parallel_for(0, m, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      Word* const row = out + i * out_leading;
      if (beta == 0) {
        std::fill_n(row, n, Word(0));
      } else if (beta != 1) {
        for (int64_t j = 0; j < n; ++j) row[j] = static_cast<Word>(static_cast<Wide<Word>>(beta) * row[j]);
      }
    }
    if (by_columns) multiply_by_columns(first, last, n, k, alpha, a.data, a.leading, right, out, out_leading);
    if (by_columns) return;
    int64_t done = 0;
    if constexpr (sizeof(Word) >= 4) {  // for a few rows blocks of b are not worth copying
      if (last - first >= kTileRows) done = multiply_by_tiles(first, last, n, k, alpha, a, right, out, out_leading);
    }
    multiply_by_rows<Word>(first, last, n - done, k, alpha, a, {right.data + done, right.leading, false}, out + done,
                           out_leading);
  });
}

#define TORCH_INTEGER_GEMM(Name, Word)                                                                            \
  void Name(int64_t m, int64_t n, int64_t k, Word alpha, MatrixOperand<Word> a, MatrixOperand<Word> b, Word beta, \
            Word* out, int64_t out_leading) {                                                                     \
    multiply(m, n, k, alpha, a, b, beta, out, out_leading);                                                       \
  }
TORCH_INTEGER_GEMM(MultiplyBytes, uint8_t)
TORCH_INTEGER_GEMM(MultiplyShorts, uint16_t)
TORCH_INTEGER_GEMM(MultiplyInts, uint32_t)
TORCH_INTEGER_GEMM(MultiplyLongs, uint64_t)
#undef TORCH_INTEGER_GEMM

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

#define TORCH_INTEGER_GEMM(Name, Word)                                                                         \
  HWY_EXPORT(Name);                                                                                            \
  void integer_gemm(int64_t m, int64_t n, int64_t k, Word alpha, MatrixOperand<Word> a, MatrixOperand<Word> b, \
                    Word beta, Word* out, int64_t out_leading) {                                               \
    HWY_DYNAMIC_DISPATCH(Name)(m, n, k, alpha, a, b, beta, out, out_leading);                                  \
  }
TORCH_INTEGER_GEMM(MultiplyBytes, uint8_t)
TORCH_INTEGER_GEMM(MultiplyShorts, uint16_t)
TORCH_INTEGER_GEMM(MultiplyInts, uint32_t)
TORCH_INTEGER_GEMM(MultiplyLongs, uint64_t)
#undef TORCH_INTEGER_GEMM

}  // namespace at::native::cpu
#endif  // HWY_ONCE
