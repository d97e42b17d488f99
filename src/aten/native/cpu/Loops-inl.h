// Element-wise loops, included once per instruction set (by files that use hwy/foreach_target.h): the compiler vectorises
// each for that instruction set. No include guard in the usual sense: Highway's toggle makes a copy per target.
//
// An operation is a struct with `T operator()(T...) const`, marked TORCH_SIMD; it is compiled into the loop.

#if defined(TORCH_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_LOOPS_INL_H_
#undef TORCH_LOOPS_INL_H_
#else
#define TORCH_LOOPS_INL_H_
#endif

#include <aten/TensorIterator.h>

#include <hwy/highway.h>

// Functions that are compiled for the current instruction set, lambdas and templates included.
#undef TORCH_SIMD
#define TORCH_SIMD HWY_ATTR

// No element of a loop reads what another one writes: overlap was checked, and in-place means the same element.
#undef TORCH_INDEPENDENT
#if defined(__clang__)
#define TORCH_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TORCH_INDEPENDENT _Pragma("GCC ivdep")
#endif

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

template <typename Out, typename In, typename Op>
struct UnaryLoop {
  Op op;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    if (strides[0] == sizeof(Out) && strides[1] == sizeof(In)) {
      auto* out = reinterpret_cast<Out*>(data[0]);
      const auto* in = reinterpret_cast<const In*>(data[1]);
      TORCH_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) out[i] = op(in[i]);
      return;
    }
    char* out = data[0];
    const char* in = data[1];
    for (int64_t i = 0; i < count; ++i, out += strides[0], in += strides[1]) {
      *reinterpret_cast<Out*>(out) = op(*reinterpret_cast<const In*>(in));
    }
  }
};

template <typename Out, typename In, typename Op>
struct BinaryLoop {
  Op op;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    constexpr int64_t size = sizeof(In);
    if (strides[0] == sizeof(Out)) {
      auto* out = reinterpret_cast<Out*>(data[0]);
      const auto* a = reinterpret_cast<const In*>(data[1]);
      const auto* b = reinterpret_cast<const In*>(data[2]);
      if (strides[1] == size && strides[2] == size) {
        TORCH_INDEPENDENT
        for (int64_t i = 0; i < count; ++i) out[i] = op(a[i], b[i]);
        return;
      }
      if (strides[1] == size && strides[2] == 0) {
        const In right = *b;
        TORCH_INDEPENDENT
        for (int64_t i = 0; i < count; ++i) out[i] = op(a[i], right);
        return;
      }
      if (strides[1] == 0 && strides[2] == size) {
        const In left = *a;
        TORCH_INDEPENDENT
        for (int64_t i = 0; i < count; ++i) out[i] = op(left, b[i]);
        return;
      }
    }
    char* out = data[0];
    const char* a = data[1];
    const char* b = data[2];
    for (int64_t i = 0; i < count; ++i, out += strides[0], a += strides[1], b += strides[2]) {
      *reinterpret_cast<Out*>(out) = op(*reinterpret_cast<const In*>(a), *reinterpret_cast<const In*>(b));
    }
  }
};

// A may differ from B and C (the condition of `where`).
template <typename Out, typename A, typename B, typename Op>
struct TernaryLoop {
  Op op;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    if (strides[0] == sizeof(Out) && strides[1] == sizeof(A) && strides[2] == sizeof(B) && strides[3] == sizeof(B)) {
      auto* out = reinterpret_cast<Out*>(data[0]);
      const auto* a = reinterpret_cast<const A*>(data[1]);
      const auto* b = reinterpret_cast<const B*>(data[2]);
      const auto* c = reinterpret_cast<const B*>(data[3]);
      TORCH_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) out[i] = op(a[i], b[i], c[i]);
      return;
    }
    char* out = data[0];
    const char* a = data[1];
    const char* b = data[2];
    const char* c = data[3];
    for (int64_t i = 0; i < count; ++i, out += strides[0], a += strides[1], b += strides[2], c += strides[3]) {
      *reinterpret_cast<Out*>(out) =
          op(*reinterpret_cast<const A*>(a), *reinterpret_cast<const B*>(b), *reinterpret_cast<const B*>(c));
    }
  }
};

template <typename Out, typename In, typename Op>
void run_unary(const TensorIterator& iter, Op op, int64_t grain_size = kGrainSize) {
  iter.for_each(UnaryLoop<Out, In, Op>{op}, grain_size);
}
template <typename Out, typename In, typename Op>
void run_binary(const TensorIterator& iter, Op op, int64_t grain_size = kGrainSize) {
  iter.for_each(BinaryLoop<Out, In, Op>{op}, grain_size);
}
template <typename Out, typename A, typename B, typename Op>
void run_ternary(const TensorIterator& iter, Op op, int64_t grain_size = kGrainSize) {
  iter.for_each(TernaryLoop<Out, A, B, Op>{op}, grain_size);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
