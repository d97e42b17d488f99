#pragma once
// One seeded source for every choice that a device leaves open: CUDA_EMULATION_SEED, 0 if it is not set.

#include <cstdint>

namespace cuda_emulation {

uint64_t random_number();
// Numbers for one thread, cheaply: started from random_number().
class QuickNumbers {
 public:
  explicit QuickNumbers(uint64_t seed) : state_(seed | 1) {}
  uint64_t below(uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 16) % bound;
  }

 private:
  uint64_t state_;
};
inline uint64_t random_below(uint64_t bound) { return random_number() % bound; }

}  // namespace cuda_emulation
