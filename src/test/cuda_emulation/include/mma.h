#pragma once
// Products of 16 rows and 16 columns by a warp. A lane keeps of both operands what its own sums need, half a row of
// them, so that no lane waits for another's numbers; that all lanes come is asked for each time.

#include <c10/util/Half.h>
#include <cuda_emulation.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

using __half = c10::Half;
using __nv_bfloat16 = c10::BFloat16;

namespace nvcuda::wmma {

namespace precision {
struct tf32;
}
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

// matrix_a: the row of the lane's sums. matrix_b: their eight columns. accumulator: the sums.
template <typename Use, int kRows, int kColumns, int kDepth, typename T, typename Layout = void>
struct fragment {
  static_assert(kRows == 16 && kColumns == 16 && (kDepth == 16 || kDepth == 8));
  static constexpr int num_elements = std::is_same_v<Use, matrix_a>   ? kDepth
                                      : std::is_same_v<Use, matrix_b> ? kDepth * 8
                                                                      : 8;
  float x[num_elements];
};

inline int emulated_row() { return ::cuda_emulation::own_lane() / 2; }
inline int emulated_column() { return ::cuda_emulation::own_lane() % 2 * 8; }

inline float without_bits(float value, uint32_t added) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + added) & ~uint32_t{0x1fff};
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}
// To the nearest number with 10 bits behind the point.
inline float __float_to_tf32(float value) { return without_bits(value, 0x1000); }

template <int kDepth>
void fill_fragment(fragment<accumulator, 16, 16, kDepth, float>& sums, float value) {
  for (float& sum : sums.x) sum = value;
}

template <int kDepth, typename T, typename Layout, typename Memory>
void load_matrix_sync(fragment<matrix_a, 16, 16, kDepth, T, Layout>& a, const Memory* source, unsigned stride) {
  __syncwarp();
  for (int depth = 0; depth < kDepth; ++depth) {
    const bool by_rows = std::is_same_v<Layout, row_major>;
    a.x[depth] = source[by_rows ? emulated_row() * stride + depth : depth * stride + emulated_row()];
  }
}

template <int kDepth, typename T, typename Layout, typename Memory>
void load_matrix_sync(fragment<matrix_b, 16, 16, kDepth, T, Layout>& b, const Memory* source, unsigned stride) {
  __syncwarp();
  for (int depth = 0; depth < kDepth; ++depth) {
    for (int i = 0; i < 8; ++i) {
      const int column = emulated_column() + i;
      const bool by_rows = std::is_same_v<Layout, row_major>;
      b.x[depth * 8 + i] = source[by_rows ? depth * stride + column : column * stride + depth];
    }
  }
}

// Tensor cores do not look at the other bits of a float.
template <typename T>
float read_operand(float value) {
  return std::is_same_v<T, precision::tf32> ? without_bits(value, 0) : value;
}

template <int kDepth, typename T, typename LayoutA, typename LayoutB>
void mma_sync(fragment<accumulator, 16, 16, kDepth, float>& out,
              const fragment<matrix_a, 16, 16, kDepth, T, LayoutA>& a,
              const fragment<matrix_b, 16, 16, kDepth, T, LayoutB>& b,
              const fragment<accumulator, 16, 16, kDepth, float>& in) {
  __syncwarp();
  for (int i = 0; i < 8; ++i) {
    float sum = in.x[i];
    for (int depth = 0; depth < kDepth; ++depth)
      sum += read_operand<T>(a.x[depth]) * read_operand<T>(b.x[depth * 8 + i]);
    out.x[i] = sum;
  }
}

template <int kDepth>
void store_matrix_sync(float* target, const fragment<accumulator, 16, 16, kDepth, float>& sums, unsigned stride,
                       layout_t layout) {
  __syncwarp();
  for (int i = 0; i < 8; ++i) {
    const int column = emulated_column() + i;
    target[layout == mem_row_major ? emulated_row() * stride + column : column * stride + emulated_row()] = sums.x[i];
  }
}

}  // namespace nvcuda::wmma
