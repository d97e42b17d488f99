#pragma once
// The state of a random number generator on one device; the numbers themselves are drawn by the backend's kernels.

#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace c10 {

class C10_API GeneratorImpl : public intrusive_ptr_target {
 public:
  explicit GeneratorImpl(Device device) : device_(device) {}
  ~GeneratorImpl() override;

  Device device() const { return device_; }
  virtual void set_current_seed(uint64_t seed) = 0;
  virtual uint64_t current_seed() const = 0;
  // Seeds from the operating system's randomness and returns that seed.
  virtual uint64_t seed() = 0;
  // The whole state as bytes, in PyTorch's format for the device (5,056 bytes on the CPU).
  virtual std::vector<uint8_t> state() const = 0;
  virtual void set_state(const std::vector<uint8_t>& state) = 0;
  virtual intrusive_ptr<GeneratorImpl> clone() const = 0;

  // Held while numbers are drawn.
  std::mutex mutex;

 private:
  Device device_;
};

}  // namespace c10
