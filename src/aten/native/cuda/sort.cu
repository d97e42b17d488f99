// Sorting along one dimension: radix sorts of whole rows by CUB. Keys are numbers whose unsigned order is the wanted
// one: stable, NaN behind all numbers (before them when descending), both zeros equal.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Launch.cuh>
#include <c10/core/Backend.h>

#include <cub/device/device_segmented_radix_sort.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <climits>
#include <cstring>
#include <type_traits>

namespace at::native::cuda {

namespace {

template <typename T>
using KeyOf = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;

// Larger for a larger number; the largest of all for NaN.
template <typename T>
__device__ KeyOf<T> key_of(T value) {
  using Key = KeyOf<T>;
  constexpr Key sign = Key{1} << (sizeof(Key) * CHAR_BIT - 1);
  if constexpr (c10::is_floating_v<T>) {
    using Wide = std::conditional_t<sizeof(T) == 8, double, float>;
    const Wide number = static_cast<Wide>(value);
    if (number != number) return static_cast<Key>(~Key{0});
    const Wide unsigned_zero = number == Wide{0} ? Wide{0} : number;
    Key bits;
    memcpy(&bits, &unsigned_zero, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(static_cast<std::make_signed_t<Key>>(value)) ^ sign;
  } else {
    return static_cast<Key>(value);
  }
}

struct RowBegin {
  int64_t size;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * size; }
};

c10::DataPtr device_bytes(size_t bytes) { return c10::get_backend(kCUDA).allocator()->allocate(bytes); }

// For each row of contiguous `in`, [rows, size], the places of its elements in order.
template <typename T>
void sort_rows(int64_t* order, const T* in, int64_t rows, int64_t size, bool descending) {
  using Key = KeyOf<T>;
  const int64_t count = rows * size;
  const c10::DataPtr keys = device_bytes(static_cast<size_t>(count) * sizeof(Key));
  const c10::DataPtr sorted_keys = device_bytes(static_cast<size_t>(count) * sizeof(Key));
  const c10::DataPtr places = device_bytes(static_cast<size_t>(count) * sizeof(int64_t));
  auto* key = static_cast<Key*>(keys.get());
  auto* sorted_key = static_cast<Key*>(sorted_keys.get());
  auto* place = static_cast<int64_t*>(places.get());
  for_each_index(count, [=] __device__(int64_t i) {
    // Turned around rather than sorted from the other end, so that equal elements keep their order.
    key[i] = descending ? static_cast<Key>(~key_of(in[i])) : key_of(in[i]);
    place[i] = i % size;
  });
  const thrust::counting_iterator<int64_t> numbers(0);
  const auto begins = thrust::make_transform_iterator(numbers, RowBegin{size});
  const auto ends = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(1), RowBegin{size});
  constexpr int bits = sizeof(Key) * CHAR_BIT;
  const cudaStream_t stream = c10::cuda::current_stream();
  size_t bytes = 0;
  const auto run = [&](void* workspace) {
    C10_CUDA_CHECK(cub::DeviceSegmentedRadixSort::SortPairs(workspace, bytes, key, sorted_key, place, order, count,
                                                            rows, begins, ends, 0, bits, stream));
  };
  run(nullptr);
  const c10::DataPtr workspace = device_bytes(bytes);
  run(workspace.get());
}

// `dim` last, and contiguous.
Tensor rows_last(const Tensor& self, int64_t dim) { return at::transpose(self, dim, -1).contiguous(); }

// The values and places of the first `k` elements of each row in order.
void sort_along(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, int64_t k,
                bool descending, const char* name) {
  const Tensor in = rows_last(self, dim);
  const int64_t size = in.sizes()[in.dim() - 1];
  const int64_t rows = in.numel() / size;
  TORCH_CHECK(in.numel() <= INT_MAX, name, " on CUDA takes at most ", INT_MAX, " elements, got ", in.numel());
  Tensor order = at::empty(in.sizes(), TensorOptions(kLong).device(in.device()));
  dispatch_ordered_types(in.dtype(), name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    sort_rows<T>(order.data_ptr<int64_t>(), in.data_ptr<T>(), rows, size, descending);
  });
  order = order.narrow(-1, 0, k);
  Tensor(indices).copy_(at::transpose(order, dim, -1));
  if (values.defined()) Tensor(values).copy_(at::transpose(at::gather(in, -1, order), dim, -1));
}

}  // namespace

void sort_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool descending) {
  sort_along(values, indices, self, dim, self.sizes()[dim], descending, "sort");
}

// Sorted whether it is asked for or not.
void topk_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool largest, bool) {
  sort_along(values, indices, self, dim, values.sizes()[dim], largest, "topk");
}

}  // namespace at::native::cuda
