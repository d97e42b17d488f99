// Dropout in one pass: the result, and which elements were kept. Numbers are PyTorch's for a seed and a device, so
// elements are handed out as there: neighbours to a thread in packs of 16 bytes, as far as their count divides by it.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Loops.cuh>
#include <aten/native/cuda/Philox.cuh>

namespace at::native::cuda {

namespace {

template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Numbers are floats for double elements, too.
template <typename T>
struct Drop {
  Wide<T> chance, scale;  // of being kept, and one over that
  __device__ bool keeps(const Numbers& numbers, int i) const { return numbers.uniform(i, 0.0f) < chance; }
  __device__ T apply(T value, bool kept) const {
    return static_cast<T>(static_cast<Wide<T>>(value) * Wide<T>(kept) * scale);
  }
};

template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    drop_packs(int64_t n, PhiloxState state, Drop<T> drop, T* out, bool* kept, const T* in) {
  const int64_t thread = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  const int64_t step = int64_t{blockDim.x} * gridDim.x * kSize;
  Philox stream(state, thread);
  for (int64_t first = thread * kSize; first < n; first += step) {
    const auto values = *reinterpret_cast<const Pack<T, kSize>*>(in + first);
    Pack<T, kSize> results;
    Pack<bool, kSize> mask;
    Numbers numbers;
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      if (i % 4 == 0) numbers = stream.next();
      mask.values[i] = drop.keeps(numbers, i % 4);
      results.values[i] = drop.apply(values.values[i], mask.values[i]);
    }
    *reinterpret_cast<Pack<T, kSize>*>(out + first) = results;
    *reinterpret_cast<Pack<bool, kSize>*>(kept + first) = mask;
  }
}

template <typename T>
void drop_elements(const Tensor& out, const Tensor& kept, const Tensor& self, Drop<T> drop,
                   const Generator& generator) {
  T* to = out.data_ptr<T>();
  bool* mask = kept.data_ptr<bool>();
  const T* from = self.data_ptr<T>();
  draw<4>(self.numel(), generator, [=] __device__(int64_t index, const Numbers& numbers, int i) {
    mask[index] = drop.keeps(numbers, i);
    to[index] = drop.apply(from[index], mask[index]);
  });
}

// How many neighbours a thread takes.
template <typename T>
int pack_size(const Tensor& self) {
  if (!self.is_non_overlapping_and_dense()) return 1;
  int size = 16 / static_cast<int>(sizeof(T));
  while (size > 1 && (reinterpret_cast<uintptr_t>(self.data_ptr()) % (size * sizeof(T)) != 0 ||
                      self.numel() % size != 0)) {
    size /= 2;
  }
  return size;
}

template <typename T, int kSize>
void drop_in_packs(const Tensor& out, const Tensor& kept, const Tensor& self, Drop<T> drop,
                   const Generator& generator) {
  const int64_t n = self.numel();
  const int64_t blocks = blocks_of_draw(n);
  // By elements, not by packs: PyTorch reserves as many.
  const int64_t rounds = (n - 1) / (kThreads * blocks * 4) + 1;
  launch(drop_packs<T, kSize>, static_cast<unsigned>(blocks), kThreads, n,
         take(generator, 4 * static_cast<uint64_t>(rounds)), drop, out.data_ptr<T>(), kept.data_ptr<bool>(),
         self.data_ptr<T>());
}

template <typename T>
void drop(const Tensor& out, const Tensor& kept, const Tensor& self, double p, const Generator& generator) {
  const auto chance = static_cast<Wide<T>>(1 - p);
  const Drop<T> drop{chance, static_cast<Wide<T>>(1.0 / chance)};
  const int size = pack_size<T>(self);
  if constexpr (sizeof(T) == 2) {
    if (size == 8) return drop_in_packs<T, 8>(out, kept, self, drop, generator);
  }
  if constexpr (sizeof(T) <= 4) {
    if (size == 4) return drop_in_packs<T, 4>(out, kept, self, drop, generator);
  }
  if (size == 2) return drop_in_packs<T, 2>(out, kept, self, drop, generator);
  if (self.is_contiguous() && out.is_contiguous()) return drop_elements<T>(out, kept, self, drop, generator);
  const Tensor packed = at::empty(self.sizes(), self.options());
  const Tensor packed_kept = at::empty(self.sizes(), kept.options());
  drop_elements<T>(packed, packed_kept, self.contiguous(), drop, generator);
  Tensor(out).copy_(packed);
  Tensor(kept).copy_(packed_kept);
}

template <typename T>
struct ScaleKept {
  Wide<T> scale;
  __device__ T operator()(T grad, bool kept) const {
    return static_cast<T>(static_cast<Wide<T>>(grad) * Wide<T>(kept) * scale);
  }
};

template <typename Body>
void dispatch_kept_types(c10::ScalarType dtype, Body&& body) {
  if (c10::is_reduced_floating_type(dtype)) {
    dispatch_real_types(dtype, "dropout", [&](auto tag) {
      if constexpr (sizeof(typename decltype(tag)::type) == 2 && c10::is_floating_v<typename decltype(tag)::type>)
        body(tag);
    });
  } else {
    dispatch_floating_types(dtype, "dropout", body);
  }
}

}  // namespace

void dropout_kernel(const Tensor& out, const Tensor& kept, const Tensor& self, double p, const Generator& generator) {
  dispatch_kept_types(self.dtype(),
                      [&](auto tag) { drop<typename decltype(tag)::type>(out, kept, self, p, generator); });
}

void dropout_backward_kernel(const Tensor& out, const Tensor& grad, const Tensor& kept, double scale) {
  Tensor target = out;
  const TensorIterator iter(TensorIteratorConfig().output(target).input(grad).fixed_input(kept).leave_dtypes());
  dispatch_kept_types(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    gpu_kernel(iter, ScaleKept<T>{static_cast<Wide<T>>(scale)});
  });
}

}  // namespace at::native::cuda
