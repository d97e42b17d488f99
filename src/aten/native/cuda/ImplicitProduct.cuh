#pragma once
// Convolutions as implicit products of matrices: the windows are read where they lie in the images, and laid out
// nowhere but in a block's shared memory. Beside laying them out for cuBLAS this saves the writing and reading of every
// window, which is kernel elements times the image and, below some hundred channels, takes longer than the product.
//
// Images and gradients are read channels last, so that a thread gets 16 bytes of channels that share one place, and one
// test of the border. A product's rows are output channels. Its columns are the positions of windows, and its depth is
// what a window holds; in the gradient of the weight it is the other way round.

#include <aten/native/cuda/Loops.cuh>

#include <mma.h>

#include <type_traits>

namespace at::native::cuda {

namespace {

// What a block computes at once.
constexpr int kRows = 64;
constexpr int kColumns = 128;
constexpr int kTileThreads = 128;

template <typename T>
using SumOf = std::conditional_t<c10::is_reduced_floating_v<T>, float, T>;
template <typename T>
inline constexpr int kChannelsAtOnce = 16 / sizeof(T);

// Where a window is, or one of its elements from its first: the sum of both is where to read.
struct Place {
  int64_t offset;  // of the image in the batch, or of the channel
  int at[3];
};

// Columns or depth: positions (image of the batch, then three of places), or elements of a window (three of places,
// then channels). The last index is the fastest.
template <bool kPositions>
struct Axis {
  static constexpr int kFirstPlace = kPositions ? 1 : 0;
  static constexpr int kOther = kPositions ? 0 : 3;
  int64_t count;
  int sizes[4];
  int64_t other_stride;
  int first[3], step[3];

  __device__ void unravel(int64_t index, int (&indices)[4]) const {
#pragma unroll
    for (int i = 3; i > 0; --i) {
      const int64_t rest = index / sizes[i];
      indices[i] = static_cast<int>(index - rest * sizes[i]);
      index = rest;
    }
    indices[0] = static_cast<int>(index);
  }
  __device__ void advance(int (&indices)[4], int by) const {
    indices[3] += by;
#pragma unroll
    for (int i = 3; i > 0; --i) {
      if (indices[i] < sizes[i]) return;
      const int carry = indices[i] / sizes[i];
      indices[i] -= carry * sizes[i];
      indices[i - 1] += carry;
    }
  }
  __device__ Place place(const int (&indices)[4]) const {
    Place result;
    result.offset = indices[kOther] * other_stride;
#pragma unroll
    for (int i = 0; i < 3; ++i) result.at[i] = first[i] + step[i] * indices[kFirstPlace + i];
    return result;
  }
};

// out[row, column] = sum over depth of matrix[depth, row] * image[place of column + place of depth], for each group.
template <typename T, bool kForward>
struct Product {
  Axis<kForward> columns;
  Axis<!kForward> depth;
  int64_t groups, rows;  // rows of a group

  const T* matrix;  // rows are neighbours; what is behind those of a group is zero up to 16 bytes
  int64_t matrix_stride, matrix_group;

  const T* image;  // channels last; likewise
  int sizes[3];
  int64_t pixel_stride, image_group;

  T* out;
  int64_t out_row, out_group, out_stride[4];
  int64_t channels;  // of a group's image: there are no results for the zeros behind them
  const T* bias;

  // Ranges of the depth whose sums are kept in `partial` and added up in their order.
  int64_t splits, range;
  SumOf<T>* partial;

  // Where the results of a column go; -1 if there are none.
  __device__ int64_t target(int64_t group, int64_t column) const {
    if (column >= columns.count) return -1;
    int indices[4];
    columns.unravel(column, indices);
    if (!kForward && indices[3] >= channels) return -1;
    int64_t offset = group * out_group;
#pragma unroll
    for (int i = 0; i < 4; ++i) offset += indices[i] * out_stride[i];
    return offset;
  }
  __device__ void write(int64_t group, int64_t row, int64_t target, SumOf<T> sum) const {
    if (bias) sum += static_cast<SumOf<T>>(bias[group * rows + row]);
    out[target + row * out_row] = static_cast<T>(sum);
  }
  __device__ int64_t place_of_partial(int64_t split, int64_t group, int64_t row, int64_t column) const {
    return ((split * columns.count + column) * groups + group) * rows + row;
  }
  // Where to read in the image; null outside of it.
  __device__ const T* source(int64_t group, const Place& window, const Place& element) const {
    int64_t pixel = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const int at = window.at[i] + element.at[i];
      if (static_cast<unsigned>(at) >= static_cast<unsigned>(sizes[i])) return nullptr;
      pixel = pixel * sizes[i] + at;
    }
    return image + group * image_group + window.offset + element.offset + pixel * pixel_stride;
  }
};

// --------------------------------------------------------------------------------------------------------------- tiles

// For tensor cores float is TF32.
template <typename T, bool kForwardProduct, bool kTensorCores>
struct Tile {
  using Element = T;
  static constexpr bool kForward = kForwardProduct;
  static constexpr int kDepth = kTensorCores ? 64 / static_cast<int>(sizeof(T)) : 8;
  static constexpr int kGap = sizeof(T) == 2 ? 8 : 4;  // without it, neighbours in a column share a bank
  // Packs of a forward product lie along the depth. Tensor cores take them so.
  static constexpr bool kDepthInside = kForward && kTensorCores;
  alignas(32) T matrix[kDepth][kRows + kGap];
  alignas(32) T image[kDepthInside ? kColumns : kDepth][(kDepthInside ? kDepth : kColumns) + kGap];
};

// A thread's part of the tiles, on the way from memory.
template <typename Tiles>
class Loader {
  using T = typename Tiles::Element;
  static constexpr bool kForward = Tiles::kForward;

 public:
  __device__ Loader(const Product<T, kForward>& product, int64_t group, int64_t row, int64_t column, int64_t begin,
                    int64_t end)
      : product_(product),
        group_(group),
        matrix_row_(row + threadIdx.x % kMatrixPacks * kPack),
        depth_(begin),
        end_(end) {
    product.depth.unravel(begin + first_depth(), indices_);
#pragma unroll
    for (int i = 0; i < (kForward ? kPasses : 1); ++i) {
      const int64_t own = column + column_of(i);
      int indices[4];
      product.columns.unravel(own, indices);
      places_[i] = product.columns.place(indices);
      is_column_[i] = own < product.columns.count;
    }
  }

  // Reads the next tile.
  __device__ void load() {
#pragma unroll
    for (int i = 0; i < kMatrixPasses; ++i) {
      const int64_t depth = depth_ + threadIdx.x / kMatrixPacks + i * (kTileThreads / kMatrixPacks);
      const bool exists = depth < end_ && matrix_row_ < product_.rows;
      const T* source = product_.matrix + group_ * product_.matrix_group + depth * product_.matrix_stride + matrix_row_;
      matrix_[i] = exists ? *reinterpret_cast<const Neighbours*>(source) : Neighbours{};
    }
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      const int column = kForward ? i : 0;
      const bool exists = is_column_[column] && depth_ + depth_of(i) < end_;
      const T* source = exists ? product_.source(group_, places_[column], product_.depth.place(indices_)) : nullptr;
      image_[i] = source ? *reinterpret_cast<const Neighbours*>(source) : Neighbours{};
      if constexpr (!kForward) product_.depth.advance(indices_, kPack);
    }
    if constexpr (kForward) product_.depth.advance(indices_, Tiles::kDepth);
    depth_ += Tiles::kDepth;
  }

  __device__ void store(Tiles& tile) const {
#pragma unroll
    for (int i = 0; i < kMatrixPasses; ++i) {
      const int depth = threadIdx.x / kMatrixPacks + i * (kTileThreads / kMatrixPacks);
      *reinterpret_cast<Neighbours*>(&tile.matrix[depth][threadIdx.x % kMatrixPacks * kPack]) = matrix_[i];
    }
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      if constexpr (!kForward) {
        *reinterpret_cast<Neighbours*>(&tile.image[depth_of(i)][column_of(i)]) = image_[i];
      } else if constexpr (Tiles::kDepthInside) {
        *reinterpret_cast<Neighbours*>(&tile.image[column_of(i)][depth_of(i)]) = image_[i];
      } else {
#pragma unroll
        for (int j = 0; j < kPack; ++j) tile.image[depth_of(i) + j][column_of(i)] = image_[i].values[j];
      }
    }
  }

 private:
  static constexpr int kPack = kChannelsAtOnce<T>;
  using Neighbours = Pack<T, kPack>;
  static constexpr int kMatrixPacks = kRows / kPack;  // of a row of the tile
  static constexpr int kMatrixPasses = Tiles::kDepth * kMatrixPacks / kTileThreads;
  static constexpr int kPasses = Tiles::kDepth * (kColumns / kPack) / kTileThreads;
  static_assert(kMatrixPasses >= 1 && kPasses * kPack == Tiles::kDepth);

  // Forward, a thread has one place in the depth and several columns; else several places and one column.
  __device__ static int first_depth() {
    return kForward ? threadIdx.x % kPasses * kPack : threadIdx.x / (kColumns / kPack);
  }
  __device__ static int depth_of(int pass) { return first_depth() + (kForward ? 0 : pass * kPack); }
  __device__ static int column_of(int pass) {
    return kForward ? threadIdx.x / kPasses + pass * (kTileThreads / kPasses)
                    : threadIdx.x % (kColumns / kPack) * kPack;
  }

  const Product<T, kForward>& product_;
  int64_t group_, matrix_row_, depth_, end_;
  int indices_[4];
  Place places_[kForward ? kPasses : 1];
  bool is_column_[kForward ? kPasses : 1];
  Neighbours matrix_[kMatrixPasses], image_[kPasses];
};

// Each thread sums eight rows by eight columns, four and four that are half a tile apart.
template <typename Tiles>
struct FusedMultiplyAdd {
  using T = typename Tiles::Element;
  T sums[8][8] = {};

  __device__ static int row_of(int i) { return i / 4 * (kRows / 2) + threadIdx.x / 16 * 4 + i % 4; }
  __device__ static int column_of(int i) { return i / 4 * (kColumns / 2) + threadIdx.x % 16 * 4 + i % 4; }

  __device__ void add(const Tiles& tile) {
    using Four = Pack<T, 4>;
#pragma unroll
    for (int depth = 0; depth < Tiles::kDepth; ++depth) {
      Four a[2], b[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        a[half] = *reinterpret_cast<const Four*>(&tile.matrix[depth][row_of(half * 4)]);
        b[half] = *reinterpret_cast<const Four*>(&tile.image[depth][column_of(half * 4)]);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] += a[i / 4].values[i % 4] * b[j / 4].values[j % 4];
      }
    }
  }

  template <typename Write>
  __device__ void write(Tiles&, Write&& write) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) write(row_of(i), column_of(j), sums[i][j]);
    }
  }
};

// Each of four warps sums 32 rows by 64 columns.
template <typename Tiles>
struct TensorCores {
  using T = typename Tiles::Element;
  static constexpr bool kTF32 = std::is_same_v<T, float>;
  static constexpr int kStep = kTF32 ? 8 : 16;  // of the depth
  using Memory =
      std::conditional_t<kTF32, float, std::conditional_t<std::is_same_v<T, c10::Half>, __half, __nv_bfloat16>>;
  using Native = std::conditional_t<kTF32, nvcuda::wmma::precision::tf32, Memory>;
  template <typename Kind, typename Layout>
  using Operand = nvcuda::wmma::fragment<Kind, 16, 16, kStep, Native, Layout>;
  using Layout = std::conditional_t<Tiles::kDepthInside, nvcuda::wmma::col_major, nvcuda::wmma::row_major>;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, kStep, float> sums[2][4];

  __device__ TensorCores() {
#pragma unroll
    for (auto& row : sums) {
#pragma unroll
      for (auto& sum : row) nvcuda::wmma::fill_fragment(sum, 0.0f);
    }
  }
  __device__ static int row_of(int i) { return threadIdx.x / (2 * kWarp) * 32 + i * 16; }
  __device__ static int column_of(int j) { return threadIdx.x / kWarp % 2 * 64 + j * 16; }

  __device__ void add(const Tiles& tile) {
#pragma unroll
    for (int depth = 0; depth < Tiles::kDepth; depth += kStep) {
      Operand<nvcuda::wmma::matrix_a, nvcuda::wmma::col_major> a[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) load(a[i], &tile.matrix[depth][row_of(i)], kRows + Tiles::kGap);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        Operand<nvcuda::wmma::matrix_b, Layout> b;
        if constexpr (Tiles::kDepthInside)
          load(b, &tile.image[column_of(j)][depth], Tiles::kDepth + Tiles::kGap);
        else
          load(b, &tile.image[depth][column_of(j)], kColumns + Tiles::kGap);
#pragma unroll
        for (int i = 0; i < 2; ++i) nvcuda::wmma::mma_sync(sums[i][j], a[i], b, sums[i][j]);
      }
    }
  }

  // Which thread holds which sum is not said: they go by way of `tile`, which nobody reads any more.
  template <typename Write>
  __device__ void write(Tiles& tile, Write&& write) {
    static_assert(sizeof(Tiles) >= kTileThreads / kWarp * 256 * sizeof(float));
    float* own = reinterpret_cast<float*>(&tile) + threadIdx.x / kWarp * 256;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        nvcuda::wmma::store_matrix_sync(own, sums[i][j], 16, nvcuda::wmma::mem_row_major);
        __syncwarp();
        for (int k = threadIdx.x % kWarp; k < 256; k += kWarp) write(row_of(i) + k / 16, column_of(j) + k % 16, own[k]);
        __syncwarp();
      }
    }
  }

 private:
  template <typename Fragment>
  __device__ static void load(Fragment& fragment, const T* source, unsigned stride) {
    nvcuda::wmma::load_matrix_sync(fragment, reinterpret_cast<const Memory*>(source), stride);
    if constexpr (kTF32) {
#pragma unroll
      for (int i = 0; i < fragment.num_elements; ++i) fragment.x[i] = nvcuda::wmma::__float_to_tf32(fragment.x[i]);
    }
  }
};

template <typename T, bool kForward, bool kTensorCores>
__global__ void __launch_bounds__(kTileThreads) multiply_tiles(const __grid_constant__ Product<T, kForward> product) {
  using Tiles = Tile<T, kForward, kTensorCores>;
  // Bytes: the emulation's compiler would initialise tiles of c10::Half.
  alignas(Tiles) __shared__ unsigned char memory[2 * sizeof(Tiles)];
  Tiles* tiles = reinterpret_cast<Tiles*>(memory);
  __shared__ int64_t targets[kColumns];
  const int64_t row_tiles = (product.rows + kRows - 1) / kRows;
  const int64_t column_tiles = (product.columns.count + kColumns - 1) / kColumns;
  const int64_t jobs = row_tiles * column_tiles * product.groups * product.splits;
  for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
    // Blocks that read the same windows run at the same time.
    const int64_t row = job % row_tiles * kRows;
    const int64_t column = job / row_tiles % column_tiles * kColumns;
    const int64_t group = job / (row_tiles * column_tiles) % product.groups;
    const int64_t split = job / (row_tiles * column_tiles * product.groups);
    const int64_t begin = split * product.range;
    const int64_t end = ::min(begin + product.range, product.depth.count);
    __syncthreads();  // the job before may still be read
    targets[threadIdx.x] = product.target(group, column + threadIdx.x);
    Loader<Tiles> loader(product, group, row, column, begin, end);
    std::conditional_t<kTensorCores, TensorCores<Tiles>, FusedMultiplyAdd<Tiles>> sums;
    loader.load();
    loader.store(tiles[0]);
    __syncthreads();
    int current = 0;
#pragma unroll 1
    for (int64_t depth = begin; depth < end; depth += Tiles::kDepth) {
      const bool has_more = depth + Tiles::kDepth < end;
      if (has_more) loader.load();
      sums.add(tiles[current]);
      current ^= 1;
      if (has_more) loader.store(tiles[current]);
      __syncthreads();
    }
    sums.write(tiles[0], [&](int tile_row, int tile_column, SumOf<T> sum) {
      if (row + tile_row >= product.rows || targets[tile_column] < 0) return;
      if (product.partial) {
        product.partial[product.place_of_partial(split, group, row + tile_row, column + tile_column)] = sum;
      } else {
        product.write(group, row + tile_row, targets[tile_column], sum);
      }
    });
  }
}

// ---------------------------------------------------------------------------------------------- groups of few channels

// A thread for each result and range of the depth; neighbours have neighbouring channels.
template <typename T, bool kForward>
void multiply_channelwise(const Product<T, kForward>& product) {
  for_each_index(
      product.groups * product.rows * product.columns.count * product.splits, [product] __device__(int64_t index) {
        const int64_t row = index % product.rows;
        const int64_t group = index / product.rows % product.groups;
        index /= product.rows * product.groups;
        const int64_t column = index % product.columns.count;
        const int64_t split = index / product.columns.count;
        const int64_t begin = split * product.range;
        const int64_t end = ::min(begin + product.range, product.depth.count);
        int indices[4];
        product.columns.unravel(column, indices);
        const Place own = product.columns.place(indices);
        product.depth.unravel(begin, indices);
        const T* factor = product.matrix + group * product.matrix_group + row;
        SumOf<T> sum{0};
#pragma unroll 1
        for (int64_t depth = begin; depth < end; ++depth) {
          const T* source = product.source(group, own, product.depth.place(indices));
          if (source)
            sum += static_cast<SumOf<T>>(*source) * static_cast<SumOf<T>>(factor[depth * product.matrix_stride]);
          product.depth.advance(indices, 1);
        }
        if (product.partial)
          product.partial[product.place_of_partial(split, group, row, column)] = sum;
        else
          product.write(group, row, product.target(group, column), sum);
      });
}

template <typename T, bool kForward>
void add_partials(const Product<T, kForward>& product) {
  for_each_index(product.groups * product.rows * product.columns.count, [product] __device__(int64_t index) {
    const int64_t row = index % product.rows;
    const int64_t group = index / product.rows % product.groups;
    const int64_t column = index / (product.rows * product.groups);
    const int64_t target = product.target(group, column);
    if (target < 0) return;
    SumOf<T> sum{0};
    for (int64_t split = 0; split < product.splits; ++split)
      sum += product.partial[product.place_of_partial(split, group, row, column)];
    product.write(group, row, target, sum);
  });
}

}  // namespace

}  // namespace at::native::cuda
