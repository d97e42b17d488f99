// Functions of vectors of float32, in float32: what rounding takes is carried along where it counts, and tables in
// registers keep polynomials short. They are within 0.5 to 0.75 units of the last place (sinh: 0.9), and need fused
// products (TORCH_FUSED_PRODUCTS); without, callers go by way of float64. Included once per instruction set.

#if defined(TORCH_FLOAT_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_FLOAT_MATH_INL_H_
#undef TORCH_FLOAT_MATH_INL_H_
#else
#define TORCH_FLOAT_MATH_INL_H_
#endif

#include <aten/native/cpu/FloatTables.h>

#include <cstddef>
#include <limits>

#include <aten/native/cpu/Highway-inl.h>

#undef TORCH_FUSED_PRODUCTS
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE2
#define TORCH_FUSED_PRODUCTS 0
#else
#define TORCH_FUSED_PRODUCTS 1
#endif

#include <aten/native/cpu/LargeAngles-inl.h>  // asks for TORCH_FUSED_PRODUCTS

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The sum of those of the first `count` terms that are kStep apart and end with the last but `rest`, times powers of
// `power`.
template <size_t kStep, typename D, typename V, size_t N>
HWY_INLINE HWY_ATTR V some_terms(D d, V power, const hn::TFromD<D> (&terms)[N], size_t rest) {
  const size_t last = N - 2 - rest;
  V result = hn::Set(d, terms[last % kStep]);
  for (size_t i = last % kStep + kStep; i <= last; i += kStep) result = hn::MulAdd(result, power, hn::Set(d, terms[i]));
  return result;
}
// A polynomial, highest power first, by Horner's rule. Of a long one the sums of every second term, or of every fourth,
// do not wait for each other, but for the last term, so that it is rounded as often.
template <typename D, typename V, size_t N>
HWY_INLINE HWY_ATTR V polynomial(D d, V x, const hn::TFromD<D> (&terms)[N]) {
  if constexpr (N >= 16) {
    const V square = hn::Mul(x, x);
    const V fourth = hn::Mul(square, square);
    const V lower = hn::MulAdd(some_terms<4>(d, fourth, terms, 1), x, some_terms<4>(d, fourth, terms, 0));
    const V upper = hn::MulAdd(some_terms<4>(d, fourth, terms, 3), x, some_terms<4>(d, fourth, terms, 2));
    return hn::MulAdd(hn::MulAdd(upper, square, lower), x, hn::Set(d, terms[N - 1]));
  }
  if constexpr (N >= 8) {
    const V square = hn::Mul(x, x);
    const V rest = hn::MulAdd(some_terms<2>(d, square, terms, 1), x, some_terms<2>(d, square, terms, 0));
    return hn::MulAdd(rest, x, hn::Set(d, terms[N - 1]));
  }
  V result = hn::Set(d, terms[0]);
  for (size_t i = 1; i < N; ++i) result = hn::MulAdd(result, x, hn::Set(d, terms[i]));
  return result;
}

#if TORCH_FUSED_PRODUCTS

template <typename D>
using Int32s = hn::Vec<hn::RebindToSigned<D>>;

// x in [low, high]; NaN stays, because of two numbers that have no order x86's instructions give the second.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V bounded_by(D d, V x, float low, float high) {
  return hn::Min(hn::Set(d, high), hn::Max(hn::Set(d, low), x));
}

// Lanes whose bit `which` is set.
template <int which, typename D>
HWY_INLINE HWY_ATTR hn::Mask<D> has_bit(D d, Int32s<D> x) {
  return hn::MaskFromVec(hn::BitCast(d, hn::BroadcastSignBit(hn::ShiftLeft<31 - which>(x))));
}
// table[index], of which the four lowest bits count.
template <typename D>
HWY_INLINE HWY_ATTR hn::Vec<D> look_up(D d, const float (&table)[16], Int32s<D> index) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) {
    return hn::Vec<D>{_mm512_permutexvar_ps(index.raw, _mm512_loadu_ps(table))};
  }
#elif HWY_TARGET == HWY_AVX2
  if constexpr (hn::MaxLanes(D()) == 8) {
    const auto half = [&](int start) HWY_ATTR {
      return hn::Vec<D>{_mm256_permutevar8x32_ps(_mm256_loadu_ps(table + start), index.raw)};
    };
    return hn::IfThenElse(has_bit<3>(d, index), half(8), half(0));
  }
#endif
  return hn::GatherIndex(d, table, hn::And(index, hn::Set(hn::RebindToSigned<D>(), 15)));
}
// table[index] for indices from 0 to 31.
template <typename D>
HWY_INLINE HWY_ATTR hn::Vec<D> look_up(D d, const float (&table)[32], Int32s<D> index) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) {
    return hn::Vec<D>{_mm512_permutex2var_ps(_mm512_loadu_ps(table), index.raw, _mm512_loadu_ps(table + 16))};
  }
#elif HWY_TARGET == HWY_AVX2
  if constexpr (hn::MaxLanes(D()) == 8) {
    const auto quarter = [&](int start) HWY_ATTR {
      return hn::Vec<D>{_mm256_permutevar8x32_ps(_mm256_loadu_ps(table + start), index.raw)};
    };
    const auto is_odd = has_bit<3>(d, index);
    return hn::IfThenElse(has_bit<4>(d, index), hn::IfThenElse(is_odd, quarter(24), quarter(16)),
                          hn::IfThenElse(is_odd, quarter(8), quarter(0)));
  }
#endif
  return hn::GatherIndex(d, table, index);
}

// The nearest whole number to x * unit: adding a number so large that no fraction has a place beside it rounds, and
// leaves the whole number in the lowest bits.
template <typename D>
struct WholePart {
  hn::Vec<D> n;
  Int32s<D> bits;

  HWY_INLINE HWY_ATTR WholePart(D d, hn::Vec<D> x, float unit) {
    const auto large = hn::Set(d, 12582912.0f);  // 1.5 * 2^23
    const auto shifted = hn::MulAdd(x, hn::Set(d, unit), large);
    n = hn::Sub(shifted, large);
    bits = hn::BitCast(hn::RebindToSigned<D>(), shifted);
  }
};

// value * 2^floor(n / 16), rounded once, or twice below the normal numbers where two factors make it.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V scale_by_sixteenths(D d, V value, const WholePart<D>& whole) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) {
    return V{_mm512_scalef_ps(value.raw, hn::Mul(whole.n, hn::Set(d, 0.0625f)).raw)};
  }
#endif
  const hn::RebindToSigned<D> bits;
  const auto exponent = hn::ShiftRight<4>(hn::Sub(whole.bits, hn::Set(bits, 0x4b400000)));
  const auto first = hn::ShiftRight<1>(exponent);
  const auto power = [&](Int32s<D> of) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(of, hn::Set(bits, 127))));
  };
  return hn::Mul(hn::Mul(value, power(first)), power(hn::Sub(exponent, first)));
}
// 2^(n / 16) (1 + rest), for rests of at most a 32nd; what rounding takes from it goes to `lost`, if that is asked for.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V power_of_two(D d, const WholePart<D>& whole, V rest, V* lost = nullptr) {
  const V root = look_up(d, kRoots, whole.bits);
  const V more = hn::MulAdd(root, rest, look_up(d, kRootsLow, whole.bits));
  const V sum = hn::Add(root, more);
  if (lost != nullptr) *lost = scale_by_sixteenths(d, hn::Sub(more, hn::Sub(sum, root)), whole);
  return scale_by_sixteenths(d, sum, whole);
}

constexpr float kSixteenthsPerE = 23.083120654223414f;   // 16 / log(2)
constexpr float kLogHigh = 0.693145751953125f / 16;      // log(2) / 16 in so few digits that products with n are exact
constexpr float kLogLow = 1.4286067653e-06f / 16;

template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_exp(D d, V x, V* lost = nullptr) {
  constexpr float terms[] = {1.666700989e-01f, 5.000162721e-01f};
  const V bounded = bounded_by(d, x, -104, 89);  // 0 from here on, infinity from there
  const WholePart<D> whole(d, bounded, kSixteenthsPerE);
  V r = hn::NegMulAdd(whole.n, hn::Set(d, kLogHigh), bounded);
  r = hn::NegMulAdd(whole.n, hn::Set(d, kLogLow), r);
  return power_of_two(d, whole, hn::MulAdd(hn::Mul(r, r), polynomial(d, r, terms), r), lost);
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_exp2(D d, V x) {
  constexpr float terms[] = {5.550327525e-02f, 2.402343005e-01f, 6.931471825e-01f};
  const V bounded = bounded_by(d, x, -151, 129);
  const WholePart<D> whole(d, bounded, 16);
  const V r = hn::NegMulAdd(whole.n, hn::Set(d, 0.0625f), bounded);
  return power_of_two(d, whole, hn::Mul(r, polynomial(d, r, terms)));
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_expm1(D d, V x) {
  constexpr float terms[] = {4.166725278e-02f, 1.666699201e-01f, 5.000000000e-01f};
  const V bounded = bounded_by(d, x, -20, 89);  // -1 from here on
  const WholePart<D> whole(d, bounded, kSixteenthsPerE);
  const V high = hn::NegMulAdd(whole.n, hn::Set(d, kLogHigh), bounded);  // exact
  const V lost = hn::Mul(whole.n, hn::Set(d, kLogLow));
  const V r = hn::Sub(high, lost);
  const V curve = hn::MulSub(hn::Mul(r, r), polynomial(d, r, terms), lost);
  // Halves of the powers, which are numbers where the powers no longer are.
  const V half = hn::Set(d, 0.5f);
  const V scale = scale_by_sixteenths(d, half, whole);
  const V root = hn::Mul(look_up(d, kRoots, whole.bits), scale);
  const V root_low = hn::Mul(look_up(d, kRootsLow, whole.bits), scale);
  const V base = hn::Sub(root, half);
  const V other = hn::Sub(base, root);
  const V base_low = hn::Sub(hn::Sub(root, hn::Sub(base, other)), hn::Add(half, other));
  const V more = hn::MulAdd(root_low, high, hn::Add(root_low, base_low));
  const V sum = hn::MulAdd(root, high, base);
  const V sum_low = hn::MulAdd(root, high, hn::Sub(base, sum));
  const V result = hn::Add(sum, hn::MulAdd(root, curve, hn::Add(sum_low, more)));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-30f)), x, hn::Add(result, result));
}

// A logarithm's base: the logarithms of inverses, of 2 and of e in two parts, and the polynomial of
// (log(1 + f) - f) / f^2.
struct BaseE {
  static constexpr const float (&kLogs)[16] = kLogsOfE;
  static constexpr const float (&kLogsLow)[16] = kLogsLowOfE;
  static constexpr float kTerms[] = {2.005476654e-01f, -2.504654229e-01f, 3.333328366e-01f, -4.999997616e-01f};
  static constexpr float kOf2 = 0.693145751953125f, kOf2Low = 1.428606765330187e-06f, kOfE = 1, kOfELow = 0;
};
struct Base2 {
  static constexpr const float (&kLogs)[16] = kLogsOf2;
  static constexpr const float (&kLogsLow)[16] = kLogsLowOf2;
  static constexpr float kTerms[] = {2.888655961e-01f, -3.613629937e-01f, 4.808983207e-01f, -7.213471532e-01f};
  static constexpr float kOf2 = 1, kOf2Low = 0, kOfE = 1.4426950216293335f, kOfELow = 1.925963033500011e-08f;
};
struct Base10 {
  static constexpr const float (&kLogs)[16] = kLogsOf10;
  static constexpr const float (&kLogsLow)[16] = kLogsLowOf10;
  static constexpr float kTerms[] = {8.709418029e-02f, -1.087735742e-01f, 1.447646171e-01f, -2.171471417e-01f};
  static constexpr float kOf2 = 0.301025390625f, kOf2Low = 4.605039066518657e-06f;
  static constexpr float kOfE = 0.4342944920063019f, kOfELow = -1.0103049952192578e-08f;
};
// The logarithm of x, or of 1 + x if kFromOne, where that is positive and normal (and at most 2^127); `more`, if it is
// there, is added before the result is rounded.
template <typename Base, bool kFromOne, typename D, typename V>
HWY_INLINE HWY_ATTR V float_log(D d, V x, const V* more = nullptr, float more_exponent = 0) {
  const hn::RebindToSigned<D> bits;
  const V one = hn::Set(d, 1.0f);
  // 2^exponent times a mantissa from 0.703125 on, which lies in one of 16 places; 1 lies in the middle of one.
  const auto raw = hn::BitCast(bits, kFromOne ? hn::Add(x, one) : x);
  const auto above = hn::Sub(raw, hn::Set(bits, 0x3f340000));
  const auto whole = hn::ShiftRight<23>(above);
  const auto place = hn::ShiftRight<19>(above);
  V exponent = hn::ConvertTo(d, whole);
  if (more_exponent != 0) exponent = hn::Add(exponent, hn::Set(d, more_exponent));
  V inverse = look_up(d, kInverses, place);
  V f;
  V low = look_up(d, Base::kLogsLow, place);
  if (more != nullptr) low = hn::Add(low, *more);
  if constexpr (kFromOne) {
    inverse = hn::Mul(inverse, hn::BitCast(d, hn::ShiftLeft<23>(hn::Sub(hn::Set(bits, 127), whole))));
    const V product = hn::Mul(x, inverse);
    const V base = hn::Sub(inverse, one);
    const V most = hn::Add(base, product);  // exact where the two cancel
    const V lost = hn::Add(hn::MulSub(x, inverse, product), hn::Sub(product, hn::Sub(most, base)));
    f = hn::Add(most, lost);
    low = hn::Add(low, hn::Sub(lost, hn::Sub(f, most)));
  } else {
    f = hn::MulSub(hn::BitCast(d, hn::Sub(raw, hn::ShiftLeft<23>(whole))), inverse, one);
  }
  const V known = hn::MulAdd(exponent, hn::Set(d, Base::kOf2), look_up(d, Base::kLogs, place));  // exact
  if constexpr (Base::kOf2Low != 0) low = hn::MulAdd(exponent, hn::Set(d, Base::kOf2Low), low);
  V first = f;
  if constexpr (Base::kOfE != 1) {
    first = hn::Mul(f, hn::Set(d, Base::kOfE));
    const V lost = hn::MulSub(f, hn::Set(d, Base::kOfE), first);
    low = hn::Add(low, hn::MulAdd(f, hn::Set(d, Base::kOfELow), lost));
  }
  const V sum = hn::Add(known, first);
  low = hn::Add(low, hn::Sub(first, hn::Sub(sum, known)));
  const V result = hn::Add(sum, hn::MulAdd(hn::Mul(f, f), polynomial(d, f, Base::kTerms), low));
  return kFromOne ? hn::CopySign(result, x) : result;
}

// log(1 + e^x), which stays finite for every finite x.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_softplus(D d, V x) {
  V lost;
  const V exponential = float_exp(d, hn::Neg(hn::Abs(x)), &lost);  // NaN stays in it
  const V more = hn::NegMulAdd(hn::Mul(exponential, hn::Set(d, 0.5f)), lost, lost);  // about lost / (1 + exponential)
  const V small = float_log<BaseE, true>(d, exponential, &more);
  return hn::Add(hn::Max(x, hn::Zero(d)), small);
}

constexpr float kLargestAngle = 20000;  // up to which what is left beside a multiple of pi / 8 has all of its digits

// The sine and the cosine of x, each as a sum of two.
template <typename D>
struct AngleParts {
  using V = hn::Vec<D>;
  V r;
  V low;     // x = n pi / 8 + r + low
  V sine;    // sin(r + low) - r
  V curve;   // cos(r) - 1
  Int32s<D> n;
  V result;  // of `add`, in two parts
  V result_low;

  HWY_INLINE HWY_ATTR AngleParts(D d, V x) {
    constexpr float sines[] = {8.322609589e-03f, -1.666665375e-01f};
    constexpr float cosines[] = {-1.387403347e-03f, 4.166664556e-02f, -5.000000000e-01f};
    const WholePart<D> whole(d, x, 2.5464790894703254f);
    // The first two parts of pi / 8 have so few digits that their products with n are exact.
    const V third = hn::Set(d, 3.1689771162746183e-07f);
    V rest = hn::NegMulAdd(whole.n, hn::Set(d, 0.392578125f), x);
    rest = hn::NegMulAdd(whole.n, hn::Set(d, 0.000120639801025390625f), rest);
    const V product = hn::Mul(whole.n, third);
    r = hn::Sub(rest, product);
    low = hn::Sub(hn::Sub(hn::Sub(rest, r), product), hn::MulSub(whole.n, third, product));
    low = hn::NegMulAdd(whole.n, hn::Set(d, -1.2863278659196089e-14f), low);
    n = whole.bits;
    const V magnitude = hn::Abs(x);
    const auto is_large = hn::And(hn::Gt(magnitude, hn::Set(d, kLargestAngle)),
                                  hn::Le(magnitude, hn::Set(d, std::numeric_limits<float>::max())));
    if (HWY_UNLIKELY(!hn::AllFalse(d, is_large))) {
      const auto rest = rest_of_float_angle(d, hn::IfThenElse(is_large, x, hn::Set(d, kLargestAngle)));
      r = hn::IfThenElse(is_large, rest.r, r);
      low = hn::IfThenElse(is_large, rest.low, low);
      n = hn::IfThenElse(hn::RebindMask(hn::RebindToSigned<D>(), is_large), rest.n, n);
    }
    const V square = hn::Mul(r, r);
    sine = hn::MulAdd(hn::Mul(square, r), polynomial(d, square, sines), low);
    curve = hn::Mul(square, polynomial(d, square, cosines));
  }
  // The sine of the angle whose multiple of pi / 8 has the sine s and the cosine c, before the last rounding.
  HWY_INLINE HWY_ATTR void add(V s, V s_low, V c, V c_low) {
    result = hn::MulAdd(c, r, s);
    const V lost = hn::MulAdd(c_low, r, hn::Add(hn::MulAdd(c, r, hn::Sub(s, result)), s_low));
    result_low = hn::MulAdd(c, sine, hn::MulAdd(s, curve, lost));
  }
  // sin(x + turns pi / 8)
  HWY_INLINE HWY_ATTR V sine_after(D d, int turns) {
    const hn::RebindToSigned<D> bits;
    const auto place = hn::Add(n, hn::Set(bits, turns));
    const auto beside = hn::Add(n, hn::Set(bits, turns + 4));
    add(look_up(d, kSines, place), look_up(d, kSinesLow, place), look_up(d, kSines, beside),
        look_up(d, kSinesLow, beside));
    return hn::Add(result, result_low);
  }
};
template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_sin(D d, V x) {
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, AngleParts<D>(d, x).sine_after(d, 0));
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_cos(D d, V x) {
  return AngleParts<D>(d, x).sine_after(d, 4);
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_tan(D d, V x) {
  AngleParts<D> parts(d, x);
  const auto beside = hn::Add(parts.n, hn::Set(hn::RebindToSigned<D>(), 4));
  const V s = look_up(d, kSines, parts.n);
  const V s_low = look_up(d, kSinesLow, parts.n);
  const V c = look_up(d, kSines, beside);
  const V c_low = look_up(d, kSinesLow, beside);
  parts.add(s, s_low, c, c_low);
  const V top = hn::Add(parts.result, parts.result_low);
  const V top_low = hn::Sub(parts.result_low, hn::Sub(top, parts.result));
  parts.add(c, c_low, hn::Neg(s), hn::Neg(s_low));
  const V bottom = hn::Add(parts.result, parts.result_low);
  const V bottom_low = hn::Sub(parts.result_low, hn::Sub(bottom, parts.result));
  const V inverse = hn::Div(hn::Set(d, 1.0f), bottom);
  const V quotient = hn::Mul(top, inverse);
  const V rest = hn::Add(hn::NegMulAdd(quotient, bottom, top), top_low);
  const V result = hn::MulAdd(hn::NegMulAdd(quotient, bottom_low, rest), inverse, quotient);
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, result);
}

// The place of a positive number in the tables of 32.
template <typename D, typename V>
HWY_INLINE HWY_ATTR Int32s<D> place_of(D /*d*/, V magnitude) {
  const hn::RebindToSigned<D> bits;
  const auto quarters = hn::Sub(hn::ShiftRight<21>(hn::BitCast(bits, magnitude)), hn::Set(bits, 0x3d800000 >> 21));
  return hn::Min(hn::Max(quarters, hn::Zero(bits)), hn::Set(bits, 31));
}
// What 8 tables of 32 have at an index.
template <const float (&kTables)[8][32], typename D>
HWY_INLINE HWY_ATTR void look_up_all(D d, Int32s<D> index, hn::Vec<D> (&found)[8]) {
#if HWY_TARGET == HWY_AVX2
  // A row of the turned tables for each lane, turned back: 16 shuffles; the tables alone would take 32, and blends.
  if constexpr (hn::MaxLanes(D()) == 8) {
    HWY_ALIGN int32_t places[8];
    hn::Store(index, hn::RebindToSigned<D>(), places);
    const auto rows = [&](int lane, int start) HWY_ATTR {
      const auto row = [&](int place) HWY_ATTR { return _mm_load_ps(kTurned<kTables>.at[places[place]] + start); };
      return _mm256_insertf128_ps(_mm256_castps128_ps256(row(lane)), row(lane + 4), 1);
    };
#pragma GCC unroll 2
    for (int start = 0; start < 8; start += 4) {
      const auto even = _mm256_castps_pd(_mm256_unpacklo_ps(rows(0, start), rows(1, start)));
      const auto even_above = _mm256_castps_pd(_mm256_unpackhi_ps(rows(0, start), rows(1, start)));
      const auto odd = _mm256_castps_pd(_mm256_unpacklo_ps(rows(2, start), rows(3, start)));
      const auto odd_above = _mm256_castps_pd(_mm256_unpackhi_ps(rows(2, start), rows(3, start)));
      found[start] = hn::Vec<D>{_mm256_castpd_ps(_mm256_unpacklo_pd(even, odd))};
      found[start + 1] = hn::Vec<D>{_mm256_castpd_ps(_mm256_unpackhi_pd(even, odd))};
      found[start + 2] = hn::Vec<D>{_mm256_castpd_ps(_mm256_unpacklo_pd(even_above, odd_above))};
      found[start + 3] = hn::Vec<D>{_mm256_castpd_ps(_mm256_unpackhi_pd(even_above, odd_above))};
    }
    return;
  }
#endif
  for (size_t i = 0; i < 8; ++i) found[i] = look_up(d, kTables[i], index);
}
// An odd function by its values in 32 places; from `limit` on it is 1.
template <const float (&kTables)[8][32], typename D, typename V>
HWY_INLINE HWY_ATTR V odd_function(D d, V x, float slope_low, float limit) {
  const V magnitude = hn::Min(hn::Set(d, limit), hn::Abs(x));  // NaN stays
  V found[8];
  look_up_all<kTables>(d, place_of(d, magnitude), found);
  const V t = hn::Sub(magnitude, found[0]);
  const V middle = found[1];
  const V slope = found[2];
  V curve = found[7];
  for (size_t i = 6; i >= 3; --i) curve = hn::MulAdd(curve, t, found[i]);
  const V high = hn::MulAdd(t, slope, middle);
  const V lost = hn::MulAdd(t, slope, hn::Sub(middle, high));
  const V bend = slope_low == 0 ? hn::Mul(curve, t) : hn::MulAdd(curve, t, hn::Set(d, slope_low));
  return hn::CopySign(hn::Add(high, hn::MulAdd(t, bend, lost)), x);
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_tanh(D d, V x) {
  return odd_function<kTanhPlaces>(d, x, 0, 10);
}
template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_erf(D d, V x) {
  return odd_function<kErfPlaces>(d, x, kErfSlopeLow, 4);
}

// sinh if kOdd, else cosh: of the half sum and half difference of 2^n and 2^-n, and those of e^r and e^-r.
template <bool kOdd, typename D, typename V>
HWY_INLINE HWY_ATTR V float_hyperbolic(D d, V x) {
  constexpr float even_terms[] = {1.393545303e-03f, 4.166645929e-02f};
  constexpr float odd_terms[] = {1.997402287e-04f, 8.333175443e-03f, 1.666666716e-01f};
  const hn::RebindToSigned<D> bits;
  const V one = hn::Set(d, 1.0f);
  const V magnitude = hn::Min(hn::Set(d, 90.0f), hn::Abs(x));  // NaN stays
  const WholePart<D> whole(d, magnitude, 1.4426950408889634f);
  const V high = hn::NegMulAdd(whole.n, hn::Set(d, 16 * kLogHigh), magnitude);  // exact
  const V lost = hn::Mul(whole.n, hn::Set(d, 16 * kLogLow));
  const V r = hn::Sub(high, lost);
  const V square = hn::Mul(r, r);
  const V half = hn::Set(d, 0.5f);
  const V half_square = hn::Mul(square, half);
  const V r_lost = hn::Sub(hn::Sub(high, r), lost);
  const V square_lost = hn::MulAdd(hn::MulSub(r, r, square), half, hn::Mul(r, r_lost));
  const V even = hn::MulAdd(hn::Mul(square, square), polynomial(d, square, even_terms),
                            square_lost);  // cosh(r) - 1 - half_square
  const V odd = hn::MulSub(hn::Mul(square, r), polynomial(d, square, odd_terms), lost);  // sinh(r) - high
  // All in units of 2^(n - 1), beside which 2^(-n - 1) is as small as 2^-2n.
  const auto exponent = hn::Sub(whole.bits, hn::Set(bits, 0x4b400000));
  const auto power = [&](Int32s<D> of) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(of, hn::Set(bits, 127))));
  };
  const V small = power(hn::Max(hn::Neg(hn::Add(exponent, exponent)), hn::Set(bits, -100)));
  const V sum = hn::Add(one, small);
  const V difference = hn::Sub(one, small);
  const V of_even = kOdd ? difference : sum;
  const V of_odd = kOdd ? sum : difference;
  const V off_sum = hn::Sub(small, hn::Sub(sum, one));
  const V off_difference = hn::Sub(hn::Sub(one, difference), small);
  const V off_even = kOdd ? off_difference : off_sum;
  const V off_odd = kOdd ? off_sum : off_difference;
  const V off = hn::MulAdd(off_odd, high, hn::MulAdd(off_even, half_square, off_even));
  const V most = hn::MulAdd(of_odd, high, of_even);
  const V rest = hn::Add(hn::MulAdd(of_odd, high, hn::Sub(of_even, most)), off);
  const V tail = hn::MulAdd(of_even, even, hn::MulAdd(of_odd, odd, rest));
  const V total = hn::Add(most, hn::MulAdd(of_even, half_square, tail));
  // In two factors: one alone would be beyond float32's range.
  const V result = hn::Mul(hn::Add(total, total), power(hn::Sub(exponent, hn::Set(bits, 2))));
  return kOdd ? hn::CopySign(result, x) : result;
}

// By the angle between x and a number in its place: its tangent is (x - c) / (1 + x c).
template <typename D, typename V>
HWY_INLINE HWY_ATTR V float_atan(D d, V x) {
  constexpr float terms[] = {-1.399194449e-01f, 1.999767870e-01f, -3.333332837e-01f};
  const V magnitude = hn::Min(hn::Set(d, 1e18f), hn::Abs(x));  // NaN stays
  const auto place = place_of(d, magnitude);
  const V c = look_up(d, kAtanPlaces[0], place);
  const V t = hn::Div(hn::Sub(magnitude, c), hn::MulAdd(magnitude, c, hn::Set(d, 1.0f)));
  const V square = hn::Mul(t, t);
  const V tail = hn::MulAdd(hn::Mul(square, t), polynomial(d, square, terms), look_up(d, kAtanPlaces[2], place));
  return hn::CopySign(hn::Add(look_up(d, kAtanPlaces[1], place), hn::Add(t, tail)), x);
}

// asin if kSine, else acos. From 1/2 on by that of w = sqrt((1 - |x|) / 2), which is half as large.
template <bool kSine, typename D, typename V>
HWY_INLINE HWY_ATTR V float_arc(D d, V x) {
  constexpr float terms[] = {4.221179709e-02f, 2.415209264e-02f, 4.547604173e-02f, 7.495252043e-02f, 1.666675359e-01f};
  const V zero = hn::Zero(d);
  const V half = hn::Set(d, 0.5f);
  const V two = hn::Set(d, 2.0f);
  const V magnitude = hn::Abs(x);
  const auto is_large = hn::Gt(magnitude, half);
  const V rest = hn::NegMulAdd(half, magnitude, half);
  const V root = hn::Sqrt(rest);
  // What the root is beyond float32: three digits of it will do.
  const V inverse = hn::ApproximateReciprocal(hn::Max(hn::Add(root, root), hn::Set(d, 1e-30f)));
  const V root_low = hn::Mul(hn::NegMulAdd(root, root, rest), inverse);
  const V square = hn::IfThenElse(is_large, rest, hn::Mul(x, x));
  const V w = hn::IfThenElse(is_large, root, magnitude);
  const V low =
      hn::MulAdd(w, hn::Mul(square, polynomial(d, square, terms)), hn::IfThenElseZero(is_large, root_low));
  const V right = hn::Set(d, 1.57079637050628662109375f);  // pi / 2, and what it is beyond float32
  const V right_low = hn::Set(d, -4.37113900018624283e-8f);
  if constexpr (kSine) {
    const V high = hn::NegMulAdd(w, two, right);
    const V lost = hn::NegMulAdd(w, two, hn::Sub(right, high));
    const V large_low = hn::Add(lost, hn::NegMulAdd(low, two, right_low));
    const V result = hn::Add(hn::IfThenElse(is_large, high, w), hn::IfThenElse(is_large, large_low, low));
    return hn::CopySign(result, x);
  } else {
    // 2 asin(w), or pi less that, or pi / 2 less asin(x)
    const auto is_left = hn::Lt(x, zero);
    const V factor = hn::IfThenElse(is_large, hn::CopySign(two, x), hn::CopySign(hn::Set(d, 1.0f), hn::Neg(x)));
    const V rights = hn::IfThenElse(is_large, hn::IfThenElseZero(is_left, two), hn::Set(d, 1.0f));
    const V base = hn::Mul(right, rights);
    const V high = hn::MulAdd(factor, w, base);
    const V lost = hn::MulAdd(factor, w, hn::Sub(base, high));
    return hn::Add(high, hn::Add(lost, hn::MulAdd(factor, low, hn::Mul(right_low, rights))));
  }
}

#endif  // TORCH_FUSED_PRODUCTS

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
