#include <aten/native/cpu/gathered_convolution.h>

#include <aten/Parallel.h>
#include <aten/native/cpu/ConvolutionTasks.h>
#include <aten/native/cpu/GatherPlan.h>
#include <aten/native/cpu/PreparedPhase.h>
#include <aten/native/cpu/WeightPanels.h>
#include <aten/native/cpu/bfloat16_tiles.h>
#include <aten/native/cpu/gathered_elements.h>

#include <array>
#include <type_traits>
#include <vector>

namespace at::native::cpu {

namespace {

using Geometry = ConvolutionGeometry;

constexpr int64_t kBlockResults = 192;        // whose sums are computed together: a multiple of any panel_rows()
constexpr int64_t kSortedSources = 64;        // lines of a panel that a tap needs to be worth one less
constexpr int64_t kFewSortedSources = 32;     // the same, where more of the reads lie around the image
constexpr int64_t kWorthSorting = 25;         // more than a part in so many reads lie around the image
constexpr int64_t kFewWorthSorting = 14;
constexpr int64_t kJoinedBytes = 1 << 22;     // of images that are computed together, which are read for each panel
constexpr int64_t kSmallImage = 256;          // results
constexpr int64_t kLargeWeight = 1 << 18;     // bytes that are not kept in the cache from one image to the next

// Where results go: channel c of a group's results at c * layout.channel + the phase's writes.
struct ResultLayout {
  ImageLayout image;
  bool channels_last;
  bool in_order;  // results next to each other in a phase, of one image, are so in memory
  int64_t place;  // elements from a place to the next, where channels lie last
};

// Calls body(first, count) for results that lie next to each other: `step` elements from one to the next.
template <typename Body>
void for_each_line(const int64_t* writes, int64_t count, int64_t step, Body&& body) {
  for (int64_t first = 0; first < count;) {
    int64_t end = first + 1;
    while (end < count && writes[end] == writes[end - 1] + step) ++end;
    body(first, end - first);
    first = end;
  }
}

template <typename T>
void write_results(const T* sums, int64_t count, int64_t columns, const int64_t* writes, const ResultLayout& layout,
                   T* out) {
  const int64_t width = panel_columns<T>();
  if (layout.channels_last) {
    for (int64_t i = 0; i < count; ++i) {
      constexpr int64_t kPiece = 4;  // often all: too few for a call
      const T* from = sums + i * width;
      T* to = out + writes[i];
      int64_t j = 0;
      for (; j + kPiece <= columns; j += kPiece) std::copy_n(from + j, kPiece, to + j);
      std::copy_n(from + j, columns - j, to + j);
    }
  } else if (layout.in_order) {
    for_each_line(writes, count, 1, [&](int64_t first, int64_t length) {
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
  if (layout.channels_last) {
    for_each_line(writes, count, layout.place, [&](int64_t first, int64_t length) {
      round_to_bfloat16({sums + first * width, width}, length, columns, {out + writes[first], layout.place});
    });
  } else if (layout.in_order) {
    std::array<float, kBlockResults * kWidest> turned;
    transpose_matrix(sums, width, count, columns, turned.data(), count);
    for_each_line(writes, count, 1, [&](int64_t first, int64_t length) {
      round_to_bfloat16({turned.data() + first, count}, columns, length, {out + writes[first], layout.image.channel});
    });
  } else {
    std::array<uint16_t, kBlockResults * kWidest> rounded;
    round_to_bfloat16({sums, width}, count, columns, {rounded.data(), width});
    for (int64_t j = 0; j < columns; ++j) {
      uint16_t* channel = out + j * layout.image.channel;
      for (int64_t i = 0; i < count; ++i) channel[writes[i]] = rounded[static_cast<size_t>(i * width + j)];
    }
  }
}

// Brings what a block of results with one tap reads nearer: places of an image whose channels lie last are too far
// apart for the processor to see them coming.
template <typename T>
void fetch_lines(const T* data, const PreparedPhase& prepared, int64_t block, int64_t count) {
  constexpr auto kLine = static_cast<int64_t>(64 / sizeof(T));
  for (int64_t i = block; i < block + count; ++i) {
    const T* from = data + prepared.phase.reads[static_cast<size_t>(i)] + prepared.phase.taps[0].distance;
    for (int64_t k = 0; k < prepared.depth(); k += kLine) __builtin_prefetch(from + k);
  }
}

// Some results of a phase in some channels of a group, whole panels of them or all. `panels` are those of these
// channels, `step` elements from one to the next; `sums` has room for a block of all panels. Sums begin with `starts`,
// of whole panels, or null: 0.
template <typename T, typename Result>
void compute_results(const PreparedPhase& prepared, Range wanted, Range channels, const T* data, const T* panels,
                     int64_t step, const SumOf<T>* starts, const ResultLayout& layout, SumOf<T>* sums, Result* out) {
  const int64_t width = panel_columns<SumOf<T>>();
  const int64_t depth = prepared.depth();
  const auto& parts = prepared.parts;
  // Blocks of about the same size: for a few results a panel is not worth reading.
  const int64_t results = wanted.last - wanted.first;
  const int64_t blocks = std::max<int64_t>(1, divide_up(results, kBlockResults));
  const int64_t rows = panel_rows<SumOf<T>>();
  const int64_t size = divide_up(divide_up(results, blocks), rows) * rows;
  for (int64_t block = wanted.first; block < wanted.last; block += size) {
    const int64_t count = std::min(size, wanted.last - block);
    if (layout.channels_last && prepared.phase.taps.size() == 1) fetch_lines(data, prepared, block, count);
    for (size_t part = 0; part < parts.size(); ++part) {
      for (int64_t channel = channels.first; channel < channels.last; channel += width) {
        const int64_t columns = std::min(width, channels.last - channel);
        const auto initial = starts ? Lines<const SumOf<T>>{starts + channel, 0} : zero_lines<SumOf<T>>();
        const T* panel = panels + (channel - channels.first) / width * step + prepared.first_line * width;
        SumOf<T>* const to = sums + (parts.size() > 1 ? channel * kBlockResults : 0);
        for (const ResultClass& one : prepared.classes) {
          const int64_t start = std::max(block, one.results.first);
          const int64_t few = std::min(block + count, one.results.last) - start;
          if (few <= 0) continue;
          const int64_t* const writes = prepared.phase.writes.data() + start;
          // Sums of whole vectors in one part are written where they belong.
          if (layout.channels_last && parts.size() == 1 && one.lines.size() == 1 && is_whole<T>(columns) &&
              writes[few - 1] - writes[0] == (few - 1) * layout.place) {
            const Range lines = one.lines[0];
            add_product<T, Result>(data, prepared.phase.reads.data() + start, few,
                                   prepared.depths.data() + lines.first, lines.last - lines.first,
                                   {panel + lines.first * width, width}, columns, initial,
                                   {out + writes[0] + channel, layout.place});
            continue;
          }
          const Lines<SumOf<T>> own{to + (start - block) * width, width};
          for (int64_t i = 0; one.lines.empty() && part == 0 && i < few; ++i)
            std::copy_n(initial.data, columns, own.data + i * width);
          for (const Range& lines : one.lines) {
            const int64_t begin = std::max(lines.first, parts[part].first);
            const int64_t end = std::min(lines.last, parts[part].last);
            if (begin > end || (begin == end && depth > 0)) continue;
            const bool fresh = begin == one.lines[0].first;
            add_product<T, SumOf<T>>(data, prepared.phase.reads.data() + start, few, prepared.depths.data() + begin,
                                     end - begin, {panel + begin * width, width}, columns,
                                     fresh ? initial : Lines<const SumOf<T>>{own.data, width}, own);
          }
          if (part == parts.size() - 1)
            write_results(own.data, few, columns, writes, layout, out + channel * layout.image.channel);
        }
      }
    }
  }
}

// The same of pairs by tiles: what a block reads is read once for all panels. Images lie up to `end`.
void compute_results_by_tiles(const PreparedPhase& prepared, Range wanted, Range channels, const uint32_t* data,
                              const uint32_t* end, const uint32_t* panels, int64_t step, const float* starts,
                              const ResultLayout& layout, float* sums, uint16_t* out) {
  constexpr int64_t kBlockPairs = 1 << 18;  // that are read for a block, and stay in the second cache
  constexpr int64_t kLeastRows = 32;
  const int64_t width = panel_columns<float>();
  const int64_t affordable = kBlockPairs / std::max<int64_t>(prepared.depth(), 1) / kLeastRows * kLeastRows;
  const int64_t most = std::clamp(affordable, kLeastRows, kBlockResults);
  const int64_t results = wanted.last - wanted.first;
  const int64_t blocks = std::max<int64_t>(1, divide_up(results, most));
  const int64_t size = divide_up(divide_up(results, blocks), kLeastRows) * kLeastRows;
  TiledRows tiles;
  for (int64_t block = wanted.first; block < wanted.last; block += size) {
    for (const ResultClass& one : prepared.classes) {
      const int64_t start = std::max(block, one.results.first);
      const int64_t count = std::min({block + size, wanted.last, one.results.last}) - start;
      if (count <= 0) continue;
      const int64_t* const reads = prepared.phase.reads.data() + start;
      const int64_t* const writes = prepared.phase.writes.data() + start;
      const bool is_line = layout.channels_last && one.lines.size() == 1 &&
                           writes[count - 1] - writes[0] == (count - 1) * layout.place;
      for (size_t i = 0; i < one.lines.size(); ++i) {
        const Range lines = one.lines[i];
        const int64_t* const depths = prepared.depths.data() + lines.first;
        const int64_t depth = lines.last - lines.first;
        const bool by_tiles = are_worth_tiles(count, depth);
        if (by_tiles) tiles.read(data, end, reads, count, depths, depth);
        for (int64_t channel = channels.first; channel < channels.last; channel += width) {
          const int64_t columns = std::min(width, channels.last - channel);
          const auto initial = starts ? Lines<const float>{starts + channel, 0} : zero_lines<float>();
          const Lines<const uint32_t> panel{
              panels + (channel - channels.first) / width * step + (prepared.first_line + lines.first) * width, width};
          const auto multiply = [&](const auto& from, const auto& to) {
            if (by_tiles) return tiles.multiply(panel, columns, from, to);
            add_gathered_pairs(data, reads, count, depths, depth, panel, columns, from, to);
          };
          const Lines<float> own{sums + channel * kBlockResults, width};
          if (is_line && is_whole<uint32_t>(columns)) {
            multiply(initial, Lines<uint16_t>{out + writes[0] + channel, layout.place});
          } else {
            multiply(i == 0 ? initial : Lines<const float>{own.data, width}, own);
          }
        }
      }
      for (int64_t channel = channels.first; channel < channels.last; channel += width) {
        const int64_t columns = std::min(width, channels.last - channel);
        float* const own = sums + channel * kBlockResults;
        if (is_line && is_whole<uint32_t>(columns)) continue;
        for (int64_t i = 0; one.lines.empty() && i < count; ++i)
          std::copy_n(starts ? starts + channel : zero_lines<float>().data, columns, own + i * width);
        write_results(own, count, columns, writes, layout, out + channel * layout.image.channel);
      }
    }
  }
}

// Some results of a phase, of groups that fill vectors together, of which `panels` are made. `bias` may be null.
template <typename T, typename Result>
void compute_groups(const PreparedPhase& prepared, Range wanted, int64_t channels, int64_t groups, const T* data,
                    const T* panels, int64_t step, const SumOf<T>* bias, const ResultLayout& layout, Result* out) {
  const int64_t width = panel_columns<SumOf<T>>();
  const int64_t columns = columns_of_groups<T>(channels);
  const int64_t sources = prepared.sources * (columns / channels);
  std::vector<int64_t> taps;
  for (const auto& tap : prepared.phase.taps) taps.push_back(tap.distance);
  std::vector<int32_t> lanes;
  for (int64_t source = 0; source < prepared.sources; ++source) {
    for (int64_t i = 0; i < columns; ++i)
      lanes.push_back(static_cast<int32_t>(i / channels * prepared.sources + source));
  }
  const auto apart = scratch<Result>(layout.in_order ? 0 : kBlockResults * columns);
  for (int64_t block = wanted.first; block < wanted.last; block += kBlockResults) {
    const int64_t count = std::min(kBlockResults, wanted.last - block);
    const int64_t* const writes = prepared.phase.writes.data() + block;
    for (int64_t i = 0; i < groups * channels / columns; ++i) {
      Result* const to = out + i * columns;
      multiply_some_groups(data + i * sources, prepared.phase.reads.data() + block, count, taps.data(),
                           static_cast<int64_t>(taps.size()), lanes.data(), channels,
                           {panels + i * step + prepared.first_line * width, width},
                           bias ? bias + i * columns : zero_lines<SumOf<T>>().data,
                           layout.in_order ? Lines<Result>{to + writes[0], layout.place}
                                           : Lines<Result>{apart.get(), columns});
      for (int64_t j = 0; !layout.in_order && j < count; ++j)
        std::copy_n(apart.get() + j * columns, columns, to + writes[j]);
    }
  }
}

// Whether all results can be sorted by the taps that read of the image, and are enough for that: then images are read
// as they lie. Planes of row-major ones may lie at distances that share places in the cache, those of frames seldom.
bool needs_no_frame(const GatherPlan& plan, const Geometry& g, int64_t sources, bool joined) {
  int64_t least = 1;  // results of a phase
  for (int dim = 0; dim < 3; ++dim) least *= plan.axis(dim).phases.back().count;
  return plan.has_frame() && plan.channels_last() && g.kernel_elements() <= 64 && sources >= kFewSortedSources &&
         (joined || least >= kBlockResults);
}

// Whether row-major images are better copied with their channels last, so that what a result reads does not lie in as
// many planes. Tiles are made of what lies next to each other; pairs without them are read as they lie.
template <typename T>
bool is_worth_turning(const GatherPlan& plan, const Geometry& g, const WeightLayout& layout, bool by_tiles) {
  constexpr int64_t kLeastUses = 128;  // of an element
  if constexpr (std::is_same_v<T, uint32_t>) return by_tiles && layout.sources > 1 && !plan.channels_last();
  return !plan.channels_last() && layout.sources >= kFewSortedSources &&
         layout.results * g.kernel_elements() >= kLeastUses;
}

template <typename T, typename Result>
void run_plan(const Geometry& g, GatherPlan plan, const std::array<int64_t, 3>& result_size,
              const WeightLayout& layout, Result* out, const T* input, int64_t image_elements, const T* weight,
              const SumOf<T>* bias) {
  const int64_t result_channels = g.groups * layout.results;
  const ResultLayout results{ImageLayout::of(result_size, result_channels, plan.channels_last()), plan.channels_last(),
                             plan.axis(0).phases.size() * plan.axis(1).phases.size() * plan.axis(2).phases.size() == 1,
                             result_channels};
  const int64_t result_elements = result_channels * result_size[0] * result_size[1] * result_size[2];
  const int64_t weight_bytes = g.groups * layout.results * layout.sources * g.kernel_elements() * int64_t{sizeof(T)};
  // Small images are computed as one: a large weight is not read again for each, and what they read alike is sorted.
  const bool joined =
      weight_bytes > kLargeWeight && result_size[0] * result_size[1] * result_size[2] < kSmallImage;
  const int64_t read = (plan.has_frame() ? plan.frame_elements() : image_elements) * int64_t{sizeof(T)};
  const int64_t most_joined = std::max<int64_t>(1, kJoinedBytes / read);
  if (joined && g.batch > most_joined) {
    Geometry some = g;
    for (int64_t first = 0; first < g.batch; first += most_joined) {
      some.batch = std::min(most_joined, g.batch - first);
      run_plan(some, plan, result_size, layout, out + first * result_elements, input + first * image_elements,
               image_elements, weight, bias);
    }
    return;
  }
  const bool by_tiles = std::is_same_v<T, uint32_t> && has_bfloat16_tiles();
  const bool is_sorted = !by_tiles && needs_no_frame(plan, g, layout.sources, joined);
  if (is_sorted) plan.drop_frame();
  else if ((joined && plan.has_frame()) || is_worth_turning<T>(plan, g, layout, by_tiles)) plan.turn_frame();
  const int64_t frame = plan.has_frame() ? plan.frame_elements() : 0;
  std::vector<PreparedPhase> phases;
  int64_t work = 0;
  int64_t line_count = 0;  // of a panel, with those of all phases
  for (const auto& z : plan.axis(0).phases) {
    for (const auto& y : plan.axis(1).phases) {
      for (const auto& x : plan.axis(2).phases) {
        GatherPhase phase(plan, z, y, x, g.kernel, results.image);
        const auto taps = static_cast<int64_t>(phase.taps.size());
        const auto count = static_cast<int64_t>(phase.reads.size());
        work += count * std::max<int64_t>(layout.sources * taps, 1);
        std::vector<uint64_t> inside;
        const int64_t worth = layout.sources >= kSortedSources ? kWorthSorting : kFewWorthSorting;
        if (is_sorted) {
          inside = phase.find_inside(plan, z, y, x);
        } else if (!by_tiles && frame && taps <= 64 && layout.sources >= kFewSortedSources &&
                   (joined || count >= kBlockResults)) {
          inside = phase.find_inside(plan, z, y, x);
          int64_t read = 0;
          for (const uint64_t mask : inside) read += __builtin_popcountll(mask);
          if ((count * taps - read) * worth <= count * taps) inside.clear();
        }
        if (joined) phase.join_images(g.batch, frame ? frame : image_elements, result_elements);
        phases.emplace_back(std::move(phase), plan, layout.sources, line_count, inside);
        line_count += layout.sources * taps;
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
  const int64_t panel_size = line_count * width;
  const auto lines = list_lines(phases, layout);
  // The bias in whole panels.
  const auto starts = scratch<SumOf<T>>(bias ? g.groups * panel_count * width : 0);
  for (int64_t group = 0; bias && group < g.groups; ++group) {
    SumOf<T>* const start = starts.get() + group * panel_count * width;
    std::copy_n(bias + group * layout.results, layout.results, start);
    std::fill(start + layout.results, start + panel_count * width, SumOf<T>(0));
  }
  // Groups of a few channels, as they lie next to each other, are multiplied together.
  const int64_t group_columns =
      results.channels_last && phases[0].classes.size() == 1 &&
              layout.sources * int64_t{sizeof(T)} == layout.results * int64_t{sizeof(Result)}
          ? columns_of_groups<T>(layout.results)
          : 0;
  const int64_t together =
      group_columns > 0 && result_channels % group_columns == 0 ? group_columns / layout.results : 1;
  // Where a thread can have panels of its own, it writes one after the other, which then stays in its cache; else all
  // are written first.
  const bool by_panels = !by_tiles && joined && g.groups == 1 && (panel_count % parts == 0 || panel_count >= 4 * parts);
  const auto panels = scratch<T>(by_panels ? 0 : g.groups * panel_count * panel_size);
  const int64_t panel_grain = grain_for(g.groups * panel_count * panel_size, g.groups * panel_count, kSerialWork);
  parallel_for(0, by_panels ? 0 : g.groups * panel_count, panel_grain, [&](int64_t begin, int64_t end) {
    write_panels(phases, layout, lines, weight, {begin, end}, together, panels.get() + begin / together * panel_size);
  });
  parallel_for(0, images * parts, grain_for(work, images * parts, kSerialWork), [&](int64_t begin, int64_t last) {
    const auto own_frame = scratch<T>(few ? 0 : frame);
    const auto own_panel = scratch<T>(by_panels ? panel_size : 0);
    const auto sums = scratch<SumOf<T>>(kBlockResults * panel_count * width);
    for (int64_t task = begin; task < last; ++task) {
      const int64_t image = task / parts;
      const int64_t part = task % parts;
      const T* data = input + image * image_elements;
      if (few && plan.has_frame()) {
        data = frames.get() + image * frame;
      } else if (plan.has_frame()) {
        plan.write_frame(data, own_frame.get(), 0, source_channels);
        data = own_frame.get();
      }
      for (int64_t panel = part * panel_count / parts; by_panels && panel < (part + 1) * panel_count / parts; ++panel) {
        write_panels(phases, layout, lines, weight, {panel, panel + 1}, 1, own_panel.get());
        const Range channels{panel * width, std::min(layout.results, (panel + 1) * width)};
        for (const PreparedPhase& prepared : phases) {
          compute_results(prepared, {0, static_cast<int64_t>(prepared.phase.reads.size())}, channels, data,
                          own_panel.get(), panel_size, bias ? starts.get() : nullptr, results, sums.get(),
                          out + image * result_elements);
        }
      }
      for (const PreparedPhase& prepared : phases) {
        if (by_panels) break;
        const auto count = static_cast<int64_t>(prepared.phase.reads.size());
        const int64_t share = divide_up(divide_up(count, parts), panel_rows<SumOf<T>>()) * panel_rows<SumOf<T>>();
        const Range wanted{std::min(count, part * share), std::min(count, (part + 1) * share)};
        if constexpr (!std::is_same_v<T, double>) {
          if (together > 1) {
            compute_groups(prepared, wanted, layout.results, g.groups, data, panels.get(), panel_size, bias, results,
                           out + image * result_elements);
            continue;
          }
        }
        const T* const end = data + (joined ? g.batch : 1) * (frame ? frame : image_elements);
        for (int64_t group = 0; group < g.groups; ++group) {
          const T* const sources = data + group * layout.sources * plan.layout().channel;
          const T* const group_panels = panels.get() + group * panel_count * panel_size;
          const SumOf<T>* const start = bias ? starts.get() + group * panel_count * width : nullptr;
          Result* const to = out + image * result_elements + group * layout.results * results.image.channel;
          if constexpr (std::is_same_v<T, uint32_t>) {
            if (by_tiles) {
              compute_results_by_tiles(prepared, wanted, {0, layout.results}, sources, end, group_panels, panel_size,
                                       start, results, sums.get(), to);
              continue;
            }
          }
          compute_results(prepared, wanted, {0, layout.results}, sources, group_panels, panel_size, start, results,
                          sums.get(), to);
        }
      }
    }
  });
}

}  // namespace

template <typename T>
void convolve_gathered(const Geometry& g, bool channels_last, T* out, const T* input, const T* weight, const T* bias) {
  const auto layout =
      WeightLayout::ordinary(g.window_channels, g.image_channels, g.kernel_elements(), g.weight_last);
  run_plan(g, ordinary_plan(g, channels_last), g.windows, layout, out, input,
           g.groups * g.image_channels * g.image_elements(), weight, bias);
}

template <typename T>
void convolve_transposed_gathered(const Geometry& g, bool channels_last, T* out, const T* input, const T* weight,
                                  const T* bias) {
  const auto layout =
      WeightLayout::transposed(g.image_channels, g.window_channels, g.kernel_elements(), g.weight_last);
  run_plan(g, transposed_plan(g, channels_last), g.image, layout, out, input,
           g.groups * g.window_channels * g.window_count(), weight, bias);
}

namespace {

// Numbers that lie in pairs are these as they are.
const uint32_t* as_pairs(const uint16_t* numbers) {
  return reinterpret_cast<uintptr_t>(numbers) % alignof(uint32_t) == 0 ? reinterpret_cast<const uint32_t*>(numbers)
                                                                       : nullptr;
}

// Windows whose lines begin and end between pairs of numbers, in images and in the weight: false where they do not.
// A line of places with all their channels is one of numbers, too.
bool convolve_lines_of_pairs(const Geometry& g, bool channels_last, uint16_t* out, const uint16_t* input,
                             const uint16_t* weight, const float* bias) {
  const int64_t unit = channels_last ? g.image_channels : 1;
  const bool is_line = channels_last ? g.groups == 1 && g.weight_last : !g.weight_last;
  const auto in_pairs = [&](int64_t places) { return places * unit % 2 == 0; };
  const uint32_t* images = as_pairs(input);
  const uint32_t* weights = as_pairs(weight);
  constexpr int64_t kFewestNumbers = 16;  // of a line, that make a piece of a tile
  if (has_bfloat16_tiles() && g.kernel[2] * unit < kFewestNumbers) return false;
  if (!is_line || g.dilation[2] != 1 || !in_pairs(g.kernel[2]) || !in_pairs(g.stride[2]) || !in_pairs(g.padding[2]) ||
      !in_pairs(g.image[2]) || !images || !weights)
    return false;
  Geometry halved = g;
  for (auto* sizes : {&halved.kernel, &halved.stride, &halved.padding, &halved.image})
    (*sizes)[2] = (*sizes)[2] * unit / 2;
  if (channels_last) halved.image_channels = 1;
  const auto layout =
      WeightLayout::ordinary(g.window_channels, halved.image_channels, halved.kernel_elements(), false);
  run_plan(halved, ordinary_plan(halved, channels_last), g.windows, layout, out, images,
           g.groups * halved.image_channels * halved.image_elements(), weights, bias);
  return true;
}

}  // namespace

void convolve_pairs(const Geometry& g, bool transposed, bool channels_last, uint16_t* out, const uint16_t* input,
                    const uint16_t* weight, const float* bias) {
  const int64_t sources = transposed ? g.window_channels : g.image_channels;
  const int64_t results = transposed ? g.image_channels : g.window_channels;
  const int64_t elements = transposed ? g.window_count() : g.image_elements();
  const int64_t kernel = g.kernel_elements();
  const int64_t pairs = (sources + 1) / 2;
  const bool is_even = sources % 2 == 0;
  if (!transposed && !(channels_last && is_even) &&
      convolve_lines_of_pairs(g, channels_last, out, input, weight, bias))
    return;
  Geometry halved = g;
  (transposed ? halved.window_channels : halved.image_channels) = pairs;
  Scratch<uint32_t> image_copy, weight_copy;
  const uint32_t* images = channels_last && is_even ? as_pairs(input) : nullptr;
  if (!images) {
    image_copy = channels_last ? pairs_of_last(input, g.batch * elements * g.groups, sources)
                               : pairs_of(input, g.batch * g.groups, sources, elements);
    images = image_copy.get();
  }
  const uint32_t* weights = !transposed && (g.weight_last || kernel == 1) && is_even ? as_pairs(weight) : nullptr;
  if (!weights) {
    if (transposed) weight_copy = pairs_of(weight, g.groups, sources, results * kernel);
    else if (g.weight_last) weight_copy = pairs_of_last(weight, g.groups * results * kernel, sources);
    else weight_copy = pairs_of(weight, g.groups * results, sources, kernel);
    weights = weight_copy.get();
  }
  const auto layout = transposed ? WeightLayout::transposed(results, pairs, kernel, g.weight_last)
                                 : WeightLayout::ordinary(results, pairs, kernel, g.weight_last);
  run_plan(halved, transposed ? transposed_plan(halved, channels_last) : ordinary_plan(halved, channels_last),
           transposed ? g.image : g.windows, layout, out, images, g.groups * pairs * elements, weights, bias);
}

#define TORCH_INSTANTIATE(T)                                                                                           \
  template void convolve_gathered(const Geometry&, bool, T*, const T*, const T*, const T*);                            \
  template void convolve_transposed_gathered(const Geometry&, bool, T*, const T*, const T*, const T*);
TORCH_INSTANTIATE(float)
TORCH_INSTANTIATE(double)
#undef TORCH_INSTANTIATE

}  // namespace at::native::cpu
