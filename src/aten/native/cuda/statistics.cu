// Modes, searching in sorted rows, histograms. Contracts are in kernels.yaml.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Launch.cuh>

namespace at::native::cuda {

// The longest run of equals in the sorted row, the first of several; NaN are runs of one.
void mode_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  if (values.numel() == 0) return;
  const auto [sorted, order] = at::sort(self, /*stable=*/true, dim, /*descending=*/false);
  const int64_t size = sorted.sizes()[dim];
  std::vector<int64_t> shape(static_cast<size_t>(sorted.dim()), 1);
  shape[static_cast<size_t>(dim)] = size;
  const Tensor position =
      at::arange(size, TensorOptions(kLong).device(self.device())).view(shape).expand(sorted.sizes());
  // Each element's run begins at the last place up to it that differs from the one before.
  const Tensor begins = at::zeros(sorted.sizes(), TensorOptions(kLong).device(self.device()));
  if (size > 1) {
    const Tensor differs = at::ne(sorted.narrow(dim, 1, size - 1), sorted.narrow(dim, 0, size - 1));
    begins.narrow(dim, 1, size - 1).copy_(at::mul(position.narrow(dim, 1, size - 1), differs));
  }
  const Tensor longest = at::argmax(at::sub(position, std::get<0>(at::cummax(begins, dim))), dim, /*keepdim=*/true);
  Tensor(values).copy_(at::gather(sorted, dim, longest).view(values.sizes()));
  Tensor(indices).copy_(at::gather(order, dim, longest).view(indices.sizes()));
}

namespace {

template <typename T>
void search(const Tensor& out, const Tensor& boundaries, const Tensor& self, const Tensor& sorter, bool right) {
  const int64_t size = boundaries.sizes().back();
  const bool one_row = boundaries.dim() == 1;
  const int64_t row_length = one_row ? self.numel() : self.sizes().back();
  int64_t* to = out.data_ptr<int64_t>();
  const int64_t* order = sorter.defined() ? sorter.data_ptr<int64_t>() : nullptr;
  const T* sorted = boundaries.data_ptr<T>();
  const T* values = self.data_ptr<T>();
  for_each_index(self.numel(), [=] __device__(int64_t i) {
    const int64_t row = one_row ? 0 : i / row_length * size;
    const T value = values[i];
    int64_t low = 0;
    int64_t high = size;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const T boundary = sorted[row + (order ? order[row + middle] : middle)];
      // NaN come after all numbers.
      const bool before = right ? !(boundary > value) && !(boundary != boundary && value == value)
                                : boundary < value || (value != value && boundary == boundary);
      if (before) low = middle + 1;
      else high = middle;
    }
    to[i] = low;
  });
}

}  // namespace

void searchsorted_kernel(const Tensor& out, const Tensor& boundaries, const Tensor& self, const Tensor& sorter,
                         bool right) {
  if (out.numel() == 0) return;
  dispatch_ordered_types(self.dtype(), "searchsorted", [&](auto type) {
    search<typename decltype(type)::type>(out, boundaries, self, sorter, right);
  });
}

namespace {

constexpr int kMaxHistogramDims = 12;

template <typename T>
struct Edges {
  int dims = 0;
  const T* edge[kMaxHistogramDims];
  int64_t bins[kMaxHistogramDims];

  // The bin that the point is in, -1 if in none. The last bin has its upper edge, too.
  __device__ int64_t bin_of(const T* point) const {
    int64_t place = 0;
    for (int dim = 0; dim < dims; ++dim) {
      const T value = point[dim];
      const T* edges = edge[dim];
      const int64_t last = bins[dim];
      if (last <= 0 || !(value >= edges[0] && value <= edges[last])) return -1;
      int64_t low = 0;
      int64_t high = last;
      while (low + 1 < high) {
        const int64_t middle = low + (high - low) / 2;
        if (value < edges[middle]) high = middle;
        else low = middle;
      }
      place = place * last + low;
    }
    return place;
  }
};

template <typename T>
void count(const Tensor& totals, const Tensor& points, TensorList edges, const Tensor& weight) {
  const int64_t dims = points.sizes()[1];
  Edges<T> places;
  places.dims = static_cast<int>(dims);
  for (int64_t dim = 0; dim < dims; ++dim) {
    places.edge[dim] = edges[dim].data_ptr<T>();
    places.bins[dim] = edges[dim].numel() - 1;
  }
  const T* values = points.data_ptr<T>();
  const T* weights = weight.defined() ? weight.data_ptr<T>() : nullptr;
  double* total = totals.data_ptr<double>();
  for_each_index(points.sizes()[0], [=] __device__(int64_t point) {
    const int64_t bin = places.bin_of(values + point * dims);
    if (bin >= 0) atomicAdd(total + bin, weights ? static_cast<double>(weights[point]) : 1.0);
  });
}

}  // namespace

void histogram_kernel(const Tensor& hist, const Tensor& points, TensorList edges, const Tensor& weight) {
  const int64_t dims = points.sizes()[1];
  TORCH_CHECK(dims <= kMaxHistogramDims, "histograms on CUDA have at most ", kMaxHistogramDims, " dimensions, got ",
              dims);
  const Tensor totals = at::zeros(hist.sizes(), TensorOptions(kDouble).device(hist.device()));
  dispatch_floating_types(points.dtype(), "histogram", [&](auto type) {
    count<typename decltype(type)::type>(totals, points, edges, weight);
  });
  Tensor(hist).copy_(totals);
}

}  // namespace at::native::cuda
