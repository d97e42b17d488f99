// Vectors of float or double from elements of memory, and back: float16 and bfloat16 are widened where they are loaded,
// and rounded once where they are stored, to the nearest, to the even one of two; NaN stays NaN. Included once per
// instruction set, as Loops-inl.h is.

#if defined(TORCH_STORED_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_STORED_VECTORS_INL_H_
#undef TORCH_STORED_VECTORS_INL_H_
#else
#define TORCH_STORED_VECTORS_INL_H_
#endif

#include <c10/core/ScalarType.h>

#include <type_traits>

#include <aten/native/cpu/Highway-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// What elements are computed in.
template <typename Element>
using Computed = std::conditional_t<c10::is_reduced_floating_v<Element>, float, Element>;

// Whether the processor converts float16 in vectors.
#undef TORCH_CONVERTS_HALVES
#define TORCH_CONVERTS_HALVES (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)

template <typename Element, typename D>
HWY_INLINE HWY_ATTR hn::Vec<D> load_stored(D d, const Element* from) {
  if constexpr (std::is_same_v<Element, c10::BFloat16>) {
    const hn::Rebind<uint32_t, D> bits;
    const hn::Rebind<uint16_t, D> half;
    return hn::BitCast(
        d, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(half, reinterpret_cast<const uint16_t*>(from)))));
  } else if constexpr (std::is_same_v<Element, c10::Half>) {
#if TORCH_CONVERTS_HALVES
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(from)));
#else
    HWY_ALIGN float wide[hn::MaxLanes(D())];
    for (size_t i = 0; i < hn::Lanes(d); ++i) wide[i] = static_cast<float>(from[i]);
    return hn::Load(d, wide);
#endif
  } else {
    return hn::LoadU(d, from);
  }
}

template <typename Element, typename D>
HWY_INLINE HWY_ATTR void store_stored(D d, hn::Vec<D> values, Element* to) {
  if constexpr (std::is_same_v<Element, c10::BFloat16>) {
    const hn::Rebind<uint32_t, D> bits;
    const hn::Rebind<uint16_t, D> half;
    const auto exact = hn::BitCast(bits, values);
    const auto odd = hn::And(hn::ShiftRight<16>(exact), hn::Set(bits, 1));
    const auto nearest = hn::Add(exact, hn::Add(odd, hn::Set(bits, 0x7FFF)));
    const auto rounded =
        hn::IfThenElse(hn::RebindMask(bits, hn::Eq(values, values)), nearest, hn::Set(bits, 0x7FC00000));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3  // one instruction for the upper halves
    const hn::Repartition<uint16_t, D> halves;
    const auto parts = hn::BitCast(halves, rounded);
    hn::StoreU(hn::LowerHalf(half, hn::ConcatOdd(halves, parts, parts)), half, reinterpret_cast<uint16_t*>(to));
#else
    const auto upper = hn::ShiftRight<16>(rounded);
#if HWY_TARGET == HWY_AVX2
    if constexpr (hn::MaxLanes(D()) == 8) {  // one instruction, too, for what lies in two registers
      const auto both = _mm_packus_epi32(_mm256_castsi256_si128(upper.raw), _mm256_extracti128_si256(upper.raw, 1));
      return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), both);
    }
#endif
    hn::StoreU(hn::TruncateTo(half, upper), half, reinterpret_cast<uint16_t*>(to));
#endif
  } else if constexpr (std::is_same_v<Element, c10::Half>) {
#if TORCH_CONVERTS_HALVES
    const hn::Rebind<hwy::float16_t, D> half;
    hn::StoreU(hn::DemoteTo(half, values), half, reinterpret_cast<hwy::float16_t*>(to));
#else
    HWY_ALIGN float wide[hn::MaxLanes(D())];
    hn::Store(values, d, wide);
    for (size_t i = 0; i < hn::Lanes(d); ++i) to[i] = static_cast<c10::Half>(wide[i]);
#endif
  } else {
    hn::StoreU(values, d, to);
  }
}

// The first `count` elements alone, fewer than a vector has; the rest of the vector is 0.
template <typename Element, typename D>
HWY_NOINLINE HWY_ATTR hn::Vec<D> load_stored_part(D d, const Element* from, int64_t count) {
  if constexpr (!c10::is_reduced_floating_v<Element>) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
  }
  HWY_ALIGN Element elements[hn::MaxLanes(D())] = {};
  for (int64_t i = 0; i < count; ++i) elements[i] = from[i];
  return load_stored(d, static_cast<const Element*>(elements));
}
#if HWY_TARGET == HWY_AVX2  // by halves: some processors take very long for a masked store
template <typename Element, typename D>
HWY_INLINE HWY_ATTR void store_by_halves(D d, hn::Vec<D> values, Element* to, int64_t count) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    if (count > 0) hn::StoreU(values, d, to);
  } else {
    const hn::Half<D> half;
    constexpr auto kHalf = static_cast<int64_t>(hn::MaxLanes(hn::Half<D>()));
    if (count < kHalf) return store_by_halves(half, hn::LowerHalf(half, values), to, count);
    hn::StoreU(hn::LowerHalf(half, values), half, to);
    store_by_halves(half, hn::UpperHalf(half, values), to + kHalf, count - kHalf);
  }
}
#endif
template <typename Element, typename D>
HWY_NOINLINE HWY_ATTR void store_stored_part(D d, hn::Vec<D> values, Element* to, int64_t count) {
  if constexpr (!c10::is_reduced_floating_v<Element>) {
#if HWY_TARGET == HWY_AVX2
    return store_by_halves(d, values, to, count);
#endif
    return hn::BlendedStore(values, hn::FirstN(d, static_cast<size_t>(count)), d, to);
  }
  HWY_ALIGN Element elements[hn::MaxLanes(D())];
  store_stored(d, values, static_cast<Element*>(elements));
  for (int64_t i = 0; i < count; ++i) to[i] = elements[i];
}

// A whole vector, or its first `count` elements where that is less.
template <typename Element, typename D>
HWY_INLINE HWY_ATTR hn::Vec<D> load_some(D d, const Element* from, int64_t count) {
  if (HWY_LIKELY(count >= static_cast<int64_t>(hn::Lanes(d)))) return load_stored(d, from);
  return load_stored_part(d, from, count);
}
template <typename Element, typename D>
HWY_INLINE HWY_ATTR void store_some(D d, hn::Vec<D> values, Element* to, int64_t count) {
  if (HWY_LIKELY(count >= static_cast<int64_t>(hn::Lanes(d)))) store_stored(d, values, to);
  else store_stored_part(d, values, to, count);
}

// Vectors for rows of `count` elements, body(tag): narrow ones where wide ones would stay empty. Only rows that are
// shorter than a narrow one fill a part of it.
template <typename T, typename Body>
HWY_INLINE HWY_ATTR void with_vectors_for(int64_t count, const Body& body) {
  const hn::ScalableTag<T> wide;
  if (count >= static_cast<int64_t>(hn::Lanes(wide))) body(wide);
  else body(hn::CappedTag<T, 16 / sizeof(T)>());
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
