// Attention in blocks: scores of a block of queries and a block of keys are computed, used and forgotten, so that no
// matrix of all scores is ever there. What is added up is rescaled whenever a greater score is met. Rows are those of
// AttentionRows.h, products those of gathered_products.h.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/RunKernel.h>
#include <aten/native/cpu/AttentionRows.h>
#include <aten/native/cpu/Scratch.h>
#include <aten/native/cpu/attention_tiles.h>
#include <aten/native/cpu/gathered_products.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace at::native::cpu {

namespace {

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
