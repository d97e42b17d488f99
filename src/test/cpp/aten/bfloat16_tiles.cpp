// The products by tiles, of emulated ones: the library's own are there on few machines.
#define AT_EMULATED_TILES
#define cpu cpu_emulated  // beside the library's functions of these names
#include <aten/native/cpu/bfloat16_tiles.cpp>
#undef cpu

#include <check.h>

#include <cmath>
#include <random>
#include <vector>

namespace tiles = at::native::cpu_emulated;

namespace {

float number_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Some halves of bfloat16, small integers: their products and sums are exact.
template <typename Element>
std::vector<Element> some_numbers(int64_t count, std::mt19937& random) {
  std::vector<Element> result(static_cast<size_t>(count));
  for (Element& element : result) {
    element = 0;
    for (size_t half = 0; half < sizeof element / 2; ++half) {
      const float value = static_cast<float>(static_cast<int>(random() % 9) - 4);
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      element = static_cast<Element>(element | (bits >> 16) << (16 * half));
    }
  }
  return result;
}

// Rows at `rows`, lines of the depth at `depths` of numbers that lie in `size` elements: against plain sums.
template <typename Element, typename Sum>
void compare(const std::vector<int64_t>& rows, const std::vector<int64_t>& depths, int64_t size, int64_t columns,
             int64_t panel_step, int64_t start_step) {
  std::mt19937 random(7);
  const auto data = some_numbers<Element>(size, random);
  const auto depth = static_cast<int64_t>(depths.size());
  const auto count = static_cast<int64_t>(rows.size());
  // Exactly as long as what may be read.
  const auto panel = some_numbers<uint32_t>((depth - 1) * panel_step + columns, random);
  std::vector<float> start(static_cast<size_t>(count * start_step + columns));
  for (size_t i = 0; i < start.size(); ++i) start[i] = static_cast<float>(i % 5);
  const int64_t step = columns + 3;
  std::vector<Sum> sums(static_cast<size_t>(count * step), Sum(77));
  tiles::TiledRows some;
  some.read(data.data(), data.data() + size, rows.data(), count, depths.data(), depth);
  some.multiply<Sum>({panel.data(), panel_step}, columns, {start.data(), start_step}, {sums.data(), step});
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < step; ++j) {
      float expected = 77;
      if (j < columns) {
        expected = start[static_cast<size_t>(i * start_step + j)];
        for (int64_t k = 0; k < depth; ++k) {
          const int64_t place = rows[static_cast<size_t>(i)] + depths[static_cast<size_t>(k)];
          uint32_t pair;
          std::memcpy(&pair, data.data() + place, sizeof pair);
          const uint32_t line = panel[static_cast<size_t>(k * panel_step + j)];
          expected += number_of(pair << 16) * number_of(line << 16) +
                      number_of(pair & 0xFFFF0000U) * number_of(line & 0xFFFF0000U);
        }
      }
      const Sum found = sums[static_cast<size_t>(i * step + j)];
      if constexpr (sizeof(Sum) == 2) {
        const float value = j < columns ? number_of(static_cast<uint32_t>(found) << 16) : static_cast<float>(found);
        CHECK(std::abs(value - expected) <= std::abs(expected) / 256);
      } else {
        CHECK_EQ(found, expected);
      }
    }
  }
}

// All sizes at once: numbers of rows and of lines around those of tiles, some columns.
void compare_sizes(const std::vector<int64_t>& steps) {
  for (const int64_t count : {1, 7, 16, 17, 32, 45, 80}) {
    for (const int64_t depth : {1, 9, 16, 31, 100}) {
      for (const int64_t columns : {8, 16, 24, 32}) {
        std::vector<int64_t> depths, rows;
        int64_t place = 0;
        for (int64_t k = 0; k < depth; ++k) {
          depths.push_back(place);
          place += steps[static_cast<size_t>(k) % steps.size()];
        }
        for (int64_t i = 0; i < count; ++i) rows.push_back(i * 6 + i / 20 * 4);  // a gap now and then
        const int64_t size = rows.back() + place + 2;
        compare<uint32_t, float>(rows, depths, size, columns, 32, 40);
        compare<uint32_t, uint16_t>(rows, depths, size, columns, columns, 0);
        for (int64_t& depth_place : depths) depth_place *= 2;
        compare<uint16_t, float>(rows, depths, 2 * size, columns, columns + 1, 33);
      }
    }
  }
}

}  // namespace

TEST(neighbouring_pairs) { compare_sizes({1}); }
TEST(every_other_pair) { compare_sizes({2}); }
TEST(pieces_of_neighbours) { compare_sizes({1, 1, 1, 1, 1, 1, 5}); }
TEST(pieces_of_every_other) { compare_sizes({2, 2, 2, 2, 9}); }
TEST(pairs_apart) { compare_sizes({3, 7, 1, 2}); }
TEST(pairs_in_no_order) {
  std::vector<int64_t> rows, depths;
  for (int64_t i = 0; i < 40; ++i) rows.push_back((i * 17) % 40 * 3);
  for (int64_t k = 0; k < 50; ++k) depths.push_back((k * 23) % 50);
  compare<uint32_t, float>(rows, depths, 40 * 3 + 50, 32, 32, 0);
}

TEST_MAIN()
