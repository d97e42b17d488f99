#include <aten/native/cpu/rounded_product.h>

#include <aten/Parallel.h>
#include <aten/native/cpu/bfloat16_products.h>

#include <algorithm>
#include <cstring>

namespace at::native::cpu {

namespace {

constexpr int64_t kPanel = 32;  // columns

}  // namespace

bool RoundedProduct::is_worth(int64_t m, int64_t n, int64_t k, bool a_is_transposed) {
  constexpr int64_t kFewestColumns = 8;
  return has_bfloat16_products() && k % 2 == 0 && n >= kFewestColumns && !a_is_transposed && are_worth_tiles(m, k / 2);
}

RoundedProduct::RoundedProduct(int64_t m, int64_t n, int64_t k, MatrixOperand<uint16_t> a, MatrixOperand<uint16_t> b,
                               int64_t out_leading)
    : m_(m), n_(n), k_(k), a_leading_(a.leading), out_leading_(out_leading), right_(b), rows_(static_cast<size_t>(m)),
      depths_(static_cast<size_t>(k / 2)), panels_(scratch<uint32_t>((n + kPanel - 1) / kPanel * kPanel * (k / 2))) {
  for (size_t i = 0; i < rows_.size(); ++i) rows_[i] = static_cast<int64_t>(i) * a.leading;
  for (size_t i = 0; i < depths_.size(); ++i) depths_[i] = static_cast<int64_t>(2 * i);
}

void RoundedProduct::multiply(const uint16_t* a, const uint16_t* b, bool adds, uint16_t* out) {
  constexpr int64_t kBlockPairs = 1 << 17;  // of rows, which stay in the second cache
  constexpr int64_t kTaskRows = 192;
  constexpr int64_t kLeastRows = 32;
  constexpr int64_t kTaskPanels = 8;
  constexpr int64_t kSerialWork = 1 << 21;  // multiplications that waking threads does not pay for
  const int64_t pairs = k_ / 2;
  const int64_t panel_count = (n_ + kPanel - 1) / kPanel;
  const int64_t panel_size = pairs * kPanel;
  const MatrixOperand<uint16_t> right{b, right_.leading, right_.transposed};
  parallel_for(0, panel_count, std::max<int64_t>(1, kSerialWork / 8 / panel_size), [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      write_pairs(right, k_, panel * kPanel, std::min(kPanel, n_ - panel * kPanel), panels_.get() + panel * panel_size);
    }
  });
  const int64_t rows = std::clamp(kBlockPairs / pairs / kLeastRows * kLeastRows, kLeastRows, kTaskRows);
  const int64_t blocks = (m_ + rows - 1) / rows;
  const int64_t groups = (panel_count + kTaskPanels - 1) / kTaskPanels;
  const int64_t tasks = blocks * groups;
  const int64_t work = std::min(rows, m_) * std::min(panel_count, kTaskPanels) * panel_size;
  const int64_t grain = std::max<int64_t>(1, kSerialWork / work);
  const uint16_t* const a_end = a + (m_ - 1) * a_leading_ + k_;
  parallel_for(0, tasks, grain, [&](int64_t begin, int64_t end) {
    TiledRows own;
    TiledRows& tiles = begin == 0 && end == tasks ? tiles_ : own;
    alignas(64) float held[kTaskRows * kPanel];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task / groups * rows;
      const int64_t count = std::min(rows, m_ - row);
      if (task == begin || task % groups == 0) tiles.read(a, a_end, rows_.data() + row, count, depths_.data(), pairs);
      const int64_t last = std::min(panel_count, (task % groups + 1) * kTaskPanels);
      for (int64_t panel = task % groups * kTaskPanels; panel < last; ++panel) {
        const int64_t columns = std::min(kPanel, n_ - panel * kPanel);
        uint16_t* const to = out + row * out_leading_ + panel * kPanel;
        for (int64_t i = 0; adds && i < count; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            const uint32_t bits = static_cast<uint32_t>(to[i * out_leading_ + j]) << 16;
            std::memcpy(held + i * kPanel + j, &bits, sizeof bits);
          }
        }
        tiles.multiply(Lines<const uint32_t>{panels_.get() + panel * panel_size, kPanel}, columns,
                       adds ? Lines<const float>{held, kPanel} : zero_lines<float>(),
                       Lines<uint16_t>{to, out_leading_});
      }
    }
  });
}

}  // namespace at::native::cpu
