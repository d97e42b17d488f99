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

#define TORCH_ROWS(T)                                                                                             \
  /* row[i] = scale * row[i] + mask[i] for i < valid, -inf behind; returns the greatest. No mask (null): 0. */    \
  T prepare_scores(T* row, const T* mask, int64_t valid, int64_t count, T scale);                                 \
  /* row[i] = exp(row[i] - shift); returns their sum. */                                                          \
  T exponentiate(T* row, T shift, int64_t count);                                                                 \
  /* slopes[i] = weights[i] * (slopes[i] - mean) * scale */                                                       \
  void make_slopes(const T* weights, T* slopes, T mean, T scale, int64_t count);                                  \
  /* sums[i] = the product of `one` and row i. Features are any number. */                                        \
  void multiply_rows(T* sums, const T* one, const T* rows, int64_t step, int64_t count, int64_t features);
TORCH_ROWS(float)
TORCH_ROWS(double)
#undef TORCH_ROWS

}  // namespace at::native::cpu
