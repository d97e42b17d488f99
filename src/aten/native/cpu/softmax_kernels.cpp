// softmax and log_softmax along one dimension, forward and backward; compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/softmax_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/AroundDimension.h>
#include <aten/native/cpu/Reduce-inl.h>
#include <aten/native/cpu/ReduceOps-inl.h>
#include <aten/native/cpu/VectorMath-inl.h>

#include <cmath>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// Elements that are treated together; as many as keep three rows of them in the nearest cache.
constexpr int64_t kBlock = 1024;

// to[i] = exp(from[i] - shift[i * shift_step]), at most 1, where shift_step is 0 or 1. `to` may be `from`.
template <typename T, int kShiftStep>
HWY_ATTR void exp_shifted(T* to, const T* from, const T* shift, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto offset = kShiftStep ? hn::LoadU(d, shift + i) : hn::Set(d, *shift);
    hn::StoreU(exp_of_negative(d, hn::Sub(hn::LoadU(d, from + i), offset)), d, to + i);
  }
  if (i < count) {
    HWY_ALIGN T rest[HWY_MAX_BYTES / sizeof(T)] = {};
    for (int64_t j = i; j < count; ++j) rest[j - i] = from[j] - shift[j * kShiftStep];
    hn::Store(exp_of_negative(d, hn::Load(d, rest)), d, rest);
    for (int64_t j = i; j < count; ++j) to[j] = rest[j - i];
  }
}

// sum of a[i] * b[i], as accurate as reduce_run
template <typename T>
HWY_ATTR T dot_run(const T* a, const T* b, int64_t count) {
  if (count > kRunBlock) {
    const int64_t half = (count / 2 + kRunBlock - 1) / kRunBlock * kRunBlock;
    return dot_run(a, b, half) + dot_run(a + half, b + half, count - half);
  }
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto first = hn::Zero(d);
  auto second = first;
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    first = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), first);
    second = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), second);
  }
  for (; i + lanes <= count; i += lanes) first = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), first);
  T total = hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

// Rows whose elements lie next to each other.
template <typename T>
HWY_ATTR void softmax_rows(T* out, const T* self, int64_t rows, int64_t size, bool log) {
  parallel_for(0, rows, std::max<int64_t>(1, kGrainSize / 8 / size), [&](int64_t first, int64_t last) {
    T block[kBlock];
    for (int64_t i = first; i < last; ++i) {
      const T* from = self + i * size;
      T* to = out + i * size;
      const T maximum = reduce_run<Maximum<T>>(from, size);
      if (!log) {
        exp_shifted<T, 0>(to, from, &maximum, size);
        const T factor = T(1) / reduce_run<Sum<T>>(to, size);
        for (int64_t j = 0; j < size; ++j) to[j] *= factor;
      } else {
        T total = 0;
        for (int64_t start = 0; start < size; start += kBlock) {
          const int64_t count = std::min(kBlock, size - start);
          exp_shifted<T, 0>(block, from + start, &maximum, count);
          total += reduce_run<Sum<T>>(block, count);
        }
        const T log_total = std::log(total);
        for (int64_t j = 0; j < size; ++j) to[j] = from[j] - maximum - log_total;
      }
    }
  });
}

// [outer, size, inner] with inner > 1: many columns side by side.
template <typename T>
HWY_ATTR void softmax_columns(T* out, const T* self, int64_t outer, int64_t size, int64_t inner, bool log) {
  const int64_t blocks = (inner + kBlock - 1) / kBlock;
  const int64_t work = std::max<int64_t>(1, size * std::min(inner, kBlock));
  parallel_for(0, outer * blocks, std::max<int64_t>(1, kGrainSize / 8 / work),
               [&](int64_t first, int64_t last) {
                 T maximum[kBlock];
                 T total[kBlock];
                 T exponentials[kBlock];
                 for (int64_t unit = first; unit < last; ++unit) {
                   const int64_t start = unit % blocks * kBlock;
                   const int64_t width = std::min(kBlock, inner - start);
                   const T* from = self + unit / blocks * size * inner + start;
                   T* to = out + unit / blocks * size * inner + start;
                   std::copy_n(from, width, maximum);
                   for (int64_t row = 1; row < size; ++row)
                     combine_columns<Maximum<T>>(maximum, from + row * inner, width);
                   std::fill_n(total, width, T(0));
                   for (int64_t row = 0; row < size; ++row) {
                     T* target = log ? exponentials : to + row * inner;
                     exp_shifted<T, 1>(target, from + row * inner, maximum, width);
                     combine_columns<Sum<T>>(total, target, width);
                   }
                   if (log) {
                     for (int64_t j = 0; j < width; ++j) total[j] = std::log(total[j]);
                     for (int64_t row = 0; row < size; ++row) {
                       for (int64_t j = 0; j < width; ++j)
                         to[row * inner + j] = from[row * inner + j] - maximum[j] - total[j];
                     }
                   } else {
                     for (int64_t j = 0; j < width; ++j) total[j] = T(1) / total[j];
                     for (int64_t row = 0; row < size; ++row) {
                       for (int64_t j = 0; j < width; ++j) to[row * inner + j] *= total[j];
                     }
                   }
                 }
               });
}

// softmax: (g - sum(g * y)) * y; log_softmax: g - sum(g) * exp(y). [outer, size, inner], in blocks of
// columns.
template <typename T>
HWY_ATTR void backward_columns(T* grad_input, const T* grad, const T* output, int64_t outer, int64_t size,
                               int64_t inner, bool log) {
  const int64_t blocks = (inner + kBlock - 1) / kBlock;
  const int64_t work = std::max<int64_t>(1, size * std::min(inner, kBlock));
  parallel_for(0, outer * blocks, std::max<int64_t>(1, kGrainSize / 8 / work),
               [&](int64_t first, int64_t last) {
                 T total[kBlock];
                 T exponentials[kBlock];
                 const T zero = 0;
                 for (int64_t unit = first; unit < last; ++unit) {
                   const int64_t start = unit % blocks * kBlock;
                   const int64_t width = std::min(kBlock, inner - start);
                   const int64_t base = unit / blocks * size * inner + start;
                   std::fill_n(total, width, T(0));
                   for (int64_t row = 0; row < size; ++row) {
                     const T* g = grad + base + row * inner;
                     const T* y = output + base + row * inner;
                     if (log) {
                       combine_columns<Sum<T>>(total, g, width);
                     } else {
                       for (int64_t j = 0; j < width; ++j) total[j] += g[j] * y[j];
                     }
                   }
                   for (int64_t row = 0; row < size; ++row) {
                     const int64_t offset = base + row * inner;
                     if (log) {
                       exp_shifted<T, 0>(exponentials, output + offset, &zero, width);
                       for (int64_t j = 0; j < width; ++j)
                         grad_input[offset + j] = grad[offset + j] - total[j] * exponentials[j];
                     } else {
                       for (int64_t j = 0; j < width; ++j)
                         grad_input[offset + j] = (grad[offset + j] - total[j]) * output[offset + j];
                     }
                   }
                 }
               });
}

template <typename T>
HWY_ATTR void backward_rows(T* grad_input, const T* grad, const T* output, int64_t rows, int64_t size,
                            bool log) {
  parallel_for(0, rows, std::max<int64_t>(1, kGrainSize / 8 / size), [&](int64_t first, int64_t last) {
    const T zero = 0;
    for (int64_t i = first; i < last; ++i) {
      const T* g = grad + i * size;
      const T* y = output + i * size;
      T* to = grad_input + i * size;
      if (log) {
        const T total = reduce_run<Sum<T>>(g, size);
        exp_shifted<T, 0>(to, y, &zero, size);
        for (int64_t j = 0; j < size; ++j) to[j] = g[j] - total * to[j];
      } else {
        const T total = dot_run(g, y, size);
        for (int64_t j = 0; j < size; ++j) to[j] = (g[j] - total) * y[j];
      }
    }
  });
}

void softmax_forward(const Tensor& out, const Tensor& self, int64_t dim, bool log) {
  const Extents shape(self, dim);
  const Tensor dense = at::detail::to_contiguous(self);
  dispatch_floating_types(self.dtype(), log ? "log_softmax" : "softmax", [&](auto type) {
    using T = typename decltype(type)::type;
    if (shape.inner == 1) {
      softmax_rows(out.data_ptr<T>(), static_cast<const T*>(dense.data_ptr()), shape.outer, shape.size, log);
    } else {
      softmax_columns(out.data_ptr<T>(), static_cast<const T*>(dense.data_ptr()), shape.outer, shape.size,
                      shape.inner, log);
    }
  });
}

void softmax_grad(const Tensor& grad_input, const Tensor& grad_output, const Tensor& output, int64_t dim,
                  bool log) {
  const Extents shape(output, dim);
  const Tensor grad = at::detail::to_contiguous(grad_output);
  const Tensor dense = at::detail::to_contiguous(output);
  dispatch_floating_types(output.dtype(), "softmax_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    const auto* g = static_cast<const T*>(grad.data_ptr());
    const auto* y = static_cast<const T*>(dense.data_ptr());
    if (shape.inner == 1) {
      backward_rows(grad_input.data_ptr<T>(), g, y, shape.outer, shape.size, log);
    } else {
      backward_columns(grad_input.data_ptr<T>(), g, y, shape.outer, shape.size, shape.inner, log);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(softmax_forward);
HWY_EXPORT(softmax_grad);

void softmax_kernel(const Tensor& out, const Tensor& self, int64_t dim, bool log) {
  HWY_DYNAMIC_DISPATCH(softmax_forward)(out, self, dim, log);
}

void softmax_backward_kernel(const Tensor& grad_input, const Tensor& grad_output, const Tensor& output,
                             int64_t dim, bool log) {
  HWY_DYNAMIC_DISPATCH(softmax_grad)(grad_input, grad_output, output, dim, log);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
