#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/TensorIterator.h>

namespace at::detail {

using c10::Allocator;
using c10::StorageImpl;

namespace {

Allocator* allocator_for(Device device) {
  if (C10_LIKELY(device.is_cpu())) return c10::cpu_allocator();
  return c10::get_backend(device.type()).allocator();
}

Device with_index(Device device) {
  if (!device.is_cuda() || device.has_index()) return device;
  return Device(kCUDA, c10::get_backend(kCUDA).current_device());
}

// Elements of a contiguous tensor of these sizes. Throws when the product does not fit.
int64_t checked_numel(IntArrayRef sizes) {
  int64_t numel = 1;
  bool overflow = false;
  bool empty = false;
  for (const int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
    overflow |= __builtin_mul_overflow(numel, size, &numel);
    empty |= size == 0;
  }
  if (empty) return 0;
  TORCH_CHECK(!overflow, "Storage size calculation overflowed with sizes=", sizes);
  return numel;
}

Storage new_storage(int64_t elements, ScalarType dtype, Device device) {
  int64_t bytes = 0;
  TORCH_CHECK(!__builtin_mul_overflow(elements, static_cast<int64_t>(c10::element_size(dtype)), &bytes),
              "Storage size calculation overflowed for ", elements, " elements of ", dtype);
  const c10::DeviceGuard guard(device);
  return Storage(static_cast<size_t>(bytes), allocator_for(device));
}

// One more than the largest element offset that is used.
int64_t span_of(IntArrayRef sizes, IntArrayRef strides) {
  int64_t span = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TORCH_CHECK(sizes[i] >= 0, "Trying to create tensor with negative dimension ", sizes[i], ": ", sizes);
    TORCH_CHECK(strides[i] >= 0,
                "as_strided: Negative strides are not supported at the moment, got strides: ", strides);
    if (sizes[i] == 0) return 0;
    int64_t reach = 0;
    TORCH_CHECK(
        !__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) && !__builtin_add_overflow(span, reach, &span),
        "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  }
  return span;
}

}  // namespace

Tensor empty(IntArrayRef sizes, ScalarType dtype, Device device) {
  device = with_index(device);
  auto impl = c10::make_intrusive<TensorImpl>(new_storage(checked_numel(sizes), dtype, device), dtype, device);
  impl->set_sizes_contiguous(sizes);
  return Tensor(std::move(impl));
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device) {
  TORCH_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape: ", strides.size(),
              " strides for ", sizes.size(), " dimensions");
  device = with_index(device);
  auto impl = c10::make_intrusive<TensorImpl>(new_storage(span_of(sizes, strides), dtype, device), dtype, device);
  impl->set_sizes_and_strides(sizes, strides, 0);
  return Tensor(std::move(impl));
}

Tensor make_view(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
  auto impl = c10::make_intrusive<TensorImpl>(base.storage(), base.dtype(), base.device());
  impl->set_sizes_and_strides(sizes, strides, storage_offset);
  impl->set_version_counter(base.impl()->version_counter().shared());
  return Tensor(std::move(impl));
}

void resize_output(const Tensor& tensor, IntArrayRef sizes) {
  if (tensor.sizes() == sizes) return;
  const int64_t numel = checked_numel(sizes);
  TensorImpl* impl = tensor.impl();
  const size_t needed = static_cast<size_t>(impl->storage_offset() + numel) * impl->element_size();
  if (numel > 0 && needed > impl->storage().nbytes()) {
    Storage larger = new_storage(impl->storage_offset() + numel, impl->dtype(), impl->device());
    if (StorageImpl* storage = impl->storage().impl()) {
      TORCH_CHECK(storage->allocator() != nullptr,
                  "Trying to resize storage that is not resizable: its memory came from "
                  "elsewhere (NumPy or a file). Give an output of the right shape, ",
                  sizes);
      // In place, so that other tensors on this storage stay with it.
      storage->set_data(larger.impl()->take_data(), needed);
    } else {
      impl->set_storage(std::move(larger));
    }
  }
  const int64_t offset = impl->storage_offset();
  impl->set_sizes_contiguous(sizes);
  if (offset != 0) {
    const DimVector strides(impl->strides());
    impl->set_sizes_and_strides(sizes, strides, offset);
  }
}

void copy_into(const Tensor& destination, const Tensor& src) {
  Tensor out = destination;
  auto iter = TensorIterator::copy_op(out, src);
  // A copy that touches a device is that device's business, whichever side it is on.
  if (iter.numel() == 0 || out.is_meta()) return;
  TORCH_CHECK_NOT_IMPLEMENTED(!src.is_meta(), "Cannot copy out of meta tensor; no data!");
  const Device device = out.is_cpu() ? src.device() : out.device();
  const c10::DeviceGuard guard(device);
  native::copy_kernels(device.type(), iter, /*non_blocking=*/false);
}

Tensor to_contiguous(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  Tensor result = empty(tensor.sizes(), tensor.dtype(), tensor.device());
  copy_into(result, tensor);
  return result;
}

Tensor to_dtype(const Tensor& tensor, ScalarType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor result;
  if (tensor.is_non_overlapping_and_dense()) {
    result = empty_strided(tensor.sizes(), tensor.strides(), dtype, tensor.device());
  } else {
    result = empty(tensor.sizes(), dtype, tensor.device());
  }
  copy_into(result, tensor);
  return result;
}

}  // namespace at::detail
