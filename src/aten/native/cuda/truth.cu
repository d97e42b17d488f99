// any and all.

#include <aten/Kernels.h>
#include <aten/native/cuda/Reduce.cuh>

namespace at::native::cuda {

namespace {

// Whether a number is zero is in its bits but the sign: one kernel for each size of elements, for `any` and `all`
// alike, which looks for a number that is not zero, or for one that is.
template <typename Word>
struct Truth {
  using Accumulator = int;
  uint64_t digits;
  bool all;
  __device__ static int identity() { return 0; }
  __device__ int read(Word x) const {
    if constexpr (std::is_same_v<Word, WideWord>) return (((x.low | x.high) & digits) != 0) != all;
    else return ((x & digits) != 0) != all;
  }
  __device__ static int combine(int a, int b) { return a | b; }
  __device__ int finish(int a) const { return (a != 0) != all; }
};

// The bits of a T but its sign, or signs; of a complex128, those of each half.
template <typename T>
constexpr uint64_t digits_of() {
  if constexpr (std::is_same_v<c10::real_type_t<T>, double>) return ~uint64_t{0} >> 1;
  else if constexpr (std::is_same_v<c10::real_type_t<T>, float>) return 0x7fffffff7fffffff;
  else if constexpr (c10::is_reduced_floating_v<T>) return 0x7fff;
  else return ~uint64_t{0};
}

void reduce_truth(TensorIterator& iter, bool all, const char* name) {
  uint64_t digits = 0;
  const auto ask = [&](auto tag) { digits = digits_of<typename decltype(tag)::type>(); };
  const c10::ScalarType dtype = dtype_in_memory(iter, 1);
  if (c10::is_complex_type(dtype)) dispatch_complex_types(dtype, name, ask);
  else dispatch_real_types(dtype, name, ask);
  dispatch_word(c10::element_size(dtype), [&](auto word) {
    using Word = decltype(word);
    reduce<Truth<Word>, uint8_t, Word>(iter, {digits, all});  // a bool is a byte, 0 or 1
  });
}

}  // namespace

void any_kernel(TensorIterator& iter) { reduce_truth(iter, /*all=*/false, "any"); }
void all_kernel(TensorIterator& iter) { reduce_truth(iter, /*all=*/true, "all"); }

}  // namespace at::native::cuda
