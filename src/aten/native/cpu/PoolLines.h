#pragma once
// What lines of windows read of an image, in the order in which each window reads it.

#include <aten/Tensor.h>
#include <aten/Parallel.h>
#include <aten/native/PoolGeometry.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace at::native::cpu {

// Windows [first, first + count) of a line read the elements at, at + step, ... of a line of the image, and if it is
// one window of one channel, `reads` elements from there on.
struct PoolTap {
  int64_t first, count, at, step, reads;
};

class PoolLines {
 public:
  // Images and results are contiguous, or all dense with their channels last: then a sample is one plane.
  PoolLines(const PoolGeometry& geometry, const Tensor& image, const Tensor& result)
      : PoolLines(geometry, image.is_contiguous() && result.is_contiguous() ? 1 : image.sizes()[1], geometry.planes) {}
  // `all` planes, some of which lie together as channels that are last.
  PoolLines(const PoolGeometry& geometry, int64_t together, int64_t all)
      : g(geometry),
        channels(together),
        planes(all / together),
        inside_end(g.adaptive || channels > 1 ? 0 : g.windows[2]) {
    for (int64_t window = 0; window < g.windows[2]; ++window) across.push_back(g.span(2, window));
    if (g.adaptive || channels > 1) {
      for (int64_t window = 0; window < g.windows[2]; ++window) {
        const PoolSpan& x = across[static_cast<size_t>(window)];
        if (channels == 1) taps.push_back({window, 1, x.begin, 0, x.end - x.begin});  // adaptive: no dilation
        else for (int64_t at = x.begin; at < x.end; at += x.step) taps.push_back({window, 1, at, 0, 1});
      }
      return;
    }
    for (int64_t k = g.kernel[2] - 1; k >= 0; --k) {  // from the first window that reads an element to the last
      const int64_t reach = k * g.dilation[2] - g.padding[2];
      const auto [begin, end] = part_inside(reach, g.stride[2], g.windows[2], g.image[2]);
      if (begin < end) taps.push_back({begin, end - begin, reach + begin * g.stride[2], g.stride[2], 1});
      inside_begin = std::max(inside_begin, begin);
      inside_end = std::min(inside_end, end);
    }
  }

  int64_t per_plane() const { return g.windows[0] * g.windows[1]; }
  int64_t length() const { return g.windows[2] * channels; }
  // A division takes as long as a short window.
  PoolSpan depth(int64_t line) const { return g.span(0, g.windows[0] == 1 ? 0 : line / g.windows[1] % g.windows[0]); }
  PoolSpan height(int64_t line) const { return g.span(1, g.windows[1] == 1 ? 0 : line % g.windows[1]); }
  // Where the elements lie that the first window inside reads, if its line's are not the ones of the line before.
  void find_places(int64_t line, std::vector<int64_t>& places) const {
    if (!places.empty() && per_plane() == 1) return;
    places.clear();
    const PoolSpan z = depth(line);
    const PoolSpan y = height(line);
    for (int64_t k = z.begin; k < z.end; k += z.step) {
      for (int64_t j = y.begin; j < y.end; j += y.step) {
        for (auto tap = taps.rbegin(); tap != taps.rend(); ++tap)
          places.push_back((k * g.image[1] + j) * g.image[2] + tap->at + (inside_begin - tap->first) * g.stride[2]);
      }
    }
  }
  // Lines that are worth a thread.
  int64_t grain() const {
    const int64_t read = g.image_elements() * channels / std::max<int64_t>(1, per_plane());
    return std::max<int64_t>(1, kGrainSize / std::max({read, length(), int64_t(1)}));
  }

  const PoolGeometry& g;
  int64_t channels, planes;
  int64_t inside_begin = 0, inside_end;  // the windows of a line that read all along it, where neighbours are windows
  std::vector<PoolTap> taps;
  std::vector<PoolSpan> across;
};

// Windows of a line, [begin, end).
struct PoolRange {
  int64_t begin, end;
};

// Where, in an image with its channels last, the elements of a line's windows begin.
class WindowElements {
 public:
  explicit WindowElements(const PoolLines& lines) : lines_(lines) {}

  void start_line(int64_t line) {
    const PoolGeometry& g = lines_.g;
    const PoolSpan z = lines_.depth(line);
    const PoolSpan y = lines_.height(line);
    rows_.clear();
    for (int64_t k = z.begin; k < z.end; k += z.step) {
      for (int64_t j = y.begin; j < y.end; j += y.step) rows_.push_back((k * g.image[1] + j) * g.image[2]);
    }
  }
  const std::vector<int64_t>& of_window(int64_t window) {
    const PoolSpan& x = lines_.across[static_cast<size_t>(window)];
    const auto width = x.end > x.begin ? static_cast<size_t>((x.end - x.begin + x.step - 1) / x.step) : 0;
    places_.resize(rows_.size() * width);
    int64_t* place = places_.data();
    for (const int64_t row : rows_) {
      for (int64_t i = x.begin; i < x.end; i += x.step) *place++ = row + i;
    }
    return places_;
  }

 private:
  const PoolLines& lines_;
  std::vector<int64_t> rows_, places_;
};

// How planes are read side by side: so many steps at a time of the first dimension of windows that has several.
struct PoolBands {
  PoolBands(const PoolGeometry& g, int64_t most) : dim(g.image[0] == 1 && g.windows[0] == 1 ? 1 : 0) {
    step = dim == 1 ? g.image[2] : g.image[1] * g.image[2];
    lines = dim == 1 ? 1 : g.windows[1];
    count = std::clamp<int64_t>(g.windows[dim] * most / g.image_elements(), 1, g.windows[dim]);
  }
  // The elements that windows from one on read, from the first to the last.
  PoolRange read(const PoolGeometry& g, int64_t window) const {
    PoolRange result{g.image[dim], 0};
    for (int64_t i = window; i < std::min(window + count, g.windows[dim]); ++i) {
      const PoolSpan span = g.span(dim, i);
      if (span.begin >= span.end) continue;
      result = {std::min(result.begin, span.begin), std::max(result.end, span.end)};
    }
    return {std::min(result.begin, result.end) * step, result.end * step};
  }
  int64_t most_read(const PoolGeometry& g) const {
    int64_t most = 0;
    for (int64_t window = 0; window < g.windows[dim]; window += count) {
      const PoolRange range = read(g, window);
      most = std::max(most, range.end - range.begin);
    }
    return most;
  }

  int dim;
  int64_t step, lines, count;
};

}  // namespace at::native::cpu
