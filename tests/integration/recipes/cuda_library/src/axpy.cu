#include <cuda_runtime.h>

#include "axpy.hpp"

namespace {
__global__ void add(float a, const float* x, float* y, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) y[i] += a * x[i];
}
}  // namespace

/// Whether there was a device, and it did all of it.
bool axpy_on_device(float a, const float* x, float* y, std::size_t count) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return false;
  const std::size_t size = count * sizeof(float);
  float *on_device_x = nullptr, *on_device_y = nullptr;
  bool done = cudaMalloc(&on_device_x, size) == cudaSuccess && cudaMalloc(&on_device_y, size) == cudaSuccess &&
              cudaMemcpy(on_device_x, x, size, cudaMemcpyHostToDevice) == cudaSuccess &&
              cudaMemcpy(on_device_y, y, size, cudaMemcpyHostToDevice) == cudaSuccess;
  if (done && count > 0) {
    add<<<static_cast<unsigned>((count + 255) / 256), 256>>>(a, on_device_x, on_device_y, count);
    done = cudaGetLastError() == cudaSuccess &&
           cudaMemcpy(y, on_device_y, size, cudaMemcpyDeviceToHost) == cudaSuccess;
  }
  cudaFree(on_device_x);
  cudaFree(on_device_y);
  return done;
}
