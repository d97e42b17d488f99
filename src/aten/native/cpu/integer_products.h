#pragma once
// Products of matrices of integers, which wrap around: the same bits come out whether these have a sign.

#include <aten/native/cpu/blas.h>

#include <cstdint>

namespace at::native::cpu {

// out = alpha * a * b + beta * out, as gemm (blas.h).
#define TORCH_INTEGER_GEMM(Word)                                                                              \
  void integer_gemm(int64_t m, int64_t n, int64_t k, Word alpha, MatrixOperand<Word> a, MatrixOperand<Word> b, \
                    Word beta, Word* out, int64_t out_leading);
TORCH_INTEGER_GEMM(uint8_t)
TORCH_INTEGER_GEMM(uint16_t)
TORCH_INTEGER_GEMM(uint32_t)
TORCH_INTEGER_GEMM(uint64_t)
#undef TORCH_INTEGER_GEMM

}  // namespace at::native::cpu
