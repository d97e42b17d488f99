#pragma once
// Who touched which byte, and when: two threads that touch the same byte, one of them writing, with no barrier between.

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace cuda_emulation {

// A thread of the grid at a moment: barriers of its block and meetings of its warp that are behind it.
struct Moment {
  uint32_t block = 0;
  uint32_t thread = 0;
  uint32_t barriers = 0;
  uint32_t meetings = 0;
};

class RaceTable {
 public:
  // False: this access and an earlier one are not in order. `shared`: writes of two threads count, too; in device
  // memory only a read beside a write does, since the last of several writers may win there (scatter).
  bool note(const void* address, size_t bytes, bool writes, bool shared, const Moment& now);
  void clear() { bytes_.clear(); }

 private:
  struct Touch {
    Moment write, read;
    bool written = false, was_read = false;
    bool read_by_several = false;
  };
  std::unordered_map<const char*, Touch> bytes_;
};

}  // namespace cuda_emulation
