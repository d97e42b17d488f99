// Sums over the channels of (N, C, ...) tensors, in double, and affine functions with numbers per channel. The tensors
// of a call are all contiguous, or all dense with their channels last: then they are matrices of one row per place.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/batch_norm_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// Sums of neighbours are kept apart, so that the compiler can add them up in vectors.
constexpr int64_t kSums = 16;

struct Channels {
  int64_t batch, count, elements;  // elements of one channel of one sample
  bool last;
  explicit Channels(const Tensor& input)
      : batch(input.sizes()[0]), count(input.sizes()[1]), elements(1) {
    for (int64_t dim = 2; dim < input.dim(); ++dim) elements *= input.sizes()[dim];
    last = elements == 1 || !input.is_contiguous();
  }
  int64_t rows() const { return batch * elements; }
  int64_t grain() const { return std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, rows())); }
};

// Neighbouring channels that one thread sums up while it walks through the rows: however many threads there are, each
// sum is made in the same order.
constexpr int64_t kColumns = 64;

// body(first channel, how many) for groups of neighbouring channels.
template <typename Body>
void for_each_group(const Channels& channels, Body&& body) {
  const int64_t groups = (channels.count + kColumns - 1) / kColumns;
  parallel_for(0, groups, std::max<int64_t>(1, channels.grain() / kColumns), [&](int64_t first, int64_t last) {
    for (int64_t group = first; group < last; ++group) {
      body(group * kColumns, std::min(kColumns, channels.count - group * kColumns));
    }
  });
}

template <typename T>
TORCH_SIMD void add_row(double* sums, const T* row, int64_t count) {
  for (int64_t c = 0; c < count; ++c) sums[c] += static_cast<double>(row[c]);
}
template <typename T>
TORCH_SIMD void add_squared_deviations(double* sums, const T* row, const double* means, int64_t count) {
  for (int64_t c = 0; c < count; ++c) {
    const double deviation = static_cast<double>(row[c]) - means[c];
    sums[c] += deviation * deviation;
  }
}
template <typename T>
TORCH_SIMD void add_products(double* sums, const T* factors, const T* row, const T* means, int64_t count) {
  for (int64_t c = 0; c < count; ++c) {
    sums[c] += static_cast<double>(factors[c]) * (static_cast<double>(row[c]) - static_cast<double>(means[c]));
  }
}

template <typename T>
void moments_of_columns(const Channels& channels, T* means, T* variances, const T* values) {
  const auto n = static_cast<double>(channels.rows());
  for_each_group(channels, [&](int64_t begin, int64_t width) {
    double middles[kColumns] = {};
    double squares[kColumns] = {};
    for (int64_t row = 0; row < channels.rows(); ++row) add_row(middles, values + row * channels.count + begin, width);
    for (double& middle : middles) middle /= n;
    for (int64_t row = 0; row < channels.rows(); ++row) {
      add_squared_deviations(squares, values + row * channels.count + begin, middles, width);
    }
    for (int64_t c = 0; c < width; ++c) {
      means[begin + c] = static_cast<T>(middles[c]);
      variances[begin + c] = static_cast<T>(squares[c] / n);
    }
  });
}

template <typename T>
void products_of_columns(const Channels& channels, T* sums, T* products, const T* gradients, const T* values,
                         const T* means) {
  for_each_group(channels, [&](int64_t begin, int64_t width) {
    double plain[kColumns] = {};
    double weighted[kColumns] = {};
    for (int64_t row = 0; row < channels.rows(); ++row) {
      const int64_t start = row * channels.count + begin;
      add_row(plain, gradients + start, width);
      add_products(weighted, gradients + start, values + start, means + begin, width);
    }
    for (int64_t c = 0; c < width; ++c) {
      sums[begin + c] = static_cast<T>(plain[c]);
      products[begin + c] = static_cast<T>(weighted[c]);
    }
  });
}

template <typename T>
TORCH_SIMD void affine_row(T* out, const T* input, const T* scales, const T* others, const T* other_scales,
                           const T* shifts, int64_t count) {
  if (others) {
    TORCH_INDEPENDENT
    for (int64_t c = 0; c < count; ++c) out[c] = input[c] * scales[c] + others[c] * other_scales[c] + shifts[c];
  } else {
    TORCH_INDEPENDENT
    for (int64_t c = 0; c < count; ++c) out[c] = input[c] * scales[c] + shifts[c];
  }
}

// The sum of term(i) for i in [0, count).
template <typename Term>
TORCH_SIMD double add_up(int64_t count, Term term) {
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t j = 0; j < kSums; ++j) sums[j] += term(i + j);
  }
  for (int64_t j = 0; i < count; ++i, ++j) sums[j] += term(i);
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

template <typename T>
struct Deviation {
  const T* values;
  double mean;
  TORCH_SIMD double operator()(int64_t i) const { return static_cast<double>(values[i]) - mean; }
};
template <typename T>
struct SquaredDeviation {
  const T* values;
  double mean;
  TORCH_SIMD double operator()(int64_t i) const {
    const double deviation = static_cast<double>(values[i]) - mean;
    return deviation * deviation;
  }
};
template <typename T>
struct ProductWithDeviation {
  const T* factors;
  const T* values;
  double mean;
  TORCH_SIMD double operator()(int64_t i) const {
    return static_cast<double>(factors[i]) * (static_cast<double>(values[i]) - mean);
  }
};

void ChannelMomentsImpl(const Tensor& mean, const Tensor& variance, const Tensor& input) {
  const Channels channels(input);
  dispatch_floating_types(input.dtype(), "batch_norm", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* values = input.data_ptr<T>();
    T* means = mean.data_ptr<T>();
    T* variances = variance.data_ptr<T>();
    if (channels.last) return moments_of_columns(channels, means, variances, values);
    const auto n = static_cast<double>(channels.batch * channels.elements);
    parallel_for(0, channels.count, channels.grain(), [&](int64_t first, int64_t last) {
      for (int64_t channel = first; channel < last; ++channel) {
        const auto total = [&](auto term, double from) {
          double sum = 0;
          for (int64_t sample = 0; sample < channels.batch; ++sample) {
            term.values = values + (sample * channels.count + channel) * channels.elements;
            term.mean = from;
            sum += add_up(channels.elements, term);
          }
          return sum;
        };
        const double middle = total(Deviation<T>{}, 0) / n;
        means[channel] = static_cast<T>(middle);
        variances[channel] = static_cast<T>(total(SquaredDeviation<T>{}, middle) / n);
      }
    });
  });
}

void ChannelProductsImpl(const Tensor& sum, const Tensor& product, const Tensor& grad, const Tensor& input,
                         const Tensor& mean) {
  const Channels channels(input);
  dispatch_floating_types(input.dtype(), "batch_norm_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* gradients = grad.data_ptr<T>();
    const T* values = input.data_ptr<T>();
    const T* means = mean.data_ptr<T>();
    T* sums = sum.data_ptr<T>();
    T* products = product.data_ptr<T>();
    if (channels.last) return products_of_columns(channels, sums, products, gradients, values, means);
    parallel_for(0, channels.count, channels.grain(), [&](int64_t first, int64_t last) {
      for (int64_t channel = first; channel < last; ++channel) {
        double plain = 0;
        double weighted = 0;
        for (int64_t sample = 0; sample < channels.batch; ++sample) {
          const int64_t start = (sample * channels.count + channel) * channels.elements;
          plain += add_up(channels.elements, Deviation<T>{gradients + start, 0});
          weighted += add_up(channels.elements, ProductWithDeviation<T>{gradients + start, values + start,
                                                                        static_cast<double>(means[channel])});
        }
        sums[channel] = static_cast<T>(plain);
        products[channel] = static_cast<T>(weighted);
      }
    });
  });
}

template <typename T>
TORCH_SIMD void affine_line(T* out, const T* input, T scale, T shift, int64_t count) {
  TORCH_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) out[i] = input[i] * scale + shift;
}
template <typename T>
TORCH_SIMD void affine_line(T* out, const T* input, T scale, const T* other, T other_scale, T shift, int64_t count) {
  TORCH_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) out[i] = input[i] * scale + other[i] * other_scale + shift;
}

void ChannelAffineImpl(const Tensor& out, const Tensor& input, const Tensor& scale, const Tensor& other,
                       const Tensor& other_scale, const Tensor& shift) {
  const Channels channels(input);
  dispatch_floating_types(input.dtype(), "batch_norm", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* values = input.data_ptr<T>();
    const T* others = other.defined() ? other.data_ptr<T>() : nullptr;
    const T* scales = scale.data_ptr<T>();
    const T* other_scales = other.defined() ? other_scale.data_ptr<T>() : nullptr;
    const T* shifts = shift.data_ptr<T>();
    T* results = out.data_ptr<T>();
    const int64_t n = channels.last ? channels.count : channels.elements;
    const int64_t grain = std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, n));
    if (channels.last) {
      parallel_for(0, channels.rows(), grain, [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) {
          const int64_t start = row * n;
          affine_row(results + start, values + start, scales, others ? others + start : nullptr, other_scales, shifts,
                     n);
        }
      });
      return;
    }
    parallel_for(0, channels.batch * channels.count, grain, [&](int64_t first, int64_t last) {
      for (int64_t line = first; line < last; ++line) {
        const int64_t channel = line % channels.count;
        const int64_t start = line * n;
        if (others) {
          affine_line(results + start, values + start, scales[channel], others + start, other_scales[channel],
                      shifts[channel], n);
        } else {
          affine_line(results + start, values + start, scales[channel], shifts[channel], n);
        }
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
