#include <aten/native/cpu/byte_products.h>

#include <aten/Parallel.h>
#include <aten/native/cpu/gathered_products.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <memory>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define AT_BYTES_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

namespace at::native::cpu {

namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kWidth = 2 * kLanes;  // columns of a panel
constexpr int64_t kDepth = 128;         // its lines, of four bytes each, that stay in the first cache
constexpr int64_t kTaskRows = 96;
constexpr int64_t kSerialWork = 1 << 20;  // multiplications that waking threads does not pay for
constexpr int64_t kCopied = 1 << 16;      // bytes that do not, either

// What panels hold of a matrix [k, columns] whose lines are `leading` apart: each four lines as one, with `offset`
// added to each byte; `offset` below the lines. Some panels at a time, so that whole cache lines are read.
AT_BYTES_TARGET void write_lines(const uint8_t* from, int64_t leading, uint8_t offset, int64_t k, int64_t columns,
                                 uint8_t* panels, int64_t panel_bytes) {
  const __m256i offsets = _mm256_set1_epi8(static_cast<char>(offset));
  for (int64_t p = 0; p < k; p += 4, from += 4 * leading, panels += 4 * kWidth) {
    uint8_t* panel = panels;
    for (int64_t column = 0; column < columns; column += kWidth, panel += panel_bytes) {
      const int64_t left = columns - column;
      const __mmask32 mask = left < kWidth ? (__mmask32(1) << left) - 1 : ~__mmask32(0);
      __m256i lines[4];
#pragma GCC unroll 4
      for (int64_t line = 0; line < 4; ++line) {
        const __m256i bytes =
            p + line < k ? _mm256_maskz_loadu_epi8(mask, from + line * leading + column) : _mm256_setzero_si256();
        lines[line] = _mm256_xor_si256(bytes, offsets);
      }
#pragma GCC unroll 2
      for (int64_t half = 0; half < 2; ++half) {
        __m128i some[4];
#pragma GCC unroll 4
        for (int64_t line = 0; line < 4; ++line)
          some[line] = half == 0 ? _mm256_castsi256_si128(lines[line]) : _mm256_extracti128_si256(lines[line], 1);
        const __m128i pairs[4] = {_mm_unpacklo_epi8(some[0], some[1]), _mm_unpacklo_epi8(some[2], some[3]),
                                  _mm_unpackhi_epi8(some[0], some[1]), _mm_unpackhi_epi8(some[2], some[3])};
        auto* to = reinterpret_cast<__m128i*>(panel + half * 4 * kLanes);
#pragma GCC unroll 2
        for (int64_t pair = 0; pair < 4; pair += 2) {
          _mm_storeu_si128(to + pair, _mm_unpacklo_epi16(pairs[pair], pairs[pair + 1]));
          _mm_storeu_si128(to + pair + 1, _mm_unpackhi_epi16(pairs[pair], pairs[pair + 1]));
        }
      }
    }
  }
}

// The same of one whose columns are `leading` apart, without an offset.
void write_columns(const uint8_t* from, int64_t leading, int64_t k, int64_t columns, uint8_t* panel) {
  constexpr int64_t kLinesAtATime = 64;
  int64_t p = 0;
  for (; leading % 4 == 0 && p + 4 <= k; p = std::min(k / 4 * 4, p + 4 * kLinesAtATime)) {  // of 32 bits
    transpose_matrix(reinterpret_cast<const float*>(from + p), leading / 4, columns,
                     std::min(kLinesAtATime, (k - p) / 4), reinterpret_cast<float*>(panel + p * kWidth), kWidth);
  }
  for (; p < k; p += 4) {
    for (int64_t j = 0; j < columns; ++j) {
      uint8_t* to = panel + p * kWidth + 4 * j;
      std::memset(to, 0, 4);
      if (p + 4 <= k) std::memcpy(to, from + j * leading + p, 4);
      else std::memcpy(to, from + j * leading + p, static_cast<size_t>(k - p));
    }
  }
}

// A row in whole fours, with `offset` added to each byte.
AT_BYTES_TARGET void write_row(const uint8_t* from, uint8_t offset, int64_t k, uint8_t* to) {
  constexpr int64_t kBytes = 64;
  const auto first_bytes = [=](int64_t count) { return ~__mmask64(0) >> (kBytes - std::min(kBytes, count)); };
  const __m512i offsets = _mm512_set1_epi8(static_cast<char>(offset));
  for (int64_t p = 0; p < k; p += kBytes) {
    const __m512i bytes = _mm512_maskz_loadu_epi8(first_bytes(k - p), from + p);
    _mm512_mask_storeu_epi8(to + p, first_bytes((k + 3) / 4 * 4 - p), _mm512_xor_si512(bytes, offsets));
  }
}

// Where four bytes of a row lie: those of a matrix with its rows next to each other, or of panels.
struct Rows {
  const uint8_t* data;
  int64_t leading, row_step, line_step;

  const uint8_t* row(int64_t i) const { return data + i / kWidth * kWidth * leading + i % kWidth * row_step; }
};

AT_BYTES_TARGET inline __m512i load_four(const uint8_t* from) {
  int four;
  std::memcpy(&four, from, sizeof four);
  return _mm512_set1_epi32(four);
}

// Adds to `out` (or, `fresh`, writes there) the products of kRows rows of `depth` fours and the lines of kVectors
// vectors of a panel, less `excess`.
template <int kRows, int kVectors>
AT_BYTES_TARGET void add_tile(const uint8_t* rows, int64_t row_step, int64_t line_step, const uint8_t* panel,
                              int64_t depth, const __m512i* excess, bool fresh, const __mmask16* masks, int32_t* out,
                              int64_t n) {
  __m512i sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sums[row][v] = _mm512_setzero_si512();
  }
  for (int64_t p = 0; p < depth; ++p, rows += line_step, panel += 4 * kWidth) {
    const __m512i lines[2] = {_mm512_loadu_si512(panel), _mm512_loadu_si512(panel + 4 * kLanes)};
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const __m512i four = load_four(rows + row * row_step);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[row][v] = _mm512_dpbusd_epi32(sums[row][v], four, lines[v]);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      int32_t* to = out + row * n + v * kLanes;
      __m512i sum = _mm512_sub_epi32(sums[row][v], excess[v]);
      if (!fresh) sum = _mm512_add_epi32(sum, _mm512_maskz_loadu_epi32(masks[v], to));
      _mm512_mask_storeu_epi32(to, masks[v], sum);
    }
  }
}

// Rows [first, last), and fours [line, line + depth) of each, which `panel` has the lines of.
AT_BYTES_TARGET void add_rows(const Rows& rows, int64_t first, int64_t last, int64_t line, int64_t depth,
                              const uint8_t* panel, uint8_t offset, int64_t columns, int32_t* out, int64_t n) {
  const auto first_lanes = [](int64_t held) {
    return static_cast<__mmask16>((1U << std::clamp<int64_t>(held, 0, kLanes)) - 1);
  };
  const __mmask16 masks[2] = {first_lanes(columns), first_lanes(columns - kLanes)};
  __m512i excess[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  __m512i odd[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  const __m512i offsets = _mm512_set1_epi8(static_cast<char>(offset));
  for (int64_t p = 0; offset != 0 && p < depth; ++p) {
    for (int v = 0; v < 2; ++v) {
      const __m512i fours = _mm512_loadu_si512(panel + (p * kWidth + v * kLanes) * 4);
      const __m512i sums = _mm512_dpbusd_epi32(odd[v], offsets, fours);
      odd[v] = excess[v];  // two sums in turn, which need not wait for each other
      excess[v] = sums;
    }
  }
  for (int v = 0; v < 2; ++v) excess[v] = _mm512_add_epi32(excess[v], odd[v]);
  const auto add = [&](auto tile, int64_t held) AT_BYTES_TARGET {
    for (; first + held <= last; first += held) {
      tile(rows.row(first) + line * rows.line_step, rows.row_step, rows.line_step, panel, depth, excess, line == 0,
           masks, out + first * n, n);
    }
  };
  add(columns <= kLanes ? add_tile<8, 1> : add_tile<8, 2>, 8);
  add(add_tile<4, 2>, 4);
  add(add_tile<1, 2>, 1);
}

}  // namespace

bool has_byte_products() {
  static const bool answer = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
                             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return answer;
}

void byte_gemm(int64_t m, int64_t n, int64_t k, MatrixOperand<uint8_t> a, bool is_signed, MatrixOperand<uint8_t> b,
               int32_t* out) {
  if (k == 0) std::fill_n(out, m * n, 0);
  const uint8_t offset = is_signed ? 128 : 0;  // with it no byte of a has a sign
  const int64_t lines = (k + 3) / 4, leading = 4 * lines, panel_bytes = kWidth * leading;
  const int64_t left_panels = (m + kWidth - 1) / kWidth, panels = (n + kWidth - 1) / kWidth;
  // neither is initialised
  const std::unique_ptr<uint8_t[]> left(new uint8_t[static_cast<size_t>(left_panels * panel_bytes)]);
  const std::unique_ptr<uint8_t[]> right(new uint8_t[static_cast<size_t>(panels * panel_bytes)]);
  const int64_t copy_grain = std::max<int64_t>(1, kCopied / std::max<int64_t>(panel_bytes, 1));
  const auto write_panels = [&](const MatrixOperand<uint8_t>& matrix, uint8_t added, int64_t columns, uint8_t* to) {
    constexpr int64_t kTogether = 4;
    const int64_t groups = (columns + kTogether * kWidth - 1) / (kTogether * kWidth);
    parallel_for(0, groups, copy_grain, [&](int64_t first, int64_t last) {
      for (int64_t column = first * kTogether * kWidth; column < std::min(columns, last * kTogether * kWidth);
           column += kTogether * kWidth) {
        const int64_t held = std::min(kTogether * kWidth, columns - column);
        uint8_t* panel = to + column * leading;
        if (!matrix.transposed) write_lines(matrix.data + column, matrix.leading, added, k, held, panel, panel_bytes);
        for (int64_t j = 0; matrix.transposed && j < held; j += kWidth, panel += panel_bytes) {
          write_columns(matrix.data + (column + j) * matrix.leading, matrix.leading, k, std::min(kWidth, held - j),
                        panel);
        }
      }
    });
  };
  write_panels(b, 0, n, right.get());
  if (a.transposed) write_panels({a.data, a.leading, false}, offset, m, left.get());
  parallel_for(0, a.transposed ? 0 : m, kWidth * copy_grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      write_row(a.data + i * a.leading, offset, k, left.get() + i * leading);
    }
  });
  const Rows rows = a.transposed ? Rows{left.get(), leading, 4, 4 * kWidth} : Rows{left.get(), leading, leading, 4};
  const int64_t blocks = (m + kTaskRows - 1) / kTaskRows;
  const int64_t task_rows = ((m + blocks - 1) / blocks + 7) / 8 * 8;
  const int64_t grain = std::max<int64_t>(1, kSerialWork / std::max<int64_t>(std::min(m, task_rows) * panel_bytes, 1));
  parallel_for(0, blocks * panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task / panels * task_rows, panel = task % panels;
      for (int64_t line = 0; line < lines; line += kDepth) {
        add_rows(rows, first, std::min(m, first + task_rows), line, std::min(kDepth, lines - line),
                 right.get() + panel * panel_bytes + line * 4 * kWidth, offset, n - panel * kWidth,
                 out + panel * kWidth, n);
      }
    }
  });
}

}  // namespace at::native::cpu

#else

namespace at::native::cpu {

bool has_byte_products() { return false; }

void byte_gemm(int64_t, int64_t, int64_t, MatrixOperand<uint8_t>, bool, MatrixOperand<uint8_t>, int32_t*) {
  TORCH_INTERNAL_ASSERT(false, "byte_gemm without AVX512_VNNI");
}

}  // namespace at::native::cpu

#endif
