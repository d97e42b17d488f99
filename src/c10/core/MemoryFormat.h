#pragma once
// The order of a tensor's dimensions in memory, where an operator or a user has a wish about it.

#include <c10/util/ArrayRef.h>
#include <c10/util/InlineVector.h>

#include <cstdint>

namespace c10 {

// PyTorch's numbers. ChannelsLast (4 dimensions) and ChannelsLast3d (5)
// keep the channels of one place next to each other.
enum class MemoryFormat : int8_t { Contiguous = 0, Preserve = 1, ChannelsLast = 2, ChannelsLast3d = 3 };

// The strides of a tensor of these sizes without gaps, in a format that names an order (all but Preserve). Throws Error
// when a format of the channels' kind gets another number of dimensions than its own.
C10_API DimVector strides_in(MemoryFormat format, IntArrayRef sizes);
// Whether the elements lie as strides_in(format, sizes) says; strides of dimensions of size 1 do not matter.
C10_API bool is_contiguous_in(MemoryFormat format, IntArrayRef sizes, IntArrayRef strides);
// What results of an operator that follows its input's order are to have: ChannelsLast or ChannelsLast3d when the
// strides rise in that order, gaps allowed, and Contiguous otherwise, ties included.
C10_API MemoryFormat suggested_memory_format(IntArrayRef sizes, IntArrayRef strides);

}  // namespace c10
