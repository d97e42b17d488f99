#pragma once
// How kernels are started: a grid that covers `n` elements with a grid-stride loop, on the current stream.

#include <c10/cuda/CUDAStream.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <cstdint>

namespace at::native::cuda {

constexpr int kThreads = 256;
constexpr int kWarp = 32;

inline unsigned grid_for(int64_t n, int threads = kThreads) {
  constexpr int64_t enough = 132 * 32;  // blocks that fill the largest device several times over
  return static_cast<unsigned>(std::min<int64_t>((n + threads - 1) / threads, enough));
}

// Of the current device.
inline int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  C10_CUDA_CHECK(cudaGetDevice(&device));
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// A block for each of `rows`; beyond a million, blocks take several.
inline unsigned grid_of_rows(int64_t rows) { return static_cast<unsigned>(std::min<int64_t>(rows, 1 << 20)); }

// kernel(arguments...) by every thread of `grid` blocks of `block` threads, on the current stream. The one place where
// kernels are started: without nvcc it is the emulation of src/test/cuda_emulation.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments&&... arguments) {
  const cudaStream_t stream = c10::cuda::current_stream();
#if defined(__CUDACC__)
  kernel<<<grid, block, 0, stream>>>(static_cast<Parameters>(arguments)...);
#else
  cuda_emulation::launch(kernel, grid, block, stream, static_cast<Parameters>(arguments)...);
#endif
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// The block's kBytes of shared memory, of a kernel that is started by launch_with_shared.
template <size_t kBytes>
__device__ void* dynamic_shared() {
#if defined(__CUDACC__)
  extern __shared__ __align__(16) unsigned char memory[];
#else
  alignas(16) __shared__ unsigned char memory[kBytes];
#endif
  return memory;
}

// launch(kernel, grid, block, arguments...) with `bytes` of shared memory beside the kernel's variables, also more than
// 48 KB.
template <typename... Parameters, typename... Arguments>
void launch_with_shared(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t bytes, Arguments&&... arguments) {
#if defined(__CUDACC__)
  C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  kernel<<<grid, block, bytes, c10::cuda::current_stream()>>>(static_cast<Parameters>(arguments)...);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
#else
  static_cast<void>(bytes);
  launch(kernel, grid, block, std::forward<Arguments>(arguments)...);
#endif
}

template <typename Body>
__global__ void __launch_bounds__(kThreads) for_each_index_kernel(int64_t n, Body body) {
  for (int64_t index = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; index < n;
       index += int64_t{blockDim.x} * gridDim.x) {
    body(index);
  }
}

// body(index) for every index below n, in any order; body is a __device__ lambda that captures by value.
template <typename Body>
void for_each_index(int64_t n, Body body) {
  if (n == 0) return;
  launch(for_each_index_kernel<Body>, grid_for(n), kThreads, n, body);
}

// The value of the thread `distance` lanes on; of a complex number, part by part.
template <typename T>
__device__ T shuffle_down(T value, int distance) {
  if constexpr (c10::is_complex_v<T>) {
    return {__shfl_down_sync(0xffffffff, value.real(), distance), __shfl_down_sync(0xffffffff, value.imag(), distance)};
  } else {
    return __shfl_down_sync(0xffffffff, value, distance);
  }
}

// Reduces `value` over the threads of a block with `combine`; the result is valid in thread 0.
// `shared` holds 32 values.
template <typename T, typename Combine>
__device__ T block_reduce(T value, T identity, Combine combine, T* shared) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value = combine(value, shuffle_down(value, offset));
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  __syncthreads();  // `shared` may still be read from an earlier reduction
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  const int warps = (blockDim.x + kWarp - 1) / kWarp;
  value = static_cast<int>(threadIdx.x) < warps ? shared[threadIdx.x] : identity;
  if (warp == 0) {
    for (int offset = kWarp / 2; offset > 0; offset /= 2) value = combine(value, shuffle_down(value, offset));
  }
  return value;
}

}  // namespace at::native::cuda
