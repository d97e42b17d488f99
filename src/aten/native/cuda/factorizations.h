#pragma once

#include <aten/Tensor.h>

namespace at::native::cuda {

// LU by cuSOLVER or MAGMA, as kernels.yaml has it; false, and nothing done, where cuBLAS is to do it.
bool factor_lu(const Tensor& matrices, const Tensor& pivots, const Tensor& info);

}  // namespace at::native::cuda
