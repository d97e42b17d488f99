#include <c10/core/Backend.h>
#include <c10/cuda/CUDABackend.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGenerator.h>
#include <c10/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAPinnedMemory.h>
#include <c10/cuda/CUDAStream.h>

namespace c10::cuda {

namespace {

class CUDAEvent final : public DeviceEvent {
 public:
  explicit CUDAEvent(bool timing) : event_(timing) {}
  void record(StreamHandle stream) override { event_.record(static_cast<cudaStream_t>(stream)); }
  void wait(StreamHandle stream) const override { event_.wait(static_cast<cudaStream_t>(stream)); }
  bool query() const override { return event_.query(); }
  void synchronize() const override { event_.synchronize(); }
  float elapsed_since(const DeviceEvent& start) const override {
    return event_.elapsed_since(static_cast<const CUDAEvent&>(start).event_);
  }

 private:
  Event event_;
};

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
  MemoryNumbers memory_numbers(DeviceIndex index) override {
    return index < 0 ? pinned_memory_numbers() : cuda::memory_numbers(index);
  }
  void reset_memory_numbers(DeviceIndex index, bool totals) override {
    index < 0 ? reset_pinned_memory_numbers(totals) : cuda::reset_memory_numbers(index, totals);
  }
  std::vector<MemorySegment> memory_segments() override { return cuda::memory_segments(); }
  void limit_memory(DeviceIndex index, double fraction) override { cuda::limit_memory(index, fraction); }
  double memory_limit(DeviceIndex index) override { return cuda::memory_limit(index); }
  void empty_cache() override { cuda::empty_cache(); }
  std::pair<int64_t, int64_t> free_and_total_memory(DeviceIndex index) override {
    const DeviceGuard guard(Device(kCUDA, index));
    size_t free_bytes = 0, total_bytes = 0;
    C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    return {static_cast<int64_t>(free_bytes), static_cast<int64_t>(total_bytes)};
  }

  StreamHandle current_stream(DeviceIndex index) override { return cuda::current_stream(index); }
  void set_current_stream(StreamHandle stream, DeviceIndex index) override {
    cuda::set_current_stream(static_cast<cudaStream_t>(stream), index);
  }
  StreamHandle new_stream(DeviceIndex index, int priority) override { return stream_from_pool(index, priority); }
  void synchronize_stream(StreamHandle stream) override {
    C10_CUDA_CHECK(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  }
  bool query_stream(StreamHandle stream) override { return has_finished(static_cast<cudaStream_t>(stream)); }
  std::unique_ptr<DeviceEvent> new_event(bool timing) override { return std::make_unique<CUDAEvent>(timing); }
  void record_stream(void* data, StreamHandle stream) override {
    cuda::record_stream(data, static_cast<cudaStream_t>(stream));
  }

  Allocator* pinned_allocator() override { return cuda::pinned_allocator(); }
  bool is_pinned(const void* data) override { return cuda::is_pinned(data); }

  MemoryPool new_memory_pool() override {
    const MemoryPool pool = new_pool();
    hold_pool(pool);
    return pool;
  }
  void enter_memory_pool(DeviceIndex index, MemoryPool pool) override { redirect(index, pool); }
  void leave_memory_pool(DeviceIndex index) override { end_redirect(index); }
  void release_memory_pool(MemoryPool pool) override { release_pool(pool); }
  std::unique_ptr<DeviceGraph> new_graph() override { return cuda::new_graph(); }
  bool is_capturing() override { return cuda::is_capturing(); }
  bool can_access_peer(DeviceIndex index, DeviceIndex peer) override {
    int can = 0;
    C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, index, peer));
    return can != 0;
  }
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
