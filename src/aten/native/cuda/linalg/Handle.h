#pragma once
// What all calls of cuBLAS need.

#include <cublas_v2.h>

#include <map>

inline const char* describe(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? nullptr : cublasGetStatusString(status);
}

// One handle per thread and device: handles must not be used by two threads at once. They are not destroyed, because
// the driver may be gone when thread-local destructors run.
inline const char* handle_for_current_device(cublasHandle_t* handle) {
  thread_local auto* handles = new std::map<int, cublasHandle_t>();
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return "cudaGetDevice failed";
  const auto found = handles->find(device);
  if (found != handles->end()) {
    *handle = found->second;
    return nullptr;
  }
  if (const char* error = describe(cublasCreate(handle))) return error;
  handles->emplace(device, *handle);
  return nullptr;
}
