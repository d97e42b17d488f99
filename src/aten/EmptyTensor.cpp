#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/PinnedMemory.h>
#include <aten/Plugin.h>
#include <aten/TensorIterator.h>
#include <c10/util/Warning.h>
#include <c10/core/Extents.h>

namespace at::detail {

using c10::StorageImpl;

namespace {

Device with_index(Device device) {
  if (device.is_meta()) return kMeta;  // there is one
  if (!device.is_cuda() || device.has_index()) return device;
  return Device(kCUDA, c10::get_backend(kCUDA).current_device());
}

void check_not_negative(IntArrayRef sizes) {
  for (const int64_t size : sizes)
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
}

// Bytes of a contiguous tensor of these sizes behind `storage_offset` elements.
int64_t contiguous_bytes(IntArrayRef sizes, int64_t itemsize, int64_t storage_offset = 0) {
  int64_t bytes = 1;
  bool is_wrong = false;
  for (const int64_t size : sizes) is_wrong |= size < 0 || __builtin_mul_overflow(bytes, size, &bytes);
  is_wrong |= __builtin_add_overflow(bytes, storage_offset, &bytes) || __builtin_mul_overflow(bytes, itemsize, &bytes);
  if (C10_UNLIKELY(is_wrong)) {
    check_not_negative(sizes);
    TORCH_CHECK(false, "Storage size calculation overflowed with sizes=", sizes);
  }
  return bytes;
}

Storage new_storage(int64_t bytes, Device device) {
  if (C10_LIKELY(device.is_cpu())) return Storage(static_cast<size_t>(bytes), c10::cpu_allocator());
  const c10::DeviceGuard guard(device);
  return Storage(static_cast<size_t>(bytes), c10::get_backend(device.type()).allocator());
}

int64_t itemsize_of(ScalarType dtype) { return static_cast<int64_t>(c10::element_size(dtype)); }

}  // namespace

Tensor empty(IntArrayRef sizes, ScalarType dtype, Device device) {
  device = with_index(device);
  auto impl =
      c10::make_intrusive<TensorImpl>(new_storage(contiguous_bytes(sizes, itemsize_of(dtype)), device), dtype, device);
  impl->set_sizes_contiguous(sizes);
  return Tensor(std::move(impl));
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device) {
  TORCH_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape: ", strides.size(),
              " strides for ", sizes.size(), " dimensions");
  check_not_negative(sizes);
  for (const int64_t stride : strides) {
    TORCH_CHECK(stride >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", strides);
  }
  device = with_index(device);
  const int64_t bytes = c10::checked_storage_bytes(sizes, strides, itemsize_of(dtype));
  auto impl = c10::make_intrusive<TensorImpl>(new_storage(bytes, device), dtype, device);
  impl->set_sizes_and_strides(sizes, strides, 0);
  return Tensor(std::move(impl));
}

Tensor empty_pinned(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device) {
  if (device.is_meta()) return empty_strided(sizes, strides, dtype, device);
  TORCH_CHECK(device.is_cpu(), "Only dense CPU tensors can be pinned");
  TORCH_CHECK(at::cuda_available(),
              "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available ",
              "on this system.");
  const int64_t bytes = c10::checked_storage_bytes(sizes, strides, itemsize_of(dtype));
  Storage storage(static_cast<size_t>(bytes), c10::get_backend(kCUDA).pinned_allocator());
  auto impl = c10::make_intrusive<TensorImpl>(std::move(storage), dtype, device);
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
  if (tensor.numel() > 0) {
    TORCH_WARN(
        "An output with one or more elements was resized since it had shape ", tensor.sizes(),
        ", which does not match the required output shape ", sizes,
        ". This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they "
        "have zero elements. You can explicitly reuse an out tensor t by resizing, inplace, to zero elements with "
        "t.resize_(0).");
  }
  resize(tensor, sizes);
}

void resize(const Tensor& tensor, IntArrayRef sizes) {
  check_not_negative(sizes);
  const int64_t numel = c10::checked_numel(sizes);
  TensorImpl* impl = tensor.impl();
  const auto needed = static_cast<size_t>(contiguous_bytes(sizes, itemsize_of(impl->dtype()), impl->storage_offset()));
  if (numel > 0 && needed > impl->storage().nbytes()) {
    Storage larger = new_storage(static_cast<int64_t>(needed), impl->device());
    if (StorageImpl* storage = impl->storage().impl()) {
      TORCH_CHECK(storage->allocator() != nullptr,
                  "Trying to resize storage that is not resizable: its memory came from "
                  "elsewhere (NumPy or a file). Give an output of the right shape, ",
                  sizes);
      // In place and with what it holds, so that other tensors on this storage stay with it.
      const DimVector kept{static_cast<int64_t>(storage->nbytes())};
      Tensor source(c10::make_intrusive<TensorImpl>(impl->storage(), kByte, impl->device()));
      Tensor copy(c10::make_intrusive<TensorImpl>(larger, kByte, impl->device()));
      for (const Tensor& bytes : {source, copy}) bytes.impl()->set_sizes_contiguous(kept);
      copy_into(copy, source);
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

Tensor empty(IntArrayRef sizes, const TensorOptions& options, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return empty(sizes, options);
  return empty_strided(sizes, c10::strides_in(format, sizes), options.dtype(), options.device());
}

Tensor to_contiguous(const Tensor& tensor, MemoryFormat format) {
  if (tensor.is_contiguous(format)) return tensor;
  Tensor result = empty(tensor.sizes(), tensor.options(), format);
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
