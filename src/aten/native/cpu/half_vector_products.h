#pragma once
// Matrices of float16 times vectors: each element is widened where it is read, once.

#include <aten/native/cpu/blas.h>
#include <c10/util/Half.h>

#include <cstdint>

namespace at::native::cpu {

// out[i * out_step] = beta * out[i * out_step] + alpha * sum over k in [0, depth) of element (i, k) of the matrix times
// vector[k * vector_step], for i in [0, count), with sums in float32.
void multiply_by_vector(int64_t count, int64_t depth, MatrixOperand<c10::Half> matrix, const c10::Half* vector,
                        int64_t vector_step, float alpha, float beta, float* out, int64_t out_step);

}  // namespace at::native::cpu
