// Numbers drawn one after another from one stream: PyTorch's algorithms, so that a seed gives its numbers.

#include <aten/CPUGenerator.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/TensorIterator.h>
#include <aten/native/cpu/Conversion.h>
#include <aten/native/cpu/box_muller.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace at::native::cpu {

namespace {

// Ranges from here on are drawn from 64 bits: from 32 they would be noticeably skewed.
constexpr uint64_t kWideRange = uint64_t{1} << 28;

// draw() for every element, in the order of memory.
template <typename T, typename Draw>
void fill_serially(const Tensor& self, Draw&& draw) {
  Tensor out = self;
  const auto iter = TensorIterator(TensorIteratorConfig().output(out).leave_dtypes().allow_overlap());
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t count) {
        if constexpr (c10::is_reduced_floating_v<T>) {  // rounded many at a time
          constexpr int64_t kBlock = 256;
          static const Conversion round(c10::CppTypeToScalarType<T>::value, kFloat);
          float drawn[kBlock];
          for (int64_t done = 0; done < count; done += kBlock) {
            const int64_t part = std::min(kBlock, count - done);
            for (int64_t i = 0; i < part; ++i) drawn[i] = static_cast<float>(draw());
            round(data[0] + done * strides[0], strides[0], reinterpret_cast<const char*>(drawn), sizeof(float), part);
          }
        } else {
          for (int64_t i = 0; i < count; ++i)
            *reinterpret_cast<T*>(data[0] + i * strides[0]) = static_cast<T>(draw());
        }
      },
      0, iter.numel());
}

template <typename T>
void normal_contiguous(T* data, int64_t count, T mean, T std, CPUGenerator& generator) {
  for (int64_t i = 0; i < count; ++i) data[i] = generator.uniform<T>();
  box_muller(data, count / 16, mean, std);
  if (count % 16 != 0) {  // the last 16 once more, from new numbers
    T* last = data + count - 16;
    for (int i = 0; i < 16; ++i) last[i] = generator.uniform<T>();
    box_muller(last, 1, mean, std);
  }
}

}  // namespace

void uniform_kernel(const Tensor& self, double from, double to, const Generator& given) {
  CPUGenerator& generator = cpu_generator(given);
  const std::lock_guard<std::mutex> lock(generator.mutex);
  dispatch_floating_types(self.dtype(), "uniform_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto low = static_cast<scalar_t>(from);
    const auto width = static_cast<scalar_t>(to) - low;
    // One rounding, as PyTorch's compiler contracts it: so that initial weights are the same to the last bit.
    fill_serially<scalar_t>(self, [&] { return std::fma(generator.uniform<scalar_t>(), width, low); });
  });
}

void normal_kernel(const Tensor& self, double mean, double std, const Generator& given) {
  CPUGenerator& generator = cpu_generator(given);
  const std::lock_guard<std::mutex> lock(generator.mutex);
  dispatch_floating_types(self.dtype(), "normal_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    if (self.numel() >= 16 && self.is_contiguous()) {
      normal_contiguous(self.data_ptr<scalar_t>(), self.numel(), static_cast<scalar_t>(mean),
                        static_cast<scalar_t>(std), generator);
    } else {
      fill_serially<scalar_t>(self, [&] { return generator.normal() * std + mean; });
    }
  });
}

// The remainder of 32 bits by what is less than 2^32, without a division (Lemire, Kaser and Kurz).
class Remainder {
 public:
  explicit Remainder(uint64_t divisor) : divisor_(divisor), factor_(~uint64_t{0} / divisor + 1) {}
  uint64_t operator()(uint32_t number) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(factor_ * number) * divisor_) >> 64);
  }

 private:
  uint64_t divisor_;
  uint64_t factor_;
};

// Integers from `from` on, `range` of them; a range of 0 stands for 2^64.
void random_kernel(const Tensor& self, int64_t from, uint64_t range, const Generator& given) {
  CPUGenerator& generator = cpu_generator(given);
  const std::lock_guard<std::mutex> lock(generator.mutex);
  // The whole of int32 from 0 up is 31 bits of one draw, not a remainder of two.
  const bool narrow =
      range != 0 && (range < kWideRange || (self.dtype() == kInt && from == 0 && range == uint64_t{1} << 31));
  dispatch_ordered_types(self.dtype(), "random_", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto offset = static_cast<uint64_t>(from);
    if (narrow) {
      fill_serially<scalar_t>(self, [&, remainder = Remainder(range)] {
        return static_cast<int64_t>(remainder(generator.random()) + offset);
      });
    } else if ((range & (range - 1)) == 0 && range != 0) {
      fill_serially<scalar_t>(
          self, [&] { return static_cast<int64_t>((generator.random64() & (range - 1)) + offset); });
    } else if (range != 0) {
      fill_serially<scalar_t>(self,
                              [&] { return static_cast<int64_t>(generator.random64() % range + offset); });
    } else {
      fill_serially<scalar_t>(self, [&] { return static_cast<int64_t>(generator.random64()); });
    }
  });
}

void bernoulli_kernel(const Tensor& self, const Tensor& probabilities, double p, const Generator& given) {
  CPUGenerator& generator = cpu_generator(given);
  const std::lock_guard<std::mutex> lock(generator.mutex);
  if (!probabilities.defined()) {
    dispatch_real_types(self.dtype(), "bernoulli_", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      fill_serially<scalar_t>(self, [&] { return generator.uniform<double>() < p; });
    });
    return;
  }
  dispatch_floating_types(probabilities.dtype(), "bernoulli", [&](auto type) {
    using probability_t = typename decltype(type)::type;
    Tensor out = self;
    const auto iter = TensorIterator(TensorIteratorConfig().output(out).input(probabilities));
    iter.serial_for_each(
        [&](char** data, const int64_t* strides, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            const probability_t chance = *reinterpret_cast<const probability_t*>(data[1] + i * strides[1]);
            TORCH_CHECK(chance >= 0 && chance <= 1,
                        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error ",
                        "message be improved?  If so, please report an enhancement request to PyTorch.)");
            *reinterpret_cast<probability_t*>(data[0] + i * strides[0]) =
                generator.uniform<probability_t>() < chance;
          }
        },
        0, iter.numel());
  });
}

void randperm_kernel(const Tensor& out, const Generator& given) {
  CPUGenerator& generator = cpu_generator(given);
  const std::lock_guard<std::mutex> lock(generator.mutex);
  dispatch_real_types(out.dtype(), "randperm", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    scalar_t* values = out.data_ptr<scalar_t>();
    const int64_t count = out.numel();
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<scalar_t>(i);
    for (int64_t i = 0; i + 1 < count; ++i) {
      const uint32_t drawn = generator.random();
      const auto left = static_cast<uint64_t>(count - i);
      const bool is_narrow = left <= std::numeric_limits<uint32_t>::max();  // which divides in half of the time
      const uint64_t other = i + (is_narrow ? drawn % static_cast<uint32_t>(left) : drawn);
      std::swap(values[i], values[other]);
    }
  });
}

namespace {

// The running sums of a row, and its sum: alone, so that it stays in a register.
template <typename T>
C10_NOINLINE T sum_up(const T* row, int64_t count, T* sums) {
  T total = 0;
  for (int64_t i = 0; i < count; ++i) sums[i] = total += row[i];
  return total;
}

}  // namespace

void multinomial_kernel(const Tensor& out, const Tensor& self, bool replacement, const Generator& given) {
  CPUGenerator& generator = cpu_generator(given);
  const std::lock_guard<std::mutex> lock(generator.mutex);
  const Tensor weights = at::detail::to_contiguous(self);
  const int64_t categories = self.sizes()[self.dim() - 1];
  const int64_t samples = out.sizes()[out.dim() - 1];
  const int64_t rows = self.numel() / std::max<int64_t>(categories, 1);
  int64_t* result = out.data_ptr<int64_t>();
  dispatch_floating_types(self.dtype(), "multinomial", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* values = weights.data_ptr<scalar_t>();
    if (!replacement || samples == 1) {
      // The largest of weight / exponential(1) are a sample without replacement.
      std::vector<std::pair<scalar_t, int64_t>> keys(categories);
      const auto is_before = [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
      };
      const bool few = samples <= 32;  // they stand in order while the others pass
      for (int64_t i = 0; i < rows; ++i) {
        int64_t count = 0;
        constexpr int64_t kBlock = 256;
        constexpr bool is_rounded = !std::is_same_v<scalar_t, double>;
        double block[kBlock];
        for (int64_t j = 0; j < categories; ++j) {
          if (j % kBlock == 0) {
            const int64_t part = std::min(kBlock, categories - j);
            for (int64_t k = 0; k < part; ++k) block[k] = generator.uniform<double>();
            if constexpr (is_rounded) log_of_complements(block, part);
          }
          const double uniform_or_log = block[j % kBlock];
          const auto drawn = static_cast<scalar_t>(is_rounded ? -uniform_or_log : -std::log1p(-uniform_or_log));
          const std::pair<scalar_t, int64_t> key(values[i * categories + j] / drawn, j);
          if (!few) {
            keys[j] = key;
            continue;
          }
          if (count == samples && !is_before(key, keys[count - 1])) continue;
          int64_t place = count < samples ? count++ : count - 1;
          for (; place > 0 && is_before(key, keys[place - 1]); --place) keys[place] = keys[place - 1];
          keys[place] = key;
        }
        if (!few && samples < categories)
          std::nth_element(keys.begin(), keys.begin() + samples, keys.end(), is_before);
        if (!few) std::sort(keys.begin(), keys.begin() + samples, is_before);
        for (int64_t j = 0; j < samples; ++j) result[i * samples + j] = keys[j].second;
      }
      return;
    }
    std::vector<scalar_t> row(categories);
    const bool looks_at_few = samples * 16 < categories;  // sums, which are divided when they are looked at
    for (int64_t i = 0; i < rows; ++i) {
      const scalar_t total = sum_up(values + i * categories, categories, row.data());
      const scalar_t divisor = looks_at_few ? total : scalar_t(1);
      for (int64_t j = 0; !looks_at_few && j < categories; ++j) row[j] /= total;
      row.back() = divisor;  // whatever rounding says
      for (int64_t j = 0; j < samples; ++j) {
        const double drawn = generator.uniform<double>();
        const auto place = std::lower_bound(row.begin(), row.end(), drawn,
                                            [=](scalar_t sum, double value) { return sum / divisor < value; });
        result[i * samples + j] = std::min<int64_t>(place - row.begin(), categories - 1);
      }
    }
  });
}

}  // namespace at::native::cpu
