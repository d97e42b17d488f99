// amax and amin; max and min along one dimension, with the place where they are.

#include <aten/Kernels.h>
#include <aten/native/cuda/Reduce.cuh>

#include <limits>

namespace at::native::cuda {

namespace {

template <typename T>
__host__ __device__ T lowest_value() {
  if constexpr (std::is_same_v<T, bool>) return false;
  else if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::lowest();
}
template <typename T>
__host__ __device__ T highest_value() {
  if constexpr (std::is_same_v<T, bool>) return true;
  else if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::max();
}
template <typename T, bool kLargest>
struct Extreme {
  using Accumulator = T;
  __device__ static T identity() { return kLargest ? lowest_value<T>() : highest_value<T>(); }
  template <typename In>
  __device__ static T read(In x) { return x; }
  __device__ static T combine(T a, T b) {
    if (a != a) return a;
    if (b != b) return b;
    return kLargest ? (a < b ? b : a) : (b < a ? b : a);
  }
  __device__ static T finish(T a) { return a; }
};
// A value and where it was; ties go to the earlier place, NaN wins over everything.
template <typename T>
struct Found {
  T value;
  int64_t index;
};

template <typename T, bool kLargest>
__device__ Found<T> better(Found<T> a, Found<T> b) {
  if (a.index < 0) return b;
  if (b.index < 0) return a;
  const bool a_nan = a.value != a.value;
  const bool b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan ? a : b;
  if (!a_nan && a.value != b.value) return (kLargest ? b.value < a.value : a.value < b.value) ? a : b;
  return a.index < b.index ? a : b;
}

template <typename T, bool kLargest>
__global__ void __launch_bounds__(kThreads)
    find_extreme(T* values, int64_t* indices, const T* in, int64_t rows, int64_t size, int64_t inner) {
  __shared__ Found<T> found[kThreads];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* first = in + row / inner * size * inner + row % inner;
    Found<T> best{T{}, -1};
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) best = better<T, kLargest>(best, {first[i * inner], i});
    found[threadIdx.x] = best;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (static_cast<int>(threadIdx.x) < half) {
        found[threadIdx.x] = better<T, kLargest>(found[threadIdx.x], found[threadIdx.x + half]);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      if (values) values[row] = found[0].value;
      indices[row] = found[0].index;
    }
    __syncthreads();
  }
}

template <bool kLargest>
void extreme_along(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, const char* name) {
  const Tensor in = self.contiguous();
  const int64_t size = in.dim() ? in.sizes()[dim] : 1;
  int64_t inner = 1;
  for (int64_t i = dim + 1; i < in.dim(); ++i) inner *= in.sizes()[i];
  const int64_t rows = indices.numel();
  if (rows == 0) return;
  Tensor packed_indices = indices.is_contiguous() ? indices : at::empty(indices.sizes(), indices.options());
  Tensor packed_values =
      !values.defined() || values.is_contiguous() ? values : at::empty(values.sizes(), values.options());
  dispatch_all_types(in.dtype(), name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(find_extreme<T, kLargest>, grid_of_rows(rows), kThreads,
           packed_values.defined() ? packed_values.data_ptr<T>() : nullptr, packed_indices.data_ptr<int64_t>(),
           in.data_ptr<T>(), rows, size, inner);
  });
  if (!packed_indices.is_same(indices)) Tensor(indices).copy_(packed_indices);
  if (values.defined() && !packed_values.is_same(values)) Tensor(values).copy_(packed_values);
}

}  // namespace

void amax_kernel(TensorIterator& iter) {
  dispatch_all_types(iter.common_dtype(), "amax", [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<Extreme<T, true>, T, T>(iter, {});
  });
}

void amin_kernel(TensorIterator& iter) {
  dispatch_all_types(iter.common_dtype(), "amin", [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<Extreme<T, false>, T, T>(iter, {});
  });
}

void max_dim_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  extreme_along<true>(values, indices, self, dim, "max");
}

void min_dim_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  extreme_along<false>(values, indices, self, dim, "min");
}

}  // namespace at::native::cuda
