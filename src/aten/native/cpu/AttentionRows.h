#pragma once
// What attention of all types has in common: shapes, and rows of scores. Counts of elements are multiples of a vector:
// rows end in what counts for nothing.

#include <algorithm>
#include <cstdint>

namespace at::native::cpu {

struct AttentionShape {
  int64_t queries, keys, features, values;  // length of queries, of keys; features of both, and of values
  bool is_causal;
  // Keys that queries before `query` can see.
  int64_t seen(int64_t query) const { return is_causal ? std::min(keys, query) : keys; }
};

// row[i] = scale * row[i] + mask[i] for i < valid, -inf behind; returns the greatest. `mask` may be null: 0.
float prepare_scores(float* row, const float* mask, int64_t valid, int64_t count, float scale);
// row[i] = exp(row[i] - shift); returns their sum.
float exponentiate(float* row, float shift, int64_t count);

}  // namespace at::native::cpu
