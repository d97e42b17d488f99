#pragma once

#include <c10/cuda/CUDAException.h>

namespace c10::cuda {

// Registers CUDA with c10 (Backend.h). Returns null, or why no device can be used.
C10_CUDA_API const char* register_cuda_backend();

}  // namespace c10::cuda
