#pragma once
// New tensors without contents and without autograd: what native functions and kernels allocate with.

#include <aten/Tensor.h>

namespace at::detail {

// Contiguous. Negative sizes throw Error. A CUDA device without an index means the current one.
TORCH_API Tensor empty(IntArrayRef sizes, ScalarType dtype, Device device);
inline Tensor empty(IntArrayRef sizes, const TensorOptions& options) {
  return empty(sizes, options.dtype(), options.device());
}
TORCH_API Tensor empty(IntArrayRef sizes, const TensorOptions& options, MemoryFormat format);
// With these strides (in elements, not negative) over a storage just large enough.
TORCH_API Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device);
// A tensor on storage of another one; no autograd, the version counter is shared (a view).
TORCH_API Tensor make_view(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset);
// Gives `tensor`, the output of a function, these sizes, contiguous, with more storage if it needs it; contents are
// lost then, and the user hears of it if there were any.
TORCH_API void resize_output(const Tensor& tensor, IntArrayRef sizes);
// The same without a word: the user asked for it. What fits is kept.
TORCH_API void resize(const Tensor& tensor, IntArrayRef sizes);
// Copies between dtypes and devices without autograd or version bump; `src` broadcasts.
TORCH_API void copy_into(const Tensor& destination, const Tensor& src);
// `tensor` itself when it already is so, else a copy.
TORCH_API Tensor to_contiguous(const Tensor& tensor, MemoryFormat format = MemoryFormat::Contiguous);
TORCH_API Tensor to_dtype(const Tensor& tensor, ScalarType dtype);
// One element of host memory as a number, and back (integers wrap as casts do).
TORCH_API Scalar load_scalar(const void* data, ScalarType dtype);
TORCH_API void store_scalar(void* data, ScalarType dtype, const Scalar& value);

}  // namespace at::detail
