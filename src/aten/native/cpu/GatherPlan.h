#pragma once
// Convolutions, ordinary and transposed, as gathered products (gathered_products.h): which elements of an image each
// result reads, and where results lie.

#include <aten/native/cpu/ConvolutionGeometry.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace at::native::cpu {

// Where the elements of one image of a batch lie.
struct ImageLayout {
  int64_t channel;              // elements from a channel to the next
  std::array<int64_t, 3> axis;  // from a plane, a line, a place to the next

  static ImageLayout of(const std::array<int64_t, 3>& size, int64_t channels, bool channels_last) {
    const int64_t unit = channels_last ? channels : 1;
    return {channels_last ? 1 : size[0] * size[1] * size[2], {size[1] * size[2] * unit, size[2] * unit, unit}};
  }
  int64_t at(int64_t z, int64_t y, int64_t x) const { return z * axis[0] + y * axis[1] + x * axis[2]; }
};

// One axis. Results of a phase lie at start + i * write_step, for i in [0, count); each reads, for each of the phase's
// taps, the element at i * read_step + distance. An ordinary convolution has one phase with all taps; a transposed one
// as many as its stride, and each result reads only what was written to it.
struct AxisPlan {
  struct Tap {
    int64_t place;  // in the kernel
    int64_t distance;
  };
  struct Phase {
    int64_t start, count;
    std::vector<Tap> taps;
  };
  int64_t read_step, write_step;
  std::vector<Phase> phases;
  int64_t before = 0;  // elements of 0 that are read in front of the image
  int64_t extent = 0;  // of all that is read, with those

  static AxisPlan ordinary(int64_t kernel, int64_t windows, int64_t stride, int64_t padding, int64_t dilation) {
    AxisPlan plan{stride, 1, {{0, windows, {}}}};
    for (int64_t place = 0; place < kernel; ++place) plan.phases[0].taps.push_back({place, place * dilation - padding});
    plan.measure();
    return plan;
  }
  static AxisPlan transposed(int64_t kernel, int64_t image, int64_t stride, int64_t padding, int64_t dilation) {
    AxisPlan plan{1, stride, {}};
    for (int64_t start = 0; start < std::min(stride, image); ++start) {
      Phase phase{start, (image - start + stride - 1) / stride, {}};
      for (int64_t place = 0; place < kernel; ++place) {
        const int64_t from = start + padding - place * dilation;
        if (from % stride == 0) phase.taps.push_back({place, from / stride});
      }
      plan.phases.push_back(std::move(phase));
    }
    plan.measure();
    return plan;
  }

 private:
  void measure() {
    int64_t first = 0;
    int64_t last = 0;
    for (const Phase& phase : phases) {
      for (const Tap& tap : phase.taps) {
        first = std::min(first, tap.distance);
        last = std::max(last, (phase.count - 1) * read_step + tap.distance);
      }
    }
    before = -first;
    extent = before + last + 1;
  }
};

class GatherPlan {
 public:
  // Of a convolution that reads images of `size` with `channels` channels (of all groups);
  // a batch's images follow each other.
  GatherPlan(std::array<AxisPlan, 3> axes, const std::array<int64_t, 3>& size, int64_t channels, bool channels_last)
      : axes_(std::move(axes)), size_(size), channels_(channels), channels_last_(channels_last),
        source_(ImageLayout::of(size, channels, channels_last)) {
    bool inside = true;
    for (int dim = 0; dim < 3; ++dim) inside = inside && axes_[dim].before == 0 && axes_[dim].extent <= size[dim];
    has_frame_ = !inside;
    read_ = inside ? source_
                   : ImageLayout::of({axes_[0].extent, axes_[1].extent, axes_[2].extent}, channels, channels_last);
  }

  const AxisPlan& axis(int dim) const { return axes_[dim]; }
  const std::array<int64_t, 3>& size() const { return size_; }
  // Whether images are read from a copy with zeros around them, which write_frame makes.
  bool has_frame() const { return has_frame_; }
  int64_t frame_elements() const { return channels_ * axes_[0].extent * axes_[1].extent * axes_[2].extent; }
  // What is read: an image, or its copy.
  const ImageLayout& layout() const { return read_; }
  bool channels_last() const { return channels_last_; }
  bool reads_channels_last() const { return channels_last_ || is_turned_; }

  // Has write_frame put the channels last, so that a place of all channels is read in one go.
  void turn_frame() {
    is_turned_ = !channels_last_;
    read_ = ImageLayout::of({axes_[0].extent, axes_[1].extent, axes_[2].extent}, channels_, true);
  }

  // Has the image itself be read, for results that are never asked for what lies around it.
  void drop_frame() {
    has_frame_ = false;
    read_ = source_;
    for (AxisPlan& axis : axes_) axis.before = 0;
  }

  // Fills a frame from an image: channels [first, last), or all where channels come last.
  template <typename T>
  void write_frame(const T* image, T* frame, int64_t first, int64_t last) const {
    const int64_t unit = reads_channels_last() ? channels_ : 1;
    const AxisPlan& x = axes_[2];
    const int64_t line = x.extent * unit;
    const int64_t copied = std::clamp<int64_t>(x.extent - x.before, 0, size_[2]) * unit;
    const bool all = reads_channels_last();
    for (int64_t channel = all ? 0 : first; channel < (all ? 1 : last); ++channel) {
      T* to = frame + channel * read_.channel;
      for (int64_t z = 0; z < axes_[0].extent; ++z) {
        const int64_t from_z = z - axes_[0].before;
        for (int64_t y = 0; y < axes_[1].extent; ++y, to += line) {
          const int64_t from_y = y - axes_[1].before;
          if (from_z < 0 || from_z >= size_[0] || from_y < 0 || from_y >= size_[1]) {
            std::fill_n(to, line, T(0));
            continue;
          }
          const T* from = image + channel * source_.channel + source_.at(from_z, from_y, 0);
          std::fill_n(to, x.before * unit, T(0));
          if (is_turned_) {
            T* target = to + x.before * unit;
            for (int64_t place = 0; place < copied / unit; ++place) {
              for (int64_t i = 0; i < unit; ++i) *target++ = from[i * source_.channel + place];
            }
          } else {
            std::copy_n(from, copied, to + x.before * unit);
          }
          std::fill(to + x.before * unit + copied, to + line, T(0));
        }
      }
    }
  }

 private:
  std::array<AxisPlan, 3> axes_;
  std::array<int64_t, 3> size_;
  int64_t channels_;
  bool channels_last_;
  ImageLayout source_;
  bool has_frame_;
  bool is_turned_ = false;
  ImageLayout read_;
};

inline GatherPlan ordinary_plan(const ConvolutionGeometry& g, bool channels_last) {
  const auto axis = [&](int dim) {
    return AxisPlan::ordinary(g.kernel[dim], g.windows[dim], g.stride[dim], g.padding[dim], g.dilation[dim]);
  };
  return GatherPlan({axis(0), axis(1), axis(2)}, g.image, g.groups * g.image_channels, channels_last);
}

// The geometry's image is the result, and its windows are what is read.
inline GatherPlan transposed_plan(const ConvolutionGeometry& g, bool channels_last) {
  const auto axis = [&](int dim) {
    return AxisPlan::transposed(g.kernel[dim], g.image[dim], g.stride[dim], g.padding[dim], g.dilation[dim]);
  };
  return GatherPlan({axis(0), axis(1), axis(2)}, g.windows, g.groups * g.window_channels, channels_last);
}

// One phase of each axis: its results, counted through, and the elements that each of them reads.
struct GatherPhase {
  std::vector<int64_t> reads;   // of each result: where its elements begin
  std::vector<int64_t> writes;  // of each result: where it lies, in a channel of the result
  struct Tap {
    int64_t place, distance;
  };
  std::vector<Tap> taps;

  GatherPhase(const GatherPlan& plan, const AxisPlan::Phase& z, const AxisPlan::Phase& y, const AxisPlan::Phase& x,
              const std::array<int64_t, 3>& kernel, const ImageLayout& result) {
    const ImageLayout& read = plan.layout();
    const std::array<const AxisPlan::Phase*, 3> phases{&z, &y, &x};
    const auto read_step = [&](int dim) { return plan.axis(dim).read_step * read.axis[dim]; };
    const auto write = [&](int dim, int64_t i) {
      return (phases[dim]->start + i * plan.axis(dim).write_step) * result.axis[dim];
    };
    reads.resize(static_cast<size_t>(z.count * y.count * x.count));
    writes.resize(reads.size());
    size_t place = 0;
    for (int64_t i = 0; i < z.count; ++i) {
      for (int64_t j = 0; j < y.count; ++j) {
        const int64_t read_line = i * read_step(0) + j * read_step(1);
        const int64_t write_line = write(0, i) + write(1, j);
        for (int64_t k = 0; k < x.count; ++k, ++place) {
          reads[place] = read_line + k * read_step(2);
          writes[place] = write_line + write(2, k);
        }
      }
    }
    for (const AxisPlan::Tap& a : z.taps) {
      for (const AxisPlan::Tap& b : y.taps) {
        for (const AxisPlan::Tap& c : x.taps) {
          taps.push_back({(a.place * kernel[1] + b.place) * kernel[2] + c.place,
                          read.at(a.distance + plan.axis(0).before, b.distance + plan.axis(1).before,
                                  c.distance + plan.axis(2).before)});
        }
      }
    }
  }

  // Bit t of each result: whether its tap t reads of the image, and not a 0 around it. For at most 64 taps; the phases
  // are those that this one was made of.
  std::vector<uint64_t> find_inside(const GatherPlan& plan, const AxisPlan::Phase& z, const AxisPlan::Phase& y,
                                    const AxisPlan::Phase& x) const {
    const std::array<const AxisPlan::Phase*, 3> phases{&z, &y, &x};
    const auto of_axis = [&](int dim, int64_t i) {
      uint64_t mask = 0;
      for (size_t tap = 0; tap < phases[dim]->taps.size(); ++tap) {
        const int64_t at = i * plan.axis(dim).read_step + phases[dim]->taps[tap].distance;
        mask |= uint64_t{at >= 0 && at < plan.size()[dim]} << tap;
      }
      return mask;
    };
    // The mask `inner`, of `size` taps, at each bit of `outer`.
    const auto spread = [](uint64_t outer, uint64_t inner, size_t size) {
      uint64_t mask = 0;
      for (; outer != 0; outer &= outer - 1) mask |= inner << static_cast<size_t>(__builtin_ctzll(outer)) * size;
      return mask;
    };
    std::vector<uint64_t> lines;  // of one line of results
    for (int64_t k = 0; k < x.count; ++k) lines.push_back(of_axis(2, k));
    std::vector<uint64_t> inside;
    for (int64_t i = 0; i < z.count; ++i) {
      for (int64_t j = 0; j < y.count; ++j) {
        const uint64_t outer = spread(of_axis(0, i), of_axis(1, j), y.taps.size());
        for (const uint64_t line : lines) inside.push_back(spread(outer, line, x.taps.size()));
      }
    }
    return inside;
  }

  // The results of all images of a batch, which lie at these distances: the first image's, then the next one's.
  void join_images(int64_t images, int64_t read_step, int64_t write_step) {
    const size_t count = reads.size();
    for (int64_t image = 1; image < images; ++image) {
      for (size_t i = 0; i < count; ++i) {
        reads.push_back(reads[i] + image * read_step);
        writes.push_back(writes[i] + image * write_step);
      }
    }
  }
};

}  // namespace at::native::cpu
