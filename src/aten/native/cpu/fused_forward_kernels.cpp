// The functions of FusedForward.h of one to three numbers.

#include <aten/Dispatch.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/FusedForward.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/fused_forward_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

struct DropSign {
  TORCH_SIMD uint16_t operator()(uint16_t bits) const { return bits & 0x7fff; }
};
struct ChangeSign {
  TORCH_SIMD uint16_t operator()(uint16_t bits) const { return bits ^ 0x8000; }
};
struct TakeSign {
  TORCH_SIMD uint16_t operator()(uint16_t bits, uint16_t sign) const { return (bits & 0x7fff) | (sign & 0x8000); }
};
template <typename T>
struct ReplaceWithin {
  T low;
  T high;
  T value;
  TORCH_SIMD T operator()(T x) const { return bool(x >= low) & bool(x <= high) ? value : x; }
};
template <typename T>
struct LessHeld {
  T low;
  T high;
  TORCH_SIMD T operator()(T x) const {
    const T raised = x < low ? low : x;
    return x - (high < raised ? high : raised);
  }
};
template <typename T>
struct ZeroWithin {
  T low;
  T high;
  TORCH_SIMD T operator()(T value, T x) const { return bool(x >= low) & bool(x <= high) ? T(0) : value; }
};
template <typename T, bool kOpen>
struct ZeroOutside {
  T low;
  T high;
  TORCH_SIMD T operator()(T value, T x) const {
    if constexpr (kOpen) return bool(x > low) & bool(x < high) ? value : T(0);
    else return bool(x >= low) & bool(x <= high) ? value : T(0);
  }
};
template <typename T>
struct SlopeBelowZero {
  TORCH_SIMD T operator()(T x, T slope) const {
    const T scaled = x * slope;
    return x > T(0) ? x : scaled;
  }
};

template <typename T>
struct Softsign {
  TORCH_SIMD T operator()(T x) const { return x / (std::fabs(x) + T(1)); }
};

void ChangeSigns(TensorIterator& iter, bool drops) {
  if (drops) run_unary<uint16_t, uint16_t>(iter, DropSign());
  else run_unary<uint16_t, uint16_t>(iter, ChangeSign());
}
void TakeSigns(TensorIterator& iter) { run_binary<uint16_t, uint16_t>(iter, TakeSign()); }
void ReplaceWithinImpl(TensorIterator& iter, double low, double high, double value) {
  dispatch_floating_types(iter.common_dtype(), "replace_within", [&](auto type) {
    using T = typename decltype(type)::type;
    run_unary<T, T>(iter, ReplaceWithin<T>{static_cast<T>(low), static_cast<T>(high), static_cast<T>(value)});
  });
}
void LessHeldImpl(TensorIterator& iter, double low, double high) {
  dispatch_floating_types(iter.common_dtype(), "softshrink_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    run_unary<T, T>(iter, LessHeld<T>{static_cast<T>(low), static_cast<T>(high)});
  });
}
// No loops for operands that repeat: these do not.
template <typename T, typename Op>
void run_plain_rows(TensorIterator& iter, Op op) {
  iter.for_each([row = PlainRow<Op>{op}](char** data, const int64_t* strides, int64_t count) HWY_ATTR {
    run_rows<T, T, T>(data, strides, count, row);
  });
}
void ZeroWithinImpl(TensorIterator& iter, double low, double high) {
  dispatch_floating_types(iter.common_dtype(), "shrink_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    run_plain_rows<T>(iter, ZeroWithin<T>{static_cast<T>(low), static_cast<T>(high)});
  });
}
void ZeroOutsideImpl(TensorIterator& iter, double low, double high, bool open) {
  dispatch_floating_types(iter.common_dtype(), "clamp_backward", [&](auto type) {
    using T = typename decltype(type)::type;
    if (open) run_plain_rows<T>(iter, ZeroOutside<T, true>{static_cast<T>(low), static_cast<T>(high)});
    else run_plain_rows<T>(iter, ZeroOutside<T, false>{static_cast<T>(low), static_cast<T>(high)});
  });
}
void SoftsignImpl(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "softsign", [&](auto type) {
    using T = typename decltype(type)::type;
    iter.for_each(UnaryLoop<T, T, Softsign<T>>{{}});
  });
}
void SlopeBelowZeroImpl(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "prelu_cpu", [&](auto type) {
    using T = typename decltype(type)::type;
    run_binary<T, T>(iter, SlopeBelowZero<T>());
  });
}


template <typename T>
TORCH_SIMD void split_exponent(T x, T* mantissa, int32_t* exponent) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int kDigits = std::numeric_limits<T>::digits - 1;  // stored ones
  constexpr Bits kExponents = std::numeric_limits<T>::max_exponent * 2 - 1;
  constexpr T kScale = static_cast<T>(Bits{1} << kDigits) * 2;  // lifts subnormal numbers above the least normal one
  const bool is_small = std::fabs(x) < std::numeric_limits<T>::min();
  const T scaled = is_small ? x * kScale : x;
  Bits bits;
  std::memcpy(&bits, &scaled, sizeof(T));
  const auto power = static_cast<int32_t>(bits >> kDigits & kExponents);
  const bool is_special = bool(x == T(0)) | bool(power == static_cast<int32_t>(kExponents));
  const Bits half = (bits & ~(kExponents << kDigits)) | (kExponents / 2 - 1) << kDigits;
  T fraction;
  std::memcpy(&fraction, &half, sizeof(T));
  *mantissa = is_special ? x : fraction;
  const int32_t places = power - static_cast<int32_t>(kExponents / 2 - 1) - (is_small ? kDigits + 1 : 0);
  *exponent = is_special ? 0 : places;
}
void SplitExponents(const Tensor& mantissa, const Tensor& exponent, const Tensor& self) {
  dispatch_floating_types(self.dtype(), "frexp", [&](auto type) {
    using T = typename decltype(type)::type;
    parallel_for(0, self.numel(), kGrainSize, [&](int64_t begin, int64_t end) HWY_ATTR {
      const T* from = self.data_ptr<T>();
      T* fractions = mantissa.data_ptr<T>();
      auto* powers = exponent.data_ptr<int32_t>();
      TORCH_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) split_exponent(from[i], fractions + i, powers + i);
    });
  });
}

template <typename T>
TORCH_SIMD void add_multiple(T* out, const T* row, T keep, const T* vector, T factor, int64_t count) {
  TORCH_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) out[i] = keep * row[i] + factor * vector[i];
}

void AddOuter(const Tensor& out, const Tensor& self, const Tensor& column, const Tensor& row, double beta,
              double alpha) {
  const int64_t columns = out.sizes()[1];
  const int64_t grain = std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, columns));
  dispatch_floating_types(out.dtype(), "addr", [&](auto type) {
    using T = typename decltype(type)::type;
    parallel_for(0, out.sizes()[0], grain, [&](int64_t begin, int64_t end) HWY_ATTR {
      for (int64_t i = begin; i < end; ++i) {
        add_multiple(out.data_ptr<T>() + i * columns, self.data_ptr<T>() + i * self.strides()[0], static_cast<T>(beta),
                     row.data_ptr<T>(), static_cast<T>(alpha) * column.data_ptr<T>()[i], columns);
      }
    });
  });
}

template <typename T>
TORCH_SIMD void write_logit_slopes(void* out, const void* grads, const void* numbers, int64_t count, T low, T high,
                                   T outside) {
  const auto* grad = static_cast<const T*>(grads);
  const auto* from = static_cast<const T*>(numbers);
  auto* to = static_cast<T*>(out);
  TORCH_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    const T a = from[i];
    const T slope = grad[i] / (a * (T(1) - a));
    to[i] = (a < low) | (a > high) ? outside : slope;
  }
}

void LogitSlopes(bool is_float, void* out, const void* grad, const void* from, int64_t count, double low, double high,
                 double outside) {
  if (!is_float) return write_logit_slopes(out, grad, from, count, low, high, outside);
  write_logit_slopes(out, grad, from, count, static_cast<float>(low), static_cast<float>(high),
                     static_cast<float>(outside));
}

// All products of a number of one row and one of the other.
template <typename T>
TORCH_SIMD void multiply_rows(void* out, const void* one, int64_t columns, const void* other, int64_t length) {
  const auto* factors = static_cast<const T*>(one);
  const auto* row = static_cast<const T*>(other);
  auto* to = static_cast<T*>(out);
  for (int64_t i = 0; i < columns; ++i, to += length) {
    const T factor = factors[i];
    TORCH_INDEPENDENT
    for (int64_t j = 0; j < length; ++j) to[j] = factor * row[j];
  }
}

void MultiplyRows(bool is_float, void* out, const void* one, int64_t columns, const void* other, int64_t length) {
  if (is_float) multiply_rows<float>(out, one, columns, other, length);
  else multiply_rows<double>(out, one, columns, other, length);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(ChangeSigns);
void change_signs_of_halves(c10::DeviceType, TensorIterator& iter, bool drops) {
  HWY_DYNAMIC_DISPATCH(ChangeSigns)(iter, drops);
}
HWY_EXPORT(TakeSigns);
void take_signs_of_halves(c10::DeviceType, TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(TakeSigns)(iter); }
HWY_EXPORT(ReplaceWithinImpl);
void replace_within(c10::DeviceType, TensorIterator& iter, double low, double high, double value) {
  HWY_DYNAMIC_DISPATCH(ReplaceWithinImpl)(iter, low, high, value);
}
HWY_EXPORT(LessHeldImpl);
void less_held(c10::DeviceType, TensorIterator& iter, double low, double high) {
  HWY_DYNAMIC_DISPATCH(LessHeldImpl)(iter, low, high);
}
HWY_EXPORT(ZeroWithinImpl);
void zero_within(c10::DeviceType, TensorIterator& iter, double low, double high) {
  HWY_DYNAMIC_DISPATCH(ZeroWithinImpl)(iter, low, high);
}
HWY_EXPORT(ZeroOutsideImpl);
void zero_outside(c10::DeviceType, TensorIterator& iter, double low, double high, bool open) {
  HWY_DYNAMIC_DISPATCH(ZeroOutsideImpl)(iter, low, high, open);
}
HWY_EXPORT(SoftsignImpl);
void softsign(c10::DeviceType, TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(SoftsignImpl)(iter); }
HWY_EXPORT(SlopeBelowZeroImpl);
void slope_below_zero(c10::DeviceType, TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(SlopeBelowZeroImpl)(iter); }
HWY_EXPORT(LogitSlopes);
void logit_slopes(const Tensor& out, const Tensor& grad, const Tensor& self, double low, double high, double outside) {
  const auto size = static_cast<int64_t>(out.element_size());
  const auto at = [](const Tensor& tensor, int64_t byte) { return static_cast<char*>(tensor.data_ptr()) + byte; };
  parallel_for(0, out.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(LogitSlopes)(out.dtype() == kFloat, at(out, begin * size), at(grad, begin * size),
                                      at(self, begin * size), end - begin, low, high, outside);
  });
}
HWY_EXPORT(MultiplyRows);
void kron(const Tensor& out, const Tensor& self, const Tensor& other) {
  const int64_t columns = self.sizes()[1];
  const int64_t rows = other.sizes()[0];
  const int64_t length = other.sizes()[1];
  const auto size = static_cast<int64_t>(out.element_size());
  const auto row_of = [&](const Tensor& tensor, int64_t row, int64_t width) {
    return static_cast<char*>(tensor.data_ptr()) + row * width * size;
  };
  const int64_t grain = std::max<int64_t>(1, kGrainSize / (columns * length));
  parallel_for(0, self.sizes()[0] * rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {  // a row of the product is all products of one row of each
      HWY_DYNAMIC_DISPATCH(MultiplyRows)(out.dtype() == kFloat, row_of(out, i, columns * length),
                                         row_of(self, i / rows, columns), columns, row_of(other, i % rows, length),
                                         length);
    }
  });
}
HWY_EXPORT(AddOuter);
void add_outer(const Tensor& out, const Tensor& self, const Tensor& column, const Tensor& row, double beta,
               double alpha) {
  HWY_DYNAMIC_DISPATCH(AddOuter)(out, self, column, row, beta, alpha);
}
HWY_EXPORT(SplitExponents);
void split_exponents(const Tensor& mantissa, const Tensor& exponent, const Tensor& self) {
  HWY_DYNAMIC_DISPATCH(SplitExponents)(mantissa, exponent, self);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
