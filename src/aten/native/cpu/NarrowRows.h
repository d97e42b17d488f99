#pragma once
// Normalisation of rows that fill no vector.

#include <algorithm>
#include <cstdint>

namespace at::native::cpu {

constexpr int64_t kTogether = 1024;  // elements of short rows that are read at once
constexpr int64_t kNarrow = 4;

// Rows of at most kNarrow elements, at most kTogether: column by column, so that no row waits for the one before. Sums
// are those of add_up() in RowSums-inl.h.
// `divide(sums, count, n)` divides so many numbers by n; `invert_roots(sums, count, n, eps)` makes 1 / sqrt(number / n +
// eps) of them; both, maybe, of some behind them.
template <typename T>
[[gnu::noinline]] void normalize_narrow(T* out, T* means, T* scales, const T* x, const T* weight, const T* bias,
                                        int64_t rows, int64_t width, double eps, bool centered,
                                        void (*divide)(T* sums, int64_t count, double n),
                                        void (*invert_roots)(T* sums, int64_t count, double n, double eps)) {
  T parts[kNarrow][kTogether];
  for (int64_t j = width; width > 1 && j < kNarrow; ++j) std::fill_n(parts[j], rows, T(0));
  std::fill_n(means, rows, T(0));
  const auto n = static_cast<double>(width);
  for (int pass = centered ? 0 : 1; pass < 2; ++pass) {
    for (int64_t j = 0; j < width; ++j) {
      for (int64_t i = 0; i < rows; ++i) {
        const T deviation = x[i * width + j] - means[i];
        parts[j][i] = pass == 0 ? deviation : deviation * deviation;
      }
    }
    for (int64_t i = 0; width > 1 && i < rows; ++i)
      parts[0][i] = (parts[0][i] + parts[2][i]) + (parts[1][i] + parts[3][i]);
    if (pass == 0) divide(parts[0], rows, n);
    else invert_roots(parts[0], rows, n, eps);
    std::copy_n(parts[0], rows, pass == 0 ? means : scales);
  }
  for (int64_t j = 0; j < width; ++j) {
    const T factor = weight ? weight[j] : T(1);
    const T addend = bias ? bias[j] : weight ? T(-0.0) : T(0);  // -0 leaves all numbers as they are
    for (int64_t i = 0; i < rows; ++i)
      out[i * width + j] = (x[i * width + j] - means[i]) * scales[i] * factor + addend;
  }
}

}  // namespace at::native::cpu
