#pragma once
// What an allocator counts, by PyTorch's names.

#include <c10/core/Backend.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace c10::cuda {

// One number over time.
struct Counter {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;  // all that was ever added
  int64_t freed = 0;

  void add(int64_t amount) {
    current += amount;
    peak = std::max(peak, current);
    (amount > 0 ? allocated : freed) += amount > 0 ? amount : -amount;
  }
  void reset_peak() { peak = current; }
  void reset_totals() { allocated = freed = 0; }
  void write(MemoryNumbers& numbers, const std::string& name) const {
    numbers.emplace_back(name + ".current", current);
    numbers.emplace_back(name + ".peak", peak);
    numbers.emplace_back(name + ".allocated", allocated);
    numbers.emplace_back(name + ".freed", freed);
  }
};

// The same of small and of large segments, and of both.
class CounterByPool {
 public:
  void add(bool is_small, int64_t amount) {
    counters_[0].add(amount);
    counters_[is_small ? 2 : 1].add(amount);
  }
  int64_t current() const { return counters_[0].current; }
  void reset(bool totals) {
    for (Counter& counter : counters_) totals ? counter.reset_totals() : counter.reset_peak();
  }
  void write(MemoryNumbers& numbers, const std::string& name) const {
    static constexpr const char* kPools[] = {".all", ".large_pool", ".small_pool"};
    for (size_t i = 0; i < counters_.size(); ++i) counters_[i].write(numbers, name + kPools[i]);
  }

 private:
  std::array<Counter, 3> counters_;
};

// Of one device.
struct MemoryStatistics {
  CounterByPool allocation, allocated_bytes;  // handed out
  CounterByPool segment, reserved_bytes;      // taken from the device
  CounterByPool active, active_bytes;         // handed out, or waiting for another stream
  CounterByPool inactive_split, inactive_split_bytes;  // free, in a segment that is not
  CounterByPool requested_bytes;
  int64_t retries = 0;
  int64_t out_of_memory = 0;
  int64_t device_allocations = 0;  // calls of cudaMalloc
  int64_t device_frees = 0;

  void reset(bool totals) {
    for_each([&](const char*, CounterByPool& counter) { counter.reset(totals); });
    if (totals) retries = out_of_memory = device_allocations = device_frees = 0;
  }
  MemoryNumbers numbers() {
    MemoryNumbers found;
    for_each([&](const char* name, CounterByPool& counter) { counter.write(found, name); });
    found.emplace_back("num_alloc_retries", retries);
    found.emplace_back("num_ooms", out_of_memory);
    found.emplace_back("num_device_alloc", device_allocations);
    found.emplace_back("num_device_free", device_frees);
    return found;
  }

 private:
  template <typename Body>
  void for_each(const Body& body) {
    body("active", active);
    body("active_bytes", active_bytes);
    body("allocated_bytes", allocated_bytes);
    body("allocation", allocation);
    body("inactive_split", inactive_split);
    body("inactive_split_bytes", inactive_split_bytes);
    body("requested_bytes", requested_bytes);
    body("reserved_bytes", reserved_bytes);
    body("segment", segment);
  }
};

}  // namespace c10::cuda
