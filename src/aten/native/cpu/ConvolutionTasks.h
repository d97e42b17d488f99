#pragma once
// How convolutions are divided into tasks.

#include <aten/native/cpu/Scratch.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace at::native::cpu {

constexpr int64_t kShortPanel = 16;            // columns, of floats, where vectors have 8
constexpr int64_t kPartialSumBytes = 1 << 26;  // of a weight's gradient, over all threads

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Tasks that are worth a thread, where `serial_work` multiplications do not pay for waking one.
inline int64_t grain_for(int64_t work, int64_t tasks, int64_t serial_work = 1 << 15) {
  return std::max<int64_t>(1, serial_work / std::max<int64_t>(work / std::max<int64_t>(tasks, 1), 1));
}

// out += the other chunks' sums, which lie one behind the other.
template <typename T>
void add_partial_sums(T* out, const T* partial, int64_t chunks, int64_t size) {
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    const T* from = partial + (chunk - 1) * size;
    for (int64_t i = 0; i < size; ++i) out[i] = static_cast<T>(out[i] + from[i]);
  }
}

}  // namespace at::native::cpu
