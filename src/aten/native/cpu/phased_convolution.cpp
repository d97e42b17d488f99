#include <aten/native/cpu/phased_convolution.h>

#include <aten/Parallel.h>
#include <aten/native/cpu/ConvolutionTasks.h>
#include <aten/native/cpu/GatherPlan.h>
#include <aten/native/cpu/PhasedImage.h>
#include <aten/native/cpu/direct_convolution.h>
#include <aten/native/cpu/panel_gemm.h>

#include <utility>
#include <vector>

namespace at::native::cpu {

namespace {

using Geometry = ConvolutionGeometry;

constexpr int64_t kGradientBytes = 1 << 19;  // of images and slopes
constexpr int64_t kFewOutputs = 4;           // fewer are computed one at a time

}  // namespace

template <typename T>
void convolve_directly(const Geometry& g, T* out, const T* input, const T* weight, const T* bias) {
  const PhasedImage layout(g);
  const int64_t channel = layout.phases() * layout.phase_elements();
  const int64_t taps = g.rows();
  const int64_t outs = g.window_channels;
  std::vector<int64_t> offsets;
  for (int64_t c = 0; c < g.image_channels; ++c) {
    for (const auto& [phase, elements] : layout.distances()) {
      offsets.push_back(c * channel + phase * layout.phase_elements() + elements);
    }
  }
  const KernelColumns columns(offsets, layout.line());
  // An image and a group for each task; where these are too few, a part of the output channels, too.
  const int64_t pairs = g.batch * g.groups;
  const int64_t parts = std::clamp<int64_t>(divide_up(get_num_threads(), pairs), 1, divide_up(outs, 4));
  const int64_t part = divide_up(divide_up(outs, parts), 4) * 4;
  const int64_t work = g.window_count() * outs * taps;
  parallel_for(0, pairs * parts, grain_for(work * pairs, pairs * parts), [&](int64_t begin, int64_t end) {
    const int64_t filled = g.image_channels * channel + kDirectBlock<T>;
    const auto image = scratch<T>(filled);
    std::fill_n(image.get(), filled, T(0));
    const auto result = scratch<T>(part * kDirectBlock<T>);
    int64_t held = -1;  // the pair whose image is in `image`
    for (int64_t task = begin; task < end; ++task) {
      const int64_t pair = task / parts;
      const int64_t first_out = task % parts * part;
      const int64_t count_outs = std::min(part, outs - first_out);
      if (count_outs <= 0) continue;
      if (held != pair) {  // the frame stays 0
        const T* from = input + pair * g.image_channels * g.image_elements();
        for (int64_t c = 0; c < g.image_channels; ++c) {
          layout.write_channel(from + c * g.image_elements(), image.get() + c * channel, layout.phase_elements());
        }
        held = pair;
      }
      const int64_t first_channel = pair % g.groups * outs + first_out;
      T* to = out + (pair * outs + first_out) * g.window_count();
      for (int64_t z = 0; z < g.windows[0] * (outs < kFewOutputs ? count_outs : 0); ++z) {
        const int64_t o = z / g.windows[0];
        direct_plane(image.get() + z % g.windows[0] * layout.plane(), columns,
                     weight + (first_channel + o) * taps, bias ? bias[first_channel + o] : T(0), g.windows[1],
                     layout.line(), g.windows[2], to + z * g.windows[1] * g.windows[2]);
      }
      for (int64_t z = 0; outs >= kFewOutputs && z < g.windows[0]; ++z) {
        const int64_t reach = (g.windows[1] - 1) * layout.line() + g.windows[2];
        for (int64_t place = 0; place < reach; place += kDirectBlock<T>) {
          direct_convolution(image.get() + z * layout.plane() + place, offsets.data(), taps,
                             weight + first_channel * taps, bias ? bias + first_channel : nullptr, count_outs,
                             result.get());
          // What lies between the end of a line of windows and the next line is left out.
          const int64_t stop = std::min(reach, place + kDirectBlock<T>);
          for (int64_t start = place; start < stop;) {
            const int64_t y = start / layout.line();
            const int64_t x = start - y * layout.line();
            const int64_t count = std::min(g.windows[2] - x, stop - start);
            if (count > 0) {
              T* line = to + (z * g.windows[1] + y) * g.windows[2] + x;
              for (int64_t o = 0; o < count_outs; ++o) {
                std::copy_n(result.get() + o * kDirectBlock<T> + (start - place), count, line + o * g.window_count());
              }
            }
            start = (y + 1) * layout.line();
          }
        }
      }
    }
  });
}

void convolve_places(const Geometry& g, float* out, const float* input, const float* weight, const float* bias) {
  constexpr int64_t kPlaces = 512;  // whose results stay in the first cache while planes pass
  const int64_t sources = g.image_channels;
  const int64_t outs = g.window_channels;
  const int64_t places = g.window_count();
  const std::vector<float> zeros(static_cast<size_t>(bias ? 0 : g.groups * outs));
  const float* const starts = bias ? bias : zeros.data();
  const int64_t parts = divide_up(places, kPlaces);
  const int64_t tasks = g.batch * g.groups * parts;
  parallel_for(0, tasks, grain_for(tasks * kPlaces * sources * outs, tasks), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t pair = task / parts;
      const int64_t group = pair % g.groups;
      const int64_t place = task % parts * kPlaces;
      multiply_planes(input + pair * sources * places + place, places, sources, weight + group * outs * sources,
                      starts + group * outs, outs, std::min(kPlaces, places - place),
                      out + pair * outs * places + place);
    }
  });
}

template <typename T>
void multiply_images(const Geometry& g, T* out, const T* input, const T* weight, const T* bias) {
  constexpr int64_t kPanelBytes = 1 << 18;  // which stay in the second cache
  const int64_t sources = g.image_channels;
  const int64_t outs = g.window_channels;
  const int64_t places = g.window_count();
  const int64_t wanted = std::max<int64_t>(kPanelBytes / (sources * int64_t{sizeof(T)}), 4 * kShortPanel);
  const int64_t size = divide_up(divide_up(places, divide_up(places, wanted)), kShortPanel) * kShortPanel;
  const int64_t parts = divide_up(places, size);
  const int64_t tasks = g.batch * g.groups * parts;
  parallel_for(0, tasks, grain_for(tasks * outs * size * sources, tasks), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t pair = task / parts;
      const int64_t group = pair % g.groups;
      const int64_t first = task % parts * size;
      const int64_t count = std::min(size, places - first);
      T* const to = out + pair * outs * places + first;
      for (int64_t o = 0; bias && o < outs; ++o) std::fill_n(to + o * places, count, bias[group * outs + o]);
      panel_gemm<T>(outs, count, sources, T(1), {weight + group * outs * sources, sources, false},
                    {input + pair * sources * places + first, places, false}, T(bias ? 1 : 0), to, places);
    }
  });
}

// Sums over all places of windows, of the slope there times what a place in the kernel reads: with slopes of 0 between
// the lines of windows, and images one behind the other in each phase, one long product of two vectors for each weight.
template <typename T>
void weight_gradient_directly(const Geometry& g, T* out, const T* grad, const T* input) {
  const PhasedImage layout(g);
  const int64_t elements = layout.phase_elements();
  const int64_t kernel = g.kernel_elements();
  const int64_t outs = g.window_channels;
  const int64_t size = outs * g.rows();
  const int64_t rows = g.image_channels * layout.phases();
  // As many images at a time as the cache holds; each chunk of them, and each group, is a task with a sum of its own.
  const int64_t image_bytes = (rows + outs) * elements * static_cast<int64_t>(sizeof(T));
  const int64_t chunks_wanted = divide_up(get_num_threads(), g.groups);
  const int64_t affordable = 1 + kPartialSumBytes / static_cast<int64_t>(sizeof(T)) / (g.groups * size);
  const int64_t chunks = std::min({chunks_wanted, g.batch, affordable});
  const int64_t images = std::clamp<int64_t>(kGradientBytes / image_bytes, 1, divide_up(g.batch, chunks));
  const int64_t step = images * elements;
  const int64_t slope_step = divide_up(step, kDirectBlock<T>) * kDirectBlock<T>;
  std::vector<int64_t> offsets;
  for (const auto& [phase, distance] : layout.distances()) offsets.push_back(phase * step + distance);
  const auto partial = scratch<T>((chunks - 1) * g.groups * size);
  const int64_t tasks = g.groups * chunks;
  parallel_for(
      0, tasks, grain_for(g.batch * g.groups * g.window_count() * size, tasks), [&](int64_t begin, int64_t end) {
        const int64_t filled =
            rows * step + step + 2 * kDirectBlock<T>;  // what is read behind the end is multiplied by 0
        const auto image = scratch<T>(filled);
        const auto slopes = scratch<T>(outs * slope_step);
        std::fill_n(image.get(), filled, T(0));
        std::fill_n(slopes.get(), outs * slope_step, T(0));
        for (int64_t task = begin; task < end; ++task) {
          const int64_t group = task % g.groups;
          const int64_t chunk = task / g.groups;
          T* sum = (chunk == 0 ? out : partial.get() + (chunk - 1) * g.groups * size) + group * size;
          std::fill_n(sum, size, T(0));
          const int64_t last = (chunk + 1) * g.batch / chunks;
          for (int64_t first = chunk * g.batch / chunks; first < last; first += images) {
            const int64_t count = std::min(images, last - first);
            for (int64_t i = 0; i < count; ++i) {
              const int64_t pair = (first + i) * g.groups + group;
              for (int64_t c = 0; c < g.image_channels; ++c) {
                layout.write_channel(input + (pair * g.image_channels + c) * g.image_elements(),
                                     image.get() + c * layout.phases() * step + i * elements, step);
              }
              for (int64_t o = 0; o < outs; ++o) {
                layout.write_windows(grad + (pair * outs + o) * g.window_count(),
                                     slopes.get() + o * slope_step + i * elements);
              }
            }
            for (int64_t o = 0; count < images && o < outs; ++o) {  // those of earlier images
              std::fill_n(slopes.get() + o * slope_step + count * elements, slope_step - count * elements, T(0));
            }
            const int64_t length = (count - 1) * elements + layout.reach();
            for (int64_t c = 0; c < g.image_channels; ++c) {
              direct_weight_gradient(image.get() + c * layout.phases() * step, offsets.data(), kernel, slopes.get(),
                                     slope_step, outs, length, sum + c * kernel, g.rows());
            }
          }
        }
      });
  add_partial_sums(out, partial.get(), chunks, g.groups * size);
}

// Transposed, with strides and few channels to read: each phase of the image is a small ordinary one.
template <typename T>
void transpose_directly(const Geometry& g, T* out, const T* input, const T* weight, const T* bias) {
  const GatherPlan plan = transposed_plan(g, false);
  const ImageLayout image = ImageLayout::of(g.image, g.groups * g.image_channels, false);
  const int64_t kernel = g.kernel_elements();
  struct Phase {
    const AxisPlan::Phase *z, *y, *x;
    GatherPhase all;
  };
  std::vector<Phase> phases;
  for (const auto& z : plan.axis(0).phases) {
    for (const auto& y : plan.axis(1).phases) {
      for (const auto& x : plan.axis(2).phases)
        phases.push_back({&z, &y, &x, GatherPhase(plan, z, y, x, g.kernel, image)});
    }
  }
  const int64_t source_elements =
      plan.has_frame() ? plan.frame_elements() : g.groups * g.window_channels * g.window_count();
  const int64_t work = g.batch * g.groups * g.window_channels * g.window_count() * g.rows();
  const int64_t tasks = g.batch * g.groups;
  parallel_for(0, tasks, grain_for(work, tasks), [&](int64_t begin, int64_t end) {
    const auto frame = scratch<T>(source_elements + 2 * kDirectBlock<T>);  // what is read behind the end is not used
    std::fill_n(frame.get() + source_elements, 2 * kDirectBlock<T>, T(0));
    const auto results = scratch<T>(g.image_elements());
    std::vector<int64_t> offsets;
    std::vector<T> weights;
    int64_t held = -1;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t number = task / g.groups;
      const int64_t group = task % g.groups;
      if (std::exchange(held, number) != number) {
        const T* from = input + number * g.groups * g.window_channels * g.window_count();
        if (plan.has_frame()) plan.write_frame(from, frame.get(), 0, g.groups * g.window_channels);
        else std::copy_n(from, source_elements, frame.get());
      }
      for (int64_t c = 0; c < g.image_channels; ++c) {
        const int64_t channel = group * g.image_channels + c;
        T* to = out + (number * g.groups * g.image_channels + channel) * g.image_elements();
        for (const Phase& phase : phases) {
          offsets.clear();
          weights.clear();
          for (int64_t source = 0; source < g.window_channels; ++source) {
            for (const auto& tap : phase.all.taps) {
              offsets.push_back((group * g.window_channels + source) * plan.layout().channel + tap.distance);
              weights.push_back(
                  weight[((group * g.window_channels + source) * g.image_channels + c) * kernel + tap.place]);
            }
          }
          const KernelColumns columns(offsets, plan.layout().axis[1]);
          for (int64_t z = 0; z < phase.z->count; ++z) {
            const int64_t plane = phase.y->count * phase.x->count;
            direct_plane(frame.get() + z * plan.layout().axis[0], columns, weights.data(), bias ? bias[channel] : T(0),
                         phase.y->count, plan.layout().axis[1], phase.x->count, results.get());
            const int64_t* places = phase.all.writes.data() + z * plane;
            for (int64_t y = 0; y < phase.y->count; ++y) {
              T* line = to + places[y * phase.x->count];
              for (int64_t x = 0; x < phase.x->count; ++x) line[x * g.stride[2]] = results[y * phase.x->count + x];
            }
          }
        }
      }
    }
  });
}

template void multiply_images(const ConvolutionGeometry&, float*, const float*, const float*, const float*);
template void multiply_images(const ConvolutionGeometry&, double*, const double*, const double*, const double*);
template void convolve_directly(const ConvolutionGeometry&, float*, const float*, const float*, const float*);
template void transpose_directly(const ConvolutionGeometry&, float*, const float*, const float*, const float*);
template void weight_gradient_directly(const ConvolutionGeometry&, float*, const float*, const float*);
template void convolve_directly(const ConvolutionGeometry&, double*, const double*, const double*, const double*);
template void transpose_directly(const ConvolutionGeometry&, double*, const double*, const double*, const double*);
template void weight_gradient_directly(const ConvolutionGeometry&, double*, const double*, const double*);

}  // namespace at::native::cpu
