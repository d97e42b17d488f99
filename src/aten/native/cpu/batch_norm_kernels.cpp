// Sums over the channels of (N, C, ...) tensors and affine functions with numbers per channel. The tensors
// of a call are all contiguous, or all dense with their channels last: then they are matrices of one row per place.
// With N * C numbers instead of C, the channels of each sample are on their own. float16 and bfloat16 are widened in
// parts that stay in the first cache; numbers per channel are float32 beside them.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/ConvertedElements.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/batch_norm_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/RowSums-inl.h>
#include <aten/native/cpu/StoredVectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr int64_t kSums = 16;                // of neighbours in a line, kept apart for vectors
constexpr int64_t kSumsHeight = 4;           // rows that are added up before they go into the sums
constexpr int64_t kPart = 2048;              // elements that are read at a time
constexpr int64_t kApart = 16384;            // the same where sums of many rows are made in T
constexpr int64_t kSectionHeight = 64;       // rows of a section, at least
constexpr int64_t kSectionElements = 32768;  // and elements, where rows are short

// `batch` times `count` lines of `elements`, or with the channels last `batch` times `elements` rows of `count`.
struct Channels {
  int64_t batch, count, elements;
  bool last;
  bool apart;  // in each sample
  Channels(const Tensor& input, const Tensor& numbers, bool are_apart = false)
      : batch(input.sizes()[0]),
        count(input.sizes()[1]),
        elements(1),
        apart(are_apart || numbers.numel() != count) {
    for (int64_t dim = 2; dim < input.dim(); ++dim) elements *= input.sizes()[dim];
    last = elements == 1 || !input.is_contiguous();
    if (apart == last) return;
    if (last) elements *= std::exchange(batch, 1);  // the samples' rows follow each other
    else count *= std::exchange(batch, 1);          // as do their channels
  }
};

// What is added up, of an element and its channel's mean; computed as Sum.
template <typename T>
struct Element {
  const T* values;
  template <typename Sum>
  TORCH_SIMD Sum operator()(int64_t i, Sum) const {
    return static_cast<Sum>(values[i]);
  }
};
template <typename T>
struct SquaredDeviation {
  const T* values;
  template <typename Sum>
  TORCH_SIMD Sum operator()(int64_t i, Sum mean) const {
    const Sum deviation = static_cast<Sum>(values[i]) - mean;
    return deviation * deviation;
  }
};
// Both deviations and their squares, of rows.
template <typename T>
struct Moments {
  const T* values;
};
template <typename T>
struct ProductWithDeviation {
  const T* factors;
  const T* values;
  template <typename Sum>
  TORCH_SIMD Sum operator()(int64_t i, Sum mean) const {
    return static_cast<Sum>(factors[i]) * (static_cast<Sum>(values[i]) - mean);
  }
};

// The sum of a line's terms.
template <typename Term>
TORCH_SIMD double add_line(int64_t count, double mean, Term term) {
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t j = 0; j < kSums; ++j) sums[j] += term(i + j, mean);
  }
  for (int64_t j = 0; i < count; ++i, ++j) sums[j] += term(i, mean);
  for (int64_t half = kSums / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

// Adds the terms of rows to the sums of their columns. Sum: float or double, what means are of and some rows are added
// up in first.
template <typename Sum, typename Term>
HWY_NOINLINE TORCH_SIMD void add_rows(double* sums, int64_t rows, int64_t count, const Sum* means, Term term) {
  int64_t row = 0;
  for (; row + kSumsHeight <= rows; row += kSumsHeight) {
    const int64_t at = row * count;
    TORCH_INDEPENDENT
    for (int64_t c = 0; c < count; ++c) {
      sums[c] += static_cast<double>((term(at + c, means[c]) + term(at + count + c, means[c])) +
                                     (term(at + 2 * count + c, means[c]) + term(at + 3 * count + c, means[c])));
    }
  }
  for (; row < rows; ++row) {
    TORCH_INDEPENDENT
    for (int64_t c = 0; c < count; ++c) sums[c] += static_cast<double>(term(row * count + c, means[c]));
  }
}

// Deviations from `middles`, and behind them squares.
template <typename T>
HWY_NOINLINE HWY_ATTR void add_moments(double* sums, int64_t rows, int64_t count, const T* middles, const T* values) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN T totals[2][hn::MaxLanes(d)];
  constexpr int64_t kRows = 64;  // whose sum is made in T
  for (int64_t c = 0; rows > 0 && c < count; c += lanes) {
    const int64_t some = std::min(lanes, count - c);
    const auto middle = load_some(d, middles + c, count - c);
    auto sum = hn::Zero(d);
    auto squares = sum;
    for (int64_t row = 0; row < std::min(rows, kRows); ++row) {
      const auto deviation = hn::Sub(load_some(d, values + row * count + c, count - c), middle);
      sum = hn::Add(sum, deviation);
      squares = hn::Add(squares, hn::Mul(deviation, deviation));
    }
    hn::Store(sum, d, totals[0]);
    hn::Store(squares, d, totals[1]);
    for (int64_t i = 0; i < some; ++i) {
      sums[c + i] += static_cast<double>(totals[0][i]);
      sums[count + c + i] += static_cast<double>(totals[1][i]);
    }
  }
  if (rows > kRows) add_moments(sums, rows - kRows, count, middles, values + kRows * count);
}

// `kinds` sums of each channel, those of one kind one behind the other. make_reader() gives a thread its function that
// reads elements, from one on and how many, and adds them: add(kind, term).
// Sections of rows have sums of their own, so that however many threads there are, each is made in the same order. Of
// groups some rows are added up in T first, as in lines.
template <typename T, typename MakeReader>
std::vector<double> sum_columns(const Channels& channels, int64_t kinds, const double* means,
                                MakeReader&& make_reader) {
  const int64_t count = channels.count;
  const int64_t height = std::max(kSectionHeight, kSectionElements / std::max<int64_t>(1, count));
  const int64_t sections = (channels.elements + height - 1) / height;  // of a sample
  const int64_t part = std::max(kSumsHeight, (channels.apart ? kApart : kPart) / std::max<int64_t>(1, count));
  std::vector<double> partial(static_cast<size_t>(channels.batch * sections * kinds * count));
  const std::vector<T> narrow(means, means + (channels.apart ? channels.batch * count : 0));
  const int64_t grain = std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, height * count));
  parallel_for(0, channels.batch * sections, grain, [&](int64_t first, int64_t last) {
    auto read = make_reader(part * count);
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t sample = unit / sections;
      const int64_t begin = unit % sections * height;
      const int64_t end = std::min(channels.elements, begin + height);
      double* sums = partial.data() + unit * kinds * count;
      for (int64_t row = begin; row < end; row += part) {
        const int64_t rows = std::min(part, end - row);
        read((sample * channels.elements + row) * count, rows * count, [&](int64_t kind, auto term) {
          if constexpr (std::is_same_v<decltype(term), Moments<T>>) {
            add_moments(sums, rows, count, narrow.data() + sample * count, term.values);
          } else {
            constexpr bool is_apart = !std::is_same_v<decltype(term), SquaredDeviation<T>>;  // those are in Moments
            if constexpr (is_apart && !std::is_same_v<T, double> && HWY_TARGET != HWY_SCALAR) {
              if (channels.apart)
                return add_rows(sums + kind * count, rows, count, narrow.data() + sample * count, term);
            }
            add_rows(sums + kind * count, rows, count, means + sample * count, term);
          }
        });
      }
    }
  });
  std::vector<double> totals(static_cast<size_t>(channels.batch * kinds * count));
  for (int64_t unit = 0; unit < channels.batch * sections; ++unit) {
    for (int64_t kind = 0; kind < kinds; ++kind) {
      double* const total = totals.data() + (kind * channels.batch + unit / sections) * count;
      const double* const sums = partial.data() + (unit * kinds + kind) * count;
      for (int64_t c = 0; c < count; ++c) total[c] += sums[c];
    }
  }
  return totals;
}

// The same of channels whose lines lie in one piece in each sample.
template <typename T, typename MakeReader>
std::vector<double> sum_lines(const Channels& channels, int64_t kinds, const double* means, MakeReader&& make_reader) {
  std::vector<double> totals(static_cast<size_t>(kinds * channels.count));
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, channels.batch * channels.elements));
  parallel_for(0, channels.count, grain, [&](int64_t first, int64_t last) {
    auto read = make_reader(kPart);
    for (int64_t channel = first; channel < last; ++channel) {
      for (int64_t sample = 0; sample < channels.batch; ++sample) {
        const int64_t start = (sample * channels.count + channel) * channels.elements;
        for (int64_t i = 0; i < channels.elements; i += kPart) {
          const int64_t count = std::min(kPart, channels.elements - i);
          read(start + i, count, [&](int64_t kind, auto term) {
            if constexpr (!std::is_same_v<decltype(term), Moments<T>>)  // which are of rows
              totals[static_cast<size_t>(kind * channels.count + channel)] += add_line(count, means[channel], term);
          });
        }
      }
    }
  });
  return totals;
}

template <typename T, typename MakeReader>
std::vector<double> sum_channels(const Channels& channels, int64_t kinds, const double* means,
                                 MakeReader&& make_reader) {
  return channels.last ? sum_columns<T>(channels, kinds, means, make_reader)
                       : sum_lines<T>(channels, kinds, means, make_reader);
}

// Whether each channel of each sample is a line that is summed as a row is, in its own type and then in double, as in
// PyTorch: of groups, and of float16 and bfloat16. All else is summed in double.
bool are_rows(const Channels& channels, const Tensor& input) {
  return !channels.last && (channels.apart || c10::is_reduced_floating_type(input.dtype()));
}

// Lines that are read at once.
int64_t lines_together(int64_t elements) { return std::max<int64_t>(1, kPart / std::max<int64_t>(1, elements)); }

// body(first, last) for the lines of all samples.
template <typename Body>
void for_each_line(const Channels& channels, Body&& body) {
  const int64_t grain = std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, channels.elements));
  parallel_for(0, channels.batch * channels.count, grain, body);
}

// Of short lines, turned so that neighbours are those of neighbouring lines: their means, and the squared deviations.
template <typename T>
HWY_NOINLINE TORCH_SIMD void sum_moments_of_short(const T* x, int64_t elements, int64_t lines, T* turned, double* means,
                                                  double* deviations) {
  constexpr auto size = static_cast<int64_t>(sizeof(T));
  transpose_tile(reinterpret_cast<char*>(turned), lines * size, reinterpret_cast<const char*>(x), elements * size,
                 elements, lines, size);
  const auto n = static_cast<double>(elements);
  T* const sums = turned + elements * lines;
  T* const middles = sums + lines;
  std::fill_n(sums, lines, T(0));
  for (int64_t i = 0; i < elements; ++i) {
    const T* const row = turned + i * lines;
    TORCH_INDEPENDENT
    for (int64_t line = 0; line < lines; ++line) sums[line] += row[line];
  }
  for (int64_t line = 0; line < lines; ++line) {
    means[line] = static_cast<double>(sums[line]) / n;
    middles[line] = static_cast<T>(means[line]);
  }
  std::fill_n(sums, lines, T(0));
  for (int64_t i = 0; i < elements; ++i) {
    const T* const row = turned + i * lines;
    TORCH_INDEPENDENT
    for (int64_t line = 0; line < lines; ++line) {
      const T deviation = row[line] - middles[line];
      sums[line] += deviation * deviation;
    }
  }
  std::copy_n(sums, lines, deviations);
}

// The mean of each channel, and its squared deviations from it.
template <typename T>
void sum_moments_of_rows(const Channels& channels, const Tensor& input, std::vector<double>& middles,
                         std::vector<double>& squares) {
  const int64_t elements = channels.elements;
  const auto n = static_cast<double>(elements);
  std::vector<double> means(static_cast<size_t>(channels.batch * channels.count));
  std::vector<double> deviations(means.size());
  constexpr int64_t kShort = 32;
  for_each_line(channels, [&](int64_t first, int64_t last) {
    const int64_t together = lines_together(elements);
    ConvertedElements<T> values(input, together * elements);
    std::vector<T> turned(static_cast<size_t>(elements <= kShort ? (elements + 2) * together : 0));
    for (int64_t top = first; top < last; top += together) {
      const int64_t lines = std::min(together, last - top);
      const T* x = values.read(top * elements, lines * elements);
      if (elements <= kShort) {
        sum_moments_of_short(x, elements, lines, turned.data(), means.data() + top, deviations.data() + top);
        continue;
      }
      // One after the other, so that no line waits for its mean.
      for (int64_t i = 0; i < lines; ++i) means[top + i] = add_up<T>(elements, Value<T>{x + i * elements}) / n;
      for (int64_t i = 0; i < lines; ++i)
        deviations[top + i] = add_up<T>(elements, Square<T>{x + i * elements, static_cast<T>(means[top + i])});
    }
  });
  if (channels.batch == 1) {
    middles.swap(means);
    squares.swap(deviations);
    return;
  }
  const auto batch = static_cast<double>(channels.batch);
  middles.assign(static_cast<size_t>(channels.count), 0);
  squares.assign(middles.size(), 0);
  const size_t count = middles.size();
  for (size_t first = 0; first < means.size(); first += count) {
    for (size_t c = 0; c < count; ++c) middles[c] += means[first + c] / batch;
  }
  for (size_t first = 0; first < means.size(); first += count) {
    for (size_t c = 0; c < count; ++c) {
      const double drift = means[first + c] - middles[c];
      squares[c] += deviations[first + c] + n * drift * drift;
    }
  }
}

// The sum of each channel's gradients, and then that of their products with deviations.
template <typename T>
std::vector<double> sum_products_of_rows(const Channels& channels, const Tensor& grad, const Tensor& input,
                                         const T* means) {
  const int64_t elements = channels.elements;
  const int64_t lines = channels.batch * channels.count;
  std::vector<double> sums(static_cast<size_t>(2 * lines));
  for_each_line(channels, [&](int64_t first, int64_t last) {
    const int64_t together = lines_together(elements);
    ConvertedElements<T> gradients(grad, together * elements);
    ConvertedElements<T> values(input, together * elements);
    for (int64_t top = first; top < last; top += together) {
      const int64_t bottom = std::min(last, top + together);
      const T* g = gradients.read(top * elements, (bottom - top) * elements);
      const T* x = values.read(top * elements, (bottom - top) * elements);
      for (int64_t line = top; line < bottom; ++line, g += elements, x += elements) {
        const T mean = means[line % channels.count];
        sums[line] = add_up<T>(elements, Weighted<T, false>{g, nullptr, x, mean});
        sums[lines + line] = add_up<T>(elements, Weighted<T, true>{g, nullptr, x, mean});
      }
    }
  });
  std::vector<double> totals(static_cast<size_t>(2 * channels.count));
  for (int64_t line = 0; line < lines; ++line) {
    totals[line % channels.count] += sums[line];
    totals[channels.count + line % channels.count] += sums[lines + line];
  }
  return totals;
}

void ChannelMomentsImpl(const Tensor& mean, const Tensor& variance, const Tensor& input) {
  const Channels channels(input, mean, mean.dim() == 2);
  const int64_t numbers = mean.numel();
  const auto n = static_cast<double>(numbers == 0 ? 0 : input.numel() / numbers);
  dispatch_floating_types(mean.dtype(), "batch_norm", [&](auto type) {
    using T = typename decltype(type)::type;
    // add_terms(add, values) adds a part's terms.
    const auto sums_of = [&](int64_t kinds, const std::vector<double>& means, auto add_terms) {
      return sum_channels<T>(channels, kinds, means.data(), [&](int64_t buffered) {
        return [add_terms, values = ConvertedElements<T>(input, buffered)](int64_t begin, int64_t count,
                                                                           auto add) mutable {
          add_terms(add, values.read(begin, count));
        };
      });
    };
    const auto add_both = [apart = channels.apart](auto& add, const T* values) {
      if (apart) return add(0, Moments<T>{values});
      add(0, Element<T>{values});
      add(1, SquaredDeviation<T>{values});
    };
    const std::vector<double> zeros(static_cast<size_t>(numbers));
    std::vector<double> middles, squares;
    if (are_rows(channels, input)) {
      sum_moments_of_rows<T>(channels, input, middles, squares);
    } else if (c10::is_reduced_floating_type(input.dtype()) && !channels.apart) {
      // Squares of so few bits are exact in double: one pass.
      const std::vector<double> sums = sums_of(2, zeros, add_both);
      middles.assign(sums.begin(), sums.begin() + numbers);
      squares.assign(sums.begin() + numbers, sums.end());
      for (int64_t c = 0; c < numbers; ++c) {
        const double rest = squares[c] - middles[c] * middles[c] / n;
        squares[c] = rest < 0 ? 0 : rest;  // NaN stays
      }
      for (double& middle : middles) middle /= n;
    } else if (channels.apart) {
      // Around a sample's first row, in one pass; in another one if one of these lies far from its mean.
      constexpr double kFar = 16;
      ConvertedElements<T> firsts(input, channels.count);
      middles.reserve(static_cast<size_t>(numbers));
      for (int64_t sample = 0; sample < channels.batch; ++sample) {
        const T* row = firsts.read(sample * channels.elements * channels.count, channels.count);
        for (int64_t c = 0; c < channels.count; ++c) middles.push_back(std::isfinite(row[c]) ? row[c] : 0);
      }
      bool is_near = false;
      for (int pass = 0; pass < 2 && !is_near; ++pass) {
        const std::vector<double> sums = sums_of(2, middles, add_both);
        squares.assign(sums.begin() + numbers, sums.end());
        is_near = true;
        for (int64_t c = 0; c < numbers; ++c) {
          const double drift = sums[c] / n;
          middles[c] += drift;
          const double rest = squares[c] - sums[c] * drift;
          squares[c] = rest < 0 ? 0 : rest;                 // NaN stays
          is_near &= sums[c] * drift <= kFar * squares[c];  // not of NaN
        }
      }
    } else {
      middles = sums_of(1, zeros, [](auto& add, const T* values) { add(0, Element<T>{values}); });
      for (double& middle : middles) middle /= n;
      squares = sums_of(1, middles, [](auto& add, const T* values) { add(0, SquaredDeviation<T>{values}); });
    }
    const auto as_number = [](double x) { return static_cast<T>(x); };
    std::transform(middles.begin(), middles.end(), mean.data_ptr<T>(), as_number);
    std::transform(squares.begin(), squares.end(), variance.data_ptr<T>(), [n](double x) { return static_cast<T>(x / n); });
  });
}

void ChannelProductsImpl(const Tensor& sum, const Tensor& product, const Tensor& grad, const Tensor& input,
                         const Tensor& mean) {
  const Channels channels(input, mean);
  const int64_t numbers = mean.numel();
  dispatch_floating_types(mean.dtype(), "batch_norm_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    const std::vector<double> means(mean.data_ptr<T>(), mean.data_ptr<T>() + numbers);
    const auto make_reader = [&](int64_t buffered) {
      return [gradients = ConvertedElements<T>(grad, buffered), values = ConvertedElements<T>(input, buffered)](
                 int64_t begin, int64_t count, auto add) mutable {
        const T* g = gradients.read(begin, count);
        add(0, Element<T>{g});
        add(1, ProductWithDeviation<T>{g, values.read(begin, count)});
      };
    };
    const std::vector<double> sums = are_rows(channels, input)
                                         ? sum_products_of_rows<T>(channels, grad, input, mean.data_ptr<T>())
                                         : sum_channels<T>(channels, 2, means.data(), make_reader);
    std::transform(sums.begin(), sums.begin() + numbers, sum.data_ptr<T>(), [](double x) { return static_cast<T>(x); });
    std::transform(sums.begin() + numbers, sums.end(), product.data_ptr<T>(),
                   [](double x) { return static_cast<T>(x); });
  });
}

// What is multiplied and added: a number for each element of a row, or one for all of them.
template <typename Number>
struct Factors {
  const Number* scale;
  const Number* other_scale;
  const Number* shift;
};

// out = input * scale + other * other_scale + shift; `other` may be null.
template <bool kOneForAll, typename Element>
HWY_NOINLINE HWY_ATTR void scale_elements(Element* out, const Element* input, const Element* other,
                                          Factors<Computed<Element>> by, int64_t count) {
  const hn::ScalableTag<Computed<Element>> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // Read once: nothing that is written can change them.
  const auto number = [&](const Computed<Element>* from) HWY_ATTR {
    return kOneForAll && from ? hn::Set(d, *from) : hn::Zero(d);
  };
  const auto scale = number(by.scale);
  const auto other_scale = number(by.other_scale);
  const auto shift = number(by.shift);
  const auto compute = [&](const auto& load, int64_t i) HWY_ATTR {
    const auto factor = [&](const Computed<Element>* from, auto one) HWY_ATTR {
      if constexpr (kOneForAll) return one;
      else return load(from + i);
    };
    auto sum = hn::Mul(load(input + i), factor(by.scale, scale));
    if (other) sum = hn::Add(sum, hn::Mul(load(other + i), factor(by.other_scale, other_scale)));
    return hn::Add(sum, factor(by.shift, shift));
  };
  if (count < lanes) {
    const auto load = [&](const auto* from) HWY_ATTR { return load_stored_part(d, from, count); };
    return store_stored_part(d, compute(load, 0), out, count);
  }
  const auto load = [&](const auto* from) HWY_ATTR { return load_stored(d, from); };
  int64_t i = 0;
  for (; i <= count - lanes; i += lanes) store_stored(d, compute(load, i), out + i);
  if (i < count) store_stored(d, compute(load, count - lanes), out + count - lanes);  // begins earlier
}

// Several rows as one, where they are short: by numbers that are repeated.
template <typename Number>
class RepeatedFactors {
 public:
  RepeatedFactors(const Factors<Number>& by, int64_t width, int64_t rows)
      : by_(by),
        width_(width),
        rows_(std::clamp<int64_t>(kElements / std::max<int64_t>(1, width), 1, std::max<int64_t>(1, rows))) {
    if (rows_ > 1) numbers_.resize(static_cast<size_t>(3 * rows_ * width));
  }
  int64_t rows() const { return rows_; }
  Factors<Number> of_sample(int64_t sample) {
    const auto at = [&](const Number* from) { return from ? from + sample * width_ : nullptr; };
    Factors<Number> result{at(by_.scale), at(by_.other_scale), at(by_.shift)};
    if (rows_ == 1) return result;
    Number* to = numbers_.data();
    for (const Number** numbers : {&result.scale, &result.other_scale, &result.shift}) {
      if (!*numbers) continue;
      const Number* const from = std::exchange(*numbers, to);
      for (int64_t row = 0; row < rows_; ++row) std::copy_n(from, width_, to + row * width_);
      to += rows_ * width_;
    }
    return result;
  }

 private:
  static constexpr int64_t kElements = 256;
  Factors<Number> by_;
  int64_t width_, rows_;
  std::vector<Number> numbers_;
};

// The factors of channels whose lines are short, one behind the other for each element.
template <typename Number>
class ExpandedFactors {
 public:
  explicit ExpandedFactors(int64_t width)
      : width_(width), lines_(std::max<int64_t>(1, kElements / width)), numbers_(static_cast<size_t>(3 * kStep)) {}
  int64_t lines() const { return lines_; }
  HWY_ATTR Factors<Number> of_channels(const Factors<Number>& by, int64_t channel, int64_t count) {
    const hn::ScalableTag<Number> d;
    Factors<Number> result = by;
    Number* to = numbers_.data();
    for (const Number** numbers : {&result.scale, &result.other_scale, &result.shift}) {
      if (!*numbers) continue;
      const Number* const from = std::exchange(*numbers, to) + channel;
      for (int64_t i = 0; i < count; ++i) {  // whole vectors, of which the next ones overwrite the rest
        for (int64_t j = 0; j < width_; j += static_cast<int64_t>(hn::Lanes(d)))
          hn::StoreU(hn::Set(d, from[i]), d, to + i * width_ + j);
      }
      to += kStep;
    }
    return result;
  }

 private:
  static constexpr int64_t kElements = 512;
  static constexpr int64_t kStep = kElements + HWY_MAX_BYTES / sizeof(Number);
  int64_t width_, lines_;
  std::vector<Number> numbers_;
};

void ChannelAffineImpl(const Tensor& out, const Tensor& input, const Tensor& scale, const Tensor& other,
                       const Tensor& other_scale, const Tensor& shift) {
  const Channels channels(input, scale);
  const bool has_other = other.defined();
  dispatch_stored_floating_types(input.dtype(), "batch_norm", [&](auto type) {
    using Element = typename decltype(type)::type;
    using Number = Computed<Element>;
    const Element* const inputs = input.data_ptr<Element>();
    const Element* const others = has_other ? other.data_ptr<Element>() : nullptr;
    Element* const results = out.data_ptr<Element>();
    const Factors<Number> by{scale.data_ptr<Number>(), has_other ? other_scale.data_ptr<Number>() : nullptr,
                             shift.data_ptr<Number>()};
    const int64_t width = channels.last ? channels.count : channels.elements;
    const int64_t lines = channels.last ? channels.elements : channels.count;  // of a sample
    const int64_t grain = std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, width));
    constexpr int64_t kShort = 16;
    parallel_for(0, channels.batch * lines, grain, [&](int64_t first, int64_t last) {
      const auto scale_lines = [&](int64_t line, int64_t count, const Factors<Number>& factors, auto one_for_all) {
        const int64_t at = line * width;
        scale_elements<decltype(one_for_all)::value>(results + at, inputs + at, others ? others + at : nullptr, factors,
                                                     count * width);
      };
      if (!channels.last && width < kShort) {
        ExpandedFactors<Number> expanded(width);
        for (int64_t line = first; line < last;) {
          const int64_t channel = line % lines;
          const int64_t count = std::min({last - line, lines - channel, expanded.lines()});
          scale_lines(line, count, expanded.of_channels(by, channel, count), std::false_type());
          line += count;
        }
        return;
      }
      if (!channels.last) {
        for (int64_t line = first, channel = first % lines; line < last; ++line, ++channel) {
          if (channel == lines) channel = 0;
          scale_lines(line, 1, {by.scale + channel, by.other_scale + (others ? channel : 0), by.shift + channel},
                      std::true_type());
        }
        return;
      }
      RepeatedFactors<Number> repeated(by, width, std::min(lines, last - first));
      for (int64_t line = first; line < last;) {
        const int64_t sample = line / lines;
        const Factors<Number> factors = repeated.of_sample(sample);
        const int64_t end = std::min(last, (sample + 1) * lines);
        for (; line < end; line += repeated.rows()) {
          scale_lines(line, std::min(repeated.rows(), end - line), factors, std::false_type());
        }
        line = end;
      }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(ChannelMomentsImpl);
void channel_moments_kernel(const Tensor& mean, const Tensor& variance, const Tensor& input) {
  HWY_DYNAMIC_DISPATCH(ChannelMomentsImpl)(mean, variance, input);
}
HWY_EXPORT(ChannelProductsImpl);
void channel_products_kernel(const Tensor& sum, const Tensor& product, const Tensor& grad, const Tensor& input,
                             const Tensor& mean) {
  HWY_DYNAMIC_DISPATCH(ChannelProductsImpl)(sum, product, grad, input, mean);
}
HWY_EXPORT(ChannelAffineImpl);
void channel_affine_kernel(const Tensor& out, const Tensor& input, const Tensor& scale, const Tensor& other,
                           const Tensor& other_scale, const Tensor& shift) {
  HWY_DYNAMIC_DISPATCH(ChannelAffineImpl)(out, input, scale, other, other_scale, shift);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
