#pragma once
// The phases of a convolution (GatherPlan.h) in the order in which they are computed.

#include <aten/native/cpu/GatherPlan.h>
#include <aten/native/cpu/gathered_elements.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace at::native::cpu {

// From the first to behind the last.
struct Range {
  int64_t first, last;
};

// [0, depth) in parts of about the same size, which stay in the first cache.
inline std::vector<Range> split_depth(int64_t depth) {
  const int64_t count = std::max<int64_t>(1, divide_up(depth, kBlockDepth));
  std::vector<Range> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back({i * depth / count, (i + 1) * depth / count});
  return parts;
}

// Results of a phase that read of the image by the same taps, and the lines of a panel that belong to these.
struct ResultClass {
  Range results;
  std::vector<Range> lines;

  // Bit t of `taps`: whether by tap t, to which `sources` lines belong.
  ResultClass(Range results, uint64_t taps, int64_t sources) : results(results) {
    for (int64_t tap = 0; tap < 64; ++tap) {
      if ((taps >> tap & 1) == 0) continue;
      if (lines.empty() || lines.back().last != tap * sources) lines.push_back({tap * sources, tap * sources});
      lines.back().last += sources;
    }
  }
  ResultClass(Range results, int64_t depth) : results(results), lines{{0, depth}} {}
};

// Puts results that read by the same taps next to each other; `inside` tells of the first ones, and those of further
// images read as they do.
inline std::vector<ResultClass> sort_results(GatherPhase& phase, const std::vector<uint64_t>& inside, int64_t sources) {
  const auto taps_of = [&](size_t i) { return inside[i % inside.size()]; };
  std::vector<size_t> order(phase.reads.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return taps_of(a) < taps_of(b); });
  const auto sort = [&](auto& values) {
    auto sorted = values;
    std::transform(order.begin(), order.end(), sorted.begin(), [&](size_t i) { return values[i]; });
    values = std::move(sorted);
  };
  sort(phase.reads);
  sort(phase.writes);
  std::vector<ResultClass> classes;
  const auto count = static_cast<int64_t>(order.size());
  const auto taps_at = [&](int64_t i) { return taps_of(order[static_cast<size_t>(i)]); };
  for (Range one{0, 0}; one.first < count; one.first = one.last) {
    while (one.last < count && taps_at(one.last) == taps_at(one.first)) ++one.last;
    classes.emplace_back(one, taps_at(one.first), sources);
  }
  return classes;
}

// One phase of a convolution, and which lines of a panel of the weight are its own.
struct PreparedPhase {
  GatherPhase phase;
  bool by_taps;  // the order of a panel's lines: as the image lies
  int64_t sources, first_line;
  std::vector<int64_t> depths;
  std::vector<Range> parts;
  std::vector<ResultClass> classes;

  // With `inside` (see GatherPhase), what lies around the image is not multiplied.
  PreparedPhase(GatherPhase given, const GatherPlan& plan, int64_t sources, int64_t first_line,
                const std::vector<uint64_t>& inside)
      : phase(std::move(given)), by_taps(!inside.empty() || plan.reads_channels_last()), sources(sources),
        first_line(first_line) {
    const auto taps = static_cast<int64_t>(phase.taps.size());
    depths.resize(static_cast<size_t>(sources * taps));
    for (int64_t channel = 0; channel < sources; ++channel) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        depths[static_cast<size_t>(line_of(channel, tap))] =
            channel * plan.layout().channel + phase.taps[static_cast<size_t>(tap)].distance;
      }
    }
    parts = split_depth(depth());
    if (!inside.empty()) {
      classes = sort_results(phase, inside, sources);
    } else {
      classes.emplace_back(Range{0, static_cast<int64_t>(phase.reads.size())}, depth());
    }
  }
  int64_t depth() const { return static_cast<int64_t>(depths.size()); }
  int64_t line_of(int64_t channel, int64_t tap) const {
    return by_taps ? tap * sources + channel : channel * static_cast<int64_t>(phase.taps.size()) + tap;
  }
};

}  // namespace at::native::cpu
