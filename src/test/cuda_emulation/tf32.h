#pragma once

#include <cstdint>
#include <cstring>

namespace cuda_emulation {

// Of a float what TF32 keeps: 10 bits behind the point.
inline float in_tf32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000) & ~uint32_t{0x1fff};
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

}  // namespace cuda_emulation
