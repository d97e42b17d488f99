#pragma once
// Matrix products whose left matrix is gathered while it is read, and never written: element (i, k) is
// data[rows[i] + depths[k]]. Windows of an image are such a matrix, and so is any matrix with strides.
//
// The right matrix comes in panels, and the sums lie in panels: as many columns next to each other as two vectors hold.

#include <cstdint>

namespace at::native::cpu {

// Columns of a panel, on this machine.
template <typename T>
int64_t panel_columns();
// Columns of sums are read and written by so many.
template <typename T>
int64_t panel_step();
// Rows whose sums are kept in registers: a count of rows that is a multiple of it wastes nothing.
template <typename T>
int64_t panel_rows();

// Element (k, j) of the right matrix at data[k * step + j], of the sums at data[i * step + j].
template <typename T>
struct Lines {
  T* data;
  int64_t step;
};

// A line of zeros for each row.
template <typename T>
Lines<const T> zero_lines() {
  static const T zeros[64] = {};  // more than any panel has columns
  return {zeros, 0};
}

// sums[i][j] = start[i][j] + sum over k in [0, depth) of data[rows[i] + depths[k]] * panel[k][j], for i in [0, count)
// and j in [0, columns). Columns are rounded up to panel_step(). Steps of `start` may be 0, and it may be `sums`.
template <typename T>
void add_gathered_product(const T* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                          Lines<const T> panel, int64_t columns, Lines<const T> start, Lines<T> sums);
// The same from `sums` on; `fresh`: from 0 on.
template <typename T>
void add_gathered_product(const T* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                          Lines<const T> panel, int64_t columns, Lines<T> sums, bool fresh) {
  const Lines<const T> start = fresh ? zero_lines<T>() : Lines<const T>{sums.data, sums.step};
  add_gathered_product(data, rows, count, depths, depth, panel, columns, start, sums);
}

// Groups of `channels` channels, as many read as computed, which fill a vector together. Row i reads at tap t the
// vector at data[rows[i] + taps[t]]: channel c of each group is multiplied by what the panel's line t * channels + c
// has in that group's columns. lanes[c * group_columns() + j] is where in that vector column j finds its group's
// channel c. Sums of a row are a vector, too, which is not read, and begin with `start`, such a vector.
template <typename T>
void multiply_groups(const T* data, const int64_t* rows, int64_t count, const int64_t* taps, int64_t tap_count,
                     const int32_t* lanes, int64_t channels, Lines<const T> panel, const T* start, Lines<T> sums);
// How many columns that vector has; 0: there is no such product.
template <typename T>
int64_t group_columns();

// to[j * to_step + i] = from[i * from_step + j], for i in [0, rows) and j in [0, columns).
template <typename T>
void transpose_matrix(const T* from, int64_t from_step, int64_t rows, int64_t columns, T* to, int64_t to_step);

}  // namespace at::native::cpu
