// Sorting along one dimension. Sorts are stable; NaN counts as greater than every number.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>

#include <limits>

namespace at::native {

namespace {
// Whether there is no more than one element to choose from along `dim`.
bool has_one_place(const Tensor& self, int64_t dim) { return self.dim() == 0 || self.sizes()[dim] == 1; }
}  // namespace

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  TORCH_CHECK(!self.is_complex(), " Sort does not support complex dtypes on CPU");
  dim = wrap_dim(dim, self.dim());
  Tensor values = at::detail::empty(self.sizes(), self.dtype(), self.device());
  Tensor indices = at::detail::empty(self.sizes(), kLong, self.device());
  if (has_one_place(self, dim)) {
    at::detail::copy_into(values, self);
    indices = at::zeros(self.sizes(), indices.options());
  } else if (self.numel() > 0) {
    run_kernel(sort_kernels, self.device(), values, indices, self, dim, descending);
  }
  if (self.is_contiguous()) return {std::move(values), std::move(indices)};
  const auto laid_out = [&](const Tensor& result) {
    const Tensor copy = native::empty_like(self, result.dtype(), MemoryFormat::Preserve);
    at::detail::copy_into(copy, result);
    return copy;
  };
  return {laid_out(values), laid_out(indices)};
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, dim, descending));
}

std::tuple<Tensor, Tensor> sort_stable(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim,
                                       bool descending) {
  return at::sort(self, dim, descending);
}

Tensor argsort_stable(const Tensor& self, bool /*stable*/, int64_t dim, bool descending) {
  return at::argsort(self, dim, descending);
}

namespace {

// Where the median is among `size` sorted elements: the lower one of two, or the first NaN (they come last).
Tensor median_places(const Tensor& sorted, int64_t dim) {
  const int64_t size = sorted.sizes()[dim];
  const Tensor numbers = at::sum(at::eq(sorted, sorted), {dim}, /*keepdim=*/true);
  const Tensor middle = at::full_like(numbers, (size - 1) / 2);
  return sorted.is_floating_point() ? at::where(at::lt(numbers, size), numbers, middle) : middle;
}

}  // namespace

Tensor median(const Tensor& self) {
  const Tensor flat = at::reshape(self, {self.numel()});
  if (self.numel() > 0) return std::get<0>(at::median(flat, 0));
  TORCH_CHECK(self.is_floating_point(), "median(): the input has no elements");
  return at::full({}, Scalar(std::numeric_limits<double>::quiet_NaN()), self.options());
}

std::tuple<Tensor, Tensor> median_dim(const Tensor& self, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(self.dim() == 0 || self.sizes()[dim] > 0, "median(): Expected reduction dim ", dim,
                    " to have non-zero size.");
  DimVector shape(self.sizes());
  if (self.dim() > 0) shape[dim] = 1;
  Tensor values = at::detail::empty(shape, self.dtype(), self.device());
  Tensor indices = at::detail::empty(shape, kLong, self.device());
  if (has_one_place(self, dim)) {
    at::detail::copy_into(values, self);
    indices = at::zeros(shape, indices.options());
  } else if (values.numel() > 0 && self.is_cpu()) {
    run_kernel(median_kernels, self.device(), values, indices, self, dim);
  } else if (values.numel() > 0) {
    const auto [sorted, order] = at::sort(self, dim);
    const Tensor places = median_places(sorted, dim);
    values = at::gather(sorted, dim, places);
    indices = at::gather(order, dim, places);
  }
  if (keepdim) return {std::move(values), std::move(indices)};
  return {native::squeeze_dim(values, dim), native::squeeze_dim(indices, dim)};
}

std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted) {
  dim = wrap_dim(dim, self.dim());
  TORCH_CHECK(!self.is_complex(), " topk does not support complex dtypes on CPU");
  TORCH_CHECK(self.dtype() != kBool, "topk does not support bool dtypes on ",
              c10::device_type_name(self.device_type(), true));
  TORCH_CHECK(k >= 0 && k <= (self.dim() > 0 ? self.sizes()[dim] : 1), "selected index k out of range");
  DimVector shape(self.sizes());
  if (self.dim() > 0) shape[dim] = k;
  const Tensor values = at::detail::empty(shape, self.dtype(), self.device());
  const Tensor indices = at::zeros(shape, TensorOptions(kLong).device(self.device()));
  if (has_one_place(self, dim)) {
    if (k == 1) at::detail::copy_into(values, self);
  } else if (values.numel() > 0) {
    run_kernel(topk_kernels, self.device(), values, indices, self, dim, largest, sorted);
  }
  return {values, indices};
}

}  // namespace at::native
