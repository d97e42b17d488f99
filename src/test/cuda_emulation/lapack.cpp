#include "lapack.h"

#include <algorithm>

namespace cuda_emulation {

namespace {

at::TensorOptions options(at::ScalarType dtype) { return at::TensorOptions(dtype); }
Tensor fresh_info(int64_t batches) { return at::zeros({batches}, options(at::kInt)); }

}  // namespace

Tensor read_vectors(const void* data, int64_t batches, int64_t size, at::ScalarType dtype) {
  const Tensor copy = at::empty({batches, size}, options(dtype));
  std::memcpy(copy.data_ptr(), data, copy.numel() * copy.element_size());
  return copy;
}
void write_vectors(void* data, const Tensor& values) {
  const Tensor copy = values.contiguous();
  std::memcpy(data, copy.data_ptr(), copy.numel() * copy.element_size());
}

void find_singular_values(const Matrices& a, void* s, void* u, int64_t u_columns, void* v, bool adjoint,
                          bool with_vectors, int* info) {
  const auto real = c10::real_type(a.dtype);
  const Tensor values = at::zeros({a.batches, a.columns}, options(real));
  const Matrices left{u, a.rows, u_columns, a.dtype, a.batches}, right{v, a.columns, a.columns, a.dtype, a.batches};
  const Tensor left_found = with_vectors ? left.fresh() : Tensor(),
               right_found = with_vectors ? right.fresh() : Tensor();
  const Tensor codes = fresh_info(a.batches);
  at::native::svd_kernels(c10::DeviceType::CPU, left_found, values, right_found, a.read(), codes, u_columns == a.rows,
                          0);
  write_vectors(s, values);
  write_vectors(info, codes);
  if (!with_vectors) return;
  left.write(left_found);
  right.write(adjoint ? right_found : at::adjoint(right_found));
}

void find_eigenvalues(const Matrices& a, void* w, bool with_vectors, bool upper, int* info) {
  const Tensor matrices = a.read();
  const Tensor values = at::zeros({a.batches, a.rows}, options(c10::real_type(a.dtype)));
  const Tensor codes = fresh_info(a.batches);
  at::native::eigh_kernels(c10::DeviceType::CPU, values, matrices, codes, upper, with_vectors);
  a.write(matrices);
  write_vectors(w, values);
  write_vectors(info, codes);
}

void factor_by_cholesky(const Matrices& a, bool upper, int* info) {
  const Tensor before = a.read(), factor = a.read();
  const Tensor codes = fresh_info(a.batches);
  at::native::cholesky_kernels(c10::DeviceType::CPU, factor, codes, upper);
  a.write(at::add(factor, upper ? at::tril(before, -1) : at::triu(before, 1)));
  write_vectors(info, codes);
}

void factor_by_lu(const Matrices& a, int* pivots, int* info) {
  const Tensor factors = a.read();
  const Tensor swaps = at::zeros({a.batches, std::min(a.rows, a.columns)}, options(at::kInt)),
               codes = fresh_info(a.batches);
  at::native::lu_factor_kernels(c10::DeviceType::CPU, factors, swaps, codes);
  a.write(factors);
  write_vectors(pivots, swaps);
  write_vectors(info, codes);
}

void factor_by_ldl(const Matrices& a, int* pivots, int* info) {
  const Tensor factors = a.read();
  const Tensor swaps = at::zeros({a.batches, a.rows}, options(at::kInt)), codes = fresh_info(a.batches);
  at::native::ldl_factor_kernels(c10::DeviceType::CPU, factors, swaps, codes, /*hermitian=*/false);
  a.write(factors);
  write_vectors(pivots, swaps);
  write_vectors(info, codes);
}

void factor_by_qr(const Matrices& a, void* tau) {
  const Tensor factors = a.read();
  const Tensor found = at::zeros({a.batches, std::min(a.rows, a.columns)}, options(a.dtype));
  at::native::geqrf_kernels(c10::DeviceType::CPU, factors, found);
  a.write(factors);
  write_vectors(tau, found);
}

void find_general_eigenvalues(const Matrices& a, void* w, void* vectors, int* info) {
  const auto value_type = c10::complex_type(c10::real_type(a.dtype));
  const Tensor values = at::zeros({a.batches, a.rows}, options(value_type));
  const Tensor found = vectors ? Matrices{nullptr, a.rows, a.rows, value_type, a.batches}.fresh() : Tensor();
  const Tensor codes = fresh_info(a.batches);
  at::native::eig_kernels(c10::DeviceType::CPU, values, found, a.read(), codes);
  write_vectors(w, values);
  write_vectors(info, codes);
  if (!vectors) return;
  const Matrices result{vectors, a.rows, a.rows, a.dtype, a.batches};
  if (a.dtype == value_type) return result.write(found);
  // LAPACK's form for real matrices: the parts of a pair, side by side.
  const Tensor is_second = at::unsqueeze(at::lt(at::imag(values), at::Scalar(0)), -2);
  result.write(at::where(is_second, at::neg(at::imag(found)), at::real(found)));
}

}  // namespace cuda_emulation
