#pragma once
// What convolutions of channels one by one, which lie last, read.

#include <aten/native/cpu/GatherPlan.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace at::native::cpu {

// Channels that are computed together: a vector, or two. The last vector ends with the channels, some of which are
// computed twice. `place`: where weights of these channels lie among those of a place of the kernel.
struct Block {
  int64_t channel, vectors, place;
};
inline std::vector<Block> divide_channels(int64_t channels, int64_t lanes, int64_t most_vectors) {
  std::vector<Block> blocks;
  for (int64_t first = 0; first < channels; first += blocks.back().vectors * lanes) {
    const bool two = most_vectors == 2 && channels >= 2 * lanes && channels - first > lanes;
    const int64_t vectors = two ? 2 : 1;
    blocks.push_back({std::min(first, channels - vectors * lanes), vectors, first});
  }
  return blocks;
}
// Weights of all blocks for a place of the kernel.
inline int64_t row_of(const std::vector<Block>& blocks, int64_t lanes) {
  return blocks.back().place + blocks.back().vectors * lanes;
}

// Results of a line that read it alike: at tap t result i reads place i * step + sources[t], with the weight of
// weights[t].
struct LineTaps {
  int64_t start, count, step, write_step;
  std::vector<int64_t> sources, weights;
  bool slides;  // each result reads at a tap what its left neighbour reads at the next one

  LineTaps(const AxisPlan& axis, const AxisPlan::Phase& phase)
      : start(phase.start), count(phase.count), step(axis.read_step), write_step(axis.write_step) {
    auto taps = phase.taps;
    std::sort(taps.begin(), taps.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
    for (const AxisPlan::Tap& tap : taps) {
      sources.push_back(tap.distance);
      weights.push_back(tap.place);
    }
    slides = step == 1 && taps.size() > 1 && sources.back() - sources[0] == static_cast<int64_t>(taps.size()) - 1;
  }
};

// A line of the kernel: the line that it reads, and the place of the kernel where it begins; or the same of a place.
template <typename T>
struct Reading {
  const T* source;
  int64_t place;
};

// What lines of results read.
class ChannelwisePlan {
 public:
  ChannelwisePlan(const ConvolutionGeometry& g, bool transposed)
      : from(transposed ? g.windows : g.image), to(transposed ? g.image : g.windows),
        gather_(transposed ? transposed_plan(g, true) : ordinary_plan(g, true)), g_(g) {
    for (const AxisPlan::Phase& phase : gather_.axis(2).phases) phases.emplace_back(gather_.axis(2), phase);
  }

  int64_t line_count() const { return g_.batch * to[0] * to[1]; }

  // What a line, counted through all images, reads.
  template <typename T>
  void list(int64_t line, const T* images, std::vector<Reading<T>>& readings) const {
    const T* image = images + line / (to[0] * to[1]) * from[0] * from[1] * from[2] * g_.groups;
    readings.clear();
    for_each_tap(0, line / to[1] % to[0], [&](int64_t z, int64_t place_z) {
      for_each_tap(1, line % to[1], [&](int64_t y, int64_t place_y) {
        readings.push_back({image + (z * from[1] + y) * from[2] * g_.groups,
                            (place_z * g_.kernel[1] + place_y) * g_.kernel[2]});
      });
    });
  }

  ConvolutionGeometry::Triple from, to;
  std::vector<LineTaps> phases;

 private:
  template <typename Body>
  void for_each_tap(int dim, int64_t result, Body&& body) const {
    const AxisPlan& axis = gather_.axis(dim);
    for (const AxisPlan::Tap& tap : axis.phases[static_cast<size_t>(result % axis.write_step)].taps) {
      const int64_t at = result / axis.write_step * axis.read_step + tap.distance;
      if (at >= 0 && at < from[dim]) body(at, tap.place);
    }
  }

  GatherPlan gather_;
  const ConvolutionGeometry& g_;
};

// Results of a line whose taps first_tap to last_tap read of the image.
struct Run {
  int64_t first, count;
  size_t first_tap, last_tap;
};
inline std::vector<Run> divide_line(const LineTaps& taps, int64_t width) {
  std::vector<Run> runs;
  for (int64_t i = 0; i < taps.count; ++i) {
    size_t first = 0;
    size_t last = taps.sources.size();
    while (first < last && i * taps.step + taps.sources[first] < 0) ++first;
    while (first < last && i * taps.step + taps.sources[last - 1] >= width) --last;
    if (!runs.empty() && runs.back().first_tap == first && runs.back().last_tap == last) ++runs.back().count;
    else runs.push_back({i, 1, first, last});
  }
  return runs;
}

}  // namespace at::native::cpu
