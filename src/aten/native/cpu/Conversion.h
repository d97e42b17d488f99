#pragma once
// Elements of one type from elements of another, and in another order.

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cpu {

// Steps in bytes; nothing is known about alignment beyond the types'.
using ConversionStep = void (*)(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count);

// How one type becomes another: in one step, or by way of a wide type (double, int64, complex128), a block at a time.
class Conversion {
 public:
  Conversion(c10::ScalarType to, c10::ScalarType from);
  void operator()(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) const;

 private:
  void choose_steps(c10::ScalarType to, c10::ScalarType from);
  void run_in_blocks(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) const;

  int64_t to_size_;
  int64_t from_size_;
  ConversionStep first_;
  ConversionStep second_ = nullptr;  // null: `first_` does it all
  int64_t wide_size_ = 0;
};

// Moves `count` elements of `size` bytes, whatever their bits mean, from one row to another; steps in bytes.
void move_row(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t count, int64_t size);

// out[r][c] = in[c][r] of elements of `size` bytes: rows that lie side by side, `out_step` bytes apart, from columns
// that do, `in_step` bytes apart.
void transpose_tile(char* out, int64_t out_step, const char* in, int64_t in_step, int64_t rows, int64_t columns,
                    int64_t size);

}  // namespace at::native::cpu
