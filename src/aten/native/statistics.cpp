// Order statistics, histograms, covariance: what describes a sample.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/WrappedScalar.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedKernels.h>

#include <cmath>
#include <limits>

namespace at::native {

namespace {

Tensor flat(const Tensor& self) { return at::reshape(self, {-1}); }

Tensor squeezed(const Tensor& tensor, int64_t dim, bool keepdim) { return keepdim ? tensor : at::squeeze(tensor, dim); }

void check_has_elements(const Tensor& self, int64_t dim, const char* name) {
  TORCH_CHECK_INDEX(self.dim() == 0 || self.sizes()[dim] > 0, name, "(): Expected reduction dim ", dim,
                    " to have non-zero size.");
}

}  // namespace

// ---------------------------------------------------------------------------------------------- running values

Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  dim = wrap_dim(dim, self.dim());
  const ScalarType computed = dtype ? *dtype : c10::is_integral_type(self.dtype(), true) ? kLong : self.dtype();
  const Tensor out = at::detail::empty(self.sizes(), computed, self.device());
  if (self.dim() == 0) {
    at::detail::copy_into(out, self);
  } else if (out.numel() > 0 && self.is_cpu()) {  // whose kernel reads all types
    run_kernel(cumprod_kernels, self.device(), out, self, dim);
  } else if (out.numel() > 0) {
    run_kernel_in_float32(cumprod_kernels, self.device(), out, at::detail::to_dtype(self, computed), dim);
  }
  return out;
}

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  if (c10::is_integral_type(self.dtype(), true))
    at::detail::throw_dtype_not_implemented("logcumsumexp_out_cpu", self.dtype());
  const Tensor out = at::detail::empty(self.sizes(), self.dtype(), self.device());
  if (self.dim() == 0) {
    at::detail::copy_into(out, self);
  } else if (out.numel() > 0) {
    run_kernel_in_float32(logcumsumexp_kernels, self.device(), out, self, dim);
  }
  return out;
}

namespace {

std::tuple<Tensor, Tensor> cumulative_extreme(const Tensor& self, int64_t dim, bool greatest, const char* name) {
  dim = wrap_dim(dim, self.dim());
  if (self.is_complex()) at::detail::throw_dtype_not_implemented(name, self.dtype());
  const Tensor values = at::detail::empty(self.sizes(), self.dtype(), self.device());
  Tensor indices = at::detail::empty(self.sizes(), kLong, self.device());
  if (self.dim() == 0) {
    at::detail::copy_into(values, self);
    indices = at::zeros({}, indices.options());
  } else if (values.numel() > 0) {
    run_kernel(cumulative_extreme_kernels, self.device(), values, indices, self, dim, greatest);
  }
  return {values, indices};
}

}  // namespace

std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
  return cumulative_extreme(self, dim, /*greatest=*/true, "cummax_cpu");
}
std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim) {
  return cumulative_extreme(self, dim, /*greatest=*/false, "cummin_cpu");
}

// ---------------------------------------------------------------------------------------------- order statistics

std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  if (self.is_complex()) at::detail::throw_dtype_not_implemented("kthvalue_cpu", self.dtype());
  const int64_t size = self.dim() > 0 ? self.sizes()[dim] : 1;
  check_has_elements(self, dim, "kthvalue");
  TORCH_CHECK(k >= 1 && k <= size, "kthvalue(): selected number k out of range for dimension ", dim);
  if (self.dim() == 0) return {at::clone(self), at::zeros({}, TensorOptions(kLong).device(self.device()))};
  if (self.is_cpu()) {
    DimVector shape(self.sizes());
    shape[dim] = 1;
    const Tensor values = at::detail::empty(shape, self.dtype(), self.device());
    const Tensor indices = at::detail::empty(shape, kLong, self.device());
    if (values.numel() > 0) cpu::select_in_order(values, indices, self, dim, k - 1);
    return {squeezed(values, dim, keepdim), squeezed(indices, dim, keepdim)};
  }
  const auto [values, indices] = at::sort(self, dim);
  return {squeezed(at::narrow(values, dim, k - 1, 1), dim, keepdim).contiguous(),
          squeezed(at::narrow(indices, dim, k - 1, 1), dim, keepdim).contiguous()};
}

std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  if (self.is_complex()) at::detail::throw_dtype_not_implemented("mode", self.dtype());
  check_has_elements(self, dim, "mode");
  if (self.dim() == 0) return {at::clone(self), at::zeros({}, TensorOptions(kLong).device(self.device()))};
  DimVector shape(self.sizes());
  shape[dim] = 1;
  const Tensor values = at::detail::empty(shape, self.dtype(), self.device());
  const Tensor indices = at::detail::empty(shape, kLong, self.device());
  if (values.numel() > 0) run_kernel(mode_kernels, self.device(), values, indices, self, dim);
  return {squeezed(values, dim, keepdim), squeezed(indices, dim, keepdim)};
}

std::tuple<Tensor, Tensor> nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) {
  if (!self.is_floating_point()) return at::median(self, dim, keepdim);
  dim = wrap_dim(dim, self.dim());
  check_has_elements(self, dim, "nanmedian");
  if (self.dim() == 0) return {at::clone(self), at::zeros({}, TensorOptions(kLong).device(self.device()))};
  if (self.is_cpu()) {
    DimVector shape(self.sizes());
    shape[dim] = 1;
    const Tensor values = at::detail::empty(shape, self.dtype(), self.device());
    const Tensor indices = at::detail::empty(shape, kLong, self.device());
    if (values.numel() > 0) cpu::find_nanmedian(values, indices, at::detach(self), dim);
    const Tensor found = is_differentiated(self) ? at::gather(self, dim, indices) : values;
    return {squeezed(found, dim, keepdim), squeezed(indices, dim, keepdim)};
  }
  // NaN come last: the middle is that of the others.
  const auto [values, indices] = at::sort(self, dim);
  const Tensor numbers = at::sum(at::eq(self, self).to(kLong), {dim}, /*keepdim=*/true);
  const Tensor place = at::clamp(at::floor_divide(numbers - 1, Scalar(2)), Scalar(0));
  return {squeezed(at::gather(values, dim, place), dim, keepdim),
          squeezed(at::gather(indices, dim, place), dim, keepdim)};
}

Tensor nanmedian(const Tensor& self) {
  if (self.numel() == 0) return at::median(self);
  return std::get<0>(at::nanmedian(flat(self), 0, false));
}

Tensor nanmean(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, std::optional<ScalarType> dtype) {
  TORCH_CHECK(c10::is_floating_or_complex_type(self.dtype()),
              "nanmean(): expected input to have floating point or complex "
              "dtype but got ",
              self.dtype());
  const Tensor values = at::detach(self);
  const Tensor numbers = at::sum(at::eq(values, values), dim, keepdim);
  return at::div(at::nansum(self, dim, keepdim, dtype), numbers);
}

namespace {

Tensor quantile_of(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation, bool ignores_nan, const char* name) {
  TORCH_CHECK(self.numel() > 0, name, "() input tensor must be non-empty");
  TORCH_CHECK(q.dim() <= 1, name, "() q must be a scalar or 1D tensor");
  TORCH_CHECK(self.dtype() == kFloat || self.dtype() == kDouble, name,
              "() input tensor must be either float or double dtype");
  TORCH_CHECK(self.dtype() == q.dtype(), name, "() q tensor must be same dtype as the input tensor");
  TORCH_CHECK(self.device() == q.device(), name, "() q tensor must be on the same device as the input tensor");
  bool known = false;
  for (const char* word : {"linear", "lower", "higher", "midpoint", "nearest"}) known |= interpolation == word;
  TORCH_CHECK(known, name, "() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ",
              interpolation);
  if (q.numel() > 0 && !q.is_meta()) {
    const Tensor fits = at::logical_and(at::ge(q, Scalar(0)), at::le(q, Scalar(1)));
    TORCH_CHECK(at::all(fits).item<bool>(), name, "() q values must be in the range [0, 1]");
  }
  const int64_t along = dim ? wrap_dim(*dim, self.dim()) : 0;
  // The samples last, sorted; NaN come last among them.
  const Tensor moved = !dim ? flat(self) : self.dim() == 0 ? at::reshape(self, {1}) : at::movedim(self, along, -1);
  const Tensor sorted = std::get<0>(at::sort(moved, -1));
  const Tensor numbers = at::eq(sorted, sorted);
  const Tensor levels = flat(q);
  const int64_t last = sorted.sizes().back() - 1;
  Tensor rank;
  if (ignores_nan) {
    const Tensor count = at::sum(numbers.to(self.dtype()), {-1}, /*keepdim=*/true);
    rank = at::clamp(levels * (count - 1), Scalar(0));
  } else {
    DimVector shape(sorted.sizes());
    shape.back() = levels.numel();
    rank = (levels * static_cast<double>(last)).expand(shape);
    // One NaN among the samples is the result.
    rank = at::where(at::all(numbers, {-1}, /*keepdim=*/true), rank, static_cast<double>(last));
  }
  if (interpolation == "lower") rank = at::floor(rank);
  if (interpolation == "higher") rank = at::ceil(rank);
  if (interpolation == "nearest") rank = at::round(rank);
  const Tensor below = at::detach(rank).to(kLong);
  Tensor result = at::gather(sorted, -1, below);
  if (interpolation == "linear" || interpolation == "midpoint") {
    const Tensor weight = interpolation == "midpoint" ? at::full_like(rank, 0.5) : rank - below.to(rank.dtype());
    const Tensor above = at::gather(sorted, -1, at::ceil(at::detach(rank)).to(kLong));
    result = at::lerp(result, above, weight);
  }
  // The levels come first, or not at all if q is one number; then the other dimensions as they were.
  if (q.dim() == 0) {
    result = at::squeeze(result, -1);
    if (!keepdim) return result;
    if (!dim) return at::reshape(result, DimVector(self.dim(), 1));
    return self.dim() == 0 ? result : at::unsqueeze(result, along);
  }
  result = at::movedim(result, -1, 0);
  if (!keepdim) return result;
  if (!dim) {
    DimVector shape(self.dim() + 1, 1);
    shape[0] = levels.numel();
    return at::reshape(result, shape);
  }
  return self.dim() == 0 ? result : at::unsqueeze(result, along + 1);
}

Tensor level(const Tensor& self, double q, const char* name) {
  TORCH_CHECK(q >= 0 && q <= 1, name, "() q must be in the range [0, 1] but got ", q);
  return at::full({}, Scalar(q), self.options());
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, /*ignores_nan=*/false, "quantile");
}
Tensor quantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                       std::string_view interpolation) {
  return at::quantile(self, level(self, q, "quantile"), dim, keepdim, interpolation);
}
Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, /*ignores_nan=*/true, "nanquantile");
}
Tensor nanquantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                          std::string_view interpolation) {
  return at::nanquantile(self, level(self, q, "quantile"), dim, keepdim, interpolation);
}

// ---------------------------------------------------------------------------------------------- any, all

namespace {

// One dimension after another, from the last, so that numbers keep their meaning.
Tensor each_of(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim,
               Tensor (*along)(const Tensor&, int64_t, bool)) {
  Tensor result = self;
  if (dim && dim->empty() && self.dim() > 0)
    return self.dtype() == kByte ? at::ne(self, Scalar(0)).to(kByte) : at::ne(self, Scalar(0));
  const DimMask mask = dim_mask(dim ? *dim : IntArrayRef(), std::max<int64_t>(self.dim(), 1));
  for (int64_t i = std::max<int64_t>(self.dim(), 1); i-- > 0;) {
    if (mask[i]) result = along(result, i, keepdim);
  }
  return result;
}

}  // namespace

Tensor any_dims(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim) {
  return each_of(self, dim, keepdim, [](const Tensor& x, int64_t i, bool keep) { return at::any(x, i, keep); });
}
Tensor all_dims(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim) {
  return each_of(self, dim, keepdim, [](const Tensor& x, int64_t i, bool keep) { return at::all(x, i, keep); });
}

// ---------------------------------------------------------------------------------------------- searching

namespace {

void check_search(const Tensor& boundaries, const Tensor& self, const Tensor& sorter) {
  TORCH_CHECK(boundaries.device() == self.device(),
              "torch.searchsorted(): boundaries and input value tensors should have "
              "same device type, but got boundaries tensor device type ",
              boundaries.device(), " and input value tensor device type ", self.device());
  TORCH_CHECK(boundaries.dim() != 0,
              "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension "
              "is 1, but we got boundaries tensor dim(",
              boundaries.dim(), ")");
  bool fits = boundaries.dim() == 1 || boundaries.dim() == self.dim();
  for (int64_t i = 0; fits && boundaries.dim() > 1 && i + 1 < self.dim(); ++i)
    fits = boundaries.sizes()[i] == self.sizes()[i];
  TORCH_CHECK(fits,
              "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
              "tensor and input value tensor must match, but we got boundaries tensor ",
              boundaries.sizes(), " and input value tensor ", self.sizes());
  if (!sorter.defined()) return;
  TORCH_CHECK(sorter.sizes() == boundaries.sizes(),
              "torch.searchsorted(): boundary and sorter must have the same size, but "
              "got boundary tensor ",
              boundaries.sizes(), "and got sorter tensor ", sorter.sizes());
  TORCH_CHECK(sorter.dtype() == kLong, "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
              sorter.dtype());
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  check_search(sorted_sequence, self, sorter);
  if (side) {
    TORCH_CHECK(*side == "left" || *side == "right",
                "torch.searchsorted(): side can only be 'left' or 'right' but got ", *side);
    TORCH_CHECK(*side == "right" || !right,
                "torch.searchsorted(): side and right can't be set to opposites, got side of ", *side,
                " while right was True");
  }
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex() && !sorted_sequence.is_complex(),
                              "torch.searchsorted(): complex numbers have no order");
  const ScalarType dtype = c10::promote_types(sorted_sequence.dtype(), self.dtype());
  const Tensor out = at::detail::empty(self.sizes(), kLong, self.device());
  if (out.numel() > 0) {
    const Tensor boundaries = at::detail::to_contiguous(at::detail::to_dtype(sorted_sequence, dtype));
    const Tensor values = at::detail::to_contiguous(at::detail::to_dtype(self, dtype));
    const Tensor order = sorter.defined() ? at::detail::to_contiguous(sorter) : sorter;
    run_kernel(searchsorted_kernels, self.device(), out, boundaries, values, order,
               right || (side && *side == "right"));
  }
  return out_int32 ? at::detail::to_dtype(out, kInt) : out;
}

Tensor searchsorted_scalar(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                           std::optional<std::string_view> side, const Tensor& sorter) {
  return at::searchsorted(sorted_sequence, at::full({}, self, TensorOptions(result_type(sorted_sequence, self)).device(
                                               sorted_sequence.device())), out_int32, right, side, sorter);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  return at::searchsorted(boundaries, self, out_int32, right);
}

Tensor bucketize_scalar(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  return at::searchsorted(boundaries, self, out_int32, right);
}

// ---------------------------------------------------------------------------------------------- histograms

namespace {

void check_range(double low, double high, const char* name) {
  TORCH_CHECK(std::isfinite(low) && std::isfinite(high), name, ": range of [", low, ", ", high, "] is not finite");
  TORCH_CHECK(low <= high, name, ": max must be larger than min");
}

// From the range of the values where none is given; a single value gets a bin around it.
std::pair<double, double> bin_range(const Tensor& values, std::optional<std::pair<double, double>> given,
                                    const char* name) {
  double low = given ? given->first : 0;
  double high = given ? given->second : 1;
  if (values.is_meta()) return given.value_or(std::pair(0.0, 1.0));  // no value says, and none is needed for a shape
  if (!given && values.numel() > 0) {
    low = at::min(values).item<double>();
    high = at::max(values).item<double>();
  }
  check_range(low, high, name);
  if (low == high) return {low - 0.5, high + 0.5};
  return {low, high};
}

Tensor count_in_bins(const Tensor& points, const std::vector<Tensor>& edges, const Tensor& weight, bool density) {
  DimVector shape;
  for (const Tensor& edge : edges) shape.push_back(edge.numel() - 1);
  const Tensor hist = at::zeros(shape, points.options());
  run_kernel(histogram_kernels, points.device(), hist, points.contiguous(), TensorList(edges),
             weight.defined() ? at::reshape(weight, {-1}).contiguous() : weight);
  if (!density) return hist;
  Tensor result = at::div(hist, at::sum(hist));
  for (size_t i = 0; i < edges.size(); ++i) {
    DimVector widths(edges.size(), 1);
    widths[i] = -1;
    result = at::div(result, at::reshape(at::diff(edges[i]), widths));
  }
  return result;
}

std::tuple<Tensor, std::vector<Tensor>> histogram_of(const Tensor& self, std::vector<Tensor> edges,
                                                     const Tensor& weight, bool density) {
  TORCH_CHECK(self.dim() >= 2, "torch.histogramdd: input tensor should have at least 2 dimensions, but got ",
              self.dim());
  TORCH_CHECK_NOT_IMPLEMENTED(self.dtype() == kFloat || self.dtype() == kDouble,
                              "\"histogramdd\" not implemented for '", self.dtype(), "'");
  const int64_t dims = self.sizes().back();
  TORCH_CHECK(static_cast<int64_t>(edges.size()) == dims, "torch.histogramdd: expected ", dims,
              " sequences of bin edges for a ", dims, "-dimensional histogram but got ", edges.size());
  for (Tensor& edge : edges) {
    TORCH_CHECK(edge.dtype() == self.dtype(),
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, ",
                "but got input with dtype ", self.dtype(), " and bins with dtype ", edge.dtype());
    TORCH_CHECK(edge.dim() == 1 && edge.numel() > 0,
                "torch.histogramdd: bins tensor should have one dimension and elements");
    edge = edge.contiguous();
  }
  if (weight.defined()) {
    TORCH_CHECK(weight.dtype() == self.dtype(),
                "torch.histogramdd: if weight tensor is provided, input tensor and weight "
                "tensor should have the same dtype, but got input(dtype=",
                self.dtype(), "), weight(dtype=", weight.dtype(), ")");
    TORCH_CHECK(
        weight.sizes() == self.sizes().slice(0, self.dim() - 1),
        "torch.histogramdd: if weight tensor is provided it "
        "should have the same shape as the input tensor excluding its innermost dimension, but got input with shape ",
        self.sizes(), " and weight with shape ", weight.sizes());
  }
  const Tensor points = at::reshape(at::detach(self), {-1, dims});
  return {count_in_bins(points, edges, weight, density), edges};
}

std::vector<Tensor> even_edges(const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range) {
  const int64_t dims = self.sizes().back();
  TORCH_CHECK(static_cast<int64_t>(bins.size()) == dims, "torch.histogramdd: expected ", dims, " bin counts for a ",
              dims, "-dimensional histogram but got ", bins.size());
  TORCH_CHECK(!range || static_cast<int64_t>(range->size()) == 2 * dims, "torch.histogramdd: for a ", dims,
              "-dimensional histogram range should have ", 2 * dims, " elements, but got ", range ? range->size() : 0);
  std::vector<Tensor> edges;
  for (int64_t i = 0; i < dims; ++i) {
    TORCH_CHECK(bins[i] > 0, "torch.histogramdd(): bins[", i, "] must be positive, got ", bins[i]);
    std::optional<std::pair<double, double>> given;
    if (range) given = {(*range)[2 * i], (*range)[2 * i + 1]};
    const auto [low, high] = bin_range(at::select(at::detach(self), -1, i), given, "torch.histogramdd");
    edges.push_back(at::linspace(Scalar(low), Scalar(high), bins[i] + 1, self.options()));
  }
  return edges;
}

}  // namespace

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, IntArrayRef bins,
                                                    std::optional<ArrayRef<double>> range, const Tensor& weight,
                                                    bool density) {
  return histogram_of(self, even_edges(self, bins, range), weight, density);
}
std::tuple<Tensor, std::vector<Tensor>> histogramdd_same_bins(const Tensor& self, int64_t bins,
                                                              std::optional<ArrayRef<double>> range,
                                                              const Tensor& weight, bool density) {
  const DimVector each(static_cast<size_t>(self.dim() > 0 ? self.sizes().back() : 0), bins);
  return histogram_of(self, even_edges(self, each, range), weight, density);
}
std::tuple<Tensor, std::vector<Tensor>> histogramdd_edges(const Tensor& self, TensorList bins,
                                                          std::optional<ArrayRef<double>> range, const Tensor& weight,
                                                          bool density) {
  TORCH_CHECK(!range, "torch.histogramdd: a range is of no use where the edges of the bins are given");
  return histogram_of(self, std::vector<Tensor>(bins.begin(), bins.end()), weight, density);
}

std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range,
                                     const Tensor& weight, bool density) {
  const Tensor points = at::reshape(self, {-1, 1});
  const auto [hist, edges] = histogram_of(points, even_edges(points, {bins}, range),
                                          weight.defined() ? flat(weight) : weight, density);
  return {hist, edges[0]};
}
std::tuple<Tensor, Tensor> histogram_edges(const Tensor& self, const Tensor& bins, const Tensor& weight, bool density) {
  const auto [hist, edges] =
      histogram_of(at::reshape(self, {-1, 1}), {bins}, weight.defined() ? flat(weight) : weight, density);
  return {hist, edges[0]};
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  TORCH_CHECK(bins > 0, "torch.histc: bins must be > 0");
  if (self.dtype() != kFloat && self.dtype() != kDouble && !c10::is_reduced_floating_type(self.dtype())) {
    at::detail::throw_dtype_not_implemented("histogram_cpu", self.dtype());
  }
  const Tensor values = at::detach(self);
  std::optional<std::pair<double, double>> given;
  if (min.toDouble() != max.toDouble() || min.toDouble() != 0) given = {min.toDouble(), max.toDouble()};
  if (given && given->first == given->second) given.reset();
  const auto [low, high] = bin_range(values, given, "torch.histc");
  const Tensor computed =
      at::detail::to_dtype(values, c10::is_reduced_floating_type(self.dtype()) ? kFloat : self.dtype());
  const Tensor edges = at::linspace(Scalar(low), Scalar(high), bins + 1, computed.options());
  const Tensor hist = at::zeros({bins}, computed.options());
  run_kernel(histogram_kernels, self.device(), hist, at::reshape(computed, {-1, 1}).contiguous(), TensorList(edges),
             Tensor());
  return at::detail::to_dtype(hist, self.dtype());
}

// ---------------------------------------------------------------------------------------------- covariance, distance

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  TORCH_CHECK(self.dim() <= 2, "cov(): expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");
  TORCH_CHECK(self.dtype() != kBool, "cov(): bool dtype is not supported for input");
  Tensor samples = self.dim() < 2 ? at::reshape(self, {1, -1}) : self;
  const int64_t count = samples.sizes()[1];
  Tensor weights;
  const auto check_weights = [&](const Tensor& given, const char* name) {
    TORCH_CHECK(given.dim() <= 1, "cov(): expected ", name, " to have one or fewer dimensions but got ", name, " with ",
                given.dim(), " dimensions");
    TORCH_CHECK(given.numel() == count, "cov(): expected ", name,
                " to have the same numel as there are observations in the "
                "input but got ",
                given.numel(), " != ", count);
    TORCH_CHECK(count == 0 || given.is_meta() || at::min(given).item<double>() >= 0, "cov(): ", name,
                " cannot be negative");
  };
  if (fweights.defined()) {
    TORCH_CHECK(c10::is_integral_type(fweights.dtype(), false),
                "cov(): expected fweights to have integral dtype but got "
                "fweights with ",
                fweights.dtype(), " dtype");
    check_weights(fweights, "fweights");
    weights = fweights;
  }
  if (aweights.defined()) {
    TORCH_CHECK(aweights.is_floating_point(),
                "cov(): expected aweights to have floating point dtype but got aweights with ", aweights.dtype(),
                " dtype");
    check_weights(aweights, "aweights");
    weights = weights.defined() ? at::mul(weights, aweights) : aweights;
  }
  if (!c10::is_floating_or_complex_type(samples.dtype())) samples = samples.to(c10::get_default_dtype());
  const Tensor total = weights.defined() ? at::sum(weights)
                                         : at::scalar_tensor(Scalar(count), TensorOptions(kLong).device(self.device()));
  const Tensor mean = weights.defined() ? at::div(at::sum(at::mul(samples, weights), {1}, false), total)
                                        : at::mean(samples, {1}, false);
  const Tensor centered = at::sub(samples, at::unsqueeze(mean, 1));
  const Tensor weighted = weights.defined() ? at::mul(centered, weights).to(centered.dtype()) : centered;
  // How much the samples count for, less what the mean used up.
  Tensor norm;
  if (weights.defined() && aweights.defined() && correction != 0) {
    norm = total - at::div(at::sum(at::mul(weights, aweights)), total) * static_cast<double>(correction);
  } else {
    norm = total - Scalar(correction);
  }
  norm = at::clamp(norm, Scalar(0));
  return at::squeeze(at::div(at::mm(weighted, at::t(centered).conj()), norm));
}

Tensor corrcoef(const Tensor& self) {
  TORCH_CHECK(self.dim() <= 2, "corrcoef(): expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");
  const Tensor covariance = at::cov(self);
  if (covariance.dim() == 0) return at::div(covariance, covariance);
  const Tensor deviation = at::sqrt(at::real(at::diagonal(covariance)));
  const Tensor result = at::div(at::div(covariance, at::unsqueeze(deviation, 1)), deviation);
  // Rounding must not push it out of [-1, 1].
  if (result.is_complex()) return at::complex(at::clamp(at::real(result), Scalar(-1), Scalar(1)),
                                              at::clamp(at::imag(result), Scalar(-1), Scalar(1)));
  return at::clamp(result, Scalar(-1), Scalar(1));
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) { return at::norm(at::sub(self, other), p); }

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  TORCH_CHECK(!p.is_complex(), "renorm: p must be real-valued");
  TORCH_CHECK(p.toDouble() > 0, "renorm: non-positive-norm not supported");
  TORCH_CHECK(!maxnorm.is_complex(), "renorm: maxnorm must be real-valued");
  TORCH_CHECK(maxnorm.toDouble() >= 0, "renorm: expected maxnorm to be >= 0 but got ", maxnorm.toDouble());
  TORCH_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(), " dimensions");
  TORCH_CHECK(c10::is_floating_or_complex_type(self.dtype()),
              "renorm: expected a floating point or complex tensor, got ", self.dtype());
  dim = wrap_dim(dim, self.dim());
  DimVector others;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != dim) others.push_back(i);
  }
  const Tensor norms = at::norm(self, std::optional<Scalar>(p), others, /*keepdim=*/true);
  const Tensor factor = at::where(at::gt(norms, maxnorm), maxnorm / (norms + 1e-7), 1.0);
  return at::mul(self, factor.to(c10::real_type(self.dtype())));
}

}  // namespace at::native
