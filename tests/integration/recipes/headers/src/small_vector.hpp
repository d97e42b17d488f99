#pragma once
#include <array>
#include <cstddef>

// At most N values, in place.
template <typename T, std::size_t N>
struct small_vector {
  std::array<T, N> values{};
  std::size_t size = 0;

  void push_back(T value) { values[size++] = value; }
};
