// Operations of several tensors and numbers: addcmul, lerp, where, clamp, and backward formulas of activations.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ComplexKernels.h>
#include <aten/native/cpu/ElementBits.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/FusedKernels.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/pointwise_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>
#include <aten/native/cpu/MultiplyAdd-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

template <typename T>
struct AddMultiple {
  T value;
  T factor;
  TORCH_SIMD T operator()(T a, T b) const { return multiply_add(value * b, factor, a); }
};
template <typename T>
struct AddProduct {
  T value;
  TORCH_SIMD T operator()(T a, T b, T c) const { return multiply_add(static_cast<T>(value * b), c, a); }
  template <typename Run>
  TORCH_SIMD void with_number(T c, const Run& run) const {
    run(AddMultiple<T>{value, c});
  }
};
template <typename T>
struct AddPart {
  T value;
  T divisor;
  TORCH_SIMD T operator()(T a, T b) const { return a + value * b / divisor; }
};
template <typename T>
struct AddQuotient {
  T value;
  TORCH_SIMD T operator()(T a, T b, T c) const { return a + value * b / c; }
  template <typename Run>
  TORCH_SIMD void with_number(T c, const Run& run) const {
    run(AddPart<T>{value, c});
  }
};
// From the nearer end, so that weight 1 gives `end` exactly. One product for both, of bits that are chosen by masks:
// what is left of a row would guess at a branch.
template <typename T>
struct LerpOfNumber {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  T factor;
  Bits from_end;  // all of them, or none

  TORCH_SIMD static LerpOfNumber of(T weight) {
    const Bits is_far = Bits{0} - static_cast<Bits>(!(std::fabs(weight) < T(0.5)));
    return {weight - number_of(bits_of(T(1)) & is_far), is_far};
  }
  TORCH_SIMD T operator()(T start, T end) const {
    const T nearer = number_of((bits_of(end) & from_end) | (bits_of(start) & ~from_end));
    return multiply_add(factor, end - start, nearer);
  }
  TORCH_SIMD static Bits bits_of(T number) {
    Bits bits;
    std::memcpy(&bits, &number, sizeof(T));
    return bits;
  }
  TORCH_SIMD static T number_of(Bits bits) {
    T number;
    std::memcpy(&number, &bits, sizeof(T));
    return number;
  }
};
template <typename T>
struct LerpByWeight {
  TORCH_SIMD T operator()(T start, T end, T weight) const { return LerpOfNumber<T>::of(weight)(start, end); }
  template <typename Run>
  TORCH_SIMD void with_number(T weight, const Run& run) const {
    run(LerpOfNumber<T>::of(weight));
  }
};
// Bits of one size, whatever they mean. Masks instead of a branch, which random conditions mispredict.
template <typename Bits>
struct Select {
  TORCH_SIMD Bits operator()(uint8_t condition, Bits a, Bits b) const { return select(condition, a, b); }
  TORCH_SIMD static Bits select(uint8_t condition, Bits a, Bits b) {
    if constexpr (std::is_same_v<Bits, WideWord>) {
      return {Select<uint64_t>::select(condition, a.low, b.low), Select<uint64_t>::select(condition, a.high, b.high)};
    } else {
      const Bits mask = static_cast<Bits>(Bits{0} - static_cast<Bits>(condition));
      return static_cast<Bits>((a & mask) | (b & static_cast<Bits>(~mask)));
    }
  }
};
template <typename T>
struct Clamp {
  T low;
  T high;
  TORCH_SIMD T operator()(T a) const {
    // Written so that NaN stays, and so that `high` wins when the bounds are crossed.
    const T raised = a < low ? low : a;
    return high < raised ? high : raised;
  }
};
template <typename T>
struct NanToNum {
  T nan;
  T above;
  T below;
  TORCH_SIMD T operator()(T a) const {
    const T infinite = a > 0 ? above : below;
    const T special = a != a ? nan : infinite;
    return std::fabs(a) <= std::numeric_limits<T>::max() ? a : special;
  }
};
template <typename T>
struct HalfSquareUpTo {
  T bound;
  TORCH_SIMD T operator()(T a, T b) const {
    const T difference = std::fabs(a - b);
    const T bounded = bound < difference ? bound : difference;
    return bounded * (difference - T(0.5) * bounded);
  }
};
template <typename T>
struct HalfSquareSlope {
  T bound;
  TORCH_SIMD T operator()(T grad, T a, T b) const { return grad * Clamp<T>{-bound, bound}(a - b); }
};
template <typename T>
struct SquareOfDifference {
  TORCH_SIMD T operator()(T a, T b) const { return (a - b) * (a - b); }
};
template <typename T>
struct TimesDifference {
  T factor;
  TORCH_SIMD T operator()(T grad, T a, T b) const { return grad * (factor * (a - b)); }
};
template <typename T>
struct ThresholdBackward {
  T threshold;
  TORCH_SIMD T operator()(T grad, T self) const { return self <= threshold ? T(0) : grad; }
};
template <typename T>
struct SigmoidBackward {
  TORCH_SIMD T operator()(T grad, T output) const { return grad * (T(1) - output) * output; }
};
template <typename T>
struct TanhBackward {
  TORCH_SIMD T operator()(T grad, T output) const { return grad * multiply_add(-output, output, T(1)); }
};

void AddcmulImpl(TensorIterator& iter, const Scalar& value) {
  dispatch_numeric_types(iter.common_dtype(), "addcmul", [&](auto type) {
    using T = typename decltype(type)::type;
    run_ternary<T, T, T>(iter, AddProduct<T>{value.to<T>()});
  });
}

void AddcdivImpl(TensorIterator& iter, const Scalar& value) {
  dispatch_floating_types(iter.common_dtype(), "addcdiv", [&](auto type) {
    using T = typename decltype(type)::type;
    run_ternary<T, T, T>(iter, AddQuotient<T>{value.to<T>()});
  });
}

void LerpImpl(TensorIterator& iter, const Scalar& weight) {
  dispatch_floating_types(iter.common_dtype(), "lerp", [&](auto type) {
    using T = typename decltype(type)::type;
    run_binary<T, T>(iter, LerpOfNumber<T>::of(weight.to<T>()));
  });
}

void LerpByWeights(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "lerp_kernel_tensor", [&](auto type) {
    using T = typename decltype(type)::type;
    run_ternary<T, T, T>(iter, LerpByWeight<T>());
  });
}

void WhereImpl(TensorIterator& iter) {
  dispatch_word(static_cast<size_t>(iter.element_size(0)), [&](auto word) {
    using Word = decltype(word);
    run_ternary<Word, uint8_t, Word>(iter, Select<Word>());
  });
}

// One row of masked_fill: operand 0 is the tensor, operand 1 the mask.
template <typename T>
struct MaskedFillLoop {
  T value;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    if (strides[0] == sizeof(T) && strides[1] == 1) {
      auto* out = reinterpret_cast<T*>(data[0]);
      const auto* mask = reinterpret_cast<const uint8_t*>(data[1]);
      const T own = value;
      TORCH_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) out[i] = Select<T>::select(mask[i], own, out[i]);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      if (*reinterpret_cast<const bool*>(data[1] + i * strides[1]))
        *reinterpret_cast<T*>(data[0] + i * strides[0]) = value;
    }
  }
};
void MaskedFillImpl(TensorIterator& iter, const Scalar& value) {
  dispatch_word(static_cast<size_t>(iter.element_size(0)), [&](auto word) {
    using Word = decltype(word);
    iter.for_each(MaskedFillLoop<Word>{element_bits<Word>(value, iter.dtype(0))});
  });
}

void ClampImpl(TensorIterator& iter, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  dispatch_numeric_types(iter.common_dtype(), "clamp", [&](auto type) {
    using T = typename decltype(type)::type;
    using limits = std::numeric_limits<T>;
    constexpr T lowest = limits::has_infinity ? -limits::infinity() : limits::lowest();
    constexpr T highest = limits::has_infinity ? limits::infinity() : limits::max();
    run_unary<T, T>(iter, Clamp<T>{min ? min->to<T>() : lowest, max ? max->to<T>() : highest});
  });
}

void NanToNumImpl(TensorIterator& iter, double nan, double above, double below) {
  dispatch_floating_types(iter.common_dtype(), "nan_to_num", [&](auto type) {
    using T = typename decltype(type)::type;
    run_unary<T, T>(iter, NanToNum<T>{static_cast<T>(nan), static_cast<T>(above), static_cast<T>(below)});
  });
}

void HalfSquareUpToImpl(TensorIterator& iter, double bound) {
  dispatch_floating_types(iter.common_dtype(), "huber_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    run_binary<T, T>(iter, HalfSquareUpTo<T>{static_cast<T>(bound)});
  });
}

void HalfSquareSlopeImpl(TensorIterator& iter, double bound) {
  dispatch_floating_types(iter.common_dtype(), "huber_backward_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    run_ternary<T, T, T>(iter, HalfSquareSlope<T>{static_cast<T>(bound)});
  });
}

void SquareOfDifferenceImpl(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "mse_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    iter.for_each(BinaryLoop<T, T, SquareOfDifference<T>>{{}});
  });
}

void TimesDifferenceImpl(TensorIterator& iter, double factor) {
  dispatch_floating_types(iter.common_dtype(), "mse_backward_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    iter.for_each(TernaryLoop<T, T, T, TimesDifference<T>>{{static_cast<T>(factor)}});
  });
}

void ThresholdBackwardImpl(TensorIterator& iter, const Scalar& threshold) {
  dispatch_numeric_types(iter.common_dtype(), "threshold_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    run_binary<T, T>(iter, ThresholdBackward<T>{threshold.to<T>()});
  });
}

void SigmoidBackwardImpl(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "sigmoid_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    run_binary<T, T>(iter, SigmoidBackward<T>());
  });
}

void TanhBackwardImpl(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "tanh_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    run_binary<T, T>(iter, TanhBackward<T>());
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(AddcmulImpl);
void addcmul_kernel(TensorIterator& iter, const Scalar& value) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_addcmul(iter, value);
  HWY_DYNAMIC_DISPATCH(AddcmulImpl)(iter, value);
}
HWY_EXPORT(AddcdivImpl);
void addcdiv_kernel(TensorIterator& iter, const Scalar& value) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_addcdiv(iter, value);
  HWY_DYNAMIC_DISPATCH(AddcdivImpl)(iter, value);
}
HWY_EXPORT(LerpImpl);
void lerp_kernel(TensorIterator& iter, const Scalar& weight) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_lerp(iter, weight);
  HWY_DYNAMIC_DISPATCH(LerpImpl)(iter, weight);
}
HWY_EXPORT(LerpByWeights);
void lerp_by_weights(c10::DeviceType, TensorIterator& iter) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_lerp_by_weights(iter);
  HWY_DYNAMIC_DISPATCH(LerpByWeights)(iter);
}
HWY_EXPORT(WhereImpl);
void where_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(WhereImpl)(iter); }
HWY_EXPORT(MaskedFillImpl);
void masked_fill_kernel(TensorIterator& iter, const Scalar& value) {
  HWY_DYNAMIC_DISPATCH(MaskedFillImpl)(iter, value);
}
HWY_EXPORT(ClampImpl);
void clamp_kernel(TensorIterator& iter, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  HWY_DYNAMIC_DISPATCH(ClampImpl)(iter, min, max);
}
HWY_EXPORT(NanToNumImpl);
void nan_to_num(c10::DeviceType, TensorIterator& iter, double nan, double above, double below) {
  HWY_DYNAMIC_DISPATCH(NanToNumImpl)(iter, nan, above, below);
}
HWY_EXPORT(HalfSquareUpToImpl);
void half_square_up_to(c10::DeviceType, TensorIterator& iter, double bound) {
  HWY_DYNAMIC_DISPATCH(HalfSquareUpToImpl)(iter, bound);
}
HWY_EXPORT(HalfSquareSlopeImpl);
void half_square_slope(c10::DeviceType, TensorIterator& iter, double bound) {
  HWY_DYNAMIC_DISPATCH(HalfSquareSlopeImpl)(iter, bound);
}
HWY_EXPORT(SquareOfDifferenceImpl);
void square_of_difference(c10::DeviceType, TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(SquareOfDifferenceImpl)(iter); }
HWY_EXPORT(TimesDifferenceImpl);
void times_difference(c10::DeviceType, TensorIterator& iter, double factor) {
  HWY_DYNAMIC_DISPATCH(TimesDifferenceImpl)(iter, factor);
}
HWY_EXPORT(ThresholdBackwardImpl);
void threshold_backward_kernel(TensorIterator& iter, const Scalar& threshold) {
  HWY_DYNAMIC_DISPATCH(ThresholdBackwardImpl)(iter, threshold);
}
HWY_EXPORT(SigmoidBackwardImpl);
void sigmoid_backward_kernel(TensorIterator& iter) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_sigmoid_backward(iter);
  HWY_DYNAMIC_DISPATCH(SigmoidBackwardImpl)(iter);
}
HWY_EXPORT(TanhBackwardImpl);
void tanh_backward_kernel(TensorIterator& iter) {
  if (c10::is_complex_type(iter.common_dtype())) return complex_tanh_backward(iter);
  HWY_DYNAMIC_DISPATCH(TanhBackwardImpl)(iter);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
