#pragma once
// Matrix products by own panels (gathered_products.h).

#include <aten/Parallel.h>
#include <aten/native/cpu/Scratch.h>
#include <aten/native/cpu/blas.h>
#include <aten/native/cpu/gathered_products.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace at::native::cpu {

// Whether the BLAS leaves the widest vectors of this processor unused: MKL does, on those that are not Intel's.
bool panels_beat_blas();

// As gemm (blas.h), for float and double.
template <typename T>
void panel_gemm(int64_t m, int64_t n, int64_t k, T alpha, MatrixOperand<T> a, MatrixOperand<T> b, T beta, T* out,
                int64_t out_leading);

// Products of small matrices of the same sizes that lie alike, one after the other: what is the same for all is done
// once. For float and double.
template <typename T>
class SmallProduct {
 public:
  // Of [m, k] and [k, n], into lines of `out_leading` elements; the operands' data does not count.
  SmallProduct(int64_t m, int64_t n, int64_t k, MatrixOperand<T> a, MatrixOperand<T> b, int64_t out_leading);
  // Whether it takes less than gemm.
  static bool is_worth(int64_t m, int64_t n, int64_t k);
  // out = a b.
  void multiply(const T* a, const T* b, T* out);

 private:
  int64_t n_, out_leading_;
  MatrixOperand<T> right_;
  std::vector<int64_t> rows_, depths_;
  Scratch<T> panel_;
  std::vector<T> edge_;
};

// out = beta * out + alpha * the product of a gathered matrix, whose element (i, k) is data[rows[i] + depths[k]], and
// of one with `columns` columns. `Kind` has types Left (of data), Line (of panels) and Sum, width(), write_panel(first
// line, lines, first column, columns, panel), and add(), which is add_gathered_product.
template <typename Kind>
void run_panels(const Kind& kind, const typename Kind::Left* data, const std::vector<int64_t>& rows,
                const std::vector<int64_t>& depths, int64_t columns, typename Kind::Sum alpha, typename Kind::Sum beta,
                typename Kind::Sum* out, int64_t out_leading) {
  using Sum = typename Kind::Sum;
  using Line = typename Kind::Line;
  constexpr int64_t kDepth = 256;           // lines of a panel, which stay in the first cache
  constexpr int64_t kColumns = 2048;        // packed at a time, so that they stay in the second or third one
  constexpr int64_t kTaskRows = 96;         // or some less
  constexpr int64_t kTaskPanels = 4;
  constexpr int64_t kSerialWork = 1 << 18;  // multiplications that waking threads does not pay for
  const auto m = static_cast<int64_t>(rows.size());
  const auto k = static_cast<int64_t>(depths.size());
  const int64_t width = kind.width();
  // Sums in `out` are those without the factor alpha, until the end.
  const Sum keep = beta / alpha;
  for (int64_t i = 0; beta != Sum(0) && keep != Sum(1) && i < m; ++i) {
    for (int64_t j = 0; j < columns; ++j) out[i * out_leading + j] *= keep;
  }
  const int64_t chunks = (k + kDepth - 1) / kDepth;
  const int64_t longest = (k + chunks - 1) / chunks;
  const int64_t held_panels = (std::min(columns, kColumns) + width - 1) / width;
  const auto panels = scratch<Line>(longest * held_panels * width);
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t held = std::min(kColumns, columns - column);
    const int64_t panel_count = (held + width - 1) / width;
    for (int64_t first = 0; first < k; first += longest) {
      const int64_t depth = std::min(longest, k - first);
      const bool fresh = first == 0 && beta == Sum(0);
      const bool is_last = first + depth == k;
      const int64_t pack_grain = std::max<int64_t>(1, kSerialWork / 8 / (depth * width));
      parallel_for(0, panel_count, pack_grain, [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel) {
          kind.write_panel(first, depth, column + panel * width, std::min(width, held - panel * width),
                           panels.get() + panel * depth * width);
        }
      });
      // Tasks of about the same size, so that threads end together.
      const int64_t tile = panel_rows<Sum>();
      const int64_t most_blocks = std::max<int64_t>(1, (m + kTaskRows - 1) / kTaskRows);
      const int64_t task_rows = ((m + most_blocks - 1) / most_blocks + tile - 1) / tile * tile;
      const int64_t row_blocks = (m + task_rows - 1) / task_rows;
      const int64_t groups = (panel_count + kTaskPanels - 1) / kTaskPanels;
      const int64_t work = std::min(m, task_rows) * std::min(panel_count, kTaskPanels) * width * depth;
      parallel_for(0, row_blocks * groups, std::max<int64_t>(1, kSerialWork / work), [&](int64_t begin, int64_t end) {
        std::vector<Sum> edge;  // sums of a panel that is not full
        for (int64_t task = begin; task < end; ++task) {
          const int64_t row = task / groups * task_rows;
          const int64_t count = std::min(task_rows, m - row);
          const int64_t last = std::min(panel_count, (task % groups + 1) * kTaskPanels);
          for (int64_t panel = task % groups * kTaskPanels; panel < last; ++panel) {
            const int64_t valid = std::min(width, held - panel * width);
            Sum* to = out + row * out_leading + column + panel * width;
            Lines<Sum> sums{to, out_leading};
            const bool partial = valid % panel_step<Sum>() != 0;
            if (partial) {
              edge.resize(static_cast<size_t>(count * width));
              sums = {edge.data(), width};
              for (int64_t i = 0; !fresh && i < count; ++i)
                std::copy_n(to + i * out_leading, valid, edge.data() + i * width);
            }
            kind.add(data, rows.data() + row, count, depths.data() + first, depth,
                     Lines<const Line>{panels.get() + panel * depth * width, width}, valid, sums, fresh);
            for (int64_t i = 0; partial && i < count; ++i)
              std::copy_n(edge.data() + i * width, valid, to + i * out_leading);
            if (!is_last || alpha == Sum(1)) continue;
            for (int64_t i = 0; i < count; ++i) {
              for (int64_t j = 0; j < valid; ++j) to[i * out_leading + j] *= alpha;
            }
          }
        }
      });
    }
  }
}

// Whether [m, k] times [k, n] is better computed turned round, as the product of the second matrix's columns, which lie
// next to each other and are read once, and a panel of a few rows, which are to fill most of it.
template <typename T>
bool is_better_turned(int64_t m, int64_t n, MatrixOperand<T> b) {
  constexpr int64_t kTooFewRows = 8;
  constexpr int64_t kFewRows = 16;
  return b.transposed && m > kTooFewRows && m <= kFewRows && n >= 4 * m;
}

// A product as gemm computes it, out [m, n] = beta * out + a b.
template <typename T, typename Sum>
struct GemmTask {
  int64_t m, n;
  MatrixOperand<T> a, b;
  Sum beta;
  Sum* out;
  int64_t out_leading;
};

// Calls body(task), or (`turned`) body(the transpose of it), whose sums are turned back.
template <typename T, typename Sum, typename Body>
void run_turned(bool turned, const GemmTask<T, Sum>& task, Body&& body) {
  const auto [m, n, a, b, beta, out, out_leading] = task;
  // not initialised
  const std::unique_ptr<Sum[]> sums(turned ? new Sum[static_cast<size_t>(n * m)] : nullptr);
  if (turned && beta != 0) transpose_matrix(out, out_leading, m, n, sums.get(), m);
  body(turned ? GemmTask<T, Sum>{n, m, {b.data, b.leading, !b.transposed}, {a.data, a.leading, !a.transposed}, beta,
                                 sums.get(), m}
              : task);
  if (turned) transpose_matrix(sums.get(), m, n, m, out, out_leading);
}

}  // namespace at::native::cpu
