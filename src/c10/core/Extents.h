#pragma once
// Arithmetic on sizes, strides and counts that come from outside:
// what does not fit int64 is an error and never a small or negative number.

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <optional>

namespace c10 {

// The product, or nothing when it does not fit.
inline std::optional<int64_t> multiply_if_fits(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

// a + b. Throws Error naming `what` when it does not fit.
inline int64_t checked_add(int64_t a, int64_t b, const char* what) {
  int64_t result = 0;
  TORCH_CHECK(!__builtin_add_overflow(a, b, &result), what, ": integer addition overflow");
  return result;
}

// a * b. Throws Error naming `what` when it does not fit.
inline int64_t checked_multiply(int64_t a, int64_t b, const char* what) {
  int64_t result = 0;
  TORCH_CHECK(!__builtin_mul_overflow(a, b, &result), what, ": integer multiplication overflow");
  return result;
}

// How many elements a tensor of these sizes has. Throws Error when it does not fit int64 or a size is negative.
inline int64_t checked_numel(IntArrayRef sizes) {
  int64_t numel = 1;
  bool is_wrong = false;
  bool is_empty = false;
  for (const int64_t size : sizes) {
    is_wrong |= size < 0;
    is_empty |= size == 0;
    // Once a product does not fit, one more factor of 0 does not repair it: PyTorch refuses those, too.
    is_wrong |= __builtin_mul_overflow(numel, size, &numel);
  }
  TORCH_CHECK(!is_wrong, "numel: integer multiplication overflow");
  return is_empty ? 0 : numel;
}

// How many elements of a storage a tensor reaches: the offset of its last element plus 1; 0 for one without elements.
// Nothing when a number is negative or one does not fit.
inline std::optional<int64_t> storage_reach(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
  int64_t reach = 0;
  bool is_wrong = storage_offset < 0 || __builtin_add_overflow(storage_offset, int64_t{1}, &reach);
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == 0) return 0;
    int64_t span = 0;
    is_wrong |= sizes[dim] < 0 || strides[dim] < 0 || __builtin_mul_overflow(sizes[dim] - 1, strides[dim], &span) ||
                __builtin_add_overflow(reach, span, &reach);
  }
  return is_wrong ? std::nullopt : std::optional(reach);
}

// The bytes that storage_reach() elements of `itemsize` bytes take. Throws Error when they do not fit int64.
inline int64_t checked_storage_bytes(IntArrayRef sizes, IntArrayRef strides, int64_t itemsize,
                                     int64_t storage_offset = 0) {
  const std::optional<int64_t> reach = storage_reach(sizes, strides, storage_offset);
  const std::optional<int64_t> bytes = reach ? multiply_if_fits(*reach, itemsize) : std::nullopt;
  TORCH_CHECK(bytes, "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  return *bytes;
}

// Throws Error unless a tensor of this shape lies within a storage of `storage_bytes` bytes.
inline void check_within_storage(IntArrayRef sizes, IntArrayRef strides, int64_t itemsize, int64_t storage_offset,
                                 size_t storage_bytes) {
  TORCH_CHECK(storage_offset >= 0, "Tensor: invalid storage offset ", storage_offset);
  const int64_t needed = checked_storage_bytes(sizes, strides, itemsize, storage_offset);
  TORCH_CHECK(static_cast<uint64_t>(needed) <= storage_bytes, "setStorage: sizes ", sizes, ", strides ", strides,
              ", storage offset ", storage_offset, ", and itemsize ", itemsize, " requiring a storage size of ", needed,
              " are out of bounds for storage of size ", storage_bytes);
}

}  // namespace c10
