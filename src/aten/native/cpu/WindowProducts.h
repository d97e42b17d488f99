#pragma once
// Convolutions as products of matrices: windows copied into one, a tile that fits into the cache at a time, times the
// weight.

#include <aten/Parallel.h>
#include <aten/native/cpu/ConvolutionGeometry.h>
#include <aten/native/cpu/ConvolutionTasks.h>
#include <aten/native/cpu/blas.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace at::native::cpu {

// How windows, counted through all images, are divided: tiles of `size` windows,
// within an image unless images are small.
struct Tiling {
  int64_t per_image;  // tiles; 0: a tile holds several images
  int64_t images;     // in a tile
  int64_t size;
  int64_t count;
  int64_t windows;
  int64_t batch;

  Tiling(const ConvolutionGeometry& g, int64_t element_size, int64_t tasks_wanted)
      : windows(g.window_count()), batch(g.batch) {
    constexpr int64_t kTileBytes = 1 << 18;  // of the matrix of windows
    const int64_t wanted = std::clamp<int64_t>(kTileBytes / std::max<int64_t>(g.rows() * element_size, 1), 64, 4096);
    if (windows >= wanted || batch <= 1) {
      per_image = divide_up(windows, wanted);
      if (batch * per_image < tasks_wanted) per_image = std::clamp<int64_t>(windows / 64, per_image, tasks_wanted);
      images = 1;
      size = divide_up(windows, per_image);
      count = batch * per_image;
    } else {
      per_image = 0;
      images = std::max<int64_t>(1, std::min(wanted / windows, divide_up(batch, tasks_wanted)));
      size = images * windows;
      count = divide_up(batch, images);
    }
  }
  std::pair<int64_t, int64_t> range(int64_t tile) const {
    if (per_image == 0) return {tile * size, std::min((tile + 1) * size, batch * windows)};
    const int64_t start = tile / per_image * windows;
    const int64_t first = tile % per_image * size;
    return {start + std::min(first, windows), start + std::min(first + size, windows)};
  }
};

// A matrix of [rows, windows of a tile].
template <typename T>
struct Matrix {
  const T* data;
  int64_t leading;
};

// The windows of group `group` in a tile: in place where they are the image itself, else copied to `columns`.
template <typename T>
Matrix<T> windows_of(const ConvolutionGeometry& g, const T* images, int64_t group, int64_t first, int64_t last,
                     bool one_image, T* columns) {
  const int64_t step = g.groups * g.image_channels * g.image_elements();
  const T* start = images + group * g.image_channels * g.image_elements();
  if (g.is_pointwise() && one_image) {
    const int64_t elements = g.image_elements();
    return {start + first / elements * step + first % elements, elements};
  }
  gather_windows(g, start, step, window_runs(g, first, last), columns, last - first);
  return {columns, last - first};
}

// Calls body(image, first window in it, first column, count) for the part of each image in windows [first, last).
template <typename Body>
void for_each_image(int64_t windows, int64_t first, int64_t last, Body&& body) {
  for (int64_t start = first; start < last;) {
    const int64_t image = start / windows;
    const int64_t end = std::min(last, (image + 1) * windows);
    body(image, start - image * windows, start - first, end - start);
    start = end;
  }
}

template <typename T>
void convolve_by_products(const ConvolutionGeometry& g, T* out, const T* input, const T* weight, const T* bias) {
  const int64_t rows = g.rows();
  const int64_t outs = g.window_channels;
  const int64_t windows = g.window_count();
  const Tiling tiles(g, sizeof(T), divide_up(get_num_threads(), g.groups));
  const SerialBlas serial(tiles.count * g.groups > 1);
  const int64_t tasks = tiles.count * g.groups;
  parallel_for(0, tasks, grain_for(g.batch * g.groups * windows * rows * outs, tasks), [&](int64_t begin, int64_t end) {
    const auto columns = scratch<T>(rows * tiles.size);
    const auto gathered = scratch<T>(tiles.images > 1 ? outs * tiles.size : 0);
    for (int64_t task = begin; task < end; ++task) {
      const auto [first, last] = tiles.range(task / g.groups);
      const int64_t count = last - first;
      if (count == 0) continue;
      const int64_t group = task % g.groups;
      const bool one_image = tiles.images == 1;
      const Matrix<T> matrix = windows_of(g, input, group, first, last, one_image, columns.get());
      const int64_t image = first / windows;
      T* to =
          one_image ? out + ((image * g.groups + group) * outs) * windows + first - image * windows : gathered.get();
      const int64_t leading = one_image ? windows : count;
      for (int64_t o = 0; bias && o < outs; ++o) std::fill_n(to + o * leading, count, bias[group * outs + o]);
      gemm(outs, count, rows, T(1), {weight + group * outs * rows, rows, false}, {matrix.data, matrix.leading, false},
           bias ? T(1) : T(0), to, leading);
      if (one_image) continue;
      for_each_image(windows, first, last, [&](int64_t number, int64_t, int64_t column, int64_t) {
        T* target = out + (number * g.groups + group) * outs * windows;
        for (int64_t o = 0; o < outs; ++o) std::copy_n(to + o * leading + column, windows, target + o * windows);
      });
    }
  });
}

// Out is the image here: what its windows would have read comes from the input, and is added up.
template <typename T>
void scatter_by_products(const ConvolutionGeometry& g, T* out, const T* input, const T* weight, const T* bias) {
  const int64_t kernel = g.kernel_elements();
  const int64_t windows = g.window_count();
  const int64_t elements = g.image_elements();
  const int64_t pairs = g.batch * g.groups;
  const int64_t parts = std::clamp<int64_t>(divide_up(get_num_threads(), pairs), 1, g.image_channels);
  const int64_t part = divide_up(g.image_channels, parts);
  const Tiling tiles(g, sizeof(T), 1);
  const SerialBlas serial(pairs * parts > 1);
  const int64_t work = pairs * windows * g.rows() * g.window_channels;
  parallel_for(0, pairs * parts, grain_for(work, pairs * parts), [&](int64_t begin, int64_t end) {
    const int64_t tile = std::min(tiles.size, windows);
    const auto columns = scratch<T>(part * kernel * tile);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t pair = task / parts;
      const int64_t group = pair % g.groups;
      const int64_t first_channel = task % parts * part;
      const int64_t last_channel = std::min(first_channel + part, g.image_channels);
      T* image = out + pair * g.image_channels * elements;
      for (int64_t c = first_channel; c < last_channel; ++c) {
        std::fill_n(image + c * elements, elements, bias ? bias[group * g.image_channels + c] : T(0));
      }
      if (first_channel >= last_channel) continue;
      const T* weights = weight + group * g.window_channels * g.rows() + first_channel * kernel;
      for (int64_t first = 0; first < windows; first += tile) {
        const int64_t count = std::min(tile, windows - first);
        gemm((last_channel - first_channel) * kernel, count, g.window_channels, T(1), {weights, g.rows(), true},
             {input + pair * g.window_channels * windows + first, windows, false}, T(0), columns.get(), count);
        scatter_windows(g, image, 0, first_channel, last_channel, window_runs(g, first, first + count), columns.get(),
                        count);
      }
    }
  });
}

}  // namespace at::native::cpu
