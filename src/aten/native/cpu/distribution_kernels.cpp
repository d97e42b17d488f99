// Distributions beyond the uniform and the normal one: PyTorch's algorithms, so that a seed gives its numbers.

#include <aten/CPUGenerator.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/TensorIterator.h>
#include <aten/native/DistributionFormulas.h>
#include <aten/native/cpu/FusedKernels.h>
#include <aten/native/cpu/box_muller.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace at::native::cpu {

namespace {

constexpr double kPi = 3.14159265358979323846;

constexpr int64_t kBlock = 256;  // numbers that are drawn at a time

// draw() for every element, in the order of memory. They are drawn as double, whatever the type; finish(numbers, count)
// changes many at a time.
template <typename Draw, typename Finish>
void fill_serially(const Tensor& self, const Draw& draw, const Finish& finish) {
  Tensor out = self;
  const auto iter = TensorIterator(TensorIteratorConfig().output(out).leave_dtypes().allow_overlap());
  double drawn[kBlock];
  const auto draw_block = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) drawn[i] = draw();
    finish(drawn, count);
  };
  dispatch_real_types(self.dtype(), "distribution", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    iter.serial_for_each(
        [&](char** data, const int64_t* strides, int64_t count) {
          for (int64_t done = 0; done < count; done += kBlock) {
            const int64_t part = std::min(kBlock, count - done);
            draw_block(part);
            char* const to = data[0] + done * strides[0];
            for (int64_t i = 0; i < part; ++i) {
              *reinterpret_cast<scalar_t*>(to + i * strides[0]) = static_cast<scalar_t>(drawn[i]);
            }
          }
        },
        0, iter.numel());
  });
}
template <typename Draw>
void fill_serially(const Tensor& self, const Draw& draw) {
  fill_serially(self, draw, [](double*, int64_t) {});
}

}  // namespace

void distribution_kernel(const Tensor& self, Distribution distribution, double first, double second,
                         const Generator& given) {
  CPUGenerator& generator = cpu_generator(given);
  const std::lock_guard<std::mutex> lock(generator.mutex);
  const auto uniform = [&] { return generator.uniform<double>(); };
  if (distribution == Distribution::log_normal) {
    fill_serially(self, [&] { return std::exp(generator.normal() * second + first); });
  } else if (distribution == Distribution::exponential) {
    const bool is_rounded = self.dtype() != kDouble;
    fill_serially(self, uniform, [factor = -1 / first, is_rounded](double* drawn, int64_t count) {
      if (is_rounded) log_of_complements(drawn, count);
      for (int64_t i = 0; i < count; ++i) drawn[i] = factor * (is_rounded ? drawn[i] : std::log1p(-drawn[i]));
    });
  } else if (distribution == Distribution::geometric) {
    fill_serially(self, [&, divisor = std::log1p(-first)] { return std::ceil(std::log(uniform()) / divisor); });
  } else {
    fill_serially(self, [&] { return first + second * std::tan(kPi * (uniform() - 0.5)); });
  }
}

void draw_slopes(const Tensor& slopes, const Tensor& self, double low, double high, const Generator& given) {
  CPUGenerator& generator = cpu_generator(given);
  const std::lock_guard<std::mutex> lock(generator.mutex);
  const double width = high - low;
  dispatch_floating_types(self.dtype(), "rrelu_with_noise_out_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto* from = self.data_ptr<scalar_t>();
    auto* to = slopes.data_ptr<scalar_t>();
    for (int64_t i = 0; i < self.numel(); ++i) {
      to[i] = from[i] <= scalar_t(0) ? static_cast<scalar_t>(std::fma(generator.uniform<double>(), width, low))
                                     : scalar_t(1);
    }
  });
}

void elementwise_distribution_kernel(const Tensor& out, const Tensor& first, const Tensor& second,
                                     Distribution distribution, const Generator& given) {
  CPUGenerator& generator = cpu_generator(given);
  const std::lock_guard<std::mutex> lock(generator.mutex);
  const auto uniform = [&] { return generator.uniform<double>(); };
  const auto normal = [&] { return generator.normal(); };
  dispatch_floating_types(out.dtype(), "elementwise_distribution", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scalar_t* to = out.data_ptr<scalar_t>();
    const scalar_t* a = first.data_ptr<scalar_t>();
    if (distribution == Distribution::gamma) {
      for (int64_t i = 0; i < out.numel(); ++i) {  // none is 0, so that numbers can be divided by their sum
        const auto drawn = static_cast<scalar_t>(draw_gamma(a[i], uniform, normal));
        to[i] = std::max(drawn, std::numeric_limits<scalar_t>::min());
      }
      return;
    }
    for (int64_t i = 0; i < out.numel(); ++i) {
      TORCH_CHECK(distribution != Distribution::poisson || a[i] >= 0,
                  "invalid Poisson rate, expected rate to be non-negative");
      const double drawn = distribution == Distribution::poisson
                               ? draw_poisson(a[i], uniform)
                               : draw_binomial(a[i], second.data_ptr<scalar_t>()[i], uniform);
      to[i] = static_cast<scalar_t>(drawn);
    }
  });
}

}  // namespace at::native::cpu
