// softmax and log_softmax along one dimension, forward and backward; compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/softmax_kernels.cpp"
#include <hwy/foreach_target.h>
#include <aten/native/cpu/Highway-inl.h>

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/AroundDimension.h>
#include <aten/native/cpu/ConvertedElements.h>
#include <aten/native/cpu/Reduce-inl.h>
#include <aten/native/cpu/ReduceOps-inl.h>
#include <aten/native/cpu/VectorMath-inl.h>

#include <cmath>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// Elements that are treated together; as many as keep three rows of them in the nearest cache. (Arrays of them are
// aligned: what crosses lines of the cache cannot be read again at once.)
constexpr int64_t kBlock = 1024;
// Elements that columns are widened in, where they are not of the type that is computed in, and columns at least.
constexpr int64_t kStrip = 65536;
constexpr int64_t kLeastWidth = 64;

// Columns of a matrix in the type that is computed in: where they lie, or in a buffer.
template <typename T>
class Strip {
 public:
  Strip(const Tensor& tensor, int64_t size, int64_t step)
      : data_(static_cast<char*>(tensor.data_ptr())),
        dtype_(tensor.dtype()),
        size_(size),
        step_(step),
        widen_(kComputed, dtype_),
        round_(dtype_, kComputed) {}

  static int64_t most_columns(const Tensor& tensor, int64_t size) {
    return tensor.dtype() == kComputed ? kBlock : std::clamp(kStrip / size, kLeastWidth, kBlock);
  }
  // Columns from the one that begins with element `first` on.
  T* read(int64_t first, int64_t width) {
    T* const to = start(first, width);
    if (!converts()) return to;
    for (int64_t row = 0; row < size_; ++row) {
      widen_(reinterpret_cast<char*>(to + row * width), sizeof(T), at(first + row * step_), item(), width);
    }
    return to;
  }
  // Where to write them; finish() brings them to their place.
  T* start(int64_t first, int64_t width) {
    if (!converts()) return reinterpret_cast<T*>(at(first));
    if (static_cast<int64_t>(buffer_.size()) < size_ * width) buffer_.resize(static_cast<size_t>(size_ * width));
    return buffer_.data();
  }
  void finish(int64_t first, int64_t width, const T* from) {
    if (!converts()) return;
    for (int64_t row = 0; row < size_; ++row) {
      round_(at(first + row * step_), item(), reinterpret_cast<const char*>(from + row * width), sizeof(T), width);
    }
  }
  // Elements from one row to the next.
  int64_t step(int64_t width) const { return converts() ? width : step_; }
  bool converts() const { return dtype_ != kComputed; }

 private:
  static constexpr ScalarType kComputed = c10::CppTypeToScalarType<T>::value;
  int64_t item() const { return static_cast<int64_t>(c10::element_size(dtype_)); }
  char* at(int64_t element) const { return data_ + element * item(); }

  char* data_;
  ScalarType dtype_;
  int64_t size_, step_;
  Conversion widen_, round_;
  std::vector<T> buffer_;
};

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
  HWY_ALIGN T maximum[kBlock];
  HWY_ALIGN T total[kBlock];
  HWY_ALIGN T exponentials[kBlock];
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
      TORCH_INDEPENDENT
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
HWY_ATTR void softmax_short_rows(const Tensor& out, const Tensor& self, int64_t rows, int64_t size, bool log) {
  const int64_t at_once = kBlock / size;
  parallel_for(0, (rows + at_once - 1) / at_once, kGrainSize / 8 / kBlock, [&](int64_t first, int64_t last) HWY_ATTR {
    HWY_ALIGN T strip[kBlock];
    ConvertedElements<T> values(self, kBlock);
    ConvertedElements<T> results(out, kBlock);
    for (int64_t block = first; block < last; ++block) {
      const int64_t top = block * at_once;
      const int64_t width = std::min(at_once, rows - top);
      const T* from = values.read(top * size, width * size);
      T* to = results.start(top * size);
      constexpr int64_t kItem = sizeof(T);
      char* const columns = reinterpret_cast<char*>(strip);
      transpose_tile(columns, width * kItem, reinterpret_cast<const char*>(from), size * kItem, size, width, kItem);
      softmax_strip(strip, strip, width, size, width, log);
      transpose_tile(reinterpret_cast<char*>(to), size * kItem, columns, width * kItem, width, size, kItem);
      results.finish(top * size, width * size);
    }
  });
}

// A row, which is mostly too short for what stands around reduce_block.
template <typename Op, typename T>
HWY_ATTR T reduce_softmax_row(const T* row, int64_t size) {
  return size <= kPlainRow ? reduce_block<Op, T>(row, size) : reduce_run<Op>(row, size);
}

// Rows that are read and written together, `most` if they are short.
int64_t rows_at_once(int64_t size, int64_t most) { return std::clamp<int64_t>(kBlock / size, 1, most); }

// Rows whose elements lie next to each other; a few at a time, whose logarithms are taken together.
template <typename T>
HWY_ATTR void softmax_rows(const Tensor& out, const Tensor& self, int64_t rows, int64_t size, bool log) {
  constexpr int64_t kShortRow = 24;
  if (size < kShortRow && rows > 1) return softmax_short_rows<T>(out, self, rows, size, log);
  constexpr int64_t kFewRows = HWY_MAX_BYTES / sizeof(T);
  const int64_t at_once = rows_at_once(size, kFewRows);
  parallel_for(0, rows, std::max<int64_t>(1, kGrainSize / 8 / size), [&](int64_t first, int64_t last) HWY_ATTR {
    HWY_ALIGN T block[kBlock];
    T maxima[kFewRows];
    T totals[kFewRows];
    ConvertedElements<T> values(self, at_once * size);
    ConvertedElements<T> results(out, at_once * size);
    for (int64_t top = first; top < last; top += at_once) {
      const int64_t count = std::min(at_once, last - top);
      std::fill_n(totals, kFewRows, T(0));
      const T* const all = values.read(top * size, count * size);
      T* const written = results.start(top * size);
      for (int64_t i = 0; i < count; ++i) {
        const T* const from = all + i * size;
        T* const to = written + i * size;
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
      if (log) {
        take_logarithms(totals, count);
        for (int64_t i = 0; i < count; ++i) {
          for (int64_t j = i * size; j < (i + 1) * size; ++j) written[j] = all[j] - maxima[i] - totals[i];
        }
      }
      results.finish(top * size, count * size);
    }
  });
}

// [outer, size, inner] with inner > 1: many columns side by side.
template <typename T>
HWY_ATTR void softmax_columns(const Tensor& out, const Tensor& self, const Extents& shape, bool log) {
  const int64_t most = Strip<T>::most_columns(self, shape.size);
  const int64_t blocks = (shape.inner + most - 1) / most;
  const int64_t work = std::max<int64_t>(1, shape.size * std::min(shape.inner, most));
  parallel_for(0, shape.outer * blocks, std::max<int64_t>(1, kGrainSize / 8 / work), [&](int64_t first, int64_t last) {
    Strip<T> values(self, shape.size, shape.inner);
    Strip<T> results(out, shape.size, shape.inner);
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t start = unit % blocks * most;
      const int64_t offset = unit / blocks * shape.size * shape.inner + start;
      const int64_t width = std::min(most, shape.inner - start);
      T* const from = values.read(offset, width);
      T* const to = values.converts() ? from : results.start(offset, width);
      softmax_strip(to, from, values.step(width), shape.size, width, log);
      results.finish(offset, width, to);
    }
  });
}

// softmax: (g - sum(g * y)) * y; log_softmax: g - sum(g) * exp(y). [outer, size, inner], in blocks of
// columns.
template <typename T>
HWY_ATTR void backward_columns(const Tensor& grad_input, const Tensor& grad, const Tensor& output,
                               const Extents& shape, bool log) {
  const int64_t most = Strip<T>::most_columns(output, shape.size);
  const int64_t blocks = (shape.inner + most - 1) / most;
  const int64_t work = std::max<int64_t>(1, shape.size * std::min(shape.inner, most));
  parallel_for(0, shape.outer * blocks, std::max<int64_t>(1, kGrainSize / 8 / work), [&](int64_t first, int64_t last) {
    HWY_ALIGN T total[kBlock];
    HWY_ALIGN T exponentials[kBlock];
    const T zero = 0;
    Strip<T> gradients(grad, shape.size, shape.inner);
    Strip<T> values(output, shape.size, shape.inner);
    Strip<T> results(grad_input, shape.size, shape.inner);
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t start = unit % blocks * most;
      const int64_t width = std::min(most, shape.inner - start);
      const int64_t base = unit / blocks * shape.size * shape.inner + start;
      const int64_t step = values.step(width);
      T* const all_g = gradients.read(base, width);
      const T* const all_y = values.read(base, width);
      T* const to = values.converts() ? all_g : results.start(base, width);
      std::fill_n(total, width, T(0));
      for (int64_t row = 0; row < shape.size; ++row) {
        const T* g = all_g + row * step;
        const T* y = all_y + row * step;
        if (log) {
          combine_columns<Sum<T>>(total, g, width);
        } else {
          for (int64_t j = 0; j < width; ++j) total[j] += g[j] * y[j];
        }
      }
      for (int64_t row = 0; row < shape.size; ++row) {
        const T* g = all_g + row * step;
        const T* y = all_y + row * step;
        T* const slope = to + row * step;
        if (log) {
          exp_shifted<T, 0>(exponentials, y, &zero, width);
          TORCH_INDEPENDENT
          for (int64_t j = 0; j < width; ++j) slope[j] = g[j] - total[j] * exponentials[j];
        } else {
          TORCH_INDEPENDENT
          for (int64_t j = 0; j < width; ++j) slope[j] = (g[j] - total[j]) * y[j];
        }
      }
      results.finish(base, width, to);
    }
  });
}

template <typename T>
HWY_ATTR void backward_rows(const Tensor& grad_input, const Tensor& grad, const Tensor& output, int64_t rows,
                            int64_t size, bool log) {
  parallel_for(0, rows, std::max<int64_t>(1, kGrainSize / 8 / size), [&](int64_t first, int64_t last) {
    constexpr int64_t kFewRows = 16;
    const int64_t at_once = rows_at_once(size, kFewRows);
    const T zero = 0;
    ConvertedElements<T> gradients(grad, at_once * size);
    ConvertedElements<T> values(output, at_once * size);
    ConvertedElements<T> results(grad_input, at_once * size);
    for (int64_t top = first; top < last; top += at_once) {
      const int64_t elements = std::min(at_once, last - top) * size;
      const T* const all_g = gradients.read(top * size, elements);
      const T* const all_y = values.read(top * size, elements);
      T* const written = results.start(top * size);
      for (int64_t i = 0; i < elements; i += size) {
        const T* const g = all_g + i;
        const T* const y = all_y + i;
        T* const to = written + i;
        if (log) {
          const T total = reduce_softmax_row<Sum<T>>(g, size);
          exp_shifted<T, 0>(to, y, &zero, size);
          for (int64_t j = 0; j < size; ++j) to[j] = g[j] - total * to[j];
        } else {
          const T total = dot_run(g, y, size);
          for (int64_t j = 0; j < size; ++j) to[j] = (g[j] - total) * y[j];
        }
      }
      results.finish(top * size, elements);
    }
  });
}

// float16 and bfloat16 are computed in float32.
ScalarType computed_type(const Tensor& tensor) {
  return c10::is_reduced_floating_type(tensor.dtype()) ? kFloat : tensor.dtype();
}

void softmax_forward(const Tensor& out, const Tensor& self, int64_t dim, bool log) {
  const Extents shape(self, dim);
  const Tensor dense = at::detail::to_contiguous(self);
  dispatch_floating_types(computed_type(self), log ? "log_softmax" : "softmax", [&](auto type) {
    using T = typename decltype(type)::type;
    if (shape.inner == 1) softmax_rows<T>(out, dense, shape.outer, shape.size, log);
    else softmax_columns<T>(out, dense, shape, log);
  });
}

void softmax_grad(const Tensor& grad_input, const Tensor& grad_output, const Tensor& output, int64_t dim,
                  bool log) {
  const Extents shape(output, dim);
  const Tensor grad = at::detail::to_contiguous(at::detail::to_dtype(grad_output, output.dtype()));
  const Tensor dense = at::detail::to_contiguous(output);
  dispatch_floating_types(computed_type(output), "softmax_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    if (shape.inner == 1) backward_rows<T>(grad_input, grad, dense, shape.outer, shape.size, log);
    else backward_columns<T>(grad_input, grad, dense, shape, log);
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
