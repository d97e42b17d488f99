#pragma once
// The language of kernels for the host's compiler: every .cu file is compiled with this header in front
// (`-include cuda_emulation.h`). One host thread, the executor, runs all kernels;
// the threads of a block are fibers on it.

#include <cuda_runtime_api.h>

#include <math.h>
#include <string.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
// Blocks run one after another, and nothing else of this library runs on the executor: its thread-local storage is the
// shared memory of the block.
#define __shared__ static thread_local

struct uint3 {
  unsigned x, y, z;
};

namespace cuda_emulation {

struct Identity {
  uint3 thread;
  uint3 block;
  dim3 block_size;
  dim3 grid_size;
};

extern Identity* self;  // of the thread that runs now

[[noreturn]] void fail_assertion(const char* condition, const char* file, int line);
void wait_for_block();
// Hands `value` (up to 16 bytes) to the lanes of `mask`, and returns when all of them have come.
// `slots` is then what each handed over.
struct Lanes {
  unsigned char slots[32][16];
};
void meet_lanes(unsigned mask, const void* value, size_t bytes, Lanes& lanes);
int own_lane();

struct Launch {
  dim3 grid;
  dim3 block;
  void (*run)(const void* arguments);  // one thread's work
  std::shared_ptr<const void> arguments;
  size_t arguments_bytes;
  const void* code;  // where the kernel is, to find its library
  const char* name;
};
void enqueue_kernel(cudaStream_t stream, Launch launch);
// Work of a library (CUB, cuBLAS) that is no kernel of ours; runs in the stream's order.
void enqueue_work(cudaStream_t stream, std::function<void()> work);

template <typename... Parameters>
constexpr const char* describe_kernel() {
  return __PRETTY_FUNCTION__;
}

// A copy of `bytes`, which nobody has to destroy.
std::shared_ptr<const void> keep_copy(const void* source, size_t bytes, size_t alignment);

template <typename... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
            std::common_type_t<Parameters>... arguments) {
  const auto call = [kernel, arguments...] { kernel(arguments...); };
  using Call = decltype(call);
  static_assert(std::is_trivially_copyable_v<Call>, "a device gets the bytes of a kernel's arguments");
  const auto run = [](const void* memory) { (*static_cast<Call*>(memory))(); };
  enqueue_kernel(stream, {grid, block, run, keep_copy(&call, sizeof call, alignof(Call)), sizeof call,
                          reinterpret_cast<const void*>(kernel), describe_kernel<Parameters...>()});
}

// The same with arguments at `places`, as the driver takes them.
template <typename... Parameters, size_t... Index>
void launch_with_places(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                        [[maybe_unused]] void** places, std::index_sequence<Index...>) {
  launch(kernel, grid, block, stream, *static_cast<std::remove_const_t<Parameters>*>(places[Index])...);
}
template <typename... Parameters>
void launch_with_places(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, void** places) {
  launch_with_places(kernel, grid, block, stream, places, std::index_sequence_for<Parameters...>());
}

}  // namespace cuda_emulation

#define threadIdx (::cuda_emulation::self->thread)
#define blockIdx (::cuda_emulation::self->block)
#define blockDim (::cuda_emulation::self->block_size)
#define gridDim (::cuda_emulation::self->grid_size)

inline void __syncthreads() { ::cuda_emulation::wait_for_block(); }
inline void __threadfence() {}

template <typename T, typename Source>
T emulated_shuffle(unsigned mask, T value, Source source) {
  static_assert(sizeof(T) <= 16 && std::is_trivially_copyable_v<T>);
  ::cuda_emulation::Lanes lanes;
  ::cuda_emulation::meet_lanes(mask, &value, sizeof(T), lanes);
  const int lane = ::cuda_emulation::own_lane();
  int from = source(lane);
  if (from < 0 || from > 31) from = lane;  // out of the warp: one's own
  T result;
  memcpy(&result, lanes.slots[from], sizeof(T));
  return result;
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int lane) {
  return emulated_shuffle(mask, value, [=](int) { return lane & 31; });
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta) {
  return emulated_shuffle(mask, value, [=](int lane) { return lane + static_cast<int>(delta); });
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta) {
  return emulated_shuffle(mask, value, [=](int lane) { return lane - static_cast<int>(delta); });
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return emulated_shuffle(mask, value, [=](int lane) { return lane ^ lanes; });
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  ::cuda_emulation::Lanes lanes;
  const unsigned char vote = predicate != 0;
  ::cuda_emulation::meet_lanes(mask, &vote, 1, lanes);
  unsigned result = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (mask >> lane & 1 && lanes.slots[lane][0]) result |= 1u << lane;
  }
  return result;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == mask; }
inline void __syncwarp(unsigned mask = 0xffffffff) { __ballot_sync(mask, 0); }

// Atomics: a fiber gives way only between accesses, never inside of these.
#define EMULATED_ATOMIC __attribute__((no_sanitize("thread"))) inline
template <typename T>
EMULATED_ATOMIC T atomicAdd(T* place, T value) {
  const T old = *place;
  *place = old + value;
  return old;
}
template <typename T>
EMULATED_ATOMIC T atomicCAS(T* place, T expected, T value) {
  const T old = *place;
  if (old == expected) *place = value;
  return old;
}
template <typename T>
EMULATED_ATOMIC T atomicExch(T* place, T value) {
  const T old = *place;
  *place = value;
  return old;
}
template <typename T>
EMULATED_ATOMIC T atomicMax(T* place, T value) {
  const T old = *place;
  if (old < value) *place = value;
  return old;
}
template <typename T>
EMULATED_ATOMIC T atomicMin(T* place, T value) {
  const T old = *place;
  if (value < old) *place = value;
  return old;
}

inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>((uint64_t{a} * b) >> 32); }
inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
inline float __logf(float x) { return logf(x); }
inline float __expf(float x) { return expf(x); }
inline float __tanf(float x) { return tanf(x); }
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sin(x * 3.14159265358979323846);
  *cosine = cos(x * 3.14159265358979323846);
}
template <typename T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}
