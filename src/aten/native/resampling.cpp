// Images, signals and volumes in another size, and at the places of a grid: checks, shapes and the tables of weights.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/CachedParts.h>
#include <aten/native/GridSampling.h>
#include <aten/native/Resampling.h>
#include <aten/native/RunKernel.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/MixedPixels.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace at::native {

namespace {

// What new elements of one axis are made of, in rows that need not have the same length.
struct SparseRows {
  std::vector<int32_t> offsets{0};
  std::vector<int32_t> places;
  std::vector<double> weights;

  void add(int64_t place, double weight) {
    places.push_back(static_cast<int32_t>(place));
    weights.push_back(weight);
  }
  void end_row() { offsets.push_back(static_cast<int32_t>(places.size())); }
};

// Columns as rows: what each old element gives to new ones.
SparseRows transposed(const SparseRows& rows, int64_t columns) {
  SparseRows result;
  result.offsets.assign(static_cast<size_t>(columns) + 1, 0);
  result.places.resize(rows.places.size());
  result.weights.resize(rows.places.size());
  for (const int32_t place : rows.places) ++result.offsets[static_cast<size_t>(place) + 1];
  for (size_t column = 0; column < static_cast<size_t>(columns); ++column)
    result.offsets[column + 1] += result.offsets[column];
  std::vector<int32_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (size_t row = 0; row + 1 < rows.offsets.size(); ++row) {
    for (int32_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
      const auto at = static_cast<size_t>(next[static_cast<size_t>(rows.places[static_cast<size_t>(k)])]++);
      result.places[at] = static_cast<int32_t>(row);
      result.weights[at] = rows.weights[static_cast<size_t>(k)];
    }
  }
  return result;
}

enum class Filter { Nearest, NearestExact, Linear, Cubic };

Filter filter_named(std::string_view mode) {
  if (mode == "nearest") return Filter::Nearest;
  if (mode == "nearest-exact") return Filter::NearestExact;
  if (mode == "linear") return Filter::Linear;
  TORCH_CHECK(mode == "cubic", "_interpolate(): expected mode to be nearest, nearest-exact, linear or cubic, but got ",
              mode);
  return Filter::Cubic;
}

bool is_nearest(Filter filter) { return filter == Filter::Nearest || filter == Filter::NearestExact; }

struct AxisOptions {
  Filter filter;
  bool align_corners, antialias;
};

// The cubic that passes through the elements; `a` is its slope at the second one.
template <typename T>
T cubic(T x, T a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : T(0);
}

// Weights in T, as PyTorch computes them: float for all types but double.
template <typename T>
SparseRows find_weights(int64_t old_size, int64_t new_size, std::optional<double> factor, const AxisOptions& options) {
  // How many old elements one new element stands for.
  T spacing;
  if (options.align_corners) {
    spacing = new_size > 1 ? static_cast<T>(old_size - 1) / static_cast<T>(new_size - 1) : T(0);
  } else if (factor && *factor > 0) {
    spacing = static_cast<T>(1.0 / *factor);
  } else {
    spacing = static_cast<T>(old_size) / static_cast<T>(new_size);
  }
  SparseRows rows;
  const size_t taps = is_nearest(options.filter) ? 1 : options.filter == Filter::Linear ? 2 : 4;  // or more, if smoothed
  rows.offsets.reserve(static_cast<size_t>(new_size) + 1);
  rows.places.reserve(taps * static_cast<size_t>(new_size));
  rows.weights.reserve(taps * static_cast<size_t>(new_size));
  const auto inside = [&](int64_t place) { return std::clamp<int64_t>(place, 0, old_size - 1); };
  for (int64_t n = 0; n < new_size; ++n) {
    const auto number = static_cast<T>(n);
    if (is_nearest(options.filter)) {
      const T shift = options.filter == Filter::NearestExact ? T(0.5) : T(0);
      rows.add(inside(static_cast<int64_t>(std::floor((number + shift) * spacing))), 1);
    } else if (options.antialias) {
      const bool is_cubic = options.filter == Filter::Cubic;
      const T width = std::max(spacing, T(1));
      const T support = (is_cubic ? T(2) : T(1)) * width;
      const T centre = spacing * (number + T(0.5));
      const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(centre - support + T(0.5)));
      const int64_t last = std::min<int64_t>(old_size, static_cast<int64_t>(centre + support + T(0.5)));
      std::vector<T> weights;
      T total = 0;
      for (int64_t place = first; place < last; ++place) {
        const T distance = (static_cast<T>(place) - centre + T(0.5)) / width;
        weights.push_back(is_cubic ? cubic(distance, T(-0.5)) : std::max(T(0), 1 - std::abs(distance)));
        total += weights.back();
      }
      for (size_t k = 0; k < weights.size(); ++k) {
        rows.add(first + static_cast<int64_t>(k), static_cast<double>(total != 0 ? weights[k] / total : weights[k]));
      }
    } else {
      const T place = options.align_corners ? number * spacing : spacing * (number + T(0.5)) - T(0.5);
      if (options.filter == Filter::Linear) {
        const T positive = std::max(place, T(0));
        const int64_t lower = std::min(static_cast<int64_t>(positive), old_size - 1);
        const T share = std::clamp(positive - static_cast<T>(lower), T(0), T(1));
        rows.add(lower, static_cast<double>(1 - share));
        rows.add(inside(lower + 1), static_cast<double>(share));
      } else {
        const T lower = std::floor(place);
        for (int tap = -1; tap < 3; ++tap) {
          rows.add(inside(static_cast<int64_t>(lower) + tap),
                   static_cast<double>(cubic(place - lower - static_cast<T>(tap), T(-0.75))));
        }
      }
    }
    rows.end_row();
  }
  return rows;
}

// PyTorch computes with integers for uint8: weights are rounded to as many bits as an int16 has room for.
void round_weights(SparseRows& rows) {
  const double largest = rows.weights.empty() ? 0.0 : *std::max_element(rows.weights.begin(), rows.weights.end());
  int bits = 0;
  while (bits < 22 && std::floor(0.5 + largest * std::ldexp(1.0, bits + 1)) < 32768.0) ++bits;
  for (double& weight : rows.weights)
    weight = std::ldexp(std::trunc(std::ldexp(weight, bits) + (weight < 0 ? -0.5 : 0.5)), -bits);
}

template <typename T, typename From>
Tensor to_tensor(const std::vector<From>& values, ScalarType dtype, Device device) {
  const Tensor result = at::detail::empty({static_cast<int64_t>(values.size())}, dtype, Device(kCPU));
  std::transform(values.begin(), values.end(), result.data_ptr<T>(), [](From value) { return static_cast<T>(value); });
  if (device.is_cpu()) return result;
  Tensor there = at::detail::empty(result.sizes(), dtype, device);
  at::detail::copy_into(there, result);
  return there;
}

// (N, C, *old) -> (N, C, *sizes), or with `transpose` the other way: the gradient of that.
Tensor resample(const Tensor& self, IntArrayRef sizes, std::optional<double> factor_d, std::optional<double> factor_h,
                std::optional<double> factor_w, std::string_view mode, bool align_corners, bool antialias,
                bool transpose) {
  const Filter filter = filter_named(mode);
  const AxisOptions options{filter, align_corners, antialias};
  const int64_t dims = self.dim() - 2;
  TORCH_CHECK(dims >= 1 && dims <= 3 && static_cast<int64_t>(sizes.size()) == dims, "_interpolate(): expected ",
              sizes.size() + 2, " dimensions for output size ", sizes, ", but got input of size ", self.sizes());
  for (int64_t dim = 0; dim < dims; ++dim) {
    TORCH_CHECK(sizes[dim] > 0 && self.sizes()[dim + 2] > 0,
                "Input and output sizes should be greater than 0, but got input (sizes: ", self.sizes().slice(2, dims),
                ") output (sizes: ", sizes, ")");
    TORCH_CHECK(sizes[dim] < (int64_t{1} << 30) && self.sizes()[dim + 2] < (int64_t{1} << 30),
                "_interpolate(): a size does not fit: input ", self.sizes(), ", output ", sizes);
  }
  const bool is_byte = self.dtype() == kByte;
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || (is_byte && (is_nearest(filter) || dims == 2)),
                              "\"interpolate (", mode, ")\" not implemented for '", self.dtype(), "'");

  TORCH_CHECK_NOT_IMPLEMENTED(!antialias || !c10::is_reduced_floating_type(self.dtype()),
                              "\"interpolate (antialias)\" not implemented for '", self.dtype(), "'");

  DimVector result_sizes{self.sizes()[0], self.sizes()[1]};
  for (const int64_t size : sizes) result_sizes.push_back(size);
  const MemoryFormat format = self.suggest_memory_format();
  const Tensor out = at::detail::empty(result_sizes, self.options(), format);
  if (out.numel() == 0 || self.is_meta()) return out;

  ResampleGeometry g;
  const bool channels_last = format != MemoryFormat::Contiguous;
  g.planes = channels_last ? self.sizes()[0] : self.sizes()[0] * self.sizes()[1];
  g.inner = channels_last ? self.sizes()[1] : 1;
  const std::optional<double> factors[3] = {factor_d, factor_h, factor_w};
  const bool in_double = self.dtype() == kDouble;
  const bool copies = is_nearest(filter) && !transpose;
  for (int64_t dim = 0; dim < dims; ++dim) {
    ResampleAxis& axis = g.axes[3 - dims + dim];
    axis.old_size = self.sizes()[dim + 2];
    axis.new_size = sizes[dim];
    const std::optional<double> factor = factors[3 - dims + dim];
    const int64_t from = transpose ? axis.new_size : axis.old_size;
    const int64_t to = transpose ? axis.old_size : axis.new_size;
    if (from == to && (options.align_corners || !factor || *factor == 1)) continue;
    SparseRows rows = (in_double || is_byte) && !is_nearest(filter) ? find_weights<double>(from, to, factor, options)
                                                       : find_weights<float>(from, to, factor, options);
    if (transpose) rows = transposed(rows, from);
    if (is_byte) round_weights(rows);
    axis.places = to_tensor<int32_t>(rows.places, kInt, self.device());
    axis.offsets = to_tensor<int32_t>(rows.offsets, kInt, self.device());
    if (copies) continue;
    axis.weights = in_double ? to_tensor<double>(rows.weights, kDouble, self.device())
                             : to_tensor<float>(rows.weights, kFloat, self.device());
  }
  const Tensor input = at::detail::to_contiguous(self, format);
  if (std::all_of(g.axes, g.axes + 3, [](const ResampleAxis& axis) { return axis.is_identity(); })) {
    at::detail::copy_into(out, input);
  } else if (copies) {
    run_kernel(resample_nearest_kernels, self.device(), out, input, g);
  } else {
    const bool is_mixed = self.is_cpu() && filter == Filter::Linear && !antialias && !transpose && dims == 2 &&
                          g.inner >= cpu::kLeastMixed && !g.axes[1].is_identity() && !g.axes[2].is_identity();
    if (is_mixed) {
      run_kernel(resample_kernels, self.device(), out, input, g);
      return out;
    }
    const auto in_planes = [&](const Tensor& tensor) {
      const int64_t elements = tensor.numel() / g.planes;
      return at::detail::make_view(tensor, {g.planes, elements}, {elements, 1}, tensor.storage_offset());
    };
    write_in_parts(in_planes(out), out.numel() + input.numel(), [&](const Part& part, const Tensor& to) {
      ResampleGeometry some = g;
      some.planes = part.count;
      run_kernel_in_float32(resample_kernels, self.device(), to, part(in_planes(input)), some);
    });
  }
  return out;
}

GridGeometry grid_geometry(IntArrayRef input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                           bool align_corners) {
  const auto dims = static_cast<int64_t>(input.size()) - 2;
  TORCH_CHECK((dims == 2 || dims == 3) && grid.dim() == dims + 2,
              "grid_sampler(): expected 4D or 5D input and grid with same ",
              "number of dimensions, but got input with sizes ", input, " and grid with sizes ", grid.sizes());
  TORCH_CHECK(input[0] == grid.sizes()[0],
              "grid_sampler(): expected grid and input to have same batch size, but got input with ", "sizes ", input,
              " and grid with sizes ", grid.sizes());
  TORCH_CHECK(grid.sizes()[dims + 1] == dims, "grid_sampler(): expected grid to have size ", dims,
              " in last dimension, but got ", "grid with sizes ", grid.sizes());
  TORCH_CHECK(dims == 2 || interpolation_mode != static_cast<int64_t>(GridInterpolation::Cubic),
              "grid_sampler(): bicubic interpolation only supports 4D input");
  TORCH_CHECK(interpolation_mode >= 0 && interpolation_mode <= 2,
              "grid_sampler(): interpolation_mode is 0, 1 or 2, but got ", interpolation_mode);
  TORCH_CHECK(padding_mode >= 0 && padding_mode <= 2, "grid_sampler(): padding_mode is 0, 1 or 2, but got ",
              padding_mode);
  GridGeometry g{};
  g.batch = input[0];
  g.channels = input[1];
  g.points = 1;
  g.image[0] = 1;
  for (int64_t dim = 0; dim < dims; ++dim) {
    TORCH_CHECK(input[dim + 2] > 0,
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes ", input,
                " with dimension ", dim + 2, " being empty");
    g.image[3 - dims + dim] = input[dim + 2];
    g.points *= grid.sizes()[dim + 1];
  }
  TORCH_CHECK(g.image_elements() <= std::numeric_limits<int32_t>::max(),
              "grid_sampler(): images of more than 2^31 - 1 elements ", "are not sampled, but got input with sizes ",
              input);
  g.dims = static_cast<int>(dims);
  g.interpolation = static_cast<GridInterpolation>(interpolation_mode);
  g.padding = static_cast<GridPadding>(padding_mode);
  g.align_corners = align_corners;
  return g;
}

void check_grid_types(const Tensor& input, const Tensor& grid) {
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point(), "\"grid_sampler\" not implemented for '", input.dtype(), "'");
  TORCH_CHECK(input.dtype() == grid.dtype(), "expected scalar type ", input.dtype(), " but found ", grid.dtype());
  TORCH_CHECK(input.device() == grid.device(),
              "grid_sampler(): expected input and grid to be on same device, but input is on ", input.device(),
              " and grid is on ", grid.device());
}

// The image at the grid's places or, with a tangent of the grid, what it grows by along that.
Tensor sample(const Tensor& input, const Tensor& grid, const Tensor& tangent, const GridGeometry& g) {
  check_grid_types(input, grid);
  DimVector sizes{input.sizes()[0], input.sizes()[1]};
  for (int64_t dim = 1; dim + 1 < grid.dim(); ++dim) sizes.push_back(grid.sizes()[dim]);
  const Tensor out = at::detail::empty(sizes, input.dtype(), input.device());
  if (out.numel() > 0) {
    run_kernel_in_float32(grid_sample_kernels, out.device(), out, input, at::detail::to_contiguous(grid),
                          tangent.defined() ? at::detail::to_contiguous(tangent) : tangent, g);
  }
  return out;
}

}  // namespace

Tensor _interpolate(const Tensor& self, IntArrayRef output_size, std::optional<double> factor_d,
                    std::optional<double> factor_h, std::optional<double> factor_w, std::string_view mode,
                    bool align_corners, bool antialias) {
  return resample(self, output_size, factor_d, factor_h, factor_w, mode, align_corners, antialias, false);
}

Tensor _interpolate_backward(const Tensor& grad_output, IntArrayRef input_size, std::optional<double> factor_d,
                             std::optional<double> factor_h, std::optional<double> factor_w, std::string_view mode,
                             bool align_corners, bool antialias) {
  const IntArrayRef sizes = input_size.slice(2);
  const Tensor result =
      resample(grad_output, sizes, factor_d, factor_h, factor_w, mode, align_corners, antialias, true);
  // PyTorch's gradients of these are row-major, of the others like the gradient that is given.
  const bool row_major = mode == "cubic" || (sizes.size() == 3 && is_nearest(filter_named(mode)));
  return row_major ? at::detail::to_contiguous(result) : result;
}

Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                       bool align_corners) {
  TORCH_CHECK(input.dim() == 4, "grid_sampler_2d(): expected 4D input, but got input with sizes ", input.sizes());
  return sample(input, grid, {}, grid_geometry(input.sizes(), grid, interpolation_mode, padding_mode, align_corners));
}

Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                       bool align_corners) {
  TORCH_CHECK(input.dim() == 5, "grid_sampler_3d(): expected 5D input, but got input with sizes ", input.sizes());
  return sample(input, grid, {}, grid_geometry(input.sizes(), grid, interpolation_mode, padding_mode, align_corners));
}

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                    bool align_corners) {
  grid_geometry(input.sizes(), grid, interpolation_mode, padding_mode, align_corners);
  return input.dim() == 4 ? at::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)
                          : at::grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners);
}

Tensor _grid_sampler_input_backward(const Tensor& grad_output, const Tensor& grid, IntArrayRef input_size,
                                    int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  const GridGeometry g = grid_geometry(input_size, grid, interpolation_mode, padding_mode, align_corners);
  const Tensor out = at::detail::empty(input_size, grad_output.dtype(), grad_output.device());
  if (out.numel() > 0) {
    run_kernel_in_float32(grid_sample_input_backward_kernels, out.device(), out, at::detail::to_contiguous(grad_output),
                          at::detail::to_contiguous(grid), g);
  }
  return out;
}

Tensor _grid_sampler_grid_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                   int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  const GridGeometry g = grid_geometry(input.sizes(), grid, interpolation_mode, padding_mode, align_corners);
  const Tensor out = at::detail::empty(grid.sizes(), grid.dtype(), grid.device());
  if (out.numel() > 0) {
    run_kernel_in_float32(grid_sample_grid_backward_kernels, out.device(), out, at::detail::to_contiguous(grad_output),
                          input, at::detail::to_contiguous(grid), g);
  }
  return out;
}

Tensor _grid_sampler_tangent(const Tensor& tangent, const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                             int64_t padding_mode, bool align_corners) {
  return sample(input, grid, tangent,
                grid_geometry(input.sizes(), grid, interpolation_mode, padding_mode, align_corners));
}

}  // namespace at::native
