#include <aten/native/cpu/ReducePlan.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace at::native::cpu {

namespace {

// Results beside each other from which on a row of them is worth what it costs.
constexpr int64_t kLine = 16;

int64_t extent(const DimVector& sizes, const DimVector& strides) {
  int64_t bytes = 0;
  for (size_t dim = 0; dim < sizes.size(); ++dim) bytes += std::max<int64_t>(0, (sizes[dim] - 1) * strides[dim]);
  return bytes;
}

bool continues(const DimVector& sizes, const DimVector& strides, int64_t stride) {
  return !sizes.empty() && sizes.back() * strides.back() == stride;
}

}  // namespace

ReducePlan::ReducePlan(const TensorIterator& iter) : out(iter.data(0)), in(iter.data(1)), item(iter.element_size(1)) {
  if (!iter.is_cpu_scalar(1) && iter.input().dtype() != iter.input_dtype()) {
    item = static_cast<int64_t>(iter.input().element_size());
    conversion.emplace(iter.input_dtype(), iter.input().dtype());
    if (iter.input_dtype() == kFloat) widened = iter.input().dtype();
  }
  // Dimensions that follow each other among those that stay, or those that are reduced, are one.
  for (int dim = 0; dim < iter.ndim(); ++dim) {
    const int64_t size = iter.shape()[dim];
    const int64_t out_stride = iter.strides(0)[dim];
    const int64_t stride = iter.strides(1)[dim];
    if (size == 1) continue;
    if (out_stride == 0) {
      count *= size;
      if (continues(reduced_sizes, reduced_strides, stride)) {
        reduced_sizes.back() *= size;
      } else {
        reduced_sizes.push_back(size);
        reduced_strides.push_back(stride);
      }
    } else {
      outputs *= size;
      if (continues(kept_sizes, kept_strides, stride) && continues(kept_sizes, kept_out_strides, out_stride)) {
        kept_sizes.back() *= size;
      } else {
        kept_sizes.push_back(size);
        kept_out_strides.push_back(out_stride);
        kept_strides.push_back(stride);
      }
    }
  }
  divisor = count;
  // Few elements for each result: many of these are computed side by side, along the longest dimension.
  if (count >= kLine || kept_sizes.size() < 2 || kept_sizes[0] >= kLine) return;
  const auto longest = std::max_element(kept_sizes.begin(), kept_sizes.end()) - kept_sizes.begin();
  if (kept_sizes[longest] < kLine) return;
  for (DimVector* each : {&kept_sizes, &kept_out_strides, &kept_strides}) std::swap((*each)[0], (*each)[longest]);
}

ReducePlan::ReducePlan(const ReducePlan& other) = default;
ReducePlan::~ReducePlan() = default;

const char* ReducePlan::data_end() const {
  return in + extent(kept_sizes, kept_strides) + extent(reduced_sizes, reduced_strides) + item;
}

ReduceWay ReducePlan::way(int64_t size) const {
  const bool is_empty = count == 0 || outputs == 0;
  const int64_t columns = outputs > 1 && !is_empty ? kept_sizes[0] : 0;
  const bool are_columns_near = columns > 0 && kept_strides[0] == item;
  const bool is_matrix = !is_empty && reduced_sizes.size() == 1 && kept_sizes.size() == 1;
  const bool is_dense = are_columns_near && reduced_sizes.size() == 1 && reduced_strides[0] == columns * item;
  const bool are_rows_near = !is_empty && count > 1 && reduced_strides[0] == item;
  const bool overlaps = are_columns_near && columns >= kShortRow;  // windows
  if (is_matrix && reduced_strides[0] > 0 && kept_strides[0] % reduced_strides[0] == 0) {
    const int64_t pitch = kept_strides[0] / reduced_strides[0];
    // Squares are added in one step with what they are added to, and halves widened in registers.
    const bool is_special = map == ElementMap::square || c10::is_reduced_floating_type(widened);
    const int64_t longest = is_special && are_rows_near ? kShortRow : kPlainRow;
    if (count < longest && pitch >= count && pitch <= 2 * count) return ReduceWay::short_rows;
  }
  if (is_dense && columns == outputs && 2 * columns <= kNarrow && count >= kNarrow) return ReduceWay::narrow_columns;
  if (are_rows_near && !(overlaps && count <= kRowGroup) && !(count < kShortRow && columns >= kShortRow)) {
    const bool is_long = outputs == 1 && count > kRunChunk && reduced_sizes[0] >= kRunBlock;
    return is_long ? ReduceWay::long_row : ReduceWay::rows;
  }
  // Rows with little between them, if anything.
  const int64_t row_step = reduced_sizes.size() == 1 ? reduced_strides[0] : 0;
  const bool is_even =
      are_columns_near && row_step >= columns * item && row_step % item == 0 && 2 * row_step <= kNarrow * item;
  const bool fills_vectors = columns * size % 64 == 0 && !conversion && map == ElementMap::none;
  if (is_even && count >= (fills_vectors ? kNarrow : kRowGroup)) return ReduceWay::groups_of_columns;
  const bool are_lines =
      columns >= kShortRow && (count < kShortRow || std::abs(kept_strides[0]) < std::abs(reduced_strides[0]));
  return are_columns_near || are_lines ? ReduceWay::columns : ReduceWay::strided;
}

int ReducePlan::row_dimension() const {
  constexpr int64_t kNarrowRow = 64;  // elements of rows up to which gaps do no harm
  constexpr int64_t kManyRows = 128;
  constexpr int64_t kWidest = 65536;
  if (count * outputs == 0 || reduced_sizes.empty()) return -1;
  const auto are_columns = [&] { return kept_strides[0] == item && outputs * item == reduced_strides[0]; };
  if (reduced_sizes.size() == 1 && (outputs == 1 || are_columns())) return -1;
  const auto last = std::max_element(reduced_strides.begin(), reduced_strides.end()) - reduced_strides.begin();
  const int64_t stride = reduced_strides[last];
  const int64_t rows = reduced_sizes[last];
  const int64_t others = extent(reduced_sizes, reduced_strides) - (rows - 1) * stride;
  if (extent(kept_sizes, kept_strides) + others + item > stride) return -1;
  const int64_t width = stride / item;
  if (width <= kNarrowRow) return rows >= kManyRows ? static_cast<int>(last) : -1;
  // Wider rows: where these would be short runs or lines otherwise, or ones that are converted one by one.
  const int64_t longest_run = conversion && widened == ScalarType::Undefined ? 256 : kLine;
  const bool are_runs = reduced_sizes.size() > 1 && reduced_strides[0] == item && reduced_sizes[0] < longest_run;
  const bool are_lines = kept_sizes.size() > 1 && (kept_strides[0] != item || kept_sizes[0] <= kNarrowRow);
  const bool is_dense = rows >= 4 && width <= kWidest && 2 * outputs * (count / rows) >= width;
  return is_dense && (are_runs || are_lines) ? static_cast<int>(last) : -1;
}

ReducePlan ReducePlan::over_rows(int dim, char* sums, int64_t size) const {
  ReducePlan plan(*this);
  const int64_t stride = reduced_strides[dim];
  plan.out = sums;
  plan.outputs = stride / item;
  plan.kept_sizes = {plan.outputs};
  plan.kept_out_strides = {size};
  plan.kept_strides = {item};
  plan.count = reduced_sizes[dim] - 1;
  plan.reduced_sizes = {plan.count};
  plan.reduced_strides = {stride};
  plan.mean = false;  // not yet
  return plan;
}

ReducePlan ReducePlan::of_sums(int dim, const char* sums, int64_t size) const {
  ReducePlan plan(*this);
  plan.in = sums;
  plan.item = size;
  plan.conversion.reset();
  plan.widened = ScalarType::Undefined;
  plan.map = ElementMap::none;
  plan.count = count / reduced_sizes[dim];
  plan.reduced_sizes.erase(static_cast<size_t>(dim));
  plan.reduced_strides.erase(static_cast<size_t>(dim));
  for (DimVector* strides : {&plan.kept_strides, &plan.reduced_strides}) {
    for (int64_t& stride : *strides) stride = stride / item * size;
  }
  return plan;
}

}  // namespace at::native::cpu
