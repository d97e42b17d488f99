// Reductions: which dimensions, which dtype, what an empty range means; the sums themselves are kernels.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/CachedParts.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/FusedKernels.h>

#include <cmath>
#include <limits>

namespace at::native {

namespace {

// The same tensor with one index of every dimension that is kept and only repeats.
Tensor without_repeats(const Tensor& self, IntArrayRef dims) {
  const DimMask reduced = dim_mask(dims, self.dim());
  DimVector sizes(self.sizes());
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (!reduced[dim] && self.strides()[dim] == 0 && sizes[dim] > 1) sizes[dim] = 1;
  }
  return IntArrayRef(sizes) == self.sizes() ? self : alias_with_sizes_and_strides(self, sizes, self.strides());
}

template <typename Table, typename... Arguments>
Tensor reduce(const Table& kernels, const Tensor& self, IntArrayRef dims, bool keepdim, ScalarType dtype,
              const Arguments&... arguments) {
  // What came of a broadcast, such as the gradient of a sum, is reduced once for all.
  if (const Tensor once = without_repeats(self, dims); !once.is_same(self)) {
    const DimMask reduced = dim_mask(dims, self.dim());
    DimVector shape;
    for (int64_t dim = 0; dim < self.dim(); ++dim) {
      if (!reduced[dim]) shape.push_back(self.sizes()[dim]);
      else if (keepdim) shape.push_back(1);
    }
    return at::detail::to_contiguous(
        native::expand(reduce(kernels, once, dims, keepdim, dtype, arguments...), shape, false));
  }
  Tensor out;
  auto iter = TensorIterator::reduce_op(out, self, dims, keepdim, dtype, dtype);
  iter.run(kernels, arguments...);
  return out;
}

IntArrayRef value_or_empty(const std::optional<IntArrayRef>& dims) { return dims ? *dims : IntArrayRef(); }

// Integers are added up in int64, as wide as it gets.
ScalarType sum_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  if (dtype) return *dtype;
  return c10::is_integral_type(self.dtype(), /*include_bool=*/true) ? kLong : self.dtype();
}

ScalarType mean_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  const ScalarType result = dtype.value_or(self.dtype());
  TORCH_CHECK(c10::is_floating_or_complex_type(result), "mean(): could not infer output dtype. ",
              dtype ? "Optional" : "Input",
              " dtype must be either a floating point or complex dtype. Got: ", result);
  return result;
}

// A maximum has no identity: refuses an empty tensor, or an empty dimension to be reduced.
void check_not_empty(const Tensor& self, IntArrayRef dims, const char* name) {
  if (self.numel() > 0) return;
  TORCH_CHECK(!dims.empty(), name,
              "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
              "with the ",
              "'dim' argument.");
  for (const int64_t given : dims) {
    const int64_t dim = wrap_dim(given, self.dim());
    TORCH_CHECK_INDEX(self.dim() == 0 || self.sizes()[dim] != 0, name, "(): Expected reduction dim ", given,
                      " to have non-zero size.");
  }
}

// Calls a kernel of the max_dim kind and gives (values, indices); `with_values` false leaves the values
// undefined.
template <typename Table>
std::tuple<Tensor, Tensor> extreme_along(const Table& kernels, const Tensor& self, int64_t dim, bool keepdim,
                                         bool with_values, const char* name) {
  dim = wrap_dim(dim, self.dim());
  check_not_empty(self, {dim}, name);
  DimVector shape(self.sizes());
  if (self.dim() > 0) shape[dim] = 1;
  Tensor values = with_values ? at::detail::empty(shape, self.dtype(), self.device()) : Tensor();
  Tensor indices = at::detail::empty(shape, kLong, self.device());
  if (self.dim() > 0 && self.sizes()[dim] == 1) {  // there is one element to choose from
    if (with_values) at::detail::copy_into(values, self);
    indices = at::zeros(shape, indices.options());
  } else if (indices.numel() > 0) {
    run_kernel_in_float32(kernels, self.device(), values, indices, self, dim);
  }
  if (!keepdim) {
    if (with_values) values = native::squeeze_dim(values, dim);
    indices = native::squeeze_dim(indices, dim);
  }
  return {std::move(values), std::move(indices)};
}

template <typename Table>
Tensor arg_extreme(const Table& kernels, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                   const char* name) {
  TORCH_CHECK(self.dtype() != kBool, name, "(): does not support bool input");
  TORCH_CHECK(!self.is_complex(), name, "(): does not support complex input");
  if (dim) return std::get<1>(extreme_along(kernels, self, *dim, keepdim, /*with_values=*/false, name));
  TORCH_CHECK_INDEX(self.numel() > 0, name,
                    "(): Expected reduction dim to be specified for input.numel() == 0.");
  const Tensor flat = native::view(at::detail::to_contiguous(self), {self.numel()});
  const Tensor index =
      std::get<1>(extreme_along(kernels, flat, 0, /*keepdim=*/false, /*with_values=*/false, name));
  return keepdim ? native::view(index, DimVector(self.dim(), 1)) : index;
}

// Whether any, or whether all are not 0. Of uint8, as in PyTorch, the answer is uint8, too: by its extremes.
Tensor reduce_truth(const Tensor& self, IntArrayRef dims, bool keepdim, bool all) {
  const bool is_by_extremes = self.dtype() == kByte && self.numel() > 0;
  const auto& kernels = is_by_extremes ? (all ? amin_kernels : amax_kernels) : all ? all_kernels : any_kernels;
  const Tensor result = reduce(kernels, self, dims, keepdim, is_by_extremes ? kByte : kBool);
  if (is_by_extremes) return at::clamp_max(result, Scalar(1));
  return self.dtype() == kByte ? at::detail::to_dtype(result, kByte) : result;
}

}  // namespace

namespace {

// In booleans a sum says whether any element is true, and a product whether all are.
Tensor reduce_sum(const Tensor& self, IntArrayRef dims, bool keepdim, std::optional<ScalarType> dtype) {
  if (dtype == kBool) return reduce(any_kernels, at::detail::to_dtype(self, kBool), dims, keepdim, kBool);
  return reduce(sum_kernels, self, dims, keepdim, sum_dtype(self, dtype));
}

Tensor reduce_product(const Tensor& self, IntArrayRef dims, bool keepdim, std::optional<ScalarType> dtype) {
  if (dtype == kBool) return reduce(all_kernels, at::detail::to_dtype(self, kBool), dims, keepdim, kBool);
  return reduce(prod_kernels, self, dims, keepdim, sum_dtype(self, dtype));
}

}  // namespace

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) {
  return reduce_sum(self, {}, /*keepdim=*/false, dtype);
}

Tensor sum_dim(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  return reduce_sum(self, value_or_empty(dim), keepdim, dtype);
}

Tensor nansum(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, std::optional<ScalarType> dtype) {
  TORCH_CHECK(!self.is_complex(), "nansum does not support complex inputs");
  if (!self.is_floating_point()) return at::sum(self, dim, keepdim, dtype);
  const ScalarType result = dtype.value_or(self.dtype());
  if (c10::is_floating_type(result) && !is_differentiated(self)) {
    return reduce(sum_mapped_kernels, self, value_or_empty(dim), keepdim, result, ElementMap::numbers);
  }
  return at::sum(at::where(at::isnan(self), 0, self), dim, keepdim, dtype);
}

Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) {
  return reduce(mean_kernels, self, {}, /*keepdim=*/false, mean_dtype(self, dtype));
}

Tensor mean_dim(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim,
                std::optional<ScalarType> dtype) {
  return reduce(mean_kernels, self, value_or_empty(dim), keepdim, mean_dtype(self, dtype));
}

Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
  return reduce_product(self, {}, /*keepdim=*/false, dtype);
}

Tensor prod_dim(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  return reduce_product(self, {dim}, keepdim, dtype);
}

namespace {

struct VarianceAndMean {
  Tensor variance, mean;
};

// Of float16 and bfloat16 both are float32. The kernel reads every element once: reduced dimensions as those around
// channels, where they lie so, else brought behind the others.
VarianceAndMean var_mean_cuda(const Tensor& self, std::optional<IntArrayRef> dim,
                              const std::optional<Scalar>& correction, bool keepdim) {
  const DimMask mask = dim_mask(value_or_empty(dim), self.dim());
  DimVector kept, reduced, shape, sizes{1, 1, 1};
  bool is_between = true;  // the kept ones follow each other
  for (int64_t i = 0; i < self.dim(); ++i) {
    (mask[i] ? reduced : kept).push_back(i);
    if (!mask[i] || keepdim) shape.push_back(mask[i] ? 1 : self.sizes()[i]);
    if (!mask[i] && kept.size() > 1) is_between = is_between && kept[kept.size() - 2] == i - 1;
  }
  for (int64_t i = 0; i < self.dim(); ++i) {
    const bool is_before = is_between && mask[i] && (kept.empty() || i < kept.front());
    sizes[mask[i] ? (is_before && !kept.empty() ? 0 : 2) : 1] *= self.sizes()[i];
  }
  DimVector order(kept);
  for (const int64_t i : reduced) order.push_back(i);
  const Tensor dense = at::detail::to_contiguous(is_between ? self : at::permute(self, order));
  const Tensor channels = at::detail::make_view(dense, sizes, DimVector{sizes[1] * sizes[2], sizes[2], 1},
                                                dense.storage_offset());
  const ScalarType computed = c10::is_reduced_floating_type(self.dtype()) ? kFloat : self.dtype();
  const Tensor mean = at::detail::empty(shape, computed, self.device());
  const Tensor variance = at::detail::empty(shape, computed, self.device());
  run_kernel(channel_moments_kernels, self.device(), mean, variance, channels);
  const auto count = static_cast<double>(sizes[0] * sizes[2]);
  const double freedom = std::max(0.0, count - correction.value_or(Scalar(1)).toDouble());
  return {freedom == count ? variance : at::mul(variance, Scalar(count / freedom)), mean};
}

// The sums of the squares of what differs from the means. Where all of a contiguous tensor is one sum, differences are
// kept of a part that the cache holds; parts do not depend on the number of threads.
Tensor sum_squares_around(const Tensor& self, const Tensor& mean, IntArrayRef dims, bool keepdim) {
  const auto subtract = [](const Tensor& from, const Tensor& middle, Tensor& to) {
    TensorIterator::binary_op(to, from, middle).run(add_kernels, Scalar(-1));
  };
  const int64_t fitting = 8 * kCachedElements / static_cast<int64_t>(self.element_size());
  const bool has_parts = mean.numel() == 1 && self.numel() > 4 * fitting && self.is_contiguous();
  if (!has_parts || c10::is_reduced_floating_type(self.dtype())) {
    Tensor differences;
    subtract(self, mean, differences);
    return reduce(sum_mapped_kernels, differences, dims, keepdim, self.dtype(), ElementMap::square);
  }
  const int64_t parts = (self.numel() + fitting - 1) / fitting;
  const Tensor sums = at::detail::empty({parts}, self.dtype(), self.device());
  const Tensor middle = at::detail::make_view(mean, {}, {}, mean.storage_offset());
  parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    const Tensor room = at::detail::empty({fitting}, self.dtype(), self.device());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * fitting;
      const int64_t count = std::min(fitting, self.numel() - first);
      Tensor differences = at::detail::make_view(room, {count}, {1}, 0);
      subtract(at::detail::make_view(self, {count}, {1}, self.storage_offset() + first), middle, differences);
      Tensor sum = at::detail::make_view(sums, {}, {}, i);
      TensorIterator::reduce_op(sum, differences, {0}, /*keepdim=*/false, sum.dtype(), sum.dtype())
          .run(sum_mapped_kernels, ElementMap::square);
    }
  });
  DimVector shape;
  const DimMask is_reduced = dim_mask(dims, self.dim());
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (!is_reduced[dim] || keepdim) shape.push_back(1);
  }
  const Tensor sum = reduce(sum_kernels, sums, IntArrayRef(), /*keepdim=*/false, self.dtype());
  return at::detail::make_view(sum, shape, DimVector(shape.size(), 1), sum.storage_offset());
}

// What is differentiated is by its parts.
bool is_var_by_kernel(const Tensor& self) {
  return self.is_cuda() && self.layout() == c10::Layout::Strided && self.is_floating_point() && self.numel() > 0 &&
         !self.impl()->is_tracked();
}

}  // namespace

Tensor var(const Tensor& self, std::optional<IntArrayRef> dim, const std::optional<Scalar>& correction,
           bool keepdim) {
  TORCH_CHECK(c10::is_floating_or_complex_type(self.dtype()),
              "std and var only support floating point and complex dtypes");
  if (is_var_by_kernel(self))
    return at::detail::to_dtype(var_mean_cuda(self, dim, correction, keepdim).variance, self.dtype());
  const IntArrayRef dims = value_or_empty(dim);
  const DimMask mask = dim_mask(dims, self.dim());
  DimVector reduced;
  int64_t count = 1;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (!mask[i]) continue;
    reduced.push_back(i);
    count *= self.sizes()[i];
  }
  const Tensor mean = at::mean(self, IntArrayRef(reduced), /*keepdim=*/true);
  Tensor squares;
  if (self.is_cpu() && self.is_floating_point() && !is_differentiated(self) && !is_dispatched()) {
    squares = sum_squares_around(self, mean, IntArrayRef(reduced), keepdim);
  } else {
    const Tensor centered = at::sub(self, mean);
    const Tensor square =
        self.is_complex() ? at::real(at::mul(centered, at::conj(centered))) : at::mul(centered, centered);
    squares = at::sum(square, IntArrayRef(reduced), keepdim);
  }
  // No degrees of freedom left: 0 / 0 is NaN and x / 0 infinite, as PyTorch answers.
  return at::div(
      squares, Scalar(std::max(0.0, static_cast<double>(count) - correction.value_or(Scalar(1)).toDouble())));
}

Tensor var_unbiased(const Tensor& self, bool unbiased) {
  return at::var(self, std::nullopt, std::optional<Scalar>(unbiased ? 1 : 0), false);
}

Tensor var_dim(const Tensor& self, std::optional<IntArrayRef> dim, bool unbiased, bool keepdim) {
  return at::var(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
}

Tensor std(const Tensor& self, std::optional<IntArrayRef> dim, const std::optional<Scalar>& correction,
           bool keepdim) {
  if (is_var_by_kernel(self))
    return at::detail::to_dtype(at::sqrt(var_mean_cuda(self, dim, correction, keepdim).variance), self.dtype());
  if (!c10::is_reduced_floating_type(self.dtype())) return at::sqrt(at::var(self, dim, correction, keepdim));
  // A variance need not fit a half where its root does.
  return at::sqrt(at::var(self.to(kFloat), dim, correction, keepdim)).to(self.dtype());
}

Tensor std_unbiased(const Tensor& self, bool unbiased) {
  return at::std(self, std::nullopt, std::optional<Scalar>(unbiased ? 1 : 0), false);
}

Tensor std_dim(const Tensor& self, std::optional<IntArrayRef> dim, bool unbiased, bool keepdim) {
  return at::std(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
}

Tensor amax(const Tensor& self, IntArrayRef dim, bool keepdim) {
  check_not_empty(self, dim, "amax");
  return reduce(amax_kernels, self, dim, keepdim, self.dtype());
}

Tensor amin(const Tensor& self, IntArrayRef dim, bool keepdim) {
  check_not_empty(self, dim, "amin");
  return reduce(amin_kernels, self, dim, keepdim, self.dtype());
}

Tensor max_all(const Tensor& self) {
  TORCH_CHECK(
      self.numel() > 0,
      "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim ",
      "with the 'dim' argument.");
  return reduce(amax_kernels, self, {}, /*keepdim=*/false, self.dtype());
}

Tensor min_all(const Tensor& self) {
  TORCH_CHECK(
      self.numel() > 0,
      "min(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim ",
      "with the 'dim' argument.");
  return reduce(amin_kernels, self, {}, /*keepdim=*/false, self.dtype());
}

std::tuple<Tensor, Tensor> max_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_along(max_dim_kernels, self, dim, keepdim, /*with_values=*/true, "max");
}

std::tuple<Tensor, Tensor> min_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_along(min_dim_kernels, self, dim, keepdim, /*with_values=*/true, "min");
}

Tensor max_other(const Tensor& self, const Tensor& other) { return at::maximum(self, other); }
Tensor min_other(const Tensor& self, const Tensor& other) { return at::minimum(self, other); }

Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme(max_dim_kernels, self, dim, keepdim, "argmax");
}

Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme(min_dim_kernels, self, dim, keepdim, "argmin");
}

Tensor any_all(const Tensor& self) { return reduce_truth(self, {}, /*keepdim=*/false, /*all=*/false); }
Tensor any_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return reduce_truth(self, {dim}, keepdim, /*all=*/false);
}
Tensor all_all(const Tensor& self) { return reduce_truth(self, {}, /*keepdim=*/false, /*all=*/true); }
Tensor all_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return reduce_truth(self, {dim}, keepdim, /*all=*/true);
}

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const Tensor values =
      c10::is_floating_or_complex_type(self.dtype()) ? self : self.to(c10::get_default_dtype(), false);
  if (values.numel() == 0) return at::log(at::sum(at::exp(values), dim, keepdim));
  // Shifting by the maximum keeps exp in range; where that is infinite, nothing can be shifted.
  const Tensor maximum = at::detach(at::amax(at::real(values), dim, /*keepdim=*/true));
  const Tensor shift = at::where(at::isfinite(maximum), maximum, at::zeros_like(maximum));
  const Tensor result =
      at::add(at::log(at::sum(at::exp(at::sub(values, shift)), dim, /*keepdim=*/true)), shift);
  if (keepdim) return result;
  const DimMask mask = dim_mask(dim, self.dim());
  DimVector shape;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (!mask[i]) shape.push_back(self.sizes()[i]);
  }
  return at::reshape(result, shape);
}

Tensor trace(const Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return at::sum(at::diagonal(self));
}

Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  return native::count_nonzero_dims(self, dim ? IntArrayRef(*dim) : IntArrayRef());
}

Tensor count_nonzero_dims(const Tensor& self, IntArrayRef dim) {
  return at::sum(self.dtype() == kBool ? at::detach(self) : at::ne(self, Scalar(0)), dim);
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (dim) return {at::amin(self, *dim, keepdim), at::amax(self, *dim, keepdim)};
  TORCH_CHECK(self.numel() > 0,
              "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  const bool is_floating = self.is_floating_point() && !c10::is_float8_type(self.dtype());
  const bool is_one_pass = c10::is_integral_type(self.dtype(), /*include_bool=*/true) ||
                           (is_floating && !is_differentiated(self));
  if (self.is_cpu() && self.is_contiguous() && is_one_pass) {
    const DimVector shape(static_cast<size_t>(keepdim ? self.dim() : 0), 1);
    const Tensor least = at::detail::empty(shape, self.options());
    const Tensor greatest = at::detail::empty(shape, self.options());
    cpu::find_both_extremes(least, greatest, at::detach(self));
    return {least, greatest};
  }
  return {at::amin(self, {}, keepdim), at::amax(self, {}, keepdim)};
}

std::tuple<Tensor, Tensor> var_mean(const Tensor& self, std::optional<IntArrayRef> dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  TORCH_CHECK(c10::is_floating_or_complex_type(self.dtype()),
              "var_mean only support floating point and complex dtypes");
  if (is_var_by_kernel(self)) {
    const auto [wide_variance, mean] = var_mean_cuda(self, dim, correction, keepdim);
    return {at::detail::to_dtype(wide_variance, self.dtype()), at::detail::to_dtype(mean, self.dtype())};
  }
  const Tensor variance = at::var(self, dim, correction, keepdim);
  return {variance, at::mean(self, dim, keepdim)};
}

std::tuple<Tensor, Tensor> var_mean_unbiased(const Tensor& self, bool unbiased) {
  return at::var_mean(self, std::nullopt, std::optional<Scalar>(unbiased ? 1 : 0), false);
}

std::tuple<Tensor, Tensor> var_mean_dim(const Tensor& self, std::optional<IntArrayRef> dim, bool unbiased,
                                        bool keepdim) {
  return at::var_mean(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
}

std::tuple<Tensor, Tensor> std_mean(const Tensor& self, std::optional<IntArrayRef> dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  TORCH_CHECK(c10::is_floating_or_complex_type(self.dtype()),
              "std_mean only support floating point and complex dtypes");
  return {at::std(self, dim, correction, keepdim), at::mean(self, dim, keepdim)};
}

std::tuple<Tensor, Tensor> std_mean_unbiased(const Tensor& self, bool unbiased) {
  return at::std_mean(self, std::nullopt, std::optional<Scalar>(unbiased ? 1 : 0), false);
}

std::tuple<Tensor, Tensor> std_mean_dim(const Tensor& self, std::optional<IntArrayRef> dim, bool unbiased,
                                        bool keepdim) {
  return at::std_mean(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
}

Tensor norm_dtype(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype) {
  return at::norm(self.to(dtype), p.value_or(Scalar(2)));
}

Tensor norm_dim_dtype(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                      ScalarType dtype) {
  return at::norm(self.to(dtype), p, dim, keepdim);
}

Tensor norm(const Tensor& self, const Scalar& p) { return at::norm(self, std::optional<Scalar>(p), {}, false); }

Tensor norm_dim(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  TORCH_CHECK(c10::is_floating_or_complex_type(self.dtype()),
              "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ", self.dtype());
  const double exponent = p.value_or(Scalar(2)).toDouble();
  const DimMask reduced = dim_mask(dim, self.dim());
  bool is_alone = exponent != 0;  // each number of the result comes from one of the input
  DimVector shape;
  for (int64_t i = 0; i < self.dim(); ++i) {
    is_alone &= !reduced[i] || self.sizes()[i] == 1;
    if (keepdim || !reduced[i]) shape.push_back(self.sizes()[i]);
  }
  if (is_alone) return at::abs(at::reshape(self, shape));
  // Sums of powers leave the range of halves before their roots come back into it.
  const bool is_reduced = c10::is_reduced_floating_type(self.dtype());
  if (exponent == 2 && !self.is_complex() && !is_reduced && dim.empty() && !keepdim && self.is_cpu() &&
      self.is_contiguous()) {
    const Tensor flat = at::reshape(self, {self.numel()});
    return at::sqrt(at::dot(flat, flat));  // the BLAS's is faster still
  }
  if ((exponent == 2 || exponent == 1) && !self.is_complex()) {  // in one pass
    const auto map = exponent == 2 ? ElementMap::square : ElementMap::magnitude;
    const Tensor total = reduce(sum_mapped_kernels, self, dim, keepdim, is_reduced ? kFloat : self.dtype(), map);
    return at::detail::to_dtype(exponent == 2 ? at::sqrt(total) : total, self.dtype());
  }
  if (is_reduced) return at::norm(self.to(kFloat), p, dim, keepdim).to(self.dtype());
  const Tensor magnitude = at::abs(self);
  if (exponent == 2) return at::sqrt(at::sum(at::mul(magnitude, magnitude), dim, keepdim));
  if (exponent == 1) return at::sum(magnitude, dim, keepdim);
  if (exponent == 0) return at::sum(at::ne(self, Scalar(0)), dim, keepdim, magnitude.dtype());
  if (self.numel() == 0 && (std::isinf(exponent) || exponent < 0)) {
    const DimMask mask = dim_mask(dim, self.dim());
    for (int64_t i = 0; i < self.dim(); ++i) {
      TORCH_CHECK(!mask[i] || self.sizes()[i] != 0, "linalg.vector_norm cannot compute the ", exponent,
                  " norm on an empty tensor because the operation does not have an identity");
    }
  }
  if (std::isinf(exponent)) return exponent > 0 ? at::amax(magnitude, dim, keepdim) : at::amin(magnitude, dim, keepdim);
  return at::pow(at::sum(at::pow(magnitude, exponent), dim, keepdim), Scalar(1 / exponent));
}

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  dim = wrap_dim(dim, self.dim());
  const ScalarType result = sum_dtype(self, dtype);
  const Tensor out = at::detail::empty(self.sizes(), result, self.device());
  if (self.dim() == 0) {
    at::detail::copy_into(out, self);
  } else if (out.numel() > 0 && self.is_cpu()) {  // whose kernel reads all types
    run_kernel(cumsum_kernels, self.device(), out, self, dim);
  } else if (out.numel() > 0) {
    run_kernel_in_float32(cumsum_kernels, self.device(), out, at::detail::to_dtype(self, result), dim);
  }
  return out;
}

}  // namespace at::native
