#include <aten/native/cpu/gathered_convolution.h>

#include <aten/Parallel.h>
#include <aten/native/cpu/Conversion.h>
#include <aten/native/cpu/ConvolutionTasks.h>
#include <aten/native/cpu/GatherPlan.h>
#include <aten/native/cpu/bfloat16_products.h>
#include <aten/native/cpu/gathered_products.h>

#include <cstring>
#include <numeric>
#include <type_traits>

namespace at::native::cpu {

namespace {

using Geometry = ConvolutionGeometry;

constexpr int64_t kBlockResults = 192;        // whose sums are computed together: a multiple of any panel_rows()
constexpr int64_t kBlockDepth = 384;          // lines of a panel that stay in the first cache
constexpr int64_t kBlockRows = 96;            // of a weight's gradient, for one task
constexpr int64_t kGradientPlaces =
    2048;  // places of windows, of one image or several, that a pass over the weight is worth
constexpr int64_t kTransposedColumns = 64;    // that are written at a time, so that they stay in the first cache
constexpr int64_t kSortedSources = 64;        // lines of a panel that a tap needs to be worth a pass of its own
constexpr int64_t kWorthSorting = 25;         // more than a part in so many reads lie around the image
constexpr int64_t kJoinedBytes = 1 << 24;     // of frames of images that are computed together
constexpr int64_t kLargeWeight = 1 << 18;     // bytes that are not kept in the cache from one image to the next
constexpr int64_t kSerialWork = 1 << 17;      // multiplications that waking threads does not pay for

// Of a weight, where element (result channel, line of a panel) of a group lies.
struct WeightLayout {
  int64_t group, result, source;  // elements from a group, a result's channel, a source's channel to the next
  int64_t results, sources;       // channels of a group
};

// Pairs of bfloat16 numbers (bfloat16_products.h) are elements, too: their sums are floats.
template <typename Element>
using SumOf = std::conditional_t<std::is_same_v<Element, uint32_t>, float, Element>;

template <typename T>
void add_product(const T* data, const int64_t* rows, int64_t count, const int64_t* depths, int64_t depth,
                 Lines<const T> panel, int64_t columns, Lines<SumOf<T>> sums, bool fresh) {
  if constexpr (std::is_same_v<T, uint32_t>) {
    add_gathered_pairs(data, rows, count, depths, depth, panel, columns, sums, fresh);
  } else {
    add_gathered_product(data, rows, count, depths, depth, panel, columns, sums, fresh);
  }
}

void transpose_matrix(const uint32_t* from, int64_t from_step, int64_t rows, int64_t columns, uint32_t* to,
                      int64_t to_step) {
  cpu::transpose_matrix(reinterpret_cast<const float*>(from), from_step, rows, columns, reinterpret_cast<float*>(to),
                        to_step);
}
using cpu::transpose_matrix;

// One panel of `columns` columns: line lines[k] holds from[j * step + places[k]] for the columns j.
template <typename T>
void write_panel(const T* from, int64_t step, int64_t columns, const std::vector<int64_t>& places,
                 const std::vector<int64_t>& lines, T* panel) {
  const int64_t width = panel_columns<SumOf<T>>();
  const auto depth = static_cast<int64_t>(places.size());
  constexpr auto kLine = static_cast<int64_t>(64 / sizeof(T));
  if (columns < width) std::fill_n(panel, depth * width, T(0));
  const auto buffer = scratch<T>(kTransposedColumns * width);
  for (int64_t first = 0; first < depth;) {
    int64_t run = 1;  // of places next to each other
    while (first + run < depth && run < kTransposedColumns && places[first + run] == places[first] + run) ++run;
    // A column's elements are far from the next one's, and come from memory: the processor does not see them coming.
    if (first + run < depth) {
      for (int64_t j = 0; j < columns; ++j) {
        const T* next = from + j * step + places[first + run];
        const int64_t count = std::min(kTransposedColumns, depth - first - run);
        for (int64_t i = 0; i < count; i += kLine) __builtin_prefetch(next + i);
      }
    }
    bool in_order = true;
    for (int64_t i = 1; i < run; ++i) in_order = in_order && lines[first + i] == lines[first] + i;
    if (in_order) {
      transpose_matrix(from + places[first], step, columns, run, panel + lines[first] * width, width);
    } else {
      transpose_matrix(from + places[first], step, columns, run, buffer.get(), width);
      for (int64_t i = 0; i < run; ++i)
        std::copy_n(buffer.get() + i * width, columns, panel + lines[first + i] * width);
    }
    first += run;
  }
}

// Lines of a panel that stay in the first cache, and which taps they belong to: one, or all.
struct PanelPart {
  int64_t begin, end;
  uint64_t taps;
};

void add_parts(std::vector<PanelPart>& parts, int64_t begin, int64_t end, uint64_t taps) {
  const int64_t count = std::max<int64_t>(1, divide_up(end - begin, kBlockDepth));
  for (int64_t i = 0; i < count; ++i)
    parts.push_back({begin + i * (end - begin) / count, begin + (i + 1) * (end - begin) / count, taps});
}

// Results [first, last) of a phase, which read of the image by the same taps.
struct ResultClass {
  int64_t first, last;
  uint64_t taps;
};

// Puts results that read by the same taps next to each other; `inside` tells of the first ones, and those of further
// images read as they do.
std::vector<ResultClass> sort_results(GatherPhase& phase, const std::vector<uint64_t>& inside) {
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
  for (int64_t first = 0; first < count; first = classes.back().last) {
    ResultClass one{first, first + 1, taps_of(order[static_cast<size_t>(first)])};
    while (one.last < count && taps_of(order[static_cast<size_t>(one.last)]) == one.taps) ++one.last;
    classes.push_back(one);
  }
  return classes;
}

// One phase of a convolution, with its part of the weight in panels.
template <typename T>
struct PreparedPhase {
  GatherPhase phase;
  std::vector<int64_t> depths;
  std::unique_ptr<T[]> panels;
  std::vector<PanelPart> parts;
  std::vector<ResultClass> classes;

  // With `inside` (see GatherPhase), what lies around the image is not multiplied.
  PreparedPhase(GatherPhase given, const GatherPlan& plan, const WeightLayout& layout, int64_t groups, const T* weight,
                const std::vector<uint64_t>& inside)
      : phase(std::move(given)) {
    const bool by_taps = !inside.empty() || plan.reads_channels_last();
    // Panels are written in the order in which the weight lies, and multiplied in that in which the image does.
    std::vector<int64_t> places, lines;
    const auto taps = static_cast<int64_t>(phase.taps.size());
    depths.resize(static_cast<size_t>(layout.sources * taps));
    for (int64_t channel = 0; channel < layout.sources; ++channel) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        places.push_back(channel * layout.source + phase.taps[static_cast<size_t>(tap)].place);
        lines.push_back(by_taps ? tap * layout.sources + channel : channel * taps + tap);
        depths[static_cast<size_t>(lines.back())] =
            channel * plan.layout().channel + phase.taps[static_cast<size_t>(tap)].distance;
      }
    }
    if (!inside.empty()) {
      classes = sort_results(phase, inside);
      for (int64_t tap = 0; tap < taps; ++tap)
        add_parts(parts, tap * layout.sources, (tap + 1) * layout.sources, uint64_t{1} << tap);
    } else {
      classes.push_back({0, static_cast<int64_t>(phase.reads.size()), ~uint64_t{0}});
      add_parts(parts, 0, depth(), ~uint64_t{0});
    }
    const int64_t width = panel_columns<SumOf<T>>();
    const int64_t count = divide_up(layout.results, width);
    const int64_t size = depth() * width;
    panels = scratch<T>(groups * count * size);
    const int64_t grain = grain_for(groups * count * size, groups * count, kSerialWork);
    parallel_for(0, groups * count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel) {
        const int64_t first = panel % count * width;
        write_panel(weight + panel / count * layout.group + first * layout.result, layout.result,
                    std::min(width, layout.results - first), places, lines, panels.get() + panel * size);
      }
    });
  }
  int64_t depth() const { return static_cast<int64_t>(depths.size()); }
};

// Where results go: channel c of a group's results at c * layout.channel + the phase's writes.
struct ResultLayout {
  ImageLayout image;
  bool channels_last;
  bool in_order;  // results next to each other in a phase, of one image, are so in memory
  int64_t place;  // elements from a place to the next, where channels lie last
};

// Bits of bfloat16 numbers.
void round_numbers(const float* from, int64_t count, uint16_t* to) {
  static const Conversion rounding(c10::ScalarType::BFloat16, c10::ScalarType::Float);
  rounding(reinterpret_cast<char*>(to), sizeof *to, reinterpret_cast<const char*>(from), sizeof *from, count);
}

// Calls body(first, count) for the results of each image: those that lie next to each other.
template <typename Body>
void for_each_line(const int64_t* writes, int64_t count, Body&& body) {
  for (int64_t first = 0; first < count;) {
    int64_t end = first + 1;
    while (end < count && writes[end] == writes[end - 1] + 1) ++end;
    body(first, end - first);
    first = end;
  }
}

template <typename T>
void write_results(const T* sums, int64_t count, int64_t columns, const int64_t* writes, const ResultLayout& layout,
                   T* out) {
  const int64_t width = panel_columns<T>();
  if (layout.channels_last) {
    for (int64_t i = 0; i < count; ++i) std::copy_n(sums + i * width, columns, out + writes[i]);
  } else if (layout.in_order) {
    for_each_line(writes, count, [&](int64_t first, int64_t length) {
      transpose_matrix(sums + first * width, width, length, columns, out + writes[first], layout.image.channel);
    });
  } else {
    for (int64_t j = 0; j < columns; ++j) {
      T* channel = out + j * layout.image.channel;
      for (int64_t i = 0; i < count; ++i) channel[writes[i]] = sums[i * width + j];
    }
  }
}

// The same, rounded to bfloat16.
void write_results(const float* sums, int64_t count, int64_t columns, const int64_t* writes, const ResultLayout& layout,
                   uint16_t* out) {
  constexpr int64_t kWidest = 32;  // columns of a panel
  const int64_t width = panel_columns<float>();
  if (layout.in_order && !layout.channels_last) {
    std::array<float, kBlockResults * kWidest> turned;
    transpose_matrix(sums, width, count, columns, turned.data(), count);
    for_each_line(writes, count, [&](int64_t first, int64_t length) {
      for (int64_t j = 0; j < columns; ++j)
        round_numbers(turned.data() + j * count + first, length, out + j * layout.image.channel + writes[first]);
    });
    return;
  }
  std::array<uint16_t, kBlockResults * kWidest> rounded;
  round_numbers(sums, count * width, rounded.data());
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t* line = rounded.data() + i * width;
    if (layout.channels_last) {
      std::copy_n(line, columns, out + writes[i]);
    } else {
      for (int64_t j = 0; j < columns; ++j) out[j * layout.image.channel + writes[i]] = line[j];
    }
  }
}

// Brings what a block of results with one tap reads nearer: places of an image whose channels lie last are too far
// apart for the processor to see them coming.
template <typename T>
void fetch_lines(const T* data, const PreparedPhase<T>& prepared, int64_t block, int64_t count) {
  constexpr auto kLine = static_cast<int64_t>(64 / sizeof(T));
  for (int64_t i = block; i < block + count; ++i) {
    const T* from = data + prepared.phase.reads[static_cast<size_t>(i)] + prepared.phase.taps[0].distance;
    for (int64_t k = 0; k < prepared.depth(); k += kLine) __builtin_prefetch(from + k);
  }
}

// From the first to behind the last.
struct Range {
  int64_t first, last;
};

// Some results of a phase in some channels of a group, whole panels of them or all; `sums` has room for a block of all
// panels.
template <typename T, typename Result>
void compute_results(const PreparedPhase<T>& prepared, Range wanted, Range channels, const T* data, const T* panels,
                     const SumOf<T>* bias, const ResultLayout& layout, SumOf<T>* sums, Result* out) {
  const int64_t width = panel_columns<SumOf<T>>();
  const int64_t depth = prepared.depth();
  const auto& parts = prepared.parts;
  // Sums of whole vectors in one part are written where they belong.
  const bool in_place =
      std::is_same_v<Result, SumOf<T>> && layout.channels_last && layout.in_order && parts.size() == 1 &&
      prepared.classes.size() == 1 && !bias;
  for (int64_t block = wanted.first; block < wanted.last; block += kBlockResults) {
    const int64_t count = std::min(kBlockResults, wanted.last - block);
    if (layout.channels_last && prepared.phase.taps.size() == 1) fetch_lines(data, prepared, block, count);
    for (size_t part = 0; part < parts.size(); ++part) {
      const auto [begin, end, taps] = parts[part];
      for (int64_t channel = channels.first; channel < channels.last; channel += width) {
        const int64_t columns = std::min(width, channels.last - channel);
        if constexpr (std::is_same_v<Result, SumOf<T>>) {
          if (in_place && (columns == width || 2 * columns == width)) {
            add_product<T>(data, prepared.phase.reads.data() + block, count, prepared.depths.data(), depth,
                           {panels + channel * depth, width}, columns,
                           {out + prepared.phase.writes[static_cast<size_t>(block)] + channel, layout.place}, true);
            continue;
          }
        }
        SumOf<T>* to = sums + (parts.size() > 1 ? channel * kBlockResults : 0);
        for (int64_t i = 0; part == 0 && bias && i < count; ++i) std::copy_n(bias + channel, columns, to + i * width);
        for (const ResultClass& one : prepared.classes) {
          const int64_t start = std::max(block, one.first);
          const int64_t rows = std::min(block + count, one.last) - start;
          if (rows <= 0) continue;
          SumOf<T>* const own = to + (start - block) * width;
          if (one.taps == 0 && part == 0 && !bias) std::fill_n(own, rows * width, SumOf<T>(0));
          if ((one.taps & taps) == 0) continue;
          // Nothing is there yet before the first part of the first tap.
          const bool first_part = part == 0 || parts[part - 1].taps != taps;
          const bool fresh = !bias && (taps == ~uint64_t{0} ? part == 0 : first_part && (one.taps & (taps - 1)) == 0);
          add_product<T>(data, prepared.phase.reads.data() + start, rows, prepared.depths.data() + begin, end - begin,
                         {panels + channel * depth + begin * width, width}, columns, {own, width}, fresh);
        }
        if (part == parts.size() - 1) {
          write_results(to, count, columns, prepared.phase.writes.data() + block, layout,
                        out + channel * layout.image.channel);
        }
      }
    }
  }
}

template <typename T, typename Result>
void run_plan(const Geometry& g, GatherPlan plan, const std::array<int64_t, 3>& result_size,
              const WeightLayout& layout, Result* out, const T* input, int64_t image_elements, const T* weight,
              const SumOf<T>* bias) {
  const int64_t result_channels = g.groups * layout.results;
  const ResultLayout results{ImageLayout::of(result_size, result_channels, plan.channels_last()), plan.channels_last(),
                             plan.axis(0).phases.size() * plan.axis(1).phases.size() * plan.axis(2).phases.size() == 1,
                             result_channels};
  const int64_t frame = plan.has_frame() ? plan.frame_elements() : 0;
  const int64_t result_elements = result_channels * result_size[0] * result_size[1] * result_size[2];
  const int64_t weight_bytes = g.groups * layout.results * layout.sources * g.kernel_elements() * int64_t{sizeof(T)};
  // Small images are computed as one: a large weight is not read again for each, and what they read alike is sorted.
  const bool joined =
      g.batch > 1 && weight_bytes > kLargeWeight && result_size[0] * result_size[1] * result_size[2] < kBlockResults;
  const int64_t most_joined = frame ? std::max<int64_t>(1, kJoinedBytes / (frame * int64_t{sizeof(T)})) : g.batch;
  if (joined && g.batch > most_joined) {
    Geometry some = g;
    for (int64_t first = 0; first < g.batch; first += most_joined) {
      some.batch = std::min(most_joined, g.batch - first);
      run_plan(some, plan, result_size, layout, out + first * result_elements, input + first * image_elements,
               image_elements, weight, bias);
    }
    return;
  }
  if (joined && plan.has_frame()) plan.turn_frame();
  std::vector<PreparedPhase<T>> phases;
  int64_t work = 0;
  for (const auto& z : plan.axis(0).phases) {
    for (const auto& y : plan.axis(1).phases) {
      for (const auto& x : plan.axis(2).phases) {
        GatherPhase phase(plan, z, y, x, g.kernel, results.image);
        const auto taps = static_cast<int64_t>(phase.taps.size());
        const auto count = static_cast<int64_t>(phase.reads.size());
        work += count * std::max<int64_t>(layout.sources * taps, 1);
        std::vector<uint64_t> inside;
        if (frame && taps <= 64 && layout.sources >= kSortedSources && (joined || count >= kBlockResults)) {
          inside = phase.find_inside(plan, z, y, x);
          int64_t read = 0;
          for (const uint64_t mask : inside) read += __builtin_popcountll(mask);
          if ((count * taps - read) * kWorthSorting <= count * taps) inside.clear();
        }
        if (joined) phase.join_images(g.batch, frame ? frame : image_elements, result_elements);
        phases.emplace_back(std::move(phase), plan, layout, g.groups, weight, inside);
      }
    }
  }
  const int64_t threads = get_num_threads();
  work *= g.batch * result_channels;
  // An image for each task; where images are too few for the threads, a part of its results,
  // and all frames are made first.
  const int64_t images = joined ? 1 : g.batch;
  const bool uneven = images < threads || (images < 4 * threads && images % threads != 0);
  const bool few = joined || (work > kSerialWork && uneven);
  const int64_t parts = few && work > kSerialWork ? threads : 1;
  const int64_t source_channels = g.groups * layout.sources;
  const auto frames = scratch<T>(few ? g.batch * frame : 0);
  if (few && plan.has_frame()) {
    const int64_t count = plan.reads_channels_last() ? 1 : source_channels;
    const int64_t grain = grain_for(g.batch * frame, g.batch * count, kSerialWork);
    parallel_for(0, g.batch * count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t image = task / count;
        plan.write_frame(input + image * image_elements, frames.get() + image * frame, task % count, task % count + 1);
      }
    });
  }
  const int64_t width = panel_columns<SumOf<T>>();
  const int64_t panel_count = divide_up(layout.results, width);
  // Where a thread can have panels of its own, it reads a part of the weight, and wrote that itself: what another core
  // wrote is far away.
  const bool by_panels = joined && g.groups == 1 && (panel_count % parts == 0 || panel_count >= 4 * parts);
  parallel_for(0, images * parts, grain_for(work, images * parts, kSerialWork), [&](int64_t begin, int64_t end) {
    const auto own_frame = scratch<T>(few ? 0 : frame);
    const auto sums = scratch<SumOf<T>>(kBlockResults * panel_count * width);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t image = task / parts;
      const int64_t part = task % parts;
      const T* data = input + image * image_elements;
      if (few && plan.has_frame()) {
        data = frames.get() + image * frame;
      } else if (plan.has_frame()) {
        plan.write_frame(data, own_frame.get(), 0, source_channels);
        data = own_frame.get();
      }
      for (const PreparedPhase<T>& prepared : phases) {
        const auto count = static_cast<int64_t>(prepared.phase.reads.size());
        const int64_t share = divide_up(divide_up(count, parts), panel_rows<SumOf<T>>()) * panel_rows<SumOf<T>>();
        Range wanted{std::min(count, part * share), std::min(count, (part + 1) * share)};
        Range channels{0, layout.results};
        if (by_panels) {
          wanted = {0, count};
          channels = {std::min(layout.results, part * panel_count / parts * width),
                      std::min(layout.results, (part + 1) * panel_count / parts * width)};
        }
        for (int64_t group = 0; group < g.groups; ++group) {
          const int64_t channel = group * layout.results;
          compute_results(prepared, wanted, channels, data + group * layout.sources * plan.layout().channel,
                          prepared.panels.get() + group * panel_count * width * prepared.depth(),
                          bias ? bias + channel : nullptr, results, sums.get(),
                          out + image * result_elements + channel * results.image.channel);
        }
      }
    }
  });
}

}  // namespace

template <typename T>
void convolve_gathered(const Geometry& g, bool channels_last, T* out, const T* input, const T* weight, const T* bias) {
  const int64_t rows = g.rows();
  const WeightLayout layout{g.window_channels * rows, rows, g.kernel_elements(), g.window_channels, g.image_channels};
  run_plan(g, ordinary_plan(g, channels_last), g.windows, layout, out, input,
           g.groups * g.image_channels * g.image_elements(), weight, bias);
}

template <typename T>
void convolve_transposed_gathered(const Geometry& g, bool channels_last, T* out, const T* input, const T* weight,
                                  const T* bias) {
  const WeightLayout layout{g.window_channels * g.rows(), g.kernel_elements(), g.rows(), g.image_channels,
                            g.window_channels};
  run_plan(g, transposed_plan(g, channels_last), g.image, layout, out, input,
           g.groups * g.window_channels * g.window_count(), weight, bias);
}

namespace {

// Two channels of each group as one of pairs, of images and (for `inner` 1 or more elements) weights: from [outer,
// channels, inner] to [outer, channels / 2 rounded up, inner].
// The last of an odd number of channels is a pair with zeros.
std::unique_ptr<uint32_t[]> pairs_of(const uint16_t* from, int64_t outer, int64_t channels, int64_t inner) {
  const int64_t pairs = (channels + 1) / 2;
  auto result = scratch<uint32_t>(outer * pairs * inner);
  uint32_t* const to = result.get();
  parallel_for(0, outer * pairs, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(inner, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t channel = i % pairs * 2;
                   const uint16_t* first = from + (i / pairs * channels + channel) * inner;
                   uint32_t* target = to + i * inner;
                   if (channel + 1 == channels) {
                     for (int64_t j = 0; j < inner; ++j) target[j] = first[j];
                   } else {
                     for (int64_t j = 0; j < inner; ++j)
                       target[j] = first[j] | static_cast<uint32_t>(first[inner + j]) << 16;
                   }
                 }
               });
  return result;
}

// The same of channels that lie last, of `count` places and groups.
std::unique_ptr<uint32_t[]> pairs_of_last(const uint16_t* from, int64_t count, int64_t channels) {
  const int64_t pairs = (channels + 1) / 2;
  auto result = scratch<uint32_t>(count * pairs);
  uint32_t* const to = result.get();
  parallel_for(0, count, std::max<int64_t>(1, (1 << 16) / channels), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[(i + 1) * pairs - 1] = 0;
      std::memcpy(to + i * pairs, from + i * channels, static_cast<size_t>(channels) * sizeof *from);
    }
  });
  return result;
}

}  // namespace

void convolve_pairs(const Geometry& g, bool transposed, bool channels_last, uint16_t* out, const uint16_t* input,
                    const uint16_t* weight, const float* bias) {
  const int64_t sources = transposed ? g.window_channels : g.image_channels;
  const int64_t results = transposed ? g.image_channels : g.window_channels;
  const int64_t elements = transposed ? g.window_count() : g.image_elements();
  const int64_t kernel = g.kernel_elements();
  const int64_t pairs = (sources + 1) / 2;
  Geometry halved = g;
  (transposed ? halved.window_channels : halved.image_channels) = pairs;
  // An even number of channels that lie last are pairs as they are.
  const bool are_pairs =
      channels_last && sources % 2 == 0 && reinterpret_cast<uintptr_t>(input) % alignof(uint32_t) == 0;
  std::unique_ptr<uint32_t[]> copy;
  if (!are_pairs) {
    copy = channels_last ? pairs_of_last(input, g.batch * elements * g.groups, sources)
                         : pairs_of(input, g.batch * g.groups, sources, elements);
  }
  const uint32_t* images = are_pairs ? reinterpret_cast<const uint32_t*>(input) : copy.get();
  // The weight of a group is [results, sources, kernel], or [sources, results, kernel] of a transposed one.
  const auto weights = transposed ? pairs_of(weight, g.groups, sources, results * kernel)
                                  : pairs_of(weight, g.groups * results, sources, kernel);
  const WeightLayout layout{results * pairs * kernel, transposed ? kernel : pairs * kernel,
                            transposed ? results * kernel : kernel, results, pairs};
  run_plan(halved, transposed ? transposed_plan(halved, channels_last) : ordinary_plan(halved, channels_last),
           transposed ? g.image : g.windows, layout, out, images, g.groups * pairs * elements, weights.get(), bias);
}

namespace {

template <typename T>
void sum_weight_gradient(const Geometry& g, bool channels_last, SumOf<T>* out, const T* grad, const T* input) {
  const GatherPlan plan = ordinary_plan(g, channels_last);
  const int64_t windows = g.window_count();
  const int64_t results = g.groups * g.window_channels;
  const int64_t sources = g.groups * g.image_channels;
  const GatherPhase phase(plan, plan.axis(0).phases[0], plan.axis(1).phases[0], plan.axis(2).phases[0], g.kernel,
                          ImageLayout::of(g.windows, results, channels_last));
  std::vector<int64_t> rows;  // of the gradient: a source's channel, and a place in the kernel
  for (int64_t channel = 0; channel < g.image_channels; ++channel) {
    for (const auto& tap : phase.taps) rows.push_back(channel * plan.layout().channel + tap.distance);
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
  const auto slopes = scratch<T>(g.groups * panel_count * line_count * width);
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
    const int64_t pieces = g.groups * panel_count * count;
    parallel_for(0, pieces, grain_for(copied, pieces, kSerialWork), [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t image = piece % count;
        const int64_t panel = piece / count;
        const int64_t channel = panel % panel_count * width;
        const int64_t columns = std::min(width, g.window_channels - channel);
        const int64_t place = (panel / panel_count) * g.window_channels + channel;
        const T* from = grad + (first + image) * results * windows;
        T* to = slopes.get() + (panel * line_count + image * windows) * width;
        if (columns < width) std::fill_n(to, windows * width, T(0));
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
    const int64_t tasks = g.groups * panel_count * blocks;
    const T* data = plan.has_frame() ? frames.get() : input + first * step;
    parallel_for(0, tasks, grain_for(lines * row_count * results, tasks, kSerialWork), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t panel = task / blocks;
        const int64_t group = panel / panel_count;
        const int64_t row = task % blocks * kBlockRows;
        const int64_t chunks = divide_up(lines, kBlockDepth);
        for (int64_t chunk = 0; chunk < chunks; ++chunk) {
          const int64_t start = chunk * lines / chunks;
          add_product<T>(data + group * g.image_channels * plan.layout().channel, rows.data() + row,
                         std::min(kBlockRows, row_count - row), depths.data() + start,
                         (chunk + 1) * lines / chunks - start,
                         {slopes.get() + (panel * line_count + start) * width, width},
                         std::min(width, g.window_channels - panel % panel_count * width),
                         {sums.get() + (panel * row_count + row) * width, width}, first == 0 && chunk == 0);
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

}  // namespace

template <typename T>
void weight_gradient_gathered(const Geometry& g, bool channels_last, T* out, const T* grad, const T* input) {
  sum_weight_gradient(g, channels_last, out, grad, input);
}

void weight_gradient_pairs(const Geometry& g, bool channels_last, float* out, const uint16_t* grad,
                           const uint16_t* input) {
  Geometry halved = g;  // the same place of two images is a pair
  halved.batch = divide_up(g.batch, 2);
  const auto slopes = pairs_of(grad, 1, g.batch, g.groups * g.window_channels * g.window_count());
  const auto images = pairs_of(input, 1, g.batch, g.groups * g.image_channels * g.image_elements());
  sum_weight_gradient(halved, channels_last, out, slopes.get(), images.get());
}

#define TORCH_INSTANTIATE(T)                                                                                           \
  template void convolve_gathered(const Geometry&, bool, T*, const T*, const T*, const T*);                            \
  template void convolve_transposed_gathered(const Geometry&, bool, T*, const T*, const T*, const T*);                 \
  template void weight_gradient_gathered(const Geometry&, bool, T*, const T*, const T*);
TORCH_INSTANTIATE(float)
TORCH_INSTANTIATE(double)
#undef TORCH_INSTANTIATE

}  // namespace at::native::cpu
