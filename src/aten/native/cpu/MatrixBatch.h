#pragma once
// A stack of matrices of one size, as LAPACK reads them, and the walk over it.

#include <aten/Parallel.h>
#include <aten/Tensor.h>
#include <aten/native/cpu/blas.h>
#include <aten/native/cpu/lapack.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace at::native::cpu {

// Matrices with their columns next to each other, one behind the other (at::native::column_major_copy makes such).
template <typename T>
struct MatrixBatch {
  T* data;
  int rows;
  int columns;
  int leading;  // what LAPACK calls lda: at least 1
  int64_t step;
  int64_t count;

  explicit MatrixBatch(const Tensor& stack)
      : data(stack.data_ptr<T>()),
        rows(lapack_int(stack.sizes()[stack.dim() - 2])),
        columns(lapack_int(stack.sizes()[stack.dim() - 1])),
        leading(std::max(rows, 1)),
        step(static_cast<int64_t>(rows) * columns),
        count(step == 0 ? 0 : stack.numel() / step) {}

  T* operator[](int64_t index) const { return data + index * step; }
};

// body(first, last) over `count` matrices whose factorisation takes about `cost` operations each: small ones are given
// out to threads, a large one LAPACK divides itself.
template <typename Body>
void for_each_matrix(int64_t count, double cost, Body&& body) {
  constexpr double kLargeMatrix = 1 << 21;
  if (count < 2 || cost >= kLargeMatrix) {
    const SerialMkl alone(cost < kLargeMatrix);
    return body(0, count);
  }
  const SerialBlas serial(true);
  parallel_for(0, count, std::max<int64_t>(1, static_cast<int64_t>(kLargeMatrix / 8 / std::max(cost, 1.0))), body);
}

inline double cube(int64_t m, int64_t n) { return static_cast<double>(m) * n * std::min(m, n); }

// The workspace that a routine asked for in the first element of `work`, as an int. A float holds 24 bits of it, so it
// may have been rounded down: a little is added. Throws Error when it does not fit.
template <typename T>
int workspace_size(T first) {
  double size = 0;
  if constexpr (std::is_floating_point_v<T>) size = first;
  else size = first.real();
  if (size > (1 << 24)) size = std::nextafter(static_cast<float>(size), std::numeric_limits<float>::infinity());
  TORCH_CHECK(size >= 0,
              "linear algebra: a matrix is too large for this LAPACK, whose workspace has at most 2^31 - 1 elements");
  return lapack_int(std::max<int64_t>(1, static_cast<int64_t>(size)));
}

// Routines that need about `factor * n * n` elements of workspace overflow within: refuses what does.
inline void check_workspace(int64_t n, int64_t factor, const char* name) {
  TORCH_CHECK(n < (int64_t{1} << 31) && factor * n * n + 16 * n + 1 <= std::numeric_limits<int>::max(), name,
              ": a matrix with ", n, " rows or columns is more than this LAPACK can take");
}

}  // namespace at::native::cpu
