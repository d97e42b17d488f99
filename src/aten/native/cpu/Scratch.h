#pragma once
// Memory for a while.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace at::native::cpu {

constexpr std::align_val_t kCacheLine{64};  // in bytes: no vector of what begins there lies in two

struct ScratchDeleter {
  void operator()(void* data) const { ::operator delete(data, kCacheLine); }
};
template <typename T>
using Scratch = std::unique_ptr<T[], ScratchDeleter>;

// Numbers that are not initialised, from the beginning of a cache line on.
template <typename T>
Scratch<T> scratch(int64_t count) {
  return Scratch<T>(static_cast<T*>(::operator new(static_cast<std::size_t>(count) * sizeof(T), kCacheLine)));
}

}  // namespace at::native::cpu
