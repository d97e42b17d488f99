// A sparse matrix, by rows, times a strided one, and products at its places; compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/sparse_kernels.cpp"
#include <hwy/foreach_target.h>
#include <aten/native/cpu/Highway-inl.h>

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/Sparse.h>

namespace at::native::cpu {
[[noreturn]] void throw_wrong_column(int64_t columns);
// sum over i of values[i] * dense[columns[i]]
template <typename T>
T dot_row(const T* values, const int64_t* columns, int64_t count, const T* dense);
}

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Columns are read by as many as stay in the first cache, so that short rows do not pay for checks of their own.
constexpr int64_t kBlock = 1024;

// Columns as int64. Whoever made the matrix may not have had its indices checked.
template <typename Index>
HWY_NOINLINE const int64_t* check_columns(const Index* columns, int64_t count, int64_t bound, int64_t* wide) {
  using Unsigned = std::make_unsigned_t<Index>;
  const auto last = static_cast<Unsigned>(std::min<int64_t>(bound - 1, std::numeric_limits<Index>::max()));
  Index wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    wrong |= columns[i] | static_cast<Index>(last - static_cast<Unsigned>(columns[i]));
    if constexpr (!std::is_same_v<Index, int64_t>) wide[i] = columns[i];
  }
  if (wrong < 0) throw_wrong_column(bound);
  if constexpr (std::is_same_v<Index, int64_t>) return columns;
  else return wide;
}

using RowFunction = void (*)(const void* context, int64_t row, int64_t first, const int64_t* columns, int64_t count);

// function(row, first, columns, count) over each row's elements, longer rows in parts that begin at its first element:
// what is added of a row does not depend on the other rows. Threads get as many elements each.
HWY_NOINLINE void run_rows(const Tensor& starts, const Tensor& columns, int64_t bound, int64_t work_per_element,
                           RowFunction function, const void* context) {
  const int64_t rows = starts.numel() - 1;
  const int64_t* start = starts.data_ptr<int64_t>();
  const auto row_at = [&](int64_t place) {
    int64_t low = 0;
    for (int64_t high = rows; low < high;) {
      const int64_t middle = low + (high - low) / 2;
      if (start[middle] + middle < place) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const int64_t grain = std::max<int64_t>(1, kGrainSize / work_per_element);
  parallel_for(0, columns.numel() + rows, grain, [&](int64_t first, int64_t last) {
    const int64_t end_row = row_at(last);
    int64_t wide[kBlock];
    const int64_t* block = nullptr;
    int64_t block_first = 0;
    int64_t block_last = 0;
    for (int64_t row = row_at(first); row < end_row; ++row) {
      for (int64_t i = start[row]; i < start[row + 1];) {
        if (i >= block_last || (start[row + 1] > block_last && block_first < start[row])) {
          block_first = i;
          block_last = std::min(i + kBlock, start[end_row]);
          const int64_t count = block_last - i;
          block = columns.dtype() == kInt ? check_columns(columns.data_ptr<int32_t>() + i, count, bound, wide)
                                          : check_columns(columns.data_ptr<int64_t>() + i, count, bound, wide);
        }
        const int64_t stop = std::min(start[row + 1], block_last);
        function(context, row, i, block + (i - block_first), stop - i);
        i = stop;
      }
    }
  });
}

template <typename Function>
HWY_ATTR void for_rows(const Tensor& starts, const Tensor& columns, int64_t bound, int64_t work_per_element,
                       const Function& function) {
  run_rows(
      starts, columns, bound, work_per_element,
      [](const void* context, int64_t row, int64_t first, const int64_t* column, int64_t count) {
        (*static_cast<const Function*>(context))(row, first, column, count);
      },
      &function);
}

// result[0, width) += sum over i of values[i] * dense[columns[i], 0, width)
template <typename T>
HWY_ATTR void add_row(T* HWY_RESTRICT result, const T* values, const int64_t* columns, int64_t count, const T* dense,
                      int64_t width) {
  if constexpr (std::is_floating_point_v<T>) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t at = 0;
    // Four vectors are summed in registers before they are stored; then one by one.
    for (; at + 4 * lanes <= width; at += 4 * lanes) {
      T* out = result + at;
      auto sum0 = hn::LoadU(d, out);
      auto sum1 = hn::LoadU(d, out + lanes);
      auto sum2 = hn::LoadU(d, out + 2 * lanes);
      auto sum3 = hn::LoadU(d, out + 3 * lanes);
      for (int64_t i = 0; i < count; ++i) {
        const auto value = hn::Set(d, values[i]);
        const T* row = dense + columns[i] * width + at;
        sum0 = hn::MulAdd(value, hn::LoadU(d, row), sum0);
        sum1 = hn::MulAdd(value, hn::LoadU(d, row + lanes), sum1);
        sum2 = hn::MulAdd(value, hn::LoadU(d, row + 2 * lanes), sum2);
        sum3 = hn::MulAdd(value, hn::LoadU(d, row + 3 * lanes), sum3);
      }
      hn::StoreU(sum0, d, out);
      hn::StoreU(sum1, d, out + lanes);
      hn::StoreU(sum2, d, out + 2 * lanes);
      hn::StoreU(sum3, d, out + 3 * lanes);
    }
    for (; at + lanes <= width; at += lanes) {
      auto sum = hn::LoadU(d, result + at);
      for (int64_t i = 0; i < count; ++i) {
        sum = hn::MulAdd(hn::Set(d, values[i]), hn::LoadU(d, dense + columns[i] * width + at), sum);
      }
      hn::StoreU(sum, d, result + at);
    }
    if (at == width) return;
    const auto rest = hn::FirstN(d, static_cast<size_t>(width - at));
    auto sum = hn::MaskedLoad(rest, d, result + at);
    for (int64_t i = 0; i < count; ++i) {
      sum = hn::MulAdd(hn::Set(d, values[i]), hn::MaskedLoad(rest, d, dense + columns[i] * width + at), sum);
    }
    hn::BlendedStore(sum, rest, d, result + at);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      const T value = values[i];
      const T* row = dense + columns[i] * width;
      for (int64_t k = 0; k < width; ++k) result[k] += value * row[k];
    }
  }
}

HWY_ATTR void csr_gemm_impl(const Tensor& out, const Tensor& starts, const Tensor& columns, const Tensor& values,
                            const Tensor& dense) {
  const int64_t width = out.sizes()[1];
  const auto run = [&](auto type) {
    using T = typename decltype(type)::type;
    T* result = out.data_ptr<T>();
    const T* value = values.data_ptr<T>();
    const T* matrix = dense.data_ptr<T>();
    if (width == 1) {
      return for_rows(starts, columns, dense.sizes()[0], 1,
                      [=](int64_t row, int64_t first, const int64_t* column, int64_t count) {
                        result[row] += dot_row(value + first, column, count, matrix);
                      });
    }
    for_rows(starts, columns, dense.sizes()[0], width,
             [&](int64_t row, int64_t first, const int64_t* column, int64_t count) {
               add_row(result + row * width, value + first, column, count, matrix, width);
             });
  };
  switch (out.dtype()) {
    case kFloat: return run(TypeTag<float>());
    case kDouble: return run(TypeTag<double>());
    case kLong: return run(TypeTag<int64_t>());
    case kComplexFloat: return run(TypeTag<c10::complex<float>>());
    case kComplexDouble: return run(TypeTag<c10::complex<double>>());
    default: at::detail::throw_dtype_not_implemented("addmm_sparse_dense", out.dtype());
  }
}

// result[i] = left . right[columns[i]], four at a time: what is read of `left` is used for each.
template <typename T>
HWY_ATTR void dot_places(T* result, const int64_t* columns, int64_t count, const T* left, const T* right,
                         int64_t width) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += 4) {
    const T* rows[4];
    for (int64_t j = 0; j < 4; ++j) rows[j] = right + columns[std::min(i + j, count - 1)] * width;
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    int64_t at = 0;
    for (; at + lanes <= width; at += lanes) {
      const auto value = hn::LoadU(d, left + at);
      sum0 = hn::MulAdd(value, hn::LoadU(d, rows[0] + at), sum0);
      sum1 = hn::MulAdd(value, hn::LoadU(d, rows[1] + at), sum1);
      sum2 = hn::MulAdd(value, hn::LoadU(d, rows[2] + at), sum2);
      sum3 = hn::MulAdd(value, hn::LoadU(d, rows[3] + at), sum3);
    }
    if (at < width) {
      const auto rest = hn::FirstN(d, static_cast<size_t>(width - at));
      const auto value = hn::MaskedLoad(rest, d, left + at);
      sum0 = hn::MulAdd(value, hn::MaskedLoad(rest, d, rows[0] + at), sum0);
      sum1 = hn::MulAdd(value, hn::MaskedLoad(rest, d, rows[1] + at), sum1);
      sum2 = hn::MulAdd(value, hn::MaskedLoad(rest, d, rows[2] + at), sum2);
      sum3 = hn::MulAdd(value, hn::MaskedLoad(rest, d, rows[3] + at), sum3);
    }
    const T sums[4] = {hn::GetLane(hn::SumOfLanes(d, sum0)), hn::GetLane(hn::SumOfLanes(d, sum1)),
                       hn::GetLane(hn::SumOfLanes(d, sum2)), hn::GetLane(hn::SumOfLanes(d, sum3))};
    std::copy_n(sums, std::min<int64_t>(4, count - i), result + i);
  }
}

HWY_ATTR void sampled_gemm_impl(const Tensor& out, const Tensor& starts, const Tensor& columns, const Tensor& left,
                                const Tensor& right) {
  const int64_t width = left.sizes()[1];
  const auto run = [&](auto type) {
    using T = typename decltype(type)::type;
    T* result = out.data_ptr<T>();
    const T* a = left.data_ptr<T>();
    const T* b = right.data_ptr<T>();
    for_rows(starts, columns, right.sizes()[0], std::max<int64_t>(1, width),
             [&](int64_t row, int64_t first, const int64_t* column, int64_t count) {
               dot_places(result + first, column, count, a + row * width, b, width);
             });
  };
  if (out.dtype() == kFloat) run(TypeTag<float>());
  else run(TypeTag<double>());
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

// Once and for no instruction set: vectors gathered from everywhere are slower than four sums that do not wait for each
// other.
template <typename T>
HWY_NOINLINE T dot_row(const T* values, const int64_t* columns, int64_t count, const T* dense) {
  T sum0(0);
  T sum1(0);
  T sum2(0);
  T sum3(0);
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    sum0 += values[i] * dense[columns[i]];
    sum1 += values[i + 1] * dense[columns[i + 1]];
    sum2 += values[i + 2] * dense[columns[i + 2]];
    sum3 += values[i + 3] * dense[columns[i + 3]];
  }
  for (; i < count; ++i) sum0 += values[i] * dense[columns[i]];
  return (sum0 + sum1) + (sum2 + sum3);
}

HWY_EXPORT(csr_gemm_impl);
HWY_EXPORT(sampled_gemm_impl);

void throw_wrong_column(int64_t columns) {
  throw c10::IndexError(
      c10::detail::concatenate("an index of a sparse matrix is out of bounds for ", columns, " columns"));
}

void csr_gemm_kernel(const Tensor& out, const Tensor& starts, const Tensor& columns, const Tensor& values,
                     const Tensor& dense) {
  check_row_starts(starts, columns.numel());
  HWY_DYNAMIC_DISPATCH(csr_gemm_impl)(out, starts, columns, values, dense);
}

void sampled_gemm_kernel(const Tensor& out, const Tensor& starts, const Tensor& columns, const Tensor& left,
                         const Tensor& right) {
  check_row_starts(starts, columns.numel());
  HWY_DYNAMIC_DISPATCH(sampled_gemm_impl)(out, starts, columns, left, right);
}

}  // namespace at::native::cpu
#endif
