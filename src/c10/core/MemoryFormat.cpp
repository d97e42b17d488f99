#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace c10 {

namespace {

// Dimension `step` of a walk over `ndim` dimensions from the fastest to the slowest: channels,
// places backwards, samples.
size_t channels_last_dim(size_t step, size_t ndim) {
  if (step == 0) return 1;
  return step == ndim - 1 ? 0 : ndim - step;
}

bool rises_channels_last(IntArrayRef sizes, IntArrayRef strides) {
  const size_t ndim = sizes.size();
  if (strides[1] == 0) return false;
  int64_t least = 0;
  for (size_t step = 0; step < ndim; ++step) {
    const size_t dim = channels_last_dim(step, ndim);
    if (sizes[dim] == 0 || strides[dim] < least) return false;
    // All that follow the channels have size 1 and no say: row-major is as good a reading.
    if (dim == 0 && least == strides[1]) return false;
    least = strides[dim] * std::max<int64_t>(sizes[dim], 1);
  }
  return true;
}

}  // namespace

DimVector strides_in(MemoryFormat format, IntArrayRef sizes) {
  const size_t ndim = sizes.size();
  const bool channels_last = format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d;
  TORCH_CHECK(format != MemoryFormat::ChannelsLast || ndim == 4, "required rank 4 tensor to use channels_last format");
  TORCH_CHECK(format != MemoryFormat::ChannelsLast3d || ndim == 5,
              "required rank 5 tensor to use channels_last_3d format");
  TORCH_CHECK(format != MemoryFormat::Preserve, "preserve_format names no order of dimensions");
  DimVector strides(ndim);
  int64_t stride = 1;
  for (size_t step = 0; step < ndim; ++step) {
    const size_t dim = channels_last ? channels_last_dim(step, ndim) : ndim - 1 - step;
    strides[dim] = stride;
    // Too large a tensor is refused where its memory is taken.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[dim], 1), &stride)) stride = 0;
  }
  return strides;
}

bool is_contiguous_in(MemoryFormat format, IntArrayRef sizes, IntArrayRef strides) {
  const size_t ndim = sizes.size();
  const bool channels_last = format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d;
  if (channels_last && ndim != (format == MemoryFormat::ChannelsLast ? 4 : 5)) return false;
  int64_t expected = 1;
  for (size_t step = 0; step < ndim; ++step) {
    const size_t dim = channels_last ? channels_last_dim(step, ndim) : ndim - 1 - step;
    if (sizes[dim] == 1) continue;
    if (strides[dim] != expected) return false;
    expected *= sizes[dim];
  }
  return true;
}

MemoryFormat suggested_memory_format(IntArrayRef sizes, IntArrayRef strides) {
  if ((sizes.size() != 4 && sizes.size() != 5) || !rises_channels_last(sizes, strides)) return MemoryFormat::Contiguous;
  return sizes.size() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

}  // namespace c10
