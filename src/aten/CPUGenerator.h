#pragma once
// The CPU's random numbers: MT19937, drawn in PyTorch's order so that a seed gives the same tensors.

#include <aten/Generator.h>

#include <array>
#include <optional>

namespace at {

class TORCH_API CPUGenerator final : public c10::GeneratorImpl {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  explicit CPUGenerator(uint64_t seed = kDefaultSeed);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override;
  std::vector<uint8_t> state() const override;
  // Throws Error unless `state` is 5,056 bytes that describe a generator.
  void set_state(const std::vector<uint8_t>& state) override;
  c10::intrusive_ptr<c10::GeneratorImpl> clone() const override;

  // 32 random bits.
  uint32_t random() {
    if (--left_ == 0) twist();
    uint32_t bits = words_[next_++];
    bits ^= bits >> 11;
    bits ^= (bits << 7) & 0x9d2c5680u;
    bits ^= (bits << 15) & 0xefc60000u;
    return bits ^ (bits >> 18);
  }
  // 64 random bits: the first word drawn is the upper half.
  uint64_t random64() {
    const uint64_t high = random();
    return (high << 32) | random();
  }
  // Uniform in [0, 1), with as many random bits as the type has digits.
  template <typename T>
  T uniform() {
    if constexpr (sizeof(T) == 4) {
      return static_cast<T>(random() & ((uint32_t{1} << 24) - 1)) * static_cast<T>(1.0 / (uint32_t{1} << 24));
    } else {
      return static_cast<T>(random64() & ((uint64_t{1} << 53) - 1)) *
             static_cast<T>(1.0 / (uint64_t{1} << 53));
    }
  }
  // Standard normal; they are made in pairs and the second one is kept for the next call.
  double normal();

 private:
  static constexpr int kWords = 624;
  void twist();

  uint64_t seed_;
  std::array<uint32_t, kWords> words_;
  int32_t left_ = 1;   // words until the next twist, plus one
  uint32_t next_ = 0;  // word to be drawn
  std::optional<double> next_normal_;
};

// `generator`'s CPUGenerator, or the default one's when it is undefined. Lock its mutex while drawing.
TORCH_API CPUGenerator& cpu_generator(const Generator& generator);

// The process-wide generator that torch.manual_seed seeds.
TORCH_API const c10::intrusive_ptr<c10::GeneratorImpl>& default_cpu_generator();

}  // namespace at
