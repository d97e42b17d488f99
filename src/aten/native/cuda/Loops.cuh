#pragma once
// Element-wise kernels over a TensorIterator: gpu_kernel(iter, functor), where functor is a struct with a __device__
// `R operator()(A...) const`: R is the output's type, A... are the inputs' types; or with `void operator()(R& out,
// A...) const` when it changes some outputs only.
//
// Numbers that live in host memory (the 2 of `x + 2`) travel as kernel arguments instead of being copied to the device.
// Operands that a functor takes as float may be float16 or bfloat16 in memory.

#include <aten/Dispatch.h>
#include <aten/TensorIterator.h>
#include <aten/native/cuda/Operands.cuh>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace at::native::cuda {

template <typename Functor, int N, size_t... I>
__device__ void apply(const Functor& functor, const Pointers<N>& pointers, const uint32_t (&offsets)[N],
                      std::index_sequence<I...>) {
  using R = typename Signature<Functor>::Result;
  using Arguments = typename Signature<Functor>::Arguments;
  char* target = pointers.data[0] + offsets[0];
  if constexpr (Signature<Functor>::updates) {
    static_assert(!Signature<Functor>::has_floats, "what is changed in place is not rounded");
    functor(*reinterpret_cast<R*>(target),
            load<std::tuple_element_t<I, Arguments>>(pointers, I + 1, offsets[I + 1])...);
  } else {
    const R result = functor(load<std::tuple_element_t<I, Arguments>>(pointers, I + 1, offsets[I + 1])...);
    if constexpr (std::is_same_v<R, float>) store_float(target, result, pointers.format[0]);
    else *reinterpret_cast<R*>(target) = result;
  }
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

template <typename Functor, typename R, uint32_t kSize, typename... A>
__device__ void compute_pack(const Functor& functor, Pack<R, kSize>& out, const Pack<A, kSize>&... in) {
#pragma unroll
  for (uint32_t i = 0; i < kSize; ++i) {
    if constexpr (Signature<Functor>::updates) functor(out.values[i], in.values[i]...);
    else out.values[i] = functor(in.values[i]...);
  }
}

template <typename Functor, int N, size_t... I>
__device__ void apply_to_pack(const Functor& functor, const Pointers<N>& pointers, const uint32_t (&offsets)[N],
                              uint32_t count, std::index_sequence<I...>) {
  using R = typename Signature<Functor>::Result;
  using Arguments = typename Signature<Functor>::Arguments;
  constexpr uint32_t kSize = kPackSize<Functor>;
  Pack<R, kSize> out;
  if constexpr (Signature<Functor>::updates) out = load_pack<R, kSize>(pointers, 0, offsets[0], count);
  compute_pack(functor, out,
               load_pack<std::tuple_element_t<I, Arguments>, kSize>(pointers, I + 1, offsets[I + 1], count)...);
  store_pack(pointers.data[0] + offsets[0], out, count);
}

// Operands whose fastest dimension has no gaps, or one element that repeats; each aligned to its packs, of which rows
// are whole numbers, if there are several.
template <typename Functor, int N>
__global__ void __launch_bounds__(kThreads)
    packed_loop(uint32_t n, uint32_t packs, Functor functor, Pointers<N> pointers, Offsets<N> where) {
  for (uint32_t pack = blockIdx.x * blockDim.x + threadIdx.x; pack < packs; pack += blockDim.x * gridDim.x) {
    const uint32_t first = pack * kPackSize<Functor>;
    uint32_t offsets[N];
    where.get(first, offsets);
    apply_to_pack(functor, pointers, offsets, n - first, std::make_index_sequence<N - 1>());
  }
}

template <typename Functor, int N, size_t... I>
__device__ void apply_to_halves(const Functor& functor, const Pointers<N>& pointers, uint32_t (&offsets)[N],
                                uint32_t size, uint32_t count, std::index_sequence<I...>) {
  using R = typename Signature<Functor>::Result;
  using Arguments = typename Signature<Functor>::Arguments;
  FloatNeighbours in[N];
  const auto load_if_float = [&](auto zero, int operand) {
    if constexpr (std::is_same_v<decltype(zero), float>)
      in[operand].load_from(pointers, operand, offsets[operand], size, count);
  };
  const auto widen_if_float = [&](auto zero, int operand) {
    if constexpr (std::is_same_v<decltype(zero), float>) in[operand].widen(pointers, operand);
  };
  (load_if_float(std::tuple_element_t<I, Arguments>{}, I + 1), ...);  // all are on their way before one is waited for
  (widen_if_float(std::tuple_element_t<I, Arguments>{}, I + 1), ...);
  [[maybe_unused]] float results[8];
#pragma unroll 1
  for (uint32_t done = 0; done < size; done += 4) {
    const uint32_t left = count > done ? count - done : 0;
    Pack<R, 4> out;
    compute_pack(functor, out,
                 take_four<std::tuple_element_t<I, Arguments>>(in[I + 1], pointers, I + 1, offsets[I + 1], done,
                                                               left)...);
    if constexpr (std::is_same_v<R, float>) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (done == 0) results[i] = out.values[i];
        else results[i + 4] = out.values[i];
      }
    } else {
      store_pack(pointers.data[0] + offsets[0] + done * sizeof(R), out, left);
    }
  }
  if constexpr (std::is_same_v<R, float>)
    store_words(pointers.data[0] + offsets[0], results, pointers.format[0], size, count);
}

// packed_loop where float stands for formats of 16 bits, too. `size` is the number of neighbours that a thread computes
// together: eight where all of them have 16 bits, else four.
template <typename Functor, int N>
__global__ void __launch_bounds__(kThreads) packed_halves_loop(uint32_t n, uint32_t packs, uint32_t size,
                                                               Functor functor, Pointers<N> pointers,
                                                               Offsets<N> where) {
  for (uint32_t pack = blockIdx.x * blockDim.x + threadIdx.x; pack < packs; pack += blockDim.x * gridDim.x) {
    const uint32_t first = pack * size;
    uint32_t offsets[N];
    where.get(first, offsets);
    apply_to_halves(functor, pointers, offsets, size, n - first, std::make_index_sequence<N - 1>());
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

// Whether operands lie as packed_loop has them, in packs of `size`.
template <int N>
bool is_packed(const TensorIterator& iter, const Pointers<N>& pointers, uint32_t size) {
  if (iter.ndim() > 1 && iter.shape()[0] % size != 0) return false;
  for (int i = 0; i < N; ++i) {
    if (pointers.repeats[i] && i > 0) continue;
    const int64_t bytes = std::min<int64_t>(16, size_in_memory(iter, i) * size);
    if (iter.ndim() > 0 && iter.strides(i)[0] != size_in_memory(iter, i)) return false;
    if (reinterpret_cast<uintptr_t>(pointers.data[i]) % bytes != 0) return false;
    for (int dim = 1; dim < iter.ndim(); ++dim) {
      if (iter.strides(i)[dim] % bytes != 0) return false;
    }
  }
  return true;
}

// Fills in the formats of the operands that are floats to the functor; whether one has 16 bits.
template <typename Functor, int N, size_t... I>
bool read_formats(const TensorIterator& iter, Pointers<N>& pointers, std::index_sequence<I...>) {
  bool has_halves = false;
  const auto read = [&](auto zero, int operand) {
    if constexpr (std::is_same_v<decltype(zero), float>) {
      pointers.format[operand] = format_of(dtype_in_memory(iter, operand));
      has_halves |= pointers.format[operand] != FloatFormat::float32;
    }
  };
  read(typename Signature<Functor>::Result{}, 0);
  (read(std::tuple_element_t<I, typename Signature<Functor>::Arguments>{}, I + 1), ...);
  return has_halves;
}

// Eight if all floats that do not repeat have 16 bits, else four.
template <typename Functor, int N, size_t... I>
uint32_t halves_at_once(const Pointers<N>& pointers, std::index_sequence<I...>) {
  const auto is_wide = [&](auto zero, int operand) {
    return std::is_same_v<decltype(zero), float> && pointers.format[operand] == FloatFormat::float32 &&
           !pointers.repeats[operand];
  };
  const bool any_wide = is_wide(typename Signature<Functor>::Result{}, 0) ||
                        (is_wide(std::tuple_element_t<I, typename Signature<Functor>::Arguments>{}, I + 1) || ...);
  return any_wide ? 4 : 8;
}

template <bool kHasPackedLoop, typename Functor>
void run_gpu_kernel(const TensorIterator& whole, const Functor& functor) {
  constexpr int N = Signature<Functor>::arity + 1;
  constexpr auto inputs = std::make_index_sequence<N - 1>();
  TORCH_INTERNAL_ASSERT(whole.noperands() == N);
  if (whole.numel() == 0) return;
  whole.with_32bit_indexing([&](const TensorIterator& iter) {
    Pointers<N> pointers;
    for (int i = 0; i < N; ++i) pointers.data[i] = iter.data(i);
    read_numbers<Functor>(iter, pointers, inputs);
    for (int i = 0; i < N; ++i)
      pointers.repeats[i] = pointers.is_number[i] || (iter.ndim() > 0 && iter.strides(i)[0] == 0);
    const bool has_halves = read_formats<Functor>(iter, pointers, inputs);
    const auto n = static_cast<uint32_t>(iter.numel());
    const Offsets<N> where(iter);
    if constexpr (kHasPackedLoop) {
      if (!has_halves && is_packed(iter, pointers, kPackSize<Functor>)) {
        const uint32_t packs = (n - 1) / kPackSize<Functor> + 1;
        return launch(packed_loop<Functor, N>, grid_for(packs), kThreads, n, packs, functor, pointers, where);
      }
      if constexpr (Signature<Functor>::has_floats) {
        const uint32_t size = halves_at_once<Functor>(pointers, inputs);
        if (has_halves && is_packed(iter, pointers, size)) {
          const uint32_t packs = (n - 1) / size + 1;
          return launch(packed_halves_loop<Functor, N>, grid_for(packs), kThreads, n, packs, size, functor, pointers,
                        where);
        }
      }
    }
    launch(strided_loop<Functor, N>, grid_for(n), kThreads, n, functor, pointers, where);
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
