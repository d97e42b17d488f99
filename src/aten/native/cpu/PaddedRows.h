#pragma once
// Tensors with borders, written row by row in one pass.

#include <cstdint>
#include <vector>

namespace at::native::cpu {

// Of one axis: where each place of the result comes from; and the places [begin, end), which come from neighbours.
struct PaddedAxis {
  std::vector<int64_t> from;
  int64_t size;  // of what is padded
  int64_t begin, end;
};

// `planes` of three axes, the last one's places of `units` elements of `unit_bytes` each.
void write_padded(char* out, const char* in, int64_t planes, const PaddedAxis (&axes)[3], int64_t units,
                  int64_t unit_bytes);

}  // namespace at::native::cpu
