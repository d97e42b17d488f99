#pragma once
// Matrix products by own panels (gathered_products.h).

#include <aten/native/cpu/blas.h>

namespace at::native::cpu {

// Whether the BLAS leaves the widest vectors of this processor unused: MKL does, on those that are not Intel's.
bool panels_beat_blas();

// As gemm (blas.h), for float and double.
template <typename T>
void panel_gemm(int64_t m, int64_t n, int64_t k, T alpha, MatrixOperand<T> a, MatrixOperand<T> b, T beta, T* out, int64_t out_leading);

}  // namespace at::native::cpu
