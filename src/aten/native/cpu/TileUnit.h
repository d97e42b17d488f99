#pragma once
// The processor's tiles as functions, or, with AT_EMULATED_TILES, as tests have them where there is no such processor.

#include <aten/native/cpu/gathered_products.h>

#include <cstdint>
#include <cstring>

#ifdef AT_EMULATED_TILES
#define AT_TILES_TARGET
#elif defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define AT_TILES_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define AT_HAS_TILES 1
#endif

namespace at::native::cpu {

constexpr int64_t kTileRows = 16;
constexpr int64_t kTilePairs = 16;  // of bfloat16, or floats, in a row

// Some of the 16 pairs of a row: lane i, where its bit is set, is of the pair `step` * i pairs behind `place`.
struct TilePiece {
  int64_t place;  // in bytes
  int64_t step;   // 1 or 2
  uint32_t lanes;
};

#ifdef AT_EMULATED_TILES

struct TileUnit {
  static bool is_there() { return true; }
  static void begin() {}
  static void end() {}
  template <int Tile>
  static void clear() {
    std::memset(tiles[Tile], 0, sizeof tiles[Tile]);
  }
  template <int Tile>
  static void load(const void* from, int64_t step) {
    for (int64_t row = 0; row < kTileRows; ++row)
      std::memcpy(tiles[Tile][row], static_cast<const char*>(from) + row * step, sizeof tiles[Tile][row]);
  }
  template <int Tile>
  static void store(void* to, int64_t step) {
    for (int64_t row = 0; row < kTileRows; ++row)
      std::memcpy(static_cast<char*>(to) + row * step, tiles[Tile][row], sizeof tiles[Tile][row]);
  }
  template <int Sums, int Left, int Right>
  static void multiply() {
    const auto number = [](uint32_t bits) {
      float value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    };
    for (int64_t row = 0; row < kTileRows; ++row) {
      for (int64_t column = 0; column < kTilePairs; ++column) {
        float sum = number(tiles[Sums][row][column]);
        for (int64_t k = 0; k < kTilePairs; ++k) {
          const uint32_t a = tiles[Left][row][k], b = tiles[Right][k][column];
          sum += number(a << 16) * number(b << 16) + number(a & 0xFFFF0000U) * number(b & 0xFFFF0000U);
        }
        std::memcpy(&tiles[Sums][row][column], &sum, sizeof sum);
      }
    }
  }
  static void copy_row(const char* from, uint32_t lanes, uint32_t* to) {
    const TilePiece piece{0, 1, lanes};
    copy_row(from, &piece, 1, to);
  }
  static void copy_row(const char* row, const TilePiece* piece, int64_t pieces, uint32_t* to) {
    std::memset(to, 0, kTilePairs * sizeof *to);
    for (; pieces > 0; --pieces, ++piece) {
      for (int64_t lane = 0; lane < kTilePairs; ++lane) {
        if ((piece->lanes >> lane & 1) != 0) std::memcpy(to + lane, row + piece->place + lane * 4 * piece->step, 4);
      }
    }
  }
  static void round(Lines<const float> from, int64_t rows, int64_t columns, Lines<uint16_t> to) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t i = 0; i < columns; ++i) {
        uint32_t bits;
        std::memcpy(&bits, from.data + row * from.step + i, sizeof bits);
        const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
        const uint32_t rounded = is_nan ? (bits >> 16 | 0x40U) : (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
        to.data[row * to.step + i] = static_cast<uint16_t>(rounded);
      }
    }
  }

 private:
  inline static thread_local uint32_t tiles[8][kTileRows][kTilePairs];
};

#elif defined(AT_HAS_TILES)

struct TileUnit {
  static bool is_there() {
    static const bool answer = [] {
      constexpr unsigned int kTile = 1U << 24, kNumbers = 1U << 22;  // of the leaf's edx
      constexpr int64_t kAsk = 0x1023, kTileData = 18;               // ARCH_REQ_XCOMP_PERM
      if (!__builtin_cpu_supports("avx512bf16")) return false;
      unsigned int a = 7, b = 0, c = 0, d = 0;
      asm("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
      return (d & kTile) != 0 && (d & kNumbers) != 0 && syscall(SYS_arch_prctl, kAsk, kTileData) == 0;
    }();
    return answer;
  }
  // Whatever follows up to end() has eight tiles of 16 rows with 64 bytes.
  static void begin() {
    struct alignas(64) {
      uint8_t palette = 1, start = 0, reserved[14] = {};
      uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } static const shape;
    asm volatile("ldtilecfg %0" : : "m"(shape));
  }
  static void end() { asm volatile("tilerelease" : : : "memory"); }
  template <int Tile>
  static void clear() {
    asm volatile("tilezero %%tmm%c0" : : "i"(Tile));
  }
  template <int Tile>
  static void load(const void* from, int64_t step) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(step), "i"(Tile) : "memory");
  }
  template <int Tile>
  static void store(void* to, int64_t step) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(step), "i"(Tile) : "memory");
  }
  template <int Sums, int Left, int Right>
  static void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(Left), "i"(Right));
  }
  AT_TILES_TARGET static void copy_row(const char* from, uint32_t lanes, uint32_t* to) {
    _mm512_store_si512(to, _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), from));
  }
  AT_TILES_TARGET static void copy_row(const char* row, const TilePiece* piece, int64_t pieces, uint32_t* to) {
    __m512i pairs = _mm512_setzero_si512();
    for (; pieces > 0; --pieces, ++piece) {
      const char* const from = row + piece->place;
      const auto lanes = static_cast<__mmask16>(piece->lanes);
      if (piece->step == 1) {
        pairs = _mm512_mask_loadu_epi32(pairs, lanes, from);
        continue;
      }
      const __m512i first = _mm512_maskz_loadu_epi32(every_other(piece->lanes), from);
      const __m512i second = _mm512_maskz_loadu_epi32(every_other(piece->lanes >> 8), from + 64);
      const __m512i order = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
      pairs = _mm512_mask_mov_epi32(pairs, lanes, _mm512_permutex2var_epi32(first, order, second));
    }
    _mm512_store_si512(to, pairs);
  }
  // Up to 32 columns.
  AT_TILES_TARGET static void round(Lines<const float> from, int64_t rows, int64_t columns, Lines<uint16_t> to) {
    const __mmask32 lanes = columns >= 2 * kTilePairs ? ~__mmask32(0) : (__mmask32(1) << columns) - 1;
    for (int64_t row = 0; row < rows; ++row, from.data += from.step, to.data += to.step) {
      const __m512 first = _mm512_loadu_ps(from.data), second = _mm512_loadu_ps(from.data + kTilePairs);
      _mm512_mask_storeu_epi16(to.data, lanes, (__m512i)_mm512_cvtne2ps_pbh(second, first));
    }
  }

 private:
  // Bit 2 i of what is returned is bit i of `lanes`, for the first eight.
  AT_TILES_TARGET static __mmask16 every_other(uint32_t lanes) {
    lanes &= 0xFFU;
    lanes = (lanes | lanes << 4) & 0x0F0FU;
    lanes = (lanes | lanes << 2) & 0x3333U;
    return static_cast<__mmask16>((lanes | lanes << 1) & 0x5555U);
  }
};

#endif

}  // namespace at::native::cpu
