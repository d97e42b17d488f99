#include <aten/native/cuda/FlashAttention.cuh>
#include <aten/native/cuda/flash_attention.h>

namespace at::native::cuda {

namespace {

// Of both operands the rows and, twice, the columns; of each query the logarithm of its sum and what its weights share.
template <int kFeatures>
constexpr size_t kSharedBytes = 6 * kTileSize<kFeatures> * sizeof(uint16_t) + 4 * kTile * sizeof(float);

struct Gradients {
  Attention attention;
  Heads grad;  // of the result
  Heads grad_query, grad_key, grad_value;
  const float* logsumexp;  // of each query, without gaps
  const float* shares;     // the sum of its weights, each times its gradient
};

// Weights are computed again, once where rows are keys, for the gradients of keys and values, and once where they are
// queries. So every sum has one owner, and its order is always the same.
// kOfKeys: rows are keys and values, columns are queries and the gradients of their results. Else the other way round.
template <FloatFormat kFormat, int kFeatures, bool kOfKeys>
__global__ void __launch_bounds__(kTileThreads) find_gradients(Gradients gradients) {
  auto* const rows = static_cast<uint16_t*>(dynamic_shared<kSharedBytes<kFeatures>>());
  uint16_t* const other_rows = rows + kTileSize<kFeatures>;
  uint16_t* const tiles = other_rows + kTileSize<kFeatures>;
  auto* const of_columns = reinterpret_cast<float*>(tiles + 4 * kTileSize<kFeatures>);

  const Attention& attention = gradients.attention;
  const int row_count = kOfKeys ? attention.key.rows : attention.query.rows;
  const int column_count = kOfKeys ? attention.query.rows : attention.key.rows;
  const int blocks = (row_count + kTile - 1) / kTile;
  const int64_t head = blockIdx.x / blocks;
  const int block = static_cast<int>(blockIdx.x % blocks);
  const int first_row = (kOfKeys ? block : blocks - 1 - block) * kTile;  // those that see most begin first
  const Heads query = attention.query.of(head, attention.heads);
  const Heads key = attention.key.of(head, attention.heads);
  const Heads value = attention.value.of(head, attention.heads);
  const Heads grad = gradients.grad.of(head, attention.heads);
  const float* const mask = attention.mask_of(head);
  const float* const logsumexp = gradients.logsumexp + head * attention.query.rows;
  const float* const shares = gradients.shares + head * attention.query.rows;

  const int begin = kOfKeys && attention.is_causal ? first_row / kTile : 0;
  const int end_column = !kOfKeys && attention.is_causal ? ::min(column_count, first_row + kTile) : column_count;
  const int end = (end_column + kTile - 1) / kTile;
  const auto tiles_of = [&](int step) { return tiles + step % 2 * 2 * kTileSize<kFeatures>; };
  const auto copy_step = [&](int step) {
    copy_tile_later<kFeatures>(tiles_of(step), kOfKeys ? query : key, step * kTile);
    copy_tile_later<kFeatures>(tiles_of(step) + kTileSize<kFeatures>, kOfKeys ? grad : value, step * kTile);
    if constexpr (kOfKeys) {
      static_assert(kTileThreads == 2 * kTile);
      const int column = step * kTile + threadIdx.x % kTile;
      const bool exists = column < column_count;
      const float* source = threadIdx.x < kTile ? logsumexp : shares;
      copy_later<4>(of_columns + step % 2 * 2 * kTile + threadIdx.x, source + (exists ? column : 0), exists);
    }
  };
  copy_tile_later<kFeatures>(rows, kOfKeys ? key : query, first_row);
  copy_tile_later<kFeatures>(other_rows, kOfKeys ? value : grad, first_row);
  if (begin < end) copy_step(begin);

  const int lane = threadIdx.x % kWarp;
  const int first_own = first_row + threadIdx.x / kWarp * 16;
  const float to_exponent = attention.scale * kLog2OfE;
  float own_normalizers[2] = {}, own_shares[2] = {};
  if constexpr (!kOfKeys) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_own + half * 8 + lane / 4;
      if (row < row_count) {
        own_normalizers[half] = logsumexp[row];
        own_shares[half] = shares[row];
      }
    }
  }
  FeatureSums<kFeatures> sums = {};  // of keys or queries
  [[maybe_unused]] FeatureSums<kFeatures> value_sums = {};
  for (int step = begin; step < end; ++step) {
    wait_for_copies();
    __syncthreads();
    if (step + 1 < end) copy_step(step + 1);
    uint16_t* const columns = tiles_of(step);
    uint16_t* const other_columns = columns + kTileSize<kFeatures>;
    const float* const column_normalizers = of_columns + step % 2 * 2 * kTile;
    const float* const column_shares = column_normalizers + kTile;
    Products weights, slopes;
    multiply_rows<kFormat, kFeatures>(weights, rows, columns);
    multiply_rows<kFormat, kFeatures>(slopes, other_rows, other_columns);
    const int first_column = step * kTile;
    // Whether every pair of here is one that is seen. Queries that do not exist have gradients of 0.
    const bool sees_all = kOfKeys ? !attention.is_causal || first_own + 15 <= first_column
                                  : first_column + kTile <= column_count &&
                                        (!attention.is_causal || first_column + kTile - 1 <= first_own);
#pragma unroll
    for (int j = 0; j < kTile / 8; ++j) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int row = first_own + k / 2 * 8 + lane / 4;
        const int in_tile = j * 8 + lane % 4 * 2 + k % 2;
        const int query_row = kOfKeys ? first_column + in_tile : row;
        const int key_row = kOfKeys ? row : first_column + in_tile;
        const float normalizer = kOfKeys ? column_normalizers[in_tile] : own_normalizers[k / 2];
        const float share = kOfKeys ? column_shares[in_tile] : own_shares[k / 2];
        float exponent = weights[j][k] * to_exponent - normalizer * kLog2OfE;
        const bool is_seen = sees_all || (key_row < key.rows && (!attention.is_causal || key_row <= query_row));
        if (mask && is_seen && query_row < query.rows && key_row < key.rows)
          exponent += mask[query_row * attention.mask_stride[2] + key_row * attention.mask_stride[3]] * kLog2OfE;
        const float weight = is_seen ? quick_exp2(exponent) : 0.0f;
        weights[j][k] = weight;
        slopes[j][k] = weight * (slopes[j][k] - share);
      }
    }
    if constexpr (kOfKeys) add_weighted_rows<kFormat, kFeatures>(value_sums, weights, other_columns);
    add_weighted_rows<kFormat, kFeatures>(sums, slopes, columns);
  }
  const Heads out = (kOfKeys ? gradients.grad_key : gradients.grad_query).of(head, attention.heads);
  write_rows<kFormat, kFeatures>(out, first_own, sums, {attention.scale, attention.scale});
  if constexpr (kOfKeys)
    write_rows<kFormat, kFeatures>(gradients.grad_value.of(head, attention.heads), first_own, value_sums, {1, 1});
}

// shares[row] = the sum of a[row] times b[row], for the rows of all heads. Eight lanes for each.
template <FloatFormat kFormat>
__global__ void __launch_bounds__(kThreads)
    multiply_heads(float* shares, Heads a_heads, Heads b_heads, int heads, int64_t count) {
  constexpr int kLanes = 8;
  for (int64_t row = (blockIdx.x * int64_t{kThreads} + threadIdx.x) / kLanes; row < (count + 3) / 4 * 4;
       row += gridDim.x * int64_t{kThreads} / kLanes) {
    float sum = 0;
    if (row < count) {
      const Heads a = a_heads.of(row / a_heads.rows, heads);
      const Heads b = b_heads.of(row / a_heads.rows, heads);
      const int64_t own = row % a_heads.rows;
      for (int first = threadIdx.x % kLanes * 8; first < a.features; first += kLanes * 8) {
        const auto x = *reinterpret_cast<const FloatWords*>(a.data + own * a.row_stride + first);
        const auto y = *reinterpret_cast<const FloatWords*>(b.data + own * b.row_stride + first);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          sum += widen(static_cast<uint16_t>(x.words[i]), kFormat) * widen(static_cast<uint16_t>(y.words[i]), kFormat);
          sum += widen(static_cast<uint16_t>(x.words[i] >> 16), kFormat) *
                 widen(static_cast<uint16_t>(y.words[i] >> 16), kFormat);
        }
      }
    }
    for (int offset = kLanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (row < count && threadIdx.x % kLanes == 0) shares[row] = sum;
  }
}

}  // namespace

void flash_attention_backward(const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                              const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                              const Tensor& out, const Tensor& logsumexp, const Tensor& mask, bool is_causal,
                              double scale) {
  const Tensor queries = with_aligned_rows(query), keys = with_aligned_rows(key), values = with_aligned_rows(value);
  const Tensor results = with_aligned_rows(out), slopes = with_aligned_rows(grad);
  const Tensor shares = at::empty(logsumexp.sizes(), logsumexp.options());
  const int64_t heads = query.sizes()[0] * query.sizes()[1];
  const Gradients gradients{attention_of(queries, keys, values, mask, is_causal, scale),
                            heads_of(slopes),
                            heads_of(grad_query),
                            heads_of(grad_key),
                            heads_of(grad_value),
                            logsumexp.data_ptr<float>(),
                            shares.data_ptr<float>()};
  dispatch_flash_attention(query, value, [&](auto format, auto features) {
    constexpr FloatFormat kFormat = decltype(format)::value;
    constexpr int kFeatures = decltype(features)::value;
    launch(multiply_heads<kFormat>, grid_for(shares.numel() * 8), kThreads, shares.data_ptr<float>(), heads_of(slopes),
           heads_of(results), gradients.attention.heads, shares.numel());
    const auto blocks = [&](const Tensor& rows) {
      return static_cast<unsigned>((rows.sizes()[2] + kTile - 1) / kTile * heads);
    };
    launch_with_shared(find_gradients<kFormat, kFeatures, true>, blocks(keys), kTileThreads, kSharedBytes<kFeatures>,
                       gradients);
    launch_with_shared(find_gradients<kFormat, kFeatures, false>, blocks(queries), kTileThreads,
                       kSharedBytes<kFeatures>, gradients);
  });
}

}  // namespace at::native::cuda
