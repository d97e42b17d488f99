#pragma once

#include <cstdint>

namespace at::native::cpu {

// Images of so many channels, which lie last, are resampled two by two pixels at a time, halves, too.
constexpr int64_t kLeastMixed = 4;

}  // namespace at::native::cpu
