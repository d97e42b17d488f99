#include <aten/native/cpu/attention_tiles.h>

#include <aten/Parallel.h>
#include <aten/native/cpu/AttentionRows.h>
#include <aten/native/cpu/Scratch.h>
#include <aten/native/cpu/bfloat16_products.h>
#include <aten/native/cpu/bfloat16_tiles.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace at::native::cpu {

namespace {

constexpr int64_t kQueries = 64;  // of a block: a multiple of a tile's rows
constexpr int64_t kKeys = 256;    // of a block: a multiple of a panel's columns
constexpr int64_t kPanel = 32;    // of a panel, and numbers of a tile's row

int64_t round_up(int64_t count) { return (count + kPanel - 1) / kPanel * kPanel; }

// The rows of one head in a tensor [batch, heads, length, features] whose features lie next to each other.
struct HalfRows {
  uint16_t* data;
  int64_t step;

  HalfRows(const Tensor& tensor, int64_t head)
      : data(static_cast<uint16_t*>(tensor.data_ptr()) + head / tensor.sizes()[1] * tensor.strides()[0] +
             head % tensor.sizes()[1] * tensor.strides()[1]),
        step(tensor.strides()[2]) {}
};

std::vector<int64_t> multiples(int64_t count, int64_t step) {
  std::vector<int64_t> result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) result[static_cast<size_t>(i)] = i * step;
  return result;
}

// A head's keys and values as panels: of 32 keys, with pairs of features as lines; of 32 values, with pairs of keys.
class HeadPanels {
 public:
  explicit HeadPanels(const AttentionShape& shape)
      : shape_(shape), keys_(scratch<uint32_t>(round_up(shape.keys) * (shape.features / 2))),
        values_(scratch<uint32_t>(round_up(shape.values) * (round_up(shape.keys) / 2))) {}

  void set(const HalfRows& keys, const HalfRows& values) {
    for (int64_t key = 0; key < shape_.keys; key += kPanel) {
      write_pairs({keys.data, keys.step, true}, shape_.features, key, std::min(kPanel, shape_.keys - key),
                  keys_.get() + key * (shape_.features / 2));
    }
    const int64_t lines = round_up(shape_.keys) / 2;
    const int64_t written = (shape_.keys + 1) / 2;
    for (int64_t column = 0; column < shape_.values; column += kPanel) {
      uint32_t* const panel = values_.get() + column * lines;
      write_pairs({values.data, values.step, false}, shape_.keys, column, std::min(kPanel, shape_.values - column),
                  panel);
      std::fill(panel + written * kPanel, panel + lines * kPanel, 0U);
    }
  }
  // Of 32 keys from `key` on.
  Lines<const uint32_t> keys(int64_t key) const { return {keys_.get() + key * (shape_.features / 2), kPanel}; }
  // Of 32 values from `column` on, for the keys from `key` on.
  Lines<const uint32_t> values(int64_t key, int64_t column) const {
    return {values_.get() + column * (round_up(shape_.keys) / 2) + key / 2 * kPanel, kPanel};
  }

 private:
  AttentionShape shape_;
  Scratch<uint32_t> keys_, values_;
};

}  // namespace

bool attends_by_tiles(const Tensor& query, const Tensor& key, const Tensor& value) {
  constexpr int64_t kFewest = 16;
  const int64_t features = query.sizes()[3];
  return has_bfloat16_products() && has_bfloat16_tiles() && features % 2 == 0 && features >= kFewest &&
         value.sizes()[3] >= kFewest && query.sizes()[2] >= kFewest && key.sizes()[2] >= kFewest;
}

void attend_by_tiles(const Tensor& out, const Tensor& logsumexp, const Tensor& query, const Tensor& key,
                     const Tensor& value, const Tensor& mask, bool is_causal, float scale) {
  constexpr int64_t kSerialWork = 1 << 20;
  const AttentionShape shape{query.sizes()[2], key.sizes()[2], query.sizes()[3], value.sizes()[3], is_causal};
  const int64_t heads = query.sizes()[0] * query.sizes()[1];
  const int64_t blocks = (shape.queries + kQueries - 1) / kQueries;
  const int64_t width = round_up(shape.values);  // of lines of sums
  float* const logsumexps = logsumexp.data_ptr<float>();
  const int64_t work = std::min(shape.queries, kQueries) * shape.keys * (shape.features + shape.values);
  parallel_for(0, heads * blocks, std::max<int64_t>(1, kSerialWork / work), [&](int64_t begin, int64_t end) {
    HeadPanels panels(shape);
    TiledRows queries, weights;
    const auto scores = scratch<float>(kQueries * kKeys);
    const auto rounded = scratch<uint16_t>(kQueries * kKeys);
    const auto sums = scratch<float>(kQueries * width);
    const auto pairs = multiples(std::max(shape.features, kKeys) / 2, 2);
    const auto weight_rows = multiples(kQueries, kKeys);
    int64_t held = -1;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t head = task / blocks;
      if (std::exchange(held, head) != head) panels.set(HalfRows(key, head), HalfRows(value, head));
      const HalfRows asked(query, head);
      const int64_t first = task % blocks * kQueries;
      const int64_t count = std::min(kQueries, shape.queries - first);
      queries.read(asked.data + first * asked.step, asked.data + (shape.queries - 1) * asked.step + shape.features,
                   multiples(count, asked.step).data(), count, pairs.data(), shape.features / 2);
      float greatest[kQueries], totals[kQueries] = {};
      std::fill_n(greatest, kQueries, -std::numeric_limits<float>::infinity());
      std::fill_n(sums.get(), count * width, 0.0F);
      for (int64_t begin_key = 0; begin_key < shape.seen(first + count); begin_key += kKeys) {
        const int64_t end_key = std::min(begin_key + kKeys, shape.seen(first + count));
        const int64_t used = round_up(end_key - begin_key);
        for (int64_t key_column = 0; key_column < used; key_column += kPanel) {
          queries.multiply(panels.keys(begin_key + key_column), kPanel, zero_lines<float>(),
                           Lines<float>{scores.get() + key_column, kKeys});
        }
        for (int64_t i = 0; i < count; ++i) {
          float* const row = scores.get() + i * kKeys;
          const int64_t valid = std::max<int64_t>(0, std::min(end_key, shape.seen(first + i + 1)) - begin_key);
          const float* addend = nullptr;
          if (mask.defined()) {
            addend = mask.data_ptr<float>() + head / mask.sizes()[1] * mask.strides()[0] +
                     head % mask.sizes()[1] * mask.strides()[1] + (first + i) * mask.strides()[2] + begin_key;
          }
          const float before = greatest[i];
          const float here = prepare_scores(row, addend, valid, used, scale);
          greatest[i] = here > before || std::isnan(here) ? here : before;
          const float shift = std::isinf(greatest[i]) && greatest[i] < 0 ? 0.0F : greatest[i];
          const float kept = begin_key == 0 ? 0.0F : std::exp(before - shift);
          totals[i] = totals[i] * kept + exponentiate(row, shift, used);
          float* const sum = sums.get() + i * width;
          for (int64_t j = 0; begin_key > 0 && j < width; ++j) sum[j] *= kept;
        }
        round_to_bfloat16({scores.get(), kKeys}, count, used, {rounded.get(), kKeys});
        weights.read(rounded.get(), rounded.get() + kQueries * kKeys, weight_rows.data(), count, pairs.data(),
                     used / 2);
        for (int64_t column = 0; column < shape.values; column += kPanel) {
          const Lines<float> own{sums.get() + column, width};
          weights.multiply(panels.values(begin_key, column), kPanel, Lines<const float>{own.data, own.step}, own);
        }
      }
      const HalfRows results(out, head);
      for (int64_t i = 0; i < count; ++i) {
        const float factor = totals[i] == 0 ? 0.0F : 1.0F / totals[i];  // a query that sees nothing
        float* const sum = sums.get() + i * width;
        for (int64_t j = 0; j < shape.values; ++j) sum[j] *= factor;
        round_to_bfloat16({sum, width}, 1, shape.values, {results.data + (first + i) * results.step, results.step});
        logsumexps[head * shape.queries + first + i] =
            totals[i] == 0 ? std::numeric_limits<float>::infinity() : greatest[i] + std::log(totals[i]);
      }
    }
  });
}

}  // namespace at::native::cpu
