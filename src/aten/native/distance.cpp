// Similarities and distances of vectors.

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>
#include <c10/core/Extents.h>
#include <c10/core/GradMode.h>

namespace at::native {

namespace {

// The length along one dimension, but at least eps, which changes no gradient: a vector of zeros has one, too.
Tensor length_along(const Tensor& x, int64_t dim, double eps) {
  Tensor length = at::clone(at::norm(x, std::optional<Scalar>(2), {dim}, /*keepdim=*/true));
  const c10::NoGradGuard no_gradient;
  return length.clamp_(Scalar(eps), std::nullopt);
}

}  // namespace

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  TORCH_CHECK(x1.is_floating_point() && x2.is_floating_point(),
              "expected common dtype to be floating point, yet common dtype is ",
              x1.is_floating_point() ? x2.dtype() : x1.dtype());
  const std::vector<Tensor> both = at::broadcast_tensors({x1, x2});
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

Tensor pdist(const Tensor& self, double p) {
  TORCH_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  TORCH_CHECK(self.is_floating_point(), "pdist only supports floating-point dtypes");
  TORCH_CHECK(p >= 0, "pdist only supports non-negative p values");
  const int64_t rows = self.sizes()[0];
  const Tensor pairs = at::triu_indices(rows, rows, 1, TensorOptions(kLong).device(self.device()));
  const Tensor differences =
      at::sub(at::index_select(self, 0, at::select(pairs, 0, 0)), at::index_select(self, 0, at::select(pairs, 0, 1)));
  // How many are not 0, with a gradient of 0.
  if (p == 0) return at::sum(at::clamp_max(at::ceil(at::abs(differences)), Scalar(1)), {1}, /*keepdim=*/false);
  return at::norm(differences, std::optional<Scalar>(p), {1}, /*keepdim=*/false);
}

}  // namespace at::native
