// Reading and writing at places given by int64 tensors. An index out of range stops the device with an assertion that
// names file and line: an exception cannot be thrown from there.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/Dispatch.h>
#include <aten/native/cuda/Launch.cuh>

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

template <typename T>
__device__ void atomic_add(T* target, T value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    atomicAdd(reinterpret_cast<unsigned long long*>(target), static_cast<unsigned long long>(value));
  } else if constexpr (sizeof(T) < sizeof(unsigned)) {
    // A part of the aligned word around it.
    using Bits = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
    constexpr unsigned mask = static_cast<Bits>(~Bits{0});
    auto address = reinterpret_cast<uintptr_t>(target);
    auto* word = reinterpret_cast<unsigned*>(address & ~uintptr_t{3});
    const unsigned shift = static_cast<unsigned>(address & 3) * 8;
    unsigned seen = *word;
    unsigned expected;
    do {
      expected = seen;
      auto bits = static_cast<Bits>((expected >> shift) & mask);
      T old;
      memcpy(&old, &bits, sizeof bits);
      const T sum = std::is_same_v<T, bool> ? static_cast<T>(old || value) : static_cast<T>(old + value);
      memcpy(&bits, &sum, sizeof bits);
      seen = atomicCAS(word, expected, (expected & ~(mask << shift)) | (static_cast<unsigned>(bits) << shift));
    } while (seen != expected);
  } else {
    atomicAdd(target, value);
  }
}

// Element `index` of index-shape x rest-shape, as an element offset into `self`.
struct IndexedPlaces {
  int indices = 0;  // leading dimensions that are indexed
  int rest_dims = 0;
  int64_t rest = 1;
  const int64_t* index[kMaxDims];
  int64_t size[kMaxDims], stride[kMaxDims];
  int64_t rest_size[kMaxDims], rest_stride[kMaxDims];

  __device__ int64_t offset(int64_t position) const {
    const int64_t entry = position / rest;
    int64_t inside = position % rest;
    int64_t result = 0;
    for (int i = 0; i < indices; ++i) {
      int64_t place = index[i][entry];
      assert(place >= -size[i] && place < size[i] && "index out of bounds");
      if (place < 0) place += size[i];
      result += place * stride[i];
    }
    for (int dim = rest_dims - 1; dim >= 0; --dim) {
      result += inside % rest_size[dim] * rest_stride[dim];
      inside /= rest_size[dim];
    }
    return result;
  }
};

// `holders` keeps contiguous copies of the indices alive until the kernel is queued.
IndexedPlaces places_of(const Tensor& self, TensorList indices, std::vector<Tensor>& holders) {
  check_dims(self);
  IndexedPlaces places;
  places.indices = static_cast<int>(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    holders.push_back(indices[i].contiguous());
    places.index[i] = holders.back().data_ptr<int64_t>();
    places.size[i] = self.sizes()[i];
    places.stride[i] = self.strides()[i];
  }
  for (int64_t dim = places.indices; dim < self.dim(); ++dim) {
    places.rest_size[places.rest_dims] = self.sizes()[dim];
    places.rest_stride[places.rest_dims++] = self.strides()[dim];
    places.rest *= self.sizes()[dim];
  }
  return places;
}

template <typename T>
void read_places(const Tensor& out, const Tensor& self, const IndexedPlaces& places) {
  T* result = out.data_ptr<T>();
  const T* in = self.data_ptr<T>();
  for_each_index(out.numel(), [=] __device__(int64_t position) { result[position] = in[places.offset(position)]; });
}

template <typename T>
void write_places(const Tensor& self, const Tensor& values, const IndexedPlaces& places, bool accumulate) {
  T* out = self.data_ptr<T>();
  const T* in = values.data_ptr<T>();
  for_each_index(values.numel(), [=] __device__(int64_t position) {
    T* place = out + places.offset(position);
    if (accumulate) atomic_add(place, in[position]);
    else *place = in[position];
  });
}

// gather and scatter: elements of `index`, each with a place in `near` (its own coordinates) and one in `far` (the same,
// but the index's value in dimension `dim`).
struct CrossPlaces {
  int dims = 0;
  int dim = 0;
  int64_t far_size = 1;
  int64_t size[kMaxDims], index_stride[kMaxDims], near_stride[kMaxDims], far_stride[kMaxDims];
  const int64_t* index = nullptr;

  __device__ void offsets(int64_t position, int64_t& near, int64_t& far) const {
    near = far = 0;
    int64_t index_offset = 0;
    for (int i = dims - 1; i >= 0; --i) {
      const int64_t here = position % size[i];
      position /= size[i];
      index_offset += here * index_stride[i];
      near += here * near_stride[i];
      if (i != dim) far += here * far_stride[i];
    }
    const int64_t place = index[index_offset];
    assert(place >= 0 && place < far_size && "index out of bounds");
    far += place * far_stride[dim];
  }
};

CrossPlaces cross_places(const Tensor& near, const Tensor& far, const Tensor& index, int64_t dim) {
  check_dims(index);
  CrossPlaces places;
  places.dims = static_cast<int>(index.dim());
  places.dim = static_cast<int>(dim);
  places.index = index.data_ptr<int64_t>();
  if (index.dim() == 0) {  // a 0-dim tensor is indexed as if it had one dimension of size 1
    places.dims = 1;
    places.size[0] = 1;
    places.index_stride[0] = places.near_stride[0] = places.far_stride[0] = 0;
    places.far_size = far.numel();
    return places;
  }
  for (int i = 0; i < places.dims; ++i) {
    places.size[i] = index.sizes()[i];
    places.index_stride[i] = index.strides()[i];
    places.near_stride[i] = near.dim() ? near.strides()[i] : 0;
    places.far_stride[i] = far.dim() ? far.strides()[i] : 0;
  }
  places.far_size = far.dim() ? far.sizes()[dim] : 1;
  return places;
}

enum class Cross { kGather, kScatter, kScatterAdd };

template <typename T, Cross kind>
void cross(T* near, T* far, const CrossPlaces& places, int64_t count) {
  for_each_index(count, [=] __device__(int64_t position) {
    int64_t near_offset, far_offset;
    places.offsets(position, near_offset, far_offset);
    if (kind == Cross::kGather) near[near_offset] = far[far_offset];
    else if (kind == Cross::kScatter) far[far_offset] = near[near_offset];
    else atomic_add(far + far_offset, near[near_offset]);
  });
}

template <Cross kind>
void run_cross(const Tensor& near, const Tensor& far, const Tensor& index, int64_t dim, const char* name) {
  if (index.numel() == 0) return;
  const CrossPlaces places = cross_places(near, far, index, dim);
  dispatch_real_types(far.dtype(), name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    cross<T, kind>(near.data_ptr<T>(), far.data_ptr<T>(), places, index.numel());
  });
}

template <typename T>
struct IsNonzero {
  __host__ __device__ bool operator()(T x) const { return x != T{0}; }
};

// The linear positions of nonzero elements of contiguous `self`, in order.
template <typename T>
Tensor nonzero_positions(const Tensor& self) {
  const cudaStream_t stream = c10::cuda::current_stream();
  const int64_t n = self.numel();
  const TensorOptions options = TensorOptions(kLong).device(self.device());
  Tensor positions = at::empty({n}, options);
  Tensor count = at::empty({1}, options);
  const thrust::counting_iterator<int64_t> numbers(0);
  const auto flags = thrust::make_transform_iterator(static_cast<const T*>(self.data_ptr()), IsNonzero<T>());
  size_t bytes = 0;
  C10_CUDA_CHECK(cub::DeviceSelect::Flagged(nullptr, bytes, numbers, flags, positions.data_ptr<int64_t>(), count.data_ptr<int64_t>(), n, stream));
  const c10::DataPtr workspace = c10::get_backend(kCUDA).allocator()->allocate(bytes);
  C10_CUDA_CHECK(cub::DeviceSelect::Flagged(workspace.get(), bytes, numbers, flags, positions.data_ptr<int64_t>(),
                                            count.data_ptr<int64_t>(), n, stream));
  return positions.narrow(0, 0, count.item<int64_t>());
}

struct Sizes {
  int64_t value[kMaxDims];
};

void write_coordinates(const Tensor& out, const Tensor& positions, const Tensor& self) {
  Sizes sizes;
  const int dims = static_cast<int>(self.dim());
  for (int i = 0; i < dims; ++i) sizes.value[i] = self.sizes()[i];
  int64_t* coordinates = out.data_ptr<int64_t>();
  const int64_t* position = positions.data_ptr<int64_t>();
  for_each_index(positions.numel(), [=] __device__(int64_t row) {
    int64_t rest = position[row];
    for (int i = dims - 1; i >= 0; --i) {
      coordinates[row * dims + i] = rest % sizes.value[i];
      rest /= sizes.value[i];
    }
  });
}

}  // namespace

void index_kernel(const Tensor& out, const Tensor& self, TensorList indices) {
  if (out.numel() == 0) return;
  std::vector<Tensor> holders;
  const IndexedPlaces places = places_of(self, indices, holders);
  Tensor packed = out.is_contiguous() ? out : at::empty(out.sizes(), out.options());
  dispatch_real_types(self.dtype(), "index", [&](auto tag) { read_places<typename decltype(tag)::type>(packed, self, places); });
  if (!packed.is_same(out)) Tensor(out).copy_(packed);
}

void index_put_kernel(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  if (self.numel() == 0) return;
  std::vector<Tensor> holders;
  const IndexedPlaces places = places_of(self, indices, holders);
  const Tensor packed = values.contiguous();
  dispatch_real_types(self.dtype(), "index_put_", [&](auto tag) {
    write_places<typename decltype(tag)::type>(self, packed, places, accumulate);
  });
}

void gather_kernel(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  run_cross<Cross::kGather>(out, self, index, dim, "gather");
}

void scatter_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  run_cross<Cross::kScatter>(src, self, index, dim, "scatter_");
}

void scatter_add_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  run_cross<Cross::kScatterAdd>(src, self, index, dim, "scatter_add_");
}

void nonzero_kernel(Tensor& out, const Tensor& self) {
  check_dims(self);
  const Tensor in = self.contiguous();
  Tensor positions = at::empty({0}, TensorOptions(kLong).device(self.device()));
  if (in.numel() > 0) {
    dispatch_real_types(in.dtype(), "nonzero", [&](auto tag) { positions = nonzero_positions<typename decltype(tag)::type>(in); });
  }
  out = at::empty({positions.numel(), self.dim()}, positions.options());
  if (out.numel() > 0) write_coordinates(out, positions, in);
}

}  // namespace at::native::cuda
