#pragma once
// What aten/native/cuda/TensorCores.cuh tells a warp to do by instructions: lanes hand over what they have, and each
// computes its own sums.

#include <cuda_emulation.h>

#include <cstdint>
#include <cstring>

namespace cuda_emulation {

// In the thread's name, when it waits; until then, as far as anybody knows, nothing is there.
void copy_later(void* target, const void* source, int bytes, bool exists);
void wait_for_copies();

// widen(bits) is the number that 16 bits are.
template <typename Widen>
void multiply_add(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, Widen widen) {
  const uint32_t b[2] = {b0, b1};
  Lanes rows, columns;
  meet_lanes(0xffffffff, a, sizeof a, rows);
  meet_lanes(0xffffffff, b, sizeof b, columns);
  // Number `index` of the words of a lane.
  const auto read = [&](const Lanes& from, int lane, int index) {
    uint16_t bits;
    memcpy(&bits, from.slots[lane] + index * 2, 2);
    return widen(bits);
  };
  for (int i = 0; i < 4; ++i) {
    const int row = own_lane() / 4, column = own_lane() % 4 * 2 + i % 2;
    for (int depth = 0; depth < 16; ++depth) {
      const int lane = depth % 8 / 2, upper = depth / 8;
      sums[i] += read(rows, row * 4 + lane, (upper * 2 + i / 2) * 2 + depth % 2) *
                 read(columns, column * 4 + lane, upper * 2 + depth % 2);
    }
  }
}

template <bool kTransposed>
void load_matrices(uint32_t (&words)[4], const void* row) {
  Lanes lanes;
  meet_lanes(0xffffffff, &row, sizeof row, lanes);
  const int outer = own_lane() / 4, inner = own_lane() % 4 * 2;
  for (int matrix = 0; matrix < 4; ++matrix) {
    uint32_t word = 0;
    for (int i = 0; i < 2; ++i) {
      const uint16_t* source;
      memcpy(&source, lanes.slots[matrix * 8 + (kTransposed ? inner + i : outer)], sizeof source);
      word |= uint32_t{source[kTransposed ? outer : inner + i]} << (16 * i);
    }
    words[matrix] = word;
  }
}

}  // namespace cuda_emulation
