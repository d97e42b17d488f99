// Reading and writing at places given by int64 tensors. An index out of range stops the device with an assertion that
// names file and line: an exception cannot be thrown from there.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/EmptyTensor.h>
#include <aten/TensorIterator.h>
#include <aten/native/cuda/Atomic.cuh>
#include <aten/native/cuda/Operands.cuh>
#include <aten/native/cuda/Rows.cuh>

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cassert>
#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kMaxDims = 12;

void check_dims(const Tensor& self) {
  TORCH_CHECK(self.dim() <= kMaxDims, "indexing on CUDA takes at most ", kMaxDims, " dimensions, got ", self.dim());
}

// Word `index` of index-shape x rest-shape, as an offset of words into `self`. Words are elements, or, where the rest
// lies side by side, as many bytes as memory moves at once.
struct IndexedPlaces {
  int word = 1;     // bytes
  int indices = 0;  // leading dimensions that are indexed
  int rest_dims = 0;
  int64_t rest = 1;
  bool is_short = true;  // positions fit 32 bits
  const int64_t* index[kMaxDims];
  int64_t size[kMaxDims], stride[kMaxDims];
  int64_t rest_size[kMaxDims], rest_stride[kMaxDims];

  __device__ int64_t offset(int64_t position) const {
    const int64_t entry = quotient(position, rest, is_short);
    int64_t inside = position - entry * rest;
    int64_t result = 0;
#pragma unroll 1
    for (int i = 0; i < indices; ++i) {
      int64_t place = index[i][entry];
      assert(place >= -size[i] && place < size[i] && "index out of bounds");
      if (place < 0) place += size[i];
      result += place * stride[i];
    }
#pragma unroll 1
    for (int dim = rest_dims - 1; dim > 0; --dim) {
      const int64_t outside = quotient(inside, rest_size[dim], is_short);
      result += (inside - outside * rest_size[dim]) * rest_stride[dim];
      inside = outside;
    }
    return rest_dims > 0 ? result + inside * rest_stride[0] : result;
  }
};

// `packed` has the places' elements one behind the other. `holders` keeps contiguous copies of the indices alive until
// the kernel is queued.
IndexedPlaces places_of(const Tensor& self, const Tensor& packed, TensorList indices, std::vector<Tensor>& holders) {
  check_dims(self);
  IndexedPlaces places;
  places.word = static_cast<int>(self.element_size());
  places.is_short = fits_32_bits(packed.numel());
  places.indices = static_cast<int>(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    holders.push_back(indices[i].contiguous());
    places.index[i] = holders.back().data_ptr<int64_t>();
    places.size[i] = self.sizes()[i];
    places.stride[i] = self.strides()[i];
  }
  for (int64_t dim = places.indices; dim < self.dim(); ++dim) {
    const int64_t size = self.sizes()[dim], stride = self.strides()[dim];
    places.rest *= size;
    const int last = places.rest_dims - 1;
    if (last >= 0 && places.rest_stride[last] == size * stride) {  // one row with those before
      places.rest_size[last] *= size;
      places.rest_stride[last] = stride;
      continue;
    }
    places.rest_size[places.rest_dims] = size;
    places.rest_stride[places.rest_dims++] = stride;
  }
  return places;
}

// Where each entry's rest is one row of neighbours: words of up to 16 bytes, which they all are multiples of.
IndexedPlaces with_wide_words(IndexedPlaces places, const Tensor& self, const Tensor& packed) {
  if (places.rest_dims != 1 || places.rest_stride[0] != 1) return places;
  const auto divides = [&](int64_t elements) {
    bool is = places.rest % elements == 0;
    for (int i = 0; i < places.indices; ++i) is = is && places.stride[i] % elements == 0;
    for (const Tensor& tensor : {self, packed})
      is = is && reinterpret_cast<uintptr_t>(tensor.data_ptr()) % (elements * places.word) == 0;
    return is;
  };
  int64_t elements = 1;
  while (elements * 2 * places.word <= 16 && divides(elements * 2)) elements *= 2;
  places.word *= static_cast<int>(elements);
  places.rest = places.rest_size[0] = places.rest / elements;
  for (int i = 0; i < places.indices; ++i) places.stride[i] /= elements;
  return places;
}

template <typename Word>
void read_places(const Tensor& out, const Tensor& self, const IndexedPlaces& places) {
  Word* result = static_cast<Word*>(out.data_ptr());
  const Word* in = static_cast<const Word*>(self.data_ptr());
  const int64_t words = static_cast<int64_t>(out.nbytes() / sizeof(Word));
  for_each_index(words, [=] __device__(int64_t position) { result[position] = in[places.offset(position)]; });
}

template <typename Word>
void write_places(const Tensor& self, const Tensor& values, const IndexedPlaces& places) {
  Word* out = static_cast<Word*>(self.data_ptr());
  const Word* in = static_cast<const Word*>(values.data_ptr());
  const int64_t words = static_cast<int64_t>(values.nbytes() / sizeof(Word));
  for_each_index(words, [=] __device__(int64_t position) { out[places.offset(position)] = in[position]; });
}

template <typename T>
void add_to_places(const Tensor& self, const Tensor& values, const IndexedPlaces& places) {
  T* out = self.data_ptr<T>();
  const T* in = values.data_ptr<T>();
  for_each_index(values.numel(),
                 [=] __device__(int64_t position) { atomic_add(out + places.offset(position), in[position]); });
}

// Offsets of the positions first, first + kThreads, ...: a dimension's numbers are read once for all of them.
template <int N, uint32_t kCount>
__device__ void offsets_a_block_apart(const Offsets<N>& where, uint32_t first, uint32_t (&offsets)[kCount][N]) {
  uint32_t index[kCount];
#pragma unroll
  for (uint32_t i = 0; i < kCount; ++i) {
    index[i] = first + i * kThreads;
#pragma unroll
    for (int operand = 0; operand < N; ++operand) offsets[i][operand] = 0;
  }
#pragma unroll 1
  for (int dim = 0; dim < where.ndim; ++dim) {
    const bool is_last = dim + 1 == where.ndim;
    const uint32_t size = where.sizes[dim], multiplier = where.multipliers[dim], shift = where.shifts[dim];
    uint32_t strides[N];
#pragma unroll
    for (int operand = 0; operand < N; ++operand) strides[operand] = where.strides[dim][operand];
#pragma unroll
    for (uint32_t i = 0; i < kCount; ++i) {
      const uint32_t rest = is_last ? 0 : (__umulhi(index[i], multiplier) + index[i]) >> shift;
      const uint32_t here = index[i] - rest * size;
#pragma unroll
      for (int operand = 0; operand < N; ++operand) offsets[i][operand] += here * strides[operand];
      index[i] = rest;
    }
  }
}

// gather and scatter: elements of `index`, each with a place in `near` (its own coordinates) and one in `far` (the
// same, but the index's value in one dimension). Each thread has some of them, a block apart: all indices are on their
// way before the first is looked at, which one assertion does for all, and so are the elements that are read.
template <typename T, typename Body>
__global__ void __launch_bounds__(kThreads) pair_loop(uint32_t n, Offsets<3> where, char* near, char* far,
                                                      const char* index, int64_t far_size, int64_t far_stride,
                                                      Body body) {
  constexpr uint32_t kAtOnce = 4;
  for (uint32_t first = blockIdx.x * kThreads * kAtOnce + threadIdx.x; first < n;
       first += gridDim.x * kThreads * kAtOnce) {
    uint32_t offsets[kAtOnce][3];
    int64_t place[kAtOnce] = {};
    T value[kAtOnce];
    offsets_a_block_apart(where, first, offsets);  // also of those behind the last one, which nobody looks at
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i) {
      if (first + i * kThreads >= n) continue;
      place[i] = *reinterpret_cast<const int64_t*>(index + offsets[i][2]);
      if constexpr (!Body::kReadsFar) value[i] = *reinterpret_cast<const T*>(near + offsets[i][0]);
    }
    bool are_inside = true;
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i)
      are_inside = are_inside && static_cast<uint64_t>(place[i]) < static_cast<uint64_t>(far_size);
    assert(are_inside && "index out of bounds");
    const auto in_far = [&](uint32_t i) { return reinterpret_cast<T*>(far + offsets[i][1] + place[i] * far_stride); };
    if constexpr (Body::kReadsFar) {
#pragma unroll
      for (uint32_t i = 0; i < kAtOnce; ++i) {
        if (first + i * kThreads < n) value[i] = *in_far(i);
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i) {
      if (first + i * kThreads >= n) continue;
      if constexpr (Body::kReadsFar) body(value[i], reinterpret_cast<T*>(near + offsets[i][0]));
      else body(value[i], in_far(i));
    }
  }
}

// body(element of one, place in the other) for every index.
template <typename T, typename Body>
void for_each_pair(const Tensor& near, const Tensor& far, const Tensor& index, int64_t dim, Body body) {
  if (index.numel() == 0) return;
  const auto as_index = [&](const Tensor& tensor, IntArrayRef strides) {
    return at::detail::make_view(tensor, index.sizes(), strides, tensor.storage_offset());
  };
  DimVector far_strides(far.strides());
  far_strides[dim] = 0;  // the kernel's, by the index
  Tensor nears = as_index(near, near.strides());
  const Tensor fars = as_index(far, far_strides);
  const TensorIterator whole(
      TensorIteratorConfig().output(nears).fixed_input(fars).fixed_input(index).leave_dtypes().allow_overlap());
  whole.with_32bit_indexing([&](const TensorIterator& iter) {
    launch(pair_loop<T, Body>, grid_for((iter.numel() + 3) / 4), kThreads, iter.numel(), Offsets<3>(iter),
           iter.data(0), iter.data(1), iter.data(2), far.sizes()[dim],
           far.strides()[dim] * static_cast<int64_t>(sizeof(T)), body);
  });
}

template <typename Word>
struct Gather {
  static constexpr bool kReadsFar = true;
  __device__ void operator()(Word value, Word* near) const { *near = value; }
};
template <typename Word>
struct Scatter {
  static constexpr bool kReadsFar = false;
  __device__ void operator()(Word value, Word* far) const { *far = value; }
};
template <typename T>
struct ScatterAdd {
  static constexpr bool kReadsFar = false;
  __device__ void operator()(T value, T* far) const { atomic_add(far, value); }
};
template <typename T>
struct ScatterReduce {
  static constexpr bool kReadsFar = false;
  Reduction reduction;
  __device__ void operator()(T value, T* far) const {
    switch (reduction) {
      case Reduction::sum: return atomic_add(far, value);
      case Reduction::product: return atomic_update(far, value, [](T a, T b) { return static_cast<T>(a * b); });
      // NaN wins and stays.
      case Reduction::greatest: return atomic_update(far, value, [](T a, T b) { return b > a || b != b ? b : a; });
      case Reduction::least: return atomic_update(far, value, [](T a, T b) { return b < a || b != b ? b : a; });
    }
  }
};

__global__ void __launch_bounds__(kThreads) count_flags(int64_t n, const bool* flags, int64_t* count) {
  __shared__ int64_t shared[kWarp];
  // 16 bytes at once, and one each of those before and behind them.
  const auto gap = static_cast<int64_t>((16 - reinterpret_cast<uintptr_t>(flags) % 16) % 16);
  const int64_t packs = n > gap ? (n - gap) / 16 : 0;
  const int64_t own = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  const int64_t single = own < gap ? own : own + packs * 16;
  int64_t found = single < n && flags[single] ? 1 : 0;
  for (int64_t i = own; i < packs; i += int64_t{blockDim.x} * gridDim.x) {
    const auto pack = read_neighbours<16>(flags + gap + i * 16);
#pragma unroll
    for (int j = 0; j < 16; ++j) found += pack.values[j] ? 1 : 0;
  }
  found = block_reduce(found, int64_t{0}, [](int64_t a, int64_t b) { return a + b; }, shared);
  if (threadIdx.x == 0 && found > 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(count), static_cast<unsigned long long>(found));
}

struct IsTrue {
  __host__ __device__ bool operator()(bool x) const { return x; }
};

// How many of contiguous `flags` are true, which the host waits for.
int64_t count_true(const Tensor& flags) {
  const Tensor count = at::zeros({1}, TensorOptions(kLong).device(flags.device()));
  const int64_t n = flags.numel();
  const bool* flag = static_cast<const bool*>(flags.data_ptr());
  launch(count_flags, grid_for(n / 16 + 1), kThreads, n, flag, count.data_ptr<int64_t>());
  return count.item<int64_t>();
}

// The linear positions of true elements of contiguous `flags`, in order: of both passes the second one writes, into as
// much memory as they need.
Tensor true_positions(const Tensor& flags) {
  const cudaStream_t stream = c10::cuda::current_stream();
  const int64_t n = flags.numel();
  const TensorOptions options = TensorOptions(kLong).device(flags.device());
  Tensor positions = at::empty({count_true(flags)}, options);
  if (positions.numel() == 0) return positions;
  Tensor count = at::empty({1}, options);
  const thrust::counting_iterator<int64_t> numbers(0);
  const auto chosen = thrust::make_transform_iterator(static_cast<const bool*>(flags.data_ptr()), IsTrue());
  size_t bytes = 0;
  const auto run = [&](void* workspace) {
    C10_CUDA_CHECK(cub::DeviceSelect::Flagged(workspace, bytes, numbers, chosen, positions.data_ptr<int64_t>(),
                                              count.data_ptr<int64_t>(), n, stream));
  };
  run(nullptr);
  const c10::DataPtr workspace = c10::get_backend(kCUDA).allocator()->allocate(bytes);
  run(workspace.get());
  return positions;
}

struct Sizes {
  int64_t value[kMaxDims];
};

void write_coordinates(const Tensor& out, const Tensor& positions, const Tensor& self) {
  Sizes sizes;
  const int dims = static_cast<int>(self.dim());
  for (int i = 0; i < dims; ++i) sizes.value[i] = self.sizes()[i];
  const int64_t found = positions.numel();
  int64_t* coordinates = out.data_ptr<int64_t>();  // dimension by dimension
  const int64_t* position = positions.data_ptr<int64_t>();
  for_each_index(positions.numel(), [=] __device__(int64_t row) {
    int64_t rest = position[row];
    for (int i = dims - 1; i >= 0; --i) {
      coordinates[i * found + row] = rest % sizes.value[i];
      rest /= sizes.value[i];
    }
  });
}

}  // namespace

void index_kernel(const Tensor& out, const Tensor& self, TensorList indices) {
  if (out.numel() == 0) return;
  std::vector<Tensor> holders;
  Tensor packed = out.is_contiguous() ? out : at::empty(out.sizes(), out.options());
  const IndexedPlaces places = with_wide_words(places_of(self, packed, indices, holders), self, packed);
  dispatch_word(places.word, [&](auto word) { read_places<decltype(word)>(packed, self, places); });
  if (!packed.is_same(out)) Tensor(out).copy_(packed);
}

void index_put_kernel(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  if (self.numel() == 0) return;
  if (accumulate && c10::is_reduced_floating_type(self.dtype())) {  // rounded once, as gradients of embeddings need it
    const Tensor wide = at::detail::to_dtype(self, kFloat);
    index_put_kernel(wide, indices, at::detail::to_dtype(values, kFloat), true);
    Tensor(self).copy_(wide);
    return;
  }
  std::vector<Tensor> holders;
  const Tensor packed = values.contiguous();
  const IndexedPlaces places = places_of(self, packed, indices, holders);
  if (!accumulate) {
    const IndexedPlaces wide = with_wide_words(places, self, packed);
    return dispatch_word(wide.word, [&](auto word) { write_places<decltype(word)>(self, packed, wide); });
  }
  dispatch_added_types(self.dtype(), "index_put_",
                       [&](auto tag) { add_to_places<typename decltype(tag)::type>(self, packed, places); });
}

void gather_kernel(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  dispatch_word(self.element_size(),
                [&](auto word) { for_each_pair<decltype(word)>(out, self, index, dim, Gather<decltype(word)>()); });
}

void scatter_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  dispatch_word(self.element_size(),
                [&](auto word) { for_each_pair<decltype(word)>(src, self, index, dim, Scatter<decltype(word)>()); });
}

void scatter_add_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  dispatch_added_types(self.dtype(), "scatter_add_", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_pair<T>(src, self, index, dim, ScatterAdd<T>());
  });
}

void scatter_reduce_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           Reduction reduction) {
  dispatch_all_types(self.dtype(), "scatter_reduce", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_pair<T>(src, self, index, dim, ScatterReduce<T>{reduction});
  });
}

void nonzero_kernel(Tensor& out, const Tensor& self) {
  check_dims(self);
  Tensor positions = at::empty({0}, TensorOptions(kLong).device(self.device()));
  if (self.numel() > 0)
    positions = true_positions((self.dtype() == kBool ? self : at::ne(self, Scalar(0))).contiguous());
  if (self.dim() == 1) {
    out = positions.unsqueeze(0).transpose(0, 1);
    return;
  }
  out = at::empty({self.dim(), positions.numel()}, positions.options()).transpose(0, 1);
  if (out.numel() > 0) write_coordinates(out, positions, self);
}

}  // namespace at::native::cuda
