#include "races.h"

namespace cuda_emulation {

namespace {

constexpr uint32_t kWarp = 32;

bool is_same_thread(const Moment& a, const Moment& b) { return a.block == b.block && a.thread == b.thread; }

// Whether `earlier` is over for sure when `now` happens.
bool is_ordered(const Moment& earlier, const Moment& now) {
  if (is_same_thread(earlier, now)) return true;
  if (earlier.block != now.block) return false;
  if (earlier.barriers < now.barriers) return true;
  return earlier.thread / kWarp == now.thread / kWarp && earlier.meetings < now.meetings;
}

}  // namespace

bool RaceTable::note(const void* address, size_t bytes, bool writes, bool shared, const Moment& now) {
  bool ordered = true;
  for (size_t i = 0; i < bytes; ++i) {
    Touch& touch = bytes_[static_cast<const char*>(address) + i];
    if (writes) {
      if (touch.was_read && !is_ordered(touch.read, now)) ordered = false;
      if (touch.read_by_several && touch.read.block == now.block && touch.read.barriers == now.barriers &&
          touch.read.meetings == now.meetings) {
        ordered = false;
      }
      if (shared && touch.written && !is_ordered(touch.write, now)) ordered = false;
      touch.write = now;
      touch.written = true;
      touch.was_read = touch.read_by_several = false;
    } else {
      if (touch.written && !is_ordered(touch.write, now)) ordered = false;
      touch.read_by_several = touch.was_read && !is_same_thread(touch.read, now);
      touch.read = now;
      touch.was_read = true;
    }
  }
  return ordered;
}

}  // namespace cuda_emulation
