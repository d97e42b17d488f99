// Compiled once per instruction set.

#include <aten/native/cpu/half_vector_products.h>

#include <aten/native/cpu/Conversion.h>

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

// What a processor converts in vectors; others widen one number at a time, which takes longer than a product.
#if TORCH_CONVERTS_HALVES
// out[i] = sum over k of lines[i * leading + k] * vector[k]. Neighbouring sums hide how long an addition takes.
HWY_ATTR void multiply_lines(int64_t count, int64_t depth, const c10::Half* lines, int64_t leading, const float* vector,
                             float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto add = [&](auto& sum, const c10::Half* line, int64_t k)
                       HWY_ATTR { sum = hn::MulAdd(load_stored(d, line + k), hn::LoadU(d, vector + k), sum); };
  for (int64_t i = 0; i < count; ++i, lines += leading) {
    auto first = hn::Zero(d), second = hn::Zero(d), third = hn::Zero(d), fourth = hn::Zero(d);
    int64_t k = 0;
    for (; k + 4 * lanes <= depth; k += 4 * lanes) {
      add(first, lines, k);
      add(second, lines, k + lanes);
      add(third, lines, k + 2 * lanes);
      add(fourth, lines, k + 3 * lanes);
    }
    for (; k + lanes <= depth; k += lanes) add(first, lines, k);
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(first, second), hn::Add(third, fourth))));
    for (; k < depth; ++k) sum += static_cast<float>(lines[k]) * vector[k];
    out[i] = sum;
  }
}

// out[j] = sum over k of vector[k] * lines[k * leading + j], four lines at a time.
HWY_ATTR void add_lines(int64_t count, int64_t depth, const c10::Half* lines, int64_t leading, const float* vector,
                        float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  std::fill_n(out, count, 0.0F);
  for (int64_t k = 0; k < depth; k += 4) {
    const int64_t held = depth - k < 4 ? depth - k : 4;
    int64_t j = 0;
    for (; j + lanes <= count; j += lanes) {
      auto sum = hn::LoadU(d, out + j);
      for (int64_t i = k; i < k + held; ++i)
        sum = hn::MulAdd(load_stored(d, lines + i * leading + j), hn::Set(d, vector[i]), sum);
      hn::StoreU(sum, d, out + j);
    }
    for (; j < count; ++j) {
      for (int64_t i = k; i < k + held; ++i) out[j] += static_cast<float>(lines[i * leading + j]) * vector[i];
    }
  }
}
#else
void multiply_lines(int64_t count, int64_t depth, const c10::Half* lines, int64_t leading, const float* vector,
                    float* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = 0;
    for (int64_t k = 0; k < depth; ++k) out[i] += static_cast<float>(lines[i * leading + k]) * vector[k];
  }
}
void add_lines(int64_t count, int64_t depth, const c10::Half* lines, int64_t leading, const float* vector, float* out) {
  std::fill_n(out, count, 0.0F);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t j = 0; j < count; ++j) out[j] += static_cast<float>(lines[k * leading + j]) * vector[k];
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(multiply_lines);
HWY_EXPORT(add_lines);

void multiply_by_vector(int64_t count, int64_t depth, MatrixOperand<c10::Half> matrix, const c10::Half* vector,
                        int64_t vector_step, float alpha, float beta, float* out, int64_t out_step) {
  constexpr int64_t kSerialElements = 1 << 17;
  constexpr int64_t kFewResults = 32;
  std::vector<float> factors(static_cast<size_t>(depth));
  const Conversion widen(c10::kFloat, c10::kHalf);
  widen(reinterpret_cast<char*>(factors.data()), sizeof(float), reinterpret_cast<const char*>(vector),
        vector_step * int64_t{sizeof(c10::Half)}, depth);
  std::vector<float> products(static_cast<size_t>(count));
  const int64_t grain = std::max(kFewResults, kSerialElements / std::max<int64_t>(depth, 1));
  parallel_for(0, count, grain, [&](int64_t first, int64_t last) {
    float* const to = products.data() + first;
    if (matrix.transposed) {
      HWY_DYNAMIC_DISPATCH(add_lines)
      (last - first, depth, matrix.data + first, matrix.leading, factors.data(), to);
    } else {
      HWY_DYNAMIC_DISPATCH(multiply_lines)
      (last - first, depth, matrix.data + first * matrix.leading, matrix.leading, factors.data(), to);
    }
  });
  for (int64_t i = 0; i < count; ++i) {
    float& target = out[i * out_step];
    target = alpha * products[static_cast<size_t>(i)] + (beta == 0 ? 0.0F : beta * target);
  }
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
