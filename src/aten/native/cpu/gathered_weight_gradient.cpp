// The gradient of a convolution's weight as a product of gathered windows and panels of slopes.

#include <aten/native/cpu/gathered_convolution.h>

#include <aten/native/cpu/GatherPlan.h>
#include <aten/native/cpu/bfloat16_tiles.h>
#include <aten/native/cpu/gathered_elements.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace at::native::cpu {

using Geometry = ConvolutionGeometry;

namespace {

constexpr int64_t kBlockRows = 96;         // of the gradient, for one task
constexpr int64_t kTiledDepth = 1024;      // of tiles that are read for a block at a time: whole ones
constexpr int64_t kGradientPlaces = 2048;  // of windows, of one image or several, that a pass over the weight is worth

template <typename T>
void sum_weight_gradient(const Geometry& g, bool channels_last, SumOf<T>* out, const T* grad, const T* input) {
  const GatherPlan plan = ordinary_plan(g, channels_last);
  const int64_t windows = g.window_count();
  const int64_t results = g.groups * g.window_channels;
  const int64_t sources = g.groups * g.image_channels;
  const GatherPhase phase(plan, plan.axis(0).phases[0], plan.axis(1).phases[0], plan.axis(2).phases[0], g.kernel,
                          ImageLayout::of(g.windows, results, channels_last));
  std::vector<int64_t> rows;  // of the gradient: a source's channel, and a place in the kernel
  const auto add_row = [&](int64_t channel, const GatherPhase::Tap& tap) {
    rows.push_back(channel * plan.layout().channel + tap.distance);
  };
  if (g.weight_last) {
    for (const auto& tap : phase.taps) {
      for (int64_t channel = 0; channel < g.image_channels; ++channel) add_row(channel, tap);
    }
  } else {
    for (int64_t channel = 0; channel < g.image_channels; ++channel) {
      for (const auto& tap : phase.taps) add_row(channel, tap);
    }
  }
  const auto row_count = static_cast<int64_t>(rows.size());
  const int64_t images = std::clamp<int64_t>(kGradientPlaces / windows, 1, g.batch);  // in one pass
  const int64_t step = plan.has_frame() ? plan.frame_elements() : sources * g.image_elements();
  std::vector<int64_t> depths;
  for (int64_t image = 0; image < images; ++image) {
    for (const int64_t place : phase.reads) depths.push_back(image * step + place);
  }
  const int64_t width = panel_columns<SumOf<T>>();
  const int64_t panel_count = divide_up(g.window_channels, width);
  const int64_t line_count = images * windows;  // of a panel of slopes
  // Slopes whose channels lie last are panels as they are; for a few rows of the gradient they are not worth copying.
  const bool in_place = channels_last && is_whole<T>(g.window_channels) && row_count <= kBlockRows;
  const auto slopes = scratch<T>(in_place ? 0 : g.groups * panel_count * line_count * width);
  const auto frames = scratch<T>(plan.has_frame() ? images * step : 0);
  const auto sums = scratch<SumOf<T>>(g.groups * panel_count * row_count * width);
  for (int64_t first = 0; first < g.batch; first += images) {
    const int64_t count = std::min(images, g.batch - first);
    const int64_t lines = count * windows;
    const int64_t copied = count * (sources * g.image_elements() + results * windows);
    parallel_for(0, count, grain_for(copied, count, kSerialWork), [&](int64_t begin, int64_t end) {
      for (int64_t image = begin; image < end && plan.has_frame(); ++image) {
        plan.write_frame(input + (first + image) * sources * g.image_elements(), frames.get() + image * step, 0,
                         sources);
      }
    });
    const int64_t pieces = in_place ? 0 : g.groups * panel_count * count;
    parallel_for(0, pieces, grain_for(copied, pieces, kSerialWork), [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t image = piece % count;
        const int64_t panel = piece / count;
        const int64_t channel = panel % panel_count * width;
        const int64_t columns = std::min(width, g.window_channels - channel);
        const int64_t place = (panel / panel_count) * g.window_channels + channel;
        const T* from = grad + (first + image) * results * windows;
        T* to = slopes.get() + (panel * line_count + image * windows) * width;
        if (!is_whole<T>(columns)) std::fill_n(to, windows * width, T(0));
        if (channels_last) {
          for (int64_t i = 0; i < windows; ++i) std::copy_n(from + i * results + place, columns, to + i * width);
        } else {
          for (int64_t i = 0; i < windows; i += kTransposedColumns) {
            transpose_matrix(from + place * windows + i, windows, columns, std::min(kTransposedColumns, windows - i),
                             to + i * width, width);
          }
        }
      }
    });
    const int64_t blocks = divide_up(row_count, kBlockRows);
    const T* data = plan.has_frame() ? frames.get() : input + first * step;
    // Lines of a panel from `start` on, and where its sums lie from `row` on.
    const auto lines_of = [&](int64_t panel, int64_t start) {
      const int64_t channel = panel / panel_count * g.window_channels + panel % panel_count * width;
      return in_place ? Lines<const T>{grad + (first * windows + start) * results + channel, results}
                      : Lines<const T>{slopes.get() + (panel * line_count + start) * width, width};
    };
    const auto sums_of = [&](int64_t panel, int64_t row) {
      return Lines<SumOf<T>>{sums.get() + (panel * row_count + row) * width, width};
    };
    const auto columns_of = [&](int64_t panel) {
      return std::min(width, g.window_channels - panel % panel_count * width);
    };
    const auto start_from = [&](Lines<SumOf<T>> own, bool fresh) {
      return fresh ? zero_lines<SumOf<T>>() : Lines<const SumOf<T>>{own.data, own.step};
    };
    if constexpr (std::is_same_v<T, uint32_t>) {
      if (are_worth_tiles(row_count, lines)) {  // what a block of rows reads is read once for all panels
        const int64_t tasks = g.groups * blocks;
        const int64_t grain = grain_for(lines * row_count * results, tasks, kSerialWork);
        parallel_for(0, tasks, grain, [&](int64_t begin, int64_t end) {
          TiledRows tiles;
          for (int64_t task = begin; task < end; ++task) {
            const int64_t group = task / blocks;
            const int64_t row = task % blocks * kBlockRows;
            for (int64_t start = 0; start < lines; start += kTiledDepth) {
              tiles.read(data + group * g.image_channels * plan.layout().channel, data + count * step,
                         rows.data() + row, std::min(kBlockRows, row_count - row), depths.data() + start,
                         std::min(kTiledDepth, lines - start));
              for (int64_t panel = group * panel_count; panel < (group + 1) * panel_count; ++panel) {
                const Lines<float> own = sums_of(panel, row);
                tiles.multiply(lines_of(panel, start), columns_of(panel), start_from(own, first == 0 && start == 0),
                               own);
              }
            }
          }
        });
        continue;
      }
    }
    const int64_t tasks = g.groups * panel_count * blocks;
    parallel_for(0, tasks, grain_for(lines * row_count * results, tasks, kSerialWork), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t panel = task / blocks;
        const int64_t group = panel / panel_count;
        const int64_t row = task % blocks * kBlockRows;
        const int64_t chunks = divide_up(lines, kBlockDepth);
        for (int64_t chunk = 0; chunk < chunks; ++chunk) {
          const int64_t start = chunk * lines / chunks;
          const Lines<SumOf<T>> own = sums_of(panel, row);
          add_product<T, SumOf<T>>(data + group * g.image_channels * plan.layout().channel, rows.data() + row,
                                   std::min(kBlockRows, row_count - row), depths.data() + start,
                                   (chunk + 1) * lines / chunks - start, lines_of(panel, start), columns_of(panel),
                                   start_from(own, first == 0 && chunk == 0), own);
        }
      }
    });
  }
  const int64_t panels = g.groups * panel_count;
  parallel_for(0, panels, grain_for(panels * row_count * width, panels, kSerialWork), [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t channel = panel % panel_count * width;
      transpose_matrix(sums.get() + panel * row_count * width, width, row_count,
                       std::min(width, g.window_channels - channel),
                       out + (panel / panel_count * g.window_channels + channel) * row_count, row_count);
    }
  });
}

// Lines [first, first + lines) of a plane that has `height` of them; what lies around it is 0.
void copy_lines(const uint16_t* plane, int64_t height, int64_t line, int64_t first, int64_t lines, uint16_t* to) {
  const int64_t begin = std::clamp<int64_t>(-first, 0, lines);
  const int64_t end = std::clamp<int64_t>(height - first, begin, lines);
  std::fill_n(to, begin * line, uint16_t{0});
  std::copy_n(plane + (first + begin) * line, (end - begin) * line, to + begin * line);
  std::fill_n(to + end * line, (lines - end) * line, uint16_t{0});
}

// Of each plane, of `height` lines, as pairs: `lines` lines from `first` on, and as many from `second` on.
Scratch<uint32_t> pair_halves(const uint16_t* from, int64_t planes, int64_t height, int64_t line,
                                        int64_t first, int64_t second, int64_t lines) {
  auto result = scratch<uint32_t>(planes * lines * line);
  uint32_t* const to = result.get();
  const int64_t grain = grain_for(planes * lines * line, planes, kSerialWork);
  parallel_for(0, planes, grain, [&](int64_t begin, int64_t end) {
    const auto both = scratch<uint16_t>(2 * lines * line);
    for (int64_t i = begin; i < end; ++i) {
      const uint16_t* const plane = from + i * height * line;
      copy_lines(plane, height, line, first, lines, both.get());
      copy_lines(plane, height, line, second, lines, both.get() + lines * line);
      pair_lines(both.get(), 2, lines * line, to + i * lines * line);
    }
  });
  return result;
}

// Of one image, whose upper and lower half of windows are taken for two images; of an odd number of lines the lower
// half ends with slopes of 0.
void sum_halves(Geometry g, bool channels_last, float* out, const uint16_t* grad, const uint16_t* input) {
  if (is_line(g)) {
    for (auto* sizes : {&g.image, &g.kernel, &g.windows, &g.stride, &g.padding, &g.dilation})
      std::swap((*sizes)[1], (*sizes)[2]);
  }
  const int64_t results = g.groups * g.window_channels;
  const int64_t sources = g.groups * g.image_channels;
  Geometry half = g;
  half.windows[1] = divide_up(g.windows[1], 2);
  half.image[1] = (half.windows[1] - 1) * g.stride[1] + (g.kernel[1] - 1) * g.dilation[1] + 1;
  half.padding[1] = 0;
  const auto images =
      pair_halves(input, g.image[0] * (channels_last ? 1 : sources), g.image[1],
                  g.image[2] * (channels_last ? sources : 1), -g.padding[1],
                  half.windows[1] * g.stride[1] - g.padding[1], half.image[1]);
  const auto slopes = pair_halves(grad, g.windows[0] * (channels_last ? 1 : results), g.windows[1],
                                  g.windows[2] * (channels_last ? results : 1), 0, half.windows[1], half.windows[1]);
  sum_weight_gradient(half, channels_last, out, slopes.get(), images.get());
}

}  // namespace

template <typename T>
void weight_gradient_gathered(const Geometry& g, bool channels_last, T* out, const T* grad, const T* input) {
  sum_weight_gradient(g, channels_last, out, grad, input);
}

void weight_gradient_pairs(const Geometry& g, bool channels_last, float* out, const uint16_t* grad,
                           const uint16_t* input) {
  if (g.batch == 1) return sum_halves(g, channels_last, out, grad, input);
  Geometry halved = g;  // the same place of two images is a pair
  halved.batch = divide_up(g.batch, 2);
  const auto slopes = pairs_of(grad, 1, g.batch, g.groups * g.window_channels * g.window_count());
  const auto images = pairs_of(input, 1, g.batch, g.groups * g.image_channels * g.image_elements());
  sum_weight_gradient(halved, channels_last, out, slopes.get(), images.get());
}

template void weight_gradient_gathered(const Geometry&, bool, float*, const float*, const float*);
template void weight_gradient_gathered(const Geometry&, bool, double*, const double*, const double*);

}  // namespace at::native::cpu
