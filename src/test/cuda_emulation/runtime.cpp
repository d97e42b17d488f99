// Devices, memory and messages of the runtime's interface.

#include "graphs.h"
#include "grid.h"
#include "memory.h"
#include "queue.h"

#include <cuda_emulation.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

using namespace cuda_emulation;

namespace {

// Nothing outside of the tests is to take this for a device.
bool is_asked_for() {
  const char* given = std::getenv("CUDA_EMULATION");
  return given && given[0] == '1';
}

bool is_device(int device) { return device >= 0 && device < device_count(); }

cudaError_t refuse_memory(const char* what, const void* data, size_t bytes) {
  std::fprintf(stderr, "CUDA emulation: %s: %zu bytes at %p are not device memory\n", what, bytes, data);
  return cudaErrorInvalidValue;
}

cudaError_t check_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (to_device && !is_device_memory(to, bytes, -1)) return refuse_memory("copy to", to, bytes);
  if (from_device && !is_device_memory(from, bytes, -1)) return refuse_memory("copy from", from, bytes);
  if ((!to_device && is_device_memory(to, 1, -1)) || (!from_device && is_device_memory(from, 1, -1))) {
    std::fprintf(stderr, "CUDA emulation: a copy takes device memory for the host's\n");
    return cudaErrorInvalidMemcpyDirection;
  }
  return cudaSuccess;
}

}  // namespace

namespace cuda_emulation {

std::shared_ptr<const void> keep_copy(const void* source, size_t bytes, size_t alignment) {
  const std::align_val_t aligned{alignment};
  void* copy = ::operator new(bytes, aligned);
  std::memcpy(copy, source, bytes);
  return {copy, [aligned](void* memory) { ::operator delete(memory, aligned); }};
}

void enqueue_kernel(cudaStream_t stream, Launch launch) {
  const auto none = [](const dim3& size) { return size.x == 0 || size.y == 0 || size.z == 0; };
  const uint64_t threads = uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  if (none(launch.grid) || none(launch.block) || threads > 1024 || launch.grid.y > 65535 || launch.grid.z > 65535) {
    fail_call(cudaErrorInvalidConfiguration);
    return;
  }
  const int device = current_device();
  enqueue(stream, [launch = std::move(launch), device] { return run_grid(launch, device); });
}

void enqueue_work(cudaStream_t stream, std::function<void()> work) {
  enqueue(stream, [work = std::move(work)] {
    work();
    return cudaSuccess;
  });
}

}  // namespace cuda_emulation

// ---------------------------------------------------------------------------------------------------- devices

constexpr int kMultiprocessors = 4;
constexpr int kThreadsOfMultiprocessor = 2048;
constexpr int kCacheBytes = 8192;  // little, so that what is cut to its size is cut in tests, too

cudaError_t cudaGetDeviceCount(int* count) {
  *count = is_asked_for() ? device_count() : 0;
  return is_asked_for() ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return fail_call(cudaErrorInvalidDevice);
  set_current_device(device);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) return fail_call(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "emulated device %d (no GPU)", device);
  properties->major = 9;
  properties->minor = 0;
  properties->totalGlobalMem = device_bytes();
  properties->multiProcessorCount = kMultiprocessors;
  properties->warpSize = 32;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!is_device(device)) return fail_call(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = kMultiprocessors; return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = kThreadsOfMultiprocessor; return cudaSuccess;
    case cudaDevAttrL2CacheSize: *value = kCacheBytes; return cudaSuccess;
  }
  return fail_call(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return fail_call(cudaErrorInvalidDevice);
  *can = device != peer;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() { return fail_call(finish_device(current_device())); }

// ---------------------------------------------------------------------------------------------------- memory

cudaError_t cudaMalloc(void** data, size_t bytes) {
  if (const cudaError_t error = device_error(current_device())) return fail_call(error);
  if (const cudaError_t error = refuse_while_recorded()) return fail_call(error);
  *data = bytes ? allocate_device_memory(current_device(), bytes) : nullptr;
  return *data || bytes == 0 ? cudaSuccess : fail_call(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* data) {
  if (data == nullptr) return cudaSuccess;
  if (const cudaError_t error = refuse_while_recorded()) return fail_call(error);
  for (int device = 0; device < device_count(); ++device) {  // as a device does: what uses it must be done
    if (const cudaError_t error = finish_device(device)) return fail_call(error);
  }
  return free_device_memory(data) ? cudaSuccess : fail_call(cudaErrorInvalidValue);
}

cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) {
  if (const cudaError_t error = refuse_while_recorded()) return fail_call(error);
  *data = allocate_pinned_memory(bytes);
  return *data ? cudaSuccess : fail_call(cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void* data) {
  if (data == nullptr) return cudaSuccess;
  return free_pinned_memory(data) ? cudaSuccess : fail_call(cudaErrorInvalidValue);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  *attributes = {};
  if (is_device_memory(data, 1, -1)) attributes->type = cudaMemoryTypeDevice;
  else if (is_pinned_memory(data)) attributes->type = cudaMemoryTypeHost;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *total_bytes = device_bytes();
  *free_bytes = device_bytes() - device_bytes_used(current_device());
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (kind == cudaMemcpyDefault) {
    kind = is_device_memory(to, 1, -1)
               ? (is_device_memory(from, 1, -1) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
               : (is_device_memory(from, 1, -1) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  }
  if (const cudaError_t error = check_copy(to, from, bytes, kind)) return fail_call(error);
  // Taken over before the call returns; but a graph reads it at each replay.
  if (kind == cudaMemcpyHostToDevice && !is_pinned_memory(from) && !is_recorded(stream)) {
    std::vector<char> taken(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    return enqueue(stream, [to, taken = std::move(taken)] {
      memcpy(to, taken.data(), taken.size());
      return cudaSuccess;
    });
  }
  const cudaError_t error = enqueue(stream, [to, from, bytes] {
    memmove(to, from, bytes);
    return cudaSuccess;
  });
  if (error != cudaSuccess) return error;
  return kind == cudaMemcpyDeviceToHost && !is_pinned_memory(to) ? fail_call(finish_stream(stream)) : cudaSuccess;
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (!is_device(to_device) || !is_device(from_device)) return fail_call(cudaErrorInvalidDevice);
  if (bytes == 0) return cudaSuccess;
  if (!is_device_memory(to, bytes, to_device)) return fail_call(refuse_memory("peer copy to", to, bytes));
  if (!is_device_memory(from, bytes, from_device)) return fail_call(refuse_memory("peer copy from", from, bytes));
  for (const int device : {from_device, to_device}) {
    if (const cudaError_t error = finish_device(device)) return fail_call(error);
  }
  open_device_memory(true);
  memmove(to, from, bytes);
  open_device_memory(false);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (!is_device_memory(data, bytes, -1)) return fail_call(refuse_memory("memset", data, bytes));
  return enqueue(stream, [data, value, bytes] {
    memset(data, value, bytes);
    return cudaSuccess;
  });
}

// ---------------------------------------------------------------------------------------------------- messages

namespace {

struct Message {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr Message kMessages[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
};

const Message* find_message(cudaError_t error) {
  for (const Message& message : kMessages) {
    if (message.error == error) return &message;
  }
  return nullptr;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  const Message* message = find_message(error);
  return message ? message->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const Message* message = find_message(error);
  return message ? message->text : "unrecognized error code";
}
