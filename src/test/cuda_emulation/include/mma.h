#pragma once
// Products of 16 by 16 matrices by a warp. A lane keeps of both operands what its own sums need, half a row of them, so
// that no lane waits for another's numbers; that all lanes come is asked for each time.

#include <c10/util/Half.h>
#include <cuda_emulation.h>

#include <type_traits>

using __half = c10::Half;
using __nv_bfloat16 = c10::BFloat16;

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

// matrix_a: the row of the lane's sums. matrix_b: their eight columns. accumulator: the sums.
template <typename Use, int kRows, int kColumns, int kDepth, typename T, typename Layout = void>
struct fragment {
  static_assert(kRows == 16 && kColumns == 16 && kDepth == 16);
  float values[std::is_same_v<Use, matrix_a> ? 16 : std::is_same_v<Use, matrix_b> ? 128 : 8];
};

inline int emulated_row() { return ::cuda_emulation::own_lane() / 2; }
inline int emulated_column() { return ::cuda_emulation::own_lane() % 2 * 8; }

template <typename T>
void fill_fragment(fragment<accumulator, 16, 16, 16, T>& sums, T value) {
  for (float& sum : sums.values) sum = value;
}

template <typename T, typename Layout>
void load_matrix_sync(fragment<matrix_a, 16, 16, 16, T, Layout>& a, const T* source, unsigned stride) {
  __syncwarp();
  for (int depth = 0; depth < 16; ++depth) {
    const bool by_rows = std::is_same_v<Layout, row_major>;
    a.values[depth] = source[by_rows ? emulated_row() * stride + depth : depth * stride + emulated_row()];
  }
}

template <typename T, typename Layout>
void load_matrix_sync(fragment<matrix_b, 16, 16, 16, T, Layout>& b, const T* source, unsigned stride) {
  __syncwarp();
  for (int depth = 0; depth < 16; ++depth) {
    for (int i = 0; i < 8; ++i) {
      const int column = emulated_column() + i;
      const bool by_rows = std::is_same_v<Layout, row_major>;
      b.values[depth * 8 + i] = source[by_rows ? depth * stride + column : column * stride + depth];
    }
  }
}

template <typename T, typename LayoutA, typename LayoutB>
void mma_sync(fragment<accumulator, 16, 16, 16, float>& out, const fragment<matrix_a, 16, 16, 16, T, LayoutA>& a,
              const fragment<matrix_b, 16, 16, 16, T, LayoutB>& b, const fragment<accumulator, 16, 16, 16, float>& in) {
  __syncwarp();
  for (int i = 0; i < 8; ++i) {
    float sum = in.values[i];
    for (int depth = 0; depth < 16; ++depth) sum += a.values[depth] * b.values[depth * 8 + i];
    out.values[i] = sum;
  }
}

inline void store_matrix_sync(float* target, const fragment<accumulator, 16, 16, 16, float>& sums, unsigned stride,
                              layout_t layout) {
  __syncwarp();
  for (int i = 0; i < 8; ++i) {
    const int column = emulated_column() + i;
    target[layout == mem_row_major ? emulated_row() * stride + column : column * stride + emulated_row()] =
        sums.values[i];
  }
}

}  // namespace nvcuda::wmma
