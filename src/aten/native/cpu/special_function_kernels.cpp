// Functions of aten/native/ScalarFunctions.h that have vectors of float64, in which float32 is computed, too.

#include <aten/Dispatch.h>
#include <aten/native/cpu/VectorFunctions.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/special_function_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/MathLoops-inl.h>
#include <aten/native/cpu/SpecialBessel-inl.h>
#include <aten/native/cpu/SpecialGamma-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// Polynomials by their recurrence: p(0) = 1, p(1) is `first`, and next(k, p(k), p(k - 1)) is p(k + 1).
// Beyond special::kManySteps the scalar function is asked.
template <typename Recurrence>
struct PolynomialOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x, V degree) const {
    const V one = hn::Set(d, 1.0);
    const V n = hn::Trunc(degree);
    const V most = hn::Set(d, special::kManySteps);
    const auto plain = hn::Le(n, most);
    V before = one;
    V current = Recurrence::first(d, x);
    V result = hn::IfThenElse(hn::Eq(n, one), current, hn::IfThenElseZero(hn::Eq(n, hn::Zero(d)), one));
    const double steps = hn::GetLane(hn::MaxOfLanes(d, hn::IfThenElseZero(plain, n)));
    for (double k = 1; k < steps; ++k) {
      const V after = Recurrence::next(d, x, k, current, before);
      before = current;
      current = after;
      result = hn::IfThenElse(hn::Eq(n, hn::Set(d, k + 1)), current, result);
    }
    if (HWY_LIKELY(hn::AllTrue(d, plain))) return result;
    HWY_ALIGN double points[hn::MaxLanes(d)];
    HWY_ALIGN double degrees[hn::MaxLanes(d)];
    HWY_ALIGN double results[hn::MaxLanes(d)];
    hn::Store(x, d, points);
    hn::Store(degree, d, degrees);
    hn::Store(result, d, results);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      if (!(std::trunc(degrees[i]) <= special::kManySteps)) results[i] = Recurrence::scalar(points[i], degrees[i]);
    }
    return hn::Load(d, results);
  }
};
#define TORCH_RECURRENCE(Name, function, point, value_of_one, value_of_next)             \
  struct Name {                                                                          \
    template <typename D, typename V>                                                    \
    HWY_INLINE HWY_ATTR static V first(D d, V given) {                                   \
      [[maybe_unused]] const V one = hn::Set(d, 1.0);                                    \
      const V x = point;                                                                 \
      return value_of_one;                                                               \
    }                                                                                    \
    template <typename D, typename V>                                                    \
    HWY_INLINE HWY_ATTR static V next(D d, V given, [[maybe_unused]] double k, V p, V q) { \
      [[maybe_unused]] const V one = hn::Set(d, 1.0);                                    \
      const V x = point;                                                                 \
      return value_of_next;                                                              \
    }                                                                                    \
    static double scalar(double x, double n) { return function##_of<double>(x, n); }     \
  };
#define TORCH_CHEBYSHEV(Name, kind, value_of_one)                                                                   \
  TORCH_RECURRENCE(Name, chebyshev_polynomial_##kind, given, value_of_one, hn::MulSub(hn::Add(x, x), p, q))         \
  TORCH_RECURRENCE(Shifted##Name, shifted_chebyshev_polynomial_##kind, hn::Sub(hn::Add(given, given), one),         \
                   value_of_one, hn::MulSub(hn::Add(x, x), p, q))
TORCH_CHEBYSHEV(ChebyshevT, t, x)
TORCH_CHEBYSHEV(ChebyshevU, u, hn::Add(x, x))
TORCH_CHEBYSHEV(ChebyshevV, v, hn::Sub(hn::Add(x, x), one))
TORCH_CHEBYSHEV(ChebyshevW, w, hn::Add(hn::Add(x, x), one))
#undef TORCH_CHEBYSHEV
TORCH_RECURRENCE(HermiteH, hermite_polynomial_h, given, hn::Add(x, x),
                 hn::Mul(hn::Set(d, 2.0), hn::MulSub(x, p, hn::Mul(hn::Set(d, k), q))))
TORCH_RECURRENCE(HermiteHe, hermite_polynomial_he, given, x, hn::MulSub(x, p, hn::Mul(hn::Set(d, k), q)))
TORCH_RECURRENCE(LaguerreL, laguerre_polynomial_l, given, hn::Sub(one, x),
                 hn::Div(hn::MulSub(hn::Sub(hn::Set(d, 2 * k + 1), x), p, hn::Mul(hn::Set(d, k), q)),
                         hn::Set(d, k + 1)))
TORCH_RECURRENCE(LegendreP, legendre_polynomial_p, given, x,
                 hn::Div(hn::MulSub(hn::Mul(hn::Set(d, 2 * k + 1), x), p, hn::Mul(hn::Set(d, k), q)),
                         hn::Set(d, k + 1)))
#undef TORCH_RECURRENCE

// `count` results, whole vectors of them, in the place of the first operand.
template <typename Function>
HWY_NOINLINE HWY_ATTR void compute_unary(double* first, const double* /*second*/, int64_t count) {
  const hn::ScalableTag<double> d;
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto x = hn::Load(d, first + i);
    if (HWY_UNLIKELY(hn::AllFalse(d, hn::Eq(x, x)))) continue;  // NaN stays
    hn::Store(Function()(d, x), d, first + i);
  }
}
template <typename Function>
HWY_NOINLINE HWY_ATTR void compute_in_two_loops(double* first, const double* /*second*/, int64_t count) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN double guesses[kStagedRow];
  for (int64_t i = 0; i < count; i += lanes)
    hn::Store(Function::guess(d, hn::Load(d, first + i)), d, guesses + i);
  for (int64_t i = 0; i < count; i += lanes)
    hn::Store(Function::improve(d, hn::Load(d, first + i), hn::Load(d, guesses + i)), d, first + i);
}
template <typename Function>
HWY_NOINLINE HWY_ATTR void compute_binary(double* first, const double* second, int64_t count) {
  const hn::ScalableTag<double> d;
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(Function()(d, hn::Load(d, first + i), hn::Load(d, second + i)), d, first + i);
  }
}

// Incomplete gamma functions of up to kStagedRow pairs, those that take about as many steps side by side.
HWY_NOINLINE HWY_ATTR void compute_igamma(double* first, const double* second, int64_t count,
                                          const IgammaOfVectors& function) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN double orders[kStagedRow];
  HWY_ALIGN double points[kStagedRow];
  uint8_t kinds[kStagedRow];
  int16_t places[kStagedRow];
  int16_t starts[33] = {};
  bool is_mixed = false;
  for (int64_t i = 0; i < count && !is_mixed; i += lanes) {
    const auto least = hn::Min(hn::Load(d, first + i), hn::Load(d, second + i));
    is_mixed = !hn::AllFalse(d, hn::Gt(least, hn::Zero(d)));
  }
  for (int64_t i = 0; i < count && is_mixed; ++i) {
    kinds[i] = static_cast<uint8_t>(function.kind_of(first[i], second[i]));
    ++starts[kinds[i] + 1];
  }
  for (int kind = 0; kind < 32; ++kind) starts[kind + 1] = static_cast<int16_t>(starts[kind + 1] + starts[kind]);
  for (int64_t i = 0; i < count && is_mixed; ++i) {
    const int16_t place = starts[kinds[i]]++;
    places[i] = place;
    orders[place] = first[i];
    points[place] = second[i];
  }
  double* const a = is_mixed ? orders : first;
  const double* const x = is_mixed ? points : second;
  for (int64_t i = 0; i < count; i += lanes) {
    hn::Store(function(d, hn::Load(d, a + i), hn::Load(d, x + i)), d, a + i);
  }
  for (int64_t i = 0; i < count && is_mixed; ++i) first[i] = orders[places[i]];
}
template <bool kUpper>
void compute_igamma_of_floats(double* first, const double* second, int64_t count) {
  compute_igamma(first, second, count, IgammaOfVectors::of_floats(kUpper));
}
template <bool kUpper>
void compute_igamma_of_doubles(double* first, const double* second, int64_t count) {
  compute_igamma(first, second, count, IgammaOfVectors::of_doubles(kUpper));
}

// The series of zeta is the scalar function's; where there is none no call is made.
struct ZetaOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V s, V q) const {
    const V result = hn::Set(d, special::kNaN);
    const auto asks = hn::And(hn::Ge(s, hn::Set(d, 1.0)), hn::Eq(q, q));
    if (hn::AllFalse(d, asks)) return result;
    HWY_ALIGN double orders[hn::MaxLanes(d)];
    HWY_ALIGN double points[hn::MaxLanes(d)];
    hn::Store(s, d, orders);
    hn::Store(q, d, points);
    for (size_t i = 0; i < hn::Lanes(d); ++i) orders[i] = special::zeta(orders[i], points[i]);
    return hn::Load(d, orders);
  }
};

// Rows of float32 or float64 in parts that the first cache holds as float64: the functions are long, and stand in the
// library once for both types and for all that rows may lie like.
template <typename T>
struct StagedLoop {
  void (*compute)(double* first, const double* second, int64_t count);
  int operands;

  HWY_ATTR void operator()(char** data, const int64_t* strides, int64_t count) const {
    HWY_ALIGN double staged[2][kStagedRow];
    for (int64_t done = 0; done < count; done += kStagedRow) {
      const int64_t part = std::min(kStagedRow, count - done);
      for (int i = 1; i < operands; ++i) load(data[i] + done * strides[i], strides[i], part, staged[i - 1]);
      compute(staged[0], staged[1], hwy::RoundUpTo(static_cast<size_t>(part), hn::Lanes(hn::ScalableTag<double>())));
      store(staged[0], part, data[0] + done * strides[0], strides[0]);
    }
  }

 private:
  HWY_ATTR static void load(const char* from, int64_t stride, int64_t count, double* to) {
    if (stride == sizeof(T)) {
      const auto* row = reinterpret_cast<const T*>(from);
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(row[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(*reinterpret_cast<const T*>(from + i * stride));
    }
    // What fills up the last vector is like what is in it: it asks for nothing rare.
    std::fill(to + count, to + hwy::RoundUpTo(static_cast<size_t>(count), hn::MaxLanes(hn::ScalableTag<double>())),
              to[count - 1]);
  }
  HWY_ATTR static void store(const double* from, int64_t count, char* to, int64_t stride) {
    if (stride == sizeof(T)) {
      auto* row = reinterpret_cast<T*>(to);
      for (int64_t i = 0; i < count; ++i) row[i] = static_cast<T>(from[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(to + i * stride) = static_cast<T>(from[i]);
    }
  }
};

using Compute = void (*)(double* first, const double* second, int64_t count);

bool RunStaged(TensorIterator& iter, Compute compute, int operands) {
  if (compute == nullptr) return false;
  if (iter.common_dtype() == kFloat) iter.for_each(StagedLoop<float>{compute, operands}, kMathGrain);
  else if (iter.common_dtype() == kDouble) iter.for_each(StagedLoop<double>{compute, operands}, kMathGrain);
  else return false;
  return true;
}

bool RunSpecialUnary(TensorIterator& iter, UnaryFunction function) {
  const bool floats = iter.common_dtype() == kFloat;
  const auto find = [&]() -> Compute {
    switch (function) {
      case UnaryFunction::airy_ai: return &compute_unary<AiryAiOfVectors>;
      case UnaryFunction::bessel_j0: return &compute_unary<BesselJOfVectors<0>>;
      case UnaryFunction::bessel_j1: return &compute_unary<BesselJOfVectors<1>>;
      case UnaryFunction::bessel_y0: return &compute_unary<BesselYOfVectors<0>>;
      case UnaryFunction::bessel_y1: return &compute_unary<BesselYOfVectors<1>>;
      case UnaryFunction::digamma:
        return floats ? &compute_unary<DigammaOfVectors> : &compute_unary<DigammaOfDoubles>;
      case UnaryFunction::entr: return &compute_unary<EntrOfVectors>;
      case UnaryFunction::erfcx: return floats ? &compute_unary<ErfcxOfFloats> : &compute_unary<ErfcxOfVectors>;
      case UnaryFunction::erfinv:
        return floats ? &compute_unary<ErfinvOfVectors> : &compute_in_two_loops<ErfinvOfDoubles>;
      case UnaryFunction::i0: return &compute_unary<BesselIOfVectors<0, false>>;
      case UnaryFunction::i0e: return &compute_unary<BesselIOfVectors<0, true>>;
      case UnaryFunction::i1: return &compute_unary<BesselIOfVectors<1, false>>;
      case UnaryFunction::i1e:
        return floats ? &compute_unary<BesselIOfVectors<1, true, true>> : &compute_unary<BesselIOfVectors<1, true>>;
      case UnaryFunction::lgamma:
        return floats ? &compute_unary<LgammaOfVectors> : &compute_unary<LgammaOfDoubles>;
      case UnaryFunction::log_ndtr: return &compute_unary<LogNdtrOfVectors>;
      case UnaryFunction::modified_bessel_k0: return &compute_unary<BesselKOfVectors<0, false>>;
      case UnaryFunction::modified_bessel_k1: return &compute_unary<BesselKOfVectors<1, false>>;
      case UnaryFunction::ndtri: return floats ? &compute_unary<NdtriOfVectors> : &compute_in_two_loops<NdtriOfDoubles>;
      case UnaryFunction::scaled_modified_bessel_k0: return &compute_unary<BesselKOfVectors<0, true>>;
      case UnaryFunction::scaled_modified_bessel_k1: return &compute_unary<BesselKOfVectors<1, true>>;
      case UnaryFunction::sinc: return &compute_unary<SincOfVectors>;
      case UnaryFunction::spherical_bessel_j0: return &compute_unary<SphericalBesselJ0OfVectors>;
      case UnaryFunction::trigamma: return &compute_unary<TrigammaOfVectors>;
      default: return nullptr;
    }
  };
  return RunStaged(iter, find(), 2);
}

bool RunSpecialBinary(TensorIterator& iter, BinaryFunction function) {
  const bool floats = iter.common_dtype() == kFloat;
#define TORCH_CASE(name, Name) \
  case BinaryFunction::name: return &compute_binary<PolynomialOfVectors<Name>>;
  const auto find = [&]() -> Compute {
    switch (function) {
      TORCH_CASE(chebyshev_polynomial_t, ChebyshevT)
      TORCH_CASE(chebyshev_polynomial_u, ChebyshevU)
      TORCH_CASE(chebyshev_polynomial_v, ChebyshevV)
      TORCH_CASE(chebyshev_polynomial_w, ChebyshevW)
      TORCH_CASE(shifted_chebyshev_polynomial_t, ShiftedChebyshevT)
      TORCH_CASE(shifted_chebyshev_polynomial_u, ShiftedChebyshevU)
      TORCH_CASE(shifted_chebyshev_polynomial_v, ShiftedChebyshevV)
      TORCH_CASE(shifted_chebyshev_polynomial_w, ShiftedChebyshevW)
      TORCH_CASE(hermite_polynomial_h, HermiteH)
      TORCH_CASE(hermite_polynomial_he, HermiteHe)
      TORCH_CASE(laguerre_polynomial_l, LaguerreL)
      TORCH_CASE(legendre_polynomial_p, LegendreP)
      case BinaryFunction::igamma:
        if (floats) return &compute_igamma_of_floats<false>;
        return TORCH_FUSED_PRODUCTS ? &compute_igamma_of_doubles<false> : nullptr;
      case BinaryFunction::igammac:
        if (floats) return &compute_igamma_of_floats<true>;
        return TORCH_FUSED_PRODUCTS ? &compute_igamma_of_doubles<true> : nullptr;
      case BinaryFunction::zeta: return &compute_binary<ZetaOfVectors>;
      case BinaryFunction::xlogy: return &compute_binary<XlogyOfVectors<false>>;
      case BinaryFunction::xlog1py: return &compute_binary<XlogyOfVectors<true>>;
      default: return nullptr;
    }
  };
#undef TORCH_CASE
  return RunStaged(iter, find(), 3);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(RunSpecialUnary);
bool run_special(TensorIterator& iter, UnaryFunction function) {
  return HWY_DYNAMIC_DISPATCH(RunSpecialUnary)(iter, function);
}
HWY_EXPORT(RunSpecialBinary);
bool run_special(TensorIterator& iter, BinaryFunction function) {
  return HWY_DYNAMIC_DISPATCH(RunSpecialBinary)(iter, function);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
