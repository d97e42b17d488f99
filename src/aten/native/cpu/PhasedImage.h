#pragma once
// The layout in which convolutions read images: a frame of zeros around, and elements that are a stride apart next to
// each other. Then what a place in the kernel reads lies at one distance from where its window lies, for all windows,
// ends of lines included.

#include <aten/native/cpu/ConvolutionGeometry.h>
#include <aten/native/cpu/direct_convolution.h>

#include <algorithm>
#include <vector>

namespace at::native::cpu {

// With strides (s0, s1, s2), element (z, y, x) of the framed image is in phase (z % s0, y % s1, x % s2), at (z / s0, y
// / s1, x / s2) there. Phases that no window reads are left out. Window (z, y, x) lies at the same place of its own.
class PhasedImage {
 public:
  explicit PhasedImage(const ConvolutionGeometry& geometry) : g_(geometry) {
    for (int dim = 0; dim < 3; ++dim) {
      const int64_t last = g_.dilation[dim] * (g_.kernel[dim] - 1);
      extent_[dim] = g_.windows[dim] + last / g_.stride[dim];
      for (int64_t k = 0; k < g_.kernel[dim]; ++k) {
        const int64_t phase = k * g_.dilation[dim] % g_.stride[dim];
        if (std::find(phases_[dim].begin(), phases_[dim].end(), phase) == phases_[dim].end()) {
          phases_[dim].push_back(phase);
        }
      }
    }
    phase_elements_ = extent_[0] * extent_[1] * extent_[2];
    for (int64_t kz = 0; kz < g_.kernel[0]; ++kz) {
      for (int64_t ky = 0; ky < g_.kernel[1]; ++ky) {
        for (int64_t kx = 0; kx < g_.kernel[2]; ++kx) distances_.push_back(distance({kz, ky, kx}));
      }
    }
  }

  // Of one phase; one channel has `phases()` of them, one behind the other unless said otherwise.
  int64_t phase_elements() const { return phase_elements_; }
  int64_t phases() const {
    return static_cast<int64_t>(phases_[0].size() * phases_[1].size() * phases_[2].size());
  }
  int64_t line() const { return extent_[2]; }
  int64_t plane() const { return extent_[1] * extent_[2]; }
  // The number of windows' places from the first window to the last, the places between lines of windows included.
  int64_t reach() const { return ((g_.windows[0] - 1) * extent_[1] + g_.windows[1] - 1) * extent_[2] + g_.windows[2]; }
  // For each place in the kernel, the phase that it reads and the distance in it from the window's place.
  struct Distance {
    int64_t phase, elements;
  };
  const std::vector<Distance>& distances() const { return distances_; }

  // Writes one channel of one image; `phase_step` elements from a phase to the next. The frame is not written.
  template <typename T>
  void write_channel(const T* from, T* to, int64_t phase_step) const {
    int64_t number = 0;
    for (const int64_t phase_z : phases_[0]) {
      for (const int64_t phase_y : phases_[1]) {
        for (const int64_t phase_x : phases_[2]) {
          write_phase(from, to + number * phase_step, phase_z, phase_y, phase_x);
          ++number;
        }
      }
    }
  }

  // Writes one channel of values of windows at their places. What lies between is not written.
  template <typename T>
  void write_windows(const T* from, T* to) const {
    for (int64_t z = 0; z < g_.windows[0]; ++z) {
      for (int64_t y = 0; y < g_.windows[1]; ++y) {
        std::copy_n(from + (z * g_.windows[1] + y) * g_.windows[2], g_.windows[2], to + z * plane() + y * line());
      }
    }
  }

 private:
  Distance distance(const ConvolutionGeometry::Triple& place) const {
    Distance result{0, 0};
    for (int dim = 0; dim < 3; ++dim) {
      const int64_t at = place[dim] * g_.dilation[dim];
      const auto& phases = phases_[dim];
      const auto phase = std::find(phases.begin(), phases.end(), at % g_.stride[dim]) - phases.begin();
      result.phase = result.phase * static_cast<int64_t>(phases.size()) + phase;
      result.elements = result.elements * extent_[dim] + at / g_.stride[dim];
    }
    return result;
  }

  template <typename T>
  void write_phase(const T* from, T* to, int64_t phase_z, int64_t phase_y, int64_t phase_x) const {
    const int64_t step = g_.stride[2];
    const int64_t x = phase_x - g_.padding[2];
    const auto [begin, end] = part_inside(x, step, extent_[2], g_.image[2]);
    for (int64_t z = 0; z < extent_[0]; ++z) {
      const int64_t in_z = z * g_.stride[0] + phase_z - g_.padding[0];
      if (in_z < 0 || in_z >= g_.image[0]) continue;
      const int64_t y = phase_y - g_.padding[1];
      const auto [first, last] = part_inside(y, g_.stride[1], extent_[1], g_.image[1]);
      const T* plane_from = from + (in_z * g_.image[1] + y) * g_.image[2] + x;
      T* plane_to = to + z * plane();
      if (step == 2) {
        const int64_t line_step = g_.stride[1] * g_.image[2];
        take_every_second(plane_from + first * line_step + begin * step, line_step, last - first, end - begin,
                          plane_to + first * extent_[2] + begin, extent_[2]);
        continue;
      }
      for (int64_t i = first; i < last; ++i) {
        const T* line = plane_from + i * g_.stride[1] * g_.image[2];
        T* target = plane_to + i * extent_[2];
        if (step == 1) {
          std::copy(line + begin, line + end, target + begin);
        } else {
          for (int64_t place = begin; place < end; ++place) target[place] = line[place * step];
        }
      }
    }
  }

  ConvolutionGeometry g_;
  ConvolutionGeometry::Triple extent_{};
  std::vector<int64_t> phases_[3];
  int64_t phase_elements_ = 0;
  std::vector<Distance> distances_;
};

}  // namespace at::native::cpu
