// Pooling: checks and shapes. Averages and maxima over windows, in one to three dimensions.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/CachedParts.h>
#include <aten/native/Dimensions.h>
#include <aten/native/PoolGeometry.h>
#include <aten/native/RunKernel.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/fractional_pool.h>

#include <algorithm>
#include <limits>

namespace at::native {

namespace {

// One number for each dimension, from one for all or one for each; `missing` where there is none.
DimVector for_each_dimension(IntArrayRef values, int64_t dims, const char* function, const char* name) {
  const auto count = static_cast<int64_t>(values.size());
  TORCH_CHECK(count == 1 || count == dims, function, "(): argument '", name, "' must be one int or ", dims,
              " ints, but got ", values);
  // Windows of more than that many elements are none; with these, no product below leaves int64.
  for (const int64_t value : values) {
    TORCH_CHECK(value <= std::numeric_limits<int32_t>::max() && value >= std::numeric_limits<int32_t>::min(),
                "value cannot be converted to type int without overflow");
  }
  DimVector result;
  for (int64_t dim = 0; dim < dims; ++dim) result.push_back(values[count == 1 ? 0 : dim]);
  return result;
}

void put(int64_t (&triple)[3], IntArrayRef values, int64_t missing) {
  for (int64_t& value : triple) value = missing;
  std::copy(values.begin(), values.end(), triple + 3 - values.size());
}

// (C, *size) or (N, C, *size) with `dims` sizes at the end; everything in front of them is a plane.
PoolGeometry start_geometry(const Tensor& self, int64_t dims, const char* function) {
  TORCH_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, function, "() Expected ", dims + 1, "D or ", dims + 2,
              "D (batch mode) tensor with optional 0 dim batch size for input, but got:", self.sizes());
  for (int64_t dim = self.dim() - dims - 1; dim < self.dim(); ++dim) {
    TORCH_CHECK(self.sizes()[dim] > 0, function,
                "(): Expected input to have non-zero size for non-batch dimensions, but ", "input has sizes ",
                self.sizes(), " with dimension ", dim, " being empty");
  }
  PoolGeometry g{};
  const int64_t leading = self.dim() - dims;
  g.planes = product(self.sizes().slice(0, leading));
  put(g.image, self.sizes().slice(leading, dims), 1);
  put(g.kernel, {}, 1);
  put(g.stride, {}, 1);
  put(g.padding, {}, 0);
  put(g.dilation, {}, 1);
  return g;
}

int64_t count_windows(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil_mode) {
  const int64_t room = size + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  int64_t count = (room >= 0 ? room / stride : -((-room + stride - 1) / stride)) + 1;
  // A last window that would start in the padding at the end is none.
  if (ceil_mode && (count - 1) * stride >= size + padding) --count;
  return count;
}

PoolGeometry sliding_windows(const Tensor& self, int64_t dims, const char* function, IntArrayRef kernel_size,
                             IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  PoolGeometry g = start_geometry(self, dims, function);
  const DimVector kernels = for_each_dimension(kernel_size, dims, function, "kernel_size");
  put(g.kernel, kernels, 1);
  put(g.stride, stride.empty() ? kernels : for_each_dimension(stride, dims, function, "stride"), 1);
  put(g.padding, for_each_dimension(padding, dims, function, "padding"), 0);
  put(g.dilation, for_each_dimension(dilation, dims, function, "dilation"), 1);
  for (int64_t dim = 0; dim < 3; ++dim) {
    TORCH_CHECK(g.kernel[dim] > 0, "kernel size should be greater than zero, but got ", kernel_size);
    TORCH_CHECK(g.stride[dim] > 0, "stride should be greater than zero, but got ", stride);
    TORCH_CHECK(g.dilation[dim] > 0, "dilation should be greater than zero, but got ", dilation);
    TORCH_CHECK(g.padding[dim] >= 0, "pad must be non-negative, but got pad: ", g.padding[dim]);
    TORCH_CHECK(g.padding[dim] <= ((g.kernel[dim] - 1) * g.dilation[dim] + 1) / 2,
                "pad should be at most half of effective kernel size, but got pad=", g.padding[dim], ", kernel_size=",
                g.kernel[dim], " and dilation=", g.dilation[dim]);
    g.windows[dim] =
        count_windows(g.image[dim], g.kernel[dim], g.stride[dim], g.padding[dim], g.dilation[dim], ceil_mode);
    TORCH_CHECK(g.windows[dim] > 0, "Given input size: ", self.sizes(), ". Calculated output size: ", g.windows[dim],
                " in dimension ", self.dim() + dim - 3, ". Output size is too small");
  }
  return g;
}

PoolGeometry adaptive_windows(const Tensor& self, int64_t dims, const char* function, IntArrayRef output_size) {
  PoolGeometry g = start_geometry(self, dims, function);
  TORCH_CHECK(static_cast<int64_t>(output_size.size()) == dims, function,
              "(): internal error: output_size.size() must be ", dims, ", but got ", output_size);
  g.adaptive = true;
  put(g.windows, output_size, 1);
  for (const int64_t count : g.windows) {
    TORCH_CHECK(count >= 0, "elements of output_size must be greater than or equal to 0 but received ", output_size);
  }
  // Windows that share the image without a rest are ordinary ones, which have kernels of vectors while they are narrow.
  constexpr int64_t kNarrow = 4;
  bool slides = true;
  for (int64_t dim = 0; dim < 3; ++dim) slides = slides && g.windows[dim] > 0 && g.image[dim] % g.windows[dim] == 0;
  if (!slides || g.image[2] / g.windows[2] > kNarrow) return g;
  g.adaptive = false;
  for (int64_t dim = 0; dim < 3; ++dim) g.kernel[dim] = g.stride[dim] = g.image[dim] / g.windows[dim];
  return g;
}

DimVector result_sizes(const Tensor& self, int64_t dims, const PoolGeometry& g) {
  DimVector sizes(self.sizes().slice(0, self.dim() - dims));
  for (int64_t dim = 3 - dims; dim < 3; ++dim) sizes.push_back(g.windows[dim]);
  return sizes;
}

void check_implemented(bool implemented, const Tensor& self, const char* function) {
  TORCH_CHECK_NOT_IMPLEMENTED(implemented, '"', function, "\" not implemented for '", self.dtype(), "'");
}

void check_floating(const Tensor& self, const char* function) {
  check_implemented(self.is_floating_point(), self, function);
}

// Averages of volumes are row-major whatever the input is, as in PyTorch.
MemoryFormat format_of_averages(const Tensor& self, int64_t dims) {
  return dims == 3 ? MemoryFormat::Contiguous : self.suggest_memory_format();
}

// Maxima lie as the input does; a volume without a batch has no channels that could be last.
MemoryFormat format_of_maxima(const Tensor& self, int64_t dims) {
  return self.dim() == dims + 2 ? self.suggest_memory_format() : MemoryFormat::Contiguous;
}

// How the operands of a kernel lie, for a result in this format: those of the CPU take channels that lie last, if they
// fill vectors, as halves, which are widened, must more than others.
MemoryFormat format_of_operands(const Tensor& self, int64_t dims, const PoolGeometry& g, MemoryFormat format) {
  if (!self.is_cpu() || format == MemoryFormat::Contiguous) return MemoryFormat::Contiguous;
  const int64_t fewest = c10::is_reduced_floating_type(self.dtype()) ? 16 : g.adaptive ? 1 : 4;
  return self.sizes()[self.dim() - dims - 1] < fewest ? MemoryFormat::Contiguous : format;
}

// kernel(geometry, what it writes, the part of an operand) for parts of `out`, which lies as `operand` does: planes, or
// with their channels last images. Kernels that take halves do so where channels are last.
template <typename Kernel>
void write_pool(const Tensor& out, const Tensor& operand, const PoolGeometry& g, bool takes_halves, Kernel&& kernel) {
  const bool in_planes = out.is_contiguous() && operand.is_contiguous();
  if (!c10::is_reduced_floating_type(out.dtype()) || (takes_halves && !in_planes))
    return kernel(g, out, [](const Tensor& tensor) { return tensor; });
  const auto with_parts = [&](const Tensor& tensor) {
    if (!in_planes) return tensor;
    const int64_t elements = tensor.numel() / g.planes;
    return at::detail::make_view(tensor, {g.planes, elements}, {elements, 1}, tensor.storage_offset());
  };
  const Tensor result = with_parts(out);
  write_in_parts(result, out.numel() + operand.numel(), [&](const Part& part, const Tensor& to) {
    PoolGeometry some = g;
    some.planes = g.planes / result.sizes()[0] * part.count;
    kernel(some, to, [&](const Tensor& tensor) { return part(with_parts(tensor)); });
  });
}

// A kernel that takes halves on the CPU, where write_pool gives it what is not computed in float32.
template <typename Kernels, typename... Operands>
void run_pool(Kernels& kernels, const Tensor& to, Operands&&... operands) {
  if (to.is_cpu() && c10::is_reduced_floating_type(to.dtype())) run_kernel(kernels, to.device(), to, operands...);
  else run_kernel_in_float32(kernels, to.device(), to, operands...);
}

// Whether windows are single elements, and each element that of several windows, of as many as a power of two, whose
// inverse is exact: then averages are nearest elements.
bool repeats_elements(const Tensor& self, const PoolGeometry& g) {
  bool are_more = false;
  for (int64_t dim = 0; dim < 3; ++dim) {
    const int64_t times = g.image[dim] == 0 ? 0 : g.windows[dim] / g.image[dim];
    if (times == 0 || (times & (times - 1)) != 0 || times * g.image[dim] != g.windows[dim]) return false;
    are_more = are_more || times > 1;
  }
  return g.adaptive && are_more && self.is_cpu() && self.numel() > 0;
}
// `resample` of a tensor that may have no batch.
template <typename Resample>
Tensor in_batches(const Tensor& tensor, int64_t dims, const Resample& resample) {
  if (tensor.dim() == dims + 2) return resample(tensor);
  return native::squeeze_dim(resample(native::unsqueeze(tensor, 0)), 0);
}

Tensor pool_averages(const Tensor& self, int64_t dims, const PoolGeometry& g) {
  const MemoryFormat wanted = format_of_averages(self, dims);
  if (repeats_elements(self, g)) {
    const Tensor result = in_batches(self, dims, [&](const Tensor& images) {
      const IntArrayRef size(g.windows + 3 - dims, static_cast<size_t>(dims));
      return native::_interpolate(images, size, {}, {}, {}, "nearest", false, false);
    });
    return at::detail::to_contiguous(result, wanted);
  }
  const MemoryFormat format = format_of_operands(self, dims, g, wanted);
  const Tensor out = at::detail::empty(result_sizes(self, dims, g), self.options(), format);
  if (out.numel() > 0) {
    const Tensor dense = at::detail::to_contiguous(self, format);
    constexpr bool kTakesHalves = true;
    write_pool(out, dense, g, kTakesHalves, [&](const PoolGeometry& some, const Tensor& to, const auto& part) {
      run_pool(average_pool_kernels, to, part(dense), some);
    });
  }
  return at::detail::to_contiguous(out, wanted);
}

std::tuple<Tensor, Tensor> pool_maxima(const Tensor& self, int64_t dims, const PoolGeometry& g, MemoryFormat wanted) {
  const MemoryFormat format = format_of_operands(self, dims, g, wanted);
  const DimVector sizes = result_sizes(self, dims, g);
  Tensor out = at::detail::empty(sizes, self.options(), format);
  Tensor indices = at::detail::empty(sizes, self.options().dtype(kLong), format);
  if (out.numel() > 0) {
    const Tensor dense = at::detail::to_contiguous(self, format);
    constexpr bool kTakesHalves = true;
    write_pool(out, dense, g, kTakesHalves, [&](const PoolGeometry& some, const Tensor& to, const auto& part) {
      run_pool(max_pool_kernels, to, part(indices), part(dense), some);
    });
  }
  return {at::detail::to_contiguous(out, wanted), at::detail::to_contiguous(indices, wanted)};
}

Tensor spread_averages(const Tensor& grad_output, IntArrayRef input_size, int64_t dims, const PoolGeometry& g) {
  const MemoryFormat wanted = format_of_averages(grad_output, dims);
  if (repeats_elements(grad_output, g)) {
    DimVector sizes(input_size);
    if (grad_output.dim() == dims + 1) sizes.insert(0, 1);
    const Tensor result = in_batches(grad_output, dims, [&](const Tensor& grads) {
      return native::_interpolate_backward(grads, sizes, {}, {}, {}, "nearest", false, false);
    });
    return at::detail::to_contiguous(result, wanted);
  }
  const MemoryFormat format = format_of_operands(grad_output, dims, g, wanted);
  const Tensor out = at::detail::empty(input_size, grad_output.options(), format);
  if (out.numel() > 0) {
    const Tensor dense = at::detail::to_contiguous(grad_output, format);
    constexpr bool kTakesHalves = false;
    write_pool(out, dense, g, kTakesHalves, [&](const PoolGeometry& some, const Tensor& to, const auto& part) {
      run_kernel_in_float32(average_pool_backward_kernels, out.device(), to, part(dense), some);
    });
  }
  return at::detail::to_contiguous(out, wanted);
}

// What only says how an image is shaped: no memory.
Tensor shaped(IntArrayRef sizes, const Tensor& like) { return at::detail::empty(sizes, like.dtype(), Device(kMeta)); }

PoolGeometry average_windows(const Tensor& self, int64_t dims, const char* function, IntArrayRef kernel_size,
                             IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                             std::optional<int64_t> divisor_override) {
  TORCH_CHECK(!divisor_override || *divisor_override != 0, "divisor must be not zero");
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || self.dtype() == kLong, '"', function,
                              "\" not implemented for '", self.dtype(), "'");
  PoolGeometry g = sliding_windows(self, dims, function, kernel_size, stride, padding, 1, ceil_mode);
  g.count_padding = count_include_pad;
  g.divisor = divisor_override.value_or(0);
  return g;
}

// Whether each plane has one window, the plane itself: a mean.
bool is_one_average(IntArrayRef output_size, int64_t dims) {
  return static_cast<int64_t>(output_size.size()) == dims &&
         std::all_of(output_size.begin(), output_size.end(), [](int64_t size) { return size == 1; });
}

// A dimension of size 1 in front of the last one, and numbers that leave it alone.
DimVector with_leading(IntArrayRef values, int64_t value, const char* function, const char* name) {
  if (values.empty()) return {};
  return {value, for_each_dimension(values, 1, function, name)[0]};
}

}  // namespace

// ------------------------------------------------------------------------------------------------ maxima

namespace {

// A signal as an image of one row, which windows over signals are windows of.
Tensor with_row(const Tensor& signal) {
  TORCH_CHECK(signal.dim() == 2 || signal.dim() == 3,
              "max_pool1d() Expected 2D or 3D (batch mode) tensor with optional 0 dim ",
              "batch size for input, but got:", signal.sizes());
  return signal.unsqueeze(-2);
}

}  // namespace

std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  constexpr const char* name = "max_pool1d";
  const auto [values, indices] = at::max_pool2d_with_indices(
      with_row(self), with_leading(kernel_size, 1, name, "kernel_size"), with_leading(stride, 1, name, "stride"),
      with_leading(padding, 0, name, "padding"), with_leading(dilation, 1, name, "dilation"), ceil_mode);
  return {values.squeeze(-2), indices.squeeze(-2)};
}

std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  check_implemented(self.dtype() != kBool, self, "max_pool2d");
  return pool_maxima(self, 2,
                     sliding_windows(self, 2, "max_pool2d", kernel_size, stride, padding, dilation, ceil_mode),
                     format_of_maxima(self, 2));
}

std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  check_implemented(self.dtype() != kBool, self, "max_pool3d");
  return pool_maxima(self, 3,
                     sliding_windows(self, 3, "max_pool3d", kernel_size, stride, padding, dilation, ceil_mode),
                     format_of_maxima(self, 3));
}

namespace {

// Whether nobody asks for the places of the maxima, which take longer to find than the values.
bool needs_values_only(const Tensor& self) {
  return self.is_cpu() && self.is_floating_point() && !is_differentiated(self);
}

Tensor pool_values(const Tensor& self, int64_t dims, const PoolGeometry& g) {
  const MemoryFormat wanted = format_of_maxima(self, dims);
  const MemoryFormat format = format_of_operands(self, dims, g, wanted);
  const Tensor out = at::detail::empty(result_sizes(self, dims, g), self.options(), format);
  if (out.numel() > 0) {
    const Tensor dense = at::detail::to_contiguous(self, format);
    constexpr bool kTakesHalves = true;
    write_pool(out, dense, g, kTakesHalves, [&](const PoolGeometry& some, const Tensor& to, const auto& part) {
      run_pool(cpu::max_pool_values, to, part(dense), some);
    });
  }
  return at::detail::to_contiguous(out, wanted);
}

}  // namespace

Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  check_floating(self, "max_pool1d_impl");
  if (needs_values_only(self)) {
    constexpr const char* name = "max_pool1d";
    return native::max_pool2d(with_row(self), with_leading(kernel_size, 1, name, "kernel_size"),
                              with_leading(stride, 1, name, "stride"), with_leading(padding, 0, name, "padding"),
                              with_leading(dilation, 1, name, "dilation"), ceil_mode)
        .squeeze(-2);
  }
  return std::get<0>(at::max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  if (needs_values_only(self)) {
    return pool_values(self, 2,
                       sliding_windows(self, 2, "max_pool2d", kernel_size, stride, padding, dilation, ceil_mode));
  }
  return std::get<0>(at::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  if (needs_values_only(self)) {
    return pool_values(self, 3,
                       sliding_windows(self, 3, "max_pool3d", kernel_size, stride, padding, dilation, ceil_mode));
  }
  return std::get<0>(at::max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size) {
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3, "adaptive_max_pool1d() Expected 2D or 3D tensor, but got ",
              self.sizes());
  TORCH_CHECK(output_size.size() == 1, "adaptive_max_pool1d() argument 'output_size' must be one int, but got ",
              output_size);
  const auto [values, indices] = at::adaptive_max_pool2d(self.unsqueeze(-2), {1, output_size[0]});
  return {values.squeeze(-2), indices.squeeze(-2)};
}

std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& self, IntArrayRef output_size) {
  check_floating(self, "adaptive_max_pool2d");
  return pool_maxima(self, 2, adaptive_windows(self, 2, "adaptive_max_pool2d", output_size),
                     format_of_averages(self, 2));
}

std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& self, IntArrayRef output_size) {
  check_floating(self, "adaptive_max_pool3d_cpu");
  return pool_maxima(self, 3, adaptive_windows(self, 3, "adaptive_max_pool3d", output_size),
                     format_of_averages(self, 3));
}

// ------------------------------------------------------------------------------------------------ windows at random

namespace {

// Where windows begin that share a dimension, by a number in [0, 1), computed in the type T.
template <typename T>
void write_starts(int64_t* starts, T sample, int64_t size, int64_t kernel, int64_t count) {
  using Number = std::conditional_t<c10::is_reduced_floating_v<T>, float, T>;
  const auto rounded = [](auto number) { return static_cast<Number>(static_cast<T>(static_cast<Number>(number))); };
  const auto share = static_cast<Number>(sample);
  const Number step = count > 1 ? rounded(rounded(size - kernel) / rounded(count - 1)) : Number(0);
  const auto first = static_cast<int64_t>(rounded(share * step));
  for (int64_t i = 0; i + 1 < count; ++i) {
    const auto start = static_cast<int64_t>(rounded(rounded(rounded(i) + share) * step)) - first;
    starts[i] = std::clamp<int64_t>(start, 0, size - kernel);
  }
  if (count > 0) starts[count - 1] = size - kernel;
}

// Of each plane, its windows' along the three dimensions. Of an image, the first sample is that of the columns.
Tensor starts_of_windows(const Tensor& samples, int64_t dims, const PoolGeometry& g) {
  const int64_t all = g.windows[0] + g.windows[1] + g.windows[2];
  const Tensor starts = at::detail::empty({g.planes, all}, kLong, samples.device());
  const Tensor rows = at::reshape(samples, {g.planes, dims}).contiguous();
  const auto sample_of = [&](int64_t dim) { return dims == 2 ? 2 - dim : dim; };
  if (!samples.is_cpu()) {
    int64_t place = 0;
    for (int64_t dim = 0; dim < 3; place += g.windows[dim++]) {
      const Tensor to = starts.narrow(1, place, g.windows[dim]);
      const int64_t last = g.image[dim] - g.kernel[dim];
      to.fill_(Scalar(last));
      if (g.windows[dim] < 2) continue;
      const Tensor share = rows.narrow(1, sample_of(dim), 1);
      const Tensor step = at::full({}, Scalar(static_cast<double>(last)), samples.options())
                              .div(Scalar(static_cast<double>(g.windows[dim] - 1)));
      const Tensor numbers = at::arange(g.windows[dim] - 1, samples.options());
      const Tensor found = numbers.add(share).mul(step).to(kLong).sub(share.mul(step).to(kLong));
      to.narrow(1, 0, g.windows[dim] - 1).copy_(found.clamp(Scalar(0), Scalar(last)));
    }
    return starts;
  }
  dispatch_stored_floating_types(samples.dtype(), "fractional_max_pool", [&](auto type) {
    using T = typename decltype(type)::type;
    int64_t* to = starts.data_ptr<int64_t>();
    const T* sample = rows.data_ptr<T>();
    for (int64_t plane = 0; plane < g.planes; ++plane, sample += dims) {
      for (int64_t dim = 0; dim < 3; to += g.windows[dim++]) {
        const bool is_there = dim >= 3 - dims;
        write_starts(to, is_there ? sample[sample_of(dim)] : T(0), g.image[dim], g.kernel[dim], g.windows[dim]);
      }
    }
  });
  return starts;
}

// On devices without a kernel: what each window sees, side by side.
std::tuple<Tensor, Tensor> find_maxima_at(const Tensor& self, const Tensor& starts, const PoolGeometry& g,
                                          IntArrayRef sizes) {
  Tensor places;
  int64_t place = 0;
  for (int64_t dim = 0; dim < 3; place += g.windows[dim++]) {
    DimVector shape{g.planes, 1, 1, 1, 1, 1, 1};  // windows, then what is inside
    shape[1 + dim] = g.windows[dim];
    const Tensor inside = at::arange(g.kernel[dim], starts.options());
    Tensor of_dim = starts.narrow(1, place, g.windows[dim]).reshape(shape);
    shape = {1, 1, 1, 1, 1, 1, 1};
    shape[4 + dim] = g.kernel[dim];
    of_dim = of_dim.add(inside.view(shape));
    places = dim == 0 ? of_dim : places.mul(Scalar(g.image[dim])).add(of_dim);
  }
  places = places.reshape({g.planes, g.window_count(), -1});
  const Tensor planes = self.reshape({g.planes, g.image_elements()});
  const Tensor windows = planes.gather(1, places.flatten(1)).view(places.sizes());
  const auto [values, best] = at::max(windows, 2, /*keepdim=*/true);
  return {values.reshape(sizes), places.gather(2, best).reshape(sizes)};
}

std::tuple<Tensor, Tensor> pool_at_random(const Tensor& self, int64_t dims, const char* function,
                                          IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& samples) {
  TORCH_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, function, "(): Expected ", dims + 1, "D or ", dims + 2,
              "D tensor, but got: ", self.sizes());
  check_floating(self, function);
  PoolGeometry g = start_geometry(self, dims, function);
  put(g.kernel, for_each_dimension(kernel_size, dims, function, "kernel_size"), 1);
  put(g.windows, for_each_dimension(output_size, dims, function, "output_size"), 1);
  for (int64_t dim = 0; dim < 3; ++dim) {
    TORCH_CHECK(g.kernel[dim] > 0 && g.windows[dim] >= 0, function, "(): kernel_size must be positive and output_size ",
                "not negative, but got ", kernel_size, " and ", output_size);
    constexpr const char* kNames[] = {"time", "height", "width"};
    TORCH_CHECK(g.windows[dim] + g.kernel[dim] - 1 <= g.image[dim], function, "(): pool ", kNames[dim], " ",
                g.kernel[dim], " too large relative to input ", kNames[dim], " ", g.image[dim]);
  }
  const int64_t channels = self.sizes()[self.dim() - dims - 1];
  TORCH_CHECK(samples.dim() == 3 && samples.sizes()[0] * channels == g.planes && samples.sizes()[1] == channels &&
                  samples.sizes()[2] == dims && samples.dtype() == self.dtype() && samples.device() == self.device(),
              function, "(): random_samples must be ", dims, " numbers for each plane of the input, of its dtype and ",
              "device, but got a tensor of size ", samples.sizes(), " for an input of size ", self.sizes());
  const DimVector sizes = result_sizes(self, dims, g);
  const bool is_composed = !self.is_cpu() && !self.is_meta() && product(sizes) > 0;
  if (is_composed) return find_maxima_at(self, starts_of_windows(samples, dims, g), g, sizes);
  const Tensor out = at::detail::empty(sizes, self.options());
  const Tensor indices = at::detail::empty(sizes, kLong, self.device());
  if (self.is_cpu() && out.numel() > 0) {
    cpu::fractional_max_pool(out, indices, self.contiguous(), starts_of_windows(samples, dims, g), g);
  }
  return {out, indices};
}

}  // namespace

std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
                                                 const Tensor& random_samples) {
  return pool_at_random(self, 2, "fractional_max_pool2d", kernel_size, output_size, random_samples);
}

std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
                                                 const Tensor& random_samples) {
  return pool_at_random(self, 3, "fractional_max_pool3d", kernel_size, output_size, random_samples);
}

// ------------------------------------------------------------------------------------------------ averages

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad) {
  constexpr const char* name = "avg_pool1d";
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3,
              "avg_pool1d() Expected 2D or 3D (batch mode) tensor with optional 0 dim ",
              "batch size for input, but got:", self.sizes());
  return at::avg_pool2d(self.unsqueeze(-2), with_leading(kernel_size, 1, name, "kernel_size"),
                        with_leading(stride, 1, name, "stride"), with_leading(padding, 0, name, "padding"), ceil_mode,
                        count_include_pad)
      .squeeze(-2);
}

Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad, std::optional<int64_t> divisor_override) {
  check_implemented(self.is_floating_point() || self.dtype() == kLong, self, "avg_pool2d");
  return pool_averages(self, 2, average_windows(self, 2, "avg_pool2d", kernel_size, stride, padding, ceil_mode,
                                                count_include_pad, divisor_override));
}

Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad, std::optional<int64_t> divisor_override) {
  // On the CPU, PyTorch averages volumes in float, double and int64 only.
  check_implemented((self.is_floating_point() && !(self.is_cpu() && c10::is_reduced_floating_type(self.dtype()))) ||
                        self.dtype() == kLong,
                    self, "avg_pool3d_out_frame");
  return pool_averages(self, 3, average_windows(self, 3, "avg_pool3d", kernel_size, stride, padding, ceil_mode,
                                                count_include_pad, divisor_override));
}

Tensor avg_pool2d_backward(const Tensor& grad_output, IntArrayRef input_size, IntArrayRef kernel_size,
                           IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  return spread_averages(grad_output, input_size, 2,
                         average_windows(shaped(input_size, grad_output), 2, "avg_pool2d_backward", kernel_size, stride,
                                         padding, ceil_mode, count_include_pad, divisor_override));
}

Tensor avg_pool3d_backward(const Tensor& grad_output, IntArrayRef input_size, IntArrayRef kernel_size,
                           IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  return spread_averages(grad_output, input_size, 3,
                         average_windows(shaped(input_size, grad_output), 3, "avg_pool3d_backward", kernel_size, stride,
                                         padding, ceil_mode, count_include_pad, divisor_override));
}

Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3, "adaptive_avg_pool1d() Expected 2D or 3D tensor, but got ",
              self.sizes());
  TORCH_CHECK(output_size.size() == 1, "adaptive_avg_pool1d() argument 'output_size' must be one int, but got ",
              output_size);
  return at::adaptive_avg_pool2d(self.unsqueeze(-2), {1, output_size[0]}).squeeze(-2);
}

Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  if (!is_one_average(output_size, 2)) return at::_adaptive_avg_pool2d(self, output_size);
  check_floating(self, "adaptive_avg_pool2d");
  adaptive_windows(self, 2, "adaptive_avg_pool2d", output_size);
  return at::mean(self, IntArrayRef({-2, -1}), /*keepdim=*/true);
}

Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  if (!is_one_average(output_size, 3)) return at::_adaptive_avg_pool3d(self, output_size);
  check_floating(self, "adaptive_avg_pool3d_cpu");
  adaptive_windows(self, 3, "adaptive_avg_pool3d", output_size);
  return at::mean(self, IntArrayRef({-3, -2, -1}), /*keepdim=*/true);
}

Tensor _adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  check_floating(self, "adaptive_avg_pool2d");
  return pool_averages(self, 2, adaptive_windows(self, 2, "adaptive_avg_pool2d", output_size));
}

Tensor _adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  check_floating(self, "adaptive_avg_pool3d_cpu");
  return pool_averages(self, 3, adaptive_windows(self, 3, "adaptive_avg_pool3d", output_size));
}

Tensor _adaptive_avg_pool_backward(const Tensor& grad_output, IntArrayRef input_size, int64_t dims) {
  const IntArrayRef windows = grad_output.sizes().slice(grad_output.dim() - dims, dims);
  return spread_averages(
      grad_output, input_size, dims,
      adaptive_windows(shaped(input_size, grad_output), dims, "adaptive_avg_pool_backward", windows));
}

}  // namespace at::native
