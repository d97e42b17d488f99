// Attention by tiles, of emulated ones and of plain functions in place of those for a processor that has tiles.
#include <torch/torch.h>

#include <aten/Parallel.h>
#include <aten/helpers.h>

#define AT_EMULATED_TILES
#define cpu cpu_emulated  // beside the library's functions of these names
#include <aten/native/cpu/attention_tiles.cpp>
#include <aten/native/cpu/bfloat16_tiles.cpp>
#undef cpu

#include <cmath>

using at::Tensor;

namespace at::native::cpu_emulated {

bool has_bfloat16_products() { return true; }

void write_pairs(MatrixOperand<uint16_t> right, int64_t depth, int64_t column, int64_t columns, uint32_t* panel) {
  const auto bits = [&](int64_t k, int64_t j) -> uint32_t {
    if (k >= depth || j >= columns) return 0;
    return right.data[right.transposed ? (column + j) * right.leading + k : k * right.leading + column + j];
  };
  for (int64_t line = 0; line < (depth + 1) / 2; ++line) {
    for (int64_t j = 0; j < kPanel; ++j) panel[line * kPanel + j] = bits(2 * line, j) | bits(2 * line + 1, j) << 16;
  }
}

void round_to_bfloat16(Lines<const float> from, int64_t lines, int64_t count, Lines<uint16_t> to) {
  TileUnit::round(from, lines, count, to);
}

float prepare_scores(float* row, const float* mask, int64_t valid, int64_t count, float scale) {
  float greatest = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    row[i] = i < valid ? row[i] * scale + (mask ? mask[i] : 0.0F) : -std::numeric_limits<float>::infinity();
    greatest = std::max(greatest, row[i]);
  }
  return greatest;
}

float exponentiate(float* row, float shift, int64_t count) {
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += row[i] = std::exp(row[i] - shift);
  return sum;
}

}  // namespace at::native::cpu_emulated

namespace {

// Heads of `queries` and `keys` places, in the order [batch, place, head, feature], as a model's are.
Tensor heads(int64_t length, int64_t features) {
  return at::randn({2, length, 3, features}).to(at::kBFloat16).transpose(1, 2);
}

void compare(int64_t queries, int64_t keys, int64_t features, int64_t values, bool is_causal, bool is_masked) {
  const Tensor query = heads(queries, features), key = heads(keys, features), value = heads(keys, values);
  const double scale = 1 / std::sqrt(static_cast<double>(features));
  Tensor mask;
  if (is_masked) mask = at::randn({2, 3, queries, keys});
  const Tensor out = at::empty({2, 3, queries, values}, query.options());
  const Tensor logsumexp = at::empty({2, 3, queries}, mask.defined() ? mask.options() : at::randn({1}).options());
  CHECK(at::native::cpu_emulated::attends_by_tiles(query, key, value));
  at::native::cpu_emulated::attend_by_tiles(out, logsumexp, query, key, value, mask, is_causal,
                                            static_cast<float>(scale));
  Tensor scores = at::mul(at::matmul(query.to(at::kDouble), key.to(at::kDouble).transpose(2, 3)), scale);
  if (is_masked) scores = at::add(scores, mask.to(at::kDouble));
  if (is_causal) scores = at::add(scores, at::triu(at::full({queries, keys}, -1e300, scores.options()), 1));
  const Tensor expected = at::matmul(at::softmax(scores, -1), value.to(at::kDouble));
  const Tensor error = at::abs(at::sub(out.to(at::kDouble), expected));
  CHECK(at::max(error).item<double>() < 0.03);
  const Tensor sums = at::abs(at::sub(logsumexp.to(at::kDouble), at::logsumexp(scores, {-1})));
  CHECK(at::max(sums).item<double>() < 1e-3);
}

}  // namespace

TEST(lengths_and_features) {
  for (const int64_t queries : {16, 65, 197}) {
    for (const int64_t keys : {17, 256, 300}) {
      for (const int64_t features : {16, 64, 90}) compare(queries, keys, features, features, false, false);
    }
  }
}
TEST(other_values) { compare(40, 70, 32, 48, false, false); }
TEST(later_keys_are_not_seen) {
  for (const int64_t length : {20, 64, 300}) compare(length, length, 64, 64, true, false);
}
TEST(masks) { compare(70, 290, 32, 32, false, true); }

TEST_MAIN()
