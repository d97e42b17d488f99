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

template <typename T>
__device__ Found<T> better(Found<T> a, Found<T> b, bool largest) {
  if (a.index < 0) return b;
  if (b.index < 0) return a;
  const bool a_nan = a.value != a.value;
  const bool b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan ? a : b;
  if (!a_nan && a.value != b.value) return (largest ? b.value < a.value : a.value < b.value) ? a : b;
  return a.index < b.index ? a : b;
}

// Takes `value`, which stands behind all that `best` has seen, if it is better.
template <typename T>
__device__ void improve(Found<T>& best, T value, int64_t index, bool largest) {
  const bool is_better = value != value ? best.value == best.value : largest ? best.value < value : value < best.value;
  if (best.index < 0 || is_better) best = {value, index};
}

// The best of `width` lanes, a power of two, in the first of them.
template <typename T>
__device__ Found<T> best_of_lanes(Found<T> best, int width, bool largest) {
  for (int offset = width / 2; offset > 0; offset /= 2) {
    const Found<T> other{shuffle_down(best.value, offset), shuffle_down(best.index, offset)};
    best = better(best, other, largest);
  }
  return best;
}

// Rows without gaps: blockDim.x threads for each, which are blockDim.y to a block. `is_packed`: they begin at multiples
// of 16 bytes, and end there.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    find_in_rows(T* values, int64_t* indices, const T* in, int64_t rows, int64_t size, bool is_packed, bool largest) {
  constexpr int kSize = 16 / sizeof(T);
  constexpr int kLoads = kSize > 8 ? 1 : kSize > 4 ? 2 : 4;  // on their way before one is waited for
  using Neighbours = Pack<T, kSize>;
  __shared__ Found<T> found[kThreads / kWarp];
  for (int64_t first = blockIdx.x * int64_t{blockDim.y}; first < rows; first += gridDim.x * int64_t{blockDim.y}) {
    const int64_t row = first + threadIdx.y;
    Found<T> best{T{}, -1};
    if (row < rows) {
      const T* start = in + row * size;
      const auto* aligned = reinterpret_cast<const Neighbours*>(start);
      const auto take = [&](const Neighbours& neighbours, int64_t i) {
#pragma unroll
        for (int j = 0; j < kSize; ++j) improve(best, neighbours.values[j], i * kSize + j, largest);
      };
      const int64_t packs = is_packed ? size / kSize : 0;
      const int64_t step = blockDim.x;
      int64_t i = threadIdx.x;
      for (; i + (kLoads - 1) * step < packs; i += kLoads * step) {
        Neighbours loaded[kLoads];
#pragma unroll
        for (int j = 0; j < kLoads; ++j) loaded[j] = aligned[i + j * step];
#pragma unroll
        for (int j = 0; j < kLoads; ++j) take(loaded[j], i + j * step);
      }
      for (; i < packs; i += step) take(aligned[i], i);
#pragma unroll 4
      for (i = packs * kSize + threadIdx.x; i < size; i += step) improve(best, start[i], i, largest);
    }
    best = best_of_lanes(best, ::min(static_cast<int>(blockDim.x), kWarp), largest);
    if (blockDim.x > kWarp) {
      const int lane = threadIdx.x % kWarp;
      if (lane == 0) found[threadIdx.x / kWarp] = best;
      __syncthreads();
      best = lane < kThreads / kWarp ? found[lane] : Found<T>{T{}, -1};
      __syncthreads();  // before the next row's are written
      best = best_of_lanes(best, kThreads / kWarp, largest);
    }
    if (threadIdx.x != 0 || row >= rows) continue;
    if (values) values[row] = best.value;
    indices[row] = best.index;
  }
}

// Elements `inner` apart. Threads along x take neighbouring columns, and those along y rows.
template <typename T>
__global__ void __launch_bounds__(kThreads) find_in_columns(T* values, int64_t* indices, const T* in, int64_t columns,
                                                            int64_t size, int64_t inner, bool largest) {
  __shared__ Found<T> found[kThreads];
  const unsigned own = threadIdx.y * blockDim.x + threadIdx.x;
  for (int64_t first = blockIdx.x * int64_t{blockDim.x}; first < columns; first += gridDim.x * int64_t{blockDim.x}) {
    const int64_t column = first + threadIdx.x;
    Found<T> best{T{}, -1};
    if (column < columns) {
      const T* start = in + column / inner * size * inner + column % inner;
#pragma unroll 4
      for (int64_t i = threadIdx.y; i < size; i += blockDim.y) improve(best, start[i * inner], i, largest);
    }
    found[own] = best;
    __syncthreads();
    for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
      if (threadIdx.y < half) {
        found[own] = better(found[own], found[own + half * blockDim.x], largest);
      }
      __syncthreads();
    }
    if (threadIdx.y == 0 && column < columns) {
      if (values) values[column] = found[own].value;
      indices[column] = found[own].index;
    }
  }
}

// As many threads along x, up to `most`, as have something to do; the others along y.
dim3 block_for(int64_t wanted, unsigned most) {
  unsigned x = most;
  while (x > 1 && x / 2 >= wanted) x /= 2;
  return dim3(x, kThreads / x);
}

template <typename T>
void find_extremes(T* values, int64_t* indices, const T* in, int64_t rows, int64_t size, int64_t inner, bool largest) {
  if (inner > 1) {
    const dim3 block = block_for(rows, kWarp);
    const unsigned grid = grid_of_rows((rows + block.x - 1) / block.x);
    return launch(find_in_columns<T>, grid, block, values, indices, in, rows, size, inner, largest);
  }
  constexpr int64_t pack = 16 / sizeof(T);
  const bool is_packed = size % pack == 0 && reinterpret_cast<uintptr_t>(in) % 16 == 0;
  const int64_t loads = is_packed ? size / pack : size;
  // A warp for a row, unless it is long and there are few.
  const bool is_long = loads > kWarp * (rows >= kMultiprocessors * 16 ? 16 : 2);
  const dim3 block = is_long ? dim3(kThreads) : block_for(loads, kWarp);
  const unsigned grid = grid_of_rows((rows + block.y - 1) / block.y);
  launch(find_in_rows<T>, grid, block, values, indices, in, rows, size, is_packed, largest);
}

void extreme_along(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool largest,
                   const char* name) {
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
    find_extremes<T>(packed_values.defined() ? packed_values.data_ptr<T>() : nullptr,
                     packed_indices.data_ptr<int64_t>(), in.data_ptr<T>(), rows, size, inner, largest);
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
  extreme_along(values, indices, self, dim, /*largest=*/true, "max");
}

void min_dim_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  extreme_along(values, indices, self, dim, /*largest=*/false, "min");
}

}  // namespace at::native::cuda
