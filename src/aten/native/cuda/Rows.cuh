#pragma once
// What kernels over whole rows share: neighbours that memory moves at once, float16 and bfloat16 read as they are, and
// a team of threads for each row, which keeps it in registers where it fits.

#include <aten/Dispatch.h>
#include <aten/Tensor.h>
#include <aten/native/cuda/Launch.cuh>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>

namespace at::native::cuda {

namespace {

// The type that elements are computed in.
template <typename T>
using ComputedOf = std::conditional_t<c10::is_reduced_floating_v<T>, float, T>;

// By the device's own instruction for halves: c10's formula is for hosts.
template <typename T>
__device__ ComputedOf<T> widen(T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, c10::Half>) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
  }
#endif
  return static_cast<ComputedOf<T>>(value);
}
template <typename T>
__device__ T narrow_to(ComputedOf<T> value) {
#if defined(__CUDA_ARCH__)
  T result;
  if constexpr (std::is_same_v<T, c10::Half>) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  } else if constexpr (std::is_same_v<T, c10::BFloat16>) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  }
#endif
  return static_cast<T>(value);
}

// Elements that lie side by side, moved at most 16 bytes at once.
template <typename T, int kSize>
struct alignas(sizeof(T) * kSize < 16 ? sizeof(T) * kSize : 16) Neighbours {
  T values[kSize];
};

template <int kSize, typename T>
__device__ Neighbours<T, kSize> read_neighbours(const T* from) {
  return *reinterpret_cast<const Neighbours<T, kSize>*>(from);
}
template <int kSize, typename T>
__device__ void write_neighbours(T* to, const Neighbours<T, kSize>& neighbours) {
  *reinterpret_cast<Neighbours<T, kSize>*>(to) = neighbours;
}

template <typename T>
constexpr int kWholeSize = 16 / sizeof(T);  // elements of 16 bytes

inline bool is_at_16_bytes(std::initializer_list<const void*> places) {
  return std::all_of(places.begin(), places.end(),
                     [](const void* place) { return reinterpret_cast<uintptr_t>(place) % 16 == 0; });
}

// a / b, by the short division where both fit 32 bits, which is the same for all threads.
__device__ inline int64_t quotient(int64_t a, int64_t b, bool is_short) {
  return is_short ? static_cast<uint32_t>(a) / static_cast<uint32_t>(b) : a / b;
}
inline bool fits_32_bits(int64_t count) { return count <= std::numeric_limits<uint32_t>::max(); }

// ------------------------------------------------------------------------------------------------------------- teams
//
// A team is the threads of a block with one threadIdx.y: a power of two of them. All teams of a block do the same
// number of steps, so that they may wait for each other.

// A block of teams of so many threads that each has at most `each` of a row's `packs`, unless these are too many.
inline dim3 block_of_teams(int64_t packs, int each) {
  unsigned team = 4;
  while (team < kWarp && team < packs) team *= 2;
  while (team < kThreads && int64_t{team} * each < packs) team *= 2;
  return dim3(team, kThreads / team);
}

inline unsigned grid_of_teams(int64_t rows, dim3 block) { return grid_of_rows((rows + block.y - 1) / block.y); }

// `value` over the threads of a team, the same for each of them; combine is commutative. `shared` holds a value for
// each warp of the block.
template <typename T, typename Combine>
__device__ T combine_team(T value, Combine combine, T* shared) {
  const int team = blockDim.x;
  for (int offset = (team < kWarp ? team : kWarp) / 2; offset > 0; offset /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffff, value, offset));
  if (team <= kWarp) return value;
  const int warps = team / kWarp;
  T* own = shared + threadIdx.y * warps;
  __syncthreads();  // they may still be read
  if (threadIdx.x % kWarp == 0) own[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = own[0];
  for (int warp = 1; warp < warps; ++warp) value = combine(value, own[warp]);
  return value;
}

template <typename A>
__device__ A add_team(A value, A* shared) {
  return combine_team(value, [](A a, A b) { return a + b; }, shared);
}

// The part of a row that a thread of its team has: in registers if kPacks > 0, else read each time.
template <typename T, int kSize, int kPacks>
class RowPart {
 public:
  using Pack = Neighbours<T, kSize>;

  // `packs` of the row; 0 where there is no row.
  __device__ RowPart(const T* row, int64_t packs) : row_(row), packs_(packs) {
    if constexpr (kPacks > 0) {
#pragma unroll
      for (int i = 0; i < kPacks; ++i) {
        if (number(i) < packs_) held_[i] = read_neighbours<kSize>(row_ + number(i) * kSize);
      }
    }
  }

  // body(first element, pack) for each pack of this thread; those of parts of the same row are the same.
  template <typename Body>
  __device__ void for_each(Body&& body) const {
    if constexpr (kPacks > 0) {
#pragma unroll
      for (int i = 0; i < kPacks; ++i) {
        if (number(i) < packs_) body(int64_t{number(i)} * kSize, held_[i]);
      }
    } else {
      for (int64_t i = threadIdx.x; i < packs_; i += blockDim.x)
        body(i * kSize, read_neighbours<kSize>(row_ + i * kSize));
    }
  }
  // body(first element, pack, the other's pack)
  template <typename Body>
  __device__ void for_each_with(const RowPart& other, Body&& body) const {
    if constexpr (kPacks > 0) {
#pragma unroll
      for (int i = 0; i < kPacks; ++i) {
        if (number(i) < packs_) body(int64_t{number(i)} * kSize, held_[i], other.held_[i]);
      }
    } else {
      for (int64_t i = threadIdx.x; i < packs_; i += blockDim.x)
        body(i * kSize, read_neighbours<kSize>(row_ + i * kSize), read_neighbours<kSize>(other.row_ + i * kSize));
    }
  }

 private:
  __device__ static int number(int i) { return static_cast<int>(threadIdx.x + i * blockDim.x); }

  const T* row_;
  int64_t packs_;
  Pack held_[kPacks > 0 ? kPacks : 1];
};

// The same, widened. Where they are held, body(first element, values) may change them.
template <typename T, int kSize, int kPacks>
class WidePart {
 public:
  using A = ComputedOf<T>;

  __device__ WidePart(const T* row, int64_t packs) : row_(row), packs_(packs) {
    if constexpr (kPacks > 0) {
#pragma unroll
      for (int i = 0; i < kPacks; ++i) {
        const int64_t number = threadIdx.x + i * int64_t{blockDim.x};
        if (number < packs_) widen_pack(read_neighbours<kSize>(row_ + number * kSize), held_[i]);
      }
    }
  }

  template <typename Body>
  __device__ void for_each(Body&& body) {
    if constexpr (kPacks > 0) {
#pragma unroll
      for (int i = 0; i < kPacks; ++i) {
        const int64_t number = threadIdx.x + i * int64_t{blockDim.x};
        if (number < packs_) body(number * kSize, held_[i]);
      }
    } else {
      for (int64_t i = threadIdx.x; i < packs_; i += blockDim.x) {
        A values[kSize];
        widen_pack(read_neighbours<kSize>(row_ + i * kSize), values);
        body(i * kSize, values);
      }
    }
  }

 private:
  __device__ static void widen_pack(const Neighbours<T, kSize>& pack, A (&values)[kSize]) {
#pragma unroll
    for (int j = 0; j < kSize; ++j) values[j] = widen(pack.values[j]);
  }

  const T* row_;
  int64_t packs_;
  A held_[kPacks > 0 ? kPacks : 1][kSize];
};

// Packs of a row that a thread has at most where it holds them, 32 numbers of a short type; doubles are not held.
template <typename T>
constexpr int kPacksOfThread = c10::is_reduced_floating_v<T> ? 4 : 8;

// How kernels take rows: start(pack size, packs that are held), the sizes as integral constants.
template <typename T, typename Start>
void choose_row_parts(int64_t width, bool is_aligned, Start&& start) {
  constexpr int kSize = kWholeSize<T>;
  using Single = std::integral_constant<int, 1>;
  using Whole = std::integral_constant<int, kSize>;
  using Streamed = std::integral_constant<int, 0>;
  if (!is_aligned || width % kSize != 0) return start(Single(), Streamed());
  if constexpr (!std::is_same_v<T, double>) {
    if (width / kSize <= int64_t{kThreads} * kPacksOfThread<T>)
      return start(Whole(), std::integral_constant<int, kPacksOfThread<T>>());
  }
  start(Whole(), Streamed());
}

// The types that tensors of rows have; what is computed in is ComputedOf<T>.
template <typename Body>
void dispatch_row_types(c10::ScalarType dtype, const char* name, Body&& body) {
  if (dtype == kHalf) body(TypeTag<c10::Half>());
  else if (dtype == kBFloat16) body(TypeTag<c10::BFloat16>());
  else dispatch_floating_types(dtype, name, body);
}

template <typename T>
const T* elements_of(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

}  // namespace

}  // namespace at::native::cuda
