// Rows brought to mean 0 and deviation 1 (or only to a root mean square of 1), times a weight, plus a bias; and the
// gradients. A row is read into the first cache once, in the type that is computed in, whatever type it has in memory.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/ConvertedElements.h>
#include <aten/native/cpu/NarrowRows.h>

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/row_norm_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/RowSums-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

template <typename T>
TORCH_SIMD void write_row(T* out, const T* x, T mean, T scale, const T* weight, const T* bias, int64_t width) {
  if (weight && bias) {
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < width; ++i) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  } else if (weight) {
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < width; ++i) out[i] = (x[i] - mean) * scale * weight[i];
  } else {
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < width; ++i) out[i] = (x[i] - mean) * scale + (bias ? bias[i] : T(0));
  }
}

template <typename T>
TORCH_SIMD void write_gradient(T* out, const T* gradient, const T* weight, const T* x, T mean, T scale, T slope,
                               T shift, int64_t width) {
  if (weight) {
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < width; ++i) out[i] = gradient[i] * weight[i] * scale - (x[i] - mean) * slope - shift;
  } else {
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < width; ++i) out[i] = gradient[i] * scale - (x[i] - mean) * slope - shift;
  }
}

// A vector of float64 from numbers, and back.
template <typename D, typename T>
HWY_INLINE HWY_ATTR hn::Vec<D> load_in_double(D d, const T* from) {
  if constexpr (sizeof(T) == 8) return hn::LoadU(d, from);
  else return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
}
template <typename D, typename T>
HWY_INLINE HWY_ATTR void store_from_double(D d, hn::Vec<D> values, T* to) {
  if constexpr (sizeof(T) == 8) hn::StoreU(values, d, to);
  else hn::StoreU(hn::DemoteTo(hn::Rebind<T, D>(), values), hn::Rebind<T, D>(), to);
}
// Whole vectors of numbers, of which there are kTogether.
template <typename T>
HWY_ATTR void divide_numbers(T* sums, int64_t count, double n) {
  const hn::ScalableTag<double> d;
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d)))
    store_from_double(d, hn::Div(load_in_double(d, sums + i), hn::Set(d, n)), sums + i);
}
template <typename T>
HWY_ATTR void invert_roots(T* sums, int64_t count, double n, double eps) {
  const hn::ScalableTag<double> d;
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto sum = load_in_double(d, sums + i);
    const auto number = hn::Add(n == 1 ? sum : hn::Div(sum, hn::Set(d, n)), hn::Set(d, eps));
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
    if constexpr (sizeof(T) == 4) {
      // A guess of twelve binary digits, and two steps, which double them; roots and quotients take several times that.
      const hn::Rebind<float, decltype(d)> narrow;
      const auto is_plain = hn::And(hn::Gt(number, hn::Set(d, 1e-30)), hn::Lt(number, hn::Set(d, 1e30)));
      if (HWY_LIKELY(hn::AllTrue(d, is_plain))) {
        const auto half = hn::Mul(number, hn::Set(d, 0.5));
        auto root = hn::PromoteTo(d, hn::ApproximateReciprocalSqrt(hn::DemoteTo(narrow, number)));
        for (int step = 0; step < 2; ++step)
          root = hn::Mul(root, hn::NegMulAdd(hn::Mul(half, root), root, hn::Set(d, 1.5)));
        store_from_double(d, root, sums + i);
        continue;
      }
    }
#endif
    store_from_double(d, hn::Div(hn::Set(d, 1.0), hn::Sqrt(number)), sums + i);
  }
}

template <typename T>
const T* elements(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

int64_t rows_together(int64_t width) { return std::max<int64_t>(1, kTogether / std::max<int64_t>(1, width)); }
int64_t grain(int64_t width) { return std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, width)); }

void NormalizeRowsImpl(const Tensor& out, const Tensor& mean, const Tensor& scale, const Tensor& input,
                       const Tensor& weight, const Tensor& bias, double eps, bool centered) {
  const int64_t rows = mean.numel();
  const int64_t width = rows == 0 ? 0 : input.numel() / rows;
  dispatch_floating_types(mean.dtype(), "LayerNormKernelImpl", [&](auto type) {
    using T = typename decltype(type)::type;
    T* means = mean.data_ptr<T>();
    T* scales = scale.data_ptr<T>();
    const T* weights = elements<T>(weight);
    const T* biases = elements<T>(bias);
    parallel_for(0, rows, grain(width), [&](int64_t first, int64_t last) {
      const int64_t together = rows_together(width);
      ConvertedElements<T> values(input, together * width);
      ConvertedElements<T> results(out, together * width);
      const auto n = static_cast<double>(width);
      const auto normalize = [&](int64_t row, T* to, const T* x) HWY_ATTR {
        const T middle = centered ? static_cast<T>(add_up<T>(width, Value<T>{x}) / n) : T(0);
        const double square = add_up<T>(width, Square<T>{x, middle}) / n;
        means[row] = middle;
        scales[row] = static_cast<T>(1 / std::sqrt(square + eps));
        write_row(to, x, middle, scales[row], weights, biases, width);
      };
      for (int64_t top = first; top < last; top += together) {
        const int64_t count = std::min(together, last - top);
        const T* x = values.read(top * width, count * width);
        T* to = results.start(top * width);
        if (width <= kNarrow) {
          normalize_narrow(to, means + top, scales + top, x, weights, biases, count, width, eps, centered,
                           divide_numbers<T>, invert_roots<T>);
        } else {
          for (int64_t i = 0; i < count; ++i) normalize(top + i, to + i * width, x + i * width);
        }
        results.finish(top * width, count * width);
      }
    });
  });
}

void NormalizeRowsGradientImpl(const Tensor& out, const Tensor& grad, const Tensor& input, const Tensor& weight,
                               const Tensor& mean, const Tensor& scale, bool centered) {
  const int64_t rows = mean.numel();
  const int64_t width = rows == 0 ? 0 : input.numel() / rows;
  dispatch_floating_types(mean.dtype(), "LayerNormBackwardKernelImpl", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* means = mean.data_ptr<T>();
    const T* scales = scale.data_ptr<T>();
    const T* weights = elements<T>(weight);
    parallel_for(0, rows, grain(width), [&](int64_t first, int64_t last) {
      const int64_t together = rows_together(width);
      ConvertedElements<T> gradients(grad, together * width);
      ConvertedElements<T> values(input, together * width);
      ConvertedElements<T> results(out, together * width);
      const auto n = static_cast<double>(width);
      const auto differentiate = [&](int64_t row, T* to, const T* g, const T* x) HWY_ATTR {
        const auto factor = static_cast<double>(scales[row]);
        const double sum = centered ? add_up<T>(width, Weighted<T, false>{g, weights, x, means[row]}) : 0;
        const double product = add_up<T>(width, Weighted<T, true>{g, weights, x, means[row]});
        write_gradient(to, g, weights, x, means[row], scales[row],
                       static_cast<T>(factor * factor * factor * product / n), static_cast<T>(factor * sum / n), width);
      };
      for (int64_t top = first; top < last; top += together) {
        const int64_t count = std::min(together, last - top);
        const T* g = gradients.read(top * width, count * width);
        const T* x = values.read(top * width, count * width);
        T* to = results.start(top * width);
        for (int64_t i = 0; i < count; ++i)
          differentiate(top + i, to + i * width, g + i * width, x + i * width);
        results.finish(top * width, count * width);
      }
    });
  });
}

template <typename T>
TORCH_SIMD void add_products(T* sums, const T* gradient, const T* x, T mean, T scale, int64_t count) {
  TORCH_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) sums[i] += gradient[i] * ((x[i] - mean) * scale);
}

void NormalizeRowsWeightGradientImpl(const Tensor& out, const Tensor& grad, const Tensor& input, const Tensor& mean,
                                     const Tensor& scale) {
  constexpr int64_t kColumns = 256;  // that a thread sums up while it walks through the rows
  constexpr int64_t kHeight = 64;    // rows that are summed in T before they go into a double
  const int64_t rows = mean.numel();
  const int64_t width = out.numel();
  dispatch_floating_types(mean.dtype(), "LayerNormBackwardKernelImpl", [&](auto type) {
    using T = typename decltype(type)::type;
    const T* means = mean.data_ptr<T>();
    const T* scales = scale.data_ptr<T>();
    T* results = out.data_ptr<T>();
    const int64_t groups = (width + kColumns - 1) / kColumns;
    parallel_for(0, groups, grain(kColumns * rows), [&](int64_t first, int64_t last) {
      // Whole rows are read together.
      const int64_t together = width <= kColumns ? std::min(kHeight, rows_together(width)) : 1;
      ConvertedElements<T> gradients(grad, together * std::min(width, kColumns));
      ConvertedElements<T> values(input, together * std::min(width, kColumns));
      for (int64_t group = first; group < last; ++group) {
        const int64_t begin = group * kColumns;
        const int64_t count = std::min(kColumns, width - begin);
        double totals[kColumns] = {};
        for (int64_t top = 0; top < rows; top += kHeight) {
          T sums[kColumns] = {};
          const int64_t bottom = std::min(rows, top + kHeight);
          for (int64_t row = top; row < bottom; row += together) {
            const int64_t read = std::min(together, bottom - row);
            const int64_t start = row * width + begin;
            const T* g = gradients.read(start, read * count);
            const T* x = values.read(start, read * count);
            for (int64_t i = 0; i < read; ++i)
              add_products(sums, g + i * count, x + i * count, means[row + i], scales[row + i], count);
          }
          for (int64_t i = 0; i < count; ++i) totals[i] += static_cast<double>(sums[i]);
        }
        for (int64_t i = 0; i < count; ++i) results[begin + i] = static_cast<T>(totals[i]);
      }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(NormalizeRowsImpl);
void normalize_rows_kernel(const Tensor& out, const Tensor& mean, const Tensor& scale, const Tensor& input,
                           const Tensor& weight, const Tensor& bias, double eps, bool centered) {
  HWY_DYNAMIC_DISPATCH(NormalizeRowsImpl)(out, mean, scale, input, weight, bias, eps, centered);
}
HWY_EXPORT(NormalizeRowsGradientImpl);
void normalize_rows_gradient_kernel(const Tensor& out, const Tensor& grad, const Tensor& input, const Tensor& weight,
                                    const Tensor& mean, const Tensor& scale, bool centered) {
  HWY_DYNAMIC_DISPATCH(NormalizeRowsGradientImpl)(out, grad, input, weight, mean, scale, centered);
}
HWY_EXPORT(NormalizeRowsWeightGradientImpl);
void normalize_rows_weight_gradient_kernel(const Tensor& out, const Tensor& grad, const Tensor& input,
                                           const Tensor& mean, const Tensor& scale) {
  HWY_DYNAMIC_DISPATCH(NormalizeRowsWeightGradientImpl)(out, grad, input, mean, scale);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
