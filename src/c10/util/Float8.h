#pragma once
// The floating types of 8 bits. They are for keeping numbers: what computes converts them to another type first. Names
// say the bits of exponent (e) and of fraction (m), and what is not as in IEEE 754: fn: no infinities, one NaN of each
// sign; fnuz: no infinities, no -0, whose bits are the one NaN; fnu: no sign, infinity or zero.

#include <c10/util/Half.h>

namespace c10 {

namespace detail {

// A format with a sign. Conversions are to the nearest, ties to even, and have no branches.
template <int kFraction, int kBias, uint8_t kOverflow, bool kHasNegativeZero>
struct Float8Format {
  static constexpr int kDropped = 23 - kFraction;              // bits of a float's fraction
  static constexpr int kLeastExponent = 1 - kBias;             // of a normal number
  static constexpr uint32_t kLeastNormal = static_cast<uint32_t>(kLeastExponent + 127) << 23;  // as a float's bits
  static constexpr uint32_t kLeastSubnormal = static_cast<uint32_t>(kLeastExponent - kFraction + 127) << 23;
  // Between floats of this size lies what lies between subnormal numbers: a sum with it rounds.
  static constexpr uint32_t kSubnormalStep = static_cast<uint32_t>(kLeastExponent + kDropped + 127) << 23;

  // `kOverflow` is what becomes of everything beyond the largest number.
  C10_HOST_DEVICE static uint8_t from_float(float value) {
    const uint32_t bits = bits_of_float(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t subnormal = bits_of_float(float_of_bits(magnitude) + float_of_bits(kSubnormalStep)) - kSubnormalStep;
    const uint32_t rounded = magnitude + ((1u << (kDropped - 1)) - 1) + (magnitude >> kDropped & 1u);
    const uint32_t normal = (rounded - (static_cast<uint32_t>(127 - kBias) << 23)) >> kDropped;
    const uint32_t finite = magnitude < kLeastNormal ? subnormal : normal;
    const uint32_t code = finite < kOverflow ? finite : kOverflow;
    const uint32_t sign = bits >> 24 & 0x80u;
    if constexpr (kHasNegativeZero) {
      // NaN is `kOverflow` so far; a sum, because compilers turn one more choice into branches.
      const uint32_t is_nan = magnitude > 0x7f800000u;
      return static_cast<uint8_t>(sign | (code + is_nan * (0x7fu - kOverflow)));
    } else {
      return static_cast<uint8_t>(magnitude > 0x7f800000u || code == 0x80 ? 0x80u : code == 0 ? 0u : sign | code);
    }
  }

  // All bits but the sign; what they are of an infinity or NaN is the caller's to know.
  C10_HOST_DEVICE static float magnitude_of(uint8_t bits) {
    const uint32_t magnitude = bits & 0x7fu;
    const float subnormal = static_cast<float>(magnitude) * float_of_bits(kLeastSubnormal);
    const uint32_t normal = (magnitude << kDropped) + (static_cast<uint32_t>(127 - kBias) << 23);
    return magnitude >> kFraction == 0 ? subnormal : float_of_bits(normal);
  }
  C10_HOST_DEVICE static float to_float(uint8_t bits, float magnitude) {
    return float_of_bits(bits_of_float(magnitude) | static_cast<uint32_t>(bits & 0x80u) << 24);
  }
};

}  // namespace detail

#define C10_FLOAT8_MEMBERS(name)                                                 \
  struct FromBits {};                                                            \
  uint8_t bits;                                                                  \
  name() = default;                                                              \
  constexpr name(uint8_t bits, FromBits) : bits(bits) {}                         \
  C10_HOST_DEVICE explicit name(float value) : bits(Format::from_float(value)) {}

// Up to 57344, with infinities and NaN as in IEEE 754.
struct Float8_e5m2 {
  using Format = detail::Float8Format<2, 15, 0x7c, true>;
  C10_FLOAT8_MEMBERS(Float8_e5m2)
  C10_HOST_DEVICE operator float() const {  // NOLINT: implicit, as other numbers are
    const uint32_t special = static_cast<uint32_t>(bits & 0x7fu) << 21 | 0x7f800000u;
    const bool is_special = (bits & 0x7fu) >= 0x7cu;
    return Format::to_float(bits, is_special ? detail::float_of_bits(special) : Format::magnitude_of(bits));
  }
};

// Up to 448, which stands for everything beyond, infinities among it.
struct Float8_e4m3fn {
  using Format = detail::Float8Format<3, 7, 0x7e, true>;
  C10_FLOAT8_MEMBERS(Float8_e4m3fn)
  C10_HOST_DEVICE operator float() const {  // NOLINT
    const bool is_nan = (bits & 0x7fu) == 0x7fu;
    return Format::to_float(bits, is_nan ? detail::float_of_bits(0x7fc00000u) : Format::magnitude_of(bits));
  }
};

// Up to 57344; what is beyond is NaN.
struct Float8_e5m2fnuz {
  using Format = detail::Float8Format<2, 16, 0x80, false>;
  C10_FLOAT8_MEMBERS(Float8_e5m2fnuz)
  C10_HOST_DEVICE operator float() const {  // NOLINT
    return bits == 0x80u ? detail::float_of_bits(0x7fc00000u) : Format::to_float(bits, Format::magnitude_of(bits));
  }
};

// Up to 240; what is beyond is NaN.
struct Float8_e4m3fnuz {
  using Format = detail::Float8Format<3, 8, 0x80, false>;
  C10_FLOAT8_MEMBERS(Float8_e4m3fnuz)
  C10_HOST_DEVICE operator float() const {  // NOLINT
    return bits == 0x80u ? detail::float_of_bits(0x7fc00000u) : Format::to_float(bits, Format::magnitude_of(bits));
  }
};

// Powers of two from 2^-127 to 2^127, as scales are; the sign of a number is dropped.
struct Float8_e8m0fnu {
  struct Format {
    C10_HOST_DEVICE static uint8_t from_float(float value) {
      const uint32_t bits = detail::bits_of_float(value);
      const uint32_t exponent = bits >> 23 & 0xffu;
      const uint32_t fraction = bits & 0x7fffffu;
      // Half way up goes to the larger one, but for the smallest.
      const bool rounds_up = fraction > 0x400000u || (fraction == 0x400000u && exponent != 0);
      return static_cast<uint8_t>(exponent == 0xffu ? exponent : exponent + (rounds_up ? 1u : 0u));
    }
  };
  C10_FLOAT8_MEMBERS(Float8_e8m0fnu)
  C10_HOST_DEVICE operator float() const {  // NOLINT
    const uint32_t power = bits == 0 ? 0x400000u : static_cast<uint32_t>(bits) << 23;
    return detail::float_of_bits(bits == 0xffu ? 0x7fc00000u : power);
  }
};
#undef C10_FLOAT8_MEMBERS

}  // namespace c10

namespace std {

#define C10_FLOAT8_LIMITS(name, infinities, fraction_and_one, beyond, least_bits, least_normal, largest, not_a_number) \
  template <>                                                                                                   \
  class numeric_limits<c10::name> : public numeric_limits<float> {                                              \
   public:                                                                                                      \
    static constexpr bool is_signed = least_bits >= 0x80;                                                       \
    static constexpr bool has_infinity = infinities;                                                            \
    static constexpr int digits = fraction_and_one;                                                             \
    static constexpr int max_exponent = beyond;                                                                 \
    static constexpr c10::name lowest() { return {least_bits, c10::name::FromBits()}; }                         \
    static constexpr c10::name max() { return {largest, c10::name::FromBits()}; }                               \
    static constexpr c10::name min() { return {least_normal, c10::name::FromBits()}; }                          \
    static constexpr c10::name quiet_NaN() { return {not_a_number, c10::name::FromBits()}; }                    \
  };
C10_FLOAT8_LIMITS(Float8_e5m2, true, 3, 16, 0xfb, 0x04, 0x7b, 0x7f)
C10_FLOAT8_LIMITS(Float8_e4m3fn, false, 4, 9, 0xfe, 0x08, 0x7e, 0x7f)
C10_FLOAT8_LIMITS(Float8_e5m2fnuz, false, 3, 16, 0xff, 0x04, 0x7f, 0x80)
C10_FLOAT8_LIMITS(Float8_e4m3fnuz, false, 4, 8, 0xff, 0x08, 0x7f, 0x80)
C10_FLOAT8_LIMITS(Float8_e8m0fnu, false, 1, 128, 0x00, 0x00, 0xfe, 0xff)
#undef C10_FLOAT8_LIMITS

}  // namespace std
