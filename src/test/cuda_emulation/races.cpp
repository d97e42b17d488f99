#include "races.h"

#include <algorithm>

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

void RaceTable::clear() {
  lines_.clear();
  if (++age_ == 0) {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    age_ = 1;
  }
}

RaceTable::Slot& RaceTable::find_slot(uintptr_t number) {
  size_t place = (number * 0x9e3779b97f4a7c15) >> 32;
  while (true) {
    Slot& slot = slots_[place & (slots_.size() - 1)];
    if (slot.age != age_ || lines_[slot.line].number == number) return slot;
    ++place;
  }
}

void RaceTable::grow() {
  slots_.assign(std::max<size_t>(1024, slots_.size() * 2), Slot{});
  for (uint32_t line = 0; line < lines_.size(); ++line) find_slot(lines_[line].number) = {age_, line};
}

RaceTable::Line& RaceTable::find(uintptr_t number) {
  if (lines_.size() >= slots_.size() / 2) grow();
  Slot& slot = find_slot(number);
  if (slot.age != age_) {
    slot = {age_, static_cast<uint32_t>(lines_.size())};
    lines_.emplace_back().number = number;
  }
  return lines_[slot.line];
}

bool RaceTable::note(const void* address, size_t bytes, bool writes, bool shared, const Moment& now) {
  bool ordered = true;
  const auto first = reinterpret_cast<uintptr_t>(address);
  Line* line = nullptr;
  for (uintptr_t place = first; place < first + bytes; ++place) {
    if (line == nullptr || line->number != place / kLineBytes) line = &find(place / kLineBytes);
    Touch& touch = line->touches[place % kLineBytes];
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
