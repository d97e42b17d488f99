// What is left of large angles beside multiples of pi / 8 or pi / 2, exactly, in vectors of float64 with fused
// products: their digits times those of 1 / pi that make less than two half turns, as Payne and Hanek do. Included
// once per instruction set, as VectorMath-inl.h is, by FloatMath-inl.h, which says whether there are fused products.

#if defined(TORCH_LARGE_ANGLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_LARGE_ANGLES_INL_H_
#undef TORCH_LARGE_ANGLES_INL_H_
#else
#define TORCH_LARGE_ANGLES_INL_H_
#endif

#include <aten/native/cpu/FloatTables.h>

#include <cstdint>

#include <aten/native/cpu/Highway-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if TORCH_FUSED_PRODUCTS

// Finite x from 2^13 on as a whole number of kDigits digits times a power of 2, whose product with 1 / pi, modulo 2,
// is known by 52 binary digits at a time.
template <int kDigits, typename D>
struct HalfTurns {
  using V = hn::Vec<D>;
  using Bits = hn::RebindToUnsigned<D>;
  using Digits = hn::Vec<Bits>;
  V mantissa;  // in [1, 2), with the sign of x
  Digits place;

  HWY_INLINE HWY_ATTR HalfTurns(D d, V x) {
    const Bits bits;
    const auto raw = hn::BitCast(bits, x);
    const auto biased = hn::And(hn::ShiftRight<52>(raw), hn::Set(bits, 0x7ff));
    const auto exponent = hn::Set(bits, uint64_t{0x7ff} << 52);
    mantissa = hn::BitCast(d, hn::Or(hn::AndNot(exponent, raw), hn::Set(bits, uint64_t{0x3ff} << 52)));
    // Where the digit of 1 / pi stands that is a unit of 2^-51 half turns of the last digit of x.
    place = hn::Sub(hn::Set(bits, kDigitsOfInverseOfPi - 51 + (kDigits - 1) + 1023), biased);
  }
  // The 52 digits from 52 `step` below the first on, as a whole number.
  HWY_INLINE HWY_ATTR Digits digits(D /*d*/, int step) const {
    const Bits bits;
    const hn::RebindToSigned<D> whole;
    const auto lowest = hn::Sub(place, hn::Set(bits, static_cast<uint64_t>(52 * step)));
    const auto* table = reinterpret_cast<const int64_t*>(kInverseOfPi);
    const auto bytes = hn::GatherOffset(whole, table, hn::BitCast(whole, hn::ShiftRight<3>(lowest)));
    return of_bits(hn::Shr(hn::BitCast(bits, bytes), hn::And(lowest, hn::Set(bits, 7))));
  }
  HWY_INLINE HWY_ATTR static Digits of_bits(Digits of) {
    return hn::And(of, hn::Set(Bits(), (uint64_t{1} << 52) - 1));
  }
  // Digits over 2^52.
  HWY_INLINE HWY_ATTR static V fraction(D d, Digits of) {
    const V one = hn::Set(d, 1.0);
    return hn::Sub(hn::BitCast(d, hn::Or(of, hn::BitCast(Bits(), one))), one);
  }
};

// A vector of float32, or of float64, as x = n pi / 8 + r + low, or n pi / 2 + r + low; n modulo 16, or 4.
template <typename D>
struct AngleRest {
  hn::Vec<D> r;
  hn::Vec<D> low;
  hn::Vec<hn::RebindToSigned<D>> n;
};
template <typename D>
HWY_NOINLINE HWY_ATTR AngleRest<D> rest_of_float_angle(D d, hn::Vec<D> x) {
  const hn::Half<D> half;
  const hn::Rebind<double, decltype(half)> wide;
  using Wide = hn::Vec<decltype(wide)>;
  Wide n[2];
  Wide r[2];
  for (int i = 0; i < 2; ++i) {
    const Wide angle = hn::PromoteTo(wide, i == 0 ? hn::LowerHalf(half, x) : hn::UpperHalf(half, x));
    const HalfTurns<24, decltype(wide)> turns(wide, angle);
    const Wide whole = hn::Mul(turns.mantissa, hn::Set(wide, 0x1p27));  // in 16ths of a turn
    const Wide first = turns.fraction(wide, turns.digits(wide, 0));
    const Wide second = turns.fraction(wide, turns.digits(wide, 1));
    const Wide product = hn::Mul(whole, first);
    n[i] = hn::Round(product);
    const Wide rest = hn::Add(hn::Sub(product, n[i]), hn::MulSub(whole, first, product));  // exact
    r[i] = hn::Mul(hn::MulAdd(hn::Mul(whole, hn::Set(wide, 0x1p-52)), second, rest),
                   hn::Set(wide, 3.14159265358979323846 / 8));
    // What float32 holds of n.
    const Wide sixteenth = hn::Mul(n[i], hn::Set(wide, 1.0 / 16));
    n[i] = hn::Mul(hn::Sub(sixteenth, hn::Floor(sixteenth)), hn::Set(wide, 16.0));
  }
  const auto join = [&](const Wide(&of)[2]) HWY_ATTR {
    return hn::Combine(d, hn::DemoteTo(half, of[1]), hn::DemoteTo(half, of[0]));
  };
  const auto high = join(r);
  r[0] = hn::Sub(r[0], hn::PromoteTo(wide, hn::LowerHalf(half, high)));
  r[1] = hn::Sub(r[1], hn::PromoteTo(wide, hn::UpperHalf(half, high)));
  return {high, join(r), hn::ConvertTo(hn::RebindToSigned<D>(), join(n))};
}

// The number's first 27 digits and its last 26 take digits of 1 / pi that stand 26 places apart.
template <typename D>
HWY_NOINLINE HWY_ATTR AngleRest<D> rest_of_double_angle(D d, hn::Vec<D> x) {
  using V = hn::Vec<D>;
  using Turns = HalfTurns<53, D>;
  const hn::RebindToUnsigned<D> bits;
  const Turns turns(d, x);
  const auto high_digits = hn::Set(bits, ~uint64_t{0} << 26);
  const V high = hn::BitCast(d, hn::And(hn::BitCast(bits, turns.mantissa), high_digits));
  const V tail = hn::Mul(hn::Sub(turns.mantissa, high), hn::Set(d, 0x1p53));  // in half turns, as what follows
  const V head = hn::Mul(high, hn::Set(d, 0x1p27));
  typename Turns::Digits digits[4];
  for (int i = 0; i < 4; ++i) digits[i] = turns.digits(d, i);
  V of_tail[3];
  V of_head[3];
  for (int i = 0; i < 3; ++i) {
    of_tail[i] = turns.fraction(d, digits[i]);
    const auto between = hn::Or(hn::ShiftLeft<26>(digits[i]), hn::ShiftRight<26>(digits[i + 1]));
    of_head[i] = turns.fraction(d, turns.of_bits(between));
  }
  const V step = hn::Set(d, 0x1p-52);
  // Whole half turns off the first two products, and quarters off their sum, all of it exactly.
  const V half = hn::Set(d, 0.5);
  const V product = hn::Mul(head, of_head[0]);
  const V other = hn::Mul(tail, of_tail[0]);
  const V whole = hn::Round(product);
  const V other_whole = hn::Round(other);
  const V lost = hn::Add(hn::MulSub(head, of_head[0], product), hn::MulSub(tail, of_tail[0], other));
  V first = hn::Add(hn::Add(hn::Sub(product, whole), hn::Sub(other, other_whole)), lost);
  const V quarters = hn::Round(hn::Add(first, first));
  first = hn::NegMulAdd(quarters, half, first);
  // The second two, in two parts, and the third.
  const V next_head = hn::Mul(head, step);
  const V next_tail = hn::Mul(tail, step);
  const V more = hn::Mul(next_head, of_head[1]);
  const V others = hn::Mul(next_tail, of_tail[1]);
  V low = hn::Add(hn::MulSub(next_head, of_head[1], more), hn::MulSub(next_tail, of_tail[1], others));
  low = hn::MulAdd(hn::Mul(next_head, step), of_head[2], hn::MulAdd(hn::Mul(next_tail, step), of_tail[2], low));
  const auto add = [&](V a, V b) HWY_ATTR {
    const V sum = hn::Add(a, b);
    const V part = hn::Sub(sum, a);
    low = hn::Add(low, hn::Add(hn::Sub(a, hn::Sub(sum, part)), hn::Sub(b, part)));
    return sum;
  };
  const V sum = add(first, add(more, others));
  const V turned = hn::Add(sum, low);
  low = hn::Add(hn::Sub(sum, turned), low);
  const V pi = hn::Set(d, 3.14159265358979323846);
  const V r = hn::Mul(turned, pi);
  const V rest = hn::MulAdd(low, pi, hn::MulAdd(turned, hn::Set(d, 1.2246467991473532e-16), hn::MulSub(turned, pi, r)));
  // Quarter turns, modulo 4.
  V n = hn::MulAdd(quarters, half, hn::Add(whole, other_whole));
  n = hn::Mul(n, half);
  n = hn::Mul(hn::Sub(n, hn::Floor(n)), hn::Set(d, 4.0));
  const V normal = hn::Add(r, rest);
  return {normal, hn::Add(hn::Sub(r, normal), rest),
          hn::BitCast(hn::RebindToSigned<D>(), hn::Add(n, hn::Set(d, 6755399441055744.0)))};
}

#endif  // TORCH_FUSED_PRODUCTS

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
