// Attention that flash_attention.cu does not take: products of matrices with one pass over the scores between them.
// What lies in memory for as long as a call takes are scores, weights and their gradients, in the type of the operands,
// of as many heads at once as the device's cache holds; nothing of them is kept for the gradient.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Loops.cuh>
#include <aten/native/cuda/flash_attention.h>

#include <algorithm>
#include <limits>

namespace at::native::cuda {

namespace {

template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Scores are rows, one for each query of each head of each image, without gaps.
template <typename T>
struct Rows {
  int64_t count, queries, heads, keys;
  Wide<T> scale;
  bool is_causal;
  const Wide<T>* mask;  // added to the scores; null if there is none
  int64_t mask_stride[4];
  int64_t first_head;  // of those that are computed now

  // Keys that the query of a row looks at.
  __device__ int64_t seen(int64_t row) const { return is_causal ? ::min(row % queries + 1, keys) : keys; }
  __device__ const Wide<T>* mask_of(int64_t row) const {
    if (mask == nullptr) return nullptr;
    const int64_t head = first_head + row / queries;
    return mask + head / heads * mask_stride[0] + head % heads * mask_stride[1] + row % queries * mask_stride[2];
  }
  __device__ Wide<T> score(T product, const Wide<T>* mask_row, int64_t key) const {
    const Wide<T> scaled = static_cast<Wide<T>>(product) * scale;
    return mask_row ? scaled + mask_row[key * mask_stride[3]] : scaled;
  }
};

// Of `scores`, which are those of some heads from `first_head` on.
template <typename T>
Rows<T> rows_of(const Tensor& scores, const Tensor& query, const Tensor& mask, bool is_causal, double scale,
                int64_t first_head) {
  const int64_t keys = scores.sizes().back();
  Rows<T> rows{scores.numel() / keys,         scores.sizes()[1], query.sizes()[1], keys,
               static_cast<Wide<T>>(scale), is_causal,         nullptr,          {},
               first_head};
  if (mask.defined()) {
    rows.mask = mask.data_ptr<Wide<T>>();
    for (int dim = 0; dim < 4; ++dim) rows.mask_stride[dim] = mask.strides()[dim];
  }
  return rows;
}

// Neighbours that a lane takes of a row at once.
template <typename T>
inline constexpr int kTogether = 16 / sizeof(T);

// A warp for each row: visit(first, values) of kSize neighbours from `first` on, for the first `count` of them at
// least; with kSize of 1 for just these.
template <int kSize, typename T, typename Visit>
__device__ void visit_row(T* row, int64_t count, Visit&& visit) {
  for (int64_t first = threadIdx.x % kWarp * kSize; first < count; first += kWarp * kSize)
    visit(first, *reinterpret_cast<Pack<T, kSize>*>(row + first));
}

template <typename T>
__device__ T sum_of_warp(T value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
  return value;
}

template <typename T>
__device__ T greatest_of_warp(T value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    value = ::max(value, __shfl_xor_sync(0xffffffff, value, offset));
  return value;
}

// Scores become weights.
template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads) weigh_rows(Rows<T> rows, T* scores, Wide<T>* logsumexp) {
  using W = Wide<T>;
  constexpr int kWarps = kThreads / kWarp;
  for (int64_t row = blockIdx.x * int64_t{kWarps} + threadIdx.x / kWarp; row < rows.count;
       row += gridDim.x * int64_t{kWarps}) {
    T* own = scores + row * rows.keys;
    const W* mask = rows.mask_of(row);
    const int64_t seen = rows.seen(row);
    W greatest = -std::numeric_limits<W>::infinity();
    visit_row<kSize>(own, seen, [&](int64_t first, const Pack<T, kSize>& products) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        if (first + i < seen) greatest = ::max(greatest, rows.score(products.values[i], mask, first + i));
      }
    });
    greatest = greatest_of_warp(greatest);
    const W shift = greatest == -std::numeric_limits<W>::infinity() ? W(0) : greatest;
    W sum = 0;
    visit_row<kSize>(own, seen, [&](int64_t first, const Pack<T, kSize>& products) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        if (first + i < seen) sum += ::exp(rows.score(products.values[i], mask, first + i) - shift);
      }
    });
    sum = sum_of_warp(sum);
    // A query that may look at nothing has weights of 0.
    const W factor = sum == W(0) ? W(0) : W(1) / sum;
    if (threadIdx.x % kWarp == 0)
      logsumexp[row] = sum == W(0) ? std::numeric_limits<W>::infinity() : shift + ::log(sum);
    visit_row<kSize>(own, rows.keys, [&](int64_t first, Pack<T, kSize>& products) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        products.values[i] =
            first + i < seen
                ? static_cast<T>(::exp(rows.score(products.values[i], mask, first + i) - shift) * factor)
                : static_cast<T>(0.0f);
      }
    });
  }
}

// Scores become weights again; the gradients of weights become those of the products of queries and keys.
template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    weigh_gradients(Rows<T> rows, T* scores, T* grads, const Wide<T>* logsumexp, const Wide<T>* shares) {
  using W = Wide<T>;
  constexpr int kWarps = kThreads / kWarp;
  for (int64_t row = blockIdx.x * int64_t{kWarps} + threadIdx.x / kWarp; row < rows.count;
       row += gridDim.x * int64_t{kWarps}) {
    T* own_grads = grads + row * rows.keys;
    const W* mask = rows.mask_of(row);
    const int64_t seen = rows.seen(row);
    const W normalizer = logsumexp[row];
    const W share = shares[row];
    visit_row<kSize>(scores + row * rows.keys, rows.keys, [&](int64_t first, Pack<T, kSize>& products) {
      auto& gradients = *reinterpret_cast<Pack<T, kSize>*>(own_grads + first);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        const W weight =
            first + i < seen ? ::exp(rows.score(products.values[i], mask, first + i) - normalizer) : W(0);
        gradients.values[i] =
            static_cast<T>(weight * (static_cast<W>(gradients.values[i]) - share) * rows.scale);
        products.values[i] = static_cast<T>(weight);
      }
    });
  }
}

template <typename T>
bool is_in_packs(const Tensor& scores) {
  return scores.sizes().back() % kTogether<T> == 0 && reinterpret_cast<uintptr_t>(scores.data_ptr()) % 16 == 0;
}

unsigned blocks_of(int64_t rows) { return grid_for(rows * kWarp); }

template <typename Body>
void dispatch_attention_types(c10::ScalarType dtype, Body&& body) {
  dispatch_real_types(dtype, "attention", [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (c10::is_floating_v<T>) body(tag);
  });
}

Tensor products_of(const Tensor& queries, const Tensor& keys) {
  return at::matmul(queries, at::transpose(keys, -2, -1)).contiguous();
}

// body(first, count) for all heads of all images, so many at once that their scores stay in the cache.
template <typename Body>
void for_heads(const Tensor& query, const Tensor& key, Body&& body) {
  const int64_t heads = query.sizes()[0] * query.sizes()[1];
  const int64_t bytes = query.sizes()[2] * key.sizes()[2] * query.element_size();
  const int64_t most = attribute(cudaDevAttrL2CacheSize) / 3;  // beside operands, results and gradients
  const int64_t count = std::clamp<int64_t>(most / std::max<int64_t>(bytes, 1), 1, std::max<int64_t>(heads, 1));
  for (int64_t first = 0; first < heads; first += count) body(first, std::min(count, heads - first));
}

}  // namespace

void attention_kernel(const Tensor& out, const Tensor& logsumexp, const Tensor& query, const Tensor& key,
                      const Tensor& value, const Tensor& mask, bool is_causal, double scale) {
  if (takes_flash_attention(query, value)) {
    flash_attention(out, logsumexp, query, key, value, mask, is_causal, scale);
    return;
  }
  const Tensor queries = query.flatten(0, 1), keys = key.flatten(0, 1), values = value.flatten(0, 1);
  const Tensor results = at::empty({queries.size(0), queries.size(1), values.size(2)}, query.options());
  for_heads(query, key, [&](int64_t first, int64_t count) {
    const auto these = [&](const Tensor& tensor) { return tensor.narrow(0, first, count); };
    const Tensor scores = products_of(these(queries), these(keys));
    dispatch_attention_types(query.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Rows<T> rows = rows_of<T>(scores, query, mask, is_causal, scale, first);
      auto* kernel = is_in_packs<T>(scores) ? weigh_rows<T, kTogether<T>> : weigh_rows<T, 1>;
      launch(kernel, blocks_of(rows.count), kThreads, rows, scores.data_ptr<T>(),
             logsumexp.data_ptr<Wide<T>>() + first * rows.queries);
    });
    these(results).copy_(at::matmul(scores, these(values)));
  });
  Tensor(out).copy_(results.view(out.sizes()));
}

void attention_backward_kernel(const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                               const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                               const Tensor& out, const Tensor& logsumexp, const Tensor& mask, bool is_causal,
                               double scale) {
  if (takes_flash_attention(query, value)) {
    flash_attention_backward(grad_query, grad_key, grad_value, grad, query, key, value, out, logsumexp, mask, is_causal,
                             scale);
    return;
  }
  // What all weights of a row have in common: the sum of their gradients, each times its weight.
  const Tensor shares = at::sum(at::mul(grad.to(logsumexp.dtype()), out), {-1}, false).contiguous();
  const Tensor queries = query.flatten(0, 1), keys = key.flatten(0, 1), values = value.flatten(0, 1);
  const Tensor slopes = grad.flatten(0, 1);
  const Tensor grad_queries = at::empty(queries.sizes(), query.options());
  const Tensor grad_keys = at::empty(keys.sizes(), query.options());
  const Tensor grad_values = at::empty(values.sizes(), query.options());
  for_heads(query, key, [&](int64_t first, int64_t count) {
    const auto these = [&](const Tensor& tensor) { return tensor.narrow(0, first, count); };
    const Tensor scores = products_of(these(queries), these(keys));
    const Tensor grads = products_of(these(slopes), these(values));
    dispatch_attention_types(query.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Rows<T> rows = rows_of<T>(scores, query, mask, is_causal, scale, first);
      const bool is_packed = is_in_packs<T>(scores) && is_in_packs<T>(grads);
      auto* kernel = is_packed ? weigh_gradients<T, kTogether<T>> : weigh_gradients<T, 1>;
      const int64_t before = first * rows.queries;
      launch(kernel, blocks_of(rows.count), kThreads, rows, scores.data_ptr<T>(), grads.data_ptr<T>(),
             logsumexp.data_ptr<Wide<T>>() + before, shares.data_ptr<Wide<T>>() + before);
    });
    these(grad_values).copy_(at::matmul(at::transpose(scores, -2, -1), these(slopes)));
    these(grad_queries).copy_(at::matmul(grads, these(keys)));
    these(grad_keys).copy_(at::matmul(at::transpose(grads, -2, -1), these(queries)));
  });
  Tensor(grad_query).copy_(grad_queries.view(grad_query.sizes()));
  Tensor(grad_key).copy_(grad_keys.view(grad_key.sizes()));
  Tensor(grad_value).copy_(grad_values.view(grad_value.sizes()));
}

}  // namespace at::native::cuda
