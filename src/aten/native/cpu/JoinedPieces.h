#pragma once
// Tensors that are joined along a dimension: the result's rows are pieces of each, one after the other.

#include <c10/util/ArrayRef.h>

#include <cstdint>

namespace at::native::cpu {

struct JoinedPieces {
  const char* from;  // a tensor's pieces, which follow each other
  int64_t bytes;     // of each
};

// `rows` rows of a piece of each source, which has at least one byte.
void join_pieces(char* out, c10::ArrayRef<JoinedPieces> sources, int64_t rows);

}  // namespace at::native::cpu
