// Functions of aten/native/ScalarFunctions.h that have vectors: float32 by way of float64, float64 in more digits than it has,
// and what is exact or cheap in both.

#include <aten/Dispatch.h>
#include <aten/native/ScalarFormulas.h>
#include <aten/native/cpu/VectorFunctions.h>

#include <cmath>
#include <limits>

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
    return TORCH_IN_DOUBLE(Exp2InDouble, exp2_vector(d, x));
  }
};
struct ErfcFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
      return erfc_in_double<53>(d, x);
    } else {
#if HWY_TARGET == HWY_SCALAR
      return hn::Set(d, std::erfc(hn::GetLane(x)));
#else
      return in_double(d, ErfcInDouble(), x);
#endif
    }
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
template <typename Function>
struct InDouble {
  template <typename D, typename... Vectors>
  HWY_INLINE HWY_ATTR hn::Vec<D> operator()(D d, Vectors... x) const {
    return in_double(d, Function(), x...);
  }
};
// log((1 + x) / (1 - x)) / 2, exact near 0, for |x| < 1.
struct AtanhInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V magnitude = hn::Abs(x);
    const V ratio = hn::Div(hn::Add(magnitude, magnitude), hn::Sub(hn::Set(d, 1.0), magnitude));
    return hn::CopySign(hn::Mul(Log1pInDouble()(d, ratio), hn::Set(d, 0.5)), x);
  }
};
// log(|x| + sqrt(x^2 + 1)), exact near 0, for finite float32.
struct AsinhInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const V square = hn::Mul(x, x);
    const V excess = hn::Div(square, hn::Add(hn::Sqrt(hn::Add(square, one)), one));  // sqrt(x^2 + 1) - 1
    return hn::CopySign(Log1pInDouble()(d, hn::Add(hn::Abs(x), excess)), x);
  }
};
// log(x + sqrt(x^2 - 1)), exact near 1, for finite float32 from 1 on.
struct AcoshInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0);
    const V beyond = hn::Sub(x, one);
    return Log1pInDouble()(d, hn::Add(beyond, hn::Sqrt(hn::Mul(beyond, hn::Add(x, one)))));
  }
};
struct SincInDouble {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V angle = hn::Mul(x, hn::Set(d, 3.14159265358979323846));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, 1.0), hn::Div(SineInDouble<0>()(d, angle), angle));
  }
};
// x times a polynomial of -log(1 - x^2) near 0, and of its root elsewhere; for |x| < 1.
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
    const V w = hn::Neg(LogInDouble<UnitE>()(d, hn::Mul(hn::Sub(one, x), hn::Add(one, x))));
    const V small = polynomial(d, hn::MulSub(w, hn::Set(d, 1 / 3.25), one), near_zero);
    const V root = hn::Mul(hn::Sub(hn::Sqrt(w), hn::Set(d, 3.3)), hn::Set(d, 1 / 0.8));
    return hn::Mul(x, hn::IfThenElse(hn::Lt(w, hn::Set(d, 6.5)), small, polynomial(d, root, near_one)));
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
// What is not for every number: the C library's is asked outside of [low, high].
#define TORCH_BOUNDED_FUNCTION(Name, name, low, high)                    \
  struct Name##Function {                                                \
    template <typename D, typename V>                                    \
    HWY_INLINE HWY_ATTR V operator()(D d, V x) const {                   \
      float (*scalar)(float) = [](float value) -> float { return name(value); }; \
      return patch_outside(d, x, in_double(d, Name##InDouble(), x), low, high, scalar); \
    }                                                                    \
  };
TORCH_BOUNDED_FUNCTION(Tan, std::tan, -30000.0f, 30000.0f)
TORCH_BOUNDED_FUNCTION(Atanh, std::atanh, -0.9999999f, 0.9999999f)
TORCH_BOUNDED_FUNCTION(Asinh, std::asinh, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max())
TORCH_BOUNDED_FUNCTION(Acosh, std::acosh, 1.0f, std::numeric_limits<float>::max())
TORCH_BOUNDED_FUNCTION(Erfinv, erfinv_of, -0.99999994f, 0.99999994f)
TORCH_BOUNDED_FUNCTION(Sinc, sinc_of, -10000.0f, 10000.0f)
#undef TORCH_BOUNDED_FUNCTION
// What has vectors for float32 only.
bool RunUnaryOfFloats(TensorIterator& iter, UnaryFunction function) {
  const auto run = [&](auto operation) {
    iter.for_each(UnaryVectorLoop<float, decltype(operation)>{{}}, kMathGrain);
    return true;
  };
  switch (function) {
    case UnaryFunction::acos: return run(InDouble<AcosInDouble>());
    case UnaryFunction::acosh: return run(AcoshFunction());
    case UnaryFunction::asinh: return run(AsinhFunction());
    case UnaryFunction::atanh: return run(AtanhFunction());
    case UnaryFunction::erfinv: return run(ErfinvFunction());
    case UnaryFunction::sinc: return run(SincFunction());
    case UnaryFunction::asin: return run(InDouble<AsinInDouble>());
    case UnaryFunction::atan: return run(InDouble<AtanInDouble>());
    case UnaryFunction::cosh: return run(InDouble<CoshInDouble>());
    case UnaryFunction::sinh: return run(InDouble<SinhInDouble>());
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
struct TanOfDoublesFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    double (*scalar)(double) = [](double value) -> double { return std::tan(value); };
    return patch_outside(d, x, TanOfDoubles()(d, x), -500000.0, 500000.0, scalar);
  }
};
bool RunUnaryOfDoubles(TensorIterator& iter, UnaryFunction function) {
  const auto run = [&](auto operation) {
    iter.for_each(LongLoop<decltype(operation), double>{{}}, kMathGrain);
    return true;
  };
  switch (function) {
    case UnaryFunction::acos: return run(AcosOfDoubles());
    case UnaryFunction::asin: return run(AsinOfDoubles());
    case UnaryFunction::atan: return run(AtanOfDoubles());
    case UnaryFunction::tan: return run(TanOfDoublesFunction());
    default: return false;
  }
}
bool RunBinaryOfDoubles(TensorIterator& iter, BinaryFunction function) {
  const auto run = [&](auto operation) {
    iter.for_each(LongLoop<decltype(operation), double, double>{{}}, kMathGrain);
    return true;
  };
  switch (function) {
    case BinaryFunction::atan2: return run(Atan2OfDoubles());
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

bool RunBinary(TensorIterator& iter, BinaryFunction function) {
  const bool floats = iter.common_dtype() == kFloat;
  if (!floats && iter.common_dtype() != kDouble) return false;
  switch (function) {
    case BinaryFunction::fmod:
      if (floats) iter.for_each(BinaryVectorLoop<float, FmodFunction>{{}}, kMathGrain);
      else iter.for_each(BinaryVectorLoop<double, FmodFunction>{{}}, kMathGrain);
      return true;
    case BinaryFunction::hypot:
      if (floats) run_binary<float, float>(iter, Hypot());
      return floats;
    default: return floats ? RunBinaryOfFloats(iter, function) : RunBinaryOfDoubles(iter, function);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(RunUnary);
bool run_in_vectors(TensorIterator& iter, UnaryFunction function) { return HWY_DYNAMIC_DISPATCH(RunUnary)(iter, function); }
HWY_EXPORT(RunBinary);
bool run_in_vectors(TensorIterator& iter, BinaryFunction function) { return HWY_DYNAMIC_DISPATCH(RunBinary)(iter, function); }

}  // namespace at::native::cpu
#endif  // HWY_ONCE
