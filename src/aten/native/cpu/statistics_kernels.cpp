// Modes, searching in sorted rows, histograms. Contracts are in kernels.yaml.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/AroundDimension.h>
#include <aten/native/cpu/FusedForward.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <vector>

namespace at::native::cpu {

namespace {

template <typename T>
bool is_nan(T value) {
  return value != value;
}

constexpr int kSearches = 8;  // at once

template <typename T>
T put_together(Reduction how, T total, T value) {
  switch (how) {
    case Reduction::sum: return total + value;
    case Reduction::product: return total * value;
    case Reduction::greatest: return value > total || is_nan(value) ? value : total;
    default: return value < total || is_nan(value) ? value : total;
  }
}

}  // namespace

void reduce_segments(const Tensor& out, const Tensor& data, const Tensor& bounds, const Segments& segments) {
  const int64_t size = data.sizes()[1];
  const int64_t inner = data.sizes()[2];
  const int64_t count = out.sizes()[1];
  const int64_t* const places = bounds.data_ptr<int64_t>();
  const int64_t work = size * inner / std::max<int64_t>(1, count) + inner;  // of a segment, about
  dispatch_stored_floating_types(data.dtype(), "segment_reduce", [&](auto type) {
    using T = typename decltype(type)::type;
    using Number = std::conditional_t<c10::is_reduced_floating_v<T>, float, T>;
    const T* const from = data.data_ptr<T>();
    T* const to = out.data_ptr<T>();
    parallel_for(0, out.sizes()[0] * count, std::max<int64_t>(1, kGrainSize / work), [&](int64_t first, int64_t last) {
      std::vector<Number> totals(static_cast<size_t>(inner));
      for (int64_t i = first; i < last; ++i) {
        const int64_t row = i / count;
        const int64_t* const bound = places + i + row;  // each row has one more of them
        const int64_t begin = std::clamp<int64_t>(bound[0], 0, size);
        const int64_t end = std::clamp<int64_t>(bound[1], begin, size);
        const auto run = [&](auto how) {
          std::fill(totals.begin(), totals.end(), static_cast<Number>(segments.first));
          const T* element = from + (row * size + begin) * inner;
          if (inner == 1) {
            Number total = totals[0];
            for (int64_t i = 0; i < end - begin; ++i) total = put_together(how(), total, static_cast<Number>(element[i]));
            totals[0] = total;
            return;
          }
          for (int64_t place = begin; place < end; ++place) {
            for (Number& total : totals) total = put_together(how(), total, static_cast<Number>(*element++));
          }
        };
        switch (segments.how) {
          case Reduction::sum: run(std::integral_constant<Reduction, Reduction::sum>()); break;
          case Reduction::product: run(std::integral_constant<Reduction, Reduction::product>()); break;
          case Reduction::greatest: run(std::integral_constant<Reduction, Reduction::greatest>()); break;
          default: run(std::integral_constant<Reduction, Reduction::least>());
        }
        const auto divisor = static_cast<Number>(std::max(end - begin, segments.least));
        for (int64_t j = 0; j < inner; ++j) {
          const Number total = totals[static_cast<size_t>(j)];
          to[i * inner + j] = static_cast<T>(segments.mean ? total / divisor : total);
        }
      }
    });
  });
}

void mode_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  dispatch_ordered_types(self.dtype(), "mode", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using number_t = std::conditional_t<c10::is_reduced_floating_v<scalar_t>, float, scalar_t>;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* to = values.data_ptr<scalar_t>();
    int64_t* places = indices.data_ptr<int64_t>();
    parallel_for_lines(extents, [&](int64_t first, int64_t last) {
      std::vector<std::pair<number_t, int64_t>> order(static_cast<size_t>(extents.size));
      for (int64_t line = first; line < last; ++line) {
        const int64_t place = extents.first_of_line(line);
        bool has_nan = false;
        for (int64_t i = 0; i < extents.size; ++i) {
          const auto value = static_cast<number_t>(from[place + i * extents.inner]);
          has_nan |= is_nan(value);
          order[static_cast<size_t>(i)] = {value, i};
        }
        // Equal ones in no order, as PyTorch's: which one is found depends on it.
        if (has_nan) {
          std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
            return a.first < b.first || (!is_nan(a.first) && is_nan(b.first));
          });
        } else {
          std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        }
        size_t best = 0;
        int64_t most = 0;
        int64_t count = 0;
        for (size_t i = 0; i < order.size(); ++i) {
          count = i > 0 && order[i].first == order[i - 1].first ? count + 1 : 1;
          if (count <= most) continue;
          most = count;
          best = i;
        }
        places[line] = order[best].second;
        to[line] = from[place + order[best].second * extents.inner];
      }
    });
  });
}

namespace {

// How many elements of a row are before a value: is_before(element, value) is true of these alone. A search waits for
// each element that it looks at, so several go together; none has a branch, which would often be foreseen wrongly.
template <typename T, typename IsBefore>
void count_before(int64_t* counts, const T* const* rows, int64_t size, const T* values, const IsBefore& is_before) {
  const T* from[kSearches];
  std::copy_n(rows, kSearches, from);
  for (int64_t left = size; left > 1; left -= left / 2) {
    const int64_t half = left / 2;
#pragma GCC unroll 8
    for (int k = 0; k < kSearches; ++k) from[k] += -int64_t{is_before(from[k][half - 1], values[k])} & half;
  }
  for (int k = 0; k < kSearches; ++k) counts[k] = from[k] - rows[k] + is_before(*from[k], values[k]);
}

// The same of one value, of a row in the order of `order`. NaN come after all numbers.
template <typename T>
int64_t search_row(const T* row, const int64_t* order, int64_t size, T value, bool right) {
  int64_t low = 0;
  int64_t high = size;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const T boundary = row[order ? order[middle] : middle];
    const bool before = right ? !(boundary > value) && !(is_nan(boundary) && !is_nan(value))
                              : boundary < value || (is_nan(value) && !is_nan(boundary));
    if (before) low = middle + 1;
    else high = middle;
  }
  return low;
}

template <typename T>
void search_rows(const Tensor& out, const Tensor& boundaries, const Tensor& self, const int64_t* order, bool right) {
  const int64_t size = boundaries.sizes().back();
  const int64_t row_length = boundaries.dim() == 1 ? self.numel() : self.sizes().back();
  int64_t* to = out.data_ptr<int64_t>();
  const T* sorted = boundaries.data_ptr<T>();
  const T* values = self.data_ptr<T>();
  const auto first_of_row = [&](int64_t i) { return boundaries.dim() == 1 ? 0 : i / row_length * size; };
  // Of one row all NaN have the same place.
  const auto place_of = [&](const T* row, T nan) { return right ? size : search_row(row, order, size, nan, right); };
  const bool has_one_row = boundaries.dim() == 1;
  parallel_for(0, self.numel(), kGrainSize / 16, [&](int64_t first, int64_t last) {
    int64_t i = first;
    int64_t known = -1;
    for (; i + kSearches <= last && order == nullptr && size > 0; i += kSearches) {
      const T* rows[kSearches];
      bool has_nan = false;
      for (int k = 0; k < kSearches; ++k) {
        rows[k] = sorted + first_of_row(i + k);
        has_nan |= is_nan(values[i + k]);
      }
      if (right) count_before(to + i, rows, size, values + i, std::less_equal<>());
      else count_before(to + i, rows, size, values + i, std::less<>());
      for (int k = 0; has_nan && k < kSearches; ++k) {
        if (!is_nan(values[i + k])) continue;
        if (known < 0 || !has_one_row) known = place_of(rows[k], values[i + k]);
        to[i + k] = known;
      }
    }
    for (; i < last; ++i) {
      const int64_t row = first_of_row(i);
      to[i] = search_row(sorted + row, order ? order + row : nullptr, size, values[i], right);
    }
  });
}

}  // namespace

void searchsorted_kernel(const Tensor& out, const Tensor& boundaries, const Tensor& self, const Tensor& sorter,
                         bool right) {
  if (c10::is_reduced_floating_type(self.dtype())) {  // which would be code for conversions
    const Tensor values = at::detail::to_dtype(self, kFloat);
    return searchsorted_kernel(out, at::detail::to_dtype(boundaries, kFloat), values, sorter, right);
  }
  dispatch_ordered_types(self.dtype(), "searchsorted", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    if constexpr (!c10::is_reduced_floating_v<scalar_t>) {
      search_rows<scalar_t>(out, boundaries, self, sorter.defined() ? sorter.data_ptr<int64_t>() : nullptr, right);
    }
  });
}

namespace {

// The edges of one dimension's bins.
template <typename T>
struct Bins {
  const T* edge;
  int64_t count;
  double factor = 0;  // bins per unit, if they are even

  explicit Bins(const Tensor& edges) : edge(edges.data_ptr<T>()), count(edges.numel() - 1) {
    if (count > 0) factor = static_cast<double>(count) / (static_cast<double>(edge[count]) - edge[0]);
  }

  bool holds(T value) const { return count > 0 && value >= edge[0] && value <= edge[count]; }
  // The bin of a value that is inside: that whose lower edge is the last one not above it; the last has its upper edge,
  // too. Edges are mostly even, so that a guess is right or next to it, and a search is rare.
  int64_t find(T value) const {
    const double guess = (static_cast<double>(value) - edge[0]) * factor;
    int64_t bin = guess >= 0 && guess < static_cast<double>(count) ? static_cast<int64_t>(guess) : count - 1;
    if (value < edge[bin]) bin = std::max<int64_t>(0, bin - 1);
    else if (bin + 1 < count && value >= edge[bin + 1]) ++bin;
    if (value >= edge[bin] && (bin + 1 == count || value < edge[bin + 1])) return bin;
    return std::min<int64_t>(std::upper_bound(edge, edge + count + 1, value) - edge - 1, count - 1);
  }
};

}  // namespace

void histogram_kernel(const Tensor& hist, const Tensor& points, TensorList edges, const Tensor& weight) {
  const int64_t dims = points.sizes()[1];
  dispatch_floating_types(points.dtype(), "histogram", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* values = points.data_ptr<scalar_t>();
    const scalar_t* weights = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    const std::vector<Bins<scalar_t>> bins(edges.begin(), edges.end());
    std::vector<double> totals(static_cast<size_t>(hist.numel()), 0);
    const auto add = [&](int64_t first, int64_t last, std::vector<double>& sums) {
      for (int64_t point = first; point < last; ++point) {
        const scalar_t* value = values + point * dims;
        int64_t place = 0;
        bool inside = true;
        for (int64_t dim = 0; dim < dims && inside; ++dim) {
          inside = bins[dim].holds(value[dim]);
          if (inside) place = place * bins[dim].count + bins[dim].find(value[dim]);
        }
        if (inside) sums[place] += weights ? weights[point] : 1;
      }
    };
    std::mutex mutex;
    const int64_t count = points.sizes()[0];
    // Threads count on their own, unless there are more bins than points. What weighs is added up in its order.
    const int64_t grain = weights || hist.numel() > count ? std::max<int64_t>(count, 1) : kGrainSize;
    parallel_for(0, count, grain, [&](int64_t first, int64_t last) {
      if (first == 0 && last == count) return add(first, last, totals);
      std::vector<double> own(totals.size(), 0);
      add(first, last, own);
      const std::lock_guard<std::mutex> lock(mutex);
      std::transform(own.begin(), own.end(), totals.begin(), totals.begin(), std::plus<>());
    });
    scalar_t* to = hist.data_ptr<scalar_t>();
    for (size_t i = 0; i < totals.size(); ++i) to[i] = static_cast<scalar_t>(totals[i]);
  });
}

}  // namespace at::native::cpu
