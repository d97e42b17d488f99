#pragma once
// Where the windows of a convolution lie, and copying between an image and its windows (im2col, col2im).

#include <c10/util/ArrayRef.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace at::native::cpu {

// Everything in three dimensions (depth, height, width); fewer have size 1 in front. "Image" is what windows are read
// from: the input of a convolution, the output of a transposed one. Channels are those of one group.
struct ConvolutionGeometry {
  using Triple = std::array<int64_t, 3>;
  int64_t batch, groups, image_channels, window_channels;
  Triple image, kernel, windows, stride, padding, dilation;
  bool weight_last = false;  // whether the second axis of the weight lies last; only gathered convolutions take it so

  ConvolutionGeometry(c10::IntArrayRef image_sizes, c10::IntArrayRef window_sizes, c10::IntArrayRef weight_sizes,
                      c10::IntArrayRef strides, c10::IntArrayRef paddings, c10::IntArrayRef dilations, int64_t groups)
      : batch(image_sizes[0]), groups(groups), image_channels(image_sizes[1] / groups),
        window_channels(window_sizes[1] / groups), image(triple(tail(image_sizes), 1)),
        kernel(triple(tail(weight_sizes), 1)), windows(triple(tail(window_sizes), 1)), stride(triple(strides, 1)),
        padding(triple(paddings, 0)), dilation(triple(dilations, 1)) {
    for (size_t dim = 0; dim < 3; ++dim) {
      if (windows[dim] == 1) stride[dim] = 1;  // to no other window
    }
  }

  int64_t image_elements() const { return image[0] * image[1] * image[2]; }
  int64_t kernel_elements() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t window_count() const { return windows[0] * windows[1] * windows[2]; }
  int64_t rows() const { return image_channels * kernel_elements(); }
  bool has_stride() const { return stride != Triple{1, 1, 1}; }
  // Windows of one element that lie on the image's own: the image is its own matrix of windows.
  bool is_pointwise() const {
    return kernel_elements() == 1 && !has_stride() && padding == Triple{0, 0, 0} && windows == image;
  }

 private:
  static c10::IntArrayRef tail(c10::IntArrayRef sizes) { return sizes.slice(2, sizes.size() - 2); }
  static Triple triple(c10::IntArrayRef values, int64_t missing) {
    Triple result{missing, missing, missing};
    std::copy(values.begin(), values.end(), result.end() - values.size());
    return result;
  }
};

// Windows next to each other in the last dimension: `count` from (z, y, x) on in image number `image`.
struct WindowRun {
  int64_t image, z, y, x, count;
};

// The runs of windows [first, last), counted through all images.
inline std::vector<WindowRun> window_runs(const ConvolutionGeometry& g, int64_t first, int64_t last) {
  std::vector<WindowRun> runs;
  const int64_t width = g.windows[2];
  while (first < last) {
    const int64_t x = first % width;
    const int64_t line = first / width;
    const int64_t count = std::min(width - x, last - first);
    const int64_t plane = line / g.windows[1];
    runs.push_back({plane / g.windows[0], plane % g.windows[0], line % g.windows[1], x, count});
    first += count;
  }
  return runs;
}

// The part [begin, end) of `count` places x, x + step, ... that lie in [0, width).
inline std::pair<int64_t, int64_t> part_inside(int64_t x, int64_t step, int64_t count, int64_t width) {
  const int64_t begin = x >= 0 ? 0 : std::min(count, (-x + step - 1) / step);
  const int64_t end = x >= width ? 0 : std::min(count, (width - 1 - x) / step + 1);
  return {begin, std::max(begin, end)};
}

// Calls body(row, column, line, x, count, begin, end) for each row of the matrix of windows (channel, place in the
// kernel) and each run: `line` is the image's line that the row reads from, null outside of the image, x the first
// place in it; places [begin, end) lie in the line.
template <typename T, typename Body>
void for_each_window_line(const ConvolutionGeometry& g, T* images, int64_t image_step, int64_t channel_begin,
                          int64_t channel_end, const std::vector<WindowRun>& runs, Body&& body) {
  const int64_t elements = g.image_elements();
  int64_t row = 0;
  for (int64_t channel = channel_begin; channel < channel_end; ++channel) {
    for (int64_t kz = 0; kz < g.kernel[0]; ++kz) {
      for (int64_t ky = 0; ky < g.kernel[1]; ++ky) {
        for (int64_t kx = 0; kx < g.kernel[2]; ++kx, ++row) {
          int64_t column = 0;
          int64_t part_x = -1, part_count = -1;  // of the run before, which is mostly as long
          std::pair<int64_t, int64_t> part;
          for (const WindowRun& run : runs) {
            const int64_t z = run.z * g.stride[0] + kz * g.dilation[0] - g.padding[0];
            const int64_t y = run.y * g.stride[1] + ky * g.dilation[1] - g.padding[1];
            const bool inside = z >= 0 && z < g.image[0] && y >= 0 && y < g.image[1];
            T* line = inside ? images + run.image * image_step + channel * elements + (z * g.image[1] + y) * g.image[2]
                             : nullptr;
            const int64_t x = run.x * g.stride[2] + kx * g.dilation[2] - g.padding[2];
            if (run.x != part_x || run.count != part_count) {
              part = part_inside(x, g.stride[2], run.count, g.image[2]);
              part_x = run.x;
              part_count = run.count;
            }
            body(row, column, line, x, run.count, part.first, part.second);
            column += run.count;
          }
        }
      }
    }
  }
}

// columns[row, i] = what row `row` of the i-th window reads, 0 outside of the image; rows are `leading` elements apart.
template <typename T>
void gather_windows(const ConvolutionGeometry& g, const T* images, int64_t image_step,
                    const std::vector<WindowRun>& runs, T* columns, int64_t leading) {
  constexpr int64_t kShort = 16;  // elements that a loop copies sooner than a call
  const int64_t step = g.stride[2];
  for_each_window_line(g, images, image_step, 0, g.image_channels, runs,
                       [&](int64_t row, int64_t column, const T* line, int64_t x, int64_t count, int64_t begin,
                           int64_t end) {
    T* to = columns + row * leading + column;
    if (line == nullptr) {
      std::fill_n(to, count, T{});
      return;
    }
    if (begin > 0) std::fill(to, to + begin, T{});
    if (step == 1 && end - begin > kShort) {
      std::copy(line + x + begin, line + x + end, to + begin);
    } else {
      for (int64_t i = begin; i < end; ++i) to[i] = line[x + i * step];
    }
    if (end < count) std::fill(to + end, to + count, T{});
  });
}

// The transpose of gather_windows, for some channels: adds what the windows hold to where they were read from.
template <typename T>
void scatter_windows(const ConvolutionGeometry& g, T* images, int64_t image_step, int64_t channel_begin,
                     int64_t channel_end, const std::vector<WindowRun>& runs, const T* columns, int64_t leading) {
  const int64_t step = g.stride[2];
  for_each_window_line(g, images, image_step, channel_begin, channel_end, runs,
                       [&](int64_t row, int64_t column, T* line, int64_t x, int64_t /*count*/, int64_t begin,
                           int64_t end) {
    if (line == nullptr) return;
    const T* from = columns + row * leading + column;
    for (int64_t i = begin; i < end; ++i) line[x + i * step] = static_cast<T>(line[x + i * step] + from[i]);
  });
}

}  // namespace at::native::cpu
