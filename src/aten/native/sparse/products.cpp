// Matrix products with sparse matrices. Those with a strided matrix run row by row in one kernel, csr_gemm.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/Sparse.h>

namespace at::native {

namespace {

using Rows = SparseRows;

// Sorts by row and keeps the order within rows; rows are counted, since there are as few as that.
Rows group_by_row(const Tensor& rows, const Tensor& columns, const Tensor& values, int64_t count) {
  const KeyGroups groups = group_by_key(rows, count);
  const Tensor starts = groups.starts.to(rows.device());
  if (!groups.order.defined()) return {starts, columns, values};
  const Tensor order = groups.order.to(rows.device());
  return {starts, at::index_select(columns, 0, order), at::index_select(values, 0, order)};
}

void check_is_matrix(const Tensor& tensor, const char* function) {
  TORCH_CHECK(tensor.dim() == 2, function, ": expected a matrix, got a ", tensor.dim(), "-dimensional tensor");
  TORCH_CHECK(!tensor.impl()->sparse() || count_sparse_dims(tensor) == 2, function,
              ": expected a sparse matrix without dense dimensions");
}

Rows by_rows(const Tensor& self) {
  if (self.is_sparse_csr()) {
    return {compressed_indices(self).to(kLong), sparse_indices(self), sparse_values(self)};
  }
  const Tensor coo = as_coo(self);
  const Tensor indices = sparse_indices(coo);
  return group_by_row(indices[0], indices[1], sparse_values(coo), self.sizes()[0]);
}

// What the kernel computes in.
ScalarType product_dtype(ScalarType dtype) {
  if (c10::is_integral_type(dtype, /*include_bool=*/false)) return kLong;
  return c10::is_reduced_floating_type(dtype) ? kFloat : dtype;
}

// out + rows @ dense, into `out`, which is contiguous.
void multiply_into(const Tensor& out, const Rows& matrix, const Tensor& dense) {
  if (out.numel() == 0 || matrix.values.numel() == 0) return;
  const ScalarType dtype = product_dtype(out.dtype());
  const Tensor sum = out.to(dtype);
  run_kernel(csr_gemm_kernels, out.device(), sum, matrix.starts.contiguous(), matrix.columns.contiguous(),
             matrix.values.to(dtype).contiguous(), dense.to(dtype).contiguous());
  if (!sum.is_same(out)) at::detail::copy_into(out, sum);
}

void check_product(const Tensor& self, const Tensor& mat2, const char* function) {
  check_is_matrix(self, function);
  check_is_matrix(mat2, function);
  TORCH_CHECK(self.sizes()[1] == mat2.sizes()[0], "mat1 and mat2 shapes cannot be multiplied (", self.sizes()[0], "x",
              self.sizes()[1], " and ", mat2.sizes()[0], "x", mat2.sizes()[1], ")");
  TORCH_CHECK(self.dtype() == mat2.dtype(), "expected m1 and m2 to have the same dtype, but got: ", self.dtype(),
              " != ", mat2.dtype());
  TORCH_CHECK(self.device() == mat2.device(), "Expected all tensors to be on the same device, but got mat2 is on ",
              mat2.device(), ", different from other tensors on ", self.device(), " (when checking argument in method ",
              function, ")");
}

Tensor multiply_strided(const Tensor& sparse, const Tensor& dense) {
  const Tensor out = at::zeros({sparse.sizes()[0], dense.sizes()[1]}, dense.options());
  multiply_into(out, by_rows(sparse), dense);
  return out;
}

Rows multiply_rows(const Rows& left, const Rows& right, int64_t columns) {
  const ScalarType dtype = left.values.dtype();
  const ScalarType wide = dtype == kBool ? kLong : product_dtype(dtype);
  const Device device = left.values.device();
  const auto on_host = [&](const Rows& rows) {
    return Rows{rows.starts.cpu().contiguous(), rows.columns.cpu().to(kLong).contiguous(),
                rows.values.cpu().to(wide).contiguous()};
  };
  const Rows product = multiply_sparse_rows(on_host(left), on_host(right), columns);
  return {product.starts.to(device), product.columns.to(device), product.values.to(dtype).to(device)};
}

Tensor multiply_sparse(const Tensor& self, const Tensor& other) {
  const DimVector sizes{self.sizes()[0], other.sizes()[1]};
  if (self.layout() == kSparseCsc && other.layout() == kSparseCsc) {
    const Rows product = multiply_rows(by_rows(at::t(other)), by_rows(at::t(self)), self.sizes()[0]);
    return make_compressed(kSparseCsc, product.starts, product.columns, product.values, sizes);
  }
  const Rows product = multiply_rows(by_rows(self), by_rows(other), other.sizes()[1]);
  const Tensor result = make_compressed(kSparseCsr, product.starts, product.columns, product.values, sizes);
  return self.is_sparse_csr() && other.is_sparse_csr() ? result : as_coo(result);
}

}  // namespace

Tensor mm_sparse(const Tensor& self, const Tensor& mat2) {
  check_product(self, mat2, "mm");
  if (self.impl()->sparse() && mat2.impl()->sparse()) return multiply_sparse(self, mat2);
  if (self.impl()->sparse()) return multiply_strided(self, mat2);
  return multiply_strided(at::t(mat2), at::t(self)).t();
}

Tensor _sparse_sparse_matmul(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.impl()->sparse() && other.impl()->sparse(), "_sparse_sparse_matmul: expected two sparse matrices");
  return native::mm_sparse(self, other);
}

Tensor addmm_sparse(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                    const Scalar& alpha) {
  check_product(mat1, mat2, "addmm");
  if (self.impl()->sparse() || !mat1.impl()->sparse() || mat2.impl()->sparse()) {
    const Tensor product = at::mul(at::mm(mat1, mat2), alpha);
    return beta.equal(0) ? product : at::add(at::mul(self, beta), product);
  }
  TORCH_CHECK(self.dtype() == mat2.dtype(), "addmm: expected the same dtype of all matrices, but got ", self.dtype(),
              " and ", mat2.dtype());
  const Tensor bias = self.expand({mat1.sizes()[0], mat2.sizes()[1]});
  const Tensor out = beta.equal(0)   ? at::zeros(bias.sizes(), self.options())
                     : beta.equal(1) ? at::empty(bias.sizes(), self.options())
                                     : at::mul(bias, beta).contiguous();
  if (beta.equal(1)) at::detail::copy_into(out, bias);
  Rows matrix = by_rows(mat1);
  if (!alpha.equal(1)) matrix.values = at::mul(matrix.values, alpha);
  multiply_into(out, matrix, mat2);
  return out;
}

Tensor _sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                     const Scalar& alpha) {
  return at::addmm(self, mat1, mat2, beta, alpha);
}

Tensor _sparse_mm(const Tensor& sparse, const Tensor& dense) {
  const bool left = sparse.impl()->sparse();
  const bool right = dense.impl()->sparse();
  if (left && right) return at::_sparse_sparse_matmul(sparse, dense);
  if (!left && !right) return at::mm(sparse, dense);
  check_product(sparse, dense, "sparse.mm");
  if (left)
    return at::_sparse_addmm(at::zeros({sparse.sizes()[0], dense.sizes()[1]}, dense.options()), sparse, dense, 0, 1);
  const Tensor zeros = at::zeros({dense.sizes()[1], sparse.sizes()[0]}, sparse.options());
  return at::_sparse_addmm(zeros, at::t(dense), at::t(sparse), 0, 1).t();
}

// Folded into one matrix, whose blocks are those of the batch.
Tensor bmm_sparse(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(self.dim() == 3, "batch1 must be a 3D tensor");
  TORCH_CHECK(mat2.dim() == 3, "batch2 must be a 3D tensor");
  if (!self.impl()->sparse()) {
    TORCH_CHECK(self.sizes()[0] == mat2.sizes()[0], "bmm: expected as many matrices in both batches");
    return at::bmm(at::transpose(mat2, 1, 2), at::transpose(self, 1, 2)).transpose(1, 2);
  }
  TORCH_CHECK(!mat2.impl()->sparse(), "bmm_sparse: Tensor 'mat2' must be dense");
  const IntArrayRef a = self.sizes();
  const IntArrayRef b = mat2.sizes();
  TORCH_CHECK(count_sparse_dims(self) == 3, "bmm: expected a sparse batch without dense dimensions");
  TORCH_CHECK(b[0] == a[0] && b[1] == a[2], "Expected size for first two dimensions of batch2 tensor to be: [", a[0],
              ", ", a[2], "] but got: [", b[0], ", ", b[1], "].");
  TORCH_CHECK(self.dtype() == mat2.dtype(), "expected scalar type ", self.dtype(), " but found ", mat2.dtype());
  const Tensor indices = sparse_indices(as_coo(self));
  const Tensor out = at::zeros({a[0] * a[1], b[2]}, mat2.options());
  const Rows matrix =
      group_by_row(indices[0] * a[1] + indices[1], indices[0] * a[2] + indices[2], sparse_values(self), a[0] * a[1]);
  multiply_into(out, matrix, at::reshape(mat2, {b[0] * b[1], b[2]}));
  return out.view({a[0], a[1], b[2]});
}

// ------------------------------------------------------------------------------------------------ sparse results

Tensor hspmm(const Tensor& mat1, const Tensor& mat2) {
  TORCH_CHECK(mat1.is_sparse(), "hspmm: Argument #2: matrices expected, mat1 must be a sparse COO matrix");
  check_product(mat1, mat2, "hspmm");
  const Tensor rows = sparse_indices(mat1)[0];
  const auto [present, numbers, counts] = at::_unique2(rows, /*sorted=*/true, /*return_inverse=*/true);
  const Tensor compact = make_coo(at::stack({numbers, sparse_indices(mat1)[1]}), sparse_values(mat1),
                                  {present.numel(), mat1.sizes()[1]}, mat1.impl()->sparse()->is_coalesced);
  return make_coo(present.unsqueeze(0), multiply_strided(compact, mat2), {mat1.sizes()[0], mat2.sizes()[1]},
                  /*is_coalesced=*/true);
}

Tensor sspaddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  TORCH_CHECK(self.is_sparse() && mat1.is_sparse() && !mat2.impl()->sparse(),
              "sspaddmm: expected a sparse addend, a sparse and a strided matrix");
  const Tensor rows = native::hspmm(mat1, mat2);
  TORCH_CHECK(self.sizes() == rows.sizes(), "sspaddmm: Argument #1: Expected dim 0 size ", rows.sizes()[0], ", got ",
              self.sizes()[0]);
  // Every element of a row that there is.
  const int64_t columns = rows.sizes()[1];
  const Tensor present = sparse_indices(rows)[0];
  const Tensor places = at::stack(
      {at::repeat_interleave(present, columns), at::arange(columns, present.options()).repeat({present.numel()})});
  const Tensor product = at::mul(at::reshape(sparse_values(rows), {-1}), alpha);
  return make_coo(at::cat({sparse_indices(self), places}, 1), at::cat({at::mul(sparse_values(self), beta), product}),
                  self.sizes(),
                  /*is_coalesced=*/false);
}

Tensor smm(const Tensor& self, const Tensor& mat2) {
  const Tensor none = empty_sparse_like({self.sizes()[0], mat2.sizes()[1]}, 2, kSparse, mat2.options());
  return at::sspaddmm(none, self, mat2);
}

Tensor sparse_sampled_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                            const Scalar& alpha) {
  TORCH_CHECK(self.is_sparse_csr(), "sampled_addmm: Expected self to have sparse csr layout, but got ", self.layout());
  check_product(mat1, mat2, "sampled_addmm");
  TORCH_CHECK(!mat1.impl()->sparse() && !mat2.impl()->sparse() && self.device() == mat1.device(),
              "sampled_addmm: Expected mat1 and mat2 to have strided layout and to be on the device of self");
  TORCH_CHECK(self.sizes()[0] == mat1.sizes()[0] && self.sizes()[1] == mat2.sizes()[1],
              "sampled_addmm: self of size ", self.sizes(), " must be as large as the product of mat1 and mat2 (",
              mat1.sizes()[0], "x", mat2.sizes()[1], ")");
  Tensor products;
  if (self.is_cpu() && c10::is_floating_type(mat1.dtype())) {
    const ScalarType dtype = product_dtype(mat1.dtype());
    const Rows rows = by_rows(self);
    products = at::empty({rows.columns.numel()}, mat1.options().dtype(dtype));
    run_kernel(sampled_gemm_kernels, self.device(), products, rows.starts.contiguous(), rows.columns.contiguous(),
               mat1.to(dtype).contiguous(), mat2.to(dtype).t().contiguous());
    products = products.to(mat1.dtype());
  } else {
    const Tensor places = sparse_indices(as_coo(self));
    products = at::sum(at::mul(at::index_select(mat1, 0, places[0]), at::index_select(mat2.t(), 0, places[1])),
                       IntArrayRef{1});
  }
  return with_values(self, at::add(at::mul(sparse_values(self), beta), at::mul(products, alpha)));
}

}  // namespace at::native
