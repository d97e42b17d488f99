// Running products and extremes, modes, searching in sorted rows, histograms. Contracts are in kernels.yaml.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/AroundDimension.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

namespace at::native::cpu {

namespace {

// body(first element, distance between elements) for every row of a contiguous tensor along `dim`.
template <typename Body>
void for_each_line(const Extents& extents, Body&& body) {
  const int64_t grain = std::max<int64_t>(1, kGrainSize / 8 / std::max<int64_t>(1, extents.size));
  parallel_for(0, extents.outer * extents.inner, grain, [&](int64_t first, int64_t last) {
    for (int64_t line = first; line < last; ++line) {
      body(line / extents.inner * extents.size * extents.inner + line % extents.inner, extents.inner);
    }
  });
}

template <typename T>
bool is_nan(T value) {
  return value != value;
}

}  // namespace

void cumprod_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  dispatch_numeric_and_complex_types(self.dtype(), "cumprod_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    using Total = std::conditional_t<std::is_floating_point_v<scalar_t>, double, scalar_t>;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    for_each_line(extents, [&](int64_t place, int64_t step) {
      Total total = 1;
      for (int64_t i = 0; i < extents.size; ++i, place += step) {
        total = static_cast<Total>(total * from[place]);
        to[place] = static_cast<scalar_t>(total);
      }
    });
  });
}

namespace {

template <typename T>
double in_double(T value) {
  return value;
}
template <typename T>
std::complex<double> in_double(c10::complex<T> value) {
  return {value.real(), value.imag()};
}
template <typename T>
void store(T& to, double value) {
  to = static_cast<T>(value);
}
template <typename T>
void store(c10::complex<T>& to, std::complex<double> value) {
  to = c10::complex<T>(static_cast<T>(value.real()), static_cast<T>(value.imag()));
}

double add_exponents(double total, double value) {
  const double greater = std::max(total, value);
  if (is_nan(value) || is_nan(total)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(greater)) return greater;
  return greater + std::log1p(std::exp(std::min(total, value) - greater));
}

// From the one with the greater real part, so that nothing overflows.
std::complex<double> add_exponents(std::complex<double> total, std::complex<double> value) {
  const bool is_less = total.real() < value.real();
  const std::complex<double> greater = is_less ? value : total;
  if (std::isinf(greater.real())) return is_less || total.real() != value.real() ? greater : value;
  return greater + std::log(1.0 + std::exp((is_less ? total : value) - greater));
}

}  // namespace

void logcumsumexp_kernel(const Tensor& out, const Tensor& self, int64_t dim) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  dispatch_floating_and_complex_types(self.dtype(), "logcumsumexp_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    for_each_line(extents, [&](int64_t place, int64_t step) {
      auto total = in_double(static_cast<scalar_t>(-std::numeric_limits<double>::infinity()));
      for (int64_t i = 0; i < extents.size; ++i, place += step) {
        total = add_exponents(total, in_double(from[place]));
        store(to[place], total);
      }
    });
  });
}

void cumulative_extreme_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim,
                               bool greatest) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  dispatch_ordered_types(self.dtype(), greatest ? "cummax_cpu" : "cummin_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* to = values.data_ptr<scalar_t>();
    int64_t* places = indices.data_ptr<int64_t>();
    using number_t = std::conditional_t<c10::is_reduced_floating_v<scalar_t>, float, scalar_t>;
    const auto run = [&](const auto& precedes) {
      for_each_line(extents, [&](int64_t place, int64_t step) {
        scalar_t kept = from[place];
        number_t best = kept;
        int64_t position = 0;
        int64_t i = 0;
        const auto keep = [&] {
          to[place] = kept;
          places[place] = position;
          place += step;
        };
        for (; i < extents.size; ++i) {
          const auto value = static_cast<number_t>(from[place]);
          if (!precedes(value, best)) {  // the last one of equals, or the first NaN
            kept = from[place];
            best = value;
            position = i;
            if (is_nan(value)) break;
          }
          keep();
        }
        for (; i < extents.size; ++i) {  // from the first NaN on, NaN
          if (is_nan(static_cast<number_t>(from[place]))) {
            kept = from[place];
            position = i;
          }
          keep();
        }
      });
    };
    if (greatest) run([](number_t value, number_t best) { return value < best; });
    else run([](number_t value, number_t best) { return value > best; });
  });
}

void mode_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  const Tensor dense = at::detail::to_contiguous(self);
  const Extents extents(dense, dim);
  dispatch_ordered_types(self.dtype(), "mode", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* from = dense.data_ptr<scalar_t>();
    scalar_t* to = values.data_ptr<scalar_t>();
    int64_t* places = indices.data_ptr<int64_t>();
    for_each_line(extents, [&](int64_t place, int64_t step) {
      std::vector<std::pair<scalar_t, int64_t>> order(static_cast<size_t>(extents.size));
      for (int64_t i = 0; i < extents.size; ++i) order[static_cast<size_t>(i)] = {from[place + i * step], i};
      // Equal ones in no order, as PyTorch's: which one is found depends on it.
      std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return a.first < b.first || (!is_nan(a.first) && is_nan(b.first));
      });
      size_t best = 0;
      int64_t most = 0;
      int64_t count = 0;
      for (size_t i = 0; i < order.size(); ++i) {
        count = i > 0 && order[i].first == order[i - 1].first ? count + 1 : 1;
        if (count <= most) continue;
        most = count;
        best = i;
      }
      const int64_t target = place / (extents.size * extents.inner) * extents.inner + place % extents.inner;
      to[target] = order[best].first;
      places[target] = order[best].second;
    });
  });
}

void searchsorted_kernel(const Tensor& out, const Tensor& boundaries, const Tensor& self, const Tensor& sorter,
                         bool right) {
  const int64_t size = boundaries.sizes().back();
  const int64_t row_length = boundaries.dim() == 1 ? self.numel() : self.sizes().back();
  int64_t* to = out.data_ptr<int64_t>();
  const int64_t* order = sorter.defined() ? sorter.data_ptr<int64_t>() : nullptr;
  dispatch_ordered_types(self.dtype(), "searchsorted", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* sorted = boundaries.data_ptr<scalar_t>();
    const scalar_t* values = self.data_ptr<scalar_t>();
    parallel_for(0, self.numel(), kGrainSize / 16, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t row = boundaries.dim() == 1 ? 0 : i / row_length * size;
        const scalar_t value = values[i];
        int64_t low = 0;
        int64_t high = size;
        while (low < high) {
          const int64_t middle = low + (high - low) / 2;
          const scalar_t boundary = sorted[row + (order ? order[row + middle] : middle)];
          // NaN come after all numbers.
          const bool before = right ? !(boundary > value) && !(is_nan(boundary) && !is_nan(value))
                                    : boundary < value || (is_nan(value) && !is_nan(boundary));
          if (before) low = middle + 1;
          else high = middle;
        }
        to[i] = low;
      }
    });
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
