#pragma once
// Where the windows of a pooling operator lie. One description for all of them, shared by the CPU and CUDA kernels.

#include <cstdint>

#if defined(__CUDACC__)
#define TORCH_POOL_FUNCTION __host__ __device__ inline
#else
#define TORCH_POOL_FUNCTION inline
#endif

namespace at::native {

// Elements begin, begin + step, ... below end of one dimension. `counted`: how many an average counts, padding among
// them where it is counted.
struct PoolSpan {
  int64_t begin, end, step, counted;
};

// Everything in three dimensions (depth, height, width); fewer have size 1 in front. Images and results are contiguous,
// `planes` of them. Adaptive windows share the image evenly; the others have a kernel, a stride and a padding.
struct PoolGeometry {
  int64_t planes;
  int64_t image[3], windows[3], kernel[3], stride[3], padding[3], dilation[3];
  bool adaptive;
  bool count_padding;
  int64_t divisor;  // of averages, 0: the elements counted

  int64_t image_elements() const { return image[0] * image[1] * image[2]; }
  int64_t window_count() const { return windows[0] * windows[1] * windows[2]; }

  TORCH_POOL_FUNCTION PoolSpan span(int dim, int64_t window) const {
    if (adaptive) {
      const int64_t begin = window * image[dim] / windows[dim];
      const int64_t end = ((window + 1) * image[dim] + windows[dim] - 1) / windows[dim];
      return {begin, end, 1, end - begin};
    }
    const int64_t first = window * stride[dim] - padding[dim];
    const int64_t last = first + (kernel[dim] - 1) * dilation[dim] + 1;
    const int64_t padded_last = last < image[dim] + padding[dim] ? last : image[dim] + padding[dim];
    const int64_t begin = first >= 0 ? first : first + (-first + dilation[dim] - 1) / dilation[dim] * dilation[dim];
    const int64_t end = last < image[dim] ? last : image[dim];
    const int64_t inside = end > begin ? end - begin : 0;
    return {begin, end, dilation[dim], count_padding ? padded_last - first : inside};
  }

  // What an average of such a window is divided by.
  TORCH_POOL_FUNCTION int64_t divisor_of(const PoolSpan& z, const PoolSpan& y, const PoolSpan& x) const {
    return divisor != 0 ? divisor : z.counted * y.counted * x.counted;
  }

  // The first and the last window that an element of the image may lie in; no dilation.
  TORCH_POOL_FUNCTION int64_t first_covering(int dim, int64_t element) const {
    if (adaptive) return element * windows[dim] / image[dim];
    const int64_t past = element + padding[dim] - kernel[dim] + 1;
    return past <= 0 ? 0 : (past + stride[dim] - 1) / stride[dim];
  }
  TORCH_POOL_FUNCTION int64_t last_covering(int dim, int64_t element) const {
    if (adaptive) return ((element + 1) * windows[dim] - 1) / image[dim];
    const int64_t last = (element + padding[dim]) / stride[dim];
    return last < windows[dim] ? last : windows[dim] - 1;
  }
};

}  // namespace at::native

#undef TORCH_POOL_FUNCTION
