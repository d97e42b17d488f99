// Writing into tensors, copies, and conversion between dtypes and devices.

#include <aten/EmptyTensor.h>
#include <aten/Functions.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>

#include <cstring>

namespace at::native {

namespace {

// A number as one element of `dtype` takes it: what a half cannot hold is infinite there. (Several elements throw.)
Scalar as_element(const Scalar& value, ScalarType dtype) {
  if (value.is_complex()) return value;
  const auto number = static_cast<float>(value.toDouble());
  if (dtype == kHalf) return static_cast<c10::Half>(number);
  return dtype == kBFloat16 ? Scalar(static_cast<c10::BFloat16>(number)) : value;
}

}  // namespace

Tensor& fill_(Tensor& self, const Scalar& value) {
  TensorIterator(TensorIteratorConfig().output(self).leave_dtypes().allow_overlap())
      .run(fill_kernels, self.numel() == 1 ? as_element(value, self.dtype()) : value);
  return self;
}

Tensor& fill_tensor_(Tensor& self, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
              " dimensions.");
  return self.copy_(value);
}

Tensor& zero_(Tensor& self) {
  if (self.is_cpu() && self.is_contiguous() && self.nbytes() < 4096) {  // too small for threads
    if (self.numel() != 0) std::memset(self.data_ptr(), 0, self.nbytes());
    return self;
  }
  return native::fill_(self, 0);
}

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  TORCH_CHECK(src.defined(), "copy_: the source is undefined");
  if (self.is_same(src)) return self;
  auto iter = TensorIterator::copy_op(self, src);
  if (iter.numel() == 0 || self.is_meta()) return self;
  TORCH_CHECK_NOT_IMPLEMENTED(!src.is_meta(), "Cannot copy out of meta tensor; no data!");
  // A copy from or to a device is that device's business, whichever side it is on.
  const Device device = self.is_cpu() ? src.device() : self.device();
  const c10::DeviceGuard guard(device);
  copy_kernels(device.type(), iter, non_blocking);
  return self;
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  Tensor result = native::empty_like(self, {}, memory_format);
  detail::copy_into(result, self);
  return result;
}

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  if (self.is_contiguous(memory_format)) return self;
  TORCH_CHECK(memory_format != MemoryFormat::Preserve,
              "preserve memory format is unsupported by the contiguous operator");
  return at::clone(self, memory_format);
}

Tensor _to_copy(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Device> device, bool non_blocking,
                std::optional<MemoryFormat> memory_format) {
  TensorOptions options;
  Tensor result = native::empty_like(self, options.dtype(dtype).device(device), memory_format);
  return native::copy_(result, self, non_blocking);
}

namespace {
bool lies_in(const Tensor& self, std::optional<MemoryFormat> format) {
  return !format || *format == MemoryFormat::Preserve || *format == self.suggest_memory_format();
}
}  // namespace

Tensor to_dtype(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy,
                std::optional<MemoryFormat> memory_format) {
  if (self.dtype() == dtype && !copy && lies_in(self, memory_format)) return self;
  return at::_to_copy(self, dtype, std::nullopt, non_blocking, memory_format);
}

Tensor to_device(const Tensor& self, std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking,
                 bool copy, std::optional<MemoryFormat> memory_format) {
  if (device && device->is_cuda() && !device->has_index()) {
    device = Device(kCUDA, c10::get_backend(kCUDA).current_device());
  }
  if (device && device->is_cpu()) device = Device(kCPU);  // "cpu:0" is the same place
  const bool same = device.value_or(self.device()) == self.device() && dtype.value_or(self.dtype()) == self.dtype();
  if (same && !copy && lies_in(self, memory_format)) return self;
  return at::_to_copy(self, dtype, device, non_blocking, memory_format);
}

Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
                std::optional<MemoryFormat> memory_format) {
  return native::to_device(self, other.device(), other.dtype(), non_blocking, copy, memory_format);
}

Tensor type_as(const Tensor& self, const Tensor& other) { return self.to(other); }

Scalar item(const Tensor& self) {
  TORCH_CHECK(self.numel() == 1, "a Tensor with ", self.numel(), " elements cannot be converted to Scalar");
  TORCH_CHECK(!self.is_meta(), "Tensor.item() cannot be called on meta tensors");
  if (self.is_cpu()) return detail::load_scalar(self.data_ptr(), self.dtype());
  Tensor host = detail::empty({}, self.dtype(), kCPU);
  detail::copy_into(host, detail::make_view(self, {}, {}, self.storage_offset()));
  return detail::load_scalar(host.data_ptr(), self.dtype());
}

bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }
bool is_set_to(const Tensor& self, const Tensor& tensor) {
  return self.storage().impl() == tensor.storage().impl() && self.storage_offset() == tensor.storage_offset() &&
         self.sizes() == tensor.sizes() && self.strides() == tensor.strides();
}
bool is_distributed(const Tensor& /*self*/) { return false; }
bool is_vulkan_available() { return false; }

bool is_nonzero(const Tensor& self) {
  TORCH_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(self.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  const Scalar value = at::item(self);
  return value.toBool();
}

}  // namespace at::native
