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
template <typename Element>
constexpr bool kWidensInVectors =
    HWY_TARGET != HWY_SCALAR && (std::is_same_v<Element, c10::BFloat16> || TORCH_CONVERTS_HALVES);

// out[i] = sum over k of lines[i * leading + k] * vector[k]. Neighbouring sums hide how long an addition takes.
template <typename Element>
HWY_ATTR void multiply_lines(int64_t count, int64_t depth, const Element* lines, int64_t leading, const Element* vector,
                             float* out) {
  for (int64_t i = 0; i < count; ++i, lines += leading) {
    int64_t k = 0;
    float sum = 0;
    if constexpr (kWidensInVectors<Element>) {
      const hn::ScalableTag<float> d;
      const auto lanes = static_cast<int64_t>(hn::Lanes(d));
      const auto add = [&](auto& part, int64_t at) HWY_ATTR {
        part = hn::MulAdd(load_stored(d, lines + at), load_stored(d, vector + at), part);
      };
      auto first = hn::Zero(d), second = hn::Zero(d), third = hn::Zero(d), fourth = hn::Zero(d);
      for (; k + 4 * lanes <= depth; k += 4 * lanes) {
        add(first, k);
        add(second, k + lanes);
        add(third, k + 2 * lanes);
        add(fourth, k + 3 * lanes);
      }
      for (; k + lanes <= depth; k += lanes) add(first, k);
      sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(first, second), hn::Add(third, fourth))));
    }
    for (; k < depth; ++k) sum += static_cast<float>(lines[k]) * static_cast<float>(vector[k]);
    out[i] = sum;
  }
}

// out[j] = sum over k of vector[k] * lines[k * leading + j], four lines at a time.
template <typename Element>
HWY_ATTR void add_lines(int64_t count, int64_t depth, const Element* lines, int64_t leading, const float* vector,
                        float* out) {
  std::fill_n(out, count, 0.0F);
  for (int64_t k = 0; k < depth; k += 4) {
    const int64_t held = depth - k < 4 ? depth - k : 4;
    int64_t j = 0;
    if constexpr (kWidensInVectors<Element>) {
      const hn::ScalableTag<float> d;
      const auto lanes = static_cast<int64_t>(hn::Lanes(d));
      for (; j + lanes <= count; j += lanes) {
        auto sum = hn::LoadU(d, out + j);
        for (int64_t i = k; i < k + held; ++i)
          sum = hn::MulAdd(load_stored(d, lines + i * leading + j), hn::Set(d, vector[i]), sum);
        hn::StoreU(sum, d, out + j);
      }
    }
    for (; j < count; ++j) {
      for (int64_t i = k; i < k + held; ++i) out[j] += static_cast<float>(lines[i * leading + j]) * vector[i];
    }
  }
}

// Of either type, whose elements are 16 bits.
void MultiplyLines(bool is_half, int64_t count, int64_t depth, const void* lines, int64_t leading, const void* vector,
                   float* out) {
  const auto run = [=](auto element) {
    using Element = decltype(element);
    multiply_lines(count, depth, static_cast<const Element*>(lines), leading, static_cast<const Element*>(vector), out);
  };
  if (is_half) run(c10::Half());
  else run(c10::BFloat16());
}
void AddLines(bool is_half, int64_t count, int64_t depth, const void* lines, int64_t leading, const float* vector,
              float* out) {
  if (is_half) add_lines(count, depth, static_cast<const c10::Half*>(lines), leading, vector, out);
  else add_lines(count, depth, static_cast<const c10::BFloat16*>(lines), leading, vector, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(MultiplyLines);
HWY_EXPORT(AddLines);

void multiply_by_vector(c10::ScalarType dtype, int64_t count, int64_t depth, MatrixOperand<uint16_t> matrix,
                        const uint16_t* vector, int64_t vector_step, float alpha, float beta, float* out,
                        int64_t out_step) {
  constexpr int64_t kSerialElements = 1 << 17;
  constexpr int64_t kFewResults = 32;
  constexpr int64_t kSize = sizeof(uint16_t);
  const bool is_half = dtype == c10::kHalf;
  const auto* const from = reinterpret_cast<const char*>(vector);
  std::vector<float> factors;
  std::vector<uint16_t> dense;
  if (matrix.transposed) {
    factors.resize(static_cast<size_t>(depth));
    const Conversion widen(c10::kFloat, dtype);
    widen(reinterpret_cast<char*>(factors.data()), sizeof(float), from, vector_step * kSize, depth);
  } else if (vector_step != 1 && depth > 1) {
    dense.resize(static_cast<size_t>(depth));
    move_row(from, vector_step * kSize, reinterpret_cast<char*>(dense.data()), kSize, depth, kSize);
    vector = dense.data();
  }
  std::vector<float> products(static_cast<size_t>(count));
  const int64_t grain = std::max(kFewResults, kSerialElements / std::max<int64_t>(depth, 1));
  parallel_for(0, count, grain, [&](int64_t first, int64_t last) {
    float* const to = products.data() + first;
    if (matrix.transposed) {
      HWY_DYNAMIC_DISPATCH(AddLines)
      (is_half, last - first, depth, matrix.data + first, matrix.leading, factors.data(), to);
    } else {
      HWY_DYNAMIC_DISPATCH(MultiplyLines)
      (is_half, last - first, depth, matrix.data + first * matrix.leading, matrix.leading, vector, to);
    }
  });
  for (int64_t i = 0; i < count; ++i) {
    float& target = out[i * out_step];
    target = alpha * products[static_cast<size_t>(i)] + (beta == 0 ? 0.0F : beta * target);
  }
}

float dot_of_halves(c10::ScalarType dtype, int64_t count, const void* a, const void* b) {
  float sum;
  HWY_DYNAMIC_DISPATCH(MultiplyLines)(dtype == c10::kHalf, 1, count, a, count, b, &sum);
  return sum;
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
