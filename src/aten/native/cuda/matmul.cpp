// Matrix products: brings operands into a form that BLAS reads, and hands them to libtorch_cuda_linalg, which is loaded
// from beside this library with the first product.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/Plugin.h>
#include <aten/native/cuda/Libraries.h>
#include <aten/native/cuda/linalg/Linalg.h>
#include <aten/native/cuda/matmul.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

void run(const TorchCudaGemm& gemm) {
  static const auto function = load_function<TorchCudaGemmFunction>("libtorch_cuda_linalg.so", "torch_cuda_gemm",
                                                                    "matrix products", "libcublas");
  const char* error = function(&gemm);
  TORCH_CHECK(error == nullptr, "cuBLAS: ", error, " (product of [", gemm.m, ", ", gemm.k, "] and [", gemm.k, ", ",
              gemm.n, "])");
}

// The last two dimensions of a matrix, or of a batch of them, as BLAS sees them.
struct Operand {
  Tensor tensor;
  bool transposed = false;
  int64_t leading = 1;
};

Operand operand(const Tensor& matrix) {
  const int64_t dim = matrix.dim();
  const int64_t rows = matrix.sizes()[dim - 2], columns = matrix.sizes()[dim - 1];
  const int64_t row_stride = matrix.strides()[dim - 2], column_stride = matrix.strides()[dim - 1];
  if ((column_stride == 1 || columns <= 1) && row_stride >= std::max<int64_t>(columns, 1))
    return {matrix, false, row_stride};
  if ((row_stride == 1 || rows <= 1) && column_stride >= std::max<int64_t>(rows, 1))
    return {matrix, true, column_stride};
  return {matrix.contiguous(), false, std::max<int64_t>(columns, 1)};
}

void check_dtype(const Tensor& tensor, const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.is_floating_point() || tensor.is_complex(), '"', name,
                              "_cuda\" not implemented for '", tensor.dtype(), "'");
}

TorchCudaMatrixType type_of(const Tensor& matrix) {
  switch (matrix.dtype()) {
    case kHalf: return kTorchCudaHalf;
    case kBFloat16: return kTorchCudaBFloat16;
    case kFloat: return kTorchCudaFloat;
    case c10::kComplexFloat: return kTorchCudaComplexFloat;
    case c10::kComplexDouble: return kTorchCudaComplexDouble;
    default: return kTorchCudaDouble;
  }
}

}  // namespace

void multiply_matrices(const Tensor& out, const Tensor& left, const Tensor& right, const Scalar& beta,
                       const Scalar& alpha, bool tf32) {
  const bool batched = out.dim() == 3;
  const Operand a = operand(left);
  const Operand b = operand(right);
  const int64_t columns = out.sizes()[out.dim() - 1];
  // The result must be row-major; anything else is computed aside.
  const bool direct = out.is_contiguous();
  Tensor c = direct ? out : beta.equal(0) ? at::empty(out.sizes(), out.options()) : out.contiguous();

  TorchCudaGemm gemm{};
  gemm.type = type_of(left);
  gemm.float_result = out.dtype() != left.dtype();
  const unsigned switches = at::product_switches();
  gemm.tf32 = tf32;
  gemm.reduced_sums =
      (switches & (gemm.type == kTorchCudaHalf ? at::kProductReducedHalf : at::kProductReducedBFloat16)) != 0;
  gemm.transpose_a = a.transposed;
  gemm.transpose_b = b.transposed;
  gemm.m = out.sizes()[out.dim() - 2];
  gemm.n = columns;
  gemm.k = left.sizes()[left.dim() - 1];
  const auto write_parts = [](double (&parts)[2], const Scalar& number) {
    const auto value = number.to<c10::complex<double>>();
    parts[0] = value.real();
    parts[1] = value.imag();
  };
  write_parts(gemm.alpha, alpha);
  write_parts(gemm.beta, beta);
  gemm.a = a.tensor.data_ptr();
  gemm.a_leading = a.leading;
  gemm.a_batch_stride = batched ? a.tensor.strides()[0] : 0;
  gemm.b = b.tensor.data_ptr();
  gemm.b_leading = b.leading;
  gemm.b_batch_stride = batched ? b.tensor.strides()[0] : 0;
  gemm.c = c.data_ptr();
  gemm.c_leading = std::max<int64_t>(columns, 1);
  gemm.c_batch_stride = batched ? gemm.m * gemm.n : 0;
  gemm.batches = batched ? out.sizes()[0] : 1;
  gemm.stream = c10::cuda::current_stream();
  run(gemm);
  if (!direct) Tensor(out).copy_(c);
}

void gemm_kernel(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  check_dtype(out, "addmm");
  if (out.numel() == 0) return;
  if (a.sizes()[1] == 0) {  // an empty sum: only beta * out is left
    Tensor target = out;
    if (beta.equal(0)) target.zero_();
    else target.mul_(beta);
    return;
  }
  multiply_matrices(out, a, b, beta, alpha, (at::product_switches() & at::kProductTF32) != 0);
}

void bmm_kernel(const Tensor& out, const Tensor& a, const Tensor& b) {
  check_dtype(out, "bmm");
  if (out.numel() == 0) return;
  if (a.sizes()[2] == 0) {
    Tensor(out).zero_();
    return;
  }
  multiply_matrices(out, a, b, 0, 1, (at::product_switches() & at::kProductTF32) != 0);
}

}  // namespace at::native::cuda
