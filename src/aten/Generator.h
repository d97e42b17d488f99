#pragma once
// A handle on a random number generator; undefined means the device's default one.

#include <c10/core/Backend.h>

namespace at {

class Generator {
 public:
  Generator() = default;
  explicit Generator(c10::intrusive_ptr<c10::GeneratorImpl> impl) : impl_(std::move(impl)) {}
  bool defined() const { return static_cast<bool>(impl_); }
  c10::GeneratorImpl* impl() const { return impl_.get(); }
  c10::GeneratorImpl* operator->() const { return impl_.get(); }
  const c10::intrusive_ptr<c10::GeneratorImpl>& impl_ptr() const { return impl_; }

 private:
  c10::intrusive_ptr<c10::GeneratorImpl> impl_;
};

// The generator that torch.manual_seed seeds, for a device.
inline Generator default_generator(c10::Device device = c10::kCPU) {
  return Generator(c10::get_backend(device.type()).default_generator(device.index()));
}

}  // namespace at
