// Similarities and distances of vectors.

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>

#include <cmath>
#include <limits>

namespace at::native {

namespace {

// The p-norm along one dimension.
Tensor norm_along(const Tensor& x, double p, int64_t dim, bool keepdim) {
  if (p == 2) return at::sqrt(at::sum(at::mul(x, x), {dim}, keepdim));
  const Tensor magnitude = at::abs(x);
  if (p == 0) return at::sum(at::ne(x, Scalar(0)), {dim}, keepdim, x.dtype());
  if (p == 1) return at::sum(magnitude, {dim}, keepdim);
  if (p == std::numeric_limits<double>::infinity()) return at::amax(magnitude, {dim}, keepdim);
  if (p == -std::numeric_limits<double>::infinity()) return at::amin(magnitude, {dim}, keepdim);
  return at::pow(at::sum(at::pow(magnitude, Scalar(p)), {dim}, keepdim), Scalar(1 / p));
}

}  // namespace

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  TORCH_CHECK(x1.is_floating_point() && x2.is_floating_point(), "expected common dtype to be floating point, yet common dtype is ",
              x1.is_floating_point() ? x2.dtype() : x1.dtype());
  const std::vector<Tensor> both = at::broadcast_tensors({x1, x2});
  const Tensor one = at::div(both[0], at::clamp_min(norm_along(both[0], 2, dim, true), Scalar(eps)));
  const Tensor other = at::div(both[1], at::clamp_min(norm_along(both[1], 2, dim, true), Scalar(eps)));
  return at::sum(at::mul(one, other), {dim}, false);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return norm_along(at::add(at::sub(x1, x2), Scalar(eps)), p, -1, keepdim);
}

}  // namespace at::native
