#pragma once
// Products of gathered bfloat16 matrices by the processor's tiles (AMX): 16 rows times 16 columns, 32 deep, at once.

#include <aten/native/cpu/Scratch.h>
#include <aten/native/cpu/gathered_products.h>

#include <cstdint>
#include <vector>

namespace at::native::cpu {

// Whether this processor has tiles of bfloat16, and the system lets this program use them.
bool has_bfloat16_tiles();

// Rows, and pairs of their depth, of which fewer are not worth tiles.
constexpr int64_t kFewestTileRows = 6;
constexpr int64_t kFewestTilePairs = 6;
inline bool are_worth_tiles(int64_t rows, int64_t pairs) {
  return rows >= kFewestTileRows && pairs >= kFewestTilePairs && has_bfloat16_tiles();
}

// Some rows of a gathered matrix (gathered_products.h), to be multiplied by several panels: read in place where they
// lie at one distance from each other, and all their pairs next to each other, else copied. What is copied had better
// lie in pieces of neighbouring pairs, or of every other one. Only where has_bfloat16_tiles().
class TiledRows {
 public:
  // Up to `end` there is something to read, which need not belong to a row.
  template <typename Element>
  void read(const Element* data, const Element* end, const int64_t* rows, int64_t count, const int64_t* depths,
            int64_t depth) {
    read_bytes(reinterpret_cast<const char*>(data), reinterpret_cast<const char*>(end), rows, count, depths, depth,
               sizeof(Element));
  }
  // As add_gathered_pairs (bfloat16_products.h) of these rows.
  template <typename Sum>
  void multiply(Lines<const uint32_t> panel, int64_t columns, Lines<const float> start, Lines<Sum> sums) const;

 private:
  // Up to 16 rows: the pairs of chunk c at data + places[c], a row `step` bytes behind the other.
  struct Tile {
    const char* data;
    const int64_t* places;
    int64_t step;
    int64_t row, count;
  };
  void read_bytes(const char* data, const char* end, const int64_t* rows, int64_t count, const int64_t* depths,
                  int64_t depth, int64_t unit);
  template <int RowTiles, int ColumnTiles>
  void add_chunks(const Tile* tiles, Lines<const uint32_t> panel, const uint32_t* rest) const;
  template <int RowTiles, int ColumnTiles, typename Sum>
  void add_rows(const Tile* tiles, int64_t columns, Lines<const uint32_t> panel, const uint32_t* rest,
                Lines<const float> start, Lines<Sum> sums) const;

  int64_t depth_ = 0;
  std::vector<Tile> tiles_;
  std::vector<int64_t> read_places_, copied_places_;
  Scratch<uint32_t> copies_;
  int64_t copies_size_ = 0;
};

}  // namespace at::native::cpu
