// Similarities and distances of vectors.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>
#include <c10/core/Extents.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

namespace at::native {

namespace {

// The length along one dimension, but at least eps, which changes no gradient: a vector of zeros has one, too.
Tensor length_along(const Tensor& x, int64_t dim, double eps) {
  Tensor length = at::clone(at::norm(x, std::optional<Scalar>(2), {dim}, /*keepdim=*/true));
  const c10::NoGradGuard no_gradient;
  return length.clamp_(Scalar(eps), std::nullopt);
}

// Whether distances are an operator of their own; otherwise they are norms of differences.
bool has_distances(const Tensor& x) { return x.dtype() == kFloat || x.dtype() == kDouble; }

// Whether they, and their gradients, are computed in one pass.
bool is_fused(const Tensor& x) { return x.is_cpu() && has_distances(x); }

// How many are not 0, with a gradient of 0, or a norm.
Tensor norm_of_differences(const Tensor& differences, double p) {
  if (p == 0) return at::sum(at::clamp_max(at::ceil(at::abs(differences)), Scalar(1)), {-1}, /*keepdim=*/false);
  return at::norm(differences, std::optional<Scalar>(p), {-1}, /*keepdim=*/false);
}

// The gradient of each difference from those of the norms, of operators that can be differentiated again.
Tensor differences_backward(const Tensor& grad, const Tensor& differences, double p, const Tensor& distances) {
  if (p == 0) return at::zeros_like(differences);
  const auto keep_nan = [](const Tensor& x, const Tensor& otherwise) { return at::where(at::ne(x, x), x, otherwise); };
  const Tensor sign = keep_nan(differences, at::sgn(differences));
  const Tensor slope = at::unsqueeze(grad, -1);
  if (p == 1) return at::mul(slope, sign);
  const Tensor distance = at::unsqueeze(distances, -1);
  const Tensor size = at::abs(differences);
  if (std::isinf(p)) {
    return at::mul(slope, keep_nan(at::sub(size, distance), at::mul(sign, at::eq(size, distance))));
  }
  const auto without_zeros = [](const Tensor& x) { return at::masked_fill(x, at::eq(x, Scalar(0)), Scalar(1)); };
  const Tensor power = at::pow(without_zeros(distance), Scalar(p - 1));
  const Tensor share = at::masked_fill(at::div(slope, power), at::eq(distance, Scalar(0)), Scalar(0));
  if (p == 2) return at::mul(differences, share);
  return at::mul(at::mul(sign, at::pow(without_zeros(size), Scalar(p - 1))), share);
}

IntArrayRef batch_of(const Tensor& x) { return x.sizes().slice(0, static_cast<size_t>(x.dim()) - 2); }

// Dense matrices of `batch`.
Tensor expand_batch(const Tensor& x, const DimVector& batch) {
  DimVector shape = batch;
  shape.push_back(x.sizes()[x.dim() - 2]);
  shape.push_back(x.sizes().back());
  return at::detail::to_contiguous(x.expand(shape));
}

// Two rows for each pair, the earlier one first.
std::pair<Tensor, Tensor> pairs_of_rows(const Tensor& self) {
  const int64_t rows = self.sizes()[0];
  const Tensor pairs = at::triu_indices(rows, rows, 1, TensorOptions(kLong).device(self.device()));
  return {at::select(pairs, 0, 0), at::select(pairs, 0, 1)};
}

Tensor differences_of_pairs(const Tensor& self) {
  const auto [left, right] = pairs_of_rows(self);
  return at::sub(at::index_select(self, 0, left), at::index_select(self, 0, right));
}

}  // namespace

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const ScalarType common = at::result_type({x1, x2});
  TORCH_CHECK(c10::is_floating_type(common), "expected common dtype to be floating point, yet common dtype is ",
              common);
  const std::vector<Tensor> both = at::broadcast_tensors({x1.to(common), x2.to(common)});
  const Tensor one = at::div(both[0], length_along(both[0], dim, eps));
  const Tensor other = at::div(both[1], length_along(both[1], dim, eps));
  return at::sum(at::mul(one, other), {dim}, false);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return at::norm(at::add(at::sub(x1, x2), Scalar(eps)), std::optional<Scalar>(p), {-1}, keepdim);
}

// |a - b|² = |a|² - 2ab + |b|², all of it by one product of matrices.
Tensor _euclidean_dist(const Tensor& x1, const Tensor& x2) {
  c10::checked_multiply(x1.sizes()[x1.dim() - 2], x2.sizes()[x2.dim() - 2], "cdist");  // before anything is allocated
  const Tensor squares1 = at::sum(at::mul(x1, x1), {-1}, /*keepdim=*/true);
  const Tensor squares2 = at::sum(at::mul(x2, x2), {-1}, /*keepdim=*/true);
  const Tensor left = at::cat({at::mul(x1, Scalar(-2)), squares1, at::ones_like(squares1)}, -1);
  const Tensor right = at::cat({x2, at::ones_like(squares2), squares2}, -1);
  return at::sqrt(at::clamp_min(at::matmul(left, at::transpose(right, -2, -1)), Scalar(0)));
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  TORCH_CHECK(x1.dim() >= 2 && x2.dim() >= 2, "cdist only supports at least 2D tensors, X", x1.dim() < 2 ? 1 : 2,
              " got: ", x1.dim() < 2 ? x1.dim() : x2.dim(), "D");
  TORCH_CHECK(!x1.is_complex() && !x2.is_complex(), "cdist only supports floating-point dtypes, X",
              x1.is_complex() ? 1 : 2, " got: ", x1.is_complex() ? x1.dtype() : x2.dtype());
  TORCH_CHECK_NOT_IMPLEMENTED(!c10::is_reduced_floating_type(x1.dtype()), "\"cdist\" not implemented for '", x1.dtype(),
                              "'");
  TORCH_CHECK(x1.sizes().back() == x2.sizes().back(), "X1 and X2 must have the same number of columns. X1: ",
              x1.sizes().back(), " X2: ", x2.sizes().back());
  TORCH_CHECK(p >= 0, "cdist only supports non-negative p values");
  if (x1.sizes().back() == 0) {
    return at::norm(at::sub(at::unsqueeze(x1, -2), at::unsqueeze(x2, -3)), std::optional<Scalar>(2), {-1}, false);
  }
  constexpr int64_t kFew = 25;  // rows, up to which the differences themselves are taken
  const int64_t mode = compute_mode.value_or(0);
  if (p == 2 && (mode == 1 || (mode == 0 && std::max(x1.sizes()[x1.dim() - 2], x2.sizes()[x2.dim() - 2]) > kFew))) {
    return at::_euclidean_dist(x1, x2);
  }
  if (has_distances(x1) && x1.device() == x2.device() && x1.dtype() == x2.dtype()) {
    return at::_cdist_forward(x1, x2, p, compute_mode);
  }
  return norm_of_differences(at::sub(at::unsqueeze(x1, -2), at::unsqueeze(x2, -3)), p);
}

Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t>) {
  if (!is_fused(x1)) return norm_of_differences(at::sub(at::unsqueeze(x1, -2), at::unsqueeze(x2, -3)), p);
  DimVector shape = broadcast_shapes(batch_of(x1), batch_of(x2));
  const Tensor left = expand_batch(x1, shape);
  const Tensor right = expand_batch(x2, shape);
  shape.push_back(x1.sizes()[x1.dim() - 2]);
  shape.push_back(x2.sizes()[x2.dim() - 2]);
  const Tensor out = at::detail::empty(shape, x1.options());
  cpu::distances_of_pairs(out, left, right, p);
  return out;
}

Tensor _cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist) {
  if (!is_fused(x1) || is_differentiated(grad) || is_differentiated(x1) || is_differentiated(x2)) {
    const Tensor differences = at::sub(at::unsqueeze(x1, -2), at::unsqueeze(x2, -3));
    return at::sum(differences_backward(grad, differences, p, cdist), {-2}, /*keepdim=*/false);
  }
  const DimVector shape(batch_of(cdist));
  const Tensor left = expand_batch(x1, shape);
  if (p == 0 || x2.numel() == 0) return at::zeros_like(left);
  const Tensor out = at::detail::empty(left.sizes(), x1.options());
  cpu::slopes_of_pairs(out, at::detail::to_contiguous(grad), left, expand_batch(x2, shape), p,
                       at::detail::to_contiguous(cdist));
  return out;
}

Tensor pdist(const Tensor& self, double p) {
  TORCH_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  TORCH_CHECK(self.is_floating_point(), "pdist only supports floating-point dtypes");
  TORCH_CHECK(p >= 0, "pdist only supports non-negative p values");
  return has_distances(self) ? at::_pdist_forward(self, p) : norm_of_differences(differences_of_pairs(self), p);
}

Tensor _pdist_forward(const Tensor& self, double p) {
  if (!is_fused(self)) return norm_of_differences(differences_of_pairs(self), p);
  const int64_t rows = self.sizes()[0];
  const Tensor out = at::detail::empty({rows * std::max<int64_t>(rows - 1, 0) / 2}, self.options());
  cpu::distances_within(out, at::detail::to_contiguous(self), p);
  return out;
}

Tensor _pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
  if (p == 0) return at::zeros_like(self);
  if (!is_fused(self) || is_differentiated(grad) || is_differentiated(self)) {
    const auto [left, right] = pairs_of_rows(self);
    const Tensor slopes = differences_backward(grad, differences_of_pairs(self), p, pdist);
    return at::index_add(at::index_add(at::zeros_like(self), 0, left, slopes), 0, right, slopes, -1);
  }
  const Tensor out = at::detail::empty(self.sizes(), self.options());
  cpu::slopes_within(out, at::detail::to_contiguous(grad), at::detail::to_contiguous(self), p,
                     at::detail::to_contiguous(pdist));
  return out;
}

}  // namespace at::native
