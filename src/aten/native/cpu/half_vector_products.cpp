// Compiled once per instruction set.

#include <aten/native/cpu/half_vector_products.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/half_vector_products.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/StoredVectors-inl.h>

#include <algorithm>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// out[i] = sum over k of lines[i * leading + k] * vector[k]. Neighbouring sums hide how long an addition takes.
template <typename Element>
HWY_ATTR void multiply_lines(int64_t count, int64_t depth, const Element* lines, int64_t leading, const float* vector,
                             float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; ++i) {
    const Element* const line = lines + i * leading;
    hn::Vec<decltype(d)> sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    int64_t k = 0;
    for (; k + 4 * lanes <= depth; k += 4 * lanes) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        sums[v] = hn::MulAdd(load_stored(d, line + k + v * lanes), hn::LoadU(d, vector + k + v * lanes), sums[v]);
    }
    for (; k + lanes <= depth; k += lanes)
      sums[0] = hn::MulAdd(load_stored(d, line + k), hn::LoadU(d, vector + k), sums[0]);
    float sum = hn::ReduceSum(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])));
    for (; k < depth; ++k) sum += static_cast<float>(line[k]) * vector[k];
    out[i] = sum;
  }
}

// out[j] += sum over k of vector[k] * lines[k * leading + j], for as many lines as are read together.
template <int kLines, typename Element>
HWY_ATTR void add_some_lines(int64_t count, const Element* lines, int64_t leading, const float* vector, float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    auto sum = hn::LoadU(d, out + j);
#pragma GCC unroll 8
    for (int k = 0; k < kLines; ++k)
      sum = hn::MulAdd(load_stored(d, lines + k * leading + j), hn::Set(d, vector[k]), sum);
    hn::StoreU(sum, d, out + j);
  }
  for (; j < count; ++j) {
    for (int k = 0; k < kLines; ++k) out[j] += static_cast<float>(lines[k * leading + j]) * vector[k];
  }
}

template <typename Element>
HWY_ATTR void add_lines(int64_t count, int64_t depth, const Element* lines, int64_t leading, const float* vector,
                        float* out) {
  constexpr int kTogether = 8;
  std::fill_n(out, count, 0.0F);
  int64_t k = 0;
  for (; k + kTogether <= depth; k += kTogether)
    add_some_lines<kTogether>(count, lines + k * leading, leading, vector + k, out);
  for (; k < depth; ++k) add_some_lines<1>(count, lines + k * leading, leading, vector + k, out);
}

#define TORCH_HALF_PRODUCTS(Element)                                                                                \
  void multiply_lines_##Element(int64_t count, int64_t depth, const c10::Element* lines, int64_t leading,           \
                                const float* vector, float* out) {                                                  \
    multiply_lines(count, depth, lines, leading, vector, out);                                                      \
  }                                                                                                                 \
  void add_lines_##Element(int64_t count, int64_t depth, const c10::Element* lines, int64_t leading,                \
                           const float* vector, float* out) {                                                       \
    add_lines(count, depth, lines, leading, vector, out);                                                           \
  }
TORCH_HALF_PRODUCTS(Half)
TORCH_HALF_PRODUCTS(BFloat16)
#undef TORCH_HALF_PRODUCTS

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

namespace {

#define TORCH_HALF_PRODUCTS(Element)                                                                                  \
  HWY_EXPORT(multiply_lines_##Element);                                                                               \
  HWY_EXPORT(add_lines_##Element);                                                                                    \
  void run_lines(bool adds, int64_t count, int64_t depth, const c10::Element* lines, int64_t leading,                 \
                 const float* vector, float* out) {                                                                   \
    if (adds) HWY_DYNAMIC_DISPATCH(add_lines_##Element)(count, depth, lines, leading, vector, out);                   \
    else HWY_DYNAMIC_DISPATCH(multiply_lines_##Element)(count, depth, lines, leading, vector, out);                   \
  }
TORCH_HALF_PRODUCTS(Half)
TORCH_HALF_PRODUCTS(BFloat16)
#undef TORCH_HALF_PRODUCTS

}  // namespace

template <typename Element>
void multiply_by_vector(int64_t count, int64_t depth, MatrixOperand<Element> matrix, const Element* vector,
                        int64_t vector_step, float alpha, float beta, float* out, int64_t out_step) {
  constexpr int64_t kSerialElements = 1 << 17;
  constexpr int64_t kFewResults = 32;
  std::vector<float> factors(static_cast<size_t>(depth));
  for (size_t k = 0; k < factors.size(); ++k)
    factors[k] = static_cast<float>(vector[static_cast<int64_t>(k) * vector_step]);
  std::vector<float> products(static_cast<size_t>(count));
  const int64_t grain = std::max(kFewResults, kSerialElements / std::max<int64_t>(depth, 1));
  parallel_for(0, count, grain, [&](int64_t first, int64_t last) {
    run_lines(matrix.transposed, last - first, depth, matrix.data + first * (matrix.transposed ? 1 : matrix.leading),
              matrix.leading, factors.data(), products.data() + first);
  });
  for (int64_t i = 0; i < count; ++i) {
    float& target = out[i * out_step];
    target = alpha * products[static_cast<size_t>(i)] + (beta == 0 ? 0.0F : beta * target);
  }
}
template void multiply_by_vector(int64_t, int64_t, MatrixOperand<c10::Half>, const c10::Half*, int64_t, float, float,
                                 float*, int64_t);
template void multiply_by_vector(int64_t, int64_t, MatrixOperand<c10::BFloat16>, const c10::BFloat16*, int64_t, float,
                                 float, float*, int64_t);

}  // namespace at::native::cpu
#endif  // HWY_ONCE
