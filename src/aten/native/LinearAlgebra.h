#pragma once
// What the functions of torch.linalg check, copy and allocate before they call LAPACK's kernels.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/TensorIterator.h>
#include <aten/native/Dimensions.h>
#include <aten/native/Views.h>

namespace at::native {

inline IntArrayRef batch_sizes(const Tensor& matrices) { return matrices.sizes().slice(0, matrices.dim() - 2); }
inline int64_t rows_of(const Tensor& matrices) { return matrices.sizes()[matrices.dim() - 2]; }
inline int64_t columns_of(const Tensor& matrices) { return matrices.sizes()[matrices.dim() - 1]; }

inline void check_matrices(const Tensor& matrices, const char* function, const char* argument = "A") {
  TORCH_CHECK(matrices.dim() >= 2, function, ": The input tensor ", argument, " must have at least 2 dimensions.");
}

inline void check_square(const Tensor& matrices, const char* function, const char* argument = "A") {
  check_matrices(matrices, function, argument);
  TORCH_CHECK(rows_of(matrices) == columns_of(matrices), function, ": ", argument,
              " must be batches of square matrices, but they are ", rows_of(matrices), " by ", columns_of(matrices),
              " matrices");
}

// `low_precision`: float16 and bfloat16 are taken, too.
inline void check_floating_or_complex(const Tensor& tensor, const char* function, bool low_precision = false) {
  const ScalarType dtype = tensor.dtype();
  TORCH_CHECK(c10::is_floating_or_complex_type(dtype), function,
              ": Expected a floating point or complex tensor as input. Got ", dtype);
  TORCH_CHECK(low_precision || !c10::is_reduced_floating_type(dtype), function,
              ": Low precision dtypes not supported. Got ", dtype);
}

inline void check_same_dtype(const Tensor& first, const Tensor& second, const char* function, const char* first_name,
                             const char* second_name) {
  TORCH_CHECK(first.dtype() == second.dtype(), function, ": Expected ", first_name, " and ", second_name,
              " to have the same dtype, but found ", first_name, " of type ", first.dtype(), " and ", second_name,
              " of type ", second.dtype(), " instead");
}

// The batch sizes of both, broadcast.
inline DimVector broadcast_batches(const Tensor& first, const Tensor& second) {
  return broadcast_shapes(batch_sizes(first), batch_sizes(second));
}

inline DimVector with_matrix(IntArrayRef batch, int64_t rows, int64_t columns) {
  DimVector shape(batch);
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

inline DimVector with_vector(IntArrayRef batch, int64_t size) {
  DimVector shape(batch);
  shape.push_back(size);
  return shape;
}

// Matrices whose columns lie next to each other, one matrix behind the other, as LAPACK takes them.
inline Tensor empty_column_major(IntArrayRef sizes, ScalarType dtype, Device device) {
  const size_t dims = sizes.size();
  DimVector strides(sizes);
  int64_t step = std::max<int64_t>(sizes[dims - 2], 1) * std::max<int64_t>(sizes[dims - 1], 1);
  strides[dims - 2] = 1;
  strides[dims - 1] = std::max<int64_t>(sizes[dims - 2], 1);
  for (size_t i = dims - 2; i-- > 0; step *= std::max<int64_t>(sizes[i], 1)) strides[i] = step;
  return at::detail::empty_strided(sizes, strides, dtype, device);
}

// A copy of the matrices as LAPACK takes them, with the batch sizes `batch` that theirs broadcast to.
inline Tensor column_major_copy(const Tensor& matrices, IntArrayRef batch) {
  const Tensor copy = empty_column_major(with_matrix(batch, rows_of(matrices), columns_of(matrices)), matrices.dtype(),
                                         matrices.device());
  if (copy.numel() > 0) at::detail::copy_into(copy, matrices);
  return copy;
}
inline Tensor column_major_copy(const Tensor& matrices) { return column_major_copy(matrices, batch_sizes(matrices)); }

// The matrices as LAPACK reads them, copied only if they lie otherwise.
inline Tensor column_major(const Tensor& matrices, IntArrayRef batch) {
  const DimVector sizes = with_matrix(batch, rows_of(matrices), columns_of(matrices));
  const bool lies_so = matrices.sizes() == IntArrayRef(sizes) && at::transpose(matrices, -2, -1).is_contiguous();
  return lies_so ? matrices : column_major_copy(matrices, batch);
}

// The same, for what autograd is to know of.
inline Tensor in_column_major(const Tensor& matrices) {
  return at::transpose(at::transpose(matrices, -2, -1).contiguous(), -2, -1);
}

// What LAPACK says of each matrix: 0, success.
inline Tensor empty_info(const Tensor& matrices) {
  return at::zeros(batch_sizes(matrices), TensorOptions(kInt).device(matrices.device()));
}

// Throws LinAlgError that names `function` and the first matrix whose `info` is not 0. (factorizations.cpp)
void check_info(const Tensor& info, std::string_view function);

// LAPACK may run forever on NaN: whether there is none, and no infinity.
inline bool is_finite(const Tensor& self) {
  return self.device().is_meta() || at::all(at::isfinite(self)).item<bool>();
}

// The factors of an LU factorisation of these matrices.
struct LU {
  Tensor factors;
  Tensor pivots;
  Tensor info;
};
LU factor_lu(const Tensor& matrices);
// [..., count]: powers of each number, from 0 on; at least one.
Tensor powers_up_to(const Tensor& base, int64_t count);
// The order of rows that pivots make: [..., n] int64.
Tensor permutation_of(const Tensor& pivots, int64_t rows);

}  // namespace at::native
