// fill, arange, linspace.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ElementBits.h>

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/fill_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

template <typename T>
struct FillLoop {
  T value;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    const T own = value;  // nothing that is written can change it
    if (strides[0] == sizeof(T)) {
      auto* out = reinterpret_cast<T*>(data[0]);
#if HWY_TARGET != HWY_SCALAR
      using Lane = std::conditional_t<std::is_same_v<T, WideWord>, uint64_t, T>;
      const hn::CappedTag<Lane, 32 / sizeof(Lane)> d;
      const auto step = static_cast<int64_t>(hn::Lanes(d) * sizeof(Lane) / sizeof(T));
      if (count >= step) {  // the last vector may begin in the one before
        auto repeated = hn::Zero(d);
        if constexpr (std::is_same_v<T, WideWord>) repeated = hn::LoadDup128(d, &own.low);
        else repeated = hn::Set(d, own);
        const auto store = [&](int64_t i) HWY_ATTR { hn::StoreU(repeated, d, reinterpret_cast<Lane*>(out + i)); };
        for (int64_t i = 0; i + step < count; i += step) store(i);
        return store(count - step);
      }
#endif
      for (int64_t i = 0; i < count; ++i) out[one_index(i)] = own;
      return;
    }
    char* out = data[0];
    for (int64_t i = 0; i < count; ++i, out += strides[0]) *reinterpret_cast<T*>(out) = own;
  }
};

void FillImpl(TensorIterator& iter, const Scalar& value) {
  dispatch_word(static_cast<size_t>(iter.element_size(0)), [&](auto word) {
    using Word = decltype(word);
    iter.for_each(FillLoop<Word>{element_bits<Word>(value, iter.dtype(0))});
  });
}

// The output of both is one-dimensional and contiguous. generate(Number) gets the index, which is counted within a part:
// few processors have vectors that make double of int64.
template <typename T, typename Number, typename Generate>
TORCH_SIMD void generate_range(T* out, int64_t first, int64_t last, Generate generate) {
  for (int64_t done = first; done < last; done += kStagedRow) {
    const auto part = static_cast<int32_t>(std::min(kStagedRow, last - done));
    const auto before = static_cast<Number>(done);
    T* const target = out + done;
    if constexpr (std::is_integral_v<T> && !std::is_integral_v<Number>) {  // rare: no vectors
      for (int64_t i = 0; i < part; ++i) target[one_index(i)] = generate(before + static_cast<Number>(i));
    } else {
      for (int32_t i = 0; i < part; ++i) target[i] = generate(before + static_cast<Number>(i));
    }
  }
}

void ArangeImpl(TensorIterator& iter, const Scalar& start, const Scalar& step) {
  dispatch_numeric_types(iter.dtype(0), "arange", [&](auto type) {
    using T = typename decltype(type)::type;
    // Floats are computed in double, so that the last elements of a long range are right.
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    const Wide origin = start.to<Wide>();
    const Wide stride = step.to<Wide>();
    auto* out = reinterpret_cast<T*>(iter.data(0));
    parallel_for(0, iter.numel(), kGrainSize, [&](int64_t first, int64_t last) HWY_ATTR {
      generate_range<T, Wide>(out, first, last,
                              [=](Wide i) HWY_ATTR { return static_cast<T>(origin + stride * i); });
    });
  });
}

void LinspaceImpl(TensorIterator& iter, const Scalar& start, const Scalar& end, int64_t steps) {
  dispatch_numeric_types(iter.dtype(0), "linspace", [&](auto type) {
    using T = typename decltype(type)::type;
    using Step = std::conditional_t<std::is_floating_point_v<T>, T, double>;
    const auto origin = static_cast<Step>(start.to<T>());
    const auto target = static_cast<Step>(end.to<T>());
    const Step stride = steps > 1 ? (target - origin) / static_cast<Step>(steps - 1) : Step(0);
    auto* out = reinterpret_cast<T*>(iter.data(0));
    // From both ends, so that the last element is `end` exactly.
    const int64_t middle = steps == 1 ? 1 : steps / 2;
    const auto greatest = static_cast<double>(steps - 1);
    parallel_for(0, iter.numel(), kGrainSize, [&](int64_t first, int64_t last) HWY_ATTR {
      generate_range<T, double>(out, first, std::min(last, middle), [=](double i) HWY_ATTR {
        return static_cast<T>(origin + stride * static_cast<Step>(i));
      });
      generate_range<T, double>(out, std::max(first, middle), last, [=](double i) HWY_ATTR {
        return static_cast<T>(target - stride * static_cast<Step>(greatest - i));
      });
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(FillImpl);
void fill_kernel(TensorIterator& iter, const Scalar& value) { HWY_DYNAMIC_DISPATCH(FillImpl)(iter, value); }
HWY_EXPORT(ArangeImpl);
void arange_kernel(TensorIterator& iter, const Scalar& start, const Scalar& step) {
  HWY_DYNAMIC_DISPATCH(ArangeImpl)(iter, start, step);
}
HWY_EXPORT(LinspaceImpl);
void linspace_kernel(TensorIterator& iter, const Scalar& start, const Scalar& end, int64_t steps) {
  HWY_DYNAMIC_DISPATCH(LinspaceImpl)(iter, start, end, steps);
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
