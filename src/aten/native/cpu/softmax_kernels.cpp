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
    const auto rest = hn::FirstN(d, static_cast<size_t>(count - i));
    const auto offset = kShiftStep ? hn::MaskedLoad(rest, d, shift + i) : hn::Set(d, *shift);
    hn::BlendedStore(exp_of_negative(d, hn::Sub(hn::MaskedLoad(rest, d, from + i), offset)), rest, d, to + i);
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

// totals[i] = log(totals[i]), of numbers from 1 on and NaN; what is behind `count` up to a whole vector has no meaning,
// before and after.
template <typename T>
HWY_ATTR void take_logarithms(T* totals, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) {
    const auto total = hn::LoadU(d, totals + i);
    hn::StoreU(hn::IfThenElse(hn::Eq(total, total), log_vector(d, total), total), d, totals + i);
  }
}

// `width` columns of `size` elements, at most kBlock of them side by side; a row is `step` elements from the next.
template <typename T>
HWY_ATTR void softmax_strip(T* to, const T* from, int64_t step, int64_t size, int64_t width, bool log) {
  T maximum[kBlock];
  T total[kBlock];
  T exponentials[kBlock];
  std::copy_n(from, width, maximum);
  for (int64_t row = 1; row < size; ++row) combine_columns<Maximum<T>>(maximum, from + row * step, width);
  std::fill_n(total, std::min<int64_t>(kBlock, width + HWY_MAX_BYTES / sizeof(T)), T(0));
  for (int64_t row = 0; row < size; ++row) {
    T* target = log ? exponentials : to + row * step;
    exp_shifted<T, 1>(target, from + row * step, maximum, width);
    combine_columns<Sum<T>>(total, target, width);
  }
  if (log) {
    take_logarithms(total, width);
    for (int64_t row = 0; row < size; ++row) {
      for (int64_t j = 0; j < width; ++j) to[row * step + j] = from[row * step + j] - maximum[j] - total[j];
    }
  } else {
    for (int64_t j = 0; j < width; ++j) total[j] = T(1) / total[j];
    for (int64_t row = 0; row < size; ++row) {
      for (int64_t j = 0; j < width; ++j) to[row * step + j] *= total[j];
    }
  }
}

// Rows of so few elements that they do not fill vectors, as columns of a strip for each block of them.
template <typename T>
HWY_ATTR void softmax_short_rows(T* out, const T* self, int64_t rows, int64_t size, bool log) {
  const int64_t at_once = kBlock / size;
  parallel_for(0, (rows + at_once - 1) / at_once, kGrainSize / 8 / kBlock, [&](int64_t first, int64_t last) HWY_ATTR {
    T strip[kBlock];
    for (int64_t block = first; block < last; ++block) {
      const int64_t top = block * at_once;
      const int64_t width = std::min(at_once, rows - top);
      const T* from = self + top * size;
      T* to = out + top * size;
      for (int64_t j = 0; j < size; ++j) {
        for (int64_t row = 0; row < width; ++row) strip[j * width + row] = from[row * size + j];
      }
      softmax_strip(strip, strip, width, size, width, log);
      for (int64_t j = 0; j < size; ++j) {
        for (int64_t row = 0; row < width; ++row) to[row * size + j] = strip[j * width + row];
      }
    }
  });
}

// A row, which is mostly too short for what stands around reduce_block.
template <typename Op, typename T>
HWY_ATTR T reduce_softmax_row(const T* row, int64_t size) {
  return size <= kPlainRow ? reduce_block<Op, T>(row, size) : reduce_run<Op>(row, size);
}

// Rows whose elements lie next to each other; a few at a time, whose logarithms are taken together.
template <typename T>
HWY_ATTR void softmax_rows(T* out, const T* self, int64_t rows, int64_t size, bool log) {
  constexpr int64_t kShortRow = 24;
  if (size < kShortRow && rows > 1) return softmax_short_rows(out, self, rows, size, log);
  constexpr int64_t kFewRows = HWY_MAX_BYTES / sizeof(T);
  parallel_for(0, rows, std::max<int64_t>(1, kGrainSize / 8 / size), [&](int64_t first, int64_t last) HWY_ATTR {
    T block[kBlock];
    T maxima[kFewRows];
    T totals[kFewRows];
    for (int64_t top = first; top < last; top += kFewRows) {
      const int64_t count = std::min(kFewRows, last - top);
      std::fill_n(totals, kFewRows, T(0));
      for (int64_t i = 0; i < count; ++i) {
        const T* from = self + (top + i) * size;
        T* to = out + (top + i) * size;
        maxima[i] = reduce_softmax_row<Maximum<T>>(from, size);
        if (!log) {
          exp_shifted<T, 0>(to, from, maxima + i, size);
          const T factor = T(1) / reduce_softmax_row<Sum<T>>(to, size);
          for (int64_t j = 0; j < size; ++j) to[j] *= factor;
          continue;
        }
        for (int64_t start = 0; start < size; start += kBlock) {
          const int64_t part = std::min(kBlock, size - start);
          exp_shifted<T, 0>(block, from + start, maxima + i, part);
          totals[i] += reduce_softmax_row<Sum<T>>(block, part);
        }
      }
      if (!log) continue;
      take_logarithms(totals, count);
      for (int64_t i = 0; i < count; ++i) {
        const T* from = self + (top + i) * size;
        T* to = out + (top + i) * size;
        for (int64_t j = 0; j < size; ++j) to[j] = from[j] - maxima[i] - totals[i];
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
                 for (int64_t unit = first; unit < last; ++unit) {
                   const int64_t start = unit % blocks * kBlock;
                   const int64_t offset = unit / blocks * size * inner + start;
                   softmax_strip(out + offset, self + offset, inner, size, std::min(kBlock, inner - start), log);
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
