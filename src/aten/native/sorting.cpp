// Sorting along one dimension. Sorts are stable; NaN counts as greater than every number.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>

namespace at::native {

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  dim = wrap_dim(dim, self.dim());
  Tensor values = at::detail::empty(self.sizes(), self.dtype(), self.device());
  Tensor indices = at::detail::empty(self.sizes(), kLong, self.device());
  if (self.dim() == 0) {
    at::detail::copy_into(values, self);
    indices = at::zeros(self.sizes(), indices.options());
  } else if (self.numel() > 0) {
    run_kernel(sort_kernels, self.device(), values, indices, self, dim, descending);
  }
  return {std::move(values), std::move(indices)};
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, dim, descending));
}

std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted) {
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK(self.dtype() != kBool, "topk does not support bool dtypes on ",
              c10::device_type_name(self.device_type(), true));
  TORCH_CHECK(k >= 0 && k <= (self.dim() > 0 ? self.sizes()[dim] : 1), "selected index k out of range");
  DimVector shape(self.sizes());
  if (self.dim() > 0) shape[dim] = k;
  const Tensor values = at::detail::empty(shape, self.dtype(), self.device());
  const Tensor indices = at::zeros(shape, TensorOptions(kLong).device(self.device()));
  if (self.dim() == 0) {
    if (k == 1) at::detail::copy_into(values, self);
  } else if (values.numel() > 0) {
    run_kernel(topk_kernels, self.device(), values, indices, self, dim, largest, sorted);
  }
  return {values, indices};
}

}  // namespace at::native
