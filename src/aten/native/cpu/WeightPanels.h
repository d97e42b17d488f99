#pragma once
// The weight of a convolution in panels (gathered_products.h).

#include <aten/native/cpu/PreparedPhase.h>
#include <aten/native/cpu/gathered_elements.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace at::native::cpu {

// Of a weight, where the elements of a group lie.
struct WeightLayout {
  int64_t group, result, source, tap;  // from a group, a result's channel, a source's channel, a tap to the next
  int64_t results, sources;            // channels of a group

  // [groups, results, sources, kernel]; or with the sources last.
  static WeightLayout ordinary(int64_t results, int64_t sources, int64_t kernel, bool last) {
    return {results * sources * kernel, sources * kernel, last ? 1 : kernel, last ? sources : 1, results, sources};
  }
  // [groups, sources, results, kernel]; or with the results last.
  static WeightLayout transposed(int64_t results, int64_t sources, int64_t kernel, bool last) {
    return {results * sources * kernel, last ? 1 : kernel, results * kernel, last ? results : 1, results, sources};
  }
};

// A line of a phase's panel, and where in the weight its first element lies.
struct PanelLine {
  int64_t place;
  size_t phase;
  int64_t line;
};

// One panel of each phase, `columns` wide, whose elements in a line are `step` apart from each other; lines in the
// order in which they lie.
template <typename T>
void write_panel(const T* from, int64_t step, int64_t columns, const std::vector<PanelLine>& lines,
                 const std::vector<T*>& panels) {
  constexpr auto kCacheLine = static_cast<int64_t>(64 / sizeof(T));
  const int64_t width = panel_columns<SumOf<T>>();
  const auto target_of = [&](const PanelLine& line) { return panels[line.phase] + line.line * width; };
  // How many from number `first` on lie next to each other.
  const auto run_from = [&](size_t first) {
    size_t last = first;
    while (last < lines.size() && last - first < kTransposedColumns &&
           lines[last].place == lines[first].place + static_cast<int64_t>(last - first))
      ++last;
    return static_cast<int64_t>(last - first);
  };
  const auto buffer = scratch<T>(kTransposedColumns * width);
  int64_t run = run_from(0);
  for (size_t first = 0; first < lines.size();) {
    const size_t next = first + static_cast<size_t>(run);
    const int64_t next_run = run_from(next);
    // What follows is far away, and comes from memory: the processor does not see it coming.
    const int64_t pieces = step < kCacheLine ? 1 : columns;
    const int64_t length = step < kCacheLine ? (columns - 1) * step + next_run : next_run;
    for (int64_t j = 0; next_run > 0 && j < pieces; ++j) {
      const T* piece = from + j * step + lines[next].place;
      for (int64_t i = 0; i < length; i += kCacheLine) __builtin_prefetch(piece + i);
    }
    const T* place = from + lines[first].place;
    bool in_order = true;
    for (int64_t i = 1; i < run; ++i) {
      const PanelLine& line = lines[first + static_cast<size_t>(i)];
      in_order = in_order && line.phase == lines[first].phase && line.line == lines[first].line + i;
    }
    if (step == 1) {
      for (int64_t i = 0; i < run; ++i)
        copy_few(place + i, columns, target_of(lines[first + static_cast<size_t>(i)]));
    } else if (in_order) {
      transpose_matrix(place, step, columns, run, target_of(lines[first]), width);
    } else {
      transpose_matrix(place, step, columns, run, buffer.get(), width);
      for (int64_t i = 0; i < run; ++i)
        copy_few(buffer.get() + i * width, columns, target_of(lines[first + static_cast<size_t>(i)]));
    }
    first = next;
    run = next_run;
  }
}

// The lines of all phases in the order in which the weight lies: a transposed one's have neighbouring elements.
inline std::vector<PanelLine> list_lines(const std::vector<PreparedPhase>& phases, const WeightLayout& layout) {
  std::vector<PanelLine> taps;  // with the number of a tap for that of a line
  for (size_t i = 0; i < phases.size(); ++i) {
    const auto& phase_taps = phases[i].phase.taps;
    for (size_t tap = 0; tap < phase_taps.size(); ++tap)
      taps.push_back({phase_taps[tap].place * layout.tap, i, static_cast<int64_t>(tap)});
  }
  std::sort(taps.begin(), taps.end(), [](const PanelLine& a, const PanelLine& b) { return a.place < b.place; });
  std::vector<PanelLine> lines;
  lines.reserve(taps.size() * static_cast<size_t>(layout.sources));
  const auto add_line = [&](int64_t channel, const PanelLine& tap) {
    lines.push_back({channel * layout.source + tap.place, tap.phase, phases[tap.phase].line_of(channel, tap.line)});
  };
  if (layout.source < layout.tap) {
    for (const PanelLine& tap : taps) {
      for (int64_t channel = 0; channel < layout.sources; ++channel) add_line(channel, tap);
    }
  } else {
    for (int64_t channel = 0; channel < layout.sources; ++channel) {
      for (const PanelLine& tap : taps) add_line(channel, tap);
    }
  }
  return lines;
}

// Some panels of the weight, counted through all groups: of each the lines of all phases. Those of `together` groups
// are one.
template <typename T>
void write_panels(const std::vector<PreparedPhase>& phases, const WeightLayout& layout,
                  const std::vector<PanelLine>& lines, const T* weight, Range wanted, int64_t together, T* to) {
  const int64_t width = panel_columns<SumOf<T>>();
  const int64_t size = static_cast<int64_t>(lines.size()) * width;
  const int64_t count = divide_up(layout.results, width);
  std::vector<T*> starts(phases.size());
  for (int64_t panel = wanted.first; panel < wanted.last; ++panel) {
    const int64_t first = panel % count * width;
    const int64_t columns = std::min(width, layout.results - first);
    T* const start = to + (panel / together - wanted.first / together) * size + panel % together * columns;
    if (together == 1 && !is_whole<T>(columns)) std::fill_n(start, size, T(0));
    for (size_t i = 0; i < phases.size(); ++i) starts[i] = start + phases[i].first_line * width;
    write_panel(weight + panel / count * layout.group + first * layout.result, layout.result, columns, lines, starts);
  }
}

}  // namespace at::native::cpu
