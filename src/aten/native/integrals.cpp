// Integrals and slopes of functions that are known at some points.

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>
#include <aten/WrappedScalar.h>
#include <aten/native/Dimensions.h>

namespace at::native {

namespace {

// The areas between neighbouring samples along `dim`, each twice.
Tensor double_areas(const Tensor& y, const Tensor& widths, int64_t dim) {
  const int64_t size = y.sizes()[dim];
  // two may not fit uint8
  const Tensor samples = c10::is_integral_type(y.dtype(), /*include_bool=*/false) ? y.to(kLong) : y;
  const Tensor sums = at::narrow(samples, dim, 1, size - 1) + at::narrow(samples, dim, 0, size - 1);
  return widths.defined() ? at::mul(sums, widths) : sums;
}

// The distances between the points of `x`, in a shape that goes with the areas of `y` along `dim`.
Tensor widths_of(const Tensor& y, const Tensor& x, int64_t dim) {
  if (x.dim() == 1) {
    TORCH_CHECK(x.numel() == y.sizes()[dim], "trapezoid: There must be one `x` value for each sample point");
    DimVector shape(y.dim(), 1);
    shape[dim] = x.numel() - 1;
    return at::reshape(at::diff(x), shape);
  }
  Tensor points = x;
  while (points.dim() < y.dim()) points = at::unsqueeze(points, 0);
  return at::diff(points, 1, dim);
}

bool is_single_sample(const Tensor& y, int64_t dim) { return y.sizes()[dim] <= 1; }

Tensor without(const Tensor& y, int64_t dim) {
  DimVector shape(y.sizes());
  shape.erase(dim);
  return at::zeros(shape, y.options());
}

void check_not_bool(const Tensor& y, const char* name) {
  TORCH_CHECK(y.dtype() != kBool, name, ": received a bool input for `x` or `y`, but bool is not supported");
}

}  // namespace

Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = wrap_dim(dim, y.dim(), false);
  check_not_bool(y, "trapezoid");
  check_not_bool(x, "trapezoid");
  if (y.sizes()[dim] == 0) return without(y, dim);
  return at::sum(double_areas(y, widths_of(y, x, dim), dim), {dim}, false) / 2.0;
}

Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = wrap_dim(dim, y.dim(), false);
  check_not_bool(y, "trapezoid");
  TORCH_CHECK(!dx.is_complex() && !dx.is_boolean(), "trapezoid: Currently, we only support dx as a real number.");
  if (y.sizes()[dim] == 0) return without(y, dim);
  // Every sample counts for the areas on both sides of it, but the first and the last for one.
  const Tensor samples = c10::is_integral_type(y.dtype(), /*include_bool=*/false) ? y.to(kLong) : y;
  const Tensor ends = at::add(at::select(samples, dim, 0), at::select(samples, dim, -1));
  return at::sub(at::sum(y, {dim}, false), at::mul(ends, Scalar(0.5))) * dx.toDouble();
}

Tensor trapz_x(const Tensor& y, const Tensor& x, int64_t dim) { return at::trapezoid(y, x, dim); }
Tensor trapz_dx(const Tensor& y, double dx, int64_t dim) { return at::trapezoid(y, Scalar(dx), dim); }

Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = wrap_dim(dim, y.dim(), false);
  check_not_bool(y, "cumulative_trapezoid");
  check_not_bool(x, "cumulative_trapezoid");
  if (is_single_sample(y, dim)) return at::zeros(at::narrow(y, dim, 0, 0).sizes(), y.options());
  return at::cumsum(double_areas(y, widths_of(y, x, dim), dim), dim) / 2.0;
}

Tensor cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = wrap_dim(dim, y.dim(), false);
  check_not_bool(y, "cumulative_trapezoid");
  TORCH_CHECK(!dx.is_complex() && !dx.is_boolean(),
              "cumulative_trapezoid: Currently, we only support dx as a real number.");
  if (is_single_sample(y, dim)) return at::zeros(at::narrow(y, dim, 0, 0).sizes(), y.options());
  return at::cumsum(double_areas(y, Tensor(), dim), dim) * (dx.toDouble() / 2);
}

namespace {

DimVector gradient_dimensions(const Tensor& self, IntArrayRef dim) {
  DimVector dims;
  for (int64_t i = 0; dim.empty() && i < self.dim(); ++i) dims.push_back(i);
  for (const int64_t each : dim) dims.push_back(wrap_dim(each, self.dim()));
  (void)dim_mask(dims, self.dim());  // refuses the same one twice
  return dims;
}

void check_gradient(const Tensor& self, IntArrayRef dims, size_t spacings, int64_t edge_order) {
  TORCH_CHECK(spacings == 1 || spacings == dims.size(),
              "torch.gradient expected spacing to be unspecified, a scalar, or a "
              "list of length equal to 'self.dim() = ",
              self.dim(),
              "', since dim argument was not given, but got a list of "
              "length ",
              spacings);
  TORCH_CHECK(edge_order == 1 || edge_order == 2, "torch.gradient only supports edge_order=1 and edge_order=2.");
  TORCH_CHECK(self.dtype() != kByte, "torch.gradient does not support uint8 input.");
  for (const int64_t dim : dims) {
    TORCH_CHECK(self.sizes()[dim] >= edge_order + 1,
                "torch.gradient expected each dimension size to be at least edge_order+1");
  }
}

// The slope along `dim`: inside by both neighbours, at the edges by one or two. `points` has the coordinates.
Tensor slope_along(const Tensor& self, const Tensor& points, int64_t dim, int64_t edge_order) {
  const int64_t size = self.sizes()[dim];
  DimVector shape(self.dim(), 1);
  shape[dim] = size - 1;
  const Tensor steps = at::reshape(at::diff(points), shape);
  const auto value = [&](int64_t start, int64_t length) { return at::narrow(self, dim, start, length); };
  const auto step = [&](int64_t start, int64_t length) { return at::narrow(steps, dim, start, length); };
  const Tensor slopes = at::div(value(1, size - 1) - value(0, size - 1), steps);
  const auto slope = [&](int64_t start, int64_t length) { return at::narrow(slopes, dim, start, length); };
  Tensor first = slope(0, 1);
  Tensor last = slope(size - 2, 1);
  if (edge_order == 2) {
    const Tensor bend_first = at::div(slope(1, 1) - slope(0, 1), step(0, 1) + step(1, 1));
    const Tensor bend_last = at::div(slope(size - 2, 1) - slope(size - 3, 1), step(size - 2, 1) + step(size - 3, 1));
    first = first - bend_first * step(0, 1);
    last = last + bend_last * step(size - 2, 1);
  }
  if (size == 2) return at::cat({first, last}, dim);
  const Tensor before = step(0, size - 2);
  const Tensor after = step(1, size - 2);
  const Tensor inside = at::div(slope(0, size - 2) * after + slope(1, size - 2) * before, before + after);
  return at::cat({first, inside, last}, dim);
}

// The same where all steps are `width`.
Tensor even_slope_along(const Tensor& self, double width, int64_t dim, int64_t edge_order) {
  const int64_t size = self.sizes()[dim];
  const auto value = [&](int64_t start, int64_t length) { return at::narrow(self, dim, start, length); };
  const auto edge = [&](int64_t at, int64_t next, int64_t last, double step) {
    if (edge_order == 1) return at::div(value(next, 1) - value(at, 1), Scalar(step));
    return at::div(value(next, 1) * 2.0 - value(at, 1) * 1.5 - value(last, 1) * 0.5, Scalar(step));
  };
  const Tensor first = edge(0, 1, std::min<int64_t>(2, size - 1), width);
  const Tensor last = edge(size - 1, size - 2, std::max<int64_t>(0, size - 3), -width);
  if (size == 2) return at::cat({first, last}, dim);
  return at::cat({first, at::div(value(2, size - 2) - value(0, size - 2), Scalar(2 * width)), last}, dim);
}

std::vector<Tensor> gradient_even(const Tensor& self, ArrayRef<double> spacing, IntArrayRef dim, int64_t edge_order) {
  const DimVector dims = gradient_dimensions(self, dim);
  check_gradient(self, dims, spacing.size(), edge_order);
  std::vector<Tensor> result;
  const Tensor values = c10::is_integral_type(self.dtype(), true) ? self.to(c10::get_default_dtype()) : self;
  for (size_t i = 0; i < dims.size(); ++i)
    result.push_back(even_slope_along(values, spacing[spacing.size() == 1 ? 0 : i], dims[i], edge_order));
  return result;
}

}  // namespace

std::vector<Tensor> gradient_scalar(const Tensor& self, const std::optional<Scalar>& spacing,
                                    std::optional<int64_t> dim, int64_t edge_order) {
  const double width = spacing ? spacing->toDouble() : 1;
  return gradient_even(self, width, dim ? IntArrayRef(*dim) : IntArrayRef(), edge_order);
}
std::vector<Tensor> gradient_scalar_dims(const Tensor& self, const Scalar& spacing, IntArrayRef dim,
                                         int64_t edge_order) {
  return gradient_even(self, spacing.toDouble(), dim, edge_order);
}
std::vector<Tensor> gradient_dims(const Tensor& self, IntArrayRef dim, int64_t edge_order) {
  return gradient_even(self, 1.0, dim, edge_order);
}
std::vector<Tensor> gradient_list(const Tensor& self, ArrayRef<double> spacing, std::optional<int64_t> dim,
                                  int64_t edge_order) {
  return gradient_even(self, spacing, dim ? IntArrayRef(*dim) : IntArrayRef(), edge_order);
}
std::vector<Tensor> gradient_list_dims(const Tensor& self, ArrayRef<double> spacing, IntArrayRef dim,
                                       int64_t edge_order) {
  TORCH_CHECK(spacing.size() == dim.size(),
              "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
              "arguments to have the same length, but got a spacing argument of length ",
              spacing.size(), " and a dim argument of length ", dim.size(), ".");
  return gradient_even(self, spacing, dim, edge_order);
}
std::vector<Tensor> gradient_points(const Tensor& self, TensorList spacing, std::optional<int64_t> dim,
                                    int64_t edge_order) {
  return at::gradient(self, spacing, dim ? IntArrayRef(*dim) : IntArrayRef(), edge_order);
}
std::vector<Tensor> gradient_points_dims(const Tensor& self, TensorList spacing, IntArrayRef dim, int64_t edge_order) {
  const DimVector dims = gradient_dimensions(self, dim);
  check_gradient(self, dims, spacing.size(), edge_order);
  const Tensor values = c10::is_integral_type(self.dtype(), true) ? self.to(c10::get_default_dtype()) : self;
  std::vector<Tensor> result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Tensor& points = spacing[spacing.size() == 1 ? 0 : i];
    TORCH_CHECK(points.dim() == 1 && points.numel() == self.sizes()[dims[i]],
                "torch.gradient expected each element of spacing to have the size of its dimension");
    result.push_back(slope_along(values, points, dims[i], edge_order));
  }
  return result;
}

}  // namespace at::native
