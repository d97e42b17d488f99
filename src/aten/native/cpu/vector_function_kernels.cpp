// Functions of aten/native/ScalarFunctions.h that have vectors: float32 by way of float64, and what is exact or cheap in both.

#include <aten/Dispatch.h>
#include <aten/native/cpu/VectorFunctions.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/vector_function_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/MathLoops-inl.h>

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

#if HWY_TARGET == HWY_SCALAR
bool RunUnaryOfFloats(TensorIterator&, UnaryFunction) { return false; }
bool Atan2OfFloats(TensorIterator&) { return false; }
#else
template <typename Function>
struct InDouble {
  template <typename D, typename... Vectors>
  HWY_INLINE HWY_ATTR hn::Vec<D> operator()(D d, Vectors... x) const {
    return in_double(d, Function(), x...);
  }
};
struct TanFunction {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    float (*scalar)(float) = [](float value) -> float { return std::tan(value); };
    return patch_outside(d, x, in_double(d, TanInDouble(), x), -30000.0f, 30000.0f, scalar);
  }
};
// What has vectors for float32 only.
bool RunUnaryOfFloats(TensorIterator& iter, UnaryFunction function) {
  const auto run = [&](auto operation) {
    iter.for_each(UnaryVectorLoop<float, decltype(operation)>{{}}, kMathGrain);
    return true;
  };
  switch (function) {
    case UnaryFunction::acos: return run(InDouble<AcosInDouble>());
    case UnaryFunction::asin: return run(InDouble<AsinInDouble>());
    case UnaryFunction::atan: return run(InDouble<AtanInDouble>());
    case UnaryFunction::cosh: return run(InDouble<CoshInDouble>());
    case UnaryFunction::sinh: return run(InDouble<SinhInDouble>());
    case UnaryFunction::tan: return run(TanFunction());
    default: return false;
  }
}
bool Atan2OfFloats(TensorIterator& iter) {
  iter.for_each(BinaryVectorLoop<float, InDouble<Atan2InDouble>>{{}}, kMathGrain);
  return true;
}
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
    default: return floats && RunUnaryOfFloats(iter, function);
  }
}

bool RunBinary(TensorIterator& iter, BinaryFunction function) {
  const bool floats = iter.common_dtype() == kFloat;
  if (!floats && iter.common_dtype() != kDouble) return false;
  switch (function) {
    case BinaryFunction::atan2: return floats && Atan2OfFloats(iter);
    case BinaryFunction::fmod:
      if (floats) iter.for_each(BinaryVectorLoop<float, FmodFunction>{{}}, kMathGrain);
      else iter.for_each(BinaryVectorLoop<double, FmodFunction>{{}}, kMathGrain);
      return true;
    default: return false;
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
