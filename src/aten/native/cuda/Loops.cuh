#pragma once
// Element-wise kernels over a TensorIterator: gpu_kernel(iter, functor), where functor is a struct with a __device__
// `R operator()(A...) const`: R is the output's type, A... are the inputs' types; or with `void operator()(R& out,
// A...) const` when it changes some outputs only.
//
// Numbers that live in host memory (the 2 of `x + 2`) travel as kernel arguments instead of being copied to the device.

#include <aten/Dispatch.h>
#include <aten/TensorIterator.h>
#include <aten/native/cuda/Launch.cuh>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace at::native::cuda {

template <typename Member>
struct SignatureOf;
template <typename Functor, typename R, typename... A>
struct SignatureOf<R (Functor::*)(A...) const> {
  using Result = R;
  using Arguments = std::tuple<A...>;
  static constexpr int arity = sizeof...(A);
  static constexpr size_t largest = std::max({sizeof(R), sizeof(A)...});
  static constexpr bool updates = false;
};
template <typename Functor, typename R, typename... A>
struct SignatureOf<void (Functor::*)(R&, A...) const> {
  using Result = R;
  using Arguments = std::tuple<A...>;
  static constexpr int arity = sizeof...(A);
  static constexpr size_t largest = std::max({sizeof(R), sizeof(A)...});
  static constexpr bool updates = true;
};
template <typename Functor>
using Signature = SignatureOf<decltype(&Functor::operator())>;

// x < 0, without a warning about types that never are.
template <typename T>
__device__ bool is_negative(T x) {
  if constexpr (std::is_signed_v<T>) return x < T{0};
  else return false;
}

// Where element `index` of each operand is. Dimension 0 is the fastest.
template <int N>
struct Offsets {
  static constexpr int kMaxDims = 12;
  int ndim = 0;
  uint32_t sizes[kMaxDims];
  uint32_t strides[kMaxDims][N];

  explicit Offsets(const TensorIterator& iter) : ndim(iter.ndim()) {
    TORCH_CHECK(ndim <= kMaxDims, "CUDA kernels take at most ", kMaxDims, " dimensions that cannot be merged, got ",
                ndim);
    for (int dim = 0; dim < ndim; ++dim) {
      sizes[dim] = static_cast<uint32_t>(iter.shape()[dim]);
      for (int i = 0; i < N; ++i) strides[dim][i] = static_cast<uint32_t>(iter.strides(i)[dim]);
    }
  }

  __device__ void get(uint32_t index, uint32_t (&offsets)[N]) const {
#pragma unroll
    for (int i = 0; i < N; ++i) offsets[i] = 0;
#pragma unroll 1  // here and elsewhere: unrolled, divisions are most of a kernel, and of the time to compile it
    for (int dim = 0; dim < ndim; ++dim) {
      const uint32_t rest = dim + 1 == ndim ? 0 : index / sizes[dim];
      const uint32_t here = index - rest * sizes[dim];
#pragma unroll
      for (int i = 0; i < N; ++i) offsets[i] += here * strides[dim][i];
      index = rest;
    }
  }
};

// Operands as the kernel sees them. `number` holds the value of a host scalar in the argument's own type.
template <int N>
struct Pointers {
  char* data[N];
  struct alignas(16) Number {
    unsigned char bytes[16];
  } number[N] = {};
  bool is_number[N] = {};
};

template <typename T, int N>
__device__ T load(const Pointers<N>& pointers, int operand, uint32_t byte_offset) {
  const void* source = pointers.is_number[operand] ? static_cast<const void*>(&pointers.number[operand])
                                                   : static_cast<const void*>(pointers.data[operand] + byte_offset);
  return *static_cast<const T*>(source);
}

template <typename Functor, int N, size_t... I>
__device__ void apply(const Functor& functor, const Pointers<N>& pointers, const uint32_t (&offsets)[N],
                      std::index_sequence<I...>) {
  using Arguments = typename Signature<Functor>::Arguments;
  auto& out = *reinterpret_cast<typename Signature<Functor>::Result*>(pointers.data[0] + offsets[0]);
  if constexpr (Signature<Functor>::updates)
    functor(out, load<std::tuple_element_t<I, Arguments>>(pointers, I + 1, offsets[I + 1])...);
  else out = functor(load<std::tuple_element_t<I, Arguments>>(pointers, I + 1, offsets[I + 1])...);
}

template <typename Functor, int N>
__global__ void __launch_bounds__(kThreads)
    strided_loop(uint32_t n, Functor functor, Pointers<N> pointers, Offsets<N> where) {
  for (uint32_t index = blockIdx.x * blockDim.x + threadIdx.x; index < n; index += blockDim.x * gridDim.x) {
    uint32_t offsets[N];
    where.get(index, offsets);
    apply(functor, pointers, offsets, std::make_index_sequence<N - 1>());
  }
}

// Neighbours that a thread computes together: 16 bytes of the largest type, which memory moves at once. Not more than
// four, since each is the functor's code once more.
template <typename Functor>
inline constexpr uint32_t kPackSize = std::clamp<size_t>(16 / Signature<Functor>::largest, 1, 4);

template <typename T, uint32_t kSize>
struct alignas(sizeof(T) * kSize) Pack {
  T values[kSize];
};

// Elements first, first + 1, ... of a contiguous operand. Only `count` of them exist; behind the last one, zeros.
template <typename T, uint32_t kSize, int N>
__device__ Pack<T, kSize> load_pack(const Pointers<N>& pointers, int operand, uint32_t first, uint32_t count) {
  Pack<T, kSize> pack;
  if (pointers.is_number[operand]) {
    const T number = *reinterpret_cast<const T*>(&pointers.number[operand]);
#pragma unroll
    for (uint32_t i = 0; i < kSize; ++i) pack.values[i] = number;
    return pack;
  }
  const char* source = pointers.data[operand] + first * sizeof(T);
  if (count >= kSize) return *reinterpret_cast<const Pack<T, kSize>*>(source);
#pragma unroll
  for (uint32_t i = 0; i < kSize; ++i) pack.values[i] = i < count ? reinterpret_cast<const T*>(source)[i] : T{};
  return pack;
}

template <typename Functor, typename R, uint32_t kSize, typename... A>
__device__ void compute_pack(const Functor& functor, Pack<R, kSize>& out, const Pack<A, kSize>&... in) {
#pragma unroll
  for (uint32_t i = 0; i < kSize; ++i) {
    if constexpr (Signature<Functor>::updates) functor(out.values[i], in.values[i]...);
    else out.values[i] = functor(in.values[i]...);
  }
}

template <typename Functor, int N, size_t... I>
__device__ void apply_to_pack(const Functor& functor, const Pointers<N>& pointers, uint32_t first, uint32_t count,
                              std::index_sequence<I...>) {
  using R = typename Signature<Functor>::Result;
  using Arguments = typename Signature<Functor>::Arguments;
  constexpr uint32_t kSize = kPackSize<Functor>;
  Pack<R, kSize> out;
  if constexpr (Signature<Functor>::updates) out = load_pack<R, kSize>(pointers, 0, first, count);
  compute_pack(functor, out, load_pack<std::tuple_element_t<I, Arguments>, kSize>(pointers, I + 1, first, count)...);
  char* target = pointers.data[0] + first * sizeof(R);
  if (count >= kSize) {
    *reinterpret_cast<Pack<R, kSize>*>(target) = out;
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kSize; ++i) {
    if (i < count) reinterpret_cast<R*>(target)[i] = out.values[i];
  }
}

// Operands without gaps, each aligned to its packs.
template <typename Functor, int N>
__global__ void __launch_bounds__(kThreads)
    packed_loop(uint32_t n, uint32_t packs, Functor functor, Pointers<N> pointers) {
  for (uint32_t pack = blockIdx.x * blockDim.x + threadIdx.x; pack < packs; pack += blockDim.x * gridDim.x) {
    const uint32_t first = pack * kPackSize<Functor>;
    apply_to_pack(functor, pointers, first, n - first, std::make_index_sequence<N - 1>());
  }
}

// A functor that moves bits, whatever they mean, says so by `using Word = ...`.
template <typename Functor, typename T, typename = void>
inline constexpr bool is_word_of_v = false;
template <typename Functor, typename T>
inline constexpr bool is_word_of_v<Functor, T, std::void_t<typename Functor::Word>> =
    std::is_same_v<T, typename Functor::Word>;

template <typename Functor, int N, size_t... I>
void read_numbers(const TensorIterator& iter, Pointers<N>& pointers, std::index_sequence<I...>) {
  [[maybe_unused]] const auto read = [&](auto operand, auto zero) {
    constexpr int i = decltype(operand)::value;
    if (!iter.is_cpu_scalar(i)) return;
    const auto store = [&](auto value) { std::memcpy(pointers.number[i].bytes, &value, sizeof value); };
    pointers.is_number[i] = true;
    if constexpr (is_word_of_v<Functor, decltype(zero)>) {
      dispatch_stored_types(iter.common_dtype(), "number",
                            [&](auto tag) { store(iter.scalar_value<typename decltype(tag)::type>(i)); });
    } else {
      store(iter.scalar_value<decltype(zero)>(i));
    }
  };
  (read(std::integral_constant<int, I + 1>(), std::tuple_element_t<I, typename Signature<Functor>::Arguments>{}), ...);
}

// Whether packed_loop can do it.
template <typename Functor, int N>
bool is_packed(const TensorIterator& iter, const Pointers<N>& pointers) {
  if (iter.ndim() > 1) return false;
  for (int i = 0; i < N; ++i) {
    if (pointers.is_number[i]) continue;
    if (iter.ndim() == 1 && iter.strides(i)[0] != iter.element_size(i)) return false;
    if (reinterpret_cast<uintptr_t>(pointers.data[i]) % (iter.element_size(i) * kPackSize<Functor>) != 0) return false;
  }
  return true;
}

template <bool kHasPackedLoop, typename Functor>
void run_gpu_kernel(const TensorIterator& whole, const Functor& functor) {
  constexpr int N = Signature<Functor>::arity + 1;
  TORCH_INTERNAL_ASSERT(whole.noperands() == N);
  if (whole.numel() == 0) return;
  whole.with_32bit_indexing([&](const TensorIterator& iter) {
    Pointers<N> pointers;
    for (int i = 0; i < N; ++i) pointers.data[i] = iter.data(i);
    read_numbers<Functor>(iter, pointers, std::make_index_sequence<N - 1>());
    const auto n = static_cast<uint32_t>(iter.numel());
    if constexpr (kHasPackedLoop) {
      if (is_packed<Functor>(iter, pointers)) {
        const uint32_t packs = (n - 1) / kPackSize<Functor> + 1;
        return launch(packed_loop<Functor, N>, grid_for(packs), kThreads, n, packs, functor, pointers);
      }
    }
    launch(strided_loop<Functor, N>, grid_for(n), kThreads, n, functor, pointers, Offsets<N>(iter));
  });
}

template <typename Functor>
void gpu_kernel(const TensorIterator& iter, const Functor& functor) {
  run_gpu_kernel<true>(iter, functor);
}

// For functors beside whose own work the arithmetic of indices is nothing: half as much to compile.
template <typename Functor>
void gpu_kernel_by_strides(const TensorIterator& iter, const Functor& functor) {
  run_gpu_kernel<false>(iter, functor);
}

}  // namespace at::native::cuda
