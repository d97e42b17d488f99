#pragma once
// Who touched which byte, and when: two threads that touch the same byte, one of them writing, with no barrier between.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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
  void clear();

 private:
  struct Touch {
    Moment write, read;
    bool written = false, was_read = false;
    bool read_by_several = false;
  };
  // Neighbouring bytes, of which a kernel mostly touches all.
  static constexpr size_t kLineBytes = 16;
  struct Line {
    uintptr_t number = 0;  // its address by kLineBytes
    std::array<Touch, kLineBytes> touches;
  };
  struct Slot {
    uint32_t age = 0;
    uint32_t line = 0;
  };

  Line& find(uintptr_t number);
  Slot& find_slot(uintptr_t number);
  void grow();

  // A hash table that is emptied by growing older: there is a launch for every few accesses.
  std::vector<Line> lines_;
  std::vector<Slot> slots_;  // a power of two, at most half of them used
  uint32_t age_ = 1;
};

}  // namespace cuda_emulation
