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

#include <aten/Dispatch.h>
#include <aten/TensorIterator.h>
#include <aten/native/cpu/StoredVectors-inl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <aten/native/cpu/Highway-inl.h>

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

// The index. Loops that read by it are not made to gathers, which take longer than single loads on most processors.
HWY_INLINE int64_t one_index(int64_t index) {
#if defined(__GNUC__)
  asm("" : "+r"(index));
#endif
  return index;
}

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

// `count` elements `step` bytes apart, written side by side; there are vectors for one that repeats, for every second
// one and for backwards.
template <size_t size>
HWY_NOINLINE TORCH_SIMD void collect_elements(const char* from, int64_t step, int64_t count, char* to) {
  constexpr int64_t kSize = size;
  if (step == 0) {
    unsigned char element[size];
    std::memcpy(element, from, size);
    TORCH_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + kSize * i, element, size);
  } else if (step == 2 * kSize) {
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

// Computes elements that lie side by side; operand 0 is written.
using ComputeRow = void (*)(const void* row, char* const* data, int64_t count);
constexpr int kRowOperands = 4;  // at most

// Rows of which some operands do not lie so, a part at a time. This stands in the library once for all operations.
inline HWY_NOINLINE TORCH_SIMD void stage_rows(ComputeRow compute, const void* row, char* const* data,
                                               const int64_t* strides, int64_t count, const uint8_t* sizes,
                                               int operands) {
  constexpr int64_t kLargest = 16;  // bytes of an element
  // Not a multiple of 4096 bytes apart: processors take such addresses for the same, and wait.
  alignas(64) char buffers[kRowOperands][kStagedRow * kLargest + 192];
  char* given[kRowOperands];
  for (int64_t done = 0; done < count; done += kStagedRow) {
    const int64_t part = std::min(kStagedRow, count - done);
    for (int i = 0; i < operands; ++i) {
      char* const memory = data[i] + done * strides[i];
      given[i] = strides[i] == sizes[i] ? memory : buffers[i];
      if (i == 0 || given[i] == memory) continue;
      dispatch_word(sizes[i], [&](auto word) { collect_elements<sizeof(word)>(memory, strides[i], part, buffers[i]); });
    }
    compute(row, given, part);
    if (given[0] != buffers[0]) continue;
    char* const target = data[0] + done * strides[0];
    dispatch_word(sizes[0],
                  [&](auto word) { move_elements<sizeof(word)>(given[0], sizeof(word), target, strides[0], part); });
  }
}

template <typename Row, typename Indices, typename Out, typename... In>
struct DenseRow;
template <typename Row, size_t... I, typename Out, typename... In>
struct DenseRow<Row, std::index_sequence<I...>, Out, In...> {
  static constexpr uint8_t kSizes[] = {sizeof(Out), sizeof(In)...};

  HWY_NOINLINE TORCH_SIMD static void compute(const void* row, char* const* data, int64_t count) {
    (*static_cast<const Row*>(row))(count, reinterpret_cast<Out*>(data[0]),
                                    reinterpret_cast<const In*>(data[I + 1])...);
  }
  TORCH_SIMD static void run(const Row& row, char* const* data, const int64_t* strides, int64_t count) {
    if (strides[0] == sizeof(Out) && ((strides[I + 1] == sizeof(In)) && ...)) return compute(&row, data, count);
    stage_rows(&compute, &row, data, strides, count, kSizes, sizeof...(In) + 1);
  }
};
// row(count, out, in...) on parts of a row whose elements lie side by side. Its steps are in bytes, the output's first.
template <typename Out, typename... In, typename Row>
TORCH_SIMD void run_rows(char* const* data, const int64_t* strides, int64_t count, const Row& row) {
  static_assert(sizeof...(In) < kRowOperands);
  DenseRow<Row, std::index_sequence_for<In...>, Out, In...>::run(row, data, strides, count);
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

// Loops hold what they do to a row: made for each call, it would lie on the stack, which costs as much as a short row.
template <typename Out, typename In, typename Op>
struct UnaryLoop {
  PlainRow<Op> row;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    run_rows<Out, In>(data, strides, count, row);
  }
};

template <typename Out, typename In, typename Op>
struct BinaryLoop {
  PlainRow<Op> row;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    if (strides[0] == sizeof(Out)) {
      const Op own = row.op;
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
    run_rows<Out, In, In>(data, strides, count, row);
  }
};

// Whether Op::with_number(c, run) hands run what it makes of two numbers and c, which then is one for a row.
template <typename Op, typename T, typename = void>
constexpr bool kTakesNumber = false;
template <typename Op, typename T>
constexpr bool kTakesNumber<Op, T, std::void_t<decltype(&Op::template with_number<void (*)(Op)>)>> =
    std::is_floating_point_v<T>;

// A may differ from B and C (the condition of `where`).
template <typename Out, typename A, typename B, typename Op>
struct TernaryLoop {
  PlainRow<Op> row;
  TORCH_SIMD void operator()(char** data, const int64_t* strides, int64_t count) const {
    if constexpr (kTakesNumber<Op, Out>) {
      if (strides[3] == 0) {
        return row.op.with_number(*reinterpret_cast<const B*>(data[3]), [=](auto op) TORCH_SIMD {
          run_rows<Out, A, B>(data, strides, count, PlainRow<decltype(op)>{op});
        });
      }
    }
    run_rows<Out, A, B, B>(data, strides, count, row);
  }
};

// Of 256 bits at most, as compilers are told to make of plain loops (CMakeLists.txt).
using Vectors = hn::CappedTag<float, 8>;

// What an operation on numbers makes of vectors: the compiler keeps the numbers in registers.
template <typename Op>
struct OfVectors {
  template <size_t kLanes>
  struct Numbers {
    HWY_ALIGN float at[kLanes];
  };

  template <typename D, typename... V>
  HWY_INLINE HWY_ATTR hn::Vec<D> operator()(D d, V... values) const {
    Numbers<hn::MaxLanes(D())> result;
    compute(result, numbers_of(d, values)...);
    return hn::Load(d, result.at);
  }
  template <size_t kLanes, typename... In>
  HWY_INLINE HWY_ATTR void compute(Numbers<kLanes>& result, const In&... in) const {
#pragma GCC unroll 1
    for (size_t i = 0; i < kLanes; ++i) result.at[i] = op(in.at[i]...);
  }
  template <typename D>
  HWY_INLINE HWY_ATTR static Numbers<hn::MaxLanes(D())> numbers_of(D d, hn::Vec<D> vector) {
    Numbers<hn::MaxLanes(D())> numbers;
    hn::Store(vector, d, numbers.at);
    return numbers;
  }

  Op op;
};

// function(D, V...) of `count` elements that lie side by side, a vector's or more: halves are widened, computed and
// rounded in registers. Operand 0 is written; an input whose step is 0 is a vector of float. The last vector may begin
// in the one before; what is written in place has to be a multiple of a vector's.
template <typename Element, typename Function, size_t... I>
HWY_NOINLINE HWY_ATTR void compute_halves(const void* function, char* const* data, const int64_t* steps,
                                          int64_t count) {
  const Vectors d;
  const Function own = *static_cast<const Function*>(function);  // nothing that is written can change it
  auto* const out = reinterpret_cast<Element*>(data[0]);
  const char* const in[] = {data[I + 1]...};
  const bool is_row[] = {steps[I + 1] != 0 ...};
  const hn::Vec<Vectors> numbers[] = {is_row[I] ? hn::Zero(d) : hn::Load(d, reinterpret_cast<const float*>(in[I]))...};
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count;) {  // once, and again for what is left
    i = std::min(i, count - lanes);
    for (; i <= count - lanes; i += lanes) {
      const auto result =
          own(d, (is_row[I] ? load_stored(d, reinterpret_cast<const Element*>(in[I]) + i) : numbers[I])...);
      store_stored(d, result, out + i);
    }
  }
}

// Rows of float16, or of bfloat16, and numbers, which are float, or elements that repeat. What lies apart is brought
// side by side, and what is left over of a row is filled up to a vector, a part at a time.
struct RowsOfHalves {
  static constexpr int kMaxOperands = TensorIterator::kMaxOperands;
  using Compute = void (*)(const void* function, char* const* data, const int64_t* steps, int64_t count);

  Compute compute;
  const void* function;
  int operands;
  ScalarType dtype;
  bool is_float[kMaxOperands] = {};

  HWY_NOINLINE HWY_ATTR void operator()(char* const* data, const int64_t* strides, int64_t count) const {
    constexpr int64_t kSize = sizeof(uint16_t);
    constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(Vectors()));
    HWY_ALIGN float numbers[kMaxOperands][kLanes];
    HWY_ALIGN uint16_t rows[kMaxOperands][kStagedRow];
    char* given[kMaxOperands] = {data[0]};
    int64_t steps[kMaxOperands] = {kSize};
    bool side_by_side = strides[0] == kSize;
    bool is_in_place = false;
    for (int i = 1; i < operands; ++i) {
      const bool repeats = strides[i] == 0;
      if (repeats) repeat_number(data[i], is_float[i], numbers[i]);
      given[i] = repeats ? reinterpret_cast<char*>(numbers[i]) : data[i];
      steps[i] = repeats ? 0 : kSize;
      side_by_side &= strides[i] == steps[i];
      is_in_place |= data[i] == data[0];
    }
    if (side_by_side && count >= kLanes) {
      if (!is_in_place || count % kLanes == 0) return compute(function, given, steps, count);
      return compute_in_place(given, steps, count);
    }
    int64_t done = 0;
    for (int64_t part; done < count; done += part) {
      part = std::min(kStagedRow, count - done);
      if (part > kLanes) part -= part % kLanes;  // whole vectors first: what is dense is taken where it lies
      const int64_t whole = (part + kLanes - 1) / kLanes * kLanes;
      const bool is_whole = part == whole;
      for (int i = 0; i < operands; ++i) {
        if (i > 0 && steps[i] == 0) continue;
        char* const row = reinterpret_cast<char*>(rows[i]);
        char* const memory = data[i] + done * strides[i];
        const bool is_dense = strides[i] == kSize;
        given[i] = is_dense && is_whole ? memory : row;
        if (i == 0 || given[i] == memory) continue;
        if (is_dense) std::memcpy(row, memory, static_cast<size_t>(part * kSize));
        else collect_elements<kSize>(memory, strides[i], part, row);
        std::fill(rows[i] + part, rows[i] + whole, uint16_t{0});
      }
      compute(function, given, steps, whole);
      char* const target = data[0] + done * strides[0];
      if (given[0] != target) move_elements<kSize>(given[0], kSize, target, strides[0], part);
    }
  }

 private:
  // Keeps what the last vector is made of, which begins in the one before, until that is written.
  HWY_NOINLINE HWY_ATTR void compute_in_place(char* const* data, const int64_t* steps, int64_t count) const {
    constexpr size_t kLanes = hn::MaxLanes(Vectors());
    const int64_t last = (count - static_cast<int64_t>(kLanes)) * static_cast<int64_t>(sizeof(uint16_t));
    HWY_ALIGN uint16_t kept[kMaxOperands][kLanes];
    char* given[kMaxOperands];
    for (int i = 0; i < operands; ++i) {
      const bool is_row = i == 0 || steps[i] != 0;
      given[i] = is_row ? reinterpret_cast<char*>(kept[i]) : data[i];
      if (is_row) std::memcpy(kept[i], data[i] + last, sizeof kept[i]);
    }
    compute(function, data, steps, count - count % static_cast<int64_t>(kLanes));
    compute(function, given, steps, static_cast<int64_t>(kLanes));
    std::memcpy(data[0] + last, kept[0], sizeof kept[0]);
  }
  HWY_INLINE HWY_ATTR void repeat_number(const char* from, bool as_float, float* numbers) const {
    const Vectors d;
    if (as_float) {
      hn::Store(hn::Set(d, *reinterpret_cast<const float*>(from)), d, numbers);
    } else if (dtype == ScalarType::Half) {
      hn::Store(repeated(d, *reinterpret_cast<const c10::Half*>(from)), d, numbers);
    } else {
      hn::Store(repeated(d, *reinterpret_cast<const c10::BFloat16*>(from)), d, numbers);
    }
  }
  // A vector of one element: processors widen faster than programs do.
  template <typename D, typename Element>
  HWY_INLINE HWY_ATTR static hn::Vec<D> repeated(D d, Element element) {
    HWY_ALIGN Element elements[hn::MaxLanes(D())];
    for (Element& each : elements) each = element;
    return load_stored(d, static_cast<const Element*>(elements));
  }
};

template <typename Function, size_t... I>
RowsOfHalves rows_of_halves(ScalarType dtype, const Function& function, std::index_sequence<I...>) {
  const bool is_half = dtype == ScalarType::Half;
  return {is_half ? &compute_halves<c10::Half, Function, I...> : &compute_halves<c10::BFloat16, Function, I...>,
          &function, sizeof...(I) + 1, dtype};
}

template <size_t kInputs, typename Function>
HWY_NOINLINE bool run_rows_of_halves(const TensorIterator& iter, const Function& function, int64_t grain_size) {
  const ScalarType dtype = iter.halves_in_memory();
  if (dtype == ScalarType::Undefined) return false;
  RowsOfHalves rows = rows_of_halves(dtype, function, std::make_index_sequence<kInputs>());
  for (int i = 1; i < rows.operands; ++i) rows.is_float[i] = iter.memory_dtype(i) == kFloat;
  iter.for_each_in_memory(rows, grain_size);
  return true;
}
// Computes function(D, V...) of vectors of float where all operands are float16, or all are bfloat16, in memory. Others
// do not pay for the question. Without vectors a row is computed faster as such than element by element.
template <size_t kInputs, typename Function>
bool run_halves(const TensorIterator& iter, const Function& function, int64_t grain_size) {
  if (HWY_TARGET == HWY_SCALAR || !c10::is_reduced_floating_type(iter.memory_dtype(0))) return false;
  return run_rows_of_halves<kInputs>(iter, function, grain_size);
}

template <typename... Operands>
constexpr bool kAreFloats = (std::is_same_v<Operands, float> && ...);

template <typename Out, typename In, typename Op>
void run_unary(const TensorIterator& iter, Op op, int64_t grain_size = kGrainSize) {
  if constexpr (kAreFloats<Out, In>) {
    if (run_halves<1>(iter, OfVectors<Op>{op}, grain_size)) return;
  }
  iter.for_each(UnaryLoop<Out, In, Op>{{op}}, grain_size);
}
template <typename Out, typename In, typename Op>
void run_binary(const TensorIterator& iter, Op op, int64_t grain_size = kGrainSize) {
  if constexpr (kAreFloats<Out, In>) {
    if (run_halves<2>(iter, OfVectors<Op>{op}, grain_size)) return;
  }
  iter.for_each(BinaryLoop<Out, In, Op>{{op}}, grain_size);
}
template <typename Out, typename A, typename B, typename Op>
void run_ternary(const TensorIterator& iter, Op op, int64_t grain_size = kGrainSize) {
  if constexpr (kAreFloats<Out, A, B>) {
    if (run_halves<3>(iter, OfVectors<Op>{op}, grain_size)) return;
  }
  iter.for_each(TernaryLoop<Out, A, B, Op>{{op}}, grain_size);
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
