#pragma once
// The dispatcher: one row of plain function pointers per kernel, one column per backend.

#include <c10/core/Device.h>

namespace c10 {

namespace detail {
[[noreturn]] C10_API void throw_missing_kernel(const char* name, DeviceType type);
}

template <typename Signature>
class KernelTable;

template <typename... Args>
class KernelTable<void(Args...)> {
 public:
  using Kernel = void (*)(Args...);

  // Constant initialised, so that tables are ready before any static constructor runs.
  constexpr KernelTable(const char* name, Kernel cpu) : name_(name), columns_{cpu, nullptr, &nothing} {}

  void operator()(DeviceType type, Args... args) const {
    const Kernel kernel = columns_[static_cast<int>(type)];
    if (C10_UNLIKELY(kernel == nullptr)) detail::throw_missing_kernel(name_, type);
    kernel(static_cast<Args>(args)...);
  }

  // Called by a plug-in while it is loaded, before any tensor of its device exists.
  void set(DeviceType type, Kernel kernel) { columns_[static_cast<int>(type)] = kernel; }
  bool has(DeviceType type) const { return columns_[static_cast<int>(type)] != nullptr; }
  const char* name() const { return name_; }

 private:
  // Meta: shapes and dtypes are settled before a kernel is called, and there is no data.
  static void nothing(Args...) {}

  const char* name_;
  Kernel columns_[kDeviceTypes];
};

}  // namespace c10
