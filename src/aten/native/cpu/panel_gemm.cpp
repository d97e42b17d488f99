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

namespace {

std::vector<int64_t> multiples(int64_t count, int64_t step) {
  std::vector<int64_t> result(static_cast<size_t>(count));
  for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<int64_t>(i) * step;
  return result;
}
template <typename T>
std::vector<int64_t> places_of_rows(int64_t m, MatrixOperand<T> a) {
  return multiples(m, a.transposed ? 1 : a.leading);
}
template <typename T>
std::vector<int64_t> places_of_columns(int64_t k, MatrixOperand<T> a) {
  return multiples(k, a.transposed ? a.leading : 1);
}

}  // namespace

template <typename T>
void panel_gemm(int64_t m, int64_t n, int64_t k, T alpha, MatrixOperand<T> a, MatrixOperand<T> b, T beta, T* out,
                int64_t out_leading) {
  const GemmTask<T, T> given{m, n, a, b, beta, out, out_leading};
  run_turned(is_better_turned(m, n, b), given, [&](const GemmTask<T, T>& task) {
    run_panels(Numbers<T>{task.b}, task.a.data, places_of_rows(task.m, task.a), places_of_columns(k, task.a), task.n,
               alpha, beta, task.out, task.out_leading);
  });
}

template <typename T>
SmallProduct<T>::SmallProduct(int64_t m, int64_t n, int64_t k, MatrixOperand<T> a, MatrixOperand<T> b,
                              int64_t out_leading)
    : n_(n), out_leading_(out_leading), right_(b), rows_(places_of_rows(m, a)), depths_(places_of_columns(k, a)),
      panel_(scratch<T>(k * panel_columns<T>())), edge_(static_cast<size_t>(m * panel_columns<T>())) {}

template <typename T>
bool SmallProduct<T>::is_worth(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kDeepest = 256;
  constexpr int64_t kMost = 64 * 64 * 64;
  return m > 1 && n > 1 && k > 0 && k <= kDeepest && m * n * k <= kMost;
}

template <typename T>
void SmallProduct<T>::multiply(const T* a, const T* b, T* out) {
  const auto m = static_cast<int64_t>(rows_.size());
  const auto k = static_cast<int64_t>(depths_.size());
  const int64_t width = panel_columns<T>();
  right_.data = b;
  for (int64_t column = 0; column < n_; column += width) {
    const int64_t columns = std::min(width, n_ - column);
    const bool is_whole = columns % panel_step<T>() == 0;
    Lines<const T> panel{b + column, right_.leading};
    if (right_.transposed || !is_whole) {
      Numbers<T>{right_}.write_panel(0, k, column, columns, panel_.get());
      panel = {panel_.get(), width};
    }
    const Lines<T> sums = is_whole ? Lines<T>{out + column, out_leading_} : Lines<T>{edge_.data(), width};
    add_gathered_product(a, rows_.data(), m, depths_.data(), k, panel, columns, sums, true);
    for (int64_t i = 0; !is_whole && i < m; ++i)
      std::copy_n(sums.data + i * width, columns, out + i * out_leading_ + column);
  }
}

template class SmallProduct<float>;
template class SmallProduct<double>;

template void panel_gemm(int64_t, int64_t, int64_t, float, MatrixOperand<float>, MatrixOperand<float>, float, float*,
                         int64_t);
template void panel_gemm(int64_t, int64_t, int64_t, double, MatrixOperand<double>, MatrixOperand<double>, double,
                         double*, int64_t);

}  // namespace at::native::cpu
