#include <c10/core/Backend.h>
#include <c10/cuda/CUDABackend.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGenerator.h>
#include <c10/cuda/CUDAStream.h>

namespace c10::cuda {

namespace {

class CUDABackend final : public Backend {
 public:
  Allocator* allocator() override { return caching_allocator(); }
  int device_count() override { return cuda::device_count(); }
  DeviceIndex current_device() override { return cuda::current_device(); }
  void set_device(DeviceIndex index) override { cuda::set_device(index); }
  void synchronize(DeviceIndex index) override { cuda::synchronize(index); }
  intrusive_ptr<GeneratorImpl> default_generator(DeviceIndex index) override { return cuda::default_generator(index); }
  intrusive_ptr<GeneratorImpl> new_generator(DeviceIndex index) override {
    return make_intrusive<CUDAGenerator>(index < 0 ? cuda::current_device() : index);
  }
  DeviceFacts device_facts(DeviceIndex index) override {
    cudaDeviceProp properties;
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
    return {properties.name, properties.major, properties.minor, static_cast<int64_t>(properties.totalGlobalMem)};
  }
  DeviceMemory device_memory(DeviceIndex index) override {
    const MemoryStatistics statistics = memory_statistics(index);
    return {statistics.allocated, statistics.reserved, statistics.peak_allocated, statistics.peak_reserved};
  }
  void reset_peak_memory(DeviceIndex index) override { reset_peak_statistics(index); }
  void empty_cache() override { cuda::empty_cache(); }
};

}  // namespace

const char* register_cuda_backend() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    switch (error) {
      case cudaErrorNoDevice:
        return "no NVIDIA driver or device was found on this machine";
      case cudaErrorInsufficientDriver:
        return "the NVIDIA driver is missing, or older than this build of the CUDA plug-in needs";
      default:
        return cudaGetErrorString(error);
    }
  }
  if (count == 0) return "the NVIDIA driver reports no devices (is CUDA_VISIBLE_DEVICES empty?)";
  static auto* backend = new CUDABackend();
  c10::register_backend(kCUDA, backend);
  return nullptr;
}

}  // namespace c10::cuda
