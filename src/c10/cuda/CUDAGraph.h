#pragma once
// Work that is recorded once and done as often as one likes. Addresses are in the record, so that the memory it used is
// held by it (CUDACachingAllocator.h); random numbers continue at each replay (CUDAGenerator.h).

#include <c10/core/Backend.h>
#include <c10/cuda/CUDAException.h>

#include <memory>

namespace c10::cuda {

C10_CUDA_API std::unique_ptr<DeviceGraph> new_graph();
// Whether any thread records: a look at a number, for those who then ask further.
C10_CUDA_API bool graphs_are_recorded();
// Whether work on the calling thread's current stream is recorded.
C10_CUDA_API bool is_capturing();

// Lets a thread ask the driver for memory although a graph is recorded.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace c10::cuda
