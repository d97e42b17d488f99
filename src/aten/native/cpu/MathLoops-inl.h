// Loops of explicit vectors, for functions that the compiler cannot vectorise by itself; and functions that Highway's
// math library lacks. Included once per instruction set, as Loops-inl.h is.

#if defined(TORCH_MATH_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_MATH_LOOPS_INL_H_
#undef TORCH_MATH_LOOPS_INL_H_
#else
#define TORCH_MATH_LOOPS_INL_H_
#endif

#include <aten/TensorIterator.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <hwy/highway.h>
// After highway.h:
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kMathGrain = 8192;  // elements; these functions cost several times a sum

// Up to a vector of elements, from memory with any step; the rest of the vector is 0.
template <typename T, typename D>
HWY_INLINE HWY_ATTR hn::Vec<D> load_part(D d, const char* data, int64_t step, int64_t count) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (step == sizeof(T) && count == lanes) return hn::LoadU(d, reinterpret_cast<const T*>(data));
  HWY_ALIGN T buffer[hn::MaxLanes(d)] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = *reinterpret_cast<const T*>(data + i * step);
  return hn::Load(d, buffer);
}

template <typename T, typename D>
HWY_INLINE HWY_ATTR void store_part(D d, hn::Vec<D> value, char* data, int64_t step, int64_t count) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (step == sizeof(T) && count == lanes) return hn::StoreU(value, d, reinterpret_cast<T*>(data));
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  hn::Store(value, d, buffer);
  for (int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(data + i * step) = buffer[i];
}

// Function: V operator()(D, V) const for any vector of T. The same bits come out whatever the strides are.
template <typename T, typename Function>
struct UnaryVectorLoop {
  Function function;
  HWY_ATTR void operator()(char** data, const int64_t* strides, int64_t count) const {
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; i += lanes) {
      const int64_t part = std::min(lanes, count - i);
      const auto x = load_part<T>(d, data[1] + i * strides[1], strides[1], part);
      store_part<T>(d, function(d, x), data[0] + i * strides[0], strides[0], part);
    }
  }
};
template <typename T, typename Function>
struct BinaryVectorLoop {
  Function function;
  HWY_ATTR void operator()(char** data, const int64_t* strides, int64_t count) const {
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; i += lanes) {
      const int64_t part = std::min(lanes, count - i);
      const auto a = load_part<T>(d, data[1] + i * strides[1], strides[1], part);
      const auto b = load_part<T>(d, data[2] + i * strides[2], strides[2], part);
      store_part<T>(d, function(d, a, b), data[0] + i * strides[0], strides[0], part);
    }
  }
};

// `result`, but in lanes where `x` is outside [low, high] (NaN is) what `scalar` says.
template <typename D, typename V, typename T = hn::TFromD<D>, typename Scalar>
HWY_INLINE HWY_ATTR V patch_outside(D d, V x, V result, T low, T high, Scalar scalar) {
  const auto inside = hn::And(hn::Ge(x, hn::Set(d, low)), hn::Le(x, hn::Set(d, high)));
  if (HWY_LIKELY(hn::AllTrue(d, inside))) return result;
  HWY_ALIGN T inputs[hn::MaxLanes(d)];
  HWY_ALIGN T results[hn::MaxLanes(d)];
  hn::Store(x, d, inputs);
  hn::Store(result, d, results);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!(inputs[i] >= low && inputs[i] <= high)) results[i] = scalar(inputs[i]);
  }
  return hn::Load(d, results);
}

// A polynomial by Horner's rule, highest power first.
template <typename D, typename V, size_t N>
HWY_INLINE HWY_ATTR V polynomial(D d, V x, const hn::TFromD<D> (&coefficients)[N]) {
  V result = hn::Set(d, coefficients[0]);
  for (size_t i = 1; i < N; ++i) result = hn::MulAdd(result, x, hn::Set(d, coefficients[i]));
  return result;
}

// erf. float32: minimax polynomials fitted for this file, of erf(x)/x - 1 in x^2 below 0.92 and of -log(1 - erf(x))
// above; at most 1.5 ulps. float64: the C library's.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V erf_vector(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 4) {
    constexpr T near_zero[] = {8.377591245e-05f, -8.145078072e-04f, 5.201304797e-03f, -2.685953911e-02f,
                               1.128369873e-01f, -3.761263400e-01f, 1.283791671e-01f};
    constexpr T tail[] = {4.561424368e-07f, 1.521687287e-05f, -4.020367760e-04f, 4.071010548e-03f, -2.493044823e-02f,
                          1.080562001e-01f, 6.335095005e-01f, 1.129448700e+00f,  -1.630896363e-04f};
    const V magnitude = hn::Abs(x);
    const V small = hn::MulAdd(polynomial(d, hn::Mul(x, x), near_zero), x, x);
    const V bounded = hn::Min(magnitude, hn::Set(d, T(4)));  // erf(4) rounds to 1
    const V large = hn::Sub(hn::Set(d, T(1)), hn::Exp(d, hn::Neg(polynomial(d, bounded, tail))));
    const V result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, T(0.92))), small, hn::CopySign(large, x));
    return hn::IfThenElse(hn::Eq(x, x), result, x);
  } else {
    HWY_ALIGN T values[hn::MaxLanes(d)];
    hn::Store(x, d, values);
    for (size_t i = 0; i < hn::Lanes(d); ++i) values[i] = std::erf(values[i]);
    return hn::Load(d, values);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
