#include <aten/CPUGenerator.h>

#include <cmath>
#include <cstring>
#include <random>

namespace at {

namespace {

// PyTorch's layout of a saved state: what remains of Torch7's format, then the cached normal number in float.
struct SavedState {
  uint64_t seed;
  int32_t left;
  int32_t seeded;
  uint64_t next;
  uint64_t words[624];
  double normal_x;
  double normal_y;
  double normal_rho;
  int32_t normal_is_valid;
  int32_t padding;
  float next_float_normal;
  bool next_float_normal_is_valid;
};
static_assert(sizeof(SavedState) == 5056, "PyTorch's states have 5,056 bytes");

constexpr double kPi = 3.14159265358979323846;

}  // namespace

CPUGenerator::CPUGenerator(uint64_t seed) : c10::GeneratorImpl(c10::kCPU) { set_current_seed(seed); }

void CPUGenerator::set_current_seed(uint64_t seed) {
  seed_ = seed;
  words_[0] = static_cast<uint32_t>(seed);
  for (int i = 1; i < kWords; ++i) {
    words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + static_cast<uint32_t>(i);
  }
  left_ = 1;
  next_ = 0;
  next_normal_.reset();
}

uint64_t CPUGenerator::seed() {
  std::random_device device;
  // 53 bits, so that Python floats and other readers hold the seed exactly.
  const uint64_t seed = ((static_cast<uint64_t>(device()) << 32) | device()) & ((uint64_t{1} << 53) - 1);
  set_current_seed(seed);
  return seed;
}

void CPUGenerator::twist() {
  constexpr int kShift = 397;
  const auto mix = [](uint32_t upper, uint32_t lower) {
    const uint32_t joined = (upper & 0x80000000u) | (lower & 0x7fffffffu);
    return (joined >> 1) ^ ((lower & 1u) ? 0x9908b0dfu : 0u);
  };
  for (int i = 0; i < kWords - kShift; ++i) words_[i] = words_[i + kShift] ^ mix(words_[i], words_[i + 1]);
  for (int i = kWords - kShift; i < kWords - 1; ++i)
    words_[i] = words_[i + kShift - kWords] ^ mix(words_[i], words_[i + 1]);
  words_[kWords - 1] = words_[kShift - 1] ^ mix(words_[kWords - 1], words_[0]);
  left_ = kWords;
  next_ = 0;
}

double CPUGenerator::normal() {
  if (next_normal_) {
    const double result = *next_normal_;
    next_normal_.reset();
    return result;
  }
  const double angle = 2.0 * kPi * uniform<double>();
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform<double>()));
  next_normal_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

std::vector<uint8_t> CPUGenerator::state() const {
  SavedState saved;
  std::memset(&saved, 0, sizeof(saved));
  saved.seed = seed_;
  saved.left = left_;
  saved.seeded = 1;
  saved.next = next_;
  for (int i = 0; i < kWords; ++i) saved.words[i] = words_[i];
  if (next_normal_) {
    // Torch7 kept the numbers that the pair is made of: y = radius * sin. Here radius is the number and sin
    // is 1.
    saved.normal_y = *next_normal_;
    saved.normal_is_valid = 1;
  }
  std::vector<uint8_t> bytes(sizeof(saved));
  std::memcpy(bytes.data(), &saved, sizeof(saved));
  return bytes;
}

void CPUGenerator::set_state(const std::vector<uint8_t>& state) {
  TORCH_CHECK(state.size() == sizeof(SavedState), "Expected a CPUGeneratorImplState of size ",
              sizeof(SavedState), " but found the input RNG state size to be ", state.size());
  SavedState saved;
  std::memcpy(&saved, state.data(), sizeof(saved));
  const bool valid = saved.seeded == 1 && saved.left >= 1 && saved.left <= kWords &&
                     saved.next <= static_cast<uint64_t>(kWords);
  TORCH_CHECK(valid, "Invalid mt19937 state");
  seed_ = saved.seed;
  left_ = saved.left;
  next_ = static_cast<uint32_t>(saved.next);
  for (int i = 0; i < kWords; ++i) words_[i] = static_cast<uint32_t>(saved.words[i]);
  next_normal_.reset();
  if (saved.normal_is_valid) next_normal_ = saved.normal_y;
}

c10::intrusive_ptr<c10::GeneratorImpl> CPUGenerator::clone() const {
  auto copy = c10::make_intrusive<CPUGenerator>(seed_);
  copy->words_ = words_;
  copy->left_ = left_;
  copy->next_ = next_;
  copy->next_normal_ = next_normal_;
  return copy;
}

const c10::intrusive_ptr<c10::GeneratorImpl>& default_cpu_generator() {
  static const c10::intrusive_ptr<c10::GeneratorImpl> generator = c10::make_intrusive<CPUGenerator>();
  return generator;
}

CPUGenerator& cpu_generator(const Generator& generator) {
  return static_cast<CPUGenerator&>(generator.defined() ? *generator.impl() : *default_cpu_generator());
}

}  // namespace at
