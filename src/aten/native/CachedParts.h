#pragma once
// What is computed in float32 for float16 and bfloat16, in parts that the cache holds.

#include <aten/EmptyTensor.h>
#include <aten/Parallel.h>

#include <algorithm>

namespace at::native {

constexpr int64_t kCachedElements = 1 << 15;

// body(first, last) for parts of [0, count), each of as many indices, of `elements` each, as the cache holds. Threads
// share the parts, or, where these are fewer, each part.
template <typename Body>
void for_each_cached_part(int64_t count, int64_t elements, Body&& body) {
  const int64_t threads = get_num_threads();
  const int64_t fitting = kCachedElements / std::max<int64_t>(1, elements);
  const int64_t some = std::clamp<int64_t>(fitting, 1, std::max<int64_t>(1, (count + threads - 1) / threads));
  const int64_t parts = (count + some - 1) / some;
  auto run = [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) body(part * some, std::min(count, (part + 1) * some));
  };
  if (parts < threads) run(0, parts);
  else parallel_for(0, parts, std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, some * elements)), run);
}

// Some indices of the first dimension of tensors: part(tensor).
struct Part {
  int64_t first, count;
  Tensor operator()(const Tensor& tensor) const {
    if (tensor.sizes()[0] == count) return tensor;
    DimVector sizes(tensor.sizes());
    sizes[0] = count;
    const int64_t start = tensor.storage_offset() + first * tensor.strides()[0];
    return at::detail::make_view(tensor, sizes, tensor.strides(), start);
  }
};

// Writes `result`, which kernels compute in float32 if it is of float16 or bfloat16: kernel(part, to) for parts of its
// first dimension, where `to` is the result's own memory or is rounded to it. `elements` are those that are read and
// written for all of it. What is not computed in another type, or not on the CPU, is one part.
template <typename Kernel>
void write_in_parts(const Tensor& result, int64_t elements, Kernel&& kernel) {
  const int64_t count = result.sizes()[0];
  const bool is_reduced = c10::is_reduced_floating_type(result.dtype());
  const auto write = [&](const Part& part) {
    const Tensor own = part(result);
    if (!is_reduced) return kernel(part, own);
    const Tensor to = at::detail::empty_strided(own.sizes(), own.strides(), kFloat, own.device());
    kernel(part, to);
    at::detail::copy_into(own, to);
  };
  if (!is_reduced || !result.is_cpu()) return write(Part{0, count});
  for_each_cached_part(count, elements / std::max<int64_t>(1, count),
                       [&](int64_t first, int64_t last) { write(Part{first, last - first}); });
}

// A contiguous tensor as (outer, size, inner) around a dimension, for kernels whose rows lie along it.
inline Tensor around_dimension(const Tensor& tensor, int64_t dim) {
  DimVector sizes{1, 1, 1};
  for (int64_t i = 0; i < tensor.dim(); ++i) sizes[i < dim ? 0 : i == dim ? 1 : 2] *= tensor.sizes()[i];
  return at::detail::make_view(tensor, sizes, DimVector{sizes[1] * sizes[2], sizes[2], 1}, tensor.storage_offset());
}

}  // namespace at::native
