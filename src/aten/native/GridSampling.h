#pragma once
// Which elements of an image (or volume) take part in its value at one place of a grid, for the CPU and for CUDA.

#include <c10/util/Half.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace at::native {

enum class GridInterpolation : int64_t { Linear, Nearest, Cubic };
enum class GridPadding : int64_t { Zeros, Border, Reflection };

// What F.grid_sample is told, and the sizes of the image: depth (1 for images), height, width.
struct GridGeometry {
  int64_t batch, channels, points;  // points of one sample's grid
  int64_t image[3];
  int dims;
  GridInterpolation interpolation;
  GridPadding padding;
  bool align_corners;

  int64_t image_elements() const { return image[0] * image[1] * image[2]; }
};

// The elements of a plane that one place needs: `Each` along each axis. Their number (-1: outside, counts as 0),
// weight, and what the weight grows by with each number of the grid's point, x first.
template <typename T, int Each, int Dims>
struct GridTaps {
  static constexpr int kCount = Dims == 2 ? Each * Each : Each * Each * Each;
  int32_t element[kCount];
  T weight[kCount];
  T slope[Dims][kCount];
};

// body(Each, Dims) with what the geometry says, as constants of the compiler.
template <typename Body>
void dispatch_grid(const GridGeometry& g, Body&& body) {
  constexpr auto one = std::integral_constant<int, 1>();
  constexpr auto two = std::integral_constant<int, 2>();
  constexpr auto three = std::integral_constant<int, 3>();
  if (g.interpolation == GridInterpolation::Cubic) return body(std::integral_constant<int, 4>(), two);
  if (g.interpolation == GridInterpolation::Nearest) return g.dims == 2 ? body(one, two) : body(one, three);
  return g.dims == 2 ? body(two, two) : body(two, three);
}

namespace grid {

// A place along one axis, and what it grows by with the number it came from.
template <typename T>
struct Place {
  T at, slope;
};

template <typename T>
C10_HOST_DEVICE inline Place<T> to_elements(T number, int64_t size, bool align_corners) {
  const T length = static_cast<T>(size);
  if (align_corners) return {(number + 1) / 2 * (length - 1), (length - 1) / 2};
  return {((number + 1) * length - 1) / 2, length / 2};
}

// NaN is a place at the start.
template <typename T>
C10_HOST_DEVICE inline Place<T> clamp(Place<T> place, int64_t size) {
  const T last = static_cast<T>(size - 1);
  if (!(place.at > 0)) return {0, 0};
  if (place.at >= last) return {last, 0};
  return place;
}

// Thrown back at both ends until it lies between them.
template <typename T>
C10_HOST_DEVICE inline Place<T> reflect(Place<T> place, T low, T high) {
  if (low == high) return {0, 0};
  const T span = high - low;
  const T from_low = place.at - low;
  const T distance = std::fabs(from_low);
  const T flips = std::floor(distance / span);
  const T rest = distance - flips * span;
  const T slope = from_low < 0 ? -place.slope : place.slope;
  const bool even = flips - 2 * std::floor(flips / 2) == 0;
  if (even) return {rest + low, slope};
  return {span - rest + low, -slope};
}

template <typename T>
C10_HOST_DEVICE inline Place<T> pad(Place<T> place, int64_t size, const GridGeometry& g) {
  if (g.padding == GridPadding::Zeros) return place;
  if (g.padding == GridPadding::Reflection) {
    const T length = static_cast<T>(size);
    place = g.align_corners ? reflect(place, T(0), length - 1) : reflect(place, T(-0.5), length - T(0.5));
  }
  return clamp(place, size);
}

// The element at a whole place, -1 outside. Asked before the conversion: NaN and large numbers have no integer.
template <typename T>
C10_HOST_DEVICE inline int32_t element_at(T place, int64_t size) {
  return place >= 0 && place <= static_cast<T>(size - 1) ? static_cast<int32_t>(place) : -1;
}

// Weights of the four elements around a place that is `share` (0 to 1) after the second one, and their slopes.
template <typename T>
C10_HOST_DEVICE inline void cubic_weights(T share, T* weights, T* slopes) {
  constexpr T a = T(-0.75);
  for (int tap = 0; tap < 4; ++tap) {
    const T signed_distance = share + 1 - static_cast<T>(tap);
    const T x = std::fabs(signed_distance);
    const bool near = tap == 1 || tap == 2;
    weights[tap] = near ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    const T slope = near ? (3 * (a + 2) * x - 2 * (a + 3)) * x : (3 * a * x - 10 * a) * x + 8 * a;
    slopes[tap] = tap < 2 ? slope : -slope;
  }
}

}  // namespace grid

// `point` has Dims numbers, x first.
template <typename T, int Each, int Dims>
C10_HOST_DEVICE inline void find_grid_taps(GridTaps<T, Each, Dims>& taps, const T* point, const GridGeometry& g) {
  int32_t element[Dims][Each];
  T weight[Dims][Each], slope[Dims][Each];
  for (int dim = 0; dim < Dims; ++dim) {
    const int64_t size = g.image[2 - dim];
    grid::Place<T> place = grid::to_elements(point[dim], size, g.align_corners);
    if constexpr (Each == 4) {
      const T lower = std::floor(place.at);
      grid::cubic_weights(place.at - lower, weight[dim], slope[dim]);
      for (int tap = 0; tap < 4; ++tap) {
        slope[dim][tap] *= place.slope;
        const T padded = grid::pad(grid::Place<T>{lower + static_cast<T>(tap - 1), 1}, size, g).at;
        element[dim][tap] = grid::element_at(std::trunc(padded), size);
      }
    } else if constexpr (Each == 2) {
      place = grid::pad(place, size, g);
      const T lower = std::floor(place.at);
      element[dim][0] = grid::element_at(lower, size);
      element[dim][1] = grid::element_at(lower + 1, size);
      weight[dim][0] = lower + 1 - place.at;
      weight[dim][1] = place.at - lower;
      slope[dim][0] = -place.slope;
      slope[dim][1] = place.slope;
    } else {
      element[dim][0] = grid::element_at(std::nearbyint(grid::pad(place, size, g).at), size);
      weight[dim][0] = 1;
      slope[dim][0] = 0;
    }
  }
  const auto height = static_cast<int32_t>(g.image[1]);
  const auto width = static_cast<int32_t>(g.image[2]);
  for (int tap = 0; tap < taps.kCount; ++tap) {
    const int i = tap % Each;
    const int j = tap / Each % Each;
    const int k = tap / (Each * Each);
    int32_t depth = 0;
    T z_weight = 1;
    if constexpr (Dims == 3) {
      depth = element[2][k];
      z_weight = weight[2][k];
      taps.slope[2][tap] = slope[2][k] * weight[1][j] * weight[0][i];
    }
    // One of them negative makes all of them negative.
    const bool outside = (depth | element[1][j] | element[0][i]) < 0;
    taps.element[tap] = outside ? -1 : (depth * height + element[1][j]) * width + element[0][i];
    taps.weight[tap] = z_weight * weight[1][j] * weight[0][i];
    taps.slope[0][tap] = z_weight * weight[1][j] * slope[0][i];
    taps.slope[1][tap] = z_weight * slope[1][j] * weight[0][i];
  }
}

// Weights become what they grow by when the grid's point moves along `tangent`.
template <typename T, int Each, int Dims>
C10_HOST_DEVICE inline void move_along(GridTaps<T, Each, Dims>& taps, const T* tangent) {
  for (int tap = 0; tap < taps.kCount; ++tap) {
    taps.weight[tap] = 0;
    for (int dim = 0; dim < Dims; ++dim) taps.weight[tap] += taps.slope[dim][tap] * tangent[dim];
  }
}

}  // namespace at::native
