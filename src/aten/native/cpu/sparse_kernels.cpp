// A sparse matrix, by rows, times a strided one; compiled once per instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/sparse_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// result[0, width) += sum over i in [first, last) of values[i] * dense[columns[i], 0, width)
template <typename T>
HWY_ATTR void add_row(T* result, const T* values, const int64_t* columns, int64_t first, int64_t last, const T* dense,
                      int64_t width) {
  int64_t at = 0;
  if constexpr (std::is_floating_point_v<T>) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    // Four vectors are summed in registers before they are stored; then one by one.
    for (; at + 4 * lanes <= width; at += 4 * lanes) {
      T* out = result + at;
      auto sum0 = hn::LoadU(d, out);
      auto sum1 = hn::LoadU(d, out + lanes);
      auto sum2 = hn::LoadU(d, out + 2 * lanes);
      auto sum3 = hn::LoadU(d, out + 3 * lanes);
      for (int64_t i = first; i < last; ++i) {
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
      for (int64_t i = first; i < last; ++i) {
        sum = hn::MulAdd(hn::Set(d, values[i]), hn::LoadU(d, dense + columns[i] * width + at), sum);
      }
      hn::StoreU(sum, d, result + at);
    }
  }
  if (at == width) return;
  for (int64_t i = first; i < last; ++i) {
    const T value = values[i];
    const T* row = dense + columns[i] * width;
    for (int64_t k = at; k < width; ++k) result[k] += value * row[k];
  }
}

HWY_ATTR void csr_gemm_impl(const Tensor& out, const Tensor& starts, const Tensor& columns, const Tensor& values,
                            const Tensor& dense) {
  const int64_t rows = out.sizes()[0];
  const int64_t width = out.sizes()[1];
  const int64_t nnz = columns.numel();
  const int64_t* start = starts.data_ptr<int64_t>();
  const int64_t* column = columns.data_ptr<int64_t>();
  const auto run = [&](auto type) {
    using T = typename decltype(type)::type;
    T* result = out.data_ptr<T>();
    const T* value = values.data_ptr<T>();
    const T* matrix = dense.data_ptr<T>();
    const int64_t work_per_row = std::max<int64_t>(1, nnz / rows * width);
    parallel_for(0, rows, std::max<int64_t>(1, kGrainSize / work_per_row), [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        add_row(result + row * width, value, column, start[row], start[row + 1], matrix, width);
      }
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

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(csr_gemm_impl);

void csr_gemm_kernel(const Tensor& out, const Tensor& starts, const Tensor& columns, const Tensor& values,
                     const Tensor& dense) {
  const int64_t nnz = columns.numel();
  const int64_t rows = dense.sizes()[0];
  const int64_t* start = starts.data_ptr<int64_t>();
  const int64_t* column = columns.data_ptr<int64_t>();
  // Whoever made the matrix may not have had its indices checked.
  bool valid = start[0] == 0 && start[out.sizes()[0]] == nnz;
  for (int64_t row = 0; row < out.sizes()[0]; ++row) valid = valid && start[row] <= start[row + 1];
  TORCH_CHECK(valid, "the compressed indices of a sparse matrix must rise from 0 to the number of its values");
  bool inside = true;
  for (int64_t i = 0; i < nnz; ++i) inside &= static_cast<uint64_t>(column[i]) < static_cast<uint64_t>(rows);
  TORCH_CHECK_INDEX(inside, "an index of a sparse matrix is out of bounds for ", rows, " columns");
  HWY_DYNAMIC_DISPATCH(csr_gemm_impl)(out, starts, columns, values, dense);
}

}  // namespace at::native::cpu
#endif
