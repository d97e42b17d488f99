#pragma once
// How a new tensor is to be made; what is not said is decided by the operator.

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <optional>

namespace c10 {

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : dtype_opt(dtype) {}    // NOLINT: implicit
  TensorOptions(Device device) : device_opt(device) {}     // NOLINT: implicit
  TensorOptions(DeviceType device) : device_opt(device) {}  // NOLINT: implicit

  TensorOptions dtype(std::optional<ScalarType> value) const {
    TensorOptions result = *this;
    result.dtype_opt = value;
    return result;
  }
  TensorOptions device(std::optional<Device> value) const {
    TensorOptions result = *this;
    result.device_opt = value;
    return result;
  }
  TensorOptions layout(std::optional<Layout> value) const {
    TensorOptions result = *this;
    result.layout_opt = value;
    return result;
  }
  TensorOptions requires_grad(bool value) const {
    TensorOptions result = *this;
    result.requires_grad_flag = value;
    return result;
  }

  ScalarType dtype() const { return dtype_opt ? *dtype_opt : get_default_dtype(); }
  Device device() const { return device_opt ? *device_opt : Device(kCPU); }
  Layout layout() const { return layout_opt ? *layout_opt : kStrided; }
  bool requires_grad() const { return requires_grad_flag; }
  bool pinned_memory() const { return pin_memory_flag; }

  std::optional<ScalarType> dtype_opt;
  std::optional<Device> device_opt;
  std::optional<Layout> layout_opt;
  bool pin_memory_flag = false;
  bool requires_grad_flag = false;  // honoured by the at:: factories, not by native functions
};

inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device where) { return TensorOptions(where); }

}  // namespace c10
