// Functions of aten/native/ScalarFunctions.h that have vectors: float32 by FloatMath-inl.h or by way of float64,
// float64 in more digits than it has, and what is exact or cheap in both.

#include <aten/Dispatch.h>
#include <aten/native/ScalarFormulas.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/VectorFunctions.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/vector_function_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/DoubleMath-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

struct Exp2Function {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    return exp2_vector(d, x);
  }
};
// It stands in the library once.
template <typename D, typename V>
HWY_NOINLINE HWY_ATTR V erfc_of_doubles(D d, V x) {
  return erfc_in_double(d, x);
}
struct ErfcFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
      return erfc_of_doubles(d, x);
    } else {
#if HWY_TARGET == HWY_SCALAR
      return hn::Set(d, std::erfc(hn::GetLane(x)));
#else
      return in_double(d, ErfcInDouble(), x);
#endif
    }
  }
};
// The normal distribution's cumulative function.
struct NdtrFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    return hn::Mul(ErfcFunction()(d, hn::Mul(x, hn::Set(d, T(-0.70710678118654752440)))), hn::Set(d, T(0.5)));
  }
};
struct FmodFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    return fmod_vector(d, a, b);
  }
};

// What the compiler makes vectors of.
template <typename T>
struct Frac {
  TORCH_SIMD T operator()(T x) const { return x - std::trunc(x); }
};
template <typename T>
struct Copysign {
  TORCH_SIMD T operator()(T size, T sign) const { return std::copysign(size, sign); }
};
// NaN gives way to numbers.
template <typename T>
struct Fmax {
  TORCH_SIMD T operator()(T a, T b) const { return bool(a >= b) | bool(b != b) ? a : b; }
};
template <typename T>
struct Fmin {
  TORCH_SIMD T operator()(T a, T b) const { return bool(a <= b) | bool(b != b) ? a : b; }
};
template <typename T>
struct Heaviside {
  TORCH_SIMD T operator()(T a, T b) const { return heaviside_of(a, b); }
};
// The bits of numbers count up away from 0.
template <typename T>
struct Nextafter {
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  TORCH_SIMD T operator()(T from, T to) const {
    Bits bits;
    Bits target;
    std::memcpy(&bits, &from, sizeof(T));
    std::memcpy(&target, &to, sizeof(T));
    const Bits smallest = (target & std::numeric_limits<Bits>::min()) | 1;
    const Bits stepped = bits + (bool(to > from) == bool(from > T(0)) ? 1 : -1);
    bits = from == T(0) ? smallest : stepped;
    bits = from == to ? target : bits;
    T next;
    std::memcpy(&next, &bits, sizeof(T));
    return bool(from != from) | bool(to != to) ? from + to : next;
  }
};
// The next number of float16 or bfloat16, of their numbers as float: a unit of theirs counts many of float's.
template <bool kFloat16>
struct NextafterOfHalves {
  TORCH_SIMD float operator()(float from, float to) const {
    constexpr float least = kFloat16 ? 0x1p-24f : 0x1p-133f;
    constexpr float least_normal = kFloat16 ? 0x1p-14f : 0.0f;  // bfloat16's subnormal numbers are float's
    constexpr int32_t unit = kFloat16 ? 1 << 13 : 1 << 16;
    const float size = std::fabs(from);
    const bool grows = bool(to > from) == bool(from > 0.0f);
    int32_t bits;
    std::memcpy(&bits, &from, sizeof(bits));
    bits += grows ? unit : -unit;
    float next;
    std::memcpy(&next, &bits, sizeof(bits));
    const bool is_subnormal = bool(size < least_normal) | (bool(size == least_normal) & !grows);
    next = is_subnormal ? std::copysign(size + (grows ? least : -least), from) : next;
    next = kFloat16 && size > 65504.0f ? std::copysign(65504.0f, from) : next;
    next = from == 0.0f ? std::copysign(least, to) : next;
    next = from == to ? to : next;
    return bool(from != from) | bool(to != to) ? from + to : next;
  }
};
// float32: float64 holds the squares. Infinity wins over NaN.
struct Hypot {
  TORCH_SIMD float operator()(float a, float b) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const double x = a;
    const double y = b;
    const auto result = static_cast<float>(std::sqrt(x * x + y * y));
    return bool(std::fabs(a) == infinity) | bool(std::fabs(b) == infinity) ? infinity : result;
  }
};
#if HWY_TARGET == HWY_SCALAR
bool RunUnaryOfFloats(TensorIterator&, UnaryFunction) { return false; }
bool RunBinaryOfFloats(TensorIterator&, BinaryFunction) { return false; }
#else
// `result` inside of (-1, 1); infinity at the ends, NaN beyond.
template <typename D, typename V>
HWY_INLINE HWY_ATTR V ends_at_one(D d, V x, V result) {
  const V magnitude = hn::Abs(x);
  const V one = hn::Set(d, 1.0);
  const V end = hn::Div(x, hn::Sub(one, magnitude));
  const V edge = hn::IfThenElse(hn::Eq(magnitude, one), end, hn::Set(d, std::numeric_limits<double>::quiet_NaN()));
  return hn::IfThenElse(hn::Lt(magnitude, one), result, edge);
}
template <typename Function>
struct InDouble {
  template <typename D, typename... Vectors>
  HWY_INLINE HWY_ATTR hn::Vec<D> operator()(D d, Vectors... x) const {
    return in_double(d, Function(), x...);
  }
};
// log((1 + x) / (1 - x)) / 2, exact near 0.
struct AtanhInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V magnitude = hn::Abs(x);
    const V ratio = hn::Div(hn::Add(magnitude, magnitude), hn::Sub(hn::Set(d, 1.0), magnitude));
    return ends_at_one(d, x, hn::CopySign(hn::Mul(Log1pInDouble()(d, ratio), hn::Set(d, 0.5)), x));
  }
};
// log(|x| + sqrt(x^2 + 1)), exact near 0.
struct AsinhInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const V square = hn::Mul(x, x);
    const V excess = hn::Div(square, hn::Add(hn::Sqrt(hn::Add(square, one)), one));  // sqrt(x^2 + 1) - 1
    const V result = hn::CopySign(Log1pInDouble()(d, hn::Add(hn::Abs(x), excess)), x);
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, std::numeric_limits<double>::infinity())), result, x);
  }
};
// log(x + sqrt(x^2 - 1)), exact near 1.
struct AcoshInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const V beyond = hn::Sub(x, one);
    const V result = Log1pInDouble()(d, hn::Add(beyond, hn::Sqrt(hn::Mul(beyond, hn::Add(x, one)))));
    const V rest = hn::IfThenElse(hn::Lt(x, one), hn::Set(d, std::numeric_limits<double>::quiet_NaN()), x);
    const auto is_finite = hn::And(hn::Ge(x, one), hn::Lt(x, hn::Set(d, std::numeric_limits<double>::infinity())));
    return hn::IfThenElse(is_finite, result, rest);
  }
};
// x times a polynomial of -log(1 - x^2) near 0, and of its root elsewhere.
struct ErfinvInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double near_zero[] = {6.20801214335434967e-06,  -1.42420238026667995e-05, -2.36123200588352734e-05,
                                    1.27454685424463162e-04,  -1.19695569484014875e-04, -4.10265623233149702e-04,
                                    1.50412462691166616e-03,  -1.18834104734027394e-03, -5.35607140790882522e-03,
                                    1.98327580720916892e-02,  -2.22979669559838084e-02, -6.64825311527922208e-02,
                                    7.75503579183335789e-01,  1.68357865788451133e+00};
    constexpr double near_one[] = {8.44714052732868619e-06,  -1.93528775945490930e-06, -7.30448039103959894e-05,
                                   2.26751240868755196e-04,  -4.64944233754716496e-04, 8.58510315309506957e-04,
                                   -1.68599680953283480e-03, 3.10027996428459234e-03,  8.04615297280927955e-01,
                                   3.13416152457329122e+00};
    const V one = hn::Set(d, 1.0);
    if (HWY_UNLIKELY(hn::AllFalse(d, hn::Lt(hn::Abs(x), one)))) return ends_at_one(d, x, x);
    const V w = hn::Neg(LogInDouble<UnitE>()(d, hn::Mul(hn::Sub(one, x), hn::Add(one, x))));
    const V small = polynomial(d, hn::MulSub(w, hn::Set(d, 1 / 3.25), one), near_zero);
    // One in a thousand of evenly distributed numbers is not.
    const auto is_small = hn::And(hn::Lt(w, hn::Set(d, 6.5)), hn::Lt(hn::Abs(x), one));
    if (HWY_LIKELY(hn::AllTrue(d, is_small))) return hn::Mul(x, small);
    const V root = hn::Mul(hn::Sub(hn::Sqrt(w), hn::Set(d, 3.3)), hn::Set(d, 1 / 0.8));
    return ends_at_one(d, x, hn::Mul(x, hn::IfThenElse(is_small, small, polynomial(d, root, near_one))));
  }
};
// log(e^a + e^b), or of powers of 2.
template <bool kBase2>
struct LogAddExpInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    const V apart = hn::IfThenElseZero(hn::Ne(a, b), hn::Abs(hn::Sub(a, b)));  // two equal infinities are not
    const V unit = hn::Set(d, kBase2 ? 0.69314718055994530942 : 1.0);
    const V power = short_exp(d, hn::Neg(bounded_exponent(d, hn::Mul(apart, unit))));
    const V more = hn::Div(short_log1p_of_fraction(d, power), unit);
    const V result = hn::Add(hn::IfThenElse(hn::Gt(a, b), a, b), more);
    return hn::IfThenElse(hn::Eq(a, a), result, a);
  }
};
struct TanFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
#if TORCH_FUSED_PRODUCTS
    return float_tan(d, x);
#else
    float (*scalar)(float) = [](float value) -> float {
      return static_cast<float>(std::tan(static_cast<double>(value)));  // std::tan(value) is an ulp off
    };
    return patch_outside(d, x, in_double(d, TanInDouble(), x), -20000.0f, 20000.0f, scalar);
#endif
  }
};
#define TORCH_FLOAT_FUNCTION(Name, value)              \
  struct Name##Function {                              \
    template <typename D, typename V>                  \
    HWY_INLINE HWY_ATTR V operator()(D d, V x) const { \
      return value;                                    \
    }                                                  \
  };
TORCH_FLOAT_FUNCTION(Acos, TORCH_OF_FLOATS(float_arc<false>(d, x), AcosInDouble, x))
TORCH_FLOAT_FUNCTION(Asin, TORCH_OF_FLOATS(float_arc<true>(d, x), AsinInDouble, x))
TORCH_FLOAT_FUNCTION(Atan, TORCH_OF_FLOATS(float_atan(d, x), AtanInDouble, x))
TORCH_FLOAT_FUNCTION(Cosh, TORCH_OF_FLOATS(float_hyperbolic<false>(d, x), CoshInDouble, x))
TORCH_FLOAT_FUNCTION(Sinh, TORCH_OF_FLOATS(float_hyperbolic<true>(d, x), SinhInDouble, x))
#undef TORCH_FLOAT_FUNCTION
// What has vectors for float32 only.
bool RunUnaryOfFloats(TensorIterator& iter, UnaryFunction function) {
  const auto run = [&](auto operation) {
    iter.for_each(UnaryVectorLoop<float, decltype(operation)>{{}}, kMathGrain);
    return true;
  };
  switch (function) {
    case UnaryFunction::acos: return run(AcosFunction());
    case UnaryFunction::acosh: return run(InDouble<AcoshInDouble>());
    case UnaryFunction::asinh: return run(InDouble<AsinhInDouble>());
    case UnaryFunction::atanh: return run(InDouble<AtanhInDouble>());
    case UnaryFunction::erfinv: return run(InDouble<ErfinvInDouble>());
    case UnaryFunction::asin: return run(AsinFunction());
    case UnaryFunction::atan: return run(AtanFunction());
    case UnaryFunction::cosh: return run(CoshFunction());
    case UnaryFunction::sinh: return run(SinhFunction());
    case UnaryFunction::tan: return run(TanFunction());
    default: return false;
  }
}
bool RunBinaryOfFloats(TensorIterator& iter, BinaryFunction function) {
  const auto run = [&](auto operation) {
    iter.for_each(BinaryVectorLoop<float, decltype(operation)>{{}}, kMathGrain);
    return true;
  };
  switch (function) {
    case BinaryFunction::atan2: return run(InDouble<Atan2InDouble>());
    case BinaryFunction::logaddexp: return run(InDouble<LogAddExpInDouble<false>>());
    case BinaryFunction::logaddexp2: return run(InDouble<LogAddExpInDouble<true>>());
    default: return false;
  }
}
#endif

#if TORCH_FUSED_PRODUCTS
bool RunUnaryOfDoubles(TensorIterator& iter, UnaryFunction function) {
  const auto run = [&](auto operation) {
    iter.for_each(UnaryVectorLoop<double, decltype(operation)>{{}}, kMathGrain);
    return true;
  };
  switch (function) {
    case UnaryFunction::acos: return run(AcosOfDoubles());
    case UnaryFunction::asin: return run(AsinOfDoubles());
    case UnaryFunction::atan: return run(AtanOfDoubles());
    case UnaryFunction::atanh: return run(AtanhOfDoubles());
    case UnaryFunction::cosh: return run(HyperbolicOfDoubles<false>());
    case UnaryFunction::sinh: return run(HyperbolicOfDoubles<true>());
    case UnaryFunction::tan: return run(TanOfDoubles());
    default: return false;
  }
}
bool RunBinaryOfDoubles(TensorIterator& iter, BinaryFunction function) {
  const auto run = [&](auto operation) {
    iter.for_each(BinaryVectorLoop<double, decltype(operation)>{{}}, kMathGrain);
    return true;
  };
  switch (function) {
    case BinaryFunction::atan2: return run(Atan2OfDoubles());
    case BinaryFunction::hypot: return run(HypotOfDoubles());
    case BinaryFunction::logaddexp: return run(LogAddExpOfDoubles<false>());
    case BinaryFunction::logaddexp2: return run(LogAddExpOfDoubles<true>());
    default: return false;
  }
}
#else
bool RunUnaryOfDoubles(TensorIterator&, UnaryFunction) { return false; }
bool RunBinaryOfDoubles(TensorIterator&, BinaryFunction) { return false; }
#endif

bool RunUnary(TensorIterator& iter, UnaryFunction function) {
  const bool floats = iter.common_dtype() == kFloat;
  if (!floats && iter.common_dtype() != kDouble) return false;
  const auto run = [&](auto operation) {
    using Operation = decltype(operation);
    if (floats) iter.for_each(UnaryVectorLoop<float, Operation>{{}}, kMathGrain);
    else iter.for_each(UnaryVectorLoop<double, Operation>{{}}, kMathGrain);
    return true;
  };
  switch (function) {
    case UnaryFunction::exp2: return run(Exp2Function());
    case UnaryFunction::erfc: return run(ErfcFunction());
    case UnaryFunction::frac:
      if (floats) run_unary<float, float>(iter, Frac<float>());
      else run_unary<double, double>(iter, Frac<double>());
      return true;
    default: return floats ? RunUnaryOfFloats(iter, function) : RunUnaryOfDoubles(iter, function);
  }
}

void NdtrImpl(TensorIterator& iter) {
  if (iter.common_dtype() == kFloat) iter.for_each(UnaryVectorLoop<float, NdtrFunction>{{}}, kMathGrain);
  else iter.for_each(UnaryVectorLoop<double, NdtrFunction>{{}}, kMathGrain);
}

template <typename T>
bool RunCheapBinary(TensorIterator& iter, BinaryFunction function) {
  const auto run = [&](auto operation) {  // without loops for operands that repeat
    iter.for_each([row = PlainRow<decltype(operation)>{operation}](char** data, const int64_t* strides, int64_t count)
                      HWY_ATTR { run_rows<T, T, T>(data, strides, count, row); });
    return true;
  };
  switch (function) {
    case BinaryFunction::copysign: return run(Copysign<T>());
    case BinaryFunction::fmax: return run(Fmax<T>());
    case BinaryFunction::fmin: return run(Fmin<T>());
    case BinaryFunction::heaviside: return run(Heaviside<T>());
    case BinaryFunction::nextafter:
      if constexpr (sizeof(T) == 4) {
        // Numbers are float in memory, too.
        const auto are = [&](ScalarType type) { return iter.memory_dtype(1) == type || iter.memory_dtype(2) == type; };
        if (are(kHalf)) return run(NextafterOfHalves<true>());
        if (are(kBFloat16)) return run(NextafterOfHalves<false>());
      }
      return run(Nextafter<T>());
    default: return false;
  }
}

template <typename T>
struct LeftShift {
  TORCH_SIMD T operator()(T a, T b) const { return bitwise_left_shift_of(a, b); }
};
template <typename T>
struct RightShift {
  TORCH_SIMD T operator()(T a, T b) const { return bitwise_right_shift_of(a, b); }
};

bool RunShift(TensorIterator& iter, BinaryFunction function) {
  dispatch_integral_types(iter.common_dtype(), "shift", [&](auto type) {
    using T = typename decltype(type)::type;
    if (function == BinaryFunction::bitwise_left_shift) run_binary<T, T>(iter, LeftShift<T>());
    else run_binary<T, T>(iter, RightShift<T>());
  });
  return true;
}

bool RunBinary(TensorIterator& iter, BinaryFunction function) {
  if (function == BinaryFunction::bitwise_left_shift || function == BinaryFunction::bitwise_right_shift) {
    return RunShift(iter, function);
  }
  const bool floats = iter.common_dtype() == kFloat;
  if (!floats && iter.common_dtype() != kDouble) return false;
  if (floats ? RunCheapBinary<float>(iter, function) : RunCheapBinary<double>(iter, function)) return true;
  switch (function) {
    case BinaryFunction::fmod:
      if (floats) iter.for_each(BinaryVectorLoop<float, FmodFunction>{{}}, kMathGrain);
      else iter.for_each(BinaryVectorLoop<double, FmodFunction>{{}}, kMathGrain);
      return true;
    case BinaryFunction::hypot:
      if (!floats) return RunBinaryOfDoubles(iter, function);
      run_binary<float, float>(iter, Hypot());
      return true;
    default: return floats ? RunBinaryOfFloats(iter, function) : RunBinaryOfDoubles(iter, function);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(RunUnary);
bool run_in_vectors(TensorIterator& iter, UnaryFunction function) {
  return HWY_DYNAMIC_DISPATCH(RunUnary)(iter, function);
}
HWY_EXPORT(NdtrImpl);
void normal_cumulative(c10::DeviceType, TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(NdtrImpl)(iter); }
HWY_EXPORT(RunBinary);
bool run_in_vectors(TensorIterator& iter, BinaryFunction function) {
  return HWY_DYNAMIC_DISPATCH(RunBinary)(iter, function);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
