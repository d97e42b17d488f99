// New tensors.

#include <aten/DenseStrides.h>
#include <aten/EmptyTensor.h>
#include <aten/Functions.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/PinnedMemory.h>
#include <aten/Plugin.h>
#include <aten/TensorIterator.h>
#include <c10/core/Backend.h>

#include <cmath>

namespace at::native {

namespace {

ScalarType dtype_of(const Scalar& value) {
  if (value.is_complex()) return c10::complex_type(c10::get_default_dtype());
  return value.is_floating_point() ? c10::get_default_dtype() : value.type();
}

TensorOptions options_like(const Tensor& self, const TensorOptions& options) {
  return options.dtype(options.dtype_opt.value_or(self.dtype())).device(options.device_opt.value_or(self.device()));
}

Tensor filled(Tensor tensor, const Scalar& value) { return native::fill_(tensor, value); }

int64_t arange_size(const Scalar& start, const Scalar& end, const Scalar& step, ScalarType dtype) {
  const double first = start.toDouble();
  const double last = end.toDouble();
  const double stride = step.toDouble();
  TORCH_CHECK(stride > 0 || stride < 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", first, " -> ", last);
  TORCH_CHECK((stride > 0 && last >= first) || (stride < 0 && last <= first),
              "upper bound and lower bound inconsistent with step sign");
  double size = 0;
  if (dtype == kLong) {
    // Differences of large integers are exact only as integers.
    int64_t length = 0;
    TORCH_CHECK(!__builtin_sub_overflow(end.toLong(), start.toLong(), &length), "invalid size, possible overflow?");
    const int64_t whole_step = step.toLong();
    TORCH_CHECK_VALUE(whole_step != 0, "step must be nonzero");
    size = std::ceil(static_cast<double>(length) / static_cast<double>(whole_step));
  } else {
    size = std::ceil((last - first) / stride);
  }
  TORCH_CHECK(size >= 0 && size < 9223372036854775808.0, "invalid size, possible overflow?");
  return static_cast<int64_t>(size);
}

Tensor triangle(const Tensor& self, int64_t diagonal, bool upper, const char* name) {
  TORCH_CHECK(self.dim() >= 2, name, ": input tensor must have at least 2 dimensions");
  Tensor out = detail::empty(self.sizes(), self.dtype(), self.device());
  if (out.numel() != 0) triangle_kernels(self.device_type(), out, self, diagonal, upper);
  return out;
}

}  // namespace

Tensor empty(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  if (options.pinned_memory())
    return detail::empty_as_asked(size, c10::strides_in(format, size), options.dtype(), options);
  return detail::empty(size, options, format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  return detail::empty_as_asked(size, stride, options.dtype(), options);
}

Tensor empty_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  const TensorOptions chosen = options_like(self, options);
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  if (format != MemoryFormat::Preserve) return native::empty(self.sizes(), chosen, format);
  return detail::empty_as_asked(self.sizes(), dense_strides(self), chosen.dtype(), chosen);
}

Tensor full(IntArrayRef size, const Scalar& fill_value, const TensorOptions& options) {
  return filled(detail::empty_as_asked(size, options.dtype_opt.value_or(dtype_of(fill_value)), options), fill_value);
}

Tensor full_like(const Tensor& self, const Scalar& fill_value, const TensorOptions& options,
                 std::optional<MemoryFormat> memory_format) {
  return filled(native::empty_like(self, options, memory_format), fill_value);
}

Tensor zeros(IntArrayRef size, const TensorOptions& options) {
  Tensor result = detail::empty_as_asked(size, options);
  return native::zero_(result);
}

Tensor zeros_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  Tensor result = native::empty_like(self, options, memory_format);
  return native::zero_(result);
}

Tensor ones(IntArrayRef size, const TensorOptions& options) { return filled(detail::empty_as_asked(size, options), 1); }

Tensor ones_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  return filled(native::empty_like(self, options, memory_format), 1);
}

Tensor scalar_tensor(const Scalar& s, const TensorOptions& options) {
  return filled(detail::empty_as_asked({}, options), s);
}

Tensor arange(const Scalar& end, const TensorOptions& options) { return native::arange_start(0, end, 1, options); }

Tensor arange_start(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
  const bool whole = start.is_integral(true) && end.is_integral(true) && step.is_integral(true);
  const ScalarType dtype = options.dtype_opt.value_or(whole ? kLong : c10::get_default_dtype());
  TORCH_CHECK_NOT_IMPLEMENTED(dtype != kBool, "\"arange\" not implemented for 'Bool'");
  Tensor out = detail::empty_as_asked({arange_size(start, end, step, dtype)}, dtype, options);
  TensorIterator::nullary_op(out).run(arange_kernels, start, step);
  return out;
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  TORCH_CHECK_NOT_IMPLEMENTED(options.dtype() != kBool, "\"linspace\" not implemented for 'Bool'");
  const bool asks_complex = start.is_complex() || end.is_complex();
  if (options.dtype_opt ? c10::is_complex_type(options.dtype()) : asks_complex) {
    // The parts have even steps, too.
    const ScalarType dtype = options.dtype_opt.value_or(c10::complex_type(c10::get_default_dtype()));
    const auto first = start.to<c10::complex<double>>();
    const auto last = end.to<c10::complex<double>>();
    const TensorOptions parts = TensorOptions(c10::real_type(dtype)).device(options.device());
    return at::complex(native::linspace(first.real(), last.real(), steps, parts),
                       native::linspace(first.imag(), last.imag(), steps, parts));
  }
  Tensor out = detail::empty_as_asked({steps}, options);
  TensorIterator::nullary_op(out).run(linspace_kernels, start, end, steps);
  return out;
}

Tensor eye(int64_t n, const TensorOptions& options) { return native::eye_m(n, n, options); }

Tensor eye_m(int64_t n, int64_t m, const TensorOptions& options) {
  TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  Tensor result = native::zeros({n, m}, options);
  Tensor diagonal = detail::make_view(result, {std::min(n, m)}, {m + 1}, 0);
  native::fill_(diagonal, 1);
  return result;
}

Tensor tril(const Tensor& self, int64_t diagonal) { return triangle(self, diagonal, /*upper=*/false, "tril"); }
Tensor triu(const Tensor& self, int64_t diagonal) { return triangle(self, diagonal, /*upper=*/true, "triu"); }

}  // namespace at::native

namespace at {

Tensor pin_memory(const Tensor& self) {
  TORCH_CHECK(cuda_available(), "Cannot access accelerator device when none is available.");
  TORCH_CHECK(self.device().is_cpu() && !self.is_sparse(), "cannot pin a tensor on '", self.device(),
              "': only dense CPU tensors can be pinned");
  if (is_pinned(self)) return self;
  TensorOptions options = self.options();
  options.pin_memory_flag = true;
  return at::empty_like(self, options).copy_(self);
}

bool is_pinned(const Tensor& self) {
  c10::Backend* backend = c10::find_backend(kCUDA);
  return backend && self.device().is_cpu() && !self.is_sparse() && self.numel() > 0 &&
         backend->is_pinned(self.data_ptr());
}

}  // namespace at
