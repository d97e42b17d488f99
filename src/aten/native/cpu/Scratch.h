#pragma once
// Memory for a while.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace at::native::cpu {

// Frees what it was given, whatever the pointer points to.
struct ScratchDeleter {
  void* memory = nullptr;
  void operator()(void*) const { ::operator delete(memory); }
};
template <typename T>
using Scratch = std::unique_ptr<T[], ScratchDeleter>;

// Numbers that are not initialised, from the beginning of a cache line on: no vector lies in two. (What the allocator
// aligns itself it does not find again among what was freed.)
template <typename T>
Scratch<T> scratch(int64_t count) {
  constexpr std::size_t kCacheLine = 64;  // bytes
  std::size_t room = static_cast<std::size_t>(count) * sizeof(T) + kCacheLine;
  void* const memory = ::operator new(room);
  void* aligned = memory;
  std::align(kCacheLine, room - kCacheLine, aligned, room);
  return Scratch<T>(static_cast<T*>(aligned), ScratchDeleter{memory});
}

}  // namespace at::native::cpu
