#pragma once
// LAPACK by the CPU's kernels, on what lies behind pointers: what the emulated cuSOLVER and MAGMA compute.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/LinearAlgebra.h>

#include <cstring>

namespace cuda_emulation {

using at::Tensor;

// Matrices in memory of the device or of the host, columns first, one behind the other. Those of the device are read
// and written only by queued work.
struct Matrices {
  void* data;
  int64_t rows, columns;
  at::ScalarType dtype;
  int64_t batches = 1;

  Tensor fresh() const { return at::native::empty_column_major({batches, rows, columns}, dtype, at::Device(at::kCPU)); }
  size_t bytes() const { return static_cast<size_t>(batches * rows * columns) * c10::element_size(dtype); }
  Tensor read() const {
    const Tensor copy = fresh();
    std::memcpy(copy.data_ptr(), data, bytes());
    return copy;
  }
  void write(const Tensor& values) const {
    const Tensor copy = at::native::column_major_copy(values.reshape({batches, rows, columns}));
    std::memcpy(data, copy.data_ptr(), bytes());
  }
};

// A vector for each matrix.
Tensor read_vectors(const void* data, int64_t batches, int64_t size, at::ScalarType dtype);
void write_vectors(void* data, const Tensor& values);

// LAPACK's potrf leaves the other triangle alone.
void factor_by_cholesky(const Matrices& a, bool upper, int* info);
void factor_by_lu(const Matrices& a, int* pivots, int* info);
void factor_by_ldl(const Matrices& a, int* pivots, int* info);
void factor_by_qr(const Matrices& a, void* tau);
// Of tall matrices; `v` gets V or, `adjoint`, V^H.
void find_singular_values(const Matrices& a, void* s, void* u, int64_t u_columns, void* v, bool adjoint,
                          bool with_vectors, int* info);
// Of symmetric matrices, which become their vectors.
void find_eigenvalues(const Matrices& a, void* w, bool with_vectors, bool upper, int* info);
// Complex values; `vectors`, which may be null, are of the matrices' type,
// and of a pair of values real and imaginary part.
void find_general_eigenvalues(const Matrices& a, void* w, void* vectors, int* info);

}  // namespace cuda_emulation
