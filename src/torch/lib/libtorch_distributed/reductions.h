#pragma once
// How the elements of two members become one: sum, product, minimum, maximum, and, or, xor.

#include <cstddef>

namespace torch::distributed {

using Reduction = void (*)(void* result, const void* a, const void* b, size_t elements);

struct ReductionEntry {
  size_t element_size;
  Reduction reduce;
};

// Throws std::invalid_argument for a type that does not have the operation.
ReductionEntry find_reduction(const char* dtype, const char* operation);

}  // namespace torch::distributed
