#include <aten/native/cpu/panel_gemm.h>

#if defined(__x86_64__) && !defined(_MSC_VER)
#include <cpuid.h>
extern "C" [[gnu::weak]] int MKL_Get_Max_Threads();
#endif

namespace at::native::cpu {

namespace {

// How run_panels multiplies floats and doubles.
template <typename T>
struct Numbers {
  using Left = T;
  using Line = T;
  using Sum = T;
  MatrixOperand<T> right;

  int64_t width() const { return panel_columns<T>(); }
  void write_panel(int64_t first, int64_t lines, int64_t column, int64_t columns, T* panel) const {
    constexpr int64_t kLinesAtATime = 64;
    const int64_t width = panel_columns<T>();
    if (columns < width) std::fill_n(panel, lines * width, T(0));
    if (right.transposed) {
      for (int64_t line = 0; line < lines; line += kLinesAtATime) {
        transpose_matrix(right.data + column * right.leading + first + line, right.leading, columns,
                         std::min(kLinesAtATime, lines - line), panel + line * width, width);
      }
    } else {
      for (int64_t line = 0; line < lines; ++line) {
        std::copy_n(right.data + (first + line) * right.leading + column, columns, panel + line * width);
      }
    }
  }
  void add(const T* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
           Lines<const T> panel, int64_t columns, Lines<T> sums, bool fresh) const {
    add_gathered_product(data, rows, count, depths, depth, panel, columns, sums, fresh);
  }
};

}  // namespace

bool panels_beat_blas() {
#if defined(__x86_64__) && !defined(_MSC_VER)
  static const bool answer = [] {
    unsigned int level = 0, first = 0, second = 0, third = 0;
    if (!MKL_Get_Max_Threads || panel_columns<float>() != 32 || !__get_cpuid(0, &level, &first, &third, &second))
      return false;
    return first != signature_INTEL_ebx;
  }();
  return answer;
#else
  return false;
#endif
}

template <typename T>
void panel_gemm(int64_t m, int64_t n, int64_t k, T alpha, MatrixOperand<T> a, MatrixOperand<T> b, T beta, T* out,
                int64_t out_leading) {
  std::vector<int64_t> rows(static_cast<size_t>(m));
  for (int64_t i = 0; i < m; ++i) rows[static_cast<size_t>(i)] = a.transposed ? i : i * a.leading;
  std::vector<int64_t> depths(static_cast<size_t>(k));
  for (int64_t i = 0; i < k; ++i) depths[static_cast<size_t>(i)] = a.transposed ? i * a.leading : i;
  run_panels(Numbers<T>{b}, a.data, rows, depths, n, alpha, beta, out, out_leading);
}

template void panel_gemm(int64_t, int64_t, int64_t, float, MatrixOperand<float>, MatrixOperand<float>, float, float*,
                         int64_t);
template void panel_gemm(int64_t, int64_t, int64_t, double, MatrixOperand<double>, MatrixOperand<double>, double,
                         double*, int64_t);

}  // namespace at::native::cpu
