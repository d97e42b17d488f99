// Numbers from distributions. Those of uniform, normal, exponential, ... are PyTorch's for a seed and a device; those
// of Poisson, binomial and gamma distributions are as good, but others.

#include <aten/DenseStrides.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/DistributionFormulas.h>
#include <aten/native/cuda/Philox.cuh>

#include <algorithm>
#include <limits>

namespace at::native::cuda {

namespace {

// `self` with its dimensions as they lie in memory, the slowest first.
Tensor in_memory_order(const Tensor& self) {
  const IntArrayRef strides = self.strides();
  DimVector order = order_dimensions(strides.size(), [&](int64_t a, int64_t b) {
    return strides[a] < strides[b] ? -1 : strides[a] > strides[b] ? 1 : 0;
  });
  std::reverse(order.begin(), order.end());
  return at::permute(self, order);
}

// Runs `body(out)` on `self`, or on a contiguous stand-in that is copied back.
template <typename Body>
void with_contiguous(const Tensor& self, Body&& body) {
  if (self.numel() == 0) return;
  const c10::ScalarType computing = c10::computing_type(self.dtype());
  if (self.is_contiguous() && self.dtype() == computing) return body(self);
  Tensor packed = at::empty(self.sizes(), self.options().dtype(computing));
  body(packed);
  Tensor(self).copy_(packed);
}

// float is computed in float, four numbers at a time, double in double, two.
template <typename T>
constexpr int kUnroll = sizeof(T) == 8 ? 2 : 4;

// The same, with the elements in the order in which they lie in memory: PyTorch's fills go by it.
template <typename Body>
void with_memory(const Tensor& self, Body&& body) {
  with_contiguous(self.is_contiguous() ? self : in_memory_order(self), body);
}

// float is computed in PyTorch by the device's fast approximations, double is not.
__device__ float fast_log(float x) { return ::__logf(x); }
__device__ double fast_log(double x) { return ::log(x); }
__device__ float fast_exp(float x) { return ::__expf(x); }
__device__ double fast_exp(double x) { return ::exp(x); }
__device__ float fast_tan(float x) { return ::__tanf(x); }
__device__ double fast_tan(double x) { return ::tan(x); }

// out = transform(uniform number in (0, 1]), computed in A.
template <typename T, typename A, typename Transform>
void fill_from_uniform(const Tensor& out, const Generator& generator, Transform transform) {
  T* data = out.data_ptr<T>();
  draw<kUnroll<A>>(out.numel(), generator, [=] __device__(int64_t index, const Numbers& numbers, int i) {
    data[index] = static_cast<T>(transform(numbers.uniform(i, A(0))));
  });
}
template <typename A>
struct NormalNumbers {
  A values[kUnroll<A>];
};
template <typename A>
struct MakeNormal {
  __device__ NormalNumbers<A> operator()(const Numbers& numbers) const {
    NormalNumbers<A> result;
    numbers.make_normal(result.values);
    return result;
  }
};
template <typename T, typename A, typename Transform>
void fill_from_normal(const Tensor& out, const Generator& generator, Transform transform) {
  T* data = out.data_ptr<T>();
  const auto write = [=] __device__(int64_t index, const NormalNumbers<A>& made, int i) {
    data[index] = static_cast<T>(transform(made.values[i]));
  };
  draw<kUnroll<A>>(out.numel(), generator, write, MakeNormal<A>());
}

template <typename T>
struct Uniform {
  T from, width, to;
  __device__ T operator()(T x) const {
    const T value = x * width + from;
    return value == to ? from : value;  // the interval is open above
  }
};
template <typename T>
struct Normal {
  T mean, std;
  __device__ T operator()(T x) const { return x * std + mean; }
};
template <typename T>
struct LogNormal {
  T mean, std;
  __device__ T operator()(T x) const { return fast_exp(x * std + mean); }
};
template <typename T>
struct Below {
  T p;
  __device__ bool operator()(T x) const { return x < p; }
};
template <typename T>
struct Exponential {
  T rate;
  __device__ T operator()(T x) const {
    constexpr T half = std::numeric_limits<T>::epsilon() / 2;
    return T(-1) / rate * (x >= T(1) - half ? -half : fast_log(x));
  }
};
template <typename T>
struct Geometric {
  T p;
  __device__ T operator()(T x) const { return ::ceil(fast_log(x) / ::log1p(-p)); }
};
template <typename T>
struct Cauchy {
  T median, sigma;
  __device__ T operator()(T x) const {
    constexpr T least = std::numeric_limits<T>::epsilon();
    const T inside = x > T(1) - least ? T(1) - least : x < least ? least : x;
    return median + sigma * fast_tan(T(3.14159265358979323846) * (inside - T(0.5)));
  }
};

constexpr uint64_t kWideRange = uint64_t{1} << 28;  // from here on 32 bits would be noticeably skewed

template <typename T>
void fill_integers(const Tensor& out, int64_t from, uint64_t range, const Generator& generator) {
  T* data = out.data_ptr<T>();
  if (range != 0 && range < kWideRange) {
    return draw<4>(out.numel(), generator, [=] __device__(int64_t index, const Numbers& numbers, int i) {
      data[index] = static_cast<T>(static_cast<int64_t>(numbers.word[i] % static_cast<uint32_t>(range)) + from);
    });
  }
  draw<2>(out.numel(), generator, [=] __device__(int64_t index, const Numbers& numbers, int i) {
    const uint64_t wide = numbers.long_word(i);
    data[index] = static_cast<T>(static_cast<int64_t>(range == 0 ? wide : wide % range) + from);
  });
}

// Four neighbours have their numbers from one stream.
template <typename T, typename P>
void fill_by_probabilities(const Tensor& out, const P* probabilities, const Generator& generator) {
  T* data = out.data_ptr<T>();
  const PhiloxState state = take(generator, 10);
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const Numbers numbers = Philox(state, index / 4).next();
    data[index] =
        static_cast<T>(numbers.uniform(static_cast<int>(index % 4), 0.0f) <= static_cast<float>(probabilities[index]));
  });
}

}  // namespace

void uniform_kernel(const Tensor& self, double from, double to, const Generator& generator) {
  with_memory(self, [&](const Tensor& out) {
    dispatch_floating_types(out.dtype(), "uniform_", [&](auto tag) {
      using T = typename decltype(tag)::type;
      fill_from_uniform<T, T>(out, generator,
                              Uniform<T>{static_cast<T>(from), static_cast<T>(to - from), static_cast<T>(to)});
    });
  });
}

void normal_kernel(const Tensor& self, double mean, double std, const Generator& generator) {
  with_memory(self, [&](const Tensor& out) {
    dispatch_floating_types(out.dtype(), "normal_", [&](auto tag) {
      using T = typename decltype(tag)::type;
      fill_from_normal<T, T>(out, generator, Normal<T>{static_cast<T>(mean), static_cast<T>(std)});
    });
  });
}

void random_kernel(const Tensor& self, int64_t from, uint64_t range, const Generator& generator) {
  with_memory(self, [&](const Tensor& out) {
    dispatch_all_types(out.dtype(), "random_",
                       [&](auto tag) { fill_integers<typename decltype(tag)::type>(out, from, range, generator); });
  });
}

void bernoulli_kernel(const Tensor& self, const Tensor& probabilities, double p, const Generator& generator) {
  const Tensor packed = probabilities.defined() ? probabilities.expand(self.sizes()).contiguous() : Tensor();
  with_contiguous(packed.defined() ? self : in_memory_order(self), [&](const Tensor& out) {
    dispatch_all_types(out.dtype(), "bernoulli_", [&](auto tag) {
      using T = typename decltype(tag)::type;
      using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
      if (!packed.defined()) return fill_from_uniform<T, A>(out, generator, Below<A>{static_cast<A>(p)});
      dispatch_floating_types(packed.dtype(), "bernoulli_", [&](auto p_tag) {
        fill_by_probabilities<T>(out, packed.data_ptr<typename decltype(p_tag)::type>(), generator);
      });
    });
  });
}

namespace {

template <typename T, typename A>
void fill_from(const Tensor& out, Distribution distribution, A first, A second, const Generator& generator) {
  switch (distribution) {
    case Distribution::exponential: return fill_from_uniform<T, A>(out, generator, Exponential<A>{first});
    case Distribution::geometric: return fill_from_uniform<T, A>(out, generator, Geometric<A>{first});
    case Distribution::cauchy: return fill_from_uniform<T, A>(out, generator, Cauchy<A>{first, second});
    case Distribution::log_normal: return fill_from_normal<T, A>(out, generator, LogNormal<A>{first, second});
    default: TORCH_INTERNAL_ASSERT(false, "a distribution of counts");
  }
}

}  // namespace

void distribution_kernel(const Tensor& self, Distribution distribution, double first, double second,
                         const Generator& generator) {
  with_memory(self, [&](const Tensor& out) {
    if (!out.is_floating_point()) {  // geometric numbers
      const Tensor wide = at::empty(out.sizes(), out.options().dtype(kFloat));
      fill_from<float>(wide, distribution, static_cast<float>(first), static_cast<float>(second), generator);
      Tensor(out).copy_(wide);
      return;
    }
    dispatch_floating_types(out.dtype(), "distribution", [&](auto tag) {
      using T = typename decltype(tag)::type;
      fill_from<T>(out, distribution, static_cast<T>(first), static_cast<T>(second), generator);
    });
  });
}

namespace {

template <typename T>
void fill_with_gammas(const Tensor& out, const Tensor& shapes, const Generator& generator) {
  const PhiloxState state = take(generator, 1024);
  T* to = out.data_ptr<T>();
  const T* a = shapes.data_ptr<T>();
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    Philox stream(state, index);
    const auto uniform = [&stream] { return stream.next().uniform(0, 0.0); };
    const auto normal = [&stream] {
      double two[2];
      stream.next().make_normal(two);
      return two[0];
    };
    const T drawn = static_cast<T>(draw_gamma(a[index], uniform, normal));
    to[index] = drawn < std::numeric_limits<T>::min() ? std::numeric_limits<T>::min() : drawn;
  });
}

template <typename T>
void fill_with_counts(const Tensor& out, const Tensor& first, const Tensor& second, const Generator& generator) {
  // Rejection takes as many numbers as it takes: far more than this are never wanted of one stream.
  const PhiloxState state = take(generator, 1024);
  T* to = out.data_ptr<T>();
  const T* a = first.data_ptr<T>();
  const T* b = second.defined() ? second.data_ptr<T>() : nullptr;
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    Philox stream(state, index);
    const auto uniform = [&stream] { return stream.next().uniform(0, 0.0); };
    to[index] = static_cast<T>(b ? draw_binomial(a[index], b[index], uniform) : draw_poisson(a[index], uniform));
  });
}

}  // namespace

void elementwise_distribution_kernel(const Tensor& out, const Tensor& first, const Tensor& second,
                                     Distribution distribution, const Generator& generator) {
  dispatch_floating_types(out.dtype(), "elementwise_distribution", [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (distribution == Distribution::gamma)
      fill_with_gammas<T>(out, first, generator);
    else
      fill_with_counts<T>(out, first, second, generator);
  });
}

namespace {

// A number for each sample of each row, from a stream of its own: PyTorch has 128 threads to a block, as many blocks as
// a row needs, and 65535 rows at a time.
template <typename T>
void fill_rows(const Tensor& out, const Generator& generator) {
  constexpr int64_t kBlock = 128, kMostRows = 65535;
  const int64_t samples = out.sizes().back();
  const int64_t streams = (samples - 1) / kBlock * kBlock + kBlock;
  const int64_t rows = out.numel() / samples;
  const int64_t at_once = std::min(rows, kMostRows);
  const PhiloxState state = take(generator, 4 * static_cast<uint64_t>((rows - 1) / at_once + 1));
  T* data = out.data_ptr<T>();
  for_each_index(out.numel(), [=] __device__(int64_t index) {
    const int64_t row = index / samples;
    Philox stream(state, row % at_once * streams + index % samples);
    stream.skip(row / at_once);
    data[index] = static_cast<T>(stream.next().uniform(0, 0.0f));
  });
}

}  // namespace

void multinomial_kernel(const Tensor& out, const Tensor& self, bool replacement, const Generator& generator) {
  const int64_t samples = out.sizes().back();
  if (!replacement || samples == 1) {
    // The largest of weight / exponential(1) are a sample without replacement.
    const Tensor waits = at::empty(self.sizes(), self.options());
    distribution_kernel(waits, Distribution::exponential, 1, 0, generator);
    Tensor(out).copy_(std::get<1>(at::topk(at::div(self, waits), samples, -1, true, true)));
    return;
  }
  const Tensor sums = at::cumsum(self, -1);
  const Tensor totals = sums.narrow(-1, sums.sizes().back() - 1, 1);
  const Tensor drawn = at::empty(out.sizes(), self.options());
  dispatch_floating_types(drawn.dtype(), "multinomial",
                          [&](auto tag) { fill_rows<typename decltype(tag)::type>(drawn, generator); });
  // In (0, 1], so that a weight of 0 is never met.
  const Tensor places = at::searchsorted(at::div(sums, totals).contiguous(), drawn);
  Tensor(out).copy_(at::clamp(places, Scalar(0), Scalar(self.sizes().back() - 1)));
}

}  // namespace at::native::cuda
