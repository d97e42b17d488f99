// Transcendental functions: Highway's vector versions inside the range that they are made for, the C library's outside
// (infinities, NaN, huge arguments of sin), so that the edges are exact.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>

#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/unary_math_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kMathGrain = 8192;  // elements; these functions cost several times a sum

// Function: static V vector(D, V); static T scalar(T); static constexpr bool kWholeRange; and, unless that is true,
// static T low(), high(): the closed range in which `vector` is right.
template <typename T, typename Function>
struct MathLoop {
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    HWY_ALIGN T buffer[hn::MaxLanes(d)];
    if (strides[0] == sizeof(T) && strides[1] == sizeof(T)) {
      T* out = reinterpret_cast<T*>(data[0]);
      const T* in = reinterpret_cast<const T*>(data[1]);
      int64_t i = 0;
      for (; i + lanes <= count; i += lanes) hn::StoreU(evaluate(d, hn::LoadU(d, in + i)), d, out + i);
      if (i < count) {
        std::memset(buffer, 0, sizeof buffer);
        std::memcpy(buffer, in + i, static_cast<size_t>(count - i) * sizeof(T));
        hn::Store(evaluate(d, hn::Load(d, buffer)), d, buffer);
        std::memcpy(out + i, buffer, static_cast<size_t>(count - i) * sizeof(T));
      }
      return;
    }
    for (int64_t i = 0; i < count; i += lanes) {
      const int64_t part = std::min(lanes, count - i);
      std::memset(buffer, 0, sizeof buffer);
      for (int64_t j = 0; j < part; ++j) buffer[j] = *reinterpret_cast<const T*>(data[1] + (i + j) * strides[1]);
      hn::Store(evaluate(d, hn::Load(d, buffer)), d, buffer);
      for (int64_t j = 0; j < part; ++j) *reinterpret_cast<T*>(data[0] + (i + j) * strides[0]) = buffer[j];
    }
  }

  template <typename D, typename V = hn::Vec<D>>
  static TORCH_SIMD V evaluate(D d, V x) {
    V result = Function::vector(d, x);
    if constexpr (!Function::kWholeRange) {
      const auto inside = hn::And(hn::Ge(x, hn::Set(d, Function::template low<T>())),
                                  hn::Le(x, hn::Set(d, Function::template high<T>())));
      if (HWY_UNLIKELY(!hn::AllTrue(d, inside))) {
        HWY_ALIGN T inputs[hn::MaxLanes(d)];
        HWY_ALIGN T results[hn::MaxLanes(d)];
        hn::Store(x, d, inputs);
        hn::Store(result, d, results);
        for (size_t i = 0; i < hn::Lanes(d); ++i) {
          const bool fine = inputs[i] >= Function::template low<T>() && inputs[i] <= Function::template high<T>();
          if (!fine) results[i] = Function::scalar(inputs[i]);
        }
        result = hn::Load(d, results);
      }
    }
    return result;
  }
};

template <typename T>
constexpr T infinity = std::numeric_limits<T>::infinity();

#define TORCH_MATH_FUNCTION(Name, name, lowest, highest)                 \
  struct Name##Function {                                                \
    static constexpr bool kWholeRange = false;                           \
    template <typename T>                                                \
    static T low() {                                                     \
      return static_cast<T>(lowest);                                     \
    }                                                                    \
    template <typename T>                                                \
    static T high() {                                                    \
      return static_cast<T>(highest);                                    \
    }                                                                    \
    template <typename T>                                                \
    static T scalar(T x) {                                               \
      return std::name(x);                                               \
    }                                                                    \
    template <typename D, typename V>                                    \
    static HWY_INLINE HWY_ATTR V vector(D d, V x) {                      \
      return hn::Name(d, x);                                             \
    }                                                                    \
  };
TORCH_MATH_FUNCTION(Exp, exp, -infinity<T>, sizeof(T) == 4 ? 88.0 : 706.0)
TORCH_MATH_FUNCTION(Expm1, expm1, -infinity<T>, sizeof(T) == 4 ? 88.0 : 706.0)
TORCH_MATH_FUNCTION(Log, log, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())
TORCH_MATH_FUNCTION(Log1p, log1p, 0, std::numeric_limits<T>::max())
TORCH_MATH_FUNCTION(Sin, sin, -39000, 39000)
TORCH_MATH_FUNCTION(Cos, cos, -39000, 39000)
#undef TORCH_MATH_FUNCTION

struct TanhFunction {
  static constexpr bool kWholeRange = true;
  template <typename D, typename V>
  static HWY_INLINE HWY_ATTR V vector(D d, V x) {
    return hn::Tanh(d, x);
  }
};

struct SigmoidFunction {
  static constexpr bool kWholeRange = true;
  // From exp(-|x|), which cannot overflow.
  template <typename D, typename V>
  static HWY_INLINE HWY_ATTR V vector(D d, V x) {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V small = hn::Exp(d, hn::Neg(hn::Abs(x)));
    const V positive = hn::Div(one, hn::Add(one, small));
    const V negative = hn::Div(small, hn::Add(one, small));
    const V result = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), negative, positive);
    return hn::IfThenElse(hn::Eq(x, x), result, x);
  }
};

#define TORCH_MATH_KERNEL(Name, name)                                  \
  void Name##Impl(TensorIterator& iter) {                              \
    dispatch_floating_types(iter.common_dtype(), name, [&](auto type) { \
      using T = typename decltype(type)::type;                         \
      iter.for_each(MathLoop<T, Name##Function>(), kMathGrain);        \
    });                                                                \
  }
TORCH_MATH_KERNEL(Exp, "exp")
TORCH_MATH_KERNEL(Expm1, "expm1")
TORCH_MATH_KERNEL(Log, "log")
TORCH_MATH_KERNEL(Log1p, "log1p")
TORCH_MATH_KERNEL(Sin, "sin")
TORCH_MATH_KERNEL(Cos, "cos")
TORCH_MATH_KERNEL(Tanh, "tanh")
TORCH_MATH_KERNEL(Sigmoid, "sigmoid")
#undef TORCH_MATH_KERNEL

// Powers of two and ten must come out whole, which a scaled natural logarithm does not give: the C library's.
#define TORCH_LIBRARY_KERNEL(Name, name)                                \
  template <typename T>                                                 \
  struct Name {                                                         \
    TORCH_SIMD T operator()(T x) const { return std::name(x); }         \
  };                                                                    \
  void Name##Impl(TensorIterator& iter) {                               \
    dispatch_floating_types(iter.common_dtype(), #name, [&](auto type) { \
      using T = typename decltype(type)::type;                          \
      run_unary<T, T>(iter, Name<T>(), kMathGrain);                     \
    });                                                                 \
  }
TORCH_LIBRARY_KERNEL(Log2, log2)
TORCH_LIBRARY_KERNEL(Log10, log10)
TORCH_LIBRARY_KERNEL(Erf, erf)
#undef TORCH_LIBRARY_KERNEL

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

#define TORCH_EXPORT_KERNEL(Name, name) \
  HWY_EXPORT(Name##Impl);               \
  void name##_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(Name##Impl)(iter); }
TORCH_EXPORT_KERNEL(Exp, exp)
TORCH_EXPORT_KERNEL(Expm1, expm1)
TORCH_EXPORT_KERNEL(Log, log)
TORCH_EXPORT_KERNEL(Log1p, log1p)
TORCH_EXPORT_KERNEL(Log2, log2)
TORCH_EXPORT_KERNEL(Log10, log10)
TORCH_EXPORT_KERNEL(Sin, sin)
TORCH_EXPORT_KERNEL(Cos, cos)
TORCH_EXPORT_KERNEL(Tanh, tanh)
TORCH_EXPORT_KERNEL(Erf, erf)
TORCH_EXPORT_KERNEL(Sigmoid, sigmoid)
#undef TORCH_EXPORT_KERNEL

}  // namespace at::native::cpu
#endif  // HWY_ONCE
