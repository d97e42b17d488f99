// Sequences of numbers: evenly spaced between tensors, in powers, and windows.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>

#include <cmath>

namespace at::native {

namespace {

void check_ends(const Tensor& start, const Tensor& end, const char* name) {
  TORCH_CHECK(start.dim() == 0 && end.dim() == 0, name,
              " only supports 0-dimensional start and end tensors, but got start with ", start.dim(),
              " dimension(s) and end with ", end.dim(), " dimension(s).");
}

void check_end(const Tensor& tensor, const char* name, const char* which) {
  TORCH_CHECK(tensor.dim() == 0, name, " only supports 0-dimensional start and end tensors, but got ", which, " with ",
              tensor.dim(), " dimension(s).");
}

}  // namespace

Tensor linspace_tensors(const Tensor& start, const Tensor& end, int64_t steps, const TensorOptions& options) {
  check_ends(start, end, "linspace");
  return at::linspace(start.item(), end.item(), steps, options);
}
Tensor linspace_from_tensor(const Tensor& start, const Scalar& end, int64_t steps, const TensorOptions& options) {
  check_end(start, "linspace", "start");
  return at::linspace(start.item(), end, steps, options);
}
Tensor linspace_to_tensor(const Scalar& start, const Tensor& end, int64_t steps, const TensorOptions& options) {
  check_end(end, "linspace", "end");
  return at::linspace(start, end.item(), steps, options);
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, const TensorOptions& options) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  const ScalarType dtype = options.dtype();
  if (c10::is_complex_type(dtype)) {
    const Tensor exponents = at::linspace(start, end, steps, options);
    return at::pow(Scalar(c10::complex<double>(base, 0)), exponents);
  }
  // Of integers the ends are whole, too, and the exponents between them are not.
  const bool whole = c10::is_integral_type(dtype, true);
  const auto end_of = [&](const Scalar& given) { return whole ? Scalar(given.toLong()) : given; };
  const Tensor exponents =
      at::linspace(end_of(start), end_of(end), steps, TensorOptions(kDouble).device(options.device()));
  return at::detail::to_dtype(at::pow(Scalar(base), exponents), dtype);
}
Tensor logspace_tensors(const Tensor& start, const Tensor& end, int64_t steps, double base,
                        const TensorOptions& options) {
  check_ends(start, end, "logspace");
  return at::logspace(start.item(), end.item(), steps, base, options);
}
Tensor logspace_from_tensor(const Tensor& start, const Scalar& end, int64_t steps, double base,
                            const TensorOptions& options) {
  check_end(start, "logspace", "start");
  return at::logspace(start.item(), end, steps, base, options);
}
Tensor logspace_to_tensor(const Scalar& start, const Tensor& end, int64_t steps, double base,
                          const TensorOptions& options) {
  check_end(end, "logspace", "end");
  return at::logspace(start, end.item(), steps, base, options);
}

Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
  const double stride = step.toDouble();
  TORCH_CHECK(stride > 0 || stride < 0, "step must be nonzero");
  const double length = (end.toDouble() - start.toDouble()) / stride;
  TORCH_CHECK(length >= 0, "upper bound and lower bound inconsistent with step sign");
  const auto count = static_cast<int64_t>(std::floor(length)) + 1;
  const Tensor steps = at::arange(Scalar(count), TensorOptions(kDouble).device(options.device()));
  return at::detail::to_dtype(steps * stride + start.toDouble(), options.dtype());
}

Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout, const TensorOptions& options) {
  TORCH_CHECK(size.size() == physical_layout.size(), "Number of dimensions in size does not match the length of the "
              "physical_layout; i.e. len(size) = ", size.size(), " is not equal to len(physical_layout) = ",
              physical_layout.size());
  DimMask seen;
  for (const int64_t dim : physical_layout) {
    TORCH_CHECK(dim >= 0 && dim < static_cast<int64_t>(size.size()),
                "Dimension out of range (expected to be between 0 and ", static_cast<int64_t>(size.size()) - 1,
                ", but got ", dim,
                ").  NB: negative dims not currently supported; "
                "file an issue if you want it.");
    TORCH_CHECK(!seen[dim], "Duplicate dim not allowed");
    seen.set(dim);
  }
  DimVector strides(size.size());
  int64_t step = 1;
  for (size_t i = size.size(); i-- > 0;) {
    strides[physical_layout[i]] = step;
    step *= std::max<int64_t>(size[physical_layout[i]], 1);
  }
  return at::detail::empty_strided(size, strides, options.dtype(), options.device());
}

// ---------------------------------------------------------------------------------------------- windows

namespace {

constexpr double kPi = 3.14159265358979323846;

// shape(k, steps) for k in [0, length), in double; `steps` is what a whole period has.
template <typename Shape>
Tensor window(const char* name, int64_t length, bool periodic, const TensorOptions& options, Shape&& shape) {
  TORCH_CHECK(c10::is_floating_or_complex_type(options.dtype()), name,
              " expects floating point dtypes, got: ", options.dtype());
  TORCH_CHECK(!c10::is_complex_type(options.dtype()), name, " does not support complex dtypes, got: ", options.dtype());
  TORCH_CHECK(length >= 0, name, " requires non-negative window_length, got window_length=", length);
  if (length == 1) return at::ones({1}, options);
  const Tensor places = at::arange(Scalar(length), TensorOptions(kDouble).device(options.device()));
  return at::detail::to_dtype(shape(places, static_cast<double>(periodic ? length : length - 1)), options.dtype());
}

Tensor cosine_window(const char* name, int64_t length, bool periodic, double alpha, double beta,
                     const TensorOptions& options) {
  return window(name, length, periodic, options,
                [&](const Tensor& k, double steps) { return alpha - at::cos(k * (2 * kPi / steps)) * beta; });
}

}  // namespace

Tensor hann_window(int64_t length, const TensorOptions& options) {
  return native::hann_window_periodic(length, true, options);
}
Tensor hann_window_periodic(int64_t length, bool periodic, const TensorOptions& options) {
  return cosine_window("hann_window", length, periodic, 0.5, 0.5, options);
}
Tensor hamming_window(int64_t length, const TensorOptions& options) {
  return native::hamming_window_periodic(length, true, options);
}
Tensor hamming_window_periodic(int64_t length, bool periodic, const TensorOptions& options) {
  return cosine_window("hamming_window", length, periodic, 0.54, 0.46, options);
}
Tensor hamming_window_alpha(int64_t length, bool periodic, double alpha, const TensorOptions& options) {
  return cosine_window("hamming_window", length, periodic, alpha, 0.46, options);
}
Tensor hamming_window_alpha_beta(int64_t length, bool periodic, double alpha, double beta,
                                 const TensorOptions& options) {
  return cosine_window("hamming_window", length, periodic, alpha, beta, options);
}
Tensor blackman_window(int64_t length, const TensorOptions& options) {
  return native::blackman_window_periodic(length, true, options);
}
Tensor blackman_window_periodic(int64_t length, bool periodic, const TensorOptions& options) {
  return window("blackman_window", length, periodic, options, [](const Tensor& k, double steps) {
    return 0.42 - at::cos(k * (2 * kPi / steps)) * 0.5 + at::cos(k * (4 * kPi / steps)) * 0.08;
  });
}
Tensor bartlett_window(int64_t length, const TensorOptions& options) {
  return native::bartlett_window_periodic(length, true, options);
}
Tensor bartlett_window_periodic(int64_t length, bool periodic, const TensorOptions& options) {
  return window("bartlett_window", length, periodic, options,
                [](const Tensor& k, double steps) { return 1 - at::abs(k * (2 / steps) - 1); });
}
Tensor kaiser_window(int64_t length, const TensorOptions& options) {
  return native::kaiser_window_beta(length, true, 12.0, options);
}
Tensor kaiser_window_periodic(int64_t length, bool periodic, const TensorOptions& options) {
  return native::kaiser_window_beta(length, periodic, 12.0, options);
}
Tensor kaiser_window_beta(int64_t length, bool periodic, double beta, const TensorOptions& options) {
  return window("kaiser_window", length, periodic, options, [beta](const Tensor& k, double steps) {
    const Tensor place = k * (2 / steps) - 1;
    const Tensor bend = at::sqrt(at::clamp(1 - place * place, Scalar(0))) * beta;
    return at::i0(bend) / at::i0(at::scalar_tensor(Scalar(beta), bend.options()));
  });
}

}  // namespace at::native
