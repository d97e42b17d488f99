#include <aten/native/cuda/FlashAttention.cuh>
#include <aten/native/cuda/flash_attention.h>

namespace at::native::cuda {

namespace {

template <int kFeatures>
constexpr size_t kSharedBytes = 5 * kTileSize<kFeatures> * sizeof(uint16_t);

// What a thread knows of its two rows, the upper and the lower one.
struct RowState {
  float greatest[2];  // score yet, as it is before `factor`
  float sum[2];       // of the thread's own weights
};

// Scores become weights, to which all sums so far are made comparable.
template <int kFeatures>
__device__ void weigh(Products& scores, FeatureSums<kFeatures>& sums, RowState& state, float factor) {
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float greatest = state.greatest[half];
#pragma unroll
    for (int j = 0; j < kTile / 8; ++j)
      greatest = ::fmaxf(greatest, ::fmaxf(scores[j][half * 2], scores[j][half * 2 + 1]));
    greatest = ::fmaxf(greatest, __shfl_xor_sync(0xffffffff, greatest, 1));
    greatest = ::fmaxf(greatest, __shfl_xor_sync(0xffffffff, greatest, 2));
    const float shift = greatest == kNothing ? 0.0f : greatest * factor;
    const float shrinking = quick_exp2(state.greatest[half] * factor - shift);
    float sum = state.sum[half] * shrinking;
#pragma unroll
    for (int j = 0; j < kTile / 8; ++j) {
#pragma unroll
      for (int k = half * 2; k < half * 2 + 2; ++k) {
        scores[j][k] = quick_exp2(scores[j][k] * factor - shift);
        sum += scores[j][k];
      }
    }
#pragma unroll
    for (int j = 0; j < kFeatures / 8; ++j) {
      sums[j][half * 2] *= shrinking;
      sums[j][half * 2 + 1] *= shrinking;
    }
    state.greatest[half] = greatest;
    state.sum[half] = sum;
  }
}

template <FloatFormat kFormat, int kFeatures>
__global__ void __launch_bounds__(kTileThreads) attend(Attention attention, Heads out_heads, float* logsumexp) {
  auto* const queries = static_cast<uint16_t*>(dynamic_shared<kSharedBytes<kFeatures>>());
  uint16_t* const tiles = queries + kTileSize<kFeatures>;  // keys and values, and the next ones
  const int blocks = (attention.query.rows + kTile - 1) / kTile;
  const int64_t head = blockIdx.x / blocks;
  // Those that see most begin first.
  const int first_query = (blocks - 1 - static_cast<int>(blockIdx.x % blocks)) * kTile;
  const Heads query = attention.query.of(head, attention.heads);
  const Heads key = attention.key.of(head, attention.heads);
  const Heads value = attention.value.of(head, attention.heads);
  const float* const mask = attention.mask_of(head);
  const int seen = attention.is_causal ? ::min(key.rows, first_query + kTile) : key.rows;
  const int steps = (seen + kTile - 1) / kTile;
  const auto tiles_of = [&](int step) { return tiles + step % 2 * 2 * kTileSize<kFeatures>; };
  const auto copy_step = [&](int step) {
    copy_tile_later<kFeatures>(tiles_of(step), key, step * kTile);
    copy_tile_later<kFeatures>(tiles_of(step) + kTileSize<kFeatures>, value, step * kTile);
  };
  copy_tile_later<kFeatures>(queries, query, first_query);
  copy_step(0);

  const int lane = threadIdx.x % kWarp;
  const int first_own = first_query + threadIdx.x / kWarp * 16;
  // exp(x) is 2^(x log2 e). Where scores change on the way, by a mask, or their order does, they are scaled at once.
  const bool is_scaled_at_once = mask != nullptr || attention.scale <= 0;
  const float to_exponent = attention.scale * kLog2OfE;
  FeatureSums<kFeatures> sums = {};
  RowState state{{-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}, {0, 0}};
  for (int step = 0; step < steps; ++step) {
    wait_for_copies();
    __syncthreads();
    if (step + 1 < steps) copy_step(step + 1);
    Products scores;
    multiply_rows<kFormat, kFeatures>(scores, queries, tiles_of(step));
    const int first_key = step * kTile;
    const bool sees_all = first_key + kTile <= key.rows && (!attention.is_causal || first_key + kTile - 1 <= first_own);
    if (is_scaled_at_once || !sees_all) {
#pragma unroll
      for (int j = 0; j < kTile / 8; ++j) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int row = first_own + k / 2 * 8 + lane / 4;
          const int column = first_key + j * 8 + lane % 4 * 2 + k % 2;
          float score = scores[j][k];
          if (is_scaled_at_once) score *= to_exponent;
          if (column >= key.rows || (attention.is_causal && column > row))
            score = -std::numeric_limits<float>::infinity();
          else if (mask && row < query.rows)
            score += mask[row * attention.mask_stride[2] + column * attention.mask_stride[3]] * kLog2OfE;
          scores[j][k] = score;
        }
      }
    }
    weigh<kFeatures>(scores, sums, state, is_scaled_at_once ? 1.0f : to_exponent);
    add_weighted_rows<kFormat, kFeatures>(sums, scores, tiles_of(step) + kTileSize<kFeatures>);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = state.sum[half];
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    sum += __shfl_xor_sync(0xffffffff, sum, 2);
    const int row = first_own + half * 8 + lane / 4;
    if (row < query.rows && lane % 4 == 0) {
      const float exponent = is_scaled_at_once ? state.greatest[half] : state.greatest[half] * to_exponent;
      logsumexp[head * query.rows + row] =
          sum == 0.0f ? std::numeric_limits<float>::infinity() : (exponent + ::log2f(sum)) / kLog2OfE;
    }
    state.sum[half] = sum == 0.0f ? 0.0f : 1.0f / sum;  // a query that sees nothing has weights of 0
  }
  write_rows<kFormat, kFeatures>(out_heads.of(head, attention.heads), first_own, sums, state.sum);
}

}  // namespace

bool takes_flash_attention(const Tensor& query, const Tensor& value) {
  const auto fits = [](int64_t features) { return features <= 128 && features % 8 == 0; };
  return c10::is_reduced_floating_type(query.dtype()) && fits(query.sizes()[3]) && fits(value.sizes()[3]);
}

void flash_attention(const Tensor& out, const Tensor& logsumexp, const Tensor& query, const Tensor& key,
                     const Tensor& value, const Tensor& mask, bool is_causal, double scale) {
  const Tensor queries = with_aligned_rows(query), keys = with_aligned_rows(key), values = with_aligned_rows(value);
  const int64_t heads = query.sizes()[0] * query.sizes()[1];
  const int64_t blocks = (query.sizes()[2] + kTile - 1) / kTile * heads;
  dispatch_flash_attention(query, value, [&](auto format, auto features) {
    constexpr int kFeatures = decltype(features)::value;
    launch_with_shared(attend<decltype(format)::value, kFeatures>, static_cast<unsigned>(blocks), kTileThreads,
                       kSharedBytes<kFeatures>, attention_of(queries, keys, values, mask, is_causal, scale),
                       heads_of(out), logsumexp.data_ptr<float>());
  });
}

}  // namespace at::native::cuda
