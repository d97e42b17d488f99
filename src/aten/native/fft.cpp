// torch.fft: three transforms (complex, from real, to real) that the engine does line by line,
// and the forms that users call.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/Parallel.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/Views.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace at::native {

namespace {

// How results are scaled: not at all, by 1/sqrt(n), by 1/n. The numbers are those of PyTorch's _fft_c2c.
enum Normalization : int64_t { kNone, kByRoot, kBySize };

double scale_of(int64_t normalization, int64_t size) {
  if (normalization == kNone) return 1;
  return normalization == kBySize ? 1 / static_cast<double>(size) : 1 / std::sqrt(static_cast<double>(size));
}

int64_t signal_size(const Tensor& self, IntArrayRef dims) {
  int64_t size = 1;
  for (const int64_t dim : dims) size *= self.sizes()[dim];
  return size;
}

// In place.
void transform(const Tensor& contiguous, IntArrayRef dims, double scale, bool forward) {
  if (contiguous.numel() == 0) return;
  for (size_t i = dims.size(); i-- > 0;) {
    if (contiguous.sizes()[dims[i]] == 1) continue;  // of one number, which is itself
    run_kernel(fft_along_kernels, contiguous.device(), contiguous, dims[i], forward, scale);
    scale = 1;
  }
}

// The order in which results lie in memory, PyTorch's: dimensions that are not transformed first, each kind as the
// input's lie; with `line_last` the last of `dims` is the fastest.
class MemoryOrder {
 public:
  MemoryOrder(const Tensor& self, IntArrayRef dims, bool line_last) : places_(static_cast<size_t>(self.dim())) {
    const IntArrayRef strides = self.strides();
    const auto is_transformed = [&](int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); };
    for (int64_t dim = 0; dim < self.dim(); ++dim) {
      if (!is_transformed(dim)) order_.push_back(dim);
    }
    const auto slower = [&](int64_t a, int64_t b) { return strides[a] > strides[b]; };
    std::stable_sort(order_.begin(), order_.end(), slower);
    const auto first = static_cast<int64_t>(order_.size());
    for (const int64_t dim : dims) order_.push_back(dim);
    std::stable_sort(order_.begin() + first, order_.end() - (line_last ? 1 : 0), slower);
    for (size_t i = 0; i < order_.size(); ++i) places_[static_cast<size_t>(order_[i])] = static_cast<int64_t>(i);
  }

  // A contiguous tensor with the dimensions in that order: a copy, or the tensor itself if that is one and will do.
  Tensor copy(const Tensor& self) const {
    const Tensor result = at::detail::empty(in_order(self.sizes()), self.dtype(), self.device());
    if (result.numel() > 0) at::detail::copy_into(result, permuted(self));
    return result;
  }
  Tensor lines(const Tensor& self) const { return at::detail::to_contiguous(permuted(self)); }
  DimVector places(IntArrayRef dims) const {
    DimVector result;
    for (const int64_t dim : dims) result.push_back(places_[static_cast<size_t>(dim)]);
    return result;
  }
  // Gives a new tensor, whose dimensions are in that order, back the user's.
  Tensor restored(const Tensor& result) const {
    DimVector sizes(places_.size());
    DimVector strides(places_.size());
    for (size_t dim = 0; dim < places_.size(); ++dim) {
      sizes[dim] = result.sizes()[places_[dim]];
      strides[dim] = result.strides()[places_[dim]];
    }
    result.impl()->set_sizes_and_strides(sizes, strides, 0);
    return result;
  }

 private:
  DimVector in_order(IntArrayRef values) const {
    DimVector result;
    for (const int64_t dim : order_) result.push_back(values[dim]);
    return result;
  }
  Tensor permuted(const Tensor& self) const {
    return alias_with_sizes_and_strides(self, in_order(self.sizes()), in_order(self.strides()));
  }

  DimVector order_;   // from the slowest to the fastest
  DimVector places_;  // of each dimension in it
};

}  // namespace

Tensor _fft_c2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) {
  TORCH_CHECK(self.is_complex(), "_fft_c2c expects a complex input, but got ", self.dtype());
  const MemoryOrder order(self, dim, /*line_last=*/false);
  const Tensor result = order.copy(self);
  transform(result, order.places(dim), scale_of(normalization, signal_size(self, dim)), forward);
  return order.restored(result);
}

namespace {

// to[i] = the conjugate of last[-i]
template <typename T>
void mirror(const c10::complex<T>* last, int64_t count, c10::complex<T>* to) {
  if constexpr (std::is_same_v<T, float>) {  // both parts are moved at once
    for (int64_t i = 0; i < count; ++i) {
      uint64_t bits;
      std::memcpy(&bits, last - i, sizeof bits);
      bits ^= uint64_t{1} << 63;
      std::memcpy(to + i, &bits, sizeof bits);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = c10::conj(last[-i]);
  }
}

// Lines of n numbers from the first half of each, where the others are mirrored conjugates: those of real numbers.
Tensor with_conjugates(const Tensor& halves, int64_t n) {
  DimVector shape(halves.sizes());
  const int64_t half = shape.back();
  shape.back() = n;
  const Tensor lines = at::detail::empty(shape, halves.dtype(), halves.device());
  dispatch_complex_types(halves.dtype(), "fft", [&](auto type) {
    using C = typename decltype(type)::type;
    const C* from = halves.data_ptr<C>();
    C* to = lines.data_ptr<C>();
    parallel_for(0, lines.numel() / n, std::max<int64_t>(1, kGrainSize / n), [&](int64_t first, int64_t last) {
      for (int64_t line = first; line < last; ++line) {
        std::copy_n(from + line * half, half, to + line * n);
        mirror(from + line * half + n - half, n - half, to + line * n + half);
      }
    });
  });
  return lines;
}

}  // namespace

Tensor _fft_r2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool onesided) {
  TORCH_CHECK(self.is_floating_point(), "_fft_r2c expects a real input, but got ", self.dtype());
  TORCH_CHECK(!c10::is_reduced_floating_type(self.dtype()), "Unsupported dtype ", self.dtype());
  const bool is_mirrored = !onesided && dim.size() == 1 && self.is_cpu();
  if (!onesided && !is_mirrored)
    return native::_fft_c2c(self.to(c10::complex_type(self.dtype())), dim, normalization, /*forward=*/true);
  const MemoryOrder order(self, dim, /*line_last=*/true);
  const Tensor lines = order.lines(self);
  DimVector shape(lines.sizes());
  shape.back() = shape.back() / 2 + 1;
  const Tensor halves = at::detail::empty(shape, c10::complex_type(self.dtype()), self.device());
  if (halves.numel() > 0) {
    run_kernel(fft_real_lines_kernels, self.device(), halves, lines, scale_of(normalization, signal_size(self, dim)));
  }
  if (is_mirrored) return order.restored(with_conjugates(halves, lines.sizes().back()));
  transform(halves, order.places(dim.slice(0, dim.size() - 1)), 1, /*forward=*/true);
  return order.restored(halves);
}

Tensor _fft_c2r(const Tensor& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size) {
  TORCH_CHECK(self.is_complex(), "_fft_c2r expects a complex input, but got ", self.dtype());
  const int64_t last = dim.back();
  const Tensor partial =
      dim.size() > 1 ? native::_fft_c2c(self, dim.slice(0, dim.size() - 1), kNone, /*forward=*/false) : self;
  const MemoryOrder order(partial, {last}, /*line_last=*/true);
  // As many as the engine reads: those behind do not count, missing ones are zeros.
  const int64_t half = last_dim_size / 2 + 1;
  const int64_t given = partial.sizes()[last];
  Tensor lines = order.lines(given > half ? at::narrow(partial, last, 0, half) : partial);
  if (given < half) {
    DimVector padded(lines.sizes());
    padded.back() = half;
    const Tensor wider = at::zeros(padded, lines.options());
    at::narrow(wider, -1, 0, given).copy_(lines);
    lines = wider;
  }
  DimVector shape(lines.sizes());
  shape.back() = last_dim_size;
  const Tensor reals = at::detail::empty(shape, c10::real_type(self.dtype()), self.device());
  if (reals.numel() > 0) {
    const int64_t size = signal_size(self, dim.slice(0, dim.size() - 1)) * last_dim_size;
    run_kernel(fft_to_real_lines_kernels, self.device(), reals, lines, scale_of(normalization, size));
  }
  return order.restored(reals);
}

// ---------------------------------------------------------------------------------------------- what users call

namespace {

int64_t parse_norm(std::optional<std::string_view> norm, bool forward) {
  if (!norm || *norm == "backward") return forward ? kNone : kBySize;
  if (*norm == "forward") return forward ? kBySize : kNone;
  TORCH_CHECK(*norm == "ortho", "Invalid normalization mode: \"", *norm, "\"");
  return kByRoot;
}

// Integers become the default dtype, and with `complex` real numbers complex ones.
Tensor promote(const Tensor& self, bool complex) {
  const ScalarType given = self.dtype();
  ScalarType dtype = c10::is_floating_or_complex_type(given) ? given : c10::get_default_dtype();
  TORCH_CHECK(!c10::is_reduced_floating_type(dtype), "Unsupported dtype ", dtype);
  if (complex && !c10::is_complex_type(dtype)) dtype = c10::complex_type(dtype);
  return dtype == given ? self : self.to(dtype);
}

// Cut or filled with zeros at the end, so that `dims` have these sizes; -1: as it is.
Tensor resize(Tensor self, IntArrayRef dims, IntArrayRef sizes) {
  DimVector pad(2 * self.dim(), 0);
  bool grows = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = sizes[i];
    if (size == -1) continue;
    const int64_t given = self.sizes()[dims[i]];
    if (given > size) self = at::narrow(self, dims[i], 0, size);
    else if (given < size) {
      grows = true;
      pad[2 * (self.dim() - dims[i]) - 1] = size - given;
    }
  }
  return grows ? at::constant_pad_nd(self, pad) : self;
}

void check_size(int64_t size) { TORCH_CHECK(size >= 1, "Invalid number of data points (", size, ") specified"); }

int64_t wrap_fft_dim(const Tensor& self, int64_t dim) { return wrap_dim(dim, self.dim(), /*wrap_scalar=*/false); }

Tensor complex_one(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm,
                   bool forward) {
  const int64_t along = wrap_fft_dim(self, dim);
  check_size(n.value_or(self.sizes()[along]));
  Tensor input = promote(self, /*complex=*/!self.is_cpu());
  if (n) input = resize(input, {along}, {*n});
  if (input.is_complex()) return at::_fft_c2c(input, {along}, parse_norm(norm, forward), forward);
  const Tensor result = at::_fft_r2c(input, {along}, parse_norm(norm, forward), /*onesided=*/false);
  return forward ? result : at::conj(result);
}

Tensor from_real_one(const char* name, const Tensor& self, std::optional<int64_t> n, int64_t dim,
                     std::optional<std::string_view> norm, bool forward) {
  TORCH_CHECK(!self.is_complex(), name, " expects a real input tensor, but got ", self.dtype());
  const int64_t along = wrap_fft_dim(self, dim);
  check_size(n.value_or(self.sizes()[along]));
  Tensor input = promote(self, /*complex=*/false);
  if (n) input = resize(input, {along}, {*n});
  const Tensor result = at::_fft_r2c(input, {along}, parse_norm(norm, forward), /*onesided=*/true);
  return forward ? result : at::conj(result);
}

Tensor to_real_one(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm,
                   bool forward) {
  const int64_t along = wrap_fft_dim(self, dim);
  const int64_t size = n.value_or(2 * (self.sizes()[along] - 1));
  check_size(size);
  Tensor input = promote(self, /*complex=*/true);
  if (n) input = resize(input, {along}, {size / 2 + 1});
  if (forward) input = at::conj(input);
  return at::_fft_c2r(input, {along}, parse_norm(norm, forward), size);
}

// Which dimensions a transform of several takes, and the sizes they get.
struct Shape {
  DimVector dims;
  DimVector sizes;
};

Shape canonical_shape(const Tensor& self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim) {
  Shape shape;
  if (dim) {
    DimMask seen;
    for (const int64_t given : *dim) {
      const int64_t along = wrap_fft_dim(self, given);
      TORCH_CHECK(!seen[along], "FFT dims must be unique");
      seen.set(along);
      shape.dims.push_back(along);
    }
  }
  if (s) {
    const int64_t count = static_cast<int64_t>(s->size());
    TORCH_CHECK(!dim || dim->size() == s->size(), "When given, dim and shape arguments must have the same length");
    TORCH_CHECK(count <= self.dim(), "Got shape with ", count, " values but input tensor only has ", self.dim(),
                " dimensions.");
    shape.sizes = DimVector(*s);
    if (!dim) {
      for (int64_t i = self.dim() - count; i < self.dim(); ++i) shape.dims.push_back(i);
    }
  } else {
    if (!dim) {
      for (int64_t i = 0; i < self.dim(); ++i) shape.dims.push_back(i);
    }
    shape.sizes = DimVector(shape.dims.size(), -1);
  }
  for (size_t i = 0; i < shape.sizes.size(); ++i) {
    if (shape.sizes[i] == -1) shape.sizes[i] = self.sizes()[shape.dims[i]];
    check_size(shape.sizes[i]);
  }
  return shape;
}

Tensor complex_many(const Tensor& self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim,
                    std::optional<std::string_view> norm, bool forward) {
  const Shape shape = canonical_shape(self, s, dim);
  const Tensor input = resize(promote(self, /*complex=*/true), shape.dims, shape.sizes);
  return at::_fft_c2c(input, shape.dims, parse_norm(norm, forward), forward);
}

// The size of the last dimension of a real result is given by `s`, or by the half that is there.
Shape to_real_shape(const char* name, const Tensor& self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim,
                    int64_t& last) {
  Shape shape = canonical_shape(self, s, dim);
  TORCH_CHECK(!shape.dims.empty(), name, " must transform at least one axis");
  const bool given = s && s->back() != -1;
  last = given ? s->back() : 2 * (self.sizes()[shape.dims.back()] - 1);
  check_size(last);
  shape.sizes.back() = last / 2 + 1;
  return shape;
}

}  // namespace

Tensor fft_fft(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm) {
  return complex_one(self, n, dim, norm, /*forward=*/true);
}

Tensor fft_ifft(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm) {
  return complex_one(self, n, dim, norm, /*forward=*/false);
}

Tensor fft_rfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm) {
  return from_real_one("rfft", self, n, dim, norm, /*forward=*/true);
}

Tensor fft_irfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm) {
  return to_real_one(self, n, dim, norm, /*forward=*/false);
}

Tensor fft_hfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm) {
  return to_real_one(self, n, dim, norm, /*forward=*/true);
}

Tensor fft_ihfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm) {
  return from_real_one("ihfft", self, n, dim, norm, /*forward=*/false);
}

Tensor fft_fftn(const Tensor& self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim,
                std::optional<std::string_view> norm) {
  return complex_many(self, s, dim, norm, /*forward=*/true);
}

Tensor fft_ifftn(const Tensor& self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim,
                 std::optional<std::string_view> norm) {
  return complex_many(self, s, dim, norm, /*forward=*/false);
}

Tensor fft_rfftn(const Tensor& self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim,
                 std::optional<std::string_view> norm) {
  TORCH_CHECK(!self.is_complex(), "rfftn expects a real-valued input tensor, but got ", self.dtype());
  const Shape shape = canonical_shape(self, s, dim);
  TORCH_CHECK(!shape.dims.empty(), "rfftn must transform at least one axis");
  const Tensor input = resize(promote(self, /*complex=*/false), shape.dims, shape.sizes);
  return at::_fft_r2c(input, shape.dims, parse_norm(norm, /*forward=*/true), /*onesided=*/true);
}

Tensor fft_irfftn(const Tensor& self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim,
                  std::optional<std::string_view> norm) {
  int64_t last = 0;
  const Shape shape = to_real_shape("irfftn", self, s, dim, last);
  const Tensor input = resize(promote(self, /*complex=*/true), shape.dims, shape.sizes);
  return at::_fft_c2r(input, shape.dims, parse_norm(norm, /*forward=*/false), last);
}

Tensor fft_hfftn(const Tensor& self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim,
                 std::optional<std::string_view> norm) {
  int64_t last = 0;
  const Shape shape = to_real_shape("hfftn", self, s, dim, last);
  const Tensor input = resize(promote(self, /*complex=*/true), shape.dims, shape.sizes);
  const int64_t normalization = parse_norm(norm, /*forward=*/true);
  const IntArrayRef dims = shape.dims;
  const Tensor partial = at::_fft_c2c(input, dims.slice(0, dims.size() - 1), normalization, /*forward=*/true);
  return at::_fft_c2r(at::conj(partial), {dims.back()}, normalization, last);
}

Tensor fft_ihfftn(const Tensor& self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim,
                  std::optional<std::string_view> norm) {
  TORCH_CHECK(!self.is_complex(), "Only supports floating-point dtypes, but found: ", self.dtype());
  const Shape shape = canonical_shape(self, s, dim);
  TORCH_CHECK(!shape.dims.empty(), "ihfftn must transform at least one axis");
  const Tensor input = resize(promote(self, /*complex=*/false), shape.dims, shape.sizes);
  const int64_t normalization = parse_norm(norm, /*forward=*/false);
  const IntArrayRef dims = shape.dims;
  const Tensor halves = at::conj(at::_fft_r2c(input, {dims.back()}, normalization, /*onesided=*/true));
  return at::_fft_c2c(halves, dims.slice(0, dims.size() - 1), normalization, /*forward=*/false);
}

#define TORCH_FFT2(name)                                                                  \
  Tensor fft_##name##2(const Tensor& self, std::optional<IntArrayRef> s, IntArrayRef dim, \
                       std::optional<std::string_view> norm) {                            \
    return at::fft_##name##n(self, s, dim, norm);                                         \
  }
TORCH_FFT2(fft)
TORCH_FFT2(ifft)
TORCH_FFT2(rfft)
TORCH_FFT2(irfft)
TORCH_FFT2(hfft)
TORCH_FFT2(ihfft)
#undef TORCH_FFT2

namespace {

TensorOptions frequency_options(const TensorOptions& options, const char* name) {
  const ScalarType dtype = options.dtype();
  TORCH_CHECK(c10::is_floating_or_complex_type(dtype), name, " requires a floating point or complex dtype");
  return options;
}

}  // namespace

Tensor fft_fftfreq(int64_t n, double d, const TensorOptions& options) {
  const TensorOptions real = frequency_options(options, "fftfreq");
  TORCH_CHECK(n >= 0, "Trying to create tensor with negative dimension ", n, ": [", n, "]");
  const int64_t positive = (n + 1) / 2;
  const Tensor numbers = at::cat({at::arange(Scalar(0), Scalar(positive), Scalar(1), real),
                                  at::arange(Scalar(-(n / 2)), Scalar(0), Scalar(1), real)});
  return at::mul(numbers, Scalar(1 / (static_cast<double>(n) * d)));
}

Tensor fft_rfftfreq(int64_t n, double d, const TensorOptions& options) {
  const TensorOptions real = frequency_options(options, "rfftfreq");
  return at::mul(at::arange(Scalar(0), Scalar(n / 2 + 1), Scalar(1), real), Scalar(1 / (static_cast<double>(n) * d)));
}

namespace {

// Rolls each dimension by half of its size, rounded down or (for the way back) up.
Tensor roll_halves(const Tensor& self, std::optional<IntArrayRef> dim, bool up) {
  DimVector dims;
  if (dim) dims = DimVector(*dim);
  else for (int64_t i = 0; i < self.dim(); ++i) dims.push_back(i);
  DimVector shifts;
  for (int64_t& each : dims) {
    each = wrap_dim(each, self.dim());
    shifts.push_back((self.size(each) + (up ? 1 : 0)) / 2);
  }
  if (dims.empty()) return at::clone(self);
  return at::roll(self, shifts, dims);
}

}  // namespace

Tensor fft_fftshift(const Tensor& self, std::optional<IntArrayRef> dim) { return roll_halves(self, dim, /*up=*/false); }
Tensor fft_ifftshift(const Tensor& self, std::optional<IntArrayRef> dim) { return roll_halves(self, dim, /*up=*/true); }

}  // namespace at::native
