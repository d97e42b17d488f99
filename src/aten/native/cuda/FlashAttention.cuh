#pragma once
// What the kernels of attention in 16 bits share: tiles of queries, keys, values and gradients in shared memory, and
// products of them whose sums stay in registers. No score goes through device memory.
//
// A block keeps a tile of rows, and goes through tiles of columns, of which the next is copied while one is computed
// with. A warp has 16 rows for itself, so that no value of theirs has to leave it.

#include <aten/ATen.h>
#include <aten/native/cuda/TensorCores.cuh>

#include <limits>

namespace at::native::cuda {

namespace {

// Rows of features: of each head of each image. Rows begin at multiples of 16 bytes.
struct Heads {
  uint16_t* data;
  int64_t image_stride, head_stride, row_stride;
  int rows, features;

  __device__ Heads of(int64_t head, int heads) const {
    Heads result = *this;
    result.data += head / heads * image_stride + head % heads * head_stride;
    return result;
  }
};

struct Attention {
  Heads query, key, value;
  int heads;          // of an image
  float scale;        // of products of queries and keys
  bool is_causal;     // a query sees the keys that are not behind it
  const float* mask;  // added to what is scaled; null if there is none
  int64_t mask_stride[4];

  __device__ const float* mask_of(int64_t head) const {
    return mask ? mask + head / heads * mask_stride[0] + head % heads * mask_stride[1] : nullptr;
  }
};

inline Heads heads_of(const Tensor& tensor) {
  const IntArrayRef strides = tensor.strides();
  return {static_cast<uint16_t*>(tensor.data_ptr()),
          strides[0],
          strides[1],
          strides[2],
          static_cast<int>(tensor.sizes()[2]),
          static_cast<int>(tensor.sizes()[3])};
}

inline Attention attention_of(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                              bool is_causal, double scale) {
  Attention result{heads_of(query),           heads_of(key), heads_of(value), static_cast<int>(query.sizes()[1]),
                   static_cast<float>(scale), is_causal,     nullptr,         {}};
  if (mask.defined()) {
    result.mask = mask.data_ptr<float>();
    for (int dim = 0; dim < 4; ++dim) result.mask_stride[dim] = mask.strides()[dim];
  }
  return result;
}

// The tensor, or a copy of it, whose rows begin at multiples of 16 bytes.
inline Tensor with_aligned_rows(const Tensor& tensor) {
  bool is_aligned = reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 16 == 0 && tensor.strides()[3] == 1;
  for (int dim = 0; dim < 3; ++dim)
    is_aligned = is_aligned && (tensor.sizes()[dim] == 1 || tensor.strides()[dim] % 8 == 0);
  return is_aligned ? tensor : at::empty(tensor.sizes(), tensor.options()).copy_(tensor);
}

// body(std::integral_constant of the format, of the features of a tile).
template <typename Body>
void dispatch_flash_attention(const Tensor& query, const Tensor& value, Body&& body) {
  const auto of_features = [&](auto format) {
    if (std::max(query.sizes()[3], value.sizes()[3]) <= 64)
      body(format, std::integral_constant<int, 64>());
    else
      body(format, std::integral_constant<int, 128>());
  };
  if (query.dtype() == kHalf)
    of_features(std::integral_constant<FloatFormat, FloatFormat::float16>());
  else
    of_features(std::integral_constant<FloatFormat, FloatFormat::bfloat16>());
}

constexpr float kLog2OfE = 1.44269504f;

// Tiles have kTile rows of 64 or 128 features, of which a head may have fewer: zeros are behind them. Sixteen bytes of
// a row change places with others of it, as the row's number says, so that the same ones of eight rows lie in different
// banks.
constexpr int kTile = 64;
constexpr int kWarps = kTile / 16;  // a warp has 16 rows for itself
constexpr int kTileThreads = kWarps * kWarp;
template <int kFeatures>
constexpr int kTileSize = kTile * kFeatures;

template <int kFeatures>
__device__ uint16_t* place_in_tile(uint16_t* tile, int row, int eighth) {
  return tile + row * kFeatures + (eighth ^ (row & 7)) * 8;
}

template <int kFeatures>
__device__ void copy_tile_later(uint16_t* tile, const Heads& heads, int first_row) {
#pragma unroll
  for (int i = threadIdx.x; i < kTileSize<kFeatures> / 8; i += kTileThreads) {
    const int row = i / (kFeatures / 8), eighth = i % (kFeatures / 8);
    const bool exists = first_row + row < heads.rows && eighth * 8 < heads.features;
    const uint16_t* source = heads.data + (exists ? (first_row + row) * heads.row_stride + eighth * 8 : 0);
    copy_later<16>(place_in_tile<kFeatures>(tile, row, eighth), source, exists);
  }
}

// Products of a warp's 16 rows and a tile's: in each group of eight columns four sums, as multiply_add has them.
using Products = float[kTile / 8][4];
template <int kFeatures>
using FeatureSums = float[kFeatures / 8][4];

// products = those of the block's rows, in one tile, and the rows of another.
template <FloatFormat kFormat, int kFeatures>
__device__ void multiply_rows(Products& products, uint16_t* rows, uint16_t* columns) {
#pragma unroll
  for (auto& four : products) {
#pragma unroll
    for (float& sum : four) sum = 0;
  }
  const int lane = threadIdx.x % kWarp;
  const int own_row = threadIdx.x / kWarp * 16;
#pragma unroll
  for (int step = 0; step < kFeatures / 16; ++step) {
    uint32_t a[4];
    load_matrices<false>(a, place_in_tile<kFeatures>(rows, own_row + lane % 16, step * 2 + lane / 16));
#pragma unroll
    for (int j = 0; j < kTile / 16; ++j) {
      uint32_t b[4];
      load_matrices<false>(
          b, place_in_tile<kFeatures>(columns, j * 16 + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
      multiply_add<kFormat>(products[2 * j], a, b[0], b[1]);
      multiply_add<kFormat>(products[2 * j + 1], a, b[2], b[3]);
    }
  }
}

// sums += the rows of a tile, each times its factor.
template <FloatFormat kFormat, int kFeatures>
__device__ void add_weighted_rows(FeatureSums<kFeatures>& sums, const Products& factors, uint16_t* tile) {
  const int lane = threadIdx.x % kWarp;
#pragma unroll
  for (int step = 0; step < kTile / 16; ++step) {
    uint32_t a[4];
#pragma unroll
    for (int word = 0; word < 4; ++word) {
      const float(&two)[4] = factors[2 * step + word / 2];
      a[word] = narrow_two(two[word % 2 * 2], two[word % 2 * 2 + 1], kFormat);
    }
#pragma unroll
    for (int j = 0; j < kFeatures / 16; ++j) {
      uint32_t b[4];
      load_matrices<true>(b, place_in_tile<kFeatures>(tile, step * 16 + lane % 16, j * 2 + lane / 16));
      multiply_add<kFormat>(sums[2 * j], a, b[0], b[1]);
      multiply_add<kFormat>(sums[2 * j + 1], a, b[2], b[3]);
    }
  }
}

// The sums of a warp's rows, each times the factor of its half, to where those rows are in `out`.
template <FloatFormat kFormat, int kFeatures>
__device__ void write_rows(const Heads& out, int first_row, const FeatureSums<kFeatures>& sums,
                           const float (&factors)[2]) {
  const int lane = threadIdx.x % kWarp;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + half * 8 + lane / 4;
#pragma unroll
    for (int j = 0; j < kFeatures / 8; ++j) {
      const int feature = j * 8 + lane % 4 * 2;
      if (row < out.rows && feature < out.features) {
        *reinterpret_cast<uint32_t*>(out.data + row * out.row_stride + feature) =
            narrow_two(sums[j][half * 2] * factors[half], sums[j][half * 2 + 1] * factors[half], kFormat);
      }
    }
  }
}

}  // namespace

}  // namespace at::native::cuda
