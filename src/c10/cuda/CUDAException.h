#pragma once
// Errors of the CUDA runtime as c10 errors.

#include <c10/util/Exception.h>

#include <cuda_runtime_api.h>

#if defined(C10_CUDA_BUILD)
#define C10_CUDA_API C10_EXPORT
#else
#define C10_CUDA_API C10_IMPORT
#endif

namespace c10::cuda {

// What is said in this scope to have failed, on this thread: `name` lives for ever.
class C10_CUDA_API OperatorScope {
 public:
  explicit OperatorScope(const char* name);
  ~OperatorScope();
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  const char* outer_;
};

// Throws Error with CUDA's text, what was tried, and by which operator; clears the runtime's sticky last error first.
[[noreturn]] C10_CUDA_API void throw_cuda_error(cudaError_t error, const char* expression, const char* file, int line);

}  // namespace c10::cuda

#define C10_CUDA_CHECK(expression)                                                             \
  do {                                                                                         \
    const cudaError_t c10_cuda_error = (expression);                                           \
    if (C10_UNLIKELY(c10_cuda_error != cudaSuccess)) {                                         \
      ::c10::cuda::throw_cuda_error(c10_cuda_error, #expression, __FILE__, __LINE__);          \
    }                                                                                          \
  } while (false)

// After a kernel launch: reports a bad configuration now, without waiting for the kernel.
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
