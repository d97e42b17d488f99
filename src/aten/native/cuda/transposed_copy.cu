// A block reads a tile in the order in which it lies in the input, and writes it in that of the output: both move whole
// lines of memory.

#include <aten/Dispatch.h>
#include <aten/native/cuda/Launch.cuh>
#include <aten/native/cuda/transposed_copy.h>

namespace at::native::cuda {

namespace {

constexpr int kTile = 32;
constexpr int kTileRows = 8;  // that a block moves at once

// Strides are bytes. `own` runs along neighbours of the output, `other` along those of the input; the rest are
// dimensions around them.
struct Transposition {
  static constexpr int kMaxDims = 12;
  int64_t own_size, own_in;
  int64_t other_size, other_out;
  int dims = 0;
  int64_t around = 1;
  int64_t size[kMaxDims], out_stride[kMaxDims], in_stride[kMaxDims];
};

template <typename Word>
__global__ void __launch_bounds__(kTile* kTileRows)
    copy_tiles(char* out, const char* in, Transposition shape, int64_t own_tiles, int64_t jobs) {
  alignas(Word) __shared__ unsigned char memory[kTile * (kTile + 1) * sizeof(Word)];
  auto tile = reinterpret_cast<Word(*)[kTile + 1]>(memory);
  const int64_t tiles = jobs / shape.around;
  for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
    int64_t outside = job / tiles;
    int64_t out_offset = 0, in_offset = 0;
#pragma unroll 1
    for (int dim = 0; dim < shape.dims; ++dim) {
      const int64_t here = outside % shape.size[dim];
      outside /= shape.size[dim];
      out_offset += here * shape.out_stride[dim];
      in_offset += here * shape.in_stride[dim];
    }
    const int64_t own = job % tiles % own_tiles * kTile;
    const int64_t other = job % tiles / own_tiles * kTile;
    __syncthreads();  // the tile before may still be read
#pragma unroll
    for (int i = 0; i < kTile; i += kTileRows) {
      const int64_t row = own + threadIdx.y + i, column = other + threadIdx.x;
      if (row >= shape.own_size || column >= shape.other_size) continue;
      tile[threadIdx.y + i][threadIdx.x] =
          *reinterpret_cast<const Word*>(in + in_offset + row * shape.own_in + column * int64_t{sizeof(Word)});
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; i += kTileRows) {
      const int64_t row = other + threadIdx.y + i, column = own + threadIdx.x;
      if (row >= shape.other_size || column >= shape.own_size) continue;
      *reinterpret_cast<Word*>(out + out_offset + row * shape.other_out + column * int64_t{sizeof(Word)}) =
          tile[threadIdx.x][threadIdx.y + i];
    }
  }
}

}  // namespace

bool copy_transposed(const TensorIterator& iter) {
  constexpr int64_t smallest = kTile / 2;  // below, most of a tile would be empty
  const auto element = static_cast<int64_t>(iter.element_size(0));
  const auto neighbours_of = [&](int operand) {
    for (int dim = 0; dim < iter.ndim(); ++dim) {
      if (iter.strides(operand)[dim] == element && iter.shape()[dim] >= smallest) return dim;
    }
    return -1;
  };
  const int own = neighbours_of(0);
  const int other = neighbours_of(1);
  if (own < 0 || other < 0 || own == other || iter.ndim() - 2 > Transposition::kMaxDims) return false;
  Transposition shape;
  shape.own_size = iter.shape()[own];
  shape.own_in = iter.strides(1)[own];
  shape.other_size = iter.shape()[other];
  shape.other_out = iter.strides(0)[other];
  for (int dim = 0; dim < iter.ndim(); ++dim) {
    if (dim == own || dim == other) continue;
    shape.size[shape.dims] = iter.shape()[dim];
    shape.out_stride[shape.dims] = iter.strides(0)[dim];
    shape.in_stride[shape.dims++] = iter.strides(1)[dim];
    shape.around *= iter.shape()[dim];
  }
  const auto tiles = [](int64_t size) { return (size + kTile - 1) / kTile; };
  const int64_t jobs = shape.around * tiles(shape.own_size) * tiles(shape.other_size);
  dispatch_word(iter.element_size(0), [&](auto word) {
    launch(copy_tiles<decltype(word)>, grid_of_rows(jobs), dim3(kTile, kTileRows), iter.data(0), iter.data(1), shape,
           tiles(shape.own_size), jobs);
  });
  return true;
}

}  // namespace at::native::cuda
