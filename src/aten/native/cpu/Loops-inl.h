// Element-wise loops, included once per instruction set (by files that use hwy/foreach_target.h): the compiler
// vectorises each for that instruction set. No include guard in the usual sense:
// Highway's toggle makes a copy per target.
//
// An operation is a struct with `T operator()(T...) const`, marked TORCH_SIMD; it is compiled into the loop.

#if defined(TORCH_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_LOOPS_INL_H_
#undef TORCH_LOOPS_INL_H_
#else
#define TORCH_LOOPS_INL_H_
#endif

#include <aten/TensorIterator.h>

#include <cstring>
#include <tuple>
#include <utility>

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

constexpr int64_t kStagedRow = 256;  // elements at a time that are brought side by side: they stay in the first cache

// Moves `count` elements, whatever their bits mean, from one row to another; steps are in bytes. This and the next one
// stand in the library once for each size of elements, not once for each type and operation.
template <size_t size>
HWY_NOINLINE TORCH_SIMD void move_elements(const char* from, int64_t from_step, char* to, int64_t to_step,
                                           int64_t count) {
  struct Element {
    unsigned char bytes[size];
  };
  int64_t i = 0;
  for (; i + 4 <= count; i += 4, from += 4 * from_step, to += 4 * to_step) {
    Element a, b, c, d;
    std::memcpy(&a, from, size);
    std::memcpy(&b, from + from_step, size);
    std::memcpy(&c, from + 2 * from_step, size);
    std::memcpy(&d, from + 3 * from_step, size);
    std::memcpy(to, &a, size);
    std::memcpy(to + to_step, &b, size);
    std::memcpy(to + 2 * to_step, &c, size);
    std::memcpy(to + 3 * to_step, &d, size);
  }
  for (; i < count; ++i, from += from_step, to += to_step) std::memcpy(to, from, size);
}

// `count` elements `step` bytes apart, written side by side; there are vectors for every second one and for backwards.
template <size_t size>
HWY_NOINLINE TORCH_SIMD void collect_elements(const char* from, int64_t step, int64_t count, char* to) {
  constexpr int64_t kSize = size;
  if (step == 2 * kSize) {
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + kSize * i, from + 2 * kSize * i, size);
  } else if (step == -kSize) {
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + kSize * i, from - kSize * i, size);
  } else {
    move_elements<size>(from, step, to, kSize, count);
  }
}

// `count` elements side by side: where they are, if they lie so, else collected in `buffer`.
template <typename T>
TORCH_SIMD inline const T* collect(const char* data, int64_t stride, int64_t count, T* buffer) {
  if (stride == sizeof(T)) return reinterpret_cast<const T*>(data);
  collect_elements<sizeof(T)>(data, stride, count, reinterpret_cast<char*>(buffer));
  return buffer;
}

// Memory for a part of a row. Nothing is written to it before it is used: rows may be a few elements long.
template <typename T>
struct RowBuffer {
  RowBuffer() {}  // a tuple would fill members of a class without one with zeros
  T* elements() { return reinterpret_cast<T*>(bytes); }
  alignas(T) unsigned char bytes[kStagedRow * sizeof(T)];
};

template <typename Out, typename... In, typename Row, size_t... I>
TORCH_SIMD void run_rows_of(char** data, const int64_t* strides, int64_t count, const Row& row,
                            std::index_sequence<I...>) {
  const bool side_by_side = strides[0] == sizeof(Out) && ((strides[I + 1] == sizeof(In)) && ...);
  const int64_t most = side_by_side ? count : kStagedRow;  // the row's code stands here once, for both
  std::tuple<RowBuffer<In>...> buffers;
  RowBuffer<Out> staged;
  Out* const results = staged.elements();
  for (int64_t done = 0; done < count; done += most) {
    const int64_t part = std::min(most, count - done);
    char* const target = data[0] + done * strides[0];
    Out* const out = strides[0] == sizeof(Out) ? reinterpret_cast<Out*>(target) : results;
    row(part, out,
        collect<In>(data[I + 1] + done * strides[I + 1], strides[I + 1], part, std::get<I>(buffers).elements())...);
    if (out == results) move_elements<sizeof(Out)>(reinterpret_cast<char*>(out), sizeof(Out), target, strides[0], part);
  }
}
// row(count, out, in...) on parts of a row whose elements lie side by side. Its steps are in bytes, the output's first.
template <typename Out, typename... In, typename Row>
TORCH_SIMD void run_rows(char** data, const int64_t* strides, int64_t count, const Row& row) {
  run_rows_of<Out, In...>(data, strides, count, row, std::index_sequence_for<In...>());
}

// What an operation makes of elements side by side.
template <typename Op>
struct PlainRow {
  Op op;
  template <typename Out, typename... In>
  TORCH_SIMD void operator()(int64_t count, Out* out, const In*... in) const {
    const Op own = op;  // nothing that is written can change it
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) out[i] = own(in[i]...);
  }
};

template <typename Out, typename In, typename Op>
struct UnaryLoop {
  Op op;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    run_rows<Out, In>(data, strides, count, PlainRow<Op>{op});
  }
};

template <typename Out, typename In, typename Op>
struct BinaryLoop {
  Op op;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    if (strides[0] == sizeof(Out)) {
      const Op own = op;
      auto* out = reinterpret_cast<Out*>(data[0]);
      const auto* a = reinterpret_cast<const In*>(data[1]);
      const auto* b = reinterpret_cast<const In*>(data[2]);
      if (strides[1] == sizeof(In) && strides[2] == 0) {
        const In right = *b;
        TORCH_INDEPENDENT
        for (int64_t i = 0; i < count; ++i) out[i] = own(a[i], right);
        return;
      }
      if (strides[1] == 0 && strides[2] == sizeof(In)) {
        const In left = *a;
        TORCH_INDEPENDENT
        for (int64_t i = 0; i < count; ++i) out[i] = own(left, b[i]);
        return;
      }
    }
    run_rows<Out, In, In>(data, strides, count, PlainRow<Op>{op});
  }
};

// A may differ from B and C (the condition of `where`).
template <typename Out, typename A, typename B, typename Op>
struct TernaryLoop {
  Op op;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    run_rows<Out, A, B, B>(data, strides, count, PlainRow<Op>{op});
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
