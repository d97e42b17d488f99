#pragma once
// The two floating types of 16 bits. They are for keeping numbers: every operation converts to float, computes there
// and rounds to the nearest once, ties to even. The conversions have no branches,
// so that compilers vectorise loops of them.

#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>

#if defined(__CUDACC__)
#define C10_HOST_DEVICE __host__ __device__
#else
#define C10_HOST_DEVICE
#endif

namespace c10 {

namespace detail {

C10_HOST_DEVICE inline float float_of_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

C10_HOST_DEVICE inline uint32_t bits_of_float(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

C10_HOST_DEVICE inline float float_of_half(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffu;
  // Shifted into float's fields the exponent is too small by 127 - 15; the product repairs it, for subnormals too.
  const uint32_t finite = bits_of_float(float_of_bits(magnitude << 13) * 0x1p112f);
  const uint32_t special = 0x7f800000u | magnitude << 13;  // infinity and NaN
  return float_of_bits((half & 0x8000u) << 16 | (magnitude >= 0x7c00u ? special : finite));
}

C10_HOST_DEVICE inline uint16_t half_of_float(float value) {
  const uint32_t bits = bits_of_float(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Below 2^-14 halves are multiples of 2^-24, which is the distance between floats from 0.5 on: the sum rounds.
  const uint32_t subnormal = bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
  // Half of the last bit that stays, less the tie that goes to even; a carry moves into the exponent, as it should.
  const uint32_t rounded = magnitude + 0x0fffu + (magnitude >> 13 & 1u);
  const uint32_t clamped = rounded < 0x47800000u ? rounded : 0x47800000u;  // 65536 and more: infinity
  const uint32_t normal = (clamped - 0x38000000u) >> 13;
  const uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
  return static_cast<uint16_t>((bits >> 16 & 0x8000u) | (magnitude > 0x7f800000u ? 0x7e00u : finite));
}

C10_HOST_DEVICE inline float float_of_bfloat16(uint16_t value) {
  return float_of_bits(static_cast<uint32_t>(value) << 16);
}

C10_HOST_DEVICE inline uint16_t bfloat16_of_float(float value) {
  const uint32_t bits = bits_of_float(value);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

}  // namespace detail

// float16: 1 sign bit, 5 of exponent, 10 of fraction (IEEE 754 binary16).
struct alignas(2) Half {
  struct FromBits {};
  uint16_t bits;

  Half() = default;
  constexpr Half(uint16_t bits, FromBits) : bits(bits) {}
  C10_HOST_DEVICE Half(float value) : bits(detail::half_of_float(value)) {}  // NOLINT: implicit, as other numbers are
  C10_HOST_DEVICE operator float() const { return detail::float_of_half(bits); }  // NOLINT
};

// bfloat16: the upper half of a float: 1 sign bit, 8 of exponent, 7 of fraction.
struct alignas(2) BFloat16 {
  struct FromBits {};
  uint16_t bits;

  BFloat16() = default;
  constexpr BFloat16(uint16_t bits, FromBits) : bits(bits) {}
  C10_HOST_DEVICE BFloat16(float value) : bits(detail::bfloat16_of_float(value)) {}  // NOLINT
  C10_HOST_DEVICE operator float() const { return detail::float_of_bfloat16(bits); }  // NOLINT
};

inline std::ostream& operator<<(std::ostream& stream, Half value) { return stream << static_cast<float>(value); }
inline std::ostream& operator<<(std::ostream& stream, BFloat16 value) { return stream << static_cast<float>(value); }

}  // namespace c10

namespace std {

template <>
class numeric_limits<c10::Half> : public numeric_limits<float> {
 public:
  static constexpr int digits = 11;
  static constexpr int max_exponent = 16;
  static constexpr c10::Half lowest() { return {0xfbff, c10::Half::FromBits()}; }
  static constexpr c10::Half max() { return {0x7bff, c10::Half::FromBits()}; }
  static constexpr c10::Half min() { return {0x0400, c10::Half::FromBits()}; }
  static constexpr c10::Half epsilon() { return {0x1400, c10::Half::FromBits()}; }
  static constexpr c10::Half infinity() { return {0x7c00, c10::Half::FromBits()}; }
  static constexpr c10::Half quiet_NaN() { return {0x7e00, c10::Half::FromBits()}; }
};

template <>
class numeric_limits<c10::BFloat16> : public numeric_limits<float> {
 public:
  static constexpr int digits = 8;
  static constexpr int max_exponent = 128;
  static constexpr c10::BFloat16 lowest() { return {0xff7f, c10::BFloat16::FromBits()}; }
  static constexpr c10::BFloat16 max() { return {0x7f7f, c10::BFloat16::FromBits()}; }
  static constexpr c10::BFloat16 min() { return {0x0080, c10::BFloat16::FromBits()}; }
  static constexpr c10::BFloat16 epsilon() { return {0x3c00, c10::BFloat16::FromBits()}; }
  static constexpr c10::BFloat16 infinity() { return {0x7f80, c10::BFloat16::FromBits()}; }
  static constexpr c10::BFloat16 quiet_NaN() { return {0x7fc0, c10::BFloat16::FromBits()}; }
};

}  // namespace std
