#pragma once
// What element-wise kernels see of an iterator's operands: where elements are, one of them, or neighbours at once.

#include <aten/native/cuda/Halves.cuh>
#include <aten/native/cuda/Launch.cuh>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

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
  static constexpr bool has_floats = std::is_same_v<R, float> || (std::is_same_v<A, float> || ...);
};
template <typename Functor, typename R, typename... A>
struct SignatureOf<void (Functor::*)(R&, A...) const> {
  using Result = R;
  using Arguments = std::tuple<A...>;
  static constexpr int arity = sizeof...(A);
  static constexpr size_t largest = std::max({sizeof(R), sizeof(A)...});
  static constexpr bool updates = true;
  static constexpr bool has_floats = std::is_same_v<R, float> || (std::is_same_v<A, float> || ...);
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
  // index / size = (index * multiplier / 2^32 + index) / 2^shift, as long as indices have 31 bits.
  uint32_t multipliers[kMaxDims];
  uint32_t shifts[kMaxDims];
  uint32_t strides[kMaxDims][N];

  explicit Offsets(const TensorIterator& iter) : ndim(iter.ndim()) {
    TORCH_CHECK(ndim <= kMaxDims, "CUDA kernels take at most ", kMaxDims, " dimensions that cannot be merged, got ",
                ndim);
    for (int dim = 0; dim < ndim; ++dim) {
      const auto size = static_cast<uint32_t>(iter.shape()[dim]);
      uint32_t shift = 0;
      while ((uint64_t{1} << shift) < size) ++shift;
      sizes[dim] = size;
      shifts[dim] = shift;
      multipliers[dim] = static_cast<uint32_t>((((uint64_t{1} << shift) - size) << 32) / size + 1);
      for (int i = 0; i < N; ++i) strides[dim][i] = static_cast<uint32_t>(iter.strides(i)[dim]);
    }
  }

  __device__ void get(uint32_t index, uint32_t (&offsets)[N]) const {
#pragma unroll
    for (int i = 0; i < N; ++i) offsets[i] = ndim == 1 ? index * strides[0][i] : 0;
    if (ndim <= 1) return;
#pragma unroll 1  // here and elsewhere: unrolled, such loops are most of a kernel, and of the time to compile it
    for (int dim = 0; dim < ndim; ++dim) {
      const uint32_t rest = dim + 1 == ndim ? 0 : (__umulhi(index, multipliers[dim]) + index) >> shifts[dim];
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
  bool repeats[N] = {};        // the same element all along dimension 0
  FloatFormat format[N] = {};  // of an operand that the functor takes as float
};

template <typename T, int N>
__device__ T load(const Pointers<N>& pointers, int operand, uint32_t byte_offset) {
  if (pointers.is_number[operand]) return *reinterpret_cast<const T*>(&pointers.number[operand]);
  const char* source = pointers.data[operand] + byte_offset;
  if constexpr (std::is_same_v<T, float>) return load_float(source, pointers.format[operand]);
  else return *reinterpret_cast<const T*>(source);
}

template <typename T, uint32_t kSize>
struct alignas(sizeof(T) * kSize) Pack {
  T values[kSize];
};

// Neighbours from an element on. Only `count` of them exist; behind the last one, zeros.
template <typename T, uint32_t kSize, int N>
__device__ Pack<T, kSize> load_pack(const Pointers<N>& pointers, int operand, uint32_t byte_offset, uint32_t count) {
  Pack<T, kSize> pack;
  if (pointers.repeats[operand]) {
    const T number = load<T>(pointers, operand, byte_offset);
#pragma unroll
    for (uint32_t i = 0; i < kSize; ++i) pack.values[i] = number;
    return pack;
  }
  const char* source = pointers.data[operand] + byte_offset;
  if (count >= kSize) return *reinterpret_cast<const Pack<T, kSize>*>(source);
#pragma unroll
  for (uint32_t i = 0; i < kSize; ++i) pack.values[i] = i < count ? reinterpret_cast<const T*>(source)[i] : T{};
  return pack;
}

template <typename T, uint32_t kSize>
__device__ void store_pack(char* target, const Pack<T, kSize>& pack, uint32_t count) {
  if (count >= kSize) {
    *reinterpret_cast<Pack<T, kSize>*>(target) = pack;
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kSize; ++i) {
    if (i < count) reinterpret_cast<T*>(target)[i] = pack.values[i];
  }
}

// Up to eight neighbours of an operand of floats in packed_halves_loop: first what memory has, then numbers, of which
// the next four are in front. Operands of other types are read when they are needed.
struct FloatNeighbours {
  FloatWords loaded;
  float values[8];

  template <int N>
  __device__ void load_from(const Pointers<N>& pointers, int operand, uint32_t byte_offset, uint32_t size,
                            uint32_t count) {
    if (pointers.repeats[operand])
      loaded.words[0] = c10::detail::bits_of_float(load<float>(pointers, operand, byte_offset));
    else loaded = load_words(pointers.data[operand] + byte_offset, pointers.format[operand], size, count);
  }
  template <int N>
  __device__ void widen(const Pointers<N>& pointers, int operand) {
    if (!pointers.repeats[operand]) return widen_words(loaded, pointers.format[operand], values);
#pragma unroll
    for (float& value : values) value = c10::detail::float_of_bits(loaded.words[0]);
  }
  __device__ Pack<float, 4> take_four() {
    const Pack<float, 4> front{{values[0], values[1], values[2], values[3]}};
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = values[i + 4];
    return front;
  }
};

// Four of an operand's neighbours; of those that are no floats, the ones `done` elements behind `byte_offset`.
template <typename T, int N>
__device__ Pack<T, 4> take_four(FloatNeighbours& neighbours, const Pointers<N>& pointers, int operand,
                                uint32_t byte_offset, uint32_t done, uint32_t count) {
  if constexpr (std::is_same_v<T, float>) return neighbours.take_four();
  else return load_pack<T, 4>(pointers, operand, byte_offset + done * static_cast<uint32_t>(sizeof(T)), count);
}

}  // namespace at::native::cuda
