#pragma once

#include <aten/Tensor.h>

namespace at::native::cuda {

// out = beta * out + alpha * left @ right, of matrices or of batches of them, with something to add up; `tf32` lets
// floats be multiplied so.
void multiply_matrices(const Tensor& out, const Tensor& left, const Tensor& right, const Scalar& beta,
                       const Scalar& alpha, bool tf32);

}  // namespace at::native::cuda
