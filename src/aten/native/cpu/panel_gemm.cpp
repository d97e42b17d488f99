#include <aten/native/cpu/panel_gemm.h>

#include <aten/Parallel.h>
#include <aten/native/cpu/gathered_products.h>

#include <algorithm>
#include <memory>
#include <vector>

#if defined(__x86_64__) && !defined(_MSC_VER)
#include <cpuid.h>
extern "C" [[gnu::weak]] int MKL_Get_Max_Threads();
#endif

namespace at::native::cpu {

namespace {

constexpr int64_t kDepth = 256;         // lines of a panel, which stay in the first cache
constexpr int64_t kColumns = 2048;      // packed at a time, so that they stay in the second or third one
constexpr int64_t kTaskRows = 96;       // a multiple of any panel_rows()
constexpr int64_t kTaskPanels = 4;
constexpr int64_t kSerialWork = 1 << 18;  // multiplications that waking threads does not pay for
constexpr int64_t kTransposedLines = 64;

template <typename T>
std::unique_ptr<T[]> scratch(int64_t count) {
  return std::unique_ptr<T[]>(new T[static_cast<size_t>(count)]);  // not initialised
}

// Lines [first, first + depth) of b, columns [column, column + columns), times alpha.
template <typename T>
void write_panel(MatrixOperand<T> b, int64_t first, int64_t depth, int64_t column, int64_t columns, T alpha, T* panel) {
  const int64_t width = panel_columns<T>();
  if (columns < width) std::fill_n(panel, depth * width, T(0));
  if (b.transposed) {
    for (int64_t line = 0; line < depth; line += kTransposedLines) {
      transpose_matrix(b.data + column * b.leading + first + line, b.leading, columns, std::min(kTransposedLines, depth - line),
                       panel + line * width, width);
    }
  } else {
    for (int64_t line = 0; line < depth; ++line) {
      std::copy_n(b.data + (first + line) * b.leading + column, columns, panel + line * width);
    }
  }
  if (alpha == T(1)) return;
  for (int64_t i = 0; i < depth * width; ++i) panel[i] *= alpha;
}

}  // namespace

bool panels_beat_blas() {
#if defined(__x86_64__) && !defined(_MSC_VER)
  static const bool answer = [] {
    unsigned int level = 0, first = 0, second = 0, third = 0;
    if (!MKL_Get_Max_Threads || panel_columns<float>() != 32 || !__get_cpuid(0, &level, &first, &third, &second)) return false;
    return first != signature_INTEL_ebx;
  }();
  return answer;
#else
  return false;
#endif
}

template <typename T>
void panel_gemm(int64_t m, int64_t n, int64_t k, T alpha, MatrixOperand<T> a, MatrixOperand<T> b, T beta, T* out, int64_t out_leading) {
  const int64_t width = panel_columns<T>();
  for (int64_t i = 0; beta != T(0) && beta != T(1) && i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) out[i * out_leading + j] *= beta;
  }
  std::vector<int64_t> rows(static_cast<size_t>(m));
  for (int64_t i = 0; i < m; ++i) rows[static_cast<size_t>(i)] = a.transposed ? i : i * a.leading;
  std::vector<int64_t> depths(static_cast<size_t>(k));
  for (int64_t i = 0; i < k; ++i) depths[static_cast<size_t>(i)] = a.transposed ? i * a.leading : i;
  const int64_t chunks = (k + kDepth - 1) / kDepth;
  const int64_t longest = (k + chunks - 1) / chunks;
  const auto panels = scratch<T>(longest * ((std::min(n, kColumns) + width - 1) / width) * width);
  for (int64_t column = 0; column < n; column += kColumns) {
    const int64_t columns = std::min(kColumns, n - column);
    const int64_t panel_count = (columns + width - 1) / width;
    for (int64_t first = 0; first < k; first += longest) {
      const int64_t depth = std::min(longest, k - first);
      const bool fresh = first == 0 && beta == T(0);
      const int64_t pack_grain = std::max<int64_t>(1, kSerialWork / 8 / (depth * width));
      parallel_for(0, panel_count, pack_grain, [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel) {
          write_panel(b, first, depth, column + panel * width, std::min(width, columns - panel * width), alpha,
                      panels.get() + panel * depth * width);
        }
      });
      const int64_t row_blocks = (m + kTaskRows - 1) / kTaskRows;
      const int64_t groups = (panel_count + kTaskPanels - 1) / kTaskPanels;
      const int64_t work = std::min(m, kTaskRows) * std::min(panel_count, kTaskPanels) * width * depth;
      parallel_for(0, row_blocks * groups, std::max<int64_t>(1, kSerialWork / work), [&](int64_t begin, int64_t end) {
        std::vector<T> edge;  // sums of a panel that is not full
        for (int64_t task = begin; task < end; ++task) {
          const int64_t row = task / groups * kTaskRows;
          const int64_t count = std::min(kTaskRows, m - row);
          const int64_t last = std::min(panel_count, (task % groups + 1) * kTaskPanels);
          for (int64_t panel = task % groups * kTaskPanels; panel < last; ++panel) {
            const int64_t held = std::min(width, columns - panel * width);
            T* to = out + row * out_leading + column + panel * width;
            Lines<T> sums{to, out_leading};
            const bool partial = held != width && held != width / 2;
            if (partial) {
              edge.resize(static_cast<size_t>(count * width));
              sums = {edge.data(), width};
              for (int64_t i = 0; !fresh && i < count; ++i) std::copy_n(to + i * out_leading, held, edge.data() + i * width);
            }
            add_gathered_product(a.data, rows.data() + row, count, depths.data() + first, depth,
                                 {panels.get() + panel * depth * width, width}, held, sums, fresh);
            for (int64_t i = 0; partial && i < count; ++i) std::copy_n(edge.data() + i * width, held, to + i * out_leading);
          }
        }
      });
    }
  }
}

template void panel_gemm(int64_t, int64_t, int64_t, float, MatrixOperand<float>, MatrixOperand<float>, float, float*, int64_t);
template void panel_gemm(int64_t, int64_t, int64_t, double, MatrixOperand<double>, MatrixOperand<double>, double, double*, int64_t);

}  // namespace at::native::cpu
