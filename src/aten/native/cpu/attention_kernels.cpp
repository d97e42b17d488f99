// Attention in blocks: scores of a block of queries and a block of keys are computed, used and forgotten, so that no
// matrix of all scores is ever there. What is added up is rescaled whenever a greater score is met. Rows are compiled
// once per instruction set; products are those of gathered_products.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/attention_kernels.cpp"
#include <hwy/foreach_target.h>
#include <aten/native/cpu/Highway-inl.h>
// After foreach_target.h:
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/RunKernel.h>
#include <aten/native/cpu/AttentionRows.h>
#include <aten/native/cpu/Scratch.h>
#include <aten/native/cpu/attention_tiles.h>
#include <aten/native/cpu/gathered_products.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Counts are multiples of a vector here: rows end in what counts for nothing.

// row[i] = scale * row[i] + mask[i] for i < valid, -inf behind; returns the greatest. `mask` may be null: 0.
template <typename T>
HWY_ATTR T prepare_scores(T* row, const T* mask, int64_t valid, int64_t count, T scale) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T lowest = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < valid; ++i) row[i] = mask ? row[i] * scale + mask[i] : row[i] * scale;
  for (int64_t i = valid; i < count; ++i) row[i] = lowest;
  auto greatest = hn::Set(d, lowest);
  auto is_nan = hn::Zero(d);  // NaN if any is
  for (int64_t i = 0; i < count; i += lanes) {
    const auto values = hn::LoadU(d, row + i);
    greatest = hn::Max(greatest, values);
    is_nan = hn::IfThenElse(hn::IsNaN(values), values, is_nan);
  }
  const T result = hn::GetLane(hn::MaxOfLanes(d, greatest));
  return hn::AllFalse(d, hn::IsNaN(is_nan)) ? result : std::numeric_limits<T>::quiet_NaN();
}

// Highway's exp makes 0 of NaN.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V exp_or_nan(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

// row[i] = exp(row[i] - shift); returns their sum.
template <typename T>
HWY_ATTR T exponentiate(T* row, T shift, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto offset = hn::Set(d, shift);
  auto sum = hn::Zero(d);
  for (int64_t i = 0; i < count; i += lanes) {
    const auto value = exp_or_nan(d, hn::Sub(hn::LoadU(d, row + i), offset));
    hn::StoreU(value, d, row + i);
    sum = hn::Add(sum, value);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// slopes[i] = weights[i] * (slopes[i] - mean) * scale
template <typename T>
HWY_ATTR void make_slopes(const T* weights, T* slopes, T mean, T scale, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto offset = hn::Set(d, mean);
  const auto factor = hn::Set(d, scale);
  for (int64_t i = 0; i < count; i += lanes) {
    const auto slope = hn::Mul(hn::Sub(hn::LoadU(d, slopes + i), offset), factor);
    hn::StoreU(hn::Mul(hn::LoadU(d, weights + i), slope), d, slopes + i);
  }
}

// sums[i] = the product of `one` and row i.
template <typename T>
HWY_ATTR void multiply_rows(T* sums, const T* one, const T* rows, int64_t step, int64_t count, int64_t features) {
  constexpr int64_t kTogether = 4;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t first = 0; first < count; first += kTogether) {
    const T* row[kTogether];
    hn::Vec<decltype(d)> products[kTogether];
#pragma GCC unroll 4
    for (int64_t r = 0; r < kTogether; ++r) {
      row[r] = rows + std::min(first + r, count - 1) * step;
      products[r] = hn::Zero(d);
    }
    int64_t i = 0;
    for (; i + lanes <= features; i += lanes) {
      const auto factor = hn::LoadU(d, one + i);
#pragma GCC unroll 4
      for (int64_t r = 0; r < kTogether; ++r) products[r] = hn::MulAdd(factor, hn::LoadU(d, row[r] + i), products[r]);
    }
    if (i < features) {
      const auto rest = hn::FirstN(d, static_cast<size_t>(features - i));
      const auto factor = hn::MaskedLoad(rest, d, one + i);
#pragma GCC unroll 4
      for (int64_t r = 0; r < kTogether; ++r)
        products[r] = hn::MulAdd(factor, hn::MaskedLoad(rest, d, row[r] + i), products[r]);
    }
    for (int64_t r = 0; r < std::min(kTogether, count - first); ++r)
      sums[first + r] = hn::GetLane(hn::SumOfLanes(d, products[r]));
  }
}

#define TORCH_ROWS(T)                                                                            \
  void multiply_rows_##T(T* sums, const T* one, const T* rows, int64_t step, int64_t count, int64_t features) { \
    multiply_rows(sums, one, rows, step, count, features);                                       \
  }                                                                                              \
  T prepare_scores_##T(T* row, const T* mask, int64_t valid, int64_t count, T scale) {           \
    return prepare_scores(row, mask, valid, count, scale);                                       \
  }                                                                                              \
  T exponentiate_##T(T* row, T shift, int64_t count) { return exponentiate(row, shift, count); } \
  void make_slopes_##T(const T* weights, T* slopes, T mean, T scale, int64_t count) {            \
    make_slopes(weights, slopes, mean, scale, count);                                            \
  }
TORCH_ROWS(float)
TORCH_ROWS(double)
#undef TORCH_ROWS

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(multiply_rows_float);
HWY_EXPORT(multiply_rows_double);
HWY_EXPORT(prepare_scores_float);
HWY_EXPORT(prepare_scores_double);
HWY_EXPORT(exponentiate_float);
HWY_EXPORT(exponentiate_double);
HWY_EXPORT(make_slopes_float);
HWY_EXPORT(make_slopes_double);

float prepare_scores(float* row, const float* mask, int64_t valid, int64_t count, float scale) {
  return HWY_DYNAMIC_DISPATCH(prepare_scores_float)(row, mask, valid, count, scale);
}
float exponentiate(float* row, float shift, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(exponentiate_float)(row, shift, count);
}

static double prepare_scores(double* row, const double* mask, int64_t valid, int64_t count, double scale) {
  return HWY_DYNAMIC_DISPATCH(prepare_scores_double)(row, mask, valid, count, scale);
}
static double exponentiate(double* row, double shift, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(exponentiate_double)(row, shift, count);
}

namespace {

#define TORCH_ROWS(T)                                                                                       \
  void multiply_rows(T* sums, const T* one, const T* rows, int64_t step, int64_t count, int64_t features) { \
    HWY_DYNAMIC_DISPATCH(multiply_rows_##T)(sums, one, rows, step, count, features);                        \
  }                                                                                                         \
  void make_slopes(const T* weights, T* slopes, T mean, T scale, int64_t count) {                           \
    HWY_DYNAMIC_DISPATCH(make_slopes_##T)(weights, slopes, mean, scale, count);                             \
  }
TORCH_ROWS(float)
TORCH_ROWS(double)
#undef TORCH_ROWS

constexpr int64_t kQueries = 48;  // of a block: a multiple of any panel_rows()
constexpr int64_t kKeys = 256;    // of a block: a multiple of any panel_columns()
constexpr int64_t kFew = 4;       // queries that writing panels of all keys takes longer for than reading keys again

int64_t round_up(int64_t number, int64_t step) { return (number + step - 1) / step * step; }

// The rows of one head in a tensor [batch, heads, length, features] whose features lie next to each other.
template <typename T>
struct Rows {
  T* data;
  int64_t step;
  T* operator[](int64_t row) const { return data + row * step; }
};
template <typename T>
Rows<T> rows_of(const Tensor& tensor, int64_t head) {
  const int64_t heads = tensor.sizes()[1];
  return {tensor.data_ptr<T>() + head / heads * tensor.strides()[0] + head % heads * tensor.strides()[1],
          tensor.strides()[2]};
}

using Shape = AttentionShape;

// Rows as the right matrix of a product: where they lie, if whole vectors can be read there, else a copy.
template <typename T>
class RightRows {
 public:
  explicit RightRows(int64_t features) : features_(features), width_(round_up(features, half_panel())) {}
  void set(Rows<T> rows, int64_t count) {
    lines_ = {rows.data, rows.step};
    if (features_ == width_) return;
    copy_.assign(static_cast<size_t>(count * width_), T(0));
    for (int64_t i = 0; i < count; ++i) std::copy_n(rows[i], features_, copy_.data() + i * width_);
    lines_ = {copy_.data(), width_};
  }
  // sums += the gathered matrix times the rows from `first` on.
  void add_product(const T* data, const int64_t* places, int64_t count, const int64_t* depths, int64_t depth,
                   int64_t first, Lines<T> sums) const {
    const int64_t panel = panel_columns<T>();
    for (int64_t column = 0; column < width_; column += panel) {
      add_gathered_product(data, places, count, depths, depth,
                           Lines<const T>{lines_.data + first * lines_.step + column, lines_.step},
                           std::min(panel, width_ - column), Lines<T>{sums.data + column, sums.step}, false);
    }
  }
  int64_t width() const { return width_; }

 private:
  // Without vectors a panel may be a single column.
  static int64_t half_panel() { return std::max<int64_t>(1, panel_columns<T>() / 2); }
  int64_t features_, width_;
  Lines<const T> lines_{};
  std::vector<T> copy_;
};

// Rows as the transposed right matrix: in panels of as many rows as a panel has columns.
template <typename T>
class RightPanels {
 public:
  explicit RightPanels(int64_t features) : features_(features) {}
  void set(Rows<T> rows, int64_t count) {
    const int64_t panel = panel_columns<T>();
    const int64_t size = round_up(count, panel) * features_;
    if (size_ < size) panels_ = scratch<T>(size);
    size_ = std::max(size_, size);
    for (int64_t first = 0; first < count; first += panel) {
      const int64_t held = std::min(panel, count - first);
      T* to = panels_.get() + first * features_;
      if (held < panel) std::fill_n(to, panel * features_, T(0));
      transpose_matrix(rows[first], rows.step, held, features_, to, panel);
    }
  }
  // sums = data rows times rows [first, last), `first` being that of a panel; a whole number of panels is written.
  void multiply(const T* data, const int64_t* places, int64_t count, const int64_t* depths, int64_t first, int64_t last,
                Lines<T> sums) const {
    const int64_t panel = panel_columns<T>();
    for (int64_t row = first; row < last; row += panel) {
      add_gathered_product(data, places, count, depths, features_,
                           Lines<const T>{panels_.get() + row * features_, panel}, panel,
                           Lines<T>{sums.data + row - first, sums.step}, true);
    }
  }

 private:
  int64_t features_;
  Scratch<T> panels_;
  int64_t size_ = 0;
};

std::vector<int64_t> multiples(int64_t count, int64_t step) {
  std::vector<int64_t> result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) result[static_cast<size_t>(i)] = i * step;
  return result;
}

int64_t grain_for(const Shape& shape, int64_t queries) {
  constexpr int64_t kSerialWork = 1 << 18;
  return std::max<int64_t>(1,
                           kSerialWork / std::max<int64_t>(1, queries * shape.keys * (shape.features + shape.values)));
}

template <typename T>
void attend(const Shape& shape, const Tensor& out, const Tensor& logsumexp, const Tensor& query, const Tensor& key,
            const Tensor& value, const Tensor& mask, T scale) {
  const int64_t heads = query.sizes()[0] * query.sizes()[1];
  const int64_t blocks = (shape.queries + kQueries - 1) / kQueries;
  T* const logsumexps = logsumexp.data_ptr<T>();
  parallel_for(0, heads * blocks, grain_for(shape, std::min(shape.queries, kQueries)), [&](int64_t begin, int64_t end) {
    RightPanels<T> keys(shape.features);
    RightRows<T> values(shape.values);
    const auto scores = scratch<T>(kQueries * kKeys);
    const auto sums = scratch<T>(kQueries * values.width());
    const auto feature_places = multiples(shape.features, 1);
    const auto score_rows = multiples(kQueries, kKeys);
    const auto score_places = multiples(kKeys, 1);
    std::vector<int64_t> query_rows;
    int64_t held = -1;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t head = task / blocks;
      const auto queries = rows_of<T>(query, head);
      if (std::exchange(held, head) != head) {
        if (shape.queries > kFew) keys.set(rows_of<T>(key, head), shape.keys);
        values.set(rows_of<T>(value, head), shape.keys);
        query_rows = multiples(kQueries, queries.step);
      }
      const int64_t first = task % blocks * kQueries;
      const int64_t count = std::min(kQueries, shape.queries - first);
      T greatest[kQueries], totals[kQueries] = {};
      std::fill_n(greatest, kQueries, -std::numeric_limits<T>::infinity());
      std::fill_n(sums.get(), count * values.width(), T(0));
      for (int64_t begin_key = 0; begin_key < shape.seen(first + count); begin_key += kKeys) {
        const int64_t end_key = std::min(begin_key + kKeys, shape.seen(first + count));
        const int64_t width = round_up(end_key - begin_key, panel_columns<T>());
        if (shape.queries > kFew) {
          keys.multiply(queries[first], query_rows.data(), count, feature_places.data(), begin_key, end_key,
                        {scores.get(), kKeys});
        } else {
          const auto key_rows = rows_of<T>(key, head);
          for (int64_t i = 0; i < count; ++i) {
            multiply_rows(scores.get() + i * kKeys, queries[first + i], key_rows[begin_key], key_rows.step,
                          end_key - begin_key, shape.features);
          }
        }
        for (int64_t i = 0; i < count; ++i) {
          T* row = scores.get() + i * kKeys;
          const int64_t valid = std::max<int64_t>(0, std::min(end_key, shape.seen(first + i + 1)) - begin_key);
          const T* addend = mask.defined() ? rows_of<T>(mask, head)[first + i] + begin_key : nullptr;
          const T before = greatest[i];
          const T here = prepare_scores(row, addend, valid, width, scale);
          greatest[i] = here > before || std::isnan(here) ? here : before;
          const T shift = std::isinf(greatest[i]) && greatest[i] < 0 ? T(0) : greatest[i];
          const T kept = begin_key == 0 ? T(0) : std::exp(before - shift);
          totals[i] = totals[i] * kept + exponentiate(row, shift, width);
          T* sum = sums.get() + i * values.width();
          for (int64_t j = 0; begin_key > 0 && j < values.width(); ++j) sum[j] *= kept;
        }
        values.add_product(scores.get(), score_rows.data(), count, score_places.data(), end_key - begin_key, begin_key,
                           {sums.get(), values.width()});
      }
      const auto results = rows_of<T>(out, head);
      for (int64_t i = 0; i < count; ++i) {
        const T factor = totals[i] == 0 ? T(0) : T(1) / totals[i];  // a query that sees nothing
        const T* sum = sums.get() + i * values.width();
        for (int64_t j = 0; j < shape.values; ++j) results[first + i][j] = sum[j] * factor;
        logsumexps[head * shape.queries + first + i] =
            totals[i] == 0 ? std::numeric_limits<T>::infinity() : greatest[i] + std::log(totals[i]);
      }
    }
  });
}

template <typename T>
void attend_backward(const Shape& shape, const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                     const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& out,
                     const Tensor& logsumexp, const Tensor& mask, T scale) {
  const int64_t heads = query.sizes()[0] * query.sizes()[1];
  const T* const logsumexps = logsumexp.data_ptr<T>();
  parallel_for(0, heads, grain_for(shape, shape.queries), [&](int64_t begin, int64_t end) {
    RightPanels<T> key_panels(shape.features), value_panels(shape.values);
    RightRows<T> key_rows(shape.features), query_right(shape.features), grad_right(shape.values);
    const int64_t features = key_rows.width();
    const int64_t values = grad_right.width();
    const auto weights = scratch<T>(kQueries * kKeys);
    const auto slopes = scratch<T>(kQueries * kKeys);
    const auto query_sums = scratch<T>(kQueries * features);
    const auto key_sums = scratch<T>(shape.keys * features);
    const auto value_sums = scratch<T>(shape.keys * values);
    const auto places = multiples(std::max({shape.features, shape.values, kKeys}), 1);
    const auto lines = multiples(kQueries, kKeys);
    for (int64_t head = begin; head < end; ++head) {
      const auto queries = rows_of<T>(query, head);
      const auto grads = rows_of<T>(grad, head);
      const auto outs = rows_of<T>(out, head);
      key_panels.set(rows_of<T>(key, head), shape.keys);
      value_panels.set(rows_of<T>(value, head), shape.keys);
      key_rows.set(rows_of<T>(key, head), shape.keys);
      query_right.set(queries, shape.queries);
      grad_right.set(grads, shape.queries);
      const auto query_rows = multiples(kQueries, queries.step);
      const auto grad_rows = multiples(kQueries, grads.step);
      std::fill_n(key_sums.get(), shape.keys * features, T(0));
      std::fill_n(value_sums.get(), shape.keys * values, T(0));
      for (int64_t first = 0; first < shape.queries; first += kQueries) {
        const int64_t count = std::min(kQueries, shape.queries - first);
        T means[kQueries];
        for (int64_t i = 0; i < count; ++i) {
          T mean = 0;
          for (int64_t j = 0; j < shape.values; ++j) mean += grads[first + i][j] * outs[first + i][j];
          means[i] = mean;
        }
        std::fill_n(query_sums.get(), count * features, T(0));
        for (int64_t begin_key = 0; begin_key < shape.seen(first + count); begin_key += kKeys) {
          const int64_t end_key = std::min(begin_key + kKeys, shape.seen(first + count));
          const int64_t held = end_key - begin_key;
          const int64_t width = round_up(held, panel_columns<T>());
          key_panels.multiply(queries[first], query_rows.data(), count, places.data(), begin_key, end_key,
                              {weights.get(), kKeys});
          value_panels.multiply(grads[first], grad_rows.data(), count, places.data(), begin_key, end_key,
                                {slopes.get(), kKeys});
          for (int64_t i = 0; i < count; ++i) {
            T* row = weights.get() + i * kKeys;
            const int64_t valid = std::max<int64_t>(0, std::min(end_key, shape.seen(first + i + 1)) - begin_key);
            prepare_scores(row, mask.defined() ? rows_of<T>(mask, head)[first + i] + begin_key : nullptr, valid, width,
                           scale);
            exponentiate(row, logsumexps[head * shape.queries + first + i], width);
            make_slopes(row, slopes.get() + i * kKeys, means[i], scale, width);
          }
          key_rows.add_product(slopes.get(), lines.data(), count, places.data(), held, begin_key,
                               {query_sums.get(), features});
          // Keys are the rows here, and queries the depth.
          query_right.add_product(slopes.get(), places.data(), held, lines.data(), count, first,
                                  {key_sums.get() + begin_key * features, features});
          grad_right.add_product(weights.get(), places.data(), held, lines.data(), count, first,
                                 {value_sums.get() + begin_key * values, values});
        }
        for (int64_t i = 0; i < count; ++i) {
          std::copy_n(query_sums.get() + i * features, shape.features, rows_of<T>(grad_query, head)[first + i]);
        }
      }
      for (int64_t j = 0; j < shape.keys; ++j) {
        std::copy_n(key_sums.get() + j * features, shape.features, rows_of<T>(grad_key, head)[j]);
        std::copy_n(value_sums.get() + j * values, shape.values, rows_of<T>(grad_value, head)[j]);
      }
    }
  });
}

Shape shape_of(const Tensor& query, const Tensor& key, const Tensor& value, bool is_causal) {
  return {query.sizes()[2], key.sizes()[2], query.sizes()[3], value.sizes()[3], is_causal};
}

}  // namespace

void attention_kernel(const Tensor& out, const Tensor& logsumexp, const Tensor& query, const Tensor& key,
                      const Tensor& value, const Tensor& mask, bool is_causal, double scale) {
  if (out.dtype() == kBFloat16) {
    if (!attends_by_tiles(query, key, value)) {
      return run_kernel_in_float32(attention_kernels, out.device(), out, logsumexp, query, key, value, mask, is_causal,
                                   scale);
    }
    const Tensor addend = mask.defined() ? at::detail::to_dtype(mask, kFloat) : mask;
    return attend_by_tiles(out, logsumexp, query, key, value, addend, is_causal, static_cast<float>(scale));
  }
  dispatch_floating_types(out.dtype(), "attention", [&](auto type) {
    using T = typename decltype(type)::type;
    attend<T>(shape_of(query, key, value, is_causal), out, logsumexp, query, key, value, mask, static_cast<T>(scale));
  });
}

void attention_backward_kernel(const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                               const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                               const Tensor& out, const Tensor& logsumexp, const Tensor& mask, bool is_causal,
                               double scale) {
  dispatch_floating_types(out.dtype(), "attention_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    attend_backward<T>(shape_of(query, key, value, is_causal), grad_query, grad_key, grad_value, grad, query, key,
                       value, out, logsumexp, mask, static_cast<T>(scale));
  });
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
