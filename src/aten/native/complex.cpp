// Complex tensors and their parts: what makes one of the other, and views between them.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/Views.h>

namespace at::native {

namespace {

// An operation of a complex tensor with a real result, or of a real one with a result of its kind.
TensorIterator real_valued_op(Tensor& out, const Tensor& self) {
  TensorIteratorConfig config;
  if (self.is_complex()) config.output(out, c10::real_type(self.dtype()));
  else config.output(out);
  return TensorIterator(config.input(self).promote_integers_to_float());
}

TensorIterator complex_of_two_op(Tensor& out, const Tensor& first, const Tensor& second, const char* name) {
  for (const Tensor* part : {&first, &second}) {
    TORCH_CHECK(part->dtype() == kFloat || part->dtype() == kDouble || part->dtype() == kHalf,
                "Expected both inputs to be Half, Float or Double tensors but got ", first.dtype(), " and ",
                second.dtype());
  }
  TORCH_CHECK(first.dtype() == second.dtype(), "Expected object of scalar type ", first.dtype(),
              " but got scalar type ", second.dtype(), " for second argument");
  TORCH_CHECK_NOT_IMPLEMENTED(first.dtype() != kHalf, '"', name, "\" not implemented for 'Half'");
  const ScalarType dtype = c10::complex_type(first.dtype());
  TORCH_CHECK(!out.defined() || out.dtype() == dtype, "Expected object of scalar type ", dtype, " but got scalar type ",
              out.defined() ? out.dtype() : dtype, " for argument 'out'");
  return TensorIterator(TensorIteratorConfig().output(out, dtype).input(first).input(second));
}

}  // namespace

Tensor view_as_real(const Tensor& self) {
  TORCH_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors");
  DimVector sizes(self.sizes());
  DimVector strides;
  for (const int64_t stride : self.strides()) strides.push_back(2 * stride);
  sizes.push_back(2);
  strides.push_back(1);
  return alias_as(self, c10::real_type(self.dtype()), sizes, strides, 2 * self.storage_offset());
}

Tensor view_as_complex(const Tensor& self) {
  TORCH_CHECK(self.dtype() == kFloat || self.dtype() == kDouble,
              "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: ",
              self.dtype());
  TORCH_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");
  TORCH_CHECK(self.sizes().back() == 2, "Tensor must have a last dimension of size 2");
  TORCH_CHECK(self.strides().back() == 1, "Tensor must have a last dimension with stride 1");
  DimVector sizes;
  DimVector strides;
  for (int64_t dim = 0; dim + 1 < self.dim(); ++dim) {
    TORCH_CHECK(self.strides()[dim] % 2 == 0, "Tensor must have a stride divisible by 2 for all but last dimension");
    sizes.push_back(self.sizes()[dim]);
    strides.push_back(self.strides()[dim] / 2);
  }
  TORCH_CHECK(self.storage_offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2");
  return alias_as(self, c10::complex_type(self.dtype()), sizes, strides, self.storage_offset() / 2);
}

Tensor real(const Tensor& self) { return self.is_complex() ? at::select(at::view_as_real(self), -1, 0) : self; }

Tensor imag(const Tensor& self) {
  TORCH_CHECK(self.is_complex(), "imag is not implemented for tensors with non-complex dtypes.");
  return at::select(at::view_as_real(self), -1, 1);
}

void conj_physical(const Tensor& self, Tensor& out) {
  if (self.is_complex()) return TensorIterator::unary_op(out, self).run(conj_physical_kernels);
  TensorIterator::unary_op(out, self).run(copy_kernels, false);
}

// There are no lazy conjugates: what is conjugated has been computed.
Tensor conj(const Tensor& self) { return self.is_complex() ? at::conj_physical(self) : self; }
Tensor resolve_conj(const Tensor& self) { return self; }
Tensor resolve_neg(const Tensor& self) { return self; }
bool is_conj(const Tensor& /*self*/) { return false; }
bool is_neg(const Tensor& /*self*/) { return false; }

Tensor adjoint(const Tensor& self) {
  TORCH_CHECK(self.dim() != 1,
              "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return at::conj(self.dim() == 0 ? self : at::transpose(self, -2, -1));
}

void angle(const Tensor& self, Tensor& out) {
  if (self.is_complex() && !out.defined()) return native::atan2(at::imag(self), at::real(self), out);  // has vectors
  real_valued_op(out, self).run(angle_kernels);
}

void sgn(const Tensor& self, Tensor& out) {
  auto iter = TensorIterator::unary_op(out, self);
  if (self.is_complex()) return iter.run(sgn_kernels);
  iter.run(sign_kernels);
}

void complex(const Tensor& real, const Tensor& imag, Tensor& out) {
  complex_of_two_op(out, real, imag, "complex").run(complex_kernels);
}

void polar(const Tensor& abs, const Tensor& angle, Tensor& out) {
  complex_of_two_op(out, abs, angle, "polar").run(polar_kernels);
}

Tensor isreal(const Tensor& self) {
  return self.is_complex() ? at::eq(at::imag(self), Scalar(0)) : at::ones_like(self, TensorOptions(kBool));
}

}  // namespace at::native
