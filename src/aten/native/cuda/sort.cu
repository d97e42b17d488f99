// Sorting along one dimension: radix sorts of whole rows by CUB, by a block where a row fits one. Keys are numbers
// whose unsigned order is the wanted one: stable, NaN behind all numbers (before them when descending), both zeros
// equal.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Launch.cuh>
#include <c10/core/Backend.h>

#include <cub/block/block_radix_sort.cuh>
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

// All threads go the same way through the switch, which costs less than a sort for each type would.
template <typename Key>
__device__ Key key_at(const void* in, c10::ScalarType dtype, int64_t i) {
  switch (dtype) {
#define CASE(cpp_type, name, ...)                                                                          \
  case c10::ScalarType::name:                                                                              \
    if constexpr (!c10::is_complex_v<cpp_type> && !c10::is_float8_v<cpp_type> &&                           \
                  (sizeof(cpp_type) == 8) == (sizeof(Key) == 8))                                           \
      return key_of(static_cast<const cpp_type*>(in)[i]);                                                  \
    break;
    C10_FORALL_SCALAR_TYPES(CASE)
#undef CASE
    default: break;
  }
  return Key{0};
}

__device__ inline void copy_element(void* to, int64_t to_place, const void* from, int64_t from_place, size_t size) {
  switch (size) {
    case 1: static_cast<uint8_t*>(to)[to_place] = static_cast<const uint8_t*>(from)[from_place]; break;
    case 2: static_cast<uint16_t*>(to)[to_place] = static_cast<const uint16_t*>(from)[from_place]; break;
    case 4: static_cast<uint32_t*>(to)[to_place] = static_cast<const uint32_t*>(from)[from_place]; break;
    default: static_cast<uint64_t*>(to)[to_place] = static_cast<const uint64_t*>(from)[from_place];
  }
}

// Sorted rows: the first `kept` of each, their values, if these are asked for, and their places.
struct SortedRows {
  void* values;
  int64_t* places;
  int64_t kept;
};

// A block for each row, of at most kBlock * kItems elements.
template <typename Key, int kBlock, int kItems>
__global__ void __launch_bounds__(kBlock) sort_in_block(SortedRows out, const void* in, c10::ScalarType dtype,
                                                        size_t element_size, int64_t rows, int size, bool descending) {
  using Sort = cub::BlockRadixSort<Key, kBlock, kItems, int>;
  __shared__ typename Sort::TempStorage storage;
  constexpr int bits = sizeof(Key) * CHAR_BIT;
  const int first_bit = dtype == c10::kBFloat16 ? 16 : dtype == c10::kHalf ? 13 : 0;  // as floats they end in zeros
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    Key keys[kItems];
    int places[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int place = static_cast<int>(threadIdx.x) * kItems + i;
      places[i] = place;
      keys[i] = static_cast<Key>(~Key{0});  // behind all others, as these come first
      if (place >= size) continue;
      const Key key = key_at<Key>(in, dtype, row * size + place);
      // Turned around rather than sorted from the other end, so that equal elements keep their order.
      keys[i] = descending ? static_cast<Key>(~key) : key;
    }
    __syncthreads();  // the row before may still be read
    Sort(storage).SortBlockedToStriped(keys, places, first_bit, bits);
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int64_t rank = threadIdx.x + int64_t{i} * kBlock;
      if (rank >= out.kept) continue;
      out.places[row * out.kept + rank] = places[i];
      if (out.values) copy_element(out.values, row * out.kept + rank, in, row * size + places[i], element_size);
    }
  }
}

constexpr int kFewItems = 8;
constexpr int kManyItems = 16;
constexpr int64_t kShortRow = 128 * kFewItems;
constexpr int64_t kLongestRow = kThreads * kManyItems;  // that a block sorts

template <typename Key>
void sort_in_blocks(const SortedRows& out, const Tensor& in, int64_t rows, int64_t size, bool descending) {
  const auto kernel = size <= kShortRow ? sort_in_block<Key, 128, kFewItems> : sort_in_block<Key, kThreads, kManyItems>;
  launch(kernel, grid_of_rows(rows), size <= kShortRow ? 128 : kThreads, out, in.data_ptr(), in.dtype(),
         in.element_size(), rows, static_cast<int>(size), descending);
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
  if (size <= kLongestRow) {
    const auto laid_out = [&](const Tensor& out) {
      const bool is_it = dim == out.dim() - 1 && out.is_contiguous();
      return is_it ? out : at::empty(at::transpose(out, dim, -1).sizes(), out.options());
    };
    const Tensor places = laid_out(indices);
    const Tensor sorted = values.defined() ? laid_out(values) : values;
    const SortedRows out{values.defined() ? sorted.data_ptr() : nullptr, places.data_ptr<int64_t>(), k};
    dispatch_ordered_types(in.dtype(), name, [&](auto tag) {
      sort_in_blocks<KeyOf<typename decltype(tag)::type>>(out, in, rows, size, descending);
    });
    if (!places.is_same(indices)) Tensor(indices).copy_(at::transpose(places, dim, -1));
    if (values.defined() && !sorted.is_same(values)) Tensor(values).copy_(at::transpose(sorted, dim, -1));
    return;
  }
  TORCH_CHECK(in.numel() <= INT_MAX, name, " on CUDA takes at most ", INT_MAX, " elements of such long rows, got ",
              in.numel());
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
