#pragma once
// A reduction's iteration space, taken apart into what stays and what is reduced.

#include <aten/TensorIterator.h>
#include <aten/native/ElementMap.h>
#include <aten/native/cpu/Conversion.h>

#include <optional>

namespace at::native::cpu {

// The ways through a reduction.
enum class ReduceWay {
  short_rows,         // in equal steps, with little between them
  rows,               // what is reduced lies side by side
  long_row,           // all of it, for several threads
  narrow_columns,     // rows of few elements follow each other, and are added up
  groups_of_columns,  // many such, or with gaps between the rows
  columns,            // what stays lies side by side
  strided,
};

// Strides are in bytes; dimensions come fastest first, without those of size 1.
struct ReducePlan {
  static constexpr int64_t kShortRow = 16;   // fewer elements fill no vectors
  static constexpr int64_t kPlainRow = 256;  // those of a row that any vectors reduce as one block
  // Elements of a row that are added up before the tree begins, with vectors of 64 bytes: 16 floats per accumulator.
  static constexpr int64_t kRunBlock = 1024;
  static constexpr int64_t kRunChunk = 65536;  // length of the parts that a long row is given out in
  static constexpr int64_t kNarrow = 128;      // fewer columns than half of this are widened
  static constexpr int64_t kRowGroup = 16;     // rows that make one partial result

  explicit ReducePlan(const TensorIterator& iter);
  // Not inline, since each type of elements has code that copies plans.
  ReducePlan(const ReducePlan& other);
  ~ReducePlan();

  // Byte offset of reduced position `index`, counting from dimension `first` on.
  int64_t reduced_offset(int64_t index, size_t first = 0) const {
    int64_t offset = 0;
    if (first >= reduced_sizes.size()) return 0;
    const size_t last = reduced_sizes.size() - 1;  // is not divided, which takes as long as a short row
    for (size_t dim = first; dim < last; ++dim) {
      offset += index % reduced_sizes[dim] * reduced_strides[dim];
      index /= reduced_sizes[dim];
    }
    return offset + index * reduced_strides[last];
  }
  // Byte offsets of kept position `index`, counting from dimension `first` on, in the output and in the
  // input.
  void kept_offsets(int64_t index, size_t first, int64_t& out_offset, int64_t& in_offset) const {
    out_offset = 0;
    in_offset = 0;
    if (first >= kept_sizes.size()) return;
    const size_t last = kept_sizes.size() - 1;
    for (size_t dim = first; dim < last; ++dim) {
      const int64_t position = index % kept_sizes[dim];
      index /= kept_sizes[dim];
      out_offset += position * kept_out_strides[dim];
      in_offset += position * kept_strides[dim];
    }
    out_offset += index * kept_out_strides[last];
    in_offset += index * kept_strides[last];
  }

  // Behind the last element of the input.
  const char* data_end() const;

  // The shortest way, with `size` bytes of what an element is computed in.
  ReduceWay way(int64_t size) const;

  // The reduced dimension of rows that hold a part of every result each, with little else between; -1 if there is none,
  // or another way is shorter. What lies so is, say, sum((0, 2)) of a tensor whose last dimension is short.
  int row_dimension() const;
  // The sums over rows, side by side as the elements of a row, of all rows but the last: it may end where memory does.
  ReducePlan over_rows(int dim, char* sums, int64_t size) const;
  // What is left to do with these sums.
  ReducePlan of_sums(int dim, const char* sums, int64_t size) const;

  char* out;
  const char* in;
  int64_t item;                          // bytes of an element of the input
  std::optional<Conversion> conversion;  // of what is read, where it lies in memory as another type
  ScalarType widened = ScalarType::Undefined;  // that type, where it becomes float
  DimVector kept_sizes;
  DimVector kept_out_strides;
  DimVector kept_strides;
  DimVector reduced_sizes;
  DimVector reduced_strides;
  int64_t outputs = 1;
  int64_t count = 1;    // elements per output
  int64_t divisor = 1;  // that of a mean: as many as there are
  bool mean = false;    // whether the result is divided by `divisor` at last
  ElementMap map = ElementMap::none;  // of what is read
};

}  // namespace at::native::cpu
