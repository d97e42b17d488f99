#pragma once
// Products of matrices of bytes with sums in int32, by the processor's own instructions.

#include <aten/native/cpu/blas.h>

#include <cstdint>

namespace at::native::cpu {

// Whether this processor adds up products of four bytes (AVX512_VNNI).
bool has_byte_products();

// out[m, n] = a[m, k] b[k, n], exactly but for what wraps around; only where has_byte_products(). Bytes of b have a
// sign, and those of a if `is_signed`; out is contiguous.
void byte_gemm(int64_t m, int64_t n, int64_t k, MatrixOperand<uint8_t> a, bool is_signed, MatrixOperand<uint8_t> b,
               int32_t* out);

}  // namespace at::native::cpu
