#include <aten/native/cpu/bfloat16_products.h>

#include <aten/native/cpu/bfloat16_tiles.h>
#include <aten/native/cpu/panel_gemm.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define AT_HAS_PAIRS 1
#define AT_PAIRS_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
extern "C" [[gnu::weak]] void gemm_bf16bf16f32_(const char* transa, const char* transb, const int* m, const int* n,
                                                const int* k, const float* alpha, const uint16_t* a, const int* lda,
                                                const uint16_t* b, const int* ldb, const float* beta, float* c,
                                                const int* ldc);
#endif

namespace at::native::cpu {

#ifdef AT_HAS_PAIRS

namespace {

constexpr int64_t kWidth = 32;  // columns of a panel
constexpr int64_t kLanes = 16;
constexpr int kRows = 8;

AT_PAIRS_TARGET inline void store(__m512 sums, float* to) { _mm512_storeu_ps(to, sums); }
AT_PAIRS_TARGET inline void store(__m256 sums, float* to) { _mm256_storeu_ps(to, sums); }
AT_PAIRS_TARGET inline void store(__m512 sums, uint16_t* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh(sums));
}
AT_PAIRS_TARGET inline void store(__m256 sums, uint16_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), (__m128i)_mm256_cvtneps_pbh(sums));
}

// Without _mm512_castsi512_si256, of which GCC 12 warns.
AT_PAIRS_TARGET inline __m256bh lower_half(__m512i pairs) {
  return (__m256bh)__builtin_shufflevector((__v8di)pairs, (__v8di)pairs, 0, 1, 2, 3);
}

// As add_tile in gathered_products.cpp. Sums that are kept as bfloat16 are rounded.
template <int Rows, int Halves, typename Element, typename Sum>
AT_PAIRS_TARGET void add_tile(const Element* data, const int64_t* rows, const int64_t* depths, int64_t depth,
                              Lines<const uint32_t> panel, Lines<const float> start, Lines<Sum> sums) {
  constexpr int kVectors = Halves / 2;
  constexpr bool kHalf = Halves % 2 != 0;
  __m512 totals[Rows][kVectors + 1];
  __m256 half_totals[Rows];
  const Element* starts[Rows];
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    starts[row] = data + rows[row];
    const float* from = start.data + row * start.step;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) totals[row][v] = _mm512_loadu_ps(from + v * kLanes);
    if constexpr (kHalf) half_totals[row] = _mm256_loadu_ps(from + kVectors * kLanes);
  }
  const uint32_t* from = panel.data;
  for (int64_t k = 0; k < depth; ++k, from += panel.step) {
    const int64_t place = depths[k];
    __m512bh line[kVectors + 1];
    __m256bh half_line;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) line[v] = (__m512bh)_mm512_loadu_si512(from + v * kLanes);
    if constexpr (kHalf)
      half_line = (__m256bh)_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + kVectors * kLanes));
#pragma GCC unroll 8
    for (int row = 0; row < Rows; ++row) {
      int pair;
      std::memcpy(&pair, starts[row] + place, sizeof pair);
      if constexpr (kVectors == 0) {
        half_totals[row] = _mm256_dpbf16_ps(half_totals[row], (__m256bh)_mm256_set1_epi32(pair), half_line);
        continue;
      }
      const __m512i element = _mm512_set1_epi32(pair);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) totals[row][v] = _mm512_dpbf16_ps(totals[row][v], (__m512bh)element, line[v]);
      if constexpr (kHalf)
        half_totals[row] = _mm256_dpbf16_ps(half_totals[row], lower_half(element), half_line);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    Sum* to = sums.data + row * sums.step;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) store(totals[row][v], to + v * kLanes);
    if constexpr (kHalf) store(half_totals[row], to + kVectors * kLanes);
  }
}

// As in gathered_products.cpp.
template <int Rows, int Halves, typename Element, typename Sum>
AT_PAIRS_TARGET void add_rest(const Element* data, const int64_t* rows, int64_t count, const int64_t* depths,
                              int64_t depth, Lines<const uint32_t> panel, Lines<const float> start, Lines<Sum> sums) {
  if constexpr (Rows > 1) {
    if (count < Rows) return add_rest<Rows - 1, Halves>(data, rows, count, depths, depth, panel, start, sums);
  }
  add_tile<Rows, Halves>(data, rows, depths, depth, panel, start, sums);
}

template <int Halves, typename Element, typename Sum>
AT_PAIRS_TARGET void add_tiles(const Element* data, const int64_t* rows, int64_t count, const int64_t* depths,
                               int64_t depth, Lines<const uint32_t> panel, Lines<const float> start, Lines<Sum> sums) {
  for (; count >= kRows; rows += kRows, count -= kRows) {
    add_tile<kRows, Halves>(data, rows, depths, depth, panel, start, sums);
    start.data += kRows * start.step;
    sums.data += kRows * sums.step;
  }
  if (count > 0) add_rest<kRows - 1, Halves>(data, rows, count, depths, depth, panel, start, sums);
}

// As multiply_group_tile there.
template <int Rows>
AT_PAIRS_TARGET void multiply_group_tile(const uint32_t* data, const int64_t* rows, const int64_t* taps,
                                         int64_t tap_count, const int32_t* lanes, int64_t pairs,
                                         Lines<const uint32_t> panel, const float* start, Lines<uint16_t> sums) {
  __m512 totals[Rows];
  const uint32_t* starts[Rows];
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    totals[row] = _mm512_loadu_ps(start);
    starts[row] = data + rows[row];
  }
  const uint32_t* line = panel.data;
  for (int64_t tap = 0; tap < tap_count; ++tap) {
    const int64_t place = taps[tap];
    for (int64_t pair = 0; pair < pairs; ++pair, line += panel.step) {
      const auto factors = (__m512bh)_mm512_loadu_si512(line);
      const __m512i order = _mm512_loadu_si512(lanes + pair * kLanes);
#pragma GCC unroll 8
      for (int row = 0; row < Rows; ++row) {
        // Masks are full: GCC 12 warns of what is written without.
        const __m512i place_pairs = _mm512_maskz_broadcast_i64x4(
            0xFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(starts[row] + place)));
        const __m512i spread = _mm512_maskz_permutexvar_epi32(0xFFFF, order, place_pairs);
        totals[row] = _mm512_dpbf16_ps(totals[row], (__m512bh)spread, factors);
      }
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) store(totals[row], sums.data + row * sums.step);
}

// As multiply_halves_tile there.
template <int Rows>
AT_PAIRS_TARGET void multiply_halves_tile(const uint32_t* data, const int64_t* rows, const int64_t* taps,
                                          int64_t tap_count, Lines<const uint32_t> panel, const float* start,
                                          Lines<uint16_t> sums) {
  constexpr int64_t kPairs = kLanes / 4;  // of a group
  __m256 lower[Rows], upper[Rows];
  const uint32_t* starts[Rows];
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    lower[row] = _mm256_loadu_ps(start);
    upper[row] = _mm256_loadu_ps(start + kLanes / 2);
    starts[row] = data + rows[row];
  }
  const uint32_t* line = panel.data;
  for (int64_t tap = 0; tap < tap_count; ++tap) {
    for (int64_t place = taps[tap]; place < taps[tap] + kPairs; ++place, line += panel.step) {
      const __m256i factors = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line));
      const __m256i upper_factors = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + kLanes / 2));
#pragma GCC unroll 8
      for (int row = 0; row < Rows; ++row) {
        const __m256i pairs = _mm256_set1_epi32(static_cast<int>(starts[row][place]));
        const __m256i upper_pairs = _mm256_set1_epi32(static_cast<int>(starts[row][place + kPairs]));
        lower[row] = _mm256_dpbf16_ps(lower[row], (__m256bh)pairs, (__m256bh)factors);
        upper[row] = _mm256_dpbf16_ps(upper[row], (__m256bh)upper_pairs, (__m256bh)upper_factors);
      }
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < Rows; ++row) {
    store(lower[row], sums.data + row * sums.step);
    store(upper[row], sums.data + row * sums.step + kLanes / 2);
  }
}

AT_PAIRS_TARGET inline __mmask16 first_lanes(int64_t count) {
  return count >= kLanes ? __mmask16(0xFFFF) : static_cast<__mmask16>((1U << std::max<int64_t>(count, 0)) - 1);
}

// 32 numbers of a line and of the next one, as pairs of two vectors.
struct PairVectors {
  __m512i first, second;
};
AT_PAIRS_TARGET inline PairVectors pairs_of(__m512i upper, __m512i lower) {
  alignas(64) static const auto places = [] {
    std::array<uint16_t, 64> result{};
    for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<uint16_t>(i / 2 + i % 2 * 32);
    return result;
  }();
  return {_mm512_permutex2var_epi16(upper, _mm512_load_si512(places.data()), lower),
          _mm512_permutex2var_epi16(upper, _mm512_load_si512(places.data() + 32), lower)};
}
// The first `count` of 32 numbers; 0 for the others.
AT_PAIRS_TARGET inline __m512i load_some(const uint16_t* from, int64_t count) {
  const __mmask32 mask = count >= 32 ? ~__mmask32(0) : (__mmask32(1) << std::max<int64_t>(count, 0)) - 1;
  return _mm512_maskz_loadu_epi16(mask, from);
}

// out[i] = sum over k of lines[i * leading + k] * vector[k].
AT_PAIRS_TARGET void multiply_lines(int64_t count, int64_t depth, const uint16_t* lines, int64_t leading,
                                    const uint16_t* vector, float* out) {
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t* line = lines + i * leading;
    __m512 totals[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
    int64_t k = 0;
    for (; k + 128 <= depth; k += 128) {
#pragma GCC unroll 4
      for (int64_t v = 0; v < 4; ++v) {
        totals[v] = _mm512_dpbf16_ps(totals[v], (__m512bh)_mm512_loadu_si512(line + k + 32 * v),
                                     (__m512bh)_mm512_loadu_si512(vector + k + 32 * v));
      }
    }
    for (; k < depth; k += 32) {
      totals[0] = _mm512_dpbf16_ps(totals[0], (__m512bh)load_some(line + k, depth - k),
                                   (__m512bh)load_some(vector + k, depth - k));
    }
    alignas(64) float lanes[kLanes];
    _mm512_store_ps(lanes, _mm512_add_ps(_mm512_add_ps(totals[0], totals[1]), _mm512_add_ps(totals[2], totals[3])));
    for (int64_t held = kLanes / 2; held > 0; held /= 2) {
      for (int64_t lane = 0; lane < held; ++lane) lanes[lane] += lanes[lane + held];
    }
    out[i] = lanes[0];
  }
}

// out[j] = sum over k of vector[k] * lines[k * leading + j].
AT_PAIRS_TARGET void add_lines(int64_t count, int64_t depth, const uint16_t* lines, int64_t leading,
                               const uint16_t* vector, float* out) {
  std::fill_n(out, count, 0.0F);
  for (int64_t k = 0; k < depth; k += 2) {
    const bool whole = k + 1 < depth;
    const auto pair = (__m512bh)_mm512_set1_epi32(
        static_cast<int>(vector[k] | (whole ? static_cast<uint32_t>(vector[k + 1]) << 16 : 0U)));
    const uint16_t* line = lines + k * leading;
    for (int64_t j = 0; j < count; j += 32) {
      const int64_t left = count - j;
      const PairVectors pairs =
          pairs_of(load_some(line + j, left), whole ? load_some(line + leading + j, left) : _mm512_setzero_si512());
      const __mmask16 masks[2] = {first_lanes(left), first_lanes(left - kLanes)};
      _mm512_mask_storeu_ps(out + j, masks[0],
                            _mm512_dpbf16_ps(_mm512_maskz_loadu_ps(masks[0], out + j), pair, (__m512bh)pairs.first));
      _mm512_mask_storeu_ps(
          out + j + kLanes, masks[1],
          _mm512_dpbf16_ps(_mm512_maskz_loadu_ps(masks[1], out + j + kLanes), pair, (__m512bh)pairs.second));
    }
  }
}

// A matrix, as its lines or (transposed) its columns lie, times a vector.
void multiply_by_vector(int64_t count, int64_t depth, MatrixOperand<uint16_t> matrix, const uint16_t* vector,
                        int64_t vector_step, float alpha, float beta, float* out, int64_t out_step) {
  std::vector<uint16_t> dense;
  for (int64_t k = 0; vector_step != 1 && k < depth; ++k) dense.push_back(vector[k * vector_step]);
  const uint16_t* elements = vector_step == 1 ? vector : dense.data();
  constexpr int64_t kSerialElements = 1 << 17;
  std::vector<float> products(static_cast<size_t>(count));
  parallel_for(
      0, count, std::max<int64_t>(32, kSerialElements / std::max<int64_t>(depth, 1)), [&](int64_t first, int64_t last) {
        float* to = products.data() + first;
        if (matrix.transposed)
          add_lines(last - first, depth, matrix.data + first, matrix.leading, elements, to);
        else
          multiply_lines(last - first, depth, matrix.data + first * matrix.leading, matrix.leading, elements, to);
      });
  for (int64_t i = 0; i < count; ++i) {
    float& target = out[i * out_step];
    target = alpha * products[static_cast<size_t>(i)] + (beta == 0 ? 0.0F : beta * target);
  }
}

// The transpose of [depth, columns], whose lines are `leading` apart, as pairs: pair p of column i at
// to[column_place(i, pairs) + p * kLanes], for `pairs` of them in all, pairs [first, last) of these.
int64_t column_place(int64_t i, int64_t pairs) { return i / kLanes * kLanes * pairs + i % kLanes; }
AT_PAIRS_TARGET void pair_columns(MatrixOperand<uint16_t> matrix, int64_t depth, int64_t columns, int64_t first,
                                  int64_t last, int64_t pairs, uint32_t* to) {
  for (int64_t p = first; p < last; ++p) {
    const uint16_t* const line = matrix.data + 2 * p * matrix.leading;
    const bool whole = 2 * p + 1 < depth;
    for (int64_t i = 0; i < columns; i += 2 * kLanes) {
      const int64_t left = columns - i;
      const PairVectors both = pairs_of(
          load_some(line + i, left), whole ? load_some(line + matrix.leading + i, left) : _mm512_setzero_si512());
      uint32_t* const place = to + column_place(i, pairs) + p * kLanes;
      _mm512_storeu_si512(place, both.first);
      if (left > kLanes) _mm512_storeu_si512(place + kLanes * pairs, both.second);
    }
  }
}

// How run_panels (panel_gemm.h) multiplies pairs, from numbers or pairs on the left.
template <typename Element>
struct Pairs {
  using Left = Element;
  using Line = uint32_t;
  using Sum = float;
  MatrixOperand<uint16_t> right;
  int64_t depth;  // in numbers

  int64_t width() const { return kWidth; }
  AT_PAIRS_TARGET void write_panel(int64_t first, int64_t lines, int64_t column, int64_t columns,
                                   uint32_t* panel) const {
    int64_t line = 0;
    const int64_t whole = std::clamp<int64_t>(depth / 2 - first, 0, lines);  // lines of pairs of two
    if (!right.transposed) {
      const uint16_t* from = right.data + 2 * first * right.leading + column;
      for (; line < whole; ++line, from += 2 * right.leading) {
        const PairVectors both = pairs_of(load_some(from, columns), load_some(from + right.leading, columns));
        _mm512_storeu_si512(panel + line * kWidth, both.first);
        _mm512_storeu_si512(panel + line * kWidth + kLanes, both.second);
      }
    } else if (right.leading % 2 == 0) {  // pairs are numbers of 32 bits, in lines
      constexpr int64_t kLinesAtATime = 64;
      if (columns < kWidth) std::fill_n(panel, whole * kWidth, 0U);
      for (; line < whole; line += kLinesAtATime) {
        transpose_matrix(reinterpret_cast<const float*>(right.data + column * right.leading) + first + line,
                         right.leading / 2, columns, std::min(kLinesAtATime, whole - line),
                         reinterpret_cast<float*>(panel) + line * kWidth, kWidth);
      }
      line = whole;
    }
    for (; line < lines; ++line) {
      const int64_t k = 2 * (first + line);
      uint32_t* to = panel + line * kWidth;
      const int64_t across = right.transposed ? right.leading : 1;
      const int64_t down = right.transposed ? 1 : right.leading;
      const uint16_t* from = right.data + k * down + column * across;
      for (int64_t j = 0; j < columns; ++j) to[j] = from[j * across];
      for (int64_t j = 0; k + 1 < depth && j < columns; ++j)
        to[j] |= static_cast<uint32_t>(from[j * across + down]) << 16;
      std::fill(to + columns, to + kWidth, 0U);
    }
  }
  void add(const Element* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t lines,
           Lines<const uint32_t> panel, int64_t columns, Lines<float> sums, bool fresh) const {
    add_gathered_pairs(data, rows, count, depths, lines, panel, columns,
                       fresh ? zero_lines<float>() : Lines<const float>{sums.data, sums.step}, sums);
  }
};

void multiply_by_mkl(int64_t m, int64_t n, int64_t k, float alpha, MatrixOperand<uint16_t> a, MatrixOperand<uint16_t> b,
                     float beta, float* out, int64_t out_leading) {
  const auto narrow = [](int64_t size) {
    TORCH_CHECK(size <= std::numeric_limits<int>::max(), "matrix product: a size of ", size,
                " is more than this BLAS can take (2^31 - 1); split the matrix");
    return static_cast<int>(size);
  };
  const int rows = narrow(n), columns = narrow(m), inner = narrow(k);
  const int lda = narrow(a.leading), ldb = narrow(b.leading), ldc = narrow(out_leading);
  const char mode_a = a.transposed ? 't' : 'n', mode_b = b.transposed ? 't' : 'n';
  gemm_bf16bf16f32_(&mode_b, &mode_a, &rows, &columns, &inner, &alpha, b.data, &ldb, a.data, &lda, &beta, out, &ldc);
}

void multiply_pairs(const GemmTask<uint16_t, float>& task, int64_t k, float alpha) {
  const auto [m, n, a, b, beta, out, out_leading] = task;
  const int64_t pairs = (k + 1) / 2;
  std::vector<int64_t> rows(static_cast<size_t>(m));
  std::vector<int64_t> depths(static_cast<size_t>(pairs));
  constexpr int64_t kCopied = 1 << 16;  // elements that are worth a thread
  if (a.transposed) {
    const int64_t places = (m + kLanes - 1) / kLanes * kLanes;
    const auto copy = scratch<uint32_t>(places * pairs);
    parallel_for(0, pairs, std::max<int64_t>(1, kCopied / m), [&](int64_t first, int64_t last) {
      pair_columns(task.a, k, task.m, first, last, pairs, copy.get());
    });
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = column_place(static_cast<int64_t>(i), pairs);
    for (size_t i = 0; i < depths.size(); ++i) depths[i] = static_cast<int64_t>(i) * kLanes;
    return run_panels(Pairs<uint32_t>{b, k}, copy.get(), rows, depths, n, alpha, beta, out, out_leading);
  }
  const uint16_t* data = a.data;
  int64_t leading = a.leading;
  std::unique_ptr<uint16_t[]> copy;
  if (k % 2 != 0) {  // the last pair has to be whole
    const int64_t padded = 2 * pairs;
    copy.reset(new uint16_t[static_cast<size_t>(m * padded)]);
    parallel_for(0, m, std::max<int64_t>(1, kCopied / padded), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        std::copy_n(task.a.data + i * task.a.leading, k, copy.get() + i * padded);
        copy[static_cast<size_t>(i * padded + k)] = 0;
      }
    });
    data = copy.get();
    leading = padded;
  }
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i) * leading;
  for (size_t i = 0; i < depths.size(); ++i) depths[i] = static_cast<int64_t>(2 * i);
  run_panels(Pairs<uint16_t>{b, k}, data, rows, depths, n, alpha, beta, out, out_leading);
}

}  // namespace

template <typename Element, typename Sum>
void add_gathered_pairs(const Element* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                        Lines<const uint32_t> panel, int64_t columns, Lines<const float> start, Lines<Sum> sums) {
  if (are_worth_tiles(count, depth)) {
    TiledRows tiles;
    tiles.read(data, data, rows, count, depths, depth);
    return tiles.multiply(panel, columns, start, sums);
  }
  const auto add = columns <= kLanes / 2       ? add_tiles<1, Element, Sum>
                   : columns <= kLanes         ? add_tiles<2, Element, Sum>
                   : columns <= 3 * kLanes / 2 ? add_tiles<3, Element, Sum>
                                               : add_tiles<4, Element, Sum>;
  add(data, rows, count, depths, depth, panel, start, sums);
}

template void add_gathered_pairs(const uint16_t*, const int64_t*, int64_t, const int64_t*, int64_t,
                                 Lines<const uint32_t>, int64_t, Lines<const float>, Lines<float>);
template void add_gathered_pairs(const uint32_t*, const int64_t*, int64_t, const int64_t*, int64_t,
                                 Lines<const uint32_t>, int64_t, Lines<const float>, Lines<float>);
template void add_gathered_pairs(const uint32_t*, const int64_t*, int64_t, const int64_t*, int64_t,
                                 Lines<const uint32_t>, int64_t, Lines<const float>, Lines<uint16_t>);

void multiply_groups_of_pairs(const uint32_t* data, const int64_t* rows, int64_t count, const int64_t* taps,
                              int64_t tap_count, const int32_t* lanes, int64_t channels, Lines<const uint32_t> panel,
                              const float* start, Lines<uint16_t> sums) {
  if (2 * channels == kLanes) {
    for (; count >= kRows; rows += kRows, count -= kRows, sums.data += kRows * sums.step)
      multiply_halves_tile<kRows>(data, rows, taps, tap_count, panel, start, sums);
  }
  for (; count >= kRows; rows += kRows, count -= kRows, sums.data += kRows * sums.step)
    multiply_group_tile<kRows>(data, rows, taps, tap_count, lanes, channels / 2, panel, start, sums);
  for (; count > 0; ++rows, --count, sums.data += sums.step)
    multiply_group_tile<1>(data, rows, taps, tap_count, lanes, channels / 2, panel, start, sums);
}

namespace {

AT_PAIRS_TARGET void pair_line(const uint16_t* first, const uint16_t* second, int64_t count, uint32_t* to) {
  for (int64_t i = 0; i < count; i += 32) {
    const int64_t left = count - i;
    const PairVectors pairs =
        pairs_of(load_some(first + i, left), second ? load_some(second + i, left) : _mm512_setzero_si512());
    _mm512_mask_storeu_epi32(to + i, first_lanes(left), pairs.first);
    _mm512_mask_storeu_epi32(to + i + kLanes, first_lanes(left - kLanes), pairs.second);
  }
}

}  // namespace

AT_PAIRS_TARGET void pair_lines(const uint16_t* from, int64_t lines, int64_t count, uint32_t* to) {
  if (count > kLanes) {
    for (int64_t line = 0; line + 1 < lines; line += 2, from += 2 * count, to += count)
      pair_line(from, from + count, count, to);
  } else {  // two lines are a vector
    alignas(64) std::array<uint16_t, 32> places{};
    for (size_t i = 0; i < 32; ++i) places[i] = static_cast<uint16_t>(i / 2 + i % 2 * static_cast<size_t>(count)) % 32;
    const __m512i order = _mm512_load_si512(places.data());
    const __mmask16 mask = first_lanes(count);
    for (int64_t line = 0; line + 1 < lines; line += 2, from += 2 * count, to += count)
      _mm512_mask_storeu_epi32(to, mask, _mm512_permutexvar_epi16(order, load_some(from, 2 * count)));
  }
  if (lines % 2 != 0) pair_line(from, nullptr, count, to);
}

AT_PAIRS_TARGET void pair_colours(const uint16_t* from, int64_t places, uint32_t* to) {
  constexpr int64_t kPlaces = 8;  // of a vector of pairs
  alignas(64) static const auto numbers = [] {
    std::array<uint16_t, 4 * kPlaces> result{};
    for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<uint16_t>(i / 4 * 3 + i % 4);
    return result;
  }();
  const __m512i order = _mm512_load_si512(numbers.data());
  for (int64_t i = 0; i < places; i += kPlaces) {
    const __m512i some = load_some(from + 3 * i, 3 * std::min(kPlaces, places - i));
    _mm512_mask_storeu_epi32(to + 2 * i, first_lanes(2 * (places - i)),
                             _mm512_maskz_permutexvar_epi16(0x77777777, order, some));
  }
}

AT_PAIRS_TARGET void round_to_bfloat16(Lines<const float> from, int64_t lines, int64_t count, Lines<uint16_t> to) {
  const auto round_some = [&](int64_t i) AT_PAIRS_TARGET {
    const auto rounded = (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(from.data + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.data + i), rounded);
  };
  for (int64_t line = 0; line < lines; ++line, from.data += from.step, to.data += to.step) {
    for (int64_t i = 0; i + kLanes <= count; i += kLanes) round_some(i);
    if (count % kLanes == 0) continue;
    if (count > kLanes) {  // the last ones end with the line, some of them once more
      round_some(count - kLanes);
    } else {
      const __mmask16 mask = first_lanes(count);
      _mm256_mask_storeu_epi16(to.data, mask,
                               (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from.data)));
    }
  }
}

// MKL uses AMX, and its kernels for AVX512_BF16, on Intel's processors only.
bool multiplies_by_mkl() {
  static const bool answer = [] {
    unsigned int level = 0, first = 0, second = 0, third = 0;
    return gemm_bf16bf16f32_ && __get_cpuid(0, &level, &first, &third, &second) && first == signature_INTEL_ebx;
  }();
  return answer;
}

bool has_bfloat16_products() {
  static const bool answer =
      __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") && panel_columns<float>() == kWidth;
  return answer;
}

void write_pairs(MatrixOperand<uint16_t> right, int64_t depth, int64_t column, int64_t columns, uint32_t* panel) {
  Pairs<uint16_t>{right, depth}.write_panel(0, (depth + 1) / 2, column, columns, panel);
}

void bfloat16_gemm(int64_t m, int64_t n, int64_t k, float alpha, MatrixOperand<uint16_t> a, MatrixOperand<uint16_t> b,
                   float beta, float* out, int64_t out_leading) {
  if (k == 0 || alpha == 0) {  // nothing to add
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) out[i * out_leading + j] = beta == 0 ? 0.0F : beta * out[i * out_leading + j];
    }
    return;
  }
  if (multiplies_by_mkl()) return multiply_by_mkl(m, n, k, alpha, a, b, beta, out, out_leading);
  if (n == 1) return multiply_by_vector(m, k, a, b.data, b.transposed ? 1 : b.leading, alpha, beta, out, out_leading);
  if (m == 1) {
    return multiply_by_vector(n, k, {b.data, b.leading, !b.transposed}, a.data, a.transposed ? a.leading : 1, alpha,
                              beta, out, 1);
  }
  const GemmTask<uint16_t, float> given{m, n, a, b, beta, out, out_leading};
  run_turned(is_better_turned(m, n, b) && k % 2 == 0, given,
             [&](const GemmTask<uint16_t, float>& task) { multiply_pairs(task, k, alpha); });
}

#else

bool has_bfloat16_products() { return false; }
bool multiplies_by_mkl() { return false; }
void write_pairs(MatrixOperand<uint16_t>, int64_t, int64_t, int64_t, uint32_t*) {}
template <typename Element, typename Sum>
void add_gathered_pairs(const Element*, const int64_t*, int64_t, const int64_t*, int64_t, Lines<const uint32_t>,
                        int64_t, Lines<const float>, Lines<Sum>) {}
template void add_gathered_pairs(const uint16_t*, const int64_t*, int64_t, const int64_t*, int64_t,
                                 Lines<const uint32_t>, int64_t, Lines<const float>, Lines<float>);
template void add_gathered_pairs(const uint32_t*, const int64_t*, int64_t, const int64_t*, int64_t,
                                 Lines<const uint32_t>, int64_t, Lines<const float>, Lines<float>);
template void add_gathered_pairs(const uint32_t*, const int64_t*, int64_t, const int64_t*, int64_t,
                                 Lines<const uint32_t>, int64_t, Lines<const float>, Lines<uint16_t>);
void multiply_groups_of_pairs(const uint32_t*, const int64_t*, int64_t, const int64_t*, int64_t, const int32_t*,
                              int64_t, Lines<const uint32_t>, const float*, Lines<uint16_t>) {}
void pair_lines(const uint16_t*, int64_t, int64_t, uint32_t*) {}
void pair_colours(const uint16_t*, int64_t, uint32_t*) {}
void round_to_bfloat16(Lines<const float>, int64_t, int64_t, Lines<uint16_t>) {}
void bfloat16_gemm(int64_t, int64_t, int64_t, float, MatrixOperand<uint16_t>, MatrixOperand<uint16_t>, float, float*,
                   int64_t) {}

#endif

}  // namespace at::native::cpu
