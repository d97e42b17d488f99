// Loops of explicit vectors, for functions that the compiler cannot vectorise by itself. Included once per instruction
// set, as Loops-inl.h is.

#if defined(TORCH_MATH_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_MATH_LOOPS_INL_H_
#undef TORCH_MATH_LOOPS_INL_H_
#else
#define TORCH_MATH_LOOPS_INL_H_
#endif

#include <aten/native/cpu/FloatInDouble-inl.h>
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr int64_t kMathGrain = 8192;  // elements; these functions cost several times a sum

// Function: V operator()(D, V...) const for any vector of T. The same bits come out whatever the strides are: what is
// left over of a row is a vector, too, filled up with zeros. The function is long, and stands here once, not for each
// way that a row may lie.
template <typename T, typename Function>
struct VectorRow {
  Function function;
  template <typename... In>
  HWY_NOINLINE HWY_ATTR void operator()(int64_t count, T* out, const In*... in) const {
    const hn::ScalableTag<T> d;
    const Function own = function;  // nothing that is written can change it
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; i += lanes) {
      const int64_t left = count - i;
      const auto result = own(d, (HWY_LIKELY(left >= lanes) ? hn::LoadU(d, in + i) : load_rest(d, in + i, left))...);
      if (HWY_LIKELY(left >= lanes)) {
        hn::StoreU(result, d, out + i);
        continue;
      }
      HWY_ALIGN T results[hn::MaxLanes(d)];
      hn::Store(result, d, results);
      for (int64_t j = 0; j < left; ++j) out[i + j] = results[j];
    }
  }
  template <typename D>
  HWY_ATTR static hn::Vec<D> load_rest(D d, const T* from, int64_t count) {
    HWY_ALIGN T elements[hn::MaxLanes(d)] = {};
    for (int64_t j = 0; j < count; ++j) elements[j] = from[j];
    return hn::Load(d, elements);
  }
};
template <typename T, typename Function>
struct UnaryVectorLoop {
  VectorRow<T, Function> row;
  HWY_ATTR void operator()(char** data, const int64_t* strides, int64_t count) const {
    run_rows<T, T>(data, strides, count, row);
  }
};
template <typename T, typename Function>
struct BinaryVectorLoop {
  VectorRow<T, Function> row;
  HWY_ATTR void operator()(char** data, const int64_t* strides, int64_t count) const {
    run_rows<T, T, T>(data, strides, count, row);
  }
};
template <typename T, typename Function>
struct TernaryVectorLoop {
  VectorRow<T, Function> row;
  HWY_ATTR void operator()(char** data, const int64_t* strides, int64_t count) const {
    run_rows<T, T, T, T>(data, strides, count, row);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
