#pragma once
// Matrices of float16 or bfloat16 times vectors: each element is widened where it is read, once.

#include <aten/native/cpu/blas.h>

#include <cstdint>

namespace at::native::cpu {

// out[i * out_step] = beta * out[i * out_step] + alpha * sum over k in [0, depth) of element (i, k) of the matrix times
// vector[k * vector_step], for i in [0, count), with sums in float32. `dtype` is what the elements are.
void multiply_by_vector(c10::ScalarType dtype, int64_t count, int64_t depth, MatrixOperand<uint16_t> matrix,
                        const uint16_t* vector, int64_t vector_step, float alpha, float beta, float* out,
                        int64_t out_step);

// The sum of the products of `count` neighbours.
float dot_of_halves(c10::ScalarType dtype, int64_t count, const void* a, const void* b);

}  // namespace at::native::cpu
