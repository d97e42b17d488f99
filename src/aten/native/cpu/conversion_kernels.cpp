// Conversions between element types. Of N types there are N^2 pairs: the frequent ones have a loop of their own, all
// others are read into a wide type and written from it, which is 2 N loops per wide type.

#include <aten/Dispatch.h>
#include <aten/native/cpu/Conversion.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/conversion_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

template <typename To, typename From>
TORCH_SIMD inline To convert(From value) {
  if constexpr (std::is_same_v<To, bool> && c10::is_complex_v<From>) {
    return value.real() != 0 || value.imag() != 0;
  } else if constexpr (c10::is_complex_v<To>) {
    if constexpr (c10::is_complex_v<From>) return To(value);
    else return To(static_cast<typename To::value_type>(value), 0);
  } else if constexpr (c10::is_complex_v<From>) {
    return static_cast<To>(value.real());
  } else if constexpr ((std::is_unsigned_v<To> || (std::is_integral_v<To> && sizeof(To) < sizeof(int))) &&
                       !std::is_same_v<To, bool> && c10::is_floating_v<From>) {
    // Out of range is undefined in C++, and processors differ; through int64 it wraps on all, as in PyTorch on x86-64.
    const auto wide = static_cast<double>(value);
    if constexpr (sizeof(To) == sizeof(int64_t)) {
      if (wide >= 0) return static_cast<To>(wide);
    }
    return static_cast<To>(static_cast<int64_t>(wide));
  } else if constexpr (c10::is_reduced_floating_v<To> || c10::is_float8_v<To>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

// What wraps through int64 (see above), and int64 itself: before AVX-512 x86 has no vectors for it.
constexpr bool kHasInt64 = !HWY_ARCH_X86 || HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_SCALAR;
template <typename To, typename From>
constexpr bool kWraps = std::is_integral_v<To> && !std::is_same_v<To, bool> && std::is_floating_point_v<From> &&
                        (std::is_unsigned_v<To> || sizeof(To) < sizeof(int) ||
                         (sizeof(To) == sizeof(int64_t) && !kHasInt64));

// In parts: where no number is beyond int32, as is usual, through that. What is beyond becomes the least or the
// greatest of these on every processor, or 0 where NaN is 0 in int64, too.
template <typename To, typename From>
TORCH_SIMD void wrap_numbers(To* out, const From* in, int64_t count) {
  for (int64_t done = 0; done < count; done += kStagedRow) {
    const int64_t part = std::min(kStagedRow, count - done);
    To* const target = out + done;
    const From* const source = in + done;
    using Near = std::numeric_limits<int32_t>;
    int32_t least = 0;
    int32_t greatest = 0;
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < part; ++i) {
      const auto near = static_cast<int32_t>(source[i]);
      least = std::min(least, near);
      greatest = std::max(greatest, near);
      target[i] = static_cast<To>(near);
    }
    if (least != Near::min() && greatest != Near::max()) continue;
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < part; ++i) target[i] = convert<To>(source[i]);
  }
}

template <typename To, typename From>
TORCH_SIMD void convert_elements(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
  if (to_step == sizeof(To) && from_step == sizeof(From)) {
    auto* out = reinterpret_cast<To*>(to);
    const auto* in = reinterpret_cast<const From*>(from);
    if constexpr (kWraps<To, From>) {
      wrap_numbers(out, in, count);
    } else {
      TORCH_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) out[i] = convert<To>(in[i]);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i, to += to_step, from += from_step) {
    *reinterpret_cast<To*>(to) = convert<To>(*reinterpret_cast<const From*>(from));
  }
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// float16 by the processor's own instructions, where every processor of the instruction set has them.
HWY_ATTR void widen_halves(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (to_step == sizeof(float) && from_step == sizeof(c10::Half)) {
    for (; i + lanes <= count; i += lanes) {
      const auto* source = reinterpret_cast<const hwy::float16_t*>(from) + i;
      hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, source)), d, reinterpret_cast<float*>(to) + i);
    }
  }
  convert_elements<float, c10::Half>(to + i * to_step, to_step, from + i * from_step, from_step, count - i);
}
HWY_ATTR void round_to_halves(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (to_step == sizeof(c10::Half) && from_step == sizeof(float)) {
    for (; i + lanes <= count; i += lanes) {
      const auto* source = reinterpret_cast<const float*>(from) + i;
      hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, source)), half, reinterpret_cast<hwy::float16_t*>(to) + i);
    }
  }
  convert_elements<c10::Half, float>(to + i * to_step, to_step, from + i * from_step, from_step, count - i);
}
#else
constexpr ConversionStep widen_halves = &convert_elements<float, c10::Half>;
constexpr ConversionStep round_to_halves = &convert_elements<c10::Half, float>;
#endif

// bfloat16 is the upper half of a float32; rounding to it is to the nearest, to the even one of two, and NaN stays NaN.
#if HWY_TARGET != HWY_SCALAR
HWY_ATTR void widen_bfloat16(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<uint32_t> d;
  const hn::Rebind<uint16_t, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (to_step == sizeof(float) && from_step == sizeof(c10::BFloat16)) {
    for (; i + lanes <= count; i += lanes) {
      const auto bits = hn::PromoteTo(d, hn::LoadU(narrow, reinterpret_cast<const uint16_t*>(from) + i));
      hn::StoreU(hn::ShiftLeft<16>(bits), d, reinterpret_cast<uint32_t*>(to) + i);
    }
  }
  convert_elements<float, c10::BFloat16>(to + i * to_step, to_step, from + i * from_step, from_step, count - i);
}
HWY_ATTR void round_to_bfloat16(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> word;
  const hn::Repartition<uint16_t, decltype(d)> halves;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (to_step == sizeof(c10::BFloat16) && from_step == sizeof(float)) {
    const auto below_half = hn::Set(word, uint32_t{0x7fff});
    const auto one = hn::Set(word, uint32_t{1});
    const auto quiet = hn::Set(word, uint32_t{0x7fc00000});
    const auto rounded = [&](int64_t at) HWY_ATTR {  // its upper half is the result
      const auto value = hn::LoadU(d, reinterpret_cast<const float*>(from) + at);
      const auto bits = hn::BitCast(word, value);
      const auto odd = hn::And(hn::ShiftRight<16>(bits), one);
      const auto sum = hn::Add(hn::Add(bits, below_half), odd);
      return hn::BitCast(halves, hn::IfThenElse(hn::RebindMask(word, hn::Eq(value, value)), sum, quiet));
    };
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      hn::StoreU(hn::ConcatOdd(halves, rounded(i + lanes), rounded(i)), halves, reinterpret_cast<uint16_t*>(to) + i);
    }
    if (i + lanes <= count) {
      const hn::Half<decltype(halves)> half;
      const auto last = rounded(i);
      hn::StoreU(hn::LowerHalf(half, hn::ConcatOdd(halves, last, last)), half, reinterpret_cast<uint16_t*>(to) + i);
      i += lanes;
    }
  }
  convert_elements<c10::BFloat16, float>(to + i * to_step, to_step, from + i * from_step, from_step, count - i);
}
#else
constexpr ConversionStep widen_bfloat16 = &convert_elements<float, c10::BFloat16>;
constexpr ConversionStep round_to_bfloat16 = &convert_elements<c10::BFloat16, float>;
#endif

// Where all types wrap, signed ones get the bits of unsigned ones.
template <typename To>
using Wrapped = std::conditional_t<std::is_same_v<To, int8_t>, uint8_t,
                                   std::conditional_t<std::is_same_v<To, int16_t>, uint16_t, To>>;

// What most conversions are between.
#define TORCH_FREQUENT_TYPES(row) \
  row(float, Float) row(double, Double) row(int64_t, Long) row(int, Int) row(int16_t, Short) row(int8_t, Char) \
  row(uint8_t, Byte) row(bool, Bool)

template <typename To>
ConversionStep step_from_frequent(c10::ScalarType from) {
  switch (from) {
#define TORCH_STEP(cpp_type, name) \
  case c10::ScalarType::name: return &convert_elements<Wrapped<To>, cpp_type>;
    TORCH_FREQUENT_TYPES(TORCH_STEP)
#undef TORCH_STEP
    default: return nullptr;
  }
}

// Null when the pair has no loop of its own.
ConversionStep FindStep(c10::ScalarType to, c10::ScalarType from) {
  if (from == kBool && to != kBool) from = kByte;  // 0 and 1, too, and compilers have vectors for it
  switch (to) {
#define TORCH_STEP(cpp_type, name) \
  case c10::ScalarType::name:      \
    if (ConversionStep step = step_from_frequent<cpp_type>(from)) return step; \
    break;
    TORCH_FREQUENT_TYPES(TORCH_STEP)
#undef TORCH_STEP
    case c10::ScalarType::Half:
      if (from == kFloat) return round_to_halves;
      break;
    case c10::ScalarType::BFloat16:
      if (from == kFloat) return round_to_bfloat16;
      break;
    case c10::ScalarType::ComplexFloat:
      if (from == kFloat) return &convert_elements<c10::complex<float>, float>;
      break;
#define TORCH_STEP(cpp_type, name, ...) \
    case c10::ScalarType::name:         \
      if (from == kFloat) return &convert_elements<cpp_type, float>; \
      break;
    C10_FORALL_FLOAT8_TYPES(TORCH_STEP)
#undef TORCH_STEP
    default: break;
  }
#define TORCH_STEP(cpp_type, name, ...) \
  if (to == kFloat && from == c10::ScalarType::name) return &convert_elements<float, cpp_type>;
  C10_FORALL_FLOAT8_TYPES(TORCH_STEP)
#undef TORCH_STEP
  if (to == kFloat && from == c10::ScalarType::Half) return widen_halves;
  if (to == kFloat && from == c10::ScalarType::BFloat16) return widen_bfloat16;
  if (to == kFloat && from == c10::ScalarType::ComplexFloat) return &convert_elements<float, c10::complex<float>>;
  return nullptr;
}

// Into a wide type: any type into double (of complex numbers the real part) and complex128, integers into int64.
ConversionStep FindReader(c10::ScalarType wide, c10::ScalarType from) {
  return dispatch_stored_types(from, "copy_", [&](auto type) -> ConversionStep {
    using From = typename decltype(type)::type;
    if constexpr (std::is_integral_v<From>) {
      if (wide == kLong) return &convert_elements<int64_t, From>;
    }
    if constexpr (c10::is_complex_v<From>) {
      if (wide == c10::ScalarType::ComplexDouble) return &convert_elements<c10::complex<double>, From>;
      if (wide == kBool) return &convert_elements<bool, From>;
    }
    return &convert_elements<double, From>;
  });
}

ConversionStep FindWriter(c10::ScalarType to, c10::ScalarType wide) {
  return dispatch_stored_types(to, "copy_", [&](auto type) -> ConversionStep {
    using To = Wrapped<typename decltype(type)::type>;
    if constexpr (c10::is_complex_v<To>) {
      if (wide == c10::ScalarType::ComplexDouble) return &convert_elements<To, c10::complex<double>>;
    } else if constexpr (!c10::is_float8_v<To>) {
      if (wide == kLong) return &convert_elements<To, int64_t>;
    }
    return &convert_elements<To, double>;
  });
}

void MoveRow(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t count, int64_t size) {
  dispatch_word(static_cast<size_t>(size), [&](auto word) {
    constexpr size_t kSize = sizeof(word);
    if (to_step == int64_t{kSize}) collect_elements<kSize>(from, from_step, count, to);
    else move_elements<kSize>(from, from_step, to, to_step, count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(FindStep);
HWY_EXPORT(FindReader);
HWY_EXPORT(FindWriter);
HWY_EXPORT(MoveRow);

namespace {

c10::ScalarType wide_type(c10::ScalarType to, c10::ScalarType from) {
  if (c10::is_complex_type(from)) return c10::is_complex_type(to) ? c10::ScalarType::ComplexDouble : kDouble;
  if (c10::is_complex_type(to) || c10::is_float8_type(to)) return kDouble;
  const bool unsigned_to_floating = from == c10::ScalarType::UInt64 && c10::is_floating_type(to);  // not by its bits
  return c10::is_integral_type(from, /*include_bool=*/true) && !unsigned_to_floating ? kLong : kDouble;
}

constexpr int64_t kConversionBlock = 2048;  // bytes
constexpr int64_t kFewElements = 8;        // not worth bringing side by side

}  // namespace

void move_row(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t count, int64_t size) {
  if (from_step == size && to_step == size) std::memcpy(to, from, static_cast<size_t>(count * size));
  else HWY_DYNAMIC_DISPATCH(MoveRow)(from, from_step, to, to_step, count, size);
}

Conversion::Conversion(c10::ScalarType to, c10::ScalarType from)
    : to_size_(static_cast<int64_t>(c10::element_size(to))),
      from_size_(static_cast<int64_t>(c10::element_size(from))),
      first_(HWY_DYNAMIC_DISPATCH(FindStep)(to, from)) {
  if (first_ == nullptr) choose_steps(to, from);
}

void Conversion::choose_steps(c10::ScalarType to, c10::ScalarType from) {
  if (to == kBool && c10::is_complex_type(from)) {  // either part makes it true
    first_ = HWY_DYNAMIC_DISPATCH(FindReader)(kBool, from);
    return;
  }
  // Types of 16 and 8 bits are kept as floats are computed with, and complex64 is made of them: by way of those, if
  // both steps have loops.
  const auto is_made_of_floats = [](c10::ScalarType type) {
    return c10::is_reduced_floating_type(type) || c10::is_float8_type(type) || type == c10::ScalarType::ComplexFloat;
  };
  const bool keeps_parts = c10::is_complex_type(from) && c10::is_complex_type(to);
  if ((is_made_of_floats(from) || is_made_of_floats(to)) && !keeps_parts) {
    first_ = HWY_DYNAMIC_DISPATCH(FindStep)(kFloat, from);
    second_ = HWY_DYNAMIC_DISPATCH(FindStep)(to, kFloat);
    wide_size_ = sizeof(float);
    if (first_ != nullptr && second_ != nullptr) return;
    second_ = nullptr;
  }
  const c10::ScalarType wide = wide_type(to, from);
  if (from == wide) {
    first_ = HWY_DYNAMIC_DISPATCH(FindWriter)(to, wide);
  } else if (to == wide) {
    first_ = HWY_DYNAMIC_DISPATCH(FindReader)(wide, from);
  } else {
    first_ = HWY_DYNAMIC_DISPATCH(FindReader)(wide, from);
    second_ = HWY_DYNAMIC_DISPATCH(FindWriter)(to, wide);
    wide_size_ = static_cast<int64_t>(c10::element_size(wide));
  }
}

void Conversion::operator()(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) const {
  const bool is_dense = to_step == to_size_ && from_step == from_size_;
  if (second_ == nullptr && (is_dense || count <= kFewElements)) return first_(to, to_step, from, from_step, count);
  run_in_blocks(to, to_step, from, from_step, count);
}

// What lies apart is brought side by side, or from there: steps have vectors for neighbours only.
void Conversion::run_in_blocks(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) const {
  alignas(64) char read[kConversionBlock];
  alignas(64) char wide[kConversionBlock];
  alignas(64) char written[kConversionBlock];
  const int64_t at_once = kConversionBlock / std::max({to_size_, from_size_, wide_size_});
  for (int64_t done = 0; done < count; done += at_once) {
    const int64_t part = std::min(at_once, count - done);
    const char* source = from + done * from_step;
    char* target = to + done * to_step;
    int64_t source_step = from_step;
    int64_t target_step = to_step;
    if (from_step != from_size_ && part > kFewElements) {
      move_row(source, from_step, read, from_size_, part, from_size_);
      source = read;
      source_step = from_size_;
    }
    if (to_step != to_size_ && part > kFewElements) {
      target = written;
      target_step = to_size_;
    }
    if (second_ == nullptr) {
      first_(target, target_step, source, source_step, part);
    } else {
      first_(wide, wide_size_, source, source_step, part);
      second_(target, target_step, wide, wide_size_, part);
    }
    if (target == written) move_row(written, to_size_, to + done * to_step, to_step, part, to_size_);
  }
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
