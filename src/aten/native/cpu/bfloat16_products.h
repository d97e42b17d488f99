#pragma once
// Products of bfloat16 matrices with sums in float32, by the processor's own instructions.

#include <aten/native/cpu/blas.h>
#include <aten/native/cpu/gathered_products.h>

#include <cstdint>

namespace at::native::cpu {

// Whether this processor multiplies pairs of bfloat16 (AVX512_BF16), and whether MKL knows how to do better (AMX).
bool has_bfloat16_products();

// As gemm (blas.h), of the bits of bfloat16 numbers; only where has_bfloat16_products(). Subnormal numbers count as 0.
void bfloat16_gemm(int64_t m, int64_t n, int64_t k, float alpha, MatrixOperand<uint16_t> a, MatrixOperand<uint16_t> b,
                   float beta, float* out, int64_t out_leading);

// Whether MKL does that, which knows AMX.
bool multiplies_by_mkl();

// A panel (gathered_products.h) of `columns` columns of a matrix of `depth` lines, each two of them as a line of pairs;
// the last of an odd number with 0.
void write_pairs(MatrixOperand<uint16_t> right, int64_t depth, int64_t column, int64_t columns, uint32_t* panel);

// Columns of half a vector: of so few no more are read and written.
constexpr int64_t kHalfPairs = 8;

// As add_gathered_product<float> for AVX-512, of `depth` pairs, which lie next to each other: `data` is of numbers or
// of pairs, and offsets count what it is of. Sums are floats; or bfloat16, of whole vectors.
template <typename Element, typename Sum>
void add_gathered_pairs(const Element* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                        Lines<const uint32_t> panel, int64_t columns, Lines<const float> start, Lines<Sum> sums);

// As multiply_groups, of kGroupPairs columns; `channels` is even, and data and lines of the panel are of pairs,
// which `lanes` tells of, too.
constexpr int64_t kGroupPairs = 16;
void multiply_groups_of_pairs(const uint32_t* data, const int64_t* rows, int64_t count, const int64_t* taps,
                              int64_t tap_count, const int32_t* lanes, int64_t channels, Lines<const uint32_t> panel,
                              const float* start, Lines<uint16_t> sums);

// Each two of `lines` lines of `count` numbers, which follow each other, as a line of pairs; the last of an odd number
// with 0. As what follows, only where has_bfloat16_products().
void pair_lines(const uint16_t* from, int64_t lines, int64_t count, uint32_t* to);

// Three numbers of each place as two pairs, the last one with 0.
void pair_colours(const uint16_t* from, int64_t places, uint32_t* to);

// Lines of `count` numbers, rounded to the nearest, to even ones between two. Subnormal numbers become 0.
void round_to_bfloat16(Lines<const float> from, int64_t lines, int64_t count, Lines<uint16_t> to);

}  // namespace at::native::cpu
