// Gradients of special functions, running products and extremes, and of scatter that puts values together.

#include <torch/csrc/autograd/FunctionsManual.h>

#include <aten/ATen.h>

namespace torch::autograd {

Tensor not_differentiable(const Tensor&, const char* what) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "the derivative for '", what, "' is not implemented.");
  return {};
}

Tensor sinc_backward(const Tensor& grad, const Tensor& self) {
  const Tensor angle = self * 3.14159265358979323846;
  const Tensor product = angle * self;
  const Tensor slope = (angle * angle.cos() - angle.sin()) / product.masked_fill(product == 0, 1);
  return grad * slope.masked_fill(product == 0, 0).conj();
}

Tensor i1_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  // At 0 the quotient is one half.
  const Tensor is_zero = self == 0;
  const Tensor slope = at::i0(self) - result / self.masked_fill(is_zero, 1);
  return grad * slope.masked_fill(is_zero, 0.5);
}

Tensor i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor is_zero = self == 0;
  const Tensor slope = at::special_i0e(self) - result * (self.sgn() + self.masked_fill(is_zero, 1).reciprocal());
  return grad * slope.masked_fill(is_zero, 0.5);
}

Tensor igamma_slope(const Tensor& self, const Tensor& other) {
  return ((self - 1) * other.log() - other - self.lgamma()).exp();
}

Tensor dirichlet_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor slope = at::_dirichlet_grad(result, self, at::sum(self, -1, true).expand_as(self));
  return slope * (grad - at::sum(result * grad, -1, true));
}

namespace {

Tensor reversed_sum(const Tensor& values, int64_t dim) { return values.flip({dim}).cumsum(dim).flip({dim}); }

Tensor reversed_logsumexp(const Tensor& values, int64_t dim) {
  return values.flip({dim}).logcumsumexp(dim).flip({dim});
}

}  // namespace

Tensor cumprod_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& result) {
  if (self.dim() == 0 || self.numel() <= 1) return grad;
  const Tensor input = self.to(grad.dtype());
  if (self.is_meta() || !at::any(self == 0).item<bool>()) {
    return reversed_sum(grad * result.conj(), dim) / input.conj();
  }
  // Next to a zero there is nothing to divide by: for every position the products without it.
  const Tensor rows = input.movedim(dim, -1).conj();
  const int64_t size = rows.sizes().back();
  const Tensor diagonal = at::eye(size, at::TensorOptions(at::kBool).device(self.device()));
  const Tensor products = at::where(diagonal, 1, rows.unsqueeze(-2)).cumprod(-1);
  return (products * grad.movedim(dim, -1).unsqueeze(-2)).triu().sum({-1}, false).movedim(-1, dim);
}

Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  if (c10::GradMode::is_enabled() || self.is_complex()) {
    // Complex, or to be differentiated again: without the logarithms of gradients, whose slope at 0 has no number.
    const Tensor greatest = at::amax(at::real(at::detach(self)), {dim}, /*keepdim=*/true);
    return (self - greatest).exp().conj() * reversed_sum(grad * (greatest - result).exp().conj(), dim);
  }
  const auto part = [&](const Tensor& positive) {
    return (reversed_logsumexp(positive.log() - result, dim) + self).exp();
  };
  return part(at::clamp(grad, Scalar(0))) - part(at::clamp(-grad, Scalar(0)));
}

Tensor cumulative_extreme_backward(const Tensor& grad, IntArrayRef sizes, const Tensor& indices, int64_t dim) {
  if (sizes.empty() || grad.numel() == 0) return grad;
  return at::scatter_add(zeros_beside(grad, sizes), dim, indices, grad);
}

namespace {

// `tensor` with zeros behind its end in every dimension.
Tensor padded_to(const Tensor& tensor, IntArrayRef sizes) {
  std::vector<int64_t> pad;
  for (size_t i = sizes.size(); i-- > 0;) {
    pad.push_back(0);
    pad.push_back(sizes[i] - tensor.sizes()[i]);
  }
  return at::constant_pad_nd(tensor, pad);
}

Tensor cut_to(const Tensor& tensor, IntArrayRef sizes) {
  Tensor result = tensor;
  for (size_t i = 0; i < sizes.size(); ++i) result = result.narrow(static_cast<int64_t>(i), 0, sizes[i]);
  return result;
}

// What each place's gradient is divided by: how many values made its mean, or are its extremum.
Tensor shares(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& counted, bool counts_self) {
  const Tensor own = counts_self ? at::ones_like(self) : at::zeros_like(self);
  return at::clamp(at::scatter_add(own, dim, index, counted), Scalar(1));
}

}  // namespace

Tensor scatter_reduce_self_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& given_index,
                                    const Tensor& given_src, std::string_view reduce, bool include_self,
                                    const Tensor& result) {
  if (given_index.numel() == 0) return grad;
  const Tensor index = given_index.to(at::kLong);
  const Tensor src = cut_to(given_src, index.sizes());
  Tensor gradient = grad;
  if (reduce == "prod") {
    gradient = grad * at::scatter_reduce(at::ones_like(self), dim, index, src, "prod", true);
  } else if (reduce == "mean") {
    gradient = grad / shares(self, dim, index, at::ones_like(src), include_self);
  } else if (reduce == "amax" || reduce == "amin") {
    const Tensor matches = (src == result.gather(dim, index)).to(self.dtype());
    const Tensor own = (self == result).to(self.dtype());
    gradient = grad * own / at::clamp(at::scatter_add(own, dim, index, matches), Scalar(1));
  }
  return include_self ? gradient : at::scatter(gradient, dim, index, Scalar(0));
}

Tensor scatter_reduce_source_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& given_index,
                                      const Tensor& given_src, std::string_view reduce, bool include_self,
                                      const Tensor& result) {
  if (given_index.numel() == 0) return at::zeros_like(given_src);
  const Tensor index = given_index.to(at::kLong);
  const Tensor src = cut_to(given_src, index.sizes());
  Tensor gradient = grad.gather(dim, index);
  if (reduce == "prod") {
    // Products of the other values: of one zero all of them, of several none.
    const Tensor is_zero = src == 0;
    const Tensor without = src.masked_fill(is_zero, 1);
    const Tensor product = at::scatter_reduce(self, dim, index, without, "prod", include_self).gather(dim, index);
    const Tensor zeros = at::scatter_add(at::zeros_like(self), dim, index, is_zero.to(self.dtype())).gather(dim, index);
    gradient = gradient * (product / without).masked_fill(at::where(is_zero, zeros > 1, zeros > 0), 0);
  } else if (reduce == "mean") {
    gradient = (grad / shares(self, dim, index, at::ones_like(src), include_self)).gather(dim, index);
  } else if (reduce == "amax" || reduce == "amin") {
    const Tensor matches = (src == result.gather(dim, index)).to(self.dtype());
    const Tensor own = include_self ? (self == result).to(self.dtype()) : at::zeros_like(self);
    const Tensor count = at::clamp(at::scatter_add(own, dim, index, matches), Scalar(1));
    gradient = (grad / count).gather(dim, index) * matches;
  }
  return padded_to(gradient, given_src.sizes());
}

}  // namespace torch::autograd
