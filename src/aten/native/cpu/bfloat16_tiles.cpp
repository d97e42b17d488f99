#include <aten/native/cpu/TileUnit.h>
#include <aten/native/cpu/bfloat16_tiles.h>

#include <algorithm>
#include <type_traits>

namespace at::native::cpu {

#if defined(AT_HAS_TILES) || defined(AT_EMULATED_TILES)

namespace {

constexpr int64_t kWidth = 2 * kTilePairs;  // columns of a panel
constexpr int64_t kPair = 4;                // bytes
constexpr int64_t kLine = kTilePairs * kPair;
constexpr int64_t kTileElements = kTileRows * kTilePairs;

// Up to 16 depths in pieces that lie in one order.
void add_pieces(const int64_t* depths, int64_t count, int64_t unit, std::vector<TilePiece>& pieces) {
  for (int64_t lane = 0; lane < count;) {
    const int64_t gap = lane + 1 < count ? (depths[lane + 1] - depths[lane]) * unit : kPair;
    const int64_t step = gap == 2 * kPair ? 2 : 1;
    int64_t end = lane + 1;
    while (end < count && (depths[end] - depths[end - 1]) * unit == step * kPair) ++end;
    pieces.push_back({depths[lane] * unit - lane * kPair * step, step, (1U << end) - (1U << lane)});
    lane = end;
  }
}

// Calls body(number of the tile, row, column) for each tile of sums.
template <int RowTiles, int ColumnTiles, typename Body>
void for_each_tile(Body&& body) {
  body(std::integral_constant<int, 0>{}, 0, 0);
  if constexpr (ColumnTiles > 1) body(std::integral_constant<int, 1>{}, 0, kTilePairs);
  if constexpr (RowTiles > 1) {
    body(std::integral_constant<int, 2>{}, kTileRows, 0);
    if constexpr (ColumnTiles > 1) body(std::integral_constant<int, 3>{}, kTileRows, kTilePairs);
  }
}

}  // namespace

bool has_bfloat16_tiles() { return TileUnit::is_there(); }

AT_TILES_TARGET void TiledRows::read_bytes(const char* data, const char* end, const int64_t* rows, int64_t count,
                                           const int64_t* depths, int64_t depth, int64_t unit) {
  constexpr int64_t kFewestInPlace = 12;  // rows of a tile: it takes as long with fewer, but need not be copied
  depth_ = depth;
  std::vector<TilePiece> pieces;
  std::vector<size_t> first_pieces{0};
  read_places_.clear();
  copied_places_.clear();
  bool is_whole = depth % kTilePairs == 0;
  int64_t furthest = 0;
  for (int64_t first = 0; first < depth; first += kTilePairs) {
    add_pieces(depths + first, std::min(kTilePairs, depth - first), unit, pieces);
    const TilePiece& last = pieces.back();
    is_whole = is_whole && pieces.size() - first_pieces.back() == 1 && last.step == 1;
    furthest = std::max(furthest, last.place + kLine);
    read_places_.push_back(last.place);
    copied_places_.push_back(first / kTilePairs * kTileRows * kLine);
    first_pieces.push_back(pieces.size());
  }
  const auto chunks = static_cast<int64_t>(read_places_.size());
  tiles_.clear();
  int64_t copied = 0;
  for (int64_t row = 0; row < count;) {
    const int64_t left = std::min(kTileRows, count - row);
    const int64_t distance = left > 1 ? rows[row + 1] - rows[row] : 0;
    int64_t even = 1;
    while (even < left && rows[row + even] - rows[row + even - 1] == distance) ++even;
    const char* const from = data + rows[row] * unit;
    const bool is_inside = distance >= 0 && end - from >= (kTileRows - 1) * distance * unit + furthest;
    if (is_whole && is_inside && even >= std::min(left, kFewestInPlace)) {
      tiles_.push_back({from, read_places_.data(), distance * unit, row, even});
    } else {
      tiles_.push_back({nullptr, copied_places_.data(), kLine, row, left});
      copied += chunks * kTileElements;
    }
    row += tiles_.back().count;
  }
  if (copies_size_ < copied) {
    copies_ = scratch<uint32_t>(copied);
    copies_size_ = copied;
  }
  uint32_t* to = copies_.get();
  for (Tile& tile : tiles_) {
    if (tile.data) continue;
    tile.data = reinterpret_cast<const char*>(to);
    const char* starts[kTileRows];
    for (int64_t row = 0; row < kTileRows; ++row)  // behind the last one, that again
      starts[row] = data + rows[tile.row + std::min(row, tile.count - 1)] * unit;
    for (size_t chunk = 0; chunk + 1 < first_pieces.size(); ++chunk, to += kTileElements) {
      const TilePiece* const piece = pieces.data() + first_pieces[chunk];
      const auto few = static_cast<int64_t>(first_pieces[chunk + 1] - first_pieces[chunk]);
      if (few == 1 && piece->step == 1) {
        for (int64_t row = 0; row < kTileRows; ++row)
          TileUnit::copy_row(starts[row] + piece->place, piece->lanes, to + row * kTilePairs);
      } else {
        for (int64_t row = 0; row < kTileRows; ++row)
          TileUnit::copy_row(starts[row], piece, few, to + row * kTilePairs);
      }
    }
  }
}

// The sums of one or two tiles of rows and of columns, in tiles 0 to 3. `rest` is the panel's last lines.
template <int RowTiles, int ColumnTiles>
void TiledRows::add_chunks(const Tile* tiles, Lines<const uint32_t> panel, const uint32_t* rest) const {
  const auto chunks = static_cast<int64_t>(read_places_.size());
  const uint32_t* lines = panel.data;
  int64_t step = panel.step * kPair;
  for (int64_t chunk = 0; chunk < chunks; ++chunk, lines += kTilePairs * panel.step) {
    if (rest && chunk == chunks - 1) {
      lines = rest;
      step = kWidth * kPair;
    }
    // The next lines come from the second cache, and nothing else asks for them before they are needed.
    for (int64_t line = kTilePairs; line < 2 * kTilePairs; ++line) {
      __builtin_prefetch(lines + line * panel.step);
      if constexpr (ColumnTiles > 1) __builtin_prefetch(lines + line * panel.step + kTilePairs);
    }
    TileUnit::load<6>(lines, step);
    TileUnit::load<4>(tiles[0].data + tiles[0].places[chunk], tiles[0].step);
    TileUnit::multiply<0, 4, 6>();
    if constexpr (ColumnTiles > 1) {
      TileUnit::load<7>(lines + kTilePairs, step);
      TileUnit::multiply<1, 4, 7>();
    }
    if constexpr (RowTiles > 1) {
      TileUnit::load<5>(tiles[1].data + tiles[1].places[chunk], tiles[1].step);
      TileUnit::multiply<2, 5, 6>();
      if constexpr (ColumnTiles > 1) TileUnit::multiply<3, 5, 7>();
    }
  }
}

template <int RowTiles, int ColumnTiles, typename Sum>
void TiledRows::add_rows(const Tile* tiles, int64_t columns, Lines<const uint32_t> panel, const uint32_t* rest,
                         Lines<const float> start, Lines<Sum> sums) const {
  constexpr int64_t kBytes = sizeof(float);
  alignas(64) float held[RowTiles * kTileRows * kWidth];
  const auto rows_of = [&](int64_t number) { return tiles[number / 2].row; };
  const bool are_full = tiles[0].count == kTileRows && tiles[RowTiles - 1].count == kTileRows;
  const bool is_whole = are_full && columns == ColumnTiles * kTilePairs;
  // What lies behind the last row or column is not ours to read.
  for (int tile = 0; !is_whole && tile < RowTiles; ++tile) {
    for (int64_t i = 0; i < (start.step == 0 ? 1 : tiles[tile].count); ++i)
      std::copy_n(start.data + (tiles[tile].row + i) * start.step, columns, held + (tile * kTileRows + i) * kWidth);
  }
  for_each_tile<RowTiles, ColumnTiles>([&](auto number, int64_t i, int64_t column) {
    constexpr int kTile = decltype(number)::value;
    const float* const from = is_whole ? start.data + rows_of(kTile) * start.step : held + i * kWidth;
    TileUnit::load<kTile>(from + column, start.step == 0 ? 0 : (is_whole ? start.step : kWidth) * kBytes);
  });
  add_chunks<RowTiles, ColumnTiles>(tiles, panel, rest);
  if constexpr (std::is_same_v<Sum, float>) {
    if (is_whole) {
      for_each_tile<RowTiles, ColumnTiles>([&](auto number, int64_t, int64_t column) {
        constexpr int kTile = decltype(number)::value;
        TileUnit::store<kTile>(sums.data + rows_of(kTile) * sums.step + column, sums.step * kBytes);
      });
      return;
    }
  }
  for_each_tile<RowTiles, ColumnTiles>([&](auto number, int64_t i, int64_t column) {
    TileUnit::store<decltype(number)::value>(held + i * kWidth + column, kWidth * kBytes);
  });
  for (int tile = 0; tile < RowTiles; ++tile) {
    const float* const from = held + tile * kTileRows * kWidth;
    Sum* const to = sums.data + tiles[tile].row * sums.step;
    if constexpr (std::is_same_v<Sum, float>) {
      for (int64_t i = 0; i < tiles[tile].count; ++i) std::copy_n(from + i * kWidth, columns, to + i * sums.step);
    } else {
      TileUnit::round({from, kWidth}, tiles[tile].count, columns, {to, sums.step});
    }
  }
}

template <typename Sum>
void TiledRows::multiply(Lines<const uint32_t> panel, int64_t columns, Lines<const float> start,
                         Lines<Sum> sums) const {
  alignas(64) uint32_t rest[kTilePairs * kWidth];
  const int64_t few = depth_ % kTilePairs;
  const bool has_rest = few != 0 || columns % kTilePairs != 0;  // the last line may end with its columns
  if (has_rest) {
    std::fill(std::begin(rest), std::end(rest), 0U);
    const int64_t lines = few == 0 ? kTilePairs : few;
    for (int64_t line = 0; line < lines; ++line)
      std::copy_n(panel.data + (depth_ - lines + line) * panel.step, columns, rest + line * kWidth);
  }
  TileUnit::begin();
  for (size_t tile = 0; tile < tiles_.size(); tile += 2) {
    const bool two = tile + 1 < tiles_.size();
    const auto add = two ? (columns > kTilePairs ? &TiledRows::add_rows<2, 2, Sum> : &TiledRows::add_rows<2, 1, Sum>)
                         : (columns > kTilePairs ? &TiledRows::add_rows<1, 2, Sum> : &TiledRows::add_rows<1, 1, Sum>);
    (this->*add)(tiles_.data() + tile, columns, panel, has_rest ? rest : nullptr, start, sums);
  }
  TileUnit::end();
}

#else

bool has_bfloat16_tiles() { return false; }
void TiledRows::read_bytes(const char*, const char*, const int64_t*, int64_t, const int64_t*, int64_t, int64_t) {}
template <typename Sum>
void TiledRows::multiply(Lines<const uint32_t>, int64_t, Lines<const float>, Lines<Sum>) const {}

#endif

template void TiledRows::multiply(Lines<const uint32_t>, int64_t, Lines<const float>, Lines<float>) const;
template void TiledRows::multiply(Lines<const uint32_t>, int64_t, Lines<const float>, Lines<uint16_t>) const;

}  // namespace at::native::cpu
