#pragma once
// Bags of rows of a table on the CPU, in one pass each, with sums in float32 for float16 and bfloat16. Tensors are
// dense and, but for indices, of one floating type.

#include <aten/Tensor.h>

#include <cstdint>
#include <vector>

namespace at::native::cpu {

struct Bags {
  int64_t count() const { return static_cast<int64_t>(starts.size()) - 1; }

  const int64_t* indices;       // rows of the table, checked
  std::vector<int64_t> starts;  // of each bag among the indices, and the end of the last one
  int64_t padding;              // an index that counts in no bag, or -1
};

// Whether `count` indices are those of `rows` rows.
bool are_rows(const int64_t* indices, int64_t count, int64_t rows);
// out (bags, columns): the rows' sums, each times its factor if `factors` (one per index) is defined, or their means.
void sum_bags(const Tensor& out, const Tensor& table, const Bags& bags, const Tensor& factors, bool mean);
// The rows' maxima, and in which row of the table each first one stands (int64); of empty bags 0 and 0.
void max_bags(const Tensor& out, const Tensor& rows, const Tensor& table, const Bags& bags);
// What sum_bags' gradient is with respect to the table, added to `table_grad`.
void add_bags_gradient(const Tensor& table_grad, const Tensor& grad, const Bags& bags, const Tensor& factors,
                       bool mean);

}  // namespace at::native::cpu
