#include <c10/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/AcceleratorError.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace c10::cuda {

namespace {

thread_local const char* current_operator = nullptr;

bool launches_block() {
  const char* given = std::getenv("CUDA_LAUNCH_BLOCKING");
  return given != nullptr && std::string_view(given) == "1";
}

}  // namespace

OperatorScope::OperatorScope(const char* name) : outer_(std::exchange(current_operator, name)) {}
OperatorScope::~OperatorScope() { current_operator = outer_; }

void throw_cuda_error(cudaError_t error, const char* expression, const char* file, int line) {
  cudaGetLastError();
  std::string message = detail::concatenate("CUDA error: ", cudaGetErrorString(error), " (", cudaGetErrorName(error),
                                            " from ", expression, " at ", file, ":", line, ")");
  if (current_operator) message += detail::concatenate("\nin the operator ", current_operator);
  if (error == cudaErrorMemoryAllocation) throw OutOfMemoryError(message);
  if (!launches_block()) {
    message +=
        "\nKernels run asynchronously: an earlier operator may be the cause, and this stack not the one that "
        "started it; CUDA_LAUNCH_BLOCKING=1 shows which.";
  }
  throw AcceleratorError(message, static_cast<int>(error));
}

namespace {

constexpr int kMaximumDevices = 64;
constexpr int kStreamsPerDevice = 32;

thread_local std::array<cudaStream_t, kMaximumDevices> current_streams{};  // null: the legacy default stream

struct StreamPool {
  std::mutex mutex;
  std::vector<cudaStream_t> streams;
  size_t next = 0;
};

StreamPool& stream_pool(DeviceIndex device, bool urgent) {
  // Never destroyed: streams must outlive static destructors that still free memory on them.
  static auto* pools = new std::array<std::array<StreamPool, 2>, kMaximumDevices>();
  return (*pools)[static_cast<size_t>(device)][urgent];
}

DeviceIndex checked(DeviceIndex device) {
  if (device < 0) device = current_device();
  TORCH_CHECK(device < kMaximumDevices, "CUDA device ", int{device}, " is beyond the ", kMaximumDevices, " supported");
  return device;
}

}  // namespace

DeviceIndex current_device() {
  int device = 0;
  C10_CUDA_CHECK(cudaGetDevice(&device));
  return static_cast<DeviceIndex>(device);
}

void set_device(DeviceIndex index) { C10_CUDA_CHECK(cudaSetDevice(index)); }

int device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

cudaStream_t current_stream(DeviceIndex device) { return current_streams[static_cast<size_t>(checked(device))]; }

void set_current_stream(cudaStream_t stream, DeviceIndex device) {
  current_streams[static_cast<size_t>(checked(device))] = stream;
}

cudaStream_t stream_from_pool(DeviceIndex device, int priority) {
  device = checked(device);
  StreamPool& pool = stream_pool(device, priority < 0);
  const std::lock_guard<std::mutex> lock(pool.mutex);
  if (pool.streams.size() < kStreamsPerDevice) {
    const DeviceIndex previous = current_device();
    set_device(device);
    cudaStream_t stream = nullptr;
    // Streams of the pool do not wait for the legacy default stream.
    C10_CUDA_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority < 0 ? -1 : 0));
    set_device(previous);
    pool.streams.push_back(stream);
    return stream;
  }
  return pool.streams[pool.next++ % kStreamsPerDevice];
}

bool has_finished(cudaStream_t stream) {
  const cudaError_t error = cudaStreamQuery(stream);
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  C10_CUDA_CHECK(error);
  return true;
}

void synchronize(DeviceIndex device) {
  const DeviceIndex previous = current_device();
  if (device >= 0 && device != previous) set_device(device);
  const cudaError_t error = cudaDeviceSynchronize();
  if (device >= 0 && device != previous) set_device(previous);
  C10_CUDA_CHECK(error);
}

Event::Event(bool timing) {
  C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, timing ? cudaEventDefault : cudaEventDisableTiming));
}
Event::~Event() { cudaEventDestroy(event_); }
void Event::record(cudaStream_t stream) { C10_CUDA_CHECK(cudaEventRecord(event_, stream)); }
void Event::wait(cudaStream_t stream) const { C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0)); }
void Event::synchronize() const { C10_CUDA_CHECK(cudaEventSynchronize(event_)); }

bool Event::query() const {
  // Other threads look at events while one records a graph: what watches torch.distributed's calls does all the time.
  const RelaxedCapture relaxed;
  const cudaError_t error = cudaEventQuery(event_);
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  C10_CUDA_CHECK(error);
  return true;
}

float Event::elapsed_since(const Event& start) const {
  float milliseconds = 0;
  C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
  return milliseconds;
}

}  // namespace c10::cuda
