#pragma once
// Small planes, some of them at a time: their elements lie side by side, as channels that are last do. Vectors then
// hold what so many planes have at one place.

#include <aten/Parallel.h>
#include <aten/native/cpu/Conversion.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace at::native::cpu {

constexpr int64_t kPlanesAside = 16;  // a multiple of them lies side by side

// body(how many at a time, first, last) for all planes, of so many elements: as many at a time as the first cache
// holds.
template <typename Body>
void for_planes_aside(int64_t planes, int64_t elements, const Body& body) {
  constexpr int64_t kMost = 64;
  constexpr int64_t kCached = 4096;  // elements
  elements = std::max<int64_t>(1, elements);
  const int64_t together = std::clamp(kCached / elements / kPlanesAside * kPlanesAside, kPlanesAside, kMost);
  const int64_t grain = std::max<int64_t>(1, kGrainSize / (elements * together));
  parallel_for(0, (planes + together - 1) / together, grain, [&](int64_t begin, int64_t end) {
    body(together, begin * together, std::min(planes, end * together));
  });
}

// Memory for `most` elements of each of `together` planes, and the way there and back: of `count` planes, `step`
// elements apart.
template <typename T>
class PlanesAside {
 public:
  PlanesAside(int64_t most, int64_t together) : together_(together), aside_(static_cast<size_t>(most * together)) {}

  T* data() { return aside_.data(); }
  const T* read(const T* planes, int64_t step, int64_t elements, int64_t count) {
    transpose_tile(reinterpret_cast<char*>(aside_.data()), together_ * kSize, reinterpret_cast<const char*>(planes),
                   step * kSize, elements, count, kSize);
    return aside_.data();
  }
  void write(T* planes, int64_t step, int64_t elements, int64_t count) const {
    transpose_tile(reinterpret_cast<char*>(planes), step * kSize, reinterpret_cast<const char*>(aside_.data()),
                   together_ * kSize, count, elements, kSize);
  }

 private:
  static constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  int64_t together_;
  std::vector<T> aside_;  // of planes that are missing: 0, or what was there before
};

}  // namespace at::native::cpu
